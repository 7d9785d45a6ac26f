package codec

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kvsqld/catalog/types"
)

// Ranges kept by length are read back from their keys, and those that fulfil a test lie
// in the spans of it.
func TestRangeSpansHaveWhatFulfilsATest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, oid := range []types.OID{3904, 3926, 3908, 3912} { // int4range int8range tsrange daterange
		typ := types.Of(oid)
		elem, _ := types.RangeElem(typ)
		value := func() int64 {
			switch rng.IntN(4) {
			case 0:
				return int64(rng.IntN(20)) - 10
			case 1:
				return int64(rng.IntN(4000)) - 2000
			}
			return int64(rng.IntN(2_000_000)) - 1_000_000
		}
		random := func() types.Datum {
			if rng.IntN(20) == 0 {
				return mustRange(t, typ, types.RangeValue{Empty: true})
			}
			a := value()
			b := a + int64(math.Exp2(rng.Float64()*20))
			r := types.RangeValue{Lo: &types.Datum{T: elem, I: a}, Hi: &types.Datum{T: elem, I: b}, LoInc: rng.IntN(2) == 0, HiInc: rng.IntN(2) == 0}
			if rng.IntN(8) == 0 {
				r.Lo = nil
			}
			if rng.IntN(8) == 0 {
				r.Hi = nil
			}
			return mustRange(t, typ, r)
		}
		c := mustKeyCodec(t, KeyCol{T: types.TInt4, Nullable: true}, KeyCol{T: typ, Nullable: true, ByLength: true})
		five := c.AppendCol(nil, 0, types.Int(types.TInt4, 5))
		var keys [][]byte
		var ranges []types.Datum
		for range 400 {
			d := random()
			key := c.AppendCol(bytes.Clone(five), 1, d)
			got := make([]types.Datum, 2)
			if _, err := c.Decode(key, got); err != nil || types.Compare(got[1], d) != 0 {
				t.Fatalf("%s comes back as %s", show(d), show(got[1]))
			}
			keys, ranges = append(keys, key), append(ranges, d)
		}
		found, read := 0, 0
		for range 60 {
			tests := []types.RangeTest{{Op: "@>", X: types.Datum{T: elem, I: value()}}}
			for _, op := range []string{"&&", "@>", "<@"} {
				tests = append(tests, types.RangeTest{Op: op, X: random()})
			}
			for _, test := range tests {
				spans := c.RangeSpans(five, 1, &test)
				for i := 1; i < len(spans); i++ {
					if bytes.Compare(spans[i-1][1], spans[i][0]) > 0 {
						t.Fatalf("%s %s: spans %d and %d overlap", test.Op, show(test.X), i-1, i)
					}
				}
				for i, key := range keys {
					in := false
					for _, s := range spans {
						in = in || bytes.Compare(s[0], key) <= 0 && bytes.Compare(key, s[1]) < 0
					}
					if in {
						read++
					}
					if holds(t, ranges[i], &test) {
						if found++; !in {
							t.Fatalf("%s %s %s holds, and is not in the spans", show(ranges[i]), test.Op, show(test.X))
						}
					}
				}
			}
		}
		if read > 3*found {
			t.Errorf("%s: of %d entries read only %d are wanted", types.FormatType(typ), read, found)
		}
	}
}

func mustRange(t *testing.T, typ types.T, r types.RangeValue) types.Datum {
	t.Helper()
	d, err := types.NewRange(typ, r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func show(d types.Datum) string {
	if r, err := types.DecodeRange(d); err == nil && d.T.Kind() == types.KRange {
		end := func(d *types.Datum) string {
			if d == nil {
				return ""
			}
			return fmt.Sprint(d.I)
		}
		return fmt.Sprintf("%v[%s,%s]%v (empty %v)", r.LoInc, end(r.Lo), end(r.Hi), r.HiInc, r.Empty)
	}
	return fmt.Sprint(d.I)
}

func holds(t *testing.T, d types.Datum, test *types.RangeTest) bool {
	t.Helper()
	a, err := types.DecodeRange(d)
	if err != nil {
		t.Fatal(err)
	}
	b := types.RangeValue{Lo: &test.X, Hi: &test.X, LoInc: true, HiInc: true}
	if test.X.T.Kind() == types.KRange {
		if b, err = types.DecodeRange(test.X); err != nil {
			t.Fatal(err)
		}
	}
	if test.Op == "<@" {
		a, b = b, a
	}
	switch {
	case test.Op == "&&":
		return !a.Empty && !b.Empty && types.LowerBound(a).Cmp(types.UpperBound(b)) <= 0 && types.LowerBound(b).Cmp(types.UpperBound(a)) <= 0
	case b.Empty:
		return true
	}
	return !a.Empty && types.LowerBound(a).Cmp(types.LowerBound(b)) <= 0 && types.UpperBound(a).Cmp(types.UpperBound(b)) >= 0
}
