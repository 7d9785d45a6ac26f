package executor

import (
	"cmp"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// INSERT, UPDATE and DELETE on tables with members. The input's last column, but
// for INSERT, is the OID of the table that the row is in.

// treeInsert stores its input's rows in the partitions that they belong to.
type treeInsert struct {
	dml
	views    rowChecks
	node     *plan.Insert
	members  *members
	conflict map[*member]*onConflict
}

func (b *builder) treeInsert(n *plan.Insert) (Operator, error) {
	d, err := b.inserted(n, !seesAny(n.Input, n.Tree))
	if err != nil {
		return nil, err
	}
	op := &treeInsert{dml: d, node: n}
	if op.views, err = newRowChecks(n.Checks); err != nil {
		return nil, err
	}
	op.dml.write = op.write
	op.dml.prepare = func() (err error) {
		op.members, err = op.env.run.newMembers(n.Table)
		op.conflict = map[*member]*onConflict{}
		return err
	}
	return op, nil
}

func (op *treeInsert) write(in *vec.Batch) (*vec.Batch, error) {
	b := &vec.Batch{Cols: in.Cols[:len(op.w.live)], N: in.N, Sel: in.Sel}
	if !op.returning.wanted && op.node.OnConflict == nil {
		return b, op.members.insert(b, false, op.store)
	}
	out := newOutput(op.w, systemTypes(op.node.System))
	err := op.members.insert(b, true, func(x *member, rows *vec.Batch) error {
		if op.node.OnConflict == nil {
			done, err := op.stored(x, rows)
			if err == nil {
				out.add(x, done, done.Cols[len(x.w.live):])
			}
			return err
		}
		c, err := op.conflictOf(x)
		if err != nil {
			return err
		}
		x.w.shown = x
		done, err := c.write(rows)
		x.w.shown = nil
		if err == nil {
			out.add(x, done, done.Cols[len(x.w.live):])
			op.env.run.count(x.w.table, RowChange{Inserted: int64(done.Rows())})
		}
		return err
	})
	return out.batch(), err
}

// store inserts rows into a member.
func (op *treeInsert) store(x *member, rows *vec.Batch) error {
	_, err := op.stored(x, rows)
	return err
}

// stored is store that returns the rows with the system columns that RETURNING reads.
func (op *treeInsert) stored(x *member, rows *vec.Batch) (*vec.Batch, error) {
	root := relayout(rows, x.toRoot, rows.Sel)
	bad, err := op.views.failing(op.env, root)
	if err != nil {
		return nil, err
	}
	done, err := x.w.insert(rows, table.InsertOpt{})
	if err != nil {
		return nil, err
	}
	op.env.run.count(x.w.table, RowChange{Inserted: int64(rows.Rows())})
	if err := bad.of(op.w, root); err != nil {
		return nil, err
	}
	out := *rows
	out.Cols = rows.Cols[:len(x.w.live)]
	return x.w.withSystem(op.node.System, &out, 0, func(r int) []byte { return done.Keys[r] })
}

// conflictOf returns ON CONFLICT as it is for a member.
func (op *treeInsert) conflictOf(x *member) (*onConflict, error) {
	if c := op.conflict[x]; c != nil {
		return c, nil
	}
	c, err := newOnConflict(conflictFor(op.node.OnConflict, op.members.root, x))
	if err != nil {
		return nil, err
	}
	if c.views, err = newRowChecks(x.placeChecks(op.node.Checks)); err != nil {
		return nil, err
	}
	c.system = op.node.System
	if err := c.open(x.w); err != nil {
		return nil, err
	}
	op.conflict[x] = c
	return c, nil
}

// conflictFor translates ON CONFLICT of the root for a member: the indexes are the
// member's parts, columns have other places.
func conflictFor(n *plan.OnConflict, root *tableWriter, x *member) *plan.OnConflict {
	out := &plan.OnConflict{DoUpdate: n.DoUpdate}
	for _, ix := range n.Indexes {
		out.Indexes = append(out.Indexes, x.w.env.Snap.PartOf(ix.OID, x.w.table))
	}
	for i, c := range n.SetCols {
		out.SetCols = append(out.SetCols, x.w.live[x.toRoot[root.pos[c]]])
		out.Set = append(out.Set, x.place(n.Set[i]))
	}
	out.Where = x.place(n.Where)
	out.Existing, out.Checks = x.placeChecks(n.Existing), x.placeChecks(n.Checks)
	return out
}

// placeChecks is place for the conditions of checks.
func (x *member) placeChecks(list []plan.RowCheck) []plan.RowCheck {
	out := slices.Clone(list)
	for i := range out {
		out[i].Cond = x.place(out[i].Cond)
	}
	return out
}

// place translates an expression over the root's live columns, once or twice, into
// one over the member's.
func (x *member) place(e plan.Expr) plan.Expr {
	n := len(x.root.live)
	return plan.Map(e, func(y plan.Expr) plan.Expr {
		c, ok := y.(*plan.Col)
		if !ok {
			return y
		}
		k := *c
		if c.Idx < n {
			k.Idx = x.toRoot[c.Idx]
		} else {
			k.Idx = len(x.w.live) + x.toRoot[c.Idx-n]
		}
		return &k
	})
}

// treeChange is the part that UPDATE and DELETE have in common.
type treeChange struct {
	dml
	members *members
	rows    distinctRows
	extra   int
	system  []int // the system columns that RETURNING reads
}

// each calls f for the rows of the input, those of a member together as far as
// they are neighbours; old has the root's live columns.
func (op *treeChange) each(in *vec.Batch, f func(x *member, rows *vec.Batch) error) error {
	return op.members.each(&vec.Batch{Cols: in.Cols, N: in.N, Sel: op.rows.sel(in)}, f)
}

// each calls f for rows of an input whose last column is the OID of their table,
// those of a member together as far as they are neighbours.
func (m *members) each(rows *vec.Batch, f func(x *member, rows *vec.Batch) error) error {
	sel := selectedRows(rows, nil)
	oids := rows.Cols[len(rows.Cols)-1]
	for from := 0; from < len(sel); {
		to := from
		oid := oids.I64[oids.Idx(int(sel[from]))]
		for to < len(sel) && oids.I64[oids.Idx(int(sel[to]))] == oid {
			to++
		}
		x, err := m.byRow(oids, int(sel[from]))
		if err != nil {
			return err
		}
		if x.w.bodies {
			to = from + 1
		}
		if err := f(x, &vec.Batch{Cols: rows.Cols, N: rows.N, Sel: slices.Clone(sel[from:to])}); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (op *treeChange) extraCols(in *vec.Batch) []*vec.Vec {
	end := len(in.Cols) - 1
	return in.Cols[end-op.extra : end]
}

func (op *treeChange) output(in *vec.Batch) *output {
	var ts []types.T
	for _, v := range op.extraCols(in) {
		ts = append(ts, v.T)
	}
	return newOutput(op.w, append(ts, systemTypes(op.system)...))
}

func (b *builder) treeChange(root *plan.Update) (*treeChange, error) {
	in, err := b.updateInput(root.Table, root.Tree, root.Input)
	if err != nil {
		return nil, err
	}
	d, err := b.newDMLOver(root, root.Table, in, root.Input, false, root.HasReturning, root.Returning)
	if err != nil {
		return nil, err
	}
	op := &treeChange{dml: d, extra: root.Extra, system: root.System,
		rows: distinctRows{once: passesOnce(root.Input), oid: len(root.Input.Base().Cols) - 1}}
	op.begin = func() { op.rows.open(op.env.run, root.Table.OID, root.Tree) }
	op.dml.prepare = func() (err error) {
		op.members, err = op.env.run.newMembers(root.Table)
		return err
	}
	return op, nil
}

// treeUpdate changes rows of several tables.
type treeUpdate struct {
	*treeChange
	node  *plan.Update
	views rowChecks
}

func (b *builder) treeUpdate(n *plan.Update) (Operator, error) {
	c, err := b.treeChange(n)
	if err != nil {
		return nil, err
	}
	op := &treeUpdate{treeChange: c, node: n}
	if op.views, err = newRowChecks(n.Checks); err != nil {
		return nil, err
	}
	op.dml.write = op.write
	return op, nil
}

func (op *treeUpdate) write(in *vec.Batch) (*vec.Batch, error) {
	live := len(op.w.live)
	out := op.output(in)
	err := op.each(in, func(x *member, rows *vec.Batch) error {
		old, err := op.members.columns(x, in.Cols[0], &vec.Batch{Cols: in.Cols[1 : 1+live], N: in.N, Sel: rows.Sel})
		if err != nil {
			return err
		}
		c := &change{keys: in.Cols[0], old: old, next: &vec.Batch{Cols: slices.Clone(old.Cols), N: in.N, Sel: rows.Sel}, system: op.system}
		for i, col := range op.node.SetCols {
			at := x.toRoot[op.w.pos[col]]
			c.next.Cols[at] = in.Cols[1+live+i]
			c.set = append(c.set, x.w.live[at])
		}
		var outside error
		err = op.members.update(x, c, func(x *member, rows *vec.Batch, system []*vec.Vec) {
			out.add(x, rows, slices.Concat(op.extraCols(in), system))
			if outside != nil || len(op.views) == 0 {
				return
			}
			root := relayout(rows, x.toRoot, rows.Sel)
			bad, err := op.views.failing(op.env, root)
			if outside = err; err == nil {
				outside = bad.of(op.w, root)
			}
		})
		return cmp.Or(err, outside)
	})
	return out.batch(), err
}

// treeDelete removes rows of several tables.
type treeDelete struct {
	*treeChange
}

func (b *builder) treeDelete(n *plan.Delete) (Operator, error) {
	c, err := b.treeChange(&plan.Update{Table: n.Table, Tree: n.Tree, Input: n.Input, Extra: n.Extra, System: n.System, HasReturning: n.HasReturning, Returning: n.Returning})
	if err != nil {
		return nil, err
	}
	op := &treeDelete{c}
	op.dml.write = op.write
	return op, nil
}

func (op *treeDelete) write(in *vec.Batch) (*vec.Batch, error) {
	live := len(op.w.live)
	out := op.output(in)
	err := op.each(in, func(x *member, rows *vec.Batch) error {
		if err := x.w.lockRows(in.Cols[0], rows, kv.ForUpdate); err != nil {
			return err
		}
		old, err := op.members.columns(x, in.Cols[0], &vec.Batch{Cols: in.Cols[1 : 1+live], N: in.N, Sel: rows.Sel})
		if err != nil {
			return err
		}
		keys := in.Cols[0]
		system, err := x.w.system(op.system, old, 0, func(r int) []byte { return keys.B[keys.Idx(r)] })
		if err != nil {
			return err
		}
		if err := x.w.remove(keys, old, nil); err != nil {
			return err
		}
		out.add(x, old, slices.Concat(op.extraCols(in), system))
		op.env.run.count(x.w.table, RowChange{Deleted: int64(old.Rows())})
		return nil
	})
	return out.batch(), err
}

// store inserts rows of a member.
func (m *members) store(x *member, rows *vec.Batch) error {
	if _, err := x.w.insert(rows, table.InsertOpt{}); err != nil {
		return err
	}
	m.run.count(x.w.table, RowChange{Inserted: int64(rows.Rows())})
	return nil
}

// mergeInsert stores new rows of the root for MERGE.
func (m *members) mergeInsert(b *vec.Batch) error {
	if m.router != nil {
		return m.insert(b, false, m.store)
	}
	x, err := m.of(m.root.table)
	if err != nil {
		return err
	}
	rows, err := x.w.complete(b)
	if err != nil {
		return err
	}
	return m.store(x, rows)
}

// mergeChange updates or deletes rows of a member as a clause of MERGE says.
func (m *members) mergeChange(x *member, when *plan.MergeWhen, rows *vec.Batch, values []*vec.Vec) error {
	keys := rows.Cols[0]
	old, err := m.columns(x, keys, &vec.Batch{Cols: rows.Cols[1 : 1+len(m.root.live)], N: rows.N, Sel: rows.Sel})
	if err != nil {
		return err
	}
	if when.Action == plan.MergeDelete {
		if err := x.w.lockRows(keys, rows, kv.ForUpdate); err != nil {
			return err
		}
		m.run.count(x.w.table, RowChange{Deleted: int64(rows.Rows())})
		return x.w.remove(keys, old, nil)
	}
	c := &change{keys: keys, old: old, next: &vec.Batch{Cols: slices.Clone(old.Cols), N: rows.N, Sel: rows.Sel}}
	for i, col := range when.Cols {
		at := x.toRoot[m.root.pos[col]]
		c.next.Cols[at] = values[i]
		c.set = append(c.set, x.w.live[at])
	}
	return m.update(x, c, func(*member, *vec.Batch, []*vec.Vec) {})
}
