package executor

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
)

// router finds the partitions of rows of one partitioned table, and with the
// routers of partitions that are partitioned again, the tables that rows go to.
type router struct {
	env   *Env
	set   *partition.Set
	w     *tableWriter
	exprs []expr.Eval // per key column, nil for a plain column
	subs  []*router   // per partition, nil for a leaf
	down  [][]int     // per partition with a router: where its live columns are among those of w
	keys  []*vec.Vec
}

// newRouter makes the router of a partitioned table and those below it.
func (r *Run) newRouter(set *partition.Set) (*router, error) {
	w, err := r.writer(set.Table)
	if err != nil {
		return nil, err
	}
	out, err := newKeyRouter(r.env, set, w)
	if err != nil {
		return nil, err
	}
	out.subs, out.down = make([]*router, len(set.Parts)), make([][]int, len(set.Parts))
	for i := range set.Parts {
		if sub := set.Parts[i].Sub; sub != nil {
			if out.subs[i], err = r.newRouter(sub); err != nil {
				return nil, err
			}
			out.down[i] = livePositions(w, out.subs[i].w)
		}
	}
	return out, nil
}

// newKeyRouter makes a router that finds partitions of one table only.
func newKeyRouter(env *Env, set *partition.Set, w *tableWriter) (*router, error) {
	ex, err := env.TableExprs(set.Table)
	if err != nil {
		return nil, err
	}
	out := &router{env: env, set: set, w: w, exprs: make([]expr.Eval, len(ex.PartKeys)), keys: make([]*vec.Vec, len(ex.PartKeys))}
	for i, x := range ex.PartKeys {
		if x != nil {
			if out.exprs[i], err = expr.Compile(x); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// livePositions tells, for the live columns of one table of a tree, where they are
// among the live columns of another; -1: nowhere.
func livePositions(of, to *tableWriter) []int {
	out := make([]int, len(to.live))
	at := catalog.ColumnMap(to.table, of.table)
	for i, c := range to.live {
		out[i] = -1
		if at[c] >= 0 {
			out[i] = of.pos[at[c]]
		}
	}
	return out
}

// relayout returns the batch with its columns in another order.
func relayout(b *vec.Batch, at []int, sel []uint32) *vec.Batch {
	out := &vec.Batch{Cols: make([]*vec.Vec, len(at)), N: b.N, Sel: sel}
	for i, p := range at {
		if p >= 0 {
			out.Cols[i] = b.Cols[p]
		}
	}
	return out
}

// find calls f for the rows of a batch of live columns with the number of their
// partition, -1 for none, until f returns false.
func (r *router) find(b *vec.Batch, f func(row, part int) bool) error {
	if err := r.w.mayCall(); err != nil {
		return err
	}
	for i := range r.exprs {
		if r.exprs[i] == nil {
			r.keys[i] = b.Cols[r.w.pos[r.set.Table.Key.Keys[i].Col]]
			continue
		}
		v, err := r.exprs[i].Eval(r.env.Expr, b)
		if err != nil {
			return err
		}
		r.keys[i] = v
	}
	key := make([]types.Datum, len(r.keys))
	for i := range b.Rows() {
		row := b.Row(i)
		for k, v := range r.keys {
			key[k] = v.Get(row)
		}
		if !f(row, r.set.Find(key)) {
			break
		}
	}
	return nil
}

// route writes the tables that the rows of a batch belong to into out, by row
// number. It stops at the first row that belongs nowhere: n is the number of rows
// before it, none what is wrong with it.
func (r *router) route(b *vec.Batch, out []*catalog.Table) (n int, none, err error) {
	below := make([][]uint32, len(r.subs)) // rows of partitions that are partitioned
	n = 0
	err = r.find(b, func(row, part int) bool {
		if part < 0 {
			none = r.noPartition(row)
			return false
		}
		n++
		if r.subs[part] != nil {
			below[part] = append(below[part], uint32(row))
		} else {
			out[row] = r.set.Parts[part].Table
		}
		return true
	})
	if err != nil {
		return 0, nil, err
	}
	for part, rows := range below {
		if rows == nil {
			continue
		}
		done, bad, err := r.subs[part].route(relayout(b, r.down[part], rows), out)
		if err != nil {
			return 0, nil, err
		}
		if bad == nil {
			continue
		}
		// the rows are in the order of the batch: which of them is this one
		for i := range n {
			if uint32(b.Row(i)) == rows[done] {
				n, none = i, bad
				break
			}
		}
	}
	return n, none, nil
}

// noPartition is the error of a row whose key was evaluated last.
func (r *router) noPartition(row int) error {
	t := r.set.Table
	names, vals, cols := make([]string, len(r.keys)), make([]string, len(r.keys)), make([]int, len(r.keys))
	for i, k := range t.Key.Keys {
		names[i], cols[i] = k.Expr, k.Col
		if k.Col >= 0 {
			names[i] = catalog.QuoteIdent(t.Columns[k.Col].Name)
		}
		vals[i] = "null"
		if d := r.keys[i].Get(row); !d.Null {
			vals[i] = clipText(types.AppendText(nil, d, r.env.Expr.Fmt))
		}
	}
	e := sqlerr.New(sqlerr.CheckViolation, `no partition of relation "%s" found for row`, t.Name)
	e.Schema, e.Table = t.Schema, t.Name
	if !r.env.showsKey(t, cols) {
		return e
	}
	return e.WithDetail("Partition key of the failing row contains (%s) = (%s).", strings.Join(names, ", "), strings.Join(vals, ", "))
}

// boundCheck tells whether rows of a partition satisfy its bound and the bounds of
// the tables above it.
type boundCheck struct{ steps []boundStep }

// boundStep is the check of one level.
type boundStep struct {
	router *router
	cols   []int // where the live columns of the router's table are among the partition's
	part   int   // the partition that the rows must be in
}

// newBoundCheck makes the check of a partition, nil for other tables.
func (r *Run) newBoundCheck(w *tableWriter) (*boundCheck, error) {
	var out *boundCheck
	for t := w.table; t.Bound != nil; {
		p := r.env.Snap.Parent(t)
		if p == nil {
			break
		}
		pw, err := r.writer(p)
		if err != nil {
			return nil, err
		}
		set := partition.Of(r.env.Snap, p)
		kr, err := newKeyRouter(r.env, set, pw)
		if err != nil {
			return nil, err
		}
		step := boundStep{router: kr, cols: livePositions(w, pw), part: -1}
		for i := range set.Parts {
			if set.Parts[i].Table.OID == t.OID {
				step.part = i
			}
		}
		if out == nil {
			out = new(boundCheck)
		}
		out.steps = append(out.steps, step)
		t = p
	}
	return out, nil
}

// first returns the first row of the batch outside of the bounds, or -1.
func (c *boundCheck) first(b *vec.Batch) (int, error) {
	bad := -1
	for i := range c.steps {
		s := &c.steps[i]
		err := s.router.find(relayout(b, s.cols, b.Sel), func(row, part int) bool {
			if part != s.part && (bad < 0 || row < bad) {
				bad = row
			}
			return bad < 0 || row < bad
		})
		if err != nil {
			return -1, err
		}
	}
	return bad, nil
}

// verifyBound checks the rows of a batch against the partition's bound.
func (w *tableWriter) verifyBound(b *vec.Batch) error {
	row, err := w.outOfBound(b)
	if err != nil || row < 0 {
		return err
	}
	return w.boundError(b, row)
}

// staysInBound refuses rows that ON CONFLICT DO UPDATE would move to another partition.
func (w *tableWriter) staysInBound(b *vec.Batch) error {
	row, err := w.outOfBound(b)
	if err != nil || row < 0 {
		return err
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "invalid ON UPDATE specification").
		WithDetail("The result tuple would appear in a different partition than the original tuple.")
}

// outOfBound returns the first row of a batch outside of the partition's bound, or -1.
func (w *tableWriter) outOfBound(b *vec.Batch) (int, error) {
	c, err := w.boundCheck()
	if c == nil || err != nil {
		return -1, err
	}
	return c.first(b)
}

// boundCheck returns the check of the table's bound, nil when it has none.
func (w *tableWriter) boundCheck() (*boundCheck, error) {
	if w.table.Bound == nil || w.bound != nil {
		return w.bound, nil
	}
	var err error
	w.bound, err = w.env.run.newBoundCheck(w)
	return w.bound, err
}

func (w *tableWriter) boundError(b *vec.Batch, r int) error {
	e := sqlerr.New(sqlerr.CheckViolation, `new row for relation "%s" violates partition constraint`, w.table.Name)
	e.Schema, e.Table = w.table.Schema, w.table.Name
	return w.withRow(e, b, r)
}
