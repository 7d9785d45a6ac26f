package planner

import (
	"slices"

	"fmt"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// bindSelect binds a whole query under the scope around it.
func (p *planner) bindSelect(s *ast.Select, outer *scope) *query {
	p.depth += 20
	defer func() { p.depth -= 20 }()
	if p.depth > maxExprDepth {
		fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded"))
	}
	sc := outer
	var defs []*cteDef
	if s.With != nil {
		sc, defs = p.with(s.With, outer)
	}
	q := p.bindBody(s, sc)
	q.ctes = append(q.ctes, defs...)
	return q
}

func (p *planner) bindBody(s *ast.Select, outer *scope) *query {
	switch {
	case s.SetOp != nil:
		return p.bindSetOp(s, outer)
	case s.Values != nil:
		return p.bindValues(s, outer)
	}
	return p.bindCore(s, outer)
}

// limits binds LIMIT and OFFSET.
func (p *planner) limits(q *query, s *ast.Select, outer *scope) {
	one := func(x ast.Expr, what string) plan.Expr {
		if x == nil {
			return nil
		}
		b := &binder{planner: p, scope: &scope{parent: outer}, what: what, noAgg: true, noWin: true}
		e := b.expr(x)
		vars := map[int]bool{}
		if _, sub := e.(*subquery); !sub {
			relsOf(e, vars)
		}
		if c := p.coerce(e, types.TInt8, assignment); c != nil {
			return c
		}
		failf(sqlerr.DatatypeMismatch, x.Pos(), "argument of %s must be type bigint, not type %s", what, p.bareName(e.Type().OID))
		return nil
	}
	q.limit, q.offset, q.ties = one(s.Limit, "LIMIT"), one(s.Offset, "OFFSET"), s.WithTies
	if q.ties && len(q.sort) == 0 {
		failf(sqlerr.SyntaxError, -1, "WITH TIES cannot be specified without ORDER BY clause")
	}
}

func (p *planner) bindCore(s *ast.Select, outer *scope) *query {
	bl := &block{rels: map[int]*rel{}}
	sc := &scope{parent: outer, block: bl}
	if s.Into != nil {
		failf(sqlerr.SyntaxError, s.Into.Pos(), "SELECT ... INTO is not allowed here")
	}
	p.fromList(s.From, sc, bl)
	wins := map[string]*ast.Window{}
	for i := range s.Windows {
		w := &s.Windows[i]
		if wins[w.Name] != nil {
			failf(sqlerr.WindowingError, w.Pos(), "window \"%s\" is already defined", w.Name)
		}
		wins[w.Name] = w
	}
	wb := &binder{planner: p, scope: sc, what: "WHERE", noAgg: true, noWin: true}
	bl.where = wb.cond(s.Where)

	tb := &binder{planner: p, scope: sc, srf: true, windows: wins}
	for i := range s.Targets {
		p.target(&s.Targets[i], tb, bl)
	}
	bl.ncols = len(bl.targets)
	if bl.ncols > 1664 {
		failf(sqlerr.TooManyColumns, -1, "target lists can have at most 1664 entries")
	}
	q := &query{rel: p.newRel(), block: bl}
	// ORDER BY and GROUP BY may name output columns
	ob := &binder{planner: p, scope: sc, what: "ORDER BY", srf: true, windows: wins}
	for _, o := range s.OrderBy {
		q.sort = append(q.sort, p.orderTarget(o, s, ob, bl))
	}
	gb := &binder{planner: p, scope: sc, what: "GROUP BY", noAgg: true, noWin: true}
	p.groupBy(s, gb, bl)
	hb := &binder{planner: p, scope: sc, what: "HAVING", noWin: true}
	bl.having = hb.cond(s.Having)
	for _, x := range s.DistinctOn {
		// windows and subqueries have no key of their own: the text tells
		same := func(o ast.SortItem) bool { return ast.Format(o.X) == ast.Format(x) }
		if i := slices.IndexFunc(s.OrderBy, same); i >= 0 {
			bl.distinctOn = append(bl.distinctOn, q.sort[i].target)
			continue
		}
		t := p.orderTarget(ast.SortItem{X: x}, s, &binder{planner: p, scope: sc, what: "DISTINCT ON", srf: true, windows: wins}, bl)
		bl.distinctOn = append(bl.distinctOn, t.target)
	}
	bl.distinct = s.Distinct || len(s.DistinctOn) > 0
	if bl.distinct && len(s.DistinctOn) == 0 {
		for i, k := range q.sort {
			if k.target >= bl.ncols {
				failf(sqlerr.InvalidColumnReference, s.OrderBy[i].X.Pos(), "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
			}
		}
	}
	if len(s.DistinctOn) > 0 {
		p.checkDistinctOn(q, bl, s)
	}
	bl.hasSRF = tb.sawSRF || ob.sawSRF
	for i := range bl.targets {
		// a bare literal waits for the type that INSERT or a set operation wants
		if _, literal := bl.targets[i].x.(*plan.Const); literal && i < bl.ncols && !bl.distinct && !sortsBy(q, i) {
			continue
		}
		bl.targets[i].x = p.known(bl.targets[i].x)
	}
	bl.grouped = tb.sawAgg || ob.sawAgg || hb.sawAgg || len(s.GroupBy) > 0 || s.Having != nil
	if bl.grouped {
		p.group(bl)
	}
	p.windowsOf(bl)
	p.limits(q, s, outer)
	p.locking(s, q, bl, sc)
	for i := 0; i < bl.ncols; i++ {
		t := &bl.targets[i]
		q.cols = append(q.cols, plan.OutCol{Name: t.name, T: t.x.Type(), Table: t.tbl, AttNum: t.attnum})
	}
	return q
}

func (p *planner) checkDistinctOn(q *query, bl *block, s *ast.Select) {
	want := map[int]bool{}
	for _, t := range bl.distinctOn {
		want[t] = true
	}
	done := map[int]bool{}
	for _, k := range q.sort {
		if !want[k.target] {
			if len(done) < len(want) {
				failf(sqlerr.InvalidColumnReference, s.DistinctOn[0].Pos(), "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
			}
			break
		}
		done[k.target] = true
	}
}

// target binds an entry of the select list, expanding stars.
func (p *planner) target(t *ast.Target, b *binder, bl *block) {
	if c, ok := t.X.(*ast.ColumnRef); ok && c.Star {
		p.star(c, b.scope, bl)
		return
	}
	if f, ok := t.X.(*ast.Field); ok && f.Name == "*" {
		x := b.expr(f.X)
		cols := b.recordCols(x)
		if cols == nil {
			failf(sqlerr.WrongObjectType, f.Pos(), "type %s is not composite", p.bareName(x.Type().OID))
		}
		for i, c := range cols {
			bl.targets = append(bl.targets, target{x: &plan.FieldOf{At: plan.At{T: c.T, Off: f.Pos()}, X: x, Idx: i}, name: c.Name})
		}
		return
	}
	out := target{x: b.expr(t.X), name: t.Alias}
	if out.name == "" {
		out.name = figureName(t.X)
	}
	p.origin(&out, bl)
	bl.targets = append(bl.targets, out)
}

// origin notes the table column that a target is, for RowDescription.
func (p *planner) origin(t *target, bl *block) {
	if v, ok := t.x.(*plan.Var); ok {
		if r := bl.rels[v.Rel]; r != nil && v.Col >= 0 && v.Col < len(r.cols) {
			t.tbl, t.attnum = r.cols[v.Col].Table, r.cols[v.Col].AttNum
		}
	}
}

// star expands * and t.*.
func (p *planner) star(c *ast.ColumnRef, sc *scope, bl *block) {
	add := func(cols []nsCol) {
		for _, col := range cols {
			t := target{x: moved(col.x, c.Pos()), name: col.name}
			p.origin(&t, bl)
			bl.targets = append(bl.targets, t)
		}
	}
	if len(c.Parts) == 0 {
		any := false
		for _, it := range sc.items {
			if it.colsVisible {
				any = true
				add(it.cols)
			}
		}
		if !any {
			failf(sqlerr.SyntaxError, c.Pos(), "SELECT * with no tables specified is not valid")
		}
		return
	}
	n := len(c.Parts)
	schema := ""
	if n > 1 {
		schema = c.Parts[n-2]
	}
	it := sc.item(schema, c.Parts[n-1], c.Pos())
	if it == nil {
		b := &binder{planner: p, scope: sc}
		fail(b.noRelation(c.Parts[n-1], c.Pos()))
	}
	add(it.cols)
}

// figureName is the name of an unnamed output column (FigureColname).
func figureName(e ast.Expr) string {
	if n, _ := figure(e); n != "" {
		return n
	}
	return "?column?"
}

// figure returns a name and how sure it is: 2 certain, 1 weak.
func figure(e ast.Expr) (string, int) {
	switch e := e.(type) {
	case *ast.ColumnRef:
		if e.Star || len(e.Parts) == 0 {
			return "", 0
		}
		return e.Parts[len(e.Parts)-1], 2
	case *ast.Index:
		return figure(e.X)
	case *ast.Field:
		if e.Name != "*" {
			return e.Name, 2
		}
		return figure(e.X)
	case *ast.Call:
		return e.Name.Last(), 2
	case *ast.Cast:
		if n, s := figure(e.X); s > 1 {
			return n, s
		}
		return e.Type.Name.Last(), 1
	case *ast.Collate:
		return figure(e.X)
	case *ast.Case:
		if e.Else != nil {
			if n, s := figure(e.Else); s > 1 {
				return n, s
			}
		}
		return "case", 1
	case *ast.Special:
		switch e.Kind {
		case "COALESCE", "NULLIF", "GREATEST", "LEAST", "GROUPING", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP",
			"LOCALTIME", "LOCALTIMESTAMP", "CURRENT_USER", "CURRENT_ROLE", "USER", "SESSION_USER", "CURRENT_CATALOG", "CURRENT_SCHEMA":
			return lower(e.Kind), 2
		}
	case *ast.Exists:
		return "exists", 2
	case *ast.Subquery:
		if e.Array {
			return "array", 2
		}
		if len(e.Query.Targets) > 0 {
			t := e.Query.Targets[0]
			if t.Alias != "" {
				return t.Alias, 2
			}
			if n, s := figure(t.X); s > 0 {
				return n, 2
			}
			return "?column?", 2
		}
		if e.Query.Values != nil {
			return "column1", 2
		}
	case *ast.Array:
		return "array", 2
	case *ast.Row:
		return "row", 2
	}
	return "", 0
}

func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 32
		}
	}
	return string(b)
}

