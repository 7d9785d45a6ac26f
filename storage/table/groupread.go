package table

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// groupRead reads the wanted columns of one attribute file.
type groupRead struct {
	g     *groupFile
	out   []int // positions among the output columns
	attrs []int // attribute of each
	iter  kv.Iter
	chunk []kv.Pair // of the iterator, what is not used yet
	// checked tells that the iterator verifies pairs.
	checked bool
	pairs   []kv.Pair // of one row in a file of elements
	part    *Part     // what is wanted of the values in a file of elements; nil: all

	rows codec.Rows
	vals [][]byte
}

// initGroups finds the attribute files that the columns need.
func (x *decoder) initGroups() {
	x.groups = x.groups[:0]
	for i, c := range x.cols {
		if c < 0 || x.d.groupOf[c] < 0 {
			continue
		}
		g := x.d.groups[x.d.groupOf[c]]
		n := 0
		for n < len(x.groups) && x.groups[n].g != g {
			n++
		}
		if n == len(x.groups) {
			x.groups = slices.Grow(x.groups, 1)[:n+1]
			q := &x.groups[n] // with the memory that it had for another read
			q.rows.Reset()
			*q = groupRead{g: g, out: q.out[:0], attrs: q.attrs[:0], rows: q.rows, vals: q.vals[:0]}
		}
		x.groups[n].out = append(x.groups[n].out, i)
		x.groups[n].attrs = append(x.groups[n].attrs, g.attrIn(c))
	}
}

// leading returns the attribute file that a scan of the table can read in place of the
// master file, which says no more than that a row exists: one that has a value for
// every row. -1: there is none, or values of the master file are wanted.
func (x *decoder) leading() int {
	if x.attrs {
		return -1
	}
	return slices.IndexFunc(x.groups, func(q groupRead) bool { return q.g.full })
}

// openGroups begins to read the attribute files along with a scan of the master
// file: the same keys in the same order, or the keys of their elements.
func (x *decoder) openGroups(ctx context.Context, r Reader, span kv.Range, o kv.ScanOpt) {
	for i := range x.groups {
		x.groups[i].close()
		if i == x.lead {
			x.groups[i].checked = o.Check != nil // the scan's own
			continue
		}
		span, o := span, o
		if x.groups[i].g.elements {
			o.Check = nil // who puts them together does
			if o.Reverse || x.groups[i].part != nil {
				continue // each row's pairs are wanted in ascending order, or single ones
			}
			span.Hi = nil // a part's bound may lie between a row's key and its elements
		}
		if x.groups[i].checked = o.Check != nil; x.groups[i].checked {
			o.Check = x.groups[i].g.check
		}
		x.groups[i].iter = r.Scan(ctx, x.groups[i].g.space, span, o)
	}
}

// closeGroups ends what openGroups began.
func (x *decoder) closeGroups() {
	for i := range x.groups {
		x.groups[i].close()
	}
}

func (q *groupRead) close() {
	if q.iter != nil {
		q.iter.Close()
		q.iter = nil
	}
	q.chunk, q.checked = nil, false
}

// rows decodes rows, given as pairs of the master file, into rows base … of b;
// what else their columns need is read from r. vals may be nil if x.values is
// false.
func (x *decoder) rows(ctx context.Context, r Reader, b *vec.Batch, base int, keys, vals [][]byte) error {
	if err := x.master(b, base, keys, vals); err != nil {
		return err
	}
	for i := range x.groups {
		q := &x.groups[i]
		if q.g.elements {
			if err := q.elements(ctx, x, r, b, base, keys); err != nil {
				return err
			}
			continue
		}
		if i == x.lead {
			if err := q.decode(x.d, b, base, keys, vals); err != nil {
				return err
			}
			continue
		}
		var err error
		switch {
		case q.iter != nil:
			err = q.follow(keys)
		case len(keys) == 1:
			q.vals = slices.Grow(q.vals[:0], 1)[:1]
			q.vals[0], err = getOne(ctx, r, q.g.space, keys[0])
		default:
			q.vals, err = x.batchGet(ctx, r, q.g.space, keys)
		}
		if err == nil {
			err = q.decode(x.d, b, base, keys, q.vals)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow moves on in the file to each of the keys, which are in the order of the
// scan, and puts their values into q.vals: nil where the file has none.
func (q *groupRead) follow(keys [][]byte) error {
	vals := slices.Grow(q.vals[:0], len(keys))[:len(keys)]
	q.vals = vals
	for at := 0; at < len(keys); {
		if len(q.chunk) == 0 {
			var err error
			if q.chunk, err = q.iter.Next(); err != nil {
				return err
			}
			if len(q.chunk) == 0 {
				clear(vals[at:])
				return nil
			}
		}
		// Every key of the file is one of the master file's, none of which the scan
		// leaves out. So where as many pairs as rows end with the same key, all between
		// are the same; and another key belongs to a later row.
		n := min(len(q.chunk), len(keys)-at)
		if !bytes.Equal(q.chunk[n-1].Key, keys[at+n-1]) {
			for n = 0; bytes.Equal(q.chunk[n].Key, keys[at+n]); n++ {
			}
		}
		for i, p := range q.chunk[:n] {
			vals[at+i] = p.Val
		}
		at += n
		if q.chunk = q.chunk[n:]; len(q.chunk) > 0 && at < len(keys) {
			vals[at] = nil
			at++
		}
	}
	return nil
}

// decode puts vals, which belong to keys, into rows base … of b. Runs of rows
// with a value are decoded together.
func (q *groupRead) decode(d *Desc, b *vec.Batch, base int, keys, vals [][]byte) error {
	for i := 0; i < len(keys); {
		start := i
		for i < len(keys) && vals[i] != nil {
			i++
		}
		if i > start {
			if bad, err := load(q.g.row, &q.rows, keys[start:i], vals[start:i], q.checked); err != nil {
				return corrupt(q.g.space, keys[start+bad], err)
			}
			for k, out := range q.out {
				c := q.g.cols[q.attrs[k]]
				if err := q.g.row.Column(&q.rows, q.attrs[k], d.missing[c], b.Cols[out], base+start); err != nil {
					return corrupt(q.g.space, keys[start], err)
				}
			}
		}
		for ; i < len(keys) && vals[i] == nil; i++ {
			for k, out := range q.out {
				m := d.missing[q.g.cols[q.attrs[k]]]
				m.T = b.Cols[out].T
				b.Cols[out].Set(base+i, m)
			}
		}
	}
	return nil
}
