package pgcatalog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Stored expressions are texts in one canonical spelling: every operator in
// parentheses, every cast as (x)::type, all on one line, names with schemas.
// The functions of this file take such a text apart and write it as
// pg_get_expr does: CASE over several lines, names as short as the search path
// allows, and in the pretty form without the parentheses that are not needed.

type nodeKind uint8

const (
	nodeAtom    nodeKind = iota // a constant, a column, a value function
	nodeCall                    // name(items), ARRAY[items]
	nodeSyntax                  // a call with a grammar of its own: EXTRACT(…)
	nodeZone                    // (x AT TIME ZONE y), a call as well
	nodeRows                    // (ROW(…) < ROW(…))
	nodeCollate                 // (x COLLATE y)
	nodeHidden                  // (x) with a conversion that is not shown
	nodeCase                    // CASE … END
	nodeIndex                   // x[items]
	nodeCast                    // (x)::type
	nodeOp                      // (x op y), (op x)
	nodeAny                     // (x op ANY (y))
	nodeTest                    // (x IS …)
	nodeBool                    // (x AND y …), (x OR y …), (NOT x)
	nodePiece                   // an aggregate, a query: parts
)

// exprNode is a piece of an expression's text. words has one more entry than
// kids: what stands before, between and behind them.
type exprNode struct {
	kind  nodeKind
	op    string // of nodeOp and nodeBool: the operator; of nodeSyntax: the name
	words []string
	kids  []*exprNode
	parts []catalog.TreePart // of nodePiece
	// of a cast, shown or hidden: through the text form or without any work, so that it
	// binds no closer than what it converts
	thin bool
}

// exprReader parses a canonical text; bad is set when it is not one.
type exprReader struct {
	env  *Env
	toks []string
	// pieces are what the marks in the text stand for.
	pieces [][]catalog.TreePart
	pos    int
	bad    bool
}

// exprText writes a stored expression as pg_get_expr does.
func (env *Env) exprText(text string, pretty bool) string {
	list := env.parseExprTexts(text)
	if list == nil {
		return text
	}
	w := &exprWriter{pretty: pretty}
	for i, n := range list {
		if i > 0 {
			w.buf = append(w.buf, ", "...)
		}
		w.node(n)
	}
	return string(w.buf)
}

// IndexExprText is an expression of an index as the errors about its keys have it, with
// few parentheses.
func (env *Env) IndexExprText(text string) string { return env.indexExprText(text, true) }

// indexExprText is an expression in an index's definition: a call as it is,
// anything else in parentheses of its own.
func (env *Env) indexExprText(text string, pretty bool) string {
	s := env.exprText(text, pretty)
	if list := env.parseExprTexts(text); len(list) == 1 {
		switch n := list[0]; {
		case n.kind == nodeCall && !strings.HasPrefix(n.words[0], "ARRAY["), n.kind == nodeSyntax, n.kind == nodeZone:
			return s
		}
	}
	return "(" + s + ")"
}

// parseExprTexts parses one expression, or several with commas; nil when the
// text is not canonical.
func (env *Env) parseExprTexts(text string) []*exprNode {
	r := &exprReader{env: env, toks: exprTokens(text)}
	list := []*exprNode{r.expr()}
	for r.accept(",") {
		list = append(list, r.expr())
	}
	if r.bad || r.pos != len(r.toks) {
		return nil
	}
	return list
}

