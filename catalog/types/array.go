package types

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"kvsqld/catalog/sqlerr"
)

// Limits of arrays.
const (
	maxArrayDims  = 6
	maxArrayElems = 134217727
)

// ArrayOf returns the OID of the array type over elem, or 0.
func ArrayOf(elem OID) OID {
	if in := Lookup(elem); in != nil {
		return in.Array
	}
	return 0
}

// ElemType returns the type of an array type's elements; the modifier of the
// array is that of its elements. It is the zero T for other types.
func (t T) ElemType() T {
	if t.User == KArray {
		e := elementType(t.Elem)
		if e.User == KInvalid {
			e.Mod = t.Mod
		}
		return e
	}
	in := Lookup(t.OID)
	if in == nil || in.Kind != KArray {
		return T{}
	}
	return T{OID: in.Elem, Mod: t.Mod}
}

// NewArray builds an array of the given element type. dims are the lengths of
// the dimensions (none for an empty array) and lbs their lower bounds (nil: all
// 1); elems are in row-major order, as many as the product of dims.
func NewArray(elem T, dims []int, lbs []int, elems []Datum) Datum {
	t := T{OID: ArrayOf(elem.OID), Mod: elem.Mod}
	if elem.User != KInvalid {
		if b := elem.base(); b != 0 { // a domain: stored as what it is over
			elem = T{OID: b, Mod: -1}
		}
		t = T{Mod: -1, User: KArray, Elem: elem.OID}
	}
	return Datum{T: t, B: encodeArray(elem.OID, dims, lbs, elems)}
}

// NewVector builds a one-dimensional array from its elements; an empty one has
// no dimensions.
func NewVector(elem T, elems []Datum) Datum {
	if len(elems) == 0 {
		return NewArray(elem, nil, nil, nil)
	}
	return NewArray(elem, []int{len(elems)}, nil, elems)
}

// NewIntVector builds an int2vector or oidvector, whose lower bound is 0.
func NewIntVector(t T, vals []int64) Datum {
	elem := t.ElemType()
	elems := make([]Datum, len(vals))
	for i, v := range vals {
		elems[i] = Int(elem, v)
	}
	return Datum{T: t, B: encodeArray(elem.OID, []int{len(vals)}, []int{0}, elems)}
}

func encodeArray(elem OID, dims, lbs []int, elems []Datum) []byte {
	return appendArrayOf(make([]byte, 0, 20+8*len(dims)+12*len(elems)), elem, dims, lbs, elems)
}

func appendArrayOf(b []byte, elem OID, dims, lbs []int, elems []Datum) []byte {
	b = appendArrayHeader(b, elem, dims, lbs)
	for _, e := range elems {
		b = appendElement(b, e)
	}
	return b
}

func appendArrayHeader(b []byte, elem OID, dims, lbs []int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(dims)))
	b = binary.BigEndian.AppendUint32(b, 0) // flags: see appendElement
	b = binary.BigEndian.AppendUint32(b, uint32(elem))
	for i, n := range dims {
		lb := 1
		if lbs != nil {
			lb = lbs[i]
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		b = binary.BigEndian.AppendUint32(b, uint32(lb))
	}
	return b
}

