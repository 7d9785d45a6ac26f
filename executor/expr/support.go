package expr

import (
	"bytes"
	"cmp"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// supportFuncs registers the functions of operator classes and of range types that
// no operator shows: comparisons of three outcomes, subtraction for the width of
// ranges, the choice of the larger of two values.
func supportFuncs(r *registry) {
	r.add(threeWay(compareBits), "bitcmp")
	r.add(threeWay(compareNetworks), "network_cmp")
	for _, src := range signCompared {
		r.add(threeWay(func(a, b types.Datum) int { return compareDatums(a, b) }), src)
	}
	r.add(threeWay(compareDatums), "bttidcmp")
	r.add(threeWay(func(a, b types.Datum) int { return int(a.I - b.I) }), "btint2cmp")
	lower := func(d types.Datum) []byte { return types.AppendLower(nil, d.B) }
	r.add(threeWay(func(a, b types.Datum) int { return byteDistance(lower(a), lower(b)) }), "citext.citext_cmp", "citext.citext_pattern_cmp")
	byBytes := threeWay(func(a, b types.Datum) int { return byteDistance(textOf(a), textOf(b)) })
	r.add(byBytes, "bttextcmp", "bpcharcmp", "btnametextcmp", "bttextnamecmp", "byteacmp", "uuid_cmp", "bttext_pattern_cmp",
		"btbpchar_pattern_cmp", "gin_compare_jsonb")
	// These compare up to the zero that ends the shorter one.
	r.add(threeWay(func(a, b types.Datum) int {
		return byteDistance(append(a.B[:len(a.B):len(a.B)], 0), append(b.B[:len(b.B):len(b.B)], 0))
	}),
		"btnamecmp", "btcharcmp")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		k, err := compareRows(a[0], a[1], rowImage, anyImage)
		return intDatum(int64(k)), err
	}), "btrecordimagecmp")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		k, err := compareRows(a[0], a[1], rowOrder, needOrder)
		return intDatum(int64(k)), err
	}), "btrecordcmp")
	for _, c := range []struct{ src, left, right string }{
		{"date_cmp_timestamp", "date_timestamp", ""}, {"timestamp_cmp_date", "", "date_timestamp"},
		{"date_cmp_timestamptz", "date_timestamptz", ""}, {"timestamptz_cmp_date", "", "date_timestamptz"},
		{"timestamp_cmp_timestamptz", "timestamp_timestamptz", ""}, {"timestamptz_cmp_timestamp", "", "timestamp_timestamptz"},
	} {
		r.add(converted(c.left, c.right, fn2(func(_ *callCtx, a, b int64) (int64, error) { return int64(cmp.Compare(a, b)), nil })), c.src)
	}
	choiceFuncs(r)
	subdiffFuncs(r)
	r.add(fn1(func(*callCtx, int64) (bool, error) { return true, nil }), "btequalimage", "btvarstrequalimage")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) { return a[0], nil }),
		"int4range_canonical", "int8range_canonical", "daterange_canonical")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) { return intersectRanges(a[0], a[1]) }),
		"range_intersect_agg_transfn", "multirange_intersect_agg_transfn")
}

func choiceFuncs(r *registry) {
	choose := func(want int) builder {
		return fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
			if compareDatums(a[0], a[1]) == want {
				return a[0], nil
			}
			return a[1], nil
		})
	}
	r.add(choose(1), "xid8_larger", "pg_lsn_larger", "network_larger", "tidlarger", "citext.citext_larger")
	r.add(choose(-1), "xid8_smaller", "pg_lsn_smaller", "network_smaller", "tidsmaller", "citext.citext_smaller")
	// Blanks at the end do not count, and stay.
	blank := func(keep func(int) bool) builder {
		return fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			i := 1
			if keep(bytes.Compare(textOf(a[0]), textOf(a[1]))) {
				i = 0
			}
			d := a[i]
			d.T = c.call.Args[i].Type()
			return types.ApplyMod(d, types.TBpchar, false)
		})
	}
	r.add(blank(func(k int) bool { return k >= 0 }), "bpchar_larger")
	r.add(blank(func(k int) bool { return k <= 0 }), "bpchar_smaller")
}

// subdiffFuncs are the distances between the bounds of ranges.
func subdiffFuncs(r *registry) {
	r.add(fn2(func(_ *callCtx, a, b int64) (float64, error) { return float64(a) - float64(b), nil }),
		"int4range_subdiff", "int8range_subdiff", "daterange_subdiff")
	r.add(fn2(func(_ *callCtx, a, b int64) (float64, error) { return (float64(a) - float64(b)) / 1e6, nil }),
		"tsrange_subdiff", "tstzrange_subdiff")
	r.add(fn2(func(_ *callCtx, a, b types.Decimal) (float64, error) { return a.Sub(b).ToFloat(), nil }), "numrange_subdiff")
}

