package ast

// The objects that belong to a relation and have statements of their own.

type (
	// CreatePolicy is CREATE POLICY, or with Alter ALTER POLICY.
	CreatePolicy struct {
		Off
		Alter        bool
		Name         string
		Table        Name
		NewName      string // RENAME TO
		Restrictive  bool
		Command      string   // ALL, SELECT, INSERT, UPDATE, DELETE; "" where none was written
		Roles        []string // nil where none were written
		Using, Check Expr
	}
	// CreateStatistics is CREATE STATISTICS.
	CreateStatistics struct {
		Off
		IfNotExists bool
		Name        Name
		Kinds       []string // ndistinct, …; nil where none were written
		Exprs       []Expr   // columns are ColumnRefs
		From        []FromItem
	}
)

func (*CreatePolicy) stmt()     {}
func (*CreateStatistics) stmt() {}

func (p *printer) createPolicy(s *CreatePolicy) {
	if s.Alter {
		p.put("ALTER POLICY ")
	} else {
		p.put("CREATE POLICY ")
	}
	p.ident(s.Name)
	p.put(" ON ")
	p.name(s.Table)
	if s.NewName != "" {
		p.put(" RENAME TO ")
		p.ident(s.NewName)
		return
	}
	p.putIf(s.Restrictive, " AS RESTRICTIVE")
	p.putIf(s.Command != "", " FOR "+s.Command)
	if s.Roles != nil {
		p.put(" TO ")
		p.roles(s.Roles)
	}
	if s.Using != nil {
		p.put(" USING (")
		p.expr(s.Using, 0)
		p.put(")")
	}
	if s.Check != nil {
		p.put(" WITH CHECK (")
		p.expr(s.Check, 0)
		p.put(")")
	}
}

func (p *printer) createStatistics(s *CreateStatistics) {
	p.put("CREATE STATISTICS ")
	p.putIf(s.IfNotExists, "IF NOT EXISTS ")
	p.name(s.Name)
	if s.Kinds != nil {
		p.put(" (")
		for i, k := range s.Kinds {
			p.putIf(i > 0, ", ")
			p.ident(k)
		}
		p.put(")")
	}
	p.put(" ON ")
	for i, x := range s.Exprs {
		p.putIf(i > 0, ", ")
		if _, column := x.(*ColumnRef); column {
			p.expr(x, 0)
			continue
		}
		p.put("(")
		p.expr(x, 0)
		p.put(")")
	}
	p.put(" FROM ")
	for i, f := range s.From {
		p.putIf(i > 0, ", ")
		p.from(f)
	}
}
