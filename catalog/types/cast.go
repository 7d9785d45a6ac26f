package types

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"kvsqld/catalog/sqlerr"
)

// Cast converts a value to another type as PostgreSQL's built-in casts do,
// by cast functions, by reinterpretation or by the text form, and applies the
// target's modifier. explicit lets lengths be cut. It does not judge whether a
// context allows the cast; 42846 if there is none at all. A nil o means
// DefaultFmt.
func Cast(d Datum, to T, o *FmtOpts, explicit bool) (Datum, error) {
	if d.Null {
		return Null(to), nil
	}
	if o == nil {
		o = DefaultFmt
	}
	r, err := castValue(d, to, o)
	if err != nil {
		return Datum{}, err
	}
	if to.Mod < 0 {
		r.T = to
		return r, nil
	}
	return ApplyMod(r, to, explicit)
}

func isXid(o OID) bool { return o == OXid || o == OCid }

func errNoCast(from, to T) error {
	return sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", FormatTypeNoMod(from.OID), FormatTypeNoMod(to.OID))
}

// castValue converts without the modifier of to (an interval's apart, which its
// input reads).
func castValue(d Datum, to T, o *FmtOpts) (Datum, error) {
	from, target := d.T.Kind(), to.Kind()
	r := Datum{T: T{OID: to.OID, Mod: -1, User: to.User, Elem: to.Elem}}
	switch {
	case target == KCitext:
		v, err := castToText(d, Datum{T: TText}, o)
		r.B = v.B
		return r, err
	case target == KText:
		return castToText(d, r, o)
	case from == KText || from == KCitext:
		if d.T.base() == OChar {
			if target != KInt4 {
				return r, errNoCast(d.T, to)
			}
			if len(d.B) > 0 {
				r.I = int64(int8(d.B[0]))
			}
			return r, nil
		}
		in := r.T
		if target == KInterval && d.T.base() == OUnknown {
			in.Mod = to.Mod // of a literal: it names the unit of a bare number
		}
		v, err := parseText(in, string(d.B), o)
		v.T.Mod = -1
		return v, err
	}
	if target == KBit && (from == KInt4 || from == KInt8) && to.base() == OBit {
		// The length decides which bits are kept: the last ones.
		if to.Mod > maxBitLength {
			return r, errBitLength()
		}
		r.B = bitsFromInt(d.I, max(int(to.Mod), 1))
		return r, nil
	}
	if (isXid(d.T.base()) || isXid(to.base())) && d.T.base() != to.base() && d.T.base() != OXid8 {
		return r, errNoCast(d.T, to)
	}
	ok, err := false, error(nil)
	switch from {
	case KInt2, KInt4, KInt8:
		r, ok, err = castInt(d, r, target)
	case KOid:
		switch target {
		case KOid, KInt8:
			r.I, ok = d.I, true
		case KInt4:
			r.I, ok = int64(int32(d.I)), true
		}
	case KMoney:
		r.I, ok = d.I, target == KMoney
	case KBool:
		if target == KBool || target == KInt4 {
			r.I, ok = d.I, true
		}
	case KFloat4, KFloat8:
		r, ok, err = castFloat(d, r, target)
	case KNumeric:
		r, ok, err = castNumeric(d, r, target)
	case KDate, KTime, KTimetz, KTimestamp, KTimestamptz, KInterval:
		r, ok, err = castDateTime(d, r, target, o)
	case KArray:
		if target == KArray {
			return castArray(d, r, to, o)
		}
	case KJSON, KJSONB:
		r, ok, err = castJSON(d, r, target)
	case KBit:
		r, ok, err = castBit(d, r, target)
	case KInet:
		if target == KInet {
			r.B, ok = castInet(d.B, to.base() == OCidr), true
		}
	case KRange, KMultirange:
		r.B, ok = d.B, d.T.OID == to.OID
		if target == KMultirange && multirangeOf(d.T.OID) == to.OID {
			var v RangeValue
			if v, err = DecodeRange(d); err == nil {
				return mustMultirange(r.T, []RangeValue{v}), nil
			}
		}
	case KMacaddr:
		switch target {
		case KMacaddr:
			r.B, ok = d.B, true
		case KWord:
			r.B, ok = widenMacaddr(d.B), to.base() == OMacaddr8
		}
	case KWord:
		switch {
		case target == KMacaddr && d.T.base() == OMacaddr8:
			r.B, err = narrowMacaddr(d.B)
			ok = true
		case to.base() == OXid && d.T.base() == OXid8:
			r.I, ok = int64(binary.BigEndian.Uint32(d.B[4:])), true
		default:
			r.B, ok = d.B, d.T.base() == to.base()
		}
	default:
		r.B, ok = d.B, from == target && (from != KGeometry || d.T.base() == to.base())
	}
	if err == nil && !ok {
		err = errNoCast(d.T, to)
	}
	return r, err
}

