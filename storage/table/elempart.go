package table

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Part names the elements of a column stored by elements that are looked at. What
// is read of the column's value has those alone: a map the members, an array
// of one dimension the elements at their subscripts, NULLs between them. NULL and
// values that have no elements are read as they are.
type Part struct {
	Col  int
	Keys [][]byte // of a map
	Subs []int    // of an array
	// Span wants an array with its own bounds; elements that are not looked at are
	// NULL.
	Span bool
}

// part is a Part in the order of its places.
func sortedPart(p *Part) *Part {
	out := *p
	out.Keys, out.Subs = slices.Clone(p.Keys), slices.Clone(p.Subs)
	slices.SortFunc(out.Keys, func(a, b []byte) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
	})
	out.Keys = slices.CompactFunc(out.Keys, bytes.Equal)
	slices.Sort(out.Subs)
	out.Subs = slices.Compact(out.Subs)
	return &out
}

// setParts makes the decoder read columns in part.
func (x *decoder) setParts(parts []Part) {
	for i := range parts {
		for k := range x.groups {
			if q := &x.groups[k]; q.g.elements && q.g.cols[0] == parts[i].Col {
				q.part = sortedPart(&parts[i])
			}
		}
	}
}

// header is what is stored of a value under the row key.
type header struct {
	kind  byte // 0: there is none
	lower int  // of an array
	count int  // of elements
	whole []byte
}

func parseHeader(key, val []byte) (header, error) {
	if val == nil {
		return header{}, nil
	}
	b, err := codec.OpenBlob(key, val, codec.FormatHeader)
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("%w: header of a value without its kind", codec.ErrCorrupt)
	}
	if err != nil {
		return header{}, err
	}
	h := header{kind: b[0]}
	rest := b[1:]
	switch h.kind {
	case nullValue:
		return h, nil
	case wholeValue:
		h.whole = rest
		return h, nil
	case arrayValue:
		lower, n := binary.Varint(rest)
		h.lower, rest = int(lower), rest[max(n, 0):]
	case mapValue:
	default:
		return h, fmt.Errorf("%w: unknown kind %q of a value", codec.ErrCorrupt, h.kind)
	}
	count, n := binary.Uvarint(rest)
	if n <= 0 {
		return h, fmt.Errorf("%w: header without a number of elements", codec.ErrCorrupt)
	}
	h.count = int(count)
	return h, nil
}

// append appends the header as it is stored, without format and checksum.
func (h header) append(dst []byte) []byte {
	dst = append(dst, h.kind)
	switch h.kind {
	case nullValue:
		return dst
	case wholeValue:
		return append(dst, h.whole...)
	case arrayValue:
		dst = binary.AppendVarint(dst, int64(h.lower))
	}
	return binary.AppendUvarint(dst, uint64(h.count))
}

// appendIndexKey and appendMemberKey append the key of an element.
func appendIndexKey(dst, row []byte, i int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, row...), uint32(i))
}

func appendMemberKey(dst, row, member []byte) []byte {
	return append(binary.BigEndian.AppendUint32(append(dst, row...), uint32(len(member))), member...)
}

// memberOf returns the key of the member at a place, or nil if it is none of a map.
func memberOf(place []byte) []byte {
	if len(place) < 4 || int(binary.BigEndian.Uint32(place)) != len(place)-4 {
		return nil
	}
	return place[4:]
}

// readPart reads the part of the column's values: the headers of all rows at once,
// then the elements of all.
func (q *groupRead) readPart(ctx context.Context, x *decoder, r Reader, keys [][]byte, put func(i int, d types.Datum)) error {
	c := q.g.cols[0]
	t := x.d.Table.Columns[c].Type
	heads, err := x.batchGet(ctx, r, q.g.space, keys)
	if err != nil {
		return err
	}
	hs := make([]header, len(keys))
	var want codec.KeyBuf
	for i, key := range keys {
		if hs[i], err = parseHeader(key, heads[i]); err != nil {
			return corrupt(q.g.space, key, err)
		}
		switch hs[i].kind {
		case mapValue:
			for _, m := range q.part.Keys {
				want.Add(func(dst []byte) []byte { return appendMemberKey(dst, key, m) })
			}
		case arrayValue:
			for _, s := range q.part.inside(hs[i]) {
				want.Add(func(dst []byte) []byte { return appendIndexKey(dst, key, s-hs[i].lower) })
			}
		}
	}
	list := want.Keys(nil)
	vals, err := x.batchGet(ctx, r, q.g.space, list)
	if err != nil {
		return err
	}
	for i, key := range keys {
		switch h := hs[i]; h.kind {
		case 0:
			put(i, x.d.missing[c])
		case nullValue:
			put(i, types.Null(t))
		case wholeValue:
			put(i, types.Bytes(t, h.whole))
		case mapValue:
			n := len(q.part.Keys)
			elems, err := q.g.elems(t, list[:n], vals[:n])
			if err != nil {
				return corrupt(q.g.space, key, err)
			}
			var names [][]byte
			var members []types.Datum
			for k, e := range elems {
				if vals[k] != nil {
					names, members = append(names, q.part.Keys[k]), append(members, e)
				}
			}
			list, vals = list[n:], vals[n:]
			put(i, types.JoinMembers(t, names, members))
		case arrayValue:
			subs := q.part.inside(h)
			n := len(subs)
			if k := slices.IndexFunc(vals[:n], func(v []byte) bool { return v == nil }); k >= 0 {
				return corrupt(q.g.space, list[k], fmt.Errorf("%w: an element that the header counts is missing", codec.ErrCorrupt))
			}
			elems, err := q.g.elems(t, list[:n], vals[:n])
			if err != nil {
				return corrupt(q.g.space, key, err)
			}
			list, vals = list[n:], vals[n:]
			put(i, q.part.array(t, h, subs, elems))
		}
	}
	return nil
}

