package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// group collects rows by key and folds aggregates. Groups come out in the order
// of their first rows.
//
// Over budget, groups in memory go on absorbing their rows, and rows of groups
// that are not in memory go to partitions in temporary files, by hash. When the
// groups in memory have been passed, each partition is grouped in turn, by
// other bits of the hash.
type group struct {
	node   *plan.Group
	input  Operator
	keys   []expr.Eval
	aggs   []*aggCall
	nkeys  int
	told   int       // of the key columns: the first so many tell groups apart
	ktypes []types.T // keys, and the set's number with grouping sets
	width  int       // columns of the rows below: keys and aggregates' inputs

	pushed []pushedFilter // to the input: see pushFilter

	env     *Env
	acct    account
	taken   pieces
	spilled int64
	state   *groupState
	parts   []groupPart // still to be grouped
	filled  bool
	paused  bool     // ordered input: all groups of the state are complete …
	held    []uint32 // … and these rows of the batch are of the next one
	seq     []uint32
	burst   int // groups after which ordered input pauses
	at      int
	mask    []int32    // of each grouping set: bit k says that key k is not in it
	byKey   [][]uint64 // hashes of each key of a batch, for the grouping sets
	in      []*vec.Vec
	hashes  []uint64
	groups  []uint32
	rows    []uint32
	out     vec.Batch
}

// groupState is the table of one pass: the groups and their aggregates.
type groupState struct {
	set   *keySet
	ngrp  int
	depth int // passes before this one: selects the hash bits of partitions
	parts []*spillFile
	flows []aggFlow // one per aggregate

	recent recentGroups
}

// groupPart is a partition waiting for its pass.
type groupPart struct {
	file  *spillFile
	depth int
}

const (
	groupFanBits  = 4
	groupFan      = 1 << groupFanBits
	groupMaxDepth = 8
)

// groupPartOf returns the partition of the rows of a hash in a pass of that depth.
func groupPartOf(hash uint64, depth int) uint64 {
	return hash >> (60 - groupFanBits*depth) & (groupFan - 1)
}

func (b *builder) group(n *plan.Group) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	if inTurn(groupExprs(n)) {
		in = &inTurns{input: in}
	}
	op := &group{node: n, input: in, nkeys: len(n.Keys), ktypes: exprTypes(n.Keys)}
	if op.keys, err = expr.CompileAll(n.Keys); err != nil {
		return nil, err
	}
	if n.Sets != nil {
		op.ktypes = append(op.ktypes, types.TInt4)
		for _, set := range n.Sets {
			m := int32(1)<<len(n.Keys) - 1
			for _, k := range set {
				m &^= 1 << k
			}
			op.mask = append(op.mask, m)
		}
	}
	op.width = len(op.ktypes)
	op.told = op.width - n.Given
	op.taken.lengthy = expr.Lengthy(n.Keys...)
	for i := range n.Aggs {
		op.taken.lengthy = op.taken.lengthy || expr.Lengthy(n.Aggs[i].Args...)
		a, err := newAggCall(&n.Aggs[i], n.Sets != nil)
		if err != nil {
			return nil, err
		}
		a.at = op.width
		op.width += len(a.types)
		op.aggs = append(op.aggs, a)
	}
	op.in = make([]*vec.Vec, op.width)
	op.out.Cols = newVecs(outTypes(n))
	return op, nil
}

// groupExprs are all expressions that a grouping computes over its input.
func groupExprs(n *plan.Group) []plan.Expr {
	out := slices.Clone(n.Keys)
	for i := range n.Aggs {
		a := &n.Aggs[i]
		out = append(out, a.Args...)
		if a.Filter != nil {
			out = append(out, a.Filter)
		}
		for _, k := range a.OrderBy {
			out = append(out, k.X)
		}
	}
	return out
}

