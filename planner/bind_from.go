package planner

import (
	"fmt"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// fromList binds a FROM list into the block and its names into the scope.
func (p *planner) fromList(list []ast.FromItem, sc *scope, bl *block) {
	for _, f := range list {
		item, ns := p.fromItem(f, sc, bl)
		p.addNames(sc, ns)
		bl.from = append(bl.from, item)
	}
}

// addNames makes entries visible, refusing a name that is there already.
func (p *planner) addNames(sc *scope, ns []*nsItem) {
	for _, n := range ns {
		if n.name == "" || !n.relVisible {
			continue
		}
		for _, o := range sc.items {
			if o.relVisible && o.name == n.name && (o.schema == n.schema || o.schema == "" || n.schema == "") {
				failf(sqlerr.DuplicateAlias, -1, "table name \"%s\" specified more than once", n.name)
			}
		}
	}
	sc.items = append(sc.items, ns...)
}

func (p *planner) fromItem(f ast.FromItem, sc *scope, bl *block) (*joinItem, []*nsItem) {
	j, ns := p.bindFrom(f, sc, bl)
	if p.rec != nil && j.rel != nil {
		p.rec.froms[f], p.rec.rels[j.rel.id] = j.rel, j.rel
		j.rel.shown = true
	}
	return j, ns
}

func (p *planner) bindFrom(f ast.FromItem, sc *scope, bl *block) (*joinItem, []*nsItem) {
	switch f := f.(type) {
	case *ast.TableRef:
		r, n := p.tableRef(f, sc)
		bl.rels[r.id] = r
		return &joinItem{rel: r}, []*nsItem{n}
	case *ast.SubqueryRef:
		parent := sc.parent
		inner := &scope{parent: parent, ctes: nil}
		if f.Lateral {
			sc.user = &binder{planner: p, scope: sc, what: "FROM clause of their own query level", noAgg: true, noWin: true}
			inner = &scope{parent: sc}
		} else {
			inner = &scope{parent: &scope{parent: parent, ctes: sc.ctes, beside: sc}}
		}
		q := p.bindSelect(f.Query, inner)
		p.resolveUnknowns(q)
		r := p.queryRel(q, f.Alias)
		r.lateral = f.Lateral
		bl.rels[r.id] = r
		return &joinItem{rel: r}, []*nsItem{p.relNames(r, f.Cols)}
	case boundQuery:
		r := p.queryRel(f.q, boundName)
		bl.rels[r.id] = r
		return &joinItem{rel: r}, []*nsItem{p.relNames(r, nil)}
	case *ast.FuncRef:
		return p.funcRef(f, sc, bl)
	case *ast.Join:
		return p.join(f, sc, bl)
	}
	unsupported(f.Pos(), "this FROM item")
	return nil, nil
}

func (p *planner) queryRel(q *query, alias string) *rel {
	r := &rel{id: p.newRel(), alias: alias, query: q}
	r.cols = append(r.cols, q.cols...)
	if p.queries == nil {
		p.queries = map[int]*query{}
	}
	p.queries[r.id] = q
	return r
}

// relNames makes the namespace entry of a relation, renaming columns by an
// alias list.
func (p *planner) relNames(r *rel, aliases []string) *nsItem {
	it := &nsItem{name: r.alias, relVisible: r.alias != "", colsVisible: true, rel: r}
	live := 0
	vars := make([]plan.Var, len(r.cols)) // in one piece
	it.cols = make([]nsCol, 0, len(r.cols))
	for i, c := range r.cols {
		if c.Name == "" && r.table != nil {
			continue // dropped
		}
		name := c.Name
		if live < len(aliases) {
			name = aliases[live]
		}
		live++
		vars[i] = plan.Var{At: plan.At{T: c.T, Off: -1}, Rel: r.id, Col: i, Name: name}
		it.cols = append(it.cols, nsCol{name: name, x: &vars[i]})
	}
	if len(aliases) > live {
		failf(sqlerr.InvalidColumnReference, -1, "table \"%s\" has %d columns available but %d columns specified", r.alias, live, len(aliases))
	}
	r.names = it.cols
	return it
}

// lookupRelation finds a relation by name along the search path.
func (p *planner) lookupRelation(n *ast.Name) catalog.Relation {
	schema, name := n.Schema(), n.Last()
	if len(n.Parts) == 3 {
		if d := p.Snap.Database(n.Parts[0]); d == nil || d.OID != p.DB {
			failf(sqlerr.FeatureNotSupported, n.Pos(), "cross-database references are not implemented: \"%s\"", strings.Join(n.Parts, "."))
		}
	}
	if schema == "pg_temp" {
		schema = p.TempSchema
	}
	if n.Schema() != "" {
		if r := p.Snap.Relation(p.DB, schema, name); r != nil {
			return r
		}
		return nil
	}
	for _, s := range p.SearchPath {
		if r := p.Snap.Relation(p.DB, s, name); r != nil {
			return r
		}
	}
	return nil
}

func (p *planner) mustRelation(n *ast.Name) catalog.Relation {
	p.usable(n)
	if r := p.lookupRelation(n); r != nil {
		return r
	}
	schema, name := n.Schema(), n.Last()
	if schema == catalog.SchemaToast {
		unsupported(n.Pos(), "reading TOAST tables")
	}
	if in := p.typeByName(schema, name); in != nil {
		if u := p.Snap.TypeByOID(in.OID); u != nil && u.Kind == 'c' {
			failf(sqlerr.WrongObjectType, n.Pos(), "\"%s\" is a composite type", name)
		}
	}
	path := p.SearchPath
	if schema != "" {
		path = []string{schema}
	}
	for _, s := range path {
		if _, ix := p.Snap.IndexByName(p.DB, s, name); ix != nil {
			failf(sqlerr.WrongObjectType, n.Pos(), "\"%s\" is an index", name)
		}
	}
	if schema != "" {
		failf(sqlerr.UndefinedTable, n.Pos(), "relation \"%s.%s\" does not exist", schema, name)
	}
	failf(sqlerr.UndefinedTable, n.Pos(), "relation \"%s\" does not exist", name)
	return nil
}

// ownNames is the namespace entry of a stored relation: where no alias hides its
// name, its schema may stand before it.
func (p *planner) ownNames(r *rel, of catalog.Relation, alias string) *nsItem {
	it := p.relNames(r, nil)
	if alias == "" {
		it.schema, _ = of.RelName()
	}
	return it
}

func (p *planner) tableRef(f *ast.TableRef, sc *scope) (*rel, *nsItem) {
	alias := f.Alias
	if alias == "" {
		alias = f.Name.Last()
	}
	if len(f.Name.Parts) == 1 {
		if def := sc.findCTE(f.Name.Parts[0]); def != nil {
			if f.Tablesample != nil {
				notSampled(f)
			}
			r := p.cteRel(def, alias, f.Pos())
			it := p.relNames(r, f.Cols)
			if def.binding {
				for i := len(it.cols) - def.extra; i < len(it.cols); i++ {
					it.cols[i].hidden = true
				}
			}
			return r, it
		}
	}
	if len(f.Name.Parts) == 1 && p.lookupRelation(&f.Name) == nil {
		sc.forward(&f.Name)
	}
	obj := p.mustRelation(&f.Name)
	r := p.relationRel(obj, alias, f.Only, f.Name.Pos())
	it := p.relNames(r, f.Cols)
	if f.Alias == "" {
		it.schema, _ = obj.RelName()
	}
	if f.Tablesample != nil {
		p.tablesample(f, r, sc)
	}
	return r, it
}

// relationRel makes a range-table entry of a catalog relation; a view becomes
// its query. With only, rows of tables below a table do not count.
func (p *planner) relationRel(obj catalog.Relation, alias string, only bool, off int) *rel {
	switch o := obj.(type) {
	case *catalog.Table:
		r := p.tableRel(o, alias)
		r.tree = p.treeOf(o, only)
		p.useTree(o, only, false)
		p.watch(r, p.need(o, catalog.PrivSelect))
		p.secure(r, o, 'r')
		return r
	case *catalog.Virtual:
		if t := p.Snap.Stored(p.DB, o, p.System); t != nil {
			r := p.tableRel(t, alias)
			p.use(t, false)
			p.watch(r, p.need(o, catalog.PrivSelect))
			return r
		}
		r := &rel{id: p.newRel(), alias: alias, virt: o}
		for i, c := range o.Columns {
			r.cols = append(r.cols, plan.OutCol{Name: c.Name, T: c.Type, Table: o.OID, AttNum: int16(i + 1)})
		}
		p.watch(r, p.need(o, catalog.PrivSelect))
		return r
	case *catalog.Sequence:
		r := &rel{id: p.newRel(), alias: alias, seq: o}
		for i, c := range o.RelColumns() {
			r.cols = append(r.cols, plan.OutCol{Name: c.Name, T: c.Type, Table: o.OID, AttNum: int16(i + 1)})
		}
		p.watch(r, p.need(o, catalog.PrivSelect))
		return r
	case *catalog.View:
		if o.Materialized != nil {
			if !o.Populated && p.rec == nil && !p.Stored {
				fail(sqlerr.New(sqlerr.ObjectNotInPrerequisite, "materialized view \"%s\" has not been populated", o.Name).
					WithHint("Use the REFRESH MATERIALIZED VIEW command."))
			}
			return p.relationRel(o.Materialized, alias, false, off)
		}
		return p.viewRel(o, alias)
	}
	unsupported(off, "this relation in FROM")
	return nil
}

// viewLevel is how many levels of expressions a view's query counts as, less than other
// queries: views that read each other, hundreds deep, are not to be written otherwise.
const viewLevel = 5

// expand begins the binding of a view's query, which the returned function ends. It refuses
// a view that reads itself.
func (p *planner) expand(v *catalog.View) func() {
	if slices.Contains(p.expanding, v.OID) {
		fail(sqlerr.New(sqlerr.InvalidObjectDefinition, "infinite recursion detected in rules for relation \"%s\"", v.Name))
	}
	p.depth -= queryDepth - viewLevel
	if p.depth+queryDepth > maxExprDepth {
		fail(sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").WithHint("Views read each other too deep."))
	}
	p.expanding = append(p.expanding, v.OID)
	return func() {
		p.depth += queryDepth - viewLevel
		p.expanding = p.expanding[:len(p.expanding)-1]
	}
}

// viewRel binds a view's stored query in a scope of its own.
func (p *planner) viewRel(v *catalog.View, alias string) *rel {
	defer p.expand(v)()
	s, err := p.Texts.ParseQuery(v.Query)
	if err != nil {
		fail(fmt.Errorf("view %s: %w", v.Name, err))
	}
	right, as := p.need(v, catalog.PrivSelect), p.as
	p.as = viewActor(v)
	if p.rec != nil { // its text is its own
		r := &rel{id: p.newRel(), alias: alias, view: v}
		for i, c := range v.Columns {
			r.cols = append(r.cols, plan.OutCol{Name: c.Name, T: c.Type, Table: v.OID, AttNum: int16(i + 1)})
		}
		return r
	}
	p.restricted(v)
	var q *query
	p.within(v.CallsOf(v.Query), func() { q = p.bindSelect(s, nil) })
	p.as = as
	p.resolveUnknowns(q)
	r := p.queryRel(q, alias)
	r.view = v
	p.watch(r, right)
	for i := range r.cols {
		if i < len(v.Columns) {
			r.cols[i].Name = v.Columns[i].Name
		}
		r.cols[i].Table, r.cols[i].AttNum = v.OID, int16(i+1)
	}
	return r
}

// restricted refuses views where the user wants none.
func (p *planner) restricted(v *catalog.View) {
	if p.NoViews && !p.Stored {
		fail(sqlerr.New(sqlerr.ObjectNotInPrerequisite, "access to non-system view \"%s\" is restricted", v.Name))
	}
}

// funcRef binds table functions.
func (p *planner) funcRef(f *ast.FuncRef, sc *scope, bl *block) (*joinItem, []*nsItem) {
	r := &rel{id: p.newRel(), alias: f.Alias, ordinality: f.Ordinality}
	// functions see earlier entries of the same FROM, LATERAL or not
	b := &binder{planner: p, scope: sc, what: "functions in FROM", noAgg: true, noWin: true, srf: true}
	var seen relSet
	var calls []ast.FuncCall
	for _, c := range f.Calls {
		calls = append(calls, spreadUnnest(c)...)
	}
	for _, fc := range calls {
		p.routine = nil
		x := b.known(b.expr(fc.X))
		noSetWithin(x)
		seen.addAll(relsOf(x))
		name := p.figureName(fc.X)
		if r.alias == "" {
			r.alias = name
		}
		defs := fc.Cols
		if len(f.Calls) == 1 && len(f.Cols) > 0 && f.Cols[0].Type != nil {
			defs = f.Cols
		}
		n := 0
		switch {
		case len(defs) > 0 && defs[0].Type != nil:
			p.checkDefinitions(fc.X, x, defs, f)
			call, _ := x.(*plan.Call)
			for _, d := range defs {
				if d.Type.SetOf {
					failf(sqlerr.InvalidTableDefinition, d.Pos(), "column \"%s\" cannot be declared SETOF", d.Name)
				}
				t := p.typeOf(d.Type)
				r.cols = append(r.cols, plan.OutCol{Name: d.Name, T: t})
				if call != nil && call.Proc.SQL != nil {
					call.Cols = append(call.Cols, t)
				}
				n++
			}
			x = withColumns(x, r.cols[len(r.cols)-n:])
		default:
			cols := b.recordCols(x)
			if _, isRow := x.(*plan.RowCtor); isRow {
				cols = nil
			}
			call, _ := x.(*plan.Call)
			if len(cols) > 1 || len(cols) == 1 && x.Type().Kind() == types.KRecord || call != nil && call.Cols != nil {
				for i := range cols { // OUT parameters may have no name
					if cols[i].Name == "" {
						cols[i].Name = fmt.Sprintf("column%d", i+1)
					}
				}
				r.cols = append(r.cols, cols...)
				n = len(cols)
				x = withColumns(x, cols)
			} else {
				switch x.Type().OID {
				case types.ORecord:
					fail(sqlerr.New(sqlerr.SyntaxError, "a column definition list is required for functions returning \"record\"").At(x.Pos()))
				case types.OAnyarray:
					failf(sqlerr.DatatypeMismatch, x.Pos(), "function \"%s\" in FROM has unsupported return type %s", name, p.bareName(x.Type().OID))
				}
				if c := p.routine; c != nil && isCallOf(fc.X, c.Proc.Name) {
					cols = p.outCols(c.Proc, c.Args)
				}
				if len(cols) == 1 && cols[0].Name != "" {
					name = cols[0].Name
				} else if f.Alias != "" && len(calls) == 1 {
					name = f.Alias
				}
				r.cols = append(r.cols, plan.OutCol{Name: name, T: x.Type()})
				n = 1
			}
		}
		r.funcs = append(r.funcs, x)
		r.fcols = append(r.fcols, n)
	}
	p.noteFunctions(r)
	if f.Ordinality {
		r.cols = append(r.cols, plan.OutCol{Name: "ordinality", T: types.TInt8})
	}
	var aliases []string
	for _, c := range f.Cols {
		aliases = append(aliases, c.Name)
	}
	r.lateral = !bl.own(seen).empty()
	bl.rels[r.id] = r
	return &joinItem{rel: r}, []*nsItem{p.relNames(r, aliases)}
}

// checkDefinitions refuses a column definition list where the function's columns
// are known, and those that define a column twice.
func (p *planner) checkDefinitions(call ast.Expr, x plan.Expr, defs []ast.ColDef, f *ast.FuncRef) {
	off := defs[0].Pos()
	switch c, ok := x.(*plan.Call); {
	case p.rowColumns(x.Type()) != nil:
		failf(sqlerr.SyntaxError, off, "a column definition list is redundant for a function returning a named composite type")
	case x.Type().OID != types.ORecord:
		failf(sqlerr.SyntaxError, off, "a column definition list is only allowed for functions returning \"record\"")
	case ok && len(p.outCols(c.Proc, c.Args)) > 0:
		failf(sqlerr.SyntaxError, off, "a column definition list is redundant for a function with OUT parameters")
	case f.Ordinality && len(f.Cols) > 0 && f.Cols[0].Type != nil:
		fail(sqlerr.New(sqlerr.SyntaxError, "WITH ORDINALITY cannot be used with a column definition list").At(off).
			WithHint("Put the column definition list inside ROWS FROM()."))
	}
	_, plain := call.(*ast.Call)
	seen := map[string]bool{}
	for _, d := range defs {
		if !plain && d.Type != nil {
			// the row has its fields as they are, which these are not
			if t := p.typeOf(d.Type); t.Mod >= 0 || p.Snap.BaseType(t) != t {
				unsupported(d.Pos(), "a column of a domain or with a type modifier in the column definition list of an expression")
			}
		}
		if seen[d.Name] {
			failf(sqlerr.DuplicateColumn, -1, "column name \"%s\" specified more than once", d.Name)
		}
		seen[d.Name] = true
	}
}

// isCallOf reports whether an expression is a call of a function of that name.
func isCallOf(x ast.Expr, name string) bool {
	c, ok := x.(*ast.Call)
	return ok && c.Name.Last() == name
}

// withColumns tells a function that returns rows which columns they have,
// unless its own OUT arguments say so.
func withColumns(x plan.Expr, cols []plan.OutCol) plan.Expr {
	c, ok := x.(*plan.Call)
	if !ok || c.Proc.SQL != nil || c.Proc.ArgModes != nil || c.T.Kind() != types.KRecord {
		return x
	}
	defined := *c
	defined.Defined = slices.Clone(cols)
	return &defined
}

// spreadUnnest turns unnest(a, b, …) into one unnest per array, side by side.
func spreadUnnest(fc ast.FuncCall) []ast.FuncCall {
	c, ok := fc.X.(*ast.Call)
	if !ok || c.Name.Last() != "unnest" || len(c.Args) < 2 {
		return []ast.FuncCall{fc}
	}
	var out []ast.FuncCall
	for _, a := range c.Args {
		one := *c
		one.Args = []ast.Expr{a}
		out = append(out, ast.FuncCall{X: &one})
	}
	return out
}

// join binds a JOIN and returns its tree and the entries that it makes visible.
func (p *planner) join(f *ast.Join, sc *scope, bl *block) (*joinItem, []*nsItem) {
	before := len(sc.items)
	l, ln := p.fromItem(f.L, sc, bl)
	// the right side may refer to the left one laterally
	sub := &scope{parent: sc.parent, ctes: sc.ctes, block: sc.block, beside: sc.beside, items: slices.Clone(sc.items), joins: append(slices.Clone(sc.joins), l)}
	for _, n := range ln {
		if f.Kind == "RIGHT" || f.Kind == "FULL" {
			c := *n
			c.lateralBad = true
			n = &c
		}
		sub.items = append(sub.items, n)
	}
	r, rn := p.fromItem(f.R, sub, bl)
	sc.items = sc.items[:before]
	kinds := map[string]plan.JoinKind{"INNER": plan.Inner, "CROSS": plan.Inner, "LEFT": plan.Left, "RIGHT": plan.Right, "FULL": plan.Full}
	j := &joinItem{kind: kinds[f.Kind], l: l, r: r}
	both := &scope{parent: sc.parent, ctes: sc.ctes, block: sc.block, joins: []*joinItem{l, r}}
	p.addNames(both, ln)
	p.addNames(both, rn)
	var ns []*nsItem
	using := f.Using
	lv, rv := visibleCols(ln), visibleCols(rn)
	if f.Natural {
		using = nil
		for _, c := range lv {
			for _, d := range rv {
				if c.name == d.name {
					using = append(using, c.name)
					break
				}
			}
		}
	}
	if f.Natural || len(f.Using) > 0 {
		ns = p.using(f, j, using, lv, rv, ln, rn)
	} else {
		ns = slices.Concat(ln, rn)
		for i, n := range ns {
			n := *n
			n.joined = true
			ns[i] = &n
		}
		if f.On != nil {
			b := &binder{planner: p, scope: both, what: "JOIN/ON", noAgg: true, noWin: true}
			j.on = b.cond(f.On)
		}
	}
	if p.rec != nil {
		p.rec.on[f] = slices.Clone(j.on)
	}
	if f.Alias != "" {
		// the alias hides what is inside
		it := &nsItem{name: f.Alias, relVisible: true, colsVisible: true}
		i := 0
		for _, n := range ns {
			if !n.colsVisible {
				continue
			}
			for _, c := range n.cols {
				name := c.name
				if i < len(f.Cols) {
					name = f.Cols[i]
				}
				i++
				it.cols = append(it.cols, nsCol{name, c.x, c.hidden})
			}
		}
		if p.rec != nil {
			p.rec.joins[f] = p.joinRel(it, bl)
		}
		if len(f.Cols) > i {
			failf(sqlerr.InvalidColumnReference, -1, "join expression \"%s\" has %d columns available but %d columns specified", f.Alias, i, len(f.Cols))
		}
		ns = []*nsItem{it}
	}
	return j, ns
}

// joinRel makes an entry of its own of a join with an alias, for the text: names
// that lie under it are not seen from outside.
func (p *planner) joinRel(it *nsItem, bl *block) *rel {
	r := &rel{id: p.newRel(), alias: it.name}
	bl.rels[r.id], p.rec.rels[r.id] = r, r
	for i := range it.cols {
		c := &it.cols[i]
		r.cols = append(r.cols, plan.OutCol{Name: c.name, T: c.x.Type()})
		p.rec.under[[2]int{r.id, i}] = c.x
		c.x = &plan.Var{At: plan.At{T: c.x.Type(), Off: -1}, Rel: r.id, Col: i, Name: c.name}
	}
	r.names = it.cols
	return r
}

func visibleCols(ns []*nsItem) []nsCol {
	var out []nsCol
	for _, n := range ns {
		if n.colsVisible {
			out = append(out, n.cols...)
		}
	}
	return out
}

// using adds the equalities of JOIN … USING and merges the columns.
func (p *planner) using(f *ast.Join, j *joinItem, using []string, lv, rv []nsCol, ln, rn []*nsItem) []*nsItem {
	find := func(cols []nsCol, name, side string) plan.Expr {
		var hit plan.Expr
		for _, c := range cols {
			if c.name == name {
				if hit != nil {
					failf(sqlerr.AmbiguousColumn, -1, "common column name \"%s\" appears more than once in %s table", name, side)
				}
				hit = c.x
			}
		}
		if hit == nil {
			failf(sqlerr.UndefinedColumn, -1, "column \"%s\" specified in USING clause does not exist in %s table", name, side)
		}
		return hit
	}
	merged := &nsItem{colsVisible: true}
	used := map[string]bool{}
	for _, name := range using {
		if used[name] {
			failf(sqlerr.DuplicateColumn, -1, "column name \"%s\" appears more than once in USING clause", name)
		}
		used[name] = true
		l, r := find(lv, name, "left"), find(rv, name, "right")
		p.read(l)
		p.read(r)
		xs, t := p.toCommon("JOIN/USING", []plan.Expr{l, r})
		j.on = append(j.on, p.operator("", "=", l, r, f.Pos()))
		var x plan.Expr
		switch {
		case j.kind == plan.Right, j.kind == plan.Inner && xs[0] != l && xs[1] == r:
			x = xs[1] // of equal values the one that is as it is stored
		case j.kind == plan.Inner, j.kind == plan.Left:
			x = xs[0]
		default:
			x = &plan.Coalesce{At: plan.At{T: t, Off: -1}, Args: xs}
		}
		if p.rec != nil {
			p.rec.merge(f, name, l, r, x)
		}
		merged.cols = append(merged.cols, nsCol{name: name, x: x})
	}
	if f.UsingAlias != "" {
		for _, n := range slices.Concat(ln, rn) {
			if n.relVisible && n.name == f.UsingAlias {
				failf(sqlerr.DuplicateAlias, -1, "table name \"%s\" specified more than once", n.name)
			}
		}
		merged.name, merged.relVisible = f.UsingAlias, true
	}
	out := []*nsItem{merged}
	hide := func(ns []*nsItem) {
		for _, n := range ns {
			rest := &nsItem{colsVisible: n.colsVisible}
			if n.colsVisible {
				for _, c := range n.cols {
					if !used[c.name] {
						rest.cols = append(rest.cols, c)
					}
				}
			}
			h := *n
			h.colsVisible = false
			// the qualified names stay; "*" and bare names see the rest
			out = append(out, &h)
			if rest.colsVisible && len(rest.cols) > 0 {
				out = append(out, rest)
			}
		}
	}
	hide(ln)
	hide(rn)
	return out
}
