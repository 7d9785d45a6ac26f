package spatial

import (
	"fmt"
)

// Region is a cell of a grid or, divided Depth times into four, a part of one:
// all positions whose codes lie from Lo on, in a range of Size.
type Region struct {
	Lo    uint64
	Depth int // 0 is a whole cell
}

// MaxDepth is how often a cell can be divided.
const MaxDepth = bitsIn

// NullRegion holds the rows without a position.
var NullRegion = Region{Lo: NullCode, Depth: MaxDepth}

// RegionOf returns the region of a depth that holds a code.
func RegionOf(code uint64, depth int) Region {
	if code == NullCode {
		return NullRegion
	}
	return Region{Lo: code &^ (1<<(32-2*depth) - 1), Depth: depth}
}

// Range returns the codes of the region.
func (r Region) Range() Range { return Range{r.Lo, r.Lo | (1<<(32-2*r.Depth) - 1)} }

// Quarters returns the four parts of a region in the order of their codes: south
// west, south east, north west, north east.
func (r Region) Quarters() [4]Region {
	var out [4]Region
	for i := range out {
		out[i] = Region{Lo: r.Lo | uint64(i)<<(30-2*r.Depth), Depth: r.Depth + 1}
	}
	return out
}

// Box returns the region's box in a grid. Its north and east edges belong to the
// next region, except at the grid's ends.
func (g Grid) Box(r Region) Box {
	in := r.Lo & (1<<32 - 1)
	y := uint32(r.Lo>>48)<<bitsIn | gather(in>>1)
	x := uint32(r.Lo>>32)&0xffff<<bitsIn | gather(in)
	side := uint32(1) << (bitsIn - r.Depth)
	lat := func(v uint32) float64 { return min(90, -90+float64(v)/(1<<bitsIn)*g.LatSize) }
	lon := func(v uint32) float64 { return min(180, -180+float64(v)/(1<<bitsIn)*g.LonSize) }
	return Box{South: lat(y), West: lon(x), North: lat(y + side), East: lon(x + side)}
}

// String is the RegionID: row-column of the cell, then a digit (0 to 3, see
// Quarters) for each division; "null" for NullRegion.
func (r Region) String() string {
	if r == NullRegion {
		return "null"
	}
	b := []byte(fmt.Sprintf("%d-%d", r.Lo>>48, r.Lo>>32&0xffff))
	for d := range r.Depth {
		if d == 0 {
			b = append(b, '/')
		}
		b = append(b, '0'+byte(r.Lo>>(30-2*d)&3))
	}
	return string(b)
}
