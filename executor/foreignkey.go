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
// the newest state (childFinder.unseen).

// fkQueue collects the checks and actions of one statement.
type fkQueue struct {
	children []*fkCheck // referencing values, one entry per constraint
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
}

// fkEvent holds removed values of a parent's key, and what became of them.
type fkEvent struct {
	parent *catalog.Table
	ref    catalog.FKRef
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
		q := r.queue()
		if c.check == nil || !slices.Contains(q.children, c.check) {
			c.check = &fkCheck{child: w.table, fk: c.fk, keys: newKeySet(columnTypes(w.table, c.fk.Cols))}
			q.children = append(q.children, c.check)
		}
		if err := c.check.add(vals, was, new); err != nil {
			return err
		}
	}
	return nil
}

// add takes the rows' values that must exist: without NULLs, and changed.
func (c *fkCheck) add(vals, was []*vec.Vec, b *vec.Batch) error {
	n := b.Rows()
	hashes := hashRows(vals, b.Sel, n, nil)
	for i := range n {
		r := b.Row(i)
		nulls := 0
		for _, v := range vals {
			nulls += boolInt(v.IsNull(r))
		}
		if nulls > 0 {
			if c.fk.Match == 'f' && nulls < len(vals) {
				return c.error("MATCH FULL does not allow mixing of null and nonnull key values.")
			}
			continue
		}
		if was != nil && c.keys.eq.equal(was, r, vals, r) {
			continue
		}
		c.keys.findOrAdd(vals, r, hashes[i])
	}
	return nil
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
	for _, c := range q.children {
		if env.Deferred.takes(c.fk) {
			env.Deferred.addChild(c)
		} else if err := c.verify(env, false); err != nil {
			return err
		}
	}
	for i := range q.removed {
		e := &q.removed[i]
		if e.action() != 'r' && env.Deferred.takes(e.ref.FK) {
			env.Deferred.addRemoved(e)
		} else if err := e.verify(env); err != nil {
			return err
		}
	}
	return nil
}

// verify looks for each value's parent, in the newest state and under a shared
// lock. recheck is for the end of a transaction, when the referencing rows may
// be gone again.
func (c *fkCheck) verify(env *Env, recheck bool) error {
	parent := env.Snap.Table(c.fk.RefTable)
	if parent == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", c.fk.RefTable)
	}
	keys := c.keys.keys
	var view vec.Batch
	for at := 0; at < keys.n; at += vec.BatchSize {
		if err := ctxErr(env.Ctx); err != nil {
			return err
		}
		keys.window(&view, at, min(at+vec.BatchSize, keys.n))
		hits, err := keysExist(env, parent, c.fk.RefIndex, c.fk.RefCols, &view, true)
		if err != nil {
			return fkFindParent.in(env, c.child, c.fk, nil, err)
		}
		for i, hit := range hits {
			if hit {
				continue
			}
			if recheck {
				still, err := referenced(env, c.child, c.fk, view.Cols, i)
				if err != nil {
					return err
				}
				if !still {
					continue
				}
			}
			if !env.showsKey(c.child, c.fk.Cols) {
				return c.error(fmt.Sprintf(`Key is not present in table "%s".`, parent.Name))
			}
			return c.error(fmt.Sprintf(`Key %s is not present in table "%s".`, keyText(env, c.child, c.fk.Cols, view.Cols, i), parent.Name))
		}
	}
	return nil
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

// referenced reports whether a row of the child table has the value in row i.
func referenced(env *Env, child *catalog.Table, fk *catalog.ForeignKey, vals []*vec.Vec, i int) (bool, error) {
	one := newRowStore(typesOf(vals))
	one.appendCols(vals, []uint32{uint32(i)}, 1)
	found := false
	err := newChildFinder(env, child, fk).find(env.Txn, one.cols, 1, func(*vec.Batch, []uint32) (bool, error) {
		found = true
		return false, nil
	})
	return found, err
}

