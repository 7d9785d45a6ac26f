package types

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// Columns: function, type, two arguments, answer. Timestamps with time zone
// are in New York's time.
func TestFunctionsLikeServer(t *testing.T) {
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	o := &FmtOpts{Loc: loc, ExtraFloatDigits: 1}
	failed := 0
	for _, c := range tsvCases(t, "functions.tsv") {
		typ := typeRef(t, c[1])
		got := functionCase(c[0], typ, c[2], c[3], o)
		if got != c[4] {
			if failed++; failed < 60 {
				t.Errorf("%s(%s %q, %q) = %s, want %s", c[0], FormatType(typ), c[2], c[3], got, c[4])
			}
		}
	}
	if failed > 0 {
		t.Errorf("%d cases failed", failed)
	}
}

func functionCase(fn string, typ T, a, b string, o *FmtOpts) string {
	text := func(d Datum, err error) string {
		if err != nil {
			return answer("", err)
		}
		if d.Null {
			return "<NULL>"
		}
		return string(AppendText(nil, d, o))
	}
	num := func(t T, v int64, err error) string { return text(Int(t, v), err) }
	span := func(iv Interval, err error) string { return text(Datum{T: TInterval, Iv: iv}, err) }
	if typ.OID == 0 {
		return makeCase(fn, a, o, num, span)
	}
	x, err := Cast(Datum{T: TUnknown, B: []byte(a)}, typ, o, true)
	if err != nil || fn == "in" {
		return text(x, err)
	}
	var loc *time.Location
	if typ.OID == OTimestamptz {
		loc = o.Loc
	}
	var iv Interval
	f, _ := strconv.ParseFloat(b, 64)
	switch fn {
	case "add", "sub", "iadd", "isub", "bin":
		d, err := Parse(TInterval, b, o)
		if err != nil {
			return text(d, err)
		}
		iv = d.Iv
	}
	switch fn {
	case "add":
		v, err := AddInterval(x.I, iv, loc)
		return num(typ, v, err)
	case "sub":
		v, err := SubInterval(x.I, iv, loc)
		return num(typ, v, err)
	case "trunc":
		v, err := DateTrunc(b, x.I, loc)
		return num(typ, v, err)
	case "extract":
		return text(Extract(b, x, o))
	case "part":
		return text(DatePart(b, x, o))
	case "diff", "age", "cmp":
		y, err := Parse(typ, b, o)
		if err != nil {
			return text(y, err)
		}
		switch fn {
		case "diff":
			return span(TimestampSub(x.I, y.I))
		case "age":
			return span(Age(x.I, y.I, loc))
		}
		c := Compare(x, y)
		if eq := Equal(x, y); eq != (c == 0) || eq && Hash(x) != Hash(y) {
			return "inconsistent Equal or Hash"
		}
		return strconv.Itoa(c)
	case "bin":
		origin, _ := Parse(TTimestamp, "2001-01-01 00:02:30", o)
		v, err := DateBin(iv, x.I, origin.I)
		return num(typ, v, err)
	case "itrunc":
		return span(IntervalTrunc(b, x.Iv))
	case "justify_days":
		return span(JustifyDays(x.Iv))
	case "justify_hours":
		return span(JustifyHours(x.Iv))
	case "justify_interval":
		return span(JustifyInterval(x.Iv))
	case "neg":
		return span(x.Iv.Neg())
	case "imul":
		return span(x.Iv.Mul(f))
	case "idiv":
		return span(x.Iv.Div(f))
	case "iadd":
		return span(x.Iv.Add(iv))
	case "isub":
		return span(x.Iv.Sub(iv))
	case "send":
		raw := AppendBinary(nil, x)
		back, err := ParseBinary(typ, raw)
		if err != nil || !Equal(back, x) || text(back, nil) != text(x, nil) {
			return fmt.Sprintf("read back as %s (%v)", text(back, err), err)
		}
		return hex.EncodeToString(raw)
	}
	return "unknown function"
}

func makeCase(fn, a string, o *FmtOpts, num func(T, int64, error) string, span func(Interval, error) string) string {
	var v [7]int32
	var sec float64
	switch fn {
	case "make_date":
		fmt.Sscanf(a, "%d,%d,%d", &v[0], &v[1], &v[2])
		d, err := MakeDate(v[0], v[1], v[2])
		return num(TDate, d, err)
	case "make_time":
		fmt.Sscanf(a, "%d,%d,%g", &v[0], &v[1], &sec)
		d, err := MakeTime(v[0], v[1], sec)
		return num(TTime, d, err)
	case "make_interval":
		fmt.Sscanf(a, "%d,%d,%d,%d,%d,%d,%g", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &sec)
		return span(MakeInterval(v[0], v[1], v[2], v[3], v[4], v[5], sec))
	}
	fmt.Sscanf(a, "%d,%d,%d,%d,%d,%g", &v[0], &v[1], &v[2], &v[3], &v[4], &sec)
	if fn == "make_timestamp" {
		d, err := MakeTimestamp(v[0], v[1], v[2], v[3], v[4], sec)
		return num(TTimestamp, d, err)
	}
	d, err := MakeTimestamp(v[0], v[1], v[2], v[3], v[4], sec)
	if err == nil {
		d, err = TimestampToTimestamptz(d, o.Loc)
	}
	return num(TTimestamptz, d, err)
}
