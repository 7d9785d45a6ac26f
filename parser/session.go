package parser

import (
	"strconv"
	"strings"

	"kvsqld/parser/ast"
)

// transaction parses the statements of transaction control, or returns nil.
func (p *parser) transaction() ast.Stmt {
	t := &ast.Transaction{Off: p.off()}
	switch k := p.tok().Key; k {
	case kwBegin:
		p.next()
		t.Kind = "BEGIN"
		p.optTransactionWord()
		p.optTxnModes(&t.Modes)
	case kwStart:
		p.next()
		p.expectKw(kwTransaction)
		t.Kind, t.Start = "BEGIN", true
		p.optTxnModes(&t.Modes)
	case kwCommit, kwEnd:
		p.next()
		if k == kwCommit && p.acceptKw(kwPrepared) {
			t.Kind, t.Name = "COMMIT PREPARED", p.sconst()
			break
		}
		t.Kind = "COMMIT"
		p.optTransactionWord()
		t.Chain = p.optChain()
	case kwRollback, kwAbort:
		p.next()
		if k == kwRollback && p.acceptKw(kwPrepared) {
			t.Kind, t.Name = "ROLLBACK PREPARED", p.sconst()
			break
		}
		t.Kind = "ROLLBACK"
		p.optTransactionWord()
		if k == kwRollback && p.acceptKw(kwTo) {
			p.acceptKw(kwSavepoint)
			t.Kind, t.Name = "ROLLBACK TO", p.colID()
			break
		}
		t.Chain = p.optChain()
	case kwSavepoint:
		p.next()
		t.Kind, t.Name = "SAVEPOINT", p.colID()
	case kwRelease:
		p.next()
		p.acceptKw(kwSavepoint)
		t.Kind, t.Name = "RELEASE", p.colID()
	}
	return t
}

func (p *parser) optTransactionWord() {
	if !p.acceptKw(kwWork) {
		p.acceptKw(kwTransaction)
	}
}

// optChain is AND [NO] CHAIN.
func (p *parser) optChain() bool {
	if !p.acceptKw(kwAnd) {
		return false
	}
	no := p.acceptKw(kwNo)
	p.expectKw(kwChain)
	return !no
}

// optTxnModes reads transaction modes, with or without commas between them.
func (p *parser) optTxnModes(m *ast.TxnModes) {
	for first := true; ; first = false {
		comma := !first && p.accept(KindComma)
		if !p.txnMode(m) {
			if comma {
				p.syntaxErr()
			}
			return
		}
	}
}

func (p *parser) txnModes(m *ast.TxnModes) {
	if !p.txnMode(m) {
		p.syntaxErr()
	}
	for {
		comma := p.accept(KindComma)
		if !p.txnMode(m) {
			if comma {
				p.syntaxErr()
			}
			return
		}
	}
}

func (p *parser) txnMode(m *ast.TxnModes) bool {
	yes, no := true, false
	switch p.tok().Key {
	case kwIsolation:
		p.next()
		p.expectKw(kwLevel)
		switch {
		case p.acceptKws(kwRead, kwUncommitted):
			m.Isolation = "READ UNCOMMITTED"
		case p.acceptKws(kwRead, kwCommitted):
			m.Isolation = "READ COMMITTED"
		case p.acceptKws(kwRepeatable, kwRead):
			m.Isolation = "REPEATABLE READ"
		default:
			p.expectKw(kwSerializable)
			m.Isolation = "SERIALIZABLE"
		}
	case kwRead:
		p.next()
		if p.acceptKw(kwOnly) {
			m.ReadOnly = &yes
		} else {
			p.expectKw(kwWrite)
			m.ReadOnly = &no
		}
	case kwDeferrable:
		p.next()
		m.Deferrable = &yes
	case kwNot:
		p.next()
		p.expectKw(kwDeferrable)
		m.Deferrable = &no
	default:
		return false
	}
	return true
}

