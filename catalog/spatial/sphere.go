package spatial

import "math"

// EarthRadius is the mean radius of the Earth in metres (IUGG).
const EarthRadius = 6371008.8

const rad = math.Pi / 180

// Distance returns the great-circle distance in metres of two positions in
// degrees, by the haversine formula on a sphere of EarthRadius:
//
//	2 R asin sqrt(sin²(Δlat/2) + cos lat1 cos lat2 sin²(Δlon/2))
//
// and, where they are more than a quarter of the Earth apart, by the distance of the
// first one from the opposite of the second, πR less that. So rounding is below a
// micrometre everywhere; a position with longitude 180 is that with -180, and at a
// pole any longitude is the same. Against the ellipsoid of WGS 84 the sphere errs by
// 0.56 % at most.
func Distance(lat1, lon1, lat2, lon2 float64) float64 {
	lon := math.Abs(lon2 - lon1)
	if lon > 180 {
		lon = 360 - lon
	}
	cos := cosDegrees(lat1) * cosDegrees(lat2)
	sinLat, sinLon := math.Sin((lat2-lat1)*rad/2), math.Sin(lon*rad/2)
	if h := sinLat*sinLat + cos*sinLon*sinLon; h <= 0.5 {
		return 2 * EarthRadius * math.Asin(math.Sqrt(h))
	}
	sinLat, sinLon = math.Sin((lat1+lat2)*rad/2), math.Sin((180-lon)*rad/2)
	h := sinLat*sinLat + cos*sinLon*sinLon
	return EarthRadius * (math.Pi - 2*math.Asin(math.Sqrt(h)))
}

// cosDegrees is the cosine of a latitude, exactly 0 at the poles.
func cosDegrees(lat float64) float64 {
	if math.Abs(lat) == 90 {
		return 0
	}
	return math.Cos(lat * rad)
}

// Valid reports whether a position is one: latitude from -90 to 90, longitude
// from -180 to 180.
func Valid(lat, lon float64) bool {
	return lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180
}

// Box is a box of latitudes South … North and longitudes West … East, all
// inclusive. West > East is a box over the date line.
type Box struct{ South, West, North, East float64 }

// World is the box of all positions.
var World = Box{-90, -180, 90, 180}

// Contains reports whether the position lies in the box.
func (b Box) Contains(lat, lon float64) bool {
	if lat < b.South || lat > b.North {
		return false
	}
	if b.West > b.East {
		return lon >= b.West || lon <= b.East
	}
	return lon >= b.West && lon <= b.East
}

// slack widens boxes by more than the rounding of Distance.
const slack = 1e-9

// Around returns a box that holds every position within metres of a position: at
// a pole, or when nothing is excluded, all longitudes. A negative distance gives
// an empty box (South > North), as does NaN.
func Around(lat, lon, metres float64) Box {
	if !(metres >= 0) {
		return Box{1, 0, 0, 0}
	}
	angle := metres/EarthRadius*(1+slack) + slack
	if angle >= math.Pi {
		return World
	}
	b := Box{South: lat - angle/rad, North: lat + angle/rad, West: -180, East: 180}
	if b.South <= -90 || b.North >= 90 {
		b.South, b.North = math.Max(b.South, -90), math.Min(b.North, 90)
		return b
	}
	// The circle touches its outermost meridians where they stand at a right angle
	// to the radius.
	s := math.Sin(angle) / math.Cos(lat*rad)
	if s >= 1 {
		return b
	}
	d := math.Asin(s)/rad + slack
	if d >= 180 {
		return b
	}
	b.West, b.East = lon-d, lon+d
	if b.West <= -180 {
		b.West += 360
	}
	if b.East >= 180 {
		b.East -= 360
	}
	return b
}
