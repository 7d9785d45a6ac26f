package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// insertable fails if INSERT cannot give the column a value that is not its default.
func insertable(c *catalog.Column, overriding string) {
	always := c.Identity == 'a' && overriding != "SYSTEM" && overriding != "USER"
	if !c.Generated && !always {
		return // of every value of a long VALUES list
	}
	err := sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", c.Name)
	if c.Generated {
		fail(err.WithDetail("Column \"%s\" is a generated column.", c.Name))
	}
	fail(err.WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", c.Name).
		WithHint("Use OVERRIDING SYSTEM VALUE to override."))
}

// generatedError is the error of an UPDATE that gives a generated column a value.
func generatedError(c *catalog.Column) error {
	return sqlerr.New(sqlerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", c.Name).
		WithDetail("Column \"%s\" is a generated column.", c.Name)
}

// planInsert binds and plans INSERT.
func (p *planner) planInsert(s *ast.Insert, outer *scope) plan.Node {
	sc, defs := outer, []*cteDef(nil)
	if s.With != nil {
		sc, defs = p.with(s.With, s, outer)
	}
	d := p.destination(&s.Table, false, "INSERT")
	from := p.insertSource(s, d, sc)
	src := from.bind()
	p.ready(d, "INSERT", from.given())
	ins := &plan.Insert{}
	if s.OnConflict != nil {
		if ins.OnConflict = p.onConflict(s, d, s.Alias, sc); ins.OnConflict.DoUpdate {
			d.upsert = ins.OnConflict
		}
	}
	ins.Returning, ins.Cols, ins.System = p.planReturning(p.bindReturning(s.Returning, d, s.Alias, nil, nil, sc), d, nil)
	ins.HasReturning = s.Returning != nil
	if s.OnConflict != nil {
		p.mustArbitrate(s.OnConflict, ins.OnConflict)
	}
	width := p.insertThrough(d, from.width, s.Overriding)
	t := d.table
	ins.Table, ins.Tree = t, d.tree
	ins.Checks = p.insertChecks(d, ins.OnConflict, s.Returning != nil, p.viewChecks(d, liveCols(t)))
	d.grant()
	ins.Input = p.insertedRows(t, src, width)
	ins.Common.Rows, ins.Cost = src.Base().Rows, src.Base().Cost
	p.prepareCTEs(defs)
	return ins
}

// insertedRows computes all columns of a table over a source of rows: those that width
// has no expression for are their defaults.
func (p *planner) insertedRows(t *catalog.Table, src plan.Node, width []plan.Expr) plan.Node {
	live := liveCols(t)
	pr := &plan.Project{Input: src}
	identity := len(src.Base().Cols) == len(live)
	for i, c := range live {
		x := width[c]
		if x == nil {
			x = p.columnDefault(t, c)
		}
		if k, ok := x.(*plan.Col); !ok || k.Idx != i {
			identity = false
		}
		pr.Exprs = append(pr.Exprs, x)
		pr.Cols = append(pr.Cols, plan.OutCol{Name: t.Columns[c].Name, T: t.Columns[c].Type})
	}
	if identity {
		return src
	}
	pr.Common.Rows, pr.Cost = src.Base().Rows, src.Base().Cost
	return pr
}
