package catalog

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// ddl is a change over a new server, with shorthands for tests.
type ddl struct {
	*Change
	t       *testing.T
	cat     *Catalog
	notices []string
}

func newDDL(t *testing.T) *ddl {
	t.Helper()
	c := New(nil)
	d := &ddl{t: t, cat: c}
	d.Change = NewChange(c.Current(), OIDPostgres, "postgres", []string{SchemaPublic}, c)
	d.Notice = func(e *sqlerr.Error) { d.notices = append(d.notices, strings.TrimSpace(e.Message+"\n"+e.Detail)) }
	return d
}

func (d *ddl) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func col(name string, oid types.OID) ColumnSpec {
	return ColumnSpec{Column: Column{Name: name, Type: types.Of(oid)}}
}

func serial(name string) ColumnSpec {
	return ColumnSpec{Column: Column{Name: name, Type: types.TInt4}, OwnSequence: &SequenceSpec{Type: types.TInt4}}
}

func (d *ddl) table(name string, cols []ColumnSpec, cons ...ConstraintSpec) *Table {
	d.t.Helper()
	t, err := d.CreateTable(&TableSpec{Schema: SchemaPublic, Name: name, Columns: cols, Constraints: cons})
	d.must(err)
	return t
}

func (d *ddl) view(name string, deps ...types.OID) *View {
	d.t.Helper()
	v, err := d.CreateView(&ViewSpec{Schema: SchemaPublic, Name: name, Query: "SELECT", Columns: []Column{{Name: "a", Type: types.TInt4}}, Deps: deps,
		ColDeps: []ColRef{{deps[0], 0}}})
	d.must(err)
	return v
}

// wantErr compares an error with "SQLSTATE message", and its detail and hint.
func wantErr(t *testing.T, err error, want, detail, hint string) {
	t.Helper()
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		t.Errorf("error = %v, want %s", err, want)
		return
	}
	if got := string(e.Code) + " " + e.Message; got != want {
		t.Errorf("error\n got %s\nwant %s", got, want)
	}
	if e.Detail != detail {
		t.Errorf("detail\n got %s\nwant %s", e.Detail, detail)
	}
	if hint != "" && e.Hint != hint {
		t.Errorf("hint\n got %s\nwant %s", e.Hint, hint)
	}
}

func TestNamesAreGeneratedAsPostgreSQLDoes(t *testing.T) {
	d := newDDL(t)
	g := d.table("g", []ColumnSpec{serial("id"), col("a", types.OInt4), col("b", types.OText)},
		ConstraintSpec{Kind: 'p', Cols: []string{"id"}},
		ConstraintSpec{Kind: 'u', Cols: []string{"a", "b"}},
		ConstraintSpec{Kind: 'c', Expr: "(a > 0)", ExprCols: []string{"a"}},
		ConstraintSpec{Kind: 'c', Expr: "(a < 9)", ExprCols: []string{"a"}},
		ConstraintSpec{Kind: 'c', Expr: "(a > id)", ExprCols: []string{"a", "id"}},
		ConstraintSpec{Kind: 'f', Cols: []string{"a"}, RefSchema: "public", RefTable: "g"})
	got := g.constraintNames()
	slices.Sort(got)
	want := []string{"g_a_b_key", "g_a_check", "g_a_check1", "g_a_fkey", "g_check", "g_pkey"}
	if !slices.Equal(got, want) {
		t.Errorf("constraints %v, want %v", got, want)
	}
	if d.Snapshot().Relation(d.DB, "public", "g_id_seq") == nil {
		t.Error("the serial column's sequence is missing")
	}
	for _, want := range []string{"g_a_idx", "g_a_idx1", "g_lower_expr_expr1_idx"} {
		spec := &IndexSpec{Keys: []IndexKeySpec{{Col: "a"}}}
		if strings.HasPrefix(want, "g_lower") {
			spec.Keys = []IndexKeySpec{{Expr: "lower(b)", Name: "lower", Type: types.TText}, {Expr: "(a + 1)", Type: types.TInt4}, {Expr: "(a + 2)", Type: types.TInt4}}
		}
		ix, err := d.CreateIndex(g.OID, spec)
		d.must(err)
		if ix.Name != want {
			t.Errorf("index %s, want %s", ix.Name, want)
		}
	}
	long := strings.Repeat("x", 60)
	if got := objectName(long, "column", "fkey"); len(got) != 63 || !strings.HasSuffix(got, "_column_fkey") {
		t.Errorf("long name: %s", got)
	}
}

