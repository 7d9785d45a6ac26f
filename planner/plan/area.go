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
func areaText(a *Area) string {
	var out []string
	for _, c := range a.Circles {
		out = append(out, "within "+text(c.Metres)+" of ("+text(c.Lat)+", "+text(c.Lon)+")")
	}
	for _, b := range a.Boxes {
		out = append(out, "box ("+text(b.South)+", "+text(b.West)+") to ("+text(b.North)+", "+text(b.East)+")")
	}
	span := func(name string, lo, hi Expr) {
		switch {
		case lo != nil && hi != nil:
			out = append(out, name+" from "+text(lo)+" to "+text(hi))
		case lo != nil:
			out = append(out, name+" from "+text(lo))
		case hi != nil:
			out = append(out, name+" to "+text(hi))
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
func clusterDetails(n *ClusterScan, add func(label, s string)) {
	if n.Area != nil {
		add("Regions", areaText(n.Area))
	}
	if n.Key != nil {
		add("Key", texts(n.Key))
	}
	nearestDetails(n.Nearest, add)
	for i := range n.Levels {
		l := &n.Levels[i]
		s := l.Table.Name
		if l.Outer {
			s += " (left)"
		}
		for i := range l.Ranges {
			s += ", key " + rangeOf(&l.Ranges[i], func(i int) string {
				if tail := l.Table.ClusterTail(); i < len(tail) {
					return l.Table.Columns[tail[i]].Name
				}
				return "?"
			})
		}
		if l.Filter != nil {
			s += ", " + text(l.Filter)
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
func nearestDetails(x *Nearest, add func(label, s string)) {
	if x != nil {
		add("Nearest to", text(x.Lat)+", "+text(x.Lon))
	}
}
