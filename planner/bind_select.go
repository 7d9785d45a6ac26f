package planner

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// queryDepth is how many levels of expressions a level of queries counts as.
const queryDepth = 32

// bindSelect binds a whole query under the scope around it.
func (p *planner) bindSelect(s *ast.Select, outer *scope) *query {
	p.depth += queryDepth
	defer func() { p.depth -= queryDepth }()
	if p.depth > maxExprDepth {
		fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded"))
	}
	sc := outer
	var defs []*cteDef
	if s.With != nil {
		sc, defs = p.with(s.With, s, outer)
	}
	q := p.bindBody(s, sc)
	q.ctes = append(q.ctes, defs...)
	if p.rec != nil {
		p.rec.queries[q], p.rec.bound[s] = s, q
	}
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

// limits binds LIMIT and OFFSET, which may read columns of enclosing queries.
func (p *planner) limits(q *query, s *ast.Select, sc *scope) {
	one := func(x ast.Expr, what string) plan.Expr {
		if x == nil {
			return nil
		}
		b := &binder{planner: p, scope: sc, what: what, noAgg: true, noWin: true}
		e := b.expr(x)
		b.noVars(e, what)
		if c := p.coerce(e, types.TInt8, assignment); c != nil {
			return c
		}
		failf(sqlerr.DatatypeMismatch, leftmost(e), "argument of %s must be type bigint, not type %s", what, p.bareName(e.Type().OID))
		return nil
	}
	q.limit, q.offset, q.ties = one(s.Limit, "LIMIT"), one(s.Offset, "OFFSET"), s.WithTies
	if c, ok := s.Limit.(*ast.Const); ok && q.ties && c.Kind == ast.ConstNull {
		failf(sqlerr.InvalidRowCountInLimit, -1, "row count cannot be null in FETCH FIRST ... WITH TIES clause")
	}
	if noLimit(q.limit) && p.rec == nil {
		q.limit = nil
	}
	if q.ties && len(q.sort) == 0 {
		failf(sqlerr.SyntaxError, -1, "WITH TIES cannot be specified without ORDER BY clause")
	}
}

// noLimit reports whether a bound LIMIT is LIMIT ALL or LIMIT NULL.
func noLimit(e plan.Expr) bool {
	c, ok := e.(*plan.Const)
	return ok && c.Val.Null
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
	// the clauses are bound in the order in which PostgreSQL finds their errors
	tb := &binder{planner: p, scope: sc, srf: true, windows: wins}
	for i := range s.Targets {
		p.target(&s.Targets[i], tb, bl)
	}
	bl.ncols = len(bl.targets)
	if bl.ncols > 1664 {
		failf(sqlerr.TooManyColumns, -1, "target lists can have at most 1664 entries")
	}
	wb := &binder{planner: p, scope: sc, what: "WHERE", noAgg: true, noWin: true}
	bl.where = wb.cond(s.Where)
	hb := &binder{planner: p, scope: sc, what: "HAVING", noWin: true}
	bl.having = hb.cond(s.Having)
	q := &query{rel: p.newRel(), block: bl}
	// ORDER BY and GROUP BY may name output columns
	ob := &binder{planner: p, scope: sc, what: "ORDER BY", srf: true, windows: wins}
	for _, o := range s.OrderBy {
		q.sort = append(q.sort, p.orderTarget(o, ob, bl))
	}
	gb := &binder{planner: p, scope: sc, what: "GROUP BY", noAgg: true, noWin: true, srf: true}
	p.groupBy(s, gb, bl)
	for i := range s.Windows { // also those that no function uses
		tb.window(&ast.Window{Name: s.Windows[i].Name})
	}
	for _, x := range s.DistinctOn {
		// windows and subqueries have no key of their own: the text tells
		same := func(o ast.SortItem) bool { return ast.Format(o.X) == ast.Format(x) }
		if i := slices.IndexFunc(s.OrderBy, same); i >= 0 {
			bl.distinctOn = append(bl.distinctOn, q.sort[i].target)
			continue
		}
		t := p.outputTarget(x, &binder{planner: p, scope: sc, what: "DISTINCT ON", srf: true, windows: wins}, bl, false)
		p.needEquality(bl.targets[t].x, startOf(x))
		bl.distinctOn = append(bl.distinctOn, t)
	}
	bl.distinct = s.Distinct || len(s.DistinctOn) > 0
	if bl.distinct && len(s.DistinctOn) == 0 {
		for i := range bl.ncols {
			p.needEquality(bl.targets[i].x, leftmost(bl.targets[i].x))
		}
		for i, k := range q.sort {
			if k.target >= bl.ncols {
				failf(sqlerr.InvalidColumnReference, startOf(s.OrderBy[i].X), "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
			}
		}
	}
	if len(s.DistinctOn) > 0 {
		p.checkDistinctOn(q, bl, s)
	}
	bl.hasSRF = tb.sawSRF || ob.sawSRF
	for i := range bl.targets {
		// a bare literal or parameter waits for the type that INSERT or a set operation wants
		_, waits := bl.targets[i].x.(*plan.Param)
		if (waits || isLiteral(bl.targets[i].x)) && i < bl.ncols && !bl.distinguishes(i) && !sortsBy(q, i) {
			continue
		}
		bl.targets[i].x = p.known(bl.targets[i].x)
	}
	if p.rec != nil {
		p.rec.selects[s] = &selectNote{block: bl, targets: slices.Clone(bl.targets), where: slices.Clone(bl.where), having: slices.Clone(bl.having),
			sort: slices.Clone(q.sort), distinctOn: slices.Clone(bl.distinctOn)}
	}
	bl.grouped = tb.sawAgg || ob.sawAgg || hb.sawAgg || len(s.GroupBy) > 0 || s.Having != nil
	for _, l := range s.Locking {
		if s.Having != nil && len(s.GroupBy) == 0 && !bl.distinct {
			failf(sqlerr.FeatureNotSupported, -1, "FOR %s is not allowed with HAVING clause", l.Strength)
		}
		p.checkLocking(q, l.Strength)
	}
	if bl.grouped {
		p.group(bl)
	}
	p.windowsOf(q)
	p.foldNulls(bl)
	p.limits(q, s, sc)
	p.locking(s, q, sc)
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
				i := slices.IndexFunc(bl.distinctOn, func(t int) bool { return !done[t] })
				failf(sqlerr.InvalidColumnReference, startOf(s.DistinctOn[i]), "SELECT DISTINCT ON expressions must match initial ORDER BY expressions")
			}
			break
		}
		done[k.target] = true
	}
}

