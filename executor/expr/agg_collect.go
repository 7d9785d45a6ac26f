package expr

import (
	"encoding/binary"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// stringAgg is string_agg of text or bytea: NULL values are skipped, and the
// delimiter of the first value is dropped.
type stringAgg struct {
	t    types.T
	bufs [][]byte
	// first[g] is the length of the first delimiter, kept at the front for
	// merging, plus one; 0 while the group is empty.
	first []int
	size  int64
}

func (a *stringAgg) Grow(n int) { a.bufs, a.first = growTo(a.bufs, n), growTo(a.first, n) }

func (a *stringAgg) Add(env *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, delim := args[0], args[1]
	for k, i := range aggRows(groups, sel) {
		if v.IsNull(int(i)) {
			continue
		}
		g, before := groups[k], len(a.bufs[groups[k]])
		var d []byte
		if !delim.IsNull(int(i)) {
			d = delim.B[delim.Idx(int(i))]
		}
		if a.first[g] == 0 {
			a.first[g] = len(d) + 1
		}
		x := v.B[v.Idx(int(i))]
		buf, err := env.enlarge(a.bufs[g], len(d)+len(x))
		if err != nil {
			return err
		}
		a.bufs[g] = append(append(buf, d...), x...)
		a.size += int64(len(a.bufs[g]) - before)
	}
	return nil
}

func (a *stringAgg) Merge(o Aggregator, src, dst int) error {
	b := o.(*stringAgg)
	if b.first[src] == 0 {
		return nil
	}
	if a.first[dst] == 0 {
		a.first[dst] = b.first[src]
	}
	a.bufs[dst] = append(a.bufs[dst], b.bufs[src]...)
	a.size += int64(len(b.bufs[src]))
	return nil
}

func (a *stringAgg) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(a.t, max(to-from, 1))
	for k := range to - from {
		g := from + k
		if a.first[g] == 0 {
			out.Nulls.Set(k)
			continue
		}
		b := a.bufs[g][a.first[g]-1:]
		out.B[k] = b[:len(b):len(b)]
	}
	return nil
}

func (a *stringAgg) Reset(g int) {
	a.size -= int64(len(a.bufs[g]))
	a.bufs[g], a.first[g] = nil, 0
}

func (a *stringAgg) Bytes() int64 { return a.size + int64(cap(a.bufs))*32 }

// arrayAgg is array_agg of scalars. Groups hold the elements in the array
// format's own encoding: length (-1: NULL) and bytes.
type arrayAgg struct {
	elem  types.T
	bufs  [][]byte
	count []int32
	nulls []bool
	size  int64
}

func (a *arrayAgg) Grow(n int) {
	a.bufs, a.count, a.nulls = growTo(a.bufs, n), growTo(a.count, n), growTo(a.nulls, n)
}

func (a *arrayAgg) Add(env *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	for k, i := range aggRows(groups, sel) {
		g, d := groups[k], args[0].Get(int(i))
		before := len(a.bufs[g])
		a.nulls[g] = a.nulls[g] || d.Null
		if len(d.B) >= largeValue/16 || before >= largeValue/2 {
			var err error
			if a.bufs[g], err = env.enlarge(a.bufs[g], len(d.B)+datumBytes); err != nil {
				return err
			}
		}
		a.bufs[g] = appendElement(a.bufs[g], d)
		a.count[g]++
		a.size += int64(len(a.bufs[g]) - before)
	}
	return nil
}

// appendElement appends an array element: its length and binary form.
func appendElement(buf []byte, d types.Datum) []byte {
	if d.Null {
		return append(buf, 0xff, 0xff, 0xff, 0xff)
	}
	at := len(buf)
	buf = types.AppendBinary(append(buf, 0, 0, 0, 0), d)
	binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
	return buf
}

// appendArrayHeader appends the header of an array with the given dimensions.
func appendArrayHeader(buf []byte, elem types.OID, nulls bool, dims, lbs []int) []byte {
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(dims)))
	flag := uint32(0)
	if nulls {
		flag = 1
	}
	buf = binary.BigEndian.AppendUint32(buf, flag)
	buf = binary.BigEndian.AppendUint32(buf, uint32(elem))
	for k, d := range dims {
		buf = binary.BigEndian.AppendUint32(buf, uint32(d))
		buf = binary.BigEndian.AppendUint32(buf, uint32(lbs[k]))
	}
	return buf
}