// set is SET in all its forms.
func (p *parser) set() ast.Stmt {
	off := p.off()
	p.expectKw(kwSet)
	switch {
	case p.acceptKw(kwConstraints):
		return p.setConstraints(off)
	case p.acceptKw(kwTransaction):
		return p.setTransaction(off)
	case p.acceptKws(kwSession, kwCharacteristics, kwAs, kwTransaction):
		t := &ast.Transaction{Off: off, Kind: "SET SESSION CHARACTERISTICS"}
		p.txnModes(&t.Modes)
		return t
	}
	v := &ast.SetVar{Off: off}
	switch {
	case p.acceptKw(kwLocal):
		v.Local = true
		if p.acceptKw(kwTransaction) {
			return p.setTransaction(off)
		}
	case p.isKw(kwSession) && p.peek(1).Key != kwAuthorization && p.peek(1).Kind != KindEqual && p.peek(1).Key != kwTo && p.peek(1).Kind != KindDot:
		p.next()
		v.Session = true
		if p.acceptKw(kwTransaction) {
			return p.setTransaction(off)
		}
	}
	p.setRest(v)
	return v
}

func (p *parser) setTransaction(off ast.Off) ast.Stmt {
	t := &ast.Transaction{Off: off, Kind: "SET TRANSACTION"}
	if p.acceptKw(kwSnapshot) {
		t.Modes.Snapshot = p.sconst()
	} else {
		p.txnModes(&t.Modes)
	}
	return t
}

func (p *parser) setConstraints(off ast.Off) ast.Stmt {
	c := &ast.SetConstraints{Off: off}
	if !p.acceptKw(kwAll) {
		c.Names = p.qualifiedNames()
	}
	if p.acceptKw(kwDeferred) {
		c.Deferred = true
	} else {
		p.expectKw(kwImmediate)
	}
	return c
}

// setRest is a variable and its value, or one of the spelled-out variables.
func (p *parser) setRest(v *ast.SetVar) {
	t := p.tok()
	next := p.peek(1)
	assigned := next.Key == kwTo || next.Kind == KindEqual || next.Kind == KindDot
	one := func(name string, x ast.Expr) {
		v.Name, v.Values = name, []ast.Expr{x}
	}
	switch {
	case t.Key == kwTime && next.Key == kwZone:
		p.next()
		p.next()
		v.Name = "timezone"
		p.zoneValue(v)
		return
	case t.Key == kwSchema && !assigned:
		p.next()
		one("search_path", p.stringConst())
		return
	case t.Key == kwCatalog && !assigned:
		p.unsupported(p.off(), "SET CATALOG")
	case t.Key == kwNames && !assigned:
		p.next()
		v.Name = "client_encoding"
		if isSconst(p.tok()) {
			v.Values = []ast.Expr{p.stringConst()}
		} else {
			p.acceptKw(kwDefault)
			v.Default = true
		}
		return
	case t.Key == kwRole && !assigned:
		p.next()
		one("role", p.wordConst())
		return
	case t.Key == kwSession && next.Key == kwAuthorization:
		p.next()
		p.next()
		v.Name = "session_authorization"
		if p.acceptKw(kwDefault) {
			v.Default = true
		} else {
			v.Values = []ast.Expr{p.wordConst()}
		}
		return
	case t.Key == kwXml && next.Key == kwOption:
		p.next()
		p.next()
		one("xmloption", p.wordConst())
		return
	}
	v.Name = p.varName()
	if p.acceptKws(kwFrom, kwCurrent) {
		v.FromCurrent = true
		return
	}
	if !p.acceptKw(kwTo) {
		p.expect(KindEqual)
	}
	if p.acceptKw(kwDefault) {
		v.Default = true
		return
	}
	v.Values = commaList(p, p.varValue)
}

// varName is the name of a setting, dots included.
func (p *parser) varName() string {
	n := p.colID()
	for p.accept(KindDot) {
		n += "." + p.colID()
	}
	return strings.ToLower(n)
}

