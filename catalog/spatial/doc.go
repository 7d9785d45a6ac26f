// Package spatial is the geometry of regions: positions on a sphere, boxes of
// latitudes and longitudes, and the grid that orders positions in a file.
//
// In: degrees and metres. Out: distances, boxes, codes of positions, ranges of
// codes. It knows neither tables nor keys.
//
// The grid is plain: cells of a fixed number of degrees, and inside a cell the
// interleaved bits of the position (Morton order). A cell, and every quarter of
// a quarter of it, is one contiguous range of codes; so a region that holds too
// much is divided without giving any position another code. A sphere's own
// curves (S2) waste less near the poles, but their cells are no boxes of
// latitude and longitude, which is how regions are described and queried here;
// the cover of a circle costs half a microsecond on the grid.
//
// Invariants:
//
//	S1  Codes are monotone in each coordinate as long as the other one's code
//	    stays: a box's cover holds the code of every position of the box.
//	S2  A cover may hold more than was asked for. Whoever reads it checks again.
//	S3  The longitudes -180 and 180 have different codes; boxes that touch the
//	    date line cover both sides.
package spatial
