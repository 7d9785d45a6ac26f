package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// A column stored by elements has an attribute file with several keys a row:
//
//	row key → header: kind, then what the elements do not say
//	row key, place → element
//
// The place of an array's element is its number, that of an object's member the
// length and the bytes of its key: both in four bytes, so that places sort as the
// elements do. An element is a row of one attribute: the array's element, or the
// member's text. Values that have no elements (arrays of no or several dimensions,
// jsonb scalars and arrays) are in the header. NULL has no header.
const (
	wholeValue  = 'v' // the value's bytes follow
	arrayValue  = 'a' // lower bound as varint and number of elements as uvarint follow
	objectValue = 'o' // number of members as uvarint follows
)

// valuePairs are the keys of one value, in order, with what is stored under them.
type valuePairs struct{ keys, vals codec.KeyBuf }

func (p *valuePairs) add(key, val []byte) {
	p.keys.Add(func(dst []byte) []byte { return append(dst, key...) })
	p.vals.Add(func(dst []byte) []byte { return append(dst, val...) })
}

// takeApart makes the pairs of a row's value.
func (g *groupFile) takeApart(p *valuePairs, key []byte, d types.Datum) error {
	p.keys.Reset()
	p.vals.Reset()
	if d.Null {
		return nil
	}
	header := func(kind byte, rest []byte) {
		p.add(key, codec.AppendBlob(nil, key, codec.FormatHeader, append([]byte{kind}, rest...)))
	}
	at := append(bytes.Clone(key), 0, 0, 0, 0)
	if d.T.Kind() == types.KArray {
		elem, dims, lbs, elems, err := types.ArrayElems(d)
		if err != nil {
			return err
		}
		if len(dims) != 1 {
			header(wholeValue, d.B)
			return nil
		}
		header(arrayValue, binary.AppendUvarint(binary.AppendVarint(nil, int64(lbs[0])), uint64(len(elems))))
		v := codec.NewVec(elem, 1)
		for i, e := range elems {
			v.Nulls.Clear()
			v.Set(0, e)
			binary.BigEndian.PutUint32(at[len(key):], uint32(i))
			p.add(at, g.row.Append(nil, []*vec.Vec{v}, 0, at))
		}
		return nil
	}
	keys, members, ok := types.JSONMembers(d.B)
	if !ok {
		header(wholeValue, d.B)
		return nil
	}
	header(objectValue, binary.AppendUvarint(nil, uint64(len(keys))))
	v := codec.NewVec(types.TText, 1)
	for i, k := range keys {
		v.Set(0, types.Bytes(types.TText, members[i]))
		binary.BigEndian.PutUint32(at[len(key):], uint32(len(k)))
		at = append(at[:len(key)+4], k...)
		p.add(at, g.row.Append(nil, []*vec.Vec{v}, 0, at))
	}
	return nil
}

// putTogether is the inverse of takeApart for pairs of one row, the header first.
func (g *groupFile) putTogether(t types.T, pairs []kv.Pair) (types.Datum, error) {
	head, err := codec.OpenBlob(pairs[0].Key, pairs[0].Val, codec.FormatHeader)
	if err != nil || len(head) == 0 {
		return types.Datum{}, fmt.Errorf("%w: header of a value: %v", codec.ErrCorrupt, err)
	}
	kind, rest := head[0], head[1:]
	lower := int64(0)
	switch kind {
	case wholeValue:
		if len(pairs) > 1 {
			return types.Datum{}, fmt.Errorf("%w: elements of a value that has none", codec.ErrCorrupt)
		}
		return types.Bytes(t, rest), nil
	case arrayValue:
		n := 0
		lower, n = binary.Varint(rest)
		rest = rest[max(n, 0):]
	case objectValue:
	default:
		return types.Datum{}, fmt.Errorf("%w: unknown kind %q of a value", codec.ErrCorrupt, kind)
	}
	count, n := binary.Uvarint(rest)
	if n <= 0 || count != uint64(len(pairs)-1) {
		return types.Datum{}, fmt.Errorf("%w: %d elements where the header says %d", codec.ErrCorrupt, len(pairs)-1, count)
	}
	keys, vals := make([][]byte, count), make([][]byte, count)
	for i, p := range pairs[1:] {
		keys[i], vals[i] = p.Key, p.Val
	}
	var rows codec.Rows
	if _, err := g.row.Load(&rows, keys, vals); err != nil {
		return types.Datum{}, err
	}
	et, _ := types.ElementKeyType(t)
	v := codec.NewVec(et, int(count))
	if err := g.row.Column(&rows, 0, types.Null(et), v, 0); err != nil {
		return types.Datum{}, err
	}
	if kind == objectValue {
		members := make([][]byte, count)
		for i := range members {
			members[i] = v.Get(i).B
		}
		return types.Bytes(t, types.JoinJSONMembers(members)), nil
	}
	elems := make([]types.Datum, count)
	for i := range elems {
		elems[i] = v.Get(i)
	}
	d := types.NewArray(et, []int{int(count)}, []int{int(lower)}, elems)
	d.T = t
	return d, nil
}

