package planner

import (
	"cmp"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// domain makes a value of a domain out of one of the type that it is over: with
// the checks of the domain, and of the domains below it, where there are any.
func (p *planner) domain(x plan.Expr, to types.T, ctx byte) plan.Expr {
	if p.Snap.TypeCollation(to) != "" {
		p.coll.any = true
	}
	if d := p.domainRules(to.OID); d != nil {
		d.At, d.X, d.Cast = plan.At{T: to, Off: x.Pos()}, x, castForm(ctx)
		return d
	}
	return &plan.Relabel{At: plan.At{T: to, Off: x.Pos()}, X: x, Cast: castForm(ctx)}
}

// hidden is a value that was made for a domain, whose step to the domain's modifier is the
// domain's own and not written.
func hidden(x plan.Expr) plan.Expr {
	if m, ok := x.(*plan.CoerceMod); ok {
		m.Cast = plan.CastImplicit
	}
	return x
}

// domainRules collects what values of a domain must satisfy, nil for nothing:
// NOT NULL first, then the checks of the lowest domain, by name, and so on up.
func (p *planner) domainRules(oid types.OID) *plan.CoerceDomain {
	if d, ok := p.domains[oid]; ok {
		if d == nil {
			return nil
		}
		c := *d
		return &c
	}
	var out *plan.CoerceDomain
	var chain []*catalog.UserType
	for o := oid; ; {
		u := p.Snap.TypeByOID(o)
		if u == nil || u.Kind != 'd' {
			break
		}
		chain = append(chain, u)
		o = u.Base.OID
	}
	for i := len(chain) - 1; i >= 0; i-- {
		u := chain[i]
		if !u.NotNull && len(u.Checks) == 0 {
			continue
		}
		if out == nil {
			out = &plan.CoerceDomain{Schema: chain[0].Schema, Name: chain[0].Name, TypeName: p.bareName(oid)}
		}
		out.NotNull = out.NotNull || u.NotNull
		checks := slices.SortedFunc(slices.Values(u.Checks), func(a, b *catalog.Check) int { return cmp.Compare(a.Name, b.Name) })
		for _, k := range checks {
			out.Checks = append(out.Checks, plan.DomainCheck{Name: k.Name, Cond: p.domainCheck(k.Expr, u.CallsOf(k.Expr), u.Base)})
		}
	}
	if p.domains == nil {
		p.domains = map[types.OID]*plan.CoerceDomain{}
	}
	p.domains[oid] = out
	if out == nil {
		return nil
	}
	c := *out
	return &c
}

// domainCheck binds the text of a check over VALUE, which is column 0.
func (p *planner) domainCheck(text string, calls catalog.Calls, base types.T) plan.Expr {
	x, err := p.Texts.ParseExpr(text)
	if err != nil {
		fail(err)
	}
	t := valueTable(base)
	r := p.tableRel(t, t.Name)
	lay := layout{}
	lay.addTable(r, liveCols(t), 0)
	b := &binder{planner: p, scope: &scope{items: []*nsItem{p.relNames(r, nil)}}, what: "check constraints", noAgg: true, noWin: true, noSub: true}
	var cond plan.Expr
	p.within(calls, func() { cond = b.expr(x) })
	return stripPos(p.planExprs([]plan.Expr{p.mustBool(cond, "CHECK")}, lay)[0])
}

// valueTable has the one column that a domain's check sees.
func valueTable(base types.T) *catalog.Table {
	return &catalog.Table{Columns: []catalog.Column{{Name: "value", Type: base}}}
}

// DomainCheck binds a check of a domain over the type base, whose value is VALUE.
func DomainCheck(c *Context, x ast.Expr, base types.T) (*Stored, error) {
	return storedExpr(c, x, valueTable(base), types.TBool, "check constraints", func(string) string { return "VALUE" })
}

// columnDomain is the expression whose evaluation checks a stored column, given
// as an expression over the rows, against the domains that it is of; nil when
// every value of the type below will do.
func (p *planner) columnDomain(col plan.Expr) plan.Expr {
	t := col.Type()
	if t.OID < types.FirstUserOID {
		return nil
	}
	in := p.info(t.OID)
	switch {
	case in.Type == 'd':
		var base plan.Expr = &plan.Relabel{At: plan.At{T: p.Snap.BaseType(t), Off: -1}, X: col}
		if base.Type().OID == types.OBpchar { // an element has its blanks
			base = &plan.CoerceMod{At: plan.At{T: base.Type(), Off: -1}, X: col}
		}
		checked := p.columnDomain(base)
		if checked != nil {
			base = checked
		}
		if checked != nil || p.domainRules(t.OID) != nil {
			return p.domain(base, t, implicit)
		}
	case in.Kind == types.KArray && in.Elem >= types.FirstUserOID && p.info(in.Elem).Type == 'd':
		elem := p.columnDomain(&plan.Col{At: plan.At{T: p.T(in.Elem, -1), Off: -1}})
		if elem == nil {
			return nil
		}
		return &plan.CoerceArray{At: plan.At{T: t, Off: -1}, X: col, Elem: elem, Check: true}
	}
	return nil
}

// unchecked leaves the check of a column's own domain to the writing of the row.
func unchecked(e plan.Expr) plan.Expr {
	if d, ok := e.(*plan.CoerceDomain); ok {
		return &plan.Relabel{At: d.At, X: d.X, Cast: d.Cast}
	}
	return e
}

// domainDefault is the default that a column without one has from its domain:
// the text, or "", and what it was bound to.
func (p *planner) domainDefault(t types.T) (string, catalog.Calls) {
	for {
		u := p.Snap.TypeByOID(t.OID)
		if u == nil || u.Kind != 'd' {
			return "", nil
		}
		if u.Default != "" {
			return u.Default, u.CallsOf(u.Default)
		}
		t = u.Base
	}
}

// hasDomainDefault reports whether columns of a type have a default from it.
func (p *planner) hasDomainDefault(t types.T) bool {
	text, _ := p.domainDefault(t)
	return text != ""
}

// DomainDefault is what a new column of type t without a default holds in rows
// that are there: the default of its domain, or NULL, which the domain may
// refuse. It is nil for other types.
func DomainDefault(c *Context, t types.T) (ast.Expr, error) {
	p := newPlanner(c)
	if p.info(t.OID).Type != 'd' {
		return nil, nil
	}
	if text, _ := p.domainDefault(t); text != "" {
		return c.Texts.ParseExpr(text)
	}
	return &ast.Const{Off: -1, Kind: ast.ConstNull}, nil
}

// DomainValue is a value as one of a domain or of an array of one, an expression whose
// evaluation checks it; nil when the domain restricts nothing.
func DomainValue(c *Context, d types.Datum, t types.T) (x plan.Expr, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	return p.columnDomain(&plan.Const{At: plan.At{T: t, Off: -1}, Val: d}), nil
}