// inside returns the subscripts that an array with the header has.
func (p *Part) inside(h header) []int {
	lo, _ := slices.BinarySearch(p.Subs, h.lower)
	hi, _ := slices.BinarySearch(p.Subs, h.lower+h.count)
	return p.Subs[lo:hi]
}

// array makes an array of some of its elements.
func (p *Part) array(t types.T, h header, subs []int, elems []types.Datum) types.Datum {
	et, _ := types.ElementKeyType(t)
	lower, count := h.lower, h.count
	if !p.Span {
		if lower, count = 0, 0; len(subs) > 0 {
			lower, count = subs[0], subs[len(subs)-1]-subs[0]+1
		}
	}
	var dims, lbs []int
	all := make([]types.Datum, count)
	if count > 0 {
		dims, lbs = []int{count}, []int{lower}
	}
	for i := range all {
		all[i] = types.Null(et)
	}
	for i, s := range subs {
		all[s-lower] = elems[i]
	}
	d := types.NewArray(et, dims, lbs, all)
	d.T = t
	return d
}

// elems decodes elements; NULL where there is no value.
func (g *groupFile) elems(t types.T, keys, vals [][]byte) ([]types.Datum, error) {
	et, _ := types.ElementKeyType(t)
	out := make([]types.Datum, len(keys))
	var rows codec.Rows
	for i := 0; i < len(keys); {
		if vals[i] == nil {
			out[i] = types.Null(et)
			i++
			continue
		}
		start := i
		for i < len(keys) && vals[i] != nil {
			i++
		}
		if _, err := g.row.Load(&rows, keys[start:i], vals[start:i]); err != nil {
			return nil, err
		}
		v := codec.NewVec(et, i-start)
		if err := g.row.Column(&rows, 0, types.Null(et), v, 0); err != nil {
			return nil, err
		}
		for k := start; k < i; k++ {
			out[k] = v.Get(k - start)
		}
	}
	return out, nil
}

// putPart stores the elements of the part in which the new image differs from the
// old one, and the header if the number of elements changes.
func (w *Writer) putPart(ctx context.Context, g *groupFile, p *Part, row int, key []byte) error {
	head, err := getOne(ctx, w.tx, g.space, key)
	if err != nil {
		return err
	}
	h, err := parseHeader(key, head)
	if err != nil {
		return corrupt(g.space, key, err)
	}
	var old, now valuePairs
	if err := g.takeApart(&now, key, w.new.value(g.cols[0], row)); err != nil {
		return err
	}
	to := header{}
	if now.keys.Len() > 0 {
		if to, err = parseHeader(key, now.vals.Key(0)); err != nil {
			return err
		}
	}
	switch {
	case h.kind == mapValue && to.kind == mapValue:
		if err := g.takeApart(&old, key, w.old.value(g.cols[0], row)); err != nil {
			return err
		}
		added := now.keys.Len() - old.keys.Len()
		if err := w.putPairs(g, &old, &now, 1); err != nil || added == 0 {
			return err
		}
		h.count += added
		return w.putHeader(g, key, h)
	case h.kind == arrayValue && to.kind == arrayValue:
		return w.putSubscripts(ctx, g, p, row, key, h)
	}
	// The value has, or will have, no elements.
	if err := w.storedPairs(ctx, g, key, &old, false); err != nil {
		return err
	}
	return w.putPairs(g, &old, &now, 0)
}

