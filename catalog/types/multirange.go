package types

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
)

// multirangeTypes maps range types to their multirange types.
var multirangeTypes = map[OID]OID{
	oInt4Range: 4451, oNumRange: 4532, oTSRange: 4533, oTSTZRange: 4534, oDateRange: 4535, oInt8Range: 4536,
}

// multirangeOf returns the multirange type of a range type, or 0.
func multirangeOf(rng OID) OID { return multirangeTypes[rng] }

// MultirangeElem returns the range type of a multirange type, or 0.
func MultirangeElem(m OID) OID {
	for r, o := range multirangeTypes {
		if o == m {
			return r
		}
	}
	return 0
}

// RangeOf returns the type of a multirange's ranges, without its OID if a user made
// it; the zero T for other types.
func RangeOf(t T) T {
	rng, _ := rangeOf(t)
	return rng
}

// rangeOf returns the type of a multirange's ranges, without its OID if a user made
// it; ok is false for other types.
func rangeOf(t T) (T, bool) {
	if o := MultirangeElem(builtinRange(t)); o != 0 {
		return Of(o), true
	}
	if t.User != KMultirange || t.Elem == 0 {
		return T{}, false
	}
	return T{Mod: -1, User: KRange, Elem: t.Elem}, true
}

// NewMultirange builds a multirange of type t: empty ranges are dropped, the
// others sorted, and those that overlap or touch are joined.
func NewMultirange(t T, ranges []RangeValue) (Datum, error) {
	if _, ok := rangeOf(t); !ok {
		return Datum{}, sqlerr.Unsupported(-1, "type %s", FormatType(t))
	}
	return mustMultirange(t, ranges), nil
}

func mustMultirange(t T, ranges []RangeValue) Datum {
	sorted := slices.DeleteFunc(slices.Clone(ranges), func(r RangeValue) bool { return r.Empty })
	slices.SortFunc(sorted, func(a, b RangeValue) int {
		if c := LowerBound(a).Cmp(LowerBound(b)); c != 0 {
			return c
		}
		return UpperBound(a).Cmp(UpperBound(b))
	})
	var out []RangeValue
	for _, r := range sorted {
		if n := len(out); n > 0 {
			last := UpperBound(out[n-1])
			if lo := LowerBound(r); last.Cmp(lo) >= 0 || last.Touches(lo) {
				if last.Cmp(UpperBound(r)) < 0 {
					out[n-1].Hi, out[n-1].HiInc = r.Hi, r.HiInc
				}
				continue
			}
		}
		out = append(out, r)
	}
	b := binary.BigEndian.AppendUint32(userHead(nil, t, userMultirange), uint32(len(out)))
	for i := range out {
		e := out[i].encode()
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(e))), e...)
	}
	return Datum{T: t, B: b}
}

// DecodeMultirange returns the ranges of a multirange, in order.
func DecodeMultirange(d Datum) ([]RangeValue, error) {
	rng, ok := rangeOf(d.T)
	if !ok {
		return nil, sqlerr.Unsupported(-1, "type %s", FormatType(d.T))
	}
	bound, _, ok := boundType(rng)
	b, err := withoutHead(d, userMultirange)
	if err != nil || !ok {
		return nil, cmp.Or(err, errBinaryFormat())
	}
	return multirangeParts(b, func(b []byte) (RangeValue, error) { return rangeParts(bound, b, readBound) })
}

