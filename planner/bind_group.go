package planner

import (
	"maps"
	"slices"
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// groupBy binds GROUP BY into keys and, for ROLLUP, CUBE and GROUPING SETS,
// into the list of sets.
func (p *planner) groupBy(s *ast.Select, b *binder, bl *block) {
	if len(s.GroupBy) == 0 {
		return
	}
	special := slices.ContainsFunc(s.GroupBy, func(g ast.GroupItem) bool { return g.Kind != "" })
	index := map[string]int{}
	key := func(x ast.Expr) int {
		e, t := p.groupKey(x, b, bl)
		e = p.record(x, e)
		p.needEquality(e, startOf(x))
		k := exprKey(e)
		if t < 0 && special {
			t = slices.IndexFunc(bl.targets[:bl.ncols], func(o target) bool { return exprKey(o.x) == k })
		}
		if t >= 0 && special {
			// two output columns are two keys, also if they compute the same: a set
			// may have one and not the other
			k = "output " + strconv.Itoa(t)
		}
		if i, ok := index[k]; ok {
			return i
		}
		if same := exprKey(e); p.rec != nil && special && slices.ContainsFunc(bl.keys, func(o plan.Expr) bool { return exprKey(o) == same }) {
			// written down, both would be the first one
			unsupported(startOf(x), "the text of a query with grouping sets of equal expressions")
		}
		bl.keys = append(bl.keys, e)
		index[k] = len(bl.keys) - 1
		if t >= 0 && special {
			if bl.ownKeys == nil {
				bl.ownKeys = map[int]int{}
			}
			bl.ownKeys[t] = index[k]
		}
		return index[k]
	}
	keysOf := func(x ast.Expr) []int {
		if r, ok := x.(*ast.Row); ok && !r.Explicit {
			var out []int
			for _, e := range r.Elems {
				out = append(out, key(e))
			}
			return out
		}
		return []int{key(x)}
	}
	var expand func(g *ast.GroupItem) [][]int
	expand = func(g *ast.GroupItem) [][]int {
		switch g.Kind {
		case "":
			return [][]int{keysOf(g.Exprs[0])}
		case "EMPTY":
			return [][]int{{}}
		case "SETS":
			var out [][]int
			for i := range g.Sets {
				out = append(out, expand(&g.Sets[i])...)
			}
			return out
		}
		var parts [][]int
		for _, x := range g.Exprs {
			parts = append(parts, keysOf(x))
		}
		for i := range g.Sets {
			parts = append(parts, expand(&g.Sets[i])...)
		}
		var out [][]int
		if g.Kind == "ROLLUP" {
			for n := len(parts); n >= 0; n-- {
				set := []int{}
				for _, q := range parts[:n] {
					set = append(set, q...)
				}
				out = append(out, set)
			}
			return out
		}
		if len(parts) > 12 {
			failf(sqlerr.TooManyColumns, g.Pos(), "CUBE is limited to 12 elements")
		}
		for m := 1<<len(parts) - 1; m >= 0; m-- {
			set := []int{}
			for i, q := range parts {
				if m&(1<<(len(parts)-1-i)) != 0 {
					set = append(set, q...)
				}
			}
			out = append(out, set)
		}
		return out
	}
	sets := [][]int{{}}
	for i := range s.GroupBy {
		var next [][]int
		alts := expand(&s.GroupBy[i])
		for _, a := range sets {
			for _, c := range alts {
				next = append(next, append(append([]int{}, a...), c...))
			}
		}
		sets = next
		if len(sets) > 4096 {
			failf(sqlerr.StatementTooComplex, s.GroupBy[i].Pos(), "too many grouping sets present (maximum 4096)")
		}
	}
	if s.GroupDist && special {
		sets = distinctSets(sets)
	}
	if special {
		bl.sets = sets
	}
}

func distinctSets(sets [][]int) [][]int {
	seen := map[string]bool{}
	var out [][]int
	for _, s := range sets {
		in := map[int]bool{}
		for _, k := range s {
			in[k] = true
		}
		key := ""
		for _, k := range slices.Sorted(maps.Keys(in)) {
			key += strconv.Itoa(k) + ","
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// groupKey binds one grouping expression: an input column, else an output
// name, a position, or an expression. It tells which output column was named, -1
// for none.
func (p *planner) groupKey(x ast.Expr, b *binder, bl *block) (plan.Expr, int) {
	if c, ok := x.(*ast.Const); ok {
		at := listPosition(c, bl.ncols, "GROUP BY")
		return p.targetKey(at, bl), at
	}
	if c, ok := x.(*ast.ColumnRef); ok && len(c.Parts) == 1 && !c.Star && !localColumn(b.scope, c.Parts[0]) {
		hit := -1
		for i := 0; i < bl.ncols; i++ {
			if bl.targets[i].name == c.Parts[0] {
				if hit >= 0 && exprKey(bl.targets[hit].x) != exprKey(bl.targets[i].x) {
					failf(sqlerr.AmbiguousColumn, x.Pos(), "GROUP BY \"%s\" is ambiguous", c.Parts[0])
				}
				if hit < 0 {
					hit = i
				}
			}
		}
		if hit >= 0 {
			return p.targetKey(hit, bl), hit
		}
	}
	return p.known(b.expr(x)), -1
}

// targetKey is an output column as a grouping expression. One that waits for a type
// waits no longer.
func (p *planner) targetKey(i int, bl *block) plan.Expr {
	p.noAggIn(bl.targets[i].x, bl)
	bl.targets[i].x = p.known(bl.targets[i].x)
	return bl.targets[i].x
}

// noAggIn refuses aggregates and window functions in a grouping expression.
func (p *planner) noAggIn(x plan.Expr, bl *block) {
	plan.Visit(x, func(e plan.Expr) bool {
		if s, ok := e.(*subquery); ok {
			mapQuery(s.q, func(y plan.Expr) plan.Expr {
				if a, ok := y.(*aggRef); ok && a.owner == bl {
					failf(sqlerr.GroupingError, a.Off, "aggregate functions are not allowed in GROUP BY")
				}
				return y
			})
		}
		if a, ok := e.(*aggRef); ok && (a.owner == bl || a.win != nil) {
			if a.win != nil {
				failf(sqlerr.WindowingError, a.Off, "window functions are not allowed in GROUP BY")
			}
			failf(sqlerr.GroupingError, a.Off, "aggregate functions are not allowed in GROUP BY")
		}
		return true
	})
}

// group turns the block's targets and HAVING into expressions over the
// grouping's output, and refuses columns that are not grouped (42803).
func (p *planner) group(bl *block) {
	bl.grpRel = p.newRel()
	keys := map[string]int{}
	for i, k := range bl.keys {
		if _, ok := keys[exprKey(k)]; !ok {
			keys[exprKey(k)] = i
		}
	}
	written := len(bl.keys)
	g := &grouper{planner: p, bl: bl, keys: keys, written: written, aggs: map[string]int{}}
	for i := range bl.targets {
		x := bl.targets[i].x
		if k, ok := bl.ownKeys[i]; ok {
			bl.targets[i].x = g.keyVar(k, x.Pos())
			continue
		}
		if isLiteral(x) && bl.sets != nil {
			if k, ok := keys[exprKey(p.known(x))]; ok {
				bl.targets[i].x = g.keyVar(k, x.Pos()) // NULL where the set does not have it
				continue
			}
		}
		bl.targets[i].x = g.replace(x)
	}
	for i := range bl.having {
		bl.having[i] = g.replace(bl.having[i])
	}
	for _, r := range bl.rels {
		if r.query != nil && r.query.work && len(bl.aggs) > 0 {
			failf(sqlerr.InvalidRecursion, bl.aggs[0].Off, "aggregate functions are not allowed in a recursive query's recursive term")
		}
	}
	// keys found by functional dependency come last: aggregates move behind them
	n := len(bl.keys)
	fix := func(x plan.Expr) plan.Expr {
		if v, ok := x.(*plan.Var); ok && v.Rel == bl.grpRel && v.Col >= aggBase {
			c := *v
			c.Col = n + v.Col - aggBase
			return &c
		}
		return x
	}
	fixDeep := func(e plan.Expr) plan.Expr {
		return plan.Map(e, func(x plan.Expr) plan.Expr {
			if s, ok := x.(*subquery); ok {
				mapQuery(s.q, fix)
			}
			return fix(x)
		})
	}
	for i := range bl.targets {
		bl.targets[i].x = fixDeep(bl.targets[i].x)
	}
	for i := range bl.having {
		bl.having[i] = fixDeep(bl.having[i])
	}
}

func isLiteral(x plan.Expr) bool { _, ok := x.(*plan.Const); return ok }

// aggBase numbers aggregates while the number of keys is open.
const aggBase = 1 << 20

type grouper struct {
	*planner
	bl      *block
	keys    map[string]int
	written int
	aggs    map[string]int
	inSub   bool
	row     *plan.RowCtor // whose columns are looked at: a whole row
	direct  bool          // in the direct arguments of an aggregate
}

func (g *grouper) keyVar(i int, off int) plan.Expr {
	k := g.bl.keys[i]
	name := ""
	if v, ok := k.(*plan.Var); ok {
		name = v.Name
	}
	return &plan.Var{At: plan.At{T: k.Type(), Off: off}, Rel: g.bl.grpRel, Col: i, Name: name}
}

func (g *grouper) replace(e plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	switch x := e.(type) {
	case *plan.Const, *plan.Param:
		return e
	case *aggRef:
		switch {
		case x.win != nil:
		case x.owner != g.bl:
			return e // an enclosing block's
		default:
			return g.agg(x)
		}
	case *groupingRef:
		if x.owner != g.bl {
			return e // an enclosing block's
		}
		return g.grouping(x)
	}
	if i, ok := g.keys[exprKey(e)]; ok {
		return g.keyVar(i, e.Pos())
	}
	switch x := e.(type) {
	case *subquery:
		if i, ok := g.keys[exprKey(negate(x, x.Off))]; ok && x.not {
			return negate(g.keyVar(i, x.Off), x.Off)
		}
		return g.inside(x)
	case *plan.Var:
		if g.bl.rels[x.Rel] == nil {
			return e // an enclosing block's
		}
		return g.column(x)
	case *plan.And:
		if x.Row != nil {
			if i, ok := g.keys[exprKey(x.Row)]; ok {
				return &plan.Is{At: x.At, X: g.keyVar(i, x.Off), Test: plan.IsNull, Not: x.Args[0].(*plan.Is).Not}
			}
		}
	case *plan.RowCtor:
		if x.Was != nil {
			if i, ok := g.keys[exprKey(x.Was)]; ok {
				return &plan.Relabel{At: x.At, X: g.keyVar(i, x.Off), Cast: plan.CastImplicit}
			}
		}
		if x.Names != nil && g.row == nil {
			g.row = x
			defer func() { g.row = nil }()
		}
	}
	return plan.MapChildren(e, g.replace)
}

// inside replaces what a subquery that is no key itself reads of the grouped block.
func (g *grouper) inside(x *subquery) plan.Expr {
	s := *x
	s.x = make([]plan.Expr, len(x.x))
	for i := range x.x {
		s.x[i] = g.replace(x.x[i])
	}
	g.inSub = true
	mapQuery(x.q, func(y plan.Expr) plan.Expr {
		switch a := y.(type) {
		case *aggRef:
			if a.win == nil && a.owner == g.bl {
				return g.agg(a)
			}
		case *groupingRef:
			if a.owner == g.bl {
				return g.grouping(a)
			}
		}
		return y
	})
	mapQuery(x.q, func(y plan.Expr) plan.Expr {
		if v, ok := y.(*plan.Var); ok && g.bl.rels[v.Rel] != nil {
			return g.column(v)
		}
		return y
	})
	g.inSub = false
	return &s
}

// column is a bare column outside an aggregate: grouped, or determined by a
// grouped primary key.
func (g *grouper) column(v *plan.Var) plan.Expr {
	if i, ok := g.keys[exprKey(v)]; ok {
		return g.keyVar(i, v.Off)
	}
	r := g.bl.rels[v.Rel]
	if r.table != nil && len(r.table.PK) > 0 {
		all := true
		for _, c := range r.table.PK {
			i, ok := g.keys[exprKey(&plan.Var{Rel: v.Rel, Col: c})]
			all = all && ok && i < g.written
			for _, s := range g.bl.sets {
				all = all && slices.Contains(s, i)
			}
		}
		if all {
			g.determines(r.table)
			g.bl.keys = append(g.bl.keys, v)
			g.keys[exprKey(v)] = len(g.bl.keys) - 1
			for i, s := range g.bl.sets {
				g.bl.sets[i] = append(slices.Clone(s), len(g.bl.keys)-1)
			}
			return g.keyVar(len(g.bl.keys)-1, v.Off)
		}
	}
	name, off := v.Name, v.Off
	if g.row != nil {
		name, off = "*", g.row.Off
	}
	if g.inSub {
		failf(sqlerr.GroupingError, off, "subquery uses ungrouped column \"%s.%s\" from outer query", r.alias, name)
	}
	err := sqlerr.New(sqlerr.GroupingError, "column \"%s.%s\" must appear in the GROUP BY clause or be used in an aggregate function", r.alias, name).At(off)
	if g.direct {
		err.WithDetail("Direct arguments of an ordered-set aggregate must use only grouped columns.")
	}
	fail(err)
	return nil
}

// determines notes that the query is only right with the table's primary key. What views
// need that it reads is theirs.
func (g *grouper) determines(t *catalog.Table) {
	for _, u := range t.Uniques {
		if u.Primary && len(g.expanding) == 0 {
			g.called = append(g.called, u.OID)
		}
	}
}

func (g *grouper) agg(a *aggRef) plan.Expr {
	if a.agg.PerGroup {
		g.direct = true
		for _, x := range a.agg.Args[:a.agg.Direct] {
			if g.subqueryReads(x) {
				unsupported(x.Pos(), "a subquery that reads columns, in a direct argument of an ordered-set aggregate,")
			}
			g.replace(x)
		}
		g.direct = false
	}
	key := ""
	if a.agg.Filter == nil && a.agg.OrderBy == nil && !a.agg.Distinct && !slices.ContainsFunc(a.agg.Args, volatileWithin) {
		key = strconv.Itoa(int(a.agg.Proc.OID)) + ":"
		for _, x := range a.agg.Args {
			key += exprKey(x) + ","
		}
		if i, ok := g.aggs[key]; ok {
			return &plan.Var{At: a.At, Rel: g.bl.grpRel, Col: aggBase + i, Name: a.agg.Proc.Name}
		}
	}
	g.bl.aggs = append(g.bl.aggs, a.agg)
	i := len(g.bl.aggs) - 1
	if key != "" {
		g.aggs[key] = i
	}
	return &plan.Var{At: a.At, Rel: g.bl.grpRel, Col: aggBase + i, Name: a.agg.Proc.Name}
}

// subqueryReads reports whether an expression has a subquery that reads columns of the block.
func (g *grouper) subqueryReads(e plan.Expr) bool {
	found := false
	plan.Visit(e, func(x plan.Expr) bool {
		if q, ok := x.(*subquery); ok {
			found = found || !g.bl.own(relsOf(q)).empty()
		}
		return !found
	})
	return found
}

// grouping computes GROUPING(…) from the mask column, whose bit i says that
// key i is not part of the row's set.
func (g *grouper) grouping(x *groupingRef) plan.Expr {
	if len(x.args) > 31 {
		failf(sqlerr.TooManyArguments, x.Off, "GROUPING must have fewer than 32 arguments")
	}
	var sum plan.Expr = constInt4(0)
	mask := &plan.Var{At: plan.At{T: types.TInt4, Off: -1}, Rel: g.bl.grpRel, Col: maskCol, Name: "grouping"}
	for i, a := range x.args {
		k, ok := g.keys[exprKey(a)]
		if !ok {
			failf(sqlerr.GroupingError, a.Pos(), "arguments to GROUPING must be grouping expressions of the associated query level")
		}
		if g.bl.sets == nil {
			continue
		}
		bit := g.operator("", "&", g.operator("", ">>", mask, constInt4(int64(k)), x.Off), constInt4(1), x.Off)
		sum = g.operator("", "+", sum, g.operator("", "<<", bit, constInt4(int64(len(x.args)-1-i)), x.Off), x.Off)
	}
	return sum
}

// maskCol is the column number of the grouping mask until the output is laid out.
const maskCol = 1 << 19

// windowsOf collects the window functions of the targets.
func (p *planner) windowsOf(q *query) {
	bl := q.block
	for i := range bl.targets {
		bl.targets[i].x = plan.Map(bl.targets[i].x, func(x plan.Expr) plan.Expr {
			a, ok := x.(*aggRef)
			if !ok || a.win == nil {
				return x
			}
			var w *winGroup
			for _, o := range bl.wins {
				if o.key == a.win.key {
					w = o
				}
			}
			if w == nil {
				w = &winGroup{rel: p.newRel(), key: a.win.key, partition: a.win.partition, order: a.win.order, named: a.win.named}
				bl.wins = append(bl.wins, w)
			}
			w.funcs = append(w.funcs, plan.WindowFunc{Agg: a.agg, Frame: a.win.frame})
			return &plan.Var{At: a.At, Rel: w.rel, Col: len(w.funcs) - 1, Name: a.agg.Proc.Name}
		})
	}
	q.orderWindows()
}
