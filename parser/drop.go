package parser

import "kvsqld/parser/ast"

// drop is DROP of any kind of object.
func (p *parser) drop() ast.Stmt {
	off := p.off()
	p.next()
	d := &ast.Drop{Off: off}
	k := p.tok().Key
	switch k {
	case kwTable, kwView, kwSequence, kwType, kwDomain, kwSchema, kwExtension:
		p.next()
		d.Kind = upper(k)
	case kwIndex:
		p.next()
		d.Kind = "INDEX"
		d.Concurrently = p.acceptKw(kwConcurrently)
	case kwMaterialized:
		p.next()
		p.expectKw(kwView)
		d.Kind = "MATERIALIZED VIEW"
	case kwDatabase:
		return p.dropDatabase(off)
	case kwFunction, kwProcedure, kwRoutine, kwAggregate:
		p.next()
		d.Kind = upper(k)
		return p.dropFunction(d)
	case kwRole, kwUser, kwGroup:
		if p.peek(1).Key == kwMapping {
			break
		}
		p.next()
		d.Kind = upper(k)
		d.IfExists = p.ifExists()
		d.Names = commaList(p, func() ast.Name { return ast.Name{Off: p.off(), Parts: []string{p.roleName()}} })
		return d
	case kwOwned:
		p.next()
		p.expectKw(kwBy)
		return &ast.Owned{Off: off, Roles: p.roleNames(), Cascade: p.cascade()}
	}
	if d.Kind == "" {
		return p.dropOther(d)
	}
	d.IfExists = p.ifExists()
	d.Names = commaList(p, p.anyName)
	d.Cascade = p.cascade()
	return d
}

func (p *parser) dropFunction(d *ast.Drop) ast.Stmt {
	d.IfExists = p.ifExists()
	any := false
	for {
		name, args := p.routineWithArgs(d.Kind == "AGGREGATE")
		if args == nil && d.Kind == "AGGREGATE" {
			p.syntaxErr()
		}
		any = any || args != nil
		d.Names, d.Args = append(d.Names, name), append(d.Args, args)
		if !p.accept(KindComma) {
			break
		}
	}
	if !any {
		d.Args = nil
	}
	d.Cascade = p.cascade()
	return d
}

func (p *parser) dropDatabase(off ast.Off) ast.Stmt {
	d := &ast.DropDatabase{Off: off}
	p.next()
	d.IfExists = p.ifExists()
	d.Name = p.colID()
	if p.acceptKw(kwWith) || p.is(KindLParen) {
		p.expect(KindLParen)
		for {
			p.expectKw(kwForce)
			d.Force = true
			if !p.accept(KindComma) {
				break
			}
		}
		p.expect(KindRParen)
	}
	return d
}

// truncate is TRUNCATE [TABLE].
func (p *parser) truncate() ast.Stmt {
	t := &ast.Truncate{Off: p.off()}
	p.next()
	p.acceptKw(kwTable)
	t.Tables = p.relations()
	switch {
	case p.acceptKws(kwRestart, kwIdentity):
		t.RestartIdentity = true
	case p.acceptKws(kwContinue, kwIdentity):
	}
	t.Cascade = p.cascade()
	return t
}

// refresh is REFRESH MATERIALIZED VIEW.
func (p *parser) refresh() ast.Stmt {
	r := &ast.Refresh{Off: p.off()}
	p.next()
	p.expectKws(kwMaterialized, kwView)
	r.Concurrently = p.acceptKw(kwConcurrently)
	r.Name = p.qualifiedName()
	r.WithNoData = p.withNoData()
	return r
}

// comment is COMMENT ON.
func (p *parser) comment() ast.Stmt {
	c := &ast.Comment{Off: p.off()}
	p.next()
	return p.commentOn(c)
}

