package types

import (
	"cmp"
	"encoding/binary"
	"strings"

	"kvsqld/catalog/sqlerr"
)

// Flags of the binary form of ranges.
const (
	rangeEmpty  = 0x01
	rangeLoInc  = 0x02
	rangeHiInc  = 0x04
	rangeLoInf  = 0x08
	rangeHiInf  = 0x10
	rangeKnown  = 0x1f
	oInt4Range  = OID(3904)
	oNumRange   = OID(3906)
	oTSRange    = OID(3908)
	oTSTZRange  = OID(3910)
	oDateRange  = OID(3912)
	oInt8Range  = OID(3926)
	emptyRange  = "empty"
	rangeBlanks = "\"\\()[], \t\n\r\v\f"
)

var rangeSubtypes = map[OID]T{
	oInt4Range: TInt4, oNumRange: TNumeric, oTSRange: TTimestamp, oTSTZRange: TTimestamptz, oDateRange: TDate, oInt8Range: TInt8,
}

// RangeElem returns the type of a range type's bounds; ok is false for
// multiranges and other types.
func RangeElem(t T) (T, bool) {
	bound, _, ok := boundType(t)
	return bound, ok
}

// userRange and userMultirange begin the values of ranges and multiranges whose
// type a user made; the OID of the bounds' type follows, so that they are read
// without a catalog. Values of enums and rows never begin with these bytes.
const (
	userRange      = 0x01
	userMultirange = 0x02
	userRangeHead  = 5
)

// boundType returns the type of the bounds of a range type and the built-in range
// type whose rules apply, 0 for one that a user made; ok is false for other types.
func boundType(t T) (bound T, builtin OID, ok bool) {
	switch {
	case t.User == KInvalid:
		bound, ok = rangeSubtypes[t.OID]
		return bound, t.OID, ok
	case t.User != KRange || t.Elem == 0:
		return T{}, 0, false
	}
	if bound, ok = rangeSubtypes[t.Elem]; ok { // a domain
		return bound, t.Elem, true
	}
	return elementType(t.Elem), 0, true
}

// builtinRange returns the built-in range or multirange type that a type is, or is
// a domain over; 0 for others.
func builtinRange(t T) OID {
	o := t.OID
	if t.User != KInvalid {
		o = t.Elem
	}
	if rangeSubtypes[o].OID != 0 || MultirangeElem(o) != 0 {
		return o
	}
	return 0
}

// userHead appends the beginning of the values of a type that a user made.
func userHead(b []byte, t T, head byte) []byte {
	if builtinRange(t) != 0 {
		return b
	}
	return binary.BigEndian.AppendUint32(append(b, head), uint32(t.Elem))
}

// withoutHead checks and removes the beginning that userHead made.
func withoutHead(d Datum, head byte) ([]byte, error) {
	if builtinRange(d.T) != 0 {
		return d.B, nil
	}
	if len(d.B) < userRangeHead || d.B[0] != head {
		return nil, errBinaryFormat()
	}
	return d.B[userRangeHead:], nil
}

// rangeBinary returns the binary form of a range or multirange of a type that a
// user made: without what tells the type of its bounds, and of enum bounds the
// labels alone.
func rangeBinary(d Datum) []byte {
	if builtinRange(d.T) != 0 {
		return d.B
	}
	if d.T.Kind() == KMultirange {
		ranges, err := DecodeMultirange(d)
		if err != nil {
			return d.B
		}
		b := binary.BigEndian.AppendUint32(nil, uint32(len(ranges)))
		for i := range ranges {
			ranges[i].labels()
			e := ranges[i].encode()
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(e))), e...)
		}
		return b
	}
	r, err := DecodeRange(d)
	if err != nil {
		return d.B
	}
	r.labels()
	return r.encode()
}

// labels leaves of enum bounds the labels alone.
func (r *RangeValue) labels() {
	for _, b := range [...]*Datum{r.Lo, r.Hi} {
		if b != nil && b.T.Kind() == KEnum {
			b.B = EnumLabel(b.B)
		}
	}
}

