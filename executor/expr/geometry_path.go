package expr

import (
	"cmp"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/plane"
)

// pathFuncs has the functions of paths.
func pathFuncs(r *registry) {
	for src, op := range map[string]cmpOp{"path_n_lt": opLT, "path_n_le": opLE, "path_n_eq": opEQ, "path_n_ge": opGE, "path_n_gt": opGT} {
		geo2(r, types.PathOf, types.PathOf, types.Bool, func(_ *plane.Calc, p, q plane.Path) bool {
			return accepts[op][cmp.Compare(len(p.Points), len(q.Points))+1]
		}, src)
	}
	geo1(r, types.PathOf, types.Bool, func(_ *plane.Calc, p plane.Path) bool { return p.Closed }, "path_isclosed")
	geo1(r, types.PathOf, types.Bool, func(_ *plane.Calc, p plane.Path) bool { return !p.Closed }, "path_isopen")
	geo1(r, types.PathOf, countDatum, func(_ *plane.Calc, p plane.Path) int { return len(p.Points) }, "path_npoints")
	for src, closed := range map[string]bool{"path_close": true, "path_open": false} {
		geo1(r, types.PathOf, types.PathDatum, func(_ *plane.Calc, p plane.Path) plane.Path {
			p.Closed = closed
			return p
		}, src)
	}
	geo1(r, types.PathOf, float8Datum, (*plane.Calc).PathLength, "path_length")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
		p := types.PathOf(in[0])
		if !p.Closed {
			return types.Null(types.TFloat8), nil
		}
		var c plane.Calc
		area := c.PathArea(p)
		return float8Datum(area), c.Err()
	}), "path_area")
	geo2(r, types.PathOf, types.PathOf, types.Bool, (*plane.Calc).PathsMeet, "path_inter")
	geoMaybe(r, types.PathOf, types.PathOf, float8Datum, (*plane.Calc).PathDistance, "path_distance")
	r.add(fnD(func(call *callCtx, in []types.Datum) (types.Datum, error) {
		p, q := types.PathOf(in[0]), types.PathOf(in[1])
		switch {
		case p.Closed || q.Closed:
			return types.Null(call.call.T), nil
		case len(p.Points)+len(q.Points) > maxPoints:
			return null, errPoints()
		}
		return types.PathDatum(plane.Path{Points: slices.Concat(p.Points, q.Points)}), nil
	}), "path_add")
	for _, m := range moves {
		geo2(r, types.PathOf, types.PointOf, types.PathDatum, func(c *plane.Calc, p plane.Path, by plane.Point) plane.Path {
			for i, q := range p.Points {
				p.Points[i] = m.move(c, q, by)
			}
			return p
		}, "path_"+m.name+"_pt")
	}
	geoBoth(r, types.PointOf, types.PathOf, float8Datum, func(c *plane.Calc, p plane.Point, path plane.Path) float64 {
		return c.PathPointDistance(path, p)
	}, "dist_ppath", "dist_pathp")
	geoBoth(r, types.PointOf, types.PathOf, types.Bool, func(c *plane.Calc, p plane.Point, path plane.Path) bool {
		return c.OnPath(path, p)
	}, "on_ppath", "sql_path_contain_pt_1426")
	r.add(fnD(func(_ *callCtx, in []types.Datum) (types.Datum, error) {
		p := types.PathOf(in[0])
		if !p.Closed {
			return null, sqlerr.New(sqlerr.InvalidParameterValue, "open path cannot be converted to polygon")
		}
		return types.PolygonDatum(p.Points), nil
	}), "path_poly")
}

// polygonFuncs has the functions of polygons.
func polygonFuncs(r *registry) {
	positions(r, "poly_", types.PolygonOf, exactSides,
		func(_ *plane.Calc, p plane.Polygon) (low, high float64) {
			b := plane.Bounds(p)
			return b.Low.X, b.High.X
		},
		func(_ *plane.Calc, p plane.Polygon) (low, high float64) {
			b := plane.Bounds(p)
			return b.Low.Y, b.High.Y
		})
	geo2(r, types.PolygonOf, types.PolygonOf, types.Bool, func(_ *plane.Calc, p, q plane.Polygon) bool { return p.SamePoints(q) }, "poly_same")
	geo2(r, types.PolygonOf, types.PolygonOf, types.Bool, (*plane.Calc).PolygonsOverlap, "poly_overlap")
	geoBoth(r, types.PolygonOf, types.PolygonOf, types.Bool, (*plane.Calc).PolygonContains, "poly_contain", "poly_contained")
	geoMaybe(r, types.PolygonOf, types.PolygonOf, float8Datum, (*plane.Calc).PolygonDistance, "poly_distance")
	geoBoth(r, types.PolygonOf, types.PointOf, types.Bool, func(c *plane.Calc, p plane.Polygon, at plane.Point) bool {
		return c.Inside(p, at)
	}, "poly_contain_pt", "pt_contained_poly")
	geoBoth(r, types.PolygonOf, types.PointOf, float8Datum, (*plane.Calc).PolygonPointDistance, "dist_polyp", "dist_ppoly")
	geoBoth(r, types.PolygonOf, types.CircleOf, float8Datum, func(c *plane.Calc, p plane.Polygon, k plane.Circle) float64 {
		return c.Gap(c.PolygonPointDistance(p, k.Center), k.Radius)
	}, "dist_polyc", "dist_cpoly")
	geo1(r, types.PolygonOf, countDatum, func(_ *plane.Calc, p plane.Polygon) int { return len(p) }, "poly_npoints")
	geo1(r, types.PolygonOf, types.CircleDatum, (*plane.Calc).PolygonCircle, "poly_circle")
	geo1(r, types.PolygonOf, types.PointDatum, func(c *plane.Calc, p plane.Polygon) plane.Point { return c.PolygonCircle(p).Center }, "poly_center")
	geo1(r, types.PolygonOf, types.BoxDatum, func(_ *plane.Calc, p plane.Polygon) plane.Box { return plane.Bounds(p) }, "poly_box", "spg_poly_quad_compress")
	geo1(r, types.PolygonOf, types.PathDatum, func(_ *plane.Calc, p plane.Polygon) plane.Path { return plane.Path{Closed: true, Points: p} }, "poly_path")
}
