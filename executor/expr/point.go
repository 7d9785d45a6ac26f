package expr

import (
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// pointEpsilon is how far two coordinates may lie apart and still be equal.
const pointEpsilon = 1e-6

func nearlyEqual(a, b float64) bool { return a == b || math.Abs(a-b) <= pointEpsilon }

// floatResult refuses results that overflow although no operand is infinite,
// and those that underflow.
func floatResult(v float64, operands ...float64) (float64, error) {
	if math.IsInf(v, 0) {
		for _, x := range operands {
			if math.IsInf(x, 0) {
				return v, nil
			}
		}
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "value out of range: overflow")
	}
	return v, nil
}

func pointFuncs(r *registry) {
	pair := func(in []types.Datum) (ax, ay, bx, by float64) {
		ax, ay = types.PointXY(in[0])
		bx, by = types.PointXY(in[1])
		return ax, ay, bx, by
	}
	test := func(f func(ax, ay, bx, by float64) bool, src string) {
		r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) { return types.Bool(f(pair(in))), nil }), src)
	}
	same := func(ax, ay, bx, by float64) bool {
		equal := func(a, b float64) bool { return nearlyEqual(a, b) || a != a && b != b }
		return equal(ax, bx) && equal(ay, by)
	}
	test(func(ax, _, bx, _ float64) bool { return bx-ax > pointEpsilon }, "point_left")
	test(func(ax, _, bx, _ float64) bool { return ax-bx > pointEpsilon }, "point_right")
	test(func(_, ay, _, by float64) bool { return ay-by > pointEpsilon }, "point_above")
	test(func(_, ay, _, by float64) bool { return by-ay > pointEpsilon }, "point_below")
	test(func(ax, _, bx, _ float64) bool { return nearlyEqual(ax, bx) }, "point_vert")
	test(func(_, ay, _, by float64) bool { return nearlyEqual(ay, by) }, "point_horiz")
	test(same, "point_eq")
	test(func(ax, ay, bx, by float64) bool { return !same(ax, ay, bx, by) }, "point_ne")

	number := func(f func(ax, ay, bx, by float64) (float64, error), src string) {
		r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
			v, err := f(pair(in))
			return types.Float(types.TFloat8, v), err
		}), src)
	}
	number(func(ax, ay, bx, by float64) (float64, error) {
		return floatResult(math.Hypot(ax-bx, ay-by), ax, ay, bx, by)
	}, "point_distance")
	number(func(ax, ay, bx, by float64) (float64, error) {
		switch {
		case nearlyEqual(ax, bx):
			return math.Inf(1), nil
		case nearlyEqual(ay, by):
			return 0, nil
		}
		return (ay - by) / (ax - bx), nil
	}, "point_slope")

	point := func(f func(ax, ay, bx, by float64) (x, y float64, err error), src string) {
		r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
			ax, ay, bx, by := pair(in)
			x, y, err := f(ax, ay, bx, by)
			if err == nil {
				x, err = floatResult(x, ax, ay, bx, by)
			}
			if err == nil {
				y, err = floatResult(y, ax, ay, bx, by)
			}
			return types.NewPoint(x, y), err
		}), src)
	}
	point(func(ax, ay, bx, by float64) (float64, float64, error) { return ax + bx, ay + by, nil }, "point_add")
	point(func(ax, ay, bx, by float64) (float64, float64, error) { return ax - bx, ay - by, nil }, "point_sub")
	// As complex numbers: scaling and rotation.
	point(func(ax, ay, bx, by float64) (float64, float64, error) { return ax*bx - ay*by, ax*by + ay*bx, nil }, "point_mul")
	point(func(ax, ay, bx, by float64) (float64, float64, error) {
		div := bx*bx + by*by
		if div == 0 {
			return 0, 0, sqlerr.New(sqlerr.DivisionByZero, "division by zero")
		}
		return (ax*bx + ay*by) / div, (ay*bx - ax*by) / div, nil
	}, "point_div")
	r.add(fn2(func(_ *callCtx, x, y float64) ([]byte, error) { return types.NewPoint(x, y).B, nil }), "construct_point")
}
