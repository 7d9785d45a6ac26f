package planner

import (
	"cmp"
	"math"
	"sort"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// estimate returns the value that estimates may use for an expression without
// columns: a constant, or what the values of the parameters and the present time make
// of it.
func (p *planner) estimate(e plan.Expr) (types.Datum, bool) {
	switch x := e.(type) {
	case nil:
		return types.Datum{}, false
	case *plan.Const:
		return x.Val, !x.Val.Null
	}
	if p.Consts == nil {
		return types.Datum{}, false
	}
	ok := true
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Const, *plan.Relabel, *plan.CoerceMod, *plan.CoerceIO, *plan.KeyBound, *plan.ArrayCtor, *plan.MinMax:
		case *plan.Param:
			ok = ok && x.Idx < len(p.ParamValues)
		case *plan.Call:
			ok = ok && x.Proc.Volatile != 'v' && x.Proc.SQL == nil
		default:
			ok = false
		}
		return ok
	})
	if !ok {
		return types.Datum{}, false
	}
	e = p.withValues(e)
	if c, is := e.(*plan.Const); is {
		return c.Val, !c.Val.Null
	}
	v, err := p.Consts.EvalConst(e)
	return v, err == nil && !v.Null
}

// rangeSel finds the share of a known value's side among the column's common
// values and in its histogram; selRange when it cannot.
func (p *planner) rangeSel(x *plan.Call, rels map[int]*rel) float64 {
	v, ok := bareVar(x.Args[0])
	other := x.Args[1]
	below, equal := x.Op[0] == '<', len(x.Op) == 2
	if !ok {
		v, ok = bareVar(x.Args[1])
		other = x.Args[0]
		below = !below
	}
	if !ok {
		return selRange
	}
	val, ok := p.estimate(other)
	if !ok {
		return selRange
	}
	st := p.colStats(rels[v.Rel], v.Col)
	if st == nil || st.NDistinct == 0 {
		return selRange
	}
	common, left := 0.0, 1-st.NullFrac
	for i := range st.MCV {
		c, ok := order(&st.MCV[i], &val)
		if !ok {
			return selRange
		}
		left -= st.MCF[i]
		if c == 0 && equal || c < 0 && below || c > 0 && !below {
			common += st.MCF[i]
		}
	}
	share := selRange
	if len(st.Histogram) >= 2 {
		if _, ok := order(&st.Histogram[0], &val); !ok {
			return selRange
		}
		if share = position(st.Histogram, val); !below {
			share = 1 - share
		}
	}
	return max(common+max(left, 0)*share, min(0.0005, 1/p.tableRows(rels[v.Rel].table)))
}

// between is the share of rows between two bounds, of which the shares above the
// lower and below the upper one are given.
func between(lo, hi, rows float64) float64 {
	if lo == selRange && hi == selRange {
		return selSpan
	}
	return math.Max(lo+hi-1, 1/math.Max(rows, 1))
}

// jointSelectivity estimates the fraction of rows for which all conjuncts hold:
// two bounds of one column are a range, everything else is independent.
func (p *planner) jointSelectivity(conj []plan.Expr, rels map[int]*rel) float64 {
	type side struct {
		lo, hi     float64 // 0: no bound
		from, upto plan.Expr
	}
	ranges := map[[2]int]side{}
	var order [][2]int // the same product each time
	out := 1.0
	for _, c := range conj {
		s := p.selectivity(c, rels)
		v, below := boundOf(c)
		if v == nil {
			out *= s
			continue
		}
		key := [2]int{v.Rel, v.Col}
		r, found := ranges[key]
		if !found {
			order = append(order, key)
		}
		switch {
		case below && r.hi == 0:
			r.hi, r.upto = s, c
		case !below && r.lo == 0:
			r.lo, r.from = s, c
		default:
			out *= s
		}
		ranges[key] = r
	}
	for _, key := range order {
		r := ranges[key]
		switch {
		case r.lo == 0:
			out *= r.hi
		case r.hi == 0:
			out *= r.lo
		default:
			out *= p.spanSel(rels[key[0]], key[1], r.lo, r.hi, r.from, r.upto)
		}
	}
	return out
}

// spanSel is the share of an entry's rows in which a column is between two bounds: from
// and upto are the comparisons, lo and hi their shares.
func (p *planner) spanSel(r *rel, col int, lo, hi float64, from, upto plan.Expr) float64 {
	if r == nil || r.table == nil {
		return between(lo, hi, 0)
	}
	if lo == selRange && hi == selRange {
		if share, ok := p.widthSel(r, col, from, upto); ok {
			return share
		}
	}
	return between(lo, hi, p.tableRows(r.table))
}

// widthSel is the share of a column's range that lies between two bounds which are a
// known distance apart, wherever they are: of
//
//	o.at >= d.day AND o.at < d.day + interval '1 day'
//
// a day's share of the time between the first and the last row.
func (p *planner) widthSel(r *rel, col int, from, upto plan.Expr) (float64, bool) {
	lo, a := apart(from)
	hi, b := apart(upto)
	if a == nil && b == nil || exprKey(lo) != exprKey(hi) {
		return 0, false
	}
	st := p.colStats(r, col)
	if st == nil || len(st.Histogram) < 2 {
		return 0, false
	}
	first, line := scalar(st.Histogram[0])
	last, _ := scalar(st.Histogram[len(st.Histogram)-1])
	if line == noLine || !(last > first) || math.IsInf(last-first, 0) {
		return 0, false
	}
	width := distance(b, line) - distance(a, line)
	return min(max(width/(last-first), 1/max(p.tableRows(r.table), 1)), 1), true
}

