package executor

import (
	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// scan passes the rows of a table that lie in the node's ranges and satisfy its
// filter. A whole unique key is one point get; large full scans are split over
// goroutines (scan_parallel.go) unless the plan relies on their order.
type scan struct {
	node  *plan.Scan
	types []types.T
	keys  []types.T // of the file's key
	pred  expr.Pred
	entry expr.Pred // over the columns of index entries

	env     *Env
	desc    *table.Desc
	spec    table.ScanSpec
	parts   []table.Part
	scanner *table.Scanner
	par     *parallelScan
	filters []*keyFilter
	early   *scanTest // of the scanner
	point   bool      // one point get
	// narrowed is what is read instead of the whole table, nil: nothing; cost is
	// estimated like the node's.
	narrowed *plan.Narrow
	points   []types.Datum // … and the values that are looked up, nil: a range
	cost     float64
	done     bool
	buf      vec.Batch // the scanner's
	out      vec.Batch
	fault    rowFault
	ranges   ranges // memory of spec's
	sel      [2][]uint32
	area     area
}

func (b *builder) scan(n *plan.Scan) (Operator, error) {
	if n.Filter != nil && b.eachInTurn(n.Filter) && n.Limit == nil && n.Lock == nil && n.Nearest == nil {
		bare := *n
		bare.Filter = nil
		in, err := b.scan(&bare)
		if err != nil {
			return nil, err
		}
		return filterOver(in, n.Filter, true)
	}
	op := &scan{node: n, types: outTypes(n), cost: n.Common.Cost}
	var err error
	if op.pred, err = b.predicate(n.Filter); err != nil {
		return nil, err
	}
	if op.entry, err = b.predicate(n.EntryFilter); err != nil {
		return nil, err
	}
	switch {
	case n.Access == plan.ByCtid:
		op.keys = []types.T{types.Of(types.OTid)}
	case len(n.Ranges) > 0:
		op.keys = keyTypes(n.Table, n.Index)
	}
	op.point = (n.Access == plan.PointGet || n.Access == plan.UniqueGet) && len(n.Ranges) == 1 &&
		len(n.Ranges[0].Eq) == len(op.keys) && len(op.keys) > 0
	if n.Nearest != nil {
		return newNearestScan(op), nil
	}
	if n.Lock != nil {
		return &lockRows{input: op, locker: newRowLocker([]plan.Lock{*n.Lock})}, nil
	}
	return op, nil
}

// pushFilter takes a filter for one of the output columns.
func (op *scan) pushFilter(col int, f *keyFilter) bool {
	if op.point {
		return false
	}
	f.col = col
	op.filters = append(op.filters, f)
	return true
}

func (op *scan) Open(env *Env) error {
	op.stop()
	op.env, op.done, op.fault = env, false, rowFault{}
	op.narrowed, op.points, op.cost = nil, nil, op.node.Common.Cost
	desc, err := env.Tables.For(op.node.Table)
	if err != nil {
		return err
	}
	op.desc = desc
	if op.parts, err = evalParts(env, op.node.Parts); err != nil {
		return err
	}
	if op.point || op.node.Access == plan.CurrentRow {
		return nil
	}
	n := op.node
	op.spec = table.ScanSpec{Index: n.Index, Cols: n.Cols, Parts: op.parts, Reverse: n.Reverse, IndexOnly: n.IndexOnly, EntryCols: n.EntryCols,
		Below: n.Below, Loose: n.Loose, LooseValue: n.LooseValue, NotNull: !env.Unproven}
	if len(n.Ranges) == 1 && n.Ranges[0].Elems != nil {
		err = op.evalElements(&n.Ranges[0])
	} else {
		op.spec.Ranges, err = op.ranges.eval(env, n.Ranges, op.keys)
	}
	if err != nil {
		return err
	}
	if n.Access == plan.ByCtid {
		op.spec.Ranges = desc.TidRanges(op.spec.Ranges)
	}
	if n.Tail != nil {
		op.spec.TailAt = n.TailAt
		if op.spec.Tail, err = evalRanges(env, []plan.KeyRange{*n.Tail}, op.keys[n.TailAt:]); err != nil {
			return err
		}
		op.done = op.done || len(op.spec.Tail) == 0
	}
	if n.Area != nil {
		if op.spec.Codes, _, err = op.area.eval(env, n.Area, n.Table.Cluster.Grid); err != nil {
			return err
		}
		op.done = len(op.spec.Codes) == 0
	}
	if n.Sample != nil {
		if op.spec.Sample, err = evalSample(env, n.Sample); err != nil {
			return err
		}
	}
	if n.Limit != nil {
		k, absent, err := rowCount(env, n.Limit, false)
		if err != nil {
			return err
		}
		if !absent && k < vec.BatchSize {
			skip, _, err := rowCount(env, n.Skip, true)
			if err != nil {
				return err
			}
			if skip < vec.BatchSize {
				op.spec.Limit = int(k + skip)
			}
		}
	}
	if op.spec.Ranges != nil && len(op.spec.Ranges) == 0 {
		op.done = true
	}
	return nil
}

// evalSample makes the sample that a scan reads; nil for one of which the filter says what
// is wrong.
func evalSample(env *Env, n *plan.Sample) (*types.Sample, error) {
	percent, err := expr.EvalConst(env.Expr, n.Percent)
	if err != nil || percent.Null || !(percent.F >= 0 && percent.F <= 100) {
		return nil, err
	}
	seed, err := expr.EvalConst(env.Expr, n.Seed)
	if err != nil || seed.Null {
		return nil, err
	}
	s := types.NewSample(percent.F, seed.F, true)
	return &s, nil
}

// passOver has the scan begin behind its first n rows.
func (op *scan) passOver(n int64) bool {
	if op.point || op.done || op.node.Filter != nil || op.node.Access == plan.CurrentRow || op.env.Split.of(op.node) != nil {
		return false
	}
	op.spec.Skip = n
	return true
}

// start begins the scan at the first Next: by then key filters have come in and
// it is certain that rows are wanted.
func (op *scan) start() error {
	part := op.env.Split.of(op.node)
	if part == nil {
		op.narrow()
	}
	if op.spec.Skip == 0 && op.parallel() {
		parts, err := op.desc.SplitScan(op.env.Ctx, op.env.source(op.spec.Cols), &op.spec, op.env.MaxParallel)
		if err != nil {
			return err
		}
		if len(parts) > 1 {
			op.tally(1, 0, 0)
			op.par, err = newParallelScan(op, parts)
			return err
		}
	}
	spec := &op.spec
	if part != nil {
		spec = part
	} else {
		op.tally(int64(max(len(spec.Ranges), 1)), 0, 0)
	}
	setEntryFilter(spec, op.entry, op.env.Expr)
	op.earlyTest(spec)
	var err error
	op.scanner, err = op.desc.Scan(op.env.Ctx, op.env.source(op.spec.Cols), spec)
	return err
}

// earlyTest has the scanner test rows, with what a scan before has left of the test.
func (op *scan) earlyTest(spec *table.ScanSpec) {
	if op.early == nil || len(op.early.filters)+len(op.filters) > 0 {
		op.early = newScanTest(op.node, spec, op.filters, op.pred)
	}
	if op.early != nil && spec.Skip == 0 {
		op.early.ask(op.env.Expr, spec)
	}
}

func (op *scan) Next() (*vec.Batch, error) {
	if err := op.fault.due(); err != nil {
		return nil, err
	}
	for !op.done {
		again := true
		switch {
		case op.point:
			op.done = true
			if err := op.get(); err != nil {
				return nil, err
			}
		case op.node.Access == plan.CurrentRow:
			op.done = true
			if err := op.current(); err != nil {
				return nil, err
			}
		default:
			if op.scanner == nil && op.par == nil {
				if err := op.start(); err != nil {
					return nil, err
				}
			}
			if op.par != nil {
				b, err := op.par.next()
				op.done = b == nil
				return b, err
			}
			if err := ctxErr(op.env.Ctx); err != nil {
				return nil, err
			}
			var err error
			if again, err = op.early.next(op.scanner, &op.buf); err != nil {
				return nil, err
			}
			op.tally(0, int64(op.buf.N)+op.early.taken(), 1)
		}
		if op.buf.N == 0 {
			op.done = true
			return nil, nil
		}
		op.out = vec.Batch{Cols: op.buf.Cols, N: op.buf.N}
		if !again {
			return &op.out, nil
		}
		if err := op.test(&op.out); err != nil {
			op.out = vec.Batch{Cols: op.buf.Cols, N: op.buf.N}
			if err := op.fault.rescue(err, &op.out, op.test, op.node.Filter); err != nil {
				return nil, err
			}
		}
		if op.out.Rows() > 0 {
			return &op.out, nil
		}
		if err := op.fault.due(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// test narrows a batch by the key filters and the node's filter.
func (op *scan) test(b *vec.Batch) error {
	return narrow(op.env.Expr, b, op.filters, op.pred, &op.sel)
}

// setEntryFilter gives a scan's part its predicate on index entries.
func setEntryFilter(spec *table.ScanSpec, pred expr.Pred, env *expr.Env) {
	if pred != nil {
		spec.EntryFilter = func(b *vec.Batch) error { return pred.Select(env, b) }
	}
}

// narrow applies key filters, then the predicate.
func narrow(env *expr.Env, b *vec.Batch, filters []*keyFilter, pred expr.Pred, buf *[2][]uint32) error {
	k := 0
	for _, f := range filters {
		if f.off {
			continue
		}
		if buf[k] == nil {
			buf[k] = make([]uint32, 0, vec.BatchSize)
		}
		buf[k] = f.narrow(b.Cols[f.col], b.Sel, b.Rows(), buf[k][:0])
		b.Sel = buf[k]
		k = 1 - k
		if len(b.Sel) == 0 {
			return nil
		}
	}
	if pred != nil {
		return pred.Select(env, b)
	}
	return nil
}

// get fetches the row of a point get into buf.
func (op *scan) get() error {
	r := &op.node.Ranges[0]
	op.buf.N = 0
	var few [4]types.Datum
	key := few[:0]
	for i, x := range r.Eq {
		var d types.Datum
		if p, ok := x.(*plan.Param); ok {
			d = op.env.Expr.Params[p.Idx]
		} else {
			var err error
			if d, err = expr.EvalConst(op.env.Expr, x); err != nil {
				return err
			}
		}
		if d.Null || !asKey(&d, op.keys[i]) {
			return nil
		}
		key = append(key, d)
	}
	_, err := op.desc.PointGet(op.env.Ctx, op.env.source(op.node.Cols), op.node.Index, key, op.node.Cols, op.parts, &op.buf)
	op.tally(1, int64(op.buf.N), 1)
	op.buf.Sel = nil
	return err
}

// current fetches the row that the cursor stands on into buf.
func (op *scan) current() error {
	key, err := op.env.CursorRow(op.node.Cursor, op.node.Table)
	if err != nil {
		return err
	}
	if key == nil { // the row is in another table of the tree
		op.buf.N, op.buf.Sel = 0, nil
		return nil
	}
	if err := op.desc.GetRows(op.env.Ctx, op.env.source(op.node.Cols), [][]byte{key}, op.node.Cols, op.parts, &op.buf); err != nil {
		return err
	}
	op.buf.N = op.buf.Rows() // the row may be gone
	op.buf.Sel = nil
	return nil
}

// tally counts what was read: searches begun, rows returned, reads of the files.
func (op *scan) tally(scans, rows, reads int64) {
	n := op.node
	if n.Access == plan.FullScan || n.Access == plan.ByCtid {
		op.env.Tally.tableScanned(n.Table.OID, scans, rows, reads)
	} else {
		op.env.Tally.indexScanned(n.Table, n.Index, n.IndexOnly, scans, rows, reads)
	}
}

// regionCodes are the codes that are read, for EXPLAIN.
func (op *scan) regionCodes() []spatial.Range { return op.spec.Codes }

func (op *scan) regionRoot() *catalog.Table { return op.node.Table }

func (op *scan) stop() {
	if op.scanner != nil {
		op.scanner.Release()
		op.scanner = nil
	}
	if op.par != nil {
		rows, reads := op.par.close()
		op.tally(0, rows, reads)
		op.par = nil
	}
}

func (op *scan) Close() {
	op.stop()
	op.ranges.forget()
	op.filters = nil
}
