package codec

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

func mustKeyCodec(t testing.TB, cols ...KeyCol) *KeyCodec {
	t.Helper()
	c, err := NewKeyCodec(cols)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sign(n int) int { return min(max(n, -1), 1) }

// compareRows is the order that keys must have.
func compareRows(cols []KeyCol, a, b []types.Datum) int {
	for i, c := range cols {
		var r int
		switch {
		case a[i].Null && b[i].Null:
		case a[i].Null || b[i].Null:
			// Where b is NULL and NULLs come first, a comes after it.
			if b[i].Null == c.NullsFirst {
				r = 1
			} else {
				r = -1
			}
		default:
			r = sign(types.Compare(a[i], b[i]))
			if c.Desc {
				r = -r
			}
		}
		if r != 0 {
			return r
		}
	}
	return 0
}

func genNullable(r *rand.Rand, c KeyCol) types.Datum {
	if c.Nullable && r.IntN(5) == 0 {
		return types.Null(c.T)
	}
	return gen(r, c.T)
}

func TestKeyOrderOfEveryType(t *testing.T) {
	for _, typ := range keyTypes {
		for _, desc := range []bool{false, true} {
			col := KeyCol{T: typ, Nullable: desc, Desc: desc, NullsFirst: desc}
			c := mustKeyCodec(t, col)
			r := rand.New(rand.NewPCG(1, uint64(typ.OID)))
			for range 3000 {
				a, b := []types.Datum{genNullable(r, col)}, []types.Datum{genNullable(r, col)}
				ka, kb := c.appendDatums(nil, a), c.appendDatums(nil, b)
				want := compareRows([]KeyCol{col}, a, b)
				if got := bytes.Compare(ka, kb); got != want {
					t.Fatalf("%s desc=%v: keys %x and %x compare as %d, values %s and %s as %d",
						types.FormatType(typ), desc, ka, kb, got, AppendPretty(nil, a[0]), AppendPretty(nil, b[0]), want)
				}
			}
		}
	}
}

func TestKeyOrderOfSeveralColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		cols := make([]KeyCol, 1+r.IntN(4))
		for i := range cols {
			cols[i] = KeyCol{T: keyTypes[r.IntN(len(keyTypes))], Nullable: r.IntN(2) == 0, Desc: r.IntN(2) == 0, NullsFirst: r.IntN(2) == 0}
		}
		c := mustKeyCodec(t, cols...)
		for range 20 {
			a, b := make([]types.Datum, len(cols)), make([]types.Datum, len(cols))
			for i, col := range cols {
				a[i], b[i] = genNullable(r, col), genNullable(r, col)
				if r.IntN(2) == 0 {
					b[i] = a[i]
				}
			}
			ka, kb := c.appendDatums(nil, a), c.appendDatums(nil, b)
			if got, want := bytes.Compare(ka, kb), compareRows(cols, a, b); got != want {
				t.Fatalf("%+v: keys %x and %x compare as %d, want %d", cols, ka, kb, got, want)
			}
		}
	}
}

func TestKeyRoundTrip(t *testing.T) {
	for _, typ := range keyTypes {
		for _, desc := range []bool{false, true} {
			col := KeyCol{T: typ, Nullable: desc, Desc: desc}
			// A column after it shows that the first one ends where it says.
			c := mustKeyCodec(t, col, KeyCol{T: types.TInt4})
			r := rand.New(rand.NewPCG(3, uint64(typ.OID)))
			for range 500 {
				in := []types.Datum{genNullable(r, col), types.Int(types.TInt4, int64(r.IntN(100)))}
				key := append(c.appendDatums(nil, in), "rest"...)
				out := make([]types.Datum, 2)
				rest, err := c.Decode(key, out)
				if err != nil || string(rest) != "rest" {
					t.Fatalf("%s: %v, rest %q", types.FormatType(typ), err, rest)
				}
				if compareRows([]KeyCol{col, {T: types.TInt4}}, in, out) != 0 {
					t.Fatalf("%s: %s came back as %s", types.FormatType(typ), AppendPretty(nil, in[0]), AppendPretty(nil, out[0]))
				}
				if !LossyKey(typ) && !in[0].Null && !same(in[0], out[0]) {
					t.Fatalf("%s is not lossy, but %s came back as %s", types.FormatType(typ), AppendPretty(nil, in[0]), AppendPretty(nil, out[0]))
				}
				if skipped, null, err := c.Skip(key, 2); err != nil || string(skipped) != "rest" || null != in[0].Null {
					t.Fatalf("Skip = %q, %v, %v", skipped, null, err)
				}
			}
		}
	}
}

