package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// Indexes on expressions and partial indexes. An expression that an index has as a
// key is a column of the entry to the access paths, numbered behind those of the
// table; a partial index is a path where the conjuncts imply its predicate. Given
// CREATE INDEX i ON t (lower(a)) WHERE b > 5:
//
//	WHERE lower(a) = 'x' AND b > 7    range of i
//	WHERE lower(a) = 'x'              i does not help: it lacks rows

// indexExpr is a key of an index that is computed.
type indexExpr struct {
	key string // of the expression over the entry's columns
	t   types.T
}

// indexParts are an index's computed keys, nil for columns, and the conjuncts of its
// predicate, over the columns of an entry.
type indexParts struct {
	keys  []plan.Expr
	preds []plan.Expr
}

// partsOfIndex binds what an index computes of r's rows.
func (p *planner) partsOfIndex(r *rel, ix *catalog.Index) indexParts {
	q := newPlanner(p.Context) // what the index calls needs no rights of the statement's
	own := q.tableRel(r.table, r.table.Name)
	b := &binder{planner: q, scope: &scope{items: []*nsItem{q.relNames(own, nil)}}, what: "index expressions", noAgg: true, noWin: true, noSub: true}
	parse := func(text string) ast.Expr {
		q.only = r.table.CallsOf(text)
		x, err := q.Texts.ParseExpr(text)
		if err != nil {
			fail(err)
		}
		return x
	}
	here := func(x plan.Expr) plan.Expr {
		return plan.Map(x, func(e plan.Expr) plan.Expr {
			if v, ok := e.(*plan.Var); ok && v.Rel == own.id {
				w := *v
				w.Rel = r.id
				return &w
			}
			return e
		})
	}
	parts := indexParts{keys: make([]plan.Expr, len(ix.Keys))}
	for i, k := range ix.Keys {
		if k.Col < 0 {
			parts.keys[i] = here(q.known(b.expr(parse(k.Expr))))
		}
	}
	if ix.Where != "" {
		for _, c := range b.cond(parse(ix.Where)) {
			parts.preds = append(parts.preds, here(c))
		}
	}
	return parts
}

// loadExprs finds what the indexes of r's table compute, once.
func (p *planner) loadExprs(r *rel) {
	if r.parts != nil || r.table == nil || p.NoOptimizer {
		return
	}
	r.parts = map[*catalog.Index]indexParts{}
	for _, ix := range r.table.Indexes {
		if !p.readable(ix) || ix.Where == "" && !slices.ContainsFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Col < 0 }) || ix.ByElements(r.table) {
			continue
		}
		parts := p.partsOfIndex(r, ix)
		r.parts[ix] = parts
		for i, x := range parts.keys {
			if x == nil {
				continue
			}
			e := indexExpr{exprKey(x), ix.Keys[i].Type}
			if !slices.Contains(r.exprs, e) {
				r.exprs = append(r.exprs, e)
			}
		}
	}
}

// keyCol is the column of r, or the number of the expression, that a key of an index
// is; -1 if there is none.
func (r *rel) keyCol(ix *catalog.Index, i int, k catalog.IndexKey) int {
	if k.Col >= 0 {
		return k.Col
	}
	if ix == nil || i >= len(r.parts[ix].keys) || r.parts[ix].keys[i] == nil {
		return -1
	}
	at := slices.Index(r.exprs, indexExpr{exprKey(r.parts[ix].keys[i]), k.Type})
	if at < 0 {
		return -1
	}
	return len(r.cols) + at
}

// computed is the number of the index expression that x is, as a column.
func (r *rel) computed(x plan.Expr) (*plan.Var, bool) {
	if len(r.exprs) == 0 {
		return nil, false
	}
	switch x.(type) {
	case *plan.Const, *plan.Param:
		return nil, false
	}
	key := exprKey(x)
	for i, e := range r.exprs {
		if e.key == key {
			return &plan.Var{At: plan.At{T: e.t, Off: x.Pos()}, Rel: r.id, Col: len(r.cols) + i}, true
		}
	}
	return nil, false
}

// colType is the type of a column or index expression of r.
func (r *rel) colType(v *plan.Var) types.T {
	if 0 <= v.Col && v.Col < len(r.cols) {
		return r.cols[v.Col].T
	}
	return v.T
}

// holdsAll reports whether the conjuncts imply a partial index's predicate. same are
// the conjuncts that it consists of, and need not be tested; share is the estimated
// part of the rows that are in the index.
func (p *planner) holdsAll(r *rel, preds, conj []plan.Expr) (same []plan.Expr, share float64, ok bool) {
	rels := map[int]*rel{r.id: r}
	share = 1
	for _, want := range preds {
		key := exprKey(want)
		i := slices.IndexFunc(conj, func(c plan.Expr) bool { return exprKey(c) == key })
		switch {
		case i >= 0:
			same = append(same, conj[i])
		case !slices.ContainsFunc(conj, func(c plan.Expr) bool { return p.implies(c, want) || p.impliesNow(c, want) }):
			return nil, 0, false
		}
		share *= p.selectivity(want, rels)
	}
	return same, share, true
}
