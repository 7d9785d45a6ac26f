package planner

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// fold evaluates a conversion or an immutable call of constants. An error is
// left for execution: the row that would raise it may never come.
func (p *planner) fold(e plan.Expr) plan.Expr {
	if c, ok := e.(*plan.Call); ok && p.nullCall(c) && !slices.ContainsFunc(c.Args, readsMore) {
		return &plan.Const{At: plan.At{T: c.T, Off: leftmost(c)}, Val: types.Null(c.T)}
	}
	if p.Consts == nil || !p.foldable(e) {
		return e
	}
	d, err := p.Consts.EvalConst(e)
	if c, ok := e.(*plan.Call); err != nil || ok && grown(c, &d) {
		return e
	}
	d.T = e.Type()
	return &plan.Const{At: plan.At{T: e.Type(), Off: leftmost(e)}, Val: d}
}

// maxGrown is the length of a value that a plan keeps though no text was so long.
const maxGrown = 64 << 10

// grown reports whether a call made a long value of short ones, as repeat does: a plan
// with thousands of those would be far larger than its text, and no budget knows of it.
func grown(c *plan.Call, d *types.Datum) bool {
	if len(d.B) <= maxGrown {
		return false
	}
	n := 0
	for _, a := range c.Args {
		if k, ok := a.(*plan.Const); ok {
			n += len(k.Val.B)
		}
	}
	return len(d.B) > 4*n
}

// nullCall reports whether a call is NULL because an argument is.
func (p *planner) nullCall(c *plan.Call) bool {
	if p.Consts == nil || !c.Proc.Strict || c.Proc.Kind != 'f' || c.Proc.RetSet || c.T.OID == types.ORecord {
		return false
	}
	return slices.ContainsFunc(c.Args, func(a plan.Expr) bool {
		k, ok := a.(*plan.Const)
		return ok && k.Val.Null
	})
}

// readsMore reports whether an expression holds what is checked only when its
// whole query is bound: columns, aggregates and subqueries must obey GROUP BY,
// and functions that return sets make rows.
func readsMore(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Var, *aggRef, *groupingRef, *subquery:
			found = true
		case *plan.Call:
			found = found || x.Proc.RetSet
		}
		return !found
	})
	return found
}

// foldNulls folds what fold left to a checked block: strict calls with a NULL
// whose other arguments read nothing but the block's own columns.
func (p *planner) foldNulls(bl *block) {
	own := func(e plan.Expr) bool {
		ok := true
		plan.Visit(e, func(x plan.Expr) bool {
			switch x := x.(type) {
			case *plan.Var:
				ok = ok && (x.Rel == bl.grpRel && bl.grouped || bl.rels[x.Rel] != nil)
			case *aggRef, *groupingRef, *subquery:
				ok = false
			case *plan.Call:
				ok = ok && !x.Proc.RetSet
			}
			return ok
		})
		return ok
	}
	fold := func(e plan.Expr) plan.Expr {
		nulls := false
		plan.Visit(e, func(x plan.Expr) bool {
			c, ok := x.(*plan.Call)
			nulls = nulls || ok && p.nullCall(c)
			return !nulls
		})
		if !nulls {
			return e
		}
		return plan.Map(e, func(x plan.Expr) plan.Expr {
			if c, ok := x.(*plan.Call); ok && p.nullCall(c) && !slices.ContainsFunc(c.Args, func(a plan.Expr) bool { return !own(a) }) {
				return &plan.Const{At: c.At, Val: types.Null(c.T)}
			}
			return x
		})
	}
	list := func(l []plan.Expr) {
		for i := range l {
			l[i] = fold(l[i])
		}
	}
	for i := range bl.targets {
		bl.targets[i].x = fold(bl.targets[i].x)
	}
	list(bl.where)
	list(bl.having)
	bl.eachItem(func(j *joinItem) { list(j.on) })
}

func (p *planner) foldable(e plan.Expr) bool {
	isConst := func(x plan.Expr) bool { _, ok := x.(*plan.Const); return ok }
	switch e := e.(type) {
	case *plan.Call:
		if e.Proc.Volatile != 'i' || e.Proc.RetSet || e.Proc.Kind != 'f' || e.T.OID == types.ORecord {
			return false
		}
		for _, a := range e.Args {
			if r, ok := a.(*plan.Relabel); ok && r.Collate == "" {
				a = r.X // a composite value that is compared as a record
			}
			if !isConst(a) {
				return false
			}
		}
		return true
	case *plan.Relabel:
		return isConst(e.X)
	case *plan.CoerceMod:
		return isConst(e.X)
	case *plan.CoerceIO:
		return isConst(e.X) && p.stableText(e.X.Type()) && p.stableText(e.T)
	}
	return false
}

// stableText reports whether a type's text form depends on nothing but the value.
func (p *planner) stableText(t types.T) bool {
	switch t.Kind() {
	case types.KRecord:
		cols := p.rowColumns(t)
		return len(cols) > 0 && !slices.ContainsFunc(cols, func(c plan.OutCol) bool { return !p.stableText(c.T) })
	case types.KBool, types.KInt2, types.KInt4, types.KInt8, types.KNumeric, types.KText, types.KUUID, types.KJSON, types.KJSONB:
		return true
	}
	return false
}
