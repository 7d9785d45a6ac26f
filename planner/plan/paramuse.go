package plan

import (
	"slices"

	"kvsqld/catalog/types"
)

// ParamUse tells what a plan depends on beside what is stored.
type ParamUse struct {
	Used     map[int]types.T // parameters, with their types
	Volatile bool            // calls volatile functions, or locks rows
	Routines bool            // calls user-defined functions, which run in the session

	set   map[int]bool  // parameters set inside, by subplans and Apply
	work  map[*CTE]bool // recursive queries whose working table is read
	whole map[*CTE]bool // and those that run inside
}

// ParamsOf walks plans with all their expressions, subplans included.
func ParamsOf(nodes ...Node) *ParamUse {
	u := &ParamUse{Used: map[int]types.T{}, set: map[int]bool{}, work: map[*CTE]bool{}, whole: map[*CTE]bool{}}
	for _, n := range nodes {
		if n != nil {
			u.node(n)
		}
	}
	return u
}

// Outer lists the slots from the first-th on that are used and not set inside.
func (u *ParamUse) Outer(first int) []int {
	var out []int
	for idx := range u.Used {
		if idx >= first && !u.set[idx] {
			out = append(out, idx)
		}
	}
	slices.Sort(out)
	return out
}

// Fixed reports whether the plan has the same rows each time that it runs in a
// statement, whose own parameters are those below the first-th.
func (u *ParamUse) Fixed(first int) bool {
	return !u.Volatile && len(u.Outer(first)) == 0 && len(u.Working()) == 0
}

// Working lists the recursive queries whose working table is read and that do not run
// inside.
func (u *ParamUse) Working() []*CTE {
	var out []*CTE
	for c := range u.work {
		if !u.whole[c] {
			out = append(out, c)
		}
	}
	return out
}

// sets notes the parameters that a subplan or Apply sets. One that it passes on
// from further out is still set there.
func (u *ParamUse) sets(outer []SubParam) {
	for _, p := range outer {
		if from, ok := p.X.(*Param); ok && from.Idx == p.Idx {
			u.Used[p.Idx] = from.T
			continue
		}
		u.set[p.Idx] = true
	}
}

func (u *ParamUse) node(n Node) {
	switch n := n.(type) {
	case *Apply:
		u.sets(n.Outer)
	case *CTEScan:
		if n.CTE.Plan != nil && !n.CTE.Modifying && !u.whole[n.CTE] {
			u.whole[n.CTE] = true
			u.node(n.CTE.Plan)
			if n.CTE.Step != nil {
				u.node(n.CTE.Step)
			}
		}
	case *WorkScan:
		u.work[n.CTE] = true
	case *LockRows:
		u.Volatile = true
	}
	MapExprs(n, func(e Expr) Expr {
		u.expr(e)
		return e
	})
	for _, c := range n.Children() {
		u.node(c)
	}
}

func (u *ParamUse) expr(e Expr) {
	Visit(e, func(x Expr) bool {
		switch x := x.(type) {
		case *Param:
			u.Used[x.Idx] = x.T
		case *Call:
			u.Volatile = u.Volatile || x.Proc.Volatile == 'v'
			u.Routines = u.Routines || x.Proc.SQL != nil
		case *SubPlan:
			u.sets(x.Outer)
			u.node(x.Plan)
		}
		return true
	})
}
