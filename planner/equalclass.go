package planner

import (
	"math/bits"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// equalClass are columns of different units that inner joins make equal: of
//
//	WHERE t.id = mc.movie AND t.id = mk.movie
//
// t.id, mc.movie and mk.movie. Any two of them may be joined, as here mc and mk before t;
// a join of two sides that both have columns of the class needs one of the equalities
// between them, as the columns of each side are equal already; and the number of joined
// rows counts the class once for each unit and not for each equality that was written.
type equalClass struct {
	call    *plan.Call // one of the equalities, of whose kind all are
	members []classMember
	set     uint64 // units of the members
}

type classMember struct {
	unit   uint64
	rel    int
	x      plan.Expr
	values float64 // how many it has
}

// equal is the equality of two members.
func (c *equalClass) equal(a, b *classMember) plan.Expr {
	x := *c.call
	x.Args = []plan.Expr{a.x, b.x}
	return &x
}

// classes finds the columns that are equal, and enters the equalities that nobody wrote.
// A unit of which two columns are equal to others keeps to what was written.
func (g *joinGraph) classes() {
	if g.p.NoOptimizer || len(g.leaves) > 64 {
		return
	}
	type column struct{ rel, col int }
	of := map[column]*equalClass{}
	at := map[*equalClass][]int{} // edges
	enter := func(c *equalClass, e plan.Expr, unit uint64) {
		v, _ := bareVar(e)
		of[column{v.Rel, v.Col}] = c
		c.members = append(c.members, classMember{unit: unit, rel: v.Rel, x: e})
	}
	for i, e := range g.edges {
		call, l, r := classable(e)
		if call == nil {
			continue
		}
		a, b := of[column{l.Rel, l.Col}], of[column{r.Rel, r.Col}]
		switch {
		case a != nil && a.call.Proc != call.Proc || b != nil && b.call.Proc != call.Proc:
			continue
		case a == nil && b == nil:
			a = &equalClass{call: call}
			enter(a, call.Args[0], e.l)
			enter(a, call.Args[1], e.r)
		case a == nil:
			a = b
			enter(a, call.Args[0], e.l)
		case b == nil:
			enter(a, call.Args[1], e.r)
		case a != b:
			for _, m := range b.members {
				enter(a, m.x, m.unit)
			}
			at[a] = append(at[a], at[b]...)
			delete(at, b)
		}
		at[a] = append(at[a], i)
	}
	// in the order of the edges, so that plans are the same each time
	for i := range g.edges {
		for c, edges := range at {
			if edges[0] == i {
				g.enterClass(c, edges)
			}
		}
	}
}

func (g *joinGraph) enterClass(c *equalClass, edges []int) {
	if len(c.members) < 3 {
		return
	}
	for _, m := range c.members {
		if c.set&m.unit != 0 {
			return
		}
		c.set |= m.unit
	}
	written := map[uint64]bool{}
	for _, i := range edges {
		g.edges[i].class = c
		written[g.edges[i].set] = true
		g.s.classOf[g.edges[i].conj] = c
	}
	g.s.classes = append(g.s.classes, c)
	for i := range c.members {
		m := &c.members[i]
		m.values = g.p.joinDistinct(m.x, g.s)
		for k := range i {
			o := &c.members[k]
			if written[m.unit|o.unit] {
				continue
			}
			x := c.equal(o, m)
			g.edges = append(g.edges, joinEdge{set: m.unit | o.unit, sel: g.p.equiSel(o.x, m.x, g.s), equi: true, l: o.unit, r: m.unit, conj: x, class: c})
			g.conj = append(g.conj[:len(g.conj):len(g.conj)], x)
		}
	}
}

// classable is an edge that may be one of a class: an equality of two columns of one type.
func classable(e joinEdge) (call *plan.Call, l, r *plan.Var) {
	if !e.equi || bits.OnesCount64(e.set) != 2 {
		return nil, nil, nil
	}
	x := e.conj.(*plan.Call)
	l, isL := relabelled(x.Args[0])
	r, isR := relabelled(x.Args[1])
	at := x.Args[0].Type()
	if !isL || !isR || l.Level != 0 || r.Level != 0 || l.Col < 0 || r.Col < 0 || at.OID != x.Args[1].Type().OID || !hashable(at) {
		return nil, nil, nil
	}
	return x, l, r
}

// relabelled is a column whose values are taken as they are.
func relabelled(e plan.Expr) (*plan.Var, bool) {
	if x, ok := e.(*plan.Relabel); ok {
		e = x.X
	}
	v, ok := e.(*plan.Var)
	return v, ok
}

// classSel is the share of combinations of the set's units whose columns of the class are
// equal. The units with fewer values are taken to have values of those with more.
func (g *joinGraph) classSel(c *equalClass, set uint64) float64 {
	sel, least, n := 1.0, 0.0, 0
	for _, m := range c.members {
		if m.unit&set == 0 {
			continue
		}
		n++
		sel /= max(1, m.values)
		if n == 1 || m.values < least {
			least = m.values
		}
	}
	if n < 2 {
		return 1
	}
	return sel * max(1, least)
}

// onceEach are the conjuncts that a join of two sides needs: one of each class.
func (s *state) onceEach(on []plan.Expr, l, r relSet) []plan.Expr {
	for _, c := range s.classes {
		var lm, rm *classMember
		for i := range c.members {
			switch m := &c.members[i]; {
			case lm == nil && l.has(m.rel):
				lm = m
			case rm == nil && r.has(m.rel):
				rm = m
			}
		}
		if lm == nil || rm == nil {
			continue
		}
		kept := on[:0:0]
		have := false
		for _, x := range on {
			if s.classOf[x] == c {
				if have {
					continue
				}
				have = true
			}
			kept = append(kept, x)
		}
		if !have {
			kept = append(kept, c.equal(lm, rm))
		}
		on = kept
	}
	return on
}

// equiSel is the share of pairs for which two expressions are equal.
func (p *planner) equiSel(l, r plan.Expr, s *state) float64 {
	a, b := p.joinDistinct(l, s), p.joinDistinct(r, s)
	sel := 1 / max(1, max(a, b))
	x, y := p.exprStats(l, s), p.exprStats(r, s)
	if x == nil || y == nil || !skewed(x, a) || !skewed(y, b) {
		return sel
	}
	return max(sel, commonSel(x, y, a, b))
}

// exprStats are the statistics of a table's column, nil of another expression.
func (p *planner) exprStats(e plan.Expr, s *state) *catalog.ColStats {
	v, ok := bareVar(e)
	if !ok {
		return nil
	}
	return p.colStats(s.b.rels[v.Rel], v.Col)
}

// skewed reports whether the most common value is so much more frequent than others that
// it counts in a join.
func skewed(st *catalog.ColStats, values float64) bool {
	return len(st.MCF) > 0 && st.MCF[0]*values > 4
}

// commonSel is the share of pairs that are equal, where common values are known of both
// sides, as PostgreSQL's eqjoinsel computes it: those that are common on both sides meet
// with their frequencies, those of one side are among the others of the other side, and
// these are taken to be equally frequent.
func commonSel(x, y *catalog.ColStats, xn, yn float64) float64 {
	freq := map[commonKey]float64{}
	for i, d := range x.MCV {
		if k, ok := commonOf(d); ok {
			freq[k] = x.MCF[i]
		}
	}
	both, met, xMet, yMet, xCommon, yCommon := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for i, d := range y.MCV {
		yCommon += y.MCF[i]
		if k, ok := commonOf(d); ok && freq[k] > 0 {
			both += freq[k] * y.MCF[i]
			xMet += freq[k]
			yMet += y.MCF[i]
			met++
		}
	}
	for _, f := range x.MCF {
		xCommon += f
	}
	xAlone, yAlone := max(0, xCommon-xMet), max(0, yCommon-yMet)
	xOther, yOther := max(0, 1-x.NullFrac-xCommon), max(0, 1-y.NullFrac-yCommon)
	side := func(alone, other, otherOf, aloneOf, values, common float64) float64 {
		sel := both
		if values > common {
			sel += alone * otherOf / (values - common)
		}
		if values > met {
			sel += other * (otherOf + aloneOf) / (values - met)
		}
		return sel
	}
	return min(side(xAlone, xOther, yOther, yAlone, yn, float64(len(y.MCV))), side(yAlone, yOther, xOther, xAlone, xn, float64(len(x.MCV))))
}

// commonKey is a common value of a type whose equal values are the same integer or text.
type commonKey struct {
	n int64
	s string
}

func commonOf(d types.Datum) (commonKey, bool) {
	switch d.T.Kind() {
	case types.KInt2, types.KInt4, types.KInt8, types.KDate, types.KTimestamp, types.KTimestamptz:
		return commonKey{n: d.I}, true
	case types.KText:
		return commonKey{s: string(d.B)}, true
	}
	return commonKey{}, false
}
