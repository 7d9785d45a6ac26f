package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// window adds a column per function to its input's columns. The input is sorted by
// partition and order. Rows are held as long as a function may look at them; a row
// passes as soon as all functions know their values for it, so that a LIMIT above
// has its first rows after little has been read.
type window struct {
	node     *plan.Window
	input    Operator
	width    int // input columns
	computed []expr.Eval
	parts    []int // columns of the partition keys
	order    []int // columns of the order keys
	partEq   keyEq
	orderEq  keyEq
	funcs    []*windowFunc
	stop     expr.Eval // the run condition, over the output; nil: none
	peered   bool      // a function asks for peer groups
	types    []types.T

	env     *Env
	acct    account
	take    pieces
	cols    []*vec.Vec
	keys    []*vec.Vec
	away    *windowSpill // a partition in a file, or nil
	spilled int64
	ended   bool // the input has
	behind  bool // a function has stopped before the rows that it could do
	part    windowPart
	pos     int // rows that have been passed
	ready   int // rows that may be
	tested  int // rows that the run condition has been asked about
	view    vec.Batch
	out     vec.Batch
	sel     []uint32
	buf     []uint32
}

// windowPart is the rows that are held, and what is known of the partition under
// way, which begins at lo: a negative number when its first rows are held no more.
type windowPart struct {
	rows     *rowStore
	begun    bool
	lo, hi   int
	whole    bool    // hi is the partition's end
	total    int     // of a partition that was spilled: its number of rows, else 0
	complete bool    // all of its rows have been read again
	stopped  bool    // no further row of it meets the run condition
	start    []int32 // first row of each row's peer group
	end      []int32 // row after the last, of groups whose end is known
	group    []int32 // number of the peer group
	heads    []int32 // first row of each group
	first    int     // number of the partition's first group
}

// windowFunc is a function of the node: where its arguments are among the
// stored columns.
type windowFunc struct {
	node   *plan.WindowFunc
	args   []int
	filter int // column, -1 without FILTER
	frame  *frameBounds
	fold   *frameFold // of an aggregate
	ahead  plan.Ahead
	rows   int      // how many, of plan.AheadRows
	back   int      // how many rows before a row it looks at, -1: all
	out    *vec.Vec // its column, of the rows below done
	done   int
	arena  arena
	size   int64 // bytes of an aggregate's values, from row passed on
	passed int
	known  *vec.Vec // one row: the value of all rows of the partition, if it is known
	sel    []uint32

	// of ntile: how many there are, and the rows before those that are dealt
	buckets, before int64
}

func (b *builder) window(n *plan.Window) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &window{node: n, input: in}
	ts := outTypes(n.Input)
	op.width = len(ts)
	var keys keyPlan
	for _, x := range n.Partition {
		op.parts = append(op.parts, keys.place(x, op.width))
	}
	var order []keyOrder
	for _, k := range n.OrderBy {
		o := keyOrder{col: keys.place(k.X, op.width), desc: k.Desc, nullsFirst: k.NullsFirst}
		order = append(order, o)
		op.order = append(op.order, o.col)
	}
	for i := range n.Funcs {
		f := &windowFunc{node: &n.Funcs[i], filter: -1}
		for _, x := range f.node.Args {
			f.args = append(f.args, keys.place(x, op.width))
		}
		if f.node.Filter != nil {
			f.filter = keys.place(f.node.Filter, op.width)
		}
		if f.frame, err = newFrameBounds(&f.node.Frame, n.OrderBy, order); err != nil {
			return nil, err
		}
		op.peered = op.peered || f.node.Peers()
		op.funcs = append(op.funcs, f)
	}
	if op.computed, err = expr.CompileAll(keys.computed); err != nil {
		return nil, err
	}
	if n.Stop != nil {
		if op.stop, err = expr.Compile(n.Stop); err != nil {
			return nil, err
		}
	}
	op.types = append(ts, exprTypes(keys.computed)...)
	op.partEq, op.orderEq = newKeyEq(pickTypes(op.types, op.parts)), newKeyEq(pickTypes(op.types, op.order))
	op.cols = make([]*vec.Vec, len(op.types))
	op.part.rows = newRowStore(op.types)
	op.take.lengthy = len(op.computed) > 0 || slices.ContainsFunc(op.funcs, (*windowFunc).lengthy)
	return op, nil
}

// lengthy reports whether the function makes values of any length.
func (f *windowFunc) lengthy() bool {
	return f.node.Proc.Kind == 'a' && f.node.T.Rep() == types.RepBytes
}

