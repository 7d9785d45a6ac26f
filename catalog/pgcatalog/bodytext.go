package pgcatalog

import "kvsqld/catalog"

// BodyText writes the body of a function as pg_get_function_sqlbody does.
func (env *Env) BodyText(t *catalog.BodyTree) string {
	if t.Return != nil {
		w := &queryWriter{env: env, flat: true, wrap: -1}
		w.str("RETURN ")
		w.expr(t.Return)
		return string(w.buf)
	}
	w := &queryWriter{env: env}
	w.str("BEGIN ATOMIC\n")
	for i := range t.Stmts {
		w.indent = 1
		switch s := &t.Stmts[i]; {
		case s.Return != nil:
			w.str(" RETURN ")
			w.expr(s.Return)
		case s.Change != nil:
			w.change(s.Change)
		default:
			w.query(s.Query)
		}
		w.str(";\n")
	}
	w.str("END")
	return string(w.buf)
}

// change writes INSERT, UPDATE, DELETE or MERGE at the depth of the writer, which stays.
func (w *queryWriter) change(c *catalog.ChangeTree) {
	depth, hiding := w.indent, w.hide(c.With)
	w.with(c.Recursive, c.With)
	w.open()
	table := w.env.Snap.RelationText(w.env.DB, w.env.SearchPath, c.Schema, c.Table)
	only := []string{"", "ONLY "}[index(c.Only)]
	if c.Alias != "" {
		as := " "
		if c.Verb == "INSERT" {
			as = " AS "
		}
		table += as + catalog.QuoteIdent(c.Alias)
	}
	switch c.Verb {
	case "INSERT":
		w.insert(c, table)
	case "UPDATE":
		w.str("UPDATE " + only + table + " SET ")
		w.set(c.Set)
		w.from(" FROM ", c.From)
	case "MERGE":
		w.str("MERGE INTO " + only + table)
		w.from(" USING ", c.From)
		w.clause(" ON ", 2)
		if c.On == nil {
			w.str("true")
		} else {
			w.expr(c.On)
		}
		for i := range c.Whens {
			w.when(&c.Whens[i])
		}
	default:
		w.str("DELETE FROM " + only + table)
		w.from(" USING ", c.From)
	}
	w.where(c.Where)
	if len(c.Returning) > 0 {
		w.clause(" RETURNING", 1)
		w.targets(c.Returning)
	}
	w.indent, w.hiding = depth, hiding
}

// when writes a WHEN clause of MERGE.
func (w *queryWriter) when(x *catalog.MergeWhenTree) {
	w.clause(" WHEN ", 2)
	w.str([]string{"NOT ", ""}[index(x.Matched)] + "MATCHED")
	if x.Cond != nil {
		w.clause(" AND ", 3)
		w.expr(x.Cond)
	}
	w.clause(" THEN ", 3)
	switch x.Action {
	case "UPDATE":
		w.str("UPDATE SET ")
		w.set(x.Set)
	case "INSERT":
		w.str("INSERT")
		if len(x.Cols) > 0 {
			w.str(" ")
			w.places(x.Cols)
		}
		if x.Overriding != "" {
			w.str(" OVERRIDING " + x.Overriding + " VALUE")
		}
		if len(x.Values) == 0 {
			w.str(" DEFAULT VALUES")
			break
		}
		w.clause(" VALUES ", 4)
		w.row(x.Values, ", ")
	case "NOTHING":
		w.str("DO NOTHING")
	default:
		w.str(x.Action)
	}
}

func (w *queryWriter) where(x *catalog.TreeExpr) {
	if x != nil {
		w.clause(" WHERE ", 1)
		w.expr(x)
	}
}

func (w *queryWriter) insert(c *catalog.ChangeTree, table string) {
	w.str("INSERT INTO " + table + " ")
	w.places(c.Cols)
	if len(c.Cols) > 0 {
		w.str(" ")
	}
	if c.Overriding != "" {
		w.str("OVERRIDING " + c.Overriding + " VALUE ")
	}
	switch {
	case c.Source != nil:
		w.query(c.Source)
	case len(c.Values) == 0:
		w.str("DEFAULT VALUES")
	case len(c.Values) == 1:
		w.keyword("VALUES ", -indentStep, indentStep, 2)
		w.row(c.Values[0], ", ")
	default:
		w.rows(c.Values)
	}
	if k := c.Conflict; k != nil {
		w.conflict(k)
	}
}

// places writes (a, b[1]), or nothing for none.
func (w *queryWriter) places(list [][]catalog.TreePart) {
	for i := range list {
		w.str([]string{"(", ", "}[min(i, 1)])
		w.place(list[i])
	}
	if len(list) > 0 {
		w.str(")")
	}
}

func (w *queryWriter) place(parts []catalog.TreePart) {
	e := &exprWriter{buf: w.buf, pretty: w.pretty, indent: w.indent, query: w}
	e.piece(parts)
	w.buf = e.buf
}

// rows writes several lists of VALUES, row one.
func (w *queryWriter) rows(list [][]catalog.TreeExpr) {
	w.str("VALUES ")
	for i := range list {
		w.str([]string{"", ", "}[min(i, 1)])
		w.row(list[i], ",")
	}
}

func (w *queryWriter) row(list []catalog.TreeExpr, sep string) {
	w.str("(")
	for i := range list {
		if i > 0 {
			w.str(sep)
		}
		w.assigned(&list[i])
	}
	w.str(")")
}

// assigned writes a value that may be DEFAULT.
func (w *queryWriter) assigned(x *catalog.TreeExpr) {
	if x.Text == "" {
		w.str("DEFAULT")
	} else {
		w.expr(x)
	}
}

func (w *queryWriter) set(list []catalog.SetTree) {
	for i := range list {
		if i > 0 {
			w.str(", ")
		}
		switch a := &list[i]; {
		case a.Several:
			w.places(a.Places)
			w.str(" = (")
			w.query(a.Query)
			w.str(")")
		default:
			w.place(a.Places[0])
			w.str(" = ")
			w.assigned(&a.X)
		}
	}
}

func (w *queryWriter) conflict(c *catalog.ConflictTree) {
	w.str(" ON CONFLICT")
	for i := range c.Keys {
		w.str([]string{"(", ", "}[min(i, 1)])
		k := &c.Keys[i]
		paren := !k.X.Var && !k.X.Call
		if paren {
			w.str("(")
		}
		w.expr(&k.X)
		if paren {
			w.str(")")
		}
		if k.Collate != "" {
			w.str(" COLLATE " + catalog.QuoteIdent(k.Collate))
		}
		if k.Opclass != "" {
			w.str(" " + catalog.QuoteIdent(k.Opclass))
		}
	}
	if len(c.Keys) > 0 {
		w.str(")")
	}
	w.where(c.KeyWhere)
	if c.Constraint != "" {
		w.str(" ON CONSTRAINT " + catalog.QuoteIdent(c.Constraint))
	}
	if !c.Update {
		w.str(" DO NOTHING")
		return
	}
	w.str(" DO UPDATE SET ")
	w.set(c.Set)
	w.where(c.Where)
}