func TestCreateTableRefuses(t *testing.T) {
	d := newDDL(t)
	d.table("t", []ColumnSpec{col("a", types.OInt4), col("b", types.OText)}, ConstraintSpec{Kind: 'p', Cols: []string{"a"}})
	create := func(spec TableSpec) error {
		if spec.Schema == "" {
			spec.Schema = "public"
		}
		if spec.Name == "" {
			spec.Name = "u"
		}
		before := d.Snapshot()
		_, err := d.CreateTable(&spec)
		if d.Snapshot() != before {
			t.Error("a failed statement left something behind")
		}
		return err
	}
	x := []ColumnSpec{col("x", types.OInt4)}
	fk := func(c ConstraintSpec) TableSpec {
		c.Kind, c.RefSchema = 'f', "public"
		if c.Cols == nil {
			c.Cols = []string{"x"}
		}
		return TableSpec{Columns: x, Constraints: []ConstraintSpec{c}}
	}
	for _, tt := range []struct {
		spec         TableSpec
		want, detail string
	}{
		{TableSpec{Name: "t"}, `42P07 relation "t" already exists`, ""},
		{TableSpec{Schema: "nosuch"}, `3F000 schema "nosuch" does not exist`, ""},
		{TableSpec{Schema: "pg_catalog"}, `42501 permission denied to create "pg_catalog.u"`, "System catalog modifications are currently disallowed."},
		{TableSpec{Columns: []ColumnSpec{x[0], x[0]}}, `42701 column "x" specified more than once`, ""},
		{TableSpec{Columns: []ColumnSpec{col("ctid", types.OInt4)}}, `42701 column name "ctid" conflicts with a system column name`, ""},
		{TableSpec{Columns: make([]ColumnSpec, 1601)}, `54011 tables can have at most 1600 columns`, ""},
		{TableSpec{Columns: x, Constraints: []ConstraintSpec{{Kind: 'p', Cols: []string{"x"}}, {Kind: 'p', Cols: []string{"x"}}}},
			`42P16 multiple primary keys for table "u" are not allowed`, ""},
		{TableSpec{Columns: x, Constraints: []ConstraintSpec{{Kind: 'p', Cols: []string{"y"}}}}, `42703 column "y" named in key does not exist`, ""},
		{TableSpec{Columns: x, Constraints: []ConstraintSpec{{Kind: 'u', Cols: []string{"x", "x"}}}}, `42701 column "x" appears twice in unique constraint`, ""},
		{fk(ConstraintSpec{RefTable: "nosuch"}), `42P01 relation "nosuch" does not exist`, ""},
		{fk(ConstraintSpec{RefTable: "t", RefCols: []string{"z"}}), `42703 column "z" referenced in foreign key constraint does not exist`, ""},
		{fk(ConstraintSpec{RefTable: "t", Cols: []string{"z"}}), `42703 column "z" referenced in foreign key constraint does not exist`, ""},
		{fk(ConstraintSpec{RefTable: "u"}), `42704 there is no primary key for referenced table "u"`, ""},
		{fk(ConstraintSpec{RefTable: "t", RefCols: []string{"b"}}), `42830 there is no unique constraint matching given keys for referenced table "t"`, ""},
		{fk(ConstraintSpec{RefTable: "t", RefCols: []string{"a", "b"}}), `42830 number of referencing and referenced columns for foreign key disagree`, ""},
		{TableSpec{Columns: []ColumnSpec{col("x", types.OText)}, Constraints: []ConstraintSpec{{Kind: 'f', Cols: []string{"x"}, RefSchema: "public", RefTable: "t"}}},
			`42804 foreign key constraint "u_x_fkey" cannot be implemented`, `Key columns "x" and "a" are of incompatible types: text and integer.`},
	} {
		wantErr(t, create(tt.spec), tt.want, tt.detail, "")
	}
}

