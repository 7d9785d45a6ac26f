package plan

// Parent is an expression of another package (the planner's own nodes) that
// lets Map and Visit pass through it.
type Parent interface {
	Expr
	// MapChildren returns a copy whose children are f's results. It calls f for each child,
	// in the same order each time.
	MapChildren(f func(Expr) Expr) Expr
}

// Map rebuilds e bottom-up: children first, then f on the copy. Nodes whose
// children did not change are copied all the same, so f may modify them.
func Map(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	m := func(x Expr) Expr { return Map(x, f) }
	return f(MapChildren(e, m))
}

// MapChildren returns a copy of e whose direct children are m's results.
func MapChildren(e Expr, m func(Expr) Expr) Expr {
	all := func(l []Expr) []Expr {
		if l == nil {
			return nil
		}
		out := make([]Expr, len(l))
		for i, x := range l {
			if x != nil {
				out[i] = m(x)
			}
		}
		return out
	}
	opt := func(x Expr) Expr {
		if x == nil {
			return nil
		}
		return m(x)
	}
	switch e := e.(type) {
	case *Call:
		c := *e
		c.Args = all(e.Args)
		return &c
	case *CoerceIO:
		c := *e
		c.X = m(e.X)
		return &c
	case *Relabel:
		c := *e
		c.X = m(e.X)
		return &c
	case *CoerceMod:
		c := *e
		c.X = m(e.X)
		return &c
	case *KeyBound:
		c := *e
		c.X = m(e.X)
		return &c
	case *CoerceDomain:
		c := *e // the checks see the value alone, not the row
		c.X = m(e.X)
		return &c
	case *CoerceArray:
		c := *e // Elem sees the element alone, not the row
		c.X = m(e.X)
		return &c
	case *And:
		c := *e
		c.Args = all(e.Args)
		return &c
	case *Or:
		c := *e
		c.Args = all(e.Args)
		return &c
	case *Not:
		c := *e
		c.X = m(e.X)
		return &c
	case *Is:
		c := *e
		c.X = m(e.X)
		return &c
	case *Case:
		c := *e
		c.Operand = opt(e.Operand)
		c.Whens = make([]When, len(e.Whens))
		for i, w := range e.Whens {
			c.Whens[i] = When{m(w.Cond), m(w.Result)}
		}
		c.Else = opt(e.Else)
		return &c
	case *Coalesce:
		c := *e
		c.Args = all(e.Args)
		return &c
	case *NullIf:
		c := *e
		c.X, c.Eq = m(e.X), m(e.Eq)
		return &c
	case *MinMax:
		c := *e
		c.Args = all(e.Args)
		return &c
	case *IsDistinct:
		c := *e
		c.L, c.R = m(e.L), m(e.R)
		return &c
	case *InList:
		c := *e
		c.X, c.List = m(e.X), all(e.List)
		return &c
	case *AnyArray:
		c := *e
		c.X, c.Array = m(e.X), m(e.Array)
		return &c
	case *ArrayCtor:
		c := *e
		c.Elems = all(e.Elems)
		return &c
	case *Subscript:
		c := *e
		c.X, c.Lo, c.Hi = m(e.X), all(e.Lo), all(e.Hi)
		return &c
	case *SubscriptAssign:
		c := *e
		c.X, c.Lo, c.Hi, c.Val = m(e.X), all(e.Lo), all(e.Hi), m(e.Val)
		return &c
	case *RowCtor:
		c := *e
		c.Elems = all(e.Elems)
		if e.Present != nil {
			c.Present = m(e.Present)
		}
		return &c
	case *FieldOf:
		c := *e
		c.X = m(e.X)
		return &c
	case *SubPlan:
		c := *e
		c.X = all(e.X)
		c.Outer = make([]SubParam, len(e.Outer))
		for i, p := range e.Outer {
			c.Outer[i] = SubParam{p.Idx, m(p.X)}
		}
		return &c // Test and Plan see other rows
	case Parent:
		// m is not handed on: what stays here does not escape, and most calls of Map cost
		// no memory but for the copies.
		list := ofParent(e)
		for i, x := range list {
			list[i] = m(x)
		}
		return e.MapChildren(func(Expr) Expr {
			x := list[0]
			list = list[1:]
			return x
		})
	}
	return e // leaves: Const, Param, Col, Var, CaseVal
}

