package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// aggCall is an aggregate call of a Group node: how its input columns are
// computed from the node's input. The columns are, in this order: FILTER's
// outcome if there is one, the arguments, direct arguments that read columns, the
// ORDER BY keys that are not arguments.
type aggCall struct {
	agg    *plan.Agg
	at     int // first column among the node's
	types  []types.T
	evals  []expr.Eval
	filter int // 0 or 1 columns
	nargs  int
	order  []keyOrder // over the columns
	direct []plan.Expr
	vals   []types.Datum // of the direct arguments
	keyed  []expr.Eval   // of direct arguments that are over the keys of a grouping set
	pass   []uint32
}

// newAggCall makes the call of an aggregate, with grouping sets or without.
func newAggCall(a *plan.Agg, sets bool) (*aggCall, error) {
	c := &aggCall{agg: a, direct: a.Args[:a.Direct]}
	var exprs []plan.Expr
	if a.Filter != nil {
		exprs = append(exprs, a.Filter)
		c.filter = 1
	}
	args := a.Args[a.Direct:]
	exprs = append(exprs, args...)
	if a.PerGroup {
		// the values of a group's first row are the group's
		exprs = append(exprs, c.direct...)
		c.direct = nil
	}
	c.nargs = len(exprs) - c.filter
	for _, k := range a.OrderBy {
		at := -1
		for i, x := range args {
			if sameExpr(x, k.X) {
				at = c.filter + i
			}
		}
		if at < 0 {
			at = len(exprs)
			exprs = append(exprs, k.X)
		}
		c.order = append(c.order, keyOrder{col: at, desc: k.Desc, nullsFirst: k.NullsFirst})
	}
	if a.Distinct && !anyOrder(a) {
		c.orderArgs()
	}
	c.types = exprTypes(exprs)
	var err error
	if c.evals, err = expr.CompileAll(exprs); a.PerGroup && sets {
		own := c.evals[c.keyedAt() : c.filter+c.nargs]
		c.keyed = slices.Clone(own)
		clear(own)
	}
	return c, err
}

// keyedAt is the column of the first direct argument that has one.
func (c *aggCall) keyedAt() int { return c.filter + c.nargs - c.agg.Direct }

// evalKeyed computes the direct arguments over the keys of a grouping set.
func (c *aggCall) evalKeyed(env *Env, keys *vec.Batch, out []*vec.Vec) error {
	if c.keyed == nil {
		return nil
	}
	return evalAll(env, c.keyed, keys, out[c.keyedAt():])
}

// orderArgs lets what ORDER BY leaves open be decided by the arguments: PostgreSQL
// finds distinct values by sorting them, and applications see that order.
func (c *aggCall) orderArgs() {
	for i := range c.nargs {
		at := c.filter + i
		if !slices.ContainsFunc(c.order, func(k keyOrder) bool { return k.col == at }) {
			c.order = append(c.order, keyOrder{col: at})
		}
	}
}

// anyOrder reports whether an aggregate's result is the same in every order of
// its input, which sums of floats are not.
func anyOrder(a *plan.Agg) bool {
	return slices.Contains(mergeable, a.Proc.Name) &&
		!slices.ContainsFunc(a.Args, func(x plan.Expr) bool { k := x.Type().Kind(); return k == types.KFloat4 || k == types.KFloat8 })
}

// sameExpr recognises an ORDER BY key that is one of the arguments: the same
// node, or the same column.
func sameExpr(x, y plan.Expr) bool {
	if x == y {
		return true
	}
	a, ok := x.(*plan.Col)
	b, ok2 := y.(*plan.Col)
	return ok && ok2 && a.Idx == b.Idx
}

// open evaluates the direct arguments, which see no rows.
func (c *aggCall) open(env *Env) error {
	c.vals = c.vals[:0]
	for _, x := range c.direct {
		d, err := expr.EvalConst(env.Expr, x)
		if err != nil {
			return err
		}
		c.vals = append(c.vals, d)
	}
	return nil
}

// eval computes the input columns; arguments are computed only for the rows
// that FILTER lets through.
func (c *aggCall) eval(env *Env, in *vec.Batch, out []*vec.Vec) error {
	rest := *in
	if c.filter == 1 {
		v, err := c.evals[0].Eval(env.Expr, in)
		if err != nil {
			return err
		}
		out[0] = v
		c.pass = passing(v, in, c.pass)
		rest.Sel = c.pass
	}
	for i, e := range c.evals[c.filter:] {
		if e == nil {
			continue // see keyed
		}
		v, err := e.Eval(env.Expr, &rest)
		if err != nil {
			return err
		}
		out[c.filter+i] = v
	}
	return nil
}

// masked replaces the columns of a call with FILTER by copies in which rows that
// do not pass are NULL: their values are unspecified and must not be kept.
func (c *aggCall) masked(cols []*vec.Vec, b *vec.Batch) {
	if c.filter == 0 {
		return
	}
	rows := make([]uint32, b.N)
	for i := range rows {
		rows[i] = noRow
	}
	for _, r := range passing(cols[0], b, nil) {
		rows[r] = r
	}
	for i := 1; i < len(c.types); i++ {
		v := new(vec.Vec)
		gather(v, cols[i], rows, true)
		cols[i] = v
	}
}

// passing lists the selected rows for which the boolean column is true.
func passing(v *vec.Vec, b *vec.Batch, buf []uint32) []uint32 {
	out := buf[:0]
	if out == nil {
		out = make([]uint32, 0, b.Rows())
	}
	for i := range b.Rows() {
		r := b.Row(i)
		if x := v.Idx(r); v.Bool[x] && !(v.Nulls.Any() && v.Nulls.Get(x)) {
			out = append(out, uint32(r))
		}
	}
	return out
}

