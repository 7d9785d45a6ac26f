package parser

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// grant is GRANT and REVOKE, of privileges or of roles.
func (p *parser) grant() ast.Stmt { return p.grantOn((*parser).grantObjects) }

// alterDefaults is what follows ALTER DEFAULT PRIVILEGES.
func (p *parser) alterDefaults(off ast.Off) ast.Stmt {
	a := &ast.AlterDefaults{Off: off}
	for {
		switch off := p.off(); {
		case p.isKw(kwFor) && a.Roles != nil, p.isKw(kwIn) && a.Schemas != nil:
			p.failf(off, "conflicting or redundant options")
		case p.acceptKw(kwFor):
			if !p.acceptKw(kwRole) {
				p.expectKw(kwUser)
			}
			a.Roles = p.roleNames()
			continue
		case p.acceptKw(kwIn):
			p.expectKw(kwSchema)
			a.Schemas = append(a.Schemas, p.nameList()...)
			continue
		}
		break
	}
	if !p.isKw(kwGrant) && !p.isKw(kwRevoke) {
		p.syntaxErr()
	}
	a.Grant = p.grantOn(func(p *parser, g *ast.Grant) {
		switch k := p.tok().Key; k {
		case kwTables, kwSequences, kwFunctions, kwTypes, kwSchemas:
			g.ObjKind = upper(k)
		case kwRoutines:
			g.ObjKind = "FUNCTIONS"
		default:
			p.syntaxErr()
		}
		p.next()
	})
	if a.Grant.Roles != nil {
		p.syntaxErr()
	}
	return a
}

// roleNames is a list of roles.
func (p *parser) roleNames() []string {
	return commaList(p, p.roleName)
}

// grantOn reads a GRANT or REVOKE whose objects are read by a function.
func (p *parser) grantOn(objects func(*parser, *ast.Grant)) *ast.Grant {
	g := &ast.Grant{Off: p.off()}
	g.Revoke = p.next().Key == kwRevoke
	if g.Revoke {
		switch {
		case p.acceptKws(kwGrant, kwOption, kwFor), p.acceptKws(kwAdmin, kwOption, kwFor):
			g.GrantOpt = true
		}
	}
	words := p.privileges()
	if p.acceptKw(kwOn) {
		for _, w := range words {
			if !w.all && strings.EqualFold(w.word, "all") { // a name, not the word
				p.fail(sqlerr.New(sqlerr.SyntaxError, "unrecognized privilege type \"%s\"", w.word))
			}
			g.Privileges = append(g.Privileges, strings.ToUpper(w.word))
			g.Cols = append(g.Cols, w.cols)
		}
		objects(p, g)
	} else {
		for _, w := range words {
			if w.cols != nil || w.all {
				p.syntaxErr()
			}
			g.Roles = append(g.Roles, w.word)
		}
	}
	if g.Revoke {
		p.expectKw(kwFrom)
	} else {
		p.expectKw(kwTo)
	}
	for {
		p.acceptKw(kwGroup)
		g.Grantees = append(g.Grantees, p.roleName())
		if !p.accept(KindComma) {
			break
		}
	}
	if !g.Revoke {
		switch {
		case g.Roles == nil && p.acceptKws(kwWith, kwGrant, kwOption), g.Roles != nil && p.acceptKws(kwWith, kwAdmin, kwOption):
			g.GrantOpt = true
		}
	}
	if p.acceptKws(kwGranted, kwBy) {
		g.GrantedBy = p.roleName()
	}
	if g.Revoke {
		g.Cascade = p.cascade()
	}
	return g
}

// largeObject is the number of a large object.
func (p *parser) largeObject() ast.Name {
	off := p.off()
	return ast.Name{Off: off, Parts: []string{p.numericOnly().(*ast.Const).Val}}
}

// grantWord is a privilege or a role: only what follows the list tells.
type grantWord struct {
	word string
	all  bool
	cols []string
}

// privileges is ALL [PRIVILEGES] or a list of words, each with columns or not.
func (p *parser) privileges() []grantWord {
	if p.acceptKw(kwAll) {
		p.acceptKw(kwPrivileges)
		return []grantWord{{word: "all", all: true, cols: p.optParenNames()}}
	}
	var l []grantWord
	for {
		var w grantWord
		switch k := p.tok().Key; k {
		case kwSelect, kwReferences, kwCreate:
			p.next()
			w.word = k.String()
		case kwAlter:
			p.next()
			p.expectKw(kwSystem)
			w.word = "alter system"
		default:
			w.word = p.colID()
		}
		w.cols = p.optParenNames()
		l = append(l, w)
		if !p.accept(KindComma) {
			return l
		}
	}
}

// grantObjects reads the kind and the names behind ON.
func (p *parser) grantObjects(g *ast.Grant) {
	g.ObjKind = "TABLE"
	switch k := p.tok().Key; {
	case p.isKw(kwAll) && p.peek(2).Key == kwIn:
		p.next()
		switch what := p.next().Key; what {
		case kwTables, kwSequences, kwFunctions, kwProcedures, kwRoutines:
			g.ObjKind = "ALL " + upper(what) + " IN SCHEMA"
		default:
			p.syntaxErr()
		}
		p.expectKws(kwIn, kwSchema)
	case k == kwTable, k == kwSequence, k == kwSchema, k == kwDatabase, k == kwType, k == kwDomain,
		k == kwLanguage, k == kwTablespace:
		p.next()
		g.ObjKind = upper(k)
	case k == kwFunction, k == kwProcedure, k == kwRoutine:
		p.next()
		g.ObjKind = upper(k)
		for {
			name, args := p.funcWithArgs()
			g.Objects, g.Args = append(g.Objects, name), append(g.Args, args)
			if !p.accept(KindComma) {
				return
			}
		}
	case p.acceptKws(kwForeign, kwData, kwWrapper):
		g.ObjKind = "FOREIGN DATA WRAPPER"
	case p.acceptKws(kwForeign, kwServer):
		g.ObjKind = "FOREIGN SERVER"
	case p.acceptKw(kwParameter):
		g.ObjKind = "PARAMETER"
	case p.acceptKws(kwLarge, kwObject):
		g.ObjKind = ast.LargeObject
		g.Objects = commaList(p, p.largeObject)
		return
	}
	g.Objects = p.qualifiedNames()
}
