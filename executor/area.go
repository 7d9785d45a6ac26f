package executor

import (
	"kvsqld/catalog/spatial"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// area is memory for the codes and windows of an area, used for one after the other.
type area struct {
	codes, more []spatial.Range
	windows     []spatial.Window
}

var noCodes = []spatial.Range{}

// eval returns the codes of the positions that may lie in an area, with the
// present parameters, never nil, and windows that those inside satisfy. Values that
// a filter will complain about, such as a latitude of 91, restrict nothing, so that
// it gets rows to complain about.
func (m *area) eval(env *Env, a *plan.Area, g spatial.Grid) ([]spatial.Range, []spatial.Window, error) {
	var out []spatial.Range // nil: everywhere
	windows := m.windows[:0]
	within := func(b spatial.Box) {
		if a.Known {
			windows = append(windows, g.Window(b))
			m.windows = windows
		}
		if out == nil {
			m.codes = g.AppendCover(m.codes[:0], b)
		} else {
			m.more = g.AppendCover(m.more[:0], b)
			m.codes = append(m.codes[:0], spatial.Intersect(out, m.more)...)
		}
		if out = m.codes; out == nil {
			out = noCodes
		}
	}
	value := func(e plan.Expr) (float64, bool, error) {
		d, err := expr.EvalConst(env.Expr, e)
		return d.F, !d.Null, err
	}
	values := func(es ...plan.Expr) (vs [4]float64, known bool, err error) {
		known = true
		for i, e := range es {
			var ok bool
			if vs[i], ok, err = value(e); err != nil {
				return vs, false, err
			}
			known = known && ok
		}
		return vs, known, nil
	}
	for _, c := range a.Circles {
		v, known, err := values(c.Lat, c.Lon, c.Metres)
		if err != nil {
			return nil, nil, err
		}
		if !known {
			return noCodes, nil, nil // the comparison is NULL
		}
		if spatial.Valid(v[0], v[1]) && v[2] == v[2] {
			within(spatial.Around(v[0], v[1], v[2]))
		}
	}
	for _, b := range a.Boxes {
		v, known, err := values(b.South, b.West, b.North, b.East)
		if err != nil {
			return nil, nil, err
		}
		if !known {
			return noCodes, nil, nil
		}
		within(clipBox(v[0], v[1], v[2], v[3]))
	}
	box := [4]float64{-90, -180, 90, 180}
	for i, e := range []plan.Expr{a.South, a.West, a.North, a.East} {
		if e == nil {
			continue
		}
		v, known, err := value(e)
		if err != nil {
			return nil, nil, err
		}
		if !known {
			return noCodes, nil, nil
		}
		box[i] = v
	}
	if a.South != nil || a.West != nil || a.North != nil || a.East != nil || out == nil {
		b := clipBox(box[0], box[1], box[2], box[3])
		if b.West > b.East {
			return noCodes, nil, nil
		}
		within(b)
	}
	if !a.Known {
		out = append(out, spatial.Range{Lo: spatial.NullCode, Hi: spatial.NullCode})
	}
	return out, windows, nil
}

// clipBox makes a box of any four numbers: NaN is greater than all, as in
// comparisons.
func clipBox(south, west, north, east float64) spatial.Box {
	clip := func(v, lo, hi float64) float64 {
		if v != v {
			return hi + 1
		}
		return min(max(v, lo-1), hi+1)
	}
	b := spatial.Box{South: clip(south, -90, 90), North: clip(north, -90, 90), West: clip(west, -180, 180), East: clip(east, -180, 180)}
	if b.South > 90 || b.North < -90 {
		return spatial.Box{South: 1, North: 0}
	}
	return b
}