// orderTarget finds or adds the target that an ORDER BY entry sorts by: an
// output name, a position, or an expression.
func (p *planner) orderTarget(o ast.SortItem, s *ast.Select, b *binder, bl *block) sortKey {
	k := sortKey{desc: o.Desc, nullsFirst: o.Desc}
	if o.Using != "" {
		switch o.Using {
		case "<":
		case ">":
			k.desc, k.nullsFirst = true, true
		default:
			failf(sqlerr.WrongObjectType, o.X.Pos(), "operator %s is not a valid ordering operator", o.Using)
		}
	}
	if o.NullsFirst != nil {
		k.nullsFirst = *o.NullsFirst
	}
	k.target = p.outputTarget(o.X, b, bl, false)
	return k
}

// outputTarget returns the index of the target that x names or equals. For
// GROUP BY (inputFirst) an input column wins over an output name.
func (p *planner) outputTarget(x ast.Expr, b *binder, bl *block, inputFirst bool) int {
	n := len(bl.targets)
	if bl.ncols > 0 || n > 0 {
		n = max(bl.ncols, 0)
		if n == 0 {
			n = len(bl.targets)
		}
	}
	if c, ok := x.(*ast.ColumnRef); ok && len(c.Parts) == 1 && !c.Star {
		name := c.Parts[0]
		if !(inputFirst && localColumn(b.scope, name)) {
			hit := -1
			for i := 0; i < n; i++ {
				if bl.targets[i].name == name {
					if hit >= 0 && exprKey(bl.targets[hit].x) != exprKey(bl.targets[i].x) {
						failf(sqlerr.AmbiguousColumn, x.Pos(), "%s \"%s\" is ambiguous", b.what, name)
					}
					if hit < 0 {
						hit = i
					}
				}
			}
			if hit >= 0 {
				return hit
			}
		}
	}
	if c, ok := x.(*ast.Const); ok {
		if c.Kind != ast.ConstInt {
			failf(sqlerr.SyntaxError, x.Pos(), "non-integer constant in %s", b.what)
		}
		v, err := strconv.Atoi(c.Val)
		if err != nil || v < 1 || v > n {
			failf(sqlerr.InvalidColumnReference, x.Pos(), "%s position %s is not in select list", b.what, c.Val)
		}
		return v - 1
	}
	e := p.known(b.expr(x))
	key := exprKey(e)
	for i := range bl.targets {
		if exprKey(bl.targets[i].x) == key {
			return i
		}
	}
	bl.targets = append(bl.targets, target{x: e, name: "?column?"})
	return len(bl.targets) - 1
}

