package planner

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// with binds the queries of the WITH clause of a statement.
func (p *planner) with(w *ast.With, of ast.Stmt, outer *scope) (*scope, []*cteDef) {
	sc := &scope{parent: outer, ctes: map[string]*cteDef{}}
	named := namedBeforeBound(w, of)
	var defs []*cteDef
	given := map[string]bool{}
	order := make([]int, len(w.CTEs))
	for i := range w.CTEs {
		c := &w.CTEs[i]
		if given[c.Name] {
			failf(sqlerr.DuplicateAlias, c.Pos(), "WITH query name \"%s\" specified more than once", c.Name)
		}
		given[c.Name] = true
		order[i] = i
	}
	if !w.Recursive {
		sc.later = given // until they are bound
	}
	var self []bool
	if w.Recursive {
		order, self = recursionOrder(w)
	}
	for _, i := range order {
		c := &w.CTEs[i]
		def := &cteDef{name: c.Name, materialized: c.Materialized, named: named[c.Name]}
		if (c.Search != nil || c.Cycle != nil) && (self == nil || !self[i]) {
			failf(sqlerr.SyntaxError, c.Pos(), "WITH query is not recursive")
		}
		sel, isSel := c.Stmt.(*ast.Select)
		switch {
		case self != nil && self[i]:
			in, inner := sc, []*cteDef(nil)
			if sel.With != nil {
				in, inner = p.with(sel.With, sel, sc)
			}
			p.recursive(def, sel, c, in, sc)
			def.q.ctes = append(def.q.ctes, inner...)
		case isSel:
			def.q = p.bindSelect(sel, sc)
			p.resolveUnknowns(def.q)
		default:
			if p.depth > queryDepth { // this query is not the statement
				failf(sqlerr.FeatureNotSupported, c.Pos(), "WITH clause containing a data-modifying statement must be at the top level")
			}
			if _, merge := c.Stmt.(*ast.Merge); merge {
				failf(sqlerr.FeatureNotSupported, c.Pos(), "MERGE not supported in WITH query")
			}
			p.modifyingCTE(def, c.Stmt, sc)
		}
		if len(c.Cols) > len(def.q.cols) {
			failf(sqlerr.InvalidColumnReference, c.Pos(), "WITH query \"%s\" has %d columns available but %d columns specified", c.Name, len(def.q.cols), len(c.Cols))
		}
		for k, n := range c.Cols {
			def.q.cols[k].Name = n
		}
		sc.ctes[c.Name] = def
		delete(sc.later, c.Name)
		defs = append(defs, def)
	}
	return sc, defs
}

// namedBeforeBound counts how often relations are named in a statement of which parts are
// planned before all of it is bound: one that changes rows, or has a WITH query that does.
// nil for others.
func namedBeforeBound(w *ast.With, of ast.Stmt) map[string]int {
	_, isSelect := of.(*ast.Select)
	if isSelect && !slices.ContainsFunc(w.CTEs, func(c ast.CTE) bool { _, is := c.Stmt.(*ast.Select); return !is }) {
		return nil
	}
	named := map[string]int{}
	ast.Walk(of, func(n ast.Node) bool {
		if t, ok := n.(*ast.TableRef); ok && len(t.Name.Parts) == 1 {
			named[t.Name.Parts[0]]++
		}
		return true
	})
	return named
}

// recursive binds a UNION of which the right side may refer to the CTE, in sc; the
// CTE becomes known in outer.
func (p *planner) recursive(def *cteDef, s *ast.Select, c *ast.CTE, sc, outer *scope) {
	def.q = p.bindSelect(s.SetOp.L, sc)
	p.resolveUnknowns(def.q)
	for k, n := range c.Cols {
		if k < len(def.q.cols) {
			def.q.cols[k].Name = n
		}
	}
	def.binding, def.unionAll = true, s.SetOp.All
	outer.ctes[c.Name] = def
	var step *query
	if c.Search != nil || c.Cycle != nil {
		step = p.walked(def, s.SetOp, c, sc)
	} else {
		step = p.bindSelect(s.SetOp.R, sc)
	}
	def.binding = false
	if len(step.cols) != len(def.q.cols) {
		failf(sqlerr.SyntaxError, startOfQuery(s.SetOp.R), "each UNION query must have the same number of columns")
	}
	for i := range step.cols {
		first := def.q.cols[i].T
		t := p.unionType("UNION", def.q, step, i)
		if t != first {
			fail(sqlerr.New(sqlerr.DatatypeMismatch, "recursive query \"%s\" column %d has type %s in non-recursive term but type %s overall",
				c.Name, i+1, p.typeName(first), p.typeName(t)).At(p.colOff(def.q, i)).
				WithHint("Cast the output of the non-recursive term to the correct type."))
		}
		p.castColumn(step, i, t)
	}
	p.sameCollations(def, step, c.Name)
	if !s.SetOp.All {
		for i, c := range def.q.cols {
			p.needEquality(&plan.Const{At: plan.At{T: c.T}}, p.colOff(def.q, i))
		}
	}
	def.recursive, def.stepQ = true, step
}

// sameCollations refuses a recursive query whose columns have other collations than its
// first part gives them.
func (p *planner) sameCollations(def *cteDef, step *query, name string) {
	if !p.coll.any {
		return
	}
	first, then := p.queryCollations(def.q), p.queryCollations(step)
	for i := range min(len(first), len(then)) {
		both := first[i].merge(then[i])
		if both.strength == collNone || both.strength == collConflict || both.name == first[i].name {
			continue
		}
		fail(sqlerr.New(sqlerr.CollationMismatch, "recursive query \"%s\" column %d has collation \"%s\" in non-recursive term but collation \"%s\" overall",
			name, i+1, first[i].shown(), both.shown()).At(p.colOff(def.q, i)).
			WithHint("Use the COLLATE clause to set the collation of the non-recursive term."))
	}
}

// cteRel makes a range-table entry of a reference to a WITH query.
func (p *planner) cteRel(def *cteDef, alias string, off int) *rel {
	q := &query{rel: p.newRel(), ref: def}
	q.cols = append(q.cols, def.q.cols...)
	if def.binding || def.recursive { // rows of two queries
		for i := range q.cols {
			q.cols[i].Table, q.cols[i].AttNum = 0, 0
		}
	}
	if def.binding {
		q.work = true
	} else {
		def.refs++
		if def.dml && len(def.q.cols) == 0 {
			failf(sqlerr.FeatureNotSupported, off, "WITH query \"%s\" does not have a RETURNING clause", def.name)
		}
	}
	return p.queryRel(q, alias)
}

// forward refuses the name of a WITH query that may not be referred to yet.
func (s *scope) forward(n *ast.Name) {
	name := n.Last()
	for ; s != nil; s = s.parent {
		if s.later[name] {
			fail(sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", name).At(n.Pos()).
				WithDetail("There is a WITH item named \"%s\", but it cannot be referenced from this part of the query.", name).
				WithHint("Use WITH RECURSIVE, or re-order the WITH items to remove forward references."))
		}
	}
}