// ParseRangeBinary reads the binary form of a range or multirange of type t, which
// a user made; read reads a bound.
func ParseRangeBinary(t T, b []byte, read func(T, []byte) (Datum, error)) (Datum, error) {
	rng := t
	rng.User = KRange
	bound, _, ok := boundType(rng)
	if !ok {
		return Datum{}, sqlerr.Unsupported(-1, "binary format of type %s", FormatType(t))
	}
	if t.User == KMultirange {
		ranges, err := multirangeParts(b, func(b []byte) (RangeValue, error) { return rangeParts(bound, b, read) })
		if err != nil {
			return Datum{}, err
		}
		for i := range ranges {
			if err := ranges[i].canonical(0); err != nil {
				return Datum{}, err
			}
		}
		return NewMultirange(t, ranges)
	}
	r, err := rangeParts(bound, b, read)
	if err != nil {
		return Datum{}, err
	}
	return NewRange(t, r)
}

// RangeValue is a range taken apart. Lo and Hi are nil where it is unbounded.
type RangeValue struct {
	Empty        bool
	Lo, Hi       *Datum
	LoInc, HiInc bool
}

// NewRange builds a range value of type t in canonical form; 22000 when the
// lower bound is above the upper one.
func NewRange(t T, r RangeValue) (Datum, error) {
	_, builtin, ok := boundType(t)
	if !ok {
		return Datum{}, sqlerr.Unsupported(-1, "type %s", FormatType(t))
	}
	if err := r.canonical(builtin); err != nil {
		return Datum{}, err
	}
	return Datum{T: t, B: r.append(userHead(make([]byte, 0, fixedRange), t, userRange))}, nil
}

// canonical gives discrete ranges the form [lo,hi) and finds empty ones.
func (r *RangeValue) canonical(o OID) error {
	if r.Empty {
		*r = RangeValue{Empty: true}
		return nil
	}
	if r.Lo == nil {
		r.LoInc = false
	}
	if r.Hi == nil {
		r.HiInc = false
	}
	if r.Lo != nil && r.Hi != nil {
		switch c := Compare(*r.Lo, *r.Hi); {
		case c > 0:
			return sqlerr.New(sqlerr.DataException, "range lower bound must be less than or equal to range upper bound")
		case c == 0 && !(r.LoInc && r.HiInc):
			*r = RangeValue{Empty: true}
			return nil
		}
	}
	if o != oInt4Range && o != oInt8Range && o != oDateRange {
		return nil
	}
	if r.Lo != nil && !r.LoInc {
		if err := stepBound(o, &r.Lo); err != nil {
			return err
		}
		r.LoInc = r.Lo != nil && !infiniteDate(o, *r.Lo)
	}
	if r.Hi != nil && r.HiInc {
		if err := stepBound(o, &r.Hi); err != nil {
			return err
		}
		r.HiInc = infiniteDate(o, *r.Hi)
	}
	if r.Lo != nil && r.Hi != nil && Compare(*r.Lo, *r.Hi) >= 0 && !(r.LoInc && r.HiInc) {
		*r = RangeValue{Empty: true}
	}
	return nil
}

func infiniteDate(o OID, d Datum) bool {
	return o == oDateRange && (d.I == DateNoBegin || d.I == DateNoEnd)
}

// stepBound moves a discrete bound up by one.
func stepBound(o OID, b **Datum) error {
	d := **b
	if infiniteDate(o, d) {
		return nil
	}
	switch {
	case o == oInt4Range && d.I == 1<<31-1:
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "integer out of range")
	case o == oInt8Range && d.I == 1<<63-1:
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "bigint out of range")
	case o == oDateRange && d.I+1 >= endDate:
		return errDateRange()
	}
	d.I++
	*b = &d
	return nil
}

func (r *RangeValue) encode() []byte { return r.append(make([]byte, 0, fixedRange)) }

// fixedRange is room for a range of numbers or times.
const fixedRange = 40

