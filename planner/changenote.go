package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// changeNote is what INSERT, UPDATE, DELETE or MERGE was bound to for its text. Nothing is
// planned: defaults stay DEFAULT, views are what is changed, and conditions of
// conflicts have no indexes.
type changeNote struct {
	d      *destination
	ref    *ast.TableRef // the table that changes, as an entry of FROM
	rel    *rel
	places []assignPlace // of INSERT
	values [][]plan.Expr // nil is DEFAULT
	query  *query

	keys     []plan.Expr
	keyWhere []plan.Expr
	excluded *rel

	set       []setNote // of UPDATE, or of ON CONFLICT
	where     []plan.Expr
	returning []target

	on    []plan.Expr // of MERGE
	whens []whenNote
}

// whenNote is a WHEN clause of MERGE.
type whenNote struct {
	cond   []plan.Expr
	set    []setNote
	places []assignPlace
	values []plan.Expr // nil is DEFAULT
}

// setNote is an assignment: x to one place, nil for DEFAULT, or the columns of a query
// to several.
type setNote struct {
	places []assignPlace
	x      plan.Expr
	query  *query
}

// columns are what RETURNING gives a query that reads them.
func (n *changeNote) columns() []plan.OutCol {
	cols := []plan.OutCol{}
	for _, t := range n.returning {
		cols = append(cols, plan.OutCol{Name: t.name, T: t.x.Type(), Table: t.tbl, AttNum: t.attnum})
	}
	return cols
}

// noteChange binds a statement that changes rows for its text.
func (p *planner) noteChange(s ast.Stmt, sc *scope) *changeNote {
	if with := withOf(s); with != nil {
		sc, _ = p.with(with, s, sc)
	}
	n := &changeNote{}
	p.rec.changes[s] = n
	switch s := s.(type) {
	case *ast.Insert:
		p.noteInsert(n, s, sc)
	case *ast.Update:
		inner, others := p.noteRows(n, s.Table, s.From, s.Where, s.Current, "UPDATE", sc)
		n.set = p.noteSet(s.Set, n.d, &binder{planner: p, scope: inner, what: "UPDATE", noAgg: true, noWin: true})
		p.noteReturning(n, s.Returning, inner, others, sc)
	case *ast.Delete:
		inner, others := p.noteRows(n, s.Table, s.Using, s.Where, s.Current, "DELETE", sc)
		p.noteReturning(n, s.Returning, inner, others, sc)
	case *ast.Merge:
		p.noteMerge(n, s, sc)
	default:
		giveUp("this statement")
	}
	return n
}

// withOf is the WITH of a statement that changes rows, nil without one.
func withOf(s ast.Stmt) *ast.With {
	switch s := s.(type) {
	case *ast.Insert:
		return s.With
	case *ast.Update:
		return s.With
	case *ast.Delete:
		return s.With
	case *ast.Merge:
		return s.With
	}
	return nil
}

// noteTarget makes the entry of the table that changes one that has a name in the text.
func (p *planner) noteTarget(n *changeNote, ref *ast.TableRef, r *rel) {
	n.ref, n.rel = ref, r
	p.rec.froms[ref], p.rec.rels[r.id] = r, r
}

func (p *planner) noteRows(n *changeNote, ref *ast.TableRef, from []ast.FromItem, where ast.Expr, cursor, verb string, sc *scope) (inner *scope, others []*nsItem) {
	if cursor != "" {
		giveUp("WHERE CURRENT OF")
	}
	n.d = p.destination(&ref.Name, ref.Only, verb)
	r, inner, others := p.changeNames(ref, from, where, n.d, sc)
	p.noteTarget(n, ref, r)
	n.where = inner.block.where
	return inner, others
}

// noteSet binds a SET list.
func (p *planner) noteSet(set []ast.Assign, d *destination, b *binder) []setNote {
	var out []setNote
	one := func(a *ast.AssignTarget, x ast.Expr) {
		pl := b.assignPlace(d.shape, a)
		note := setNote{places: []assignPlace{pl}}
		if !isDefault(x) {
			note.x = pl.value(p, d.shape, b.expr(x), x.Pos())
		}
		out = append(out, note)
	}
	for i := range set {
		a := &set[i]
		switch x := a.X.(type) {
		case *ast.Row:
			if !a.Multi {
				one(&a.Targets[0], x)
				continue
			}
			if len(x.Elems) != len(a.Targets) {
				giveUp("an assignment of a row's columns")
			}
			for k := range a.Targets {
				one(&a.Targets[k], x.Elems[k])
			}
		case *ast.Subquery:
			if !a.Multi {
				one(&a.Targets[0], x)
				continue
			}
			note := setNote{query: b.subselect(x.Query, x.Pos())}
			for k := range a.Targets {
				pl := b.assignPlace(d.shape, &a.Targets[k])
				if k < len(note.query.cols) && note.query.cols[k].T.OID == types.OUnknown {
					p.castColumn(note.query, k, types.TText)
				}
				note.places = append(note.places, pl)
			}
			out = append(out, note)
		default:
			one(&a.Targets[0], x)
		}
	}
	return out
}

// isDefault reports whether a value is written DEFAULT.
func isDefault(x ast.Expr) bool {
	s, ok := x.(*ast.Special)
	return ok && s.Kind == "DEFAULT"
}

