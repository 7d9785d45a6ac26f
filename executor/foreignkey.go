package executor

import (
	"bytes"
	"fmt"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
)

// Foreign keys, as PostgreSQL's triggers do them: what a statement wrote is
// queued and looked at when the statement has ended. First the referential
// actions run, each of which may queue more; then referencing values must be
// found among the parents, and removed values must not be referenced.
//
// Concurrency: a child's check locks the parent's key in key-share mode, a
// parent's deletion or change of that key locks it for update, so one of two
// transactions waits; other changes of the parent do not. A child row that was
// committed after the parent's statement began is found by looking once more in
// the newest state (childFinder.unseen); one that was deleted or changed since, by asking
// that state (childFinder.refers).

// fkQueue collects the checks and actions of one statement.
type fkQueue struct {
	children []*fkCheck // referencing values, one entry per constraint
	rows     int        // referencing rows that were looked at: what came first counts
	events   []fkEvent
	removed  []fkEvent // NO ACTION and RESTRICT, checked after all actions
	uniques  []*table.DeferredKeys
}

// fkChild is a table's foreign key with its pending check.
type fkChild struct {
	fk    *catalog.ForeignKey
	check *fkCheck
}

// fkCheck holds distinct referencing values of a constraint.
type fkCheck struct {
	child *catalog.Table
	fk    *catalog.ForeignKey
	keys  *keySet // in the order of fk.Cols
	rows  []int   // by key: the number of the first row with it, see fkQueue
	mixed *int    // the first row that MATCH FULL does not allow, nil: none
}

// fkEvent holds removed values of a parent's key, and what became of them.
type fkEvent struct {
	parent *catalog.Table
	ref    catalog.FKRef
	rows   int       // of the queue, before it
	old    *rowStore // in the order of fk.RefCols
	new    *rowStore // of an update, row by row; nil for a delete
	// under has the parents' old row keys, row by row, if the child is stored with
	// its parent along this foreign key.
	under [][]byte
}

func (e *fkEvent) action() byte {
	if e.new != nil {
		return e.ref.FK.OnUpdate
	}
	return e.ref.FK.OnDelete
}

func (r *Run) queue() *fkQueue {
	if r.fks == nil {
		r.fks = new(fkQueue)
	}
	return r.fks
}

func columnTypes(t *catalog.Table, cols []int) []types.T {
	ts := make([]types.T, len(cols))
	for i, c := range cols {
		ts[i] = t.Columns[c].Type
	}
	return ts
}

// pickCols returns the vectors of table columns from a batch of live columns.
func (w *tableWriter) pickCols(b *vec.Batch, cols []int) []*vec.Vec {
	out := make([]*vec.Vec, len(cols))
	for i, c := range cols {
		out[i] = b.Cols[w.pos[c]]
	}
	return out
}

// fkInserted queues the referencing values of rows that were inserted (old nil)
// or updated.
func (r *Run) fkInserted(w *tableWriter, new, old *vec.Batch) error {
	if len(w.fks) == 0 {
		return nil
	}
	q := r.queue()
	number := func(i int) int { return q.rows + i }
	if turn := r.turn; turn != nil {
		number = func(i int) int { return q.rows + turn(new.Row(i)) }
	} else {
		defer func() { q.rows += new.Rows() }()
	}
	for i := range w.fks {
		c := &w.fks[i]
		if k := w.table.Cluster; k != nil && k.FK == c.fk.OID {
			continue // storage found the parent, under the same lock, to make the row key
		}
		if c.fk.Unchecked || r.env.Replica {
			continue
		}
		vals := w.pickCols(new, c.fk.Cols)
		var was []*vec.Vec
		if old != nil {
			was = w.pickCols(old, c.fk.Cols)
			if slices.Equal(vals, was) {
				continue
			}
		}
		if c.check == nil || !slices.Contains(q.children, c.check) {
			c.check = &fkCheck{child: w.table, fk: c.fk, keys: newKeySet(columnTypes(w.table, c.fk.Cols))}
			q.children = append(q.children, c.check)
		}
		c.check.add(vals, was, new, number)
		if c.check.mixed != nil && r.env.Deferred.takes(c.fk) {
			return c.check.errMixed()
		}
	}
	return nil
}

