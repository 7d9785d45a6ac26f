package planner

import (
	"sync"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// comparability says what the default operator classes of a type offer.
type comparability struct{ equality, order bool }

// builtinComparability is that of the built-in types which have an operator class
// of their own, or of a type that they turn into without a function.
var builtinComparability = sync.OnceValue(func() map[types.OID]comparability {
	m := map[types.OID]comparability{types.OUnknown: {true, true}, types.ORecord: {true, true}}
	add := func(o types.OID, method types.OID) {
		c := m[o]
		c.equality = true
		c.order = c.order || method == catalog.OIDBtreeAm
		m[o] = c
	}
	for _, c := range catalog.Opclasses() {
		if !c.Default || c.Method != catalog.OIDBtreeAm && c.Method != catalog.OIDHashAm {
			continue
		}
		add(c.InType, c.Method)
		for _, k := range catalog.Casts() {
			if k.Target == c.InType && k.Method == 'b' && k.Context == 'i' {
				add(k.Source, c.Method)
			}
		}
	}
	return m
})

// comparabilityOf tells how values of a type can be compared; arrays and rows are
// compared as their elements.
func (p *planner) comparabilityOf(t types.T) comparability {
	t = p.Snap.BaseType(t)
	if c, ok := builtinComparability()[t.OID]; ok {
		return c
	}
	in := p.Snap.TypeInfo(t.OID)
	if in == nil {
		return comparability{}
	}
	switch in.Kind {
	case types.KArray:
		return p.comparabilityOf(p.T(in.Elem, -1))
	case types.KEnum, types.KRange, types.KMultirange:
		return comparability{true, true}
	case types.KRecord:
		all := comparability{true, true}
		cols := p.rowColumns(t)
		for _, c := range cols {
			f := p.comparabilityOf(c.T)
			all.equality, all.order = all.equality && f.equality, all.order && f.order
		}
		return all
	}
	return comparability{}
}

// Ordered reports whether values of a type can be sorted.
func Ordered(c *Context, t types.T) bool { return newPlanner(c).comparabilityOf(t).order }

// needEquality refuses to group by an expression whose type has no equality.
func (p *planner) needEquality(x plan.Expr, off int) {
	if t := x.Type(); !p.comparabilityOf(t).equality {
		failf(sqlerr.UndefinedFunction, off, "could not identify an equality operator for type %s", p.bareName(t.OID))
	}
}

// needOrder refuses to sort by an expression whose type has no order.
func (p *planner) needOrder(x plan.Expr, off int) {
	if t := x.Type(); !p.comparabilityOf(t).order {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "could not identify an ordering operator for type %s", p.bareName(t.OID)).At(off).
			WithHint("Use an explicit ordering operator or modify the query."))
	}
}

// needSortedInput refuses DISTINCT in an aggregate of values that have no order.
func (p *planner) needSortedInput(x plan.Expr) {
	t := x.Type()
	p.needEquality(x, x.Pos())
	if !p.comparabilityOf(t).order {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "could not identify an ordering operator for type %s", p.bareName(t.OID)).At(x.Pos()).
			WithDetail("Aggregates with DISTINCT must be able to sort their inputs."))
	}
}
