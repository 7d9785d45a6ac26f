package codec

import "kvsqld/catalog/types"

// The tags of ranges. The empty range is before all others; a lower bound that is
// missing is before, an upper one behind all that are there.
const (
	rangeEmpty  = 0x04
	rangeValues = 0x10
	rangesEnd   = 0x08

	boundLowest  = 0x08
	boundValue   = 0x10
	boundHighest = 0x18
)

// rangeElem returns the type of the bounds of a range or multirange type, or the
// zero T.
func rangeElem(t types.T) types.T {
	if m := types.RangeOf(t); m != (types.T{}) {
		t = m
	}
	e, _ := types.RangeElem(t)
	return e
}

func (k *keyCol) appendRange(dst []byte, d *types.Datum) []byte {
	r, err := types.DecodeRange(*d)
	if err != nil {
		r = types.RangeValue{Empty: true}
	}
	if k.ByLength {
		dst = append(dst, r.LengthPart())
	}
	if r.Empty {
		return append(dst, rangeEmpty)
	}
	return k.appendBounds(append(dst, rangeValues), &r)
}

// appendMultirange appends the ranges, which are never empty, and an end that is
// less than any of them.
func (k *keyCol) appendMultirange(dst []byte, d *types.Datum) []byte {
	list, _ := types.DecodeMultirange(*d)
	for i := range list {
		dst = k.appendBounds(append(dst, rangeValues), &list[i])
	}
	return append(dst, rangesEnd)
}

// appendBounds appends both bounds: of equal values the lower bound that is in the
// range is first, and the upper one last.
func (k *keyCol) appendBounds(dst []byte, r *types.RangeValue) []byte {
	if r.Lo == nil {
		dst = append(dst, boundLowest)
	} else {
		dst = k.elem.appendDatum(append(dst, boundValue), r.Lo)
		dst = append(dst, flag(!r.LoInc))
	}
	if r.Hi == nil {
		return append(dst, boundHighest)
	}
	dst = k.elem.appendDatum(append(dst, boundValue), r.Hi)
	return append(dst, flag(r.HiInc))
}

func flag(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// rangeWidth is the number of bytes of a range or multirange, xored with m.
func (k *keyCol) rangeWidth(b []byte, m byte) (int, error) {
	n := 0
	if k.ByLength {
		n = 1
	}
	for {
		if n >= len(b) {
			return 0, corrupt("key ends in a range")
		}
		tag := b[n] ^ m
		n++
		switch {
		case tag == rangeEmpty && k.form == formRange, tag == rangesEnd && k.form == formMultirange:
			return n, nil
		case tag != rangeValues:
			return 0, corrupt("unknown tag %#x in a range", tag)
		}
		for _, missing := range [...]byte{boundLowest, boundHighest} {
			if n >= len(b) {
				return 0, corrupt("key ends in a range")
			}
			tag := b[n] ^ m
			n++
			if tag == missing {
				continue
			}
			if tag != boundValue {
				return 0, corrupt("unknown tag %#x of a bound", tag)
			}
			w, err := k.elem.valueWidth(b[n:], m)
			if err != nil {
				return 0, err
			}
			if n += w + 1; n > len(b) {
				return 0, corrupt("key ends in a range")
			}
		}
		if k.form == formRange {
			return n, nil
		}
	}
}

// decodeRanges reads a range or multirange, whose width is known to be right.
func (k *keyCol) decodeRanges(d *types.Datum, b []byte) error {
	var list []types.RangeValue
	if k.ByLength {
		b = b[1:]
	}
	for b[0] == rangeValues {
		r := types.RangeValue{}
		b = b[1:]
		for _, bound := range [...]struct {
			to     **types.Datum
			inside *bool
			in     byte
		}{{&r.Lo, &r.LoInc, 0}, {&r.Hi, &r.HiInc, 1}} {
			tag := b[0]
			if b = b[1:]; tag != boundValue {
				continue
			}
			n, err := k.elem.valueWidth(b, 0)
			if err != nil {
				return err
			}
			v := types.Datum{T: k.elem.T}
			if err := k.elem.value(&v, b[:n], nil); err != nil {
				return err
			}
			*bound.to, *bound.inside = &v, b[n] == bound.in
			b = b[n+1:]
		}
		list = append(list, r)
		if k.form == formRange {
			break
		}
	}
	var got types.Datum
	var err error
	switch {
	case k.form == formMultirange:
		got, err = types.NewMultirange(k.T, list)
	case len(list) == 0:
		got, err = types.NewRange(k.T, types.RangeValue{Empty: true})
	default:
		got, err = types.NewRange(k.T, list[0])
	}
	if err != nil {
		return corrupt("range in a key: %v", err)
	}
	d.B = got.B
	return nil
}