// apart takes the bound of a comparison with a column apart: the expression that it is
// made of, and the call that adds a constant to it or subtracts one, nil if there is none.
func apart(cond plan.Expr) (base plan.Expr, by *plan.Call) {
	c, ok := cond.(*plan.Call)
	if !ok || len(c.Args) != 2 {
		return cond, nil
	}
	x := c.Args[1]
	if _, ok := bareVar(c.Args[0]); !ok {
		x = c.Args[0]
	}
	call, ok := x.(*plan.Call)
	if !ok || len(call.Args) != 2 || call.Op != "+" && call.Op != "-" {
		return x, nil
	}
	if k, ok := call.Args[1].(*plan.Const); !ok || k.Val.Null {
		return x, nil
	}
	return call.Args[0], call
}

// distance is what the call adds, on a line.
func distance(call *plan.Call, l line) float64 {
	if call == nil {
		return 0
	}
	const day = 86400e6
	k := call.Args[1].(*plan.Const).Val
	d, on := scalar(k)
	switch {
	case k.T.Kind() == types.KInterval:
		d = float64(k.Iv.Months)*30*day + float64(k.Iv.Days)*day + float64(k.Iv.Micros)
	case on == numberLine && l == timeLine: // days
		d *= day
	}
	if call.Op == "-" {
		return -d
	}
	return d
}

// boundOf returns the column that a comparison bounds, from above if below is
// set; nil for other expressions.
func boundOf(e plan.Expr) (v *plan.Var, below bool) {
	c, ok := e.(*plan.Call)
	if !ok || len(c.Args) != 2 {
		return nil, false
	}
	switch c.Op {
	case "<", "<=", ">", ">=":
	default:
		return nil, false
	}
	below = c.Op[0] == '<'
	if v, ok := bareVar(c.Args[0]); ok {
		return v, below
	}
	if v, ok := bareVar(c.Args[1]); ok {
		return v, !below
	}
	return nil, false
}

// position is the share of a histogram's values that are below val, with values
// spread evenly inside of a bucket.
func position(h []types.Datum, val types.Datum) float64 {
	i := sort.Search(len(h), func(i int) bool { c, _ := order(&h[i], &val); return c >= 0 })
	switch i {
	case 0:
		return 0
	case len(h):
		return 1
	}
	return (float64(i-1) + within(h[i-1], h[i], val)) / float64(len(h)-1)
}

// order compares values of one type, or of types whose values lie on one line.
func order(a, b *types.Datum) (int, bool) {
	if k := a.T.Kind(); k == b.T.Kind() {
		if k.Rep() == types.RepInt && !a.Null && !b.Null {
			return cmp.Compare(a.I, b.I), true
		}
		return types.Compare(*a, *b), true
	}
	x, lineX := scalar(*a)
	y, lineY := scalar(*b)
	return cmp.Compare(x, y), lineX != noLine && lineX == lineY
}

func isText(t types.T) bool { return t.Kind() == types.KText }

// within is the share of the way from lo to hi at which val lies, the middle
// where distances are not known.
func within(lo, hi, val types.Datum) float64 {
	if isText(lo.T) && isText(val.T) {
		return withinBytes(lo.B, hi.B, val.B)
	}
	a, _ := scalar(lo)
	b, _ := scalar(hi)
	x, line := scalar(val)
	if line == noLine || !(b > a) || math.IsInf(b-a, 0) {
		return 0.5
	}
	return min(max((x-a)/(b-a), 0), 1)
}

// withinBytes reads what follows the common prefix as digits.
func withinBytes(lo, hi, val []byte) float64 {
	n := 0
	for n < len(lo) && n < len(hi) && n < len(val) && lo[n] == hi[n] && lo[n] == val[n] {
		n++
	}
	digits := func(b []byte) (f float64) {
		for i := min(len(b), n+6) - 1; i >= n; i-- {
			f = (f + float64(b[i])) / 256
		}
		return f
	}
	a, b := digits(lo), digits(hi)
	if !(b > a) {
		return 0.5
	}
	return min(max((digits(val)-a)/(b-a), 0), 1)
}

// line tells which values can be compared as numbers.
type line uint8

const (
	noLine line = iota
	numberLine
	timeLine // microseconds
	clockLine
)

// scalar maps values of types that lie on a line to a number.
func scalar(d types.Datum) (float64, line) {
	switch d.T.Kind() {
	case types.KInt2, types.KInt4, types.KInt8, types.KOid, types.KMoney:
		return float64(d.I), numberLine
	case types.KFloat4, types.KFloat8:
		return d.F, lineOf(d.F)
	case types.KNumeric:
		f := d.Dec.ToFloat()
		return f, lineOf(f)
	case types.KDate:
		return float64(d.I) * 86400e6, timeLine
	case types.KTimestamp, types.KTimestamptz:
		return float64(d.I), timeLine
	case types.KTime:
		return float64(d.I), clockLine
	}
	return 0, noLine
}

func lineOf(f float64) line {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return noLine
	}
	return numberLine
}
