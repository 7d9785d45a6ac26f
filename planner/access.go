package planner

import (
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// path is a way to read a table.
//
// Given CREATE INDEX i ON t (a, b):
//
//	WHERE a = 1 AND b > 5    range of i: Eq (1), Lo 5
//	WHERE a IN (1, 2)        two ranges of i
//	WHERE (a, b) IN (…)      a range of i for each row; see armranges.go
//	WHERE b = 5              i does not help: its first column is free
//	ORDER BY a LIMIT 10      whole i in order, ten rows
type path struct {
	index   *catalog.Index // nil: master file
	access  plan.Access
	ranges  []plan.KeyRange
	used    []plan.Expr // conjuncts that the ranges answer exactly
	byElems bool        // of an index by elements: in the order of the rows' keys, not from entries
	elems   plan.Expr   // … and the conjunct that it answers
	rows    float64     // rows that come out of the file
	cost    float64
	first   float64 // the part of the cost that comes before the first row
	only    bool    // index-only
	order   []orderCol
	reverse bool
	single  bool // at most one row
	area    *plan.Area
	tail    *plan.KeyRange // of a plain index: of the key column after that of the range
	tailAt  int            // which one that is
	heads   float64        // values of the columns before it
}

// answers reports whether the ranges answer a conjunct exactly.
func (x *path) answers(c plan.Expr) bool { return slices.Contains(x.used, c) }

// bound is what a conjunct says about one column.
type bound struct {
	col   int
	conj  plan.Expr
	kind  string // "eq", "any", "null", "not null", "lo", "hi", "like", "range"
	x     plan.Expr
	inc   bool
	exact bool       // the range answers the conjunct exactly
	rest  []colBound // of a row: the columns after the first
	op    string     // of "range": &&, @> or <@
}

// bounds are what conjuncts say about columns, in the order of the conjuncts.
type bounds []bound

func (l bounds) has(col int) bool {
	return slices.ContainsFunc(l, func(b bound) bool { return b.col == col })
}

// keep are the bounds for which f is true.
func (l bounds) keep(f func(*bound) bool) (out bounds) {
	for i := range l {
		if f(&l[i]) {
			out = append(out, l[i])
		}
	}
	return out
}

// on are the bounds on a column.
func (l bounds) on(col int) bounds { return l.keep(func(b *bound) bool { return b.col == col }) }

// find is the bound of a kind on a column, one of a row if there is one.
func (l bounds) find(col int, kind string) *bound {
	best := -1
	for i := range l {
		if l[i].col == col && l[i].kind == kind && (best < 0 || len(l[i].rest) > len(l[best].rest)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &l[best]
}

// boundsOf reads conjuncts of the form column op value, where value has no
// columns of the entry; avail lists the entries whose columns value may have.
func (p *planner) boundsOf(r *rel, conj []plan.Expr, foreign func(relSet) bool) bounds {
	return p.boundsBy(r, conj, func(x plan.Expr) bool {
		switch x.(type) {
		case *plan.Const, *plan.Param:
			return foreign(relSet{})
		}
		if volatileExpr(x) {
			return false
		}
		var in relSet
		plan.Visit(x, func(y plan.Expr) bool {
			if sub, ok := y.(*subquery); !ok || !runsOnce(sub) {
				in.addAll(relsOf(y))
			}
			return true
		})
		if in.has(r.id) {
			return false
		}
		return foreign(in)
	})
}

// boundsBy is boundsOf with values that usable chooses.
func (p *planner) boundsBy(r *rel, conj []plan.Expr, usable func(plan.Expr) bool) bounds {
	var out bounds
	add := func(col int, b bound) {
		b.col = col
		out = append(out, b)
	}
	for _, c := range conj {
		switch x := c.(type) {
		case *plan.Call:
			v, op, rt, ok := sides(r, x, usable)
			if !ok {
				continue
			}
			ct := r.colType(v)
			if rangeTest(ct, rt.Type(), op) {
				add(v.Col, bound{conj: c, kind: "range", x: rt, op: op})
				continue
			}
			if op == "" && x.Proc.Name == "starts_with" {
				op = "^@"
			}
			if op == "~" && ct.Kind() == types.KText && ct.OID != types.OBpchar {
				if text := exactText(rt, ct); text != nil {
					add(v.Col, bound{conj: c, kind: "eq", x: text})
					continue
				}
			}
			fit, exact := fits(ct, rt.Type())
			if !fit {
				if rt, exact = p.keyBound(ct, rt, op); rt == nil {
					continue
				}
			}
			switch op {
			case "=":
				add(v.Col, bound{conj: c, kind: "eq", x: rt, exact: exact})
			case "<", "<=":
				add(v.Col, bound{conj: c, kind: "hi", x: rt, inc: op == "<=", exact: exact})
			case ">", ">=":
				add(v.Col, bound{conj: c, kind: "lo", x: rt, inc: op == ">=", exact: exact})
			case "~~":
				if ct.Kind() == types.KText && ct.OID != types.OBpchar && likePrefix(rt) {
					add(v.Col, bound{conj: c, kind: "like", x: rt})
				}
			case "~", "^@":
				if ct.Kind() == types.KText && ct.OID != types.OBpchar {
					if pat := fixedPrefix(op, rt); pat != nil {
						add(v.Col, bound{conj: c, kind: "like", x: pat})
					}
				}
			}
		case *plan.Or:
			if cols, op := rowBound(r, x, usable); len(cols) > 1 {
				add(cols[0].col, cols[0].bound(c, cols[1:], op))
			}
		case *plan.InList:
			v, ok := r.column(x.X)
			if !ok || x.Not {
				continue
			}
			fit, exact := fits(r.colType(v), x.List[0].Type())
			all := fit
			for _, e := range x.List {
				all = all && usable(e)
			}
			if all {
				et := x.List[0].Type()
				if ao := p.info(et.OID).Array; ao != 0 {
					arr := &plan.ArrayCtor{At: plan.At{T: p.T(ao, -1), Off: x.Off}, Elems: x.List}
					add(v.Col, bound{conj: c, kind: "any", x: arr, exact: exact})
				}
			}
		case *plan.AnyArray:
			v, ok := r.column(x.X)
			if !ok || x.All || !usable(x.Array) || x.Proc.OID != eqProc(x.Proc) {
				continue
			}
			if fit, exact := fits(r.colType(v), p.T(p.info(x.Array.Type().OID).Elem, -1)); fit {
				add(v.Col, bound{conj: c, kind: "any", x: x.Array, exact: exact})
			}
		case *plan.Is:
			if v, ok := r.column(x.X); ok && v.Col >= 0 && x.Test == plan.IsNull && v.T.Kind() != types.KRecord {
				add(v.Col, bound{conj: c, kind: map[bool]string{false: "null", true: "not null"}[x.Not], exact: true})
			}
		case *plan.Var:
			if v, ok := r.column(x); ok {
				add(v.Col, bound{conj: c, kind: "eq", x: constBool(true), exact: true})
			}
		case *plan.Not:
			if v, ok := r.column(x.X); ok {
				add(v.Col, bound{conj: c, kind: "eq", x: constBool(false), exact: true})
			}
		}
	}
	return out
}

// eqProc returns the OID of pr if it implements an operator named "=".
func eqProc(pr *catalog.Proc) types.OID {
	for _, o := range catalog.OperatorsByName("=") {
		if o.Proc == pr.OID {
			return pr.OID
		}
	}
	return 0
}

// fits tells whether a bound of type b can be used on a key of type c, and
// whether the key's order answers the comparison exactly.
func fits(c, b types.T) (fit, exact bool) {
	ck, bk := c.Kind(), b.Kind()
	isInt := func(k types.Kind) bool { return k == types.KInt2 || k == types.KInt4 || k == types.KInt8 }
	switch {
	case isInt(ck) && isInt(bk):
		return true, true
	case ck != bk:
		return false, false
	case ck == types.KText:
		return (c.OID == types.OBpchar) == (b.OID == types.OBpchar), true
	case ck == types.KEnum, ck == types.KInet, ck == types.KMacaddr, ck == types.KTimetz, ck == types.KBit, ck == types.KArray,
		ck == types.KRange, ck == types.KMultirange, ck == types.KJSONB, ck == types.KWord:
		return c.OID == b.OID, true
	case ck == types.KOid, ck == types.KBool, ck == types.KFloat8, ck == types.KBytea, ck == types.KDate, ck == types.KTime,
		ck == types.KTimestamp, ck == types.KTimestamptz, ck == types.KUUID, ck == types.KCitext, ck == types.KHstore, ck == types.KInterval, ck == types.KNumeric, ck == types.KFloat4, ck == types.KMoney:
		return true, true
	}
	return false, false
}

// keyBound makes a bound for a key of type c of a value of another type that it is
// compared with, which lies on the same line; nil where there is none. Sessions'
// times are not in the order of instants where clocks are put back: a timestamp says
// nothing of keys that are instants only where the key is the instant.
//
//	date < timestamp   below the first day that does not begin before it
//	date = timestamp   the day it is in, and equal to it
func (p *planner) keyBound(c types.T, x plan.Expr, op string) (b plan.Expr, exact bool) {
	ck, xk := c.Kind(), x.Type().Kind()
	wider := false // keys are all among the values that x can have
	switch {
	case ck == types.KDate && (xk == types.KTimestamp || xk == types.KTimestamptz), ck == types.KFloat4 && xk == types.KFloat8:
		wider = true
	case ck == types.KTimestamp && xk == types.KDate, ck == types.KTimestamptz && (xk == types.KDate || xk == types.KTimestamp):
	case ck == types.KFloat8 && xk == types.KFloat4:
	default:
		return nil, false
	}
	k := &plan.KeyBound{At: plan.At{T: c, Off: x.Pos()}, X: x, Up: op == "<" || op == ">="}
	zoned := ck == types.KTimestamptz || xk == types.KTimestamptz
	if v, ok := x.(*plan.Const); ok && !zoned && p.Consts != nil {
		if d, err := p.Consts.EvalConst(&plan.KeyBound{At: k.At, X: v, Up: k.Up}); err == nil {
			return &plan.Const{At: k.At, Val: d}, op != "=" || !wider
		}
	}
	return k, op != "=" || !wider
}

func volatileExpr(e plan.Expr) bool {
	v := false
	plan.Visit(e, func(x plan.Expr) bool {
		switch c := x.(type) {
		case *plan.Call:
			v = v || c.Proc.Volatile == 'v'
		case *subquery:
			v = v || !runsOnce(c)
		}
		return !v
	})
	return v
}

// volatileWithin is volatileCall that looks into subqueries as well.
func volatileWithin(e plan.Expr) bool {
	v := volatileCall(e)
	plan.Visit(e, func(x plan.Expr) bool {
		if s, ok := x.(*subquery); ok {
			v = v || queryVolatile(s.q)
		}
		return !v
	})
	return v
}

// runsOnce reports whether a subquery has one value for all rows: a key may be looked
// for by it. Others may be correlated with the row itself.
func runsOnce(s *subquery) bool {
	return (s.kind == plan.SubScalar || s.kind == plan.SubArray) && len(s.x) == 0 && !correlated(s.q) && !queryVolatile(s.q)
}

// readable reports whether the index has an entry of each row that the statement may see.
func (p *planner) readable(ix *catalog.Index) bool {
	if ix.Invalid {
		return false
	}
	if p.Behind != nil && p.Behind(ix) {
		p.passes = true
		return false
	}
	return true
}

// paths lists the ways to read a base table under its conjuncts. need are the columns
// that are read, out those that are wanted whether or not the conjuncts are tested.
func (p *planner) paths(r *rel, conj []plan.Expr, need, out map[int]bool) []path {
	if r.cursor != "" {
		return []path{{access: plan.CurrentRow, rows: 1, cost: costStart}}
	}
	t := r.table
	p.loadExprs(r)
	rows := p.tableRows(t)
	list := []path{{access: plan.FullScan, rows: rows, cost: costStart + rows, order: masterOrder(r)}}
	if p.NoOptimizer {
		return list
	}
	if t.Cluster != nil {
		pairs := p.ownCost(t)
		list[0].cost, list[0].order = costStart+pairs, nil
		if a := p.areaOf(r, conj); a != nil {
			part := p.areaPart(a)
			list = append(list, path{access: plan.Regions, area: a, rows: max(1, rows*part), cost: 4*costStart + pairs*part})
		}
	}
	known := p.boundsOf(r, conj, relSet.empty)
	ors := p.orsOf(r, conj, known)
	if t.KeyIsRowKey() {
		keys := make([]catalog.IndexKey, len(t.PK))
		for i, c := range t.PK {
			keys[i] = catalog.IndexKey{Col: c, Type: t.Columns[c].Type}
		}
		x := p.match(r, nil, keys, true, known, rows)
		for _, x := range append(p.matchArms(r, nil, keys, true, ors, rows), x) {
			if x == nil {
				continue
			}
			x.order = masterOrder(r)
			if x.access == plan.UniqueGet {
				x.access = plan.PointGet
			} else {
				x.access = plan.RangeScan
			}
			x.cost = costStart*float64(len(x.ranges)) + x.rows
			list = append(list, *x)
		}
	}
	if x := p.ctidPath(r, known, rows); x != nil {
		list = append(list, *x)
	}
	for _, ix := range t.Indexes {
		if ix.Primary && t.KeyIsRowKey() || !p.readable(ix) {
			continue
		}
		if ix.ByElements(t) {
			if ix.Where != "" {
				continue
			}
			list = append(list, p.elementPaths(r, ix, conj, rows, out)...)
			continue
		}
		same, share, ok := p.holdsAll(r, r.parts[ix].preds, conj)
		if !ok {
			continue
		}
		read := need
		if len(same) > 0 {
			read = withTested(r, conj, same, out)
		}
		only := p.covers(t, ix, read)
		entry := costEntry
		if ix.Kind == catalog.KindInverted || ix.Kind == catalog.KindGin {
			entry = costPosting
		}
		of := known
		if ix.Kind == catalog.KindHash {
			of = known.equalities()
		}
		unique := ix.Unique && !t.Deferrable(ix)
		found := []*path{p.match(r, ix, ix.Keys, unique, of, rows)}
		if ix.Kind != catalog.KindHash {
			found = append(found, p.matchArms(r, ix, ix.Keys, unique, ors, rows)...)
		}
		for i, x := range found {
			if x == nil && ix.Kind == catalog.KindHash {
				continue
			}
			if x == nil {
				x = &path{index: ix, access: plan.IndexFull, rows: max(1, rows*share)}
			} else if x.access != plan.UniqueGet {
				x.access = plan.IndexRange
			}
			if ix.Where != "" && x.access == plan.IndexRange {
				x.rows = max(1, x.rows*share)
			}
			x.used = append(x.used, same...)
			x.index, x.only = ix, only
			per := entry
			switch {
			case only:
			case x.single:
				per += costGet
			default:
				per += p.getCost(r, ix, x.ranges) * p.entrySel(r, x, conj)
			}
			x.cost = costStart*float64(max(1, len(x.ranges))) + x.rows*per
			if x.tail != nil && entry == costEntry { // entries that are not wanted are passed over
				x.cost -= x.rows * max(0, 1-p.entrySel(r, x, conj)-max(1, x.heads)*costHead/x.rows)
			}
			if ix.Kind != catalog.KindHash {
				x.order = indexOrder(r, ix)
			}
			if i == 0 || x.cost < list[len(list)-1].cost {
				list = append(list, *x)
			}
		}
	}
	// what tests of elements cost on each row that is read
	for i := range list {
		x := &list[i]
		tests := 0.0
		for _, c := range conj {
			if !x.answers(c) && testsElements(c) {
				tests++
			}
		}
		x.cost += tests * x.rows * costElements
	}
	return list
}

// withTested are the columns out and those of the conjuncts that are tested: of a partial
// index, all but those that it holds for.
func withTested(r *rel, conj, held []plan.Expr, out map[int]bool) map[int]bool {
	need := maps.Clone(out)
	if need == nil {
		need = map[int]bool{}
	}
	for _, c := range conj {
		if slices.Contains(held, c) {
			continue
		}
		eachVar(c, func(v *plan.Var) {
			if v.Rel == r.id {
				need[v.Col] = true
			}
		})
	}
	return need
}

// equalities are the bounds that a hash index answers.
func (l bounds) equalities() bounds {
	return l.keep(func(b *bound) bool { return b.kind == "eq" || b.kind == "any" })
}

// covers reports whether an index alone has all wanted columns.
func (p *planner) covers(t *catalog.Table, ix *catalog.Index, need map[int]bool) bool {
	has := map[int]bool{plan.ColRowKey: true, plan.ColTableOID: true, plan.ColCtid: true}
	for _, k := range ix.Keys {
		if k.Col >= 0 && exactKey(t.Columns[k.Col].Type) {
			has[k.Col] = true
		}
	}
	for _, c := range t.PK {
		if exactKey(t.Columns[c].Type) {
			has[c] = true
		}
	}
	for _, c := range ix.Include {
		has[c] = true
	}
	for c := range need {
		if !has[c] {
			return false
		}
	}
	return true
}

// exactKey reports whether a value can be read back from its key.
func exactKey(t types.T) bool {
	switch t.Kind() {
	case types.KBool, types.KInt2, types.KInt4, types.KInt8, types.KOid, types.KBytea, types.KDate, types.KTime, types.KTimestamp, types.KTimestamptz, types.KUUID, types.KMoney,
		types.KEnum, types.KTimetz, types.KInet, types.KMacaddr, types.KBit, types.KWord:
		return true
	case types.KRange:
		return types.KeptByLength(t)
	case types.KNumeric:
		_, ok := types.NarrowScale(t)
		return ok
	case types.KText:
		return t.OID != types.OBpchar
	}
	return false
}

// match builds the ranges of a file whose key columns are keys.
func (p *planner) match(r *rel, ix *catalog.Index, keys []catalog.IndexKey, unique bool, known bounds, rows float64) *path {
	if len(keys) == 0 || !known.has(r.keyCol(ix, 0, keys[0])) {
		return nil
	}
	x := &path{index: ix, rows: rows}
	var kr plan.KeyRange
	take := func(b *bound) {
		if b.exact {
			x.used = append(x.used, b.conj)
		}
	}
	rels := map[int]*rel{r.id: r}
	full, ranged := true, false // ranged: several values of the last column so far
	n := 0
	for i, k := range keys {
		if ranged {
			if !keptByLength(r, ix, k.Col) {
				x.tail, x.tailAt = tailOf(k.Col, known), n
			}
			break
		}
		col := r.keyCol(ix, i, k)
		if col < 0 {
			full = false
			break
		}
		if b := known.find(col, "eq"); b != nil {
			kr.Eq = append(kr.Eq, b.x)
			take(b)
			x.rows *= p.eqSel(&plan.Var{Rel: r.id, Col: col}, b.x, rels)
			n++
			continue
		}
		full = false
		if b := known.find(col, "any"); b != nil {
			kr.EqAny = b.x
			take(b)
			share := p.selectivity(b.conj, rels)
			x.rows *= share
			x.heads = share * p.distinct(&plan.Var{Rel: r.id, Col: col}, rels, rows)
			n++
			ranged = true
			continue
		}
		if b := known.find(col, "null"); b != nil {
			kr.IsNull = true
			take(b)
			x.rows *= p.selectivity(b.conj, rels)
			n++
			break
		}
		if keptByLength(r, ix, col) {
			n += p.matchRange(&kr, x, known, col, rels)
			break
		}
		lo, hi := known.find(col, "lo"), known.find(col, "hi")
		if lo != nil || hi != nil {
			s := 1.0
			if lo != nil {
				var whole bool
				kr.LoRest, whole = lo.keyed(keys[i:])
				kr.Lo, kr.LoInc = lo.x, lo.inc || !whole
				take(lo)
				s = p.selectivity(lo.conj, rels)
			}
			if hi != nil {
				var whole bool
				kr.HiRest, whole = hi.keyed(keys[i:])
				kr.Hi, kr.HiInc = hi.x, hi.inc || !whole
				take(hi)
				h := p.selectivity(hi.conj, rels)
				if lo != nil {
					s = p.spanSel(r, col, s, h, lo.conj, hi.conj)
				} else {
					s = h
				}
			}
			x.rows *= s
			x.heads = s * p.distinct(&plan.Var{Rel: r.id, Col: col}, rels, rows)
			n++
			ranged = true
			continue
		}
		if b := known.find(col, "like"); b != nil {
			kr.Like = b.x
			x.rows *= p.prefixSel(r, col, b.x)
			n++
		} else if b := known.find(col, "not null"); b != nil {
			kr.NotNull = true
			take(b)
			x.rows *= p.selectivity(b.conj, rels)
			n++
		}
		break
	}
	if n == 0 {
		return nil
	}
	x.ranges = []plan.KeyRange{kr}
	if full && unique {
		x.access, x.rows, x.single = plan.UniqueGet, 1, true
	}
	x.rows = max(x.rows, 1)
	return x
}

// tailOf returns what is known of a key column behind one of which several values
// are read: entries with other values are passed over by their bytes alone. Given
//
//	CREATE INDEX ON place (x, y)
//	SELECT … WHERE x BETWEEN 1 AND 5 AND y BETWEEN 2 AND 3   x has the range, y the tail
//
// The filter on entries decides. nil: nothing is known.
func tailOf(col int, known bounds) *plan.KeyRange {
	if col < 0 {
		return nil
	}
	if b := known.find(col, "eq"); b != nil {
		return &plan.KeyRange{Eq: []plan.Expr{b.x}}
	}
	if b := known.find(col, "any"); b != nil {
		return &plan.KeyRange{EqAny: b.x}
	}
	lo, hi := known.find(col, "lo"), known.find(col, "hi")
	if lo == nil && hi == nil {
		return nil
	}
	var kr plan.KeyRange
	if lo != nil {
		kr.Lo, kr.LoInc = lo.x, lo.inc || lo.rest != nil
	}
	if hi != nil {
		kr.Hi, kr.HiInc = hi.x, hi.inc || hi.rest != nil
	}
	return &kr
}
