package catalog

import (
	"slices"

	"kvsqld/catalog/types"
)

// Stats is what is known of a table's contents: the outcome of ANALYZE. It is an
// object of its own, so that new statistics do not rewrite the table.
type Stats struct {
	Common
	Table types.OID
	Rows  float64 // live rows
	Pages float64 // 8 kB pages, of the master file's size
	// Cols is parallel to the table's Columns; a column that was not analysed has
	// NDistinct 0.
	Cols []ColStats
}

// ColStats are the statistics of a column, in PostgreSQL's terms.
type ColStats struct {
	NullFrac float64 // fraction of NULLs
	// NDistinct is the number of distinct values if positive, and minus the
	// fraction of rows that are distinct if negative; 0 is unknown.
	NDistinct float64
	AvgWidth  float64 // bytes
	// MCV are the most common values and MCF their frequencies, most common first.
	MCV []types.Datum
	MCF []float64
	// Histogram has the bounds of buckets with about equal numbers of the values
	// that are not in MCV, ascending.
	Histogram   []types.Datum
	Correlation float64 // of the column's order with the key's order, -1 … 1
	// Elems are the most common elements of arrays, or what an index by elements keeps of
	// other values, ascending, and ElemFreq the fractions of values, NULLs not counted,
	// that have them. One that is not among Elems is taken to be in ElemRest of the values.
	// ElemNull is the fraction of arrays with a NULL in them.
	Elems              []types.Datum
	ElemFreq           []float64
	ElemRest, ElemNull float64
}

// ElemShare is the fraction of values, NULLs not counted, that have an element.
func (c *ColStats) ElemShare(elem types.Datum) float64 {
	i, found := slices.BinarySearchFunc(c.Elems, elem, types.Compare)
	if found {
		return c.ElemFreq[i]
	}
	return c.ElemRest
}

// Distinct returns the estimated number of distinct values among rows rows.
func (c *ColStats) Distinct(rows float64) float64 {
	switch {
	case c.NDistinct > 0:
		return c.NDistinct
	case c.NDistinct < 0:
		return -c.NDistinct * rows
	}
	return 0
}
