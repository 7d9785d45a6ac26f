package txn

import (
	"hash/maphash"
	"math/bits"
)

const (
	// filterMin is the number of writes from which on a layer has a filter: below
	// it, searching the runs is as quick.
	filterMin = 4096
	// filterLoad is the number of keys for which a word of the filter is meant.
	filterLoad = 4
)

// filter is a Bloom filter over the keys of log[:n] of a layer, sorted or not. A bulk load asks
// for every unique key whether it exists, the answer is nearly always no, and the
// filter gives it with one look at memory where the runs need one per halving.
// Each key has four bits of one word. Keys that were truncated may stay in it.
type filter struct {
	seed  maphash.Seed
	words []uint64 // a power of two
	n     int
}

// place returns a key's word and its bits there.
func (f *filter) place(key []byte) (word uint64, mask uint64) {
	return filterPlace(maphash.Bytes(f.seed, key), len(f.words))
}

// cover takes in the keys of log that came since the last call.
func (f *filter) cover(log []entry) {
	if len(log) > len(f.words)*filterLoad {
		f.seed = maphash.MakeSeed()
		f.words = make([]uint64, 1<<bits.Len(uint(2*len(log)/filterLoad)))
		f.n = 0
	}
	for _, e := range log[f.n:] {
		w, m := f.place(e.key())
		f.words[w] |= m
	}
	f.n = len(log)
}

// mayHave reports whether the key may be among those covered; false is exact.
func (f *filter) mayHave(key []byte) bool {
	w, m := f.place(key)
	return f.words[w]&m == m
}
