package planner

import (
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
	known := p.boundsOf(r, conj, relSet.empty)
	side := func(col int) (lo, hi plan.Expr) {
		for _, b := range known.on(col) {
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

// isCol reports whether e is a column of r as it is.
func isCol(e plan.Expr, r *rel, col int) bool {
	v, ok := e.(*plan.Var)
	return ok && v.Rel == r.id && v.Col == col
}

// fixedArgs reports whether the expressions have one value for a statement.
func fixedArgs(list []plan.Expr) bool {
	for _, e := range list {
		if !relsOf(e).empty() || volatileExpr(e) {
			return false
		}
	}
	return true
}

// areaPart estimates the part of the rows that lie in the area.
func (p *planner) areaPart(a *plan.Area) float64 {
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
	return p.pairsFrom(root)
}

// pairsFrom estimates a table's rows and those that are stored below them.
func (p *planner) pairsFrom(t *catalog.Table) float64 {
	n := p.tableRows(t)
	for _, c := range p.Snap.ClusterChildren(t) {
		n += p.pairsFrom(c)
	}
	return n
}

// What it costs to pass over the rows below a row: a search in its page, or in pages
// of so many pairs each.
const (
	costPass  = 4.0
	pagePairs = 64
)

// ownCost estimates what reading a clustered table alone costs: its rows and those
// beside them. What lies below its rows is passed over.
func (p *planner) ownCost(t *catalog.Table) float64 {
	rows, from := p.tableRows(t), p.pairsFrom(t)
	below := from - rows
	return p.clusterPairs(t) - below + min(below, rows*costPass+below/pagePairs)
}