// childFinder finds referencing rows by value: through an index that begins
// with the constraint's columns, or by a scan.
type childFinder struct {
	env   *Env
	table *catalog.Table
	fk    *catalog.ForeignKey
	index *catalog.Index // nil with byKey: the master file
	byKey bool
	under [][]byte // by value: the row key below which the rows are stored
}

// below makes the finder look below the row keys of n of the event's parents.
func (f *childFinder) below(e *fkEvent, from, n int) {
	if e.under != nil {
		f.under = e.under[from : from+n]
	}
}

func newChildFinder(env *Env, t *catalog.Table, fk *catalog.ForeignKey) *childFinder {
	f := &childFinder{env: env, table: t, fk: fk}
	if t.KeyIsRowKey() && leads(t.PK, fk.Cols) {
		f.byKey = true
		return f
	}
	for _, ix := range t.Indexes {
		if ix.Primary && t.KeyIsRowKey() || ix.Invalid || ix.Where != "" || ix.ByElements(t) || env.Behind != nil && env.Behind(ix) {
			continue
		}
		cols := make([]int, len(ix.Keys))
		for i, k := range ix.Keys {
			cols[i] = k.Col
		}
		if leads(cols, fk.Cols) {
			f.index, f.byKey = ix, true
			break
		}
	}
	return f
}

// leads reports whether the key's first columns are cols, in any order.
func leads(key, cols []int) bool {
	if len(key) < len(cols) {
		return false
	}
	for _, k := range key[:len(cols)] {
		if !slices.Contains(cols, k) {
			return false
		}
	}
	return true
}

// find passes batches of referencing rows — the row key, then the live columns —
// with the number of the value that each selected row has, until yield returns
// false. vals are in the order of fk.Cols, of the parent's types.
func (f *childFinder) find(r table.Reader, vals []*vec.Vec, n int, yield func(b *vec.Batch, probes []uint32) (bool, error)) error {
	desc, err := f.env.Tables.For(f.table)
	if err != nil {
		return err
	}
	cols := append([]int{table.ColRowKey}, desc.Live...)
	if f.under != nil {
		return f.findBelow(desc, r, cols, n, yield)
	}
	if f.byKey {
		probe, err := arrange(f.env, vals, f.fk.Cols, f.table, f.index, n)
		if err != nil {
			return err
		}
		l, err := desc.NewLookup(r, f.index, len(probe), cols, false)
		if err != nil {
			return err
		}
		if err := l.Start(f.env.Ctx, probe, n, nil); err != nil {
			return err
		}
		var b vec.Batch
		for {
			probes, err := l.Next(&b)
			if err != nil || b.N == 0 {
				return err
			}
			if more, err := yield(&b, probes); err != nil || !more {
				return err
			}
		}
	}
	return f.scan(desc, r, cols, vals, n, yield)
}

func (f *childFinder) scan(desc *table.Desc, r table.Reader, cols []int, vals []*vec.Vec, n int, yield func(b *vec.Batch, probes []uint32) (bool, error)) error {
	ts := columnTypes(f.table, f.fk.Cols)
	own := make([]*vec.Vec, len(vals))
	for i, v := range vals {
		var err error
		if own[i], err = convertVec(f.env, v, ts[i], n); err != nil {
			return err
		}
	}
	set := newKeySet(ts)
	number := make([]uint32, 0, n)
	hashes := hashRows(own, nil, n, nil)
	for i := range n {
		if _, isNew := set.findOrAdd(own, i, hashes[i]); isNew {
			number = append(number, uint32(i))
		}
	}
	at := make([]int, len(f.fk.Cols))
	for i, c := range f.fk.Cols {
		at[i] = 1 + slices.Index(desc.Live, c)
	}
	sc, err := desc.Scan(f.env.Ctx, r, &table.ScanSpec{Cols: cols})
	if err != nil {
		return err
	}
	defer sc.Close()
	var b vec.Batch
	keys := make([]*vec.Vec, len(at))
	for {
		if err := ctxErr(f.env.Ctx); err != nil {
			return err
		}
		b.Sel = nil
		if err := sc.Next(&b); err != nil || b.N == 0 {
			return err
		}
		for i, c := range at {
			keys[i] = b.Cols[c]
		}
		hashes = hashRows(keys, nil, b.N, hashes)
		sel, probes := make([]uint32, 0, b.N), make([]uint32, 0, b.N)
		for r := range b.N {
			if k := set.find(keys, r, hashes[r]); k >= 0 {
				sel = append(sel, uint32(r))
				probes = append(probes, number[k])
			}
		}
		if len(sel) == 0 {
			continue
		}
		hit := vec.Batch{Cols: b.Cols, N: b.N, Sel: sel}
		if more, err := yield(&hit, probes); err != nil || !more {
			return err
		}
	}
}

