package executor

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// intCol makes a column of integers; nulls lists the rows that are NULL.
func intCol(vals []int64, nulls []int) *vec.Vec {
	v := vec.New(types.TInt8, len(vals))
	copy(v.I64, vals)
	for _, r := range nulls {
		v.Nulls.Set(r)
	}
	return v
}

func TestIntIndexFindsEveryRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(rapid.Int64Range(-20, 20), rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0}))
		vals := rapid.SliceOfN(key, 1, 200).Draw(t, "keys")
		nulls := rapid.SliceOfN(rapid.IntRange(0, len(vals)-1), 0, 5).Draw(t, "nulls")
		next := make([]uint32, len(vals))
		x := newIntIndex(intCol(vals, nulls), len(vals), next, nil)
		probe := append(rapid.SliceOfN(key, 1, 50).Draw(t, "probes"), vals...)
		tab := &joinTable{rows: newRowStore([]types.T{types.TInt8}), keys: []int{0}, keyCols: []*vec.Vec{intCol(vals, nulls)}, ints: x}
		tab.rows.n = len(vals)
		f := tab.newFilter(0)
		passed := f.narrow(intCol(probe, nil), nil, len(probe), []uint32{})
		for i, k := range probe {
			var want, got []int
			for r, v := range vals {
				if v == k && !slices.Contains(nulls, r) {
					want = append(want, r)
				}
			}
			for c := x.find(k); c != 0; c = next[c-1] {
				got = append(got, int(c-1))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("key %d of %v without %v: rows %v, not %v", k, vals, nulls, got, want)
			}
			if len(want) > 1 && !x.dups {
				t.Fatalf("key %d of %v is there twice", k, vals)
			}
			in := slices.Contains(passed, uint32(i))
			if len(want) > 0 && !in || f.exact && len(want) == 0 && in {
				t.Fatalf("key %d of %v without %v: passes the filter: %v", k, vals, nulls, in)
			}
		}
	})
}

func TestHashIntIsHashRows(t *testing.T) {
	for _, k := range []int64{0, 1, -1, 4711, math.MinInt64, math.MaxInt64} {
		got := hashRows([]*vec.Vec{intCol([]int64{k}, nil)}, nil, 1, nil)[0]
		if got != hashInt(k) {
			t.Errorf("hash of %d: %x and %x", k, got, hashInt(k))
		}
	}
}
