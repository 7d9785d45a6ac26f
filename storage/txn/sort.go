package txn

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// sortItem orders one entry by eight bytes of its key before the key itself
// has to be looked at.
type sortItem struct {
	prefix uint64 // the eight key bytes after the common prefix, zero padded
	pos    uint32 // position in the input: of equal keys the later one wins
}

// sorted returns the entries in key order, of equal keys only the last. The
// input stays as it is.
func sorted(in []entry) []entry {
	if len(in) < 2 {
		return append([]entry(nil), in...)
	}
	skip := commonPrefix(in)
	items := make([]sortItem, len(in))
	for i, e := range in {
		items[i] = sortItem{prefix: keyPrefix(e.key(), skip), pos: uint32(i)}
	}
	if len(items) >= radixMin {
		items = radixSort(items)
		sortTies(items, in, skip)
	} else {
		slices.SortFunc(items, func(a, b sortItem) int { return compareItems(a, b, in, skip) })
	}
	out := make([]entry, 0, len(in))
	for i, it := range items {
		if i+1 < len(items) && items[i+1].prefix == it.prefix &&
			bytes.Equal(in[items[i+1].pos].key(), in[it.pos].key()) {
			continue
		}
		out = append(out, in[it.pos])
	}
	return out
}

func compareItems(a, b sortItem, in []entry, skip int) int {
	if a.prefix != b.prefix {
		if a.prefix < b.prefix {
			return -1
		}
		return 1
	}
	if c := bytes.Compare(in[a.pos].key()[skip:], in[b.pos].key()[skip:]); c != 0 {
		return c
	}
	return int(a.pos) - int(b.pos)
}

// commonPrefix returns how many leading bytes all keys share. Keys of one
// space often begin alike, and those bytes would waste the sort prefix.
func commonPrefix(in []entry) int {
	first := in[0].key()
	n := len(first)
	for _, e := range in[1:] {
		k := e.key()
		if len(k) < n {
			n = len(k)
		}
		if bytes.Equal(k[:n], first[:n]) {
			continue
		}
		for i := 0; i < n; i++ {
			if k[i] != first[i] {
				n = i
				break
			}
		}
	}
	return n
}

func keyPrefix(key []byte, skip int) uint64 {
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
// same in all items cost no pass. It is stable, so equal prefixes keep the
// order of their positions.
func radixSort(items []sortItem) []sortItem {
	var counts [8][256]uint32
	for _, it := range items {
		p := it.prefix
		for b := range 8 {
			counts[b][byte(p>>(8*b))]++
		}
	}
	other := make([]sortItem, len(items))
	for b := range 8 {
		c := &counts[b]
		shift := 8 * b
		if int(c[byte(items[0].prefix>>shift)]) == len(items) {
			continue
		}
		var sum uint32
		for i, n := range c {
			c[i] = sum
			sum += n
		}
		for _, it := range items {
			d := byte(it.prefix >> shift)
			other[c[d]] = it
			c[d]++
		}
		items, other = other, items
	}
	return items
}

// sortTies orders the stretches of equal prefix by the whole key.
func sortTies(items []sortItem, in []entry, skip int) {
	for i := 0; i < len(items); {
		j := i + 1
		for j < len(items) && items[j].prefix == items[i].prefix {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(items[i:j], func(a, b sortItem) int { return compareItems(a, b, in, skip) })
		}
		i = j
	}
}

// mergeRuns merges two ascending lists into a new one; of equal keys the one
// in newer wins.
func mergeRuns(older, newer []entry) []entry {
	out := make([]entry, 0, len(older)+len(newer))
	for len(older) > 0 && len(newer) > 0 {
		switch bytes.Compare(older[0].key(), newer[0].key()) {
		case -1:
			out = append(out, older[0])
			older = older[1:]
		case 0:
			older = older[1:]
		default:
			out = append(out, newer[0])
			newer = newer[1:]
		}
	}
	out = append(out, older...)
	return append(out, newer...)
}
