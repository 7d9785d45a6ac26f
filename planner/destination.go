package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// destination is what INSERT, UPDATE or DELETE changes: the rows of a table,
// named itself or through views.
//
//	CREATE VIEW v AS SELECT b AS x, a + 1 AS y FROM t WHERE a > 0;
//	UPDATE v SET x = x + 1 WHERE y < 5   is   UPDATE t SET b = b + 1 WHERE a + 1 < 5 AND a > 0
//
// The statement is bound over shape, which has the columns of the named
// relation; references to them are replaced by what they are in the table.
type destination struct {
	shape  *catalog.Table
	table  *catalog.Table   // whose rows change; nil when a view does not lead to one
	right  *catalog.Right   // on the named relation
	views  []*destView      // outermost first; nil for a table
	upsert *plan.OnConflict // of INSERT … ON CONFLICT DO UPDATE
	// tree are the tables that the rows are in, nil when that is the table alone;
	// only tells that those below the table are not meant
	tree []*catalog.Table
	only bool
}

// destView is a view on the way to the table.
type destView struct {
	*viewAnalysis
	view  *catalog.View
	shape *catalog.Table // the view's columns
	below *catalog.Table // the columns of the relation below it
	right *catalog.Right // what the view's owner needs there
	as    string         // the role that reads below the view
}

// destination finds what a statement changes; with only, not what is below a table.
func (p *planner) destination(n *ast.Name, only bool, verb string) *destination {
	obj := p.mustRelation(n)
	v, isView := obj.(*catalog.View)
	if !isView || v.Materialized != nil {
		t := p.dmlTable(n, only, verb)
		d := &destination{shape: t, table: t, right: p.dest, only: only}
		if t != nil && (verb != "INSERT" || t.Key != nil) { // INSERT leaves alone what inherits
			d.tree = p.dmlTree(t, only)
		}
		return d
	}
	p.writes = true
	d := &destination{shape: viewShape(v), right: p.need(v, dmlPrivs[verb])}
	p.dest = d.right
	for {
		p.restricted(v)
		a := p.analyseView(v)
		step := &destView{viewAnalysis: a, view: v, shape: viewShape(v), as: viewActor(v)}
		d.views = append(d.views, step)
		switch base := a.base.(type) {
		case *catalog.Table:
			d.table, step.below = base, base
			d.only = a.query.From[0].(*ast.TableRef).Only
			if verb == "INSERT" && base.Key == nil {
				p.use(base, true)
				break
			}
			p.useTree(base, d.only, true)
			d.tree = p.dmlTree(base, d.only)
		case *catalog.View:
			if slices.ContainsFunc(d.views, func(s *destView) bool { return s.view == base }) {
				fail(sqlerr.New(sqlerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation \"%s\"", base.Name))
			}
			step.below = viewShape(base)
			v = base
			continue
		}
		return d
	}
}

// viewShape describes a view's columns as a table's.
func viewShape(v *catalog.View) *catalog.Table {
	return &catalog.Table{Common: v.Common, RowType: v.RowType, Columns: v.Columns}
}

// viewActor is the role that needs the rights on what a view reads: its owner, or ""
// for the user, even where a view of another role reads this one.
func viewActor(v *catalog.View) string {
	if catalog.BoolOption(v.Options.Value(catalog.OptSecurityInvoker)) {
		return ""
	}
	return v.Owner
}

// barrier reports whether what a view hides must be hidden from the conditions
// of its user.
func barrier(v *catalog.View) bool {
	return v != nil && catalog.BoolOption(v.Options.Value(catalog.OptSecurityBarrier))
}

// viewVerbs are the words of messages about changing a view.
var viewVerbs = map[string]struct{ do, doing, column string }{
	"INSERT": {"insert into", "inserting into", "insert into"},
	"UPDATE": {"update", "updating", "update"},
	"DELETE": {"delete from", "deleting from", ""},
}

