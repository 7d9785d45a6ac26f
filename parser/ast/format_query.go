package ast

func (p *printer) parenQuery(q *Select) {
	p.put("(")
	p.query(q)
	p.put(")")
}

func (p *printer) query(q *Select) {
	p.with(q.With)
	switch {
	case q.SetOp != nil:
		p.setOp(q.SetOp)
	case q.Values != nil:
		p.put("VALUES ")
		for i, row := range q.Values {
			p.putIf(i > 0, ", ")
			p.parenExprs(row)
		}
	default:
		p.core(q)
	}
	if len(q.OrderBy) > 0 {
		p.orderBy(" ORDER BY ", q.OrderBy)
	}
	p.limit(q)
	for _, l := range q.Locking {
		p.put(" FOR ", l.Strength)
		if len(l.Of) > 0 {
			p.put(" OF ")
			p.names(l.Of)
		}
		p.putIf(l.NoWait, " NOWAIT")
		p.putIf(l.SkipLocked, " SKIP LOCKED")
	}
}

func (p *printer) limit(q *Select) {
	if q.Limit != nil && !q.WithTies {
		p.put(" LIMIT ")
		if c, ok := q.Limit.(*Const); ok && c.Kind == ConstNull {
			p.put("ALL")
		} else {
			p.expr(q.Limit, 0)
		}
	}
	if q.Offset != nil {
		p.put(" OFFSET ")
		p.expr(q.Offset, 0)
	}
	if q.Limit != nil && q.WithTies {
		p.put(" FETCH FIRST (")
		p.expr(q.Limit, 0)
		p.put(") ROWS WITH TIES")
	}
}

// setOp writes both operands in parentheses where they are more than a core.
func (p *printer) setOp(s *SetOp) {
	p.operandQuery(s.L)
	p.put(" ", s.Op, " ")
	p.putIf(s.All, "ALL ")
	p.operandQuery(s.R)
}

func (p *printer) operandQuery(q *Select) {
	if q.SetOp != nil || q.With != nil || q.OrderBy != nil || q.Limit != nil || q.Offset != nil || q.Locking != nil {
		p.parenQuery(q)
		return
	}
	p.query(q)
}

func (p *printer) core(q *Select) {
	if q.Return {
		p.put("RETURN")
	} else {
		p.put("SELECT")
	}
	switch {
	case q.DistinctOn != nil:
		p.put(" DISTINCT ON ")
		p.parenExprs(q.DistinctOn)
	case q.Distinct:
		p.put(" DISTINCT")
	}
	p.targets(" ", q.Targets)
	if q.Into != nil {
		p.put(" INTO TABLE ")
		p.name(*q.Into)
	}
	p.froms(" FROM ", q.From)
	p.where(" WHERE ", q.Where)
	for i, g := range q.GroupBy {
		if i == 0 {
			p.put(" GROUP BY ")
			p.putIf(q.GroupDist, "DISTINCT ")
		} else {
			p.put(", ")
		}
		p.groupItem(g)
	}
	p.where(" HAVING ", q.Having)
	for i := range q.Windows {
		if i == 0 {
			p.put(" WINDOW ")
		} else {
			p.put(", ")
		}
		p.ident(q.Windows[i].Name)
		p.put(" AS ")
		p.window(&q.Windows[i])
	}
}

func (p *printer) targets(word string, l []Target) {
	for _, t := range l {
		p.put(word)
		word = ", "
		p.expr(t.X, 0)
		if t.Alias != "" {
			p.put(" AS ")
			p.ident(t.Alias)
		}
	}
}

func (p *printer) where(word string, x Expr) {
	if x != nil {
		p.put(word)
		p.expr(x, 0)
	}
}

func (p *printer) froms(word string, l []FromItem) {
	for _, it := range l {
		p.put(word)
		word = ", "
		p.from(it)
	}
}

func (p *printer) groupItem(g GroupItem) {
	switch g.Kind {
	case "EMPTY":
		p.put("()")
	case "SETS":
		p.put("GROUPING SETS (")
		for i, s := range g.Sets {
			p.putIf(i > 0, ", ")
			p.groupItem(s)
		}
		p.put(")")
	case "":
		p.expr(g.Exprs[0], 0)
	default:
		p.put(g.Kind)
		p.parenExprs(g.Exprs)
	}
}

