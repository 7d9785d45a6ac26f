package session

import (
	"context"
	"slices"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/wire"
)

// sink takes the rows of a statement: the client, or a buffer.
type sink interface {
	begin(cols []wire.Column, opts *types.FmtOpts)
	batch(b *vec.Batch) error
}

// wireSink sends rows to the client as they come.
type wireSink struct {
	w       wire.ResultWriter
	formats []int16
}

func (k wireSink) begin(cols []wire.Column, o *types.FmtOpts) { k.w.Rows(cols, k.formats, o) }
func (k wireSink) batch(b *vec.Batch) error                   { return k.w.Batch(b) }

// visibleSink passes rows of a cursor's query on without the hidden columns.
type visibleSink struct {
	sink
	cols int
}

func (k *visibleSink) begin(cols []wire.Column, o *types.FmtOpts) {
	k.cols = len(cols)
	k.sink.begin(cols, o)
}

func (k *visibleSink) batch(b *vec.Batch) error { return k.sink.batch(b.First(k.cols)) }

// lateSink announces the columns with the first rows.
type lateSink struct {
	sink
	cols  []wire.Column
	opts  *types.FmtOpts
	begun bool
}

func (k *lateSink) begin(cols []wire.Column, o *types.FmtOpts) { k.cols, k.opts = cols, o }

func (k *lateSink) batch(b *vec.Batch) error {
	k.announce()
	return k.sink.batch(b)
}

func (k *lateSink) announce() {
	if !k.begun && k.cols != nil {
		k.begun = true
		k.sink.begin(k.cols, k.opts)
	}
}

// plannedStmt is a statement with its plan, made anew when the catalog or the
// settings it depends on have changed, and its operators, used again and again.
type plannedStmt struct {
	stmt     ast.Stmt
	declared []types.T

	reading *types.FmtOpts   // how the literals of a prepared statement are read; nil: as the session reads now
	routine *planner.Routine // that the statement is in the body of
	cursor  bool             // the query of a cursor

	q     *plan.Query
	snap  *catalog.Snapshot
	epoch uint64
	cols  []wire.Column
	// promised are the columns that Bind described of the portal that is executed: what is
	// planned anew has the same ones. nil for others.
	promised []wire.Column

	recheck  executor.Recheck // of the attempts to run it
	rechecks bool             // recheck is in use: a statement within another has no attempts of its own
	late     bool             // this attempt locks partitions when the first row comes to them
	early    bool             // no attempt does, as one has met new definitions

	custom  customPlan
	uses    *planUses // of the prepared statement that it is run for; nil for others
	counted bool      // in uses, with the attempt before

	run  *executor.Run
	busy bool
	// keeps: the statement may come again, so its run is kept as keptRuns says.
	keeps, kept, recent bool
	// asked is how often the session had asked for room when the run began: its grants.
	grants *executor.Grants
	asked  int64
	env    executor.Env
	x      expr.Env
	mem    executor.Memory

	allowed string            // the role that was found to have the plan's rights
	role    string            // that the plan was made for; it counts where the plan says so
	seen    *catalog.Snapshot // what seenBefore was: indexes that it has not are not read

	system  bool // a statement of the server's own, which needs no rights
	inOrder bool // full scans give the rows in the order of the table's key
}

// plannable reports whether the planner plans the statement.
func plannable(st ast.Stmt) bool {
	switch x := st.(type) {
	case *ast.Select:
		return x.Into == nil
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge, *ast.CallProc:
		return true
	}
	return false
}

// fits reports whether there is a plan for the snapshot and the settings.
func (p *plannedStmt) fits(s *Session, snap *catalog.Snapshot) bool {
	if p.q == nil || p.snap != snap || p.epoch != s.settings.epoch || p.q.RowSecurity && p.role != s.user {
		return false
	}
	before := s.seenBefore(snap)
	return p.seen == before || before == nil && !p.q.Passes
}

