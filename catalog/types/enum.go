package types

import (
	"encoding/binary"
	"math"
)

// enumPrefix is the length in bytes of an enum value's rank.
const enumPrefix = 8

// Enum makes a value of an enum type: the label's place in the type's order,
// as 8 bytes that sort like the number, followed by the label. So values
// compare, hash and make keys as plain bytes, and print without a catalog. An
// enum's order numbers never change once they are given out.
func Enum(t T, order float64, label string) Datum {
	bits := math.Float64bits(order)
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	b := binary.BigEndian.AppendUint64(make([]byte, 0, enumPrefix+len(label)), bits)
	return Datum{T: t, B: append(b, label...)}
}

// EnumLabel returns the label of an enum value's bytes.
func EnumLabel(b []byte) []byte { return b[min(enumPrefix, len(b)):] }
