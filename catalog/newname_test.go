package catalog

import (
	"slices"
	"strconv"
	"testing"

	"kvsqld/catalog/types"
)

func TestNewNames(t *testing.T) {
	d := newDDL(t)
	old := d.table("old", []ColumnSpec{col("x", types.OInt4)})
	mark := d.Mark()
	d.table("new", []ColumnSpec{col("x", types.OInt4)}, ConstraintSpec{Kind: 'p', Cols: []string{"x"}})
	for _, oid := range []types.OID{old.OID, d.Snapshot().Relation(d.DB, "public", "new").ObjectOID()} {
		_, err := d.EditTable(oid, func(t *Table) error { t.Comment = "again"; return nil })
		d.must(err)
	}
	var got []string
	for _, n := range d.NewNames(mark) {
		got = append(got, string(n.key.space)+" "+n.key.name)
	}
	want := []string{string(spaceType) + " new", string(spaceRelation) + " new", string(spaceRelation) + " new_pkey"}
	if !slices.Equal(got, want) {
		t.Errorf("new names %q, want %q", got, want)
	}
}

// TestNewNamesOfMany finds that the work grows with the names, not with their square.
func TestNewNamesOfMany(t *testing.T) {
	work := func(tables int) float64 {
		d := newDDL(t)
		mark := d.Mark()
		for i := range tables {
			d.table("t"+strconv.Itoa(i), []ColumnSpec{col("x", types.OInt4)})
		}
		return testing.AllocsPerRun(3, func() { d.NewNames(mark) })
	}
	if few, many := work(50), work(200); many > 8*few {
		t.Errorf("four times the names take %.0f allocations instead of %.0f", many, few)
	}
}
