package spatial

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MinCell is the smallest side of a cell in degrees: rows and columns are counted
// in two bytes each.
const MinCell = 0.01

// NullCode is the code of a position that is not known. It is greater than every
// other code.
const NullCode = math.MaxUint64

// Grid divides the Earth into cells of LatSize by LonSize degrees, counted from
// the south pole and the meridian -180. Cells at the north and east end are
// smaller when the size does not divide the whole.
type Grid struct{ LatSize, LonSize float64 }

// ParseGrid reads "LAT x LON" in degrees, which are plain decimal numbers.
func ParseGrid(s string) (Grid, error) {
	a, b, ok := strings.Cut(strings.ToLower(s), "x")
	if !ok {
		return Grid{}, fmt.Errorf("two numbers of degrees are wanted, as in '0.5 x 0.5'")
	}
	var g Grid
	for _, side := range []struct {
		text string
		max  float64
		to   *float64
	}{{a, 180, &g.LatSize}, {b, 360, &g.LonSize}} {
		text := strings.Trim(side.text, " \t\r\n")
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || !plainDecimal(strings.TrimPrefix(text, "-")):
			return Grid{}, fmt.Errorf("%q is not a number of degrees", text)
		case v <= 0:
			return Grid{}, fmt.Errorf("the sides of a region must be greater than zero")
		case v < MinCell || v > side.max:
			return Grid{}, fmt.Errorf("a side of %g degrees is not between %g and %g", v, MinCell, side.max)
		}
		*side.to = v
	}
	return g, nil
}

// plainDecimal reports whether s has digits only, with one point at most.
func plainDecimal(s string) bool {
	before, after, _ := strings.Cut(s, ".")
	return before+after != "" && strings.Trim(before+after, "0123456789") == ""
}

// String is the grid in the form that ParseGrid reads.
func (g Grid) String() string {
	return strconv.FormatFloat(g.LatSize, 'f', -1, 64) + " x " + strconv.FormatFloat(g.LonSize, 'f', -1, 64)
}

// bitsIn is the number of bits of a coordinate inside its cell.
const bitsIn = 16

// fixed is a coordinate counted from its lower end in cells, with bitsIn binary
// places; the upper end belongs to the last cell.
func fixed(v, low, extent, size float64) uint32 {
	cells := uint32(math.Ceil(extent / size))
	x := (v - low) / size * (1 << bitsIn)
	if x <= 0 {
		return 0
	}
	if last := cells<<bitsIn - 1; x < float64(last) {
		return uint32(x)
	} else {
		return last
	}
}

func (g Grid) latFixed(lat float64) uint32 { return fixed(lat, -90, 180, g.LatSize) }
func (g Grid) lonFixed(lon float64) uint32 { return fixed(lon, -180, 360, g.LonSize) }

// Code returns the code of a valid position: 2 bytes row and 2 bytes column of
// its cell, 4 bytes of interleaved bits inside the cell, latitude first.
func (g Grid) Code(lat, lon float64) uint64 {
	y, x := g.latFixed(lat), g.lonFixed(lon)
	return cellCode(y>>bitsIn, x>>bitsIn) | interleave(y&(1<<bitsIn-1), x&(1<<bitsIn-1))
}

func cellCode(row, col uint32) uint64 { return uint64(row)<<48 | uint64(col)<<32 }

// interleave puts the bits of y and x into turn, those of y higher.
func interleave(y, x uint32) uint64 { return spread(y)<<1 | spread(x) }

// spread puts a zero between the lower 16 bits.
func spread(v uint32) uint64 {
	v &= 0xffff
	v = (v | v<<8) & 0x00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f
	v = (v | v<<2) & 0x33333333
	v = (v | v<<1) & 0x55555555
	return uint64(v)
}

// gather undoes spread.
func gather(v uint64) uint32 {
	w := uint32(v) & 0x55555555
	w = (w | w>>1) & 0x33333333
	w = (w | w>>2) & 0x0f0f0f0f
	w = (w | w>>4) & 0x00ff00ff
	w = (w | w>>8) & 0x0000ffff
	return w
}
