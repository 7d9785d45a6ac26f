package planner

import (
	"math"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// unknownRows is the estimate for a function that returns a set of unknown size.
const unknownRows = 100

// functionRows estimates the rows of an entry of FROM: those of its longest function.
func functionRows(funcs []plan.Expr) float64 {
	rows := 1.0
	for _, f := range funcs {
		if c, ok := f.(*plan.Call); ok && c.Proc.RetSet {
			n := float64(unknownRows)
			if s, ok := seriesRows(c); ok {
				n = s
			}
			rows = max(rows, n)
		}
	}
	return rows
}

// seriesRows counts the rows of generate_series over constant integers.
func seriesRows(c *plan.Call) (float64, bool) {
	if c.Proc.Name != "generate_series" || len(c.Args) < 2 {
		return 0, false
	}
	val := [3]float64{2: 1}
	for i, a := range c.Args {
		k, ok := a.(*plan.Const)
		if !ok || k.Val.Null || i >= len(val) || k.Val.T.Kind() != types.KInt4 && k.Val.T.Kind() != types.KInt8 {
			return 0, false
		}
		val[i] = float64(k.Val.I)
	}
	if val[2] == 0 {
		return 0, false
	}
	return math.Floor((val[1]-val[0])/val[2]) + 1, true
}
