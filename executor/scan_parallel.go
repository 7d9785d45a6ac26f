package executor

import (
	"context"
	"sync"

	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// parallel reports whether the scan may and should be split. Nobody may write
// while several goroutines read, so the whole statement must be read-only.
func (op *scan) parallel() bool { return op.env.run.query.ReadOnly && op.divisible() }

// divisible reports whether several goroutines may and should read the scan as long as
// nobody writes.
func (op *scan) divisible() bool {
	n := op.node
	return op.env.MaxParallel > 1 && op.env.run.pure() && op.cost >= op.env.ParallelFrom && !n.Ordered && n.Limit == nil &&
		n.Access != plan.CurrentRow && op.env.Stats == nil && parallelSafe(n.Filter)
}

// pure reports whether no function that the statement calls may write.
func (r *Run) pure() bool {
	if !r.checked {
		r.checked = true
		u := plan.ParamsOf(r.query.Root)
		r.impure = u.Volatile || u.Routines
	}
	return !r.impure
}

// parallelSafe reports whether an expression may be evaluated by several
// goroutines: no subplans, no volatile or user-defined functions.
func parallelSafe(e plan.Expr) bool {
	if e == nil {
		return true
	}
	safe := true
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.SubPlan:
			safe = false
		case *plan.Call:
			if x.Proc.Volatile == 'v' || x.Proc.SQL != nil {
				safe = false
			}
		}
		return safe
	})
	return safe
}

// parallelScan runs the parts of a scan in goroutines. Each worker has its own
// scanner, expressions and batches; a batch goes back to its worker when the
// consumer asks for the next one. The order between parts is that of arrival.
type parallelScan struct {
	ctx     context.Context // the statement's
	cancel  context.CancelFunc
	ready   chan scanned
	wait    sync.WaitGroup
	current *scanned
	done    chan struct{}
	workers []*scanWorker
}

// scanned is a batch with the place it goes back to, or an error.
type scanned struct {
	batch *vec.Batch
	free  chan<- *vec.Batch
	err   error
}

// parallelDepth is the number of batches each worker may be ahead.
const parallelDepth = 4

func newParallelScan(op *scan, parts []*table.ScanSpec) (*parallelScan, error) {
	ctx, cancel := context.WithCancel(op.env.Ctx)
	p := &parallelScan{ctx: op.env.Ctx, cancel: cancel, ready: make(chan scanned, parallelDepth*len(parts)), done: make(chan struct{})}
	for _, part := range parts {
		w, err := newScanWorker(op, part, p.ready)
		if err != nil {
			cancel()
			return nil, err
		}
		p.workers = append(p.workers, w)
		p.wait.Add(1)
		go func() {
			defer p.wait.Done()
			w.run(ctx)
		}()
	}
	go func() {
		p.wait.Wait()
		close(p.done)
		close(p.ready)
	}()
	return p, nil
}

func (p *parallelScan) next() (*vec.Batch, error) {
	if p.current != nil {
		p.current.free <- p.current.batch // never blocks: there is room for all
		p.current = nil
	}
	s, ok := <-p.ready
	if !ok {
		return nil, ctxErr(p.ctx)
	}
	if s.err != nil {
		p.cancel()
		return nil, s.err
	}
	p.current = &s
	return s.batch, nil
}

// close stops the workers and waits for them: the transaction may end next. It
// returns how many rows they have read, in how many batches.
func (p *parallelScan) close() (rows, batches int64) {
	p.cancel()
	<-p.done
	for _, w := range p.workers {
		rows, batches = rows+w.rows, batches+w.batches
	}
	return rows, batches
}

type scanWorker struct {
	desc    *table.Desc
	reader  table.Reader
	spec    *table.ScanSpec
	pred    expr.Pred
	env     *expr.Env
	filters []*keyFilter
	early   *scanTest
	ready   chan<- scanned
	free    chan *vec.Batch

	rows, batches int64 // read; others look when the worker has ended
}

func newScanWorker(op *scan, part *table.ScanSpec, ready chan<- scanned) (*scanWorker, error) {
	w := &scanWorker{desc: op.desc, reader: op.env.source(op.spec.Cols), spec: part, env: op.env.Expr.Fork(), ready: ready,
		free: make(chan *vec.Batch, parallelDepth)}
	if op.node.Filter != nil {
		var err error
		if w.pred, err = expr.CompilePredicate(op.node.Filter); err != nil {
			return nil, err
		}
	}
	if op.node.EntryFilter != nil {
		entry, err := expr.CompilePredicate(op.node.EntryFilter)
		if err != nil {
			return nil, err
		}
		setEntryFilter(part, entry, w.env)
	}
	for _, f := range op.filters {
		own := *f
		own.hashes = nil
		w.filters = append(w.filters, &own)
	}
	if w.early = newScanTest(op.node, part, w.filters, w.pred); w.early != nil {
		w.early.ask(w.env, part)
	}
	for range parallelDepth {
		w.free <- new(vec.Batch)
	}
	return w, nil
}

// run scans the part. An error, also the context's, is the last thing sent;
// after a cancellation nobody listens.
func (w *scanWorker) run(ctx context.Context) {
	fail := func(err error) {
		select {
		case w.ready <- scanned{err: err}:
		case <-ctx.Done():
		}
	}
	w.env.Ctx = ctx
	sc, err := w.desc.Scan(ctx, w.reader, w.spec)
	if err != nil {
		fail(err)
		return
	}
	defer sc.Close()
	var sel [2][]uint32
	for {
		var b *vec.Batch
		select {
		case b = <-w.free:
		case <-ctx.Done():
			fail(ctxErr(ctx))
			return
		}
		for {
			if ctx.Err() != nil {
				fail(ctxErr(ctx))
				return
			}
			again, err := w.early.next(sc, b)
			if err != nil {
				fail(err)
				return
			}
			w.rows += int64(b.N) + w.early.taken()
			if b.N == 0 {
				return
			}
			w.batches++
			b.Sel = nil
			if !again {
				break
			}
			if err := narrow(w.env, b, w.filters, w.pred, &sel); err != nil {
				fail(err)
				return
			}
			if b.Rows() > 0 {
				break
			}
		}
		if b.Sel != nil {
			b.Sel = append([]uint32(nil), b.Sel...) // the predicate's memory is used again
		}
		select {
		case w.ready <- scanned{batch: b, free: w.free}:
		case <-ctx.Done():
			fail(ctxErr(ctx))
			return
		}
	}
}
