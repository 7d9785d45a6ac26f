package parser

import "kvsqld/parser/ast"

// values is VALUES (…), …. Plain literals, the bulk of a bulk load, are taken
// token by token into slabs of constants.
func (p *parser) values() *ast.Select {
	q := &ast.Select{Off: p.off()}
	p.expectKw(kwValues)
	var b valueSlabs
	width := 0
	for {
		p.expect(KindLParen)
		row := b.row(width)
		for {
			if x := p.plainLiteral(&b); x != nil {
				row = append(row, x)
			} else {
				row = append(row, p.expr())
			}
			if !p.accept(KindComma) {
				break
			}
		}
		p.expect(KindRParen)
		b.keep(row)
		width = len(row)
		q.Values = append(q.Values, row)
		if !p.accept(KindComma) {
			return q
		}
	}
}

// valueSlabs hands out constants and rows from larger allocations.
type valueSlabs struct {
	consts []ast.Const
	exprs  []ast.Expr
	next   int // size of the next slab of constants
}

func (b *valueSlabs) newConst() *ast.Const {
	if len(b.consts) == 0 {
		b.next = min(max(b.next*2, 4), 4096)
		b.consts = make([]ast.Const, b.next)
	}
	c := &b.consts[0]
	b.consts = b.consts[1:]
	return c
}

// row returns an empty row with room for width elements.
func (b *valueSlabs) row(width int) []ast.Expr {
	if width == 0 {
		return make([]ast.Expr, 0, 4)
	}
	if cap(b.exprs)-len(b.exprs) < width {
		b.exprs = make([]ast.Expr, 0, max(width, min(b.next, 4096)))
	}
	n := len(b.exprs)
	return b.exprs[n:n:(n + width)]
}

// keep marks the elements of a row as used, when it lies in the slab.
func (b *valueSlabs) keep(row []ast.Expr) {
	n := len(b.exprs)
	if cap(b.exprs)-n >= len(row) && len(row) > 0 && &b.exprs[:n+1][n] == &row[0] {
		b.exprs = b.exprs[:n+len(row)]
	}
}

// plainLiteral takes a literal that is a whole element of a row, or nothing.
func (p *parser) plainLiteral(b *valueSlabs) ast.Expr {
	t := p.tok()
	var kind ast.ConstKind
	switch {
	case t.Kind == KindInt:
		kind = ast.ConstInt
	case t.Kind == KindNumeric:
		kind = ast.ConstNumeric
	case t.Kind == KindString:
		kind = ast.ConstString
	case t.Key == kwNull:
		kind = ast.ConstNull
	default:
		return nil
	}
	if k := p.peek(1).Kind; (k != KindComma && k != KindRParen) || p.lits != nil {
		return nil
	}
	p.next()
	c := b.newConst()
	c.Off, c.Kind = ast.Off(t.Off), kind
	if kind != ast.ConstNull {
		c.Val = p.lx.src[t.Off:t.End]
		if kind == ast.ConstString {
			c.Val = quotedSegments(c.Val)
		}
	}
	return c
}
