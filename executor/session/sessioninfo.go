package session

import (
	"context"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"slices"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
	"kvsqld/planner"
	"kvsqld/planner/plan"
)

// sessionInfo answers what functions ask of the session.
type sessionInfo struct{ *Session }

var _ expr.SessionInfo = sessionInfo{}

// CurrentUser and the others implement expr.SessionInfo.
func (s sessionInfo) CurrentUser() string { return s.user }

// SessionUser is the user before SET ROLE.
func (s sessionInfo) SessionUser() string { return s.sessionUser }

// Database is the name of the connected database.
func (s sessionInfo) Database() string { return s.dbName }

// SearchPath lists the schemas in which names are looked up.
func (s sessionInfo) SearchPath(implicit bool) []string {
	s.firstTemp()
	return s.searchPath(implicit)
}

// Setting returns a run-time parameter.
func (s sessionInfo) Setting(name string) (string, bool, error) {
	v, ok := s.showSetting(name)
	return v, ok, s.mayExamine(name)
}

// SetSetting is set_config; without a value the parameter is reset.
func (s sessionInfo) SetSetting(name string, value *string, local bool) (string, error) {
	if err := s.setSetting(name, value, local); err != nil {
		return "", err
	}
	v, _ := s.showSetting(name)
	return v, nil
}

// BackendPID is the connection's number.
func (s sessionInfo) BackendPID() int32 { return s.info.PID }

// Random returns the session's random numbers.
func (s sessionInfo) Random() *expr.Rand {
	if s.rand == nil {
		s.rand = expr.NewRand()
	}
	return s.rand
}

// sequenceMemory is what currval and lastval know, and the values that were drawn at
// once of sequences with a CACHE. A transaction that fails takes none of them back.
type sequenceMemory struct {
	last   types.OID
	values map[types.OID]int64
	kept   map[types.OID]keptRange
}

// keptRange is the values that the session may give without drawing, as long as the
// sequence is what it was.
type keptRange struct {
	table.SeqRange
	gen uint64
}

// take gives the next value that the session keeps of a sequence.
func (m *sequenceMemory) take(o types.OID, gen uint64) (v int64, ok bool) {
	r, ok := m.kept[o]
	if !ok || r.gen != gen {
		return 0, false
	}
	v = r.First
	m.keep(o, r.SeqRange, gen)
	return v, true
}

// keep remembers the values of a range behind its first.
func (m *sequenceMemory) keep(o types.OID, r table.SeqRange, gen uint64) {
	if r.First == r.Last {
		delete(m.kept, o)
		return
	}
	if m.kept == nil {
		m.kept = make(map[types.OID]keptRange)
	}
	r.First += r.Inc
	m.kept[o] = keptRange{r, gen}
}

func (s sessionInfo) sequence(o types.OID) (*catalog.Sequence, error) {
	q, _ := s.snapshot().Object(o).(*catalog.Sequence)
	if q == nil {
		if r := s.snapshot().RelationByOID(s.db, o); r != nil {
			_, name := r.RelName()
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", name)
		}
		if _, ix := s.snapshot().IndexByOID(s.db, o); ix != nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a sequence", ix.Name)
		}
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", o)
	}
	return q, nil
}

// lockedSequence is sequence for who works with it: whoever changes or drops it waits
// until the transaction has ended, and is waited for.
func (s sessionInfo) lockedSequence(ctx context.Context, o types.OID) (*catalog.Sequence, error) {
	q, err := s.sequence(o)
	if err != nil || s.tx == nil || slices.Contains(s.tx.drawn, o) {
		return q, err
	}
	return s.holdSequence(ctx, q, kv.RowExclusive)
}

// holdSequence takes a lock of a sequence, and returns it as it is then.
func (s *Session) holdSequence(ctx context.Context, q *catalog.Sequence, m kv.TableLockMode) (*catalog.Sequence, error) {
	if err := table.LockSequence(ctx, s.tx.kv, q.OID, m, s.lockOpt()); err != nil {
		return nil, err
	}
	if m == kv.RowExclusive {
		s.tx.drawn = append(s.tx.drawn, q.OID)
	}
	if own := s.tx.change; own != nil && s.tx.base.Object(q.OID) != own.Snapshot().Object(q.OID) {
		return q, nil // this transaction has made or changed it
	}
	now, _ := s.srv.Catalog.Current().Object(q.OID).(*catalog.Sequence)
	switch {
	case now == nil && m == kv.AccessShare: // of a query that names it
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", q.Name)
	case now == nil:
		return nil, sqlerr.New(sqlerr.InternalError, "could not open relation with OID %d", q.OID)
	}
	return now, nil
}

