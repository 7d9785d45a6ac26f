package planner

import (
	"encoding/binary"
	"math"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// The first rows by distance. For geo WITH (regions = 'lat, lon') the blocks
//
//	SELECT … FROM geo ORDER BY distance(lat, lon, $1, $2) LIMIT $3
//	SELECT … FROM geo JOIN poi … ORDER BY point(lon, lat) <-> point($1, $2) LIMIT $3
//	SELECT … FROM geo ORDER BY location <-> point($1, $2) LIMIT $3
//
// where location is GENERATED ALWAYS AS (point(lon, lat)) STORED, and a point may have
// its latitude first, with any filter read rings around the position, until no row outside of them can
// be among the first; the joins are those along the cluster. Where the filter has an
// area, too, rings end at it.

// ringRows is how many rows are read for each that is wanted: rings double, and the
// last of them is read as a whole.
const ringRows = 4

// nearest makes the scan of a region-clustered table, or the walk over it and the
// tables stored with it, go from near to far when the block orders its rows by
// distance and wants only the first of them.
func (p *planner) nearest(s *state) {
	top, n := p.nearestTo(s)
	if n == nil {
		return
	}
	in := s.cur
	switch node := in.node.(type) {
	case *plan.Scan:
		if in.base != top || len(s.units) != 1 || s.units[0].rel != top || node.Table != top.table || node.Lock != nil || in.unique || node.Access == plan.CurrentRow {
			return
		}
		rows, all := in.rows, p.ownCost(top.table)
		if node.Area != nil {
			all = in.cost
			// An area of which nothing is known may hold many: rings cost little more
			// than a small one as a whole, which may cost much more than rings.
			if part := p.areaPart(p.areaOf(top, s.units[0].local)); part != areaFraction {
				rows = min(rows, p.tableRows(top.table)*part)
			}
		}
		cost := p.ringCost(s, rows, all)
		if node.Access != plan.FullScan && in.cost+rows*costSort < cost {
			return
		}
		if node.Access != plan.FullScan && node.Area == nil {
			// Its conditions become filters.
			s.cur = p.planScan(s, s.units[0], &path{access: plan.Regions, rows: rows, cost: cost})
			node = s.cur.node.(*plan.Scan)
		}
		s.cur.cost, node.Cost = cost, cost
		node.Nearest, node.Access = n, plan.Regions
	case *plan.ClusterScan:
		if in.group == nil || in.group.levels[0].rel != top || len(in.group.levels) != len(s.b.rels) || node.Key != nil {
			return
		}
		cost := p.ringCost(s, in.rows, in.cost)
		if node.Area != nil && in.cost+in.rows*costSort < cost {
			return
		}
		node.Nearest = n
		in.cost = min(in.cost, cost)
		node.Cost = in.cost
	default:
		return
	}
	p.note("sort", "rings around the position until the nearest are certain")
}

// nearestTo returns the position that a block orders its rows by the distance from,
// and the region-clustered table that has the others; nil if it does not, or if rows
// of that table are not all that its LIMIT counts.
func (p *planner) nearestTo(s *state) (*rel, *plan.Nearest) {
	b, q := s.b, s.q
	if p.NoOptimizer || q.limit == nil || q.ties || len(q.sort) == 0 || b.grouped || b.distinct || len(b.wins) > 0 || b.hasSRF ||
		len(b.semis) > 0 || len(q.locks) > 0 {
		return nil, nil
	}
	k := q.sort[0]
	if k.desc || k.nullsFirst {
		return nil, nil
	}
	x := b.targets[k.target].x
	for _, r := range b.rels {
		if r.table == nil || r.table.Cluster == nil || !r.table.Cluster.Root() {
			continue
		}
		planar := false
		lat, lon, ok := p.distanceFrom(r, x)
		if !ok {
			lat, lon, ok = pointFrom(r, x)
			planar = ok
		}
		if !ok {
			continue
		}
		n := &plan.Nearest{Lat: p.place(lat, nil), Lon: p.place(lon, nil), Count: p.place(q.limit, nil), Planar: planar}
		if q.offset != nil {
			n.Skip = p.place(q.offset, nil)
		}
		return r, n
	}
	return nil, nil
}

// needPosition has the scan deliver the position where the rows are ordered by a column
// that is generated of it: rings are measured by the position.
func needPosition(s *state) {
	if s.q.limit == nil || len(s.q.sort) == 0 {
		return
	}
	for _, r := range s.b.rels {
		if r.table == nil || r.table.Cluster == nil || !r.table.Cluster.Root() {
			continue
		}
		if _, _, ok := pointFrom(r, s.b.targets[s.q.sort[0].target].x); ok {
			if s.need[r.id] == nil {
				s.need[r.id] = map[int]bool{}
			}
			s.need[r.id][r.table.Cluster.Lat], s.need[r.id][r.table.Cluster.Lon] = true, true
		}
	}
}

// ringCost estimates what reading rings around a position costs, where reading
// everything gives some rows and costs all.
func (p *planner) ringCost(s *state, rows, all float64) float64 {
	limit := p.limitOf(s)
	if limit == 0 {
		limit = rows // all, or nobody knows
	}
	return 4*costStart + all*min(1, ringRows*limit/max(1, rows))
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

// pointFrom takes point(lon, lat) <-> point(x, y) of the table's columns apart, or
// point(lat, lon), or that of a column which is generated so.
func pointFrom(r *rel, e plan.Expr) (lat, lon plan.Expr, ok bool) {
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
		latFirst, is := pointColumn(r, c.Args[own])
		if !is {
			x, y, ok := point(c.Args[own])
			latFirst = ok && isCol(x, r, k.Lat) && isCol(y, r, k.Lon)
			is = latFirst || ok && isCol(x, r, k.Lon) && isCol(y, r, k.Lat)
		}
		if !is {
			continue
		}
		if ox, oy, ok := point(c.Args[1-own]); ok && fixedArgs([]plan.Expr{ox, oy}) {
			if latFirst {
				return ox, oy, true
			}
			return oy, ox, true
		}
	}
	return nil, nil, false
}

// pointColumn reports whether an expression is a column that is generated as the point
// of the table's position, and whether that has the latitude first.
func pointColumn(r *rel, e plan.Expr) (latFirst, is bool) {
	v, ok := e.(*plan.Var)
	if !ok || v.Rel != r.id || v.Col < 0 || v.Col >= len(r.table.Columns) || v.T.OID != types.OPoint {
		return false, false
	}
	x, k := &r.table.Columns[v.Col], r.table.Cluster
	lat, lon := &r.table.Columns[k.Lat], &r.table.Columns[k.Lon]
	if !x.Generated || lat.Type.OID != types.OFloat8 || lon.Type.OID != types.OFloat8 {
		return false, false
	}
	of := func(a, b *catalog.Column) string {
		return "point(" + catalog.QuoteIdent(a.Name) + ", " + catalog.QuoteIdent(b.Name) + ")"
	}
	return x.Default == of(lat, lon), x.Default == of(lat, lon) || x.Default == of(lon, lat)
}
