package expr

import (
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// earthRadiusMetres is the mean radius of the Earth (IUGG).
const earthRadiusMetres = 6371008.8

func geoFuncs(r *registry) {
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		for k := 0; k < 4; k += 2 {
			if err := checkPosition(a[k].F, a[k+1].F); err != nil {
				return null, err
			}
		}
		return types.Datum{F: haversine(a[0].F, a[1].F, a[2].F, a[3].F)}, nil
	}), "kvsqld_distance")
	r.add(fnD(func(_ *callCtx, a []types.Datum) (types.Datum, error) {
		lat, lon, south, west, north, east := a[0].F, a[1].F, a[2].F, a[3].F, a[4].F, a[5].F
		inLon := lon >= west && lon <= east
		if west > east { // the box crosses the date line
			inLon = lon >= west || lon <= east
		}
		return types.Bool(lat >= south && lat <= north && inLon), nil
	}), "kvsqld_bounding_box")
}

func checkPosition(lat, lon float64) error {
	if !(lat >= -90 && lat <= 90) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "latitude %g is not between -90 and 90", lat)
	}
	if !(lon >= -180 && lon <= 180) {
		return sqlerr.New(sqlerr.NumericValueOutOfRange, "longitude %g is not between -180 and 180", lon)
	}
	return nil
}

// haversine is the great-circle distance in metres of two positions in degrees.
func haversine(lat1, lon1, lat2, lon2 float64) float64 {
	const rad = math.Pi / 180
	sinLat := math.Sin((lat2 - lat1) * rad / 2)
	sinLon := math.Sin((lon2 - lon1) * rad / 2)
	h := sinLat*sinLat + math.Cos(lat1*rad)*math.Cos(lat2*rad)*sinLon*sinLon
	return 2 * earthRadiusMetres * math.Asin(math.Min(1, math.Sqrt(h)))
}
