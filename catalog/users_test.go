package catalog

import (
	"maps"
	"slices"
	"testing"

	"kvsqld/catalog/types"
)

// checkUsers compares the lists of users with those of a count over all objects.
func checkUsers(t *testing.T, s *Snapshot) {
	t.Helper()
	want := map[types.OID][]types.OID{}
	for _, o := range s.Objects() {
		references(o, func(to types.OID) {
			if to >= types.FirstUserOID && !slices.Contains(want[to], o.ObjectOID()) {
				want[to] = append(want[to], o.ObjectOID())
			}
		})
	}
	got := maps.Collect(s.users.all())
	if !maps.EqualFunc(got, want, slices.Equal[[]types.OID]) {
		t.Errorf("users\n got %v\nwant %v", got, want)
	}
}

func TestUsersAreThoseThatReference(t *testing.T) {
	d := newDDL(t)
	step := func(err error) {
		t.Helper()
		d.must(err)
		checkUsers(t, d.Snapshot())
	}
	typed := func(name string, typ types.OID) ColumnSpec {
		of, _ := d.Snapshot().T(typ, -1)
		return ColumnSpec{Column: Column{Name: name, Type: of}}
	}
	mood, err := d.CreateEnum(SchemaPublic, "mood", []string{"sad", "ok"})
	step(err)
	cheer, err := d.CreateDomain(&DomainSpec{Schema: SchemaPublic, Name: "cheer", Base: typed("", mood.OID).Type})
	step(err)
	pair, err := d.CreateComposite(SchemaPublic, "pair", []Column{{Name: "m", Type: typed("", cheer.OID).Type}, {Name: "n", Type: types.TInt4}})
	step(err)
	a := d.table("a", []ColumnSpec{serial("id"), typed("m", mood.OID)})
	b := d.table("b", []ColumnSpec{typed("p", pair.OID), typed("r", a.RowType)})
	c := d.table("c", []ColumnSpec{typed("x", b.RowArray)})
	v := d.view("v", a.OID)
	step(nil)

	holding := func(typ types.OID) (names []string) {
		for _, r := range d.Snapshot().Holding(d.DB, typ) {
			_, name := r.RelName()
			names = append(names, name)
		}
		return names
	}
	for _, k := range []struct {
		typ  types.OID
		want []string
	}{
		{mood.OID, []string{"a", "b", "c"}},
		{cheer.OID, []string{"b", "c"}},
		{pair.OID, []string{"b", "c"}},
		{a.RowType, []string{"b", "c"}},
		{b.RowType, []string{"c"}},
		{c.RowType, nil},
	} {
		if got := holding(k.typ); !slices.Equal(got, k.want) {
			t.Errorf("relations with values of %d: %v, want %v", k.typ, got, k.want)
		}
	}

	step(d.RenameRelation(v.OID, "w"))
	step(d.DropColumn(a.OID, "m", true, false))
	step(d.DropRelations(true, a.OID))
	step(d.DropTypes(true, pair.OID))
	if got := holding(mood.OID); got != nil {
		t.Errorf("still there: %v", got)
	}
}

func TestMayName(t *testing.T) {
	for _, k := range []struct {
		text, word, before string
		want               bool
	}{
		{"c > 0", "c", "", true},
		{"ac > 0 AND c1 < 5 AND c$ IS NULL", "c", "", false},
		{"(a + c)", "c", "", true},
		{"nextval('public.m1_id_seq'::regclass)", "m1_id_seq", "", true},
		{"nextval('public.m1_id_seq'::regclass)", "id", "", false},
		{"(r).c > 0", "c", ".", true},
		{`(r)."c d" > 0`, "c d", ".", true},
		{"c > 0", "c", ".", false},
		{"c > (r).c", "c", ".", true},
		{`"c d" > 0`, "c d", "", true},
		{`"a""b" > 0`, `a"b`, "", true},
		{"a > 0", `a"b`, "", false},
		{"'it''s'::mood", "it's", "", true},
		{"übel > 0", "bel", "", false},
		{"'{sad,ok}'::mood[]", "ok", "", true},
	} {
		if got := mayName(k.text, k.word, k.before); got != k.want {
			t.Errorf("mayName(%q, %q, %q) = %v", k.text, k.word, k.before, got)
		}
	}
}
