package executor

import (
	"context"
	"slices"
	"sync"

	"kvsqld/catalog/types/vec"
)

// parallelMaxGroups is the estimated number of groups above which merging the
// workers' groups would cost more than the workers save.
const parallelMaxGroups = 50_000

// mergeable are the aggregates whose parts can be merged in any order.
var mergeable = []string{"count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "bit_and", "bit_or", "bit_xor",
	"variance", "var_samp", "var_pop", "stddev", "stddev_samp", "stddev_pop"}

// fillParallel reads the input in several goroutines, each with operators and
// groups of its own for a part of the scan below, and merges the groups at the
// end. The tables of hash joins on the way are built once and shared. It reports
// false when the input is not of that kind or the groups outgrow the budget; the
// caller then reads it in the ordinary way.
func (op *group) fillParallel() (bool, error) {
	if op.env.MaxParallel < 2 || !op.mergeable() {
		return false, nil
	}
	cut, err := cutUp(op.env, op.input, (*scan).parallel)
	if cut == nil || err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(op.env.Ctx)
	defer cancel()
	workers := make([]*groupWorker, len(cut.parts))
	for i := range workers {
		if workers[i], err = op.worker(ctx, cut, i); err != nil {
			return false, err
		}
	}
	var wait sync.WaitGroup
	for _, w := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if w.err = w.fill(); w.err != nil || w.spilled {
				cancel()
			}
		}()
	}
	wait.Wait()
	for _, w := range workers {
		op.env.Tally.Add(w.op.env.Tally)
	}
	defer func() {
		for _, w := range workers {
			w.op.Close()
		}
	}()
	for _, w := range workers {
		if w.spilled {
			return false, ctxErr(op.env.Ctx)
		}
	}
	for _, w := range workers {
		if w.err != nil && (ctx.Err() == nil || !isCancel(w.err)) {
			return false, w.err
		}
	}
	if err := ctxErr(op.env.Ctx); err != nil {
		return false, err
	}
	return true, op.merge(workers)
}

// mergeable reports whether groups may be computed apart: plain aggregates of
// safe expressions, all the way down to the scan.
func (op *group) mergeable() bool {
	n := op.node
	if n.Sets != nil || n.Ordered || n.Common.Rows > parallelMaxGroups {
		return false
	}
	for i := range n.Aggs {
		a := &n.Aggs[i]
		if a.Distinct || len(a.OrderBy) > 0 || a.Direct > 0 || a.User != nil || !slices.Contains(mergeable, a.Proc.Name) {
			return false
		}
	}
	return safeDown(n)
}

// groupWorker groups the rows of one part of the scan.
type groupWorker struct {
	op      *group
	spilled bool
	err     error
}

func (op *group) worker(ctx context.Context, cut *cutting, part int) (*groupWorker, error) {
	made, err := op.env.run.build.group(op.node)
	if err != nil {
		return nil, err
	}
	w := &groupWorker{op: made.(*group)}
	w.op.pushed = op.pushed
	return w, cut.open(ctx, part, w.op.input, w.op.Open)
}

// fill reads the part until its end, or until memory is short.
func (w *groupWorker) fill() error {
	err := w.op.fillFrom(func() bool {
		w.spilled = w.op.state.parts != nil
		return !w.spilled
	})
	w.spilled = w.spilled || w.op.state != nil && len(w.op.parts) > 0
	return err
}

// merge makes the first worker's groups this operator's and adds the others'.
func (op *group) merge(workers []*groupWorker) error {
	s := workers[0].op.state
	workers[0].op.state = nil
	op.state, op.filled = s, true
	var view vec.Batch
	for _, w := range workers[1:] {
		other := w.op.state
		target := make([]int, other.ngrp)
		if len(op.ktypes) > 0 {
			keys := other.set.keys
			for at := 0; at < keys.n; at += vec.BatchSize {
				keys.window(&view, at, min(at+vec.BatchSize, keys.n))
				op.hashes = hashRows(view.Cols[:op.told], nil, view.N, op.hashes)
				s.set.near(op.hashes)
				for i := range view.N {
					target[at+i], _ = s.set.findOrAdd(view.Cols, i, op.hashes[i])
				}
			}
			s.ngrp = s.set.len()
		}
		for i, f := range s.flows {
			agg := flowAggregator(f)
			agg.Grow(s.ngrp)
			from := flowAggregator(other.flows[i])
			for src, dst := range target {
				if err := agg.Merge(from, src, dst); err != nil {
					return err
				}
			}
		}
	}
	return op.acct.set(op.bytes(s))
}
