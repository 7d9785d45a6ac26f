package catalog

import (
	"cmp"
	"slices"

	"kvsqld/catalog/types"
)

// CompareBounds orders the bounds of partitions of one table.
func CompareBounds(a, b *PartBound) int {
	switch {
	case a.Default && b.Default:
		return 0
	case a.Default:
		return 1
	case b.Default:
		return -1
	case a.From != nil && b.From != nil:
		return CompareRange(a.From, b.From)
	case a.Modulus > 0:
		return cmp.Or(cmp.Compare(a.Modulus, b.Modulus), cmp.Compare(a.Remainder, b.Remainder))
	}
	least := func(b *PartBound) types.Datum {
		return slices.MinFunc(b.In, types.Compare) // NULL is the greatest
	}
	return types.Compare(least(a), least(b))
}

// CompareRange orders two bounds of ranges.
func CompareRange(a, b []BoundValue) int {
	for i := range min(len(a), len(b)) {
		if c := CompareBoundValue(a[i], b[i]); c != 0 {
			return c
		}
		if a[i].Inf != 0 {
			break // what follows MINVALUE or MAXVALUE does not count
		}
	}
	return 0
}

// CompareBoundValue orders two values of bounds of ranges.
func CompareBoundValue(a, b BoundValue) int {
	if a.Inf != 0 || b.Inf != 0 {
		return cmp.Compare(a.Inf, b.Inf)
	}
	return types.Compare(a.Val, b.Val)
}
