package types

import (
	"math"
	"testing"
	"time"

	"kvsqld/catalog/sqlerr"
)

func TestBuiltinTypes(t *testing.T) {
	for _, in := range All() {
		if Lookup(in.OID) != in {
			t.Errorf("%s is not found by its OID", in.Name)
		}
		if in.Kind == KInvalid {
			t.Errorf("%s has no kind", in.Name)
		}
		if in.Category == 'A' && in.Type == 'b' && (in.Kind != KArray || Lookup(in.Elem) == nil) {
			t.Errorf("array type %s is not complete", in.Name)
		}
	}
	for name, want := range map[string]OID{
		"int4": OInt4, "integer": OInt4, "int": OInt4, "_int4": OInt4Arr, "integer[]": OInt4Arr, "int[][]": OInt4Arr, "char": OChar, "character": OBpchar,
		`"char"`: OChar, "double precision": OFloat8, "timestamp with time zone": OTimestamptz, "decimal": ONumeric, "character varying": OVarchar,
		"int2vector": OInt2Vector, "time": OTime, "pg_class": 83,
	} {
		if in := ByName(name); in == nil || in.OID != want {
			t.Errorf("ByName(%q) = %v, want %d", name, in, want)
		}
	}
	if ByName("nosuch") != nil || Lookup(999999) != nil || Lookup(5999) != nil {
		t.Error("an unknown type was found")
	}
	for o, k := range map[OID]Kind{OInt2Vector: KArray, OChar: KText, OName: KText, 83: KRecord, OXid: KOid, OAny: KPseudo, 3904: KRange} {
		if got := Of(o).Kind(); got != k {
			t.Errorf("kind of %d is %d, want %d", o, got, k)
		}
	}
}

func TestFormatType(t *testing.T) {
	for _, c := range []struct {
		oid  OID
		mod  int32
		want string
	}{
		{1043, -1, `character varying`}, {1043, 9, `character varying(5)`}, {1042, -1, `bpchar`}, {1042, 9, `character(5)`}, {1560, -1, `"bit"`},
		{1560, 3, `bit(3)`}, {1562, 3, `bit varying(3)`}, {1700, -1, `numeric`}, {1700, 327686, `numeric(5,2)`}, {1700, 329730, `numeric(5,-2)`},
		{1083, 3, `time(3) without time zone`}, {1266, 3, `time(3) with time zone`}, {1114, 0, `timestamp(0) without time zone`},
		{1184, 6, `timestamp(6) with time zone`}, {1114, -1, `timestamp without time zone`}, {1186, -1, `interval`}, {1186, 327679, `interval year`},
		{1186, 470286339, `interval day to second(3)`}, {1186, 2147418114, `interval(2)`}, {1007, -1, `integer[]`}, {1015, 9, `character varying(5)[]`},
		{1231, 327686, `numeric(5,2)[]`}, {22, -1, `int2vector`}, {30, -1, `oidvector`}, {1006, -1, `int2vector[]`}, {18, -1, `"char"`}, {1002, -1, `"char"[]`},
		{2249, -1, `record`}, {2278, -1, `void`}, {705, -1, `unknown`}, {2205, -1, `regclass`}, {19, -1, `name`}, {0, -1, `-`}, {999999, -1, `???`},
		{1561, 5, `bit(5)[]`}, {1014, 8, `character(4)[]`},
	} {
		if got := FormatType(T{OID: c.oid, Mod: c.mod}); got != c.want {
			t.Errorf("format_type(%d, %d) = %s, want %s", c.oid, c.mod, got, c.want)
		}
	}
}

