package table

import "kvsqld/catalog/types/vec"

// entryFilter drops index entries whose rows need not be fetched, or rows of the master
// file of which no more columns need to be decoded.
type entryFilter struct {
	test EntryFilter
	x    *index // nil: the master file
	dec  decoder
	b    vec.Batch
}

func (f *entryFilter) init(d *Desc, x *index, cols []int, test EntryFilter) {
	if test == nil || x == nil && len(d.groups) > 0 {
		return // attribute files are read along with every row of the master file
	}
	f.test, f.x = test, x
	f.dec.init(d, cols)
	f.dec.equal = x != nil
}

// reset forgets the filter and keeps its memory.
func (f *entryFilter) reset() {
	if f.test != nil {
		f.test, f.x = nil, nil
		f.dec.reset()
		forgetBatch(&f.b)
	}
}

func (f *entryFilter) on() bool { return f.test != nil }

// pass keeps, in place, the entries that pass the filter, and the numbers beside
// them if there are any.
func (f *entryFilter) pass(keys, vals [][]byte, from []uint32) ([][]byte, [][]byte, error) {
	f.dec.prepare(&f.b, len(keys))
	var err error
	if f.x == nil {
		err = f.dec.master(&f.b, 0, keys, vals)
	} else {
		err = f.dec.entries(f.x, &f.b, 0, keys, vals)
	}
	if err != nil {
		return nil, nil, err
	}
	f.b.N, f.b.Sel = len(keys), nil
	if err := f.test(&f.b); err != nil {
		return nil, nil, err
	}
	if f.b.Sel == nil {
		return keys, vals, nil
	}
	for i, r := range f.b.Sel {
		keys[i], vals[i] = keys[r], vals[r]
		if from != nil {
			from[i] = from[r]
		}
	}
	return keys[:len(f.b.Sel)], vals[:len(f.b.Sel)], nil
}
