package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

type rowLocker struct{}

func newRowLocker(l []plan.Lock) *rowLocker            { return nil }
func (r *rowLocker) lock(env *Env, b *vec.Batch) error { return nil }

type subplan struct{}

func (s *subplan) close() {}

type fkQueue struct{}

func (q *fkQueue) finish(env *Env) error { return nil }

// DeferredChecks collects constraint checks of deferred constraints.
type DeferredChecks struct{}

func (r *Run) runSub(env *expr.Env, sub *plan.SubPlan, yield func(*vec.Batch) (bool, error)) error {
	return nil
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
func (b *builder) window(n *plan.Window) (Operator, error) {
	return nil, sqlerr.Unsupported(-1, "Window")
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
