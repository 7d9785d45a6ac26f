package expr

import (
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

func geoFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		for k := 0; k < 4; k += 2 {
			if err := checkPosition(a[k].F, a[k+1].F); err != nil {
				return null, err
			}
		}
		return types.Datum{F: spatial.Distance(a[0].F, a[1].F, a[2].F, a[3].F)}, nil
	}), "kvsqld_distance")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		b := spatial.Box{South: a[2].F, West: a[3].F, North: a[4].F, East: a[5].F}
		return types.Bool(b.Contains(a[0].F, a[1].F)), nil
	}), "kvsqld_bounding_box")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		if err := checkPosition(a[0].F, a[1].F); err != nil {
			return null, err
		}
		if !(a[2].F >= 0) {
			return null, sqlerr.New(sqlerr.NumericValueOutOfRange, "distance %g is negative or no number", a[2].F)
		}
		b := spatial.Around(a[0].F, a[1].F, a[2].F)
		sides := make([]types.Datum, 0, 4)
		for _, v := range []float64{b.South, b.West, b.North, b.East} {
			sides = append(sides, types.Float(types.TFloat8, v))
		}
		return types.NewArray(types.TFloat8, []int{4}, []int{1}, sides), nil
	}), "kvsqld_box_around")
}

func checkPosition(lat, lon float64) error {
	if !(lat >= -90 && lat <= 90) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "latitude %s is not between -90 and 90", types.FloatText(lat))
	}
	if !(lon >= -180 && lon <= 180) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "longitude %s is not between -180 and 180", types.FloatText(lon))
	}
	return nil
}
