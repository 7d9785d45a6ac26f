package types

import (
	"fmt"
	"math"

	"kvsqld/catalog/sqlerr"
)

// Interval modifiers: field bits in the upper half, precision in the lower.
const (
	IntervalAllFields     = 0x7fff
	intervalFullPrecision = 0xffff

	fieldMonth  = 1 << 1
	fieldYear   = 1 << 2
	fieldDay    = 1 << 3
	fieldHour   = 1 << 10
	fieldMinute = 1 << 11
	fieldSecond = 1 << 12
)

// IntervalFields gives the modifier's field mask by the words after INTERVAL:
// "year", "day to second" …; ok is false for other words.
func IntervalFields(words string) (mask int, ok bool) {
	mask, ok = intervalMasks[words]
	return mask, ok
}

var intervalMasks = map[string]int{
	"year": fieldYear, "month": fieldMonth, "day": fieldDay, "hour": fieldHour, "minute": fieldMinute, "second": fieldSecond,
	"year to month": fieldYear | fieldMonth, "day to hour": fieldDay | fieldHour,
	"day to minute":    fieldDay | fieldHour | fieldMinute,
	"day to second":    fieldDay | fieldHour | fieldMinute | fieldSecond,
	"hour to minute":   fieldHour | fieldMinute,
	"hour to second":   fieldHour | fieldMinute | fieldSecond,
	"minute to second": fieldMinute | fieldSecond,
}

var intervalNames = func() map[int]string {
	m := make(map[int]string, len(intervalMasks))
	for name, mask := range intervalMasks {
		m[mask] = name
	}
	return m
}()

// FormatType names a type as format_type(oid, typmod) does.
func FormatType(t T) string {
	if t.OID == 0 {
		return "-"
	}
	if t.User != KInvalid {
		return "???"
	}
	in := Lookup(t.OID)
	if in == nil {
		return "???"
	}
	if in.Category == 'A' && in.Elem != 0 && t.OID != OInt2Vector && t.OID != OOidVector {
		return FormatType(T{OID: in.Elem, Mod: t.Mod}) + "[]"
	}
	if t.Mod < 0 {
		switch t.OID {
		case OBpchar:
			return "bpchar"
		case OBit:
			return `"bit"`
		}
		return in.SQLName
	}
	switch t.OID {
	case OVarchar, OBpchar:
		if t.Mod > 4 {
			return fmt.Sprintf("%s(%d)", in.SQLName, t.Mod-4)
		}
	case ONumeric:
		p, s := NumericMod(t.Mod)
		return fmt.Sprintf("numeric(%d,%d)", p, s)
	case OBit, OVarbit:
		return fmt.Sprintf("%s(%d)", in.SQLName, t.Mod)
	case OTime:
		return fmt.Sprintf("time(%d) without time zone", t.Mod)
	case OTimetz:
		return fmt.Sprintf("time(%d) with time zone", t.Mod)
	case OTimestamp:
		return fmt.Sprintf("timestamp(%d) without time zone", t.Mod)
	case OTimestamptz:
		return fmt.Sprintf("timestamp(%d) with time zone", t.Mod)
	case OInterval:
		s := "interval"
		if fields := int(t.Mod >> 16 & 0x7fff); fields != IntervalAllFields {
			s += " " + intervalNames[fields]
		}
		if p := t.Mod & 0xffff; p != intervalFullPrecision {
			s += fmt.Sprintf("(%d)", p)
		}
		return s
	}
	return in.SQLName
}

// FormatTypeNoMod names a type as format_type(oid, NULL) does.
func FormatTypeNoMod(o OID) string {
	if in := Lookup(o); in != nil {
		return in.SQLName
	}
	return FormatType(Of(o))
}

const (
	maxCharLength    = 10485760
	maxBitLength     = maxCharLength * 8
	maxTimePrecision = 6
)

