package types

import (
	"encoding/binary"
	"math"

	"kvsqld/catalog/sqlerr"
)

// enumPrefix is the length in bytes of an enum value's rank.
const enumPrefix = 8

// Enum makes a value of an enum type: the label's place in the type's order,
// as 8 bytes that sort like the number, followed by the label. So values
// compare, hash and make keys as plain bytes, and print without a catalog. An
// enum's order numbers never change once they are given out.
func Enum(t T, order float64, label string) Datum {
	bits := math.Float64bits(order)
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, enumPrefix+len(label)), bits)
	return Datum{T: t, B: append(b, label...)}
}

// EnumLabel returns the label of an enum value's bytes.
func EnumLabel(b []byte) []byte { return b[min(enumPrefix, len(b)):] }

// ArrayBinary returns the binary form of an array over a user-defined type:
// its bytes, with the labels alone of enum elements and ranges as clients read them.
func ArrayBinary(d Datum) []byte {
	_, dims, lbs, elems, err := ArrayElems(d)
	if err != nil {
		return d.B
	}
	for i := range elems {
		switch k := elems[i].T.Kind(); {
		case elems[i].Null:
		case k == KEnum:
			elems[i].B = EnumLabel(elems[i].B)
		case k == KRange || k == KMultirange:
			elems[i].B = RangeBinary(elems[i])
		}
	}
	return encodeArray(d.T.Elem, dims, lbs, elems)
}

// ParseArrayBinary reads the binary form of an array of type t over a
// user-defined type; read reads an element, given its type and its bytes.
// 42804 if the array's elements are of another type.
func ParseArrayBinary(t T, b []byte, read func(T, []byte) (Datum, error)) (Datum, error) {
	var it ArrayIter
	if err := it.Init(Datum{T: t, B: b}); err != nil {
		return Datum{}, err
	}
	if got := OID(binary.BigEndian.Uint32(b[8:])); got != t.Elem {
		return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "binary data has array element type %d instead of expected %d", got, t.Elem)
	}
	var elems []Datum
	for it.Len() > 0 {
		raw, null, err := it.nextRaw()
		if err != nil {
			return Datum{}, err
		}
		e := Null(it.Elem)
		if !null {
			if e, err = read(it.Elem, raw); err != nil {
				return Datum{}, err
			}
		}
		elems = append(elems, e)
	}
	if len(it.rest) != 0 {
		return Datum{}, errBinaryFormat()
	}
	if len(elems) == 0 {
		it.Dims, it.Lbs = nil, nil
	}
	return Datum{T: t, B: encodeArray(t.Elem, it.Dims, it.Lbs, elems)}, nil
}
