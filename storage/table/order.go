package table

import (
	"bytes"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv/keysort"
)

// Order returns the given rows of a column, none of them NULL, in ascending order
// of their values, equal ones in the given order, and where each group of equal
// values ends. Values that can be keys are sorted by their keys' bytes, others by
// comparison.
func Order(v *vec.Vec, rows []uint32) (sorted []uint32, ends []int) {
	sorted = make([]uint32, len(rows))
	c, err := codec.NewKeyCodec([]codec.KeyCol{{T: v.T}})
	if err != nil {
		copy(sorted, rows)
		slices.SortStableFunc(sorted, func(a, b uint32) int { return vec.CompareRows(v, int(a), v, int(b)) })
		for i := 1; i <= len(sorted); i++ {
			if i == len(sorted) || vec.CompareRows(v, int(sorted[i-1]), v, int(sorted[i])) != 0 {
				ends = append(ends, i)
			}
		}
		return sorted, ends
	}
	var keys codec.KeyBuf
	c.AppendRows(&keys, []*vec.Vec{v}, 0, rows)
	items := keysort.Items(len(rows), keys.Key)
	for i, it := range items {
		sorted[i] = rows[it.Pos]
		if i+1 == len(items) || it.Prefix != items[i+1].Prefix || !bytes.Equal(keys.Key(int(it.Pos)), keys.Key(int(items[i+1].Pos))) {
			ends = append(ends, i+1)
		}
	}
	return sorted, ends
}

// OrderedByKeys reports whether comparing two values of a type costs so much that
// Order is the better way to sort them.
func OrderedByKeys(t types.T) bool {
	switch t.Kind() {
	case types.KJSONB, types.KArray, types.KRange, types.KMultirange:
		return codec.Orderable(t)
	}
	return false
}