func (op *window) Open(env *Env) error {
	op.env, op.ended, op.behind, op.pos, op.ready, op.tested = env, false, false, 0, 0, 0
	op.part.rows.release()
	op.part = windowPart{rows: op.part.rows}
	op.spilled = 0
	op.closeAway()
	op.acct.open(env)
	op.take.open()
	for _, f := range op.funcs {
		if err := f.open(env); err != nil {
			return err
		}
	}
	return op.input.Open(env)
}

// open prepares a function for a run.
func (f *windowFunc) open(env *Env) error {
	if err := f.frame.open(env); err != nil {
		return err
	}
	f.ahead, f.rows = f.node.Ahead()
	if f.constant() {
		f.ahead = plan.AheadAll
	}
	if f.ahead == plan.AheadRows && f.node.Follows() {
		f.rows = int(min(f.frame.end.I, 1<<40))
	}
	f.back = f.lookBack()
	f.out, f.arena, f.done, f.fold = vec.New(f.node.T, 0), arena{}, 0, nil
	f.size, f.passed = 0, 0
	if f.node.Proc.Kind == 'a' {
		f.fold = &frameFold{tmp: vec.New(f.node.T, 1)}
	}
	return nil
}

func (op *window) Next() (*vec.Batch, error) {
	for {
		for op.pos < op.ready {
			to := min(op.pos+vec.BatchSize, op.ready)
			b, err := op.passed(op.pos, to)
			if err != nil {
				return nil, err
			}
			if op.pos = to; b.Rows() > 0 {
				return b, nil
			}
		}
		for _, f := range op.funcs {
			f.forget(op.pos)
		}
		if !op.behind {
			if op.ended {
				return nil, nil
			}
			if err := op.load(); err != nil {
				return nil, err
			}
		}
		if err := op.advance(); err != nil {
			return nil, err
		}
	}
}

// passed is the rows lo … hi-1 with their functions, those that meet the run condition.
func (op *window) passed(lo, hi int) (*vec.Batch, error) {
	op.part.rows.window(&op.view, lo, hi)
	op.out.Cols = append(op.out.Cols[:0], op.view.Cols[:op.width]...)
	for _, f := range op.funcs {
		v := new(vec.Vec)
		viewVec(v, f.out, lo, hi)
		op.out.Cols = append(op.out.Cols, v)
	}
	op.out.N, op.out.Sel = hi-lo, nil
	if op.stop == nil {
		return &op.out, nil
	}
	ok, err := op.stop.Eval(op.env.Expr, &op.out)
	if err != nil {
		return nil, err
	}
	op.sel = op.sel[:0]
	for r := range hi - lo {
		if ok.Bool[ok.Idx(r)] && !ok.IsNull(r) {
			op.sel = append(op.sel, uint32(r))
		}
	}
	if len(op.sel) < hi-lo {
		op.out.Sel = op.sel
	}
	return &op.out, nil
}

// load takes the next rows of the input, without those of a partition that is done
// with.
func (op *window) load() error {
	p := &op.part
	if p.stopped && len(op.parts) == 0 {
		op.ended = true
		op.closeAway()
		op.input.Close()
		return nil
	}
	op.trim()
	if op.mustSpill() {
		return op.spill()
	}
	cols, sel, n, err := op.nextRows()
	if err != nil || n == 0 {
		return err
	}
	if p.stopped {
		op.keys = columnsAt(op.keys, cols, op.parts)
		rows := selectedRows(&vec.Batch{N: n, Sel: sel}, op.buf)
		if sel == nil {
			op.buf = rows
		}
		last := columnsAt(nil, p.rows.cols, op.parts)
		for len(rows) > 0 && op.partEq.equal(last, p.hi-1, op.keys, int(rows[0])) {
			rows = rows[1:]
		}
		if sel, n = rows, len(rows); n == 0 {
			return nil
		}
	}
	if err := op.acct.mem.roomFor(cols, sel, n); err != nil {
		return err
	}
	p.rows.appendCols(cols, sel, n)
	return op.account()
}

// nextRows returns the next n rows, with the computed columns; none when the input or a
// spilled partition has ended.
func (op *window) nextRows() (cols []*vec.Vec, sel []uint32, n int, err error) {
	if op.away != nil {
		cols, sel, n, done, err := op.readAway()
		if err != nil || !done {
			return cols, sel, n, err
		}
	}
	return op.nextInput()
}

// nextInput is nextRows of the input.
func (op *window) nextInput() (cols []*vec.Vec, sel []uint32, n int, err error) {
	in, err := op.take.next(op.input)
	if err != nil {
		return nil, nil, 0, err
	}
	if in == nil {
		op.ended = true
		op.input.Close()
		return nil, nil, 0, nil
	}
	copy(op.cols, in.Cols)
	if err := evalAll(op.env, op.computed, in, op.cols[op.width:]); err != nil {
		return nil, nil, 0, err
	}
	return op.cols, in.Sel, in.Rows(), nil
}

