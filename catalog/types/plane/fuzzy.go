package plane

import "math"

// Epsilon is how far two coordinates may lie apart and still be equal.
const Epsilon = 1e-6

// Zero reports whether a is zero, nearly.
func Zero(a float64) bool { return math.Abs(a) <= Epsilon }

// Eq reports whether a and b are equal, nearly; infinities equal themselves.
func Eq(a, b float64) bool { return a == b || math.Abs(a-b) <= Epsilon }

// Ne is no complement of Eq where a number is NaN: then both are false.
func Ne(a, b float64) bool { return a != b && math.Abs(a-b) > Epsilon }

// Lt reports whether a is clearly below b.
func Lt(a, b float64) bool { return a+Epsilon < b }

// Le reports whether a is below b or nearly equal.
func Le(a, b float64) bool { return a <= b+Epsilon }

// Gt reports whether a is clearly above b.
func Gt(a, b float64) bool { return a > b+Epsilon }

// Ge reports whether a is above b or nearly equal.
func Ge(a, b float64) bool { return a+Epsilon >= b }

// less orders exactly, with NaN above all numbers.
func less(a, b float64) bool { return a < b || a == a && b != b }

// least and greatest keep the order of less.
func least(a, b float64) float64 {
	if less(a, b) {
		return a
	}
	return b
}

func greatest(a, b float64) float64 {
	if less(b, a) {
		return a
	}
	return b
}
