package expr

import (
	"encoding/binary"
	"math"
	"math/bits"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Bit strings are held as PostgreSQL sends them: the number of bits in four
// bytes, then the bits from the highest of the first byte on, then zeros.

func bitCount(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(b))
}

func newBits(n int) []byte {
	b := make([]byte, 4+(n+7)/8)
	binary.BigEndian.PutUint32(b, uint32(n))
	return b
}

func bitAt(b []byte, i int) byte { return b[4+i/8] >> (7 - i&7) & 1 }

func setBitAt(b []byte, i int, v byte) {
	m := byte(0x80) >> (i & 7)
	b[4+i/8] &^= m
	if v != 0 {
		b[4+i/8] |= m
	}
}

// copyBits puts n bits of src, from position from on, at position to of dst.
func copyBits(dst []byte, to int, src []byte, from, n int) {
	for i := range n {
		setBitAt(dst, to+i, bitAt(src, from+i))
	}
}

func bitFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
		n := in[1].I
		if n <= 0 || n > math.MaxInt32-7 {
			n = 1 // no length: as bit without one
		}
		return types.Cast(in[0], types.T{OID: types.OBit, Mod: int32(n)}, nil, true)
	}), "bitfromint4", "bitfromint8")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) { return types.Cast(in[0], c.call.T, nil, true) }), "bittoint4", "bittoint8")
	r.add(fnD(func(c *callCtx, in []types.Datum) (types.Datum, error) {
		return types.Cast(in[0], types.T{OID: in[0].T.OID, Mod: int32(in[1].I)}, nil, in[2].I != 0)
	}), "bit", "varbit")
	for _, op := range []string{"and", "or", "xor"} {
		src := map[string]string{"and": "bit_and", "or": "bit_or", "xor": "bitxor"}[op]
		r.add(fn2(func(_ *callCtx, a, b []byte) ([]byte, error) { return combineBits(op, a, b) }), src)
	}
	r.add(fn1(func(_ *callCtx, a []byte) ([]byte, error) {
		out := newBits(bitCount(a))
		for i := range bitCount(a) {
			setBitAt(out, i, 1-bitAt(a, i))
		}
		return out, nil
	}), "bitnot")
	shift := func(left bool) builder {
		return fn2(func(_ *callCtx, a []byte, by int64) ([]byte, error) {
			if !left {
				by = -by
			}
			n := bitCount(a)
			out := newBits(n)
			for i := range n {
				if from := int64(i) + by; from >= 0 && from < int64(n) {
					setBitAt(out, i, bitAt(a, int(from)))
				}
			}
			return out, nil
		})
	}
	r.add(shift(true), "bitshiftleft")
	r.add(shift(false), "bitshiftright")
	r.add(fn2(func(_ *callCtx, a, b []byte) ([]byte, error) { return joinBits(a, b) }), "bitcat")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) { return int64(bitCount(a)), nil }), "bitlength", "sql_bit_length_1812")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) { return int64(len(a) - 4), nil }), "bitoctetlength")
	r.add(fn1(func(_ *callCtx, a []byte) (int64, error) {
		n := 0
		for _, c := range a[min(4, len(a)):] {
			n += bits.OnesCount8(c)
		}
		return int64(n), nil
	}), "bit_bit_count")
	r.add(fn2(bitPosition), "bitposition")
	r.add(fn2(func(_ *callCtx, a []byte, from int64) ([]byte, error) {
		return bitSubstring(a, from, int64(bitCount(a))+1)
	}), "bitsubstr_no_len")
	r.add(fn3(func(_ *callCtx, a []byte, from, n int64) ([]byte, error) {
		if n < 0 {
			return nil, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
		}
		return bitSubstring(a, from, from+n)
	}), "bitsubstr")
	r.add(fnD(bitOverlay), "bitoverlay", "bitoverlay_no_len")
	r.add(fn2(func(_ *callCtx, a []byte, i int64) (int64, error) {
		if err := checkBitIndex(a, i); err != nil {
			return 0, err
		}
		return int64(bitAt(a, int(i))), nil
	}), "bitgetbit")
	r.add(fn3(func(_ *callCtx, a []byte, i, v int64) ([]byte, error) {
		if err := checkBitIndex(a, i); err != nil {
			return nil, err
		}
		if v != 0 && v != 1 {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "new bit must be 0 or 1")
		}
		out := append([]byte(nil), a...)
		setBitAt(out, int(i), byte(v))
		return out, nil
	}), "bitsetbit")
}

