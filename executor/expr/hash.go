package expr

import (
	"kvsqld/catalog/partition"
	"kvsqld/catalog/types"
)

// hashFuncs registers the functions of hash operator classes, which applications
// call to spread values and to make keys of advisory locks.
func hashFuncs(r *registry) {
	for plain, seeded := range map[string]string{
		"hashint2": "hashint2extended", "hashint4": "hashint4extended", "hashint8": "hashint8extended",
		"hashfloat4": "hashfloat4extended", "hashfloat8": "hashfloat8extended", "hashoid": "hashoidextended",
		"hashname": "hashnameextended", "hashtext": "hashtextextended", "hashbpchar": "hashbpcharextended",
		"hash_numeric": "hash_numeric_extended", "time_hash": "time_hash_extended", "timestamp_hash": "timestamp_hash_extended",
		"interval_hash": "interval_hash_extended", "uuid_hash": "uuid_hash_extended",
	} {
		r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			return intDatum(int64(int32(partition.Hash(a[0].T, a[0], 0)))), nil
		}), plain)
		r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			return intDatum(int64(partition.Hash(a[0].T, a[0], uint64(a[1].I)))), nil
		}), seeded)
	}
}