// castToText makes the text of any value.
func castToText(d, r Datum, o *FmtOpts) (Datum, error) {
	if r.T.base() == OChar && d.T.Kind() != KText && d.T.Kind() != KInt4 {
		return r, errNoCast(d.T, r.T)
	}
	switch d.T.Kind() {
	case KText:
		r.B = d.B
		switch {
		case d.T.base() == OBpchar && r.T.base() != OBpchar:
			r.B = trimBlanks(d.B)
		case d.T.base() == OChar && r.T.base() != OChar:
			r.B = appendTextual(nil, d)
		}
	case KBool:
		switch r.T.base() {
		case OText, OVarchar, OBpchar:
			r.B = strconv.AppendBool(nil, d.I != 0)
		default:
			r.B = AppendText(nil, d, o)
		}
	case KInet:
		// The cast function always shows the mask, the text form does not.
		r.B = appendInet(nil, d.B, r.T.base() != OName || d.T.base() == OCidr)
	case KInt4:
		if r.T.base() == OChar {
			if d.I < math.MinInt8 || d.I > math.MaxInt8 {
				return r, sqlerr.New(sqlerr.NumericValueOutOfRange, `"char" out of range`)
			}
			if r.B = []byte{}; d.I != 0 {
				r.B = []byte{byte(d.I)}
			}
			return r, nil
		}
		r.B = strconv.AppendInt(nil, d.I, 10)
	default:
		r.B = AppendText(nil, d, o)
	}
	switch r.T.base() {
	case OChar:
		if d.T.base() != OChar {
			r.B = parseChar(string(r.B))
		}
	case OName:
		r.B = []byte(TruncateName(string(r.B)))
	}
	return r, nil
}

var intRange = map[Kind]struct {
	lo, hi int64
	name   string
}{
	KInt2: {math.MinInt16, math.MaxInt16, "smallint"},
	KInt4: {math.MinInt32, math.MaxInt32, "integer"},
	KInt8: {math.MinInt64, math.MaxInt64, "bigint"},
}

func errRangeOf(name string) error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "%s out of range", name)
}

func castInt(d, r Datum, target Kind) (Datum, bool, error) {
	switch target {
	case KInt2, KInt4, KInt8:
		b := intRange[target]
		if d.I < b.lo || d.I > b.hi {
			return r, true, errRangeOf(b.name)
		}
		r.I = d.I
	case KOid:
		if d.T.Kind() == KInt8 && (d.I < 0 || d.I > math.MaxUint32) {
			return r, true, errRangeOf("OID")
		}
		r.I = int64(uint32(d.I))
	case KFloat4:
		r.F = float64(float32(d.I))
	case KFloat8:
		r.F = float64(d.I)
	case KNumeric:
		r.Dec = NewDecimal(d.I, 0)
	case KBool:
		if d.T.Kind() != KInt4 {
			return r, false, nil
		}
		if d.I != 0 {
			r.I = 1
		}
	default:
		return r, false, nil
	}
	return r, true, nil
}

func castFloat(d, r Datum, target Kind) (Datum, bool, error) {
	switch target {
	case KInt2, KInt4, KInt8:
		b := intRange[target]
		f := math.RoundToEven(d.F)
		if !(f >= float64(b.lo) && f < -float64(b.lo)) {
			return r, true, errRangeOf(b.name)
		}
		r.I = int64(f)
	case KFloat4:
		r.F = float64(float32(d.F))
		if math.IsInf(r.F, 0) && !math.IsInf(d.F, 0) {
			return r, true, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
		}
		if r.F == 0 && d.F != 0 {
			return r, true, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow")
		}
	case KFloat8:
		r.F = d.F
	case KNumeric:
		if d.T.Kind() == KFloat4 {
			r.Dec = DecimalFromFloat4(d.F)
		} else {
			r.Dec = DecimalFromFloat(d.F)
		}
	default:
		return r, false, nil
	}
	return r, true, nil
}

func castNumeric(d, r Datum, target Kind) (Datum, bool, error) {
	var err error
	switch target {
	case KInt2, KInt4, KInt8:
		b := intRange[target]
		r.I, err = d.Dec.toInt(b.lo, b.hi, b.name)
	case KFloat4:
		r.F, err = d.Dec.toFloat(32)
	case KFloat8:
		r.F, err = d.Dec.toFloat(64)
	case KNumeric:
		r.Dec = d.Dec
	default:
		return r, false, nil
	}
	return r, true, err
}

