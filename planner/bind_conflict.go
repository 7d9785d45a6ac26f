package planner

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

func (p *planner) onConflict(s *ast.Insert, d *destination, alias string, sc *scope) *plan.OnConflict {
	c, t := s.OnConflict, d.shape
	out := &plan.OnConflict{DoUpdate: c.DoUpdate}
	switch {
	case c.Constraint != "":
		for _, u := range t.Uniques {
			if u.Name == c.Constraint {
				if u.Deferrable {
					fail(errDeferrableArbiter(t, u.Name))
				}
				if u.Exclude != nil && c.DoUpdate {
					failf(sqlerr.WrongObjectType, -1, "ON CONFLICT DO UPDATE not supported with exclusion constraints")
				}
				out.Indexes = append(out.Indexes, t.IndexByOID(u.Index))
			}
		}
		if out.Indexes == nil {
			if t.ConstraintOID(c.Constraint) != 0 {
				failf(sqlerr.WrongObjectType, -1, "constraint in ON CONFLICT clause has no associated index")
			}
			failf(sqlerr.UndefinedObject, -1, "constraint \"%s\" for table \"%s\" does not exist", c.Constraint, t.Name)
		}
	case len(c.Targets) > 0:
		out.Indexes = p.arbiters(c, d, alias)
	case !c.DoUpdate:
		for _, ix := range d.table.Indexes {
			if d.table.Deferrable(ix) {
				fail(errDeferrableArbiter(d.table, ix.Name))
			}
		}
	default:
		fail(sqlerr.New(sqlerr.SyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name").At(c.Pos()).
			WithHint("For example, ON CONFLICT (column_name)."))
	}
	for _, ix := range out.Indexes {
		for _, k := range ix.Keys {
			if i := d.named(k.Col); i >= 0 {
				p.dest.Read(i)
			}
		}
	}
	if !c.DoUpdate {
		return out
	}
	r, x := p.entry(d, alias), p.entry(d, "excluded")
	p.watch(r, d.right)
	p.watch(x, d.right)
	ns := []*nsItem{p.ownNames(r, d.shape, alias)}
	x.proposed = true
	ns = append(ns, p.relNames(x, nil))
	b := &binder{planner: p, scope: &scope{parent: sc, items: ns}, what: "UPDATE", noAgg: true, noWin: true}
	set, values := p.assignments(c.Set, d, r, b)
	where := constBool(true)
	if c.UpdWhere != nil {
		b.what = "WHERE"
		where = conjunctionOr(b.cond(c.UpdWhere))
	}
	p.ready(d, "INSERT", set)
	live := liveCols(d.table)
	lay := layout{}
	xs := append(values, where)
	for i, named := range []*rel{r, x} {
		base, replace, _ := p.through(d, named)
		lay.addTable(base, live, i*len(live))
		xs = replaceIn(xs, replace)
		notKnown(xs, base, "ON CONFLICT")
	}
	for _, x := range xs {
		p.constFault(&block{}, x)
	}
	xs = p.planExprs(xs, lay)
	out.SetCols, out.Set = d.columns(set), xs[:len(set)]
	if c.UpdWhere != nil {
		out.Where = xs[len(set)]
	}
	return out
}

// named is the column of the named relation that a column of the table is, or -1.
func (d *destination) named(col int) int {
	if d.views == nil {
		return col
	}
	return slices.IndexFunc(d.columns(seq(len(d.shape.Columns))), func(c int) bool { return c == col && c >= 0 })
}

// seq is 0 … n-1.
func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func conjunctionOr(l []plan.Expr) plan.Expr {
	if x := conjunction(l); x != nil {
		return x
	}
	return constBool(true)
}

// arbiters finds the unique indexes whose keys are exactly the conflict target,
// and whose rows are among those of its WHERE.
func (p *planner) arbiters(c *ast.OnConflict, d *destination, alias string) []*catalog.Index {
	p.checkTarget(c, d, alias)
	t := d.table
	cols := make([]int, len(c.Targets))
	keys := make([]string, len(c.Targets)) // of expressions
	r := p.tableRel(t, t.Name)
	b := &binder{planner: p, scope: &scope{items: []*nsItem{p.relNames(r, nil)}}, what: "index expressions", noAgg: true, noWin: true, noSub: true}
	bind := func(x ast.Expr) string { return exprKey(b.known(b.expr(x))) }
	parse := func(text string) ast.Expr {
		x, err := p.Texts.ParseExpr(text)
		if err != nil {
			fail(err)
		}
		return x
	}
	for i := range c.Targets {
		cols[i] = -1
		if o := c.Targets[i].Opclass; o != nil && catalog.FindOpclass(catalog.OIDBtreeAm, 0, o.Last()) == nil {
			failf(sqlerr.UndefinedObject, -1, "operator class \"%s\" does not exist for access method \"btree\"", o.Last())
		}
		switch x := c.Targets[i].X.(type) {
		case *ast.ColumnRef:
			if col := d.shape.Col(x.Parts[len(x.Parts)-1]); col >= 0 {
				cols[i] = d.column(col)
			} // else -1, which no index has, as for what is no column of the table
		default:
			keys[i] = bind(parse(p.baseText(d, alias, x)))
		}
	}
	stored := func(text string) (key string) {
		p.within(t.CallsOf(text), func() { key = bind(parse(text)) })
		return key
	}
	var out []*catalog.Index
	for _, ix := range t.Indexes {
		if !ix.Unique || ix.Invalid || ix.Where != "" && !p.impliesText(t, c.Where, d, alias, ix.Where) {
			continue
		}
		used := make([]bool, len(c.Targets))
		match := true
		for _, k := range ix.Keys {
			found := false
			for i := range c.Targets {
				if (k.Col >= 0 && cols[i] == k.Col || k.Col < 0 && keys[i] != "" && keys[i] == stored(k.Expr)) && p.sameComparison(&c.Targets[i], t, k) {
					used[i], found = true, true
				}
			}
			match = match && found
		}
		if match && !slices.Contains(used, false) {
			out = append(out, ix)
		}
	}
	for _, ix := range out {
		if t.Deferrable(ix) {
			fail(errDeferrableArbiter(t, ix.Name))
		}
	}
	return out
}

// checkTarget resolves the names of a conflict target, which are those of the named
// relation.
func (p *planner) checkTarget(c *ast.OnConflict, d *destination, alias string) {
	r := p.entry(d, alias)
	items := []*nsItem{p.ownNames(r, d.shape, alias)}
	if c.DoUpdate {
		items = append(items, p.outOfReach(d))
	}
	b := &binder{planner: p, scope: &scope{items: items}, what: "index expressions", noAgg: true, noWin: true, noSub: true}
	for i := range c.Targets {
		x := c.Targets[i].X
		if ref, ok := x.(*ast.ColumnRef); ok && len(ref.Parts) == 1 {
			x = &ast.ColumnRef{Off: c.TargetOff, Parts: ref.Parts}
		}
		b.expr(x)
	}
	if c.Where != nil {
		b.what = "index predicates"
		b.expr(c.Where)
	}
}

// outOfReach is the proposed row where it cannot be named, which hints know.
func (p *planner) outOfReach(d *destination) *nsItem {
	x := p.entry(d, "excluded")
	x.proposed = true
	it := p.relNames(x, nil)
	it.relVisible, it.colsVisible = false, false
	return it
}

// mustArbitrate has the statement fail when it is run if nothing enforces what ON CONFLICT
// names: prepared, it may find an index by then.
func (p *planner) mustArbitrate(c *ast.OnConflict, bound *plan.OnConflict) {
	if len(c.Targets) > 0 && bound.Indexes == nil && p.fault == nil {
		p.fault = sqlerr.New(sqlerr.InvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
}

// sameComparison reports whether an index key compares as the conflict target
// says: with its collation and operator class, where it names them.
func (p *planner) sameComparison(c *ast.ConflictTarget, t *catalog.Table, k catalog.IndexKey) bool {
	if c.Collate != nil {
		have := k.Collation
		if have == "" && k.Col >= 0 {
			have = t.Columns[k.Col].Collation
		}
		if name := c.Collate.Last(); name != have && (name != "default" || have != "") {
			return false
		}
	}
	pattern := func(class string) bool { return strings.HasSuffix(class, "_pattern_ops") }
	if c.Opclass == nil || k.Col < 0 {
		return c.Opclass == nil || pattern(c.Opclass.Last()) == pattern(k.Opclass)
	}
	named := catalog.FindOpclass(catalog.OIDBtreeAm, 0, c.Opclass.Last())
	have := p.Snap.DefaultOpclass(catalog.OIDBtreeAm, t.Columns[k.Col].Type)
	if k.Opclass != "" {
		have = catalog.FindOpclass(catalog.OIDBtreeAm, 0, k.Opclass)
	}
	return have != nil && have.Family == named.Family && have.InType == named.InType
}

func errDeferrableArbiter(t *catalog.Table, name string) error {
	return sqlerr.Raise(sqlerr.Error{Code: sqlerr.ObjectNotInPrerequisite, Schema: t.Schema, Table: t.Name, Constraint: name,
		Message: "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters"})
}

// baseText is an expression over the columns of the named relation, which has an alias
// or not, with the names that these have in the table.
func (p *planner) baseText(d *destination, alias string, x ast.Expr) string {
	if d.views == nil && alias == "" {
		return ast.Format(x)
	}
	y, err := p.Texts.ParseExpr(ast.Format(x))
	if err != nil {
		fail(err)
	}
	if alias == "" {
		alias = d.shape.Name
	}
	ast.Walk(y, func(n ast.Node) bool {
		ref, ok := n.(*ast.ColumnRef)
		if !ok || ref.Star {
			return true
		}
		parts := ref.Parts
		if len(parts) == 2 && parts[0] == alias {
			parts = parts[1:]
		}
		if len(parts) != 1 {
			return true
		}
		if c := d.shape.Col(parts[0]); c >= 0 && d.column(c) >= 0 {
			ref.Parts = []string{d.table.Columns[d.column(c)].Name}
		}
		return true
	})
	return ast.Format(y)
}
