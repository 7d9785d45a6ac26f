package executor

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// members are the tables that the rows of a table are in: its partitions, or the
// table and those that inherit from it. A statement names the table, the root, and
// its batches have the root's live columns; each member is written by a writer of
// its own.
type members struct {
	run    *Run
	root   *tableWriter
	router *router // nil for plain inheritance
	byOID  map[types.OID]*member
	leaves []*catalog.Table // of the batch under way, by row
}

// member is one of the tables.
type member struct {
	w      *tableWriter
	root   *tableWriter
	toRoot []int // per live column of the root: where it is among the member's
	toOwn  []int // per live column of the member: where it is among the root's, or -1
}

func (r *Run) newMembers(root *catalog.Table) (*members, error) {
	w, err := r.writer(root)
	if err != nil {
		return nil, err
	}
	m := &members{run: r, root: w, byOID: make(map[types.OID]*member)}
	if set := partition.Of(r.env.Snap, root); set != nil {
		if m.router, err = r.newRouter(set); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// of returns the member of a table.
func (m *members) of(t *catalog.Table) (*member, error) {
	if x := m.byOID[t.OID]; x != nil {
		return x, nil
	}
	if lock := m.run.env.LockMember; lock != nil && m.router != nil {
		if err := lock(t); err != nil {
			return nil, err
		}
	}
	w, err := m.run.writer(t)
	if err != nil {
		return nil, err
	}
	x := &member{w: w, root: m.root, toRoot: livePositions(w, m.root), toOwn: livePositions(m.root, w)}
	m.byOID[t.OID] = x
	return x, nil
}

// complete is the writer's completePart; errors about a row show it as the root
// has it, which is the table that the statement names.
func (x *member) complete(b *vec.Batch) (*vec.Batch, error) {
	x.w.shown = x
	defer func() { x.w.shown = nil }()
	return x.w.completePart(b)
}

// byRow returns the member with the OID that a column has in a row.
func (m *members) byRow(oids *vec.Vec, row int) (*member, error) {
	oid := types.OID(oids.I64[oids.Idx(row)])
	if x := m.byOID[oid]; x != nil {
		return x, nil
	}
	return m.of(m.run.env.Snap.Table(oid))
}

// place finds the partitions of the rows of a batch. bad is the error of the first
// row that has none; n rows come before it.
func (m *members) place(b *vec.Batch) (n int, bad, err error) {
	if len(m.leaves) < b.N {
		m.leaves = make([]*catalog.Table, b.N)
	}
	if c, err := m.root.boundCheck(); c != nil || err != nil {
		// the root is a partition itself
		if err != nil {
			return 0, nil, err
		}
		row, err := c.first(b)
		if err != nil {
			return 0, nil, err
		}
		if row >= 0 {
			before := &vec.Batch{Cols: b.Cols, N: b.N, Sel: before(b, row)}
			n, bad, err := m.router.route(before, m.leaves)
			if bad == nil {
				bad = m.root.boundError(b, row)
			}
			return n, bad, err
		}
	}
	return m.router.route(b, m.leaves)
}

// insert stores rows of the root in their partitions. ordered keeps their order;
// otherwise the rows of a partition are stored together. each is called for what
// was stored in a member, with all its columns.
func (m *members) insert(b *vec.Batch, ordered bool, each func(x *member, rows *vec.Batch) error) error {
	if !m.root.anyGen { // values are of their domains before they are routed
		for _, d := range m.root.domains {
			if _, err := d.Eval(m.run.env.Expr, b); err != nil {
				return err
			}
		}
	}
	n, bad, err := m.place(b)
	if err != nil {
		return err
	}
	defer m.run.inTurn(b.N)()
	rows := selectedRows(b, nil)[:n]
	one := func(t *catalog.Table, b *vec.Batch) error {
		x, err := m.of(t)
		if err != nil {
			return err
		}
		given := relayout(b, x.toOwn, b.Sel)
		store := func(rows *vec.Batch) error {
			own, err := x.complete(rows)
			if err != nil {
				return err
			}
			return each(x, own)
		}
		own, err := x.complete(given)
		if err != nil {
			return firstFailure(given, err, func(one *vec.Batch) error {
				_, err := x.complete(one)
				return err
			}, store)
		}
		return each(x, own)
	}
	if !ordered && bad == nil {
		sorted, ends := m.together(rows)
		singly := false
		switch singly, err = m.singly(sorted, ends); {
		case err != nil:
			return err
		case singly:
		case len(ends) == 1:
			return one(m.leaves[rows[0]], &vec.Batch{Cols: b.Cols, N: b.N, Sel: rows})
		default:
			mark := m.run.env.Txn.Savepoint()
			err = m.apart(b, sorted, ends, one)
			if err == nil || sqlerr.CodeOf(err) == "" {
				return err
			}
			// which row is the first one at fault shows when they are stored in order
			m.run.env.Txn.RollbackTo(mark)
		}
	}
	for from := 0; from < len(rows); {
		t, to := m.leaves[rows[from]], from+1
		x, err := m.of(t)
		if err != nil {
			return err
		}
		for !x.w.bodies && to < len(rows) && m.leaves[rows[to]] == t {
			to++
		}
		if err := one(t, &vec.Batch{Cols: b.Cols, N: b.N, Sel: slices.Clone(rows[from:to])}); err != nil {
			return err
		}
		from = to
	}
	if bad != nil {
		return bad
	}
	return err
}

// singly reports whether storing a row in one of the partitions of rows that together has
// sorted may look at the rows stored before.
func (m *members) singly(sorted []uint32, ends []int) (bool, error) {
	from := 0
	for _, to := range ends {
		x, err := m.of(m.leaves[sorted[from]])
		if err != nil {
			return false, err
		}
		if x.w.bodies {
			return true, nil
		}
		from = to
	}
	return false, nil
}

// together sorts rows of the batch under way by their partitions: those of one stay in
// their order, and partitions come in the order of their first rows. ends tells where the
// rows of each end.
func (m *members) together(rows []uint32) (sorted []uint32, ends []int) {
	number := make(map[*catalog.Table]int)
	of := make([]int, len(rows)) // by row: the partition's number
	last, at := (*catalog.Table)(nil), 0
	for i, r := range rows {
		if t := m.leaves[r]; t != last {
			k, ok := number[t]
			if !ok {
				k = len(ends)
				number[t], ends = k, append(ends, 0)
			}
			last, at = t, k
		}
		of[i] = at
		ends[at]++
	}
	if len(ends) == 1 {
		return rows, ends
	}
	next := make([]int, len(ends))
	for k := 1; k < len(ends); k++ {
		next[k] = ends[k-1]
		ends[k] += ends[k-1]
	}
	sorted = make([]uint32, len(rows))
	for i, r := range rows {
		sorted[next[of[i]]] = r
		next[of[i]]++
	}
	return sorted, ends
}

// apart calls f for the rows of each partition. They are copied to stand next to each
// other: f costs what its rows do, and not what the batch does, for each partition.
func (m *members) apart(b *vec.Batch, sorted []uint32, ends []int, f func(*catalog.Table, *vec.Batch) error) error {
	all := rowStore{cols: make([]*vec.Vec, len(b.Cols)), n: len(sorted)}
	for i, c := range b.Cols {
		all.cols[i] = new(vec.Vec)
		gather(all.cols[i], c, sorted, false)
	}
	from := 0
	turn := m.run.turn
	defer func() { m.run.turn = turn }()
	m.run.turn = func(row int) int { return turn(int(sorted[from+row])) }
	var part vec.Batch
	for _, to := range ends {
		all.window(&part, from, to)
		if err := f(m.leaves[sorted[from]], &part); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// output collects rows for RETURNING: live columns of the root, further columns,
// and the OID of the row's table.
type output struct {
	store *rowStore
	view  vec.Batch
}

func newOutput(root *tableWriter, extra []types.T) *output {
	ts := columnTypes(root.table, root.live)
	return &output{store: newRowStore(append(append(ts, extra...), types.TOid))}
}

func (o *output) add(x *member, rows *vec.Batch, extra []*vec.Vec) {
	cols := relayout(rows, x.toRoot, nil).Cols
	cols = append(append(cols, extra...), vec.NewConst(types.Int(types.TOid, int64(x.w.table.OID))))
	o.store.appendCols(cols, rows.Sel, rows.Rows())
}

func (o *output) batch() *vec.Batch {
	o.store.window(&o.view, 0, o.store.n)
	return &o.view
}

// change is an UPDATE of rows of one member.
type change struct {
	keys *vec.Vec
	old  *vec.Batch // live columns of the member
	next *vec.Batch
	set  []int // columns of the member that are set
	// system are the system columns that RETURNING reads
	system []int
}

// columns returns the rows of a member with all its columns: those that the root
// does not have are fetched.
func (m *members) columns(x *member, keys *vec.Vec, b *vec.Batch) (*vec.Batch, error) {
	out := relayout(b, x.toOwn, b.Sel)
	var own []int
	for i, p := range x.toOwn {
		if p < 0 {
			own = append(own, x.w.live[i])
		}
	}
	if own == nil {
		return out, nil
	}
	env := m.run.env
	list := make([][]byte, b.Rows())
	at := make([]uint32, b.N)
	for i := range b.Rows() {
		r := b.Row(i)
		list[i], at[r] = keys.B[keys.Idx(r)], uint32(i)
	}
	var got vec.Batch
	if err := x.w.desc.GetRows(env.Ctx, env.rows(), list, own, nil, &got); err != nil {
		return nil, retry(err)
	}
	if got.Rows() < len(list) {
		return nil, retry(table.ErrChanged)
	}
	k := 0
	for i, p := range x.toOwn {
		if p < 0 {
			v := new(vec.Vec)
			gather(v, got.Cols[k], at, false)
			out.Cols[i] = v
			k++
		}
	}
	return out, nil
}

// update changes rows of a member. Rows whose new partition is another one move
// there. each gets the rows as they are stored.
func (m *members) update(x *member, c *change, each func(x *member, rows *vec.Batch, system []*vec.Vec)) error {
	w := x.w
	if m.router == nil || !m.routed(x, c.set) {
		if err := w.lockChanged(c.keys, c.old, c.next, c.set); err != nil {
			return err
		}
		next, err := x.complete(c.next)
		if err != nil {
			return err
		}
		return m.updateIn(x, c, next, each)
	}
	rows := relayout(c.next, x.toRoot, c.next.Sel)
	n, bad, err := m.place(rows)
	if err != nil {
		return err
	}
	leaves := slices.Clone(m.leaves[:rows.N])
	sel := selectedRows(rows, nil)[:n]
	for from := 0; from < len(sel); {
		t, to := leaves[sel[from]], from
		for to < len(sel) && leaves[sel[to]] == t {
			to++
		}
		part := slices.Clone(sel[from:to])
		run := &change{keys: c.keys, old: &vec.Batch{Cols: c.old.Cols, N: c.old.N, Sel: part},
			next: &vec.Batch{Cols: c.next.Cols, N: c.next.N, Sel: part}, set: c.set, system: c.system}
		if t.OID == w.table.OID {
			if err := w.lockChanged(run.keys, run.old, run.next, run.set); err != nil {
				return err
			}
			next, err := x.complete(run.next)
			if err != nil {
				return err
			}
			if err := m.updateIn(x, run, next, each); err != nil {
				return err
			}
		} else if err := m.move(x, run, t, each); err != nil {
			return err
		}
		from = to
	}
	return bad
}

// updateIn changes rows of a member that stay in it; next are the rows complete.
func (m *members) updateIn(x *member, c *change, next *vec.Batch, each func(x *member, rows *vec.Batch, system []*vec.Vec)) error {
	w := x.w
	var system []*vec.Vec
	var then func([][]byte) error
	if len(c.system) > 0 {
		then = func(now [][]byte) (err error) {
			system, err = w.system(c.system, next, 0, func(r int) []byte { return now[r] })
			return err
		}
	}
	if err := w.updateThen(c.keys, c.old, next, w.changed(c.set), nil, nil, then); err != nil {
		return err
	}
	each(x, next, system)
	m.run.count(w.table, RowChange{Updated: int64(next.Rows())})
	return nil
}

// routed reports whether setting columns of a member may move its rows.
func (m *members) routed(x *member, set []int) bool {
	if m.router.set.Moves(x.w.table, set) {
		return true
	}
	c, _ := m.root.boundCheck()
	return c != nil && slices.ContainsFunc(c.steps, func(s boundStep) bool {
		return s.router.set.Keyed(x.w.table, set)
	})
}

// move takes rows out of a member and stores them in another one.
func (m *members) move(x *member, c *change, t *catalog.Table, each func(x *member, rows *vec.Batch, system []*vec.Vec)) error {
	to, err := m.of(t)
	if err != nil {
		return err
	}
	if err := x.w.lockRows(c.keys, c.old, kv.ForUpdate); err != nil {
		return err
	}
	x.w.w.CountMoves()
	own, err := to.complete(relayout(c.next, livePositions(x.w, to.w), c.next.Sel))
	if err != nil {
		return err
	}
	if err := x.w.take(c.keys, c.old, nil); err != nil {
		return err
	}
	if err := m.run.fkMoved(x.w, m.root, c.keys, c.old, c.next); err != nil {
		return err
	}
	done, err := to.w.insert(own, table.InsertOpt{})
	if err != nil {
		return err
	}
	system, err := to.w.system(c.system, own, 0, func(r int) []byte { return done.Keys[r] })
	if err != nil {
		return err
	}
	each(to, own, system)
	m.run.count(x.w.table, RowChange{Deleted: int64(own.Rows())})
	m.run.count(t, RowChange{Inserted: int64(own.Rows())})
	return nil
}
