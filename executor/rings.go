package executor

import (
	"math"

	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// rings are the regions around a position, asked for from near to far: those of a
// box, then those of larger and larger ones, until so many rows have come that are
// nearer than any position outside the box can be as are wanted.
type rings struct {
	near *plan.Nearest
	grid spatial.Grid
	at   [2]int // columns of the rows: latitude and longitude

	lat, lon float64
	want     int
	radius   float64
	read     []spatial.Range
	dists    []float64 // of the rows that came
	last     bool      // everything is being read
	// Where bounded is set, no row outside of within can pass the filter.
	bounded bool
	within  []spatial.Range
}

// firstRing is the first radius, as a part of the larger side of a cell.
const firstRing = 0.02

// metresOfDegree is a degree of latitude.
const metresOfDegree = math.Pi / 180 * spatial.EarthRadius

// newRings are the rings of rows whose columns are those of a table, by number.
func newRings(near *plan.Nearest, t *catalog.Table, cols []int) rings {
	x := rings{near: near, grid: t.Cluster.Grid}
	for i, c := range cols {
		switch c {
		case t.Cluster.Lat:
			x.at[0] = i
		case t.Cluster.Lon:
			x.at[1] = i
		}
	}
	return x
}

// open begins anew with the present parameters. If last is set then, all rows are
// wanted at once. within are the codes of an area, nil for none.
func (x *rings) open(env *Env, within []spatial.Range) error {
	x.dists, x.read, x.last, x.radius = x.dists[:0], nil, false, 0
	x.bounded, x.within = within != nil, append(x.within[:0], within...)
	lat, err := expr.EvalConst(env.Expr, x.near.Lat)
	if err != nil {
		return err
	}
	lon, err := expr.EvalConst(env.Expr, x.near.Lon)
	if err != nil {
		return err
	}
	count, all, err := rowCount(env, x.near.Count, false)
	if err != nil {
		return err
	}
	skip, _, err := rowCount(env, x.near.Skip, true)
	if err != nil {
		return err
	}
	x.lat, x.lon = lat.F, lon.F
	x.want = int(min(count, math.MaxInt32) + min(skip, math.MaxInt32))
	// Without an order to go by the filter or the sort gets all rows at once.
	x.last = all || lat.Null || lon.Null || lat.F-lat.F != 0 || lon.F-lon.F != 0 || !x.near.Planar && !spatial.Valid(lat.F, lon.F)
	return nil
}

// ringReader reads rows by region: again begins with others.
type ringReader interface {
	Next() (*vec.Batch, error)
	again(codes []spatial.Range)
}

// begin makes op, which was opened with the codes of within, read the first ring.
func (x *rings) begin(env *Env, op ringReader, within []spatial.Range) error {
	if err := x.open(env, within); err != nil {
		return err
	}
	if !x.last {
		op.again(x.next())
	}
	return nil
}

// pass returns the next rows of op, ring by ring until they are enough.
func (x *rings) pass(op ringReader) (*vec.Batch, error) {
	for {
		b, err := op.Next()
		if err != nil {
			return nil, err
		}
		if b != nil {
			x.measure(b)
			return b, nil
		}
		if x.enough() {
			return nil, nil
		}
		op.again(x.next())
	}
}

// next returns the codes of the next ring.
func (x *rings) next() []spatial.Range {
	if x.radius *= 2; x.radius == 0 {
		x.radius = firstRing * max(x.grid.LatSize, x.grid.LonSize)
		if !x.near.Planar {
			x.radius *= metresOfDegree
		}
	}
	b := x.box()
	cover := x.grid.Cover(b)
	if b == spatial.World {
		x.last = true
		cover = append(cover, spatial.Range{Lo: spatial.NullCode, Hi: spatial.NullCode})
	}
	if x.bounded {
		x.last = x.last || len(spatial.Subtract(x.within, cover)) == 0
		cover = spatial.Intersect(cover, x.within)
	}
	fresh := append([]spatial.Range{}, spatial.Subtract(cover, x.read)...)
	x.read = cover
	return fresh
}

// box has every position that is not farther than the radius.
func (x *rings) box() spatial.Box {
	if !x.near.Planar {
		return spatial.Around(x.lat, x.lon, x.radius)
	}
	b := spatial.Box{South: x.lat - x.radius, North: x.lat + x.radius, West: x.lon - x.radius, East: x.lon + x.radius}
	if b.South <= -90 && b.North >= 90 && b.West <= -180 && b.East >= 180 {
		return spatial.World
	}
	return clipBox(b.South, b.West, b.North, b.East)
}

// measure notes the distances of rows.
func (x *rings) measure(b *vec.Batch) {
	if x.last {
		return
	}
	lat, lon := b.Cols[x.at[0]], b.Cols[x.at[1]]
	for i := range b.Rows() {
		r := b.Row(i)
		if lat.IsNull(r) || lon.IsNull(r) {
			continue
		}
		south, west := lat.F64[lat.Idx(r)], lon.F64[lon.Idx(r)]
		d := math.Hypot(south-x.lat, west-x.lon)
		if !x.near.Planar {
			d = spatial.Distance(x.lat, x.lon, south, west)
		}
		x.dists = append(x.dists, d)
	}
}

// enough reports whether the nearest rows are among those that came.
func (x *rings) enough() bool {
	if x.last {
		return true
	}
	n := 0
	for _, d := range x.dists {
		if d < x.radius {
			n++
		}
	}
	return n >= x.want
}
