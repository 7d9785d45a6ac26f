package planner

import (
	"kvsqld/catalog"
	"kvsqld/planner/plan"
)

// Comparisons of rows, (a, b) > (x, y), are bound as what they mean,
//
//	a > x OR a = x AND b > y
//
// and read back here, also when they were written so: they are one range of a key
// that begins with a and b.

// colBound is a column of a row bound and its value.
type colBound struct {
	col int
	x   plan.Expr
}

// sides splits a comparison of one of r's columns with a value into them, with the
// operator as seen from the column.
func sides(r *rel, c *plan.Call, usable func(plan.Expr) bool) (v *plan.Var, op string, x plan.Expr, ok bool) {
	if len(c.Args) != 2 {
		return nil, "", nil, false
	}
	op = c.Op
	if v, ok = r.column(c.Args[0]); ok && usable(c.Args[1]) {
		return v, op, c.Args[1], true
	}
	if v, ok = r.column(c.Args[1]); !ok || !usable(c.Args[0]) {
		return nil, "", nil, false
	}
	op, ok = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
		"&&": "&&", "@>": "<@", "<@": "@>"}[op]
	return v, op, c.Args[0], ok
}

// column is the column of r that an expression is, or the index expression.
func (r *rel) column(x plan.Expr) (*plan.Var, bool) {
	if l, ok := x.(*plan.Relabel); ok {
		x = l.X
	}
	if v, ok := x.(*plan.Var); ok {
		return v, v.Rel == r.id && (v.Col >= 0 || v.Col == plan.ColCtid)
	}
	return r.computed(x)
}

// rowBound reads a comparison of rows: the columns with their values, and the
// operator, which holds for the last of them.
func rowBound(r *rel, e plan.Expr, usable func(plan.Expr) bool) (cols []colBound, op string) {
	if c, ok := e.(*plan.Call); ok {
		v, op, x, ok := sides(r, c, usable)
		if !ok || op != "<" && op != "<=" && op != ">" && op != ">=" {
			return nil, ""
		}
		if fit, _ := fits(r.colType(v), x.Type()); !fit {
			return nil, ""
		}
		return []colBound{{v.Col, x}}, op
	}
	or, ok := e.(*plan.Or)
	if !ok || len(or.Args) != 2 {
		return nil, ""
	}
	first, dir := rowBound(r, or.Args[0], usable)
	and, ok := or.Args[1].(*plan.And)
	if len(first) != 1 || len(dir) != 1 || !ok {
		return nil, ""
	}
	var rest []plan.Expr
	equal := false
	for _, a := range and.Args {
		if c, ok := a.(*plan.Call); ok && !equal {
			v, op, x, ok := sides(r, c, usable)
			if equal = ok && op == "=" && v.Col == first[0].col && exprKey(x) == exprKey(first[0].x); equal {
				continue
			}
		}
		rest = append(rest, a)
	}
	if !equal || len(rest) != 1 {
		return nil, ""
	}
	cols, op = rowBound(r, rest[0], usable)
	if len(cols) == 0 || op[:1] != dir {
		return nil, ""
	}
	return append(first, cols...), op
}

// bound is the row bound as one on its first column. The comparison stays: it
// decides about NULLs.
func (cb colBound) bound(c plan.Expr, rest []colBound, op string) bound {
	b := bound{conj: c, kind: "lo", x: cb.x, inc: len(op) == 2, rest: rest}
	if op[0] == '<' {
		b.kind = "hi"
	}
	return b
}

// keyed is the part of a row bound, and whether it is all of it, that the key
// columns after the first follow, in the same direction.
func (b *bound) keyed(keys []catalog.IndexKey) (rest []plan.Expr, whole bool) {
	for i, c := range b.rest {
		if i+1 >= len(keys) || keys[i+1].Col != c.col || keys[i+1].Desc != keys[0].Desc {
			return rest, false
		}
		rest = append(rest, c.x)
	}
	return rest, true
}