// same reports whether two values are the same bit for bit.
func same(a, b types.Datum) bool {
	if a.Null || b.Null {
		return a.Null == b.Null
	}
	if a.T.Rep() == types.RepDec && a.Dec.String() != b.Dec.String() {
		return false
	}
	return a.I == b.I && (a.F == b.F || a.F != a.F && b.F != b.F) && bytes.Equal(a.B, b.B) && a.Iv == b.Iv
}

func TestKeyVectorsAndDatumsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, typ := range keyTypes {
		col := KeyCol{T: typ, Nullable: true, Desc: r.IntN(2) == 0}
		lead := KeyCol{T: types.TInt8}
		c := mustKeyCodec(t, lead, col)
		const n = 50
		vecs := []*vec.Vec{NewVec(lead.T, n), NewVec(typ, n)}
		var keys [][]byte
		for i := range n {
			d := []types.Datum{types.Int(types.TInt8, int64(i)), genNullable(r, col)}
			vecs[0].Set(i, d[0])
			vecs[1].Set(i, d[1])
			keys = append(keys, c.appendDatums(nil, d))
		}
		var buf KeyBuf
		c.AppendRows(&buf, vecs, n, nil)
		for i := range n {
			if !bytes.Equal(buf.Key(i), keys[i]) {
				t.Fatalf("%s row %d: %x from vectors, %x from datums", types.FormatType(typ), i, buf.Key(i), keys[i])
			}
		}
		out := NewVec(typ, n)
		if err := c.DecodeVec(1, keys, out, 0, new(vec.Arena)); err != nil {
			t.Fatal(err)
		}
		want := make([]types.Datum, 2)
		for i := range n {
			if _, err := c.Decode(keys[i], want); err != nil {
				t.Fatal(err)
			}
			if got := out.Get(i); !same(got, want[1]) {
				t.Fatalf("%s row %d: vector has %s, want %s", types.FormatType(typ), i, AppendPretty(nil, got), AppendPretty(nil, want[1]))
			}
		}
	}
}

func TestUnorderedTypesAreRefused(t *testing.T) {
	for _, o := range []types.OID{types.OJSON, types.OPoint, types.OBox, types.OCircle, types.OPolygon, types.ORecord} {
		if _, err := NewKeyCodec([]KeyCol{{T: types.Of(o)}}); err == nil {
			t.Errorf("a key of type %d was accepted", o)
		}
	}
}

func TestUnorderedColumnsKeepGeometries(t *testing.T) {
	for _, o := range []types.OID{types.OPoint, types.OBox, types.OPolygon} {
		typ := types.Of(o)
		c := mustKeyCodec(t, KeyCol{T: typ, Nullable: true, Unordered: true}, KeyCol{T: types.TInt4})
		for _, b := range []string{"", "\x00\x01\xff", "a value of any length \x00"} {
			in := []types.Datum{types.Bytes(typ, []byte(b)), types.Int(types.TInt4, 7)}
			key, out := append(c.appendDatums(nil, in), "rest"...), make([]types.Datum, 2)
			rest, err := c.Decode(key, out)
			if err != nil || string(rest) != "rest" || string(out[0].B) != b || out[1].I != 7 {
				t.Errorf("%q came back as %q, %d, rest %q: %v", b, out[0].B, out[1].I, rest, err)
			}
		}
	}
	if _, err := NewKeyCodec([]KeyCol{{T: types.Of(types.OJSON), Unordered: true}}); err == nil {
		t.Error("a key of type json was accepted")
	}
}

