package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// selElements is the part of the rows that an operator on elements is taken to
// find.
const selElements = 0.01

// elementPaths lists the ways to read a table through an index by elements.
//
// Given CREATE INDEX i ON t USING inverted (tags):
//
//	WHERE tags @> '{a,b}'    rows in the lists of both a and b
//	WHERE tags && '{a,b}'    rows in the list of a or of b
//	WHERE 'a' = ANY (tags)   rows in the list of a
//	WHERE tags = '{a,b}'     i does not help
//
// The conjunct stays a filter: lists say which elements a value has, not how they
// are put together.
//
// An index over several columns has lists for the elements of each; a scan reads
// those of one column.
func (p *planner) elementPaths(r *rel, ix *catalog.Index, conj []plan.Expr, rows float64) []path {
	var out []path
	for i, k := range ix.Keys {
		if k.Col >= 0 {
			out = append(out, p.elementPathsOf(r, ix, i, conj, rows)...)
		}
	}
	return out
}

// elementPathsOf lists those through the lists of one key column.
func (p *planner) elementPathsOf(r *rel, ix *catalog.Index, key int, conj []plan.Expr, rows float64) []path {
	col := ix.Keys[key].Col
	kt, _ := types.ElementKeyType(r.cols[col].T)
	isCol := func(e plan.Expr) bool {
		if l, ok := e.(*plan.Relabel); ok {
			e = l.X
		}
		v, ok := e.(*plan.Var)
		return ok && v.Rel == r.id && v.Col == col
	}
	constant := func(e plan.Expr) bool {
		in := map[int]bool{}
		relsOf(e, in)
		return len(in) == 0 && !volatileExpr(e)
	}
	var out []path
	add := func(c plan.Expr, op string, x plan.Expr) {
		out = append(out, path{index: ix, access: plan.IndexRange, used: map[plan.Expr]bool{}, byElems: true, elems: c,
			ranges: []plan.KeyRange{{Elems: x, ElemOp: op, ElemKey: key}}, rows: max(1, rows*selElements),
			cost: costStart + max(1, rows*selElements)*(costEntry+costGet)})
	}
	for _, c := range conj {
		switch x := c.(type) {
		case *plan.Call:
			if len(x.Args) != 2 {
				continue
			}
			l, rt, op := x.Args[0], x.Args[1], x.Op
			if !isCol(l) {
				flip, has := map[string]string{"<@": "@>", "&&": "&&"}[op]
				if !has || !isCol(rt) {
					continue
				}
				l, rt, op = rt, l, flip
			}
			if constant(rt) && p.elementOp(l.Type(), rt.Type(), kt, op) {
				add(c, op, rt)
			}
		case *plan.AnyArray:
			if x.All || !isCol(x.Array) || !constant(x.X) || x.Proc.OID != eqProc(x.Proc) {
				continue
			}
			if fit, _ := fits(kt, x.X.Type()); fit {
				add(c, "=", x.X)
			}
		}
	}
	return out
}

// elementOp reports whether an operator between a column and a value can be
// answered by lists of elements of type kt.
func (p *planner) elementOp(col, val, kt types.T, op string) bool {
	if col.Kind() == types.KJSONB || col.Kind() == types.KHstore {
		switch op {
		case "@>":
			return val.Kind() == col.Kind()
		case "?":
			return val.Kind() == types.KText
		case "?|", "?&":
			return val.Kind() == types.KArray
		}
		return false
	}
	if op != "@>" && op != "&&" || val.Kind() != types.KArray {
		return false
	}
	et, _ := types.ElementKeyType(val)
	fit, _ := fits(kt, et)
	return fit
}
