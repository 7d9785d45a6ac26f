package session

import (
	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// satisfiesHashPartition reports whether a row with the key values given goes to the
// partition with a modulus and a remainder; the values may come as one array.
func (c *catalogCall) satisfiesHashPartition() (types.Datum, error) {
	if c.a[0].Null || c.a[1].Null || c.a[2].Null {
		return types.Bool(false), nil
	}
	bad := func(format string, args ...any) (types.Datum, error) {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
	}
	modulus, remainder := c.num(1), c.num(2)
	switch {
	case modulus <= 0:
		return bad("modulus for hash partition must be an integer value greater than zero")
	case remainder < 0:
		return bad("remainder for hash partition must be an integer value greater than or equal to zero")
	case remainder >= modulus:
		return bad("remainder for hash partition must be less than modulus")
	}
	_, name, ok := c.RelationName(c.oid(0))
	if !ok {
		return types.Datum{}, sqlerr.New(sqlerr.InternalError, "could not open relation with OID %d", c.oid(0))
	}
	t := c.Snap.Table(c.oid(0))
	if t == nil || t.Key == nil || t.Key.Strategy != catalog.PartHash {
		return bad("\"%s\" is not a hash partitioned table", name)
	}
	keys, values, quote := t.Key.Keys, c.a[3:], ""
	if v := values[0]; len(values) == 1 && v.T.Kind() == types.KArray && (len(keys) > 1 || keys[0].Type.OID != v.T.OID) {
		_, _, _, elems, err := types.ArrayElems(v)
		if err != nil {
			return types.Datum{}, err
		}
		values, quote = elems, "\""
	}
	if len(values) != len(keys) {
		return bad("number of partitioning columns (%d) does not match number of partition keys provided (%d)", len(keys), len(values))
	}
	for i, v := range values {
		from, to := v.T.OID, c.Snap.BaseType(keys[i].Type).OID
		if k := catalog.FindCast(from, to); from != to && (k == nil || k.Method != 'b') {
			return bad("column %d of the partition key has type %s, but supplied value is of type %s", i+1,
				quote+c.Env.FormatTypeNoMod(keys[i].Type.OID)+quote, quote+c.Env.FormatTypeNoMod(from)+quote)
		}
	}
	return types.Bool(partition.HashKey(t.Key, values)%uint64(modulus) == uint64(remainder)), nil
}
