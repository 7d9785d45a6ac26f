package executor

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// run fills a function's column for the present partition.
func (op *window) run(f *windowFunc) error {
	n := op.part.rows.n
	f.out = vec.New(f.node.T, 0)
	f.arena = arena{}
	f.frame.begin()
	if f.node.Proc.Kind == 'a' {
		return op.aggregate(f)
	}
	p := &op.part
	switch name := strings.ToLower(f.node.Proc.Name); name {
	case "row_number", "rank", "dense_rank":
		f.out.Grow(n)
		for i := range n {
			switch name {
			case "row_number":
				f.out.I64[i] = int64(i) + 1
			case "rank":
				f.out.I64[i] = int64(p.start[i]) + 1
			default:
				f.out.I64[i] = int64(p.group[i]) + 1
			}
		}
		return nil
	case "percent_rank", "cume_dist":
		f.out.Grow(n)
		for i := range n {
			switch {
			case name == "cume_dist":
				f.out.F64[i] = float64(p.end[i]) / float64(n)
			case n > 1:
				f.out.F64[i] = float64(p.start[i]) / float64(n-1)
			default:
				f.out.F64[i] = 0
			}
		}
		return nil
	case "ntile":
		return op.ntile(f)
	case "lag":
		return op.shift(f, -1)
	case "lead":
		return op.shift(f, 1)
	case "first_value", "last_value", "nth_value":
		return op.frameValue(f, name)
	}
	return sqlerr.Unsupported(f.node.Off, "window function %s", f.node.Proc.Name)
}

// ntile deals the rows into buckets whose sizes differ by one at most.
func (op *window) ntile(f *windowFunc) error {
	n := op.part.rows.n
	f.out.Grow(n)
	arg := op.part.rows.cols[f.args[0]]
	first := 0
	for first < n && arg.IsNull(first) { // buckets begin with the first row that tells how many
		f.appendNull(first)
		first++
	}
	if first == n {
		return nil
	}
	k := arg.I64[arg.Idx(first)]
	if k <= 0 {
		return sqlerr.New(sqlerr.InvalidArgumentForNtile, "argument of ntile must be greater than zero")
	}
	size, larger := int64(n)/k, int64(n)%k
	for i := range int64(n - first) {
		out := &f.out.I64[int(i)+first]
		// The first larger buckets have one row more.
		if i < larger*(size+1) {
			*out = i/(size+1) + 1
		} else {
			*out = larger + (i-larger*(size+1))/size + 1
		}
	}
	return nil
}

// shift is lag and lead: the value of the row at a distance, or the default.
func (op *window) shift(f *windowFunc, sign int64) error {
	cols := op.part.rows.cols
	n := int64(op.part.rows.n)
	val := cols[f.args[0]]
	for i := range n {
		d := int64(1)
		if len(f.args) > 1 {
			off := cols[f.args[1]]
			if off.IsNull(int(i)) {
				f.appendNull(int(i))
				continue
			}
			d = off.I64[i]
		}
		j := i + sign*d
		switch {
		case j >= 0 && j < n:
			f.append(int(i), val, int(j))
		case len(f.args) > 2:
			f.append(int(i), cols[f.args[2]], int(i))
		default:
			f.appendNull(int(i))
		}
	}
	return nil
}

// frameValue is first_value, last_value and nth_value.
func (op *window) frameValue(f *windowFunc, name string) error {
	cols := op.part.rows.cols
	val := cols[f.args[0]]
	var buf [4]span
	for i := range op.part.rows.n {
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
			k = int(min(nthRow-1, int64(op.part.rows.n)))
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

// append sets row i of the output, which grows by it, to row r of v.
func (f *windowFunc) append(i int, v *vec.Vec, r int) {
	appendVec(f.out, i, v, []uint32{uint32(r)}, 1, &f.arena)
}

func (f *windowFunc) appendNull(i int) {
	growVec(f.out, i+1)
	if f.out.T.Rep() == types.RepBytes {
		f.out.B[i] = nil
	}
	f.out.Nulls.Set(i)
}