func castDateTime(d, r Datum, target Kind, o *FmtOpts) (Datum, bool, error) {
	var err error
	from := d.T.Kind()
	if from == target {
		d.T = r.T
		return d, true, nil
	}
	switch from {
	case KDate:
		ts, err := DateToTimestamp(d.I)
		switch target {
		case KTimestamp:
			r.I = ts
			return r, true, err
		case KTimestamptz:
			if err == nil {
				r.I, err = TimestampToTimestamptz(ts, o.loc())
			}
			return r, true, err
		}
		return r, false, nil
	case KTime:
		switch target {
		case KInterval:
			r.Iv = Interval{Micros: d.I}
		case KTimetz:
			days := floorDiv(TimestamptzToTimestamp(o.now(), o.loc()), usecPerDay)
			east := offsetAtLocal(days*86400+d.I/usecPerSec, o.loc())
			r.B = Timetz(d.I, int32(-east)).B
		default:
			return r, false, nil
		}
	case KTimetz:
		if target != KTime {
			return r, false, nil
		}
		r.I, _ = TimetzParts(d)
	case KTimestamp:
		switch target {
		case KDate:
			r.I = TimestampToDate(d.I)
		case KTime:
			if d.I == NoBegin || d.I == NoEnd {
				r.Null = true
				return r, true, nil
			}
			r.I = TimestampTime(d.I)
		case KTimestamptz:
			r.I, err = TimestampToTimestamptz(d.I, o.loc())
		default:
			return r, false, nil
		}
	case KTimestamptz:
		local := TimestamptzToTimestamp(d.I, o.loc())
		infinite := d.I == NoBegin || d.I == NoEnd
		switch target {
		case KDate:
			r.I = TimestampToDate(local)
		case KTimestamp:
			r.I = local
		case KTime:
			if r.Null = infinite; !infinite {
				r.I = TimestampTime(local)
			}
		case KTimetz:
			if r.Null = infinite; !infinite {
				east, _ := zoneAt(d.I, o.loc())
				r.B = Timetz(TimestampTime(local), int32(-east)).B
			}
		default:
			return r, false, nil
		}
	case KInterval:
		if target != KTime {
			return r, false, nil
		}
		if r.I = d.Iv.Micros % usecPerDay; r.I < 0 {
			r.I += usecPerDay
		}
	}
	return r, true, err
}

// castArray converts element by element; bounds stay.
func castArray(d, r Datum, to T, o *FmtOpts) (Datum, error) {
	elem, dims, lbs, elems, err := ArrayElems(d)
	if err != nil {
		return r, err
	}
	target := r.T.ElemType()
	if to.OID == OInt2Vector || to.OID == OOidVector {
		if len(dims) > 1 {
			return r, errNoCast(d.T, to)
		}
		dims, lbs = []int{len(elems)}, []int{0}
	}
	if elem.OID == target.OID {
		r.B = encodeArray(target.OID, dims, lbs, elems)
		return r, nil
	}
	for i := range elems {
		if elems[i].Null {
			elems[i].T = target
			continue
		}
		if elems[i], err = castValue(elems[i], target, o); err != nil {
			return r, err
		}
	}
	r.B = encodeArray(target.OID, dims, lbs, elems)
	return r, nil
}

var jsonKindNames = map[jsonKind]string{jsonNull: "null", jsonString: "string", jsonNumber: "numeric", jsonBool: "boolean", jsonArray: "array", jsonObject: "object"}

func castJSON(d, r Datum, target Kind) (Datum, bool, error) {
	var err error
	from := d.T.Kind()
	switch {
	case target == from || target == KJSON:
		r.B = d.B
		return r, true, nil
	case target == KJSONB:
		r.B, err = CanonicalJSONB(make([]byte, 0, len(d.B)+8), d.B)
		return r, true, err
	case from == KJSON:
		return r, false, nil
	}
	want := jsonNumber
	switch target {
	case KBool:
		want = jsonBool
	case KNumeric, KInt2, KInt4, KInt8, KFloat4, KFloat8:
	default:
		return r, false, nil
	}
	n := parseStoredJSONB(d.B)
	if n.kind != want {
		return r, true, sqlerr.New(sqlerr.InvalidParameterValue, "cannot cast jsonb %s to type %s", jsonKindNames[n.kind], FormatTypeNoMod(r.T.OID))
	}
	if want == jsonBool {
		if n.truth {
			r.I = 1
		}
		return r, true, nil
	}
	return castNumeric(Datum{T: TNumeric, Dec: n.num}, r, target)
}

func castBit(d, r Datum, target Kind) (Datum, bool, error) {
	switch target {
	case KBit:
		r.B = d.B
	case KInt4, KInt8:
		if d.T.base() != OBit {
			return r, false, nil
		}
		width, name := 32, "integer"
		if target == KInt8 {
			width, name = 64, "bigint"
		}
		var ok bool
		if r.I, ok = bitsToInt(d.B, width); !ok {
			return r, true, errRangeOf(name)
		}
	default:
		return r, false, nil
	}
	return r, true, nil
}

// castInet converts between inet and cidr; the latter drops bits right of the mask.
func castInet(b []byte, cidr bool) []byte {
	addr, bits := decodeInet(b)
	if !addr.IsValid() {
		return bytes.Clone(b)
	}
	if p, err := addr.Prefix(bits); cidr && err == nil {
		addr = p.Addr()
	}
	return encodeInet(addr, bits, cidr)
}