func (r *RangeValue) append(b []byte) []byte {
	if r.Empty {
		return append(b, rangeEmpty)
	}
	var flags byte
	set := func(on bool, bit byte) {
		if on {
			flags |= bit
		}
	}
	set(r.LoInc, rangeLoInc)
	set(r.HiInc, rangeHiInc)
	set(r.Lo == nil, rangeLoInf)
	set(r.Hi == nil, rangeHiInf)
	b = append(b, flags)
	for _, d := range [...]*Datum{r.Lo, r.Hi} {
		if d == nil {
			continue
		}
		at := len(b)
		b = AppendBinary(append(b, 0, 0, 0, 0), *d)
		binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	}
	return b
}

// DecodeRange takes a range value apart.
func DecodeRange(d Datum) (RangeValue, error) {
	bound, _, ok := boundType(d.T)
	if !ok {
		return RangeValue{}, sqlerr.Unsupported(-1, "type %s", FormatType(d.T))
	}
	b, err := withoutHead(d, userRange)
	if err != nil {
		return RangeValue{}, err
	}
	return rangeParts(bound, b, readBound)
}

// readBound reads a bound as ranges store it.
func readBound(t T, b []byte) (Datum, error) { return parseBinary(userValue(t, b), b) }

// rangeParts takes the binary form of a range apart.
func rangeParts(bound T, b []byte, read func(T, []byte) (Datum, error)) (RangeValue, error) {
	if len(b) < 1 {
		return RangeValue{}, errBinaryEmpty()
	}
	flags := b[0] & rangeKnown
	b = b[1:]
	if flags&rangeEmpty != 0 {
		if len(b) != 0 {
			return RangeValue{}, errBinaryLong()
		}
		return RangeValue{Empty: true}, nil
	}
	r := RangeValue{LoInc: flags&rangeLoInc != 0, HiInc: flags&rangeHiInc != 0}
	for _, p := range [...]struct {
		inf byte
		to  **Datum
	}{{rangeLoInf, &r.Lo}, {rangeHiInf, &r.Hi}} {
		if flags&p.inf != 0 {
			continue
		}
		if len(b) < 4 {
			return r, errBinaryShort()
		}
		n := int32(binary.BigEndian.Uint32(b))
		b = b[4:]
		if n < 0 || int(n) > len(b) {
			return r, errBinaryShort()
		}
		v, err := read(bound, b[:n:n])
		if err != nil {
			return r, err
		}
		*p.to = &v
		b = b[n:]
	}
	if len(b) != 0 {
		return r, errBinaryLong()
	}
	return r, nil
}

func parseRangeBinary(t T, b []byte) (Datum, error) {
	r, err := DecodeRange(Datum{T: t, B: b})
	if err != nil {
		return Datum{}, err
	}
	return NewRange(t, r)
}

func errRange(s, detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, `malformed range literal: "%s"`, s).WithDetail("%s", detail)
}

func parseRange(t T, s string, o *FmtOpts) (Datum, error) { return parseRangeOf(t, t, s, o) }

// parseRangeOf is parseRange of a part of a multirange of type whole, or of a whole
// itself.
func parseRangeOf(whole, t T, s string, o *FmtOpts) (Datum, error) {
	elem, _, ok := boundType(t)
	if !ok {
		return Datum{}, sqlerr.Unsupported(-1, "type %s", FormatType(t))
	}
	body := trimSpace(s)
	if equalFold(body, emptyRange) {
		return NewRange(t, RangeValue{Empty: true})
	}
	if n := len(emptyRange); len(body) > n && equalFold(body[:n], emptyRange) {
		return Datum{}, errRange(s, "Junk after \"empty\" key word.")
	}
	if body == "" || body[0] != '[' && body[0] != '(' {
		return Datum{}, errRange(s, "Missing left parenthesis or bracket.")
	}
	r := RangeValue{LoInc: body[0] == '['}
	lo, rest, hasLo, err := rangeBound(s, body[1:])
	if err != nil {
		return Datum{}, err
	}
	if !strings.HasPrefix(rest, ",") {
		return Datum{}, errRange(s, "Missing comma after lower bound.")
	}
	hi, rest, hasHi, err := rangeBound(s, rest[1:])
	if err != nil {
		return Datum{}, err
	}
	switch {
	case rest == "" || rest[0] == ',':
		return Datum{}, errRange(s, "Too many commas.")
	case len(rest) > 1:
		return Datum{}, errRange(s, "Junk after right parenthesis or bracket.")
	}
	r.HiInc = rest[0] == ']'
	for _, b := range [...]struct {
		text string
		has  bool
		to   **Datum
	}{{lo, hasLo, &r.Lo}, {hi, hasHi, &r.Hi}} {
		if !b.has {
			continue
		}
		v, err := parseText(elem, b.text, o)
		if err == nil && whole.OID >= FirstUserOID && o != nil && o.Reg != nil {
			v, err = o.Reg.InBounds(whole, v)
		}
		if err != nil {
			return Datum{}, err
		}
		*b.to = &v
	}
	return NewRange(t, r)
}

