package vec

import (
	"fmt"
	"math"
	"testing"

	"kvsqld/catalog/types"
)

// samples has values of every representation, each with duplicates and NULLs.
func samples(t *testing.T) map[string][]types.Datum {
	t.Helper()
	out := map[string][]types.Datum{}
	for typ, texts := range map[types.T][]string{
		types.TBool: {"t", "f", "t"}, types.TInt4: {"1", "-5", "1", "2147483647"}, types.TFloat8: {"1.5", "NaN", "-0", "0", "NaN"},
		types.TNumeric: {"1.0", "1", "12345678901234567890.5", "NaN", "1.00"}, types.TText: {"", "a", "abc", "a"},
		types.TBpchar: {"a", "a ", "b"}, types.TInterval: {"1 mon", "30 days", "1 day"}, types.TInt4Arr: {"{1,NULL}", "{1,NULL}", "{}"},
		types.TTimestamp: {"2001-02-03 04:05", "infinity"}, types.TTimestamptz: {"2001-02-03 04:05+01"}, types.TDate: {"2001-02-03"},
		types.Of(types.OJSONB): {`{"a":1.0}`, `{"a":1}`, `[]`}, types.TTimetz: {"01:00+00", "02:00+01"},
		{OID: types.OBpchar, Mod: 7}: {"a", "abc"}, types.TUUID: {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}, types.TFloat4: {"1.5"},
		types.TInt2: {"7"}, types.TInt8: {"7"}, types.TBytea: {`\x00ff`}, types.TTime: {"04:05"}, types.TOid: {"4294967295"}, types.Of(types.OChar): {`\377`},
	} {
		var ds []types.Datum
		for _, s := range texts {
			d, err := types.Parse(typ, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			ds = append(ds, d, types.Null(typ))
		}
		out[types.FormatType(typ)] = ds
	}
	return out
}

func column(ds []types.Datum) *Vec {
	v := New(ds[0].T, len(ds))
	for i, d := range ds {
		v.Set(i, d)
	}
	return v
}

func same(a, b types.Datum) bool {
	if a.Null || b.Null {
		return a.Null && b.Null
	}
	return string(types.AppendText(nil, a, nil)) == string(types.AppendText(nil, b, nil))
}

func TestRowsKeepTheirValues(t *testing.T) {
	for name, ds := range samples(t) {
		t.Run(name, func(t *testing.T) {
			v := column(ds)
			var rows []uint32
			for i := range ds {
				rows = append(rows, uint32(len(ds)-1-i))
			}
			gathered := New(types.TBool, 0)
			Gather(gathered, v, rows)
			appended := New(ds[0].T, 0)
			b := NewBuilder([]types.T{ds[0].T, types.TInt4})
			var arena Arena
			for i := range ds {
				AppendFrom(appended, i, v, i, &arena)
				b.Append([]types.Datum{ds[i], types.Int(types.TInt4, int64(i))})
			}
			built := b.Finish()
			if built.N != len(ds) || b.Len() != 0 {
				t.Fatalf("built %d rows of %d", built.N, len(ds))
			}
			for i, d := range ds {
				for what, got := range map[string]types.Datum{
					"set": v.Get(i), "gathered": gathered.Get(len(ds) - 1 - i), "appended": appended.Get(i),
					"built": built.Cols[0].Get(i), "constant": NewConst(d).Get(i),
				} {
					if !same(got, d) {
						t.Errorf("%s row %d: %v, want %v", what, i, got, d)
					}
				}
				if d.Null {
					continue
				}
				if got, want := string(AppendText(nil, v, i, nil)), string(types.AppendText(nil, d, nil)); got != want {
					t.Errorf("text %q, want %q", got, want)
				}
				if got, want := fmt.Sprintf("%x", AppendBinary(nil, v, i, nil)), fmt.Sprintf("%x", types.AppendBinary(nil, d)); got != want {
					t.Errorf("binary %s, want %s", got, want)
				}
			}
		})
	}
}

func TestHashAgreesWithEquality(t *testing.T) {
	for name, ds := range samples(t) {
		t.Run(name, func(t *testing.T) {
			v := column(ds)
			all := make([]uint64, len(ds))
			Hash(v, nil, all)
			for i := range ds {
				one := make([]uint64, 1)
				Hash(v, []uint32{uint32(i)}, one)
				if one[0] != all[i] {
					t.Errorf("row %d hashes differently when selected", i)
				}
				one[0] = 0
				if Hash(NewConst(ds[i]), nil, one); one[0] != all[i] {
					t.Errorf("row %d hashes differently as a constant", i)
				}
				for j := range ds {
					eq := EqualRows(v, i, v, j)
					if eq && all[i] != all[j] {
						t.Errorf("rows %d and %d are equal but hash differently", i, j)
					}
					if c := CompareRows(v, i, v, j); (c == 0) != eq || c != types.Compare(ds[i], ds[j]) {
						t.Errorf("rows %d and %d compare as %d, equal %v", i, j, c, eq)
					}
				}
			}
		})
	}
}

func TestNumericForms(t *testing.T) {
	narrow := New(types.TNumeric, 2)
	narrow.SetNarrow(2, 2)
	narrow.I64[0], narrow.I64[1] = 150, math.MaxInt64
	wide := New(types.TNumeric, 3)
	CopyRow(wide, 0, narrow, 0)
	CopyRow(wide, 1, narrow, 1)
	wide.Set(2, types.Datum{T: types.TNumeric, Dec: types.NewDecimal(15, 1)})
	if got := wide.Get(0).Dec.String(); got != "1.50" {
		t.Errorf("copied %s, want 1.50", got)
	}
	if !EqualRows(narrow, 0, wide, 2) {
		t.Error("1.50 and 1.5 differ")
	}
	back := New(types.TNumeric, 3)
	back.SetNarrow(3, 2)
	for i := range 3 {
		CopyRow(back, i, wide, i)
	}
	if back.Narrow() || back.Get(2).Dec.String() != "1.5" || back.Get(0).Dec.String() != "1.50" {
		t.Error("a value of another scale did not widen the vector and keep the rows before it")
	}
	got := New(types.TNumeric, 1)
	if Gather(got, narrow, []uint32{1}); !got.Narrow() || got.I64[0] != math.MaxInt64 || got.Scale != 2 {
		t.Error("gathering lost the narrow form")
	}
}

func TestArenaCopiesStayPut(t *testing.T) {
	var a Arena
	src := []byte("first")
	first := a.Copy(src)
	src[0] = 'X'
	for i := range 5000 {
		a.Copy([]byte(fmt.Sprint("filler ", i)))
	}
	if big := a.Copy(make([]byte, 3<<20)); len(big) != 3<<20 {
		t.Error("a long value was cut")
	}
	if string(first) != "first" {
		t.Errorf("copy became %q", first)
	}
	if _ = append(first, '!'); string(a.Copy([]byte("z"))) != "z" {
		t.Error("appending to a copy reached its neighbour")
	}
}

func BenchmarkAppendText(b *testing.B) {
	v := New(types.TInt4, BatchSize)
	for i := range v.I64 {
		v.I64[i] = int64(i * 7919)
	}
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		for i := range BatchSize {
			buf = AppendText(buf[:0], v, i, types.DefaultFmt)
		}
	}
}