// Nextval draws a sequence's next value.
func (s sessionInfo) Nextval(ctx context.Context, o types.OID) (int64, error) {
	q, err := s.lockedSequence(ctx, o)
	if err != nil {
		return 0, err
	}
	if err := s.writable("nextval()"); err != nil && !q.Temp {
		return 0, err
	}
	if err := s.mayDraw(q, catalog.PrivUsage|catalog.PrivUpdate); err != nil {
		return 0, err
	}
	own := s.tx.restarted(o)
	var gen uint64
	if q.Cache > 1 {
		if own != nil {
			gen = own.Gen
		} else {
			gen = s.srv.Tables.SeqGen(o)
		}
		if v, ok := s.seqs.take(o, gen); ok {
			s.remember(o, v)
			return v, nil
		}
	}
	var r table.SeqRange
	if own != nil {
		r, err = own.Draw(q)
	} else {
		r, err = s.srv.Tables.NextVals(context.Background(), q)
	}
	if err != nil {
		return 0, err
	}
	if q.Cache > 1 {
		s.seqs.keep(o, r, gen)
	}
	s.remember(o, r.First)
	return r.First, nil
}

func (s sessionInfo) remember(o types.OID, v int64) {
	s.know(o, v)
	s.seqs.last = o
}

func (s sessionInfo) know(o types.OID, v int64) {
	if s.seqs.values == nil {
		s.seqs.values = make(map[types.OID]int64)
	}
	s.seqs.values[o] = v
}

// Currval returns the value that nextval gave last in this session.
func (s sessionInfo) Currval(ctx context.Context, o types.OID) (int64, error) {
	q, err := s.lockedSequence(ctx, o)
	if err != nil {
		return 0, err
	}
	if err := s.mayDraw(q, catalog.PrivUsage|catalog.PrivSelect); err != nil {
		return 0, err
	}
	v, ok := s.seqs.values[o]
	if !ok {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "currval of sequence \"%s\" is not yet defined in this session", q.Name)
	}
	return v, nil
}

// Lastval returns the value that nextval gave last, of whatever sequence.
func (s sessionInfo) Lastval(ctx context.Context) (int64, error) {
	v, ok := s.seqs.values[s.seqs.last]
	q, _ := s.snapshot().Object(s.seqs.last).(*catalog.Sequence)
	if !ok || q == nil {
		return 0, sqlerr.New(sqlerr.ObjectNotInPrerequisite, "lastval is not yet defined in this session")
	}
	if _, err := s.lockedSequence(ctx, q.OID); err != nil {
		return 0, err
	}
	return v, s.mayDraw(q, catalog.PrivUsage|catalog.PrivSelect)
}

// Setval sets a sequence.
func (s sessionInfo) Setval(ctx context.Context, o types.OID, v int64, called bool) (int64, error) {
	q, err := s.lockedSequence(ctx, o)
	if err != nil {
		return 0, err
	}
	if err := s.writable("setval()"); err != nil && !q.Temp {
		return 0, err
	}
	if v < q.Min || v > q.Max {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "setval: value %d is out of bounds for sequence \"%s\" (%d..%d)", v, q.Name, q.Min, q.Max)
	}
	if err := s.mayDraw(q, catalog.PrivUpdate); err != nil {
		return 0, err
	}
	if r := s.tx.restarted(o); r != nil {
		r.Last, r.Called, r.Logged = v, called, 0
	} else if err := s.srv.Tables.SetVal(context.Background(), q, v, called); err != nil {
		return 0, err
	}
	delete(s.seqs.kept, o) // other sessions go on with what they keep
	if called {            // lastval stays that of nextval
		s.know(o, v)
	}
	return v, nil
}

