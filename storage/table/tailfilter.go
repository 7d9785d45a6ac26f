package table

import (
	"bytes"
	"slices"

	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// tailFilter passes over index entries by the bytes of a key column behind the one
// that has the scan's range: encoded values compare like the values.
type tailFilter struct {
	key   *codec.KeyCodec // nil: off
	at    int             // number of key columns before
	spans []kv.Range      // of the key from column at on
	end   []byte          // of the span that is read
}

func (f *tailFilter) init(x *index, spec *ScanSpec) {
	*f = tailFilter{}
	if x == nil || spec.Tail == nil || x.inverted || spec.TailAt == 0 {
		return
	}
	f.key, f.at = x.key, spec.TailAt
	f.spans = spans(x.tails[spec.TailAt], spec.Tail, 0).spans
}

func (f *tailFilter) on() bool { return f.key != nil }

// head returns the length of the key columns before the tail.
func (f *tailFilter) head(key []byte) (int, error) {
	rest := key
	for i := range f.at {
		var err error
		if rest, err = f.key.SkipCol(i, rest); err != nil {
			return 0, err
		}
	}
	return len(key) - len(rest), nil
}

// next is the number of the first span that does not end before the tail.
func (f *tailFilter) next(tail []byte) int {
	i, _ := slices.BinarySearchFunc(f.spans, tail, func(s kv.Range, tail []byte) int {
		if s.Hi != nil && bytes.Compare(s.Hi, tail) <= 0 {
			return -1
		}
		return 1
	})
	return i
}

// wanted reports whether a key's tail, behind head bytes, is in one of the spans.
func (f *tailFilter) wanted(key []byte, head int) bool {
	i := f.next(key[head:])
	return i < len(f.spans) && bytes.Compare(key[head:], f.spans[i].Lo) >= 0
}

// behind returns the first key that may be wanted after one that is not; nil:
// there is none.
func (f *tailFilter) behind(key []byte, head int) []byte {
	if i := f.next(key[head:]); i < len(f.spans) {
		return append(bytes.Clone(key[:head]), f.spans[i].Lo...)
	}
	return codec.PrefixEnd(key[:head])
}

// tailRead is the number of entries that a scan with a tail reads at a time: few, as
// those behind may be passed over.
const tailRead = 128

// readTail is read for a scan with a tail: it passes over entries until n are wanted.
// Behind many that are not, with the same columns before the tail, it searches for
// the next that may be: so each value of those columns costs one search or two.
func (s *Scanner) readTail(n int) (int, error) {
	f, head, kept, at := &s.tail, 0, 0, 0
	behind := 0 // where those begin that follow the last wanted one
	for ; at < len(s.chunk) && kept < n; at++ {
		p := &s.chunk[at]
		var err error
		if head, err = f.head(p.Key); err != nil {
			return 0, corrupt(s.x.space, p.Key, err)
		}
		if !f.wanted(p.Key, head) {
			continue
		}
		kept, behind = kept+1, at+1
		if s.dec.values {
			s.keys, s.vals = append(s.keys, p.Key), append(s.vals, p.Val)
		}
	}
	read := s.chunk[:at]
	s.chunk = s.chunk[at:]
	if len(s.chunk) > 0 || at-behind < jumpAfter || s.rev {
		return kept, nil
	}
	last := read[at-1].Key
	if !bytes.HasPrefix(read[behind].Key, last[:head]) {
		return kept, nil
	}
	if lo := f.behind(last, head); lo != nil && (f.end == nil || bytes.Compare(lo, f.end) < 0) {
		s.set.spans = append([]kv.Range{{Lo: lo, Hi: f.end}}, s.set.spans...)
	}
	s.inSpan = false
	return kept, nil
}
