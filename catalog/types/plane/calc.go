package plane

import (
	"math"

	"kvsqld/catalog/sqlerr"
)

// Calc does arithmetic. The zero value is ready. After the first fault results
// mean nothing and Err tells what it was.
type Calc struct{ err error }

// Err is the first fault, or nil.
func (c *Calc) Err() error { return c.err }

func (c *Calc) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *Calc) overflow() {
	c.fail(sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow"))
}

func (c *Calc) underflow() {
	c.fail(sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: underflow"))
}

// Results are converted to float64 so that no platform fuses a product with a sum.

// Add is a + b.
func (c *Calc) Add(a, b float64) float64 {
	v := float64(a + b)
	if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		c.overflow()
	}
	return v
}

// Sub is a - b.
func (c *Calc) Sub(a, b float64) float64 { return c.Add(a, -b) }

// Mul is a * b.
func (c *Calc) Mul(a, b float64) float64 {
	v := float64(a * b)
	if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		c.overflow()
	}
	if v == 0 && a != 0 && b != 0 {
		c.underflow()
	}
	return v
}

// Div is a / b.
func (c *Calc) Div(a, b float64) float64 {
	if b == 0 && a == a {
		c.fail(sqlerr.New(sqlerr.DivisionByZero, "division by zero"))
		return 0
	}
	v := float64(a / b)
	if math.IsInf(v, 0) && !math.IsInf(a, 0) {
		c.overflow()
	}
	if v == 0 && a != 0 && !math.IsInf(b, 0) {
		c.underflow()
	}
	return v
}

// Hypot is the length of the vector (x, y), scaled by its longer side so that
// squares neither overflow nor vanish.
func (c *Calc) Hypot(x, y float64) float64 {
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return math.Inf(1)
	}
	if x != x || y != y {
		return math.NaN()
	}
	long, short := math.Abs(x), math.Abs(y)
	if long < short {
		long, short = short, long
	}
	if short == 0 {
		return long
	}
	q := short / long
	v := long * math.Sqrt(1+float64(q*q))
	if math.IsInf(v, 0) {
		c.overflow()
	}
	if v == 0 {
		c.underflow()
	}
	return v
}