// securityLabel is SECURITY LABEL, behind these words.
func (p *parser) securityLabel(off ast.Off) ast.Stmt {
	c := &ast.Comment{Off: off, Label: true}
	if p.acceptKw(kwFor) {
		if isSconst(p.tok()) {
			c.Provider = p.sconst()
		} else {
			c.Provider = p.colID()
		}
	}
	return p.commentOn(c)
}

// commentOn is the object of a comment or label, and its text.
func (p *parser) commentOn(c *ast.Comment) ast.Stmt {
	p.expectKw(kwOn)
	k := p.tok().Key
	switch {
	case k == kwTable, k == kwIndex, k == kwView, k == kwSequence, k == kwColumn, k == kwType,
		k == kwDomain, k == kwSchema, k == kwDatabase, k == kwExtension:
		p.next()
		c.Kind = upper(k)
		if k == kwType || k == kwDomain {
			t := p.typeName()
			c.Name = t.Name
		} else {
			c.Name = p.anyName()
		}
	case k == kwRole:
		p.next()
		c.Kind = "ROLE"
		at := p.off()
		c.Name = ast.Name{Off: at, Parts: []string{p.colID()}}
	case p.acceptKws(kwMaterialized, kwView):
		c.Kind, c.Name = "MATERIALIZED VIEW", p.anyName()
	case k == kwConstraint:
		p.next()
		c.Kind = "CONSTRAINT"
		at := p.off()
		c.Name = ast.Name{Off: at, Parts: []string{p.colID()}}
		p.expectKw(kwOn)
		if p.isKw(kwDomain) {
			p.next()
			c.Kind = "DOMAIN CONSTRAINT"
		}
		n := p.anyName()
		c.On = &n
	case k == kwTrigger, k == kwRule, k == kwPolicy:
		p.next()
		c.Kind = upper(k)
		at := p.off()
		c.Name = ast.Name{Off: at, Parts: []string{p.colID()}}
		p.expectKw(kwOn)
		n := p.anyName()
		c.On = &n
	case k == kwFunction, k == kwProcedure, k == kwRoutine, k == kwAggregate:
		p.next()
		c.Kind = upper(k)
		c.Name, c.Args = p.routineWithArgs(k == kwAggregate)
	case k == kwCast:
		p.next()
		c.Kind, c.Name = "CAST", ast.Name{Off: p.off(), Parts: []string{"cast"}}
		c.Args = p.castSides()
	case k == kwOperator && p.peek(1).Key != kwClass && p.peek(1).Key != kwFamily:
		p.next()
		c.Kind = "OPERATOR"
		c.Name, c.Args = p.operatorWithArgs()
	default:
		off := c.Off
		kind := p.otherKind()
		if kind == "" {
			p.syntaxErr()
		}
		switch kind {
		case ast.LargeObject:
			c.Kind, c.Name = kind, p.largeObject()
			return p.commentText(c)
		case "FOREIGN TABLE", "ROUTINE":
			if c.Label {
				return p.restUnsupported(off, "SECURITY LABEL ON "+kind)
			}
			return p.restUnsupported(off, "COMMENT ON "+kind)
		case "DEFAULT CONVERSION", "CONSTRAINT TRIGGER", "TRUSTED LANGUAGE", "TRUSTED PROCEDURAL LANGUAGE", "USER MAPPING":
			p.syntaxErr()
		case "PROCEDURAL LANGUAGE":
			kind = "LANGUAGE"
		}
		d := &ast.Drop{Kind: kind}
		if p.otherNames(d); len(d.Names) != 1 {
			p.syntaxErr()
		}
		c.Kind, c.Name, c.On = kind, d.Names[0], d.On
		if d.Args != nil {
			c.Args = d.Args[0]
		}
	}
	return p.commentText(c)
}

// commentText is the end of COMMENT.
func (p *parser) commentText(c *ast.Comment) ast.Stmt {
	p.expectKw(kwIs)
	if c.Null = p.acceptKw(kwNull); !c.Null {
		c.Text = p.sconst()
	}
	return c
}
