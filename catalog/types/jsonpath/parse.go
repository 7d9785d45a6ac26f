package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// Parse reads a path. number gives a numeric literal its canonical text, quote appends
// a text as JSON. Errors have PostgreSQL's SQLSTATEs. Patterns of like_regex are not
// looked into.
func Parse(src string, number func(string) (string, error), quote func(dst, s []byte) []byte) (*Path, error) {
	if strings.IndexByte(src, 0) >= 0 || !utf8.ValidString(src) {
		return nil, errNear("syntax error", "") // no text of a database has these
	}
	p := &parser{lex: lexer{src: src}, number: number, quote: quote}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokEnd {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type jsonpath: \"%s\"", src)
	}
	path := &Path{}
	if p.isWord("strict") {
		path.Strict = true
	}
	if path.Strict || p.isWord("lax") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEnd {
		return nil, p.unexpected()
	}
	path.Root = root
	return path, nil
}

type parser struct {
	lex    lexer
	tok    token
	number func(string) (string, error)
	quote  func(dst, s []byte) []byte
	items  int
	depth  int
	// What is around: @ needs a filter, last a subscript.
	filters, subscripts int
}

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

func (p *parser) unexpected() error { return errNear("syntax error", p.tok.src) }

func (p *parser) isPunct(s string) bool { return p.tok.kind == tokPunct && p.tok.text == s }

// isWord reports whether the token is the keyword, which any case spells but
// true, false and null.
func (p *parser) isWord(s string) bool {
	return p.tok.kind == tokWord && strings.EqualFold(p.tok.text, s)
}

func (p *parser) expect(punct string) error {
	if !p.isPunct(punct) {
		return p.unexpected()
	}
	return p.advance()
}

func (p *parser) new(it Item) (*Item, error) {
	if p.items++; p.items > maxItems {
		return nil, sqlerr.New(sqlerr.StatementTooComplex, "jsonpath is too large")
	}
	return &it, nil
}

// enter bounds the recursion.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxItems/10 {
		return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	return nil
}

// or reads an expression or predicate with all operators.
func (p *parser) or() (*Item, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	return p.junction("||", Or, func() (*Item, error) { return p.junction("&&", And, p.not) })
}

// junction reads operands joined by && or ||, which are predicates.
func (p *parser) junction(op string, kind Kind, operand func() (*Item, error)) (*Item, error) {
	left, err := operand()
	for err == nil && p.isPunct(op) {
		if !isPredicate(left) {
			return nil, p.unexpected()
		}
		if err = p.advance(); err != nil {
			return nil, err
		}
		var right *Item
		if right, err = operand(); err != nil {
			return nil, err
		}
		if !isPredicate(right) {
			return nil, p.unexpected()
		}
		left, err = p.new(Item{Kind: kind, Left: left, Right: right})
	}
	return left, err
}

// isPredicate reports whether an item, with its accessors, has a truth value.
func isPredicate(it *Item) bool { return it.Kind.IsPredicate() && it.Next == nil }

