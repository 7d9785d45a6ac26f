package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// lateralSet is the right input of an apply that is one call of a table function
// over columns of the left row: its arguments are bound to those columns, and the
// sets of many left rows are collected in one batch, without a plan run for each.
type lateralSet struct {
	set     expr.SetFiller
	build   *vec.Builder
	width   int   // columns that the plan has of it
	ordinal int   // column of the ordinality, -1: none
	nth     int64 // rows of the set under way so far
}

// lateralSet returns the right input of n as a set and the condition on pairs of
// rows, which takes in the conditions on the set's rows; nil when it is not of
// that form.
func (b *builder) lateralSet(n *plan.Apply) (*lateralSet, plan.Expr, error) {
	if b.stats != nil { // the nodes below are counted one by one
		return nil, nil, nil
	}
	cond := conjunction(n.Cond, nil)
	shift := len(outTypes(n.Left))
	bind, ok := outerColumns(n.Outer)
	right := n.Right
	for {
		f, isFilter := right.(*plan.Filter)
		if !isFilter {
			break
		}
		x := bind.expr(f.Cond, shift)
		ok = ok && x != nil
		cond, right = conjunction(cond, x), f.Input
	}
	fs, isScan := right.(*plan.FuncScan)
	if !ok || !isScan || len(fs.Funcs) != 1 {
		return nil, nil, nil
	}
	call := bind.expr(fs.Funcs[0], 0)
	if call == nil {
		return nil, nil, nil
	}
	set, err := expr.CompileRows(call, outTypes(fs)[:fs.FuncCols[0]])
	if err != nil {
		return nil, nil, err
	}
	filler, ok := set.(expr.SetFiller)
	if !ok {
		return nil, nil, nil
	}
	out := &lateralSet{set: filler, width: len(outTypes(n.Right)), ordinal: -1}
	cols := append([]types.T(nil), set.Cols()...)
	if fs.Ordinality {
		if len(cols) != fs.FuncCols[0] {
			return nil, nil, nil
		}
		out.ordinal = len(cols)
		cols = append(cols, types.TInt8)
	}
	out.build = vec.NewBuilder(cols)
	return out, cond, nil
}

// conjunction joins two conditions, of which either may be missing.
func conjunction(a, b plan.Expr) plan.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &plan.And{At: plan.At{T: types.TBool, Off: -1}, Args: []plan.Expr{a, b}}
}

// outerCols has the left columns that parameters stand for.
type outerCols map[int]*plan.Col

func outerColumns(ps []plan.SubParam) (outerCols, bool) {
	bind := outerCols{}
	for _, p := range ps {
		c, ok := p.X.(*plan.Col)
		if !ok {
			return nil, false
		}
		bind[p.Idx] = c
	}
	return bind, true
}

// expr returns e over pairs of rows: its parameters are left columns, its columns
// begin at shift. It is nil for expressions with subplans.
func (o outerCols) expr(e plan.Expr, shift int) plan.Expr {
	ok := true
	out := plan.Map(e, func(x plan.Expr) plan.Expr {
		switch x := x.(type) {
		case *plan.SubPlan:
			ok = false
		case *plan.Col:
			if shift > 0 { // the leaf is the plan's own
				c := *x
				c.Idx += shift
				return &c
			}
		case *plan.Param:
			if c := o[x.Idx]; c != nil {
				left := *c
				left.T = x.T
				return &left
			}
		}
		return x
	})
	if !ok {
		return nil
	}
	return out
}

// start begins the set of a left row.
func (s *lateralSet) start(env *Env, b *vec.Batch, row int) error {
	s.nth = 0
	return s.set.Start(env.Expr, b, row)
}

// fill appends rows of the set; false at its end.
func (s *lateralSet) fill(env *Env) (bool, error) {
	from := s.build.Len()
	more, err := s.set.Fill(env.Expr, s.build)
	if err != nil || s.ordinal < 0 {
		return more, err
	}
	v := s.build.Col(s.ordinal)
	v.Grow(s.build.Len())
	for i := from; i < s.build.Len(); i++ {
		s.nth++
		v.I64[i] = s.nth
	}
	return more, nil
}