func TestPrefixEnd(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a", "b"}, {"a\xff", "b"}, {"\xff\xff", ""}, {"", ""}, {"ab\x00", "ab\x01"},
	}
	for _, tt := range tests {
		if got := string(PrefixEnd([]byte(tt.in))); got != tt.want {
			t.Errorf("PrefixEnd(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestFitKeepsTheOrder(t *testing.T) {
	dec := func(s string) types.Datum {
		d, err := types.ParseDecimal(s)
		if err != nil {
			t.Fatal(err)
		}
		return types.Datum{T: types.TNumeric, Dec: d}
	}
	tests := []struct {
		t    types.T
		in   types.Datum
		want string
		fit  Fitting
	}{
		{types.TInt4, types.Int(types.TInt8, 5), "5", FitExact},
		{types.TInt4, types.Int(types.TInt8, 1<<40), "2147483647", FitBelow},
		{types.TInt4, types.Int(types.TInt8, -1<<40), "", FitNone},
		{types.TInt2, types.Int(types.TInt4, 40000), "32767", FitBelow},
		{numeric(10, 2), dec("1.5"), "1.50", FitExact},
		{numeric(10, 2), dec("1.005"), "1.00", FitBelow},
		{numeric(10, 2), dec("-1.005"), "-1.01", FitBelow},
		{numeric(10, 2), dec("1.00000000000000000000000000000000001"), "1.00", FitBelow},
		{numeric(10, 2), dec("-1.00000000000000000000000000000000001"), "-1.01", FitBelow},
		{numeric(10, 2), dec("0.99999999999999999999999999999999999"), "0.99", FitBelow},
		{numeric(10, 2), dec("1e30"), "10000000000000000.00", FitBelow},
		{numeric(10, 2), dec("-Infinity"), "", FitNone},
		{numeric(10, 2), dec("NaN"), "NaN", FitExact},
	}
	for _, tt := range tests {
		got, fit := Fit(tt.t, tt.in)
		if fit != tt.fit || fit != FitNone && string(AppendPretty(nil, got)) != tt.want {
			t.Errorf("Fit(%s) = %s, %d; want %s, %d", AppendPretty(nil, tt.in), AppendPretty(nil, got), fit, tt.want, tt.fit)
		}
	}
}

func FuzzKeyDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	for i, typ := range keyTypes {
		c := mustKeyCodec(f, KeyCol{T: typ, Nullable: i%2 == 0, Desc: i%3 == 0})
		f.Add(byte(i), c.appendDatums(nil, []types.Datum{gen(r, typ)}))
	}
	f.Fuzz(func(t *testing.T, which byte, key []byte) {
		i := int(which) % len(keyTypes)
		c := mustKeyCodec(t, KeyCol{T: keyTypes[i], Nullable: i%2 == 0, Desc: i%3 == 0})
		out := make([]types.Datum, 1)
		rest, err := c.Decode(key, out)
		if err != nil {
			return
		}
		skipped, _, err := c.Skip(key, 1)
		if err != nil || !bytes.Equal(rest, skipped) {
			t.Errorf("Decode leaves %x, Skip %x, %v", rest, skipped, err)
		}
	})
}

func BenchmarkKeyAppend(b *testing.B) {
	c := mustKeyCodec(b, KeyCol{T: types.TText, Nullable: true}, KeyCol{T: types.TInt8, Nullable: true})
	vecs := []*vec.Vec{NewVec(types.TText, 1024), NewVec(types.TInt8, 1024)}
	for i := range 1024 {
		vecs[0].Set(i, types.Text("some words"))
		vecs[1].Set(i, types.Int(types.TInt8, int64(i)))
	}
	var buf KeyBuf
	for i := 0; i < b.N; i += 1024 {
		buf.Reset()
		c.AppendRows(&buf, vecs, 1024, nil)
	}
}

// TestKeyDecodeVec compares the vectors of every column of random keys, whole
// and cut short, with what Decode makes of each key.
func TestKeyDecodeVec(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		cols := make([]KeyCol, 1+r.IntN(4))
		for i := range cols {
			cols[i] = KeyCol{T: keyTypes[r.IntN(len(keyTypes))], Nullable: r.IntN(2) == 0, Desc: r.IntN(4) == 0}
		}
		c := mustKeyCodec(t, cols...)
		var keys [][]byte
		var want [][]types.Datum
		for range 20 {
			row := make([]types.Datum, len(cols))
			for i, col := range cols {
				row[i] = genNullable(r, col)
			}
			key := c.appendDatums(nil, row)
			if r.IntN(3) == 0 {
				key = key[:r.IntN(len(key)+1)]
			}
			if _, err := c.Decode(key, row); err != nil {
				for i := range cols {
					_, err := c.Decode(key, make([]types.Datum, i+1))
					got := c.DecodeVec(i, [][]byte{key}, NewVec(cols[i].T, 1), 0, new(vec.Arena))
					if (err == nil) != (got == nil) {
						t.Fatalf("%+v: column %d of %x: DecodeVec says %v, Decode %v", cols, i, key, got, err)
					}
				}
				continue
			}
			keys, want = append(keys, key), append(want, row)
		}
		for i, col := range cols {
			v := NewVec(col.T, len(keys)+1)
			if err := c.DecodeVec(i, keys, v, 1, new(vec.Arena)); err != nil {
				t.Fatalf("%+v: column %d: %v", cols, i, err)
			}
			for j, row := range want {
				got := v.Get(j + 1)
				if g, w := AppendPretty(nil, got), AppendPretty(nil, row[i]); got.Null != row[i].Null || !bytes.Equal(g, w) {
					t.Fatalf("%+v: column %d of %x is %s, want %s", cols, i, keys[j], g, w)
				}
			}
		}
	}
}

