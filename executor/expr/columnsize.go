package expr

import (
	"encoding/binary"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// The sizes that pg_column_size reports are those of PostgreSQL's form of a
// value, which programs compare with its documentation: a header of four bytes
// (one in a stored row, where the value is short), fields at multiples of their
// alignment. What this server stores is shown by kvsqld inspect.

const (
	varHead    = 4   // header of a value of varying length
	shortHead  = 1   // the same within a row
	maxShort   = 127 // bytes with a short header
	maxAlign   = 8
	jsonbEntry = 4 // what describes an element or a key
)

// columnSize is pg_column_size. A column's value has the size that it has in a row.
func columnSize(c *callCtx, a []types.Datum) (types.Datum, error) {
	d := a[0]
	if d.T.OID == types.OUnknown {
		return intDatum(int64(len(d.B) + 1)), nil
	}
	n, varying, err := valueSize(d)
	if err != nil {
		return null, err
	}
	if varying {
		_, stored := c.call.Args[0].(*plan.Col)
		n = withHead(n, stored)
	}
	return intDatum(int64(n)), nil
}

// withHead adds the header of a value of varying length.
func withHead(n int, short bool) int {
	if short && n+shortHead <= maxShort {
		return n + shortHead
	}
	return n + varHead
}

func alignTo(n, align int) int { return (n + align - 1) / align * align }

// alignOf is the alignment of a type's values.
func alignOf(t types.T) int {
	in := types.Lookup(t.OID)
	if in == nil {
		return 4
	}
	switch in.Align {
	case 'c':
		return 1
	case 's':
		return 2
	case 'd':
		return maxAlign
	}
	return 4
}

// valueSize is the size of a value, without the header where its length varies.
func valueSize(d types.Datum) (n int, varying bool, err error) {
	if in := types.Lookup(d.T.OID); in != nil && in.Len > 0 {
		return int(in.Len), false, nil
	}
	switch d.T.Kind() {
	case types.KNumeric:
		n = numericSize(d)
	case types.KArray:
		n, err = arraySize(d)
	case types.KJSONB:
		n = jsonbSize(d.B)
	case types.KRange:
		var r types.RangeValue
		r, err = types.DecodeRange(d)
		if err == nil {
			n, err = rangeSize(r)
		}
	case types.KMultirange:
		n, err = multirangeSize(d)
	case types.KRecord:
		n, err = recordSize(d)
	case types.KEnum:
		return 4, false, nil
	case types.KInet:
		n = 2 + 4 // family, bits, address
		if b := types.AppendBinary(nil, d); len(b) > 0 && b[0] != 2 {
			n = 2 + 16
		}
	case types.KBit:
		n = len(types.AppendBinary(nil, d)) // number of bits, bits
	default:
		if snap, ok := types.ParseSnapshot(string(d.B)); ok && (d.T.OID == types.OPgSnapshot || d.T.OID == types.OTxidSnapshot) {
			return 4 + 8*(2+len(snap.Xip)), true, nil // number, bounds, transactions
		}
		n = len(types.AppendBinary(nil, d))
	}
	return n, true, err
}

// numericSize counts the header and the digits to base 10,000.
func numericSize(d types.Datum) int {
	b := types.AppendBinary(nil, d)
	digits, weight, scale := int(binary.BigEndian.Uint16(b)), int16(binary.BigEndian.Uint16(b[2:])), binary.BigEndian.Uint16(b[6:])
	head := 2
	if digits > 0 && (weight < -64 || weight > 63) || scale > 63 {
		head = 4
	}
	return head + 2*digits
}

// fieldSize puts a value behind n bytes. A value of varying length has a short
// header where packed, and then no alignment.
func fieldSize(n int, d types.Datum, packed bool) (int, error) {
	size, varying, err := valueSize(d)
	if err != nil {
		return 0, err
	}
	if varying {
		short := packed && size+shortHead <= maxShort
		size = withHead(size, packed)
		if short {
			return n + size, nil
		}
	}
	return alignTo(n, alignOf(d.T)) + size, nil
}

func arraySize(d types.Datum) (int, error) {
	p, err := partsOf(d)
	if err != nil {
		return 0, err
	}
	n := varHead + 12 + 8*len(p.dims) // dimensions, offset of the data, element type, lengths and bounds
	nulls := false
	for _, e := range p.elems {
		nulls = nulls || e.Null
	}
	if nulls {
		n += (len(p.elems) + 7) / 8
	}
	n = alignTo(n, maxAlign)
	if len(p.elems) == 0 {
		return varHead + 12 - varHead, nil
	}
	for _, e := range p.elems {
		if e.Null {
			continue
		}
		if n, err = fieldSize(n, e, false); err != nil {
			return 0, err
		}
		n = alignTo(n, alignOf(p.elem))
	}
	return n - varHead, nil
}

func rangeSize(r types.RangeValue) (n int, err error) {
	n = varHead + 4 // the type
	for _, b := range []*types.Datum{r.Lo, r.Hi} {
		if b != nil {
			if n, err = fieldSize(n, *b, true); err != nil {
				return 0, err
			}
		}
	}
	return n + 1 - varHead, nil // flags
}

func multirangeSize(d types.Datum) (int, error) {
	list, err := types.DecodeMultirange(d)
	if err != nil {
		return 0, err
	}
	align := 4
	for _, r := range list {
		if r.Lo != nil {
			align = max(align, alignOf(r.Lo.T))
		} else if r.Hi != nil {
			align = max(align, alignOf(r.Hi.T))
		}
	}
	n := varHead + 8 // type, number of ranges
	if len(list) > 0 {
		n += 4*(len(list)-1) + len(list)
	}
	n = alignTo(n, align)
	for _, r := range list {
		size, err := rangeSize(r)
		if err != nil {
			return 0, err
		}
		n += alignTo(size-4-1, align)
	}
	return n - varHead, nil
}

// recordSize is that of a row: its header, then the fields.
func recordSize(d types.Datum) (int, error) {
	fields, err := types.RecordFields(d)
	if err != nil {
		return 0, err
	}
	const rowHead = 23
	n := rowHead
	for _, f := range fields {
		if f.Null {
			n = rowHead + (len(fields)+7)/8
			break
		}
	}
	n = alignTo(n, maxAlign)
	for _, f := range fields {
		if f.Null {
			continue
		}
		if n, err = fieldSize(n, f, true); err != nil {
			return 0, err
		}
	}
	return n - varHead, nil
}

// jsonbSize is that of the binary form: for each container a header, an entry for
// each key and value, then the keys and the values.
func jsonbSize(b []byte) int {
	if isContainer(b) {
		return jsonbContainer(varHead, b, nil) - varHead
	}
	// A scalar is the one element of an array.
	return jsonbValue(varHead+4+jsonbEntry, b, nil) - varHead
}

// jsonbPlaces are the places of a document's containers in the binary form, by the
// capacity of their texts, which are parts of the document's.
func jsonbPlaces(b []byte) map[int]int {
	places := map[int]int{}
	jsonbContainer(0, b, func(n int, b []byte) { places[cap(b)] = n })
	return places
}

// jsonbContainer is where a container that begins at n ends; seen, if there is one, is
// called with it and those inside.
func jsonbContainer(n int, b []byte, seen func(n int, b []byte)) int {
	if seen != nil {
		seen(n, b)
	}
	n += 4
	var values [][]byte
	if jsonKind(b) == '{' {
		keys := 0
		eachMember(b, func(k, v []byte) bool {
			keys += len(jsonString(k))
			values = append(values, v)
			return true
		})
		n += 2*jsonbEntry*len(values) + keys
	} else {
		eachElement(b, func(v []byte) bool {
			values = append(values, v)
			return true
		})
		n += jsonbEntry * len(values)
	}
	for _, v := range values {
		n = jsonbValue(n, v, seen)
	}
	return n
}

// jsonbValue is where a value behind n bytes ends. Numbers and containers are aligned.
func jsonbValue(n int, v []byte, seen func(n int, b []byte)) int {
	switch k := jsonKind(v); k {
	case '{', '[':
		return jsonbContainer(alignTo(n, 4), v, seen)
	case '"':
		return n + len(jsonString(v))
	case 't', 'f', 'n':
		return n
	}
	d, err := types.ParseDecimal(string(v))
	if err != nil {
		return n
	}
	return alignTo(n, 4) + varHead + numericSize(types.Datum{T: types.TNumeric, Dec: d})
}
