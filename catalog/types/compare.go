package types

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Compare orders two non-null values of the same kind as PostgreSQL's btree
// operator classes do under collation C: NaN is the greatest number, blanks at
// the end of character(n) do not count, intervals compare by length, arrays
// element by element. Enum labels compare as bytes; their order is known only
// to the type's definition. A NULL is greater than every value.
func Compare(a, b Datum) int {
	if a.Null || b.Null {
		switch {
		case a.Null && b.Null:
			return 0
		case a.Null:
			return 1
		}
		return -1
	}
	switch k := a.T.Kind(); k.Rep() {
	case RepBool, RepInt:
		return cmp.Compare(a.I, b.I)
	case RepFloat:
		return CompareFloat(a.F, b.F)
	case RepDec:
		return a.Dec.Cmp(b.Dec)
	case RepInterval:
		return a.Iv.Cmp(b.Iv)
	default:
		return compareBytes(k, a, b)
	}
}

// CompareFloat orders floats with NaN equal to itself and above everything.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	// One of them is NaN.
	switch an, bn := a != a, b != b; {
	case an && bn:
		return 0
	case an:
		return 1
	}
	return -1
}

func compareBytes(k Kind, a, b Datum) int {
	switch k {
	case KText:
		if a.T.base() == OBpchar || b.T.base() == OBpchar {
			return bytes.Compare(trimBlanks(a.B), trimBlanks(b.B))
		}
	case KTimetz:
		am, az := timetzParts(a.B)
		bm, bz := timetzParts(b.B)
		if c := cmp.Compare(am+int64(az)*usecPerSec, bm+int64(bz)*usecPerSec); c != 0 {
			return c
		}
		return cmp.Compare(az, bz)
	case KArray:
		return compareArrays(a, b)

	case KRecord:
		return compareRecords(a, b)
	case KRange:
		return compareRanges(a, b)
	case KMultirange:
		return compareMultiranges(a, b)
	case KJSONB:
		return compareJSONB(a.B, b.B)
	case KCitext:
		return compareCitext(a.B, b.B)
	case KHstore:
		return compareHstore(a.B, b.B)
	case KInet:
		return compareInet(a.B, b.B)
	case KBit:
		return compareBits(a.B, b.B)
	}
	return bytes.Compare(a.B, b.B)
}

// Equal reports whether two non-null values of the same kind are equal.
func Equal(a, b Datum) bool {
	switch a.T.Kind() {
	case KText, KBytea, KUUID, KEnum, KJSON:
		if a.Null == b.Null && a.T.base() != OBpchar && b.T.base() != OBpchar {
			return a.Null || bytes.Equal(a.B, b.B)
		}
	}
	return Compare(a, b) == 0
}

// nullHash is the hash of NULL.
const nullHash = 0x9ddfea08eb382d69

// Hash returns a hash of the value that is the same for values that Equal
// calls equal, within one kind and among the integers.
func Hash(d Datum) uint64 {
	if d.Null {
		return nullHash
	}
	k := d.T.Kind()
	switch k.Rep() {
	case RepBool, RepInt:
		return HashInt(d.I)
	case RepFloat:
		return HashFloat(d.F)
	case RepDec:
		return d.Dec.Hash()
	case RepInterval:
		return d.Iv.Hash()
	}
	switch k {
	case KText:
		if d.T.base() == OBpchar {
			return xxh3.Hash(trimBlanks(d.B))
		}
	case KArray:
		return hashArray(d)
	case KRecord:
		return hashRecord(d)
	case KRange:
		return hashRange(d)
	case KMultirange:
		return hashMultirange(d)
	case KJSONB:
		return hashJSONB(d.B)
	case KCitext:
		return xxh3.Hash(AppendLower(nil, d.B))
	case KInet:
		if len(d.B) > 3 { // a network and an address with its bits are equal
			return CombineHash(uint64(d.B[0])<<8|uint64(d.B[1]), xxh3.Hash(d.B[3:]))
		}
	}
	return xxh3.Hash(d.B)
}

// HashInt hashes an integer-represented value.
func HashInt(v int64) uint64 {
	x := uint64(v) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// HashFloat hashes a float; both zeros and all NaNs are one.
func HashFloat(f float64) uint64 {
	switch {
	case f == 0:
		return HashInt(0)
	case f != f:
		return HashInt(math.MaxInt64)
	}
	return HashInt(int64(math.Float64bits(f)))
}

// HashBytes hashes a bytes-represented value whose equality is that of its bytes.
func HashBytes(b []byte) uint64 { return xxh3.Hash(b) }

// CombineHash mixes the hash of a further column into h.
func CombineHash(h, next uint64) uint64 {
	return bits.RotateLeft64(h, 23)*0x9e3779b97f4a7c15 ^ next
}

// Hash does not depend on the display scale.
func (d Decimal) Hash() uint64 {
	switch d.form {
	case formNaN:
		return HashInt(math.MaxInt64)
	case formPosInf:
		return HashInt(math.MaxInt64 - 1)
	case formNegInf:
		return HashInt(math.MinInt64)
	}
	t := d.TrimScale()
	if t.big == nil {
		return CombineHash(HashInt(t.coef), uint64(t.scale))
	}
	h := xxh3.Hash(t.big.Bytes())
	if t.big.Sign() < 0 {
		h = ^h
	}
	return CombineHash(h, uint64(t.scale))
}

// Hash is that of the interval's length.
func (iv Interval) Hash() uint64 {
	hi, lo := iv.span()
	return CombineHash(HashInt(int64(lo)), uint64(hi))
}
