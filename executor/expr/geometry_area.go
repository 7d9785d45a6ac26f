package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/plane"
)

// sides are the positions of extents to each other: along one axis, whether a lies
// wholly before b, does not reach beyond it, and so on.
type sides struct {
	before, notBeyond, behind, notBefore func(aLow, aHigh, bLow, bHigh float64) bool
}

// fuzzySides are those of boxes and circles, exactSides those of polygons.
var (
	fuzzySides = sides{
		before:    func(_, ah, bl, _ float64) bool { return plane.Lt(ah, bl) },
		notBeyond: func(_, ah, _, bh float64) bool { return plane.Le(ah, bh) },
		behind:    func(al, _, _, bh float64) bool { return plane.Gt(al, bh) },
		notBefore: func(al, _, bl, _ float64) bool { return plane.Ge(al, bl) },
	}
	exactSides = sides{
		before:    func(_, ah, bl, _ float64) bool { return ah < bl },
		notBeyond: func(_, ah, _, bh float64) bool { return ah <= bh },
		behind:    func(al, _, _, bh float64) bool { return al > bh },
		notBefore: func(al, _, bl, _ float64) bool { return al >= bl },
	}
)

// positions registers left, overleft and so on, by the extents of values.
func positions[A any](r *registry, prefix string, a func(types.Datum) A, how sides, x, y func(c *plane.Calc, a A) (low, high float64)) {
	for name, f := range map[string]func(aLow, aHigh, bLow, bHigh float64) bool{
		"left": how.before, "overleft": how.notBeyond, "right": how.behind, "overright": how.notBefore,
		"below": how.before, "overbelow": how.notBeyond, "above": how.behind, "overabove": how.notBefore,
	} {
		extent := x
		switch name {
		case "below", "overbelow", "above", "overabove":
			extent = y
		}
		geo2(r, a, a, types.Bool, func(c *plane.Calc, v, w A) bool {
			vl, vh := extent(c, v)
			wl, wh := extent(c, w)
			return f(vl, vh, wl, wh)
		}, prefix+name)
	}
}