// ready refuses a statement on a view that is not updatable, and assignments to
// columns that are not: set has the assigned columns of the named relation. What
// the owners of the views need is noted behind what the user needs.
func (p *planner) ready(d *destination, verb string, set []int) {
	w := viewVerbs[verb]
	for _, v := range d.views {
		why := v.why
		if why == "" && verb != "DELETE" && !slices.ContainsFunc(v.cols, func(c int) bool { return c >= 0 }) {
			why = noUpdatableColumns
		}
		if why != "" {
			fail(sqlerr.New(sqlerr.ObjectNotInPrerequisite, "cannot %s view \"%s\"", w.do, v.view.Name).WithDetail("%s", why).
				WithHint("To enable %s the view, provide an INSTEAD OF %s trigger or an unconditional ON %s DO INSTEAD rule.", w.doing, verb, verb))
		}
		set = v.updatable(w.column, set)
		if v.base != nil && v.below == nil {
			p.systemFixed(v.base, v.as, dmlPrivs[verb], -1)
		}
		if v.right == nil {
			as := p.as
			p.as = v.as
			v.right = p.need(v.base, 0)
			p.as = as
		}
	}
}

// updatable maps assigned columns of the view to those of the relation below.
func (v *destView) updatable(verb string, set []int) []int {
	var out []int
	for _, c := range set {
		below := v.cols[c]
		if below < 0 {
			fail(sqlerr.New(sqlerr.FeatureNotSupported, "cannot %s column \"%s\" of view \"%s\"", verb, v.view.Columns[c].Name, v.view.Name).
				WithDetail("%s", v.whys[c]))
		}
		if slices.Contains(out, below) {
			failf(sqlerr.SyntaxError, -1, "multiple assignments to same column \"%s\"", v.base.RelColumns()[below].Name)
		}
		out = append(out, below)
	}
	return out
}

// column returns the table's column that a column of the named relation is, or -1.
func (d *destination) column(c int) int {
	for _, v := range d.views {
		if v.cols == nil {
			return -1
		}
		if c = v.cols[c]; c < 0 {
			return -1
		}
	}
	return c
}

// columns maps columns of the named relation that are the table's.
func (d *destination) columns(list []int) []int {
	var out []int
	for _, c := range list {
		out = append(out, d.column(c))
	}
	return out
}

// descriptor is the column that decides how a column of the named relation may
// be assigned: the table's, if it is one.
func (d *destination) descriptor(c int) *catalog.Column {
	if b := d.column(c); b >= 0 && d.table != nil {
		return &d.table.Columns[b]
	}
	return &d.shape.Columns[c]
}

// defaultOf is the default of a column of the named relation: that of the
// outermost view that has one, or the table's. nil: there is none.
func (p *planner) defaultOf(d *destination, c int) plan.Expr {
	if v, c := d.viewDefault(c); v != nil {
		return p.columnDefault(v.shape, c)
	}
	if c = d.column(c); c < 0 {
		return nil
	}
	return p.columnDefault(d.table, c)
}

// viewDefault finds the outermost view that has a default of its own for a column of
// the named relation, and the column there.
func (d *destination) viewDefault(c int) (*destView, int) {
	for _, v := range d.views {
		if v.view.Columns[c].Default != "" {
			return v, c
		}
		if v.cols == nil {
			break
		}
		if c = v.cols[c]; c < 0 {
			break
		}
	}
	return nil, -1
}

// updateDefault is what SET column = DEFAULT assigns: a view without a default
// of its own gives NULL.
func (p *planner) updateDefault(d *destination, c int) plan.Expr {
	if d.givesNull(c) {
		return nullConst(d.shape.Columns[c].Type)
	}
	return p.columnDefault(d.shape, c)
}

// givesNull reports whether DEFAULT in UPDATE stands for a NULL that is assigned
// to the table's column.
func (d *destination) givesNull(c int) bool {
	return d.views != nil && d.shape.Columns[c].Default == ""
}

