package catalog

import (
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog/types"
)

func TestDefaultsAndIdentity(t *testing.T) {
	d := newDDL(t)
	g := d.table("g", []ColumnSpec{serial("a"), col("b", types.OInt4),
		{Column: Column{Name: "c", Type: types.TInt4, Default: "(b * 2)", Generated: true, DefaultCols: []int{1}}}})
	_, err := d.SetDefault(g.OID, "c", "1", nil)
	wantErr(t, err, `42601 column "c" of relation "g" is a generated column`, "", "")
	n, err := d.SetDefault(g.OID, "a", "", nil)
	d.must(err)
	if n.Columns[0].Default != "" || n.Columns[0].Sequence != 0 {
		t.Errorf("after DROP DEFAULT: %+v", n.Columns[0])
	}
	if q := g.Columns[0].Sequence; d.Snapshot().Object(q) == nil {
		t.Error("DROP DEFAULT drops the sequence")
	}
	_, err = d.AddIdentity(g.OID, "b", 'a', &SequenceSpec{Type: types.TInt4})
	wantErr(t, err, `55000 column "b" of relation "g" must be declared NOT NULL before identity can be added`, "", "")
	_, err = d.SetNotNull(g.OID, "b", true)
	d.must(err)
	n, err = d.AddIdentity(g.OID, "b", 'a', &SequenceSpec{Type: types.TInt4})
	d.must(err)
	seq := n.Columns[1].Sequence
	if q, ok := d.Snapshot().Object(seq).(*Sequence); !ok || !q.Identity || q.Name != "g_b_seq" {
		t.Errorf("identity sequence: %+v", d.Snapshot().Object(seq))
	}
	_, err = d.SetNotNull(g.OID, "b", false)
	wantErr(t, err, `42601 column "b" of relation "g" is an identity column`, "", "")
	d.must(d.DropIdentity(g.OID, "b", false))
	if d.Snapshot().Object(seq) != nil {
		t.Error("the identity's sequence is left")
	}
	wantErr(t, d.DropIdentity(g.OID, "b", false), `55000 column "b" of relation "g" is not an identity column`, "", "")
	d.must(d.DropExpression(g.OID, "c", false))
	d.must(d.DropExpression(g.OID, "c", true))
	d.must(d.Snapshot().Validate())
}

func TestEnumsAndDomains(t *testing.T) {
	d := newDDL(t)
	u, err := d.CreateEnum("public", "mood", []string{"a", "c"})
	d.must(err)
	d.must(d.AddEnumValue(u.OID, "b", false, "c", false))
	d.must(d.AddEnumValue(u.OID, "z", false, "", false))
	d.must(d.AddEnumValue(u.OID, "0", false, "a", false))
	d.must(d.AddEnumValue(u.OID, "z", true, "", false))
	wantErr(t, d.AddEnumValue(u.OID, "z", false, "", false), `42710 enum label "z" already exists`, "", "")
	wantErr(t, d.AddEnumValue(u.OID, "q", false, "nosuch", false), `22023 "nosuch" is not an existing enum label`, "", "")
	d.must(d.RenameEnumValue(u.OID, "z", "y"))
	labels, last := "", -1e9
	for _, l := range d.Snapshot().TypeByOID(u.OID).Labels {
		labels += l.Label
		if l.Order <= last {
			t.Errorf("label %s is out of order", l.Label)
		}
		last = l.Order
	}
	if labels != "0abcy" {
		t.Errorf("labels %s", labels)
	}
	dom, err := d.CreateDomain(&DomainSpec{Schema: "public", Name: "pos", Base: types.TInt4, Checks: []Check{{Expr: "(VALUE > 0)"}, {Expr: "(VALUE < 9)"}}})
	d.must(err)
	if dom.Checks[0].Name != "pos_check" || dom.Checks[1].Name != "pos_check1" {
		t.Errorf("checks %s, %s", dom.Checks[0].Name, dom.Checks[1].Name)
	}
	d.must(d.DropDomainConstraint(dom.OID, "pos_check"))
	wantErr(t, d.DropDomainConstraint(dom.OID, "pos_check"), `42704 constraint "pos_check" of domain "pos" does not exist`, "", "")
	d.must(d.AddDomainCheck(dom.OID, Check{Expr: "(VALUE <> 5)"}))
	_, err = d.CreateEnum("public", "pos", nil)
	wantErr(t, err, `42710 type "pos" already exists`, "", "")
	_, err = d.CreateTable(&TableSpec{Schema: "public", Name: "pos"})
	wantErr(t, err, `42710 type "pos" already exists`, "",
		"A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.")
	d.must(d.RenameType(dom.OID, "positive"))
	if d.Snapshot().Type(d.DB, "public", "_positive") == nil || d.Snapshot().Type(d.DB, "public", "_pos") != nil {
		t.Error("the array type keeps its old name")
	}
}