func (p *printer) with(w *With) {
	if w == nil {
		return
	}
	p.put("WITH ")
	p.putIf(w.Recursive, "RECURSIVE ")
	for i, c := range w.CTEs {
		p.putIf(i > 0, ", ")
		p.ident(c.Name)
		p.parenIdents(c.Cols)
		p.put(" AS ")
		if c.Materialized != nil {
			p.put(not(!*c.Materialized), "MATERIALIZED ")
		}
		p.put("(")
		p.stmt(c.Stmt)
		p.put(")")
		p.search(c.Search)
		p.cycle(c.Cycle)
	}
	p.put(" ")
}

func (p *printer) search(s *Search) {
	if s == nil {
		return
	}
	p.put(" SEARCH ")
	if s.Breadth {
		p.put("BREADTH")
	} else {
		p.put("DEPTH")
	}
	p.put(" FIRST BY ")
	p.idents(s.By)
	p.put(" SET ")
	p.ident(s.Set)
}

func (p *printer) cycle(c *Cycle) {
	if c == nil {
		return
	}
	p.put(" CYCLE ")
	p.idents(c.Cols)
	p.put(" SET ")
	p.ident(c.Mark)
	p.put(" TO ")
	p.expr(c.Value, 0)
	p.put(" DEFAULT ")
	p.expr(c.Default, 0)
	p.put(" USING ")
	p.ident(c.Path)
}

func (p *printer) alias(alias string, cols []string) {
	if alias != "" {
		p.put(" AS ")
		p.ident(alias)
		p.parenIdents(cols)
	}
}

func (p *printer) from(it FromItem) {
	switch it := it.(type) {
	case *TableRef:
		p.putIf(it.Only, "ONLY ")
		p.name(it.Name)
		p.alias(it.Alias, it.Cols)
		if ts := it.Tablesample; ts != nil {
			p.put(" TABLESAMPLE ")
			p.dotted(splitDots(ts.Method))
			p.parenExprs(ts.Args)
			if ts.Seed != nil {
				p.put(" REPEATABLE (")
				p.expr(ts.Seed, 0)
				p.put(")")
			}
		}
	case *SubqueryRef:
		p.putIf(it.Lateral, "LATERAL ")
		p.parenQuery(it.Query)
		p.alias(it.Alias, it.Cols)
	case *FuncRef:
		p.funcRef(it)
	case *Join:
		if it.Alias != "" {
			p.put("(")
			p.join(it)
			p.put(")")
			p.alias(it.Alias, it.Cols)
		} else {
			p.join(it)
		}
	}
}

func splitDots(s string) []string {
	schema, name := splitOperator(s)
	if schema == "" {
		return []string{name}
	}
	return append(splitDots(schema), name)
}

func (p *printer) join(j *Join) {
	p.from(j.L)
	p.put(" ")
	p.putIf(j.Natural, "NATURAL ")
	p.put(j.Kind, " JOIN ")
	if r, ok := j.R.(*Join); ok && r.Alias == "" {
		p.put("(")
		p.join(r)
		p.put(")")
	} else {
		p.from(j.R)
	}
	switch {
	case j.On != nil:
		p.put(" ON ")
		p.expr(j.On, 0)
	case j.Using != nil:
		p.put(" USING ")
		p.parenIdents(j.Using)
		if j.UsingAlias != "" {
			p.put(" AS ")
			p.ident(j.UsingAlias)
		}
	}
}

func (p *printer) funcRef(f *FuncRef) {
	p.putIf(f.Lateral, "LATERAL ")
	p.putIf(f.RowsFrom, "ROWS FROM (")
	for i, c := range f.Calls {
		p.putIf(i > 0, ", ")
		p.tableFunction(c.X)
		if c.Cols != nil {
			p.put(" AS ")
			p.colDefs(c.Cols)
		}
	}
	p.putIf(f.RowsFrom, ")")
	p.putIf(f.Ordinality, " WITH ORDINALITY")
	if f.Alias == "" && f.Cols == nil {
		return
	}
	p.put(" AS ")
	if f.Alias != "" {
		p.ident(f.Alias)
	}
	if f.Cols != nil {
		p.colDefs(f.Cols)
	}
}

// tableFunction writes a call in FROM, where a cast is spelled CAST.
func (p *printer) tableFunction(x Expr) {
	c, ok := x.(*Cast)
	if !ok {
		p.expr(x, 0)
		return
	}
	p.put("CAST(")
	p.expr(c.X, 0)
	p.put(" AS ")
	p.typeName(c.Type)
	p.put(")")
}

func (p *printer) colDefs(l []ColDef) {
	p.put("(")
	for i, c := range l {
		p.putIf(i > 0, ", ")
		p.ident(c.Name)
		if c.Type != nil {
			p.put(" ")
			p.typeName(*c.Type)
		}
	}
	p.put(")")
}