func TestDropsListWhatDependsOnThem(t *testing.T) {
	const hint = "Use DROP ... CASCADE to drop the dependent objects too."
	d := newDDL(t)
	base := d.table("t", []ColumnSpec{col("a", types.OInt4), col("b", types.OText)},
		ConstraintSpec{Kind: 'p', Cols: []string{"a"}}, ConstraintSpec{Kind: 'u', Cols: []string{"b"}},
		ConstraintSpec{Kind: 'c', Expr: "((a > 0) AND (b <> ''::text))", ExprCols: []string{"a", "b"}})
	v := d.view("v", base.OID)
	d.view("v2", v.OID)
	f := d.table("f", []ColumnSpec{col("x", types.OInt4), col("y", types.OText)},
		ConstraintSpec{Kind: 'f', Cols: []string{"x"}, RefSchema: "public", RefTable: "t"},
		ConstraintSpec{Kind: 'f', Cols: []string{"y"}, RefSchema: "public", RefTable: "t", RefCols: []string{"b"}})
	wantErr(t, d.DropRelations(false, base.OID), "2BP01 cannot drop table t because other objects depend on it",
		"view v depends on table t\nview v2 depends on view v\nconstraint f_x_fkey on table f depends on table t\nconstraint f_y_fkey on table f depends on table t", hint)
	wantErr(t, d.DropColumn(base.OID, "a", false, false), "2BP01 cannot drop column a of table t because other objects depend on it",
		"view v depends on column a of table t\nview v2 depends on view v\nconstraint f_x_fkey on table f depends on column a of table t", hint)
	wantErr(t, d.DropColumn(base.OID, "b", false, false), "2BP01 cannot drop column b of table t because other objects depend on it",
		"constraint f_y_fkey on table f depends on column b of table t", hint)
	wantErr(t, d.DropIndexes(false, base.PrimaryIndex().OID), "2BP01 cannot drop index t_pkey because constraint t_pkey on table t requires it", "",
		"You can drop constraint t_pkey on table t instead.")
	d.must(d.DropColumn(base.OID, "b", true, false))
	if want := []string{"drop cascades to constraint f_y_fkey on table f"}; !slices.Equal(d.notices, want) {
		t.Errorf("notices %q", d.notices)
	}
	after := d.Snapshot().Table(base.OID)
	if len(after.Checks) != 0 || len(after.Uniques) != 1 || !after.Columns[1].Dropped || after.Columns[1].Name != "........pg.dropped.2........" {
		t.Errorf("after DROP COLUMN: %+v", after)
	}
	d.notices = nil
	d.must(d.DropRelations(true, base.OID))
	want := "drop cascades to 3 other objects\ndrop cascades to view v\ndrop cascades to view v2\ndrop cascades to constraint f_x_fkey on table f"
	if len(d.notices) != 1 || d.notices[0] != want {
		t.Errorf("notices %q", d.notices)
	}
	if n := len(d.Snapshot().Table(f.OID).ForeignKeys); n != 0 {
		t.Errorf("%d foreign keys left", n)
	}
	d.must(d.cat.Publish(d.Delta()))
}

func TestDropSchemaSequenceAndType(t *testing.T) {
	d := newDDL(t)
	_, err := d.CreateSchema("s", "")
	d.must(err)
	q, err := d.CreateTable(&TableSpec{Schema: "s", Name: "q", Columns: []ColumnSpec{serial("a"), col("e", types.OInt4)},
		Constraints: []ConstraintSpec{{Kind: 'p', Cols: []string{"a"}}}})
	d.must(err)
	wantErr(t, d.DropSchemas(false, "s"), "2BP01 cannot drop schema s because other objects depend on it", "table s.q depends on schema s", "")
	wantErr(t, d.DropRelations(false, q.Columns[0].Sequence), "2BP01 cannot drop sequence s.q_a_seq because other objects depend on it",
		"default value for column a of table s.q depends on sequence s.q_a_seq", "")
	mood, err := d.CreateEnum("public", "mood", []string{"a", "b"})
	d.must(err)
	m, _ := d.Snapshot().T(mood.OID, -1)
	arr, _ := d.Snapshot().T(mood.Array, -1)
	d.table("tm", []ColumnSpec{{Column: Column{Name: "m", Type: m}}, {Column: Column{Name: "n", Type: arr}}})
	wantErr(t, d.DropTypes(false, mood.OID), "2BP01 cannot drop type mood because other objects depend on it",
		"column n of table tm depends on type mood[]\ncolumn m of table tm depends on type mood", "")
	d.must(d.DropTypes(true, mood.OID))
	if got := d.notices[len(d.notices)-1]; got != "drop cascades to 2 other objects\ndrop cascades to column n of table tm\ndrop cascades to column m of table tm" {
		t.Errorf("notice %q", got)
	}
	d.must(d.DropSchemas(true, "s"))
	if d.Snapshot().Relation(d.DB, "s", "q_a_seq") != nil {
		t.Error("the sequence outlives its table")
	}
	id := d.table("h", []ColumnSpec{{Column: Column{Name: "b", Type: types.TInt4, Identity: 'a'}, OwnSequence: &SequenceSpec{Type: types.TInt4}}})
	wantErr(t, d.DropRelations(false, id.Columns[0].Sequence), "2BP01 cannot drop sequence h_b_seq because column b of table h requires it", "",
		"You can drop column b of table h instead.")
	d.must(d.Snapshot().Validate())
}