// varValue is a boolean word, a string, a number or a bare word.
func (p *parser) varValue() ast.Expr {
	switch t := p.tok(); {
	case t.Kind == KindInt, t.Kind == KindNumeric, t.Kind == KindPlus, t.Kind == KindMinus:
		return p.numericOnly()
	case t.Key == kwTrue, t.Key == kwFalse, t.Key == kwOn:
		return p.labelConst()
	}
	return p.wordConst()
}

// numericOnly is a number with an optional sign.
func (p *parser) numericOnly() ast.Expr {
	t := p.tok()
	off, sign := ast.Off(t.Off), ""
	switch t.Kind {
	case KindMinus:
		sign = "-"
		p.next()
	case KindPlus:
		p.next()
	}
	n := p.tok()
	kind := ast.ConstInt
	switch n.Kind {
	case KindInt:
	case KindNumeric:
		kind = ast.ConstNumeric
	default:
		p.syntaxErr()
	}
	p.next()
	return &ast.Const{Off: off, Kind: kind, Val: sign + n.Text(p.lx.src)}
}

func (p *parser) stringConst() ast.Expr {
	off := p.off()
	return &ast.Const{Off: off, Kind: ast.ConstString, Val: p.sconst()}
}

// wordConst is a string or a word that is not reserved, as a string constant.
func (p *parser) wordConst() ast.Expr {
	if isSconst(p.tok()) {
		return p.stringConst()
	}
	off := p.off()
	return &ast.Const{Off: off, Kind: ast.ConstString, Val: p.nonReserved()}
}

// labelConst is any word as a string constant.
func (p *parser) labelConst() ast.Expr {
	off := p.off()
	return &ast.Const{Off: off, Kind: ast.ConstString, Val: p.colLabel()}
}

// zoneValue is the value of SET TIME ZONE.
func (p *parser) zoneValue(v *ast.SetVar) {
	t := p.tok()
	switch {
	case t.Key == kwDefault, t.Key == kwLocal:
		p.next()
		v.Default = true
	case t.Key == kwInterval:
		x := p.typedLiteral()
		if x == nil {
			p.next()
			p.syntaxErr()
		}
		v.Values = []ast.Expr{x}
	case isSconst(t), t.Kind == KindQuoted, t.Kind == KindUIdent, t.Kind == KindIdent && t.Key == noKeyword:
		v.Values = []ast.Expr{p.wordConst()}
	default:
		v.Values = []ast.Expr{p.numericOnly()}
	}
}

// resetVar is RESET name|ALL and its spelled-out forms.
func (p *parser) resetVar() ast.Stmt {
	v := &ast.SetVar{Off: p.off(), Reset: true}
	p.next()
	p.resetName(v)
	return v
}

// resetName reads what RESET names; a setting that is called so is not ALL.
func (p *parser) resetName(v *ast.SetVar) {
	v.Reset, v.All = true, p.isKw(kwAll)
	v.Name = p.settingName()
}

// settingName is the name of a setting in SHOW and RESET.
func (p *parser) settingName() string {
	switch {
	case p.acceptKw(kwAll):
		return "all"
	case p.acceptKws(kwTime, kwZone):
		return "timezone"
	case p.acceptKws(kwTransaction, kwIsolation):
		p.expectKw(kwLevel)
		return "transaction_isolation"
	case p.acceptKws(kwSession, kwAuthorization):
		return "session_authorization"
	}
	return p.varName()
}

func (p *parser) show() ast.Stmt {
	s := &ast.Show{Off: p.off()}
	p.next()
	s.Name = p.settingName()
	return s
}

func (p *parser) discard() ast.Stmt {
	d := &ast.Discard{Off: p.off()}
	p.next()
	switch k := p.tok().Key; k {
	case kwAll, kwPlans, kwSequences:
		d.What = upper(k)
	case kwTemp, kwTemporary:
		d.What = "TEMP"
	default:
		p.syntaxErr()
	}
	p.next()
	return d
}

