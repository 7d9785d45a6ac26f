package catalog

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kvsqld/catalog/types"
)

// names draws identifiers, also ones that XML cannot hold as they are.
func names(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z][a-z0-9_]{0,8}`),
		rapid.StringMatching(`[A-Za-z <>&"'_x0-9ő]{1,12}`),
		rapid.SampledFrom([]string{"_x0041_", "a\nb", " lead", "1", "\x01", "select", "ő\u2028"}),
	).Draw(t, label)
}

func anyType(t *rapid.T, user []types.T) types.T {
	pool := []types.T{types.TInt4, types.TInt8, types.TText, types.TBool, types.TFloat8, types.TNumeric, types.TTimestamptz, types.TTextArr,
		types.TUUID, types.TBytea, types.TDate, types.TInterval, types.Of(types.OChar), types.Of(types.OBpchar), types.TVarchar, types.TName,
		{OID: types.OVarchar, Mod: 14}, {OID: types.OBpchar, Mod: 5}, {OID: types.ONumeric, Mod: numericMod(12, 2)},
		{OID: types.ONumeric, Mod: numericMod(5, -3)}, {OID: types.OTimestamp, Mod: 3}, {OID: types.OVarbit, Mod: 9},
		types.Of(types.OCitext), types.Of(types.OCitextArr), types.Of(types.OHstoreArr)}
	return rapid.SampledFrom(append(pool, user...)).Draw(t, "type")
}

