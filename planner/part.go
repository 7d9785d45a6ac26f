package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// A column stored by elements need not be read whole if everything that looks at
// it looks at elements that are known before its rows are. Given
//
//	CREATE TABLE t (id int PRIMARY KEY, j jsonb STORAGE elements, a int[] STORAGE elements)
//
//	SELECT j->'k' FROM t WHERE a[3] = $1   reads j's member k and a's element 3
//	SELECT j->'k', j FROM t                reads all of j
//	SELECT j->key FROM t, keys             reads all of j
//
// The expressions stay what they are: they are given a value that has these
// elements alone (plan.Part), and the answer is the same. So is that of an
// assignment, whose result lacks the same elements as its input: UPDATE writes
// those that it has (partAssigned).

// partUse is how the statement looks at a column of a range-table entry.
type partUse struct {
	whole int // number of places that look at more than elements
	keys  []plan.PartKey
	span  bool
}

// byElements reports whether a column of a table is stored by elements.
func byElements(t *catalog.Table, col int) bool {
	g := t.GroupOf(col)
	return g >= 0 && t.Groups[g].Elements
}

// findParts finds how the block looks at columns that are stored by elements.
func (p *planner) findParts(s *state) {
	mine := map[int]bool{}
	for id, r := range s.b.rels {
		if r.table != nil && r.tree == nil && slices.ContainsFunc(r.table.Groups, func(g catalog.ColumnGroup) bool { return g.Elements }) {
			mine[id] = true
		}
	}
	if len(mine) == 0 {
		return
	}
	use := func(v *plan.Var) *partUse {
		if v.Col < 0 || !mine[v.Rel] || !byElements(s.b.rels[v.Rel].table, v.Col) {
			return nil
		}
		return p.partUse(v.Rel, v.Col)
	}
	// Inner expressions come first: a column counts as whole until what is around it
	// turns out to want elements.
	mapQuery(s.q, func(e plan.Expr) plan.Expr {
		if v, ok := e.(*plan.Var); ok {
			if u := use(v); u != nil {
				u.whole++
			}
			return e
		}
		if v, keys, span := elementsOf(e); v != nil {
			if u := use(v); u != nil {
				u.whole--
				u.keys = append(u.keys, keys...)
				u.span = u.span || span
			}
		}
		return e
	})
}

func (p *planner) partUse(rel, col int) *partUse {
	if p.parts == nil {
		p.parts = map[[2]int]*partUse{}
	}
	k := [2]int{rel, col}
	if p.parts[k] == nil {
		p.parts[k] = new(partUse)
	}
	return p.parts[k]
}

// partsOf are those of the columns, of entry r, that need not be read whole.
func (p *planner) partsOf(r *rel, cols []int) []plan.Part {
	var out []plan.Part
	for _, c := range cols {
		u := p.parts[[2]int{r.id, c}]
		if u == nil || u.whole != 0 {
			continue
		}
		part := plan.Part{Col: c, Span: u.span}
		for _, k := range u.keys {
			part.Keys = append(part.Keys, plan.PartKey{X: p.place(k.X, nil), How: k.How})
		}
		out = append(out, part)
	}
	return out
}

// colOf is the column that e is, apart from its type's name.
func colOf(e plan.Expr) *plan.Var {
	for {
		switch x := e.(type) {
		case *plan.Var:
			return x
		case *plan.Relabel:
			e = x.X
		default:
			return nil
		}
	}
}

// elementFuncs are the functions of a map that look at members alone, which their
// second argument names.
var elementFuncs = map[string]plan.PartHow{
	"jsonb_object_field":      plan.PartOne,
	"jsonb_object_field_text": plan.PartOne,
	// of an object an element by number is NULL
	"jsonb_array_element":      plan.PartOne,
	"jsonb_array_element_text": plan.PartOne,
	"jsonb_extract_path":       plan.PartFirst,
	"jsonb_extract_path_text":  plan.PartFirst,
	"jsonb_exists":             plan.PartOne,
	"jsonb_exists_any":         plan.PartEach,
	"jsonb_exists_all":         plan.PartEach,
	"jsonb_contains":           plan.PartMembers,

	"hstore.fetchval":    plan.PartOne,
	"hstore.exist":       plan.PartOne,
	"hstore.isexists":    plan.PartOne,
	"hstore.defined":     plan.PartOne,
	"hstore.isdefined":   plan.PartOne,
	"hstore.exists_any":  plan.PartEach,
	"hstore.exists_all":  plan.PartEach,
	"hstore.slice":       plan.PartEach,
	"hstore.slice_array": plan.PartEach,
	"hstore.hs_contains": plan.PartMembers,
}

