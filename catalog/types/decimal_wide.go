package types

import (
	"cmp"
	"math"
	"math/bits"
)

// wide is a coefficient of up to 126 bits, so that two of them can be added: those of
// quotients, which do not fit a word, without the allocations of big.Int.
type wide struct {
	hi, lo uint64
	neg    bool
}

// wideOf is the coefficient of a finite number at a scale that is not less than its own.
func (d Decimal) wideOf(scale int32) (w wide, ok bool) {
	if d.big == nil {
		w = wide{lo: absU64(d.coef), neg: d.coef < 0}
	} else {
		w.neg = d.big.Sign() < 0
		if w.hi, w.lo, ok = twoWords(d.big); !ok {
			return w, false
		}
	}
	for k := scale - d.scale; k > 0 && w.hi|w.lo != 0; {
		n := min(k, int32(len(pow10)-1))
		k -= n
		over, top := bits.Mul64(w.hi, uint64(pow10[n]))
		h, l := bits.Mul64(w.lo, uint64(pow10[n]))
		sum, carry := bits.Add64(top, h, 0)
		if over|carry != 0 {
			return w, false
		}
		w.hi, w.lo = sum, l
	}
	return w, w.hi < 1<<62
}

// addWide is d + e, or d - e; ok is false where it takes more bits.
func addWide(d, e Decimal, sub bool) (r Decimal, ok bool) {
	scale := max(d.scale, e.scale)
	x, ok := d.wideOf(scale)
	if !ok {
		return r, false
	}
	y, ok := e.wideOf(scale)
	if !ok {
		return r, false
	}
	y.neg = y.neg != sub
	if x.neg != y.neg {
		if x.compareAbs(y) < 0 {
			x, y = y, x
		}
		lo, borrow := bits.Sub64(x.lo, y.lo, 0)
		hi, _ := bits.Sub64(x.hi, y.hi, borrow)
		return wide{hi, lo, x.neg}.decimal(scale), true
	}
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	hi, _ := bits.Add64(x.hi, y.hi, carry)
	return wide{hi, lo, x.neg}.decimal(scale), true
}

func (w wide) compareAbs(v wide) int {
	return cmp.Or(cmp.Compare(w.hi, v.hi), cmp.Compare(w.lo, v.lo))
}

func (w wide) decimal(scale int32) Decimal {
	if w.hi == 0 && w.lo <= math.MaxInt64 {
		c := int64(w.lo)
		if w.neg {
			c = -c
		}
		return Decimal{coef: c, scale: scale}
	}
	b := bigFromU128(w.hi, w.lo)
	if w.neg {
		b.Neg(b)
	}
	return fromBig(b, scale)
}

// compareWide compares two numbers of one sign; ok is false where it takes more bits.
func compareWide(d, e Decimal) (c int, ok bool) {
	scale := max(d.scale, e.scale)
	x, ok := d.wideOf(scale)
	if !ok {
		return 0, false
	}
	y, ok := e.wideOf(scale)
	if c = x.compareAbs(y); x.neg {
		c = -c
	}
	return c, ok
}
