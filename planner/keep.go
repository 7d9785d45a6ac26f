package planner

import (
	"math"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// What a correlated subplan, the right side of an Apply, or the recursive part of a WITH
// query reads in the same way in every run is read once and kept. Where the run wants the rows with one value
// of a column, they are found by hash:
//
//	SELECT (SELECT count(*) FROM b WHERE b.x = a.x AND b.y > 5) FROM a
//
// reads the rows of b with y > 5 once, and finds those of each a.x among them.

// keepParts makes a plan that runs many times keep what is the same in all runs.
func (p *planner) keepParts(n plan.Node) plan.Node {
	return keeper{p, math.Inf(1)}.parts(n)
}

// keepInStep does that for the recursive part of a WITH query. It runs a few times, with
// fewer and fewer rows: many rows that they are joined with are read again, as the join's
// keys leave few of them.
func (p *planner) keepInStep(n plan.Node) plan.Node {
	return keeper{p, maxKeptInStep}.parts(n)
}

const maxKeptInStep = 100_000

// keeper finds what is kept, of a plan's inputs those with so many rows at most.
type keeper struct {
	*planner
	most float64
}

func (p keeper) parts(n plan.Node) plan.Node {
	if p.NoOptimizer {
		return n
	}
	if plan.ParamsOf(n).Fixed(slotBase) {
		if n.Base().Rows > p.most {
			return n
		}
		return kept(n)
	}
	switch n := n.(type) {
	case *plan.Scan:
		if n.Lock != nil || n.Nearest != nil || n.Cursor != "" {
			return n
		}
		in := *n
		in.Filter, in.Limit, in.Skip = nil, nil, nil
		return p.keptUnder(n, &in, &in.Filter, n.Filter)
	case *plan.VirtualScan:
		in := *n
		in.Filter = nil
		return p.keptUnder(n, &in, &in.Filter, n.Filter)
	case *plan.Filter:
		if x := p.keptUnder(n, n.Input, nil, n.Cond); x != n {
			return x
		}
	case *plan.HashJoin:
		if plan.ParamsOf(n.Right).Fixed(slotBase) && allSameInRuns(n.RightKeys) {
			n.Retain = true
			n.Left = p.parts(n.Left)
			return n
		}
		if n.Kind == plan.Inner && n.NullEq == nil && !ordered(n.Left) && plan.ParamsOf(n.Left).Fixed(slotBase) && allSameInRuns(n.LeftKeys) && !looksUpKeys(n.Left, n.LeftKeys) && n.Left.Base().Rows <= p.most {
			return p.exchanged(n)
		}
	case *plan.Kept:
		return n
	case *plan.LockRows, *plan.Insert, *plan.Update, *plan.Delete, *plan.Merge:
		return n
	}
	plan.MapInputs(n, p.parts)
	return n
}

// exchanged is an inner join with its sides exchanged: the left one is the same in
// all runs, and becomes a hash table that is kept.
func (p keeper) exchanged(n *plan.HashJoin) plan.Node {
	left, right := n.Left.Base().Cols, n.Right.Base().Cols
	j := *n
	j.Left, j.Right, j.Retain = p.parts(n.Right), n.Left, true
	j.LeftKeys, j.RightKeys = n.RightKeys, n.LeftKeys
	j.Cols = append(slices.Clone(right), left...)
	moved := func(i int) int {
		if i < len(left) {
			return i + len(right)
		}
		return i - len(left)
	}
	j.Residual = plan.Map(n.Residual, func(e plan.Expr) plan.Expr {
		if c, ok := e.(*plan.Col); ok {
			x := *c
			x.Idx = moved(c.Idx)
			return &x
		}
		return e
	})
	out := &plan.Project{Input: &j}
	for i, c := range n.Cols {
		out.Exprs = append(out.Exprs, &plan.Col{At: plan.At{T: c.T, Off: -1}, Idx: moved(i), Name: c.Name})
	}
	out.Rows, out.Cost, out.Cols, out.Step = n.Rows, n.Cost, n.Cols, n.Step
	return out
}

// ordered reports whether the order of a plan's rows may be relied on above it.
func ordered(n plan.Node) bool {
	if s, ok := n.(*plan.Scan); ok && s.Ordered {
		return true
	}
	if _, ok := n.(*plan.Sort); ok {
		return true
	}
	return slices.ContainsFunc(n.Children(), ordered)
}

// kept keeps the rows of a whole plan, unless they come as easily again.
func kept(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Values, *plan.CTEScan, *plan.WorkScan, *plan.Kept, *plan.SequenceScan:
		return n
	case *plan.Project:
		if v, ok := n.Input.(*plan.Values); ok && len(v.Rows) == 1 {
			return n
		}
	}
	k := &plan.Kept{Input: n}
	for i := range n.Base().Cols {
		if looksUpIn(n, i) {
			k.Lookups = append(k.Lookups, i)
		}
	}
	k.Rows, k.Cost, k.Cols, k.Step = n.Base().Rows, n.Base().Cost, n.Base().Cols, n.Base().Step
	return k
}

