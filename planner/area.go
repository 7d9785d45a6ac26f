package planner

import (
	"encoding/binary"
	"math"

	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Regions. For a table geo WITH (regions = 'lat, lon') these conjuncts, in any
// combination and with parameters or constants for $n, restrict the regions that
// are read; all of them stay in the filter:
//
//	distance(lat, lon, $1, $2) <= $3       also <, turned round, or with the
//	                                       positions exchanged
//	lat BETWEEN $1 AND $2                  and any other bounds of lat and lon
//	bounding_box(lat, lon, $1, $2, $3, $4)

// areaFraction is the part of the rows that an area holds where nothing is known
// about the place.
const areaFraction = 0.001

// areaOf reads the conjuncts that restrict the place of a region-clustered
// table's rows; nil if none does.
func (p *planner) areaOf(r *rel, conj []plan.Expr) *plan.Area {
	if p.NoOptimizer || r.table == nil || r.table.Cluster == nil || !r.table.Cluster.Root() {
		return nil
	}
	k := r.table.Cluster
	a := &plan.Area{}
	for _, c := range conj {
		call, ok := c.(*plan.Call)
		if !ok {
			continue
		}
		if call.Proc.OID == catalog.OProcBoundingBox {
			if isCol(call.Args[0], r, k.Lat) && isCol(call.Args[1], r, k.Lon) && fixedArgs(call.Args[2:]) {
				a.Boxes = append(a.Boxes, plan.Box{South: call.Args[2], West: call.Args[3], North: call.Args[4], East: call.Args[5]})
			}
			continue
		}
		if len(call.Args) != 2 {
			continue
		}
		dist, other := call.Args[0], call.Args[1]
		switch call.Op {
		case "<", "<=":
		case ">", ">=":
			dist, other = other, dist
		default:
			continue
		}
		if lat, lon, ok := p.distanceFrom(r, dist); ok && fixedArgs([]plan.Expr{other}) && other.Type().OID == types.OFloat8 {
			a.Circles = append(a.Circles, plan.Circle{Lat: lat, Lon: lon, Metres: other})
		}
	}
	bounds := p.boundsOf(r, conj, func(in map[int]bool) bool { return len(in) == 0 })
	side := func(col int) (lo, hi plan.Expr) {
		for _, b := range bounds[col] {
			switch b.kind {
			case "eq":
				return b.x, b.x
			case "lo":
				lo = b.x
			case "hi":
				hi = b.x
			}
		}
		return lo, hi
	}
	a.South, a.North = side(k.Lat)
	a.West, a.East = side(k.Lon)
	lat, lon := a.South != nil || a.North != nil, a.West != nil || a.East != nil
	a.Known = len(a.Circles) > 0 || len(a.Boxes) > 0 || lat && lon
	if !a.Known && !lat && !lon {
		return nil
	}
	return a
}

// distanceFrom takes distance(lat, lon, x, y) of the table's columns apart.
func (p *planner) distanceFrom(r *rel, e plan.Expr) (lat, lon plan.Expr, ok bool) {
	c, is := e.(*plan.Call)
	if !is || c.Proc.OID != catalog.OProcDistance {
		return nil, nil, false
	}
	k := r.table.Cluster
	for _, from := range []int{0, 2} {
		if isCol(c.Args[from], r, k.Lat) && isCol(c.Args[from+1], r, k.Lon) {
			rest := c.Args[2-from : 4-from]
			return rest[0], rest[1], fixedArgs(rest)
		}
	}
	return nil, nil, false
}

// isCol reports whether e is a column of r as it is.
func isCol(e plan.Expr, r *rel, col int) bool {
	v, ok := e.(*plan.Var)
	return ok && v.Rel == r.id && v.Col == col
}

// fixedArgs reports whether the expressions have one value for a statement.
func fixedArgs(list []plan.Expr) bool {
	for _, e := range list {
		in := map[int]bool{}
		relsOf(e, in)
		if len(in) > 0 || volatileExpr(e) {
			return false
		}
	}
	return true
}

// areaPart estimates the part of the rows that lie in the area.
func (p *planner) areaPart(r *rel, a *plan.Area) float64 {
	value := func(e plan.Expr, otherwise float64) (float64, bool) {
		if e == nil {
			return otherwise, true
		}
		d, ok := p.estimate(e)
		return d.F, ok && d.T.Kind() == types.KFloat8
	}
	part := 1.0
	// Places are not spread evenly: most of the Earth has none.
	const crowded = 20
	take := func(b spatial.Box) {
		width := b.East - b.West
		if b.West > b.East {
			width += 360
		}
		part = min(part, crowded*max(0, b.North-b.South)*max(0, width)/(180*360))
	}
	for _, c := range a.Circles {
		lat, ok1 := value(c.Lat, 0)
		lon, ok2 := value(c.Lon, 0)
		metres, ok3 := value(c.Metres, 0)
		if !ok1 || !ok2 || !ok3 || !spatial.Valid(lat, lon) {
			part = min(part, areaFraction)
			continue
		}
		take(spatial.Around(lat, lon, metres))
	}
	box := func(s, w, n, e plan.Expr) {
		south, ok1 := value(s, -90)
		west, ok2 := value(w, -180)
		north, ok3 := value(n, 90)
		east, ok4 := value(e, 180)
		if !ok1 || !ok2 || !ok3 || !ok4 {
			part = min(part, areaFraction)
			return
		}
		take(spatial.Box{South: south, West: west, North: north, East: east})
	}
	for _, b := range a.Boxes {
		box(b.South, b.West, b.North, b.East)
	}
	if a.South != nil || a.West != nil || a.North != nil || a.East != nil {
		box(a.South, a.West, a.North, a.East)
	}
	return max(part, 1e-6)
}

// placeArea makes the area's expressions those of a finished plan.
func (p *planner) placeArea(a *plan.Area) *plan.Area {
	if a == nil {
		return nil
	}
	c := *a
	c.Circles = append([]plan.Circle(nil), a.Circles...)
	c.Boxes = append([]plan.Box(nil), a.Boxes...)
	c.Exprs(func(e *plan.Expr) { *e = p.place(*e, nil) })
	return &c
}

// clusterPairs estimates the pairs in the file that a table is stored in.
func (p *planner) clusterPairs(t *catalog.Table) float64 {
	root := t
	for root.Cluster.ParentTable() != nil {
		root = root.Cluster.ParentTable()
	}
	n := 0.0
	var walk func(t *catalog.Table)
	walk = func(t *catalog.Table) {
		n += p.tableRows(t)
		for _, c := range p.Snap.ClusterChildren(t) {
			walk(c)
		}
	}
	walk(root)
	return n
}

// nearest makes a scan of one region-clustered table go from near to far when the
// block orders it by distance and wants only the first rows.
func (p *planner) nearest(s *state, sc *plan.Scan) {
	b, q := s.b, s.q
	r := s.cur.base
	if p.NoOptimizer || r == nil || r.table != sc.Table || r.table.Cluster == nil || !r.table.Cluster.Root() || sc.Index != nil || sc.Ranges != nil ||
		sc.Area != nil || sc.Lock != nil || q.limit == nil || q.ties || len(q.sort) == 0 || b.grouped || b.distinct || len(b.wins) > 0 || b.hasSRF ||
		len(b.rels) != 1 || len(b.semis) > 0 || len(q.locks) > 0 {
		return
	}
	k := q.sort[0]
	if k.desc || k.nullsFirst {
		return
	}
	x := b.targets[k.target].x
	lat, lon, ok := p.distanceFrom(r, x)
	planar := false
	if !ok {
		lat, lon, ok = p.pointFrom(r, x)
		planar = ok
	}
	if !ok {
		return
	}
	n := &plan.Nearest{Lat: p.place(lat, nil), Lon: p.place(lon, nil), Count: p.place(q.limit, nil), Planar: planar}
	if q.offset != nil {
		n.Skip = p.place(q.offset, nil)
	}
	sc.Nearest, sc.Access = n, plan.Regions
	p.note("sort", "rings around the position until the nearest are certain")
}

// pointFrom takes point(lon, lat) <-> point(x, y) of the table's columns apart.
func (p *planner) pointFrom(r *rel, e plan.Expr) (lat, lon plan.Expr, ok bool) {
	c, is := e.(*plan.Call)
	if !is || c.Op != "<->" || len(c.Args) != 2 {
		return nil, nil, false
	}
	k := r.table.Cluster
	point := func(e plan.Expr) (x, y plan.Expr, ok bool) {
		if v, is := e.(*plan.Const); is && v.T.OID == types.OPoint && !v.Val.Null && len(v.Val.B) == 16 {
			coord := func(b []byte) plan.Expr {
				return &plan.Const{At: plan.At{T: types.TFloat8, Off: v.Off},
					Val: types.Float(types.TFloat8, math.Float64frombits(binary.BigEndian.Uint64(b)))}
			}
			return coord(v.Val.B[:8]), coord(v.Val.B[8:]), true
		}
		c, is := e.(*plan.Call)
		if !is || c.Proc.Name != "point" || len(c.Args) != 2 || c.Args[0].Type().OID != types.OFloat8 {
			return nil, nil, false
		}
		return c.Args[0], c.Args[1], true
	}
	for _, own := range []int{0, 1} {
		x, y, ok := point(c.Args[own])
		if !ok || !isCol(x, r, k.Lon) || !isCol(y, r, k.Lat) {
			continue
		}
		if ox, oy, ok := point(c.Args[1-own]); ok && fixedArgs([]plan.Expr{ox, oy}) {
			return oy, ox, true
		}
	}
	return nil, nil, false
}
