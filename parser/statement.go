package parser

import "kvsqld/parser/ast"

// stmt parses one statement. The first word decides.
func (p *parser) stmt() ast.Stmt {
	p.into, p.global = intoPlain, 0
	if s := p.optPreparable(); s != nil {
		if p.into != intoPlain {
			return p.selectIntoOther(s)
		}
		return s
	}
	t := p.tok()
	switch t.Key {
	case kwBegin, kwStart, kwCommit, kwEnd, kwRollback, kwAbort, kwSavepoint, kwRelease:
		return p.transaction()
	case kwSet:
		return p.set()
	case kwReset:
		return p.resetVar()
	case kwShow:
		return p.show()
	case kwDiscard:
		return p.discard()
	case kwPrepare:
		return p.prepare()
	case kwExecute:
		return p.execute()
	case kwDeallocate:
		return p.deallocate()
	case kwDeclare:
		return p.declare()
	case kwFetch, kwMove:
		return p.fetch()
	case kwClose:
		return p.closeCursor()
	case kwListen, kwUnlisten, kwNotify:
		return p.listen()
	case kwLock:
		return p.lock()
	case kwDo:
		return p.do()
	case kwCall:
		return p.callProc()
	}
	return p.definitionStmt(t)
}

// selectIntoOther makes of SELECT INTO TEMPORARY or UNLOGGED the CREATE TABLE AS
// that it means.
func (p *parser) selectIntoOther(s ast.Stmt) ast.Stmt {
	off := ast.Off(s.Pos())
	q, ok := s.(*ast.Select)
	if !ok || q.Into == nil {
		p.unsupported(off, "SELECT INTO TEMPORARY or UNLOGGED inside a query")
	}
	name := *q.Into
	q.Into = nil
	return &ast.CreateTable{Off: off, Name: name, Temp: p.into == intoTemp, Global: p.global, Unlogged: p.into == intoUnlogged, As: q}
}

// definitionStmt parses the statements that define or maintain objects.
func (p *parser) definitionStmt(t Token) ast.Stmt {
	off := ast.Off(t.Off)
	switch t.Key {
	case kwCreate:
		return p.create()
	case kwAlter:
		return p.alter()
	case kwDrop:
		return p.drop()
	case kwTruncate:
		return p.truncate()
	case kwComment:
		return p.comment()
	case kwGrant, kwRevoke:
		return p.grant()
	case kwRefresh:
		return p.refresh()
	case kwCopy:
		return p.copy()
	case kwExplain:
		return p.explain()
	case kwVacuum, kwAnalyze, kwAnalyse:
		return p.vacuum()
	case kwReindex:
		return p.reindex()
	case kwCluster:
		return p.cluster()
	case kwCheckpoint:
		p.next()
		return &ast.Vacuum{Off: off, Kind: "CHECKPOINT"}
	case kwLoad:
		p.next()
		return p.restUnsupported(off, "LOAD")
	case kwReassign:
		p.next()
		p.expectKws(kwOwned, kwBy)
		o := &ast.Owned{Off: off, Roles: p.roleNames()}
		p.expectKw(kwTo)
		o.To = p.roleName()
		return o
	case kwSecurity:
		p.next()
		p.expectKw(kwLabel)
		return p.securityLabel(off)
	case kwImport:
		p.next()
		p.expectKws(kwForeign, kwSchema)
		return p.restUnsupported(off, "IMPORT FOREIGN SCHEMA")
	}
	if t.Kind == KindIdent && t.Key == 0 && t.ident(p.lx.src) == "backup" {
		p.next()
		p.expectKws(kwTo, kwStdout)
		return &ast.Backup{Off: off}
	}
	p.syntaxErr()
	return nil
}
