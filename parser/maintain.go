package parser

import "kvsqld/parser/ast"

// vacuum is VACUUM and ANALYZE, with words or parenthesised options.
func (p *parser) vacuum() ast.Stmt {
	v := &ast.Vacuum{Off: p.off(), Kind: "VACUUM"}
	words := []Keyword{kwFull, kwFreeze, kwVerbose, kwAnalyze, kwAnalyse}
	if p.next().Key != kwVacuum {
		v.Kind, words = "ANALYZE", []Keyword{kwVerbose}
	}
	if p.is(KindLParen) {
		v.Options = p.explainOptions()
	} else {
		for _, k := range words {
			o := ast.Option{Off: p.off(), Name: k.String()}
			if k == kwAnalyse {
				o.Name = "analyze"
			}
			if p.acceptKw(k) {
				v.Options = append(v.Options, o)
			}
		}
	}
	if p.is(KindEOF) || p.is(KindSemi) {
		return v
	}
	v.Tables = commaList(p, func() ast.VacuumTable { return ast.VacuumTable{Name: p.qualifiedName(), Cols: p.optParenNames()} })
	return v
}

// reindex is REINDEX [(options)] kind [CONCURRENTLY] name.
func (p *parser) reindex() ast.Stmt {
	v := &ast.Vacuum{Off: p.off(), Kind: "REINDEX"}
	p.next()
	if p.is(KindLParen) {
		v.Options = p.explainOptions()
	}
	k := p.tok().Key
	switch k {
	case kwTable, kwIndex, kwSchema, kwDatabase, kwSystem:
		p.next()
		v.What = upper(k)
	default:
		p.syntaxErr()
	}
	if o := (ast.Option{Off: p.off(), Name: "concurrently"}); p.acceptKw(kwConcurrently) {
		v.Options = append(v.Options, o)
	}
	v.Tables = []ast.VacuumTable{{Name: p.qualifiedName()}}
	return v
}

// cluster is CLUSTER [VERBOSE] [table [USING index]]; the index is the one
// column name of the table's entry.
func (p *parser) cluster() ast.Stmt {
	v := &ast.Vacuum{Off: p.off(), Kind: "CLUSTER"}
	p.next()
	if p.is(KindLParen) {
		v.Options = p.explainOptions()
	} else if o := (ast.Option{Off: p.off(), Name: "verbose"}); p.acceptKw(kwVerbose) {
		v.Options = append(v.Options, o)
	}
	if p.is(KindEOF) || p.is(KindSemi) {
		return v
	}
	n := ast.VacuumTable{Name: p.qualifiedName()}
	switch {
	case p.acceptKw(kwUsing):
		n.Cols = []string{p.colID()}
	case p.acceptKw(kwOn): // CLUSTER index ON table
		n.Cols = []string{n.Name.Last()}
		n.Name = p.qualifiedName()
	}
	v.Tables = []ast.VacuumTable{n}
	return v
}