// prepare is PREPARE name AS …, or PREPARE TRANSACTION.
func (p *parser) prepare() ast.Stmt {
	off := p.off()
	p.next()
	if p.isKw(kwTransaction) && isSconst(p.peek(1)) {
		p.next()
		return &ast.Transaction{Off: off, Kind: "PREPARE TRANSACTION", Name: p.sconst()}
	}
	s := &ast.Prepare{Off: off, Name: p.colID()}
	if p.accept(KindLParen) {
		s.Types = commaList(p, p.typeName)
		p.expect(KindRParen)
	}
	p.expectKw(kwAs)
	outer := p.params
	s.Stmt = p.preparable()
	p.params = outer // its $n are EXECUTE's, not the protocol's
	return s
}

func (p *parser) execute() *ast.Execute {
	e := &ast.Execute{Off: p.off()}
	p.expectKw(kwExecute)
	e.Name = p.colID()
	if p.is(KindLParen) {
		e.Args = p.parenExprs()
	}
	return e
}

func (p *parser) deallocate() ast.Stmt {
	d := &ast.Deallocate{Off: p.off()}
	p.next()
	if p.isKw(kwPrepare) && (p.peek(1).Key == kwAll || isName(p.peek(1), true, false)) {
		p.next()
	}
	if !p.acceptKw(kwAll) {
		d.Name = p.colID()
	}
	return d
}

// declare is DECLARE name … CURSOR … FOR query.
func (p *parser) declare() ast.Stmt {
	d := &ast.DeclareCursor{Off: p.off()}
	p.next()
	d.Name = p.colID()
	yes, no := true, false
options:
	for {
		switch {
		case p.acceptKw(kwBinary):
			d.Binary = true
		case p.acceptKw(kwInsensitive):
			d.Insensitive = true
		case p.acceptKw(kwAsensitive):
			d.Asensitive = true
		case p.acceptKw(kwScroll):
			d.BothScroll = d.BothScroll || d.Scroll == &no
			d.Scroll = &yes
		case p.acceptKws(kwNo, kwScroll):
			d.BothScroll = d.BothScroll || d.Scroll == &yes
			d.Scroll = &no
		default:
			break options
		}
	}
	p.expectKw(kwCursor)
	switch {
	case p.acceptKws(kwWith, kwHold):
		d.Hold = true
	case p.acceptKws(kwWithout, kwHold):
	}
	p.expectKw(kwFor)
	d.Query = p.query()
	return d
}

// fetch is FETCH and MOVE.
func (p *parser) fetch() ast.Stmt {
	f := &ast.Fetch{Off: p.off(), Direction: "FORWARD", Count: 1}
	f.Move = p.next().Key == kwMove
	switch t := p.tok(); t.Key {
	case kwNext, kwPrior, kwFirst, kwLast:
		if p.fetchWordIsCursor() {
			break
		}
		p.next()
		f.Direction = upper(t.Key)
	case kwAbsolute, kwRelative:
		if p.fetchWordIsCursor() {
			break
		}
		p.next()
		f.Direction, f.Count = upper(t.Key), p.signedInt()
	case kwForward, kwBackward:
		if p.fetchWordIsCursor() {
			break
		}
		p.next()
		f.Direction = upper(t.Key)
		p.fetchCount(f)
	default:
		p.fetchCount(f)
	}
	if !p.acceptKw(kwFrom) {
		p.acceptKw(kwIn)
	}
	f.Cursor = p.colID()
	return f
}

// fetchWordIsCursor tells FETCH next; (a cursor of that name) from FETCH NEXT c.
func (p *parser) fetchWordIsCursor() bool {
	k := p.peek(1).Kind
	return k == KindEOF || k == KindSemi
}

