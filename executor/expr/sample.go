package expr

import (
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// sampleFuncs has the test of TABLESAMPLE.
func sampleFuncs(r *registry) {
	r.add(func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &inSample{frame: newFrame(call, args)}, nil
	}, "kvsqld_in_sample")
}

// inSample tests rows for TABLESAMPLE, given their keys, the percentage and the seed: a
// row is in the sample when the hash of its key and the seed is below the wanted part of
// all hashes. So a seed gives the same rows as long as the table is the same.
type inSample struct {
	frame
	// seed is what start is the hash of, if it is not 0.
	seed  float64
	start uint64
}

func (e *inSample) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if _, err := e.evalArgs(env, b); err != nil {
		return nil, err
	}
	keys, percents, seeds := e.vecs[0], e.vecs[1], e.vecs[2]
	for _, i := range e.rows(b) {
		if percents.IsNull(int(i)) {
			return nil, sqlerr.New(sqlerr.InvalidTablesampleArgument, "TABLESAMPLE parameter cannot be null")
		}
		if seeds.IsNull(int(i)) {
			return nil, sqlerr.New(sqlerr.InvalidTablesampleRepeat, "TABLESAMPLE REPEATABLE parameter cannot be null")
		}
		percent, seed := percents.F64[percents.Idx(int(i))], seeds.F64[seeds.Idx(int(i))]
		if !(percent >= 0 && percent <= 100) {
			return nil, sqlerr.New(sqlerr.InvalidTablesampleArgument, "sample percentage must be between 0 and 100")
		}
		if e.start == 0 || e.seed != seed {
			e.seed, e.start = seed, fnvNumber(fnvOffset, math.Float64bits(seed))
		}
		x := fnvBytes(e.start, keys.B[keys.Idx(int(i))])
		// FNV's high bits need mixing: keys differ in their last bytes
		x = (x ^ x>>33) * 0xff51afd7ed558ccd
		x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
		x ^= x >> 33
		e.out.Bool[i] = float64(x>>11)/(1<<53)*100 < percent
	}
	return &e.out, nil
}

// FNV-1a with 64 bits, as hash/fnv computes it: that costs an interface and a call each
// row.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

func fnvBytes(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}

// fnvNumber continues a hash with the bytes of a number, the highest first.
func fnvNumber(h, n uint64) uint64 {
	for shift := 56; shift >= 0; shift -= 8 {
		h = (h ^ n>>shift&0xff) * fnvPrime
	}
	return h
}
