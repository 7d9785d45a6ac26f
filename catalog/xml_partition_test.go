package catalog

import (
	"strings"
	"testing"

	"kvsqld/catalog/types"
)

func int4(v int64) BoundValue { return BoundValue{Val: types.Int(types.TInt4, v)} }

// partitioned makes a range-partitioned table with a primary key and an index, with
// partitions of all kinds below it, and one that has an expression as its key.
func partitioned(d *ddl) {
	d.t.Helper()
	make := func(name string, parent *Table, b *PartBound, k *PartKey) *Table {
		spec := &TableSpec{Schema: SchemaPublic, Name: name, Bound: b, Key: k,
			Columns: []ColumnSpec{col("a", types.OInt4), col("b", types.OText)}}
		if parent != nil {
			spec.Parents = []types.OID{parent.OID}
			for i := range spec.Columns {
				spec.Columns[i].Inherited = Inherited{Parents: 1, NotLocal: true}
			}
		}
		t, err := d.CreateTable(spec)
		d.must(err)
		return t
	}
	key := func(strategy byte, cols ...PartKeyCol) *PartKey { return &PartKey{Strategy: strategy, Keys: cols} }
	a, b := PartKeyCol{Col: 0, Type: types.TInt4}, PartKeyCol{Col: 1, Type: types.TText}
	p := make("p", nil, nil, key(PartRange, a, b))
	_, err := d.AddConstraint(p.OID, &ConstraintSpec{Kind: 'p', Cols: []string{"a", "b"}})
	d.must(err)
	low := make("p1", p, &PartBound{From: []BoundValue{{Inf: -1}, {Inf: -1}}, To: []BoundValue{int4(5), {Val: types.Text("x")}}}, key(PartList, b))
	make("p11", low, &PartBound{In: []types.Datum{types.Text("q"), types.Null(types.TText)}}, nil)
	rest := make("p2", p, &PartBound{Default: true}, key(PartHash, a))
	make("p21", rest, &PartBound{Modulus: 4, Remainder: 3}, nil)
	make("e", nil, nil, key(PartHash, PartKeyCol{Col: -1, Expr: "lower(b)", ExprCols: []int{1}, Type: types.TText, Opclass: "o"}))
	_, err = d.CreateIndex(p.OID, &IndexSpec{Keys: []IndexKeySpec{{Col: "b"}}})
	d.must(err)
}

func TestXMLPartitions(t *testing.T) {
	d := newDDL(t)
	partitioned(d)
	d.must(d.cat.Publish(d.Delta()))
	s := d.cat.Current()
	for _, o := range s.Objects() {
		frag, err := EncodeObject(o)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := decodeFragment(frag, newestForm)
		if err != nil {
			t.Fatalf("%v\n%s", err, frag)
		}
		if !sameObject(o, back) {
			t.Errorf("changes on its way:\n%s", frag)
		}
	}
	first := export(t, s, "postgres")
	if err := readXSD(t).checkDocument(first); err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	if !strings.Contains(first, "PartitionBound") {
		t.Fatal("the document has no partitions")
	}
	again := reimport(t, s, "postgres")
	if second := export(t, again, "postgres"); second != first {
		t.Fatalf("the document changes on its way:\n%s\n---\n%s", first, second)
	}
	for _, name := range []string{"p1", "p11", "p2", "p21"} {
		part := again.Relation(OIDPostgres, SchemaPublic, name).(*Table)
		for _, ix := range part.Indexes {
			if ix.Parent == 0 {
				t.Errorf("index %s of %s is no part of one of its parent", ix.Name, name)
			}
		}
		if len(part.Indexes) != 2 {
			t.Errorf("%s has %d indexes", name, len(part.Indexes))
		}
	}
}
