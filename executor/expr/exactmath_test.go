package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The references below sum the functions' power series with 400 bits.

func bigF(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }

// series sums terms until they no longer count; next makes term n of the one before.
func series(first *big.Float, next func(t *big.Float, n int64) *big.Float) *big.Float {
	sum, t := new(big.Float).SetPrec(400).Set(first), first
	for n := int64(1); n < 3000; n++ {
		t = next(t, n)
		if t.Sign() == 0 || t.MantExp(nil) < sum.MantExp(nil)-300 {
			break
		}
		sum.Add(sum, t)
	}
	return sum
}

func quoInt(a *big.Float, n int64) *big.Float {
	return new(big.Float).SetPrec(400).Quo(a, new(big.Float).SetInt64(n))
}

func mulBig(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(400).Mul(a, b) }

func bigExp(x *big.Float) *big.Float {
	return series(bigF(1), func(t *big.Float, n int64) *big.Float { return quoInt(mulBig(t, x), n) })
}

func bigSin(x *big.Float) *big.Float {
	sq := mulBig(x, x)
	sq.Neg(sq)
	return series(x, func(t *big.Float, n int64) *big.Float { return quoInt(mulBig(t, sq), 2*n*(2*n+1)) })
}

// inverse reports whether got is the float nearest to the argument at which
// the increasing function f takes the value y.
func inverse(f func(*big.Float) *big.Float, y, got float64) bool {
	between := func(a, b float64) *big.Float {
		s := new(big.Float).SetPrec(400).Add(bigF(a), bigF(b))
		return s.Quo(s, bigF(2))
	}
	lo, hi := between(math.Nextafter(got, math.Inf(-1)), got), between(got, math.Nextafter(got, math.Inf(1)))
	return f(lo).Cmp(bigF(y)) <= 0 && f(hi).Cmp(bigF(y)) >= 0
}

func TestExactMath(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	nearest := func(x *big.Float) float64 { f, _ := x.Float64(); return f }
	for range 2000 {
		x := (rnd.Float64() - 0.5) * math.Pow(10, float64(rnd.IntN(5)-2))
		if got, want := exactExp(x), nearest(bigExp(bigF(x))); got != want {
			t.Errorf("exp(%v) is %v, not %v", x, got, want)
		}
		if got, want := exactSin(x), nearest(bigSin(bigF(x))); got != want {
			t.Errorf("sin(%v) is %v, not %v", x, got, want)
		}
		if y := math.Abs(x); y != 0 && !inverse(bigExp, y, exactLog(y)) {
			t.Errorf("ln(%v) is not %v", y, exactLog(y))
		}
		if y := math.Mod(x, 1); !inverse(bigSin, y, exactAsin(y)) {
			t.Errorf("asin(%v) is not %v", y, exactAsin(y))
		}
		cube := func(a *big.Float) *big.Float { return mulBig(a, mulBig(a, a)) }
		if !inverse(cube, x, exactCbrt(x)) {
			t.Errorf("cbrt(%v) is not %v", x, exactCbrt(x))
		}
		sinh := func(a *big.Float) *big.Float {
			up := bigExp(a)
			d := new(big.Float).SetPrec(400).Sub(up, new(big.Float).SetPrec(400).Quo(bigF(1), up))
			return d.Quo(d, bigF(2))
		}
		// The formula may be two bits off, as C libraries are.
		y := math.Mod(x, 20)
		if got, want := cSinh(y), nearest(sinh(bigF(y))); math.Abs(got-want) > 4.5e-16*math.Abs(want) {
			t.Errorf("sinh(%v) is %v, not %v", y, got, want)
		}
	}
}

