package types

import (
	"math/big"
)

// Decimal is PostgreSQL's numeric: an exact decimal number with the number of
// fractional digits it is displayed with, or NaN, or an infinity. The zero
// value is 0. A Decimal is immutable and may be copied.
//
// The value is coef / 10^scale, or big / 10^scale when big is set, which it is
// only if the coefficient does not fit an int64.
type Decimal struct {
	coef  int64
	big   *big.Int
	scale int32
	form  uint8
}

const (
	formFinite uint8 = iota
	formNaN
	formPosInf
	formNegInf
)

// Limits of PostgreSQL's numeric.
const (
	MaxNumericPrecision = 1000   // of a declared numeric(p,s)
	maxNumericDigits    = 131072 // before the decimal point
	maxNumericScale     = 16383  // after it
)

// The special values.
var (
	DecimalNaN    = Decimal{form: formNaN}
	DecimalPosInf = Decimal{form: formPosInf}
	DecimalNegInf = Decimal{form: formNegInf}
)

// NewDecimal returns coef / 10^scale, displayed with scale fractional digits.
func NewDecimal(coef int64, scale int32) Decimal { return Decimal{coef: coef, scale: scale} }

// Small returns the coefficient and scale if the number is finite and the
// coefficient fits an int64.
func (d Decimal) Small() (coef int64, scale int32, ok bool) {
	return d.coef, d.scale, d.big == nil && d.form == formFinite
}

// Scale returns the number of fractional digits displayed.
func (d Decimal) Scale() int32 { return d.scale }

// IsNaN reports whether d is not a number.
func (d Decimal) IsNaN() bool { return d.form == formNaN }

// IsInf reports whether d is an infinity of the sign (0: either).
func (d Decimal) IsInf(sign int) bool {
	return sign >= 0 && d.form == formPosInf || sign <= 0 && d.form == formNegInf
}

// IsFinite reports whether d is neither NaN nor an infinity.
func (d Decimal) IsFinite() bool { return d.form == formFinite }