// refresh makes the plan if there is none for the snapshot and the settings.
func (p *plannedStmt) refresh(ctx context.Context, s *Session, snap *catalog.Snapshot) error {
	if p.fits(s, snap) {
		return nil
	}
	pc := s.planDuring(ctx, snap)
	pc.ParamTypes, pc.Reading, pc.Routine, pc.Cursor, pc.System = p.declared, p.reading, p.routine, p.cursor, p.system
	q, err := planner.Plan(pc, p.stmt)
	if err != nil {
		return err
	}
	if p.run != nil && !p.busy {
		p.run.Close()
	}
	p.run = nil
	p.q, p.snap, p.epoch, p.allowed, p.role = q, snap, s.settings.epoch, "", s.user
	p.seen = s.seenBefore(snap)
	p.custom = customPlan{generic: q}
	p.cols = nil
	if q.Returns {
		p.cols = columnsOf(q, snap)
	}
	return nil
}

// columnsOf describes a result; of domains clients see the type below.
func columnsOf(q *plan.Query, snap *catalog.Snapshot) []wire.Column {
	cols := []wire.Column{}
	for _, c := range q.Root.Base().Cols {
		if c.Hidden {
			continue
		}
		cols = append(cols, wire.Column{Name: c.Name, TableOID: uint32(c.Table), AttNum: c.AttNum, Type: snap.BaseType(c.T)})
	}
	return cols
}

// reading is fmt for longer than the transaction.
func (s *Session) reading() *types.FmtOpts {
	f := *s.fmt()
	return &f
}

// fmt is how the session reads and writes values now.
func (s *Session) fmt() *types.FmtOpts {
	if s.tx != nil {
		return s.tx.fmt
	}
	return s.settings.fmt
}

// planContext is what the planner may know of the session.
func (s *Session) planContext(snap *catalog.Snapshot) *planner.Context {
	return &planner.Context{
		Snap: snap, DB: s.db, SearchPath: s.searchPath(true), Fmt: s.fmt(), Consts: constants{s, context.Background()}, Texts: parser.Texts{},
		NoOptimizer: !s.settings.optimizer, TempSchema: s.tempSchema(), User: s.user, Rows: s.srv.estimate(snap), Runs: expr.Implemented,
		RowSecurityOff: s.settings.rowSecurityOff, NoViews: s.settings.noViews, NullEquals: s.settings.nullEquals, Notice: s.tell,
	}
}

// planDuring is planContext for a call, which ends the planning when it ends.
func (s *Session) planDuring(ctx context.Context, snap *catalog.Snapshot) *planner.Context {
	pc := s.planContext(snap)
	pc.Consts = constants{s, ctx}
	pc.Interrupted = func() error { return executor.Interrupted(ctx) }
	if s.seenBefore(snap) != nil {
		pc.Behind = s.behind
	}
	return pc
}

// seenBefore returns the catalog of before the open transaction's snapshot, nil if that
// is snap or there is none.
func (s *Session) seenBefore(snap *catalog.Snapshot) *catalog.Snapshot {
	if s.tx == nil || s.tx.seen == snap {
		return nil
	}
	return s.tx.seen
}

// behind reports whether an index that others have made, or given another file, became
// valid after the snapshot of the open transaction, which does not have all of its entries.
func (s *Session) behind(ix *catalog.Index) bool {
	file := func(snap *catalog.Snapshot) (sp catalog.SpaceID, valid bool) {
		t := snap.TableOfIndex(s.db, ix.OID)
		if t == nil {
			return 0, false
		}
		x := t.IndexByOID(ix.OID)
		if x == nil || x.Invalid {
			return 0, false
		}
		return x.Space, true
	}
	now, valid := file(s.srv.Catalog.Current())
	was, had := file(s.tx.seen)
	return valid && (!had || was != now)
}

// prepare brings the statement's plan up to date, takes its table locks and opens what
// it reads.
func (s *Session) prepare(ctx context.Context, p *plannedStmt, params []types.Datum) error {
	if err := s.settlePlan(ctx, p, params); err != nil {
		return err
	}
	s.look()
	return s.storedAsSeen(p.q)
}

