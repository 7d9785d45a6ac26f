package expr

import (
	"kvsqld/catalog/partition"
	"kvsqld/catalog/sqlerr"
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
		"interval_hash": "interval_hash_extended", "uuid_hash": "uuid_hash_extended", "timetz_hash": "timetz_hash_extended",
		"hashchar": "hashcharextended", "hashinet": "hashinetextended", "hashmacaddr": "hashmacaddrextended",
		"hashmacaddr8": "hashmacaddr8extended", "hashoidvector": "hashoidvectorextended", "hashtid": "hashtidextended",
		"hash_array": "hash_array_extended", "hash_range": "hash_range_extended", "hash_multirange": "hash_multirange_extended",
		"hash_record": "hash_record_extended", "jsonb_hash": "jsonb_hash_extended", "pg_lsn_hash": "pg_lsn_hash_extended",
		"citext.citext_hash": "citext.citext_hash_extended",
	} {
		r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			if err := hashable(a[0], "a hash function"); err != nil {
				return null, err
			}
			return intDatum(int64(int32(partition.Hash(a[0].T, a[0], 0)))), nil
		}), plain)
		r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			if err := hashable(a[0], "an extended hash function"); err != nil {
				return null, err
			}
			return intDatum(int64(partition.Hash(a[0].T, a[0], uint64(a[1].I)))), nil
		}), seeded)
	}
}

// hashable refuses values whose parts have no hash of the kind that what names.
func hashable(d types.Datum, what string) error {
	list := []types.Datum{d}
	if d.T.Kind() == types.KRecord {
		var err error
		if list, err = types.RecordFields(d); err != nil {
			return err
		}
	}
	for _, e := range list {
		t := e.T
		for t.Kind() == types.KArray && t.OID != types.OOidVector {
			t = t.ElemType()
		}
		switch {
		case partition.Hashable(t):
		case t.Kind() == types.KEnum:
			return sqlerr.Unsupported(-1, "the hash of an enum's value")
		default:
			return sqlerr.New(sqlerr.UndefinedFunction, "could not identify %s for type %s", what, types.FormatTypeNoMod(t.OID))
		}
	}
	return nil
}
