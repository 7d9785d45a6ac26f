package ast

import (
	"strconv"
	"strings"
)

// Format prints a statement, FROM item or expression as SQL. Parsing the
// result gives the same tree but for offsets. Names are quoted and operands put
// in parentheses where they must be. A statement that the tree keeps as text
// (Unsupported) is that text.
func Format(n Node) string {
	p := &printer{}
	switch n := n.(type) {
	case Expr:
		p.expr(n, 0)
	case Stmt:
		p.stmt(n)
	case FromItem:
		p.from(n)
	}
	return strings.TrimSuffix(p.String(), " ")
}

// FormatType prints a type's name.
func FormatType(t TypeName) string {
	p := &printer{}
	p.typeName(t)
	return p.String()
}

type printer struct{ strings.Builder }

// put writes its arguments one after the other.
func (p *printer) put(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// putIf writes s when cond holds.
func (p *printer) putIf(cond bool, s string) {
	if cond {
		p.WriteString(s)
	}
}

// ident writes a name; words that could begin a clause are quoted too.
func (p *printer) ident(s string) {
	if clauseWords[s] {
		p.put(`"`, s, `"`)
		return
	}
	p.put(QuoteIdent(s))
}

func (p *printer) idents(l []string) {
	for i, s := range l {
		p.putIf(i > 0, ", ")
		p.ident(s)
	}
}

// parenIdents writes (a, b), or nothing for an empty list.
func (p *printer) parenIdents(l []string) {
	if len(l) == 0 {
		return
	}
	p.put("(")
	p.idents(l)
	p.put(")")
}

func (p *printer) dotted(parts []string) {
	for i, s := range parts {
		p.putIf(i > 0, ".")
		p.ident(s)
	}
}

func (p *printer) name(n Name) { p.dotted(n.Parts) }

func (p *printer) names(l []Name) {
	for i, n := range l {
		p.putIf(i > 0, ", ")
		p.name(n)
	}
}

func (p *printer) literal(s string) { p.put(QuoteLiteral(s)) }

func (p *printer) exprs(l []Expr) {
	for i, x := range l {
		p.putIf(i > 0, ", ")
		p.expr(x, 0)
	}
}

// parenExprs writes (x, y); an empty list is ().
func (p *printer) parenExprs(l []Expr) {
	p.put("(")
	p.exprs(l)
	p.put(")")
}

// Binding powers, as in the grammar.
const (
	levelOr = iota + 1
	levelAnd
	levelNot
	levelIs
	levelCmp
	levelIn
	levelOp
	levelAdd
	levelMul
	levelPow
	levelAt
	levelCollate
	levelUnary
	levelCast
	levelPrimary
)

func opLevel(schema, op string) int {
	if schema != "" {
		return levelOp
	}
	switch op {
	case "=", "<", ">", "<=", ">=", "<>":
		return levelCmp
	case "+", "-":
		return levelAdd
	case "*", "/", "%":
		return levelMul
	case "^":
		return levelPow
	}
	return levelOp
}

// exprLevel is the binding power of x's outermost operator.
func exprLevel(x Expr) int {
	switch x := x.(type) {
	case *Or:
		return levelOr
	case *And:
		return levelAnd
	case *Not:
		return levelNot
	case *Is, *Distinct:
		return levelIs
	case *Between, *In:
		return levelIn
	case *Binary:
		return opLevel(x.Schema, x.Op)
	case *Quantified:
		return opLevel(x.Schema, x.Op)
	case *Unary:
		if x.Schema == "" && (x.Op == "-" || x.Op == "+") {
			return levelUnary
		}
		return levelOp
	case *Collate:
		return levelCollate
	case *Cast:
		if !x.Literal {
			return levelCast
		}
	case *Const:
		if strings.HasPrefix(x.Val, "-") && (x.Kind == ConstInt || x.Kind == ConstNumeric) {
			return levelUnary
		}
	case *Call:
		switch x.Form {
		case "timezone":
			return levelAt
		case "overlaps":
			return levelOr
		}
	}
	return levelPrimary
}

// expr writes x, in parentheses when it binds weaker than min.
func (p *printer) expr(x Expr, min int) {
	if exprLevel(x) < min {
		p.put("(")
		p.bare(x)
		p.put(")")
		return
	}
	p.bare(x)
}

func (p *printer) operator(schema, op string) {
	if schema == "" {
		p.put(op)
		return
	}
	p.put("OPERATOR(")
	p.dotted(strings.Split(schema, "."))
	p.put(".", op, ")")
}

func (p *printer) chain(args []Expr, word string, min int) {
	for i, a := range args {
		p.putIf(i > 0, word)
		p.expr(a, min)
	}
}

func not(b bool) string {
	if b {
		return "NOT "
	}
	return ""
}

// bare writes x without parentheses around it.
func (p *printer) bare(x Expr) {
	switch x := x.(type) {
	case *Const:
		p.constant(x)
	case *Param:
		p.put("$", strconv.Itoa(x.Num))
	case *ColumnRef:
		p.dotted(x.Parts)
		if x.Star {
			p.putIf(len(x.Parts) > 0, ".")
			p.put("*")
		}
	case *Unary:
		p.operator(x.Schema, x.Op)
		p.put(" ")
		if exprLevel(x) == levelUnary {
			p.expr(x.X, levelUnary)
		} else {
			p.expr(x.X, levelOp+1)
		}
	case *Binary:
		l := opLevel(x.Schema, x.Op)
		left := l
		if l == levelCmp {
			left++
		}
		p.expr(x.L, left)
		p.put(" ")
		p.operator(x.Schema, x.Op)
		p.put(" ")
		p.expr(x.R, l+1)
	case *And:
		p.chain(x.Args, " AND ", levelAnd+1)
	case *Or:
		p.chain(x.Args, " OR ", levelOr+1)
	case *Not:
		p.put("NOT ")
		p.expr(x.X, levelNot)
	case *Is:
		p.expr(x.X, levelIs+1)
		p.put(" IS ", not(x.Not), x.Test)
	case *Distinct:
		p.expr(x.L, levelIs+1)
		p.put(" IS ", not(x.Not), "DISTINCT FROM ")
		p.expr(x.R, levelIs+1)
	case *Between:
		p.between(x)
	case *In:
		p.expr(x.X, levelIn+1)
		p.put(" ", not(x.Not), "IN ")
		if x.Query != nil {
			p.parenQuery(x.Query)
		} else {
			p.parenExprs(x.List)
		}
	case *Quantified:
		p.quantified(x)
	case *Exists:
		p.put("EXISTS ")
		p.parenQuery(x.Query)
	case *Subquery:
		p.putIf(x.Array, "ARRAY")
		p.parenQuery(x.Query)
	case *Case:
		p.caseExpr(x)
	case *Cast:
		p.cast(x)
	case *Collate:
		p.expr(x.X, levelCollate)
		p.put(" COLLATE ")
		p.name(x.Name)
	case *Call:
		p.call(x)
	case *Special:
		p.put(x.Kind)
		if len(x.Args) > 0 {
			p.parenExprs(x.Args)
		}
	case *Array:
		p.put("ARRAY[")
		p.exprs(x.Elems)
		p.put("]")
	case *Row:
		p.putIf(x.Explicit, "ROW")
		p.parenExprs(x.Elems)
	case *Index:
		if x.Apart {
			p.put("(")
			p.bare(x.X)
			p.put(")")
		} else {
			p.operand(x.X)
		}
		p.subscript(x.Slice, x.Lo, x.Hi)
	case *Field:
		if _, ok := x.X.(*ColumnRef); ok {
			p.put("(")
			p.bare(x.X)
			p.put(")")
		} else {
			p.operand(x.X)
		}
		p.put(".")
		if x.Name == "*" {
			p.put("*")
		} else {
			p.ident(x.Name)
		}
	}
}

// operand writes what a subscript or field applies to.
func (p *printer) operand(x Expr) {
	switch x := x.(type) {
	case *ColumnRef, *Param, *Index, *Field:
		p.bare(x)
		return
	case *Subquery:
		if !x.Array {
			p.bare(x)
			return
		}
	}
	p.put("(")
	p.bare(x)
	p.put(")")
}

func (p *printer) subscript(slice bool, lo, hi Expr) {
	p.put("[")
	if lo != nil {
		p.expr(lo, 0)
	}
	p.putIf(slice, ":")
	if hi != nil {
		p.expr(hi, 0)
	}
	p.put("]")
}

func (p *printer) constant(c *Const) {
	switch c.Kind {
	case ConstNull:
		p.put("NULL")
	case ConstBool:
		p.put(strings.ToUpper(c.Val))
	case ConstString:
		p.literal(c.Val)
	case ConstBit:
		p.put("B")
		p.literal(c.Val)
	case ConstHexBit:
		p.put("X")
		p.literal(c.Val)
	default:
		p.put(c.Val)
	}
}

func (p *printer) between(x *Between) {
	p.expr(x.X, levelIn+1)
	p.put(" ", not(x.Not), "BETWEEN ")
	p.putIf(x.Symmetric, "SYMMETRIC ")
	p.bounded(x.Lo)
	p.put(" AND ")
	p.expr(x.Hi, levelIn+1)
}

// bounded writes x where the grammar has b_expr: operators and what binds
// tighter, but neither AT TIME ZONE nor COLLATE at any operand.
func (p *printer) bounded(x Expr) {
	if exprLevel(x) == levelPrimary {
		p.bare(x)
		return
	}
	p.put("(")
	p.bare(x)
	p.put(")")
}

func (p *printer) quantified(x *Quantified) {
	l := opLevel(x.Schema, x.Op)
	p.expr(x.L, l+1)
	p.put(" ")
	switch x.Op {
	case "~~":
		p.put("LIKE")
	case "!~~":
		p.put("NOT LIKE")
	case "~~*":
		p.put("ILIKE")
	case "!~~*":
		p.put("NOT ILIKE")
	default:
		p.operator(x.Schema, x.Op)
	}
	if x.All {
		p.put(" ALL ")
	} else {
		p.put(" ANY ")
	}
	if x.Query != nil {
		p.parenQuery(x.Query)
		return
	}
	p.put("(")
	if s, ok := x.Array.(*Subquery); ok && !s.Array {
		p.put("(") // a bare (query) would be ANY's own query
		p.bare(s)
		p.put(")")
	} else {
		p.expr(x.Array, 0)
	}
	p.put(")")
}

func (p *printer) caseExpr(c *Case) {
	p.put("CASE")
	if c.Operand != nil {
		p.put(" ")
		p.expr(c.Operand, 0)
	}
	for _, w := range c.Whens {
		p.put(" WHEN ")
		p.expr(w.Cond, 0)
		p.put(" THEN ")
		p.expr(w.Result, 0)
	}
	if c.Else != nil {
		p.put(" ELSE ")
		p.expr(c.Else, 0)
	}
	p.put(" END")
}

func (p *printer) cast(c *Cast) {
	if !c.Literal {
		p.expr(c.X, levelCast)
		p.put("::")
		p.typeName(c.Type)
		return
	}
	t := c.Type
	if isSystem(t, "interval") {
		p.put("interval")
		p.putIf(len(t.Mods) > 0 && t.Interval == "", "(")
		if len(t.Mods) > 0 && t.Interval == "" {
			p.exprs(t.Mods)
			p.put(")")
		}
		p.put(" ")
		p.expr(c.X, levelPrimary)
		p.intervalFields(t)
		return
	}
	if isSystem(t, "bit") && t.Mods == nil {
		p.put("bit")
	} else {
		p.typeName(t)
	}
	p.put(" ")
	p.expr(c.X, levelPrimary)
}

func isSystem(t TypeName, name string) bool {
	return len(t.Name.Parts) == 2 && t.Name.Parts[0] == "pg_catalog" && t.Name.Parts[1] == name
}
