package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// liveCols lists the numbers of the columns that are not dropped.
func liveCols(t *catalog.Table) []int {
	var out []int
	for i := range t.Columns {
		if !t.Columns[i].Dropped {
			out = append(out, i)
		}
	}
	return out
}

// dmlPrivs are the privileges that statements need on their target.
var dmlPrivs = map[string]catalog.Priv{"INSERT": catalog.PrivInsert, "UPDATE": catalog.PrivUpdate, "DELETE": catalog.PrivDelete}

// dmlTable finds the table that a statement changes.
func (p *planner) dmlTable(n *ast.Name, only bool, verb string) *catalog.Table {
	obj := p.mustRelation(n)
	if v, ok := obj.(*catalog.Virtual); ok && p.System {
		if t := p.Snap.Stored(p.DB, v, true); t != nil {
			obj = t
		}
	}
	switch o := obj.(type) {
	case *catalog.Table:
		p.useTree(o, only, true)
		p.writes = true
		p.dest = p.need(o, dmlPrivs[verb])
		return o
	case *catalog.View:
		failf(sqlerr.WrongObjectType, -1, "cannot change materialized view \"%s\"", o.Name)
	case *catalog.Virtual:
		p.systemFixed(o, p.as, dmlPrivs[verb], n.Pos())
	case *catalog.Sequence:
		failf(sqlerr.WrongObjectType, -1, "cannot change sequence \"%s\"", o.Name)
	}
	return nil
}

// systemFixed refuses to change a system catalog, which PostgreSQL allows to those who
// have the right.
func (p *planner) systemFixed(v catalog.Relation, as string, need catalog.Priv, off int) {
	if as == "" {
		as = p.User
	}
	if as != "" {
		if err := p.Snap.CheckPriv(as, v, need); err != nil {
			fail(err)
		}
	}
	_, name := v.RelName()
	unsupported(off, "changing the system catalog \"%s\"", name)
}

// columnDefault is the bound default of a column, or NULL of its type.
func (p *planner) columnDefault(t *catalog.Table, i int) plan.Expr {
	c := &t.Columns[i]
	if c.Identity != 0 || c.Default == "" && c.Sequence != 0 {
		return p.nextval(c.Sequence, c.Type)
	}
	text := c.Default
	if text == "" {
		text = p.domainDefault(c.Type)
	}
	if text == "" || c.Generated {
		return &plan.Const{At: plan.At{T: c.Type, Off: -1}, Val: types.Null(c.Type)}
	}
	x, err := p.Texts.ParseExpr(text)
	if err != nil {
		fail(err)
	}
	p.trusted++
	defer func() { p.trusted-- }()
	b := &binder{planner: p, scope: &scope{}, what: "DEFAULT expressions", noAgg: true, noWin: true, noSub: true}
	return stripPos(p.assign(b.expr(x), c, -1))
}

// stripPos removes offsets that belong to another text.
func stripPos(e plan.Expr) plan.Expr {
	return plan.Map(e, func(x plan.Expr) plan.Expr {
		if c, ok := x.(*plan.Call); ok {
			c.Off = -1
		}
		return x
	})
}

func (p *planner) nextval(seq types.OID, t types.T) plan.Expr {
	b := &binder{planner: p, scope: &scope{}}
	c, _ := b.findFunction(&funcCall{schema: "pg_catalog", name: "nextval", args: []plan.Expr{&plan.Const{At: plan.At{T: types.TRegclass, Off: -1}, Val: types.Int(types.TRegclass, int64(seq))}}})
	p.volatil = true
	p.writes = true
	x := plan.Expr(&plan.Call{At: plan.At{T: types.TInt8, Off: -1}, Proc: c.proc, Args: []plan.Expr{
		&plan.Const{At: plan.At{T: types.TRegclass, Off: -1}, Val: types.Int(types.TRegclass, int64(seq))}}})
	return p.must(x, t, assignment)
}

// assign converts a value to a column's type as an assignment does. Whether the
// value is in the column's domain is checked when the row is written.
func (p *planner) assign(x plan.Expr, c *catalog.Column, off int) plan.Expr {
	if y := p.coerce(x, c.Type, assignment); y != nil {
		return unchecked(y)
	}
	if at := leftmost(x); at >= 0 {
		off = at
	}
	fail(sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" is of type %s but expression is of type %s", c.Name, p.bareName(c.Type.OID), p.bareName(x.Type().OID)).
		At(off).WithHint("You will need to rewrite or cast the expression."))
	return nil
}

