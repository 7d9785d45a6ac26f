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
