package planner

import (
	"kvsqld/catalog"
	"kvsqld/parser/ast"
)

// QualifyBody gives the relations and the types in casts of the statements of a
// function's body their schemas, so that its text means the same whatever the
// search path. What is in pg_catalog, and names of WITH queries, stay as they are.
func QualifyBody(c *Context, body []ast.Stmt) {
	p := newPlanner(c)
	for _, st := range body {
		switch s := st.(type) {
		case *ast.Select:
			p.qualify(s, s.With, nil)
		case *ast.Insert:
			p.qualifyTable(&s.Table)
			p.qualify(s, s.With, nil)
		case *ast.Update:
			p.qualifyTable(&s.Table.Name)
			p.qualify(s, s.With, nil)
		case *ast.Delete:
			p.qualifyTable(&s.Table.Name)
			p.qualify(s, s.With, nil)
		}
	}
}

func (p *planner) qualifyTable(n *ast.Name) {
	if len(n.Parts) != 1 {
		return
	}
	if r := p.lookupRelation(n); r != nil {
		if schema, name := r.RelName(); schema != catalog.SchemaPgCatalog {
			n.Parts = []string{schema, name}
		}
	}
}

func (p *planner) qualify(q ast.Node, with *ast.With, ctes map[string]bool) {
	if with != nil {
		inner := make(map[string]bool, len(ctes)+len(with.CTEs))
		for name := range ctes {
			inner[name] = true
		}
		for i := range with.CTEs {
			inner[with.CTEs[i].Name] = true
		}
		ctes = inner
	}
	ast.Walk(q, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Select:
			if n != q && n.With != nil {
				p.qualify(n, n.With, ctes)
				return false
			}
		case *ast.TableRef:
			if !ctes[n.Name.Last()] {
				p.qualifyTable(&n.Name)
			}
		case *ast.Call:
			if len(n.Name.Parts) != 1 || catalog.ProcsByName(n.Name.Parts[0]) != nil {
				break
			}
			for _, s := range p.SearchPath {
				if p.Snap.Functions(p.DB, s, n.Name.Parts[0]) != nil {
					n.Name.Parts = []string{s, n.Name.Parts[0]}
					break
				}
			}
		case *ast.Cast:
			if len(n.Type.Name.Parts) != 1 {
				break
			}
			if in := p.typeByName("", n.Type.Name.Last()); in != nil {
				if schema := p.Snap.TypeSchema(p.DB, in.OID); schema != "" && schema != catalog.SchemaPgCatalog {
					n.Type.Name.Parts = []string{schema, in.Name}
				}
			}
		}
		return true
	})
}
