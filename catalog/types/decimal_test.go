package types

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	mrand "math/rand"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"kvsqld/catalog/sqlerr"
)

// tsvCases reads a table of cases whose last column is PostgreSQL 15's answer:
// a value's text, or "ERROR sqlstate message | detail".
func tsvCases(t *testing.T, file string) [][]string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	un := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range f {
			f[i] = un.Replace(f[i])
		}
		out = append(out, f)
	}
	return out
}

// answer renders a result or an error as the tables do.
func answer(s string, err error) string {
	if err == nil {
		return s
	}
	e, ok := err.(*sqlerr.Error)
	if !ok {
		return "not a SQL error: " + err.Error()
	}
	s = fmt.Sprintf("ERROR %s %s", e.Code, e.Message)
	if e.Detail != "" {
		s += " | " + e.Detail
	}
	return s
}

func TestDecimalLikeServer(t *testing.T) {
	failed := 0
	for _, c := range tsvCases(t, "numeric.tsv") {
		got := decimalCase(c[0], c[1], c[2])
		if got != c[3] {
			if failed++; failed < 40 {
				t.Errorf("%s(%s, %s) = %.200s, want %.200s", c[0], c[1], c[2], got, c[3])
			}
		}
	}
	if failed > 0 {
		t.Errorf("%d cases failed", failed)
	}
}

func decimalCase(op, a, b string) string {
	if op == "fromfloat" {
		f, _ := strconv.ParseFloat(a, 64)
		return DecimalFromFloat(f).String()
	}
	if op == "fromfloat4" {
		f, _ := strconv.ParseFloat(a, 32)
		return DecimalFromFloat4(f).String()
	}
	x, err := ParseDecimal(a)
	if err != nil || op == "parse" {
		return answer(x.String(), err)
	}
	var n, m int32
	var y Decimal
	switch op {
	case "round", "trunc":
		v, _ := strconv.Atoi(b)
		n = int32(v)
	case "rescale":
		fmt.Sscanf(b, "%d,%d", &n, &m)
	default:
		if b != "" {
			if y, err = ParseDecimal(b); err != nil {
				return err.Error()
			}
		}
	}
	num := func(d Decimal, err error) string { return answer(d.String(), err) }
	integer := func(v int64, err error) string { return answer(strconv.FormatInt(v, 10), err) }
	switch op {
	case "add":
		return x.Add(y).String()
	case "sub":
		return x.Sub(y).String()
	case "mul":
		return num(x.Mul(y))
	case "div":
		return num(x.Div(y))
	case "mod":
		return num(x.Mod(y))
	case "divtrunc":
		return num(x.DivTrunc(y))
	case "cmp":
		return strconv.Itoa(x.Cmp(y))
	case "pow":
		return num(x.Power(y))
	case "log":
		return num(y.Log(x))
	case "neg":
		return x.Neg().String()
	case "abs":
		return x.Abs().String()
	case "ceil":
		return x.Ceil().String()
	case "floor":
		return x.Floor().String()
	case "sqrt":
		return num(x.Sqrt())
	case "exp":
		return num(x.Exp())
	case "ln":
		return num(x.Ln())
	case "log10":
		return num(x.Log10())
	case "int8":
		return integer(x.ToInt64())
	case "int4":
		return integer(x.toInt(math.MinInt32, math.MaxInt32, "integer"))
	case "float":
		f, err := x.toFloat(64)
		return answer(string(appendFloat(nil, f, 64, 1)), err)
	case "float4":
		f, err := x.toFloat(32)
		return answer(string(appendFloat(nil, f, 32, 1)), err)
	case "trim":
		return x.TrimScale().String()
	case "minscale":
		return strconv.Itoa(int(x.MinScale()))
	case "sign":
		if x.IsNaN() {
			return "NaN"
		}
		return strconv.Itoa(x.Sign())
	case "round":
		return x.Round(n).String()
	case "trunc":
		return x.Trunc(n).String()
	case "rescale":
		return num(x.Rescale(n, m))
	case "send":
		raw := x.AppendBinary(nil)
		if back, err := ParseDecimalBinary(raw); err != nil || back.String() != x.String() {
			return fmt.Sprintf("read back as %s (%v)", back, err)
		}
		return hex.EncodeToString(raw)
	}
	return "unknown operation"
}