// add takes the rows' values that must exist: without NULLs, and changed. number is that
// of the i-th row, see fkQueue.
func (c *fkCheck) add(vals, was []*vec.Vec, b *vec.Batch, number func(i int) int) {
	n := b.Rows()
	hashes := hashRows(vals, b.Sel, n, nil)
	for i := range n {
		r := b.Row(i)
		nulls := 0
		for _, v := range vals {
			nulls += boolInt(v.IsNull(r))
		}
		if nulls > 0 {
			if at := number(i); c.fk.Match == 'f' && nulls < len(vals) && (c.mixed == nil || at < *c.mixed) {
				c.mixed = &at
			}
			continue
		}
		if was != nil && c.keys.eq.equal(was, r, vals, r) {
			continue
		}
		if k, isNew := c.keys.findOrAdd(vals, r, hashes[i]); isNew {
			c.rows = append(c.rows, number(i))
		} else {
			c.rows[k] = min(c.rows[k], number(i))
		}
	}
}

// inTurn makes what is written until done is called count in the order of a batch of n
// rows, whose numbers the written rows have, though some are written after others.
func (r *Run) inTurn(n int) (done func()) {
	if r.turn != nil {
		return func() {}
	}
	r.turn = func(row int) int { return row }
	return func() {
		r.turn = nil
		if r.fks != nil {
			r.fks.rows += n
		}
	}
}

func (c *fkCheck) errMixed() error {
	return c.error("MATCH FULL does not allow mixing of null and nonnull key values.")
}

func (c *fkCheck) error(detail string) error {
	e := sqlerr.New(sqlerr.ForeignKeyViolation, `insert or update on table "%s" violates foreign key constraint "%s"`, c.child.Name, c.fk.Name)
	e.Detail = detail
	e.Schema, e.Table, e.Constraint = c.child.Schema, c.child.Name, c.fk.Name
	return e
}

// fkRemoved queues the key values that are gone with deleted rows (new nil) or
// updated ones, be it that they are only written in another way: CASCADE writes them so
// in the referencing rows, too.
func (r *Run) fkRemoved(w *tableWriter, keys *vec.Vec, old, new *vec.Batch) error {
	for _, ref := range w.refs {
		if ref.Table.Key != nil {
			continue // its partitions have the rows, and keys of their own
		}
		r.fkGone(w, ref, fkEvent{parent: w.table, ref: ref}, keys, old, new)
	}
	return nil
}

// fkMoved is fkRemoved for rows that left the partition w for another one below
// root. For a key that refers to root, or to a table above it, they were updated;
// one that refers to the partition itself has lost them.
func (r *Run) fkMoved(w, root *tableWriter, keys *vec.Vec, old, new *vec.Batch) error {
	for _, ref := range w.refs {
		if ref.Table.Key != nil {
			continue
		}
		if ref.Named == w.table.OID {
			r.fkGone(w, ref, fkEvent{parent: w.table, ref: ref}, keys, old, nil)
			continue
		}
		i := slices.IndexFunc(root.refs, func(x catalog.FKRef) bool { return x.FK.OID == ref.FK.OID })
		if i < 0 {
			named := r.env.Snap.Table(ref.Named)
			return sqlerr.New(sqlerr.FeatureNotSupported,
				"cannot move tuple across partitions when a non-root ancestor of the source partition is directly referenced in a foreign key").
				WithDetail("A foreign key points to ancestor \"%s\" but not the root ancestor \"%s\".", named.Name, root.table.Name).
				WithHint("Consider defining the foreign key on table \"%s\".", root.table.Name)
		}
		r.fkGone(w, ref, fkEvent{parent: root.table, ref: root.refs[i]}, keys, old, new)
	}
	return nil
}

// fkGone queues an event for the rows of w whose values of a referenced key are
// gone; ref tells where the key is in w.
func (r *Run) fkGone(w *tableWriter, ref catalog.FKRef, e fkEvent, keys *vec.Vec, old, new *vec.Batch) {
	under := ref.Table.Cluster != nil && ref.Table.Cluster.FK == ref.FK.OID
	if r.env.Replica && !under || r.env.Snap.Unwatched(e.ref, e.parent.OID) {
		return
	}
	was := w.pickCols(old, ref.FK.RefCols)
	var now []*vec.Vec
	if new != nil {
		now = w.pickCols(new, ref.FK.RefCols)
		if slices.Equal(was, now) {
			return
		}
	}
	eq := newKeyEq(columnTypes(w.table, ref.FK.RefCols))
	sel := make([]uint32, 0, old.Rows())
rows:
	for i := range old.Rows() {
		row := old.Row(i)
		for _, v := range was {
			if v.IsNull(row) {
				continue rows
			}
		}
		if now == nil || !eq.same(was, row, now, row) {
			sel = append(sel, uint32(row))
		}
	}
	if len(sel) == 0 {
		return
	}
	e.old = newRowStore(columnTypes(w.table, ref.FK.RefCols))
	e.old.appendCols(was, sel, len(sel))
	if now != nil {
		e.new = newRowStore(columnTypes(w.table, ref.FK.RefCols))
		e.new.appendCols(now, sel, len(sel))
	}
	if under {
		for _, row := range sel {
			e.under = append(e.under, bytes.Clone(keys.B[keys.Idx(int(row))]))
		}
	}
	q := r.queue()
	e.rows = q.rows
	q.events = append(q.events, e)
}

