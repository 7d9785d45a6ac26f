package pgcatalog

import (
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func testEnv(t *testing.T) *Env {
	t.Helper()
	c := catalog.New(Overlay())
	ch := catalog.NewChange(c.Current(), catalog.OIDPostgres, "postgres", []string{"public"}, c)
	buildShop(t, ch)
	return &Env{Snap: ch.Snapshot(), DB: catalog.OIDPostgres, User: "postgres", SearchPath: []string{"public"}}
}

// buildShop makes the small shop schema that the tests look at.
func buildShop(t *testing.T, ch *catalog.Change) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := ch.CreateSchema("shop", "")
	must(err)
	mood, err := ch.CreateEnum("public", "mood", []string{"sad", "ok", "happy"})
	must(err)
	moodT, _ := ch.Snapshot().T(mood.OID, -1)
	_, err = ch.CreateTable(&catalog.TableSpec{Schema: "public", Name: "customers",
		Columns: []catalog.ColumnSpec{
			{Column: catalog.Column{Name: "id", Type: types.TInt4}, OwnSequence: &catalog.SequenceSpec{Type: types.TInt4}},
			{Column: catalog.Column{Name: "email", Type: types.T{OID: types.OVarchar, Mod: 124}, NotNull: true}},
			{Column: catalog.Column{Name: "name", Type: types.TText, NotNull: true, Default: "'anon'::text"}},
			{Column: catalog.Column{Name: "mood", Type: moodT}},
			{Column: catalog.Column{Name: "balance", Type: types.T{OID: types.ONumeric, Mod: 786438}, NotNull: true, Default: "0"}},
			{Column: catalog.Column{Name: "tags", Type: types.TTextArr}},
		},
		Constraints: []catalog.ConstraintSpec{
			{Kind: 'p', Cols: []string{"id"}},
			{Kind: 'u', Cols: []string{"email"}},
			{Kind: 'c', Expr: "(balance >= ('-100'::integer)::numeric)", ExprCols: []string{"balance"}},
		}})
	must(err)
	orders, err := ch.CreateTable(&catalog.TableSpec{Schema: "public", Name: "orders",
		Columns: []catalog.ColumnSpec{
			{Column: catalog.Column{Name: "id", Type: types.TInt8, Identity: 'd'}, OwnSequence: &catalog.SequenceSpec{}},
			{Column: catalog.Column{Name: "customer_id", Type: types.TInt4, NotNull: true}},
			{Column: catalog.Column{Name: "placed", Type: types.TTimestamp, NotNull: true, Default: "CURRENT_TIMESTAMP"}},
		},
		Constraints: []catalog.ConstraintSpec{
			{Kind: 'p', Cols: []string{"id"}},
			{Kind: 'f', Cols: []string{"customer_id"}, RefSchema: "public", RefTable: "customers", RefCols: []string{"id"}, OnDelete: 'c'},
		}})
	must(err)
	items, err := ch.CreateTable(&catalog.TableSpec{Schema: "shop", Name: "items",
		Columns: []catalog.ColumnSpec{
			{Column: catalog.Column{Name: "order_id", Type: types.TInt8, NotNull: true}},
			{Column: catalog.Column{Name: "line", Type: types.TInt2, NotNull: true}},
			{Column: catalog.Column{Name: "sku", Type: types.T{OID: types.OVarchar, Mod: 36}, NotNull: true}},
			{Column: catalog.Column{Name: "qty", Type: types.TInt4, NotNull: true}},
		},
		Constraints: []catalog.ConstraintSpec{{Kind: 'p', Cols: []string{"order_id", "line"}}}})
	must(err)
	_, err = ch.CreateIndex(orders.OID, &catalog.IndexSpec{Name: "orders_customer_idx",
		Keys: []catalog.IndexKeySpec{{Col: "customer_id"}, {Col: "placed", Desc: true, NullsFirst: true}}})
	must(err)
	_, err = ch.CreateIndex(items.OID, &catalog.IndexSpec{Name: "items_sku_uq", Unique: true, Where: "(qty > 1)", ExprCols: []string{"sku", "qty"},
		Keys: []catalog.IndexKeySpec{{Expr: "lower((sku)::text)", Name: "lower", Type: types.TText}}})
	must(err)
	_, err = ch.CreateView(&catalog.ViewSpec{Schema: "public", Name: "ids", Query: "SELECT orders.id\n   FROM orders",
		Columns: []catalog.Column{{Name: "id", Type: types.TInt8}}, Deps: []types.OID{orders.OID}})
	must(err)
}

func TestEverySystemRelationIsListedOnce(t *testing.T) {
	seen := make(map[string]int)
	for _, d := range list() {
		seen[d.name]++
	}
	for _, e := range empty {
		seen[e.name]++
	}
	for _, s := range append(catalog.OwnRelations(), catalog.SystemRelations()...) {
		name := s.Name
		if s.Schema != catalog.SchemaPgCatalog {
			name = s.Schema + "." + s.Name
		}
		if seen[name] != 1 {
			t.Errorf("%s is listed %d times", name, seen[name])
		}
		delete(seen, name)
	}
	for name := range seen {
		t.Errorf("%s is listed and does not exist", name)
	}
	if n := len(All()); n != 208 {
		t.Errorf("%d relations, want 208", n)
	}
}

