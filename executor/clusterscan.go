package executor

import (
	"sync"

	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// clusterScan joins tables that are stored with each other by walking over their
// file. It takes a chunk of pairs at a time: the rows of the first table are
// decoded and filtered, of the next table those below rows that passed, and so on;
// then the rows of the last table, each with its parents, are the output. What is
// below a row that failed is skipped by a new search when it goes beyond the chunk.
type clusterScan struct {
	node  *plan.ClusterScan
	preds []expr.Pred
	tails [][]types.T // of the columns that Ranges restrict

	env   *Env
	codes []spatial.Range // nil: not by regions
	walk  *table.ClusterScanner
	*clusterBufs
	done bool
	pos  int // joined rows of the chunk that were passed
	out  vec.Batch
	area area
}

// clusterBufs is the memory of a clusterScan between Open and Close. Nothing in it
// points to rows.
type clusterBufs struct {
	spec   table.ClusterSpec
	levels []clusterRows
	// idx are the joined rows of the chunk, by level: a row of it, or noRow.
	idx [][]uint32
	sel [2][]uint32
	// ranges are the memory of those of the levels, view that of the rows that a level's
	// filter is asked about.
	ranges []ranges
	view   vec.Batch
}

var clusterBufPool = sync.Pool{New: func() any { return new(clusterBufs) }}

// take gives the scan memory for its levels.
func (op *clusterScan) take() {
	op.clusterBufs = clusterBufPool.Get().(*clusterBufs)
	n := len(op.node.Levels)
	for cap(op.levels) < n {
		op.levels = append(op.levels[:cap(op.levels)], clusterRows{})
	}
	for cap(op.idx) < n {
		op.idx = append(op.idx[:cap(op.idx)], nil)
	}
	for len(op.ranges) < n {
		op.ranges = append(op.ranges, ranges{})
	}
	for cap(op.spec.Levels) < n {
		op.spec.Levels = append(op.spec.Levels[:cap(op.spec.Levels)], table.ClusterLevel{})
	}
	op.levels, op.idx, op.spec.Levels = op.levels[:n], op.idx[:n], op.spec.Levels[:n]
	for i := range n {
		op.idx[i], op.levels[i].carried = op.idx[i][:0], false
	}
}

// clusterRows are the rows of one level in the chunk.
type clusterRows struct {
	batch *vec.Batch
	up    []uint32
	pass  []bool
	// matched tells, for a level below which there is an outer one, which rows have
	// a row there; carried is that of the row that the next chunk begins with.
	matched []bool
	carried bool
}

func (b *builder) clusterScan(n *plan.ClusterScan) (Operator, error) {
	op := &clusterScan{node: n}
	for i := range n.Levels {
		p, err := b.predicate(n.Levels[i].Filter)
		if err != nil {
			return nil, err
		}
		op.preds = append(op.preds, p)
		var tail []types.T
		for _, c := range n.Levels[i].Table.ClusterTail() {
			tail = append(tail, n.Levels[i].Table.Columns[c].Type)
		}
		op.tails = append(op.tails, tail)
	}
	op.out.Cols = newVecs(outTypes(n))
	if n.Nearest != nil {
		return newNearestCluster(op), nil
	}
	return op, nil
}

func (op *clusterScan) Open(env *Env) error {
	op.Close()
	op.env, op.done, op.pos, op.codes = env, false, 0, nil
	op.take()
	spec := &op.spec
	for i := range op.node.Levels {
		l, to := &op.node.Levels[i], &spec.Levels[i]
		to.Ranges = nil
		d, err := env.Tables.For(l.Table)
		if err != nil {
			return err
		}
		to.Table, to.Cols, to.Outer = d, l.Cols, l.Outer
		if l.Ranges != nil {
			if to.Ranges, err = op.ranges[i].eval(env, l.Ranges, op.tails[i]); err != nil {
				return err
			}
		}
	}
	switch top := op.node.Levels[0].Table; {
	case op.node.Area != nil:
		var err error
		if op.codes, spec.Windows, err = op.area.eval(env, op.node.Area, top.Cluster.Grid); err != nil {
			return err
		}
		spec.Codes = op.codes
	case op.node.Key != nil:
		key, err := op.rowKey(spec.Levels[0].Table)
		if err != nil {
			return err
		}
		if op.done = key == nil; op.done {
			return nil
		}
		spec.Under = key
	}
	op.walk = table.ScanCluster(env.Ctx, env.reader, spec)
	return nil
}

// again walks over the regions of codes, after the walk before has ended.
func (op *clusterScan) again(codes []spatial.Range) {
	op.walk.Close()
	op.codes, op.spec.Codes, op.done = codes, codes, len(codes) == 0
	op.walk = table.ScanCluster(op.env.Ctx, op.env.reader, &op.spec)
}

// rowKey looks the first table's row up by its primary key; nil if there is none.
func (op *clusterScan) rowKey(d *table.Desc) ([]byte, error) {
	ix := d.Table.PrimaryIndex()
	ts := keyTypes(d.Table, ix)
	key := make([]types.Datum, len(op.node.Key))
	for i, x := range op.node.Key {
		var err error
		if key[i], err = expr.EvalConst(op.env.Expr, x); err != nil {
			return nil, err
		}
		if key[i].Null || !asKey(&key[i], ts[i]) {
			return nil, nil
		}
	}
	var b vec.Batch
	ok, err := d.PointGet(op.env.Ctx, op.env.reader, ix, key, []int{table.ColRowKey}, nil, &b)
	if !ok || err != nil {
		return nil, err
	}
	return b.Cols[0].B[0], nil
}

func (op *clusterScan) Next() (*vec.Batch, error) {
	for !op.done {
		if n := len(op.idx[0]); op.pos < n {
			return op.emit(min(n, op.pos+vec.BatchSize)), nil
		}
		if err := ctxErr(op.env.Ctx); err != nil {
			return nil, err
		}
		more, err := op.walk.Next()
		if err != nil {
			return nil, err
		}
		if !more {
			op.done = true
			break
		}
		if err := op.chunk(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// chunk filters the rows of a chunk level by level and joins them.
func (op *clusterScan) chunk() error {
	last := len(op.levels) - 1
	var kept []bool
	skip := -1
	for l := range op.levels {
		x := &op.levels[l]
		var err error
		if x.batch, x.up, err = op.walk.Rows(l, kept); err != nil {
			return err
		}
		op.env.Tally.indexScanned(op.node.Levels[l].Table, nil, false, 0, int64(x.batch.N), 1)
		if err := op.filter(l); err != nil {
			return err
		}
		kept = x.pass
		if n := len(x.pass); skip < 0 && l < last && n > 0 && !x.pass[n-1] && op.walk.Continues(l) {
			skip = l
		}
	}
	op.join()
	op.keepMatches()
	if skip >= 0 {
		op.walk.Skip(skip)
	}
	return nil
}

// filter sets which rows of a level pass.
func (op *clusterScan) filter(l int) error {
	x := &op.levels[l]
	n := x.batch.N
	if cap(x.pass) < n {
		x.pass, x.matched = make([]bool, n, 2*n), make([]bool, n, 2*n)
	}
	x.pass, x.matched = x.pass[:n], x.matched[:n]
	clear(x.matched)
	if n > 0 && op.walk.Carried(l) {
		x.matched[0] = x.carried
	}
	if op.preds[l] == nil {
		for i := range x.pass {
			x.pass[i] = true
		}
		return nil
	}
	clear(x.pass)
	if n == 0 {
		return nil
	}
	b := &op.view
	*b = vec.Batch{Cols: x.batch.Cols, N: n}
	if err := narrow(op.env.Expr, b, nil, op.preds[l], &op.sel); err != nil {
		return err
	}
	for i := range b.Rows() {
		x.pass[b.Row(i)] = true
	}
	return nil
}

// join lists the joined rows of the chunk: each row that passed on the last level
// with its parents, and rows above an outer level that have none there.
func (op *clusterScan) join() {
	op.pos = 0
	for l := range op.idx {
		op.idx[l] = op.idx[l][:0]
	}
	last := len(op.levels) - 1
	for i, ok := range op.levels[last].pass {
		if ok {
			op.add(last, uint32(i))
		}
	}
	for l := last - 1; l >= 0 && op.node.Levels[l+1].Outer; l-- {
		x, below := &op.levels[l], &op.levels[l+1]
		for i, ok := range below.pass {
			if ok {
				x.matched[below.up[i]] = true
			}
		}
		for i, ok := range x.pass {
			if ok && !x.matched[i] && (i < len(x.pass)-1 || !op.walk.Continues(l)) {
				op.add(l, uint32(i))
			}
		}
	}
}

// add appends a row of level l with its parents, and nothing below.
func (op *clusterScan) add(l int, row uint32) {
	for k := len(op.levels) - 1; k > l; k-- {
		op.idx[k] = append(op.idx[k], noRow)
	}
	for k := l; k >= 0; k-- {
		op.idx[k] = append(op.idx[k], row)
		row = op.levels[k].up[row]
	}
}

// keepMatches remembers about the rows that the next chunk begins with whether they
// have had a match.
func (op *clusterScan) keepMatches() {
	for l := range op.levels {
		x := &op.levels[l]
		if n := len(x.matched); n > 0 {
			x.carried = x.matched[n-1]
		}
	}
}

// emit passes the joined rows up to end.
func (op *clusterScan) emit(end int) *vec.Batch {
	col := 0
	for l := range op.levels {
		rows := op.idx[l][op.pos:end]
		for _, src := range op.levels[l].batch.Cols {
			gather(op.out.Cols[col], src, rows, op.node.Levels[l].Outer)
			col++
		}
	}
	op.out.N, op.out.Sel = end-op.pos, nil
	op.pos = end
	return &op.out
}

// regionCodes are the codes that are read, for EXPLAIN.
func (op *clusterScan) regionCodes() []spatial.Range { return op.codes }

func (op *clusterScan) regionRoot() *catalog.Table { return op.node.Levels[0].Table }

func (op *clusterScan) Close() {
	if op.walk != nil {
		op.walk.Close()
		op.walk = nil
	}
	if op.clusterBufs != nil {
		for i := range op.levels {
			op.levels[i].batch, op.levels[i].up = nil, nil // the walk's
		}
		for i := range op.ranges {
			op.ranges[i].forget()
		}
		op.view = vec.Batch{}
		clear(op.spec.Levels)
		op.spec = table.ClusterSpec{Levels: op.spec.Levels}
		clusterBufPool.Put(op.clusterBufs)
		op.clusterBufs = nil
	}
}