// finish runs the actions and checks of the statement that has ended.
func (q *fkQueue) finish(env *Env) error {
	if q == nil {
		return nil
	}
	if len(q.events) > 0 && env.met != nil {
		// Whether a key is there again is asked of one state: the rows that were met are
		// of another one than the rest.
		env.Recheck.fresh = true
		return ErrRetry
	}
	acts := len(q.events) > 0 // which may take away rows that the statement wrote
	for len(q.events) > 0 {
		e := q.events[0]
		q.events = q.events[1:]
		switch e.action() {
		case 'c', 'n', 'd':
			if err := env.run.act(&e); err != nil {
				return err
			}
			if e.action() == 'd' { // the default may be the very key that goes
				if err := e.verify(env); err != nil {
					return err
				}
			}
		default:
			q.removed = append(q.removed, e)
		}
	}
	for _, k := range q.uniques {
		if u := uniqueOf(k); env.Deferred.waits(u.OID, u.Deferrable, u.InitiallyDeferred) {
			env.Deferred.uniques = append(env.Deferred.uniques, k)
		} else if err := verifyUnique(env, k); err != nil {
			return err
		}
	}
	// Of several rows at fault the first one counts, whichever constraint it violates; of one
	// row, the keys that it no longer has.
	var fault error
	first := q.rows
	for _, c := range q.children {
		if env.Deferred.takes(c.fk) {
			env.Deferred.addChild(c)
			continue
		}
		row, err := c.verify(env, acts)
		if err != nil && sqlerr.CodeOf(err) != sqlerr.ForeignKeyViolation {
			return err
		}
		if err != nil && row < first {
			fault, first = err, row
		}
	}
	for i := range q.removed {
		e := &q.removed[i]
		if e.action() != 'r' && env.Deferred.takes(e.ref.FK) {
			env.Deferred.addRemoved(e)
			continue
		}
		if fault != nil && e.rows > first {
			break
		}
		if err := e.verify(env); err != nil {
			return err
		}
	}
	return fault
}

// verify looks for each value's parent, in the newest state and under a shared
// lock. recheck is for when the referencing rows may be gone again: after referential
// actions, and at the end of a transaction. With a violation comes the number of the row that has it.
func (c *fkCheck) verify(env *Env, recheck bool) (row int, err error) {
	parent := env.Snap.Table(c.fk.RefTable)
	if parent == nil {
		return 0, sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", c.fk.RefTable)
	}
	keys := c.keys.keys
	var view vec.Batch
	for at := 0; at < keys.n; at += vec.BatchSize {
		if err := ctxErr(env.Ctx); err != nil {
			return 0, err
		}
		keys.window(&view, at, min(at+vec.BatchSize, keys.n))
		hits, err := keysExist(env, parent, c.fk.RefIndex, c.fk.RefCols, &view, true)
		if err != nil {
			return 0, fkFindParent.in(env, c.child, c.fk, nil, err)
		}
		bad := -1
		for i, hit := range hits {
			if hit || bad >= 0 && c.rows[at+bad] < c.rows[at+i] {
				continue
			}
			if recheck {
				still, err := referenced(env, c.child, c.fk, view.Cols, i)
				if err != nil {
					return 0, err
				}
				if !still {
					continue
				}
			}
			bad = i
		}
		if bad < 0 {
			continue
		}
		row := c.rows[at+bad]
		if c.mixed != nil && *c.mixed < row {
			return *c.mixed, c.errMixed()
		}
		if !env.showsKey(c.child, c.fk.Cols) {
			return row, c.error(fmt.Sprintf(`Key is not present in table "%s".`, parent.Name))
		}
		return row, c.error(fmt.Sprintf(`Key %s is not present in table "%s".`, keyText(env, c.child, c.fk.Cols, view.Cols, bad), parent.Name))
	}
	if c.mixed != nil {
		return *c.mixed, c.errMixed()
	}
	return 0, nil
}