// multirangeParts takes the binary form of a multirange apart.
func multirangeParts(b []byte, read func([]byte) (RangeValue, error)) ([]RangeValue, error) {
	if len(b) < 4 {
		return nil, errBinaryShort()
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	var out []RangeValue
	for range n {
		if len(b) < 4 {
			return nil, errBinaryShort()
		}
		size := binary.BigEndian.Uint32(b)
		b = b[4:]
		if uint64(size) > uint64(len(b)) {
			return nil, errBinaryShort()
		}
		r, err := read(b[:size:size])
		if err != nil {
			return nil, err
		}
		out = append(out, r)
		b = b[size:]
	}
	if len(b) != 0 {
		return nil, errBinaryLong()
	}
	return out, nil
}

func parseMultirangeBinary(t T, b []byte) (Datum, error) {
	ranges, err := DecodeMultirange(Datum{T: t, B: b})
	if err != nil {
		return Datum{}, err
	}
	for i := range ranges {
		if err := ranges[i].canonical(MultirangeElem(builtinRange(t))); err != nil {
			return Datum{}, err
		}
	}
	return NewMultirange(t, ranges)
}

// parseMultirange reads {range, range, …}.
func parseMultirange(t T, s string, o *FmtOpts) (Datum, error) {
	elem, ok := rangeOf(t)
	if !ok {
		return Datum{}, sqlerr.Unsupported(-1, "type %s", FormatType(t))
	}
	bad := func(detail string) (Datum, error) {
		return Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, `malformed multirange literal: "%s"`, s).WithDetail("%s", detail)
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, asciiBlanks), "{")
	if !ok {
		return bad("Missing left brace.")
	}
	var ranges []RangeValue
	for rest = strings.TrimLeft(rest, asciiBlanks); !strings.HasPrefix(rest, "}") || len(ranges) > 0; {
		n, found := rangeLiteral(rest)
		switch {
		case found && n == 0:
			return bad("Unexpected end of input.")
		case !found:
			return bad("Expected range start.")
		}
		d, err := parseRangeOf(t, elem, rest[:n], o)
		if err != nil {
			return Datum{}, err
		}
		r, err := DecodeRange(d)
		if err != nil {
			return Datum{}, err
		}
		ranges, rest = append(ranges, r), strings.TrimLeft(rest[n:], asciiBlanks)
		if rest == "" {
			return bad("Unexpected end of input.")
		}
		if rest[0] == '}' {
			break
		}
		if rest[0] != ',' {
			return bad("Expected comma or end of multirange.")
		}
		rest = strings.TrimLeft(rest[1:], asciiBlanks)
	}
	if strings.TrimLeft(rest[1:], asciiBlanks) != "" {
		return bad("Junk after closing right brace.")
	}
	return NewMultirange(t, ranges)
}

const asciiBlanks = " \t\n\r\v\f"

// rangeLiteral returns the length of the range that s begins with, 0 if it does
// not end; found is false if no range begins.
func rangeLiteral(s string) (n int, found bool) {
	if s == "" {
		return 0, true
	}
	if len(s) >= len(emptyRange) && equalFold(s[:len(emptyRange)], emptyRange) {
		return len(emptyRange), true
	}
	if s[0] != '[' && s[0] != '(' {
		return 0, false
	}
	quoted := false
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ']' || c == ')'):
			return i + 1, true
		}
	}
	return 0, true
}

func appendMultirange(buf []byte, d Datum, o *FmtOpts) []byte {
	ranges, err := DecodeMultirange(d)
	if err != nil {
		return buf
	}
	buf = append(buf, '{')
	for i := range ranges {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = ranges[i].appendText(buf, o)
	}
	return append(buf, '}')
}

// compareMultiranges compares range by range; the shorter one comes first.
func compareMultiranges(a, b Datum) int {
	x, err1 := DecodeMultirange(a)
	y, err2 := DecodeMultirange(b)
	if err1 != nil || err2 != nil {
		return cmp.Compare(len(a.B), len(b.B))
	}
	for i := range min(len(x), len(y)) {
		if c := compareBound(x[i].Lo, y[i].Lo, x[i].LoInc, y[i].LoInc, -1); c != 0 {
			return c
		}
		if c := compareBound(x[i].Hi, y[i].Hi, x[i].HiInc, y[i].HiInc, 1); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

func hashMultirange(d Datum) uint64 {
	ranges, err := DecodeMultirange(d)
	if err != nil {
		return HashBytes(d.B)
	}
	h := HashInt(int64(len(ranges)))
	for i := range ranges {
		h = CombineHash(h, ranges[i].hash())
	}
	return h
}
