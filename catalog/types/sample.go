package types

import (
	"encoding/binary"
	"math"
)

// Sample says which rows TABLESAMPLE takes, by their keys: those whose hash, together
// with the seed's, is below the wanted part of all hashes. So a seed gives the same rows
// as long as the table is the same. Of blocks, the key's number is hashed without its last
// bits: rows next to each other are taken together, and others need not be read.
type Sample struct {
	start  uint64
	limit  uint64 // of hashes: below it a row is taken
	all    bool
	blocks bool
}

// sampleBlockBits are the bits of a number in its block.
const sampleBlockBits = 6

// NewSample makes a sample of a percentage from 0 to 100.
func NewSample(percent, seed float64, blocks bool) Sample {
	return Sample{start: mix(math.Float64bits(seed)), limit: uint64(percent / 100 * (1 << 53)), all: percent >= 100, blocks: blocks}
}

// Takes reports whether the row of a key is in the sample.
func (s *Sample) Takes(key []byte) bool {
	if s.all {
		return true
	}
	if n, ok := keyNumber(key); ok {
		if s.blocks {
			n >>= sampleBlockBits
		}
		return s.takes(n)
	}
	h := s.start
	for ; len(key) >= 8; key = key[8:] {
		h = mix(h ^ binary.LittleEndian.Uint64(key))
	}
	for _, c := range key {
		h = (h ^ uint64(c)) * 0x9e3779b97f4a7c15
	}
	return mix(h)>>11 < s.limit
}

func (s *Sample) takes(n uint64) bool { return mix(s.start^n)>>11 < s.limit }

// manyBlocks is for how many blocks Next looks at most.
const manyBlocks = 1 << 12

// Next appends the key of the next row behind that of a key, which is a number, that the
// sample may take, nil if it takes that of the key. It lies behind all keys as long if there
// is none.
func (s *Sample) Next(dst, key []byte) []byte {
	n, ok := keyNumber(key)
	if !ok || s.all || !s.blocks {
		return nil
	}
	b := n >> sampleBlockBits
	if s.takes(b) {
		return nil
	}
	last := uint64(1)<<(8*len(key)-sampleBlockBits) - 1
	for i := 0; ; i++ {
		switch {
		case b == last || s.limit == 0:
			for range key {
				dst = append(dst, 0xff)
			}
			return append(dst, 0)
		case i > 0 && (i == manyBlocks || s.takes(b)):
			b <<= sampleBlockBits
			for i := len(key) - 1; i >= 0; i-- {
				dst = append(dst, byte(b>>(8*i)))
			}
			return dst
		}
		b++
	}
}

// keyNumber is the number that the bytes of a short key are.
func keyNumber(key []byte) (uint64, bool) {
	switch len(key) {
	case 8:
		return binary.BigEndian.Uint64(key), true
	case 4:
		return uint64(binary.BigEndian.Uint32(key)), true
	case 2:
		return uint64(binary.BigEndian.Uint16(key)), true
	}
	return 0, false
}

// mix spreads the bits of a number over another one.
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