// threeWay lifts a comparison with a negative, zero or positive outcome.
func threeWay(f func(a, b types.Datum) int) builder {
	return fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) { return intDatum(int64(f(a[0], a[1]))), nil })
}

// textOf is a value's bytes without the blanks that do not count.
func textOf(d types.Datum) []byte {
	if d.T.OID == types.OBpchar {
		return bytes.TrimRight(d.B, " ")
	}
	return d.B
}

// compareBits compares bit strings: the difference of the first bytes that differ,
// or else which one is longer.
func compareBits(a, b types.Datum) int {
	x, y := a.B[4:], b.B[4:]
	n := min(len(x), len(y))
	if bytes.Equal(x[:n], y[:n]) {
		return cmp.Compare(bitCount(a.B), bitCount(b.B))
	}
	return byteDistance(x, y)
}

// compareNetworks compares addresses by the bits that both masks keep, then by the
// masks, then by all bits; of a byte within the mask the difference counts.
func compareNetworks(a, b types.Datum) int {
	x, nx := types.Inet(a.B)
	y, ny := types.Inet(b.B)
	if x.BitLen() != y.BitLen() {
		return cmp.Compare(x.BitLen(), y.BitLen())
	}
	p, q, n := x.AsSlice(), y.AsSlice(), min(nx, ny)
	if !bytes.Equal(p[:n/8], q[:n/8]) {
		return byteDistance(p[:n/8], q[:n/8])
	}
	if rest := n % 8; rest != 0 {
		if k := cmp.Compare(p[n/8]>>(8-rest), q[n/8]>>(8-rest)); k != 0 {
			return k
		}
	}
	if nx != ny {
		return nx - ny
	}
	return byteDistance(p, q)
}

// byteDistance is the difference of the first bytes that differ; of equal ones the
// longer is the greater.
func byteDistance(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// converted builds a function whose arguments are first brought to a common type by
// the functions of these names, as comparisons do.
func converted(left, right string, f builder) builder {
	return func(c *compiler, call *plan.Call, args []Eval) (Eval, error) {
		var err error
		if args[0], err = convertDate(c, call, args[0], left, call.Args[1].Type()); err != nil {
			return nil, err
		}
		if args[1], err = convertDate(c, call, args[1], right, call.Args[0].Type()); err != nil {
			return nil, err
		}
		return f(c, call, args)
	}
}

// convertDate applies the conversion src, if any, to an argument of a comparison.
func convertDate(c *compiler, call *plan.Call, a Eval, src string, t types.T) (Eval, error) {
	if src == "" {
		return a, nil
	}
	conv := *call
	conv.T = t
	build := fn1(func(c *callCtx, ts int64) (int64, error) { return lateLocal(c, ts), nil })
	if src != "timestamp_timestamptz" {
		build = fn1(lateDates(src == "date_timestamptz"))
	}
	return build(c, &conv, []Eval{a})
}

// rowOrder and rowImage compare two fields of rows: by the order of their type, or
// by their bytes.
func rowOrder(a, b types.Datum) int { return compareDatums(a, b) }

func rowImage(a, b types.Datum) int {
	if a.Null || b.Null {
		return compareDatums(a, b)
	}
	return bytes.Compare(types.AppendBinary(nil, a), types.AppendBinary(nil, b))
}

// anyImage allows every type: images of values are compared.
func anyImage(types.T) error { return nil }

// compareRows compares rows field by field, as far as both go, and requires them to
// have the same columns, of types that need allows.
func compareRows(a, b types.Datum, by func(a, b types.Datum) int, need func(types.T) error) (int, error) {
	x, err := types.RecordFields(a)
	if err != nil {
		return 0, err
	}
	y, err := types.RecordFields(b)
	if err != nil {
		return 0, err
	}
	for i := range min(len(x), len(y)) {
		if x[i].T.OID != y[i].T.OID {
			return 0, sqlerr.New(sqlerr.DatatypeMismatch, "cannot compare dissimilar column types %s and %s at record column %d",
				types.FormatTypeNoMod(x[i].T.OID), types.FormatTypeNoMod(y[i].T.OID), i+1)
		}
		if err := need(x[i].T); err != nil {
			return 0, err
		}
		if k := by(x[i], y[i]); k != 0 {
			return k, nil
		}
	}
	if len(x) != len(y) {
		return 0, sqlerr.New(sqlerr.DatatypeMismatch, "cannot compare record types with different numbers of columns")
	}
	return 0, nil
}
