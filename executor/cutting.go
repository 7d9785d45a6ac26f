package executor

import (
	"context"

	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// cutting is a pipeline whose scan is read in parts by several goroutines, each with
// operators of its own. The tables of hash joins on the way are built once and shared.
type cutting struct {
	env   *Env
	joins []*hashJoin
	parts []*table.ScanSpec
}

// cutUp divides the scan at the end of a pipeline, which is open, where parallel says
// that it may be read in parts; nil when it is not to be, or there is nothing to gain.
func cutUp(env *Env, input Operator, parallel func(*scan) bool) (*cutting, error) {
	if env.MaxParallel < 2 {
		return nil, nil
	}
	sc, joins := pipeline(input, nil)
	if sc == nil || sc.point {
		return nil, nil
	}
	sc.env = env
	if !parallel(sc) {
		return nil, nil
	}
	for _, j := range joins {
		// only the topmost is open: a join opens its left input after its right one
		if err := j.Open(env); err != nil {
			return nil, err
		}
		if err := j.readRight(); err != nil {
			return nil, err
		}
		if j.spill.on || j.nothing() {
			return nil, nil
		}
	}
	if err := sc.Open(env); err != nil || sc.done {
		return nil, err
	}
	for _, j := range joins {
		j.push()
	}
	sc.narrow()
	sc.filters = nil // the workers' joins push their own
	parts := []*table.ScanSpec{&sc.spec}
	if parallel(sc) {
		var err error
		if parts, err = sc.desc.SplitScan(env.Ctx, env.source(sc.spec.Cols), &sc.spec, env.MaxParallel); err != nil {
			return nil, err
		}
	}
	if len(parts) < 2 && len(joins) == 0 {
		return nil, nil
	}
	sc.tally(1, 0, 0)
	return &cutting{env, joins, parts}, nil
}

// open opens the operators of one worker, of which input is the pipeline.
func (c *cutting) open(ctx context.Context, part int, input Operator, open func(*Env) error) error {
	env := *c.env
	env.Ctx, env.Expr, env.MaxParallel = ctx, c.env.Expr.Fork(), 1
	env.Expr.Ctx, env.Tally = ctx, new(Tally)
	sc, joins := pipeline(input, nil)
	env.Split = &Split{node: sc.node, spec: c.parts[part]}
	if err := open(&env); err != nil {
		return err
	}
	for i, j := range joins {
		j.adopt(c.joins[i])
	}
	return nil
}

// pipeline finds the scan at the end of filters, projections and the left inputs
// of joins, and the hash joins on the way; nil when there are other operators.
func pipeline(op Operator, joins []*hashJoin) (*scan, []*hashJoin) {
	switch op := op.(type) {
	case *scan:
		return op, joins
	case *filter:
		return pipeline(op.input, joins)
	case *project:
		return pipeline(op.input, joins)
	case *lookupJoin:
		return pipeline(op.left, joins)
	case *hashJoin:
		if op.out.tracksRight() {
			return nil, nil
		}
		return pipeline(op.left, append(joins, op))
	}
	return nil, nil
}

// safeDown reports whether several goroutines may evaluate what a pipeline does, all the
// way down to the scan.
func safeDown(n plan.Node) bool {
	safe := true
	check := func(e plan.Expr) plan.Expr {
		safe = safe && parallelSafe(e)
		return e
	}
	for safe {
		plan.MapExprs(n, check)
		below := n.Children()
		if len(below) == 0 {
			break
		}
		n = below[0]
	}
	return safe
}

// Split is the part of one scan that is read where an operator above has cut it up:
// the scan reads it however often it is opened.
type Split struct {
	node *plan.Scan
	spec *table.ScanSpec
}

// of returns the part of a node's scan, nil when it reads the whole.
func (s *Split) of(n *plan.Scan) *table.ScanSpec {
	if s == nil || s.node != n {
		return nil
	}
	return s.spec
}
