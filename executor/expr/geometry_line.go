package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/plane"
)

// lineFuncs has the functions of lines and of line segments.
func lineFuncs(r *registry) {
	cross := func(c *plane.Calc, l, m plane.Line) bool { _, ok := c.Cross(l, m); return ok }
	geo2(r, types.LineOf, types.LineOf, types.Bool, cross, "line_intersect")
	geo2(r, types.LineOf, types.LineOf, types.Bool, func(c *plane.Calc, l, m plane.Line) bool { return !cross(c, l, m) }, "line_parallel")
	geo2(r, types.LineOf, types.LineOf, types.Bool, (*plane.Calc).Perpendicular, "line_perp")
	geo2(r, types.LineOf, types.LineOf, types.Bool, (*plane.Calc).LinesEqual, "line_eq")
	geo2(r, types.LineOf, types.LineOf, float8Datum, (*plane.Calc).LineDistance, "line_distance")
	geoMaybe(r, types.LineOf, types.LineOf, types.PointDatum, (*plane.Calc).Cross, "line_interpt")
	geo1(r, types.LineOf, types.Bool, func(_ *plane.Calc, l plane.Line) bool { return l.Vertical() }, "line_vertical")
	geo1(r, types.LineOf, types.Bool, func(_ *plane.Calc, l plane.Line) bool { return l.Horizontal() }, "line_horizontal")

	onLine := func(c *plane.Calc, p plane.Point, l plane.Line) bool { return c.OnLine(l, p) }
	geo2(r, types.PointOf, types.LineOf, types.Bool, onLine, "on_pl")
	geoBoth(r, types.PointOf, types.LineOf, float8Datum, away((*plane.Calc).LineNearest), "dist_pl", "dist_lp")
	geoMaybe(r, types.PointOf, types.LineOf, types.PointDatum, closest((*plane.Calc).LineNearest), "close_pl")

	test := func(f func(c *plane.Calc, s, t plane.Lseg) bool, src string) {
		geo2(r, types.LsegOf, types.LsegOf, types.Bool, f, src)
	}
	equal := func(_ *plane.Calc, s, t plane.Lseg) bool { return s[0].Equal(t[0]) && s[1].Equal(t[1]) }
	test(equal, "lseg_eq")
	test(func(c *plane.Calc, s, t plane.Lseg) bool { return !equal(c, s, t) }, "lseg_ne")
	sized(r, types.LsegOf, (*plane.Calc).Length, map[string]func(a, b float64) bool{
		"lseg_lt": plane.Lt, "lseg_le": plane.Le, "lseg_gt": plane.Gt, "lseg_ge": plane.Ge})
	test(func(c *plane.Calc, s, t plane.Lseg) bool { _, ok := c.LsegsMeet(s, t); return ok }, "lseg_intersect")
	test(func(c *plane.Calc, s, t plane.Lseg) bool { return plane.Eq(c.LsegSlope(s), c.LsegSlope(t)) }, "lseg_parallel")
	test(func(c *plane.Calc, s, t plane.Lseg) bool { return plane.Eq(c.LsegSlope(s), c.LsegCrossSlope(t)) }, "lseg_perp")
	geoMaybe(r, types.LsegOf, types.LsegOf, types.PointDatum, (*plane.Calc).LsegsMeet, "lseg_interpt")
	geo2(r, types.LsegOf, types.LsegOf, float8Datum, func(c *plane.Calc, s, t plane.Lseg) float64 {
		_, d := c.LsegNearestLseg(s, t)
		return d
	}, "lseg_distance")
	// Parallel segments have no closest point.
	geoMaybe(r, types.LsegOf, types.LsegOf, types.PointDatum, func(c *plane.Calc, s, t plane.Lseg) (plane.Point, bool) {
		if c.LsegSlope(s) == c.LsegSlope(t) {
			return plane.Point{}, false
		}
		return closest((*plane.Calc).LsegNearestLseg)(c, s, t)
	}, "close_lseg")
	geo1(r, types.LsegOf, float8Datum, (*plane.Calc).Length, "lseg_length")
	geo1(r, types.LsegOf, types.PointDatum, func(c *plane.Calc, s plane.Lseg) plane.Point { return c.Middle(s[0], s[1]) }, "lseg_center")
	geo1(r, types.LsegOf, types.Bool, func(_ *plane.Calc, s plane.Lseg) bool { return plane.Eq(s[0].X, s[1].X) }, "lseg_vertical")
	geo1(r, types.LsegOf, types.Bool, func(_ *plane.Calc, s plane.Lseg) bool { return plane.Eq(s[0].Y, s[1].Y) }, "lseg_horizontal")

	geo2(r, types.PointOf, types.LsegOf, types.Bool, func(c *plane.Calc, p plane.Point, s plane.Lseg) bool { return c.OnLseg(s, p) }, "on_ps")
	geoBoth(r, types.PointOf, types.LsegOf, float8Datum, away((*plane.Calc).LsegNearest), "dist_ps", "dist_sp")
	geoMaybe(r, types.PointOf, types.LsegOf, types.PointDatum, closest((*plane.Calc).LsegNearest), "close_ps")

	geo2(r, types.LsegOf, types.LineOf, types.Bool, func(c *plane.Calc, s plane.Lseg, l plane.Line) bool {
		return c.OnLine(l, s[0]) && c.OnLine(l, s[1])
	}, "on_sl")
	geo2(r, types.LsegOf, types.LineOf, types.Bool, func(c *plane.Calc, s plane.Lseg, l plane.Line) bool {
		_, ok := c.LsegMeetsLine(s, l)
		return ok
	}, "inter_sl")
	geoBoth(r, types.LineOf, types.LsegOf, float8Datum, away((*plane.Calc).LsegNearestLine), "dist_ls", "dist_sl")
	geoMaybe(r, types.LineOf, types.LsegOf, types.PointDatum, func(c *plane.Calc, l plane.Line, s plane.Lseg) (plane.Point, bool) {
		if c.LsegSlope(s) == c.LineSlope(l) {
			return plane.Point{}, false
		}
		return closest((*plane.Calc).LsegNearestLine)(c, l, s)
	}, "close_ls")
}