func anyDatum(t *rapid.T) types.Datum {
	switch rapid.IntRange(0, 5).Draw(t, "datum") {
	case 0:
		return types.Int(types.TInt8, rapid.Int64().Draw(t, "int"))
	case 1:
		return types.Float(types.TFloat8, rapid.Float64().Draw(t, "float"))
	case 2:
		return types.Bytes(types.TBytea, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case 3:
		return types.Datum{T: types.TNumeric, Dec: types.NewDecimal(rapid.Int64().Draw(t, "coef"), rapid.Int32Range(0, 12).Draw(t, "scale"))}
	case 4:
		return types.Datum{T: types.TInterval, Iv: types.Interval{Months: -3, Days: 4, Micros: rapid.Int64().Draw(t, "micros")}}
	}
	return types.Null(types.TText)
}

// anySchema draws a catalog by running random DDL; statements that fail leave
// nothing behind.
func anySchema(t *rapid.T) (*Catalog, *Snapshot) {
	c := New(nil)
	d := NewChange(c.Current(), OIDPostgres, "postgres", []string{"public"}, c)
	schemas := []string{"public"}
	var user []types.T
	var tables []types.OID
	steps := rapid.IntRange(1, 14).Draw(t, "steps")
	for i := range steps {
		schema := rapid.SampledFrom(schemas).Draw(t, "schema")
		name := names(t, "name")
		switch rapid.IntRange(0, 8).Draw(t, "step") {
		case 0:
			if n, err := d.CreateSchema(name, ""); err == nil {
				schemas = append(schemas, n.Name)
			}
		case 1:
			if u, err := d.CreateEnum(schema, name, []string{names(t, "label"), fmt.Sprint("l", i)}); err == nil {
				e, _ := d.Snapshot().T(u.OID, -1)
				a, _ := d.Snapshot().T(u.Array, -1)
				user = append(user, e, a)
			}
		case 2:
			if u, err := d.CreateDomain(&DomainSpec{Schema: schema, Name: name, Base: anyType(t, user), NotNull: true, Default: "NULL",
				Checks: []Check{{Expr: "(VALUE IS NOT NULL)"}}}); err == nil {
				e, _ := d.Snapshot().T(u.OID, -1)
				user = append(user, e)
			}
		case 3:
			_, _ = d.CreateSequence(&SequenceSpec{Schema: schema, Name: name, Cycle: i%2 == 0})
		case 4, 5:
			spec := &TableSpec{Schema: schema, Name: name, Options: Options{{"fillfactor", "70"}}}
			for k := range rapid.IntRange(1, 4).Draw(t, "columns") {
				cs := ColumnSpec{Column: Column{Name: names(t, "column"), Type: anyType(t, user), Comment: names(t, "comment")}}
				if k == 0 && i%2 == 0 {
					cs.Type, cs.OwnSequence = types.TInt4, &SequenceSpec{Type: types.TInt4}
				}
				spec.Columns = append(spec.Columns, cs)
			}
			first := spec.Columns[0].Name
			spec.Constraints = []ConstraintSpec{{Kind: 'p', Cols: []string{first}}, {Kind: 'c', Expr: "(1 < 2)", ExprCols: []string{first}}}
			if tab, err := d.CreateTable(spec); err == nil {
				tables = append(tables, tab.OID)
			}
		case 6:
			if len(tables) > 0 {
				oid := rapid.SampledFrom(tables).Draw(t, "table")
				tab := d.Snapshot().Table(oid)
				_, _ = d.CreateIndex(oid, &IndexSpec{Keys: []IndexKeySpec{{Col: tab.Columns[0].Name, Desc: i%2 == 0}, {Expr: "(1 + 2)", Type: types.TInt4}}})
				_, _ = d.CreateIndex(oid, &IndexSpec{Kind: rapid.SampledFrom([]string{KindHash, KindInverted, KindGin}).Draw(t, "kind"),
					Keys: []IndexKeySpec{{Col: tab.Columns[0].Name}}})
				_, _ = d.AddConstraint(oid, &ConstraintSpec{Kind: 'u', Cols: []string{tab.Columns[len(tab.Columns)-1].Name}})
				target := d.Snapshot().Table(rapid.SampledFrom(tables).Draw(t, "target"))
				_, _ = d.AddConstraint(oid, &ConstraintSpec{Kind: 'f', Cols: []string{tab.Columns[0].Name}, RefSchema: target.Schema, RefTable: target.Name, OnDelete: 'c'})
			}
		case 7:
			if len(tables) > 0 {
				oid := rapid.SampledFrom(tables).Draw(t, "table")
				tab := d.Snapshot().Table(oid)
				_, _ = d.CreateView(&ViewSpec{Schema: schema, Name: name, Query: "SELECT 1 < 2", Columns: []Column{{Name: "q", Type: types.TBool}},
					Deps: []types.OID{oid}, ColDeps: []ColRef{{oid, 0}}, Materialized: i%3 == 0})
				_ = d.PutStats(&Stats{Table: oid, Rows: 12.5, Pages: 3, Cols: []ColStats{{NDistinct: -0.5, MCV: []types.Datum{anyDatum(t)},
					MCF: []float64{0.25}, Histogram: []types.Datum{anyDatum(t)}}}})
				_, _ = d.AddColumn(tab.OID, &ColumnSpec{Column: Column{Name: names(t, "added"), Type: types.TInt8, Missing: ptr(anyDatum(t))}})
			}
		case 8:
			f := &Function{Args: []types.T{anyType(t, user)}, ArgNames: []string{"a"}, Ret: anyType(t, user), Volatile: 'i', Language: "sql", Body: names(t, "body")}
			f.Schema, f.Name = schema, name
			_, _ = d.CreateFunction(f, false)
			_, _ = d.CreateRole(&Role{Common: Common{Name: name}, Login: true, ConnLimit: -1, Settings: map[string]string{"a": "b"}})
		}
	}
	if err := c.Publish(d.Delta()); err != nil {
		t.Fatalf("a change that was accepted step by step is refused: %v", err)
	}
	return c, c.Current()
}

func ptr[T any](v T) *T { return &v }

func TestFragmentsKeepEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := anySchema(t)
		fragments := [][]byte{c.EncodeCounters()}
		for _, o := range s.Objects() {
			f, err := EncodeObject(o)
			if err != nil {
				t.Fatal(err)
			}
			back, _, err := decodeFragment(f, newestForm)
			if err != nil {
				t.Fatalf("%v\n%s", err, f)
			}
			again, _ := EncodeObject(back)
			if string(again) != string(f) {
				t.Fatalf("a fragment changes:\n%s\n%s", f, again)
			}
			fragments = append(fragments, f)
		}
		fresh := New(nil)
		if err := fresh.Load(fragments); err != nil {
			t.Fatal(err)
		}
		if err := fresh.Current().Validate(); err != nil {
			t.Fatal(err)
		}
		if a, b := fresh.AllocOID(), c.AllocOID(); a != b {
			t.Fatalf("the next OID is %d, was %d", a, b)
		}
		for _, o := range s.Objects() {
			if got := fresh.Current().Object(o.ObjectOID()); !sameObject(o, got) {
				t.Fatalf("object %d differs:\n%+v\n%+v", o.ObjectOID(), o, got)
			}
		}
	})
}