func (p *planner) noMod(t types.T) types.T { t.Mod = -1; return t }

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
		sc, defs = p.with(s.With, outer)
	}
	d := p.destination(&s.Table, false, "INSERT")
	t := d.shape // what names and positions refer to; the table itself but for a view
	var cols []int
	ib := &binder{planner: p, scope: &scope{parent: sc}, what: "INSERT", noAgg: true, noWin: true}
	places := ib.insertPlaces(s.Cols, t)
	for i := range places {
		cols = append(cols, places[i].col)
	}
	implicitCols := s.Cols == nil
	p.dest.Insert = cols
	if implicitCols {
		p.dest.Insert = liveCols(t)
	}
	ins := &plan.Insert{}
	width := make([]plan.Expr, len(t.Columns)) // expression per table column over the source
	var src plan.Node
	colOff := func(i int) int {
		if i < len(s.Cols) {
			return s.Cols[i].Pos()
		}
		return -1
	}
	check := func(i int, isDefault bool) {
		if !isDefault {
			insertable(d.descriptor(cols[i]), s.Overriding)
		}
	}
	number := func(n int, off int) {
		if n > len(cols) {
			failf(sqlerr.SyntaxError, off, "INSERT has more expressions than target columns")
		}
		if n < len(cols) && !implicitCols {
			failf(sqlerr.SyntaxError, colOff(n), "INSERT has more target columns than expressions")
		}
	}
	switch {
	case s.Default:
		src = &plan.Values{Rows: [][]plan.Expr{{}}}
		src.Base().Rows = 1
	case s.Query.Values != nil && s.Query.With == nil && s.Query.OrderBy == nil && s.Query.Limit == nil && s.Query.Offset == nil && s.Query.Locking == nil:
		b := &binder{planner: p, scope: &scope{parent: sc}, what: "VALUES", noAgg: true, noWin: true, srf: len(s.Query.Values) == 1}
		v := &plan.Values{}
		var rowCols []int
		for r, row := range s.Query.Values {
			row, out := b.spreadRow(row)
			if r == 0 {
				number(len(row), exprOff(row, len(cols)))
				rowCols = cols[:len(row)]
			}
			if len(row) != len(rowCols) {
				failf(sqlerr.SyntaxError, row[0].Pos(), "VALUES lists must all be the same length")
			}
			for i, x := range row { // all, before one of them says what a parameter is
				if sp, ok := x.(*ast.Special); out[i] == nil && (!ok || sp.Kind != "DEFAULT") {
					out[i] = b.expr(x)
				}
			}
			for i, x := range row {
				if sp, ok := x.(*ast.Special); ok && sp.Kind == "DEFAULT" {
					noDefault(places[i].a)
					v, _ := d.viewDefault(cols[i])
					check(i, v == nil)
					out[i] = p.defaultOf(d, cols[i])
					continue
				}
				check(i, false)
				if d.descriptor(cols[i]).Identity != 0 && s.Overriding == "USER" {
					out[i] = p.defaultOf(d, cols[i])
					continue
				}
				out[i] = places[i].value(p, t, out[i], x.Pos())
			}
			v.Rows = append(v.Rows, p.planExprs(out, nil))
		}
		for i, c := range rowCols {
			v.Cols = append(v.Cols, plan.OutCol{Name: t.Columns[c].Name, T: places[i].t})
		}
		v.Common.Rows = float64(len(v.Rows))
		src = v
		if b.sawSRF {
			src = projectSets(&plan.Values{Rows: [][]plan.Expr{{}}, Common: plan.Common{Rows: 1}}, v.Rows[0], v.Cols)
		}
		for i := range rowCols {
			places[i].put(p, t, width, &plan.Col{At: plan.At{T: places[i].t, Off: -1}, Idx: i})
		}
	default:
		q := p.bindSelect(s.Query, p.beside(d, sc))
		number(len(q.cols), p.colOff(q, len(cols)))
		for i := range q.cols {
			check(i, false)
			if q.cols[i].T.OID == types.OUnknown {
				p.castColumn(q, i, p.noMod(places[i].t))
			}
		}
		given := constTargets(q)
		src = p.planQuery(q)
		for i := range q.cols {
			if d.descriptor(cols[i]).Identity != 0 && s.Overriding == "USER" {
				continue
			}
			off := p.colOff(q, i)
			places[i].put(p, t, width, places[i].value(p, t, &plan.Col{At: plan.At{T: q.cols[i].T, Off: off}, Idx: i}, off))
			if k := given[i]; k != nil {
				p.constFault(q.block, places[i].value(p, t, k, off))
			}
		}
	}
	var given []int
	for c, x := range width {
		if x != nil {
			given = append(given, c)
		}
	}
	p.ready(d, "INSERT", given)
	if s.OnConflict != nil {
		if ins.OnConflict = p.onConflict(s, d, s.Alias, sc); ins.OnConflict.DoUpdate {
			d.upsert = ins.OnConflict
		}
	}
	ins.Returning, ins.Cols, ins.System = p.returning(s.Returning, d, s.Alias, nil, sc)
	ins.HasReturning = s.Returning != nil
	if s.OnConflict != nil {
		mustArbitrate(s.OnConflict, ins.OnConflict)
	}
	width = p.insertThrough(d, width, s.Overriding)
	t = d.table
	ins.Table, ins.Tree = t, d.tree
	live := liveCols(t)
	ins.Checks = p.insertChecks(d, ins.OnConflict, s.Returning != nil, p.viewChecks(d, live))
	d.grant()
	// fill in defaults
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
	ins.Input = src
	if !identity {
		pr.Common.Rows, pr.Cost = src.Base().Rows, src.Base().Cost
		ins.Input = pr
	}
	ins.Common.Rows, ins.Cost = src.Base().Rows, src.Base().Cost
	p.prepareCTEs(defs)
	return ins
}

