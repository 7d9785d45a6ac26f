package types

import (
	"cmp"
	"encoding/binary"
	"math"
	"strings"
)

// elementType is the type of a value inside an array or record, known only by
// OID. Values of user-defined types are enum values until their bytes say else.
func elementType(o OID) T {
	if Lookup(o) == nil {
		return T{OID: o, Mod: -1, User: KEnum}
	}
	return Of(o)
}

// userValue tells what a value of a user-defined type is from its bytes: the rank
// of an enum value never begins with a zero byte, rows and arrays do. An array has
// flags, 0 or 1, and its elements' type where a row has the type of its first
// field; one without elements is longer than a row without fields. Ranges say what
// they are.
func userValue(t T, b []byte) T {
	if t.User != KEnum || len(b) == 0 || b[0] > userMultirange {
		return t
	}
	if b[0] != 0 {
		t.User = KRange
		if b[0] == userMultirange {
			t.User = KMultirange
		}
		if len(b) >= userRangeHead {
			t.Elem = OID(binary.BigEndian.Uint32(b[1:]))
		}
		return t
	}
	t.User = KRecord
	if len(b) >= 12 && binary.BigEndian.Uint32(b[4:]) <= 1 {
		t.User, t.Elem = KArray, OID(binary.BigEndian.Uint32(b[8:]))
	}
	return t
}

// NewRecord builds an anonymous record of the given fields.
func NewRecord(fields []Datum) Datum {
	return Datum{T: TRecord, B: AppendRecord(nil, fields)}
}

// AppendRecord appends the bytes of a record. A field of a domain has the type
// that the domain is over, so that it can be read without a catalog.
func AppendRecord(b []byte, fields []Datum) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(fields)))
	for _, f := range fields {
		oid := f.T.OID
		if base := f.T.base(); base != 0 {
			oid = base
		}
		b = binary.BigEndian.AppendUint32(b, uint32(oid))
		if f.Null {
			b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
			continue
		}
		at := len(b)
		b = AppendBinary(append(b, 0, 0, 0, 0), f)
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	return b
}

// RecordFields decodes a record's fields.
func RecordFields(d Datum) ([]Datum, error) { return recordFields(d.B, StoredElem) }

func recordFields(b []byte, read func(T, []byte) (Datum, error)) ([]Datum, error) {
	if len(b) < 4 {
		return nil, errBinaryShort()
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	b = b[4:]
	if n < 0 || n > len(b)/8 {
		return nil, errBinaryShort()
	}
	out := make([]Datum, n)
	for i := range out {
		if len(b) < 8 {
			return nil, errBinaryShort()
		}
		t := elementType(OID(binary.BigEndian.Uint32(b)))
		size := int32(binary.BigEndian.Uint32(b[4:]))
		b = b[8:]
		if size == -1 {
			out[i] = Null(t)
			continue
		}
		if size < 0 || int(size) > len(b) {
			return nil, errBinaryShort()
		}
		var err error
		if out[i], err = read(t, b[:size:size]); err != nil {
			return nil, err
		}
		b = b[size:]
	}
	if len(b) != 0 && b[0] != namesFollow {
		return nil, errBinaryFormat()
	}
	return out, nil
}

// namesFollow begins the names that AppendRecordNames puts behind the fields.
const namesFollow = 'n'

// AppendRecordNames appends the names of its columns to an anonymous record, for
// what is made of the value later: the row of a subquery has a type without names.
func AppendRecordNames(b []byte, names []string) []byte {
	b = append(b, namesFollow)
	for _, n := range names {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(n))), n...)
	}
	return b
}

// RecordNames returns the names that an anonymous record carries, nil if it has none.
func RecordNames(d Datum) []string {
	b := d.B
	if len(b) < 4 {
		return nil
	}
	n := int(binary.BigEndian.Uint32(b))
	b = b[4:]
	for range n {
		if len(b) < 8 {
			return nil
		}
		size := max(0, int(int32(binary.BigEndian.Uint32(b[4:]))))
		if len(b) < 8+size {
			return nil
		}
		b = b[8+size:]
	}
	if len(b) == 0 || b[0] != namesFollow {
		return nil
	}
	b = b[1:]
	out := make([]string, 0, n)
	for len(b) >= 2 {
		size := int(binary.BigEndian.Uint16(b))
		if len(b) < 2+size {
			return nil
		}
		out = append(out, string(b[2:2+size]))
		b = b[2+size:]
	}
	return out
}

func checkRecord(b []byte) error {
	_, err := recordFields(b, checkedElem)
	return err
}

func appendRecord(buf []byte, d Datum, o *FmtOpts) []byte {
	fields, err := recordFields(d.B, StoredElem)
	if err != nil {
		return buf
	}
	buf = append(buf, '(')
	for i, f := range fields {
		if i > 0 {
			buf = append(buf, ',')
		}
		if f.Null {
			continue
		}
		start := len(buf)
		buf = AppendText(buf, f, o)
		if text := string(buf[start:]); text == "" || strings.ContainsAny(text, "\"\\(), \t\n\r\v\f") {
			buf = appendDoubled(buf[:start], text)
		}
	}
	return append(buf, ')')
}

// appendDoubled appends text in quotes with quotes and backslashes doubled.
func appendDoubled(buf []byte, text string) []byte {
	buf = append(buf, '"')
	for i := 0; i < len(text); i++ {
		if text[i] == '"' || text[i] == '\\' {
			buf = append(buf, text[i])
		}
		buf = append(buf, text[i])
	}
	return append(buf, '"')
}

func compareRecords(a, b Datum) int {
	x, err1 := recordFields(a.B, StoredElem)
	y, err2 := recordFields(b.B, StoredElem)
	if err1 != nil || err2 != nil {
		return cmp.Compare(len(a.B), len(b.B))
	}
	for i := range min(len(x), len(y)) {
		if c := Compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

func hashRecord(d Datum) uint64 {
	fields, err := recordFields(d.B, StoredElem)
	if err != nil {
		return HashBytes(d.B)
	}
	h := uint64(len(fields))
	for _, f := range fields {
		h = CombineHash(h, Hash(f))
	}
	return h
}
