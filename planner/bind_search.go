package planner

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// SEARCH and CYCLE add columns to a recursive query: both terms are wrapped
// into a query that computes them, the non-recursive term from its own columns,
// the recursive one also from what the row that it came from has in them. The
// recursive term hands these on as further targets.

// boundName is the name of a term in the query around it.
const boundName = "*TERM*"

// boundQuery is a FROM item that has been bound already, named boundName.
type boundQuery struct {
	ast.FromItem
	q *query
}

// depthOf is the first field of a row whose fields have no names: how deep a
// row of SEARCH BREADTH FIRST lies.
type depthOf struct {
	ast.Expr
	of ast.Expr
}

// Pos is no place: nobody wrote it.
func (boundQuery) Pos() int { return -1 }

// Pos is no place: nobody wrote it.
func (depthOf) Pos() int { return -1 }

// walked binds the recursive term of a query with SEARCH or CYCLE and wraps both.
func (p *planner) walked(def *cteDef, op *ast.SetOp, c *ast.CTE, sc *scope) *query {
	if op.L.SetOp != nil {
		failf(sqlerr.FeatureNotSupported, -1, "with a SEARCH or CYCLE clause, the left side of the UNION must be a SELECT")
	}
	if op.R.SetOp != nil {
		failf(sqlerr.SyntaxError, -1, "with a SEARCH or CYCLE clause, the right side of the UNION must be a SELECT")
	}
	self := ""
	if with := op.R.With; with == nil || !slices.ContainsFunc(with.CTEs, func(o ast.CTE) bool { return o.Name == c.Name }) {
		for _, f := range op.R.From {
			if self == "" {
				self = selfName(f, c.Name)
			}
		}
	}
	if self == "" {
		failf(sqlerr.FeatureNotSupported, -1, "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"%s\" must be at the top level of its right-hand SELECT", c.Name)
	}

	checkDistinctNames(c)
	first, base := def.q, len(def.q.cols)
	all := slices.Clone(first.cols)
	if s := c.Search; s != nil {
		t := types.Of(types.ORecord)
		if !s.Breadth {
			t = p.recordArray()
		}
		all = append(all, plan.OutCol{Name: s.Set, T: t})
	}
	if y := c.Cycle; y != nil {
		b := &binder{planner: p, scope: sc}
		marks := []plan.Expr{b.expr(y.Value), b.expr(y.Default)}
		t := p.commonType("CYCLE", marks)
		p.needEquality(&plan.Const{At: plan.At{T: t, Off: -1}}, -1)
		if p.rec != nil {
			p.record(y.Value, p.must(marks[0], t, implicit))
			p.record(y.Default, p.must(marks[1], t, implicit))
		}
		all = append(all, plan.OutCol{Name: y.Mark, T: t}, plan.OutCol{Name: y.Path, T: p.recordArray()})
	}
	def.extra = len(all) - base
	def.q = &query{cols: all}
	if p.rec != nil {
		step := p.bindSelect(op.R, sc)
		checkWalked(c, first.cols)
		if len(step.cols) == base {
			step.cols = append(step.cols, all[base:]...)
		}
		return step
	}

	if slices.ContainsFunc(all[base:], func(k plan.OutCol) bool {
		return slices.ContainsFunc(first.cols, func(f plan.OutCol) bool { return f.Name == k.Name })
	}) {
		p.bindSelect(op.R, sc)
		checkWalked(c, first.cols) // refuses it, but says first what is wrong with the term
	}
	term := *op.R
	term.Targets = slices.Clone(term.Targets)
	for _, k := range all[base:] {
		term.Targets = append(term.Targets, ast.Target{Off: -1, X: refTo(self, k.Name), Alias: k.Name})
	}
	if y := c.Cycle; y != nil {
		goOn := &ast.Binary{Off: -1, Op: "<>", L: refTo(self, y.Mark), R: y.Value}
		if term.Where == nil {
			term.Where = goOn
		} else {
			term.Where = &ast.And{Off: -1, Args: []ast.Expr{term.Where, goOn}}
		}
	}
	step := p.bindSelect(&term, sc)
	checkWalked(c, first.cols)
	if len(step.cols) != len(all) {
		failf(sqlerr.SyntaxError, op.R.Pos(), "each UNION query must have the same number of columns")
	}
	for i := range base {
		step.cols[i].Name = all[i].Name
	}
	p.resolveUnknownsAs(step, first)
	def.q = p.bindSelect(wrapped(first, c, base, false), sc)
	return p.bindSelect(wrapped(step, c, base, true), sc)
}

// resolveUnknownsAs gives literals of the recursive term the types of the other term.
func (p *planner) resolveUnknownsAs(step, first *query) {
	for i := range first.cols {
		if step.cols[i].T.OID == types.OUnknown {
			p.castColumn(step, i, first.cols[i].T)
		}
	}
}

// recordArray is the type record[].
func (p *planner) recordArray() types.T { return p.T(p.info(types.ORecord).Array, -1) }

