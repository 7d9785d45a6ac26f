package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Costs in units of one row read in key order. The ratios come from measured
// figures: a cursor step with decoding takes some 50 ns, a get in a batch of
// sorted keys ten times as long, a hash insert or probe about as long as a step.
const (
	costGet   = 10.0 // one get of a row by its key
	costEntry = 1.0  // one index entry
	costHash  = 1.0  // one probe
	costBuild = 2.0  // one row put into a hash table
	costPair  = 0.05 // one pair tested by a loop join
	costStart = 5.0  // opening a cursor
)

// Selectivities where nothing is known.
const (
	selEq    = 0.005
	selRange = 0.3333
	selSpan  = 0.005 // between two bounds
	selLike  = 0.02
	selBool  = 0.5
	selNull  = 0.01
)

// colStats returns the statistics of a table column, or nil.
func (p *planner) colStats(r *rel, col int) *catalog.ColStats {
	if r == nil || r.table == nil || col < 0 {
		return nil
	}
	st := p.Snap.Stats(r.table.OID)
	if st == nil || col >= len(st.Cols) {
		return nil
	}
	return &st.Cols[col]
}

// distinct estimates the number of distinct values of an expression.
func (p *planner) distinct(e plan.Expr, rels map[int]*rel, rows float64) float64 {
	for {
		switch x := e.(type) {
		case *plan.Relabel:
			e = x.X
			continue
		case *plan.CoerceMod:
			e = x.X
			continue
		}
		break
	}
	v, ok := e.(*plan.Var)
	if !ok {
		return max(1, min(rows, 200))
	}
	r := rels[v.Rel]
	if r == nil || r.table == nil {
		return max(1, rows*0.5)
	}
	if len(r.table.PK) == 1 && r.table.PK[0] == v.Col {
		return p.tableRows(r.table)
	}
	for _, ix := range r.table.Indexes {
		if ix.Unique && len(ix.Keys) == 1 && ix.Keys[0].Col == v.Col {
			return p.tableRows(r.table)
		}
	}
	if c := p.colStats(r, v.Col); c != nil {
		if d := c.Distinct(p.tableRows(r.table)); d > 0 {
			return d
		}
	}
	return max(1, min(200, rows))
}

// selectivity estimates the fraction of rows for which a conjunct holds.
func (p *planner) selectivity(e plan.Expr, rels map[int]*rel) float64 {
	switch x := e.(type) {
	case *plan.Const:
		if x.Val.Null || x.Val.I == 0 {
			return 0
		}
		return 1
	case *plan.And:
		s := 1.0
		for _, a := range x.Args {
			s *= p.selectivity(a, rels)
		}
		return s
	case *plan.Or:
		s := 0.0
		for _, a := range x.Args {
			t := p.selectivity(a, rels)
			s = s + t - s*t
		}
		return s
	case *plan.Not:
		return 1 - p.selectivity(x.X, rels)
	case *plan.Is:
		s := selNull
		if x.Test != plan.IsNull {
			s = selBool
		} else if v, ok := x.X.(*plan.Var); ok {
			if c := p.colStats(rels[v.Rel], v.Col); c != nil {
				s = c.NullFrac
			}
		}
		if x.Not {
			return 1 - s
		}
		return s
	case *plan.InList:
		s := min(1, p.eqSel(x.X, nil, rels)*float64(len(x.List)))
		if x.Not {
			return 1 - s
		}
		return s
	case *plan.AnyArray:
		return min(1, p.eqSel(x.X, nil, rels)*10)
	case *plan.Call:
		if len(x.Args) != 2 {
			return selBool
		}
		switch x.Op {
		case "=":
			return p.eqSel(x.Args[0], x.Args[1], rels)
		case "<>":
			return 1 - p.eqSel(x.Args[0], x.Args[1], rels)
		case "<", "<=", ">", ">=":
			return p.rangeSel(x, rels)
		case "~~", "~~*", "~", "~*":
			return selLike
		case "!~~", "!~~*", "!~", "!~*":
			return 1 - selLike
		}
	}
	return selBool
}

func (p *planner) eqSel(a, b plan.Expr, rels map[int]*rel) float64 {
	va, ok := bareVar(a)
	if !ok && b != nil {
		if vb, ok2 := bareVar(b); ok2 {
			va, a, b = vb, b, a
			ok = true
		}
	}
	if !ok {
		return selEq
	}
	r := rels[va.Rel]
	if r == nil || r.table == nil {
		return selEq
	}
	rows := p.tableRows(r.table)
	if val, ok := p.estimate(b); ok {
		if st := p.colStats(r, va.Col); st != nil {
			for i, m := range st.MCV {
				if m.T.Kind() == val.T.Kind() && types.Compare(m, val) == 0 {
					return st.MCF[i]
				}
			}
		}
	}
	if d := p.distinct(a, rels, rows); d > 0 && p.knownDistinct(r, va.Col) {
		return 1 / d
	}
	return max(selEq, 1/rows)
}

func (p *planner) knownDistinct(r *rel, col int) bool {
	if len(r.table.PK) == 1 && r.table.PK[0] == col {
		return true
	}
	for _, ix := range r.table.Indexes {
		if ix.Unique && len(ix.Keys) == 1 && ix.Keys[0].Col == col {
			return true
		}
	}
	c := p.colStats(r, col)
	return c != nil && c.NDistinct != 0
}

func bareVar(e plan.Expr) (*plan.Var, bool) {
	for {
		switch x := e.(type) {
		case *plan.Var:
			return x, true
		case *plan.Relabel:
			e = x.X
		case *plan.CoerceMod:
			e = x.X
		default:
			return nil, false
		}
	}
}
