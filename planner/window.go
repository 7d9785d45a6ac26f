package planner

import (
	"maps"
	"slices"
	"strings"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// planWindow computes the functions of a window over rows that are sorted by its
// partition and order: as they come, where they come so, and by a sort otherwise.
func (p *planner) planWindow(s *state, w *winGroup) {
	in := s.cur
	keys := p.placeKeys(w.sortKeys(), in.lay)
	n := &plan.Window{Partition: p.planExprs(w.partition, in.lay), OrderBy: p.placeKeys(w.order, in.lay)}
	base := in.node
	order := in.order
	want := w.wantedOrder(p, s)
	sorted, reverse := 0, false
	if !p.NoOptimizer {
		sorted, reverse = orderedBy(in.order, want)
	}
	if reverse {
		sorted = 0
	}
	if sorted > 0 {
		keepOrder(in.node)
	}
	if sorted < len(keys) {
		base = p.windowKeys(base, n, keys)
		so := &plan.Sort{Input: base, Keys: keys, Presorted: sorted, Stable: true}
		so.Rows, so.Cost, so.Cols, so.Step = in.rows, in.cost+in.rows*costSort, base.Base().Cols, "sort"
		switch k := w.firstRows(); {
		case k == 0 || p.NoOptimizer:
		case len(w.partition) == 0:
			so.Limit = &plan.Const{At: plan.At{T: types.TInt8, Off: -1}, Val: types.Int(types.TInt8, int64(k))}
		default:
			so.FirstOf, so.First = min(len(w.partition), len(keys)), k
		}
		base, order = so, orderBehind(in.order, want, sorted)
	}
	n.Input = base
	lay := maps.Clone(in.lay)
	n.Cols = append(n.Cols, base.Base().Cols...)
	for i, f := range w.funcs {
		f.Args = p.planExprs(f.Args, in.lay)
		if f.Filter != nil {
			f.Filter = p.place(f.Filter, in.lay)
		}
		if f.Frame.Start != nil {
			f.Frame.Start = p.place(f.Frame.Start, in.lay)
		}
		if f.Frame.End != nil {
			f.Frame.End = p.place(f.Frame.End, in.lay)
		}
		n.Funcs = append(n.Funcs, f)
		lay[[2]int{w.rel, i}] = len(n.Cols)
		n.Cols = append(n.Cols, plan.OutCol{Name: f.Proc.Name, T: f.T})
	}
	if w.stop != nil {
		n.Stop = p.place(conjunction(w.stop), lay)
	}
	n.Rows, n.Cost, n.Step = in.rows, base.Base().Cost+in.rows, "group by"
	if k := w.stopRows(); k > 0 && len(w.partition) == 0 {
		n.Rows = min(n.Rows, k)
	}
	s.cur = &pnode{node: n, lay: lay, rels: in.rels.union(relSetOf(w.rel)), rows: n.Rows, cost: n.Cost, order: order}
}

// orderBehind is the order of rows that were sorted to be in the wanted one, of which they
// were in the first columns' before: where a direction does not matter they keep their own.
func orderBehind(was, want []orderCol, sorted int) []orderCol {
	out := slices.Clone(want)
	for i := range out {
		o := &out[i]
		if o.either && i < sorted {
			at := slices.IndexFunc(was, func(w orderCol) bool { return w.rel == o.rel && w.col == o.col })
			if at < 0 {
				return out[:i]
			}
			*o = was[at]
		}
		o.either = false
	}
	return out
}

// windowKeys computes the sort keys that are no columns, once for the sort and the
// window.
func (p *planner) windowKeys(in plan.Node, n *plan.Window, keys []plan.SortKey) plan.Node {
	pr := &plan.Project{Input: in}
	for i, c := range in.Base().Cols {
		pr.Exprs = append(pr.Exprs, &plan.Col{At: plan.At{T: c.T, Off: -1}, Idx: i, Name: c.Name})
	}
	cols := slices.Clone(in.Base().Cols)
	for i := range keys {
		x := keys[i].X
		if _, ok := x.(*plan.Col); ok {
			continue
		}
		key := exprKey(x)
		name := "key"
		if call, ok := x.(*plan.Call); ok {
			name = call.Proc.Name
		}
		c := &plan.Col{At: plan.At{T: x.Type(), Off: -1}, Idx: len(cols), Name: name}
		pr.Exprs = append(pr.Exprs, x)
		cols = append(cols, plan.OutCol{T: x.Type(), Name: name})
		keys[i].X = c
		for k, y := range n.Partition {
			if exprKey(y) == key {
				n.Partition[k] = c
			}
		}
		for k, o := range n.OrderBy {
			if exprKey(o.X) == key {
				n.OrderBy[k].X = c
			}
		}
	}
	if len(cols) == len(in.Base().Cols) {
		return in
	}
	pr.Rows, pr.Cost, pr.Cols = in.Base().Rows, in.Base().Cost, cols
	return pr
}

// wantedOrder is the order that the window's rows are in, in terms of columns, as far
// as it goes.
func (w *winGroup) wantedOrder(p *planner, s *state) []orderCol {
	var out []orderCol
	for i, k := range w.sortKeys() {
		v, ok := p.sortColumn(s.b, k.X)
		if !ok {
			break
		}
		out = append(out, orderCol{rel: v.Rel, col: v.Col, desc: k.Desc, nullsFirst: k.NullsFirst, either: i < len(w.partition)})
	}
	return out
}

// windowOrder is the order of the rows of r by which the block's windows, of which the
// first is computed first, need no sort; with a LIMIT or a run condition that rows
// without reading ahead can answer, few of them are read.
func (p *planner) windowOrder(s *state, r *rel) wanted {
	b := s.b
	first := b.wins[0]
	if b.grouped {
		return wanted{}
	}
	w := wanted{cols: first.wantedOrder(p, s)}
	w.rest = len(w.cols) < len(first.sortKeys())
	for i, o := range w.cols {
		if o.rel != r.id {
			w.cols, w.rest = w.cols[:i], true
			break
		}
	}
	streams := !b.distinct && !w.rest
	for _, g := range b.wins {
		want := g.wantedOrder(p, s)
		n, reverse := orderedBy(w.cols, want)
		streams = streams && !reverse && n == len(g.sortKeys())
		for i := range g.funcs {
			ahead, _ := g.funcs[i].Ahead()
			streams = streams && ahead != plan.AheadAll && (ahead != plan.AheadPeers || len(g.order) > 0)
		}
	}
	if !streams {
		return w
	}
	if o := p.sortOrder(s); len(s.q.sort) > 0 {
		n, reverse := orderedBy(w.cols, o.cols)
		if len(w.cols) == 0 {
			w.cols, w.rest = o.cols, o.rest
		} else if reverse || n == 0 {
			return w
		}
	}
	w.limit = p.limitOf(s)
	if k := first.stopRows(); k > 0 && len(first.partition) == 0 && len(b.wins) == 1 && (w.limit == 0 || k < w.limit) {
		w.limit = k
	}
	return w
}

// stopRows is the number of rows of a partition that probably meet the window's run
// condition, 0 when there is none.
func (w *winGroup) stopRows() float64 {
	least := 0.0
	for _, c := range w.stop {
		k := 20.0
		if call, ok := c.(*plan.Call); ok {
			for _, a := range call.Args {
				if v, ok := a.(*plan.Const); ok && !v.Val.Null {
					k = max(1, float64(v.Val.I))
				}
			}
		}
		if least == 0 || k < least {
			least = k
		}
	}
	return least
}

// mostFirst is the largest number of rows of a partition for which a sort looks whether a
// row is among them.
const mostFirst = 16

// firstRows is the number of rows of each partition that are enough for the run condition,
// 0 when it is not known or large: row_number() <= 3 needs three. Functions that look
// ahead need them all.
func (w *winGroup) firstRows() int {
	least := 0
	for _, c := range w.stop {
		call, ok := c.(*plan.Call)
		if !ok || len(call.Args) != 2 {
			continue
		}
		v, ok := call.Args[0].(*plan.Var)
		k, known := call.Args[1].(*plan.Const)
		if !ok || !known || k.Val.Null || v.Rel != w.rel || w.funcs[v.Col].Kind() != "row_number" {
			continue
		}
		n := k.Val.I
		if strings.HasSuffix(call.Proc.Name, "lt") {
			n--
		}
		if n = max(n, 1); n <= mostFirst && (least == 0 || int(n) < least) {
			least = int(n)
		}
	}
	for i := range w.funcs {
		if ahead, _ := w.funcs[i].Ahead(); ahead != plan.AheadNone {
			return 0
		}
	}
	return least
}

// runCondition has the block's last window stop where a condition on a derived table
// of it can be met no more: given
//
//	SELECT … FROM (SELECT …, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM t) x WHERE n <= 3
//
// each partition is computed up to its third row. n = 3 stops as n <= 3 does; the
// condition itself stays.
func (p *planner) runCondition(r *rel, c plan.Expr) {
	q := r.query
	for q.ref != nil {
		if q.work || !p.inlined(q.ref) {
			return
		}
		q = q.ref.q
	}
	b := q.block
	call, ok := c.(*plan.Call)
	if q.setop != nil || b == nil || len(b.wins) == 0 || q.limit != nil || q.offset != nil || b.distinctOn != nil || b.hasSRF ||
		!ok || call.Own != nil {
		return
	}
	v, op, x, ok := sides(r, call, foreseen)
	if !ok || v.Col >= len(b.targets) {
		return
	}
	last := b.wins[len(b.wins)-1]
	f, ok := b.targets[v.Col].x.(*plan.Var)
	if !ok || f.Rel != last.rel || !last.funcs[f.Col].Rising() {
		return
	}
	switch x.Type().OID {
	case types.OInt8, types.OInt4, types.OInt2:
	default:
		return
	}
	switch op {
	case "=":
		op = "<="
	case "<", "<=":
	default:
		return
	}
	last.stop = append(last.stop, p.operator("", op, f, x, -1))
}