// selfName is the name of the reference to a WITH query among the tables of a
// FROM item, "" if it is not there.
func selfName(f ast.FromItem, name string) string {
	switch f := f.(type) {
	case *ast.TableRef:
		if len(f.Name.Parts) == 1 && f.Name.Parts[0] == name {
			return orElse(f.Alias, name)
		}
	case *ast.Join:
		s := orElse(selfName(f.L, name), selfName(f.R, name))
		if s != "" && f.Alias != "" {
			unsupported(f.Pos(), "SEARCH and CYCLE over a join that has an alias")
		}
		return s
	}
	return ""
}

// checkWalked refuses columns that a SEARCH or CYCLE clause cannot name.
func checkWalked(c *ast.CTE, cols []plan.OutCol) {
	known := func(name string) bool {
		return slices.ContainsFunc(cols, func(k plan.OutCol) bool { return k.Name == name })
	}
	check := func(what string, off int, names []string) {
		for i, n := range names {
			if !known(n) {
				failf(sqlerr.SyntaxError, off, "%s column \"%s\" not in WITH query column list", what, n)
			}
			if slices.Contains(names[:i], n) {
				failf(sqlerr.DuplicateColumn, off, "%s column \"%s\" specified more than once", what, n)
			}
		}
	}
	unused := func(what, name string, off int) {
		if known(name) {
			failf(sqlerr.SyntaxError, off, "%s column name \"%s\" already used in WITH query column list", what, name)
		}
	}
	s, y := c.Search, c.Cycle
	if s != nil {
		check("search", s.Pos(), s.By)
		unused("search sequence", s.Set, s.Pos())
	}
	if y != nil {
		check("cycle", y.Pos(), y.Cols)
		unused("cycle mark", y.Mark, y.Pos())
		unused("cycle path", y.Path, y.Pos())
	}
}

// checkDistinctNames refuses two added columns of one name.
func checkDistinctNames(c *ast.CTE) {
	s, y := c.Search, c.Cycle
	if y != nil && y.Mark == y.Path {
		failf(sqlerr.SyntaxError, y.Pos(), "cycle mark column name and cycle path column name are the same")
	}
	if s != nil && y != nil {
		if s.Set == y.Mark {
			failf(sqlerr.SyntaxError, s.Pos(), "search sequence column name and cycle mark column name are the same")
		}
		if s.Set == y.Path {
			failf(sqlerr.SyntaxError, s.Pos(), "search sequence column name and cycle path column name are the same")
		}
	}
}

func refTo(table, column string) ast.Expr {
	return &ast.ColumnRef{Off: -1, Parts: []string{table, column}}
}

// wrapped is the query around a term of c, of which the first base columns are
// what is written there; further says that it is the recursive term.
func wrapped(q *query, c *ast.CTE, base int, further bool) *ast.Select {
	row := func(names []string, first ...ast.Expr) ast.Expr {
		r := &ast.Row{Off: -1, Explicit: true, Elems: first}
		for _, n := range names {
			r.Elems = append(r.Elems, refTo(boundName, n))
		}
		return r
	}
	appended := func(column string, x ast.Expr) ast.Expr {
		x = &ast.Array{Off: -1, Elems: []ast.Expr{x}}
		if further {
			x = &ast.Binary{Off: -1, Schema: "pg_catalog", Op: "||", L: refTo(boundName, column), R: x}
		}
		return x
	}
	out := &ast.Select{Off: -1, From: []ast.FromItem{boundQuery{q: q}}}
	add := func(name string, x ast.Expr) {
		out.Targets = append(out.Targets, ast.Target{Off: -1, X: x, Alias: name})
	}
	for _, k := range q.cols[:base] {
		add(k.Name, refTo(boundName, k.Name))
	}
	if s := c.Search; s != nil && s.Breadth {
		var depth ast.Expr = &ast.Cast{Off: -1, X: &ast.Const{Off: -1, Kind: ast.ConstInt, Val: "0"},
			Type: ast.TypeName{Off: -1, Name: ast.Name{Off: -1, Parts: []string{"pg_catalog", "int8"}}}}
		if further {
			depth = &ast.Binary{Off: -1, Schema: "pg_catalog", Op: "+", L: depthOf{of: refTo(boundName, s.Set)},
				R: &ast.Const{Off: -1, Kind: ast.ConstInt, Val: "1"}}
		}
		add(s.Set, row(s.By, depth))
	} else if s != nil {
		add(s.Set, appended(s.Set, row(s.By)))
	}
	if y := c.Cycle; y != nil {
		var seen ast.Expr = &ast.Const{Off: -1, Kind: ast.ConstBool, Val: "false"}
		if further {
			seen = &ast.Quantified{Off: -1, L: row(y.Cols), Op: "=", Array: refTo(boundName, y.Path)}
		}
		add(y.Mark, &ast.Case{Off: -1, Whens: []ast.When{{Off: -1, Cond: seen, Result: y.Value}}, Else: y.Default})
		add(y.Path, appended(y.Path, row(y.Cols)))
	}
	return out
}
