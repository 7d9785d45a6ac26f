package executor

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// TestSorter: values that begin alike, of all lengths, with NULLs and zero bytes, are
// ordered as by comparing them.
func TestSorter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range []types.T{types.TText, types.Of(types.OBytea), types.Of(types.OBpchar), types.TInt8, types.TNumeric} {
		for round := range 60 {
			letters := []byte("ab")
			if typ.Kind() == types.KBytea {
				letters = []byte{0, 1, 'b'}
			} else if typ.OID == types.OBpchar {
				letters = []byte("a ")
			}
			first, second := vec.New(typ, 600), vec.New(types.TInt8, 600)
			n := 1 + r.IntN(600)
			for i := range n {
				d := types.Null(typ)
				if r.IntN(10) > 0 {
					b := bytes.Repeat(letters[:1], r.IntN(4)*r.IntN(12))
					for range r.IntN(1 + round%20) {
						b = append(b, letters[r.IntN(len(letters))])
					}
					d = types.Datum{T: typ, B: b, I: int64(r.IntN(20)), Dec: someNumeric(r)}
				}
				first.Set(i, d)
				second.Set(i, types.Int(types.TInt8, int64(r.IntN(3))))
			}
			s := newSorter([]types.T{typ, types.TInt8}, []keyOrder{{col: 0, desc: round%2 == 1, nullsFirst: round%3 == 0}, {col: 1, desc: round%5 == 0}})
			s.rows.appendCols([]*vec.Vec{first, second}, nil, n)
			s.sort()
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(i)
			}
			slices.SortStableFunc(want, func(a, b uint32) int { return s.order.compare(0, s.rows.cols, int(a), s.rows.cols, int(b)) })
			if !slices.Equal(s.perm, want) {
				t.Fatalf("%s, round %d: %v, not %v", types.FormatType(typ), round, s.perm, want)
			}
		}
	}
}

// someNumeric is one of few numbers, of several display scales, some of which are the
// same as floats.
func someNumeric(r *rand.Rand) types.Decimal {
	switch r.IntN(20) {
	case 0:
		return types.DecimalNaN
	case 1:
		return types.DecimalNegInf
	case 2:
		return types.NewDecimal(1<<60+r.Int64N(5)-2, 3)
	}
	scale := r.Int32N(3)
	d, err := types.NewDecimal(r.Int64N(5)-2, scale).Mul(types.NewDecimal(1+9*r.Int64N(2), 0))
	if err != nil {
		panic(err)
	}
	return d
}

// BenchmarkSortTexts sorts texts of which all begin alike.
func BenchmarkSortTexts(b *testing.B) {
	const n = 100_000
	col := vec.New(types.TText, n)
	for i := range n {
		col.Set(i, types.Text("https://example.org/items/"+string('a'+rune(i%7))+string('a'+rune(i*31%26))+string('a'+rune(i*17%26))+string('a'+rune(i*5%11))))
	}
	for b.Loop() {
		s := newSorter([]types.T{types.TText}, []keyOrder{{col: 0}})
		s.rows.appendCols([]*vec.Vec{col}, nil, n)
		s.sort()
	}
}

// BenchmarkSortNumerics sorts numbers of two display scales, as sums of columns of
// both kinds are.
func BenchmarkSortNumerics(b *testing.B) {
	const n = 100_000
	col := vec.New(types.TNumeric, n)
	for i := range n {
		col.Set(i, types.Datum{T: types.TNumeric, Dec: types.NewDecimal(int64(i)*7919%1_000_003, int32(i%2))})
	}
	for b.Loop() {
		s := newSorter([]types.T{types.TNumeric}, []keyOrder{{col: 0, desc: true}})
		s.rows.appendCols([]*vec.Vec{col}, nil, n)
		s.sort()
	}
}

// TestFirstOfGroups sorts rows of which only the first of each group are wanted: those come
// out as by a sort of all rows, whatever else is left out.
func TestFirstOfGroups(t *testing.T) {
	ts := []types.T{types.TInt4, types.TText, types.TInt4}
	for _, workMem := range []int64{0, 100 << 10} {
		r := rand.New(rand.NewPCG(3, uint64(workMem)))
		left := false
		for round := range 12 {
			var rows []row
			groups := []int{1, 40, 3000, 1 << 30}[r.IntN(4)]
			for i := range 4000 + r.IntN(40000) {
				v := []int{i, -i, r.IntN(50)}[round%3]
				rows = append(rows, row{types.Int(ts[0], int64(r.IntN(groups))), types.Text(fmt.Sprintf("%08d", v+100000)), types.Int(ts[2], int64(i))})
				if r.IntN(20) == 0 {
					rows[i][r.IntN(2)].Null = true
				}
			}
			wanted := 1 + r.IntN(3)
			n := &plan.Sort{Common: outCols(ts), Input: valuesNode(ts, rows), Stable: true,
				Keys: []plan.SortKey{{X: col(ts, 0), Desc: r.IntN(2) == 0}, {X: col(ts, 1), Desc: r.IntN(2) == 0, NullsFirst: r.IntN(2) == 0}}}
			firsts := func() (out []row, all int) {
				list := runNode(t, n, memEnv(t, workMem), 0)
				run := 0
				for i, x := range list {
					if run++; i == 0 || show(list[i-1][:1]) != show(x[:1]) {
						run = 1
					}
					if run <= wanted {
						out = append(out, x)
					}
				}
				return out, len(list)
			}
			want, all := firsts()
			n.FirstOf, n.First = 1, wanted
			got, some := firsts()
			equalRows(t, fmt.Sprint("round ", round), showAll(got, false), showAll(want, false))
			left = left || some < all
		}
		if !left {
			t.Error("nothing was left out")
		}
	}
}
