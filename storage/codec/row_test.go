package codec

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// genRows returns n random rows of the types, as vectors.
func genRows(r *rand.Rand, ts []types.T, n int) []*vec.Vec {
	cols := make([]*vec.Vec, len(ts))
	for i, t := range ts {
		cols[i] = NewVec(t, n)
		for row := range n {
			if r.IntN(5) == 0 {
				cols[i].Set(row, types.Null(t))
			} else {
				cols[i].Set(row, gen(r, t))
			}
		}
	}
	return cols
}

func encodeRows(c *RowCodec, cols []*vec.Vec, n int) (keys, vals [][]byte) {
	for i := range n {
		key := []byte{byte(i), byte(i >> 8)}
		keys = append(keys, key)
		vals = append(vals, c.Append(nil, cols, i, key))
	}
	return keys, vals
}

func TestRowRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		ts := make([]types.T, r.IntN(20))
		for i := range ts {
			ts[i] = rowTypes[r.IntN(len(rowTypes))]
		}
		const n = 20
		cols := genRows(r, ts, n)
		if len(ts) > 0 && r.IntN(4) == 0 {
			// One long value, so that offsets need 4 bytes in one of the rows.
			long := types.Bytes(types.TText, bytes.Repeat([]byte("long"), 20_000))
			ts[0] = types.TText
			cols[0] = NewVec(types.TText, n)
			cols[0].Set(7, long)
		}
		c := NewRowCodec(ts)
		keys, vals := encodeRows(c, cols, n)
		var rows Rows
		if bad, err := c.Load(&rows, keys, vals); err != nil {
			t.Fatalf("row %d: %v", bad, err)
		}
		for a, typ := range ts {
			out := NewVec(typ, n+3)
			if err := c.Column(&rows, a, types.Datum{}, out, 3); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				want := cols[a].Get(i)
				if got := out.Get(i + 3); !same(got, want) {
					t.Fatalf("%s row %d: got %s, want %s", types.FormatType(typ), i, AppendPretty(nil, got), AppendPretty(nil, want))
				}
				if got, ok, err := c.Attr(vals[i], a); err != nil || !ok || !same(got, want) {
					t.Fatalf("Attr(%d) = %s, %v, %v; want %s", a, AppendPretty(nil, got), ok, err, AppendPretty(nil, want))
				}
			}
		}
	}
}

func TestOlderRowsHaveTheMissingValue(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		ts := make([]types.T, 2+r.IntN(15))
		for i := range ts {
			ts[i] = rowTypes[r.IntN(len(rowTypes))]
		}
		before := r.IntN(len(ts))
		old, now := NewRowCodec(ts[:before]), NewRowCodec(ts)
		cols := genRows(r, ts, 10)
		keys, vals := encodeRows(old, cols[:before], 5)
		for i := 5; i < 10; i++ {
			key := []byte{byte(i)}
			keys, vals = append(keys, key), append(vals, now.Append(nil, cols, i, key))
		}
		var rows Rows
		if _, err := now.Load(&rows, keys, vals); err != nil {
			t.Fatal(err)
		}
		for a, typ := range ts {
			missing := gen(r, typ)
			out := NewVec(typ, 10)
			if err := now.Column(&rows, a, missing, out, 0); err != nil {
				t.Fatal(err)
			}
			for i := range 10 {
				want := cols[a].Get(i)
				if i < 5 && a >= before {
					want = missing
				}
				if got := out.Get(i); !same(got, want) {
					t.Fatalf("attribute %d row %d: got %s, want %s", a, i, AppendPretty(nil, got), AppendPretty(nil, want))
				}
			}
		}
	}
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	ts := []types.T{types.TInt4, types.TText, numeric(10, 2)}
	c := NewRowCodec(ts)
	cols := genRows(rand.New(rand.NewPCG(3, 3)), ts, 1)
	key := []byte("key")
	val := c.Append(nil, cols, 0, key)
	entry := AppendEntry(nil, key, []byte("master"), nil, nil, 0)
	for bit := range 8 * len(val) {
		bad := bytes.Clone(val)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := c.Load(new(Rows), [][]byte{key}, [][]byte{bad}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d of a row flipped: %v", bit, err)
		}
	}
	for bit := range 8 * len(entry) {
		bad := bytes.Clone(entry)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := OpenEntry(key, bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d of an entry flipped: %v", bit, err)
		}
	}
	for bit := range 8 * len(key) {
		bad := bytes.Clone(key)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := Open(bad, val); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d of the key flipped: %v", bit, err)
		}
	}
}

