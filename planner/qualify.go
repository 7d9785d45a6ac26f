package planner

import (
	"kvsqld/catalog"
	"kvsqld/parser/ast"
)

// QualifyNames gives the relations in FROM and the types in casts of a query
// their schemas, so that its text means the same whatever the search path. What
// is in pg_catalog, and names of WITH queries, stay as they are.
func QualifyNames(c *Context, q *ast.Select) {
	newPlanner(c).qualify(q, nil)
}

// ExpandStars writes the columns in place of * and t.* in a query's select
// lists, which later columns of the tables shall not join.
func ExpandStars(c *Context, q *ast.Select) (err error) {
	p := newPlanner(c)
	p.stars = map[*ast.ColumnRef][]ast.Target{}
	defer p.recover(&err)
	p.statement(q)
	ast.Walk(q, func(n ast.Node) bool {
		s, ok := n.(*ast.Select)
		if !ok {
			return true
		}
		var out []ast.Target
		for _, t := range s.Targets {
			if ref, ok := t.X.(*ast.ColumnRef); ok && p.stars[ref] != nil {
				out = append(out, p.stars[ref]...)
			} else {
				out = append(out, t)
			}
		}
		s.Targets = out
		return true
	})
	return nil
}

func (p *planner) qualify(q *ast.Select, ctes map[string]bool) {
	if q.With != nil {
		inner := make(map[string]bool, len(ctes)+len(q.With.CTEs))
		for name := range ctes {
			inner[name] = true
		}
		for i := range q.With.CTEs {
			inner[q.With.CTEs[i].Name] = true
		}
		ctes = inner
	}
	ast.Walk(q, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Select:
			if n != q && n.With != nil {
				p.qualify(n, ctes)
				return false
			}
		case *ast.TableRef:
			if len(n.Name.Parts) != 1 || ctes[n.Name.Parts[0]] {
				break
			}
			if r := p.lookupRelation(&n.Name); r != nil {
				if schema, name := r.RelName(); schema != catalog.SchemaPgCatalog {
					n.Name.Parts = []string{schema, name}
				}
			}
		case *ast.Cast:
			if len(n.Type.Name.Parts) != 1 {
				break
			}
			if in := p.typeByName("", n.Type.Name.Last()); in != nil {
				if schema := p.Snap.TypeSchema(in.OID); schema != "" && schema != catalog.SchemaPgCatalog {
					n.Type.Name.Parts = []string{schema, in.Name}
				}
			}
		}
		return true
	})
}