// putElements stores the new image's value of a row, writing only the keys that
// differ from the old image's; fresh tells that nothing is stored yet.
func (w *Writer) putElements(i, row int, key []byte, fresh bool) error {
	g := w.d.groups[i]
	var old, now valuePairs
	if !fresh {
		if err := g.takeApart(&old, key, w.old.value(g.cols[0], row)); err != nil {
			return err
		}
	}
	if err := g.takeApart(&now, key, w.new.value(g.cols[0], row)); err != nil {
		return err
	}
	for o, n := 0, 0; o < old.keys.Len() || n < now.keys.Len(); {
		order := -1
		if o == old.keys.Len() {
			order = 1
		} else if n < now.keys.Len() {
			order = bytes.Compare(old.keys.Key(o), now.keys.Key(n))
		}
		var err error
		switch {
		case order < 0:
			err = w.tx.Delete(g.space, old.keys.Key(o), kv.Covered)
		case order > 0 || !bytes.Equal(old.vals.Key(o), now.vals.Key(n)):
			w.valBuf = append(w.valBuf[:0], now.vals.Key(n)...)
			err = w.tx.Put(g.space, now.keys.Key(n), w.valBuf, kv.Covered)
		}
		if err != nil {
			return err
		}
		if order <= 0 {
			o++
		}
		if order >= 0 {
			n++
		}
	}
	return nil
}

// deleteElements removes the old image's value of a row.
func (w *Writer) deleteElements(g *groupFile, row int, key []byte) error {
	var old valuePairs
	if err := g.takeApart(&old, key, w.old.value(g.cols[0], row)); err != nil {
		return err
	}
	for i := range old.keys.Len() {
		if err := w.tx.Delete(g.space, old.keys.Key(i), kv.Covered); err != nil {
			return err
		}
	}
	return nil
}

// value returns a column of a row.
func (m *image) value(col, row int) types.Datum {
	v := m.cols[col]
	if v == nil || v.IsNull(row) {
		return types.Null(m.d.Table.Columns[col].Type)
	}
	return v.Get(row)
}

// elements reads the values of rows from a file of elements into rows base … of a
// vector.
func (q *groupRead) elements(ctx context.Context, r Reader, d *Desc, b *vec.Batch, base int, keys [][]byte) error {
	c := q.g.cols[0]
	for i, key := range keys {
		var err error
		if q.iter != nil {
			err = q.followElements(key)
		} else {
			err = q.scanElements(ctx, r, key)
		}
		if err != nil {
			return err
		}
		val := d.missing[c]
		if len(q.pairs) > 0 {
			if val, err = q.g.putTogether(d.Table.Columns[c].Type, q.pairs); err != nil {
				return corrupt(q.g.space, key, err)
			}
		}
		for _, out := range q.out {
			val.T = b.Cols[out].T
			b.Cols[out].Set(base+i, val)
		}
	}
	return nil
}

// scanElements puts the pairs of one row into q.pairs.
func (q *groupRead) scanElements(ctx context.Context, r Reader, key []byte) error {
	q.pairs = q.pairs[:0]
	it := r.Scan(ctx, q.g.space, kv.Prefix(key), kv.ScanOpt{})
	defer it.Close()
	for {
		chunk, err := it.Next()
		if err != nil || len(chunk) == 0 {
			return err
		}
		q.pairs = append(q.pairs, chunk...)
	}
}

// followElements is scanElements for a scan of the master file in ascending
// order: it moves on in the file to the row's pairs.
func (q *groupRead) followElements(key []byte) error {
	q.pairs = q.pairs[:0]
	for {
		if len(q.chunk) == 0 {
			var err error
			if q.chunk, err = q.iter.Next(); err != nil || len(q.chunk) == 0 {
				return err
			}
		}
		p := q.chunk[0]
		switch {
		case bytes.HasPrefix(p.Key, key):
			q.pairs = append(q.pairs, p)
		case bytes.Compare(p.Key, key) > 0:
			return nil
		}
		q.chunk = q.chunk[1:]
	}
}
