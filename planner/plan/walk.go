package plan

// Parent is an expression of another package (the planner's own nodes) that
// lets Map and Visit pass through it.
type Parent interface {
	Expr
	// MapChildren returns a copy whose children are f's results.
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
		return e.MapChildren(m)
	}
	return e // leaves: Const, Param, Col, Var, CaseVal
}

// Visit calls f for e and, while f returns true, for its children.
func Visit(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	MapChildren(e, func(x Expr) Expr {
		Visit(x, f)
		return x
	})
}