// spreadRow is a row of VALUES in which every t.* and (x).* is as many entries as it has
// columns; those are bound, the others are not yet.
func (b *binder) spreadRow(row []ast.Expr) ([]ast.Expr, []plan.Expr) {
	if !slices.ContainsFunc(row, isSpread) {
		return row, make([]plan.Expr, len(row))
	}
	var entries []ast.Expr
	var bound []plan.Expr
	for _, x := range row {
		if !isSpread(x) {
			entries, bound = append(entries, x), append(bound, nil)
			continue
		}
		for _, v := range b.spread(x) {
			entries, bound = append(entries, x), append(bound, v)
		}
	}
	return entries, bound
}

func exprOff(row []ast.Expr, i int) int {
	if i < len(row) {
		return row[i].Pos()
	}
	return -1
}

// tableScope makes a scope with the table's live columns at positions first….
// The expressions are Vars of the returned entry, mapped to columns by cols.
func (p *planner) tableRel(t *catalog.Table, alias string) *rel {
	r := &rel{id: p.newRel(), alias: alias, table: t}
	if p.base == nil {
		p.base = map[int]bool{}
	}
	p.base[r.id] = true
	p.coll.noteTable(r.id, t)
	for i, c := range t.Columns {
		oc := plan.OutCol{Name: c.Name, T: c.Type, Table: t.OID, AttNum: int16(i + 1)}
		if c.Dropped {
			oc.Name = ""
		}
		r.cols = append(r.cols, oc)
	}
	return r
}

// layout maps Vars to positions of an input.
type layout map[[2]int]int

func (l layout) addTable(r *rel, live []int, base int) {
	for i, c := range live {
		l[[2]int{r.id, c}] = base + i
	}
}

// returning binds RETURNING over the changed row and the extra columns. system
// are the system columns that it reads, which then follow these.
func (p *planner) returning(list []ast.Target, d *destination, alias string, extra *fromExtra, sc *scope) (out []plan.Expr, cols []plan.OutCol, system []int) {
	if list == nil {
		return nil, nil, nil
	}
	r := p.entry(d, alias)
	r.upserted = d.upsert != nil
	p.watch(r, d.right)
	bl := &block{rels: map[int]*rel{r.id: r}}
	ns := []*nsItem{p.ownNames(r, d.shape, alias)}
	if r.upserted {
		ns = append(ns, p.outOfReach(d))
	}
	live := liveCols(d.table)
	lay := layout{}
	if extra != nil {
		ns = append(ns, extra.ns...)
		for k, v := range extra.lay {
			lay[k] = len(live) + v
		}
		for id, x := range extra.bl.rels {
			bl.rels[id] = x
		}
	}
	if d.tree != nil && d.views == nil {
		r.tree = &tree{members: d.tree}
	}
	b := &binder{planner: p, scope: &scope{parent: sc, items: ns}, what: "RETURNING", noAgg: true, noWin: true}
	for i := range list {
		p.target(&list[i], b, bl)
	}
	var xs []plan.Expr
	for _, t := range bl.targets {
		x := p.known(t.x)
		xs = append(xs, x)
		cols = append(cols, plan.OutCol{Name: t.name, T: x.Type(), Table: t.tbl, AttNum: t.attnum})
	}
	base, replace, _ := p.through(d, r)
	lay.addTable(base, live, 0)
	at := len(live)
	if extra != nil {
		at += len(extra.lay)
	}
	xs = replaceIn(xs, replace)
	for _, c := range []int{plan.ColCtid, plan.ColXmin, plan.ColXmax} {
		if findColumn(xs, base, c) != nil {
			lay[[2]int{base.id, c}] = at + len(system)
			system = append(system, c)
		}
	}
	if d.tree != nil {
		lay[[2]int{base.id, plan.ColTableOID}] = at + len(system)
	}
	return p.planExprs(xs, lay), cols, system
}

