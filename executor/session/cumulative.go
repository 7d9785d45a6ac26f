package session

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/storage/kv"
	"kvsqld/wire"
)

// The counters of a relation: see executor.RelCounts.
const (
	cntScans = iota
	cntReturned
	cntFetched
	cntInserted
	cntUpdated
	cntDeleted
	cntReads
	numCounters = 8
)

// cell is one processor's part of the counters of an object, alone in its lines of
// the cache.
type cell [numCounters]atomic.Int64

// counters are those of one object. Each session adds to one of the cells, so that
// sessions seldom wait for each other's.
type counters []cell

func (c counters) add(shard, which int, n int64) {
	if n != 0 {
		c[shard][which].Add(n)
	}
}

func (c counters) sum(which int) (n int64) {
	for i := range c {
		n += c[i][which].Load()
	}
	return n
}

func (c counters) clear() {
	for i := range c {
		for k := range c[i] {
			c[i][k].Store(0)
		}
	}
}

// addRel adds what a transaction did to a relation.
func (c counters) addRel(shard int, n *executor.RelCounts) {
	c.add(shard, cntScans, n.Scans)
	c.add(shard, cntReturned, n.Returned)
	c.add(shard, cntFetched, n.Fetched)
	c.add(shard, cntReads, n.Reads)
	if n.Inserted|n.Updated|n.Deleted != 0 {
		c.add(shard, cntInserted, n.Inserted)
		c.add(shard, cntUpdated, n.Updated)
		c.add(shard, cntDeleted, n.Deleted)
	}
}

// dbCounts is what a session did in its database. Times are microseconds.
type dbCounts struct {
	rows                 executor.RelCounts
	commits, rollbacks   int64
	tempFiles, tempBytes int64
	deadlocks            int64
	active, idleInTxn    int64
}

func (c *dbCounts) add(o *dbCounts) {
	c.rows.Add(&o.rows)
	c.commits += o.commits
	c.rollbacks += o.rollbacks
	c.tempFiles += o.tempFiles
	c.tempBytes += o.tempBytes
	c.deadlocks += o.deadlocks
	c.active += o.active
	c.idleInTxn += o.idleInTxn
}

// runs counts VACUUM or ANALYZE of a table.
type runs struct{ n, last atomic.Int64 }

func (r *runs) done() {
	r.n.Add(1)
	r.last.Store(now())
}

func (r *runs) load() pgcatalog.Runs { return pgcatalog.Runs{N: r.n.Load(), Last: r.last.Load()} }

// relStats are the statistics of one table or index.
type relStats struct {
	counters
	vacuum, analyze, autoAnalyze runs
	vacuumed                     atomic.Int64 // rows inserted until the last VACUUM
}

// dbStats are the statistics of one database, but for what the sessions that live
// have done: see activity.done.
type dbStats struct {
	mu   sync.Mutex
	done dbCounts // by sessions that have ended

	sessions, abandoned, fatal, killed atomic.Int64
	ended                              atomic.Int64 // microseconds that sessions took which have ended
	reset                              atomic.Int64
}

// functionStats are the statistics of one function; times in nanoseconds.
type functionStats struct{ calls, total, self atomic.Int64 }

// cumulative is what statements have done since the server started: the source of
// the pg_stat views. Transactions add to it when they end.
type cumulative struct {
	cells int
	rels  sync.Map // types.OID → *relStats
	dbs   sync.Map // types.OID → *dbStats
	funcs sync.Map // types.OID → *functionStats

	mu struct {
		sync.Mutex
		log, checkpoints            kv.StoreStats // when they were reset
		logReset, ckptReset, arcRes int64
	}
}

// maxCells bounds the cells of an object.
const maxCells = 8

func (c *cumulative) init() {
	c.cells = 1
	for c.cells < runtime.GOMAXPROCS(0) && c.cells < maxCells {
		c.cells *= 2
	}
	c.mu.logReset = now()
	c.mu.ckptReset, c.mu.arcRes = c.mu.logReset, c.mu.logReset
}

func (c *cumulative) rel(oid types.OID) *relStats {
	if x, ok := c.rels.Load(oid); ok {
		return x.(*relStats)
	}
	x, _ := c.rels.LoadOrStore(oid, &relStats{counters: make(counters, c.cells)})
	return x.(*relStats)
}

func (c *cumulative) db(oid types.OID) *dbStats {
	if x, ok := c.dbs.Load(oid); ok {
		return x.(*dbStats)
	}
	x, _ := c.dbs.LoadOrStore(oid, new(dbStats))
	return x.(*dbStats)
}

