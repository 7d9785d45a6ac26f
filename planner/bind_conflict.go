package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

func (p *planner) onConflict(s *ast.Insert, t *catalog.Table, alias string, live []int, sc *scope) *plan.OnConflict {
	c := s.OnConflict
	out := &plan.OnConflict{DoUpdate: c.DoUpdate}
	switch {
	case c.Constraint != "":
		for _, u := range t.Uniques {
			if u.Name == c.Constraint {
				if u.Deferrable {
					fail(errDeferrableArbiter(c.Pos()))
				}
				out.Indexes = append(out.Indexes, t.IndexByOID(u.Index))
			}
		}
		if out.Indexes == nil {
			failf(sqlerr.UndefinedObject, c.Pos(), "constraint \"%s\" for table \"%s\" does not exist", c.Constraint, t.Name)
		}
	case len(c.Targets) > 0:
		out.Indexes = p.arbiters(c, t)
	case !c.DoUpdate:
		for _, ix := range t.Indexes {
			if ix.Unique && t.Deferrable(ix) {
				fail(errDeferrableArbiter(-1))
			}
		}
	default:
		fail(sqlerr.New(sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").At(c.Pos()).
			WithHint("For example, ON CONFLICT (column_name)."))
	}
	for _, ix := range out.Indexes {
		for _, k := range ix.Keys {
			if k.Col >= 0 {
				p.dest.Read(k.Col)
			}
		}
	}
	if !c.DoUpdate {
		return out
	}
	r := p.tableRel(t, alias)
	p.watch(r, p.dest)
	x := p.tableRel(t, "excluded")
	lay := layout{}
	lay.addTable(r, live, 0)
	lay.addTable(x, live, len(live))
	ns := []*nsItem{p.relNames(r, nil, -1)}
	ex := p.relNames(x, nil, -1)
	ex.colsVisible = false
	ns = append(ns, ex)
	b := &binder{planner: p, scope: &scope{parent: sc, items: ns}, what: "UPDATE", noAgg: true, noWin: true}
	out.SetCols, out.Set = p.assignments(c.Set, t, r, b)
	out.Set = p.planExprs(out.Set, lay)
	if c.UpdWhere != nil {
		b.what = "WHERE"
		out.Where = p.planExprs([]plan.Expr{conjunctionOr(b.cond(c.UpdWhere))}, lay)[0]
	}
	return out
}

func conjunctionOr(l []plan.Expr) plan.Expr {
	if x := conjunction(l); x != nil {
		return x
	}
	return constBool(true)
}

// arbiters finds the unique indexes whose keys are exactly the conflict target.
func (p *planner) arbiters(c *ast.OnConflict, t *catalog.Table) []*catalog.Index {
	want := map[int]bool{}
	var exprs []string
	for i := range c.Targets {
		switch x := c.Targets[i].X.(type) {
		case *ast.ColumnRef:
			col := t.Col(x.Parts[len(x.Parts)-1])
			if col < 0 {
				failf(sqlerr.UndefinedColumn, x.Pos(), "column \"%s\" does not exist", x.Parts[len(x.Parts)-1])
			}
			want[col] = true
		default:
			exprs = append(exprs, ast.Format(x))
		}
	}
	var out []*catalog.Index
	for _, ix := range t.Indexes {
		if !ix.Unique || (ix.Where != "") != (c.Where != nil) && ix.Where != "" {
			continue
		}
		got, used := map[int]bool{}, 0
		match := true
		for _, k := range ix.Keys {
			if k.Col >= 0 {
				got[k.Col] = true
				match = match && want[k.Col]
				continue
			}
			if slices.Contains(exprs, k.Expr) {
				used++
			} else {
				match = false
			}
		}
		if match && len(got) == len(want) && used == len(exprs) {
			out = append(out, ix)
		}
	}
	for _, ix := range out {
		if t.Deferrable(ix) {
			fail(errDeferrableArbiter(-1))
		}
	}
	if out == nil {
		failf(sqlerr.InvalidColumnReference, -1, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	return out
}

func errDeferrableArbiter(pos int) error {
	e := sqlerr.New(sqlerr.ObjectNotInPrerequisite, "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters")
	if pos >= 0 {
		return e.At(pos)
	}
	return e
}
