package planner

import (
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// recursionOrder checks the references among the queries of WITH RECURSIVE and
// returns them in an order in which each follows those that it reads, and
// whether it reads itself.
func recursionOrder(w *ast.With) (order []int, self []bool) {
	n := len(w.CTEs)
	self = make([]bool, n)
	reads := make([][]bool, n)
	for i := range w.CTEs {
		reads[i] = make([]bool, n)
		for j := range w.CTEs {
			r := &selfRefs{name: w.CTEs[j].Name, any: true}
			r.stmt(w.CTEs[i].Stmt, "")
			reads[i][j] = r.n > 0
		}
		self[i] = reads[i][i]
	}
	done := make([]bool, n)
	for len(order) < n {
		next := -1
		for i := 0; i < n && next < 0; i++ {
			ready := !done[i]
			for j := range n {
				ready = ready && (j == i || done[j] || !reads[i][j])
			}
			if ready {
				next = i
			}
		}
		if next < 0 {
			for i := range n {
				if !done[i] {
					failf(sqlerr.FeatureNotSupported, w.CTEs[i].Pos(), "mutual recursion between WITH items is not implemented")
				}
			}
		}
		done[next] = true
		order = append(order, next)
	}
	for i := range w.CTEs {
		if self[i] {
			checkRecursive(&w.CTEs[i])
		}
	}
	return order, self
}

// checkRecursive refuses a query that refers to itself in another place than
// once in the right side of its UNION.
func checkRecursive(c *ast.CTE) {
	s, ok := c.Stmt.(*ast.Select)
	if !ok {
		failf(sqlerr.InvalidRecursion, c.Pos(), "recursive query \"%s\" must not contain data-modifying statements", c.Name)
	}
	if s.SetOp == nil || s.SetOp.Op != "UNION" {
		failf(sqlerr.InvalidRecursion, c.Pos(), "recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] recursive-term", c.Name)
	}
	refuse := func(n ast.Node, what string) {
		failf(sqlerr.FeatureNotSupported, n.Pos(), "%s in a recursive query is not implemented", what)
	}
	r := &selfRefs{name: c.Name}
	r.sel(s.SetOp.L, "its non-recursive term")
	r.sel(s.SetOp.R, "")
	if s.With != nil && !slices.ContainsFunc(s.With.CTEs, func(w ast.CTE) bool { return w.Name == c.Name }) {
		for i := range s.With.CTEs {
			r.stmt(s.With.CTEs[i].Stmt, "a subquery")
		}
	}
	switch {
	case len(s.OrderBy) > 0:
		refuse(s.OrderBy[0].X, "ORDER BY")
	case s.Offset != nil:
		refuse(s.Offset, "OFFSET")
	case s.Limit != nil:
		refuse(s.Limit, "LIMIT")
	case len(s.Locking) > 0:
		failf(sqlerr.FeatureNotSupported, -1, "FOR UPDATE/SHARE in a recursive query is not implemented")
	}
}

// selfRefs counts the references to a WITH query and, unless any place will do,
// refuses those in places that recursion does not allow; within names the place,
// "" where it is allowed.
type selfRefs struct {
	name string
	any  bool
	n    int
}

func (r *selfRefs) ref(t *ast.TableRef, within string) {
	if len(t.Name.Parts) != 1 || t.Name.Parts[0] != r.name {
		return
	}
	r.n++
	switch {
	case r.any:
	case within != "":
		failf(sqlerr.InvalidRecursion, t.Pos(), "recursive reference to query \"%s\" must not appear within %s", r.name, within)
	case r.n > 1:
		failf(sqlerr.InvalidRecursion, t.Pos(), "recursive reference to query \"%s\" must not appear more than once", r.name)
	}
}

func (r *selfRefs) stmt(s ast.Stmt, within string) {
	if q, ok := s.(*ast.Select); ok {
		r.sel(q, within)
		return
	}
	ast.Walk(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Select:
			r.sel(n, within)
			return false
		case *ast.TableRef:
			r.ref(n, within)
		}
		return true
	})
}

func (r *selfRefs) sel(s *ast.Select, within string) {
	if s.With != nil {
		hides := slices.IndexFunc(s.With.CTEs, func(c ast.CTE) bool { return c.Name == r.name })
		if hides >= 0 && s.With.Recursive {
			return // another query of that name
		}
		for i := range s.With.CTEs {
			if r.stmt(s.With.CTEs[i].Stmt, within); i == hides {
				return // the queries after it mean it
			}
		}
	}
	if s.SetOp != nil {
		left, right := within, within
		if within == "" && s.SetOp.Op != "UNION" {
			if s.SetOp.All {
				left = s.SetOp.Op
			}
			if s.SetOp.All || s.SetOp.Op == "EXCEPT" {
				right = s.SetOp.Op
			}
		}
		r.sel(s.SetOp.L, left)
		r.sel(s.SetOp.R, right)
	}
	for _, f := range s.From {
		r.from(f, within)
	}
	rest := *s
	rest.With, rest.SetOp, rest.From = nil, nil, nil
	ast.Walk(&rest, func(n ast.Node) bool {
		if q, ok := n.(*ast.Select); ok && q != &rest {
			r.sel(q, orElse(within, "a subquery"))
			return false
		}
		return true
	})
}

func (r *selfRefs) from(f ast.FromItem, within string) {
	switch f := f.(type) {
	case *ast.TableRef:
		r.ref(f, within)
	case *ast.SubqueryRef:
		r.sel(f.Query, within)
	case *ast.Join:
		left, right := within, within
		if f.Kind == "RIGHT" || f.Kind == "FULL" {
			left = orElse(within, "an outer join")
		}
		if f.Kind == "LEFT" || f.Kind == "FULL" {
			right = orElse(within, "an outer join")
		}
		r.from(f.L, left)
		r.from(f.R, right)
		r.expr(f.On, within)
	case *ast.FuncRef:
		for _, c := range f.Calls {
			r.expr(c.X, within)
		}
	}
}

func (r *selfRefs) expr(x ast.Expr, within string) {
	if x == nil {
		return
	}
	ast.Walk(x, func(n ast.Node) bool {
		if q, ok := n.(*ast.Select); ok {
			r.sel(q, orElse(within, "a subquery"))
			return false
		}
		return true
	})
}

func orElse(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}
