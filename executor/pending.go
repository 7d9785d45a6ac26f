package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/planner/plan"
)

func (b *builder) window(n *plan.Window) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "Window")
}
