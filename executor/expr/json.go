package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

func (c *compiler) compileJSONSubscript(e *plan.Subscript) (Eval, error) {
	return nil, sqlerr.Unsupported(e.Off, "subscripting of type %s", types.FormatType(e.X.Type()))
}

func newJSONAgg(*plan.Agg) Aggregator { return nil }
