package txn

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"kvsqld/storage/kv"
)

// sealedRun is a sorted run in files. Its memory does not depend on its length: the
// records, the places of the records and the filter are read by mappings.
//
// A record is the length of the key (2 bytes), the flags (2), the length of the value
// (4), key and value; all numbers are little endian. The places are the records'
// offsets, 8 bytes each, in the order of the keys. The filter is a Bloom filter with
// the words of a [filter].
type sealedRun struct {
	from, to  int // positions in the layer
	tier      int // how often its writes were merged
	n         int // records
	bytes     int // of their keys and values
	low, high []byte

	data, index    *mapped
	places, filter []byte // of index
}

const (
	recordHead = 8
	placeLen   = 8
	// sealedFilterMax is the number of writes up to which a run gets a filter, which
	// is made in memory.
	sealedFilterMax = 1 << 24
)

func (s *sealedRun) window() window { return window{sealed: s, hi: s.n} }

// at returns a record. Its bytes may be read for as long as the run is in use; see
// entry.keep.
func (s *sealedRun) at(i int) entry {
	b := s.data.b[binary.LittleEndian.Uint64(s.places[placeLen*i:]):]
	return entry{
		p:     &b[recordHead],
		klen:  binary.LittleEndian.Uint16(b),
		flags: binary.LittleEndian.Uint16(b[2:]) | flagSealed,
		vlen:  binary.LittleEndian.Uint32(b[4:]),
	}
}

// search returns the first position whose key is not below key.
func (s *sealedRun) search(key []byte) int {
	lo, hi := 0, s.n
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if bytes.Compare(s.at(m).key(), key) < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// outside reports whether no key is in the range.
func (s *sealedRun) outside(r kv.Range) bool {
	return r.Lo != nil && bytes.Compare(s.high, r.Lo) < 0 || r.Hi != nil && bytes.Compare(s.low, r.Hi) >= 0
}

// get returns the write of a key with the given sealHash.
func (s *sealedRun) get(key []byte, hash uint64) (entry, bool) {
	if bytes.Compare(key, s.low) < 0 || bytes.Compare(key, s.high) > 0 {
		return entry{}, false
	}
	if n := len(s.filter); n > 0 {
		w, m := filterPlace(hash, n/8)
		if binary.LittleEndian.Uint64(s.filter[8*w:])&m != m {
			return entry{}, false
		}
	}
	if i := s.search(key); i < s.n {
		if e := s.at(i); bytes.Equal(e.key(), key) {
			return e, true
		}
	}
	return entry{}, false
}

var sealSeed = maphash.MakeSeed()

func sealHash(key []byte) uint64 { return maphash.Bytes(sealSeed, key) }

// filterPlace returns a hash's word of a filter, whose number of words is a power of
// two, and its bits there.
func filterPlace(h uint64, words int) (word, mask uint64) {
	mask = 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63) | 1<<(h>>18&63)
	return h >> 24 & uint64(words-1), mask
}

// filterWords is the number of words of a filter for n keys.
func filterWords(n int) int { return 1 << bits.Len(uint(max(1, n/filterLoad))) }

// sealer writes sealed runs: their records into one file, places and filters into
// another.
type sealer struct {
	data, index *spillWriter
	run         *sealedRun
	words       []uint64
	runs        []*sealedRun
	spans       [][3]int64 // by run: where places begin, the filter, and what follows
	head        [recordHead]byte
	last        []byte
}

func newSealer(sp *kv.Spill) (*sealer, error) {
	data, err := newSpillWriter(sp)
	if err != nil {
		return nil, err
	}
	index, err := newSpillWriter(sp)
	if err != nil {
		data.abandon()
		return nil, err
	}
	return &sealer{data: data, index: index}, nil
}

// begin starts a run of at most n writes.
func (s *sealer) begin(from, to, tier, n int) {
	s.run = &sealedRun{from: from, to: to, tier: tier}
	s.spans = append(s.spans, [3]int64{s.index.end()})
	if s.words = nil; n <= sealedFilterMax {
		s.words = make([]uint64, filterWords(n))
	}
}

// add appends a write; the keys ascend.
func (s *sealer) add(e entry) error {
	r := s.run
	if r.n == 0 {
		r.low = bytes.Clone(e.key())
	}
	var place [placeLen]byte
	binary.LittleEndian.PutUint64(place[:], uint64(s.data.end()))
	binary.LittleEndian.PutUint16(s.head[:], e.klen)
	binary.LittleEndian.PutUint16(s.head[2:], e.flags&^flagSealed)
	binary.LittleEndian.PutUint32(s.head[4:], e.vlen)
	if err := s.index.write(place[:]); err != nil {
		return err
	}
	if err := s.data.write(s.head[:]); err != nil {
		return err
	}
	if err := s.data.write(e.key()); err != nil {
		return err
	}
	if err := s.data.write(e.val()); err != nil {
		return err
	}
	if s.words != nil {
		w, m := filterPlace(sealHash(e.key()), len(s.words))
		s.words[w] |= m
	}
	s.last = append(s.last[:0], e.key()...)
	r.n++
	r.bytes += int(e.klen) + int(e.vlen)
	return nil
}

// finish ends the run.
func (s *sealer) finish() error {
	span := &s.spans[len(s.spans)-1]
	span[1] = s.index.end()
	var b [8]byte
	for _, w := range s.words {
		binary.LittleEndian.PutUint64(b[:], w)
		if err := s.index.write(b[:]); err != nil {
			return err
		}
	}
	span[2] = s.index.end()
	s.run.high = bytes.Clone(s.last)
	s.runs = append(s.runs, s.run)
	return nil
}

// close returns the runs, which can be read then.
func (s *sealer) close() ([]*sealedRun, error) {
	data, err := s.data.mapping()
	if err != nil {
		s.index.abandon()
		return nil, err
	}
	index, err := s.index.mapping()
	if err != nil {
		s.data.giveBack(data.told)
		return nil, err
	}
	for i, r := range s.runs {
		at := s.spans[i]
		r.data, r.index = data, index
		r.places, r.filter = index.b[at[0]:at[1]], index.b[at[1]:at[2]]
	}
	return s.runs, nil
}

func (s *sealer) abandon() {
	s.data.abandon()
	s.index.abandon()
}
