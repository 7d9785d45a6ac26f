package parser

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/parser/ast"
)

// partitionKey is RANGE (…), LIST (…) or HASH (…) behind PARTITION BY.
func (p *parser) partitionKey() *ast.PartitionKey {
	k := &ast.PartitionKey{Off: p.off(), Strategy: p.colID()}
	p.expect(KindLParen)
	k.Elems = commaList(p, p.keyElem)
	p.expect(KindRParen)
	return k
}

// partitionBound is DEFAULT or FOR VALUES ….
func (p *parser) partitionBound() *ast.PartitionBound {
	b := &ast.PartitionBound{Off: p.off()}
	if p.acceptKw(kwDefault) {
		b.Default = true
		return b
	}
	p.expectKws(kwFor, kwValues)
	b.Off = p.off()
	switch {
	case p.acceptKw(kwIn):
		b.In = p.parenExprs()
	case p.acceptKw(kwWith):
		p.hashBound(b)
	default:
		p.expectKw(kwFrom)
		b.From = p.parenExprs()
		p.expectKw(kwTo)
		b.To = p.parenExprs()
	}
	return b
}

// hashBound is (MODULUS n, REMAINDER m) in any order.
func (p *parser) hashBound(b *ast.PartitionBound) {
	b.Hash, b.Modulus, b.Remainder = true, -1, -1
	p.expect(KindLParen)
	for {
		at := p.off()
		name := p.nonReserved()
		if !p.is(KindInt) {
			p.syntaxErr()
		}
		v := int(p.signedInt())
		switch {
		case name == "modulus" && b.Modulus < 0:
			b.Modulus = v
		case name == "modulus":
			p.fail(sqlerr.New(sqlerr.DuplicateObject, "modulus for hash partition provided more than once").At(int(at)))
		case name == "remainder" && b.Remainder < 0:
			b.Remainder = v
		case name == "remainder":
			p.fail(sqlerr.New(sqlerr.DuplicateObject, "remainder for hash partition provided more than once").At(int(at)))
		default:
			p.failf(at, "unrecognized hash partition bound specification \"%s\"", name)
		}
		if !p.accept(KindComma) {
			break
		}
	}
	p.expect(KindRParen)
	switch {
	case b.Modulus < 0:
		p.failf(-1, "modulus for hash partition must be specified")
	case b.Remainder < 0:
		p.failf(-1, "remainder for hash partition must be specified")
	}
}

// partitionOf is what follows PARTITION OF: the parent, changes of its columns,
// constraints, and the bound.
func (p *parser) partitionOf(t *ast.CreateTable) {
	n := p.qualifiedName()
	t.PartitionOf = &n
	p.columnOptions(t)
	t.Bound = p.partitionBound()
}

// columnOptions is the list of what CREATE TABLE … OF and PARTITION OF add to the
// columns that they take from elsewhere, and of constraints.
func (p *parser) columnOptions(t *ast.CreateTable) {
	if p.accept(KindLParen) {
		for {
			if p.startsTableConstraint() {
				t.Constraints = append(t.Constraints, p.tableConstraint())
			} else {
				c := ast.ColumnDef{Off: p.off(), Name: p.colID()}
				p.acceptKws(kwWith, kwOptions)
				c.Collate, c.Constraints = p.columnConstraints()
				t.Columns = append(t.Columns, c)
			}
			if !p.accept(KindComma) {
				break
			}
		}
		p.expect(KindRParen)
	}
}

// memberAction is [NO] INHERIT parent; false if it is neither.
func (p *parser) memberAction(act *ast.AlterAction) bool {
	switch {
	case p.acceptKw(kwInherit):
		p.otherName(act, "INHERIT")
	case p.acceptKws(kwNo, kwInherit):
		p.otherName(act, "NO INHERIT")
	default:
		return false
	}
	return true
}

func (p *parser) otherName(act *ast.AlterAction, kind string) {
	act.Kind = kind
	n := p.qualifiedName()
	act.Other = &n
}

// partitionAction is ATTACH or DETACH PARTITION, which stand alone; false if it is
// neither. An index has ATTACH PARTITION without a bound.
func (p *parser) partitionAction(kind string) (ast.AlterAction, bool) {
	act := ast.AlterAction{Off: p.off()}
	switch {
	case kind != "TABLE" && kind != "INDEX":
		return act, false
	case p.acceptKws(kwAttach, kwPartition):
		p.otherName(&act, "ATTACH PARTITION")
		if kind == "TABLE" {
			act.Bound = p.partitionBound()
		}
		return act, true
	case kind == "TABLE" && p.acceptKws(kwDetach, kwPartition):
		p.otherName(&act, "DETACH PARTITION")
		off := p.off()
		switch {
		case p.acceptKw(kwConcurrently):
			act.Options = []ast.Option{{Off: off, Name: "concurrently"}}
		case p.acceptKw(kwFinalize):
			act.Options = []ast.Option{{Off: off, Name: "finalize"}}
		}
		return act, true
	}
	return act, false
}