func (w *Writer) putHeader(g *groupFile, key []byte, h header) error {
	w.valBuf = codec.AppendBlob(w.valBuf[:0], key, codec.FormatHeader, h.append(nil))
	return w.tx.Put(g.space, key, w.valBuf, kv.Covered)
}

// storedPairs reads what is stored of a row's value, or its keys alone.
func (w *Writer) storedPairs(ctx context.Context, g *groupFile, key []byte, p *valuePairs, keysOnly bool) error {
	q := groupRead{g: g}
	if err := q.scanElements(ctx, w.tx, key, keysOnly); err != nil {
		return err
	}
	p.keys.Reset()
	p.vals.Reset()
	for _, x := range q.pairs {
		p.add(x.Key, x.Val)
	}
	return nil
}

// maxElements is the greatest number of elements of an array.
const maxElements = 134217727

// putSubscripts stores the elements at the part's subscripts. An array grows to
// have them, with NULLs between; one that grows downwards is stored anew, for its
// elements get other places.
func (w *Writer) putSubscripts(ctx context.Context, g *groupFile, p *Part, row int, key []byte, h header) error {
	was, err := arrayOf(w.old.value(g.cols[0], row))
	if err != nil {
		return err
	}
	is, err := arrayOf(w.new.value(g.cols[0], row))
	if err != nil {
		return err
	}
	lower, end := min(h.lower, is.lower), max(h.lower+h.count, is.lower+len(is.elems))
	if end-lower > maxElements {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxElements)
	}
	et, _ := types.ElementKeyType(w.d.Table.Columns[g.cols[0]].Type)
	if lower < h.lower {
		return w.growDown(ctx, g, p, key, h, is, end-lower)
	}
	v := codec.NewVec(et, 1)
	var at []byte
	encode := func(dst []byte, s int, d types.Datum) []byte {
		v.Nulls.Clear()
		v.Set(0, d)
		at = appendIndexKey(at[:0], key, s-h.lower)
		return g.row.Append(dst[:0], []*vec.Vec{v}, 0, at)
	}
	put := func(s int, d types.Datum) error {
		w.valBuf = encode(w.valBuf, s, d)
		return w.tx.Put(g.space, at, w.valBuf, kv.Covered)
	}
	var before []byte
	for _, s := range p.inside(h) {
		if o, has := was.at(s); has {
			before = encode(before, s, o)
			if w.valBuf = encode(w.valBuf, s, is.get(s)); bytes.Equal(before, w.valBuf) {
				continue
			}
		}
		if err := put(s, is.get(s)); err != nil {
			return err
		}
	}
	for s := h.lower + h.count; s < end; s++ {
		if err := put(s, is.get(s)); err != nil {
			return err
		}
	}
	if end == h.lower+h.count {
		return nil
	}
	h.count = end - h.lower
	return w.putHeader(g, key, h)
}

// growDown stores an array that gets elements before its first one.
func (w *Writer) growDown(ctx context.Context, g *groupFile, p *Part, key []byte, h header, is subArray, count int) error {
	t := w.d.Table.Columns[g.cols[0]].Type
	var old, now valuePairs
	if err := w.storedPairs(ctx, g, key, &old, false); err != nil {
		return err
	}
	all := make([]types.Datum, count)
	elems, err := g.elems(t, old.keys.Keys(nil)[1:], old.vals.Keys(nil)[1:])
	if err != nil {
		return corrupt(g.space, key, err)
	}
	for i := range all {
		all[i] = types.Null(is.elem)
	}
	copy(all[h.lower-is.lower:], elems)
	for _, s := range p.Subs {
		if d, has := is.at(s); has {
			all[s-is.lower] = d
		}
	}
	d := types.NewArray(is.elem, []int{count}, []int{is.lower}, all)
	d.T = t
	if err := g.takeApart(&now, key, d); err != nil {
		return err
	}
	return w.putPairs(g, &old, &now, 0)
}

// subArray is an array of one dimension, or an empty one.
type subArray struct {
	elem  types.T
	lower int
	elems []types.Datum
}

func arrayOf(d types.Datum) (subArray, error) {
	elem, _, lbs, elems, err := types.ArrayElems(d)
	a := subArray{elem: elem, elems: elems}
	if len(lbs) > 0 {
		a.lower = lbs[0]
	}
	return a, err
}

// at returns the element at a subscript, if there is one; get NULL otherwise.
func (a *subArray) at(s int) (types.Datum, bool) {
	if s -= a.lower; s < 0 || s >= len(a.elems) {
		return types.Datum{}, false
	}
	return a.elems[s], true
}

func (a *subArray) get(s int) types.Datum {
	if d, has := a.at(s); has {
		return d
	}
	return types.Null(a.elem)
}
