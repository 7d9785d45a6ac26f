package plan

import (
	"strconv"
	"strings"
)

// Exprs calls f for each expression of the area.
func (a *Area) Exprs(f func(*Expr)) {
	if a == nil {
		return
	}
	for i := range a.Circles {
		c := &a.Circles[i]
		f(&c.Lat)
		f(&c.Lon)
		f(&c.Metres)
	}
	for i := range a.Boxes {
		b := &a.Boxes[i]
		f(&b.South)
		f(&b.West)
		f(&b.North)
		f(&b.East)
	}
	for _, e := range []*Expr{&a.South, &a.West, &a.North, &a.East} {
		if *e != nil {
			f(e)
		}
	}
}

// areaText describes an area for EXPLAIN.
func (w speller) areaText(a *Area) string {
	var out []string
	for _, c := range a.Circles {
		out = append(out, "within "+w.text(c.Metres)+" of ("+w.text(c.Lat)+", "+w.text(c.Lon)+")")
	}
	for _, b := range a.Boxes {
		out = append(out, "box ("+w.text(b.South)+", "+w.text(b.West)+") to ("+w.text(b.North)+", "+w.text(b.East)+")")
	}
	span := func(name string, lo, hi Expr) {
		switch {
		case lo != nil && hi != nil:
			out = append(out, name+" from "+w.text(lo)+" to "+w.text(hi))
		case lo != nil:
			out = append(out, name+" from "+w.text(lo))
		case hi != nil:
			out = append(out, name+" to "+w.text(hi))
		}
	}
	span("latitude", a.South, a.North)
	span("longitude", a.West, a.East)
	return strings.Join(out, " and ")
}

// maxRegionNames is how many regions EXPLAIN names.
const maxRegionNames = 16

func regionList(names []string) string {
	s := strconv.Itoa(len(names)) + " (" + strings.Join(names[:min(len(names), maxRegionNames)], ", ")
	if len(names) > maxRegionNames {
		s += ", …"
	}
	return s + ")"
}

// clusterDetails are the lines of a ClusterScan.
func (w speller) clusterDetails(n *ClusterScan, add func(label, s string)) {
	if n.Area != nil {
		add("Regions", w.areaText(n.Area))
	}
	if n.Key != nil {
		add("Key", w.texts(n.Key))
	}
	w.nearestDetails(n.Nearest, add)
	for i := range n.Levels {
		l := &n.Levels[i]
		s := l.Table.Name
		if l.Outer {
			s += " (left)"
		}
		for i := range l.Ranges {
			s += ", key " + w.rangeOf(&l.Ranges[i], func(i int) string {
				if tail := l.Table.ClusterTail(); i < len(tail) {
					return l.Table.Columns[tail[i]].Name
				}
				return "?"
			})
		}
		if l.Filter != nil {
			s += ", " + w.text(l.Filter)
		}
		add("Level", s)
	}
}

func clusterTitle(n *ClusterScan) string {
	var names []string
	for _, l := range n.Levels {
		names = append(names, l.Table.Name)
	}
	s := "Cluster scan " + strings.Join(names, ", ")
	switch {
	case n.Area != nil:
		s += ", regions"
	case n.Key != nil:
		s += ", below one key"
	case n.Nearest != nil:
		s += ", from near to far"
	}
	return s
}

// exprs calls f for each expression of the node's rings.
func (x *Nearest) exprs(f func(*Expr)) {
	if x == nil {
		return
	}
	f(&x.Lat)
	f(&x.Lon)
	f(&x.Count)
	f(&x.Skip)
}

// nearestDetails is the line about rings.
func (w speller) nearestDetails(x *Nearest, add func(label, s string)) {
	if x != nil {
		add("Nearest to", w.text(x.Lat)+", "+w.text(x.Lon))
	}
}
