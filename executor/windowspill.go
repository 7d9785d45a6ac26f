package executor

import (
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// windowSpill is a partition that does not fit into the work memory and that is held
// because functions ask for its end: its number of rows, or the aggregate of all of them.
// Its rows go to a temporary file as they come, while what depends on all of them is
// computed. Then they are read again, and pass as rows do of which no function has to see
// the end.
type windowSpill struct {
	file  *spillFile
	from  *spillReader
	ended bool // the input has, behind the partition
	// the input's rows behind the partition, which come after it
	cols []*vec.Vec
	sel  []uint32
}

// spillable reports whether the functions can do their work in two passes, and gain by it.
func (op *window) spillable() bool {
	held := false
	for _, f := range op.funcs {
		if f.ahead == plan.AheadAll {
			held = true
			if !f.told() {
				return false
			}
		} else if f.back < 0 {
			return false
		}
	}
	return held
}

// told reports whether the function knows its value for a row when it knows how many
// rows the partition has, or its value for all rows.
func (f *windowFunc) told() bool { return f.counts() || f.constant() }

// counts reports whether the function asks for the number of the partition's rows.
func (f *windowFunc) counts() bool {
	switch f.node.Kind() {
	case "percent_rank", "cume_dist", "ntile":
		return true
	}
	return false
}

// constant reports whether the function has one value for all rows of a partition.
func (f *windowFunc) constant() bool {
	switch f.node.Kind() {
	case "", "first_value", "last_value":
		return f.frame.whole()
	}
	return false
}

// mustSpill reports whether the partition under way, of which no row has been passed, is
// to be spilled.
func (op *window) mustSpill() bool {
	p := &op.part
	return op.acct.over() && p.begun && !p.whole && !p.stopped && p.total == 0 &&
		op.pos == p.lo && op.ready == p.lo && p.hi == p.rows.n && op.spillable()
}

// spill reads the rest of the partition under way and writes all of it to a file.
func (op *window) spill() error {
	p := &op.part
	s := &windowSpill{file: newSpillFile(op.types)}
	op.away = s
	for _, f := range op.funcs {
		if f.constant() && f.fold != nil {
			if err := f.fold.begin(f, p.lo); err != nil {
				return err
			}
		}
	}
	last, total := newRowStore(op.types), 0
	for lo := p.lo; ; lo = 0 {
		n := p.rows.n - lo
		if err := op.putAway(s.file, lo, total == 0); err != nil {
			return err
		}
		total += n
		last.release()
		last.appendCols(p.rows.cols, []uint32{uint32(p.rows.n - 1)}, 1)
		p.rows.release()
		if err := op.account(); err != nil {
			return err
		}
		for p.rows.n == 0 && s.sel == nil && !s.ended {
			if err := op.nextOf(s, last); err != nil {
				return err
			}
		}
		if p.rows.n == 0 {
			break
		}
	}
	for _, f := range op.funcs {
		if f.constant() && f.fold != nil {
			v := vec.New(f.node.T, 1)
			if err := f.fold.agg.Result(op.env.Expr, v, 0, 1); err != nil {
				return err
			}
			f.know(v, 0)
		}
	}
	if err := s.file.finish(); err != nil {
		return err
	}
	op.spilled += s.file.bytes
	s.from = s.file.reader()
	op.part = windowPart{rows: p.rows, total: total}
	op.pos, op.ready, op.tested = 0, 0, 0
	for _, f := range op.funcs {
		f.out, f.done, f.passed, f.size = vec.New(f.node.T, 0), 0, 0, 0
	}
	return nil
}

// putAway writes the stored rows from row lo on to the file, and shows them to the
// functions with one value for all rows; first tells that they are the partition's first.
func (op *window) putAway(file *spillFile, lo int, first bool) error {
	p := &op.part
	n := p.rows.n
	for _, f := range op.funcs {
		switch kind := f.node.Kind(); {
		case !f.constant():
		case f.fold != nil:
			f.fold.op, f.fold.f = op, f
			f.fold.args = columnsAt(f.fold.args, p.rows.cols, f.args)
			if err := f.fold.add(lo, n); err != nil {
				return err
			}
		case kind == "last_value":
			f.know(p.rows.cols[f.args[0]], n-1)
		case first:
			f.know(p.rows.cols[f.args[0]], lo)
		}
	}
	var view vec.Batch
	for ; lo < n; lo += vec.BatchSize {
		p.rows.window(&view, lo, min(n, lo+vec.BatchSize))
		if err := file.write(op.env, view.Cols, nil, view.N); err != nil {
			return err
		}
	}
	return nil
}

// know keeps a value that all rows of the partition have.
func (f *windowFunc) know(v *vec.Vec, r int) {
	f.known = vec.New(f.node.T, 0)
	appendVec(f.known, 0, v, []uint32{uint32(r)}, 1, new(arena))
}

// nextOf stores the input's next rows that belong to the partition whose last row so far
// is given. Those behind it are left in s.
func (op *window) nextOf(s *windowSpill, last *rowStore) error {
	if err := ctxErr(op.env.Ctx); err != nil {
		return err
	}
	cols, sel, n, err := op.nextInput()
	if err != nil {
		return err
	}
	s.ended, op.ended = op.ended, false // as long as the partition is away
	if n == 0 {
		return nil
	}
	rows := selectedRows(&vec.Batch{N: n, Sel: sel}, op.buf)
	if sel == nil {
		op.buf = rows
	}
	own := 0
	keys, first := columnsAt(nil, cols, op.parts), columnsAt(nil, last.cols, op.parts)
	for own < len(rows) && (len(op.parts) == 0 || op.partEq.equal(first, 0, keys, int(rows[own]))) {
		own++
	}
	if own < len(rows) {
		s.cols, s.sel = slices.Clone(cols), slices.Clone(rows[own:])
	}
	op.part.rows.appendCols(cols, rows[:own], own)
	return op.account()
}

// readAway takes the next rows of a spilled partition, or those behind it; done reports
// that there are none and the input goes on.
func (op *window) readAway() (cols []*vec.Vec, sel []uint32, n int, done bool, err error) {
	s := op.away
	if s.from != nil {
		b, err := s.from.next()
		if b != nil || err != nil {
			if err != nil {
				return nil, nil, 0, false, err
			}
			return b.Cols, nil, b.N, false, nil
		}
		s.file.close()
		s.from = nil
		op.part.complete, op.ended = true, s.ended
		return nil, nil, 0, false, nil
	}
	op.away = nil
	if s.sel == nil {
		return nil, nil, 0, true, nil
	}
	return s.cols, s.sel, len(s.sel), false, nil
}

// closeAway gives up what is spilled.
func (op *window) closeAway() {
	if op.away != nil {
		op.away.file.close()
		op.away = nil
	}
}
