package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

func errBitLength() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "bit string length exceeds the maximum allowed (%d)", maxBitLength)
}

// parseBits reads a bit string: digits, or B… in binary, or X… in hexadecimal.
func parseBits(s string) ([]byte, error) {
	hexa := false
	body := s
	if body != "" {
		switch body[0] {
		case 'b', 'B':
			body = body[1:]
		case 'x', 'X':
			body, hexa = body[1:], true
		}
	}
	n := len(body)
	if hexa {
		n *= 4
	}
	if n > maxBitLength {
		return nil, errBitLength()
	}
	out := make([]byte, 4+(n+7)/8)
	binary.BigEndian.PutUint32(out, uint32(n))
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch v, ok := HexDigit(c); {
		case hexa && !ok:
			return nil, errBitDigit(body[i:], "hexadecimal")
		case hexa:
			out[4+i/2] |= v << (4 * (1 - i&1))
		case c != '0' && c != '1':
			return nil, errBitDigit(body[i:], "binary")
		case c == '1':
			out[4+i/8] |= 0x80 >> (i & 7)
		}
	}
	return out, nil
}

func errBitDigit(at, base string) error {
	_, n := utf8.DecodeRuneInString(at)
	return sqlerr.New(sqlerr.InvalidTextRepresentation, `"%s" is not a valid %s digit`, at[:n], base)
}

// bitLen is the number of bits of a bit string.
func bitLen(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(binary.BigEndian.Uint32(b))
}

// maskBits clears the unused bits of the last byte of an n-bit string.
func maskBits(b []byte, n int) {
	if r := n & 7; r != 0 {
		b[len(b)-1] &= 0xff << (8 - r)
	}
}

// bitsBinary reads the binary form. What stands behind the last bit does not count.
func bitsBinary(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, errBinaryShort()
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n < 0 || int(n) > maxBitLength {
		return nil, sqlerr.New(sqlerr.InvalidBinaryRepresentation, "invalid length in external bit string")
	}
	if err := fixed(b, 4+(int(n)+7)/8); err != nil {
		return nil, err
	}
	if r := n & 7; r != 0 && b[len(b)-1]&(0xff>>r) != 0 {
		b = append([]byte(nil), b...)
		maskBits(b, int(n))
	}
	return b, nil
}

func appendBits(buf, b []byte) []byte {
	for i := range bitLen(b) {
		buf = append(buf, '0'+b[4+i/8]>>(7-i&7)&1)
	}
	return buf
}

func compareBits(a, b []byte) int {
	if len(a) < 4 || len(b) < 4 {
		return cmp.Compare(len(a), len(b))
	}
	n := min(len(a), len(b))
	if c := bytes.Compare(a[4:n], b[4:n]); c != 0 {
		return c
	}
	return cmp.Compare(bitLen(a), bitLen(b))
}

// bitsFromInt is the cast of an integer of the given width to bit(n): two's
// complement, sign-extended or cut on the left.
func bitsFromInt(v int64, n int) []byte {
	out := make([]byte, 4+(n+7)/8)
	binary.BigEndian.PutUint32(out, uint32(n))
	for i := range n {
		at := n - 1 - i // place value of the bit
		if v>>min(at, 63)&1 != 0 {
			out[4+i/8] |= 0x80 >> (i & 7)
		}
	}
	return out
}

// bitsToInt reads at most width bits; ok is false for longer strings.
func bitsToInt(b []byte, width int) (v int64, ok bool) {
	n := bitLen(b)
	if n > width {
		return 0, false
	}
	var u uint64
	for i := range n {
		u = u<<1 | uint64(b[4+i/8]>>(7-i&7)&1)
	}
	if width == 32 {
		return int64(int32(u)), true
	}
	return int64(u), true
}
