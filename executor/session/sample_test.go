package session

import (
	"math/rand/v2"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

func TestSampleIsEven(t *testing.T) {
	const batches = 400
	s := &sample{cols: []sampleCol{{v: vec.New(types.TInt8, 0), arena: new(vec.Arena)}}}
	rng := rand.New(rand.NewPCG(1, 1))
	b := vec.Batch{Cols: []*vec.Vec{vec.New(types.TInt8, vec.BatchSize)}, N: vec.BatchSize}
	for k := range batches {
		for i := range vec.BatchSize {
			b.Cols[0].I64[i] = int64(k*vec.BatchSize + i)
		}
		s.take(&b, rng)
	}
	s.settle()
	if len(s.pos) != sampleRows || s.rows != batches*vec.BatchSize {
		t.Fatalf("%d rows of %d in the sample", len(s.pos), s.rows)
	}
	seen := map[int64]bool{}
	var tenths [10]int
	for i, p := range s.pos {
		if v := s.cols[0].v.I64[i]; v != p || seen[p] {
			t.Fatalf("row %d of the sample has number %d and value %d", i, p, v)
		}
		seen[p] = true
		tenths[p*10/s.rows]++
	}
	for i, n := range tenths {
		if n < sampleRows/10*9/10 || n > sampleRows/10*11/10 {
			t.Errorf("%d of %d rows come from tenth %d of the table", n, sampleRows, i)
		}
	}
}