// account counts the rows that are held, and the values that were computed for them.
func (op *window) account() error {
	size := op.part.rows.size + int64(op.part.rows.n)*int64(16+16*len(op.funcs))
	for _, f := range op.funcs {
		size += f.size
	}
	return op.acct.set(size)
}

// columnsAt lists the columns at some places, in dst's memory.
func columnsAt(dst, cols []*vec.Vec, at []int) []*vec.Vec {
	dst = dst[:0]
	for _, c := range at {
		dst = append(dst, cols[c])
	}
	return dst
}

// advance finds the partitions of the rows that have come and runs the functions
// over them as far as these can tell.
func (op *window) advance() error {
	p := &op.part
	for {
		if !p.begun {
			if p.hi == p.rows.n {
				return nil
			}
			p.begun, p.whole, p.stopped, p.lo, p.first = true, false, false, p.hi, len(p.heads)
			p.hi++
			for _, f := range op.funcs {
				f.frame.begin(p.lo)
				if f.buckets = 0; p.total == 0 {
					f.known = nil
				}
				if f.fold != nil {
					if err := f.fold.begin(f, p.lo); err != nil {
						return err
					}
				}
			}
		}
		if len(op.parts) == 0 {
			p.hi = p.rows.n
		} else {
			keys := columnsAt(nil, p.rows.cols, op.parts)
			p.hi = sameRun(&op.partEq, keys, p.hi-1, keys, p.hi, p.rows.n)
		}
		p.whole = p.hi < p.rows.n || p.complete || op.ended
		if op.peered {
			op.peers()
		}
		if err := op.run(); err != nil {
			return err
		}
		if op.behind || !p.whole {
			return nil
		}
		p.begun, p.total, p.complete = false, 0, false
	}
}

// run runs the functions over the partition's rows.
func (op *window) run() error {
	p := &op.part
	op.behind = false
	if !p.stopped {
		ready := p.hi
		for _, f := range op.funcs {
			to := max(f.done, f.limit(p))
			if err := op.apply(f, to); err != nil {
				return err
			}
			op.behind = op.behind || f.done < to
			ready = min(ready, f.done)
		}
		op.ready = ready
		if op.stop != nil {
			for op.tested = max(op.tested, p.lo); op.tested < ready && !p.stopped; {
				to := min(op.tested+vec.BatchSize, ready)
				b, err := op.passed(op.tested, to)
				if err != nil {
					return err
				}
				op.tested, p.stopped = to, b.Sel != nil
			}
		}
	}
	if p.stopped { // no row from here on passes, whatever stands in it
		for _, f := range op.funcs {
			for f.done < p.hi {
				f.appendNull(f.done)
				f.done++
			}
		}
		op.ready, op.behind = p.hi, false
	}
	return nil
}

// limit is the row up to which the function can tell its values.
func (f *windowFunc) limit(p *windowPart) int {
	switch {
	case p.whole || f.ahead == plan.AheadNone:
		return p.hi
	case f.ahead == plan.AheadPeers:
		return int(p.start[p.hi-1])
	case f.ahead == plan.AheadRows:
		return p.hi - f.rows
	case p.total > 0 && f.node.Kind() == "cume_dist":
		return int(p.start[p.hi-1])
	case p.total > 0:
		return p.hi
	}
	return p.lo
}

// windowTrim is the least number of rows that is worth forgetting.
var windowTrim = vec.BatchSize

// trim forgets rows that have been passed and that no function looks at any more,
// if they are most of those that are held. The last row stays: the next one is
// compared with it.
func (op *window) trim() {
	p := &op.part
	n := p.rows.n
	k := min(op.pos, n-1)
	if k < max(windowTrim, n-k) {
		return
	}
	for _, f := range op.funcs {
		k = min(k, f.keep(p))
	}
	if k < max(windowTrim, n-k) {
		return
	}
	p.rows.drop(k)
	if op.peered {
		groups := int(p.group[k])
		p.start, p.end = shifted(p.start, k, k), shifted(p.end, min(k, len(p.end)), k)
		p.group, p.heads = shifted(p.group, k, groups), shifted(p.heads, groups, k)
		p.first -= groups
	}
	p.lo, p.hi, op.pos, op.ready, op.tested = p.lo-k, p.hi-k, op.pos-k, op.ready-k, op.tested-k
	for _, f := range op.funcs {
		f.shift(k)
	}
}

// shifted drops the first k numbers and takes by from the others.
func shifted(list []int32, k, by int) []int32 {
	list = list[:copy(list, list[k:])]
	for i := range list {
		list[i] -= int32(by)
	}
	return list
}

