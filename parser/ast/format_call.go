package ast

// call writes a function call, in the form that it was written in.
func (p *printer) call(c *Call) {
	arg := func(i int) { p.expr(c.Args[i], 0) }
	switch c.Form {
	case "extract":
		p.put("EXTRACT(")
		arg(0)
		p.put(" FROM ")
		arg(1)
	case "position":
		p.put("POSITION(")
		p.bounded(c.Args[1])
		p.put(" IN ")
		p.bounded(c.Args[0])
	case "substring":
		p.put("SUBSTRING(")
		arg(0)
		p.put(" FROM ")
		arg(1)
		if len(c.Args) > 2 {
			p.put(" FOR ")
			arg(2)
		}
	case "substring similar":
		p.put("SUBSTRING(")
		arg(0)
		p.put(" SIMILAR ")
		arg(1)
		p.put(" ESCAPE ")
		arg(2)
	case "overlay":
		p.put("OVERLAY(")
		arg(0)
		p.put(" PLACING ")
		arg(1)
		p.put(" FROM ")
		arg(2)
		if len(c.Args) > 3 {
			p.put(" FOR ")
			arg(3)
		}
	case "trim":
		p.put("TRIM(", map[string]string{"btrim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}[c.Name.Last()], " FROM ")
		p.exprs(c.Args)
	case "normalize":
		p.put("NORMALIZE(")
		arg(0)
		if len(c.Args) > 1 {
			p.put(", ", c.Args[1].(*Const).Val)
		}
	case "pg_collation_for":
		p.put("COLLATION FOR (")
		arg(0)
	case "timezone":
		p.expr(c.Args[1], levelAt)
		p.put(" AT TIME ZONE ")
		p.expr(c.Args[0], levelAt+1)
		return
	case "overlaps":
		p.parenExprs(c.Args[:2])
		p.put(" OVERLAPS ")
		p.parenExprs(c.Args[2:])
		return
	default:
		p.plainCall(c)
		return
	}
	p.put(")")
}

func (p *printer) plainCall(c *Call) {
	if len(c.Name.Parts) == 1 && (c.Name.Parts[0] == "substring" || c.Name.Parts[0] == "overlay" || c.Name.Parts[0] == "current_schema") {
		p.put(c.Name.Parts[0]) // grammar words that are plain functions too
	} else {
		p.name(c.Name)
	}
	p.put("(")
	p.putIf(c.Star, "*")
	p.putIf(c.Distinct, "DISTINCT ")
	for i, a := range c.Args {
		p.putIf(i > 0, ", ")
		p.putIf(c.Variadic && i == len(c.Args)-1, "VARIADIC ")
		if c.ArgNames != nil && c.ArgNames[i] != "" {
			p.ident(c.ArgNames[i])
			p.put(" => ")
		}
		p.expr(a, 0)
	}
	if len(c.OrderBy) > 0 && !c.WithinGrp {
		p.orderBy(" ORDER BY ", c.OrderBy)
	}
	p.put(")")
	if c.WithinGrp {
		p.orderBy(" WITHIN GROUP (ORDER BY ", c.OrderBy)
		p.put(")")
	}
	if c.Filter != nil {
		p.put(" FILTER (WHERE ")
		p.expr(c.Filter, 0)
		p.put(")")
	}
	if c.Over != nil {
		p.put(" OVER ")
		if c.Over.Name != "" {
			p.ident(c.Over.Name)
		} else {
			p.window(c.Over)
		}
	}
}

func (p *printer) orderBy(word string, items []SortItem) {
	for i, it := range items {
		p.put(word)
		word = ", "
		p.expr(it.X, 0)
		switch {
		case it.Using != "":
			p.put(" USING ")
			if schema, op := splitOperator(it.Using); schema != "" {
				p.operator(schema, op)
			} else {
				p.put(op)
			}
		case it.Desc:
			p.put(" DESC")
		}
		p.nulls(items[i].NullsFirst)
	}
}

// splitOperator takes schema.op apart.
func splitOperator(s string) (schema, op string) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return s[:i], s[i+1:]
		}
	}
	return "", s
}

func (p *printer) nulls(first *bool) {
	if first == nil {
		return
	}
	if *first {
		p.put(" NULLS FIRST")
	} else {
		p.put(" NULLS LAST")
	}
}

// window writes the parenthesised definition.
func (p *printer) window(w *Window) {
	sep := ""
	part := func() {
		p.put(sep)
		sep = " "
	}
	p.put("(")
	if w.Base != "" {
		part()
		p.ident(w.Base)
	}
	if len(w.PartitionBy) > 0 {
		part()
		p.put("PARTITION BY ")
		p.exprs(w.PartitionBy)
	}
	if len(w.OrderBy) > 0 {
		part()
		p.orderBy("ORDER BY ", w.OrderBy)
	}
	if f := w.Frame; f != nil {
		part()
		if p.put(f.Mode, " "); f.Between {
			p.put("BETWEEN ")
			p.bound(f.Start)
			p.put(" AND ")
			p.bound(f.End)
		} else {
			p.bound(f.Start)
		}
		if f.Exclude != "" {
			p.put(" EXCLUDE ", f.Exclude)
		}
	}
	p.put(")")
}

func (p *printer) bound(b Bound) {
	if b.X != nil {
		p.expr(b.X, levelOp)
		p.put(" ")
	}
	p.put(b.Kind)
}
