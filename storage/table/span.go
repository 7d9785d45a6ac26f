package table

import (
	"bytes"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// spanSet is what a list of ranges becomes: either spans of keys or, if every
// range gives a whole key, the keys. Both are sorted and without overlaps.
type spanSet struct {
	spans  []kv.Range
	points [][]byte
	mem    []byte // of bounds
}

// wholeSpace is the span of all keys.
var wholeSpace = []kv.Range{{}}

// spans turns ranges of the file's key into spans. whole is the number of columns
// of a key that has at most one entry; 0 if there is no such number.
func spans(c *codec.KeyCodec, ranges []types.Range, whole int) spanSet {
	if ranges == nil {
		return spanSet{spans: wholeSpace}
	}
	var s spanSet
	s.add(c, ranges, whole)
	return s
}

// add puts the spans of ranges into an empty set.
func (s *spanSet) add(c *codec.KeyCodec, ranges []types.Range, whole int) {
	allPoints := true
	for i := range ranges {
		r := &ranges[i]
		prefix, ok := eqPrefix(c, r.Eq)
		if !ok {
			continue
		}
		if whole > 0 && len(r.Eq) == whole && !hasNull(r.Eq) {
			s.points = append(s.points, prefix)
			s.spans = append(s.spans, kv.Prefix(prefix))
			continue
		}
		allPoints = false
		if !r.Bounded() || len(r.Eq) == c.Len() {
			s.spans = append(s.spans, prefixSpan(prefix))
			continue
		}
		s.addBounded(c, r, prefix)
	}
	if allPoints {
		s.spans = nil
		slices.SortFunc(s.points, bytes.Compare)
		s.points = slices.CompactFunc(s.points, bytes.Equal)
		return
	}
	s.points = nil
	if len(s.spans) > 1 {
		s.spans = merge(s.spans)
	}
}

// bound is a prefix and a column's value behind it, in the set's memory.
func (s *spanSet) bound(c *codec.KeyCodec, prefix []byte, j int, b *bound) []byte {
	n := len(s.mem)
	s.mem = b.append(append(s.mem, prefix...), c, j)
	return s.mem[n:len(s.mem):len(s.mem)]
}

func hasNull(ds []types.Datum) bool {
	return slices.ContainsFunc(ds, func(d types.Datum) bool { return d.Null })
}

// eqPrefix encodes leading values; false if no key can have them.
func eqPrefix(c *codec.KeyCodec, eq []types.Datum) ([]byte, bool) {
	var prefix []byte
	for i, d := range eq {
		if d.Null {
			if !c.Col(i).Nullable {
				return nil, false
			}
		} else {
			f, fit := codec.Fit(c.Col(i).T, d)
			if fit != codec.FitExact {
				return nil, false
			}
			d = f
		}
		prefix = c.AppendCol(prefix, i, d)
	}
	return prefix, true
}

func prefixSpan(prefix []byte) kv.Range {
	if len(prefix) == 0 {
		return kv.Range{}
	}
	return kv.Prefix(prefix)
}

// addBounded adds the spans of a range whose column after Eq is restricted.
func (s *spanSet) addBounded(c *codec.KeyCodec, r *types.Range, prefix []byte) {
	j := len(r.Eq)
	col := c.Col(j)
	if r.WithNull && col.Nullable {
		s.spans = append(s.spans, kv.Prefix(append(slices.Clip(prefix), c.NullTag(j))))
	}
	values := slices.Clip(prefix)
	if col.Nullable {
		values = append(values, codec.ValueTag)
	}
	span := prefixSpan(values)
	if r.Test != nil {
		for _, t := range c.RangeSpans(prefix, j, r.Test) {
			s.spans = append(s.spans, kv.Range{Lo: t[0], Hi: t[1]})
		}
		return
	}
	lo, ok := lowerBound(col.T, r)
	if !ok {
		return
	}
	hi, ok := upperBound(col.T, r)
	if !ok {
		return
	}
	if col.Desc {
		lo, hi = hi, lo
	}
	if lo.set {
		span.Lo = s.bound(c, prefix, j, &lo)
		if !lo.inc {
			if span.Lo = codec.PrefixEnd(span.Lo); span.Lo == nil {
				return
			}
		}
	}
	if hi.set {
		span.Hi = s.bound(c, prefix, j, &hi)
		if hi.inc {
			span.Hi = codec.PrefixEnd(span.Hi)
		}
	}
	if span.Hi != nil && bytes.Compare(span.Lo, span.Hi) >= 0 {
		return
	}
	s.spans = append(s.spans, span)
}

// bound is an end of a range as a column can have it, if it is set.
type bound struct {
	set, inc bool
	d        types.Datum
	rest     []types.Datum // of the columns behind it
}

// append appends the bound's columns, of which the first is c's column j. It ends
// before a value that a column cannot have: all that is equal so far is in then.
func (b *bound) append(dst []byte, c *codec.KeyCodec, j int) []byte {
	dst = c.AppendCol(dst, j, b.d)
	for i, d := range b.rest {
		f, fit := codec.Fit(c.Col(j+1+i).T, d)
		if fit != codec.FitExact {
			b.inc = true
			break
		}
		dst = c.AppendCol(dst, j+1+i, f)
	}
	return dst
}

// lowerBound returns the bound as the column can have it; false if no value can
// lie above it.
func lowerBound(t types.T, r *types.Range) (bound, bool) {
	if r.Lo == nil {
		return bound{}, true
	}
	if r.Lo.Null {
		return bound{}, false
	}
	switch d, fit := codec.Fit(t, *r.Lo); fit {
	case codec.FitExact:
		return bound{set: true, inc: r.LoInc, d: d, rest: r.LoRest}, true
	case codec.FitBelow:
		return bound{set: true, d: d}, true
	}
	return bound{}, true
}

// upperBound is lowerBound for the other end.
func upperBound(t types.T, r *types.Range) (bound, bool) {
	if r.Hi == nil {
		return bound{}, true
	}
	if r.Hi.Null {
		return bound{}, false
	}
	switch d, fit := codec.Fit(t, *r.Hi); fit {
	case codec.FitExact:
		return bound{set: true, inc: r.HiInc, d: d, rest: r.HiRest}, true
	case codec.FitBelow:
		return bound{set: true, inc: true, d: d}, true
	}
	return bound{}, false
}

// merge sorts spans and joins those that touch.
func merge(spans []kv.Range) []kv.Range {
	slices.SortFunc(spans, func(a, b kv.Range) int { return bytes.Compare(a.Lo, b.Lo) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && (out[n-1].Hi == nil || bytes.Compare(s.Lo, out[n-1].Hi) <= 0) {
			if out[n-1].Hi != nil && (s.Hi == nil || bytes.Compare(s.Hi, out[n-1].Hi) > 0) {
				out[n-1].Hi = s.Hi
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// tested reports whether one of the ranges tests ranges kept by length, which has many
// spans with little or nothing in them.
func tested(ranges []types.Range) bool {
	return slices.ContainsFunc(ranges, func(r types.Range) bool { return r.Test != nil })
}

// join makes the spans one, and returns what leads over the gaps between them: see
// kv.ScanOpt.Skip.
func (s *spanSet) join() func(key []byte) []byte {
	spans := s.spans
	s.spans = []kv.Range{{Lo: spans[0].Lo, Hi: spans[len(spans)-1].Hi}}
	return func(key []byte) []byte {
		i, _ := slices.BinarySearchFunc(spans, key, func(r kv.Range, key []byte) int {
			if r.Hi != nil && bytes.Compare(r.Hi, key) <= 0 {
				return -1
			}
			return 1
		})
		if i == len(spans) || bytes.Compare(spans[i].Lo, key) <= 0 {
			return nil
		}
		return spans[i].Lo
	}
}
