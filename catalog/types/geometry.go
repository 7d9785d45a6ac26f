package types

import (
	"encoding/binary"
	"math"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/plane"
)

// Values of the geometric types are held in their binary form: coordinates as
// big-endian float64, in a path after a byte that tells whether it is closed and
// the number of points, in a polygon after that number.

func appendPoints(b []byte, ps ...plane.Point) []byte {
	for _, p := range ps {
		b = appendFloats(b, p.X, p.Y)
	}
	return b
}

func appendFloats(b []byte, fs ...float64) []byte {
	for _, f := range fs {
		b = binary.BigEndian.AppendUint64(b, FloatBits(f))
	}
	return b
}

// PointDatum makes a point.
func PointDatum(p plane.Point) Datum { return Datum{T: Of(OPoint), B: appendPoints(nil, p)} }

// NewPoint makes a point of its coordinates.
func NewPoint(x, y float64) Datum { return PointDatum(plane.Point{X: x, Y: y}) }

// LsegDatum makes a line segment.
func LsegDatum(s plane.Lseg) Datum { return Datum{T: Of(OLseg), B: appendPoints(nil, s[:]...)} }

// BoxDatum makes a box.
func BoxDatum(b plane.Box) Datum { return Datum{T: Of(OBox), B: appendPoints(nil, b.High, b.Low)} }

// LineDatum makes a line.
func LineDatum(l plane.Line) Datum { return Datum{T: Of(OLine), B: appendFloats(nil, l.A, l.B, l.C)} }

// CircleDatum makes a circle.
func CircleDatum(k plane.Circle) Datum {
	return Datum{T: Of(OCircle), B: appendFloats(nil, k.Center.X, k.Center.Y, k.Radius)}
}

// PathDatum makes a path.
func PathDatum(p plane.Path) Datum {
	b := make([]byte, 1, 5+16*len(p.Points))
	if p.Closed {
		b[0] = 1
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(p.Points)))
	return Datum{T: Of(OPath), B: appendPoints(b, p.Points...)}
}

// PolygonDatum makes a polygon.
func PolygonDatum(p plane.Polygon) Datum {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+16*len(p)), uint32(len(p)))
	return Datum{T: Of(OPolygon), B: appendPoints(b, p...)}
}

// coordinate reads the float64 at byte i; zero past the end of a damaged value.
func coordinate(b []byte, i int) float64 {
	if len(b) < i+8 {
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b[i:]))
}

func pointAt(b []byte, i int) plane.Point {
	return plane.Point{X: coordinate(b, i), Y: coordinate(b, i+8)}
}

// pointsAt reads the points from byte i on; there is one at least.
func pointsAt(b []byte, i int) []plane.Point {
	ps := make([]plane.Point, max(1, (len(b)-i)/16))
	for k := range ps {
		ps[k] = pointAt(b, i+16*k)
	}
	return ps
}

// PointOf reads a point.
func PointOf(d Datum) plane.Point { return pointAt(d.B, 0) }

// LsegOf reads a line segment.
func LsegOf(d Datum) plane.Lseg { return plane.Lseg{pointAt(d.B, 0), pointAt(d.B, 16)} }

// BoxOf reads a box.
func BoxOf(d Datum) plane.Box { return plane.Box{High: pointAt(d.B, 0), Low: pointAt(d.B, 16)} }

// LineOf reads a line.
func LineOf(d Datum) plane.Line {
	return plane.Line{A: coordinate(d.B, 0), B: coordinate(d.B, 8), C: coordinate(d.B, 16)}
}

// CircleOf reads a circle.
func CircleOf(d Datum) plane.Circle {
	return plane.Circle{Center: pointAt(d.B, 0), Radius: coordinate(d.B, 16)}
}

// PathOf reads a path.
func PathOf(d Datum) plane.Path {
	return plane.Path{Closed: len(d.B) > 0 && d.B[0] != 0, Points: pointsAt(d.B, 5)}
}

// PolygonOf reads a polygon.
func PolygonOf(d Datum) plane.Polygon { return pointsAt(d.B, 4) }

// RawElem is the element at i of a geometric type of fixed size that can be
// subscripted: a coordinate of a point, a factor of a line, a point of a segment or a
// box; false outside of the value.
func RawElem(d Datum, i int64) (Datum, bool) {
	if i < 0 || i > 2 {
		return Datum{}, false
	}
	switch o := d.T.base(); {
	case o == OPoint && i < 2, o == OLine:
		return Float(TFloat8, coordinate(d.B, int(8*i))), true
	case (o == OLseg || o == OBox) && i < 2:
		return PointDatum(pointAt(d.B, int(16*i))), true
	}
	return Datum{}, false
}

// SetRawElem is a value with another element at i, as RawElem has it; false outside of
// the value.
func SetRawElem(d Datum, i int64, elem Datum) (Datum, bool) {
	old, ok := RawElem(d, i)
	if !ok {
		return Datum{}, false
	}
	part := elem.B
	if old.T.OID == OFloat8 {
		part = appendFloats(nil, elem.F)
	}
	d.B = slices.Clone(d.B)
	copy(d.B[int(i)*len(part):], part)
	return d, true
}

// geometryBinary checks a value's binary form and brings it into the one that is
// stored: the corners of a box in order, one NaN.
func geometryBinary(o OID, b []byte) ([]byte, error) {
	invalid := func(text string) error { return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "%s", text) }
	size, name, head := 0, "", 0
	switch o {
	case OPoint:
		size = 16
	case OLseg, OBox:
		size = 32
	case OLine, OCircle:
		size = 24
	case OPath:
		name, head = "path", 1
	case OPolygon:
		name = "polygon"
	}
	if name != "" {
		if len(b) < head {
			return nil, errBinaryEmpty()
		}
		if len(b) < head+4 {
			return nil, errBinaryShort()
		}
		n := int64(int32(binary.BigEndian.Uint32(b[head:])))
		if n <= 0 || n >= (math.MaxInt32-40)/16 {
			return nil, invalid(`invalid number of points in external "` + name + `" value`)
		}
		size = head + 4 + int(16*n)
	}
	// What has too few bytes is reported first, what has too many after the value.
	if len(b) < size {
		return nil, errBinaryShort()
	}
	d := Datum{T: Of(o), B: b}
	var out Datum
	switch o {
	case OPoint:
		out = PointDatum(PointOf(d))
	case OLseg:
		out = LsegDatum(LsegOf(d))
	case OBox:
		given := BoxOf(d)
		out = BoxDatum(plane.NewBox(given.Low, given.High))
	case OLine:
		l := LineOf(d)
		if plane.Zero(l.A) && plane.Zero(l.B) {
			return nil, invalid("invalid line specification: A and B cannot both be zero")
		}
		out = LineDatum(l)
	case OCircle:
		k := CircleOf(d)
		if k.Radius < 0 {
			return nil, invalid(`invalid radius in external "circle" value`)
		}
		out = CircleDatum(k)
	case OPath:
		out = PathDatum(PathOf(Datum{B: b[:size]}))
	case OPolygon:
		out = PolygonDatum(PolygonOf(Datum{B: b[:size]}))
	}
	return out.B, fixed(b, size)
}