// localColumn reports whether the innermost scope has the column.
func localColumn(sc *scope, name string) bool {
	for _, it := range sc.items {
		if it.colsVisible {
			for _, c := range it.cols {
				if c.name == name {
					return true
				}
			}
		}
	}
	return false
}

// locking binds FOR UPDATE and its relatives.
func (p *planner) locking(s *ast.Select, q *query, bl *block, sc *scope) {
	for _, l := range s.Locking {
		what := "FOR " + l.Strength
		bad := ""
		switch {
		case bl.grouped && len(bl.keys) > 0:
			bad = "GROUP BY clause"
		case bl.grouped:
			bad = "aggregate functions"
		case bl.distinct:
			bad = "DISTINCT clause"
		case len(bl.wins) > 0:
			bad = "window functions"
		case bl.hasSRF:
			bad = "set-returning functions in the target list"
		}
		if bad != "" {
			failf(sqlerr.FeatureNotSupported, l.Pos(), "%s is not allowed with %s", what, bad)
		}
		c := lockClause{strength: l.Strength, noWait: l.NoWait, skipLocked: l.SkipLocked, rels: map[int]bool{}}
		lock := func(r *rel) {
			if r.table != nil {
				r.needKey = true
				c.rels[r.id] = true
				for i := range p.uses {
					if p.uses[i].Table == r.table {
						p.uses[i].Lock = true
					}
				}
			}
		}
		if len(l.Of) == 0 {
			for _, r := range bl.rels {
				lock(r)
			}
		}
		for _, n := range l.Of {
			it := sc.item("", n.Last(), n.Pos())
			if it == nil || it.rel == nil {
				failf(sqlerr.UndefinedTable, n.Pos(), "relation \"%s\" in %s clause not found in FROM clause", n.Last(), what)
			}
			lock(it.rel)
		}
		p.writes = true
		q.locks = append(q.locks, c)
	}
}