func (a *arrayAgg) Merge(o Aggregator, src, dst int) error {
	b := o.(*arrayAgg)
	a.bufs[dst] = append(a.bufs[dst], b.bufs[src]...)
	a.count[dst] += b.count[src]
	a.nulls[dst] = a.nulls[dst] || b.nulls[src]
	a.size += int64(len(b.bufs[src]))
	return nil
}

func (a *arrayAgg) Result(env *Env, out *vec.Vec, from, to int) error {
	t := out.T
	if t.Kind() != types.KArray {
		t = types.Of(types.ArrayOf(a.elem.OID))
	}
	out.Reset(t, max(to-from, 1))
	for k := range to - from {
		g := from + k
		if a.count[g] == 0 {
			out.Nulls.Set(k)
			continue
		}
		if err := env.room(int64(len(a.bufs[g]))); err != nil {
			return err
		}
		b := appendArrayHeader(make([]byte, 0, 20+len(a.bufs[g])), a.elem.OID, a.nulls[g], []int{int(a.count[g])}, []int{1})
		out.B[k] = append(b, a.bufs[g]...)
	}
	return nil
}

func (a *arrayAgg) Reset(g int) {
	a.size -= int64(len(a.bufs[g]))
	a.bufs[g], a.count[g], a.nulls[g] = nil, 0, false
}

func (a *arrayAgg) Bytes() int64 { return a.size + int64(cap(a.bufs))*40 }

// nestedArrayAgg is array_agg of arrays of one shape: one dimension more.
type nestedArrayAgg struct {
	rows [][]types.Datum
	t    types.T
	size int64
}

func (a *nestedArrayAgg) Grow(n int) { a.rows = growTo(a.rows, n) }

func (a *nestedArrayAgg) Add(env *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	for k, i := range aggRows(groups, sel) {
		d := args[0].Get(int(i))
		a.t = d.T
		if d.Null {
			return sqlerr.New(sqlerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
		if len(a.rows[groups[k]]) == 0 {
			if err := notEmpty(d); err != nil {
				return err
			}
		}
		if err := env.room(int64(len(d.B))); err != nil {
			return err
		}
		a.rows[groups[k]] = append(a.rows[groups[k]], own(d))
		a.size += int64(len(d.B)) + 160
	}
	return nil
}

func (a *nestedArrayAgg) Merge(o Aggregator, src, dst int) error {
	b := o.(*nestedArrayAgg)
	if b.t.OID != 0 {
		a.t = b.t
	}
	a.rows[dst] = append(a.rows[dst], b.rows[src]...)
	a.size += b.size
	return nil
}

func (a *nestedArrayAgg) Result(_ *Env, out *vec.Vec, from, to int) error {
	t := a.t
	if t.OID == 0 {
		t = out.T
	}
	out.Reset(t, max(to-from, 1))
	for k := range to - from {
		if len(a.rows[from+k]) == 0 {
			out.Nulls.Set(k)
			continue
		}
		d, err := collectArrays(elemType(t), a.rows[from+k])
		if err != nil {
			return err
		}
		out.B[k] = d.B
	}
	return nil
}

// notEmpty refuses an empty array, which has no place in one of arrays.
func notEmpty(d types.Datum) error {
	_, dims, _, _, err := types.ArrayElems(d)
	if err == nil && len(dims) == 0 {
		err = sqlerr.New(sqlerr.ArraySubscriptError, "cannot accumulate empty arrays")
	}
	return err
}

// collectArrays makes one array of the arrays that came one after the other.
func collectArrays(elem types.T, arrays []types.Datum) (types.Datum, error) {
	if len(arrays) > 0 {
		null := types.Null(arrays[0].T)
		if !arrays[0].Null {
			if err := notEmpty(arrays[0]); err != nil {
				return null, err
			}
		}
		if slices.ContainsFunc(arrays, func(d types.Datum) bool { return d.Null }) {
			return null, sqlerr.New(sqlerr.NullValueNotAllowed, "cannot accumulate null arrays")
		}
	}
	d, err := nestArrays(elem, arrays)
	if err != nil {
		return d, sqlerr.New(sqlerr.ArraySubscriptError, "cannot accumulate arrays of different dimensionality")
	}
	return d, nil
}

func (a *nestedArrayAgg) Reset(g int)  { a.rows[g] = nil }
func (a *nestedArrayAgg) Bytes() int64 { return a.size }
