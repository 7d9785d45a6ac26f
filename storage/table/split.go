package table

import (
	"bytes"
	"context"
	"encoding/binary"

	"kvsqld/storage/kv"
)

// SplitScan cuts a scan into at most n parts that together return the same rows,
// each in order, and part i before part i+1. Cuts are made by interpolating
// between the first and the last key, so that parts are equal only where keys are
// spread evenly. One part is returned where nothing can be cut.
func (d *Desc) SplitScan(ctx context.Context, r Reader, spec *ScanSpec, n int) ([]*ScanSpec, error) {
	x, err := d.index(spec.Index)
	if err != nil {
		return nil, err
	}
	if spec.Codes != nil || spec.Under != nil {
		return []*ScanSpec{spec}, nil
	}
	set := spanSet{spans: spec.spans}
	if !spec.part {
		c, whole := d.keyCodec(x)
		set = spans(c, spec.Ranges, whole)
	}
	if x != nil && x.inverted {
		return []*ScanSpec{spec}, nil // a cut might fall between the parts of a list
	}
	if n < 2 || len(set.spans) != 1 || set.points != nil {
		return []*ScanSpec{spec}, nil
	}
	span := set.spans[0]
	sp := d.fileOf(x)
	first, err := edge(ctx, r, sp, span, false)
	if err != nil {
		return nil, err
	}
	last, err := edge(ctx, r, sp, span, true)
	if err != nil {
		return nil, err
	}
	parts := make([]*ScanSpec, 0, n)
	add := func(s kv.Range) {
		part := *spec
		part.part, part.spans, part.Ranges = true, []kv.Range{s}, nil
		parts = append(parts, &part)
	}
	lo := span.Lo
	for _, cut := range cuts(first, last, n) {
		add(kv.Range{Lo: lo, Hi: cut})
		lo = cut
	}
	add(kv.Range{Lo: lo, Hi: span.Hi})
	if spec.Reverse {
		for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
			parts[i], parts[j] = parts[j], parts[i]
		}
	}
	return parts, nil
}

// edge returns the first or last key of a span, nil if it is empty.
func edge(ctx context.Context, r Reader, sp kv.Space, span kv.Range, last bool) ([]byte, error) {
	it := r.Scan(ctx, sp, span, kv.ScanOpt{Reverse: last, KeysOnly: true, Limit: 1})
	defer it.Close()
	pairs, err := it.Next()
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	return pairs[0].Key, nil
}

// cuts returns up to n-1 ascending keys strictly between first and last.
func cuts(first, last []byte, n int) [][]byte {
	common := 0
	for common < len(first) && common < len(last) && first[common] == last[common] {
		common++
	}
	a, b := number(first[min(common, len(first)):]), number(last[min(common, len(last)):])
	if b <= a || b-a < uint64(n) {
		return nil
	}
	var out [][]byte
	prev := first
	for i := 1; i < n; i++ {
		cut := append([]byte(nil), last[:common]...)
		cut = binary.BigEndian.AppendUint64(cut, a+(b-a)/uint64(n)*uint64(i))
		if bytes.Compare(prev, cut) < 0 && bytes.Compare(cut, last) < 0 {
			out = append(out, cut)
			prev = cut
		}
	}
	return out
}

// number is the first 8 bytes of b as a fraction, filled with zeros.
func number(b []byte) uint64 {
	var buf [8]byte
	copy(buf[:], b)
	return binary.BigEndian.Uint64(buf[:])
}