func TestTypmodIn(t *testing.T) {
	for _, c := range []struct {
		oid  OID
		mods []int
		want int32
		msg  string
	}{
		{OVarchar, []int{5}, 9, ""}, {OVarchar, []int{0}, -1, "length for type varchar must be at least 1"},
		{OBpchar, []int{10485761}, -1, "length for type char cannot exceed 10485760"}, {OBit, []int{3}, 3, ""},
		{ONumeric, []int{5, 2}, 327686, ""}, {ONumeric, []int{5, -2}, 329730, ""}, {ONumericArr, []int{5, 2}, 327686, ""},
		{ONumeric, []int{1001}, -1, "NUMERIC precision 1001 must be between 1 and 1000"}, {ONumeric, []int{5, 1001}, -1, "NUMERIC scale 1001 must be between -1000 and 1000"},
		{ONumeric, []int{1, 2, 3}, -1, "invalid NUMERIC type modifier"}, {OTimestamp, []int{9}, 6, ""}, {OTimetz, []int{-1}, -1, "TIME(-1) WITH TIME ZONE precision must not be negative"},
		{OInterval, []int{fieldYear}, 327679, ""}, {OInterval, []int{IntervalAllFields}, -1, ""}, {OInt4, []int{1}, -1, `type modifier is not allowed for type "integer"`},
	} {
		got, err := TypmodIn(c.oid, c.mods)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if got != c.want || msg != c.msg {
			t.Errorf("TypmodIn(%d, %v) = %d %q, want %d %q", c.oid, c.mods, got, msg, c.want, c.msg)
		}
	}
}

// Assignment and input refuse what an explicit cast cuts.
func TestApplyModImplicit(t *testing.T) {
	for _, c := range []struct {
		typ  T
		in   string
		want string
	}{
		{T{OID: OVarchar, Mod: 6}, "abc", "ERROR 22001 value too long for type character varying(2)"}, {T{OID: OVarchar, Mod: 6}, "ab   ", "ab"},
		{T{OID: OBpchar, Mod: 6}, "abc", "ERROR 22001 value too long for type character(2)"}, {T{OID: OBpchar, Mod: 8}, "é ", "é   "},
		{T{OID: OBit, Mod: 3}, "10", "ERROR 22026 bit string length 2 does not match type bit(3)"},
		{T{OID: OVarbit, Mod: 3}, "1010", "ERROR 22001 bit string too long for type bit varying(3)"},
		{T{OID: ONumeric, Mod: 327686}, "1000", "ERROR 22003 numeric field overflow | A field with precision 5, scale 2 must round to an absolute value less than 10^3."},
		{T{OID: OTextArr, Mod: -1}, "{abc}", "{abc}"}, {T{OID: OVarcharArr, Mod: 6}, "{abc}", "ERROR 22001 value too long for type character varying(2)"},
	} {
		d, err := Parse(c.typ, c.in, nil)
		got := answer("", err)
		if err == nil {
			got = string(AppendText(nil, d, nil))
		}
		if got != c.want {
			t.Errorf("%s %q = %s, want %s", FormatType(c.typ), c.in, got, c.want)
		}
	}
}

func TestExtraFloatDigits(t *testing.T) {
	for _, c := range []struct {
		f     float64
		bits  int
		extra int
		want  string
	}{
		{0.1, 64, 0, "0.1"}, {1.0 / 3, 64, 0, "0.333333333333333"}, {1.0 / 3, 64, -10, "0.33333"}, {1.0 / 3, 64, 1, "0.3333333333333333"},
		{float64(float32(1.0 / 3)), 32, 0, "0.333333"}, {float64(float32(1.0 / 3)), 32, 1, "0.33333334"}, {1e20, 64, 0, "1e+20"}, {1e15, 64, 1, "1e+15"},
		{1e14, 64, 1, "100000000000000"}, {0.0001, 64, 1, "0.0001"}, {0.00001, 64, 1, "1e-05"}, {math.Copysign(0, -1), 64, 1, "-0"}, {1e6, 32, 1, "1e+06"},
		{-4.7620075329261264e16, 64, 1, "-4.7620075329261264e+16"},
	} {
		if got := string(appendFloat(nil, c.f, c.bits, c.extra)); got != c.want {
			t.Errorf("%v (%d bits, extra %d) = %s, want %s", c.f, c.bits, c.extra, got, c.want)
		}
	}
}

