package parser

import "kvsqld/parser/ast"

// resetOptions is the list of RESET (…), names without values.
func (p *parser) resetOptions() []ast.Option {
	l := p.relOptions()
	for i := range l {
		if l[i].X != nil {
			p.failf(-1, "RESET must not include values for parameters")
		}
	}
	return l
}

// typeAction is OF type and NOT OF; false if it is none of these.
func (p *parser) typeAction(act *ast.AlterAction) bool {
	switch {
	case p.acceptKw(kwOf):
		n := p.anyName()
		act.Kind, act.Other = "OF", &n
	case p.acceptKws(kwNot, kwOf):
		act.Kind = "NOT OF"
	default:
		return false
	}
	return true
}

// switchAction is what turns triggers, rules, row security and replica identities
// on and off, and [NO] DEPENDS ON EXTENSION and OPTIONS. The name behind TRIGGER,
// RULE and so on is Name; ALL and USER are part of the kind.
func (p *parser) switchAction(act *ast.AlterAction) {
	named := func(kind string) {
		act.Kind, act.Name = kind, p.colID()
	}
	switch {
	case p.acceptKws(kwReplica, kwIdentity):
		switch k := p.tok().Key; k {
		case kwNothing, kwFull, kwDefault:
			p.next()
			act.Kind = "REPLICA IDENTITY " + upper(k)
		default:
			p.expectKws(kwUsing, kwIndex)
			named("REPLICA IDENTITY USING INDEX")
		}
	case p.isKw(kwOptions):
		start := p.off()
		p.next()
		p.skipParens()
		act.Kind = p.text(start, p.lastEnd())
	case p.acceptKws(kwNo, kwDepends):
		p.expectKws(kwOn, kwExtension)
		named("NO DEPENDS ON EXTENSION")
	case p.acceptKw(kwDepends):
		p.expectKws(kwOn, kwExtension)
		named("DEPENDS ON EXTENSION")
	case p.acceptKws(kwNo, kwForce):
		p.expectKws(kwRow, kwLevel)
		p.security(act, "NO FORCE")
	case p.acceptKw(kwForce):
		p.expectKws(kwRow, kwLevel)
		p.security(act, "FORCE")
	case p.isKw(kwEnable), p.isKw(kwDisable):
		verb := upper(p.next().Key)
		if p.acceptKws(kwRow, kwLevel) {
			p.security(act, verb)
			return
		}
		if k := p.tok().Key; verb == "ENABLE" && (k == kwReplica || k == kwAlways) {
			p.next()
			verb += " " + upper(k)
			if p.acceptKw(kwRule) {
				named(verb + " RULE")
				return
			}
			p.expectKw(kwTrigger)
			named(verb + " TRIGGER")
			return
		}
		if p.acceptKw(kwRule) {
			named(verb + " RULE")
			return
		}
		p.expectKw(kwTrigger)
		if k := p.tok().Key; k == kwAll || k == kwUser {
			p.next()
			act.Kind = verb + " TRIGGER " + upper(k)
			return
		}
		named(verb + " TRIGGER")
	default:
		p.next()
		p.syntaxErr()
	}
}

// security is SECURITY behind ROW LEVEL.
func (p *parser) security(act *ast.AlterAction, verb string) {
	p.expectKw(kwSecurity)
	act.Kind = verb + " ROW LEVEL SECURITY"
}
