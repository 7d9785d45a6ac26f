package catalog

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"kvsqld/catalog/types"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected documents")

// shop builds a catalog with one of everything.
func shop(t *testing.T) *ddl {
	t.Helper()
	d := newDDL(t)
	_, err := d.CreateSchema("shop", "")
	d.must(err)
	mood, err := d.CreateEnum("public", "mood", []string{"sad", "ok", "happy"})
	d.must(err)
	d.must(d.AddEnumValue(mood.OID, "so-so", false, "ok", false))
	m, _ := d.Snapshot().T(mood.OID, -1)
	zip, err := d.CreateDomain(&DomainSpec{Schema: "public", Name: "zip", Base: types.T{OID: types.OVarchar, Mod: 9},
		Checks: []Check{{Expr: "((VALUE)::text <> ''::text)"}}})
	d.must(err)
	z, _ := d.Snapshot().T(zip.OID, -1)
	_, err = d.CreateComposite("public", "point3", []Column{{Name: "x", Type: types.TFloat8}, {Name: "y", Type: types.TFloat8}})
	d.must(err)
	customers := d.table("customers", []ColumnSpec{
		serial("id"),
		{Column: Column{Name: "email", Type: types.T{OID: types.OVarchar, Mod: 124}, NotNull: true, Comment: "login"}},
		{Column: Column{Name: "name", Type: types.TText, NotNull: true, Default: "'anon'::text"}},
		{Column: Column{Name: "mood", Type: m}},
		{Column: Column{Name: "zip", Type: z}},
		{Column: Column{Name: "balance", Type: types.T{OID: types.ONumeric, Mod: numericMod(12, 2)}, NotNull: true, Default: "0"}},
		{Column: Column{Name: "tags", Type: types.TTextArr}},
	},
		ConstraintSpec{Kind: 'p', Cols: []string{"id"}},
		ConstraintSpec{Kind: 'u', Cols: []string{"email"}},
		ConstraintSpec{Kind: 'c', Expr: "(balance >= ('-100'::integer)::numeric)", ExprCols: []string{"balance"}})
	d.must(d.SetComment(customers.OID, "people who buy <things> & pay"))
	orders, err := d.CreateTable(&TableSpec{Schema: "shop", Name: "orders", Options: Options{{"fillfactor", "70"}}, Columns: []ColumnSpec{
		{Column: Column{Name: "id", Type: types.TInt8, Identity: 'd'}, OwnSequence: &SequenceSpec{}},
		col("customer", types.OInt4),
		{Column: Column{Name: "placed", Type: types.T{OID: types.OTimestamp, Mod: 3}, NotNull: true, Default: "CURRENT_TIMESTAMP"}},
		{Column: Column{Name: "note", Type: types.T{OID: types.OBpchar, Mod: 12}}},
		{Column: Column{Name: "double", Type: types.TInt4, Default: "(customer * 2)", Generated: true, DefaultCols: []int{1}}},
	}, Constraints: []ConstraintSpec{
		{Kind: 'p', Cols: []string{"id"}},
		{Kind: 'f', Cols: []string{"customer"}, RefSchema: "public", RefTable: "customers", OnDelete: 'c', Deferrable: true, InitiallyDeferred: true},
	}})
	d.must(err)
	_, err = d.CreateIndex(orders.OID, &IndexSpec{Name: "orders_customer_idx", Include: []string{"note"},
		Keys: []IndexKeySpec{{Col: "customer"}, {Col: "placed", Desc: true, NullsFirst: true}}})
	d.must(err)
	_, err = d.CreateIndex(orders.OID, &IndexSpec{Kind: "inverted", Keys: []IndexKeySpec{{Col: "note"}}})
	d.must(err)
	_, err = d.CreateIndex(customers.OID, &IndexSpec{Unique: true, Where: "(id > 1)", ExprCols: []string{"name", "id"},
		Keys: []IndexKeySpec{{Expr: "lower(name)", Name: "lower", Type: types.TText}}})
	d.must(err)
	v := d.view("v", customers.OID)
	_, err = d.CreateView(&ViewSpec{Schema: "shop", Name: "mv", Query: "SELECT v.a\n   FROM v\n  WHERE v.a < 3", Materialized: true, Populated: true,
		Columns: []Column{{Name: "a", Type: types.TInt4}}, Deps: []types.OID{v.OID}})
	d.must(err)
	_, err = d.CreateFunction(&Function{Common: Common{Schema: "public", Name: "add1"}, Args: []types.T{types.TInt4}, Ret: types.TInt4,
		Volatile: 'i', Language: "sql", Body: "select $1 + 1"}, false)
	d.must(err)
	_, err = d.CreateRole(&Role{Common: Common{Name: "clerk"}, Login: true, Inherit: true, ConnLimit: 5, Verifier: "SCRAM-SHA-256$…",
		Settings: map[string]string{"search_path": "shop"}})
	d.must(err)
	d.must(d.PutStats(&Stats{Table: customers.OID, Rows: 1000, Pages: 12, Cols: []ColStats{
		{NDistinct: -1, AvgWidth: 4, Histogram: []types.Datum{types.Int(types.TInt4, 1), types.Int(types.TInt4, 1000)}, Correlation: 1},
		{NullFrac: 0.5, NDistinct: 2, AvgWidth: 7, MCV: []types.Datum{types.Text("a@x")}, MCF: []float64{0.25}},
	}}))
	d.must(d.cat.Publish(d.Delta()))
	return d
}

func TestExportIsTheExpectedDocument(t *testing.T) {
	got := export(t, shop(t).cat.Current())
	path := filepath.Join("..", "testdata", "catalog", "shop.xml")
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the export differs from %s:\n%s", path, got)
	}
	s, err := importFile(t, "shop.xml")
	if err != nil {
		t.Fatal(err)
	}
	if again := export(t, s); again != got {
		t.Errorf("the document changes on its way:\n%s", again)
	}
}
