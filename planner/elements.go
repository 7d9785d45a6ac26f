package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// selElements is the part of the rows that an operator on elements is taken to
// find.
const selElements = 0.01

// elementSel is the fraction of rows of which a column has all (@>, ?&) or some (&&, ?|, ?)
// of the elements of a value, by the frequencies of its most common elements, which are
// taken to be independent of each other.
func (p *planner) elementSel(st *catalog.ColStats, op string, value plan.Expr) float64 {
	var keys []types.Datum
	val, known := p.estimate(value)
	switch {
	case !known || val.Null:
		return selElements
	case pathOp(op):
		return pathSel(st, op, val)
	case op == "?" && val.T.Kind() == types.KText:
		keys = []types.Datum{types.KeyToken(val.B)}
	case op == "=":
		keys = []types.Datum{val}
	default:
		var err error
		if keys, _, err = types.ElementKeys(val); err != nil {
			return selElements
		}
		if op == "?|" || op == "?&" {
			for i, k := range keys {
				keys[i] = types.KeyToken(k.B)
			}
		}
	}
	all, none, least := 1.0, 1.0, 1.0
	for _, k := range keys {
		share := st.ElemShare(k)
		none *= 1 - share
		if k.T.OID == types.OText && types.IsKeyToken(k.B) && val.T.Kind() != types.KArray && op == "@>" {
			least = min(least, share) // objects' keys come together, and with their values
			continue
		}
		all *= share
	}
	all = min(all, least)
	s := 1 - none
	switch op {
	case "@>", "?&":
		s = all
	case "<@":
		return selElements
	}
	return max(s*(1-st.NullFrac), 1e-6)
}

// pathSel is that fraction for a path over documents.
func pathSel(st *catalog.ColStats, op string, path types.Datum) float64 {
	groups, err := types.PathKeys(path, op == "@@")
	if err != nil {
		return selElements
	}
	s := 1.0
	for _, keys := range groups {
		none := 1.0
		for _, k := range keys {
			none *= 1 - st.ElemShare(k)
		}
		s = min(s, 1-none) // keys come together, and with their values
	}
	return max(s*(1-st.NullFrac), 1e-6)
}

// pathOp reports whether an operator applies a jsonpath to a document.
func pathOp(op string) bool { return op == "@?" || op == "@@" }

// elementPaths lists the ways to read a table through an index by elements.
//
// Given CREATE INDEX i ON t USING inverted (tags):
//
//	WHERE tags @> '{a,b}'    rows in the lists of both a and b
//	WHERE tags && '{a,b}'    rows in the list of a or of b
//	WHERE 'a' = ANY (tags)   rows in the list of a
//	WHERE tags = '{a,b}'     i does not help
//
// and of documents, given one on doc:
//
//	WHERE doc @? '$.a ? (@.b == 1)'     rows in the lists of the keys a and b, and of 1
//	WHERE doc @? '$.a ? (@ > 1)'        rows in the list of the key a
//	WHERE doc @? '$ ? (!exists(@.a))'   i does not help
//
// The conjunct stays a filter: lists say which elements a value has, not how they
// are put together.
//
// An index over several columns has lists for the elements of each; a scan reads
// those of one column.
//
// Of arrays, && and = ANY say no more than that, and @> does not either where all lists are
// read to their end: where the row's key is all that is wanted besides, as for count(*), no
// row is read. out are the columns that are wanted whether or not the conjuncts are tested.
func (p *planner) elementPaths(r *rel, ix *catalog.Index, conj []plan.Expr, rows float64, out map[int]bool) []path {
	var list []path
	for i, k := range ix.Keys {
		if k.Col >= 0 {
			list = append(list, p.elementPathsOf(r, ix, i, conj, rows, out)...)
		}
	}
	return list
}

// testsElements reports whether a conjunct takes an array or a document apart.
func testsElements(c plan.Expr) bool {
	switch x := c.(type) {
	case *plan.Call:
		if len(x.Args) == 2 && slices.Contains([]string{"@>", "<@", "&&", "?", "?|", "?&", "@?", "@@"}, x.Op) {
			switch x.Args[0].Type().Kind() {
			case types.KArray, types.KJSONB, types.KHstore:
				return true
			}
		}
	case *plan.AnyArray:
		_, ok := bareVar(x.Array)
		return ok
	}
	return false
}

// inKey reports whether the columns are all in the key of the table's rows.
func inKey(t *catalog.Table, cols map[int]bool) bool {
	for c := range cols {
		if c != plan.ColRowKey && !(t.KeyIsRowKey() && slices.Contains(t.PK, c) && exactKey(t.Columns[c].Type)) {
			return false
		}
	}
	return true
}

// listed reports whether an operator holds for just those arrays of a column that are in
// the lists of a value's elements.
func listed(col types.T, op string, x plan.Expr) bool {
	if col.Kind() != types.KArray {
		return false
	}
	switch op {
	case "&&", "=":
		return true
	case "@>": // all arrays contain an empty one
		a, ok := x.(*plan.ArrayCtor)
		return ok && !a.Nested && len(a.Elems) > 0
	}
	return false
}

// elementPathsOf lists those through the lists of one key column.
func (p *planner) elementPathsOf(r *rel, ix *catalog.Index, key int, conj []plan.Expr, rows float64, wanted map[int]bool) []path {
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
		return relsOf(e).empty() && !volatileExpr(e)
	}
	var out []path
	rels := map[int]*rel{r.id: r}
	add := func(c plan.Expr, op string, x plan.Expr) {
		found := max(1, rows*p.selectivity(c, rels))
		y := path{index: ix, access: plan.IndexRange, byElems: true, elems: c,
			ranges: []plan.KeyRange{{Elems: x, ElemOp: op, ElemKey: key}}, rows: found,
			cost: costStart + found*(costEntry+costGet)}
		if r.table.Cluster == nil {
			y.order, y.first = masterOrder(r), costStart+found*costPosting
		}
		if listed(r.colType(&plan.Var{Rel: r.id, Col: col}), op, x) {
			only := r.table.Cluster == nil && inKey(r.table, withTested(r, conj, []plan.Expr{c}, wanted))
			// that the longest of the lists has to be read may cost more than the rows
			list := costStart + found*costPosting
			if st := p.colStats(r, col); op == "@>" && st != nil && len(st.Elems) > 0 {
				list = costStart + rows*p.elementSel(st, "&&", x)*costPosting
			}
			only = only && list < y.cost
			if only || op != "@>" {
				y.used = []plan.Expr{c}
			}
			if y.ranges[0].ElemAll = only; only {
				y.cost, y.first = list, list
			}
		}
		out = append(out, y)
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
			if constant(rt) && p.elementOp(l.Type(), rt.Type(), kt, op) && !(pathOp(op) && p.anyDocument(op, rt)) {
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

// anyDocument reports whether a path is known that says nothing of what documents have.
func (p *planner) anyDocument(op string, path plan.Expr) bool {
	val, known := p.estimate(path)
	if !known || val.Null {
		return false
	}
	groups, err := types.PathKeys(val, op == "@@")
	return err != nil || len(groups) == 0
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
		case "@?", "@@":
			return val.OID == types.OJSONPath
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
