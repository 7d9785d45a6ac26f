package types

import (
	"encoding/binary"

	"kvsqld/catalog/sqlerr"
)

// The binary form that clients send and receive differs from the one that is
// stored (AppendBinary) in what users made: an enum value is its label alone, a
// range does not tell the type of its bounds. So do arrays and rows with such values.

// AppendClient appends the binary form of a non-null value as clients read it. Where o
// knows them, rows of composite types tell the types of their attributes, which may be
// domains: what is stored is of the type below.
func AppendClient(buf []byte, d Datum, o *FmtOpts) []byte {
	switch k := d.T.Kind(); {
	case k == KEnum:
		return append(buf, EnumLabel(d.B)...)
	case d.T.User == KRange || d.T.User == KMultirange:
		return append(buf, rangeBinary(d)...)
	case d.T.User == KArray || k == KArray && d.T.ElemType().Kind() == KRecord:
		return appendClientArray(buf, d, o)
	case k == KRecord:
		return appendClientRecord(buf, d, o)
	}
	return AppendBinary(buf, d)
}

func appendClientArray(buf []byte, d Datum, o *FmtOpts) []byte {
	_, dims, lbs, elems, err := ArrayElems(d)
	if err != nil {
		return append(buf, d.B...)
	}
	at := len(buf)
	buf = append(buf, appendArrayHeader(nil, d.T.ElemType().OID, dims, lbs)...)
	for _, e := range elems {
		if e.Null {
			buf[at+7] = 1
		}
		buf = appendClientField(buf, e, o)
	}
	return buf
}

func appendClientRecord(buf []byte, d Datum, o *FmtOpts) []byte {
	fields, err := recordFields(d.B, StoredElem)
	if err != nil {
		return append(buf, d.B...)
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(fields)))
	attrs := attributesOf(d.T, len(fields), o)
	for i, f := range fields {
		t := f.T
		if attrs != nil {
			t = attrs[i]
		}
		buf = appendClientField(binary.BigEndian.AppendUint32(buf, uint32(t.OID)), f, o)
	}
	return buf
}

// attributesOf returns the types of a composite type's n attributes, nil where they are
// not known.
func attributesOf(t T, n int, o *FmtOpts) []T {
	if o == nil || o.Reg == nil || t.OID == ORecord {
		return nil
	}
	if _, attrs, err := o.Reg.Attributes(t.OID); err == nil && len(attrs) == n {
		return attrs
	}
	return nil
}

// appendClientField appends a value with its length before it, -1 for NULL.
func appendClientField(buf []byte, d Datum, o *FmtOpts) []byte {
	if d.Null {
		return append(buf, 0xff, 0xff, 0xff, 0xff)
	}
	at := len(buf)
	buf = AppendClient(append(buf, 0, 0, 0, 0), d, o)
	binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
	return buf
}

// ParseArrayBinary reads the binary form of an array of type t over a
// user-defined type, as clients send it; read reads an element, given its type and its bytes.
func ParseArrayBinary(t T, b []byte, read func(T, []byte) (Datum, error)) (Datum, error) {
	var it ArrayIter
	if err := it.Init(Datum{T: t, B: b}); err != nil {
		return Datum{}, err
	}
	if got := OID(binary.BigEndian.Uint32(b[8:])); misplaced(got, t.Elem) {
		return Datum{}, errArrayElement(got, t.Elem)
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
				return Datum{}, partFormat(err, "array element", len(elems)+1)
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

// ParseRecordBinary reads the binary form of a value of the named composite type
// t, as clients send it; read reads a field, given its type and its bytes.
func ParseRecordBinary(t T, b []byte, reg RegNames, read func(T, []byte) (Datum, error)) (Datum, error) {
	if reg == nil || t.OID == ORecord {
		return Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "input of anonymous composite types is not implemented")
	}
	_, attrs, err := reg.Attributes(t.OID)
	if err != nil {
		return Datum{}, err
	}
	take := func() (n uint32, ok bool) {
		if ok = len(b) >= 4; ok {
			n, b = binary.BigEndian.Uint32(b), b[4:]
		}
		return n, ok
	}
	n, ok := take()
	if !ok {
		return Datum{}, errBinaryShort()
	}
	if int32(n) != int32(len(attrs)) {
		return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "wrong number of columns: %d, expected %d", int32(n), len(attrs))
	}
	fields := make([]Datum, len(attrs))
	for i, a := range attrs {
		got, ok := take()
		if !ok {
			return Datum{}, errBinaryShort()
		}
		if misplaced(OID(got), a.OID) {
			return Datum{}, sqlerr.New(sqlerr.DatatypeMismatch, "binary data has type %d (%s) instead of expected %d (%s) in record column %d",
				got, FormatTypeNoMod(OID(got)), a.OID, FormatTypeNoMod(a.OID), i+1)
		}
		size, ok := take()
		switch {
		case !ok:
			return Datum{}, errBinaryShort()
		case int32(size) == -1:
			fields[i], err = nullPart(a, reg)
		case int32(size) < 0 || int(size) > len(b):
			return Datum{}, errElementShort()
		default:
			if fields[i], err = read(a, b[:size:size]); err != nil {
				return Datum{}, partFormat(err, "record column", i+1)
			}
			if _, ok := domainBase(a, reg); ok {
				fields[i], err = reg.InDomain(a, fields[i])
			}
			b = b[size:]
		}
		if err != nil {
			return Datum{}, err
		}
	}
	if len(b) != 0 {
		return Datum{}, errBinaryFormat()
	}
	d := NewRecord(fields)
	d.T = t
	return d, nil
}

// misplaced reports that a value is certainly not of the wanted type. OIDs of
// user-defined types differ between databases, so they tell nothing.
func misplaced(got, want OID) bool {
	return got != want && got < firstInitOID && want < firstInitOID
}

// firstInitOID is the first OID that is not fixed for all servers.
const firstInitOID = 10000

func errArrayElement(got, want OID) error {
	return sqlerr.New(sqlerr.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
		got, FormatTypeNoMod(got), want, FormatTypeNoMod(want))
}
