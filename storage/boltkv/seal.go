package boltkv

import "github.com/zeebo/xxh3"

// A value of the server has a checksum over itself and its key, and a scan that met each
// of them for the first time would take longer for these than for the rest of its
// work: they are short. So they are compared as a leaf is written, when its bytes are in
// the processor's cache and are read for the page's checksum anyway. If all are right,
// the page gets a seal in place of the plain checksum. Whoever finds the seal right knows
// that the bytes are those whose pairs were right, and need not ask each of them.
//
// A leaf without one (from before there were seals, or with a pair that was not right)
// has a plain checksum, and its pairs are compared when they are read.

// sealSeed is added to a page's number for the seed of its seal. It is above all numbers.
const sealSeed = 1 << 63

// seal is the checksum of a leaf all pairs of which have passed the check.
func seal(id uint64, run []byte) uint64 { return max(xxh3.HashSeed(run, id|sealSeed), 1) }

func isLeaf(run []byte) bool { return native.Uint16(run[8:]) == leafPage }

// allPass reports whether a run is a leaf with pairs that all pass the check; buckets are
// no pairs.
func (s *sums) allPass(run []byte) bool {
	if s.check == nil || !isLeaf(run) {
		return false
	}
	nd := parseNode(run)
	for i := range nd.n {
		if nd.isBucket(i) {
			return false
		}
		if p := nd.pair(i); s.check(p.Key, p.Val) != nil {
			return false
		}
	}
	return nd.n > 0
}
