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
	// CreateOperator is CREATE OPERATOR.
	CreateOperator struct {
		Off
		Name    Name // its last part is the symbol
		Options []Option
	}
	// CreateCast is CREATE CAST.
	CreateCast struct {
		Off
		Source, Target TypeName
		Method         string // WITH FUNCTION, WITHOUT FUNCTION, WITH INOUT
		Func           Name
		Args           []TypeName // nil: none were written
		Context        string     // IMPLICIT, ASSIGNMENT or ""
	}
)

func (*CreateAggregate) stmt() {}
func (*CreateOperator) stmt()  {}
func (*CreateCast) stmt()      {}

func (p *printer) createOperator(s *CreateOperator) {
	p.put("CREATE OPERATOR ")
	p.operatorRef(s.Name, nil)
	p.defItems(s.Options)
}

func (p *printer) createCast(s *CreateCast) {
	p.put("CREATE CAST ")
	p.castTypes([]TypeName{s.Source, s.Target})
	p.put(" ", s.Method)
	if s.Method == "WITH FUNCTION" {
		p.put(" ")
		p.name(s.Func)
		p.funcArgs("FUNCTION", s.Args)
	}
	p.putIf(s.Context != "", " AS "+s.Context)
}

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
