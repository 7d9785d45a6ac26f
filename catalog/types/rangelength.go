package types

import (
	"encoding/binary"
	"math/bits"
)

// Ranges whose bounds are whole numbers are kept by their length in some indexes: first
// the empty ones, then those of length 0, 1, 2 to 3, 4 to 7 and so on, each by their
// bounds, then those without an upper bound and those without a lower one alone. What
// overlaps a range is found in each part between two keys, as its ranges reach no farther
// than they are long.
const (
	LengthEmpty   = 0  // the empty range
	LengthOne     = 1  // the first of 65 parts of ranges that have both bounds
	LengthNoUpper = 66 // there is no upper bound
	LengthNoLower = 67 // there is an upper bound alone
)

// KeptByLength reports whether ranges of a type can be kept by their length.
func KeptByLength(t T) bool {
	if t.Kind() != KRange {
		return false
	}
	b, ok := RangeElem(t)
	if !ok {
		return false
	}
	switch b.Kind() {
	case KInt4, KInt8, KDate, KTimestamp, KTimestamptz:
		return true
	}
	return false
}

// LengthPart is the part of a range.
func (r *RangeValue) LengthPart() byte {
	switch {
	case r.Empty:
		return LengthEmpty
	case r.Hi == nil:
		return LengthNoUpper
	case r.Lo == nil:
		return LengthNoLower
	}
	return LengthOne + byte(bits.Len64(uint64(r.Hi.I)-uint64(r.Lo.I)))
}

// LongestOf is the greatest length in a part of ranges with both bounds.
func LongestOf(part byte) uint64 { return 1<<(part-LengthOne) - 1 }

// RangeTest is what ranges have to fulfil: Op, which is && (to overlap), @> (to contain)
// or <@ (to be contained by), with X, a range of the same type or, for @>, a value of
// its bounds' type.
type RangeTest struct {
	Op string
	X  Datum
}

// WholeRange is a range whose bounds are whole numbers, of a type that KeptByLength
// allows. Its ends are points: an exclusive lower bound lies half a step above its value,
// an exclusive upper one below.
type WholeRange struct {
	Lo, Hi     int64
	LoAt, HiAt int8 // half steps that the end lies from its value
	NoLo, NoHi bool
	Empty      bool
}

// startsBy reports whether a begins at or before the end of b.
func (a *WholeRange) startsBy(b *WholeRange) bool {
	return a.NoLo || b.NoHi || a.Lo < b.Hi || a.Lo == b.Hi && a.LoAt <= b.HiAt
}

// Overlaps is RangesOverlap.
func (a *WholeRange) Overlaps(b *WholeRange) bool {
	return !a.Empty && !b.Empty && a.startsBy(b) && b.startsBy(a)
}

// Contains is RangeContains.
func (a *WholeRange) Contains(b *WholeRange) bool {
	switch {
	case b.Empty:
		return true
	case a.Empty, b.NoLo && !a.NoLo, b.NoHi && !a.NoHi:
		return false
	}
	return (a.NoLo || a.Lo < b.Lo || a.Lo == b.Lo && a.LoAt <= b.LoAt) && (a.NoHi || a.Hi > b.Hi || a.Hi == b.Hi && a.HiAt >= b.HiAt)
}

// WholeWidth is the number of bytes that a bound takes in ranges of a type whose bounds
// are whole numbers, 0 for other types.
func WholeWidth(t T) int {
	switch builtinRange(t) {
	case oInt4Range, oDateRange:
		return 4
	case oInt8Range, oTSRange, oTSTZRange:
		return 8
	}
	return 0
}

// ReadWholeRange reads a range without making values of its bounds, which keep their
// order; ok is false for other ranges and what is none.
func ReadWholeRange(d Datum) (r WholeRange, ok bool) {
	width := WholeWidth(d.T)
	if width == 0 {
		return r, false
	}
	return ParseWholeRange(width, d.B)
}

// ParseWholeRange is ReadWholeRange of a type with this WholeWidth.
func ParseWholeRange(width int, b []byte) (r WholeRange, ok bool) {
	if len(b) == 0 {
		return r, false
	}
	flags, b := b[0], b[1:]
	r.Empty, r.NoLo, r.NoHi = flags&rangeEmpty != 0, flags&rangeLoInf != 0, flags&rangeHiInf != 0
	if flags&rangeLoInc == 0 {
		r.LoAt = 1
	}
	if flags&rangeHiInc == 0 {
		r.HiAt = -1
	}
	if r.Empty {
		return r, len(b) == 0
	}
	for _, p := range [...]struct {
		none bool
		to   *int64
	}{{r.NoLo, &r.Lo}, {r.NoHi, &r.Hi}} {
		if p.none {
			continue
		}
		if len(b) < 4+width || binary.BigEndian.Uint32(b) != uint32(width) {
			return r, false
		}
		if width == 4 {
			*p.to = int64(int32(binary.BigEndian.Uint32(b[4:])))
		} else {
			*p.to = int64(binary.BigEndian.Uint64(b[4:]))
		}
		b = b[4+width:]
	}
	return r, len(b) == 0
}

// AppendWholeRange appends the value that NewRange makes of a range that begins with its
// lower bound and ends before its upper one; ok is false where these are inverted.
func AppendWholeRange(b []byte, width int, r *WholeRange) (out []byte, ok bool) {
	if !r.NoLo && !r.NoHi && r.Lo >= r.Hi {
		return append(b, rangeEmpty), r.Lo == r.Hi
	}
	flags := byte(0)
	if r.NoLo {
		flags |= rangeLoInf
	} else {
		flags |= rangeLoInc
	}
	if r.NoHi {
		flags |= rangeHiInf
	}
	b = append(b, flags)
	if !r.NoLo {
		b = appendWhole(b, width, r.Lo)
	}
	if !r.NoHi {
		b = appendWhole(b, width, r.Hi)
	}
	return b, true
}

func appendWhole(b []byte, width int, v int64) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(width))
	if width == 4 {
		return binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return binary.BigEndian.AppendUint64(b, uint64(v))
}