// target binds an entry of the select list, expanding stars.
func (p *planner) target(t *ast.Target, b *binder, bl *block) {
	if c, ok := t.X.(*ast.ColumnRef); ok && c.Star {
		b.star(c, bl)
		return
	}
	if f, ok := t.X.(*ast.Field); ok && f.Name == "*" {
		b.fields(b.expr(f.X), f.Pos(), bl)
		return
	}
	out := target{x: b.expr(t.X), name: t.Alias}
	if out.name == "" {
		out.name = p.figureName(t.X)
	}
	b.origin(&out, bl)
	if c, ok := t.X.(*ast.ColumnRef); ok {
		b.systemOrigin(&out, c)
	}
	bl.targets = append(bl.targets, out)
}

// fields adds the columns of a composite value to the select list.
func (b *binder) fields(x plan.Expr, off int, bl *block) {
	cols := b.recordCols(x)
	if cols == nil {
		failf(sqlerr.WrongObjectType, off, "type %s is not composite", b.bareName(x.Type().OID))
	}
	row, _ := x.(*plan.RowCtor)
	for i, c := range cols {
		b.readField(x.Type(), i)
		t := target{x: &plan.FieldOf{At: plan.At{T: c.T, Off: off}, X: x, Idx: i, Name: c.Name}, name: c.Name}
		if row != nil && row.Of != 0 && i < len(row.Elems) {
			from := target{x: row.Elems[i]}
			b.origin(&from, bl)
			t.tbl, t.attnum = from.tbl, from.attnum
		}
		bl.targets = append(bl.targets, t)
	}
}

// isSpread reports whether an entry of a list of values is t.* or (x).*, which stands
// for several.
func isSpread(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ColumnRef:
		return x.Star && len(x.Parts) > 0
	case *ast.Field:
		return x.Name == "*"
	}
	return false
}

// spread binds an entry of a list of values, in which t.* and (x).* stand for their
// columns.
func (b *binder) spread(x ast.Expr) []plan.Expr {
	if !isSpread(x) {
		return []plan.Expr{b.expr(x)}
	}
	bl := &block{}
	b.target(&ast.Target{X: x}, b, bl)
	xs := make([]plan.Expr, len(bl.targets))
	for i, t := range bl.targets {
		xs[i] = t.x
	}
	return xs
}

// origin notes the table column that a target is, for RowDescription: one of its own
// block's, or of a query around it. A whole row is column 0.
func (b *binder) origin(t *target, bl *block) {
	entry := func(id int) *rel {
		r := bl.rels[id]
		for sc := b.scope; r == nil && sc != nil; sc = sc.parent {
			if sc.block != nil {
				r = sc.block.rels[id]
			}
		}
		return r
	}
	switch x := t.x.(type) {
	case *plan.RowCtor:
		if r := entry(x.Of); r != nil && x.Of != 0 && x.Cast == 0 {
			t.tbl = r.relationOID()
		}
	case *plan.Var:
		r := entry(x.Rel)
		switch {
		case r == nil:
		case x.Col < 0:
			if name := systemNames[x.Col]; name != "" {
				t.tbl, t.attnum = r.relationOID(), systemNumbers[name]
			}
		case x.Col < len(r.cols):
			t.tbl, t.attnum = r.cols[x.Col].Table, r.cols[x.Col].AttNum
		}
	}
}

