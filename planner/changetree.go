package planner

import (
	"maps"

	"kvsqld/catalog"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// change takes a statement that changes rows apart; visible tells that the names of the
// columns that it returns are shown.
func (w *treeWriter) change(s ast.Stmt, visible bool) *catalog.ChangeTree {
	n := w.rec.changes[s]
	if n == nil {
		giveUp("this statement")
	}
	in := *w
	in.taken = maps.Clone(w.taken)
	out := &catalog.ChangeTree{}
	var from []ast.FromItem
	var returning []ast.Target
	switch s := s.(type) {
	case *ast.Insert:
		out.Verb, out.Overriding, returning = "INSERT", s.Overriding, s.Returning
	case *ast.Update:
		out.Verb, from, returning = "UPDATE", s.From, s.Returning
	case *ast.Delete:
		out.Verb, from, returning = "DELETE", s.Using, s.Returning
	case *ast.Merge:
		out.Verb, from = "MERGE", []ast.FromItem{s.Using}
	}
	in.nameList(append([]ast.FromItem{n.ref}, from...))
	if with := withOf(s); with != nil {
		out.Recursive, out.With = in.with(with)
	}
	t := in.table(n.ref)
	out.Schema, out.Table, out.Only, out.Alias = t.Schema, t.Table, t.Only, t.Alias
	for i := range n.places {
		out.Cols = append(out.Cols, in.place(n, &n.places[i]))
	}
	for _, row := range n.values {
		var l []catalog.TreeExpr
		for _, x := range row {
			l = append(l, in.assigned(x))
		}
		out.Values = append(out.Values, l)
	}
	if n.query != nil {
		out.Source = in.query(n.query, s.(*ast.Insert).Query, nil, false)
	}
	for _, f := range from {
		out.From = append(out.From, in.from(f))
	}
	if x, ok := s.(*ast.Insert); ok && x.OnConflict != nil {
		out.Conflict = in.conflict(n, x.OnConflict)
	} else {
		out.Set, out.Where = in.set(n, n.set), in.cond(n.where)
	}
	if x, ok := s.(*ast.Merge); ok {
		out.On = in.cond(n.on)
		for i := range n.whens {
			out.Whens = append(out.Whens, in.when(n, &n.whens[i], &x.Whens[i]))
		}
	}
	if returning != nil {
		for _, t := range n.returning {
			out.Returning = append(out.Returning, in.targetTree(t.x, t.name, visible))
		}
	}
	return out
}

// assigned is a value that an assignment gives; no text is DEFAULT.
func (w *treeWriter) assigned(x plan.Expr) catalog.TreeExpr {
	if x == nil {
		return catalog.TreeExpr{}
	}
	return w.expr(x, false)
}

// place is a column that is assigned, or what of it is.
func (w *treeWriter) place(n *changeNote, pl *assignPlace) []catalog.TreePart {
	parts := []catalog.TreePart{lit(catalog.QuoteIdent(w.now(n.rel).RelColumns()[pl.col].Name))}
	for _, st := range pl.steps {
		if st.field >= 0 {
			name := w.deparseOptions().Field(nullConst(st.base), st.field)
			parts = append(parts, lit("."+catalog.QuoteIdent(name)))
			continue
		}
		for i := range st.lo {
			parts = append(parts, lit("["))
			if st.lo[i] != nil {
				parts = append(parts, w.exprPart(st.lo[i], false))
			}
			if st.slice {
				parts = append(parts, lit(":"))
				if st.hi[i] != nil {
					parts = append(parts, w.exprPart(st.hi[i], false))
				}
			}
			parts = append(parts, lit("]"))
		}
	}
	return parts
}

func (w *treeWriter) set(n *changeNote, list []setNote) []catalog.SetTree {
	var out []catalog.SetTree
	for _, a := range list {
		t := catalog.SetTree{Several: a.query != nil}
		for i := range a.places {
			t.Places = append(t.Places, w.place(n, &a.places[i]))
		}
		if a.query != nil {
			t.Query = w.queryPart(a.query).Query
		} else {
			t.X = w.assigned(a.x)
		}
		out = append(out, t)
	}
	return out
}

func (w *treeWriter) when(n *changeNote, note *whenNote, x *ast.MergeWhen) catalog.MergeWhenTree {
	out := catalog.MergeWhenTree{Matched: x.Matched, Cond: w.cond(note.cond), Action: x.Action, Overriding: x.Overriding, Set: w.set(n, note.set)}
	for i := range note.places {
		out.Cols = append(out.Cols, w.place(n, &note.places[i]))
	}
	for _, v := range note.values {
		out.Values = append(out.Values, w.assigned(v))
	}
	return out
}

func (w *treeWriter) conflict(n *changeNote, c *ast.OnConflict) *catalog.ConflictTree {
	out := &catalog.ConflictTree{Constraint: w.constraintNow(n, c.Constraint), Update: c.DoUpdate}
	bare := *w
	bare.bare = true
	for i, x := range n.keys {
		k := catalog.ConflictKeyTree{X: bare.expr(x, false)}
		if l := c.Targets[i].Collate; l != nil {
			k.Collate = l.Last()
		}
		if o := c.Targets[i].Opclass; o != nil {
			k.Opclass = o.Last()
		}
		out.Keys = append(out.Keys, k)
	}
	out.KeyWhere = bare.cond(n.keyWhere)
	if x := n.excluded; x != nil {
		w.refs[x.id] = x.alias
		w.eachColumn(x, func(col int) { w.cols[colKey{x.id, col}] = w.baseName(x, col) })
		out.Set, out.Where = w.set(n, n.set), w.cond(n.where)
	}
	return out
}

// constraintNow is what a unique constraint of the table that changes is called in the
// writer's snapshot.
func (w *treeWriter) constraintNow(n *changeNote, name string) string {
	now, ok := w.names.Object(n.d.table.OID).(*catalog.Table)
	if !ok || name == "" {
		return name
	}
	oid := n.d.table.ConstraintOID(name)
	for _, u := range now.Uniques {
		if u.OID == oid {
			return u.Name
		}
	}
	return name
}