func TestRenames(t *testing.T) {
	d := newDDL(t)
	g := d.table("g", []ColumnSpec{serial("a"), col("b", types.OInt4)})
	wantErr(t, d.RenameColumn(g.OID, "zz", "y"), `42703 column "zz" does not exist`, "", "")
	wantErr(t, d.RenameColumn(g.OID, "b", "a"), `42701 column "a" of relation "g" already exists`, "", "")
	d.must(d.RenameColumn(g.OID, "b", "Total"))
	d.must(d.RenameRelation(g.Columns[0].Sequence, "Odd"))
	_, err := d.CreateSchema("s", "")
	d.must(err)
	d.must(d.SetSchema(g.OID, "s"))
	d.must(d.RenameSchema("s", "r"))
	if d.Snapshot().Relation(d.DB, "r", "g") == nil || d.Snapshot().Relation(d.DB, "r", "Odd") == nil {
		t.Error("RENAME SCHEMA does not take its contents along")
	}
	d.must(d.Snapshot().Validate())
}

func TestAlterColumn(t *testing.T) {
	d := newDDL(t)
	g := d.table("g", []ColumnSpec{col("a", types.OInt4), col("b", types.OInt4),
		{Column: Column{Name: "c", Type: types.TInt4, Default: "(b * 2)", Generated: true, DefaultCols: []int{1}}}},
		ConstraintSpec{Kind: 'p', Cols: []string{"a"}})
	_, err := d.SetNotNull(g.OID, "a", false)
	wantErr(t, err, `42P16 column "a" is in a primary key`, "", "")
	_, err = d.AlterType(g.OID, "b", types.TText)
	wantErr(t, err, "0A000 cannot alter type of a column used by a generated column", `Column "b" is used by generated column "c".`, "")
	v := d.view("v", g.OID)
	_, err = d.AlterType(g.OID, "a", types.TInt8)
	wantErr(t, err, "0A000 cannot alter type of a column used by a view or rule", `rule _RETURN on view v depends on column "a"`, "")
	d.must(d.DropRelations(false, v.OID))
	n, err := d.AlterType(g.OID, "a", types.TInt8)
	d.must(err)
	if n.PrimaryIndex().Keys[0].Type != types.TInt8 {
		t.Error("the index keeps the old type")
	}
	wantErr(t, d.DropColumn(g.OID, "b", false, false), "2BP01 cannot drop column b of table g because other objects depend on it",
		"column c of table g depends on column b of table g", "")
	_, err = d.AddColumn(g.OID, &ColumnSpec{Column: Column{Name: "a", Type: types.TInt4}})
	wantErr(t, err, `42701 column "a" of relation "g" already exists`, "", "")
	wantErr(t, d.DropConstraint(g.OID, "nope", false, false), `42704 constraint "nope" of relation "g" does not exist`, "", "")
	wantErr(t, d.DropColumn(g.OID, "zz", false, false), `42703 column "zz" of relation "g" does not exist`, "", "")
}

func TestRolesAndDatabases(t *testing.T) {
	d := newDDL(t)
	_, err := d.CreateRole(&Role{Common: Common{Name: "rr"}})
	d.must(err)
	h := d.table("h", []ColumnSpec{col("a", types.OInt4), {Column: Column{Name: "b", Type: types.TInt4, Identity: 'a'}, OwnSequence: &SequenceSpec{Type: types.TInt4}}})
	d.must(d.SetOwner(h.OID, "rr"))
	err = d.DropRole("rr")
	wantErr(t, err, `2BP01 role "rr" cannot be dropped because some objects depend on it`, "owner of table h\nowner of sequence h_b_seq", "")
	made, err := d.CreateDatabase("shop", "", "", nil)
	d.must(err)
	if d.Snapshot().Schema(made.DB.OID, "public") == nil {
		t.Error("a new database has no schema public")
	}
	_, err = d.CreateDatabase("shop", "", "", nil)
	wantErr(t, err, `42P04 database "shop" already exists`, "", "")
	_, err = d.DropDatabase("postgres")
	wantErr(t, err, "55006 cannot drop the currently open database", "", "")
	_, err = d.DropDatabase("shop")
	d.must(err)
	d.must(d.Snapshot().Validate())
}

