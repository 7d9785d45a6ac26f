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
	Prefix uint64 // the eight bytes after what all keys have in common, zero padded
	Pos    uint32 // its position in the input
}

// Items returns the n keys in ascending order, equal ones by their positions.
func Items(n int, key func(i int) []byte) []Item {
	if n == 0 {
		return nil
	}
	skip := commonPrefix(n, key)
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{Prefix: prefix(key(i), skip), Pos: uint32(i)}
	}
	compare := func(a, b Item) int {
		if a.Prefix != b.Prefix {
			if a.Prefix < b.Prefix {
				return -1
			}
			return 1
		}
		if c := bytes.Compare(key(int(a.Pos))[skip:], key(int(b.Pos))[skip:]); c != 0 {
			return c
		}
		return int(a.Pos) - int(b.Pos)
	}
	if n < radixMin {
		slices.SortFunc(items, compare)
		return items
	}
	items = radixSort(items)
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

// commonPrefix returns how many leading bytes all keys share. Keys of one file
// often begin alike, and those bytes would waste the prefix.
func commonPrefix(n int, key func(i int) []byte) int {
	first := key(0)
	for i := 1; i < n && len(first) > 0; i++ {
		k := key(i)
		if len(k) < len(first) {
			first = first[:len(k)]
		}
		for j := 0; j < len(first); j++ {
			if k[j] != first[j] {
				first = first[:j]
			}
		}
	}
	return len(first)
}

func prefix(key []byte, skip int) uint64 {
	key = key[skip:]
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// radixMin is the number of items from which counting passes beat comparing.
const radixMin = 2048

// radixSort sorts by prefix, least significant byte first; bytes that are the
// same in all items cost no pass. It is stable, so equal prefixes keep the order
// of their positions.
func radixSort(items []Item) []Item {
	var counts [8][256]uint32
	for _, it := range items {
		p := it.Prefix
		for b := range 8 {
			counts[b][byte(p>>(8*b))]++
		}
	}
	other := make([]Item, len(items))
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