// Visit calls f for e and, while f returns true, for its children. It copies
// nothing, and f does not escape: planning asks many small questions this way.
func Visit(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	switch e.(type) {
	case *Const, *Param, *Var: // have no children; lists of a thousand are visited many times
		return
	}
	c := childrenOf(e)
	for _, x := range c.head {
		Visit(x, f)
	}
	for _, l := range c.lists {
		for _, x := range l {
			Visit(x, f)
		}
	}
	for _, w := range c.whens {
		Visit(w.Cond, f)
		Visit(w.Result, f)
	}
	for _, p := range c.outer {
		Visit(p.X, f)
	}
	Visit(c.tail, f)
}

// children are the direct children of an expression, in the order of the fields.
// Those that it does not have are nil.
type children struct {
	head  [2]Expr
	lists [2][]Expr
	whens []When
	outer []SubParam
	tail  Expr
}

// EachChild calls f for the direct children of an expression.
func EachChild(e Expr, f func(Expr)) {
	c := childrenOf(e)
	one := func(x Expr) {
		if x != nil {
			f(x)
		}
	}
	for _, x := range c.head {
		one(x)
	}
	for _, l := range c.lists {
		for _, x := range l {
			one(x)
		}
	}
	for i := range c.whens {
		one(c.whens[i].Cond)
		one(c.whens[i].Result)
	}
	for i := range c.outer {
		one(c.outer[i].X)
	}
	one(c.tail)
}

// childrenOf returns the children that MapChildren replaces.
func childrenOf(e Expr) (c children) {
	switch e := e.(type) {
	case *Call:
		c.lists[0] = e.Args
	case *CoerceIO:
		c.tail = e.X
	case *Relabel:
		c.tail = e.X
	case *CoerceMod:
		c.tail = e.X
	case *KeyBound:
		c.tail = e.X
	case *CoerceDomain:
		c.tail = e.X
	case *CoerceArray:
		c.tail = e.X
	case *And:
		c.lists[0] = e.Args
	case *Or:
		c.lists[0] = e.Args
	case *Not:
		c.tail = e.X
	case *Is:
		c.tail = e.X
	case *Case:
		c.head[0], c.whens, c.tail = e.Operand, e.Whens, e.Else
	case *Coalesce:
		c.lists[0] = e.Args
	case *NullIf:
		c.head = [2]Expr{e.X, e.Eq}
	case *MinMax:
		c.lists[0] = e.Args
	case *IsDistinct:
		c.head = [2]Expr{e.L, e.R}
	case *InList:
		c.head[0], c.lists[0] = e.X, e.List
	case *AnyArray:
		c.head = [2]Expr{e.X, e.Array}
	case *ArrayCtor:
		c.lists[0] = e.Elems
	case *Subscript:
		c.head[0], c.lists = e.X, [2][]Expr{e.Lo, e.Hi}
	case *SubscriptAssign:
		c.head[0], c.lists, c.tail = e.X, [2][]Expr{e.Lo, e.Hi}, e.Val
	case *RowCtor:
		c.lists[0], c.tail = e.Elems, e.Present
	case *FieldOf:
		c.tail = e.X
	case *SubPlan:
		c.lists[0], c.outer = e.X, e.Outer
	case Parent:
		c.lists[0] = ofParent(e)
	}
	return c
}

// ofParent collects the children of another package's node.
func ofParent(e Parent) (list []Expr) {
	e.MapChildren(func(x Expr) Expr {
		list = append(list, x)
		return x
	})
	return list
}

// ColsIn lists the columns of a table that an expression over its live columns has.
func ColsIn(e Expr, live []int) (out []int) {
	Map(e, func(x Expr) Expr {
		if c, ok := x.(*Col); ok {
			out = append(out, live[c.Idx])
		}
		return x
	})
	return out
}
