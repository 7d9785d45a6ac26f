package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// selectivity estimates the fraction of rows for which a conjunct holds.
func (p *planner) selectivity(e plan.Expr, rels map[int]*rel) float64 {
	switch x := e.(type) {
	case *plan.Const:
		if x.Val.Null || x.Val.I == 0 {
			return 0
		}
		return 1
	case *plan.And:
		return p.jointSelectivity(x.Args, rels)
	case *plan.Or:
		s := 0.0
		for _, a := range x.Args {
			t := p.selectivity(a, rels)
			s = s + t - s*t
		}
		if before, ok := p.implied[x]; ok {
			return min(1, s/before)
		}
		return s
	case *plan.Var:
		return p.trueSel(x, rels)
	case *plan.Not:
		return 1 - p.selectivity(x.X, rels)
	case *plan.Is:
		return p.isSel(x, rels)
	case *plan.InList:
		return maybeNot(p.inSel(x.X, x.List, rels), x.Not)
	case *plan.AnyArray:
		return p.anySel(x, rels)
	case *plan.Call:
		switch {
		case x.Proc.OID == catalog.OProcInSample:
			return p.sampleSel(x)
		case len(x.Args) != 2:
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
			return p.matchSel(x, selLike, rels)
		case "!~~", "!~~*", "!~", "!~*":
			return p.matchSel(x, 1-selLike, rels)
		case "@>", "<@", "&&":
			return p.overlapSel(x, rels)
		case "?", "?|", "?&", "@?", "@@":
			if v, ok := bareVar(x.Args[0]); ok {
				if st := p.colStats(rels[v.Rel], v.Col); st != nil && len(st.Elems) > 0 {
					return p.elementSel(st, x.Op, x.Args[1])
				}
			}
			return selElements
		}
	}
	return selBool
}

// trueSel is the fraction of rows of which a boolean column is true.
func (p *planner) trueSel(v *plan.Var, rels map[int]*rel) float64 {
	st := p.colStats(rels[v.Rel], v.Col)
	if st == nil || st.NDistinct == 0 {
		return selBool
	}
	return eqShare(st, types.Bool(true), p.tableRows(rels[v.Rel].table))
}

func maybeNot(s float64, not bool) float64 {
	if not {
		return 1 - s
	}
	return s
}

func (p *planner) isSel(x *plan.Is, rels map[int]*rel) float64 {
	s := selNull
	if x.Test != plan.IsNull {
		s = selBool
	} else if v, ok := x.X.(*plan.Var); ok {
		if c := p.colStats(rels[v.Rel], v.Col); c != nil {
			s = c.NullFrac
		}
	}
	return maybeNot(s, x.Not)
}

// unknownElems is how many elements an array is taken to have.
const unknownElems = 10

// anySel is the fraction for x op ANY|ALL (array).
func (p *planner) anySel(x *plan.AnyArray, rels map[int]*rel) float64 {
	if x.Op != "=" || x.All {
		return selBool
	}
	if v, ok := bareVar(x.Array); ok {
		if st := p.colStats(rels[v.Rel], v.Col); st != nil && len(st.Elems) > 0 {
			return p.elementSel(st, "=", x.X)
		}
	}
	if a, ok := x.Array.(*plan.ArrayCtor); ok && !a.Nested {
		return p.inSel(x.X, a.Elems, rels)
	}
	if d, ok := p.estimate(x.Array); ok {
		if _, _, _, elems, err := types.ArrayElems(d); err == nil {
			list := make([]plan.Expr, len(elems))
			for i, el := range elems {
				list[i] = &plan.Const{At: plan.At{T: el.T}, Val: el}
			}
			return p.inSel(x.X, list, rels)
		}
	}
	return min(1, p.eqSel(x.X, nil, rels)*unknownElems)
}

// fewValues is the length of a list up to which each value is looked for among the common
// ones.
const fewValues = 8

// inSel is the fraction of rows where a equals one of a list of values.
func (p *planner) inSel(a plan.Expr, list []plan.Expr, rels map[int]*rel) float64 {
	s := 0.0
	if common := p.commonOfList(a, list, rels); common != nil {
		for _, el := range list {
			d, ok := p.estimate(el)
			if !ok {
				s += p.eqSel(a, el, rels)
				continue
			}
			k, _ := commonOf(d)
			if f, is := common.freq[k]; is {
				s += f
			} else {
				s += common.others
			}
		}
		return min(1, s)
	}
	if v, ok := bareVar(a); ok && len(list) > 0 && rels[v.Rel] != nil && rels[v.Rel].table != nil && uniqueColumn(rels[v.Rel], v.Col) {
		return min(1, float64(len(list))*p.eqSel(a, list[0], rels)) // each finds a row
	}
	for _, el := range list {
		s += p.eqSel(a, el, rels)
	}
	return min(1, s)
}

