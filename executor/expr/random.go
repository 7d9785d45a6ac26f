package expr

import (
	"math/bits"
	"math/rand/v2"
	"sync"
)

// Rand is a session's source of random(): seeded from the system until
// setseed() is called. It is the generator xoroshiro128** seeded by splitmix64,
// as in PostgreSQL, so that the numbers after setseed() are the same.
type Rand struct {
	mu     sync.Mutex
	s0, s1 uint64
}

// NewRand returns a source with an unpredictable seed.
func NewRand() *Rand { return &Rand{s0: rand.Uint64() | 1, s1: rand.Uint64()} }

// Float64 returns a number in [0, 1).
func (r *Rand) Float64() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	s0, sx := r.s0, r.s1^r.s0
	v := bits.RotateLeft64(s0*5, 7) * 9
	r.s0 = bits.RotateLeft64(s0, 24) ^ sx ^ sx<<16
	r.s1 = bits.RotateLeft64(sx, 37)
	return float64(v>>12) / (1 << 52)
}

// Seed makes the following numbers a function of the seed, which is in [-1, 1].
func (r *Rand) Seed(seed float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := uint64(int64((1<<52 - 1) * seed))
	next := func() uint64 {
		n += 0x9E3779B97F4A7C15
		v := (n ^ n>>30) * 0xBF58476D1CE4E5B9
		v = (v ^ v>>27) * 0x94D049BB133111EB
		return v ^ v>>31
	}
	r.s0, r.s1 = next(), next()
}