func BenchmarkKeyDecodeVec(b *testing.B) {
	cols := []KeyCol{{T: types.TFloat8, Nullable: true}, {T: types.TFloat8, Nullable: true}, {T: types.TInt4}}
	c := mustKeyCodec(b, cols...)
	r := rand.New(rand.NewPCG(6, 6))
	keys := make([][]byte, 1024)
	for i := range keys {
		keys[i] = c.appendDatums(nil, []types.Datum{types.Float(types.TFloat8, r.Float64()), types.Float(types.TFloat8, r.Float64()), types.Int(types.TInt4, int64(i))})
	}
	v := NewVec(types.TFloat8, 1024)
	var a vec.Arena
	for i := 0; i < b.N; i += 1024 {
		if err := c.DecodeVec(1, keys, v, 0, &a); err != nil {
			b.Fatal(err)
		}
	}
}

// Money is kept as the integers are: its keys are exact and in order.
func TestKeysOfMoney(t *testing.T) {
	c := mustKeyCodec(t, KeyCol{T: types.Of(types.OMoney)})
	var before []byte
	for _, v := range []int64{math.MinInt64, -101, -1, 0, 1, 99, 100, math.MaxInt64} {
		key := c.appendDatums(nil, []types.Datum{types.Int(types.Of(types.OMoney), v)})
		back := make([]types.Datum, 1)
		if _, err := c.Decode(key, back); err != nil || back[0].I != v || back[0].T.OID != types.OMoney {
			t.Errorf("the key of %d reads back as %v, %v", v, back[0], err)
		}
		if bytes.Compare(before, key) >= 0 {
			t.Errorf("the key %x of %d is not behind %x", key, v, before)
		}
		before = key
	}
}

// appendDatums appends the first len(vals) columns of a key.
func (c *KeyCodec) appendDatums(dst []byte, vals []types.Datum) []byte {
	for i := range vals {
		dst = c.AppendCol(dst, i, vals[i])
	}
	return dst
}