// rows collects a relation's rows as text, and checks that every value has its
// column's type.
func rows(t *testing.T, env *Env, schema, name string, key *Lookup) [][]string {
	t.Helper()
	r := Find(schema, name)
	if r == nil {
		t.Fatalf("%s.%s does not exist", schema, name)
	}
	var out [][]string
	err := r.Rows(env, key, func(row []types.Datum) bool {
		text := make([]string, len(row))
		for i, d := range row {
			if d.T != r.Columns[i].Type {
				t.Fatalf("%s.%s has type %v, want %v", name, r.Columns[i].Name, d.T, r.Columns[i].Type)
			}
			if d.Null {
				text[i] = "NULL"
				continue
			}
			text[i] = string(types.AppendText(nil, d, &types.FmtOpts{}))
		}
		out = append(out, text)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryRelationProducesWellFormedRows(t *testing.T) {
	env := testEnv(t)
	for _, r := range All() {
		got := rows(t, env, r.Schema, r.Name, nil)
		for _, key := range r.Keys {
			for _, c := range key {
				if c < 0 {
					t.Fatalf("%s has a key over a column that does not exist", r.Name)
				}
			}
		}
		if len(got) > 0 && emptyReason(r.Schema, r.Name) != "" {
			t.Errorf("%s is declared empty and has rows", r.Name)
		}
	}
}

// A lookup finds exactly the rows that a scan with the same condition finds.
func TestLookupsAgreeWithScans(t *testing.T) {
	env := testEnv(t)
	for _, r := range All() {
		for _, key := range r.Keys {
			all := collect(t, env, r, nil)
			for i := 0; i < len(all); i += 1 + len(all)/40 {
				k := &Lookup{Cols: key}
				for _, c := range key {
					k.Vals = append(k.Vals, all[i][c])
				}
				want := 0
				for _, row := range all {
					same := true
					for p, c := range key {
						same = same && sameValue(&row[c], &k.Vals[p])
					}
					if same {
						want++
					}
				}
				if got := len(collect(t, env, r, k)); got != want {
					t.Errorf("%s%v: lookup of row %d finds %d rows, a scan %d", r.Name, key, i, got, want)
				}
			}
		}
	}
}

func collect(t *testing.T, env *Env, r *Relation, key *Lookup) [][]types.Datum {
	t.Helper()
	var out [][]types.Datum
	if err := r.Rows(env, key, func(row []types.Datum) bool {
		out = append(out, append([]types.Datum(nil), row...))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDefinitionsAreSpelledAsPostgreSQLSpellsThem(t *testing.T) {
	env := testEnv(t)
	for name, want := range map[string]string{
		"customers_pkey":      "CREATE UNIQUE INDEX customers_pkey ON public.customers USING btree (id)",
		"orders_customer_idx": "CREATE INDEX orders_customer_idx ON public.orders USING btree (customer_id, placed DESC)",
		"shop.items_sku_uq":   "CREATE UNIQUE INDEX items_sku_uq ON shop.items USING btree (lower((sku)::text)) WHERE (qty > 1)",
	} {
		if got, ok := env.GetIndexDef(env.toRegclass(name), 0, false); !ok || got != want {
			t.Errorf("index %s: %s, want %s", name, got, want)
		}
	}
	constraints := map[string][2]string{
		"customers_pkey":          {"PRIMARY KEY (id)", "PRIMARY KEY (id)"},
		"customers_email_key":     {"UNIQUE (email)", "UNIQUE (email)"},
		"customers_balance_check": {"CHECK ((balance >= ('-100'::integer)::numeric))", "CHECK (balance >= '-100'::integer::numeric)"},
		"orders_customer_id_fkey": {"FOREIGN KEY (customer_id) REFERENCES customers(id) ON DELETE CASCADE", "FOREIGN KEY (customer_id) REFERENCES customers(id) ON DELETE CASCADE"},
	}
	for _, row := range collect(t, env, Find("pg_catalog", "pg_constraint"), nil) {
		want, ok := constraints[string(row[1].B)]
		if !ok {
			continue
		}
		for i, pretty := range []bool{false, true} {
			if got, _ := env.GetConstraintDef(types.OID(row[0].I), pretty); got != want[i] {
				t.Errorf("constraint %s (pretty %v): %s, want %s", row[1].B, pretty, got, want[i])
			}
		}
	}
	if got, _ := env.GetViewDef(env.toRegclass("ids"), false, 0); got != " SELECT orders.id\n   FROM orders;" {
		t.Errorf("view: %q", got)
	}
	id := env.Snap.Relation(env.DB, "public", "customers").RelColumns()[0]
	if got := env.GetExpr(id.Default, 0, false); got != "nextval('customers_id_seq'::regclass)" {
		t.Errorf("default: %s", got)
	}
	if got, _ := env.GetSerialSequence(env.toRegclass("customers"), "id"); got != "public.customers_id_seq" {
		t.Errorf("serial sequence: %s", got)
	}
}

func TestNamesOfObjects(t *testing.T) {
	env := testEnv(t)
	for _, tt := range []struct{ in, want string }{
		{"customers", "customers"}, {"public.customers", "customers"}, {"shop.items", "shop.items"}, {`"customers"`, "customers"},
		{"pg_class", "pg_class"}, {"information_schema.tables", "information_schema.tables"}, {"CUSTOMERS", "customers"},
		{"pg_class_oid_index", "pg_class_oid_index"},
	} {
		o := env.toRegclass(tt.in)
		if got := env.regclassOut(o); o == 0 || got != tt.want {
			t.Errorf("regclass %s: %d %s, want %s", tt.in, o, got, tt.want)
		}
	}
	if env.toRegclass("nosuch") != 0 || env.toRegclass("a.b.c.d") != 0 {
		t.Error("names of nothing resolve")
	}
	if _, err := env.RegIn(types.ORegclass, "nosuch"); err == nil || err.Error() != `relation "nosuch" does not exist` {
		t.Errorf("regclass input: %v", err)
	}
	for _, tt := range []struct {
		typ      types.OID
		in, want string
	}{
		{types.ORegclass, "nosuch.t", `schema "nosuch" does not exist`},
		{types.ORegclass, "a.b.c", `cross-database references are not implemented: "a.b.c"`},
		{types.ORegclass, "", "invalid name syntax"},
		{types.ORegclass, "a b", "invalid name syntax"},
		{types.ORegproc, "nosuch", `function "nosuch" does not exist`},
		{types.ORegproc, "lower", `more than one function named "lower"`},
		{types.ORegoper, "+", "more than one operator named +"},
		{types.ORegrole, "nosuch", `role "nosuch" does not exist`},
		{types.ORegnamespace, "nosuch", `schema "nosuch" does not exist`},
	} {
		if _, err := env.RegIn(tt.typ, tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("input of %d %q: %v, want %s", tt.typ, tt.in, err, tt.want)
		}
	}
	if got, _ := env.RegOut(types.ORegprocedure, 1242); got != "boolin(cstring)" {
		t.Errorf("regprocedure: %s", got)
	}
}

func TestDefinitionsOfFunctions(t *testing.T) {
	c := catalog.New(Overlay())
	ch := catalog.NewChange(c.Current(), catalog.OIDPostgres, "postgres", []string{"public"}, c)
	make := func(f catalog.Function, name string) types.OID {
		f.Schema, f.Name, f.Language = "public", name, "sql"
		made, err := ch.CreateFunction(&f, false)
		if err != nil {
			t.Fatal(err)
		}
		return made.OID
	}
	f1 := make(catalog.Function{Args: []types.T{types.TInt4, types.TText, types.TInt4}, ArgNames: []string{"a", "b", "c"}, ArgModes: []byte("iio"),
		Defaults: []string{"'x'::text"}, Ret: types.TRecord, Volatile: 's', Strict: true, Body: "select 1"}, "f1")
	f2 := make(catalog.Function{Args: []types.T{types.TInt4, types.TInt4, types.TText}, ArgNames: []string{"a", "x", "y"}, ArgModes: []byte("itt"),
		Ret: types.TRecord, RetSet: true, Volatile: 'v', Body: "select $function$"}, "f2")
	env := &Env{Snap: ch.Snapshot(), DB: catalog.OIDPostgres, SearchPath: []string{"public"}}
	for _, tt := range []struct {
		name string
		f    func(types.OID) (string, bool)
		oid  types.OID
		want string
	}{
		{"arguments", env.GetFunctionArguments, f1, "a integer, b text DEFAULT 'x'::text, OUT c integer"},
		{"identity arguments", env.GetFunctionIdentityArguments, f1, "a integer, b text, OUT c integer"},
		{"table", env.GetFunctionResult, f2, "TABLE(x integer, y text)"},
		{"definition", env.GetFunctionDef, f1, "CREATE OR REPLACE FUNCTION public.f1(a integer, b text DEFAULT 'x'::text, OUT c integer)\n RETURNS record\n LANGUAGE sql\n STABLE STRICT\nAS $function$select 1$function$\n"},
		{"definition with a tag in the body", env.GetFunctionDef, f2, "CREATE OR REPLACE FUNCTION public.f2(a integer)\n RETURNS TABLE(x integer, y text)\n LANGUAGE sql\nAS $functionx$select $function$$functionx$\n"},
		{"built-in", env.GetFunctionArguments, 4005, "target jsonb, path jsonpath, vars jsonb DEFAULT '{}'::jsonb, silent boolean DEFAULT false"},
	} {
		if got, ok := tt.f(tt.oid); !ok || got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if got, _ := env.RegOut(types.ORegprocedure, f1); got != "f1(integer,text)" {
		t.Errorf("regprocedure: %s", got)
	}
}

// emptyReason returns why a relation never has rows here, or "".
func emptyReason(schema, name string) string {
	if schema == catalog.SchemaInformation {
		name = schema + "." + name
	}
	for _, e := range empty {
		if e.name == name {
			return e.reason
		}
	}
	return ""
}