// sequenceRow is the row that SELECT FROM a sequence gives.
func (s *Session) sequenceRow(ctx context.Context, q *catalog.Sequence) (last, logCnt int64, called bool, err error) {
	if q, err = s.holdSequence(ctx, q, kv.AccessShare); err != nil {
		return 0, 0, false, err
	}
	st, err := s.sequenceStands(q)
	return st.Last, st.Logged, st.Called, err
}

// sequenceStands is the row of a sequence that nobody drops meanwhile.
func (s *Session) sequenceStands(q *catalog.Sequence) (table.SeqState, error) {
	if r := s.tx.restarted(q.OID); r != nil {
		return r.SeqState, nil
	}
	return s.srv.Tables.SeqState(context.Background(), q)
}

// pathCache remembers the resolved search path.
type pathCache struct {
	snap     *catalog.Snapshot
	epoch    uint64
	explicit []string
	implicit []string
}

// searchPath lists the existing schemas of the search path; implicit adds the
// temporary schema and pg_catalog where they are searched first.
func (s *Session) searchPath(implicit bool) []string {
	c := &s.path
	snap := s.snapshot()
	if c.snap != snap || c.epoch != s.settings.epoch || c.implicit == nil {
		*c = pathCache{snap: snap, epoch: s.settings.epoch}
		hasCatalog, hasTemp := false, false
		for _, n := range s.settings.path {
			switch {
			case n == "$user":
				n = s.user
			case n == "pg_temp":
				n = s.tempName()
			}
			if n == s.tempName() {
				hasTemp = true
				if !s.hasTemp {
					continue
				}
			} else if !s.mayUse(snap, n) {
				continue
			}
			hasCatalog = hasCatalog || n == catalog.SchemaPgCatalog
			c.explicit = append(c.explicit, n)
		}
		c.implicit = []string{}
		if s.hasTemp && !hasTemp {
			c.implicit = append(c.implicit, s.tempName())
		}
		if !hasCatalog {
			c.implicit = append(c.implicit, catalog.SchemaPgCatalog)
		}
		c.implicit = append(c.implicit, c.explicit...)
	}
	if implicit {
		return c.implicit
	}
	return c.explicit
}

// tableExprsCache remembers the bound expressions of tables that were written to.
type tableExprsCache struct {
	snap  *catalog.Snapshot
	epoch uint64
	m     map[*catalog.Table]*plan.TableExprs
}

// tableExprs binds the expressions of a table, once per catalog snapshot.
func (s *Session) tableExprs(t *catalog.Table) (*plan.TableExprs, error) {
	c := &s.exprs
	snap := s.snapshot()
	if c.snap != snap || c.epoch != s.settings.epoch {
		*c = tableExprsCache{snap: snap, epoch: s.settings.epoch, m: make(map[*catalog.Table]*plan.TableExprs)}
	}
	if x := c.m[t]; x != nil {
		return x, nil
	}
	x, err := planner.TableExprs(s.planContext(snap), t)
	if err != nil {
		return nil, err
	}
	c.m[t] = x
	return x, nil
}

// armIdle starts the clock of the timeout that applies to a session that waits
// for its client: whichever strikes first.
func (s *Session) armIdle() {
	d, why := s.settings.idleSession, errIdleSession // made when it is needed: this runs after each message
	if s.block != idle {
		d, why = s.settings.idleTimeout, errIdleInTransaction
		if left := s.transactionLeft(); left > 0 && (d <= 0 || left < d) {
			d, why = left, errTransactionTimeout
		}
	}
	if d <= 0 {
		return
	}
	a := &s.activity
	a.mu.Lock()
	calls := a.calls
	a.mu.Unlock()
	s.idleTimer = time.AfterFunc(d, func() {
		a.mu.Lock()
		late := a.calls != calls // the client's next call was faster
		if !late {
			a.expired = why()
		}
		a.mu.Unlock()
		if !late {
			s.info.Wake()
		}
	})
}

func errIdleSession() *sqlerr.Error {
	return fatal(sqlerr.IdleSessionTimeout, "terminating connection due to idle-session timeout")
}

func errIdleInTransaction() *sqlerr.Error {
	return fatal(sqlerr.IdleInTransactionTimeout, "terminating connection due to idle-in-transaction timeout")
}