// arrange brings key vectors, given in the order of the table's columns cols,
// into the order and types of an index's key columns (nil: the primary key).
func arrange(env *Env, vals []*vec.Vec, cols []int, t *catalog.Table, ix *catalog.Index, n int) ([]*vec.Vec, error) {
	order := t.PK
	if ix != nil && !ix.Primary {
		order = make([]int, 0, len(ix.Keys))
		for _, k := range ix.Keys {
			order = append(order, k.Col)
		}
	}
	out := make([]*vec.Vec, 0, len(cols))
	for _, c := range order {
		i := slices.Index(cols, c)
		if i < 0 {
			break
		}
		v, err := convertVec(env, vals[i], t.Columns[c].Type, n)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// convertVec returns the first n rows of v as values of another type.
func convertVec(env *Env, v *vec.Vec, t types.T, n int) (*vec.Vec, error) {
	if v.T.OID == t.OID {
		return v, nil
	}
	if v.T.Rep() == types.RepInt && t.Rep() == types.RepInt || v.T.Kind() == types.KText && t.Kind() == types.KText {
		c := *v
		c.T = t
		return &c, nil
	}
	out := vec.New(t, n)
	for i := range n {
		d := v.Get(i)
		if !d.Null {
			var err error
			if d, err = types.Cast(d, t, env.Expr.Fmt, true); err != nil {
				return nil, err
			}
		}
		out.Set(i, d)
	}
	return out, nil
}

// keyText shows a key as PostgreSQL's details do: (a, b)=(1, 2).
func keyText(env *Env, t *catalog.Table, cols []int, vals []*vec.Vec, r int) string {
	buf := []byte{'('}
	for i, c := range cols {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		buf = append(buf, t.Columns[c].Name...)
	}
	buf = append(buf, ")=("...)
	for i, v := range vals[:len(cols)] {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		if v.IsNull(r) {
			buf = append(buf, "null"...)
		} else {
			buf = types.AppendText(buf, v.Get(r), env.Expr.Fmt)
		}
	}
	return string(append(buf, ')'))
}

// verify fails when a removed value is still referenced, unless a row has the
// value again.
func (e *fkEvent) verify(env *Env) error {
	var view vec.Batch
	for at := 0; at < e.old.n; at += vec.BatchSize {
		e.old.window(&view, at, min(at+vec.BatchSize, e.old.n))
		back, err := e.again(env, &view)
		if err != nil {
			return err
		}
		f := newChildFinder(env, e.ref.Table, e.ref.FK)
		f.below(e, at, view.N)
		at := -1
		err = f.find(env.Txn, view.Cols, view.N, func(b *vec.Batch, probes []uint32) (bool, error) {
			for i, p := range probes {
				if back[p] {
					continue
				}
				switch refers, err := f.refers(b, i); {
				case err != nil:
					return false, err
				case refers:
					at = int(p)
					return false, nil
				}
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		if at >= 0 {
			return e.error(env, keyText(env, e.parent, e.ref.FK.RefCols, view.Cols, at))
		}
		err = f.unseen(view.Cols, view.N, func(p uint32) error {
			if back[p] {
				return nil
			}
			return e.error(env, keyText(env, e.parent, e.ref.FK.RefCols, view.Cols, int(p)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// again reports which removed values exist again. RESTRICT does not ask.
func (e *fkEvent) again(env *Env, view *vec.Batch) ([]bool, error) {
	if e.action() == 'r' {
		return make([]bool, view.N), nil
	}
	return keysExist(env, e.parent, e.ref.FK.RefIndex, e.ref.FK.RefCols, view, false)
}

// error names the table and the foreign key that the referencing one is a part of
// at the top.
func (e *fkEvent) error(env *Env, key string) error {
	c, fk := env.Snap.RootKey(e.ref.Table, e.ref.FK)
	name := fk.Name
	if x := fk.TargetFor(e.parent.OID); x != nil {
		name = x.Name
	}
	x := sqlerr.New(sqlerr.ForeignKeyViolation, `update or delete on table "%s" violates foreign key constraint "%s" on table "%s"`,
		e.parent.Name, name, c.Name).
		WithDetail(`Key %s is still referenced from table "%s".`, key, c.Name)
	if !env.showsKey(e.parent, e.ref.FK.RefCols) {
		x.Detail = fmt.Sprintf(`Key is still referenced from table "%s".`, c.Name)
	}
	x.Schema, x.Table, x.Constraint = c.Schema, c.Name, name
	return x
}