// refers reports whether a row that the transaction sees refers to its value in the newest
// state, too. Who is about to delete the row is waited for.
func (f *childFinder) refers(b *vec.Batch, i int) (bool, error) {
	env, cols := f.env, f.fk.Cols
	desc, err := env.Tables.For(f.table)
	if err != nil {
		return false, err
	}
	r := b.Row(i)
	key := b.Cols[0].B[b.Cols[0].Idx(r)]
	if desc.RowWritten(env.Txn, key) {
		return true, nil
	}
	there, changed, err := desc.ShareNewest(env.Ctx, env.Txn, key, lockOpt(env))
	if err != nil || !there || !changed {
		return there, fkFindChild.in(env, f.table, f.fk, nil, err)
	}
	newest, err := env.Txn.Newest()
	if err != nil {
		return false, err
	}
	defer newest.Close()
	var now vec.Batch
	if err := desc.GetRows(env.Ctx, newest, [][]byte{key}, cols, nil, &now); err != nil || now.Rows() == 0 {
		return false, err
	}
	seen := make([]*vec.Vec, len(cols))
	for i, c := range cols {
		seen[i] = b.Cols[1+slices.Index(desc.Live, c)]
	}
	eq := newKeyEq(columnTypes(f.table, cols))
	return eq.equal(now.Cols, now.Row(0), seen, r), nil
}

// unseen looks for referencing rows that were committed after the transaction's
// snapshot. They are rows of the newest state that the transaction does not see, or sees
// with other values, and did not change or delete itself. The statement runs again then;
// a transaction that keeps its snapshot will never see them: fail, if there is one, words
// the error for the number of the value that such a row has.
func (f *childFinder) unseen(vals []*vec.Vec, n int, fail func(probe uint32) error) error {
	env := f.env
	desc, err := env.Tables.For(f.table)
	if err != nil {
		return err
	}
	// The lock of a definition has kept others out since before the statement, and
	// what they see is stored in another way.
	if own, err := desc.Rewritten(env.Txn, f.index); own || err != nil {
		return err
	}
	snap, err := env.Txn.Newest() // with what the transaction builds on, durable or not
	if err != nil {
		return err
	}
	defer snap.Close()
	if snap.Seq() == env.Txn.Seq() {
		return nil
	}
	cols := f.fk.Cols
	eq := newKeyEq(columnTypes(f.table, cols))
	return f.find(snap, vals, n, func(b *vec.Batch, probes []uint32) (bool, error) {
		keys := make([][]byte, b.Rows())
		for i := range keys {
			keys[i] = b.Cols[0].B[b.Row(i)]
		}
		var own vec.Batch
		if err := desc.GetRows(env.Ctx, env.Txn, keys, cols, nil, &own); err != nil {
			return false, err
		}
		now := make([]*vec.Vec, len(cols))
		for i, c := range cols {
			now[i] = b.Cols[1+slices.Index(desc.Live, c)]
		}
		// A row that had another value before refers to this one as a new row does.
		seen := make([]bool, len(keys))
		for i := range own.Rows() {
			r := own.Row(i)
			seen[r] = eq.equal(own.Cols, r, now, b.Row(r))
		}
		for i, k := range keys {
			if seen[i] {
				continue
			}
			err := desc.Appeared(env.Txn, [][]byte{k})
			if err != nil && fail != nil && !env.ReadCommitted {
				err = fail(probes[i])
			}
			if err != nil {
				return false, retry(err)
			}
		}
		return true, nil
	})
}