// sameObject compares objects; empty and nil lists are the same.
func sameObject(a, b Object) bool {
	fa, _ := EncodeObject(a)
	fb, _ := EncodeObject(b)
	return reflect.TypeOf(a) == reflect.TypeOf(b) && string(fa) == string(fb)
}

func TestDocumentsComeBackAsTheyWere(t *testing.T) {
	x := readXSD(t)
	rapid.Check(t, func(rt *rapid.T) {
		_, s := anySchema(rt)
		first := exportString(rt, s)
		if err := x.checkDocument(first); err != nil {
			rt.Fatalf("%v\n%s", err, first)
		}
		c := New(nil)
		d, err := importString(first, c)
		if err != nil {
			rt.Fatalf("%v\n%s", err, first)
		}
		if err := c.Publish(d.Delta); err != nil {
			rt.Fatal(err)
		}
		if second := exportString(rt, c.Current()); second != first {
			rt.Fatalf("the document changes on its way:\n%s\n---\n%s", first, second)
		}
	})
}

func exportString(t *rapid.T, s *Snapshot) string {
	var b strings.Builder
	if err := Export(s, &b, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func importString(doc string, c *Catalog) (*Document, error) {
	return Import(strings.NewReader(doc), c.Current(), c, "postgres")
}

// TestOldTidFragments reads what data files of the formats before 4 say of tids: values
// and domains over them are texts there.
func TestOldTidFragments(t *testing.T) {
	tid := types.Of(types.OTid)
	domain := types.T{OID: 70000, Mod: -1, User: types.KText, Elem: types.OTid}
	was := &Table{Common: Common{OID: 70001, DB: 5, Name: "t", Schema: "public", Owner: "postgres"}, Columns: []Column{
		{Name: "x", Type: domain, Missing: &types.Datum{T: tid, B: []byte("(1,2)")}},
	}}
	f, err := EncodeObject(was)
	if err != nil {
		t.Fatal(err)
	}
	o, _, err := decodeFragment(f, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := &o.(*Table).Columns[0]
	if c.Type.Kind() != types.KWord || string(c.Missing.B) != string(types.Tid(1, 2)) {
		t.Errorf("kind %v, value %q", c.Type.Kind(), c.Missing.B)
	}
	// Of the form that the catalog has now a value is what it is.
	was.Columns[0].Missing.B = types.Tid(674245681, 12329)
	f, _ = EncodeObject(was)
	if o, _, err = decodeFragment(f, newestForm); err != nil || string(o.(*Table).Columns[0].Missing.B) != "(0,10)" {
		t.Errorf("%v, %s", err, f)
	}
	// The bounds of a histogram are in the order of the values.
	st := &Stats{Common: Common{OID: 70002, DB: 5}, Table: 70001, Cols: []ColStats{{Histogram: []types.Datum{{T: tid, B: []byte("(10,1)")}, {T: tid, B: []byte("(9,1)")}}}}}
	f, _ = EncodeObject(st)
	if o, _, err = decodeFragment(f, 1); err != nil || string(o.(*Stats).Cols[0].Histogram[0].B) != string(types.Tid(9, 1)) {
		t.Errorf("%v, %s", err, f)
	}
}