// insertThrough maps the values of a new row from the columns of the named
// relation to the table's, with the views' defaults for those without one.
func (p *planner) insertThrough(d *destination, width []plan.Expr, overriding string) []plan.Expr {
	filled := make([]bool, len(width)) // by a default of a view
	for _, v := range d.views {
		below, filledBelow := make([]plan.Expr, len(v.below.Columns)), make([]bool, len(v.below.Columns))
		for i := range v.view.Columns {
			x := width[i]
			if x == nil && v.view.Columns[i].Default != "" {
				x = p.columnDefault(v.shape, i)
				filled[i] = true
			}
			if x != nil {
				b := v.updatable("insert into", []int{i})[0]
				below[b], filledBelow[b] = x, filled[i]
			}
		}
		width, filled = below, filledBelow
	}
	for c, is := range filled {
		if is {
			insertable(&d.table.Columns[c], overriding)
		}
	}
	return width
}

// entry makes the range-table entry that a statement is bound over.
func (p *planner) entry(d *destination, alias string) *rel {
	if alias == "" {
		alias = d.shape.Name
	}
	r := p.tableRel(d.shape, alias)
	if d.views != nil {
		r.table, r.view = nil, d.views[0].view
	}
	return r
}

// through returns the table's entry for one of the named relation, what
// replaces references to the latter, and each view's conditions. For a table
// it is the entry itself.
func (p *planner) through(d *destination, r *rel) (base *rel, replace func(plan.Expr) plan.Expr, conds [][]plan.Expr) {
	if d.views == nil {
		return r, nil, nil
	}
	base = p.tableRel(d.table, r.alias)
	cols, conds := p.viewColumns(d, 0, base)
	return base, replacing(r, cols, base), conds
}

// replacing returns a function that puts expressions in the place of an entry's
// columns; system columns are those of base.
func replacing(r *rel, cols []plan.Expr, base *rel) func(plan.Expr) plan.Expr {
	return func(x plan.Expr) plan.Expr {
		v, ok := x.(*plan.Var)
		if !ok || v.Rel != r.id {
			return x
		}
		if v.Col >= 0 {
			return cols[v.Col]
		}
		sys := *v
		sys.Rel = base.id
		return &sys
	}
}

// replaceIn applies a replacement to expressions with their subqueries.
func replaceIn(list []plan.Expr, f func(plan.Expr) plan.Expr) []plan.Expr {
	if f == nil {
		return list
	}
	bl := &block{where: list}
	mapQuery(&query{block: bl}, f)
	return bl.where
}

// viewColumns binds the columns and the conditions of the views from the k-th
// down, over an entry of the table.
func (p *planner) viewColumns(d *destination, k int, base *rel) (cols []plan.Expr, conds [][]plan.Expr) {
	if k == len(d.views) {
		cols = make([]plan.Expr, len(d.table.Columns))
		for i, c := range d.table.Columns {
			cols[i] = &plan.Var{At: plan.At{T: c.Type, Off: -1}, Rel: base.id, Col: i, Name: c.Name}
		}
		return cols, nil
	}
	v := d.views[k]
	lower, conds := p.viewColumns(d, k+1, base)
	from := v.query.From[0].(*ast.TableRef)
	entry := p.tableRel(v.below, aliasOf(from))
	if k+1 < len(d.views) {
		entry.table, entry.view = nil, d.views[k+1].view
	} else if d.tree != nil {
		entry.tree = p.treeOf(d.table, d.only) // its tableoid is that of the row
	}
	as := p.as
	p.as = v.as
	p.watch(entry, v.right)
	bl := &block{rels: map[int]*rel{entry.id: entry}, from: []*joinItem{{rel: entry}}}
	sc := &scope{block: bl, items: []*nsItem{p.relNames(entry, from.Cols)}}
	b := &binder{planner: p, scope: sc, noAgg: true, noWin: true}
	var where []plan.Expr
	p.within(v.view.CallsOf(v.view.Query), func() {
		for i := range v.query.Targets {
			p.target(&v.query.Targets[i], b, bl)
		}
		b.what = "WHERE"
		where = b.cond(v.query.Where)
	})
	p.as = as
	for i := range bl.targets {
		x := p.known(bl.targets[i].x)
		cols = append(cols, x)
	}
	f := replacing(entry, lower, base)
	return replaceIn(cols, f), append([][]plan.Expr{replaceIn(where, f)}, conds...)
}

