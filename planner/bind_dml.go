package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
	"maps"
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
	text, calls := c.Default, t.CallsOf(c.Default)
	if text == "" {
		text, calls = p.domainDefault(c.Type)
	}
	if text == "" || c.Generated {
		return &plan.Const{At: plan.At{T: c.Type, Off: -1}, Val: types.Null(c.Type)}
	}
	x, err := p.Texts.ParseExpr(text)
	if err != nil {
		fail(err)
	}
	b := &binder{planner: p, scope: &scope{}, what: "DEFAULT expressions", noAgg: true, noWin: true, noSub: true}
	var bound plan.Expr
	p.within(calls, func() { bound = b.expr(x) })
	return stripPos(p.assign(bound, c, -1))
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

// tableRel makes a range-table entry of a table. Its columns have the positions that they
// have in the table, dropped ones included.
func (p *planner) tableRel(t *catalog.Table, alias string) *rel {
	r := &rel{id: p.newRel(), alias: alias, table: t}
	p.base.add(r.id)
	p.coll.noteTable(r.id, t)
	r.cols = make([]plan.OutCol, 0, len(t.Columns))
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

// boundReturning is a RETURNING list with its entry of the changed row and the entries
// beside it.
type boundReturning struct {
	row *rel
	bl  *block
}

// bindReturning binds RETURNING, nil for none. beside is what UPDATE ... FROM and DELETE ...
// USING have beside the target, nil for nothing.
func (p *planner) bindReturning(list []ast.Target, d *destination, alias string, beside *block, others []*nsItem, sc *scope) *boundReturning {
	if list == nil {
		return nil
	}
	r := p.entry(d, alias)
	r.upserted = d.upsert != nil
	p.watch(r, d.right)
	out := &boundReturning{row: r, bl: &block{rels: map[int]*rel{r.id: r}}}
	ns := []*nsItem{p.ownNames(r, d.shape, alias)}
	if r.upserted {
		ns = append(ns, p.outOfReach(d))
	}
	ns = append(ns, others...)
	inner := &scope{parent: sc, items: ns}
	if beside != nil {
		maps.Copy(out.bl.rels, beside.rels)
		inner.joins = beside.from
	}
	if d.tree != nil && d.views == nil {
		r.tree = &tree{members: d.tree}
	}
	b := &binder{planner: p, scope: inner, what: "RETURNING", noAgg: true, noWin: true}
	for i := range list {
		p.target(&list[i], b, out.bl)
	}
	return out
}

// planReturning puts RETURNING over the changed row and the columns of other entries that
// follow it, which extra has. system are the system columns that it reads, which then
// follow these.
func (p *planner) planReturning(ret *boundReturning, d *destination, extra layout) (out []plan.Expr, cols []plan.OutCol, system []int) {
	if ret == nil {
		return nil, nil, nil
	}
	live := liveCols(d.table)
	lay := layout{}
	for k, v := range extra {
		lay[k] = len(live) + v
	}
	var xs []plan.Expr
	for _, t := range ret.bl.targets {
		x := p.known(t.x)
		xs = append(xs, x)
		cols = append(cols, plan.OutCol{Name: t.name, T: x.Type(), Table: t.tbl, AttNum: t.attnum})
	}
	base, replace, _ := p.through(d, ret.row)
	lay.addTable(base, live, 0)
	at := len(live) + len(extra)
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

// columnsRead lists the columns of a block's entries that expressions read, themselves or
// in subqueries, each once.
func columnsRead(xs []plan.Expr, bl *block) (out []*plan.Var) {
	seen := map[[2]int]bool{}
	replaceIn(xs, func(x plan.Expr) plan.Expr {
		if v, ok := x.(*plan.Var); ok && bl.rels[v.Rel] != nil && !seen[[2]int{v.Rel, v.Col}] {
			seen[[2]int{v.Rel, v.Col}] = true
			out = append(out, v)
		}
		return x
	})
	return out
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

// modifyingCTE plans INSERT, UPDATE or DELETE in WITH.
func (p *planner) modifyingCTE(def *cteDef, s ast.Stmt, sc *scope) {
	def.dml = true
	if p.rec != nil {
		def.q = &query{rel: p.newRel(), cols: p.noteChange(s, sc).columns()}
		return
	}
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
	def.q = &query{rel: p.newRel(), dml: n, cols: append([]plan.OutCol(nil), n.Base().Cols...)}
}
