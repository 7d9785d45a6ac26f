package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// This file works on the stored form of arrays, element by element, without
// making datums of them.

// NextRaw returns the next element's stored bytes, which are the array's, or that
// it is NULL; ok is false after the last one.
func (it *ArrayIter) NextRaw() (b []byte, null, ok bool, err error) {
	if it.left == 0 {
		if len(it.rest) != 0 {
			return nil, false, false, errBinaryFormat()
		}
		return nil, false, false, nil
	}
	b, null, err = it.nextRaw()
	return b, null, err == nil, err
}

// Rewind goes back to the first element.
func (it *ArrayIter) Rewind() { it.left, it.rest = it.count, it.whole }

// Raw returns the stored form of all elements, with their length words.
func (it *ArrayIter) Raw() []byte { return it.whole }

// Skip passes n elements.
func (it *ArrayIter) Skip(n int) error {
	if w := storedWidth(it.Elem); w > 0 && n > 0 && len(it.whole) == it.count*(4+w) { // none is NULL
		it.rest, it.left = it.rest[n*(4+w):], it.left-n
		return nil
	}
	for ; n > 0; n-- {
		if _, _, err := it.nextRaw(); err != nil {
			return err
		}
	}
	return nil
}

// storedWidth is the length of all elements of a type, 0 if they differ.
func storedWidth(elem T) int {
	switch elem.Kind() {
	case KBool:
		return 1
	case KInt2:
		return 2
	case KInt4, KOid, KDate, KFloat4:
		return 4
	case KInt8, KTime, KTimestamp, KTimestamptz, KFloat8, KMoney:
		return 8
	case KUUID, KInterval:
		return 16
	}
	return 0
}

// StoredElem reads an element of a stored array, which was checked when it was
// made; the datum shares its bytes.
func StoredElem(elem T, b []byte) (Datum, error) {
	if elem.User == KInvalid {
		switch elem.Kind() {
		case KText:
			switch elem.OID {
			case OText, OVarchar, OName, OPgNodeTree, 3361, 3402, 5017: // the last four cannot be read from text
				return Datum{T: elem, B: b}, nil
			}
		case KJSON, KArray:
			return Datum{T: elem, B: b}, nil
		case KJSONB:
			if len(b) > 1 && b[0] == 1 {
				return Datum{T: elem, B: b[1:]}, nil
			}
		}
	}
	return checkedElem(elem, b)
}

// checkedElem is StoredElem for bytes that may be damaged.
func checkedElem(elem T, b []byte) (Datum, error) { return parseBinary(userValue(elem, b), b) }

// StoredInt reads an element of a type that is represented as an integer.
func StoredInt(k Kind, b []byte) int64 {
	switch len(b) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		if k == KOid {
			return int64(binary.BigEndian.Uint32(b))
		}
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// BytewiseEqual reports whether values of the type are equal exactly when their
// stored forms as elements are the same bytes.
func (t T) BytewiseEqual() bool {
	if t.User != KInvalid {
		return false
	}
	switch t.Kind() {
	case KBool, KInt2, KInt4, KInt8, KOid, KDate, KTime, KTimestamp, KTimestamptz, KBytea, KUUID, KMoney:
		return true
	case KText:
		return t.OID == OText || t.OID == OVarchar || t.OID == OName
	}
	return false
}

// AppendArray appends the stored form of NewArray to b, which is empty.
func AppendArray(b []byte, elem T, dims, lbs []int, elems []Datum) []byte {
	if o := elem.base(); elem.User != KInvalid && o != 0 { // a domain: stored as what it is over
		elem = T{OID: o, Mod: -1}
	}
	return appendArrayOf(b, elem.OID, dims, lbs, elems)
}

// AppendArrayHeader appends what stands before the elements of an array to b,
// which is empty. The elements follow with AppendArrayElem and AppendRawElem.
func AppendArrayHeader(b []byte, elem OID, dims, lbs []int) []byte {
	return appendArrayHeader(b, elem, dims, lbs)
}

// AppendArrayElem appends an element.
func AppendArrayElem(b []byte, e Datum) []byte { return appendElement(b, e) }

// AppendRawElem appends an element in its stored form, or NULL.
func AppendRawElem(b, raw []byte, null bool) []byte {
	if null {
		b[7] = 1
		return binary.BigEndian.AppendUint32(b, 0xffffffff)
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(raw))), raw...)
}

// AppendRawElems appends the elements of another array, given by its stored form
// from the first byte on.
func AppendRawElems(b, from []byte, it *ArrayIter) []byte {
	b[7] |= from[7]
	return append(b, it.whole...)
}

// SetArrayLength sets the length of the first dimension of an array in the making.
func SetArrayLength(b []byte, n int) { binary.BigEndian.PutUint32(b[12:], uint32(n)) }

// ArrayElemOID is the element type that a stored array names.
func ArrayElemOID(b []byte) OID { return OID(binary.BigEndian.Uint32(b[8:])) }

// bytewiseOrder reports whether elements of two arrays are compared by compareRaw.
func bytewiseOrder(a, b T) bool {
	return a.OID == b.OID && a.BytewiseEqual() && b.BytewiseEqual()
}

// compareRaw compares elements up to the end of the shorter array; NULL is greatest.
func compareRaw(x, y *ArrayIter) int {
	kind := x.Elem.Kind()
	ints := x.Elem.Rep() == RepInt
	for x.left > 0 && y.left > 0 {
		a, anull, err1 := x.nextRaw()
		b, bnull, err2 := y.nextRaw()
		if err1 != nil || err2 != nil {
			return 0
		}
		c := 0
		switch {
		case anull && bnull:
		case anull:
			c = 1
		case bnull:
			c = -1
		case ints:
			c = cmp.Compare(StoredInt(kind, a), StoredInt(kind, b))
		default:
			c = bytes.Compare(a, b)
		}
		if c != 0 {
			return c
		}
	}
	return 0
}
