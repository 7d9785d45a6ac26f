package ast

// stmt writes any statement.
func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Select:
		p.query(s)
	case *Insert:
		p.insert(s)
	case *Update:
		p.update(s)
	case *Delete:
		p.with(s.With)
		p.put("DELETE FROM ")
		p.from(s.Table)
		p.froms(" USING ", s.Using)
		p.whereCurrent(s.Where, s.Current)
		p.targets(" RETURNING ", s.Returning)
	case *Merge:
		p.merge(s)
	default:
		if !p.definition(s) {
			p.session(s)
		}
	}
}

func (p *printer) whereCurrent(x Expr, cursor string) {
	if cursor != "" {
		p.put(" WHERE CURRENT OF ")
		p.ident(cursor)
		return
	}
	p.where(" WHERE ", x)
}

func (p *printer) insert(s *Insert) {
	p.with(s.With)
	p.put("INSERT INTO ")
	p.name(s.Table)
	p.alias(s.Alias, nil)
	if s.Cols != nil {
		p.put(" (")
		p.assignTargets(s.Cols)
		p.put(")")
	}
	if s.Overriding != "" {
		p.put(" OVERRIDING ", s.Overriding, " VALUE")
	}
	if s.Default {
		p.put(" DEFAULT VALUES")
	} else {
		p.put(" ")
		p.query(s.Query)
	}
	if oc := s.OnConflict; oc != nil {
		p.onConflict(oc)
	}
	p.targets(" RETURNING ", s.Returning)
}

func (p *printer) onConflict(oc *OnConflict) {
	p.put(" ON CONFLICT")
	if oc.Constraint != "" {
		p.put(" ON CONSTRAINT ")
		p.ident(oc.Constraint)
	}
	if oc.Targets != nil {
		p.put(" (")
		for i, t := range oc.Targets {
			p.putIf(i > 0, ", ")
			p.indexKey(t.X)
			p.indexSuffix(t.Collate, t.Opclass)
		}
		p.put(")")
		p.where(" WHERE ", oc.Where)
	}
	if !oc.DoUpdate {
		p.put(" DO NOTHING")
		return
	}
	p.put(" DO UPDATE SET ")
	p.assigns(oc.Set)
	p.where(" WHERE ", oc.UpdWhere)
}

// indexKey writes a column or an expression of an index.
func (p *printer) indexKey(x Expr) {
	if c, ok := x.(*ColumnRef); ok && len(c.Parts) == 1 && !c.Star {
		p.ident(c.Parts[0])
		return
	}
	p.put("(")
	p.expr(x, 0)
	p.put(")")
}

// indexElem prints a column or an expression in brackets, with collation and
// operator class.
func (p *printer) indexElem(e *IndexElem) {
	if e.X != nil {
		p.put("(")
		p.expr(e.X, 0)
		p.put(")")
	} else {
		p.ident(e.Col)
	}
	p.indexSuffix(e.Collate, e.Opclass)
}

func (p *printer) indexSuffix(collate, opclass *Name) {
	if collate != nil {
		p.put(" COLLATE ")
		p.name(*collate)
	}
	if opclass != nil {
		p.put(" ")
		p.name(*opclass)
	}
}

func (p *printer) assignTargets(l []AssignTarget) {
	for i, t := range l {
		p.putIf(i > 0, ", ")
		p.ident(t.Col)
		for _, s := range t.Path {
			if s.Field != "" {
				p.put(".")
				p.ident(s.Field)
			} else {
				p.subscript(s.Slice, s.Lo, s.Hi)
			}
		}
	}
}

func (p *printer) assigns(l []Assign) {
	for i, a := range l {
		p.putIf(i > 0, ", ")
		p.putIf(a.Multi, "(")
		p.assignTargets(a.Targets)
		p.putIf(a.Multi, ")")
		p.put(" = ")
		p.expr(a.X, 0)
	}
}

func (p *printer) update(s *Update) {
	p.with(s.With)
	p.put("UPDATE ")
	p.from(s.Table)
	p.put(" SET ")
	p.assigns(s.Set)
	p.froms(" FROM ", s.From)
	p.whereCurrent(s.Where, s.Current)
	p.targets(" RETURNING ", s.Returning)
}

func (p *printer) merge(s *Merge) {
	p.with(s.With)
	p.put("MERGE INTO ")
	p.from(s.Table)
	p.put(" USING ")
	p.from(s.Using)
	p.put(" ON ")
	p.expr(s.On, 0)
	for _, w := range s.Whens {
		p.put(" WHEN ", not(!w.Matched), "MATCHED")
		p.where(" AND ", w.Cond)
		p.put(" THEN ")
		switch w.Action {
		case "UPDATE":
			p.put("UPDATE SET ")
			p.assigns(w.Set)
		case "INSERT":
			p.mergeInsert(w)
		case "NOTHING":
			p.put("DO NOTHING")
		default:
			p.put(w.Action)
		}
	}
}

func (p *printer) mergeInsert(w MergeWhen) {
	p.put("INSERT")
	if w.Cols != nil {
		p.put(" (")
		p.assignTargets(w.Cols)
		p.put(")")
	}
	if w.Overriding != "" {
		p.put(" OVERRIDING ", w.Overriding, " VALUE")
	}
	if w.Default {
		p.put(" DEFAULT VALUES")
		return
	}
	p.put(" VALUES ")
	p.parenExprs(w.Values)
}
