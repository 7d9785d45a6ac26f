package expr

import (
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/plane"
)

// The functions and operators of the geometric types are those of package plane,
// read from and written into datums. An arithmetic fault is the function's error.

// geo1 registers a function of one value.
func geo1[A, R any](r *registry, a func(types.Datum) A, out func(R) types.Datum, f func(c *plane.Calc, a A) R, srcs ...string) {
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
		var c plane.Calc
		v := f(&c, a(in[0]))
		if err := c.Err(); err != nil {
			return null, err
		}
		return out(v), nil
	}), srcs...)
}

// geo2 registers a function of two values.
func geo2[A, B, R any](r *registry, a func(types.Datum) A, b func(types.Datum) B, out func(R) types.Datum, f func(c *plane.Calc, a A, b B) R, srcs ...string) {
	geoMaybe(r, a, b, out, func(c *plane.Calc, x A, y B) (R, bool) { return f(c, x, y), true }, srcs...)
}

// geoMaybe registers a function of two values that is NULL for some.
func geoMaybe[A, B, R any](r *registry, a func(types.Datum) A, b func(types.Datum) B, out func(R) types.Datum, f func(c *plane.Calc, a A, b B) (R, bool), srcs ...string) {
	r.add(fnD(func(call *callCtx, in []types.Datum) (types.Datum, error) {
		var c plane.Calc
		v, ok := f(&c, a(in[0]), b(in[1]))
		if err := c.Err(); err != nil {
			return null, err
		}
		if !ok {
			return types.Null(call.call.T), nil
		}
		return out(v), nil
	}), srcs...)
}

// geoBoth registers a function of two values under one name and with its arguments
// exchanged under another.
func geoBoth[A, B, R any](r *registry, a func(types.Datum) A, b func(types.Datum) B, out func(R) types.Datum, f func(c *plane.Calc, a A, b B) R, src, swapped string) {
	geo2(r, a, b, out, f, src)
	geo2(r, b, a, out, func(c *plane.Calc, y B, x A) R { return f(c, x, y) }, swapped)
}

func float8Datum(v float64) types.Datum { return types.Float(types.TFloat8, v) }

func countDatum(n int) types.Datum { return types.Int(types.TInt4, int64(n)) }

// sized are the comparisons of values by their size.
func sized[A any](r *registry, a func(types.Datum) A, size func(c *plane.Calc, a A) float64, names map[string]func(a, b float64) bool) {
	for src, holds := range names {
		geo2(r, a, a, types.Bool, func(c *plane.Calc, x, y A) bool { return holds(size(c, x), size(c, y)) }, src)
	}
}

// closest makes a function that is NULL where there is no closest point of what
// nearest looks at: its distance is NaN.
func closest[A, B any](nearest func(c *plane.Calc, on B, to A) (plane.Point, float64)) func(c *plane.Calc, to A, on B) (plane.Point, bool) {
	return func(c *plane.Calc, to A, on B) (plane.Point, bool) {
		p, d := nearest(c, on, to)
		return p, !math.IsNaN(d)
	}
}

// away makes the distance of a function that finds the nearest point.
func away[A, B any](nearest func(c *plane.Calc, on B, to A) (plane.Point, float64)) func(c *plane.Calc, to A, on B) float64 {
	return func(c *plane.Calc, to A, on B) float64 {
		_, d := nearest(c, on, to)
		return d
	}
}

// moves are the functions that move and turn a shape by a point, with the endings of
// their names.
var moves = []struct {
	name string
	move func(c *plane.Calc, p, by plane.Point) plane.Point
}{
	{"add", (*plane.Calc).Move}, {"sub", (*plane.Calc).MoveBack}, {"mul", (*plane.Calc).Turn}, {"div", (*plane.Calc).TurnBack},
}

func pointFuncs(r *registry) {
	test := func(f func(p, q plane.Point) bool, src string) {
		geo2(r, types.PointOf, types.PointOf, types.Bool, func(_ *plane.Calc, p, q plane.Point) bool { return f(p, q) }, src)
	}
	test(func(p, q plane.Point) bool { return plane.Lt(p.X, q.X) }, "point_left")
	test(func(p, q plane.Point) bool { return plane.Gt(p.X, q.X) }, "point_right")
	test(func(p, q plane.Point) bool { return plane.Gt(p.Y, q.Y) }, "point_above")
	test(func(p, q plane.Point) bool { return plane.Lt(p.Y, q.Y) }, "point_below")
	test(func(p, q plane.Point) bool { return plane.Eq(p.X, q.X) }, "point_vert")
	test(func(p, q plane.Point) bool { return plane.Eq(p.Y, q.Y) }, "point_horiz")
	test(plane.Point.Equal, "point_eq")
	test(func(p, q plane.Point) bool { return !p.Equal(q) }, "point_ne")

	geo2(r, types.PointOf, types.PointOf, float8Datum, (*plane.Calc).Distance, "point_distance")
	geo2(r, types.PointOf, types.PointOf, float8Datum, (*plane.Calc).Slope, "point_slope")
	for _, m := range moves {
		geo2(r, types.PointOf, types.PointOf, types.PointDatum, m.move, "point_"+m.name)
	}
	r.add(fn2(func(_ *callCtx, x, y float64) ([]byte, error) { return types.NewPoint(x, y).B, nil }), "construct_point")
	geo2(r, types.PointOf, types.PointOf, types.LsegDatum, func(_ *plane.Calc, p, q plane.Point) plane.Lseg { return plane.Lseg{p, q} }, "lseg_construct")
	geo2(r, types.PointOf, types.PointOf, types.BoxDatum, func(_ *plane.Calc, p, q plane.Point) plane.Box { return plane.NewBox(p, q) }, "points_box")
	geo1(r, types.PointOf, types.BoxDatum, func(_ *plane.Calc, p plane.Point) plane.Box { return plane.Box{High: p, Low: p} }, "point_box")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
		p, q := types.PointOf(in[0]), types.PointOf(in[1])
		if p.Equal(q) {
			return null, sqlerr.New(sqlerr.InvalidParameterValue, "invalid line specification: must be two distinct points")
		}
		var c plane.Calc
		return types.LineDatum(c.LineAt(p, c.Slope(p, q))), c.Err()
	}), "line_construct_pp")
}