// appendElement appends an element with its length to an array begun at b[0].
func appendElement(b []byte, e Datum) []byte {
	if e.Null {
		b[7] = 1 // the flag word says whether there are NULLs
		return binary.BigEndian.AppendUint32(b, 0xffffffff)
	}
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = AppendBinary(b, e)
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// ArrayIter walks the elements of an array without decoding all of it. The
// bytes of elements are the array's.
type ArrayIter struct {
	Elem      T
	Dims, Lbs []int
	left      int
	rest      []byte
	count     int // elements in all, and their bytes, for Rewind
	whole     []byte
	store     [2 * maxArrayDims]int
}

// Init starts over the array d; 22P03 if its bytes are damaged.
func (it *ArrayIter) Init(d Datum) error {
	it.Elem = d.T.ElemType()
	return it.init(d.B)
}

func (it *ArrayIter) init(b []byte) error {
	if len(b) < 8 {
		return errBinaryShort()
	}
	ndim := int32(binary.BigEndian.Uint32(b))
	if ndim < 0 {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid number of dimensions: %d", ndim)
	}
	if ndim > maxArrayDims {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", ndim, maxArrayDims)
	}
	if flags := binary.BigEndian.Uint32(b[4:]); flags > 1 {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid array flags")
	}
	if len(b) < 12 {
		return errBinaryShort()
	}
	elem := OID(binary.BigEndian.Uint32(b[8:]))
	if it.Elem.OID == 0 {
		it.Elem = Of(elem)
	}
	b = b[12:]
	if len(b) < int(ndim)*8 {
		return errBinaryShort()
	}
	n := int(ndim)
	it.Dims, it.Lbs = it.store[:n:n], it.store[maxArrayDims:maxArrayDims+n]
	it.left = 0
	if n > 0 {
		it.left = 1
	}
	for i := range n {
		size, lb := int32(binary.BigEndian.Uint32(b[8*i:])), int32(binary.BigEndian.Uint32(b[8*i+4:]))
		if size < 0 || int64(lb)+int64(size) > 1<<31-1 || it.left*int(size) > maxArrayElems {
			return sqlerr.New(sqlerr.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxArrayElems)
		}
		it.Dims[i], it.Lbs[i] = int(size), int(lb)
		it.left *= int(size)
	}
	it.rest = b[8*n:]
	it.count, it.whole = it.left, it.rest
	// Every element has a length word: more elements than that are a lie.
	if it.left > len(it.rest)/4 {
		return shortElements(it.rest)
	}
	return nil
}

// shortElements is the error of elements that end too early.
func shortElements(b []byte) error {
	for len(b) >= 4 {
		n := int32(binary.BigEndian.Uint32(b))
		b = b[4:]
		switch {
		case n < -1 || int(n) > len(b):
			return errElementShort()
		case n > 0:
			b = b[n:]
		}
	}
	return errBinaryShort()
}

// Len is the number of elements left.
func (it *ArrayIter) Len() int { return it.left }

// nextRaw returns the next element's bytes.
func (it *ArrayIter) nextRaw() (b []byte, null bool, err error) {
	if len(it.rest) < 4 {
		return nil, false, errBinaryShort()
	}
	n := int32(binary.BigEndian.Uint32(it.rest))
	it.rest = it.rest[4:]
	it.left--
	if n == -1 {
		return nil, true, nil
	}
	if n < 0 || int(n) > len(it.rest) {
		return nil, false, errElementShort()
	}
	b = it.rest[:n:n]
	it.rest = it.rest[n:]
	return b, false, nil
}

// Next returns the next element; ok is false after the last one.
func (it *ArrayIter) Next() (d Datum, ok bool, err error) {
	if it.left == 0 {
		if len(it.rest) != 0 {
			return d, false, errBinaryFormat()
		}
		return d, false, nil
	}
	b, null, err := it.nextRaw()
	if err != nil {
		return d, false, err
	}
	if null {
		return Null(it.Elem), true, nil
	}
	d, err = StoredElem(it.Elem, b)
	return d, err == nil, err
}

// ArrayElems decodes an array: its element type, the dimensions' lengths and
// lower bounds, and the elements in row-major order.
func ArrayElems(d Datum) (elem T, dims, lbs []int, elems []Datum, err error) {
	var it ArrayIter
	if err := it.Init(d); err != nil {
		return T{}, nil, nil, nil, err
	}
	elems = make([]Datum, 0, it.left)
	for {
		e, ok, err := it.Next()
		if err != nil {
			return T{}, nil, nil, nil, err
		}
		if !ok {
			return it.Elem, it.Dims, it.Lbs, elems, nil
		}
		elems = append(elems, e)
	}
}

// parseArrayBinary checks an array of type t and returns it in the form that
// AppendBinary gives it; elements are checked one by one.
func parseArrayBinary(t T, b []byte) (Datum, error) {
	d := Datum{T: t, B: b}
	var it ArrayIter
	if err := it.Init(d); err != nil {
		return d, err
	}
	if got := OID(binary.BigEndian.Uint32(b[8:])); misplaced(got, it.Elem.OID) {
		return d, errArrayElement(got, it.Elem.OID)
	}
	vector := t.OID == OInt2Vector || t.OID == OOidVector
	count := it.left
	elems := make([]Datum, 0, count)
	same, nulls := true, false
	var buf []byte
	for it.left > 0 {
		raw, null, err := it.nextRaw()
		if err != nil {
			return d, err
		}
		if null {
			nulls = true
			elems = append(elems, Null(it.Elem))
			continue
		}
		e, err := parseBinary(userValue(it.Elem, raw), raw)
		if err != nil {
			return d, partFormat(err, "array element", len(elems)+1)
		}
		if same {
			buf = AppendBinary(buf[:0], e)
			same = it.Elem.User != KInvalid || bytes.Equal(buf, raw)
		}
		elems = append(elems, e)
	}
	switch {
	case vector && (len(it.Dims) != 1 || it.Lbs[0] != 0 || nulls):
		return d, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid %s data", Lookup(t.OID).Name)
	case len(it.rest) != 0:
		return d, errBinaryFormat()
	case count == 0 && len(it.Dims) > 0 && !vector:
		d.B = encodeArray(it.Elem.OID, nil, nil, nil)
	case !same: // an element has another form of its own
		d.B = encodeArray(it.Elem.OID, it.Dims, it.Lbs, elems)
		return d, nil
	case nulls != (b[7] == 1):
		d.B = append([]byte(nil), b...)
		d.B[7] ^= 1
	}
	if it.Elem.User == KInvalid && OID(binary.BigEndian.Uint32(d.B[8:])) != it.Elem.OID {
		d.B = append([]byte(nil), d.B...)
		binary.BigEndian.PutUint32(d.B[8:], uint32(it.Elem.OID))
	}
	return d, nil
}

// partFormat says which part of a value goes on after its end.
func partFormat(err error, part string, n int) error {
	if e, ok := err.(*sqlerr.Error); ok && e.Message == TrailingBytes {
		return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "improper binary format in %s %d", part, n)
	}
	return err
}