// settlePlan brings the statement's plan up to date and takes its table locks, so
// that the plan fits the tables (S2): again for as long as others publish definitions
// meanwhile. The locks stay, so that those of its own tables come to an end.
func (s *Session) settlePlan(ctx context.Context, p *plannedStmt, params []types.Datum) error {
	for {
		if err := executor.Interrupted(ctx); err != nil {
			return err
		}
		snap := s.snapshot()
		kv.Pause()
		if err := p.refresh(ctx, s, snap); err != nil {
			return err
		}
		if len(p.promised) > 0 && (len(p.cols) == 0 || &p.promised[0] != &p.cols[0]) {
			if err := sameDescription(p.promised, p.cols); err != nil {
				return err
			}
		}
		if p.allowed != s.user && !p.system {
			if err := s.checkRights(p.q); err != nil {
				return err
			}
			p.allowed = s.user
		}
		if err := p.suit(ctx, s, snap, params); err != nil {
			return err
		}
		late := p.rechecks && !p.early && s.tx.iso == kv.ReadCommitted && s.tx.change == nil
		left, err := s.lockTables(ctx, p.q, params, late)
		if err != nil {
			return err
		}
		p.late = left
		if err := s.rebase(); err != nil {
			return err
		}
		if s.snapshot() == snap {
			p.count()
			return nil
		}
	}
}

// storedAsSeen refuses a statement of a transaction that reads an older state than
// the plan is for, when a table or an index of it is stored in another way by now:
// the state has no such index, or rows of another form. The tables are locked.
func (s *Session) storedAsSeen(q *plan.Query) error {
	t, now := s.tx, s.srv.Catalog.Current()
	for i := range len(q.Tables) + len(q.KeyTables) {
		if is := tableUse(q, i).Table; t.newer[is.OID] {
			e := sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
			return e.WithDetail("Table \"%s\" has an index of a newer state than the transaction's snapshot.", is.Name)
		}
	}
	if t.iso == kv.ReadCommitted || t.seen == nil || t.seen == now {
		return nil
	}
	for i := range len(q.Tables) + len(q.KeyTables) {
		use := tableUse(q, i)
		oid := use.Table.OID
		was, is := t.seen.Table(oid), now.Table(oid)
		if was == is || is == nil || was == nil && !t.blurred {
			continue // made later, or by this transaction
		}
		fits := !t.blurred
		if fits {
			old, err := s.srv.Tables.For(was)
			if err != nil {
				return err
			}
			d, err := s.srv.Tables.For(is)
			if err != nil {
				return err
			}
			fits = d.Reads(old, use.Write || use.Lock || i >= len(q.Tables))
		}
		if !fits {
			e := sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update")
			return e.WithDetail("Table \"%s\" is stored in another way than in the transaction's snapshot.", is.Name)
		}
	}
	return nil
}

// runPlanned runs a statement to its end and returns the number of its tag. One
// that returns nothing but this number may go on with what others are about to
// commit (see kv.Txn.SetAhead); its error waits for them.
func (s *Session) runPlanned(ctx context.Context, p *plannedStmt, params []types.Datum, out sink, stats *executor.Stats) (int64, error) {
	p.recheck, p.rechecks, p.early = executor.Recheck{}, true, false
	defer func() { p.rechecks = false }()
	for {
		n, err := s.runOnce(ctx, p, params, out, stats)
		if isRetry(err) {
			continue
		}
		if s.tx != nil {
			s.tx.kv.SetAhead(false)
		}
		if err != nil && s.tx != nil {
			if lost := s.tx.kv.Settle(); lost != nil {
				err = lost
			}
		}
		return n, err
	}
}