func (p *planner) bindValues(s *ast.Select, outer *scope) *query {
	bl := &block{rels: map[int]*rel{}}
	b := &binder{planner: p, scope: &scope{parent: outer}, what: "VALUES", noAgg: true, noWin: true, srf: false}
	width := len(s.Values[0])
	cols := make([][]plan.Expr, width)
	for _, row := range s.Values {
		if len(row) != width {
			failf(sqlerr.SyntaxError, row[0].Pos(), "VALUES lists must all be the same length")
		}
		for i, x := range row {
			cols[i] = append(cols[i], b.expr(x))
		}
	}
	q := &query{rel: p.newRel(), block: bl}
	vrel := &rel{id: p.newRel(), alias: "*VALUES*"}
	for i := range cols {
		xs, t := p.toCommon("VALUES", cols[i])
		cols[i] = xs
		for _, x := range xs {
			if x.Type().Mod != t.Mod {
				t.Mod = -1
			}
		}
		vrel.cols = append(vrel.cols, plan.OutCol{Name: fmt.Sprintf("column%d", i+1), T: t})
	}
	bl.values = make([][]plan.Expr, len(s.Values))
	for r := range s.Values {
		row := make([]plan.Expr, width)
		for i := range row {
			row[i] = cols[i][r]
		}
		bl.values[r] = row
	}
	bl.rels[vrel.id] = vrel
	bl.from = []*joinItem{{rel: vrel}}
	sc := &scope{parent: outer, block: bl, items: []*nsItem{p.relNames(vrel, nil, -1)}}
	for _, c := range sc.items[0].cols {
		bl.targets = append(bl.targets, target{x: c.x, name: c.name})
	}
	bl.ncols = len(bl.targets)
	ob := &binder{planner: p, scope: sc, what: "ORDER BY", noAgg: true, noWin: true}
	for _, o := range s.OrderBy {
		q.sort = append(q.sort, p.orderTarget(o, s, ob, bl))
	}
	p.limits(q, s, outer)
	for i := 0; i < bl.ncols; i++ {
		q.cols = append(q.cols, plan.OutCol{Name: bl.targets[i].name, T: bl.targets[i].x.Type()})
	}
	return q
}