func (p *parser) not() (*Item, error) {
	if !p.isPunct("!") {
		return p.comparison()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.isPunct("(") && !p.isWord("exists") {
		return nil, p.unexpected()
	}
	x, err := p.primary()
	if err != nil {
		return nil, err
	}
	if !isPredicate(x) {
		return nil, p.unexpected()
	}
	return p.new(Item{Kind: Not, Left: x})
}

var comparisons = map[string]Kind{"==": Equal, "!=": NotEqual, "<>": NotEqual, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreaterEqual}

func (p *parser) comparison() (*Item, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	kind, ok := comparisons[p.tok.text]
	switch {
	case p.tok.kind == tokPunct && ok:
		if isPredicate(left) {
			return nil, p.unexpected()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.sum()
		if err != nil {
			return nil, err
		}
		if isPredicate(right) {
			return nil, p.unexpected()
		}
		return p.new(Item{Kind: kind, Left: left, Right: right})
	case p.isWord("starts") && !isPredicate(left):
		return p.startsWith(left)
	case p.isWord("like_regex") && !isPredicate(left):
		return p.likeRegex(left)
	}
	return left, nil
}

func (p *parser) startsWith(left *Item) (*Item, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.isWord("with") {
		return nil, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	kind := String
	switch p.tok.kind {
	case tokString:
	case tokVariable:
		kind = Variable
	default:
		return nil, p.unexpected()
	}
	right, err := p.new(Item{Kind: kind, Text: p.tok.text, JSON: p.quote(nil, []byte(p.tok.text))})
	if err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.new(Item{Kind: StartsWith, Left: left, Right: right})
}

func (p *parser) likeRegex(left *Item) (*Item, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokString {
		return nil, p.unexpected()
	}
	it := Item{Kind: LikeRegex, Left: left, Text: p.tok.text}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isWord("flag") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.kind != tokString {
			return nil, p.unexpected()
		}
		var err error
		if it.Flags, err = regexFlags(p.tok.text); err != nil {
			return nil, err
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if strings.Contains(it.Flags, "x") && !strings.Contains(it.Flags, "q") {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, `XQuery "x" flag (expanded regular expressions) is not implemented`)
	}
	return p.new(it)
}

// regexFlags puts flags into the order of printing.
func regexFlags(s string) (string, error) {
	const known = "ismxq"
	for _, c := range s {
		if !strings.ContainsRune(known, c) {
			return "", sqlerr.New(sqlerr.SyntaxError, "invalid input syntax for type jsonpath").
				WithDetail("Unrecognized flag character \"%c\" in LIKE_REGEX predicate.", c)
		}
	}
	var b strings.Builder
	for _, c := range known {
		if strings.ContainsRune(s, c) {
			b.WriteRune(c)
		}
	}
	return b.String(), nil
}

func (p *parser) sum() (*Item, error) {
	return p.binary(map[string]Kind{"+": Add, "-": Sub}, func() (*Item, error) {
		return p.binary(map[string]Kind{"*": Mul, "/": Div, "%": Mod}, p.unary)
	})
}

func (p *parser) binary(ops map[string]Kind, operand func() (*Item, error)) (*Item, error) {
	left, err := operand()
	for err == nil && p.tok.kind == tokPunct {
		kind, ok := ops[p.tok.text]
		if !ok {
			break
		}
		if isPredicate(left) {
			return nil, p.unexpected()
		}
		if err = p.advance(); err != nil {
			return nil, err
		}
		var right *Item
		if right, err = operand(); err != nil {
			return nil, err
		}
		if isPredicate(right) {
			return nil, p.unexpected()
		}
		left, err = p.new(Item{Kind: kind, Left: left, Right: right})
	}
	return left, err
}

func (p *parser) unary() (*Item, error) {
	kind := Plus
	switch {
	case p.isPunct("-"):
		kind = Minus
	case !p.isPunct("+"):
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	if isPredicate(x) {
		return nil, p.unexpected()
	}
	if x.Kind == Number && x.Next == nil { // the sign is the number's
		if kind == Minus && strings.Trim(x.Text, "0.") != "" {
			if rest, negative := strings.CutPrefix(x.Text, "-"); negative {
				x.Text = rest
			} else {
				x.Text = "-" + x.Text
			}
			x.JSON = []byte(x.Text)
		}
		return x, nil
	}
	return p.new(Item{Kind: kind, Left: x})
}

// primary reads an operand and its accessors.
func (p *parser) primary() (*Item, error) {
	var it Item
	switch t := p.tok; t.kind {
	case tokString:
		it = Item{Kind: String, Text: t.text, JSON: p.quote(nil, []byte(t.text))}
	case tokVariable:
		it = Item{Kind: Variable, Text: t.text}
	case tokNumber:
		n, err := p.number(t.text)
		if err != nil {
			return nil, err
		}
		it = Item{Kind: Number, Text: n, JSON: []byte(n)}
	case tokWord:
		switch {
		case t.text == "true", t.text == "false":
			it = Item{Kind: Bool, Truth: t.text == "true", JSON: []byte(t.text)}
		case t.text == "null":
			it = Item{Kind: Null, JSON: []byte(t.text)}
		case p.isWord("last"):
			if p.subscripts == 0 {
				return nil, sqlerr.New(sqlerr.SyntaxError, "LAST is allowed only in array subscripts")
			}
			it = Item{Kind: Last}
		case p.isWord("exists"):
			return p.exists()
		default:
			return nil, p.unexpected()
		}
	default:
		switch {
		case p.isPunct("("):
			return p.parenthesized()
		case p.isPunct("$"):
			it = Item{Kind: Root}
		case p.isPunct("@"):
			if p.filters == 0 {
				return nil, sqlerr.New(sqlerr.SyntaxError, "@ is not allowed in root expressions")
			}
			it = Item{Kind: Current}
		default:
			return nil, p.unexpected()
		}
	}
	x, err := p.new(it)
	if err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return x, p.accessors(x)
}

func (p *parser) exists() (*Item, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	x, err := p.or()
	if err != nil {
		return nil, err
	}
	if isPredicate(x) {
		return nil, p.unexpected()
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	return p.new(Item{Kind: Exists, Left: x})
}

func (p *parser) parenthesized() (*Item, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.or()
	if err != nil {
		return nil, err
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	if isPredicate(x) && p.isWord("is") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.isWord("unknown") {
			return nil, p.unexpected()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.new(Item{Kind: IsUnknown, Left: x})
	}
	return x, p.accessors(x)
}

// accessors reads what follows an operand, to the end of its chain.
func (p *parser) accessors(x *Item) error {
	tail := x
	for tail.Next != nil {
		tail = tail.Next
	}
	for {
		it, ok, err := p.accessor()
		if err != nil || !ok {
			return err
		}
		if tail.Next, err = p.new(it); err != nil {
			return err
		}
		tail = tail.Next
	}
}

func (p *parser) accessor() (it Item, ok bool, err error) {
	switch {
	case p.isPunct("["):
		it, err = p.subscript()
	case p.isPunct("?"):
		it, err = p.filter()
	case p.isPunct("."):
		if err = p.advance(); err == nil {
			it, err = p.member()
		}
	default:
		return it, false, nil
	}
	return it, true, err
}

func (p *parser) subscript() (it Item, err error) {
	if err = p.advance(); err != nil {
		return it, err
	}
	if p.isPunct("*") {
		if err = p.advance(); err != nil {
			return it, err
		}
		return Item{Kind: AnyArray}, p.expect("]")
	}
	p.subscripts++
	defer func() { p.subscripts-- }()
	it.Kind = Index
	for {
		var r Range
		if r.From, err = p.bound(); err != nil {
			return it, err
		}
		if p.isWord("to") {
			if err = p.advance(); err != nil {
				return it, err
			}
			if r.To, err = p.bound(); err != nil {
				return it, err
			}
		}
		it.Subscripts = append(it.Subscripts, r)
		if !p.isPunct(",") {
			return it, p.expect("]")
		}
		if err = p.advance(); err != nil {
			return it, err
		}
	}
}

func (p *parser) bound() (*Item, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	return p.sum()
}

func (p *parser) filter() (it Item, err error) {
	if err = p.advance(); err != nil {
		return it, err
	}
	if err = p.expect("("); err != nil {
		return it, err
	}
	p.filters++
	defer func() { p.filters-- }()
	x, err := p.or()
	if err != nil {
		return it, err
	}
	if !isPredicate(x) {
		return it, p.unexpected()
	}
	return Item{Kind: Filter, Left: x}, p.expect(")")
}

// member reads what follows a dot.
func (p *parser) member() (Item, error) {
	t := p.tok
	switch {
	case p.isPunct("*"):
		return Item{Kind: AnyKey}, p.advance()
	case p.isPunct("**"):
		return p.anyLevel()
	case t.kind == tokString, t.kind == tokName, t.kind == tokWord:
	default:
		return Item{}, p.unexpected()
	}
	if err := p.advance(); err != nil {
		return Item{}, err
	}
	if t.kind == tokWord && p.isPunct("(") {
		for kind, name := range methods {
			if strings.EqualFold(name, t.text) {
				return p.call(kind)
			}
		}
	}
	return Item{Kind: Key, Text: t.text}, nil
}

func (p *parser) call(kind Kind) (Item, error) {
	it := Item{Kind: kind}
	if err := p.advance(); err != nil {
		return it, err
	}
	if kind == Datetime && p.tok.kind == tokString {
		var err error
		if it.Left, err = p.new(Item{Kind: String, Text: p.tok.text, JSON: p.quote(nil, []byte(p.tok.text))}); err != nil {
			return it, err
		}
		if err := p.advance(); err != nil {
			return it, err
		}
	}
	return it, p.expect(")")
}

func (p *parser) anyLevel() (Item, error) {
	it := Item{Kind: Any, Deep: AnyDepth}
	if err := p.advance(); err != nil {
		return it, err
	}
	if !p.isPunct("{") {
		return it, nil
	}
	if err := p.advance(); err != nil {
		return it, err
	}
	var err error
	if it.First, err = p.level(); err != nil {
		return it, err
	}
	it.Deep = it.First
	if p.isWord("to") {
		if err := p.advance(); err != nil {
			return it, err
		}
		if it.Deep, err = p.level(); err != nil {
			return it, err
		}
	}
	return it, p.expect("}")
}

func (p *parser) level() (int, error) {
	n := AnyDepth
	if !p.isWord("last") {
		var err error
		if p.tok.kind != tokNumber {
			return 0, p.unexpected()
		}
		if n, err = strconv.Atoi(p.tok.text); err != nil || n > 1<<31-1 {
			return 0, p.unexpected()
		}
	}
	return n, p.advance()
}
