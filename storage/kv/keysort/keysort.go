// Package keysort orders many keys by eight bytes of each and looks at whole keys
// only where these are alike.
package keysort

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Item stands for one key.
type Item struct {
	// Prefix is eight bytes of the key: a key with a smaller one comes before.
	Prefix uint64
	Pos    uint32 // the key's position in the input
}

// Items returns the n keys in ascending order, equal ones by their positions.
func Items(n int, key func(i int) []byte) []Item { return new(Sorter).Items(n, key) }

// Sorter sorts keys with memory that is used again.
type Sorter struct{ items, other []Item }

// Items is the function of that name; what it returns is valid until the next call.
func (s *Sorter) Items(n int, key func(i int) []byte) []Item {
	if n == 0 {
		return nil
	}
	places := telling(n, key)
	s.items = slices.Grow(s.items[:0], n)
	items := s.items[:n]
	for i := range items {
		items[i] = Item{Prefix: places.of(key(i)), Pos: uint32(i)}
	}
	compare := func(a, b Item) int {
		if a.Prefix != b.Prefix {
			if a.Prefix < b.Prefix {
				return -1
			}
			return 1
		}
		if !places.whole {
			if c := bytes.Compare(key(int(a.Pos)), key(int(b.Pos))); c != 0 {
				return c
			}
		}
		return int(a.Pos) - int(b.Pos)
	}
	if n < radixMin {
		slices.SortFunc(items, compare)
		return items
	}
	s.other = slices.Grow(s.other[:0], n)
	items = radixSort(items, s.other[:n])
	if places.whole {
		return items
	}
	for i := 0; i < n; {
		j := i + 1
		for j < n && items[j].Prefix == items[i].Prefix {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(items[i:j], compare)
		}
		i = j
	}
	return items
}

// places are the eight places of a key whose bytes make its prefix.
type places struct {
	at     [8]int
	inARow bool // at[i] = at[0] + i
	whole  bool // keys with the same bytes there are equal
}

// window is the part of keys in which telling looks for bytes that differ.
const window = 64

// telling returns the first places at which the keys are not all the same. The
// keys of one file often agree in more than their beginning: numbers have leading
// zeros wherever they stand in a key, and these would waste the prefix.
func telling(n int, key func(i int) []byte) (p places) {
	first := key(0)
	short, long := len(first), len(first)
	var pad, differ [window]byte
	copy(pad[:], first)
	for i := 1; i < n; i++ {
		k := key(i)
		short, long = min(short, len(k)), max(long, len(k))
		j := 0
		for ; j+8 <= len(k) && j < window; j += 8 {
			d := binary.NativeEndian.Uint64(k[j:]) ^ binary.NativeEndian.Uint64(pad[j:])
			binary.NativeEndian.PutUint64(differ[j:], binary.NativeEndian.Uint64(differ[j:])|d)
		}
		for ; j < len(k) && j < window; j++ {
			differ[j] |= k[j] ^ pad[j]
		}
	}
	found := 0
	for j := 0; j < min(short, window) && found < len(p.at); j++ {
		if differ[j] != 0 {
			p.at[found] = j
			found++
		}
	}
	// Behind the shortest key every place tells one key from another.
	next := min(short, window)
	p.whole = short == long && short <= window && (found < len(p.at) || bytes.Count(differ[p.at[7]+1:], []byte{0}) == window-p.at[7]-1)
	for ; found < len(p.at); found++ {
		p.at[found] = next
		next++
	}
	p.inARow = p.at[7] == p.at[0]+7
	return p
}

// of returns the prefix of a key, with zeros where the key has ended.
func (p *places) of(key []byte) (prefix uint64) {
	if p.inARow && p.at[7] < len(key) {
		return binary.BigEndian.Uint64(key[p.at[0]:])
	}
	for _, at := range p.at {
		prefix <<= 8
		if at < len(key) {
			prefix |= uint64(key[at])
		}
	}
	return prefix
}

// radixMin is the number of items from which counting passes beat comparing.
const radixMin = 512

// radixSort sorts by prefix, least significant byte first; bytes that are the
// same in all items cost no pass. It is stable, so equal prefixes keep the order
// of their positions. What it returns is one of items and other, which is as long.
func radixSort(items, other []Item) []Item {
	var counts [8][256]uint32
	for _, it := range items {
		p := it.Prefix
		for b := range 8 {
			counts[b][byte(p>>(8*b))]++
		}
	}
	for b := range 8 {
		c := &counts[b]
		shift := 8 * b
		if int(c[byte(items[0].Prefix>>shift)]) == len(items) {
			continue
		}
		var sum uint32
		for i, n := range c {
			c[i] = sum
			sum += n
		}
		for _, it := range items {
			d := byte(it.Prefix >> shift)
			other[c[d]] = it
			c[d]++
		}
		items, other = other, items
	}
	return items
}
