package ast

import "strings"

// Functions, procedures and operators as they are written.

func (p *printer) funcParams(l []FuncParam) {
	p.put("(")
	p.paramList(l)
	p.put(")")
}

func (p *printer) paramList(l []FuncParam) {
	for i, f := range l {
		p.putIf(i > 0, ", ")
		if f.Mode != "" {
			p.put(f.Mode, " ")
		}
		if f.Name != "" {
			p.ident(f.Name)
			p.put(" ")
		}
		p.typeName(f.Type)
		p.where(" DEFAULT ", f.Default)
	}
}

func (p *printer) createFunction(s *CreateFunction) {
	p.put("CREATE ")
	p.putIf(s.OrReplace, "OR REPLACE ")
	if s.Procedure {
		p.put("PROCEDURE ")
	} else {
		p.put("FUNCTION ")
	}
	p.name(s.Name)
	p.funcParams(s.Params)
	if s.RetTable != nil {
		p.put(" RETURNS TABLE ")
		p.funcParams(s.RetTable)
	} else if s.Returns != nil {
		p.put(" RETURNS ")
		p.typeName(*s.Returns)
	}
	if s.Language != "" {
		p.put(" LANGUAGE ")
		p.literal(s.Language)
	}
	p.funcOptions(s.Options)
	if s.SQLBody != nil {
		p.sqlBody(s)
		return
	}
	if s.HasBody {
		p.put(" AS ")
		p.literal(s.Body)
		if s.Body2 != "" {
			p.put(", ")
			p.literal(s.Body2)
		}
	}
}

func (p *printer) sqlBody(s *CreateFunction) {
	ret := func(st Stmt) bool {
		q, ok := st.(*Select)
		if ok = ok && strings.HasPrefix(strings.ToUpper(s.BodyText), "RETURN"); ok {
			p.put(" RETURN ")
			p.expr(q.Targets[0].X, 0)
		}
		return ok
	}
	if len(s.SQLBody) == 1 && ret(s.SQLBody[0]) {
		return
	}
	p.put(" BEGIN ATOMIC ")
	for _, st := range s.SQLBody {
		p.stmt(st)
		p.put("; ")
	}
	p.put("END")
}

func (p *printer) funcOptions(l []Option) {
	for _, o := range l {
		p.put(" ")
		c, _ := o.X.(*Const)
		switch o.Name {
		case "volatility":
			p.put(strings.ToUpper(c.Val))
		case "security":
			p.put("SECURITY ", strings.ToUpper(c.Val))
		case "parallel":
			p.put("PARALLEL ")
			p.ident(c.Val)
		case "set", "reset":
			p.put(strings.ToUpper(o.Name), " ", c.Val)
		case "support":
			p.put("SUPPORT ")
			p.dotted(strings.Split(c.Val, "."))
		default:
			p.put(strings.ToUpper(o.Name))
			if o.X != nil {
				p.put(" ")
				p.expr(o.X, 0)
			}
		}
	}
}

// castTypes writes (type AS type).
func (p *printer) castTypes(types []TypeName) {
	p.put("(")
	p.typeName(types[0])
	p.put(" AS ")
	p.typeName(types[1])
	p.put(")")
}

// operatorRef writes an operator and, where they are given, the types of its sides.
func (p *printer) operatorRef(n Name, args []TypeName) {
	for _, s := range n.Parts[:len(n.Parts)-1] {
		p.ident(s)
		p.put(".")
	}
	p.put(n.Last())
	for i, t := range args {
		p.put([]string{" (", ", "}[i])
		if t.Name.Parts == nil {
			p.put("NONE")
		} else {
			p.typeName(t)
		}
	}
	p.putIf(args != nil, ")")
}

// funcArgs writes the parameter types of a function's reference; nil is none.
func (p *printer) funcArgs(kind string, args []TypeName) {
	if args == nil {
		return
	}
	p.put("(")
	p.putIf(kind == "AGGREGATE" && len(args) == 0, "*")
	for i, t := range args {
		p.putIf(i > 0, ", ")
		p.typeName(t)
	}
	p.put(")")
}
