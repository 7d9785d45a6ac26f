package planner

import (
	"cmp"
	"slices"

	"kvsqld/planner/plan"
)

// Conjuncts are computed from the cheapest on, as in PostgreSQL; of those that cost the
// same the one written first is first. That decides also which of them guards which:
//
//	WHERE 100 / a > 5 AND a > 0    tests a > 0 first

// byCost is a condition's conjuncts in the order of their computation.
func byCost(list []plan.Expr) []plan.Expr {
	if len(list) < 2 {
		return list
	}
	type priced struct {
		x    plan.Expr
		cost float64
	}
	all := make([]priced, len(list))
	for i, x := range list {
		all[i] = priced{x, exprCost(x)}
	}
	slices.SortStableFunc(all, func(a, b priced) int { return cmp.Compare(a.cost, b.cost) })
	out := make([]plan.Expr, len(list))
	for i, x := range all {
		out[i] = x.x
	}
	return out
}

// What a subquery costs that runs for each row, and the number of elements of an
// array that is not known.
const (
	subqueryCost = 1e4
	arrayGuess   = 10
)

// exprCost is the cost of an expression for one row, where that of a simple function
// is 1.
func exprCost(e plan.Expr) float64 {
	sum := 0.0
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			sum += x.Proc.Cost
		case *plan.CoerceIO:
			sum += 2
		case *plan.CoerceArray, *plan.NullIf:
			sum++
		case *plan.InList:
			sum += float64(len(x.List)) / 2
		case *plan.AnyArray:
			sum += arrayGuess / 2
		case *subquery:
			switch {
			case correlated(x.q):
				sum += subqueryCost
			case x.test != nil:
				sum++
			}
		}
		return true
	})
	return sum
}
