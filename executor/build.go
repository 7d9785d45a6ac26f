package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// builder makes operators from plan nodes.
type builder struct {
	run     *Run
	stats   *Stats
	bodies  bool // see runsBodies
	inTurns bool // the condition of the node that is built next sees effects of what is above it
}

// node makes the operator of a node, with counters around it when wanted.
func (b *builder) node(n plan.Node) (Operator, error) {
	op, err := b.plain(n)
	if err != nil || b.stats == nil {
		return op, err
	}
	return &statsOp{Operator: op, id: n.Base().ID}, nil
}

func (b *builder) plain(n plan.Node) (Operator, error) {
	switch n := n.(type) {
	case *plan.Scan:
		return b.scan(n)
	case *plan.ClusterScan:
		return b.clusterScan(n)
	case *plan.IndexUnion:
		return b.indexUnion(n)
	case *plan.VirtualScan:
		return b.virtualScan(n)
	case *plan.SequenceScan:
		return &sequenceScan{node: n}, nil
	case *plan.Values:
		return b.values(n)
	case *plan.FuncScan:
		return b.funcScan(n)
	case *plan.Project:
		return b.project(n)
	case *plan.ProjectSet:
		return b.projectSet(n)
	case *plan.Filter:
		return b.filter(n)
	case *plan.Kept:
		return b.kept(n)
	case *plan.HashJoin:
		return b.hashJoin(n)
	case *plan.LookupJoin:
		return b.lookupJoin(n)
	case *plan.MergeJoin:
		return b.mergeJoin(n)
	case *plan.LoopJoin:
		return b.loopJoin(n)
	case *plan.Apply:
		return b.apply(n)
	case *plan.Group:
		return b.group(n)
	case *plan.Distinct:
		return b.distinct(n)
	case *plan.Window:
		return b.window(n)
	case *plan.Sort:
		return b.sort(n)
	case *plan.Limit:
		return b.limit(n)
	case *plan.Append:
		if n.Keys != nil {
			return b.mergeAppend(n)
		}
		return b.append(n)
	case *plan.SetOp:
		return b.setOp(n)
	case *plan.CTEScan:
		return b.cteScan(n)
	case *plan.WorkScan:
		return b.workScan(n)
	case *plan.LockRows:
		return b.lockRows(n)
	case *plan.Insert:
		return b.insert(n)
	case *plan.Update:
		return b.update(n)
	case *plan.Delete:
		return b.delete(n)
	case *plan.Merge:
		return b.merge(n)
	}
	return nil, sqlerr.New(sqlerr.InternalError, "no operator for plan node %T", n)
}

// predicate compiles a condition; nil gives nil.
// join builds what a join of any method needs: both inputs and the condition on
// pairs of their rows.
func (b *builder) join(left, right plan.Node, cond plan.Expr) (l, r Operator, p expr.Pred, err error) {
	if l, err = b.node(left); err != nil {
		return nil, nil, nil, err
	}
	if r, err = b.node(right); err != nil {
		return nil, nil, nil, err
	}
	p, err = b.predicate(cond)
	return l, r, p, err
}

func (b *builder) predicate(e plan.Expr) (expr.Pred, error) {
	if e == nil {
		return nil, nil
	}
	return expr.CompilePredicate(e)
}
