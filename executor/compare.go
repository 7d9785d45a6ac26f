package executor

import (
	"bytes"
	"cmp"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// keyOrder orders rows by one column.
type keyOrder struct {
	col        int
	desc       bool
	nullsFirst bool
}

// rowOrder compares rows by several columns.
type rowOrder struct {
	keys []keyOrder
	cmp  []func(a *vec.Vec, i int, b *vec.Vec, j int) int // of non-null values
}

func newRowOrder(ts []types.T, keys []keyOrder) rowOrder {
	o := rowOrder{keys: keys}
	for _, k := range keys {
		o.cmp = append(o.cmp, valueCmp(ts[k.col]))
	}
	return o
}

// compare orders row i of a and row j of b by the keys from the from-th on.
func (o *rowOrder) compare(from int, a []*vec.Vec, i int, b []*vec.Vec, j int) int {
	for n := from; n < len(o.keys); n++ {
		k := o.keys[n]
		if c := compareKey(k, o.cmp[n], a[k.col], i, b[k.col], j); c != 0 {
			return c
		}
	}
	return 0
}

func compareKey(k keyOrder, f func(*vec.Vec, int, *vec.Vec, int) int, x *vec.Vec, i int, y *vec.Vec, j int) int {
	i, j = x.Idx(i), y.Idx(j)
	xn, yn := x.Nulls.Get(i), y.Nulls.Get(j)
	switch {
	case xn && yn:
		return 0
	case xn:
		if k.nullsFirst {
			return -1
		}
		return 1
	case yn:
		if k.nullsFirst {
			return 1
		}
		return -1
	}
	c := f(x, i, y, j)
	if k.desc {
		return -c
	}
	return c
}

// valueCmp returns the comparison of two non-null values of a type; i and j
// index the vectors' slices.
func valueCmp(t types.T) func(a *vec.Vec, i int, b *vec.Vec, j int) int {
	switch t.Rep() {
	case types.RepInt:
		return func(a *vec.Vec, i int, b *vec.Vec, j int) int { return cmp.Compare(a.I64[i], b.I64[j]) }
	case types.RepFloat:
		return func(a *vec.Vec, i int, b *vec.Vec, j int) int { return compareFloat(a.F64[i], b.F64[j]) }
	case types.RepBool:
		return func(a *vec.Vec, i int, b *vec.Vec, j int) int { return boolInt(a.Bool[i]) - boolInt(b.Bool[j]) }
	case types.RepDec:
		return compareDec
	case types.RepBytes:
		switch k := t.Kind(); {
		case t.OID == types.OBpchar:
			return func(a *vec.Vec, i int, b *vec.Vec, j int) int {
				return bytes.Compare(bytes.TrimRight(a.B[i], " "), bytes.TrimRight(b.B[j], " "))
			}
		case k == types.KText, k == types.KBytea, k == types.KUUID, k == types.KMacaddr, k == types.KWord:
			return func(a *vec.Vec, i int, b *vec.Vec, j int) int { return bytes.Compare(a.B[i], b.B[j]) }
		}
	}
	return func(a *vec.Vec, i int, b *vec.Vec, j int) int { return types.Compare(a.Get(i), b.Get(j)) }
}

// compareFloat is PostgreSQL's order: NaN equals itself and is the greatest.
func compareFloat(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return boolInt(x != x) - boolInt(y != y)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareDec(a *vec.Vec, i int, b *vec.Vec, j int) int {
	if a.Dec == nil && b.Dec == nil && a.Scale == b.Scale {
		return cmp.Compare(a.I64[i], b.I64[j])
	}
	return decAt(a, i).Cmp(decAt(b, j))
}

// decAt is a numeric of either form.
func decAt(v *vec.Vec, i int) types.Decimal {
	if v.Dec == nil {
		return types.NewDecimal(v.I64[i], v.Scale)
	}
	return v.Dec[i]
}

// sortExprs returns the expressions of sort keys.
func sortExprs(keys []plan.SortKey) []plan.Expr {
	out := make([]plan.Expr, len(keys))
	for i, k := range keys {
		out[i] = k.X
	}
	return out
}

// keyPlan says where sort keys are found in rows made of an input's columns
// followed by computed keys.
type keyPlan struct {
	order    []keyOrder
	computed []plan.Expr // appended after the input's columns
}

// planKeys places keys that are plain columns where they are and all others
// after the width input columns.
func planKeys(keys []plan.SortKey, width int) keyPlan {
	var p keyPlan
	for _, k := range keys {
		o := keyOrder{desc: k.Desc, nullsFirst: k.NullsFirst}
		o.col = p.place(k.X, width)
		p.order = append(p.order, o)
	}
	return p
}

func (p *keyPlan) place(x plan.Expr, width int) int {
	if c, ok := x.(*plan.Col); ok {
		return c.Idx
	}
	p.computed = append(p.computed, x)
	return width + len(p.computed) - 1
}