func boxFuncs(r *registry) {
	positions(r, "box_", types.BoxOf, fuzzySides,
		func(_ *plane.Calc, b plane.Box) (low, high float64) { return b.Low.X, b.High.X },
		func(_ *plane.Calc, b plane.Box) (low, high float64) { return b.Low.Y, b.High.Y })
	sized(r, types.BoxOf, (*plane.Calc).BoxArea, map[string]func(a, b float64) bool{
		"box_lt": plane.Lt, "box_le": plane.Le, "box_gt": plane.Gt, "box_ge": plane.Ge, "box_eq": plane.Eq})
	test := func(f func(a, b plane.Box) bool, src string) {
		geo2(r, types.BoxOf, types.BoxOf, types.Bool, func(_ *plane.Calc, a, b plane.Box) bool { return f(a, b) }, src)
	}
	test(func(a, b plane.Box) bool { return a.High.Equal(b.High) && a.Low.Equal(b.Low) }, "box_same")
	test(plane.Box.Overlaps, "box_overlap")
	test(plane.Box.Contains, "box_contain")
	test(func(a, b plane.Box) bool { return b.Contains(a) }, "box_contained")
	test(func(a, b plane.Box) bool { return plane.Le(a.High.Y, b.Low.Y) }, "box_below_eq")
	test(func(a, b plane.Box) bool { return plane.Ge(a.Low.Y, b.High.Y) }, "box_above_eq")

	geo1(r, types.BoxOf, float8Datum, (*plane.Calc).BoxArea, "box_area")
	geo1(r, types.BoxOf, float8Datum, (*plane.Calc).Width, "box_width")
	geo1(r, types.BoxOf, float8Datum, (*plane.Calc).Height, "box_height")
	geo1(r, types.BoxOf, types.PointDatum, (*plane.Calc).BoxCenter, "box_center")
	geo1(r, types.BoxOf, types.LsegDatum, func(_ *plane.Calc, b plane.Box) plane.Lseg { return plane.Lseg{b.High, b.Low} }, "box_diagonal")
	geo1(r, types.BoxOf, types.CircleDatum, (*plane.Calc).BoxCircle, "box_circle")
	geo1(r, types.BoxOf, types.PolygonDatum, func(_ *plane.Calc, b plane.Box) plane.Polygon { return b.Polygon() }, "box_poly")
	geo2(r, types.BoxOf, types.BoxOf, float8Datum, func(c *plane.Calc, a, b plane.Box) float64 {
		return c.Distance(c.BoxCenter(a), c.BoxCenter(b))
	}, "box_distance")
	geo2(r, types.BoxOf, types.BoxOf, types.BoxDatum, func(_ *plane.Calc, a, b plane.Box) plane.Box { return a.Union(b) }, "boxes_bound_box")
	geoMaybe(r, types.BoxOf, types.BoxOf, types.BoxDatum, func(_ *plane.Calc, a, b plane.Box) (plane.Box, bool) { return a.Intersection(b) }, "box_intersect")
	for _, m := range moves {
		geo2(r, types.BoxOf, types.PointOf, types.BoxDatum, func(c *plane.Calc, b plane.Box, p plane.Point) plane.Box {
			high, low := m.move(c, b.High, p), m.move(c, b.Low, p)
			if m.name == "add" || m.name == "sub" {
				return plane.Box{High: high, Low: low}
			}
			return plane.NewBox(high, low)
		}, "box_"+m.name)
	}

	geo2(r, types.PointOf, types.BoxOf, types.Bool, func(_ *plane.Calc, p plane.Point, b plane.Box) bool { return b.ContainsPoint(p) }, "on_pb")
	geo2(r, types.BoxOf, types.PointOf, types.Bool, func(_ *plane.Calc, b plane.Box, p plane.Point) bool { return b.ContainsPoint(p) }, "box_contain_pt")
	geoBoth(r, types.PointOf, types.BoxOf, float8Datum, away((*plane.Calc).BoxNearest), "dist_pb", "dist_bp")
	geoMaybe(r, types.PointOf, types.BoxOf, types.PointDatum, closest((*plane.Calc).BoxNearest), "close_pb")

	geo2(r, types.LsegOf, types.BoxOf, types.Bool, func(_ *plane.Calc, s plane.Lseg, b plane.Box) bool {
		return b.ContainsPoint(s[0]) && b.ContainsPoint(s[1])
	}, "on_sb")
	geo2(r, types.LsegOf, types.BoxOf, types.Bool, func(c *plane.Calc, s plane.Lseg, b plane.Box) bool { return c.BoxMeetsLseg(b, s) }, "inter_sb")
	geo2(r, types.LineOf, types.BoxOf, types.Bool, func(c *plane.Calc, l plane.Line, b plane.Box) bool { return c.BoxMeetsLine(b, l) }, "inter_lb")
	geoBoth(r, types.LsegOf, types.BoxOf, float8Datum, away((*plane.Calc).BoxNearestLseg), "dist_sb", "dist_bs")
	geoMaybe(r, types.LsegOf, types.BoxOf, types.PointDatum, closest((*plane.Calc).BoxNearestLseg), "close_sb")
}

