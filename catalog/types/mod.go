package types

import (
	"encoding/binary"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// ApplyMod makes a value fit the modifier of t, which is of d's type or one
// held alike, and returns it as of type t. Strings are cut when explicit or
// when only blanks are lost, otherwise 22001; numbers are rounded (22003);
// fractional seconds are rounded; bit(n) wants the exact length unless explicit.
// character(n) that loses its length gets its blanks.
func ApplyMod(d Datum, t T, explicit bool) (Datum, error) {
	from := d.T
	d.T = t
	if d.Null || t.Mod < 0 && t.OID != OBpchar {
		return d, nil
	}
	var err error
	switch t.Kind() {
	case KText:
		return modText(d, t, from, explicit)
	case KNumeric:
		p, s := NumericMod(t.Mod)
		d.Dec, err = d.Dec.Rescale(p, s)
	case KTime:
		d.I = roundMicros(d.I, t.Mod)
	case KTimetz:
		micros, zone := TimetzParts(d)
		r := Timetz(roundMicros(micros, t.Mod), zone)
		r.T = t
		return r, nil
	case KTimestamp, KTimestamptz:
		if d.I != NoBegin && d.I != NoEnd {
			d.I = roundMicros(d.I, t.Mod)
		}
	case KInterval:
		d.Iv, err = modInterval(d.Iv, t.Mod)
	case KBit:
		d.B, err = modBits(d.B, int(t.Mod), t.base() == OVarbit, explicit)
	case KArray:
		return modArray(d, t, explicit)
	}
	return d, err
}

// NumericMod splits a numeric's modifier.
func NumericMod(mod int32) (precision, scale int32) {
	mod -= 4
	return mod >> 16 & 0xffff, (mod&0x7ff ^ 1024) - 1024
}

// maxPadded bounds a modifier that no type name gives, only a call of a function
// that takes one: the value is padded to it.
const maxPadded = 1<<30 - 1 - 4

func modText(d Datum, t, from T, explicit bool) (Datum, error) {
	n := int(t.Mod) - 4
	oid := t.base()
	if oid == OBpchar && n > maxPadded {
		return d, sqlerr.New(sqlerr.ProgramLimitExceeded, "invalid memory alloc request size %d", n+4)
	}
	if oid == OBpchar && t.Mod < 0 && from.Mod > 4 {
		d.B = appendPadding(append([]byte(nil), d.B...), d.B, int(from.Mod)-4)
		return d, nil
	}
	if oid != OVarchar && oid != OBpchar || n <= 0 {
		return d, nil
	}
	typ := "character varying"
	if oid == OBpchar {
		typ = "character"
	}
	if len(d.B) > n && utf8.RuneCount(d.B) > n {
		cut := runeOffset(d.B, n)
		if !explicit && len(trimBlanks(d.B[cut:])) > 0 {
			return d, sqlerr.New(sqlerr.StringDataRightTruncation, "value too long for type %s(%d)", typ, n)
		}
		d.B = d.B[:cut:cut]
	}
	if oid == OBpchar {
		d.B = trimBlanks(d.B)
	}
	return d, nil
}

// runeOffset is the byte offset of the n-th character.
func runeOffset(b []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(b); n-- {
		_, size := utf8.DecodeRune(b[i:])
		i += size
	}
	return i
}

var microsScale = [...]int64{1000000, 100000, 10000, 1000, 100, 10, 1}

// roundMicros rounds half away from zero to the given number of fractional digits.
func roundMicros(v int64, digits int32) int64 {
	if digits < 0 || digits >= 6 {
		return v
	}
	scale := microsScale[digits]
	half := scale / 2
	if v >= 0 {
		return (v + half) / scale * scale
	}
	return -((-v + half) / scale * scale)
}

func modBits(b []byte, n int, varying, explicit bool) ([]byte, error) {
	have := bitLen(b)
	if have == n || n < 1 || varying && have <= n {
		return b, nil
	}
	if !explicit {
		if varying {
			return nil, sqlerr.New(sqlerr.StringDataRightTruncation, "bit string too long for type bit varying(%d)", n)
		}
		return nil, sqlerr.New(sqlerr.StringDataLengthMismatch, "bit string length %d does not match type bit(%d)", have, n)
	}
	out := make([]byte, 4+(n+7)/8)
	binary.BigEndian.PutUint32(out, uint32(n))
	copy(out[4:], b[4:])
	maskBits(out, n)
	return out, nil
}

// maxNarrow is the greatest precision of numerics that are stored as an int64.
const maxNarrow = 18

// NarrowScale returns the scale of a numeric(p,s) that is held as an int64
// coefficient; false for other types, domains over such a type included.
func NarrowScale(t T) (int32, bool) {
	if t.OID != ONumeric || t.Mod < 4 {
		return 0, false
	}
	p, s := NumericMod(t.Mod)
	return s, p <= maxNarrow && s >= 0 && s <= maxNarrow
}