func TestViewsSequencesAndConstraints(t *testing.T) {
	d := newDDL(t)
	g := d.table("g", []ColumnSpec{col("a", types.OInt4)}, ConstraintSpec{Kind: 'p', Cols: []string{"a"}})
	v := d.view("v", g.OID)
	spec := &ViewSpec{Schema: "public", Name: "v", Query: "q", Columns: []Column{{Name: "b", Type: types.TInt4}}, Replace: true, Deps: []types.OID{g.OID}}
	_, err := d.CreateView(spec)
	wantErr(t, err, `42P16 cannot change name of view column "a" to "b"`, "", "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
	spec.Columns = []Column{{Name: "a", Type: types.TText}}
	_, err = d.CreateView(spec)
	wantErr(t, err, `42P16 cannot change data type of view column "a" from integer to text`, "", "")
	spec.Columns = nil
	_, err = d.CreateView(spec)
	wantErr(t, err, `42P16 cannot drop columns from view`, "", "")
	spec.Columns = []Column{{Name: "a", Type: types.TInt4}, {Name: "b", Type: types.TInt4}}
	n, err := d.CreateView(spec)
	d.must(err)
	if n.OID != v.OID {
		t.Error("CREATE OR REPLACE VIEW makes another view")
	}
	spec.Name = "g"
	_, err = d.CreateView(spec)
	wantErr(t, err, `42809 "g" is not a view`, "", "")

	zero, big := int64(0), int64(1)<<40
	_, err = d.CreateSequence(&SequenceSpec{Schema: "public", Name: "s", Inc: &zero})
	wantErr(t, err, "22023 INCREMENT must not be zero", "", "")
	_, err = d.CreateSequence(&SequenceSpec{Schema: "public", Name: "s", Type: types.TInt4, Max: &big})
	wantErr(t, err, "22023 MAXVALUE (1099511627776) is out of range for sequence data type integer", "", "")
	_, err = d.CreateSequence(&SequenceSpec{Schema: "public", Name: "s", Type: types.TText})
	wantErr(t, err, "22023 sequence type must be smallint, integer, or bigint", "", "")
	_, err = d.CreateSequence(&SequenceSpec{Schema: "public", Name: "s", Start: &zero})
	wantErr(t, err, "22023 START value (0) cannot be less than MINVALUE (1)", "", "")
	down := int64(-1)
	s, err := d.CreateSequence(&SequenceSpec{Schema: "public", Name: "s", Inc: &down})
	d.must(err)
	if s.Start != -1 || s.Max != -1 || s.Min != -1<<63 {
		t.Errorf("descending sequence: %+v", s)
	}

	_, err = d.AddConstraint(g.OID, &ConstraintSpec{Kind: 'c', Name: "k", Expr: "(a > 0)", ExprCols: []string{"a"}, NotValid: true})
	d.must(err)
	_, err = d.AddConstraint(g.OID, &ConstraintSpec{Kind: 'c', Name: "k", Expr: "(a > 0)"})
	wantErr(t, err, `42710 constraint "k" for relation "g" already exists`, "", "")
	d.must(d.ValidateConstraint(g.OID, "k"))
	wantErr(t, d.ValidateConstraint(g.OID, "g_pkey"), `42809 constraint "g_pkey" of relation "g" is not a foreign key or check constraint`, "", "")
	d.must(d.RenameConstraint(g.OID, "g_pkey", "pk"))
	if _, ix := d.Snapshot().IndexByName(d.DB, "public", "pk"); ix == nil || !ix.Primary {
		t.Error("the index keeps its old name")
	}
	d.must(d.SetConstraintComment(g.OID, "k", "positive"))
	d.must(d.SetColumnComment(g.OID, "a", "key"))
	d.must(d.SetIndexComment(d.Snapshot().Table(g.OID).PrimaryIndex().OID, "its index"))
	after := d.Snapshot().Table(g.OID)
	if after.Checks[0].Comment != "positive" || after.Columns[0].Comment != "key" || after.PrimaryIndex().Comment != "its index" || after.Checks[0].NotValid {
		t.Errorf("comments: %+v", after)
	}
	if _, err := d.CreateIndex(g.OID, &IndexSpec{Name: "u", Unique: true, Keys: []IndexKeySpec{{Col: "a"}}}); err != nil {
		t.Fatal(err)
	}
	_, err = d.AddConstraint(g.OID, &ConstraintSpec{Kind: 'u', Name: "uq", UsingIndex: "u"})
	d.must(err)
	if len(d.notices) != 1 || d.notices[0] != `ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index "u" to "uq"` {
		t.Errorf("notices %q", d.notices)
	}
	d.must(d.DropConstraint(g.OID, "uq", false, false))
	if _, ix := d.Snapshot().IndexByName(d.DB, "public", "uq"); ix != nil {
		t.Error("the constraint's index is left")
	}
}

func TestTextsFollowRenames(t *testing.T) {
	d := newDDL(t)
	g := d.table("g", []ColumnSpec{serial("a"), col("b", types.OInt4),
		{Column: Column{Name: "c", Type: types.TInt4, Default: "(b * 2)", Generated: true, DefaultCols: []int{1}}}},
		ConstraintSpec{Kind: 'c', Expr: "(b > 0)", ExprCols: []string{"b"}})
	_, err := d.CreateIndex(g.OID, &IndexSpec{Keys: []IndexKeySpec{{Expr: "abs(b)", Name: "abs", Type: types.TInt4}}, Where: "(b > 1)", ExprCols: []string{"b"}})
	d.must(err)
	v := d.view("v", g.OID)
	var asked []string
	d.Retext = func(x StoredText, before, after *Snapshot) (string, error) {
		if before == after {
			return strings.ReplaceAll(x.Text, "(", "( "), nil // in another form
		}
		if before.Table(g.OID) == after.Table(g.OID) && before.Object(g.Columns[0].Sequence) == after.Object(g.Columns[0].Sequence) {
			t.Error("asked without a change")
		}
		asked = append(asked, x.Text)
		return x.Text + "!", nil
	}
	check := func(what string, want ...string) {
		t.Helper()
		slices.Sort(asked)
		if !slices.Equal(asked, want) {
			t.Errorf("%s: asked for %q, want %q", what, asked, want)
		}
		asked = nil
	}
	d.must(d.RenameColumn(g.OID, "b", "Total"))
	check("column", "(b * 2)", "(b > 0)", "(b > 1)", v.Query, "abs(b)")
	g = d.Snapshot().Table(g.OID)
	if got := g.Checks[0].Expr; got != "(b > 0)!" {
		t.Errorf("check: %s", got)
	}
	if ix := g.Indexes[0]; ix.Keys[0].Expr != "abs(b)!" || ix.Where != "(b > 1)!" || g.Columns[2].Default != "(b * 2)!" {
		t.Errorf("index: %s where %s, column: %s", ix.Keys[0].Expr, ix.Where, g.Columns[2].Default)
	}
	if got := d.Snapshot().Object(v.OID).(*View).Query; got != v.Query+"!" {
		t.Errorf("view: %s", got)
	}
	_, err = d.AddColumn(g.OID, &ColumnSpec{Column: Column{Name: "z", Type: types.TInt4}})
	d.must(err)
	check("a further column", v.Query+"!")
	d.must(d.RenameRelation(g.Columns[0].Sequence, "odd"))
	check("sequence", "nextval('public.g_a_seq'::regclass)")
	_, err = d.SetNotNull(g.OID, "z", true)
	d.must(err)
	check("nothing")
	// What names nothing of that keeps its form.
	d.Retext = func(x StoredText, _, _ *Snapshot) (string, error) { return "in another form", nil }
	d.must(d.RenameColumn(g.OID, "z", "b"))
	if got := d.Snapshot().Table(g.OID).Checks[0].Expr; got != "(b > 0)!" {
		t.Errorf("check: %s", got)
	}
}

func TestBuiltinTables(t *testing.T) {
	if p := ProcByOID(9000); p == nil || p.Src != "kvsqld_distance" || ProcBySrc("int4pl").Name != "int4pl" {
		t.Error("functions are not found")
	}
	if n := len(ProcsByName("jsonb_path_exists")[0].Defaults); n != 2 {
		t.Errorf("%d defaults, want 2", n)
	}
	if c := FindCast(types.OInt4, types.OInt8); c == nil || c.Context != 'i' || FindCast(types.OText, types.OInt4) != nil {
		t.Error("casts are not found")
	}
	if a := AggregateByOID(2803); a == nil || !a.HasInit || a.InitVal != "0" {
		t.Errorf("count(*): %+v", a)
	}
	if len(OperatorsByName("=")) == 0 || OperatorByOID(96).Result != types.OBool {
		t.Error("operators are not found")
	}
}