// grant makes the rights that the statement needs on the named relation those
// that the views' owners need below: to read all columns that the view names,
// if the statement reads any.
func (d *destination) grant() {
	above := d.right
	for _, v := range d.views {
		r := v.right
		r.Need = above.Need
		if above.Need&catalog.PrivSelect == 0 {
			r.Select = nil
		}
		below := func(cols []int) []int {
			var out []int
			for _, c := range cols {
				if b := v.cols[c]; b >= 0 {
					out = append(out, b)
				}
			}
			return out
		}
		r.Insert, r.Update = below(above.Insert), below(above.Update)
		above = r
	}
}

// viewChecks are the conditions that WITH CHECK OPTION asks of new rows, those
// of inner views first.
func (p *planner) viewChecks(d *destination, live []int) []plan.RowCheck {
	cascaded := false
	var out []plan.RowCheck
	for k, v := range d.views {
		option := v.view.CheckOption
		cascaded = cascaded || option == "cascaded"
		if option == "" && !cascaded || v.query.Where == nil {
			continue
		}
		base := p.tableRel(d.table, "")
		_, conds := p.viewColumns(d, k, base)
		lay := layout{}
		lay.addTable(base, live, 0)
		if d.tree != nil && slices.ContainsFunc(conds[0], func(x plan.Expr) bool { return readsTableOID(x, base) }) {
			unsupported(-1, "WITH CHECK OPTION over the tableoid of a table with partitions or children")
		}
		cond := stripPos(p.planExprs([]plan.Expr{conjunctionOr(conds[0])}, lay)[0])
		out = append(out, plan.RowCheck{View: v.view.Name, Cond: cond})
	}
	slices.Reverse(out)
	return out
}

// readsTableOID reports whether an expression has the tableoid of an entry.
func readsTableOID(x plan.Expr, r *rel) bool {
	found := false
	plan.Visit(x, func(y plan.Expr) bool {
		if v, ok := y.(*plan.Var); ok && v.Rel == r.id && v.Col == plan.ColTableOID {
			found = true
		}
		return !found
	})
	return found
}

// filterThrough adds the conditions of the views to those of the statement. What
// a security_barrier view hides, the statement's own conditions must not see
// unless they are leakproof: they come after the view's in one conjunction.
func (d *destination) filterThrough(own []plan.Expr, conds [][]plan.Expr) []plan.Expr {
	out := own
	for k, v := range d.views {
		hidden := conds[k]
		if barrier(v.view) && len(hidden) > 0 && slices.ContainsFunc(out, leaks) {
			out = []plan.Expr{&plan.And{At: plan.At{T: types.TBool, Off: -1}, Args: append(slices.Clone(hidden), out...)}}
			if slices.ContainsFunc(hidden, volatileCall) {
				continue
			}
		}
		out = append(slices.Clone(hidden), out...)
	}
	return out
}

// leaks reports whether an expression might tell something of the rows that it
// is computed for: it calls a function that is not leakproof, or has a subquery.
func leaks(x plan.Expr) bool {
	bad := false
	plan.Visit(x, func(y plan.Expr) bool {
		switch y := y.(type) {
		case *plan.Call:
			bad = bad || !y.Proc.LeakProof
		case *plan.Var, *plan.Const, *plan.Param, *plan.And, *plan.Or, *plan.Not, *plan.Is, *plan.Relabel:
		default:
			bad = true
		}
		return !bad
	})
	return bad
}
