package ast

type (
	// CreateAggregate is CREATE AGGREGATE. Without HasArgs the types of the arguments
	// are among the options; no Params with HasArgs is (*).
	CreateAggregate struct {
		Off
		OrReplace bool
		Name      Name
		HasArgs   bool
		Params    []FuncParam
		OrderBy   []FuncParam // of an ordered-set aggregate
		Options   []Option    // see the parser's definition
	}
)

func (*CreateAggregate) stmt() {}

func (p *printer) createAggregate(s *CreateAggregate) {
	p.put("CREATE ")
	p.putIf(s.OrReplace, "OR REPLACE ")
	p.put("AGGREGATE ")
	p.name(s.Name)
	if s.HasArgs {
		p.put("(")
		p.putIf(s.Params == nil && s.OrderBy == nil, "*")
		p.paramList(s.Params)
		if s.OrderBy != nil {
			p.putIf(s.Params != nil, " ")
			p.put("ORDER BY ")
			p.paramList(s.OrderBy)
		}
		p.put(")")
	}
	p.defItems(s.Options)
}

// defItems writes (name = value, …).
func (p *printer) defItems(l []Option) {
	p.put(" (")
	for i, o := range l {
		p.putIf(i > 0, ", ")
		p.ident(o.Name)
		if o.X == nil {
			continue
		}
		p.put(" = ")
		switch v := o.X.(type) {
		case *Cast:
			p.typeName(v.Type)
		case *ColumnRef:
			p.putIf(len(v.Parts) > 1, "OPERATOR(")
			p.operatorRef(Name{Parts: v.Parts}, nil)
			p.putIf(len(v.Parts) > 1, ")")
		default:
			p.expr(o.X, 0)
		}
	}
	p.put(")")
}