// pushFilter hands a filter of a key that is the input's column to the input: all rows of
// a group have the same value there. It keeps what comes with volatile functions, which
// are called for the rows of groups that nobody wants as well.
func (op *group) pushFilter(col int, f *keyFilter) bool {
	n := op.node
	if n.Sets != nil || col >= len(n.Keys) || volatile(n.Keys) || slices.ContainsFunc(n.Aggs, func(a plan.Agg) bool {
		return volatile(a.Args) || a.Filter != nil && volatile([]plan.Expr{a.Filter})
	}) {
		return false
	}
	c, ok := n.Keys[col].(*plan.Col)
	if !ok || !pushFilter(op.input, c.Idx, f) {
		return false
	}
	op.pushed = append(op.pushed, pushedFilter{c.Idx, f})
	return true
}

func (op *group) Open(env *Env) error {
	op.shut()
	for _, x := range op.pushed {
		own := *x.f
		pushFilter(op.input, x.col, &own)
	}
	op.env, op.filled, op.at, op.spilled, op.burst = env, false, 0, 0, fewGroups
	op.acct.open(env)
	op.taken.open()
	for _, a := range op.aggs {
		if err := a.open(env); err != nil {
			return err
		}
	}
	return op.input.Open(env)
}

func (op *group) newState(depth int) (*groupState, error) {
	s := &groupState{set: newKeySet(op.ktypes), depth: depth}
	s.set.telling = op.told
	for _, a := range op.aggs {
		f, err := a.newFlow(op.env)
		if err != nil {
			return nil, err
		}
		s.flows = append(s.flows, f)
	}
	return s, nil
}

// fill reads the input.
func (op *group) fill() error {
	if done, err := op.fillParallel(); done || err != nil {
		return err
	}
	return op.fillFrom(func() bool { return true })
}

// fillFrom reads the input while more says so.
func (op *group) fillFrom(more func() bool) error {
	s, err := op.newState(0)
	if err != nil {
		return err
	}
	op.state, op.filled = s, true
	if op.nkeys == 0 && op.node.Sets == nil {
		s.ngrp = 1
	}
	return op.read(s, more)
}

// Ordered input is held up until the complete groups have been passed: after few
// at first, as those may be enough.
const (
	fewGroups  = 4
	mostGroups = 2 * vec.BatchSize
)

// streams reports whether groups can be passed before the input ends: those of
// ordered input are complete when the next one begins.
func (op *group) streams() bool {
	return op.node.Ordered && op.node.Sets == nil && op.nkeys > 0
}

// resume goes on after a pause with the rows of the next group, which the last
// batch had.
func (op *group) resume() error {
	old := op.state
	s, err := op.newState(0)
	if err != nil {
		return err
	}
	for _, f := range old.flows {
		f.close()
	}
	op.state, op.at = s, 0
	op.burst = min(4*op.burst, mostGroups)
	if err := op.add(s, op.in, op.held, len(op.held)); err != nil {
		return err
	}
	return op.read(s, func() bool { return true })
}

// read folds the input into the state's groups until it ends or pauses.
func (op *group) read(s *groupState, more func() bool) error {
	streams := op.streams()
	op.paused = false
	for more() {
		in, err := op.taken.next(op.input)
		if err != nil {
			return err
		}
		if in == nil {
			break
		}
		if err := evalAll(op.env, op.keys, in, op.in); err != nil {
			return err
		}
		for _, a := range op.aggs {
			if err := a.eval(op.env, in, op.in[a.at:]); err != nil {
				return err
			}
		}
		switch {
		case op.node.Sets != nil:
			err = op.addSets(s, in)
		case streams:
			if err = op.addRuns(s, in); err == nil && op.paused {
				return op.finishPass(s)
			}
		default:
			err = op.add(s, op.in, in.Sel, in.Rows())
		}
		if err != nil {
			return err
		}
	}
	op.input.Close()
	if op.node.Sets != nil {
		// The empty grouping set has a row even without input.
		if err := op.addEmptySets(s); err != nil {
			return err
		}
	}
	return op.finishPass(s)
}