func TestZones(t *testing.T) {
	at := time.Date(2001, 7, 3, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]int{
		"UTC": 0, "europe/berlin": 7200, "+02": 7200, "-5.5": -19800, "UTC-3": 10800, "<+03>-3": 10800, "EST5EDT": -14400, "EST": -18000, "5": 18000,
		"posix/Europe/Berlin": 7200, "Zulu": 0,
	} {
		loc, err := LoadZone(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, off := at.In(loc).Zone(); off != want {
			t.Errorf("%s is %d seconds east, want %d", name, off, want)
		}
	}
	for name, want := range map[string]int{"PDT": -25200, "+3": -10800, "FOO+3": -10800, "America/New_York": -14400} {
		loc, err := AtZone(name)
		if err != nil {
			t.Errorf("AT TIME ZONE %s: %v", name, err)
			continue
		}
		if _, off := at.In(loc).Zone(); off != want {
			t.Errorf("AT TIME ZONE %s is %d seconds east, want %d", name, off, want)
		}
	}
	if _, err := LoadZone("Z"); err == nil {
		t.Error("an abbreviation is taken for a zone")
	}
	for _, name := range []string{"", "XYZ", "../etc/passwd", "Local", "America"} {
		if _, err := AtZone(name); sqlerr.CodeOf(err) != sqlerr.InvalidParameterValue {
			t.Errorf("AT TIME ZONE %q: %v", name, err)
		}
	}
}

func TestRange(t *testing.T) {
	one, two := Int(TInt4, 1), Int(TInt4, 2)
	for _, c := range []struct {
		r     Range
		empty bool
	}{
		{Range{}, false}, {Range{Lo: &two, Hi: &one, LoInc: true, HiInc: true}, true}, {Range{Lo: &one, Hi: &one, LoInc: true}, true},
		{Range{Lo: &one, Hi: &one, LoInc: true, HiInc: true}, false}, {Range{Lo: &two, Hi: &one, WithNull: true}, false}, {Range{Lo: &two}, false},
	} {
		if got := c.r.Empty(); got != c.empty {
			t.Errorf("%+v empty: %v", c.r, got)
		}
	}
	if (&Range{Eq: []Datum{one}}).Bounded() || !(&Range{NotNull: true}).Bounded() {
		t.Error("points and bounded ranges are not told apart")
	}
}

func TestHostileArrays(t *testing.T) {
	for name, b := range map[string]string{
		"lying dimensions":    "\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x17\x7f\xff\xff\xff\x00\x00\x00\x01\x7f\xff\xff\xff\x00\x00\x00\x01",
		"many dimensions":     "\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x17",
		"negative dimensions": "\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x17",
		"short element":       "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x17\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x04\x00",
		"other element type":  "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19",
		"trailing bytes":      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x17\x00",
	} {
		if d, err := ParseBinary(TInt4Arr, []byte(b)); err == nil {
			t.Errorf("%s: read as %s", name, AppendText(nil, d, nil))
		}
	}
}

func TestRecordText(t *testing.T) {
	d := NewRecord([]Datum{Int(TInt4, 7), Text(`a "b" \,`), Null(TText), Text(""), Bool(true)})
	if got, want := string(AppendText(nil, d, nil)), `(7,"a ""b"" \\,",,"",t)`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name string
		typ  T
		in   string
	}{{"int4", TInt4, "123456"}, {"numeric", TNumeric, "12345.67"}, {"timestamp", TTimestamp, "2001-02-03 04:05:06.789"}, {"float8", TFloat8, "1234.5678"}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(c.typ, c.in, DefaultFmt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecimal(b *testing.B) {
	x, y := NewDecimal(1234567, 2), NewDecimal(98765, 3)
	b.ReportAllocs()
	for b.Loop() {
		s := x.Add(y)
		p, _ := s.Mul(y)
		q, _ := p.Div(x)
		if q.Cmp(s) == 0 {
			b.Fatal("unexpected")
		}
	}
}