// runOnce is one attempt of runPlanned. After executor.ErrRetry nothing of it
// has happened, and the snapshot is new or p.recheck knows the rows that are.
func (s *Session) runOnce(ctx context.Context, p *plannedStmt, params []types.Datum, out sink, stats *executor.Stats) (n int64, err error) {
	if err := s.prepare(ctx, p, params); err != nil {
		return 0, err
	}
	kv.Pause()
	p.recheck.Begin(s.tx.moves)
	s.tx.kv.SetAhead(!p.q.ReadOnly && !p.q.Returns && stats == nil)
	mark, marked, to := 0, false, out
	moved := len(s.tx.moved)
	var open lobMark
	var bodies bodyMark
	var kept *rowBuffer // a statement that may run again shows its rows at its end
	if !p.q.ReadOnly {
		if p.writesKept() {
			if err := s.writable(p.command()); err != nil {
				return 0, err
			}
		}
		mark, marked = s.tx.kv.Savepoint(), true
		open = s.tx.lobs.mark()
		if len(p.q.Calls) > 0 {
			bodies = s.markBodies()
		}
		if p.q.Returns {
			kept = s.rowBuffer()
			defer kept.release()
			to = kept
		}
	}
	leave, err := s.readView(p)
	if err != nil {
		return 0, err
	}
	n, err = s.drain(ctx, p, params, to, stats)
	leave()
	if err != nil {
		if isRetry(err) && marked {
			s.tx.kv.RollbackTo(mark)
			s.tx.lobs.rollbackTo(open)
			s.tx.moved = s.tx.moved[:moved]
			s.tx.lobs.before = nil
			if len(p.q.Calls) > 0 {
				if e := s.undoBodies(bodies); e != nil {
					return 0, e
				}
			}
			if !p.recheck.Again() {
				return 0, err
			}
			if e := s.readAgain(ctx); e != nil {
				return 0, e
			}
		} else if kept != nil && kept.cols != nil && p.streamsRows() {
			if e := kept.passTo(out); e != nil {
				return 0, e
			}
		}
		return 0, err
	}
	if p.q.Tag == "CALL" {
		n = -1
	}
	if !p.q.ReadOnly {
		if s.block == inBlock {
			if err := p.recheck.UnlockGone(ctx, s.tx.kv, s.srv.Tables); err != nil {
				return 0, err
			}
		}
		s.count(p.q, n)
		if kept != nil {
			if err := kept.passTo(out); err != nil {
				return 0, err
			}
		}
		s.tx.kv.Release(mark)
	}
	return n, nil
}

// command is the statement's name in messages: a SELECT's with that of its lock.
func (p *plannedStmt) command() string {
	for n := p.q.Root; p.q.Tag == "SELECT" && n != nil; {
		if l, ok := n.(*plan.LockRows); ok && len(l.Locks) > 0 {
			return "SELECT FOR " + l.Locks[0].Strength
		}
		below := n.Children()
		n = nil
		if len(below) > 0 {
			n = below[0]
		}
	}
	return p.q.Tag
}

// locks reports whether the query has FOR UPDATE or one of its relatives.
func (p *plannedStmt) locks() bool {
	x, ok := p.stmt.(*ast.Select)
	return ok && len(x.Locking) > 0
}

// streamsRows reports whether the client gets rows while the statement runs, so that it
// has those before one that fails: it is a query, and nothing in it changes data.
func (p *plannedStmt) streamsRows() bool {
	if p.q.Tag != "SELECT" || !p.q.Returns {
		return false
	}
	for _, c := range p.q.CTEs {
		if c.Modifying {
			return false
		}
	}
	return true
}

// writes reports whether the plan changes tables, beyond what a read-only
// transaction may do (sequences of temporary tables aside, nothing).
func (p *plannedStmt) writes() bool {
	if p.q.Tag != "SELECT" {
		return true
	}
	for i := range p.q.Tables {
		if p.q.Tables[i].Write || p.q.Tables[i].Lock {
			return true
		}
	}
	return false
}

// writesKept reports whether the statement itself writes or locks rows of tables that
// are not temporary, which no read-only transaction may: it is what it needs the right to.
// MERGE of which no action changes anything needs none.
func (p *plannedStmt) writesKept() bool {
	return slices.ContainsFunc(p.q.Rights, func(r *catalog.Right) bool {
		schema, _ := r.Rel.RelName()
		return r.Need&^catalog.PrivSelect != 0 && !catalog.IsTempSchema(schema)
	})
}

// drain passes all rows of the statement to the sink.
func (s *Session) drain(ctx context.Context, p *plannedStmt, params []types.Datum, to sink, stats *executor.Stats) (int64, error) {
	run, err := s.start(ctx, p, params, stats)
	if err != nil {
		return 0, err
	}
	defer p.release(run)
	// A query's columns are announced when it starts, those of what changes data
	// when it has run: it may fail until then.
	begun := !p.q.Returns
	if !begun && p.streamsRows() {
		to.begin(p.cols, s.tx.fmt)
		begun = true
	}
	for {
		b, err := run.Next()
		if err != nil {
			return 0, err
		}
		if !begun {
			to.begin(p.cols, s.tx.fmt)
			begun = true
		}
		if b == nil {
			s.countChanges(run.Changes())
			return run.Affected(), nil
		}
		if p.q.Returns {
			if err := to.batch(b); err != nil {
				return 0, err
			}
		}
	}
}

