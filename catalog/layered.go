package catalog

import (
	"iter"
	"maps"
	"math"
)

// layered is a map of which copies share most: a definition changes a few of perhaps
// many thousand objects. What was changed since the base was made lies over it.
//
// A copy is independent of the one it was made of, and no goroutine may write one that
// others read. The zero value is an empty map.
type layered[K comparable, V any] struct {
	base *map[K]V // shared by copies, and never written
	over map[K]layer[V]
	n    int // keys
}

// layer is the value of a key, or says that it is gone.
type layer[V any] struct {
	v    V
	gone bool
}

// minOver is the number of changes that a copy takes with it however small the base is.
const minOver = 64

// copy returns a map with the same keys and values.
func (m *layered[K, V]) copy() layered[K, V] {
	return layered[K, V]{m.base, maps.Clone(m.over), m.n}
}

// settle makes the changes part of a new base when they have become many: as often as
// makes this and the work of copying them about the same in sum.
func (m *layered[K, V]) settle() {
	if len(m.over) <= minOver+4*int(math.Sqrt(float64(m.n))) {
		return
	}
	base := make(map[K]V, m.n)
	for k, v := range m.all() {
		base[k] = v
	}
	m.base, m.over = &base, nil
}

func (m *layered[K, V]) lookup(k K) (v V, ok bool) {
	if l, changed := m.over[k]; changed {
		return l.v, !l.gone
	}
	if m.base == nil {
		return v, false
	}
	v, ok = (*m.base)[k]
	return v, ok
}

// get is lookup that returns the zero value for a key that is not there.
func (m *layered[K, V]) get(k K) V {
	v, _ := m.lookup(k)
	return v
}

func (m *layered[K, V]) set(k K, v V) {
	if _, ok := m.lookup(k); !ok {
		m.n++
	}
	if m.over == nil {
		m.over = make(map[K]layer[V])
	}
	m.over[k] = layer[V]{v: v}
}

func (m *layered[K, V]) delete(k K) {
	if _, ok := m.lookup(k); !ok {
		return
	}
	m.n--
	inBase := false
	if m.base != nil {
		_, inBase = (*m.base)[k]
	}
	if !inBase {
		delete(m.over, k)
		return
	}
	if m.over == nil {
		m.over = make(map[K]layer[V])
	}
	m.over[k] = layer[V]{gone: true}
}

// all ranges over keys and values, in no order. The map must not be changed meanwhile.
func (m *layered[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for k, l := range m.over {
			if !l.gone && !yield(k, l.v) {
				return
			}
		}
		if m.base == nil {
			return
		}
		for k, v := range *m.base {
			if _, changed := m.over[k]; !changed && !yield(k, v) {
				return
			}
		}
	}
}

// differ ranges over the keys that may have another value in o, or none in one of the
// two: all keys, if they were not made of one base.
func (m *layered[K, V]) differ(o *layered[K, V]) iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range m.over {
			if !yield(k) {
				return
			}
		}
		for k := range o.over {
			if _, seen := m.over[k]; !seen && !yield(k) {
				return
			}
		}
		if m.base == o.base {
			return
		}
		seen := func(k K) bool {
			_, a := m.over[k]
			_, b := o.over[k]
			return a || b
		}
		for _, b := range []*map[K]V{m.base, o.base} {
			if b == nil {
				continue
			}
			for k := range *b {
				if b == o.base && m.base != nil {
					if _, again := (*m.base)[k]; again {
						continue
					}
				}
				if !seen(k) && !yield(k) {
					return
				}
			}
		}
	}
}