// addRuns adds a batch of ordered input. Where the state has enough groups that are
// complete, it pauses, and holds the rows of the next one back.
func (op *group) addRuns(s *groupState, in *vec.Batch) error {
	keys := op.in[:op.told]
	eq := &s.set.eq
	n := in.Rows()
	cut := n - 1 // where the batch's last group begins
	for last := in.Row(n - 1); cut > 0 && eq.equal(keys, in.Row(cut-1), keys, last); {
		cut--
	}
	if cut == 0 && (s.ngrp == 0 || eq.equal(s.set.own(), s.ngrp-1, keys, in.Row(0))) {
		return op.add(s, op.in, in.Sel, n)
	}
	rows := selectedRows(in, op.seq)
	if in.Sel == nil {
		op.seq = rows
	}
	if cut > 0 {
		if err := op.add(s, op.in, rows[:cut], cut); err != nil {
			return err
		}
	}
	if s.ngrp < op.burst {
		return op.add(s, op.in, rows[cut:], n-cut)
	}
	op.held, op.paused = append(op.held[:0], rows[cut:]...), true
	return nil
}

// add folds n rows of keys and aggregate inputs into the state's groups.
func (op *group) add(s *groupState, cols []*vec.Vec, sel []uint32, n int) error {
	return op.addHashed(s, cols, sel, n, nil)
}

// addHashed is add with the hashes of the keys, if they are known.
func (op *group) addHashed(s *groupState, cols []*vec.Vec, sel []uint32, n int, hashes []uint64) error {
	if n == 0 {
		return nil
	}
	if cap(op.groups) < n {
		op.groups = make([]uint32, max(n, vec.BatchSize))
	}
	groups := op.groups[:n]
	if len(op.ktypes) == 0 {
		clear(groups)
	} else {
		var err error
		if sel, groups, err = op.assign(s, cols, sel, n, groups, hashes); err != nil {
			return err
		}
	}
	for i, f := range s.flows {
		a := op.aggs[i]
		if err := f.add(op.env, s.ngrp, groups, cols[a.at:a.at+len(a.types)], sel); err != nil {
			return err
		}
	}
	return op.acct.set(op.bytes(s))
}

func (op *group) bytes(s *groupState) int64 {
	n := s.set.bytes()
	for _, f := range s.flows {
		n += f.bytes()
	}
	return n
}

// assign finds each row's group, by the hashes of the keys where they are known. Once
// memory is short, rows of new groups are spilled and left out of the lists returned.
func (op *group) assign(s *groupState, cols []*vec.Vec, sel []uint32, n int, groups []uint32, hashes []uint64) ([]uint32, []uint32, error) {
	keys := cols[:len(op.ktypes)]
	if s.recent.serves(keys[:op.told]) && s.parts == nil && !op.acct.over() {
		op.probeRecent(s, keys, sel, groups)
		s.ngrp = s.set.len()
		return sel, groups, nil
	}
	if hashes == nil {
		op.hashes = hashRows(keys[:op.told], sel, n, op.hashes)
		hashes = op.hashes
	}
	if s.parts == nil && (op.node.Ordered || !op.acct.over() || s.depth >= groupMaxDepth) {
		op.probe(s, keys, sel, groups, hashes)
		s.ngrp = s.set.len()
		return sel, groups, nil
	}
	if s.parts == nil {
		s.parts = make([]*spillFile, groupFan)
		for i := range s.parts {
			s.parts[i] = newSpillFile(op.rowTypes())
		}
	}
	rows := op.rows[:0]
	if rows == nil {
		rows = make([]uint32, 0, vec.BatchSize) // nil would mean all rows
	}
	kept := groups[:0]
	var away [groupFan][]uint32
	for i := range n {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		h := hashes[i]
		if g := s.set.find(keys, r, h); g >= 0 {
			rows = append(rows, uint32(r))
			kept = append(kept, uint32(g))
			continue
		}
		p := groupPartOf(h, s.depth)
		away[p] = append(away[p], uint32(r))
	}
	op.rows = rows
	cols = op.keep(cols, sel, n)
	for p, list := range away {
		if err := s.parts[p].write(op.env, cols, list, len(list)); err != nil {
			return nil, nil, err
		}
	}
	return rows, kept, nil
}

// keep returns the columns in a form that may be written to a file.
func (op *group) keep(cols []*vec.Vec, sel []uint32, n int) []*vec.Vec {
	all := vec.Batch{N: n, Sel: sel}
	if len(sel) > 0 {
		all.N = int(sel[len(sel)-1]) + 1
	}
	out := append([]*vec.Vec(nil), cols...)
	for _, a := range op.aggs {
		a.masked(out[a.at:a.at+len(a.types)], &all)
	}
	return out
}

