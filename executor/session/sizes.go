package session

import (
	"math"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Files of one store share its pages, so that the size of a relation is an
// estimate: its rows times what one takes on average.

// entryOverhead is what a pair takes besides its columns: headers, checksum and
// the place in a page.
const entryOverhead = 16

// variableWidth is assumed of a column that was never analysed and whose type
// has no fixed length.
const variableWidth = 32

// relationBytes estimates the size of a table, of an index or of a sequence,
// without what belongs to it.
func (c *catalogCall) relationBytes(oid types.OID) int64 {
	snap := c.snapshot()
	if t, ix := snap.IndexByOID(c.db, oid); ix != nil {
		return c.indexBytes(t, ix)
	}
	switch r := snap.RelationByOID(c.db, oid).(type) {
	case *catalog.Table:
		return c.tableBytes(r)
	case *catalog.View:
		if r.Materialized != nil {
			return c.tableBytes(r.Materialized)
		}
	case *catalog.Sequence:
		return pageBytes
	}
	return 0
}

// indexesBytes is the size of all indexes of a table.
func (c *catalogCall) indexesBytes(oid types.OID) int64 {
	var t *catalog.Table
	switch r := c.snapshot().RelationByOID(c.db, oid).(type) {
	case *catalog.Table:
		t = r
	case *catalog.View:
		t = r.Materialized
	}
	if t == nil {
		return 0
	}
	n := int64(0)
	for _, ix := range t.Indexes {
		n += c.indexBytes(t, ix)
	}
	return n
}

func (c *catalogCall) tableBytes(t *catalog.Table) int64 {
	width := 0.0
	for i := range t.Columns {
		if !t.Columns[i].Dropped {
			width += c.columnWidth(t, i)
		}
	}
	return c.pages(t, width)
}

// indexBytes is 0 for a primary key whose file is the table's.
func (c *catalogCall) indexBytes(t *catalog.Table, ix *catalog.Index) int64 {
	if ix.Space == 0 {
		return 0
	}
	width := 0.0
	for i := range ix.Keys {
		if k := &ix.Keys[i]; k.Col >= 0 {
			width += c.columnWidth(t, k.Col)
		} else {
			width += typeWidth(c.snapshot(), k.Type)
		}
	}
	for _, i := range ix.Include {
		width += c.columnWidth(t, i)
	}
	for _, i := range t.PK {
		width += c.columnWidth(t, i)
	}
	return c.pages(t, width)
}

func (c *catalogCall) pages(t *catalog.Table, width float64) int64 {
	rows := max(c.srv.estimate(c.snapshot())(t), 0)
	return int64(math.Ceil(rows*(width+entryOverhead)/pageBytes)) * pageBytes
}

func (c *catalogCall) columnWidth(t *catalog.Table, i int) float64 {
	if st := c.snapshot().Stats(t.OID); st != nil && i < len(st.Cols) && st.Cols[i].NDistinct != 0 {
		return st.Cols[i].AvgWidth
	}
	return typeWidth(c.snapshot(), t.Columns[i].Type)
}

func typeWidth(snap *catalog.Snapshot, t types.T) float64 {
	if in := snap.TypeInfo(t.OID); in != nil && in.Len > 0 {
		return float64(in.Len)
	}
	return variableWidth
}