// TypmodIn turns the modifiers written after a type name into its typmod. An
// interval's are its field mask (see IntervalFields) and optionally the
// precision; pass the mask 0x7fff for interval(p).
func TypmodIn(o OID, mods []int) (int32, error) {
	if in := Lookup(o); in != nil && in.Category == 'A' && in.Elem != 0 {
		o = in.Elem
	}
	switch o {
	case OVarchar, OBpchar, OBit, OVarbit:
		return lengthMod(o, mods)
	case ONumeric:
		return numericModIn(mods)
	case OTime, OTimetz, OTimestamp, OTimestamptz:
		if len(mods) != 1 {
			return -1, sqlerr.New(sqlerr.InvalidParameterValue, "invalid type modifier")
		}
		name, zone := "TIMESTAMP", ""
		if o == OTime || o == OTimetz {
			name = "TIME"
		}
		if o == OTimetz || o == OTimestamptz {
			zone = " WITH TIME ZONE"
		}
		if mods[0] < 0 {
			return -1, sqlerr.New(sqlerr.InvalidParameterValue, "%s(%d)%s precision must not be negative", name, mods[0], zone)
		}
		return int32(min(mods[0], maxTimePrecision)), nil // see PrecisionReduced
	case OInterval:
		return intervalModIn(mods)
	}
	return -1, sqlerr.New(sqlerr.SyntaxError, `type modifier is not allowed for type "%s"`, FormatTypeNoMod(o))
}

// PrecisionReduced is the warning that goes with modifiers that TypmodIn has taken,
// or nil: times keep at most microseconds.
func PrecisionReduced(o OID, mods []int) *sqlerr.Error {
	if in := Lookup(o); in != nil && in.Category == 'A' && in.Elem != 0 {
		o = in.Elem
	}
	p, name, zone := mods[len(mods)-1], "", ""
	switch o {
	case OTime:
		name = "TIME"
	case OTimetz:
		name, zone = "TIME", " WITH TIME ZONE"
	case OTimestamp:
		name = "TIMESTAMP"
	case OTimestamptz:
		name, zone = "TIMESTAMP", " WITH TIME ZONE"
	case OInterval:
		if len(mods) > 1 {
			name = "INTERVAL"
		}
	}
	if name == "" || p <= maxTimePrecision {
		return nil
	}
	e := sqlerr.New(sqlerr.InvalidParameterValue, "%s(%d)%s precision reduced to maximum allowed, %d", name, p, zone, maxTimePrecision)
	e.Severity = "WARNING"
	return e
}

// HasTypmod reports whether the type, or that of an array's elements, takes
// modifiers.
func HasTypmod(o OID) bool {
	if in := Lookup(o); in != nil && in.Category == 'A' && in.Elem != 0 {
		o = in.Elem
	}
	switch o {
	case OVarchar, OBpchar, OBit, OVarbit, ONumeric, OTime, OTimetz, OTimestamp, OTimestamptz, OInterval:
		return true
	}
	return false
}

// ParseModifier reads one modifier as it is written after a type's name.
func ParseModifier(s string) (int, error) {
	n, err := parseInt(s, "integer", math.MinInt32, math.MaxInt32)
	return int(n), err
}

func lengthMod(o OID, mods []int) (int32, error) {
	if len(mods) != 1 {
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "invalid type modifier")
	}
	name, limit, bias := "varchar", maxCharLength, 4
	switch o {
	case OBpchar:
		name = "char"
	case OBit:
		name, limit, bias = "bit", maxBitLength, 0
	case OVarbit:
		name, limit, bias = "varbit", maxBitLength, 0
	}
	if mods[0] < 1 {
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s must be at least 1", name)
	}
	if mods[0] > limit {
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "length for type %s cannot exceed %d", name, limit)
	}
	return int32(mods[0] + bias), nil
}

func numericModIn(mods []int) (int32, error) {
	scale := 0
	switch len(mods) {
	case 1:
	case 2:
		scale = mods[1]
	default:
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "invalid NUMERIC type modifier")
	}
	if mods[0] < 1 || mods[0] > MaxNumericPrecision {
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "NUMERIC precision %d must be between 1 and %d", mods[0], MaxNumericPrecision)
	}
	if scale < -MaxNumericPrecision || scale > MaxNumericPrecision {
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "NUMERIC scale %d must be between %d and %d", scale, -MaxNumericPrecision, MaxNumericPrecision)
	}
	return int32(mods[0]<<16|scale&0x7ff) + 4, nil
}

func intervalModIn(mods []int) (int32, error) {
	if len(mods) < 1 || len(mods) > 2 {
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "invalid INTERVAL type modifier")
	}
	mask := mods[0]
	if _, ok := intervalNames[mask]; !ok && mask != IntervalAllFields {
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "invalid INTERVAL type modifier")
	}
	if len(mods) == 1 {
		if mask == IntervalAllFields {
			return -1, nil
		}
		return int32(mask<<16 | intervalFullPrecision), nil
	}
	if mods[1] < 0 {
		return -1, sqlerr.New(sqlerr.InvalidParameterValue, "INTERVAL(%d) precision must not be negative", mods[1])
	}
	return int32(mask<<16 | min(mods[1], maxTimePrecision)), nil
}