// probe is the hot loop: one lookup per row, with a shortcut for runs of equal
// keys.
func (op *group) probe(s *groupState, keys []*vec.Vec, sel, groups []uint32, hashes []uint64) {
	s.set.near(hashes)
	own, telling := s.set.own(), keys[:op.told]
	var lastHash uint64
	last := -1
	for i := range groups {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		h := hashes[i]
		if last >= 0 && h == lastHash && s.set.eq.equal(own, last, telling, r) {
			groups[i] = uint32(last)
			continue
		}
		g, _ := s.set.findOrAdd(keys, r, h)
		groups[i] = uint32(g)
		last, lastHash = g, h
	}
}

func (op *group) rowTypes() []types.T {
	ts := append([]types.T(nil), op.ktypes...)
	for _, a := range op.aggs {
		ts = append(ts, a.types...)
	}
	return ts
}

// finishPass ends the input of a pass and queues its partitions.
func (op *group) finishPass(s *groupState) error {
	for _, f := range s.flows {
		if err := f.finish(op.env, s.ngrp); err != nil {
			return err
		}
	}
	for _, p := range s.parts {
		if p.rows == 0 {
			continue
		}
		if err := p.finish(); err != nil {
			return err
		}
		op.spilled += p.bytes
		op.parts = append(op.parts, groupPart{p, s.depth + 1})
	}
	s.parts = nil
	return nil
}

// nextPass groups the next partition; false when there is none.
func (op *group) nextPass() (bool, error) {
	if len(op.parts) == 0 {
		return false, nil
	}
	p := op.parts[len(op.parts)-1]
	op.parts = op.parts[:len(op.parts)-1]
	defer p.file.close()
	if err := op.acct.set(0); err != nil {
		return false, err
	}
	s, err := op.newState(p.depth)
	if err != nil {
		return false, err
	}
	op.state, op.at = s, 0
	r := p.file.reader()
	for {
		if err := ctxErr(op.env.Ctx); err != nil {
			return false, err
		}
		b, err := r.next()
		if err != nil {
			return false, err
		}
		if b == nil {
			return true, op.finishPass(s)
		}
		if err := op.add(s, b.Cols, nil, b.N); err != nil {
			return false, err
		}
	}
}

func (op *group) Next() (*vec.Batch, error) {
	if !op.filled {
		if err := op.fill(); err != nil {
			return nil, err
		}
	}
	for op.at >= op.state.ngrp {
		if op.paused {
			if err := op.resume(); err != nil {
				return nil, err
			}
			continue
		}
		more, err := op.nextPass()
		if !more || err != nil {
			return nil, err
		}
	}
	s := op.state
	from := op.at
	to := min(s.ngrp, from+vec.BatchSize)
	op.at = to
	for i := range op.nkeys {
		viewVec(op.out.Cols[i], s.set.keys.cols[i], from, to)
	}
	for i, f := range s.flows {
		c := op.out.Cols[op.nkeys+i]
		c.Reset(op.aggs[i].agg.T, to-from)
		if err := f.result(op.env, c, from, to); err != nil {
			return nil, err
		}
	}
	if op.node.Sets != nil {
		c := op.out.Cols[op.nkeys+len(op.aggs)]
		c.Reset(types.TInt4, to-from)
		for i := range to - from {
			c.I64[i] = int64(op.mask[s.set.keys.cols[op.nkeys].I64[from+i]])
		}
	}
	op.out.N, op.out.Sel = to-from, nil
	return &op.out, nil
}

func (op *group) Close() {
	op.shut()
	op.pushed = nil
}

func (op *group) shut() {
	op.input.Close()
	if op.state != nil {
		for _, p := range op.state.parts {
			p.close()
		}
		for _, f := range op.state.flows {
			f.close()
		}
	}
	for _, p := range op.parts {
		p.file.close()
	}
	op.state, op.parts = nil, nil
	op.acct.close()
}

func (op *group) memStats() (peak, spilled int64) { return op.acct.peak, op.spilled }