// The relations between the functions hold to the last bit or two.
func TestExactMathRelations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	near := func(what string, x, a, b float64) {
		if math.Abs(a-b) > 1e-15*max(math.Abs(a), math.Abs(b)) {
			t.Errorf("%s of %v: %v and %v", what, x, a, b)
		}
	}
	for range 2000 {
		x := (rnd.Float64() - 0.5) * math.Pow(10, float64(rnd.IntN(40)-9))
		near("tan", x, exactTan(x), exactSin(x)/exactCos(x))
		near("tanh", x, cTanh(x), math.Tanh(x))
		near("atan", x, exactAtan(x), math.Atan(x))
		near("atan2", x, exactAtan2(x, -0.5), math.Atan2(x, -0.5))
		if a := math.Abs(x); a < 1 {
			near("acos", x, exactAcos(x), math.Pi/2-exactAsin(x))
		} else if a < 300 {
			near("cosh", a, cCosh(a), math.Sqrt(1+cSinh(a)*cSinh(a)))
		}
		near("log10", x, cLog10(math.Abs(x)), math.Log10(math.Abs(x)))
	}
	for _, c := range []struct{ got, want float64 }{
		{exactPow(5e-324, 0.1), 4.6706622762338734e-33}, {exactPow(10, 22), 1e22}, {exactPow(2, -1074), 5e-324}, {exactPow(2, 0.5), math.Sqrt2},
		{exactPow(-2, 3), -8}, {exactPow(1<<27+1, 2), 1<<54 + 1<<28}, {exactPow(10, 308), 1e308}, {cLog10(1000), 3}, {exactLog(5e-324), -744.4400719213812},
		{exactExp(-745), 5e-324}, {exactSin(1e22), -0.8522008497671888}, {exactExp(1), math.E}, {exactCbrt(-27), -3},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// The quick results are as near to those with all bits as they say.
func TestQuickMath(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	off := func(what string, x float64, got, want double, err float64) {
		if d := math.Abs(got.sub(want).h); !(d <= err/4) {
			t.Fatalf("%s of %v: %v, %v", what, x, got, want)
		}
	}
	slow := 0
	const times = 50_000
	for i := range times {
		x := (rnd.Float64() - 0.5) * math.Pow(10, float64(rnd.IntN(6)-3))
		if i%5 == 0 { // near the places where a table's entry or a piece changes
			x = float64(rnd.IntN(2000)-1000)*math.Pi/512 + rnd.NormFloat64()*math.Pow(10, -float64(rnd.IntN(14)))
		}
		if s, c, ok := sincosQuick(x); ok {
			ws, wc := sincos(x)
			off("sin", x, s, ws, math.Abs(ws.h)*quickError)
			off("cos", x, c, wc, math.Abs(wc.h)*quickError)
			if !s.settled(s.h * quickError) {
				slow++
			}
		} else {
			slow++
		}
		if math.Abs(x) < 700 {
			m, k := expQuick(x)
			wm, wk := double{h: x}.exp()
			off("exp", x, m.times(math.Ldexp(1, k-wk)), wm, wm.h*quickError)
		}
		p := math.Abs(x) * math.Pow(2, float64(rnd.IntN(1800)-900))
		if i%3 == 0 {
			p = 1 + x*1e-3
		}
		if y, err := logQuick(p); p > 0 {
			off("ln", p, y, double{h: p}.log(), err)
		}
		y := rnd.NormFloat64()
		if a, ok := atan2Quick(double{h: y}, double{h: x}); ok {
			w := atan2(double{h: y}, double{h: x})
			off("atan2", y, a, w, math.Abs(w.h)*quickError)
		}
		if x = math.Mod(x, 1); math.Abs(x) > tiny {
			if a, ok := atan2Quick(cathetus(x), double{h: x}); ok {
				w := atan2(cathetus(x), double{h: x})
				off("acos", x, a, w, w.h*quickError)
			}
		}
	}
	if slow > times/50 {
		t.Errorf("%d of %d are computed twice", slow, times)
	}
}

func BenchmarkExactMath(b *testing.B) {
	for _, f := range []struct {
		name string
		f    func(float64) float64
	}{{"exp", exactExp}, {"ln", exactLog}, {"sin", exactSin}, {"atan", exactAtan}, {"cbrt", exactCbrt}} {
		b.Run(f.name, func(b *testing.B) {
			s := 0.0
			for i := range b.N {
				s += f.f(float64(i%1000)*0.001 + 0.3)
			}
			sink = s
		})
	}
}

var sink float64
