package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// apply fills a function's column up to row to of the present partition.
func (op *window) apply(f *windowFunc, to int) error {
	if to == f.done {
		return nil
	}
	if f.fold != nil {
		reached, err := op.aggregate(f, to)
		f.done = reached
		return err
	}
	err := op.fill(f, to)
	f.done = to
	return err
}

// fill fills the column of a function other than an aggregate. Values are the stored
// rows' own, whose bytes are never overwritten.
func (op *window) fill(f *windowFunc, to int) error {
	p := &op.part
	n := p.size()
	switch name := f.node.Kind(); name {
	case "row_number", "rank", "dense_rank":
		growVec(f.out, to)
		for i := f.done; i < to; i++ {
			switch name {
			case "row_number":
				f.out.I64[i] = int64(i-p.lo) + 1
			case "rank":
				f.out.I64[i] = int64(int(p.start[i])-p.lo) + 1
			default:
				f.out.I64[i] = int64(int(p.group[i])-p.first) + 1
			}
		}
		return nil
	case "percent_rank", "cume_dist":
		growVec(f.out, to)
		for i := f.done; i < to; i++ {
			switch {
			case name == "cume_dist":
				f.out.F64[i] = float64(int(p.end[i])-p.lo) / float64(n)
			case n > 1:
				f.out.F64[i] = float64(int(p.start[i])-p.lo) / float64(n-1)
			default:
				f.out.F64[i] = 0
			}
		}
		return nil
	case "ntile":
		return op.ntile(f, to)
	case "lag":
		op.lagLead(f, -1, to)
		return nil
	case "lead":
		op.lagLead(f, 1, to)
		return nil
	case "first_value", "last_value", "nth_value":
		return op.frameValue(f, name, to)
	}
	return sqlerr.Unsupported(f.node.Off, "window function %s", f.node.Proc.Name)
}

// size is the number of the partition's rows, when all of them have come or were seen
// before.
func (p *windowPart) size() int {
	if p.total > 0 {
		return p.total
	}
	return p.hi - p.lo
}

// ntile deals the partition's rows into buckets whose sizes differ by one at most.
func (op *window) ntile(f *windowFunc, to int) error {
	p := &op.part
	arg := p.rows.cols[f.args[0]]
	first := f.done
	for ; first < to && f.buckets == 0; first++ { // buckets begin with the first row that tells how many
		if arg.IsNull(first) {
			f.appendNull(first)
			continue
		}
		f.buckets, f.before = arg.I64[arg.Idx(first)], int64(first-p.lo)
		if f.buckets <= 0 {
			return sqlerr.New(sqlerr.InvalidArgumentForNtile, "argument of ntile must be greater than zero")
		}
		break
	}
	if first == to {
		return nil
	}
	n := int64(p.size())
	size, larger := n/f.buckets, n%f.buckets
	growVec(f.out, to)
	for i := first; i < to; i++ {
		// The first larger buckets have one row more.
		if at := int64(i-p.lo) - f.before; at < larger*(size+1) {
			f.out.I64[i] = at/(size+1) + 1
		} else {
			f.out.I64[i] = larger + (at-larger*(size+1))/size + 1
		}
	}
	return nil
}

// lagLead is lag and lead: the value of the row at a distance, or the default.
func (op *window) lagLead(f *windowFunc, sign int64, to int) {
	p := &op.part
	cols := p.rows.cols
	val := cols[f.args[0]]
	d, fixed := f.node.Distance()
	for i := f.done; i < to; i++ {
		if !fixed {
			off := cols[f.args[1]]
			if off.IsNull(i) {
				f.appendNull(i)
				continue
			}
			d = off.I64[i]
		}
		j := int64(i) + sign*d
		switch {
		case j >= int64(p.lo) && j < int64(p.hi):
			if !fixed {
				f.append(i, val, int(j))
				continue
			}
			// The values of the rows that follow lie beside this one's.
			n := min(to-i, p.hi-int(j))
			f.sel = rowNumbers(f.sel, int(j), int(j)+n)
			appendVec(f.out, i, val, f.sel, n, nil)
			i += n - 1
		case len(f.args) > 2:
			f.append(i, cols[f.args[2]], i)
		default:
			f.appendNull(i)
		}
	}
}

// frameValue is first_value, last_value and nth_value.
func (op *window) frameValue(f *windowFunc, name string, to int) error {
	if f.done == op.part.lo && name == "first_value" && f.begins() {
		f.know(op.part.rows.cols[f.args[0]], f.done)
	}
	if f.known != nil {
		for i := f.done; i < to; i++ {
			f.append(i, f.known, 0)
		}
		return nil
	}
	cols := op.part.rows.cols
	val := cols[f.args[0]]
	var buf [4]span
	for i := f.done; i < to; i++ {
		frame, err := f.frame.spans(&op.part, i, buf[:0])
		if err != nil {
			return err
		}
		k := 0
		switch name {
		case "last_value":
			k = count(frame) - 1
		case "nth_value":
			arg := cols[f.args[1]]
			if arg.IsNull(i) {
				f.appendNull(i)
				continue
			}
			nthRow := arg.I64[i]
			if nthRow <= 0 {
				return sqlerr.New(sqlerr.InvalidArgumentForNthValue, "argument of nth_value must be greater than zero")
			}
			k = int(min(nthRow-1, int64(op.part.hi-op.part.lo)))
		}
		r := -1
		if k >= 0 {
			r = nth(frame, k)
		}
		if r < 0 {
			f.appendNull(i)
		} else {
			f.append(i, val, r)
		}
	}
	return nil
}

// append sets row i of the output, which grows by it, to row r of v; bytes are shared.
func (f *windowFunc) append(i int, v *vec.Vec, r int) {
	appendVec(f.out, i, v, []uint32{uint32(r)}, 1, nil)
}

func (f *windowFunc) appendNull(i int) {
	growVec(f.out, i+1)
	if f.out.T.Rep() == types.RepBytes {
		f.out.B[i] = nil
	}
	f.out.Nulls.Set(i)
}