// rangeBound reads a bound up to the comma or closing bracket; an empty one is
// absent.
func rangeBound(src, s string) (text, rest string, ok bool, err error) {
	var b strings.Builder
	quoted, seen := false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case !quoted && (c == ',' || c == ')' || c == ']'):
			return b.String(), s[i:], seen || b.Len() > 0, nil
		case c == '\\':
			if i++; i == len(s) {
				return "", "", false, errRange(src, "Unexpected end of input.")
			}
			b.WriteByte(s[i])
		case c == '"':
			if quoted && i+1 < len(s) && s[i+1] == '"' {
				b.WriteByte('"')
				i++
				continue
			}
			quoted, seen = !quoted, true
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false, errRange(src, "Unexpected end of input.")
}

func appendRange(buf []byte, d Datum, o *FmtOpts) []byte {
	r, err := DecodeRange(d)
	if err != nil {
		return buf
	}
	return r.appendText(buf, o)
}

func (r *RangeValue) appendText(buf []byte, o *FmtOpts) []byte {
	if r.Empty {
		return append(buf, emptyRange...)
	}
	open, end := byte('('), byte(')')
	if r.LoInc {
		open = '['
	}
	if r.HiInc {
		end = ']'
	}
	buf = append(buf, open)
	bound := func(d *Datum) {
		if d == nil {
			return
		}
		start := len(buf)
		buf = AppendText(buf, *d, o)
		if text := string(buf[start:]); text == "" || strings.ContainsAny(text, rangeBlanks) {
			buf = appendDoubled(buf[:start], text)
		}
	}
	bound(r.Lo)
	buf = append(buf, ',')
	bound(r.Hi)
	return append(buf, end)
}

// compareRanges orders empty ranges first, then by lower and by upper bound.
func compareRanges(a, b Datum) int {
	x, err1 := DecodeRange(a)
	y, err2 := DecodeRange(b)
	if err1 != nil || err2 != nil {
		return cmp.Compare(len(a.B), len(b.B))
	}
	switch {
	case x.Empty && y.Empty:
		return 0
	case x.Empty:
		return -1
	case y.Empty:
		return 1
	}
	if c := compareBound(x.Lo, y.Lo, x.LoInc, y.LoInc, -1); c != 0 {
		return c
	}
	return compareBound(x.Hi, y.Hi, x.HiInc, y.HiInc, 1)
}

// compareBound compares two lower (side -1) or upper (side 1) bounds.
func compareBound(x, y *Datum, xInc, yInc bool, side int) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return side
	case y == nil:
		return -side
	}
	if c := Compare(*x, *y); c != 0 || xInc == yInc {
		return c
	}
	if xInc {
		return side
	}
	return -side
}

func hashRange(d Datum) uint64 {
	r, err := DecodeRange(d)
	if err != nil {
		return HashBytes(d.B)
	}
	return r.hash()
}

func (r *RangeValue) hash() uint64 {
	if r.Empty {
		return HashInt(rangeEmpty)
	}
	h := HashInt(int64(r.encode()[0]))
	for _, b := range [...]*Datum{r.Lo, r.Hi} {
		if b != nil {
			h = CombineHash(h, Hash(*b))
		}
	}
	return h
}