// startCounting makes a new session's counters ready.
func (s *Session) startCounting() {
	s.dbStats = s.srv.cumulative.db(s.db)
	s.shard = int(s.info.PID) & (s.srv.cumulative.cells - 1)
	s.dbStats.sessions.Add(1)
	s.flushFn = s.flushRel
}

// stopCounting counts a session that ends.
func (s *Session) stopCounting() {
	d, a := s.dbStats, &s.activity
	a.mu.Lock()
	d.mu.Lock()
	d.done.add(&a.done)
	a.done = dbCounts{}
	d.mu.Unlock()
	a.mu.Unlock()
	d.ended.Add(time.Since(s.started).Microseconds())
	switch s.info.End {
	case wire.EndAbandoned:
		d.abandoned.Add(1)
	case wire.EndFatal:
		d.fatal.Add(1)
	case wire.EndKilled:
		d.killed.Add(1)
	}
}

// flushCounts publishes what a transaction, which has ended, did.
func (s *Session) flushCounts(committed bool) {
	a := &s.activity
	a.mu.Lock()
	if committed {
		a.done.commits++
	} else {
		a.done.rollbacks++
	}
	a.done.tempFiles += s.tally.TempFiles
	a.done.tempBytes += s.tally.TempBytes
	s.tally.Take(s.flushFn)
	a.mu.Unlock()
	for oid, f := range s.calls {
		x, _ := s.srv.cumulative.funcs.LoadOrStore(oid, new(functionStats))
		to := x.(*functionStats)
		to.calls.Add(f.n)
		to.total.Add(int64(f.total))
		to.self.Add(int64(f.self))
	}
	s.calls = nil
}

// flushRel publishes what was done to a relation; the activity is locked.
func (s *Session) flushRel(t *executor.Tallied) {
	to, ok := t.Owner.(*relStats)
	if !ok {
		to = s.srv.cumulative.rel(t.OID)
		t.Owner = to
	}
	to.addRel(s.shard, &t.N)
	s.activity.done.rows.Add(&t.N)
}

// callStats are the calls of a function in a transaction.
type callStats struct {
	n           int64
	total, self time.Duration
}

// timeCall counts a call of a function from here to the call of what it returns.
func (s *Session) timeCall(f types.OID) func() {
	outer := s.inCalls
	s.inCalls = 0
	start := time.Now()
	return func() {
		took := time.Since(start)
		if s.calls == nil {
			s.calls = make(map[types.OID]callStats)
		}
		c := s.calls[f]
		s.calls[f] = callStats{c.n + 1, c.total + took, c.self + took - s.inCalls}
		s.inCalls = outer + took
	}
}

// relStats returns the statistics of a relation.
func (s *Session) relStats(oid types.OID) pgcatalog.RelStats {
	var r pgcatalog.RelStats
	snap := s.snapshot()
	if t := snap.Table(oid); t != nil {
		r.Live = int64(max(s.srv.estimate(snap)(t), 0))
		if x, ok := s.srv.rows.m.Load(oid); ok {
			r.SinceAnalyze = x.(*rowCounter).changed.Load()
		}
	}
	x, ok := s.srv.cumulative.rels.Load(oid)
	if !ok {
		return r
	}
	c := x.(*relStats)
	r.Scans, r.Returned, r.Fetched, r.Reads = c.sum(cntScans), c.sum(cntReturned), c.sum(cntFetched), c.sum(cntReads)
	r.Inserted, r.Updated, r.Deleted = c.sum(cntInserted), c.sum(cntUpdated), c.sum(cntDeleted)
	r.SinceVacuum = r.Inserted - c.vacuumed.Load()
	r.Vacuum, r.Analyze, r.AutoAnalyze = c.vacuum.load(), c.analyze.load(), c.autoAnalyze.load()
	return r
}

// xactStats returns what the open transaction did to a relation.
func (s *Session) xactStats(oid types.OID) pgcatalog.RelStats {
	n := s.tally.Of(oid)
	return pgcatalog.RelStats{Scans: n.Scans, Returned: n.Returned, Fetched: n.Fetched, Reads: n.Reads,
		Inserted: n.Inserted, Updated: n.Updated, Deleted: n.Deleted}
}