// count keeps the tables' live numbers of rows.
func (s *Session) count(q *plan.Query, n int64) {
	var t *catalog.Table
	var delta int64
	switch r := q.Root.(type) {
	case *plan.Insert:
		if r.Tree != nil {
			return // see countChanges
		}
		t, delta = r.Table, n
	case *plan.Delete:
		if r.Tree != nil {
			return
		}
		t, delta = r.Table, -n
	case *plan.Update:
		if r.Tree != nil {
			return
		}
		t = r.Table
	case *plan.Merge:
		if r.Tree != nil {
			return
		}
		t = r.Table
	}
	if t != nil && n > 0 {
		s.countRows(t.OID, delta, n)
	}
}

// countChanges keeps the numbers of a statement on several tables.
func (s *Session) countChanges(m map[types.OID]executor.RowChange) {
	for oid, c := range m {
		s.countRows(oid, c.Inserted-c.Deleted, c.Inserted+c.Deleted+c.Updated)
	}
}

func (s *Session) countRows(t types.OID, delta, changed int64) {
	if s.tx.deltas == nil {
		s.tx.deltas = make(map[types.OID]rowDelta)
	}
	d := s.tx.deltas[t]
	d.delta += delta
	d.changed += changed
	s.tx.deltas[t] = d
}

// countEmptied is countRows for TRUNCATE, whose lock keeps others from the table and from
// its statistics until the commit.
func (s *Session) countEmptied(t types.OID) {
	s.countRows(t, 0, 0)
	d := rowDelta{changed: s.tx.deltas[t].changed, emptied: true}
	if st := s.snapshot().Stats(t); st != nil {
		d.known = int64(st.Rows)
	}
	s.tx.deltas[t] = d
	n := s.tally.Rel(t)
	s.tx.uncounted = append(s.tx.uncounted, uncounted{t, len(s.tx.saves), n.Inserted, n.Updated, n.Deleted})
	n.Inserted, n.Updated, n.Deleted = 0, 0, 0
}

// uncounted is what the cumulative statistics forget of a table that TRUNCATE has emptied
// while as many savepoints were open.
type uncounted struct {
	table                      types.OID
	level                      int
	inserted, updated, deleted int64
}

// recount brings back what TRUNCATE has made the statistics forget since there were more
// than level savepoints, in the place of what came after: it did not happen.
func (t *transaction) recount(tally *executor.Tally, level int) {
	for i := len(t.uncounted) - 1; i >= 0; i-- {
		if u := t.uncounted[i]; u.level > level {
			n := tally.Rel(u.table)
			n.Inserted, n.Updated, n.Deleted = u.inserted, u.updated, u.deleted
			t.uncounted = slices.Delete(t.uncounted, i, i+1)
		}
	}
}

// estimate returns the planner's source of row numbers.
func (srv *Server) estimate(snap *catalog.Snapshot) func(*catalog.Table) float64 {
	return func(t *catalog.Table) float64 {
		var live int64
		x, known := srv.rows.m.Load(t.OID)
		if known {
			live = x.(*rowCounter).delta.Load()
		}
		if st := snap.Stats(t.OID); st != nil {
			return max(st.Rows+float64(live), 0)
		}
		if known && live > 0 {
			return float64(live)
		}
		return -1
	}
}

// tag returns the command tag of a planned statement; INSERT's has an OID of
// old times.
func tagOf(q *plan.Query) string {
	if q.Tag == "INSERT" {
		return "INSERT 0"
	}
	return q.Tag
}

func fatal(code sqlerr.Code, msg string) *sqlerr.Error {
	e := sqlerr.New(code, "%s", msg)
	e.Severity = "FATAL"
	return e
}

// now is the wall clock in PostgreSQL's microseconds.
func now() int64 { return types.TimestampFromTime(time.Now()) }
