package executor

import (
	"cmp"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// leadColumn is a conjunct of a join's residual that compares a right column with a left
// one by their order, such as y.d > x.d. Where rows of one key are chained with the
// largest d first (the smallest for <), a row's candidates that fulfil it come first.
type leadColumn struct {
	left, right int  // columns of the inputs
	desc        bool // the right one is to be larger
	equal       bool // or the same
}

// leadOf finds the first such conjunct of a residual over nleft left columns and the
// right ones; nil if there is none over integers, dates or times.
func leadOf(residual plan.Expr, nleft int) *leadColumn {
	conjuncts := []plan.Expr{residual}
	if and, ok := residual.(*plan.And); ok {
		conjuncts = and.Args
	}
	for _, e := range conjuncts {
		c, ok := e.(*plan.Call)
		if !ok || len(c.Args) != 2 || c.Own != nil {
			continue
		}
		a, isCol := c.Args[0].(*plan.Col)
		b, also := c.Args[1].(*plan.Col)
		if !isCol || !also || (a.Idx < nleft) == (b.Idx < nleft) || !sameOrder(a.T, b.T) {
			continue
		}
		less := c.Op == "<" || c.Op == "<="
		if !less && c.Op != ">" && c.Op != ">=" {
			continue
		}
		x := &leadColumn{left: a.Idx, right: b.Idx - nleft, desc: less, equal: len(c.Op) == 2}
		if b.Idx < nleft {
			x.left, x.right, x.desc = b.Idx, a.Idx-nleft, !less
		}
		return x
	}
	return nil
}

// sameOrder reports whether values of two types are held as integers that compare as
// they do.
func sameOrder(a, b types.T) bool {
	integer := func(t types.T) bool { return t.OID == types.OInt2 || t.OID == types.OInt4 || t.OID == types.OInt8 }
	return a.Rep() == types.RepInt && a.OID < types.FirstUserOID && (a.OID == b.OID || integer(a) && integer(b))
}

// order lists n rows of the right column in the order in which those of one key are to
// be chained: NULL, which fulfils nothing, comes last.
func (x *leadColumn) order(col *vec.Vec, n int) []uint32 {
	rows := make([]uint32, n)
	for i := range rows {
		rows[i] = uint32(i)
	}
	sign := 1
	if x.desc {
		sign = -1
	}
	slices.SortFunc(rows, func(a, b uint32) int {
		if an, bn := col.IsNull(int(a)), col.IsNull(int(b)); an || bn {
			return cmp.Compare(boolInt(an), boolInt(bn))
		}
		return sign * cmp.Compare(col.I64[a], col.I64[b])
	})
	return rows
}

// leadTest is a leadColumn over a batch and a table whose chains have its order. The zero
// value ends nothing.
type leadTest struct {
	*leadColumn
	l, r *vec.Vec
}

func (x *leadColumn) over(op *hashJoin) leadTest {
	if x == nil || !op.table.led {
		return leadTest{}
	}
	return leadTest{x, op.batch.Cols[x.left], op.table.rows.cols[x.right]}
}

// ends reports whether neither right row r nor any behind it in its chain fulfils the
// conjunct with left row l.
func (t leadTest) ends(l, r uint32) bool {
	if t.leadColumn == nil {
		return false
	}
	if t.l.IsNull(int(l)) || t.r.IsNull(int(r)) {
		return true
	}
	c := cmp.Compare(t.r.I64[r], t.l.I64[t.l.Idx(int(l))])
	if t.desc {
		c = -c
	}
	return c > 0 || c == 0 && !t.equal
}
