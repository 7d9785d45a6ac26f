package executor

import (
	"math"

	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// nearestScan passes the rows of a region-clustered table around a position: those
// of a box, then those of larger and larger ones, until so many rows have passed
// the filter as are wanted that are nearer than any row outside the box can be. The
// Sort above picks the nearest of them.
type nearestScan struct {
	*scan
	near *plan.Nearest
	at   [2]int // where the output has latitude and longitude

	lat, lon float64
	want     int
	radius   float64
	read     []spatial.Range
	dists    []float64 // of the rows passed
	last     bool      // everything is being read
}

// firstRing is the first radius, as a part of the larger side of a cell.
const firstRing = 0.02

// metresOfDegree is a degree of latitude.
const metresOfDegree = math.Pi / 180 * spatial.EarthRadius

func newNearestScan(op *scan) *nearestScan {
	n := &nearestScan{scan: op, near: op.node.Nearest}
	for i, c := range op.node.Cols {
		switch c {
		case op.node.Table.Cluster.Lat:
			n.at[0] = i
		case op.node.Table.Cluster.Lon:
			n.at[1] = i
		}
	}
	return n
}

func (op *nearestScan) Open(env *Env) error {
	if err := op.scan.Open(env); err != nil {
		return err
	}
	op.dists, op.read, op.last, op.radius = op.dists[:0], nil, false, 0
	lat, err := expr.EvalConst(env.Expr, op.near.Lat)
	if err != nil {
		return err
	}
	lon, err := expr.EvalConst(env.Expr, op.near.Lon)
	if err != nil {
		return err
	}
	count, all, err := rowCount(env, op.near.Count, false)
	if err != nil {
		return err
	}
	skip, _, err := rowCount(env, op.near.Skip, true)
	if err != nil {
		return err
	}
	op.lat, op.lon = lat.F, lon.F
	op.want = int(min(count, math.MaxInt32) + min(skip, math.MaxInt32))
	// Without an order to go by the filter or the sort gets all rows at once.
	op.last = all || lat.Null || lon.Null || lat.F-lat.F != 0 || lon.F-lon.F != 0 || !op.near.Planar && !spatial.Valid(lat.F, lon.F)
	if !op.last {
		op.grow()
	}
	return nil
}

// grow goes on to a larger box.
func (op *nearestScan) grow() {
	g := op.node.Table.Cluster.Grid
	if op.radius *= 2; op.radius == 0 {
		op.radius = firstRing * max(g.LatSize, g.LonSize)
		if !op.near.Planar {
			op.radius *= metresOfDegree
		}
	}
	b := op.box()
	cover := g.Cover(b)
	if b == spatial.World {
		op.last = true
		cover = append(cover, spatial.Range{Lo: spatial.NullCode, Hi: spatial.NullCode})
	}
	fresh := append([]spatial.Range{}, spatial.Subtract(cover, op.read)...)
	op.read = cover
	op.stop()
	op.spec = table.ScanSpec{Cols: op.node.Cols, Codes: fresh}
	op.done = len(fresh) == 0
}

// box has every position that is not farther than the radius.
func (op *nearestScan) box() spatial.Box {
	if !op.near.Planar {
		return spatial.Around(op.lat, op.lon, op.radius)
	}
	b := spatial.Box{South: op.lat - op.radius, North: op.lat + op.radius, West: op.lon - op.radius, East: op.lon + op.radius}
	if b.South <= -90 && b.North >= 90 && b.West <= -180 && b.East >= 180 {
		return spatial.World
	}
	return clipBox(b.South, b.West, b.North, b.East)
}

func (op *nearestScan) Next() (*vec.Batch, error) {
	for {
		b, err := op.scan.Next()
		if err != nil {
			return nil, err
		}
		if b != nil {
			if !op.last {
				op.measure(b)
			}
			return b, nil
		}
		if op.last || op.enough() {
			return nil, nil
		}
		op.grow()
	}
}

// measure notes the distances of rows.
func (op *nearestScan) measure(b *vec.Batch) {
	lat, lon := b.Cols[op.at[0]], b.Cols[op.at[1]]
	for i := range b.Rows() {
		r := b.Row(i)
		if lat.IsNull(r) || lon.IsNull(r) {
			continue
		}
		y, x := lat.F64[lat.Idx(r)], lon.F64[lon.Idx(r)]
		d := math.Hypot(y-op.lat, x-op.lon)
		if !op.near.Planar {
			d = spatial.Distance(op.lat, op.lon, y, x)
		}
		op.dists = append(op.dists, d)
	}
}

// enough reports whether the nearest rows are among those passed.
func (op *nearestScan) enough() bool {
	n := 0
	for _, d := range op.dists {
		if d < op.radius {
			n++
		}
	}
	return n >= op.want
}

// regionCodes are the codes that were read, for EXPLAIN.
func (op *nearestScan) regionCodes() []spatial.Range { return op.read }