// exprTokens cuts a text into literals, names, numbers, operators and marks.
func exprTokens(s string) []string {
	const opChars = "+-*/<>=~!@#%^&|`?"
	var out []string
	for i := 0; i < len(s); {
		start := i
		switch c := s[i]; {
		case c == ' ' || c == '\n':
			i++
			continue
		case c == catalog.PieceMark[0]:
			i += 2 + strings.IndexByte(s[i+1:], c)
		case c == '\'' || c == '"':
			for i++; i < len(s); i++ {
				if s[i] == c {
					if i+1 == len(s) || s[i+1] != c {
						break
					}
					i++
				}
			}
			i = min(i+1, len(s))
		case isWordByte(c):
			for i < len(s) && (isWordByte(s[i]) || s[i] == '.' && c >= '0' && c <= '9') {
				i++
			}
		case strings.IndexByte(opChars, c) >= 0:
			for i < len(s) && strings.IndexByte(opChars, s[i]) >= 0 {
				i++
			}
		case strings.HasPrefix(s[i:], "::"):
			i += 2
		default:
			i++
		}
		out = append(out, s[start:i])
	}
	return out
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func isOperator(t string) bool { return t != "" && strings.IndexByte("+-*/<>=~!@#%^&|`?", t[0]) >= 0 }

func (r *exprReader) peek(k int) string {
	if r.pos+k < len(r.toks) {
		return r.toks[r.pos+k]
	}
	return ""
}

func (r *exprReader) next() string {
	t := r.peek(0)
	if t == "" {
		r.bad = true
	}
	r.pos++
	return t
}

func (r *exprReader) accept(t string) bool {
	if r.peek(0) == t {
		r.pos++
		return true
	}
	return false
}

func (r *exprReader) expect(t string) {
	if !r.accept(t) {
		r.bad = true
	}
}

// expr reads an operand with its casts, subscripts and fields.
func (r *exprReader) expr() *exprNode {
	n, bare := r.operand()
	for !r.bad {
		switch {
		case r.accept("::"):
			n = r.castOf(n, bare)
		case r.peek(0) == "[":
			r.pos++
			open, end := "[", "]"
			if bare {
				open, end = ")[", "]"
			}
			x := &exprNode{kind: nodeIndex, words: []string{"", open}, kids: []*exprNode{n}}
			if bare {
				x.words[0] = "("
			}
			r.items(x, end)
			n = x
		case r.accept("."): // a field of a row
			x := &exprNode{kind: nodeIndex, words: []string{"", "." + r.next()}, kids: []*exprNode{n}}
			if bare {
				x.words[0], x.words[1] = "(", ")"+x.words[1]
			}
			n = x
		default:
			if bare && n.kind == nodeHidden { // twice: the conversion is not a function's
				n.thin = true
				return n
			}
			if bare { // parentheses that no cast asks for
				return &exprNode{kind: nodeHidden, words: []string{"", ""}, kids: []*exprNode{n}}
			}
			return n
		}
		bare = false
	}
	return n
}

// castOf reads the type behind a cast's operand.
func (r *exprReader) castOf(x *exprNode, bare bool) *exprNode {
	t := r.typeName()
	last := x.words[len(x.words)-1]
	switch {
	case !bare && x.kind == nodeAtom && last != "" && (last[0] == '\'' || last == "NULL"):
		if last[0] == '\'' {
			last = r.env.styled(r.env.objectNow(last, t), t)
		}
		return &exprNode{words: []string{last + "::" + t}}
	case !bare && x.kind == nodeAtom && last != "" && last[0] >= '0' && last[0] <= '9': // a number, which gets a modifier
		return &exprNode{words: []string{last + "::" + t}}
	case !bare && x.words[0] == "ARRAY[]":
		return &exprNode{kind: nodeCall, words: []string{"ARRAY[]::" + t}}
	}
	thin := t == "text" || t == "character varying" || strings.HasSuffix(t, "[]")
	if x.kind == nodeOp && (x.op == "->>" || x.op == "#>>" || x.op == "||") {
		thin = true // of a text
	}
	return &exprNode{kind: nodeCast, words: []string{"", "::" + t}, kids: []*exprNode{x}, thin: thin}
}

// typeName reads a type's name; a user-defined type loses the schema where the
// name alone finds it.
func (r *exprReader) typeName() string {
	t := r.next()
	if r.accept(".") {
		name := r.next()
		if !r.env.Snap.TypeVisible(r.env.DB, r.env.SearchPath, unquoteIdent(t), unquoteIdent(name)) {
			name = t + "." + name
		}
		t = name
	}
	words := func(list ...string) {
		for slices.Contains(list, r.peek(0)) {
			t += " " + r.next()
		}
	}
	switch t {
	case "character", "bit":
		words("varying")
	case "double":
		words("precision")
	case "interval":
		words("year", "month", "day", "hour", "minute", "second", "to")
	}
	if r.accept("(") {
		t += "(" + r.next()
		for r.accept(",") {
			t += "," + r.next()
		}
		r.expect(")")
		t += ")"
	}
	if strings.HasPrefix(t, "time") {
		words("with", "without", "time", "zone")
	}
	for r.peek(0) == "[" && r.peek(1) == "]" {
		r.pos += 2
		t += "[]"
	}
	return t
}

func unquoteIdent(s string) string {
	if len(s) >= 2 && s[0] == '"' {
		return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`)
	}
	return s
}

// operand reads what stands before casts. bare tells that it was put into
// parentheses of its own, as a cast or a subscript demands.
func (r *exprReader) operand() (n *exprNode, bare bool) {
	t := r.next()
	switch {
	case r.bad:
		return &exprNode{words: []string{""}}, false
	case t == "(":
		return r.group()
	case t[0] == catalog.PieceMark[0]:
		n, err := strconv.Atoi(strings.Trim(t, catalog.PieceMark))
		if r.bad = err != nil || n >= len(r.pieces); r.bad {
			return &exprNode{words: []string{""}}, false
		}
		return &exprNode{kind: nodePiece, words: []string{""}, parts: r.pieces[n]}, false
	case t == "CASE":
		return r.caseExpr(), false
	case t == "ARRAY" && r.peek(0) == "[":
		r.pos++
		n := &exprNode{kind: nodeCall, words: []string{"ARRAY["}}
		r.items(n, "]")
		return n, false
	case isOperator(t) || strings.Contains(")],:.::", t):
		r.bad = true
		return &exprNode{words: []string{""}}, false
	}
	for t[0] != '\'' && r.peek(0) == "." {
		r.pos++
		name := r.next()
		if r.peek(0) == "(" && r.env.functionVisible(unquoteIdent(t), unquoteIdent(name)) {
			t = name
			continue
		}
		t += "." + name
	}
	if t[0] != '\'' && r.accept("(") {
		n := &exprNode{kind: nodeCall, words: []string{t + "("}}
		if slices.Contains([]string{"EXTRACT", "SUBSTRING", "POSITION", "OVERLAY", "TRIM", "NORMALIZE", "COLLATION FOR"}, t) {
			n.kind, n.op = nodeSyntax, t
		}
		r.items(n, ")")
		return n, false
	}
	return &exprNode{words: []string{t}}, false
}

// argWords are the words between the arguments of the grammar's own forms.
var argWords = []string{"FROM", "FOR", "BOTH", "LEADING", "TRAILING", "PLACING", "IN", "SIMILAR", "ESCAPE", "VARIADIC"}

// items reads expressions, commas and words up to end into n.
func (r *exprReader) items(n *exprNode, end string) {
	word := func(s string) { n.words[len(n.words)-1] += s }
	if len(n.words) == len(n.kids) {
		n.words = append(n.words, "")
	}
	for !r.bad && !r.accept(end) {
		switch t := r.peek(0); {
		case t == ",":
			r.pos++
			word(", ")
		case t == ":":
			r.pos++
			word(":")
		case r.peek(1) == "=>": // the name of a parameter
			r.pos += 2
			word(t + " => ")
		case slices.Contains(argWords, t):
			r.pos++
			if last := n.words[len(n.words)-1]; len(n.kids) > 0 && last == "" || strings.HasSuffix(last, "BOTH") || strings.HasSuffix(last, "ING") {
				word(" ")
			}
			word(t)
			if next := r.peek(0); !slices.Contains(argWords, next) {
				word(" ")
			}
		case n.op == "POSITION" && t == "(":
			r.pos++
			word("(")
			n.kids, n.words = append(n.kids, r.expr()), append(n.words, ")")
			r.expect(")")
			if r.accept("IN") {
				word(" IN ")
			}
		default:
			n.kids, n.words = append(n.kids, r.expr()), append(n.words, "")
		}
	}
	word(end)
}

// group reads what is between parentheses, the opening one read already.
func (r *exprReader) group() (n *exprNode, bare bool) {
	switch t := r.peek(0); {
	case t == "NOT":
		r.pos++
		n = &exprNode{kind: nodeBool, op: "NOT", words: []string{"NOT ", ""}, kids: []*exprNode{r.expr()}}
		r.expect(")")
		return n, false
	case isOperator(t) || t == "OPERATOR":
		r.pos++
		t = r.symbol(t)
		n = &exprNode{kind: nodeOp, words: []string{t + " ", ""}, kids: []*exprNode{r.expr()}}
		r.expect(")")
		return n, false
	}
	x := r.expr()
	n = &exprNode{words: []string{"", ""}, kids: []*exprNode{x}}
	add := func(sep string, y *exprNode) {
		n.words[len(n.words)-1] = sep
		n.kids, n.words = append(n.kids, y), append(n.words, "")
	}
	t := r.next()
	own := t == "OPERATOR" && r.peek(0) == "("
	if own {
		t = r.symbol(t)
	}
	switch {
	case t == ")":
		return x, true
	case t == "AND" || t == "OR":
		n.kind, n.op = nodeBool, t
		add(" "+t+" ", r.expr())
		for r.accept(t) {
			add(" "+t+" ", r.expr())
		}
	case t == ",":
		n.kind = nodeCall
		n.words[0] = "("
		for add(", ", r.expr()); r.accept(","); {
			add(", ", r.expr())
		}
		n.words[len(n.words)-1] = ")"
	case t == "OVERLAPS":
		n.kind = nodeZone
		add(" OVERLAPS ", r.expr())
	case t == "COLLATE":
		n.kind = nodeCollate
		n.words[1] = " COLLATE " + r.next()
	case t == "AT":
		r.expect("TIME")
		r.expect("ZONE")
		n.kind = nodeZone
		add(" AT TIME ZONE ", r.expr())
	case t == "IS" && r.peek(0) == "DISTINCT":
		r.pos++
		r.expect("FROM")
		n.kind = nodeTest
		add(" IS DISTINCT FROM ", r.expr())
	case t == "IS":
		n.kind = nodeTest
		n.words[1] = " IS"
		for !r.bad && r.peek(0) != ")" {
			n.words[1] += " " + r.next()
		}
		if strings.HasSuffix(n.words[1], "NORMALIZED") {
			n.kind = nodeZone
		}
	case (own || isOperator(t)) && (r.peek(0) == "ANY" || r.peek(0) == "ALL"):
		n.kind = nodeAny
		sep := " " + t + " " + r.next() + " ("
		r.expect("(")
		add(sep, r.expr())
		r.expect(")")
		n.words[2] = ")"
	case own || isOperator(t):
		n.kind, n.op = nodeOp, t
		add(" "+t+" ", r.expr())
		if n.kids[0].words[0] == "ROW(" && n.kids[1].words[0] == "ROW(" {
			n.kind = nodeRows
		}
	default:
		r.bad = true
	}
	r.expect(")")
	return n, false
}

// symbol is an operator's symbol, of which the first token is t; one of a schema is
// spelled as the search path finds it.
func (r *exprReader) symbol(t string) string {
	if t != "OPERATOR" {
		return t
	}
	r.expect("(")
	schema := r.next()
	r.expect(".")
	name := r.next()
	r.expect(")")
	return r.env.operatorShown(unquoteIdent(schema), name)
}

// lineBreak is the mark of a new line in words; no text contains it.
const lineBreak = "\x00"

// caseExpr reads CASE … END; the words carry line breaks as \n.
func (r *exprReader) caseExpr() *exprNode {
	n := &exprNode{kind: nodeCase, words: []string{lineBreak + "CASE"}}
	part := func(word string) {
		n.words[len(n.words)-1] += word
		n.kids, n.words = append(n.kids, r.expr()), append(n.words, "")
	}
	if r.peek(0) != "WHEN" {
		part(" ")
	}
	for !r.bad && r.accept("WHEN") {
		part(lineBreak + "WHEN ")
		r.expect("THEN")
		part(" THEN ")
	}
	r.expect("ELSE")
	part(lineBreak + "ELSE ")
	r.expect("END")
	n.words[len(n.words)-1] += lineBreak + "END"
	return n
}

// exprWriter writes a tree of text pieces.
type exprWriter struct {
	buf    []byte
	pretty bool
	indent int
	query  *queryWriter // the query around it, nil for none
}

// paren writes n as an operand of parent: in the pretty form in parentheses
// unless n is simple there; otherwise operators bring their own.
func (w *exprWriter) paren(n, parent *exprNode) {
	open := w.pretty && !simpleIn(n, parent)
	if open {
		w.buf = append(w.buf, '(')
	}
	w.node(n)
	if open {
		w.buf = append(w.buf, ')')
	}
}

func (w *exprWriter) node(n *exprNode) {
	if n.kind == nodePiece {
		w.piece(n.parts)
		return
	}
	own := false
	switch n.kind {
	case nodeZone, nodeRows:
		own = true
	case nodeOp, nodeAny, nodeTest, nodeBool, nodeCollate:
		own = !w.pretty
	}
	if own {
		w.buf = append(w.buf, '(')
	}
	for i, word := range n.words {
		w.word(word)
		if i >= len(n.kids) {
			continue
		}
		switch kid := n.kids[i]; {
		case n.kind == nodeCast && !w.pretty && !kid.isWholeRow():
			w.buf = append(w.buf, '(')
			w.node(kid)
			w.buf = append(w.buf, ')')
		case n.kind == nodeCall || n.kind == nodeSyntax || n.kind == nodeCase || n.kind == nodeIndex:
			w.node(kid) // the form itself separates them
		default:
			w.paren(kid, n)
		}
	}
	if own {
		w.buf = append(w.buf, ')')
	}
}

// word writes a word; behind a lineBreak a line begins at the depth of CASE.
func (w *exprWriter) word(s string) {
	for i, line := range strings.Split(s, lineBreak) {
		switch {
		case i == 0:
		case w.query != nil && w.query.flat:
			if !strings.HasPrefix(line, "CASE") {
				w.buf = append(w.buf, ' ')
			}
		default:
			if line == "END" {
				w.indent -= 4
			}
			w.buf = append(bytes.TrimRight(w.buf, " "), '\n')
			w.buf = append(w.buf, strings.Repeat(" ", lineIndent(w.indent))...)
			if strings.HasPrefix(line, "CASE") {
				w.indent += 4
			}
		}
		w.buf = append(w.buf, line...)
	}
}

// simpleIn reports whether n needs no parentheses below parent.
func simpleIn(n, parent *exprNode) bool {
	switch n.kind {
	case nodeAny, nodeCollate, nodeRows:
		return false
	case nodeHidden:
		return !n.thin || simpleIn(n.kids[0], n) // has its own
	case nodeCast:
		if parent.kind == nodeAny && n.kids[0].isQuery() {
			return true // the cast tells the query's array from its rows
		}
		return !n.thin || simpleIn(n.kids[0], n)
	case nodeOp:
		if parent.kind == nodeOp {
			return bindsCloser(n, parent)
		}
		return parent.kind == nodeBool
	case nodeTest:
		return parent.kind == nodeBool
	case nodePiece: // a query is no more than a test, an aggregate is a call
		return !n.isQuery() || parent.kind == nodeBool
	case nodeBool:
		return parent.kind == nodeBool && (parent.op == "OR" || parent.op == "AND" && n.op != "OR")
	}
	return true
}

// isWholeRow reports whether n is t.*: a cast tells it from its columns within ROW(…).
func (n *exprNode) isWholeRow() bool {
	return n.kind == nodeAtom && len(n.words) == 1 && strings.HasSuffix(n.words[0], ".*")
}

// isQuery reports whether n is a query in parentheses.
func (n *exprNode) isQuery() bool {
	return n.kind == nodePiece && slices.ContainsFunc(n.parts, func(p catalog.TreePart) bool { return p.Query != nil })
}

// bindsCloser compares the arithmetic operators, the only ones whose
// precedence is relied on.
func bindsCloser(n, parent *exprNode) bool {
	low := func(op string) bool { return op == "+" || op == "-" }
	high := func(op string) bool { return op == "*" || op == "/" || op == "%" }
	switch {
	case !low(n.op) && !high(n.op) || !low(parent.op) && !high(parent.op):
		return false
	case high(n.op) && low(parent.op):
		return true
	case low(n.op) && high(parent.op):
		return false
	}
	return n == parent.kids[0]
}

// objectNow is the literal of an object of a reg* type as the type writes the object:
// 'int4'::regtype is 'integer'::regtype, and names are as short as the search path allows.
func (env *Env) objectNow(literal, t string) string {
	in := types.ByName(t)
	if in == nil || !strings.HasPrefix(t, "reg") || env.TypeName == nil && t != "regclass" {
		return literal // also where a text is stored: the session that reads it shows it so
	}
	oid, err := env.RegIn(in.OID, strings.ReplaceAll(literal[1:len(literal)-1], "''", "'"))
	if err != nil || oid == 0 {
		return literal
	}
	name, ok := env.RegOut(in.OID, oid)
	if !ok {
		return literal
	}
	return catalog.QuoteLiteral(name)
}
