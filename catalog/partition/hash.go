package partition

import (
	"encoding/binary"
	"math"
	"math/bits"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// hashSeed is PostgreSQL's seed for hash partitions.
const hashSeed = 0x7A5B22367996DCFD

// HashKey is the hash of a partition key, as PostgreSQL computes it.
func HashKey(k *catalog.PartKey, key []types.Datum) uint64 {
	h := uint64(0)
	for i, d := range key {
		if !d.Null {
			h ^= Hash(k.Keys[i].Type, d, hashSeed) + 0x49a0f4dd15e5a8e3 + h<<54 + h>>7
		}
	}
	return h
}

// Hashable reports whether values of a type have a hash that is PostgreSQL's. Those
// of enums hang on the numbers that the catalog gave the labels.
func Hashable(t types.T) bool {
	switch t.Kind() {
	case types.KBool, types.KInt2, types.KInt4, types.KInt8, types.KOid, types.KFloat4, types.KFloat8, types.KDate, types.KTime,
		types.KTimetz, types.KTimestamp, types.KTimestamptz, types.KInterval, types.KText, types.KBytea, types.KUUID, types.KNumeric,
		types.KInet, types.KMacaddr, types.KWord, types.KJSONB, types.KCitext:
		return t.OID != types.OJSONPath && t.OID != types.OTxidSnapshot && t.OID != types.OPgSnapshot
	case types.KArray:
		return t.OID != types.OInt2Vector && Hashable(t.ElemType())
	case types.KRange:
		elem, ok := types.RangeElem(t)
		return ok && Hashable(elem)
	case types.KMultirange:
		elem, ok := types.RangeElem(types.Of(types.MultirangeElem(t.OID)))
		return ok && Hashable(elem)
	}
	return false
}

// Hash is PostgreSQL's hash of a value of a type that Hashable names, or of a row of
// such values: that of its function for hash indexes in the form with a seed. Without
// a seed the lower half is that of the form without one.
func Hash(t types.T, d types.Datum, seed uint64) uint64 {
	switch t.Kind() {
	case types.KBool, types.KInt2, types.KInt4, types.KOid, types.KDate:
		return hashUint32(uint32(d.I), seed)
	case types.KInt8, types.KTime, types.KTimestamp, types.KTimestamptz:
		return hashInt64(d.I, seed)
	case types.KFloat4, types.KFloat8:
		return hashFloat(d.F, seed)
	case types.KInterval:
		span := (int64(d.Iv.Months)*30+int64(d.Iv.Days))*86_400_000_000 + d.Iv.Micros
		return hashInt64(span, seed)
	case types.KNumeric:
		return hashNumeric(d.Dec, seed)
	case types.KArray, types.KRange, types.KMultirange, types.KRecord, types.KJSONB:
		return hashParts(t, d, seed)
	case types.KTimetz:
		micros, zone := types.TimetzParts(d)
		return hashInt64(micros, seed) ^ hashUint32(uint32(zone), seed)
	}
	b := d.B
	switch t.OID {
	case types.OCitext:
		b = types.AppendLower(nil, b)
	case types.OBpchar:
		for len(b) > 0 && b[len(b)-1] == ' ' {
			b = b[:len(b)-1]
		}
	case types.OChar:
		c := byte(0)
		if len(b) > 0 {
			c = b[0]
		}
		return hashUint32(uint32(int32(int8(c))), seed)
	case types.OInet, types.OCidr: // family, length of the mask, then two bytes that do not count
		return hashBytes(append([]byte{b[0], b[1]}, b[4:]...), seed)
	case types.OPgLSN, types.OXid8:
		return hashInt64(int64(types.WordValue(b)), seed)
	case types.OTid: // block and row, as PostgreSQL has them in memory
		raw := types.AppendBinary(nil, d)
		return hashBytes([]byte{raw[1], raw[0], raw[3], raw[2], raw[5], raw[4]}, seed)
	}
	return hashBytes(b, seed)
}

func hashInt64(v int64, seed uint64) uint64 {
	lo, hi := uint32(v), uint32(v>>32)
	if v < 0 {
		hi = ^hi
	}
	return hashUint32(lo^hi, seed)
}

func hashFloat(f float64, seed uint64) uint64 {
	if f == 0 {
		return seed
	}
	if f != f {
		f = math.NaN()
	}
	u := math.Float64bits(f)
	if f != f {
		u = 0x7ff8000000000000
	}
	return hashBytes(binary.LittleEndian.AppendUint64(nil, u), seed)
}

// hashNumeric hashes the digits to base 10,000 without zeros at the ends, and the
// power of the first one.
func hashNumeric(d types.Decimal, seed uint64) uint64 {
	if !d.IsFinite() {
		return seed
	}
	// number of digits, weight, sign, scale, then the digits
	bin := d.AppendBinary(nil)
	weight := int16(binary.BigEndian.Uint16(bin[2:]))
	digits := bin[8:]
	for len(digits) > 0 && digits[0]|digits[1] == 0 {
		digits = digits[2:]
		weight--
	}
	for len(digits) > 0 && digits[len(digits)-1]|digits[len(digits)-2] == 0 {
		digits = digits[:len(digits)-2]
	}
	if len(digits) == 0 {
		return seed - 1
	}
	b := make([]byte, 0, len(digits))
	for i := 0; i < len(digits); i += 2 {
		b = append(b, digits[i+1], digits[i])
	}
	return hashBytes(b, seed) ^ uint64(int64(weight))
}

// The hash is Bob Jenkins's lookup3 with a seed of 64 bits.

const hashInit = 0x9e3779b9 + 3923095

func mix(a, b, c uint32) (uint32, uint32, uint32) {
	a -= c
	a ^= bits.RotateLeft32(c, 4)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 6)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 8)
	b += a
	a -= c
	a ^= bits.RotateLeft32(c, 16)
	c += b
	b -= a
	b ^= bits.RotateLeft32(a, 19)
	a += c
	c -= b
	c ^= bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