func TestSavepointsAndConcurrentPublication(t *testing.T) {
	d := newDDL(t)
	d.table("a", []ColumnSpec{col("x", types.OInt4)})
	mark := d.Mark()
	d.table("b", []ColumnSpec{col("x", types.OInt4)})
	d.RollbackTo(mark)
	if d.Snapshot().Relation(d.DB, "public", "b") != nil || d.Snapshot().Relation(d.DB, "public", "a") == nil {
		t.Error("ROLLBACK TO does not restore the savepoint's catalog")
	}
	d.must(d.cat.Publish(d.Delta()))

	one := NewChange(d.cat.Current(), d.DB, "postgres", nil, d.cat)
	two := NewChange(d.cat.Current(), d.DB, "postgres", nil, d.cat)
	oid := d.cat.Current().Relation(d.DB, "public", "a").ObjectOID()
	for _, c := range []*Change{one, two} {
		if _, err := c.AddColumn(oid, &ColumnSpec{Column: Column{Name: "y", Type: types.TInt4}}); err != nil {
			t.Fatal(err)
		}
	}
	d.must(d.cat.Publish(one.Delta()))
	if err := d.cat.Publish(two.Delta()); sqlerr.CodeOf(err) != sqlerr.SerializationFailure {
		t.Errorf("the second change of one table: %v", err)
	}
	pub, err := d.cat.Begin(&Delta{})
	d.must(err)
	pub.Abort()
	pub.Abort()
}

// Statistics gathered while a table is being dropped go with it.
func TestStatisticsDoNotHoldUpDrops(t *testing.T) {
	d := newDDL(t)
	tab := d.table("a", []ColumnSpec{col("x", types.OInt4)})
	d.must(d.cat.Publish(d.Delta()))
	drop := NewChange(d.cat.Current(), d.DB, "postgres", nil, d.cat)
	d.must(drop.DropRelations(false, tab.OID))
	analyze := NewChange(d.cat.Current(), d.DB, "postgres", nil, d.cat)
	d.must(analyze.PutStats(&Stats{Table: tab.OID, Rows: 1}))
	d.must(d.cat.Publish(analyze.Delta()))
	d.must(d.cat.Publish(drop.Delta()))
	if d.cat.Current().Stats(tab.OID) != nil {
		t.Error("the statistics outlive the table")
	}
}

func BenchmarkCreateTable(b *testing.B) {
	c := New(nil)
	for i := range 500 {
		ch := NewChange(c.Current(), OIDPostgres, "postgres", []string{"public"}, c)
		benchTable(b, ch, "t"+strconv.Itoa(i))
		if err := c.Publish(ch.Delta()); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		benchTable(b, NewChange(c.Current(), OIDPostgres, "postgres", []string{"public"}, c), "new")
	}
}

func benchTable(b *testing.B, ch *Change, name string) {
	_, err := ch.CreateTable(&TableSpec{Schema: "public", Name: name, Columns: []ColumnSpec{serial("id"), col("a", types.OInt4)},
		Constraints: []ConstraintSpec{{Kind: 'p', Cols: []string{"id"}}, {Kind: 'u', Cols: []string{"a"}}}})
	if err != nil {
		b.Fatal(err)
	}
}

func TestFilesAndSpacesAreUnique(t *testing.T) {
	d := newDDL(t)
	a := d.table("a", []ColumnSpec{col("x", types.OInt4)})
	d.table("b", []ColumnSpec{col("x", types.OInt4)})
	b := d.Snapshot().Relation(d.DB, "public", "b").ObjectOID()
	_, err := d.EditTable(b, func(t *Table) error { t.File = "A.KV"; return nil })
	wantErr(t, err, `42710 file "a.kv" is used twice`, "", "")
	_, err = d.EditTable(b, func(t *Table) error { t.Space = a.Space; return nil })
	wantErr(t, err, `42710 key space 1 is used twice`, "", "")
	// A new table of an old name does not get the old table's file.
	d.must(d.RenameRelation(a.OID, "c"))
	again := d.table("a", []ColumnSpec{col("x", types.OInt4)})
	if again.File == a.File || again.Space == a.Space {
		t.Errorf("file %s and space %d are used twice", again.File, again.Space)
	}
}