// keep is the first row that the function may look at again.
func (f *windowFunc) keep(p *windowPart) int {
	k := max(p.lo, 0)
	switch {
	case p.total > 0 && f.ahead == plan.AheadAll:
		return max(k, f.done)
	case f.back < 0:
		return k
	case f.fold == nil:
		return max(k, f.done-f.back)
	case f.frame.node.StartKind == "UNBOUNDED PRECEDING":
		return max(k, min(f.done, f.fold.hi))
	}
	return max(k, min(f.done, f.fold.lo))
}

// lookBack is how many rows before a row the function looks at; -1: all. An
// aggregate whose frame begins with the partition, or moves row by row, keeps what
// it has added.
func (f *windowFunc) lookBack() int {
	fr := f.frame.node
	switch f.node.Kind() {
	case "row_number", "rank", "dense_rank":
		return 0
	case "lag":
		if n, ok := f.node.Distance(); ok && n >= 0 {
			return int(min(n, 1<<40))
		}
		return -1
	case "lead":
		if n, ok := f.node.Distance(); ok && n >= 0 {
			return 0
		}
		return -1
	case "first_value":
		if f.begins() {
			return 0
		}
	case "last_value":
		ends := fr.EndKind == "CURRENT ROW" || fr.EndKind == "UNBOUNDED FOLLOWING" || fr.EndKind == "FOLLOWING" && fr.Mode == "ROWS"
		if ends && fr.Start == nil && fr.Exclude == "" {
			return 0
		}
	case "":
		if fr.Exclude == "" && (fr.Mode == "ROWS" || fr.Start == nil && fr.End == nil) {
			return 0
		}
	}
	return -1
}

// begins reports whether every row's frame begins with the partition.
func (f *windowFunc) begins() bool {
	fr := f.frame.node
	return fr.StartKind == "UNBOUNDED PRECEDING" && fr.EndKind != "PRECEDING" && fr.Exclude == ""
}

// shift renumbers the rows: the first k are gone.
func (f *windowFunc) shift(k int) {
	out := &vec.Vec{T: f.node.T}
	f.sel = rowNumbers(f.sel, k, f.done)
	appendVec(out, 0, f.out, f.sel, len(f.sel), nil)
	f.out = out
	f.done, f.passed = f.done-k, f.passed-k
	f.frame.head, f.frame.tail = f.frame.head-k, f.frame.tail-k
	if f.fold != nil {
		f.fold.lo, f.fold.hi = f.fold.lo-k, f.fold.hi-k
	}
}

// rowNumbers lists lo … hi-1 in dst's memory.
func rowNumbers(dst []uint32, lo, hi int) []uint32 {
	dst = dst[:0]
	for r := lo; r < hi; r++ {
		dst = append(dst, uint32(r))
	}
	return dst
}

func pickTypes(ts []types.T, at []int) []types.T {
	out := make([]types.T, len(at))
	for i, c := range at {
		out[i] = ts[c]
	}
	return out
}

// sameRun returns the first row from lo on whose key differs from row fr of
// first, at most n.
func sameRun(eq *keyEq, first []*vec.Vec, fr int, keys []*vec.Vec, lo, n int) int {
	for r := lo; r < n; r++ {
		if !eq.equal(first, fr, keys, r) {
			return r
		}
	}
	return n
}

// peers finds the peer groups of the partition's rows that have come: rows that the
// order does not tell apart.
func (op *window) peers() {
	p := &op.part
	cols := columnsAt(nil, p.rows.cols, op.order)
	for r := len(p.start); r < p.hi; {
		head, g := int32(r), int32(len(p.heads))
		if r > max(p.lo, 0) && op.orderEq.equal(cols, r-1, cols, r) {
			head, g = p.start[r-1], p.group[r-1]
		} else {
			p.heads = append(p.heads, head)
		}
		to := sameRun(&op.orderEq, cols, r, cols, r+1, p.hi)
		for ; r < to; r++ {
			p.start, p.group = append(p.start, head), append(p.group, g)
		}
	}
	known := p.hi
	if !p.whole {
		known = int(p.start[p.hi-1])
	}
	for r := len(p.end); r < known; {
		end := int32(p.hi)
		if g := int(p.group[r]) + 1; g < len(p.heads) {
			end = p.heads[g]
		}
		for ; r < int(end); r++ {
			p.end = append(p.end, end)
		}
	}
}

func (op *window) Close() {
	op.input.Close()
	op.part.rows.release()
	op.part = windowPart{rows: op.part.rows}
	op.closeAway()
	for _, f := range op.funcs {
		f.out, f.arena, f.fold, f.known = nil, arena{}, nil, nil
	}
	op.acct.close()
}

func (op *window) memStats() (peak, spilled int64) { return op.acct.peak, op.spilled }