// editHow tells which members a function gives other values, or takes away, of the
// map that is its first argument: the second one names them.
func editHow(e *plan.Call) (how plan.PartHow, ok bool) {
	if !ours(e.Proc) || len(e.Args) < 2 {
		return 0, false
	}
	switch e.Proc.Src {
	case "jsonb_set":
		return plan.PartFirst, true
	case "hstore.hs_concat":
		return plan.PartMembers, true
	case "hstore.delete":
		switch e.Args[1].Type().Kind() {
		case types.KHstore:
			return plan.PartMembers, true
		case types.KArray:
			return plan.PartEach, true
		}
		return plan.PartOne, true
	}
	return 0, false
}

// ours reports whether a function is built in, or comes with an extension: its source
// says what it does.
func ours(p *catalog.Proc) bool { return p.Schema == "" || p.Hidden != "" }

// boundFuncs are the functions of an array that look at its bounds alone.
var boundFuncs = map[string]bool{
	"array_length": true, "array_lower": true, "array_upper": true,
	"array_cardinality": true, "array_ndims": true, "array_dims": true,
}

// elementsOf returns the column of which e looks at elements, and which; nil if e
// looks at more of it, or at no column.
func elementsOf(e plan.Expr) (v *plan.Var, keys []plan.PartKey, span bool) {
	switch e := e.(type) {
	case *plan.Is:
		if e.Test == plan.IsNull {
			return colOf(e.X), nil, false
		}
	case *plan.Subscript:
		if e.Slice || !foreseen(e.Lo[0]) {
			return nil, nil, false
		}
		return colOf(e.X), []plan.PartKey{{X: e.Lo[0]}}, false
	case *plan.Call:
		if len(e.Args) == 0 || !ours(e.Proc) {
			return nil, nil, false
		}
		if boundFuncs[e.Proc.Src] {
			return colOf(e.Args[0]), nil, true
		}
		if how, ok := elementFuncs[e.Proc.Src]; ok && len(e.Args) == 2 && foreseen(e.Args[1]) {
			return colOf(e.Args[0]), []plan.PartKey{{X: e.Args[1], How: how}}, false
		}
	}
	return nil, nil, false
}

// foreseen reports whether e has its value before there are rows.
func foreseen(e plan.Expr) bool {
	switch e := e.(type) {
	case *plan.Const, *plan.Param:
		return true
	case *plan.Relabel:
		return foreseen(e.X)
	case *plan.CoerceIO:
		return foreseen(e.X)
	case *plan.ArrayCtor:
		return !slices.ContainsFunc(e.Elems, func(x plan.Expr) bool { return !foreseen(x) })
	}
	return false
}

// assignedKeys returns the elements that x, the new value of column col of entry
// rel, gives another value; false if x is not the column's old value but for these.
// filled tells that x is not NULL.
func assignedKeys(x plan.Expr, rel, col int) (keys []plan.PartKey, filled, ok bool) {
	filled = true
	for {
		switch e := x.(type) {
		case *plan.Var:
			return keys, filled, len(keys) > 0 && e.Rel == rel && e.Col == col
		case *plan.Relabel:
			x = e.X
		case *plan.SubscriptAssign:
			if e.Slice || !foreseen(e.Lo[0]) || e.T.Kind() != types.KJSONB && len(e.Lo) > 1 {
				return nil, false, false
			}
			keys = append(keys, plan.PartKey{X: e.Lo[0]})
			x = e.X
		case *plan.Call:
			how, ok := editHow(e)
			if !ok || !foreseen(e.Args[1]) {
				return nil, false, false
			}
			keys = append(keys, plan.PartKey{X: e.Args[1], How: how})
			x, filled = e.Args[0], false
		default:
			return nil, false, false
		}
	}
}

// partAssigned finds the columns stored by elements that an UPDATE of entry r sets
// to their old values but for some elements: set and xs are what it assigns. Their
// old values, which the writer compares with, do not count as looking at them.
// Nothing else may look at the new values: no constraint, index or RETURNING.
func (p *planner) partAssigned(r *rel, set []int, xs []plan.Expr) {
	t := r.table
	if t.Cluster != nil || len(t.Checks) > 0 || t.Bound != nil || r.tree != nil {
		return
	}
	var parts []int
	keysOf := map[int][]plan.PartKey{}
	for i, c := range set {
		if slices.Contains(t.PK, c) {
			return // the row moves
		}
		if byElements(t, c) && p.Snap.BaseType(t.Columns[c].Type) == t.Columns[c].Type {
			if keys, filled, ok := assignedKeys(xs[i], r.id, c); ok && (filled || !t.Columns[c].NotNull) {
				parts = append(parts, c)
				keysOf[c] = keys
				continue
			}
		}
		if t.Columns[c].NotNull {
			return // a message might have to tell the whole row
		}
	}
	if parts == nil {
		return
	}
	looked, ok := p.lookedAt(t, func(int) bool { return true })
	if !ok {
		return
	}
	for _, c := range parts {
		if !looked[c] {
			u := p.partUse(r.id, c)
			u.whole -= 2 // in the old row, and below the assignment
			u.keys = append(u.keys, keysOf[c]...)
		}
	}
}