func (p *planner) bindSetOp(s *ast.Select, outer *scope) *query {
	l := p.bindSelect(s.SetOp.L, outer)
	r := p.bindSelect(s.SetOp.R, outer)
	name := s.SetOp.Op
	if len(l.cols) != len(r.cols) {
		failf(sqlerr.SyntaxError, s.SetOp.R.Pos(), "each %s query must have the same number of columns", name)
	}
	q := &query{rel: p.newRel(), setop: &setop{op: name, all: s.SetOp.All, l: l, r: r}}
	for i := range l.cols {
		a := &plan.Const{At: plan.At{T: l.cols[i].T, Off: p.colOff(l, i)}, Val: types.Null(l.cols[i].T)}
		c := &plan.Const{At: plan.At{T: r.cols[i].T, Off: p.colOff(r, i)}, Val: types.Null(r.cols[i].T)}
		t := p.commonType(name, []plan.Expr{a, c})
		p.castColumn(l, i, t)
		p.castColumn(r, i, t)
		q.cols = append(q.cols, plan.OutCol{Name: l.cols[i].Name, T: t})
	}
	// ORDER BY of a set operation sees the output columns only
	for _, o := range s.OrderBy {
		k := sortKey{desc: o.Desc, nullsFirst: o.Desc, target: -1}
		if o.NullsFirst != nil {
			k.nullsFirst = *o.NullsFirst
		}
		switch x := o.X.(type) {
		case *ast.ColumnRef:
			for i, c := range q.cols {
				if len(x.Parts) == 1 && c.Name == x.Parts[0] {
					k.target = i
					break
				}
			}
			if k.target < 0 {
				b := &binder{planner: p, scope: &scope{parent: outer}}
				fail(b.noColumn(x.Parts[len(x.Parts)-1], x.Pos()))
			}
		case *ast.Const:
			v, err := strconv.Atoi(x.Val)
			if x.Kind != ast.ConstInt {
				failf(sqlerr.SyntaxError, x.Pos(), "non-integer constant in ORDER BY")
			}
			if err != nil || v < 1 || v > len(q.cols) {
				failf(sqlerr.InvalidColumnReference, x.Pos(), "ORDER BY position %s is not in select list", x.Val)
			}
			k.target = v - 1
		default:
			fail(sqlerr.New(sqlerr.FeatureNotSupported, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").At(o.X.Pos()).
				WithDetail("Only result column names can be used, not expressions or functions.").
				WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM clause."))
		}
		q.sort = append(q.sort, k)
	}
	p.limits(q, s, outer)
	if len(s.Locking) > 0 {
		failf(sqlerr.FeatureNotSupported, s.Locking[0].Pos(), "FOR %s is not allowed with UNION/INTERSECT/EXCEPT", s.Locking[0].Strength)
	}
	return q
}

func (p *planner) colOff(q *query, i int) int {
	if q.block != nil && i < len(q.block.targets) {
		return q.block.targets[i].x.Pos()
	}
	return -1
}

// castColumn makes a query's output column have the type.
func (p *planner) castColumn(q *query, i int, t types.T) {
	if q.cols[i].T == t {
		return
	}
	if q.setop == nil && q.block != nil && q.block.values == nil && !q.block.distinct && !sortsBy(q, i) {
		x := q.block.targets[i].x
		y := p.coerce(x, t, implicit)
		if y == nil {
			failf(sqlerr.CannotCoerce, x.Pos(), "could not convert type %s to %s", p.bareName(x.Type().OID), p.bareName(t.OID))
		}
		q.block.targets[i].x = y
		q.cols[i].T = t
		return
	}
	// wrap: select casts from the query
	inner := *q
	inner.rel = p.newRel()
	r := p.queryRel(&inner, "*SELECT*")
	bl := &block{rels: map[int]*rel{r.id: r}, from: []*joinItem{{rel: r}}}
	for k, c := range inner.cols {
		var x plan.Expr = &plan.Var{At: plan.At{T: c.T, Off: -1}, Rel: r.id, Col: k, Name: c.Name}
		if k == i {
			if x = p.coerce(x, t, implicit); x == nil {
				failf(sqlerr.CannotCoerce, -1, "could not convert type %s to %s", p.bareName(c.T.OID), p.bareName(t.OID))
			}
		}
		bl.targets = append(bl.targets, target{x: x, name: c.Name})
	}
	bl.ncols = len(bl.targets)
	*q = query{rel: q.rel, block: bl, cols: append([]plan.OutCol(nil), inner.cols...)}
	q.cols[i].T = t
}

func sortsBy(q *query, target int) bool {
	for _, k := range q.sort {
		if k.target == target {
			return true
		}
	}
	return false
}

// resolveUnknowns gives output columns that are still unknown the type text.
func (p *planner) resolveUnknowns(q *query) {
	for i := range q.cols {
		if q.cols[i].T.OID == types.OUnknown {
			p.castColumn(q, i, types.TText)
		}
	}
}

// with binds the queries of a WITH clause.
func (p *planner) with(w *ast.With, outer *scope) (*scope, []*cteDef) {
	sc := &scope{parent: outer, ctes: map[string]*cteDef{}}
	var defs []*cteDef
	for i := range w.CTEs {
		c := &w.CTEs[i]
		if sc.ctes[c.Name] != nil {
			failf(sqlerr.DuplicateAlias, c.Pos(), "WITH query name \"%s\" specified more than once", c.Name)
		}
		def := &cteDef{name: c.Name, materialized: c.Materialized}
		sel, isSel := c.Stmt.(*ast.Select)
		switch {
		case isSel && w.Recursive && sel.SetOp != nil && sel.SetOp.Op == "UNION" && sel.With == nil:
			p.recursive(def, sel, c, sc)
		case isSel:
			if w.Recursive {
				sc.ctes[c.Name] = nil
			}
			def.q = p.bindSelect(sel, sc)
			p.resolveUnknowns(def.q)
		default:
			p.modifyingCTE(def, c.Stmt, sc)
		}
		if len(c.Cols) > len(def.q.cols) {
			failf(sqlerr.InvalidColumnReference, c.Pos(), "WITH query \"%s\" has %d columns available but %d columns specified", c.Name, len(def.q.cols), len(c.Cols))
		}
		for k, n := range c.Cols {
			def.q.cols[k].Name = n
		}
		sc.ctes[c.Name] = def
		defs = append(defs, def)
	}
	return sc, defs
}

// recursive binds a UNION of which the right side may refer to the CTE.
func (p *planner) recursive(def *cteDef, s *ast.Select, c *ast.CTE, sc *scope) {
	def.q = p.bindSelect(s.SetOp.L, sc)
	p.resolveUnknowns(def.q)
	for k, n := range c.Cols {
		if k < len(def.q.cols) {
			def.q.cols[k].Name = n
		}
	}
	def.binding, def.unionAll = true, s.SetOp.All
	sc.ctes[c.Name] = def
	step := p.bindSelect(s.SetOp.R, sc)
	def.binding = false
	if def.workRefs == 0 {
		// not recursive after all
		delete(sc.ctes, c.Name)
		def.q = p.bindSelect(s, sc)
		p.resolveUnknowns(def.q)
		return
	}
	if s.OrderBy != nil || s.Limit != nil || s.Offset != nil {
		unsupported(c.Pos(), "ORDER BY or LIMIT in a recursive query")
	}
	if len(step.cols) != len(def.q.cols) {
		failf(sqlerr.SyntaxError, s.SetOp.R.Pos(), "each UNION query must have the same number of columns")
	}
	for i := range step.cols {
		if step.cols[i].T.OID == types.OUnknown {
			p.castColumn(step, i, def.q.cols[i].T)
		}
		if step.cols[i].T.OID != def.q.cols[i].T.OID {
			fail(sqlerr.New(sqlerr.DatatypeMismatch, "recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall",
				c.Name, i+1, p.typeName(def.q.cols[i].T), p.typeName(step.cols[i].T)).
				WithHint("Cast the output of the non-recursive term to the correct type."))
		}
		if step.cols[i].T != def.q.cols[i].T {
			t := def.q.cols[i].T
			t.Mod = -1
			p.castColumn(step, i, t)
			p.castColumn(def.q, i, t)
		}
	}
	def.recursive, def.stepQ = true, step
}

// cteRel makes a range-table entry of a reference to a WITH query.
func (p *planner) cteRel(def *cteDef, alias string, off int) *rel {
	q := &query{rel: p.newRel(), ref: def}
	q.cols = append(q.cols, def.q.cols...)
	for i := range q.cols {
		q.cols[i].Table, q.cols[i].AttNum = 0, 0
	}
	if def.binding {
		def.workRefs++
		if def.workRefs > 1 {
			failf(sqlerr.InvalidRecursion, off, "recursive reference to query \"%s\" must not appear more than once", def.name)
		}
		q.work = true
	} else {
		def.refs++
		if def.dml && len(def.q.cols) == 0 {
			failf(sqlerr.FeatureNotSupported, off, "WITH query \"%s\" does not have a RETURNING clause", def.name)
		}
	}
	return p.queryRel(q, alias)
}