// aggFlow brings rows to an aggregator: all rows as they come, or distinct ones,
// or in order.
type aggFlow interface {
	// add takes the rows of sel with their groups; there are ngrp groups.
	add(env *Env, ngrp int, groups []uint32, cols []*vec.Vec, sel []uint32) error
	finish(env *Env, ngrp int) error
	result(env *Env, out *vec.Vec, from, to int) error
	bytes() int64
	close()
}

func (c *aggCall) newFlow(env *Env) (aggFlow, error) {
	agg, err := expr.NewAggregator(c.agg, c.vals)
	if err != nil {
		return nil, err
	}
	d := directFlow{call: c, agg: agg}
	switch {
	case len(c.order) == 0 && !c.agg.Distinct:
		if c.filter == 0 {
			return &d, nil
		}
		return &filterFlow{directFlow: d}, nil
	case !c.agg.Distinct:
		return newOrderedFlow(env, d), nil
	}
	return newDistinctFlow(env, d), nil
}

// directFlow passes rows on as they come.
type directFlow struct {
	call *aggCall
	agg  expr.Aggregator
}

func (f *directFlow) add(env *Env, ngrp int, groups []uint32, cols []*vec.Vec, sel []uint32) error {
	f.agg.Grow(ngrp)
	if len(groups) == 0 {
		return nil
	}
	return f.agg.Add(env.Expr, groups, cols[:f.call.nargs], sel)
}

func (f *directFlow) finish(env *Env, ngrp int) error {
	f.agg.Grow(ngrp)
	return nil
}

func (f *directFlow) result(env *Env, out *vec.Vec, from, to int) error {
	return f.agg.Result(env.Expr, out, from, to)
}

func (f *directFlow) bytes() int64 { return f.agg.Bytes() }

func (f *directFlow) close() {}

// filterFlow passes the rows on for which FILTER is true.
type filterFlow struct {
	directFlow
	rows, kept []uint32
}

func (f *filterFlow) add(env *Env, ngrp int, groups []uint32, cols []*vec.Vec, sel []uint32) error {
	f.narrow(groups, cols[0], sel)
	return f.directFlow.add(env, ngrp, f.kept, cols[1:], f.rows)
}

// narrow lists the rows that pass, with their groups.
func (f *filterFlow) narrow(groups []uint32, v *vec.Vec, sel []uint32) {
	f.rows, f.kept = f.rows[:0], f.kept[:0]
	if f.rows == nil {
		f.rows = make([]uint32, 0, len(groups)) // nil would mean all rows
	}
	for i, g := range groups {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if x := v.Idx(r); v.Bool[x] && !(v.Nulls.Any() && v.Nulls.Get(x)) {
			f.rows = append(f.rows, uint32(r))
			f.kept = append(f.kept, g)
		}
	}
}

// groupVec makes v hold the group of each row: groups[i] is that of row sel[i],
// or of row i where sel is nil.
func groupVec(v *vec.Vec, groups, sel []uint32) {
	top := len(groups)
	if sel != nil {
		top = 0
		for _, r := range sel[:len(groups)] {
			top = max(top, int(r)+1)
		}
	}
	v.Reset(types.TInt8, top)
	for i, g := range groups {
		if sel != nil {
			i = int(sel[i])
		}
		v.I64[i] = int64(g)
	}
}

// orderedFlow keeps all rows and passes them on in the order of the group and
// the ORDER BY keys at the end.
type orderedFlow struct {
	filterFlow
	sorter *sorter
	key    *vec.Vec
	cols   []*vec.Vec
	groups []uint32
}

func newOrderedFlow(env *Env, d directFlow) *orderedFlow {
	c := d.call
	ts := append([]types.T{types.TInt8}, c.types...)
	keys := []keyOrder{{col: 0}}
	for _, k := range c.order {
		k.col++
		keys = append(keys, k)
	}
	f := &orderedFlow{filterFlow: filterFlow{directFlow: d}, sorter: newSorter(ts, keys), key: &vec.Vec{T: types.TInt8}}
	f.sorter.open(env, 0)
	return f
}

func (f *orderedFlow) add(env *Env, ngrp int, groups []uint32, cols []*vec.Vec, sel []uint32) error {
	if f.call.filter == 1 {
		f.narrow(groups, cols[0], sel)
		groups, sel = f.kept, f.rows
	}
	return f.take(groups, cols, sel)
}

func (f *orderedFlow) take(groups []uint32, cols []*vec.Vec, sel []uint32) error {
	groupVec(f.key, groups, sel)
	f.cols = append(append(f.cols[:0], f.key), cols...)
	return f.sorter.add(f.cols, sel, len(groups))
}

func (f *orderedFlow) finish(env *Env, ngrp int) error {
	defer f.sorter.close()
	f.agg.Grow(ngrp)
	if err := f.sorter.finish(); err != nil {
		return err
	}
	c := f.call
	for {
		if err := ctxErr(env.Ctx); err != nil {
			return err
		}
		b, err := f.sorter.next()
		if b == nil || err != nil {
			return err
		}
		f.groups = f.groups[:0]
		for i := range b.N {
			f.groups = append(f.groups, uint32(b.Cols[0].I64[i]))
		}
		if err := f.agg.Add(env.Expr, f.groups, b.Cols[1+c.filter:1+c.filter+c.nargs], nil); err != nil {
			return err
		}
	}
}

func (f *orderedFlow) bytes() int64 { return f.agg.Bytes() }

func (f *orderedFlow) close() { f.sorter.close() }

// flowAggregator returns the aggregator of a flow without DISTINCT and ORDER BY.
func flowAggregator(f aggFlow) expr.Aggregator {
	switch f := f.(type) {
	case *directFlow:
		return f.agg
	case *filterFlow:
		return f.agg
	}
	return nil
}