func checkBitIndex(a []byte, i int64) error {
	if n := int64(bitCount(a)); i < 0 || i >= n {
		return sqlerr.New(sqlerr.ArraySubscriptError, "bit index %d out of valid range (0..%d)", i, n-1)
	}
	return nil
}

func combineBits(op string, a, b []byte) ([]byte, error) {
	if bitCount(a) != bitCount(b) {
		names := map[string]string{"and": "AND", "or": "OR", "xor": "XOR"}
		return nil, sqlerr.New(sqlerr.StringDataLengthMismatch, "cannot %s bit strings of different sizes", names[op])
	}
	out := newBits(bitCount(a))
	for i := 4; i < len(out); i++ {
		switch op {
		case "and":
			out[i] = a[i] & b[i]
		case "or":
			out[i] = a[i] | b[i]
		default:
			out[i] = a[i] ^ b[i]
		}
	}
	return out, nil
}

// bitStringFold is the step of bit_and, bit_or, bit_xor over bit strings.
func bitStringFold(aggregate string) func(acc, x types.Datum) (types.Datum, error) {
	op := aggregate[len("bit_"):]
	return func(acc, x types.Datum) (types.Datum, error) {
		b, err := combineBits(op, acc.B, x.B)
		return types.Bytes(acc.T, b), err
	}
}

// maxBitCount is the greatest length of a bit string.
const maxBitCount = 83886080 * 8

func joinBits(a, b []byte) ([]byte, error) {
	n, m := bitCount(a), bitCount(b)
	if n+m > maxBitCount {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "bit string length exceeds the maximum allowed (%d)", maxBitCount)
	}
	out := newBits(n + m)
	copy(out[4:], a[4:])
	copyBits(out, n, b, 0, m)
	return out, nil
}

// bitSubstring is the bits from..to-1, counted from 1.
func bitSubstring(a []byte, from, to int64) ([]byte, error) {
	lo, hi := max(from, 1)-1, min(to-1, int64(bitCount(a)))
	if lo >= hi {
		return newBits(0), nil
	}
	out := newBits(int(hi - lo))
	copyBits(out, 0, a, int(lo), int(hi-lo))
	return out, nil
}

func bitPosition(_ *callCtx, text, part []byte) (int64, error) {
	n, m := bitCount(text), bitCount(part)
	if n == 0 {
		return 0, nil
	}
next:
	for i := 0; i+m <= n; i++ {
		for k := range m {
			if bitAt(text, i+k) != bitAt(part, k) {
				continue next
			}
		}
		return int64(i + 1), nil
	}
	return 0, nil
}

// bitOverlay replaces bits: string, new bits, from, and how many, by default as
// many as there are new ones.
func bitOverlay(c *callCtx, in []types.Datum) (types.Datum, error) {
	a, part, from := in[0].B, in[1].B, in[2].I
	n := int64(bitCount(part))
	if len(in) > 3 {
		n = in[3].I
	}
	if from <= 0 {
		return null, sqlerr.New(sqlerr.SubstringError, "negative substring length not allowed")
	}
	if from+n >= 1<<31 {
		return null, sqlerr.New(sqlerr.NumericValueOutOfRange, "integer out of range")
	}
	head, err := bitSubstring(a, 1, from)
	if err != nil {
		return null, err
	}
	tail, err := bitSubstring(a, from+n, int64(bitCount(a))+1)
	if err != nil {
		return null, err
	}
	if head, err = joinBits(head, part); err != nil {
		return null, err
	}
	head, err = joinBits(head, tail)
	return types.Bytes(c.call.T, head), err
}