// beside is the scope around the query of an INSERT: hints tell of the table, which
// the query cannot refer to.
func (p *planner) beside(d *destination, sc *scope) *scope {
	r := p.entry(d, d.shape.Name)
	p.relNames(r, nil)
	return &scope{parent: sc, block: &block{rels: map[int]*rel{r.id: r}}}
}

// notKnown refuses the system columns of a row where they are not known.
func notKnown(xs []plan.Expr, base *rel, clause string) {
	for _, c := range []int{plan.ColCtid, plan.ColXmin} {
		if v := findColumn(xs, base, c); v != nil {
			unsupported(v.Off, "%s in %s", v.Name, clause)
		}
	}
}

// findColumn returns where expressions read a column of a row, or nil.
func findColumn(xs []plan.Expr, base *rel, col int) (found *plan.Var) {
	for _, x := range xs {
		plan.Visit(x, func(e plan.Expr) bool {
			if v, ok := e.(*plan.Var); ok && v.Rel == base.id && v.Col == col {
				found = v
			}
			return found == nil
		})
	}
	return found
}

// fromExtra is what RETURNING of UPDATE … FROM may see beside the target.
type fromExtra struct {
	ns  []*nsItem
	lay layout
	bl  *block
}

// assignments binds a SET list to columns of the table, which is entry r.
func (p *planner) assignments(set []ast.Assign, d *destination, r *rel, b *binder) ([]int, []plan.Expr) {
	t := d.shape
	var cols []int
	var xs []plan.Expr
	parts := map[int]bool{} // columns of which parts are assigned
	add := func(a *ast.AssignTarget, x plan.Expr, isDefault bool, off int) {
		if isDefault {
			noDefault(a)
		}
		pl := b.assignPlace(t, a)
		c := pl.col
		p.dest.Need |= catalog.PrivUpdate
		p.dest.Update = append(p.dest.Update, c)
		at := slices.Index(cols, c)
		if at >= 0 && (len(a.Path) == 0 || !parts[c]) {
			failf(sqlerr.SyntaxError, -1, "multiple assignments to same column \"%s\"", a.Col)
		}
		col := d.descriptor(c)
		if isDefault {
			if col.Generated && !d.givesNull(c) {
				return
			}
			x = p.updateDefault(d, c)
		}
		if !isDefault || d.givesNull(c) {
			if col.Generated {
				fail(generatedError(col))
			}
			if col.Identity == 'a' {
				fail(sqlerr.New(sqlerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", col.Name).
					WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", col.Name))
			}
		}
		if !isDefault {
			x = pl.value(p, t, x, off)
		}
		if len(a.Path) > 0 {
			parts[c] = true
			if at >= 0 {
				xs[at] = pl.into(p, t, xs[at], x)
				return
			}
			x = pl.into(p, t, &plan.Var{At: plan.At{T: t.Columns[c].Type, Off: -1}, Rel: r.id, Col: c, Name: a.Col}, x)
		}
		cols = append(cols, c)
		xs = append(xs, x)
	}
	isDefault := func(x ast.Expr) bool {
		s, ok := x.(*ast.Special)
		return ok && s.Kind == "DEFAULT"
	}
	for i := range set {
		a := &set[i]
		if !a.Multi {
			if isDefault(a.X) {
				add(&a.Targets[0], nil, true, a.Pos())
				continue
			}
			add(&a.Targets[0], b.expr(a.X), false, a.X.Pos())
			continue
		}
		switch x := a.X.(type) {
		case *ast.Row:
			type source struct {
				x   plan.Expr // nil: DEFAULT
				off int
			}
			var from []source
			for _, el := range x.Elems {
				if isDefault(el) {
					from = append(from, source{nil, a.Pos()})
					continue
				}
				for _, v := range b.spread(el) {
					from = append(from, source{v, el.Pos()})
				}
			}
			if len(from) != len(a.Targets) {
				failf(sqlerr.SyntaxError, x.Pos(), "number of columns does not match number of values")
			}
			for k, v := range from {
				add(&a.Targets[k], v.x, v.x == nil, v.off)
			}
		case *ast.Subquery:
			q := b.subselect(x.Query, x.Pos())
			if len(q.cols) != len(a.Targets) {
				failf(sqlerr.SyntaxError, x.Pos(), "number of columns does not match number of values")
			}
			row := &subquery{At: plan.At{T: types.TRecord, Off: x.Pos()}, kind: plan.SubRow, q: q}
			for k := range a.Targets {
				off := max(p.colOff(q, k), x.Pos())
				add(&a.Targets[k], &plan.FieldOf{At: plan.At{T: q.cols[k].T, Off: off}, X: row, Idx: k}, false, off)
			}
		default:
			failf(sqlerr.FeatureNotSupported, a.X.Pos(), "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression")
		}
	}
	return cols, xs
}

// changeInput plans the rows that UPDATE or DELETE works on: the row key, the
// live columns, the new values, then the columns of other entries that
// RETURNING needs. parts are the columns of which old and new value are in part, unread those for
// which NULL stands.
// With cursor there is no condition but that the row is the one that the cursor
// stands on.
func (p *planner) changeInput(ref *ast.TableRef, from []ast.FromItem, where ast.Expr, cursor string, d *destination, verb string,
	sc *scope, set []ast.Assign, returning bool) (in plan.Node, setCols []int, extra *fromExtra, nExtra int, parts []plan.Part, unread []int) {
	bl := &block{rels: map[int]*rel{}}
	r := p.entry(d, ref.Alias)
	r.target = true
	if d.tree != nil {
		if d.views == nil {
			r.tree = p.treeOf(d.table, d.only)
		}
	}
	p.watch(r, d.right)
	bl.rels[r.id] = r
	bl.from = []*joinItem{{rel: r}}
	inner := &scope{parent: sc, block: bl}
	it := p.ownNames(r, d.shape, ref.Alias)
	p.addNames(inner, []*nsItem{it}, 0)
	n := len(inner.items)
	it.lateralBad = true // FROM does not see the table that changes
	p.fromList(from, inner, bl)
	it.lateralBad = false
	others := append([]*nsItem(nil), inner.items[n:]...)
	wb := &binder{planner: p, scope: inner, what: "WHERE", noAgg: true, noWin: true}
	bl.where = wb.cond(where)
	var values []plan.Expr
	if set != nil {
		sb := &binder{planner: p, scope: inner, what: "UPDATE", noAgg: true, noWin: true}
		setCols, values = p.assignments(set, d, r, sb)
	}
	p.ready(d, verb, setCols)
	named := r
	r, replace, conds := p.through(d, named)
	if d.tree != nil {
		r.tree = p.treeOf(d.table, d.only)
	}
	r.needKey, r.target, r.cursor = true, true, cursor
	p.secureTarget(d, r, verb, returning)
	if replace != nil {
		if cursor != "" {
			failf(sqlerr.FeatureNotSupported, -1, "WHERE CURRENT OF on a view is not implemented")
		}
		delete(bl.rels, named.id)
		bl.rels[r.id], bl.from[0] = r, &joinItem{rel: r}
		values = replaceIn(values, replace)
		mapQuery(&query{block: bl}, replace)
		bl.where = d.filterThrough(bl.where, conds)
		setCols = d.columns(setCols)
	}
	t := d.table
	p.foldNulls(bl)
	live := liveCols(t)
	addVar := func(rel *rel, col int, ty types.T) {
		bl.targets = append(bl.targets, target{x: &plan.Var{At: plan.At{T: ty, Off: -1}, Rel: rel.id, Col: col}})
	}
	addVar(r, plan.ColRowKey, types.TBytea)
	for _, c := range live {
		addVar(r, c, t.Columns[c].Type)
	}
	switch {
	case returning || r.tree != nil || d.tree != nil:
	case set == nil:
		unread = p.undeleted(t)
	case d.views == nil:
		unread = p.unread(t, setCols)
	}
	for _, c := range unread {
		bl.targets[1+slices.Index(live, c)].x = nullConst(t.Columns[c].Type)
	}
	if set != nil {
		for _, x := range values {
			bl.targets = append(bl.targets, target{x: x})
		}
		if !returning && d.views == nil {
			p.partAssigned(r, setCols, values)
		}
	}
	extra = &fromExtra{ns: others, lay: layout{}, bl: bl}
	if returning {
		for _, o := range bl.rels {
			if o.id == r.id {
				continue
			}
			for c := range o.cols {
				if o.cols[c].Name == "" {
					continue
				}
				extra.lay[[2]int{o.id, c}] = nExtra
				nExtra++
				addVar(o, c, o.cols[c].T)
			}
		}
	}
	if r.tree != nil {
		addVar(r, plan.ColTableOID, types.TOid)
	}
	bl.ncols = len(bl.targets)
	q := &query{rel: p.newRel(), block: bl}
	for i := range bl.targets {
		q.cols = append(q.cols, plan.OutCol{T: bl.targets[i].x.Type()})
	}
	in = p.planQuery(q)
	return in, setCols, extra, nExtra, p.partsOf(r, setCols), unread
}

// constTargets are the columns of a query that are constants whatever its rows are, by
// their place: what an INSERT makes of them is a constant, too.
func constTargets(q *query) map[int]*plan.Const {
	b := q.block
	if q.setop != nil || q.dml != nil || q.ref != nil || b == nil || b.values != nil || b.grouped || b.distinct || b.hasSRF || len(b.wins) > 0 ||
		q.limit != nil || q.offset != nil || len(q.sort) > 0 || len(q.ctes) > 0 || len(q.locks) > 0 {
		return nil
	}
	out := map[int]*plan.Const{}
	for i := range q.cols {
		if k, ok := b.targets[i].x.(*plan.Const); ok {
			out[i] = k
		}
	}
	return out
}

func (p *planner) planUpdate(s *ast.Update, outer *scope) plan.Node {
	sc, defs := outer, []*cteDef(nil)
	if s.With != nil {
		sc, defs = p.with(s.With, outer)
	}
	d := p.destination(&s.Table.Name, s.Table.Only, "UPDATE")
	in, set, extra, n, parts, unread := p.changeInput(s.Table, s.From, s.Where, s.Current, d, "UPDATE", sc, s.Set, s.Returning != nil)
	u := &plan.Update{Table: d.table, Tree: d.tree, Input: in, SetCols: set, Parts: parts, Unread: unread, Extra: n, HasReturning: s.Returning != nil}
	u.Common.Rows, u.Cost = in.Base().Rows, in.Base().Cost
	u.Returning, u.Cols, u.System = p.returning(s.Returning, d, s.Table.Alias, extra, sc)
	u.Checks = append(p.updateChecks(d, s.Returning != nil), p.viewChecks(d, liveCols(d.table))...)
	d.grant()
	p.prepareCTEs(defs)
	return u
}

func (p *planner) planDelete(s *ast.Delete, outer *scope) plan.Node {
	sc, defs := outer, []*cteDef(nil)
	if s.With != nil {
		sc, defs = p.with(s.With, outer)
	}
	d := p.destination(&s.Table.Name, s.Table.Only, "DELETE")
	in, _, extra, n, _, unread := p.changeInput(s.Table, s.Using, s.Where, s.Current, d, "DELETE", sc, nil, s.Returning != nil)
	del := &plan.Delete{Table: d.table, Tree: d.tree, Input: in, Unread: unread, Extra: n, HasReturning: s.Returning != nil}
	del.Common.Rows, del.Cost = in.Base().Rows, in.Base().Cost
	del.Returning, del.Cols, del.System = p.returning(s.Returning, d, s.Table.Alias, extra, sc)
	d.grant()
	p.prepareCTEs(defs)
	return del
}

func aliasOf(r *ast.TableRef) string {
	if r.Alias != "" {
		return r.Alias
	}
	return r.Name.Last()
}

// modifyingCTE plans INSERT, UPDATE or DELETE in WITH.
func (p *planner) modifyingCTE(def *cteDef, s ast.Stmt, sc *scope) {
	var n plan.Node
	switch s := s.(type) {
	case *ast.Insert:
		n = p.planInsert(s, sc)
	case *ast.Update:
		n = p.planUpdate(s, sc)
	case *ast.Delete:
		n = p.planDelete(s, sc)
	default:
		unsupported(s.Pos(), "this statement in WITH")
	}
	def.dml = true
	def.q = &query{rel: p.newRel(), dml: n, cols: append([]plan.OutCol(nil), n.Base().Cols...)}
}
