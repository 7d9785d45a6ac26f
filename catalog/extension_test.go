package catalog

import (
	"testing"

	"kvsqld/catalog/types"
)

// TestExtensionsComeBack exports a database with every extension and columns of
// their types, and imports it again.
func TestExtensionsComeBack(t *testing.T) {
	d := newDDL(t)
	var cols []ColumnSpec
	for _, def := range AvailableExtensions() {
		d.must(d.CreateExtension(def, "public"))
		for _, in := range types.ExtensionTypes(def.Name) {
			cols = append(cols, col(in.Name, in.OID))
			if found := d.Snapshot().Type(d.DB, "public", in.Name); found != in {
				t.Errorf("type %s: found %v", in.Name, found)
			}
		}
		for _, o := range def.Operators() {
			if ProcByOID(o.Proc) == nil {
				t.Errorf("operator %s of %s has no function", o.Name, def.Name)
			}
		}
		for _, c := range def.Casts() {
			if c.Method == 'f' && ProcByOID(c.Func) == nil {
				t.Errorf("a cast of %s has no function", def.Name)
			}
		}
	}
	d.table("t", cols)
	d.must(d.cat.Publish(d.Delta()))
	before := d.cat.Current()
	after := reimport(t, before)
	if want, got := export(t, before), export(t, after); got != want {
		t.Errorf("the document changes on its way:\n%s", got)
	}
	for _, in := range types.ExtensionTypes("citext") {
		if p := ProcByOID(in.In); in.Array != 0 && (p == nil || p.Name != in.Name+"in") {
			t.Errorf("type %s: input function %v", in.Name, p)
		}
	}
}