func TestEntryRoundTrip(t *testing.T) {
	ts := []types.T{types.TText, types.TInt8}
	c := NewRowCodec(ts)
	cols := genRows(rand.New(rand.NewPCG(4, 4)), ts, 10)
	key := []byte("k")
	for _, master := range [][]byte{nil, []byte("m")} {
		for row := range 10 {
			e, err := OpenEntry(key, AppendEntry(nil, key, master, c, cols, row))
			if err != nil || !bytes.Equal(e.Master, master) {
				t.Fatalf("OpenEntry = %+v, %v", e, err)
			}
			for a := range ts {
				if d, ok, err := c.IncludeAttr(e, a); err != nil || !ok || !same(d, cols[a].Get(row)) {
					t.Errorf("IncludeAttr(%d) = %v, %v, %v", a, d, ok, err)
				}
			}
		}
		e, err := OpenEntry(key, AppendEntry(nil, key, master, nil, nil, 0))
		if err != nil || !bytes.Equal(e.Master, master) || e.Include != nil {
			t.Errorf("OpenEntry = %+v, %v", e, err)
		}
	}
}

func TestPretty(t *testing.T) {
	k := mustKeyCodec(t, KeyCol{T: types.TInt4}, KeyCol{T: types.TText, Nullable: true})
	key := k.appendDatums(nil, []types.Datum{types.Int(types.TInt4, 42), types.Text("a/b")})
	if got, want := k.Pretty(append(key, 1, 2)), `/42/"a/b"/0x0102`; got != want {
		t.Errorf("Pretty = %s, want %s", got, want)
	}
	c := NewRowCodec([]types.T{types.TInt4, types.TText})
	cols := []*vec.Vec{NewVec(types.TInt4, 1), nil}
	cols[0].Set(0, types.Int(types.TInt4, 7))
	val := c.Append(nil, cols, 0, key)
	if got, want := c.Pretty(key, val, []string{"a", "b"}), "(a=7, b=NULL)"; got != want {
		t.Errorf("Pretty = %s, want %s", got, want)
	}
	val[4] ^= 1
	if got, want := c.Pretty(key, val, []string{"a", "b"}), "<stored bytes are corrupt: checksum does not match>"; got != want {
		t.Errorf("Pretty = %s, want %s", got, want)
	}
}

func FuzzRowDecode(f *testing.F) {
	ts := rowTypes
	c := NewRowCodec(ts)
	cols := genRows(rand.New(rand.NewPCG(5, 5)), ts, 20)
	for i := range 20 {
		for _, size := range []int{2, 4} {
			body, _ := c.appendEnds(nil, cols, i, size)
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		// The checksum is made to fit: what lies behind it must not panic either.
		key := []byte("k")
		val := seal(bytes.Clone(row), 0, key)
		if e, err := OpenEntry(key, val); err == nil && e.Include != nil {
			for a := range ts {
				_, _, _ = c.IncludeAttr(e, a)
			}
		}
		var rows Rows
		if _, err := c.Load(&rows, [][]byte{key}, [][]byte{val}); err != nil {
			return
		}
		for a, typ := range ts {
			v := NewVec(typ, 1)
			err := c.Column(&rows, a, types.Null(typ), v, 0)
			d, ok, attrErr := c.Attr(val, a)
			// Column looks at the offsets of NULLs as well.
			if err == nil && attrErr != nil || attrErr == nil && err != nil && !d.Null {
				t.Errorf("Column says %v, Attr %v", err, attrErr)
			}
			if err == nil && ok && !same(v.Get(0), d) {
				t.Errorf("attribute %d: Column has %v, Attr %v", a, v.Get(0), d)
			}
		}
	})
}

func BenchmarkRowAppend(b *testing.B) {
	ts := []types.T{types.TInt4, types.TText, numeric(10, 2), types.TDate, types.TInt8}
	c := NewRowCodec(ts)
	cols := genRows(rand.New(rand.NewPCG(6, 6)), ts, 1024)
	key := make([]byte, 8)
	var buf []byte
	for i := range b.N {
		buf = c.Append(buf[:0], cols, i&1023, key)
	}
}

func BenchmarkRowDecodeTwoColumns(b *testing.B) {
	ts := []types.T{types.TInt4, types.TText, types.TInt8, types.TDate, types.TFloat8, types.TText, types.TText}
	c := NewRowCodec(ts)
	cols := genRows(rand.New(rand.NewPCG(6, 6)), ts, 1024)
	long := types.Text("some words to make rows of an ordinary length")
	for i := range 1024 {
		cols[5].Set(i, long)
	}
	keys, vals := encodeRows(c, cols, 1024)
	var rows Rows
	a, d := NewVec(ts[0], 1024), NewVec(ts[2], 1024)
	b.ResetTimer()
	for i := 0; i < b.N; i += 1024 {
		if _, err := c.Load(&rows, keys, vals); err != nil {
			b.Fatal(err)
		}
		a.Nulls.Clear()
		d.Nulls.Clear()
		if err := c.Column(&rows, 0, types.Datum{}, a, 0); err != nil {
			b.Fatal(err)
		}
		if err := c.Column(&rows, 2, types.Datum{}, d, 0); err != nil {
			b.Fatal(err)
		}
	}
}