// TestLnAgreesWithTheLibrary compares with a slow library at many magnitudes and
// lengths.
func TestLnAgreesWithTheLibrary(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 9))
	for range 400 {
		text := make([]byte, 1+rnd.IntN(50))
		for i := range text {
			text[i] = byte('0' + rnd.IntN(10))
		}
		text[0] = byte('1' + rnd.IntN(9))
		d, err := ParseDecimal(fmt.Sprintf("%se%d", text, rnd.IntN(120)-80))
		if err != nil {
			t.Fatal(err)
		}
		if rnd.IntN(4) == 0 { // near to 1
			d = NewDecimal(1, 0).Add(NewDecimal(int64(rnd.IntN(2001)-1000), int32(3+rnd.IntN(25))))
			if d.Sign() <= 0 {
				continue
			}
		}
		got, err := d.Ln()
		if err != nil {
			t.Fatal(err)
		}
		var r apd.Decimal
		if _, err := apd.BaseContext.WithPrecision(90).Ln(&r, d.toAPD()); err != nil {
			t.Fatal(err)
		}
		if want := fromAPD(&r, got.scale); got.Cmp(want) != 0 {
			t.Errorf("ln(%s) = %s, not %s", d.AppendText(nil), got.AppendText(nil), want.AppendText(nil))
		}
	}
}

func BenchmarkLn(b *testing.B) {
	d := NewDecimal(123456789, 3)
	for b.Loop() {
		if _, err := d.Ln(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBigOf: numbers of up to and beyond two words are those of their digits.
func TestBigOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		digits := make([]byte, 1+r.IntN(60))
		for i := range digits {
			digits[i] = "0123456789999"[r.IntN(13)]
		}
		want, _ := new(big.Int).SetString(string(digits), 10)
		if got := bigOf(digits); got.Cmp(want) != 0 {
			t.Fatalf("%s: %s", digits, got)
		}
	}
}

// TestTwoWords: numbers of up to and beyond two words are printed and become floats as
// by the general way.
func TestTwoWords(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		digits := make([]byte, 1+r.IntN(45))
		zeros := r.IntN(2 * len(digits)) // from there on
		for i := range digits {
			digits[i] = '0'
			if i < zeros {
				digits[i] = "0123456789"[r.IntN(10)]
			}
		}
		b, _ := new(big.Int).SetString(string(digits), 10)
		if r.IntN(2) == 0 {
			b.Neg(b)
		}
		d := fromBig(new(big.Int).Set(b), int32(r.IntN(30)))
		want := string(insertPoint(b.Append(nil, 10), 0, int(d.scale)))
		if got := d.String(); got != want {
			t.Fatalf("%s for %s", got, want)
		}
		f, _ := strconv.ParseFloat(want, 64)
		if got, err := d.toFloat(64); got != f || err != nil {
			t.Fatalf("%s: %v, not %v", want, got, f)
		}
	}
}

// TestWide: sums, differences and comparisons of numbers of two words are those of
// big.Int.
func TestWide(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	number := func() Decimal {
		b := new(big.Int).Rand(mrand.New(mrand.NewSource(r.Int64())), new(big.Int).Lsh(big.NewInt(1), uint(1+r.IntN(130))))
		if r.IntN(2) == 0 {
			b.Neg(b)
		}
		return fromBig(b, int32(r.IntN(25)))
	}
	for range 20000 {
		d, e := number(), number()
		if r.IntN(5) == 0 {
			e = d.Add(NewDecimal(int64(r.IntN(3)-1), 0))
		}
		x, y := alignBig(d, e)
		scale := max(d.scale, e.scale)
		for _, c := range []struct{ got, want Decimal }{
			{d.Add(e), fromBig(new(big.Int).Add(x, y), scale)}, {d.Sub(e), fromBig(new(big.Int).Sub(x, y), scale)},
		} {
			if c.got.String() != c.want.String() || (c.got.big == nil) != (c.want.big == nil) {
				t.Fatalf("%s and %s: %s, not %s", d, e, c.got, c.want)
			}
		}
		if c := d.Cmp(e); c != x.Cmp(y) {
			t.Fatalf("%s compared with %s: %d", d, e, c)
		}
	}
}

func BenchmarkQuotientToFloat(b *testing.B) {
	d, err := ParseDecimal("47.000079190000000000000000")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if d.ToFloat() < 47 {
			b.Fatal()
		}
	}
}

func BenchmarkParseQuotient(b *testing.B) {
	for b.Loop() {
		if _, err := ParseDecimal("14285.7142857142857143"); err != nil {
			b.Fatal(err)
		}
	}
}