func final(a, b, c uint32) uint64 {
	c ^= b
	c -= bits.RotateLeft32(b, 14)
	a ^= c
	a -= bits.RotateLeft32(c, 11)
	b ^= a
	b -= bits.RotateLeft32(a, 25)
	c ^= b
	c -= bits.RotateLeft32(b, 16)
	a ^= c
	a -= bits.RotateLeft32(c, 4)
	b ^= a
	b -= bits.RotateLeft32(a, 14)
	c ^= b
	c -= bits.RotateLeft32(b, 24)
	return uint64(b)<<32 | uint64(c)
}

func seeded(n int, seed uint64) (uint32, uint32, uint32) {
	a := uint32(hashInit) + uint32(n)
	b, c := a, a
	if seed != 0 {
		a, b, c = mix(a+uint32(seed>>32), b+uint32(seed), c)
	}
	return a, b, c
}

func hashUint32(v uint32, seed uint64) uint64 {
	a, b, c := seeded(4, seed)
	return final(a+v, b, c)
}

func hashBytes(k []byte, seed uint64) uint64 {
	a, b, c := seeded(len(k), seed)
	for ; len(k) >= 12; k = k[12:] {
		a += binary.LittleEndian.Uint32(k)
		b += binary.LittleEndian.Uint32(k[4:])
		c += binary.LittleEndian.Uint32(k[8:])
		a, b, c = mix(a, b, c)
	}
	// The lowest byte of c is kept for the length, which a, b and c began with.
	var tail [12]byte
	copy(tail[:], k)
	a += binary.LittleEndian.Uint32(tail[:])
	b += binary.LittleEndian.Uint32(tail[4:])
	c += binary.LittleEndian.Uint32(tail[8:]) << 8
	return final(a, b, c)
}
