package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// impliesText reports whether a condition over the named relation makes the
// stored predicate of an index of its table true.
func (p *planner) impliesText(t *catalog.Table, where ast.Expr, d *destination, alias, predicate string) bool {
	if where == nil {
		return false
	}
	r := p.tableRel(t, t.Name)
	b := &binder{planner: p, scope: &scope{items: []*nsItem{p.relNames(r, nil)}}, what: "WHERE", noAgg: true, noWin: true, noSub: true}
	bind := func(text string) []plan.Expr {
		x, err := p.Texts.ParseExpr(text)
		if err != nil {
			fail(err)
		}
		return b.cond(x)
	}
	have := bind(p.baseText(d, alias, where))
	var wanted []plan.Expr
	p.within(t.CallsOf(predicate), func() { wanted = bind(predicate) })
	for _, want := range wanted {
		if !slices.ContainsFunc(have, func(x plan.Expr) bool { return p.implies(x, want) }) {
			return false
		}
	}
	return true
}

// ImpliedByChecks reports whether a condition over a table's row cannot be false, for
// what the table's checks and NOT NULL say of its rows.
func ImpliedByChecks(c *Context, t *catalog.Table, cond string) (implied bool, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	r := p.tableRel(t, t.Name)
	b := &binder{planner: p, scope: &scope{items: []*nsItem{p.relNames(r, nil)}}, what: "CHECK", noAgg: true, noWin: true, noSub: true}
	bind := func(text string) []plan.Expr {
		x, err := p.Texts.ParseExpr(text)
		if err != nil {
			fail(err)
		}
		return b.cond(x)
	}
	var have []plan.Expr
	for _, k := range t.Checks {
		if !k.NotValid {
			p.within(t.CallsOf(k.Expr), func() { have = append(have, bind(k.Expr)...) })
		}
	}
	for _, want := range bind(cond) {
		is, null := want.(*plan.Is)
		null = null && is.Test == plan.IsNull && is.Not
		if null {
			if v, ok := is.X.(*plan.Var); ok && v.Col >= 0 && t.Columns[v.Col].NotNull {
				continue
			}
		}
		if !slices.ContainsFunc(have, func(x plan.Expr) bool {
			return exprKey(x) == exprKey(want) || !null && p.implies(x, want) // a check holds for NULL, too
		}) {
			return false, nil
		}
	}
	return true, nil
}

// implies reports whether want is true wherever have is: they are the same,
// have is never true of what want says is not NULL, or both compare one expression with
// constants,
//
//	v > 10  implies  v > 5,  v >= 10,  v <> 3  and  v IS NOT NULL,
//	v > now() - interval '1 day', v = $1 and v + 1 IN (2, 3)  imply  v IS NOT NULL
func (p *planner) implies(have, want plan.Expr) bool {
	if exprKey(have) == exprKey(want) {
		return true
	}
	if and, is := have.(*plan.And); is {
		return slices.ContainsFunc(and.Args, func(x plan.Expr) bool { return p.implies(x, want) })
	}
	if or, is := want.(*plan.Or); is {
		return slices.ContainsFunc(or.Args, func(x plan.Expr) bool { return p.implies(have, x) })
	}
	if is, null := want.(*plan.Is); null {
		return is.Test == plan.IsNull && is.Not && is.X.Type().Kind() != types.KRecord && falseOfNull(have, exprKey(is.X))
	}
	h, hc, hop, ok := comparison(have)
	if !ok {
		return false
	}
	switch w := want.(type) { // a boolean, or one of several constants
	case *plan.Not:
		return hop == "=" && hc.T.OID == types.OBool && !hc.Val.Null && hc.Val.I == 0 && exprKey(w.X) == exprKey(h)
	case *plan.Var:
		return hop == "=" && hc.T.OID == types.OBool && !hc.Val.Null && hc.Val.I != 0 && exprKey(w) == exprKey(h)
	case *plan.InList:
		return hop == "=" && !w.Not && !hc.Val.Null && exprKey(w.X) == exprKey(h) && slices.ContainsFunc(w.List, func(x plan.Expr) bool {
			k, is := x.(*plan.Const)
			return is && !k.Val.Null && k.T.OID == hc.T.OID && types.Compare(k.Val, hc.Val) == 0
		})
	}
	w, wc, wop, ok := comparison(want)
	if !ok || exprKey(h) != exprKey(w) || hc.Val.Null || wc.Val.Null || hc.T.OID != wc.T.OID {
		return false
	}
	c := types.Compare(hc.Val, wc.Val) // have's constant against want's
	switch hop {
	case "=":
		return map[string]bool{"=": c == 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[wop]
	case ">":
		return wop == ">" && c >= 0 || (wop == ">=" || wop == "<>") && c >= 0
	case ">=":
		return wop == ">=" && c >= 0 || (wop == ">" || wop == "<>") && c > 0
	case "<":
		return wop == "<" && c <= 0 || (wop == "<=" || wop == "<>") && c <= 0
	case "<=":
		return wop == "<=" && c <= 0 || (wop == "<" || wop == "<>") && c < 0
	}
	return false
}

// falseOfNull reports whether c cannot be true where the expression with a key is NULL.
func falseOfNull(c plan.Expr, key string) bool {
	switch x := c.(type) {
	case *plan.And:
		return slices.ContainsFunc(x.Args, func(a plan.Expr) bool { return falseOfNull(a, key) })
	case *plan.Or:
		return !slices.ContainsFunc(x.Args, func(a plan.Expr) bool { return !falseOfNull(a, key) })
	case *plan.Not:
		return nullOfNull(x.X, key)
	case *plan.Is:
		return x.Test == plan.IsNull && x.Not && nullOfNull(x.X, key)
	case *plan.InList:
		return nullOfNull(x.X, key)
	case *plan.AnyArray:
		return !x.All && x.Proc.Strict && nullOfNull(x.X, key)
	}
	return nullOfNull(c, key)
}

// nullOfNull reports whether e is NULL where the expression with a key is.
func nullOfNull(e plan.Expr, key string) bool {
	if exprKey(e) == key {
		return true
	}
	switch x := e.(type) {
	case *plan.Relabel:
		return nullOfNull(x.X, key)
	case *plan.CoerceMod:
		return nullOfNull(x.X, key)
	case *plan.CoerceIO:
		return nullOfNull(x.X, key)
	case *plan.Call:
		return x.Proc.Strict && slices.ContainsFunc(x.Args, func(a plan.Expr) bool { return nullOfNull(a, key) })
	}
	return false
}

// impliesNow is implies for the present values of the parameters. The plan is then one for
// these values alone.
func (p *planner) impliesNow(have, want plan.Expr) bool {
	if len(p.ParamValues) == 0 || !p.implies(p.withValues(have), want) {
		return false
	}
	p.forValues = true
	return true
}

// comparison takes x op constant, or constant op x, apart.
func comparison(e plan.Expr) (x plan.Expr, k *plan.Const, op string, ok bool) {
	c, is := e.(*plan.Call)
	if !is || len(c.Args) != 2 {
		return nil, nil, "", false
	}
	turned := map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
	if turned[c.Op] == "" {
		return nil, nil, "", false
	}
	if k, is := c.Args[1].(*plan.Const); is {
		return c.Args[0], k, c.Op, true
	}
	if k, is := c.Args[0].(*plan.Const); is {
		return c.Args[1], k, turned[c.Op], true
	}
	return nil, nil, "", false
}
