package expr

import (
	"math/rand/v2"
	"sync"
)

// Rand is a session's source of random(): seeded from the system until
// setseed() is called.
type Rand struct {
	mu  sync.Mutex
	src *rand.Rand
}

// NewRand returns a source with an unpredictable seed.
func NewRand() *Rand { return &Rand{src: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))} }

// Float64 returns a number in [0, 1).
func (r *Rand) Float64() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.src.Float64()
}

// Seed makes the following numbers a function of the seed.
func (r *Rand) Seed(seed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.src = rand.New(rand.NewPCG(seed, seed^0x9E3779B97F4A7C15))
}