// systemNumbers are the numbers of system columns, and systemNames those of plan.ColCtid
// and its like.
var (
	systemNumbers = map[string]int16{"ctid": -1, "xmin": -2, "cmin": -3, "xmax": -4, "cmax": -5, "tableoid": -6}
	systemNames   = map[int]string{plan.ColCtid: "ctid", plan.ColXmin: "xmin", plan.ColXmax: "xmax", plan.ColTableOID: "tableoid"}
)

// systemOrigin is origin of a system column that is a constant.
func (b *binder) systemOrigin(t *target, c *ast.ColumnRef) {
	name := c.Parts[len(c.Parts)-1]
	num := systemNumbers[name]
	if _, is := t.x.(*plan.Const); !is || num == 0 {
		return
	}
	for sc := b.scope; sc != nil; sc = sc.parent {
		for _, it := range sc.items {
			if n := len(c.Parts); (n == 1 || it.name == c.Parts[n-2]) && it.system(name) != nil {
				t.tbl, t.attnum = it.rel.relationOID(), num
				return
			}
		}
	}
}

// star expands * and t.*, where t may be an argument of the function whose body it is.
func (b *binder) star(c *ast.ColumnRef, bl *block) {
	p, sc := b.planner, b.scope
	add := func(it *nsItem) {
		for _, col := range it.cols {
			if col.hidden {
				continue
			}
			t := target{x: moved(col.x, c.Pos()), name: col.name}
			p.read(t.x)
			b.origin(&t, bl)
			bl.targets = append(bl.targets, t)
		}
	}
	if len(c.Parts) == 0 {
		any := false
		for _, it := range sc.items {
			if it.colsVisible {
				any = true
				add(it)
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
		if x := b.argument(c.Parts, c.Pos()); x != nil {
			b.fields(x, c.Pos(), bl)
			return
		}
		fail(b.noRelation(c.Parts[n-1], c.Pos()))
	}
	add(it)
}

// startOf is the offset of an expression's first token that stands for a node.
func startOf(x ast.Expr) int {
	off := x.Pos()
	ast.Walk(x, func(n ast.Node) bool {
		if p := n.Pos(); p >= 0 && p < off {
			off = p
		}
		return true
	})
	return off
}

// noName is what an output column is called that has no name.
const noName = "?column?"

// figureName is the name of an unnamed output column (FigureColname).
func (p *planner) figureName(e ast.Expr) string {
	if n, _ := p.figure(e); n != "" {
		return n
	}
	return noName
}

// IndexColumnName names the column of an index over an expression; "" leaves it to
// the catalog. Like an output column it takes the name of the function or of the column
// that is converted.
func IndexColumnName(x ast.Expr) string {
	n, _ := new(planner).figure(x)
	return n
}

// figure returns a name and how sure it is: 2 certain, 1 weak.
func (p *planner) figure(e ast.Expr) (string, int) {
	switch e := e.(type) {
	case *ast.Is:
		if strings.HasSuffix(e.Test, "NORMALIZED") && !e.Not {
			return "is_normalized", 2
		}
	case *ast.ColumnRef:
		if len(e.Parts) == 0 {
			return "", 0
		}
		return e.Parts[len(e.Parts)-1], 2
	case *ast.Index:
		return p.figure(e.X)
	case *ast.Field:
		if e.Name != "*" {
			return e.Name, 2
		}
		return p.figure(e.X)
	case *ast.Call:
		return e.Name.Last(), 2
	case *ast.Cast:
		if n, s := p.figure(e.X); s > 1 {
			return n, s
		}
		return e.Type.Name.Last(), 1
	case *ast.Collate:
		return p.figure(e.X)
	case *ast.Case:
		if e.Else != nil {
			if n, s := p.figure(e.Else); s > 1 {
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
		return p.subNames[e], 2
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
func (p *planner) orderTarget(o ast.SortItem, b *binder, bl *block) sortKey {
	k := sortKey{target: p.outputTarget(o.X, b, bl, false)}
	k.desc, k.nullsFirst = p.direction(o, bl.targets[k.target].x)
	k.using = usingOther(o)
	return k
}

// listPosition is the output column, of n, that a constant in a list of what names. Beyond
// 32 bits a number is none, as in PostgreSQL's scanner.
func listPosition(c *ast.Const, n int, what string) int {
	v, err := strconv.ParseInt(c.Val, 10, 32)
	if c.Kind != ast.ConstInt || err != nil {
		failf(sqlerr.SyntaxError, c.Pos(), "non-integer constant in %s", what)
	}
	if v < 1 || int(v) > n {
		failf(sqlerr.InvalidColumnReference, c.Pos(), "%s position %s is not in select list", what, c.Val)
	}
	return int(v) - 1
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
		return listPosition(c, n, b.what)
	}
	e := b.expr(x)
	for _, e = range []plan.Expr{e, p.known(e)} { // as it was written, and as it became text before
		key := exprKey(e)
		for i := range bl.targets {
			if exprKey(bl.targets[i].x) == key {
				return i
			}
		}
	}
	bl.targets = append(bl.targets, target{x: e, name: noName})
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