// databaseStats returns the statistics of a database.
func (s *Session) databaseStats(oid types.OID) pgcatalog.DBStats {
	var r pgcatalog.DBStats
	micros := int64(0)
	var n dbCounts
	for _, o := range s.srv.sessions() {
		if o.db != oid {
			continue
		}
		r.Backends++
		micros += time.Since(o.started).Microseconds()
		o.activity.mu.Lock()
		n.add(&o.activity.done)
		o.activity.mu.Unlock()
	}
	x, ok := s.srv.cumulative.dbs.Load(oid)
	if !ok {
		return r
	}
	d := x.(*dbStats)
	d.mu.Lock()
	n.add(&d.done)
	d.mu.Unlock()
	r.Commits, r.Rollbacks, r.Deadlocks = n.commits, n.rollbacks, n.deadlocks
	r.Returned, r.Fetched, r.Reads = n.rows.Returned, n.rows.Fetched, n.rows.Reads
	r.Inserted, r.Updated, r.Deleted = n.rows.Inserted, n.rows.Updated, n.rows.Deleted
	r.TempFiles, r.TempBytes = n.tempFiles, n.tempBytes
	r.Active, r.IdleInTxn = float64(n.active)/1e3, float64(n.idleInTxn)/1e3
	r.Sessions, r.Abandoned, r.Fatal, r.Killed = d.sessions.Load(), d.abandoned.Load(), d.fatal.Load(), d.killed.Load()
	r.SessionTime = float64(d.ended.Load()+micros) / 1e3
	r.Reset = d.reset.Load()
	return r
}

// functionStats returns the statistics of a function that was called, of all
// transactions that have ended or of this one.
func (s *Session) functionStats(oid types.OID, xact bool) (r pgcatalog.FunctionStats, called bool) {
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	if xact {
		c, ok := s.calls[oid]
		return pgcatalog.FunctionStats{Calls: c.n, Total: ms(int64(c.total)), Self: ms(int64(c.self))}, ok
	}
	x, ok := s.srv.cumulative.funcs.Load(oid)
	if !ok {
		return r, false
	}
	f := x.(*functionStats)
	return pgcatalog.FunctionStats{Calls: f.calls.Load(), Total: ms(f.total.Load()), Self: ms(f.self.Load())}, true
}

// logStats returns the statistics of the store's log.
func (s *Session) logStats() pgcatalog.LogStats {
	st := s.srv.Store.Stats()
	c := &s.srv.cumulative
	c.mu.Lock()
	defer c.mu.Unlock()
	was, ck := &c.mu.log, &c.mu.checkpoints
	return pgcatalog.LogStats{
		Records: int64(st.LogRecords - was.LogRecords), Bytes: int64(st.LogBytes - was.LogBytes), Syncs: int64(st.LogSyncs - was.LogSyncs),
		Asked: int64(st.Checkpoints.Asked - ck.Checkpoints.Asked), Timed: int64(st.Checkpoints.Timed - ck.Checkpoints.Timed),
		CheckpointTime: float64((st.Checkpoints.Time - ck.Checkpoints.Time).Microseconds()) / 1e3,
		Reset:          c.mu.logReset, CheckpointReset: c.mu.ckptReset, ArchiverReset: c.mu.arcRes,
	}
}

// resetDatabase is pg_stat_reset: it begins to count anew in a database.
func (s *Session) resetDatabase() {
	c := &s.srv.cumulative
	for _, r := range s.snapshot().Relations(s.db) {
		c.forget(r.ObjectOID())
		if t := catalog.StorageOf(r); t != nil {
			for _, ix := range t.Indexes {
				c.forget(ix.OID)
			}
		}
	}
	for _, r := range pgcatalog.All() {
		c.forget(r.OID)
	}
	for _, f := range s.snapshot().AllFunctions(s.db) {
		c.funcs.Delete(f.OID)
	}
	d := c.db(s.db)
	d.mu.Lock()
	d.done = dbCounts{}
	d.mu.Unlock()
	for _, o := range s.srv.sessions() {
		if o.db == s.db {
			o.activity.mu.Lock()
			o.activity.done = dbCounts{}
			o.activity.mu.Unlock()
		}
	}
	for _, n := range []*atomic.Int64{&d.sessions, &d.abandoned, &d.fatal, &d.killed, &d.ended} {
		n.Store(0)
	}
	d.reset.Store(now())
}

// forget begins to count a relation anew.
func (c *cumulative) forget(oid types.OID) {
	x, ok := c.rels.Load(oid)
	if !ok {
		return
	}
	r := x.(*relStats)
	r.clear()
	for _, k := range []*runs{&r.vacuum, &r.analyze, &r.autoAnalyze} {
		k.n.Store(0)
		k.last.Store(0)
	}
	r.vacuumed.Store(0)
}

// dropped forgets relations and functions that are no more.
func (c *cumulative) dropped(oid types.OID) {
	c.rels.Delete(oid)
	c.funcs.Delete(oid)
	c.dbs.Delete(oid)
}
