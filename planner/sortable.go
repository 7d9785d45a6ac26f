package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// comparabilityOf tells how values of a type can be compared; arrays and rows are
// compared as their elements.
func (p *planner) comparabilityOf(t types.T) catalog.Comparability {
	t = p.Snap.BaseType(t)
	if c, ok := catalog.BuiltinComparability(t.OID); ok {
		return c
	}
	in := p.Snap.TypeInfo(t.OID)
	if in == nil {
		return catalog.Comparability{}
	}
	switch in.Kind {
	case types.KArray:
		return p.comparabilityOf(p.T(in.Elem, -1))
	case types.KEnum:
		return catalog.Comparability{Equality: true, Order: true, Hash: true}
	case types.KRange, types.KMultirange: // whose bounds are hashed
		return catalog.Comparability{Equality: true, Order: true, Hash: p.comparabilityOf(p.T(in.Subtype, -1)).Hash}
	case types.KRecord:
		all := catalog.Comparability{Equality: true, Order: true, Hash: true}
		cols := p.rowColumns(t)
		for _, c := range cols {
			f := p.comparabilityOf(c.T)
			all.Equality, all.Order, all.Hash = all.Equality && f.Equality, all.Order && f.Order, all.Hash && f.Hash
		}
		return all
	}
	return catalog.Comparability{}
}

// Ordered reports whether values of a type can be sorted.
func Ordered(c *Context, t types.T) bool { return newPlanner(c).comparabilityOf(t).Order }

// needEquality refuses to group by an expression whose type has no equality.
func (p *planner) needEquality(x plan.Expr, off int) {
	if t := x.Type(); !p.comparabilityOf(t).Equality {
		failf(sqlerr.UndefinedFunction, off, "could not identify an equality operator for type %s", p.bareName(t.OID))
	}
}

// needOrder refuses to sort by an expression whose type has no order.
func (p *planner) needOrder(x plan.Expr, off int) {
	if t := x.Type(); !p.comparabilityOf(t).Order {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "could not identify an ordering operator for type %s", p.bareName(t.OID)).At(off).
			WithHint("Use an explicit ordering operator or modify the query."))
	}
}

// needSortedInput refuses DISTINCT in an aggregate of values that have no order.
func (p *planner) needSortedInput(x plan.Expr) {
	t := x.Type()
	p.needEquality(x, x.Pos())
	if !p.comparabilityOf(t).Order {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "could not identify an ordering operator for type %s", p.bareName(t.OID)).At(x.Pos()).
			WithDetail("Aggregates with DISTINCT must be able to sort their inputs."))
	}
}
