package table

import (
	"bytes"
	"context"
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
// The place of an array's element is its number, that of a map's member (of a jsonb
// object or an hstore) the length and the bytes of its key: both in four bytes, so
// that places sort as the elements do. An element is a row of one attribute: the
// array's element, the text of the object's member, or the value of the hstore's key.
// Values that have no elements (arrays of no or several dimensions, jsonb scalars and
// arrays) are in the header. NULL has no header, unless rows
// without one have the default of a column that is younger than they are.
const (
	nullValue  = 'n'
	wholeValue = 'v' // the value's bytes follow
	arrayValue = 'a' // lower bound as varint and number of elements as uvarint follow
	mapValue   = 'o' // number of members as uvarint follows
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
	if d.Null && !g.always {
		return nil
	}
	head := func(h header) { p.add(key, codec.AppendBlob(nil, key, codec.FormatHeader, h.append(nil))) }
	if d.Null {
		head(header{kind: nullValue})
		return nil
	}
	var at []byte
	if d.T.Kind() == types.KArray {
		elem, dims, lbs, elems, err := types.ArrayElems(d)
		if err != nil {
			return err
		}
		if len(dims) != 1 {
			head(header{kind: wholeValue, whole: d.B})
			return nil
		}
		head(header{kind: arrayValue, lower: lbs[0], count: len(elems)})
		v := codec.NewVec(elem, 1)
		for i, e := range elems {
			v.Nulls.Clear()
			v.Set(0, e)
			at = appendIndexKey(at[:0], key, i)
			p.add(at, g.row.Append(nil, []*vec.Vec{v}, 0, at))
		}
		return nil
	}
	keys, members, ok := types.Members(d)
	if !ok {
		head(header{kind: wholeValue, whole: d.B})
		return nil
	}
	head(header{kind: mapValue, count: len(keys)})
	v := codec.NewVec(types.TText, 1)
	for i, k := range keys {
		v.Nulls.Clear()
		v.Set(0, members[i])
		at = appendMemberKey(at[:0], key, k)
		p.add(at, g.row.Append(nil, []*vec.Vec{v}, 0, at))
	}
	return nil
}

// putTogether is the inverse of takeApart for pairs of one row, the header first.
func (g *groupFile) putTogether(t types.T, pairs []kv.Pair) (types.Datum, error) {
	h, err := parseHeader(pairs[0].Key, pairs[0].Val)
	if err != nil {
		return types.Datum{}, err
	}
	if h.count != len(pairs)-1 {
		return types.Datum{}, fmt.Errorf("%w: %d elements where the header says %d", codec.ErrCorrupt, len(pairs)-1, h.count)
	}
	switch h.kind {
	case nullValue:
		return types.Null(t), nil
	case wholeValue:
		return types.Bytes(t, h.whole), nil
	}
	count := h.count
	keys, vals := make([][]byte, count), make([][]byte, count)
	for i, p := range pairs[1:] {
		keys[i], vals[i] = p.Key, p.Val
	}
	var rows codec.Rows
	if _, err := g.row.Load(&rows, keys, vals); err != nil {
		return types.Datum{}, err
	}
	et, _ := types.ElementKeyType(t)
	v := codec.NewVec(et, count)
	if err := g.row.Column(&rows, 0, types.Null(et), v, 0); err != nil {
		return types.Datum{}, err
	}
	elems := make([]types.Datum, count)
	for i := range elems {
		elems[i] = v.Get(i)
	}
	if h.kind == mapValue {
		for i, k := range keys {
			if keys[i] = memberOf(k[len(pairs[0].Key):]); keys[i] == nil {
				return types.Datum{}, fmt.Errorf("%w: not a key of an element", codec.ErrCorrupt)
			}
		}
		return types.JoinMembers(t, keys, elems), nil
	}
	d := types.NewArray(et, []int{count}, []int{h.lower}, elems)
	d.T = t
	return d, nil
}

// putElements stores the new image's value of a row, writing only the keys that
// differ from the old image's; fresh tells that nothing is stored yet.
func (w *Writer) putElements(ctx context.Context, g *groupFile, row int, key []byte, fresh bool) error {
	for i := range w.parts {
		if !fresh && w.parts[i].Col == g.cols[0] {
			return w.putPart(ctx, g, w.parts[i], row, key)
		}
	}
	var old, now valuePairs
	if !fresh {
		var err error
		if g.always { // what the old image has may be a default that is not stored
			err = w.storedPairs(ctx, g, key, &old, false)
		} else {
			err = g.takeApart(&old, key, w.old.value(g.cols[0], row))
		}
		if err != nil {
			return err
		}
	}
	if err := g.takeApart(&now, key, w.new.value(g.cols[0], row)); err != nil {
		return err
	}
	return w.putPairs(g, &old, &now, 0)
}

// putPairs replaces pairs by others, writing what differs; the first ones of both
// are left alone.
func (w *Writer) putPairs(g *groupFile, old, now *valuePairs, first int) error {
	for o, n := first, first; o < old.keys.Len() || n < now.keys.Len(); {
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

// deleteElements removes a row's value: the old image's, or whatever is stored.
func (w *Writer) deleteElements(ctx context.Context, g *groupFile, row int, key []byte, known bool) error {
	var old valuePairs
	if known {
		if err := g.takeApart(&old, key, w.old.value(g.cols[0], row)); err != nil {
			return err
		}
	} else if err := w.storedPairs(ctx, g, key, &old, true); err != nil {
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
func (q *groupRead) elements(ctx context.Context, x *decoder, r Reader, b *vec.Batch, base int, keys [][]byte) error {
	c := q.g.cols[0]
	put := func(i int, val types.Datum) {
		for _, out := range q.out {
			val.T = b.Cols[out].T
			b.Cols[out].Set(base+i, val)
		}
	}
	if q.part != nil {
		return q.readPart(ctx, x, r, keys, put)
	}
	for i, key := range keys {
		var err error
		if q.iter != nil {
			err = q.followElements(key)
		} else {
			err = q.scanElements(ctx, r, key, false)
		}
		if err != nil {
			return err
		}
		val := x.d.missing[c]
		if len(q.pairs) > 0 {
			if val, err = q.g.putTogether(x.d.Table.Columns[c].Type, q.pairs); err != nil {
				return corrupt(q.g.space, key, err)
			}
		}
		put(i, val)
	}
	return nil
}

// scanElements puts the pairs of one row, or their keys, into q.pairs.
func (q *groupRead) scanElements(ctx context.Context, r Reader, key []byte, keysOnly bool) error {
	q.pairs = q.pairs[:0]
	it := r.Scan(ctx, q.g.space, kv.Prefix(key), kv.ScanOpt{KeysOnly: keysOnly})
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
