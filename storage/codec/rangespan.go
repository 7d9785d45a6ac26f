package codec

import (
	"math"
	"slices"

	"kvsqld/catalog/types"
)

// RangeSpans returns the spans, in order and without overlaps, of the keys that begin with
// prefix and have ranges in column i, which is kept by length, that may fulfil a test.
// An end that is nil is open.
func (c *KeyCodec) RangeSpans(prefix []byte, i int, test *types.RangeTest) [][2][]byte {
	k := &c.cols[i]
	prefix = slices.Clip(prefix)
	if k.Nullable {
		prefix = append(prefix, tagValue)
	}
	q := types.RangeValue{Lo: &test.X, Hi: &test.X, LoInc: true, HiInc: true}
	if test.X.T.Kind() == types.KRange {
		var err error
		if q, err = types.DecodeRange(test.X); err != nil {
			return [][2][]byte{{prefix, PrefixEnd(prefix)}}
		}
	}
	s := &rangeSpans{k: k, prefix: slices.Clip(prefix)}
	switch test.Op {
	case "&&":
		if !q.Empty {
			s.add(rangeWant{most: q.Hi, reach: q.Lo})
		}
	case "@>":
		if q.Empty {
			return [][2][]byte{{prefix, PrefixEnd(prefix)}}
		}
		s.add(rangeWant{most: q.Lo, noLower: q.Lo == nil, reach: q.Hi, noUpper: q.Hi == nil, longer: q.LengthPart()})
	case "<@":
		s.whole(types.LengthEmpty)
		if !q.Empty {
			s.add(rangeWant{least: q.Lo, most: q.Hi, reach: q.Lo, shorter: q.LengthPart()})
		}
	}
	return s.out
}

// rangeWant is what ranges are looked for, none of them empty.
type rangeWant struct {
	least, most *types.Datum // of the lower bound
	reach       *types.Datum // least of the upper bound
	// noLower and noUpper: there must be no such bound.
	noLower, noUpper bool
	longer, shorter  byte // the first and the last part among those with both bounds; 0 is not known
}

type rangeSpans struct {
	k      *keyCol
	prefix []byte
	out    [][2][]byte
}

func (s *rangeSpans) key(part byte, more ...byte) []byte {
	return append(append(s.prefix, part), more...)
}

func (s *rangeSpans) whole(part byte) {
	key := s.key(part)
	s.out = append(s.out, [2][]byte{key, PrefixEnd(key)})
}

// value is the key up to a bound's value, which is cut to what the column can have.
func (s *rangeSpans) value(key []byte, v int64) []byte {
	if s.k.elem.form == formInt4 {
		v = min(max(v, math.MinInt32), math.MaxInt32)
	}
	return s.k.elem.appendDatum(append(key, boundValue), &types.Datum{T: s.k.elem.T, I: v})
}

func (s *rangeSpans) add(w rangeWant) {
	if !w.noLower && !w.noUpper {
		s.bounded(w)
	}
	s.noUpper(w)
	if !w.noUpper && w.least == nil {
		lo := s.key(types.LengthNoLower, rangeValues, boundLowest)
		hi := PrefixEnd(lo)
		if w.reach != nil {
			lo = s.value(lo, w.reach.I)
		}
		s.out = append(s.out, [2][]byte{lo, hi})
	}
}

// bounded adds the parts of ranges with both bounds.
func (s *rangeSpans) bounded(w rangeWant) {
	first, last := byte(types.LengthOne), byte(types.LengthNoUpper-1)
	if w.longer > first && w.longer <= last {
		first = w.longer
	}
	if w.shorter >= first && w.shorter < last {
		last = w.shorter
	}
	for part := first; part <= last; part++ {
		from, known := int64(math.MinInt64), false
		if w.least != nil {
			from, known = w.least.I, true
		}
		if w.reach != nil {
			at := w.reach.I - int64(min(types.LongestOf(part), math.MaxInt64))
			if at > w.reach.I || types.LongestOf(part) > math.MaxInt64 {
				at = math.MinInt64
			}
			from, known = max(from, at), true
		}
		lo := s.key(part, rangeValues, boundValue)
		hi := PrefixEnd(lo)
		if known {
			lo = s.value(lo[:len(lo)-1], from)
		}
		if w.most != nil {
			if from > w.most.I {
				continue
			}
			hi = PrefixEnd(s.value(s.key(part, rangeValues), w.most.I))
		}
		s.out = append(s.out, [2][]byte{lo, hi})
	}
}

// noUpper adds the ranges without an upper bound.
func (s *rangeSpans) noUpper(w rangeWant) {
	if w.shorter != 0 && w.shorter != types.LengthNoUpper {
		return
	}
	lo := s.key(types.LengthNoUpper)
	hi := PrefixEnd(lo)
	if w.least != nil {
		lo = s.value(s.key(types.LengthNoUpper, rangeValues), w.least.I)
	}
	switch {
	case w.noLower:
		hi = PrefixEnd(s.key(types.LengthNoUpper, rangeValues, boundLowest))
	case w.most != nil:
		hi = PrefixEnd(s.value(s.key(types.LengthNoUpper, rangeValues), w.most.I))
	}
	s.out = append(s.out, [2][]byte{lo, hi})
}