// noteReturning binds RETURNING over the entry of the changed row and those of FROM.
func (p *planner) noteReturning(n *changeNote, list []ast.Target, inner *scope, others []*nsItem, sc *scope) {
	bl := &block{rels: map[int]*rel{n.rel.id: n.rel}}
	if inner != nil {
		bl.rels = inner.block.rels
	}
	items := append([]*nsItem{p.ownNames(n.rel, n.d.shape, n.ref.Alias)}, others...)
	b := &binder{planner: p, scope: &scope{parent: sc, items: items}, what: "RETURNING", noAgg: true, noWin: true}
	for i := range list {
		p.target(&list[i], b, bl)
	}
	for i := range bl.targets {
		bl.targets[i].x = p.known(bl.targets[i].x)
	}
	n.returning = bl.targets
}

func (p *planner) noteInsert(n *changeNote, s *ast.Insert, sc *scope) {
	n.d = p.destination(&s.Table, false, "INSERT")
	p.noteTarget(n, &ast.TableRef{Off: s.Table.Off, Name: s.Table, Alias: s.Alias}, p.entry(n.d, s.Alias))
	p.watch(n.rel, n.d.right)
	ib := &binder{planner: p, scope: &scope{parent: sc}, what: "INSERT", noAgg: true, noWin: true}
	n.places = ib.insertPlaces(s.Cols, n.d.shape)
	number := func(k int) {
		if k > len(n.places) {
			failf(sqlerr.SyntaxError, -1, "INSERT has more expressions than target columns")
		}
		n.places = n.places[:k]
	}
	switch {
	case s.Default:
		n.places = nil
	case plainValues(s.Query):
		b := &binder{planner: p, scope: &scope{parent: sc}, what: "VALUES", noAgg: true, noWin: true, srf: len(s.Query.Values) == 1}
		for r, row := range s.Query.Values {
			row, out := b.spreadRow(row)
			if r == 0 {
				number(len(row))
			}
			for i, x := range row {
				if isDefault(x) {
					continue
				}
				if out[i] == nil {
					out[i] = b.expr(x)
				}
				out[i] = n.places[i].value(p, n.d.shape, out[i], x.Pos())
			}
			n.values = append(n.values, out)
		}
	default:
		n.query = p.bindSelect(s.Query, p.beside(n.d, sc))
		number(len(n.query.cols))
	}
	if s.OnConflict != nil {
		p.noteConflict(n, s, sc)
	}
	p.noteReturning(n, s.Returning, nil, nil, sc)
}

func (p *planner) noteConflict(n *changeNote, s *ast.Insert, sc *scope) {
	c := s.OnConflict
	own := p.ownNames(n.rel, n.d.shape, s.Alias)
	b := &binder{planner: p, scope: &scope{items: []*nsItem{own}}, what: "index expressions", noAgg: true, noWin: true, noSub: true}
	for i := range c.Targets {
		n.keys = append(n.keys, p.known(b.expr(c.Targets[i].X)))
	}
	if c.Where != nil {
		n.keyWhere = b.cond(c.Where)
	}
	if !c.DoUpdate {
		return
	}
	n.excluded = p.entry(n.d, "excluded")
	p.rec.rels[n.excluded.id] = n.excluded
	b = &binder{planner: p, scope: &scope{parent: sc, items: []*nsItem{own, p.relNames(n.excluded, nil)}}, what: "UPDATE", noAgg: true, noWin: true}
	n.set = p.noteSet(c.Set, n.d, b)
	if c.UpdWhere != nil {
		b.what = "WHERE"
		n.where = b.cond(c.UpdWhere)
	}
}

// noteMerge binds MERGE.
func (p *planner) noteMerge(n *changeNote, s *ast.Merge, sc *scope) {
	names := p.mergeNames(s, sc)
	n.d, n.on = names.d, names.on
	p.noteTarget(n, s.Table, names.rel)
	for i := range s.Whens {
		w := &s.Whens[i]
		b := &binder{planner: p, scope: names.of(w), what: whenAnd, noAgg: true, noWin: true}
		var note whenNote
		if w.Cond != nil {
			note.cond = b.cond(w.Cond)
		}
		switch w.Action {
		case "UPDATE":
			b.what = "UPDATE"
			note.set = p.noteSet(w.Set, n.d, b)
		case "INSERT":
			b.what = "VALUES"
			note.places, note.values = p.noteValues(w, n.d.table, b)
		}
		n.whens = append(n.whens, note)
	}
}

// noteValues binds what an INSERT of MERGE stores.
func (p *planner) noteValues(w *ast.MergeWhen, t *catalog.Table, b *binder) ([]assignPlace, []plan.Expr) {
	if w.Default {
		return nil, nil
	}
	places := b.insertPlaces(w.Cols, t)
	row, out := b.spreadRow(w.Values)
	if len(row) > len(places) {
		failf(sqlerr.SyntaxError, -1, "INSERT has more expressions than target columns")
	}
	for i, x := range row {
		if isDefault(x) {
			continue
		}
		if out[i] == nil {
			out[i] = b.expr(x)
		}
		out[i] = places[i].value(p, t, out[i], x.Pos())
	}
	return places[:len(row)], out
}