func (p *parser) fetchCount(f *ast.Fetch) {
	switch t := p.tok(); {
	case t.Key == kwAll:
		p.next()
		f.All = true
	case t.Kind == KindInt, t.Kind == KindMinus, t.Kind == KindPlus:
		f.Count = p.signedInt()
	}
}

// signedInt is an integer with an optional sign that fits 32 bits.
func (p *parser) signedInt() int64 {
	neg := p.is(KindMinus)
	if neg || p.is(KindPlus) {
		p.next()
	}
	t := p.tok()
	n, err := strconv.ParseInt(t.Text(p.lx.src), 10, 32)
	if t.Kind != KindInt || err != nil {
		p.syntaxErr()
	}
	p.next()
	if neg {
		return -n
	}
	return n
}

func (p *parser) closeCursor() ast.Stmt {
	c := &ast.CloseCursor{Off: p.off()}
	p.next()
	if !p.acceptKw(kwAll) {
		c.Name = p.colID()
	}
	return c
}

func (p *parser) listen() ast.Stmt {
	l := &ast.Listen{Off: p.off(), Kind: upper(p.tok().Key)}
	k := p.next().Key
	if k == kwUnlisten && p.accept(KindStar) {
		return l
	}
	l.Channel = p.colID()
	if k == kwNotify && p.accept(KindComma) {
		l.Payload = p.sconst()
	}
	return l
}

// lock is LOCK TABLE.
func (p *parser) lock() ast.Stmt {
	l := &ast.LockTable{Off: p.off(), Mode: "ACCESS EXCLUSIVE"}
	p.next()
	p.acceptKw(kwTable)
	l.Tables = p.relations()
	if p.acceptKw(kwIn) {
		l.Mode = p.lockMode()
		p.expectKw(kwMode)
	}
	l.NoWait = p.acceptKw(kwNowait)
	return l
}

func (p *parser) relations() []ast.TableRef {
	return commaList(p, func() ast.TableRef { return *p.relation() })
}

func (p *parser) lockMode() string {
	switch {
	case p.acceptKws(kwAccess, kwShare):
		return "ACCESS SHARE"
	case p.acceptKws(kwAccess, kwExclusive):
		return "ACCESS EXCLUSIVE"
	case p.acceptKws(kwRow, kwShare):
		return "ROW SHARE"
	case p.acceptKws(kwRow, kwExclusive):
		return "ROW EXCLUSIVE"
	case p.acceptKws(kwShare, kwUpdate):
		p.expectKw(kwExclusive)
		return "SHARE UPDATE EXCLUSIVE"
	case p.acceptKws(kwShare, kwRow):
		p.expectKw(kwExclusive)
		return "SHARE ROW EXCLUSIVE"
	case p.acceptKw(kwShare):
		return "SHARE"
	}
	p.expectKw(kwExclusive)
	return "EXCLUSIVE"
}

// do is DO [LANGUAGE l] 'body'.
func (p *parser) do() ast.Stmt {
	d := &ast.Do{Off: p.off()}
	p.next()
	body := false
	for {
		switch {
		case isSconst(p.tok()):
			d.Body, body = p.sconst(), true
		case p.acceptKw(kwLanguage):
			if isSconst(p.tok()) {
				d.Language = p.sconst()
			} else {
				d.Language = p.nonReserved()
			}
		default:
			if !body && d.Language == "" {
				p.syntaxErr()
			}
			if !body {
				p.failf(d.Off, "no inline code specified")
			}
			return d
		}
	}
}

func (p *parser) callProc() ast.Stmt {
	c := &ast.CallProc{Off: p.off()}
	p.next()
	at := p.tok()
	name := p.funcName()
	if !p.is(KindLParen) {
		p.syntaxErr()
	}
	call, ok := p.funcCall(name).(*ast.Call)
	if !ok || call.Over != nil || call.Filter != nil || call.WithinGrp {
		p.syntaxErrAt(at)
	}
	c.Call = call
	return c
}
