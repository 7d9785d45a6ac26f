package executor

import "kvsqld/catalog/types/vec"

// sortFirst keeps a sorter from storing rows that nobody wants: of each group of rows
// with the same leading keys only the first few in the order of the rest are asked for.
// Rows that come behind those are not stored, and stored ones that others displace are
// thrown away once they are many. What is left may have more rows than are wanted.
type sortFirst struct {
	keys   int // leading keys by which rows are grouped
	wanted int // rows of each group
	set    *keySet
	cols   []*vec.Vec
	hashes []uint64
	// slots has, for each group, the numbers of its first rows + 1, in order; 0: there
	// are not as many yet. full is how many are not 0.
	slots []uint32
	full  int
	given int // rows that came
	sel   []uint32
}

const (
	firstTrial = 32 * vec.BatchSize // rows after which it is judged whether rows are left out
	firstDead  = 4 * vec.BatchSize  // displaced rows that are worth throwing away
)

func (s *sorter) openFirst(keys, wanted int) {
	if s.first = nil; wanted == 0 {
		return
	}
	f := &sortFirst{keys: keys, wanted: wanted}
	var cols []int
	for _, k := range s.order.keys[:keys] {
		cols = append(cols, k.col)
	}
	f.set = newKeySet(pickTypes(s.types, cols))
	s.first = f
}

// pick lists the rows that are among the first of their groups so far, in the order in
// which they are to be stored next.
func (f *sortFirst) pick(s *sorter, cols []*vec.Vec, sel []uint32, n int) []uint32 {
	f.cols = f.cols[:0]
	for _, k := range s.order.keys[:f.keys] {
		f.cols = append(f.cols, cols[k.col])
	}
	f.hashes = hashRows(f.cols, sel, n, f.hashes)
	f.set.near(f.hashes)
	f.given += n
	stored, out := s.rows.n, f.sel[:0]
	for i := range n {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		g, isNew := f.set.findOrAdd(f.cols, r, f.hashes[i])
		if isNew {
			for range f.wanted {
				f.slots = append(f.slots, 0)
			}
		}
		slots := f.slots[g*f.wanted : (g+1)*f.wanted]
		at := f.wanted
		for ; at > 0; at-- {
			x := slots[at-1]
			if x == 0 {
				continue
			}
			other, row := s.rows.cols, int(x-1)
			if row >= stored {
				other, row = cols, int(out[row-stored])
			}
			if s.order.compare(f.keys, cols, r, other, row) >= 0 {
				break
			}
		}
		if at == f.wanted {
			continue
		}
		if slots[f.wanted-1] == 0 {
			f.full++
		}
		copy(slots[at+1:], slots[at:])
		out = append(out, uint32(r))
		slots[at] = uint32(stored + len(out))
	}
	f.sel = out
	return out
}

// bytes is what finding the groups takes.
func (f *sortFirst) bytes() int64 {
	if f == nil {
		return 0
	}
	return f.set.bytes() + 4*int64(cap(f.slots))
}

// leaveOut throws displaced rows away if they are many, or if there is no room and they
// are some, and gives up where hardly any group has a second row.
func (s *sorter) leaveOut(tight bool) {
	f := s.first
	if f.given >= firstTrial && 10*f.set.len() > 7*f.given {
		s.first = nil
		return
	}
	if dead := s.rows.n - f.full; dead == 0 || dead < max(firstDead, f.full) && !tight {
		return
	}
	live := make([]bool, s.rows.n)
	for _, x := range f.slots {
		if x > 0 {
			live[x-1] = true
		}
	}
	number := make([]uint32, s.rows.n)
	rows := make([]uint32, 0, f.full)
	for r, is := range live {
		if is {
			rows = append(rows, uint32(r))
			number[r] = uint32(len(rows))
		}
	}
	for i, x := range f.slots {
		if x > 0 {
			f.slots[i] = number[x-1]
		}
	}
	kept := newRowStore(s.types)
	kept.appendCols(s.rows.cols, rows, len(rows))
	s.rows = kept
}
