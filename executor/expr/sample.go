package expr

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// sampleFuncs has the test of TABLESAMPLE: a row is in the sample when the hash
// of its key and the seed is below the wanted part of all hashes. So a seed gives
// the same rows as long as the table is the same.
func sampleFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		if a[1].Null {
			return null, sqlerr.New(sqlerr.InvalidTablesampleArgument, "TABLESAMPLE parameter cannot be null")
		}
		if a[2].Null {
			return null, sqlerr.New(sqlerr.InvalidTablesampleRepeat, "TABLESAMPLE REPEATABLE parameter cannot be null")
		}
		percent := a[1].F
		if !(percent >= 0 && percent <= 100) {
			return null, sqlerr.New(sqlerr.InvalidTablesampleArgument, "sample percentage must be between 0 and 100")
		}
		h := fnv.New64a()
		var seed [8]byte
		binary.BigEndian.PutUint64(seed[:], math.Float64bits(a[2].F))
		h.Write(seed[:])
		h.Write(a[0].B)
		// FNV's high bits need mixing: keys differ in their last bytes
		x := h.Sum64()
		x = (x ^ x>>33) * 0xff51afd7ed558ccd
		x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
		x ^= x >> 33
		return types.Bool(float64(x>>11)/(1<<53)*100 < percent), nil
	}), "kvsqld_in_sample")
}