// commonValues are the frequencies of a column's values, for many of them.
type commonValues struct {
	freq   map[commonKey]float64
	others float64 // of each value that is not common
}

// commonOfList is those of a column that is compared with a long list of values of its
// own type, nil where each value has to be compared.
func (p *planner) commonOfList(a plan.Expr, list []plan.Expr, rels map[int]*rel) *commonValues {
	v, ok := bareVar(a)
	if len(list) <= fewValues || !ok || rels[v.Rel] == nil || rels[v.Rel].table == nil || uniqueColumn(rels[v.Rel], v.Col) {
		return nil
	}
	st := p.colStats(rels[v.Rel], v.Col)
	if st == nil || st.NDistinct == 0 {
		return nil
	}
	for _, el := range list {
		if et := el.Type(); et.Kind() != v.T.Kind() && !(integer(et) && integer(v.T)) || et.OID == types.OBpchar || v.T.OID == types.OBpchar {
			return nil
		}
	}
	rows := p.tableRows(rels[v.Rel].table)
	out := &commonValues{freq: make(map[commonKey]float64, len(st.MCV))}
	left := 1 - st.NullFrac
	for i, m := range st.MCV {
		k, ok := commonOf(m)
		if !ok {
			return nil
		}
		out.freq[k] = st.MCF[i]
		left -= st.MCF[i]
	}
	if _, ok := commonOf(types.Datum{T: v.T}); !ok {
		return nil
	}
	out.others = max(left/max(st.Distinct(rows)-float64(len(st.MCV)), 1), 1/max(rows, 1))
	return out
}

// eqSel is the fraction of rows where a equals b; b is nil for an unknown value.
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
	if val, ok := p.estimate(b); ok && !uniqueColumn(r, va.Col) {
		if st := p.colStats(r, va.Col); st != nil && st.NDistinct != 0 {
			return eqShare(st, val, rows)
		}
	}
	if d := p.distinct(a, rels, rows); d > 0 && p.knownDistinct(r, va.Col) {
		return 1 / d
	}
	return max(selEq, 1/rows)
}

// eqShare is the fraction of rows with a value: of a common value it is known,
// the others have equal parts of what is left.
func eqShare(st *catalog.ColStats, val types.Datum, rows float64) float64 {
	left := 1 - st.NullFrac
	for i := range st.MCV {
		if c, ok := order(&st.MCV[i], &val); ok && c == 0 {
			return st.MCF[i]
		}
		left -= st.MCF[i]
	}
	others := st.Distinct(rows) - float64(len(st.MCV))
	return max(left/max(others, 1), 1/max(rows, 1))
}

func uniqueColumn(r *rel, col int) bool {
	if len(r.table.PK) == 1 && r.table.PK[0] == col || col == plan.ColCtid {
		return true
	}
	for _, ix := range r.table.Indexes {
		if ix.Unique && ix.Where == "" && len(ix.Keys) == 1 && ix.Keys[0].Col == col {
			return true
		}
	}
	return false
}

func (p *planner) knownDistinct(r *rel, col int) bool {
	if uniqueColumn(r, col) {
		return true
	}
	c := p.colStats(r, col)
	return c != nil && c.NDistinct != 0
}

// matchSel is the fraction of rows that match a known pattern: it is tried on
// the common values, and on the histogram's for the others. otherwise is the
// answer where that cannot be done.
func (p *planner) matchSel(x *plan.Call, otherwise float64, rels map[int]*rel) float64 {
	v, ok := bareVar(x.Args[0])
	if !ok {
		return otherwise
	}
	st := p.colStats(rels[v.Rel], v.Col)
	pattern, known := p.estimate(x.Args[1])
	if st == nil || !known {
		return otherwise
	}
	at := plan.At{T: x.Args[0].Type()}
	over := *x
	over.Args = []plan.Expr{&plan.Col{At: at}, &plan.Const{At: plan.At{T: pattern.T}, Val: pattern}}
	holds, err := p.Consts.HoldsFor(&over, at.T, st.MCV, st.Histogram)
	if err != nil {
		return otherwise
	}
	common, left := 0.0, 1-st.NullFrac
	for i := range st.MCV {
		left -= st.MCF[i]
		if holds[i] {
			common += st.MCF[i]
		}
	}
	share := otherwise
	if n := len(st.Histogram); n >= 10 {
		hits := 0
		for i := range st.Histogram {
			if holds[len(st.MCV)+i] {
				hits++
			}
		}
		share = min(max(float64(hits)/float64(n), 1/float64(10*n)), 1-1/float64(10*n))
	}
	return min(1, max(common+max(left, 0)*share, 1e-6))
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