func circleFuncs(r *registry) {
	positions(r, "circle_", types.CircleOf, fuzzySides,
		func(c *plane.Calc, k plane.Circle) (low, high float64) { return c.Edge(k.Center.X, k.Radius) },
		func(c *plane.Calc, k plane.Circle) (low, high float64) { return c.Edge(k.Center.Y, k.Radius) })
	sized(r, types.CircleOf, (*plane.Calc).CircleArea, map[string]func(a, b float64) bool{
		"circle_lt": plane.Lt, "circle_le": plane.Le, "circle_gt": plane.Gt, "circle_ge": plane.Ge, "circle_eq": plane.Eq, "circle_ne": plane.Ne})
	test := func(f func(c *plane.Calc, a, b plane.Circle) bool, src string) {
		geo2(r, types.CircleOf, types.CircleOf, types.Bool, f, src)
	}
	test(func(_ *plane.Calc, a, b plane.Circle) bool {
		return (a.Radius != a.Radius && b.Radius != b.Radius || plane.Eq(a.Radius, b.Radius)) && a.Center.Equal(b.Center)
	}, "circle_same")
	test(func(c *plane.Calc, a, b plane.Circle) bool {
		return plane.Le(c.Distance(a.Center, b.Center), c.Add(a.Radius, b.Radius))
	}, "circle_overlap")
	contains := func(c *plane.Calc, a, b plane.Circle) bool {
		return plane.Le(c.Distance(a.Center, b.Center), c.Sub(a.Radius, b.Radius))
	}
	test(contains, "circle_contain")
	test(func(c *plane.Calc, a, b plane.Circle) bool { return contains(c, b, a) }, "circle_contained")

	geo1(r, types.CircleOf, float8Datum, (*plane.Calc).CircleArea, "circle_area")
	geo1(r, types.CircleOf, float8Datum, func(c *plane.Calc, k plane.Circle) float64 { return c.Mul(k.Radius, 2) }, "circle_diameter")
	geo1(r, types.CircleOf, float8Datum, func(_ *plane.Calc, k plane.Circle) float64 { return k.Radius }, "circle_radius")
	geo1(r, types.CircleOf, types.PointDatum, func(_ *plane.Calc, k plane.Circle) plane.Point { return k.Center }, "circle_center")
	geo1(r, types.CircleOf, types.BoxDatum, (*plane.Calc).CircleBox, "circle_box")
	geo2(r, types.PointOf, func(d types.Datum) float64 { return d.F }, types.CircleDatum,
		func(_ *plane.Calc, p plane.Point, radius float64) plane.Circle {
			return plane.Circle{Center: p, Radius: radius}
		}, "cr_circle")
	geo2(r, types.CircleOf, types.CircleOf, float8Datum, func(c *plane.Calc, a, b plane.Circle) float64 {
		return c.Gap(c.Distance(a.Center, b.Center), c.Add(a.Radius, b.Radius))
	}, "circle_distance")
	geoBoth(r, types.PointOf, types.CircleOf, float8Datum, func(c *plane.Calc, p plane.Point, k plane.Circle) float64 {
		return c.Gap(c.Distance(p, k.Center), k.Radius)
	}, "dist_pc", "dist_cpoint")
	geoBoth(r, types.PointOf, types.CircleOf, types.Bool, func(c *plane.Calc, p plane.Point, k plane.Circle) bool {
		return c.Distance(k.Center, p) <= k.Radius
	}, "pt_contained_circle", "circle_contain_pt")
	for _, m := range moves {
		geo2(r, types.CircleOf, types.PointOf, types.CircleDatum, func(c *plane.Calc, k plane.Circle, p plane.Point) plane.Circle {
			k.Center = m.move(c, k.Center, p)
			switch m.name {
			case "mul":
				k.Radius = c.Mul(k.Radius, c.Hypot(p.X, p.Y))
			case "div":
				k.Radius = c.Div(k.Radius, c.Hypot(p.X, p.Y))
			}
			return k
		}, "circle_"+m.name+"_pt")
	}
	r.add(fnD(func(call *callCtx, in []types.Datum) (types.Datum, error) {
		return circlePolygon(call, in[0].I, types.CircleOf(in[1]))
	}), "circle_poly")
	r.add(fnD(func(call *callCtx, in []types.Datum) (types.Datum, error) {
		return circlePolygon(call, 12, types.CircleOf(in[0]))
	}), "sql_polygon_1544")
}

// maxPoints bounds the points of a path or polygon, as the size of a value does.
const maxPoints = (1<<30 - 1 - 40) / 16

func errPoints() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "too many points requested")
}

func circlePolygon(call *callCtx, n int64, k plane.Circle) (types.Datum, error) {
	switch {
	case plane.Zero(k.Radius):
		return null, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert circle with radius zero to polygon")
	case n < 2:
		return null, sqlerr.New(sqlerr.InvalidParameterValue, "must request at least 2 points")
	case n > maxPoints:
		return null, errPoints()
	}
	if err := call.env.room(48 * n); err != nil {
		return null, err
	}
	var c plane.Calc
	p := c.CirclePolygon(int(n), k, exactSin, exactCos)
	return types.PolygonDatum(p), c.Err()
}