// keptUnder keeps the rows of in, which without the condition are the same in all
// runs, and puts the condition above. Conjuncts that cannot fail, and are the same
// in all runs, go to *below. It returns n if in differs from run to run.
func (p *planner) keptUnder(n, in plan.Node, below *plan.Expr, cond plan.Expr) plan.Node {
	if cond == nil || !plan.ParamsOf(in).Fixed(slotBase) {
		return n
	}
	k := &plan.Kept{}
	var inside, eqs, above []plan.Expr
	for i, c := range conjuncts(cond, nil) {
		key, val, ok := p.keyOfRun(c, i == 0)
		switch {
		case ok:
			k.Keys, k.Vals = append(k.Keys, key), append(k.Vals, val)
			eqs = append(eqs, c)
		case below != nil && neverFails(c) && sameInRuns(c):
			inside = append(inside, c)
		default:
			above = append(above, c)
		}
	}
	if below != nil {
		*below = conjunction(inside)
	}
	k.Input, k.Cond = in, conjunction(eqs)
	k.Rows, k.Cost, k.Cols, k.Step = n.Base().Rows, n.Base().Cost, n.Base().Cols, n.Base().Step
	if len(above) == 0 {
		return k
	}
	f := &plan.Filter{Input: k, Cond: conjunction(above)}
	f.Rows, f.Cost, f.Cols, f.Step = k.Rows, k.Cost, k.Cols, k.Step
	return f
}

// keyOfRun splits a conjunct into a key of the rows and the value that a run wants.
// Where the conjunct is not the first, the key must not be able to fail.
func (p *planner) keyOfRun(c plan.Expr, first bool) (key, val plan.Expr, ok bool) {
	l, r, ok := equality(c)
	if !ok {
		return nil, nil, false
	}
	lc, lp, lok := reach(l)
	rc, rp, rok := reach(r)
	switch {
	case !lok || !rok:
		return nil, nil, false
	case lc && !lp && !rc:
		key, val = l, r
	case rc && !rp && !lc:
		key, val = r, l
	default:
		return nil, nil, false
	}
	if !first && !plainKey(key) {
		return nil, nil, false
	}
	return p.keyPair(key, val)
}

// reach tells whether an expression reads columns, and parameters of the run. It
// must have no subplans.
func reach(e plan.Expr) (cols, params, ok bool) {
	ok = true
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Col:
			cols = true
		case *plan.Param:
			params = params || x.Idx >= slotBase
		case *plan.SubPlan:
			ok = false
		}
		return ok
	})
	return cols, params, ok
}

func sameInRuns(e plan.Expr) bool {
	_, params, ok := reach(e)
	return ok && !params
}

// allSameInRuns reports whether the keys of a build side are the same in all runs: only
// then its hash table may be kept.
func allSameInRuns(keys []plan.Expr) bool {
	return !slices.ContainsFunc(keys, func(e plan.Expr) bool { return !sameInRuns(e) })
}

// plainKey reports whether a key is a column, perhaps as a wider number.
func plainKey(e plan.Expr) bool {
	switch x := e.(type) {
	case *plan.Col:
		return true
	case *plan.Relabel:
		return plainKey(x.X)
	case *plan.Call:
		if len(x.Args) != 1 || !plainKey(x.Args[0]) {
			return false
		}
		from, to := x.Args[0].Type().Kind(), x.T.Kind()
		return (from == types.KInt2 || from == types.KInt4) &&
			(to == types.KInt4 || to == types.KInt8 || to == types.KNumeric || to == types.KFloat8)
	}
	return false
}
