package planner

import (
	"math"
	"testing"

	"kvsqld/catalog/types"
)

func TestPositionInHistogram(t *testing.T) {
	ints := []types.Datum{types.Int(types.TInt4, 0), types.Int(types.TInt4, 100), types.Int(types.TInt4, 1000)}
	texts := []types.Datum{types.Text("a"), types.Text("m"), types.Text("z")}
	const day = 86400e6
	days := []types.Datum{{T: types.Of(types.ODate), I: 0}, {T: types.Of(types.ODate), I: 2}}
	noon := types.Datum{T: types.Of(types.OTimestamp), I: day * 3 / 2}
	tests := []struct {
		name string
		h    []types.Datum
		val  types.Datum
		want float64
	}{
		{"below all", ints, types.Int(types.TInt4, -5), 0},
		{"above all", ints, types.Int(types.TInt4, 2000), 1},
		{"a bound", ints, types.Int(types.TInt4, 100), 0.5},
		{"inside of a bucket, by its size", ints, types.Int(types.TInt4, 10), 0.05},
		{"inside of a larger bucket", ints, types.Int(types.TInt8, 550), 0.75},
		{"a text by its bytes", texts, types.Text("d"), 0.125},
		{"a number of another type", ints, types.Float(types.TFloat8, 550), 0.75},
		{"a time among days", days, noon, 0.75},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := position(tt.h, tt.val); math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("position %v, want %v", got, tt.want)
			}
		})
	}
}

func TestBetween(t *testing.T) {
	for _, tt := range []struct{ lo, hi, rows, want float64 }{
		{selRange, selRange, 1e6, selSpan},
		{0.6, 0.5, 1e6, 0.1},
		{0.2, 0.3, 1000, 0.001},
	} {
		if got := between(tt.lo, tt.hi, tt.rows); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("between %v and %v of %v rows: %v, want %v", tt.lo, tt.hi, tt.rows, got, tt.want)
		}
	}
}