// compareArrays compares element by element, then by number of elements,
// dimensions, lengths and bounds. NULL elements are greatest.
func compareArrays(a, b Datum) int {
	var x, y ArrayIter
	if x.Init(a) != nil || y.Init(b) != nil {
		return cmp.Compare(len(a.B), len(b.B))
	}
	nx, ny := x.left, y.left
	if bytewiseOrder(x.Elem, y.Elem) {
		if c := compareRaw(&x, &y); c != 0 {
			return c
		}
	}
	for x.left > 0 && y.left > 0 {
		u, ok1, err1 := x.Next()
		v, ok2, err2 := y.Next()
		if !ok1 || !ok2 || err1 != nil || err2 != nil {
			break
		}
		if c := Compare(u, v); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(nx, ny); c != 0 {
		return c
	}
	if c := cmp.Compare(len(x.Dims), len(y.Dims)); c != 0 {
		return c
	}
	for i := range x.Dims {
		if c := cmp.Compare(x.Dims[i], y.Dims[i]); c != 0 {
			return c
		}
	}
	if a.T.base() == OOidVector && b.T.base() == OOidVector {
		return 0 // text gives bounds from 0, a constructor from 1
	}
	for i := range x.Lbs {
		if c := cmp.Compare(x.Lbs[i], y.Lbs[i]); c != 0 {
			return c
		}
	}
	return 0
}

func hashArray(d Datum) uint64 {
	var it ArrayIter
	if it.Init(d) != nil {
		return HashBytes(d.B)
	}
	h := uint64(len(it.Dims))
	bytewise := it.Elem.BytewiseEqual()
	for it.left > 0 {
		if bytewise {
			raw, null, err := it.nextRaw()
			if err != nil {
				break
			}
			if h = CombineHash(h, HashBytes(raw)); null {
				h++
			}
			continue
		}
		e, ok, err := it.Next()
		if !ok || err != nil {
			break
		}
		h = CombineHash(h, Hash(e))
	}
	return h
}

// modArray applies the modifier of t to every element.
func modArray(d Datum, t T, explicit bool) (Datum, error) {
	elem, dims, lbs, elems, err := ArrayElems(d)
	if err != nil {
		return d, err
	}
	to := T{OID: elem.OID, Mod: t.Mod, User: elem.User, Elem: elem.Elem}
	for i := range elems {
		if elems[i], err = ApplyMod(elems[i], to, explicit); err != nil {
			return d, err
		}
	}
	return Datum{T: t, B: encodeArray(elem.OID, dims, lbs, elems)}, nil
}
