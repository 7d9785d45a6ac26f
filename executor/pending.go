package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

type sequenceScan struct{ node *plan.SequenceScan }

func (op *sequenceScan) Open(env *Env) error       { return nil }
func (op *sequenceScan) Next() (*vec.Batch, error) { return nil, nil }
func (op *sequenceScan) Close()                    {}

type cte struct{}

func (c *cte) fill(env *Env) error       { return nil }
func (c *cte) close()                    {}
func (b *builder) cte(c *plan.CTE) error { return nil }

type subplan struct{}

func (s *subplan) close() {}

type fkQueue struct{}

func (q *fkQueue) finish(env *Env) error { return nil }

// DeferredChecks collects constraint checks of deferred constraints.
type DeferredChecks struct{}

func (r *Run) runSub(env *expr.Env, sub *plan.SubPlan, yield func(*vec.Batch) (bool, error)) error {
	return nil
}
func (b *builder) scan(n *plan.Scan) (Operator, error) { return nil, sqlerr.Unsupported(-1, "Scan") }
func (b *builder) virtualScan(n *plan.VirtualScan) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "VirtualScan")
}
func (b *builder) funcScan(n *plan.FuncScan) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "FuncScan")
}
func (b *builder) projectSet(n *plan.ProjectSet) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "ProjectSet")
}
func (b *builder) hashJoin(n *plan.HashJoin) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "HashJoin")
}
func (b *builder) lookupJoin(n *plan.LookupJoin) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "LookupJoin")
}
func (b *builder) mergeJoin(n *plan.MergeJoin) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "MergeJoin")
}
func (b *builder) loopJoin(n *plan.LoopJoin) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "LoopJoin")
}
func (b *builder) apply(n *plan.Apply) (Operator, error) { return nil, sqlerr.Unsupported(-1, "Apply") }
func (b *builder) group(n *plan.Group) (Operator, error) { return nil, sqlerr.Unsupported(-1, "Group") }
func (b *builder) distinct(n *plan.Distinct) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "Distinct")
}
func (b *builder) window(n *plan.Window) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "Window")
}
func (b *builder) setOp(n *plan.SetOp) (Operator, error) { return nil, sqlerr.Unsupported(-1, "SetOp") }
func (b *builder) cteScan(n *plan.CTEScan) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "CTEScan")
}
func (b *builder) workScan(n *plan.WorkScan) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "WorkScan")
}
func (b *builder) lockRows(n *plan.LockRows) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "LockRows")
}
func (b *builder) insert(n *plan.Insert) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "Insert")
}
func (b *builder) update(n *plan.Update) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "Update")
}
func (b *builder) delete(n *plan.Delete) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "Delete")
}
