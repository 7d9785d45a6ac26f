package parser

import "kvsqld/parser/ast"

// stmt parses one statement. The first word decides.
func (p *parser) stmt() ast.Stmt {
	if s := p.optPreparable(); s != nil {
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
	p.syntaxErr()
	return nil
}
