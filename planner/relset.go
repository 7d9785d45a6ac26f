package planner

import (
	"iter"
	"math/bits"
	"slices"
)

// relSet is a set of range-table entries, by their numbers. It is a value: a copy stays
// what it was when the original gets another entry. Sets of numbers below 64, which are
// those of most statements, need no memory beside it.
//
// The placeholders that stand for a value while an operator is looked for have negative
// numbers. They are no entries, and all are the member 0, the number of none.
type relSet struct {
	lo uint64
	hi []uint64 // of the numbers from 64 on, without empty words at the end; never written to
}

func relSetOf(ids ...int) relSet {
	var s relSet
	for _, id := range ids {
		s.add(id)
	}
	return s
}

func (s relSet) has(id int) bool {
	if id < 64 {
		return s.lo>>max(id, 0)&1 != 0
	}
	w := id/64 - 1
	return w < len(s.hi) && s.hi[w]>>(id%64)&1 != 0
}

func (s *relSet) add(id int) {
	if id < 64 {
		s.lo |= 1 << max(id, 0)
		return
	}
	w := id/64 - 1
	hi := make([]uint64, max(len(s.hi), w+1))
	copy(hi, s.hi)
	hi[w] |= 1 << (id % 64)
	s.hi = hi
}

func (s *relSet) addAll(t relSet) {
	s.lo |= t.lo
	if t.hi == nil {
		return
	}
	if len(s.hi) < len(t.hi) {
		s.hi, t.hi = t.hi, s.hi
	}
	for i, w := range t.hi {
		if w&^s.hi[i] != 0 { // something is new
			s.hi = slices.Clone(s.hi)
			for ; i < len(t.hi); i++ {
				s.hi[i] |= t.hi[i]
			}
			return
		}
	}
}

func (s relSet) union(t relSet) relSet {
	s.addAll(t)
	return s
}

// keep is the part of the set for which f is true.
func (s relSet) keep(f func(id int) bool) relSet {
	var out relSet
	for id := range s.all() {
		if f(id) {
			out.add(id)
		}
	}
	return out
}

func (s relSet) empty() bool { return s.lo == 0 && s.hi == nil }

func (s relSet) len() int {
	n := bits.OnesCount64(s.lo)
	for _, w := range s.hi {
		n += bits.OnesCount64(w)
	}
	return n
}

// within reports whether t has all entries of s.
func (s relSet) within(t relSet) bool {
	if s.lo&^t.lo != 0 || len(s.hi) > len(t.hi) {
		return false
	}
	for i, w := range s.hi {
		if w&^t.hi[i] != 0 {
			return false
		}
	}
	return true
}

// meets reports whether the sets have an entry in common.
func (s relSet) meets(t relSet) bool {
	if s.lo&t.lo != 0 {
		return true
	}
	for i, w := range s.hi[:min(len(s.hi), len(t.hi))] {
		if w&t.hi[i] != 0 {
			return true
		}
	}
	return false
}

// all are the entries in the order of their numbers.
func (s relSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for w := s.lo; w != 0; w &= w - 1 {
			if !yield(bits.TrailingZeros64(w)) {
				return
			}
		}
		for i, w := range s.hi {
			for ; w != 0; w &= w - 1 {
				if !yield(64*(i+1) + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
