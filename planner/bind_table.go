package planner

import (
	"slices"
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// tableBinder binds expressions over a table's live columns.
type tableBinder struct {
	*planner
	table *catalog.Table
	lay   layout
	ns    []*nsItem
}

func (p *planner) tableBinder(t *catalog.Table) *tableBinder {
	r := p.tableRel(t, t.Name)
	b := &tableBinder{planner: p, table: t, lay: layout{}, ns: []*nsItem{p.ownNames(r, t, "")}}
	b.lay.addTable(r, liveCols(t), 0)
	return b
}

// bind parses and binds a text of the catalog.
func (p *tableBinder) bind(text, what string) (bound plan.Expr) {
	x, err := p.Texts.ParseExpr(text)
	if err != nil {
		fail(err)
	}
	b := &binder{planner: p.planner, scope: &scope{items: p.ns}, what: what, noAgg: true, noWin: true, noSub: true}
	p.within(p.table.CallsOf(text), func() { bound = b.expr(x) })
	return bound
}

// place gives a bound expression the places of the live columns.
func (p *tableBinder) place(x plan.Expr) plan.Expr {
	return stripPos(p.planExprs([]plan.Expr{x}, p.lay)[0])
}

// TableExprs binds what writing to a table needs, over its live columns.
func TableExprs(c *Context, t *catalog.Table) (out *plan.TableExprs, err error) {
	all := newPlanner(c)
	defer all.recover(&err)
	p := all.tableBinder(t)
	live := liveCols(t)
	out = &plan.TableExprs{Live: live, Defaults: make([]plan.Expr, len(live)), Generated: make([]plan.Expr, len(live)),
		DefaultCalls: make([][]*catalog.Function, len(live))}
	for _, ck := range t.Checks {
		out.Checks = append(out.Checks, p.place(p.mustBool(p.bind(ck.Expr, "check constraints"), "CHECK")))
	}
	for i, c := range live {
		col := &t.Columns[c]
		if x := p.columnDomain(&plan.Col{At: plan.At{T: col.Type, Off: -1}, Idx: i, Name: col.Name}); x != nil {
			out.Domains = append(out.Domains, x)
		}
		if col.Generated {
			out.Generated[i] = p.place(p.assign(p.bind(col.Default, "column generation expressions"), col, -1))
		} else if col.Default != "" || p.hasDomainDefault(col.Type) || col.Identity != 0 || col.Sequence != 0 {
			calls, limited := len(p.calls), len(p.limited)
			out.Defaults[i] = p.planExprs([]plan.Expr{p.columnDefault(t, c)}, nil)[0]
			// the statement that takes it calls them
			out.DefaultCalls[i] = slices.Concat(p.calls[calls:], p.limited[limited:])
			p.calls, p.limited = p.calls[:calls], p.limited[:limited]
		}
	}
	if t.Key != nil {
		out.PartKeys = make([]plan.Expr, len(t.Key.Keys))
		for i, k := range t.Key.Keys {
			if k.Col < 0 {
				out.PartKeys[i] = p.place(p.known(p.bind(k.Expr, "partition key expressions")))
			}
		}
	}
	out.IndexKeys, out.Preds = p.indexExprs(t.Indexes)
	for _, ix := range t.Indexes {
		out.Exclusions = append(out.Exclusions, p.exclusionTests(t, ix))
	}
	out.Calls = slices.Concat(p.calls, p.limited)
	return out, nil
}

// IndexExprs is the part of TableExprs that fills some of the table's indexes: for each
// the expressions among its keys, its predicate, and the functions that both call.
func IndexExprs(c *Context, t *catalog.Table, indexes []*catalog.Index) (keys [][]plan.Expr, preds []plan.Expr, calls [][]*catalog.Function, err error) {
	all := newPlanner(c)
	defer all.recover(&err)
	p := all.tableBinder(t)
	for _, ix := range indexes {
		p.calls = nil
		k, where := p.indexExprs([]*catalog.Index{ix})
		keys, preds, calls = append(keys, k[0]), append(preds, where[0]), append(calls, p.calls)
	}
	return keys, preds, calls, nil
}

func (p *tableBinder) indexExprs(indexes []*catalog.Index) (keys [][]plan.Expr, preds []plan.Expr) {
	for _, ix := range indexes {
		list := make([]plan.Expr, len(ix.Keys))
		for i, k := range ix.Keys {
			if k.Col < 0 {
				list[i] = p.place(p.known(p.bind(k.Expr, "index expressions")))
			}
		}
		var pred plan.Expr
		if ix.Where != "" {
			pred = p.place(p.mustBool(p.bind(ix.Where, "index predicates"), "WHERE"))
		}
		keys, preds = append(keys, list), append(preds, pred)
	}
	return keys, preds
}

// exclusionTests binds the operators of an exclusion constraint, nil for other
// indexes.
func (p *planner) exclusionTests(t *catalog.Table, ix *catalog.Index) []plan.Expr {
	u := t.Exclusion(ix)
	if u == nil {
		return nil
	}
	keys := &catalog.Table{}
	for _, side := range []string{"n", "o"} {
		for i, k := range ix.Keys {
			keys.Columns = append(keys.Columns, catalog.Column{Name: side + strconv.Itoa(i), Type: k.Type})
		}
	}
	r := p.tableRel(keys, "")
	lay := layout{}
	lay.addTable(r, liveCols(keys), 0)
	b := &binder{planner: p, scope: &scope{items: []*nsItem{p.relNames(r, nil)}}, what: "exclusion constraints", noAgg: true, noWin: true, noSub: true}
	var out []plan.Expr
	for i, op := range u.Exclude {
		col := func(side string) ast.Expr { return &ast.ColumnRef{Parts: []string{side + strconv.Itoa(i)}} }
		x := b.expr(&ast.Binary{Schema: "pg_catalog", Op: op, L: col("n"), R: col("o")})
		out = append(out, stripPos(p.planExprs([]plan.Expr{p.mustBool(x, "EXCLUDE")}, lay)[0]))
	}
	return out
}

// Bound is an expression that is no part of a planned statement.
type Bound struct {
	X     plan.Expr
	Cols  []int               // the columns that it reads
	Calls []*catalog.Function // what whoever computes it must be allowed to execute
}

// ColumnExpr binds an expression for DDL: a default (no table), a check or an
// index expression (over the table's live columns). It is converted to want (OID 0:
// any type).
func ColumnExpr(c *Context, x ast.Expr, t *catalog.Table, want types.T, what string) (b Bound, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	e, lay := p.columnExpr(x, t, want, what)
	seen := map[int]bool{}
	plan.Visit(e, func(y plan.Expr) bool {
		if v, ok := y.(*plan.Var); ok && !seen[v.Col] {
			seen[v.Col] = true
			b.Cols = append(b.Cols, v.Col)
		}
		return true
	})
	b.X = p.planExprs([]plan.Expr{e}, lay)[0]
	b.Calls = slices.Concat(p.calls, p.limited)
	return b, nil
}

// textExpr is ColumnExpr for the text of the expression.
func textExpr(c *Context, x ast.Expr, t *catalog.Table, want types.T, what string) (e plan.Expr, err error) {
	p := textPlanner(c)
	p.trusted = 0
	defer p.recover(&err)
	p.rec = newRecorder()
	e, _ = p.columnExpr(x, t, want, what)
	return e, nil
}

func (p *planner) columnExpr(x ast.Expr, t *catalog.Table, want types.T, what string) (plan.Expr, layout) {
	sc := &scope{}
	lay := layout{}
	if t != nil {
		r := p.tableRel(t, t.Name)
		r.shown = p.rec != nil // the text has tableoid by name: a new table has no number yet
		lay.addTable(r, liveCols(t), 0)
		sc.items = []*nsItem{p.ownNames(r, t, "")}
	}
	b := &binder{planner: p, scope: sc, what: what, noAgg: true, noWin: true, noSub: true}
	e := b.expr(x)
	switch {
	case want.OID == types.OBool:
		return p.mustBool(e, conditionOf(what)), lay
	case want.OID != 0:
		y := p.coerce(e, want, assignment)
		if y == nil {
			fail(sqlerr.New(sqlerr.DatatypeMismatch, "column is of type %s but default expression is of type %s", p.bareName(want.OID), p.bareName(e.Type().OID)).
				At(x.Pos()).WithHint("You will need to rewrite or cast the expression."))
		}
		return y, lay
	}
	return p.known(e), lay
}

// Argument binds what EXECUTE passes as parameter n.
func Argument(c *Context, x ast.Expr, want types.T, n int) (out Bound, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	b := &binder{planner: p, scope: &scope{}, what: "EXECUTE parameters", noAgg: true, noWin: true, noSub: true}
	e := b.expr(x)
	y := p.coerce(e, want, assignment)
	if y == nil {
		fail(sqlerr.New(sqlerr.DatatypeMismatch, "parameter $%d of type %s cannot be coerced to the expected type %s",
			n, p.bareName(e.Type().OID), p.typeName(want)).At(x.Pos()).WithHint("You will need to rewrite or cast the expression."))
	}
	return Bound{X: p.planExprs([]plan.Expr{y}, nil)[0], Calls: slices.Concat(p.calls, p.limited)}, nil
}

// conditionOf is what messages call the clause of a stored condition.
func conditionOf(what string) string {
	switch what {
	case "check constraints":
		return "CHECK"
	case "index predicates", "COPY FROM WHERE conditions":
		return "WHERE"
	}
	return what
}

// ResolveType resolves a type name for DDL.
func ResolveType(c *Context, n *ast.TypeName) (t types.T, err error) {
	p := newPlanner(c)
	p.trusted = 0
	defer p.recover(&err)
	return p.typeOf(n), nil
}

// TypeOID resolves the name of a type, also of one that values cannot have.
func TypeOID(c *Context, n *ast.TypeName) (o types.OID, err error) {
	p := newPlanner(c)
	p.trusted = 0
	defer p.recover(&err)
	return p.typeNamed(n).OID, nil
}

// NextvalExpr is the call that draws a value of a sequence, as type t.
func NextvalExpr(c *Context, seq types.OID, t types.T) (e plan.Expr, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	return p.planExprs([]plan.Expr{p.nextval(seq, t)}, nil)[0], nil
}

// DefaultFits reports whether a stored default converts to a type by assignment.
func DefaultFits(c *Context, text string, t types.T) (ok bool, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	x, err := p.Texts.ParseExpr(text)
	if err != nil {
		return false, err
	}
	b := &binder{planner: p, scope: &scope{}, what: "DEFAULT expressions", noAgg: true, noWin: true, noSub: true}
	return p.coerce(b.expr(x), t, assignment) != nil, nil
}
