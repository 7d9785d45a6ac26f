package pgcatalog

import (
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// A table whose rows may grow long has a TOAST table that pg_class leads to and from; one
// whose rows are bounded has none.
func TestTablesOfLongRowsHaveToastTables(t *testing.T) {
	env := testEnv(t)
	long := env.Snap.Relation(env.DB, "public", "customers").(*catalog.Table)
	c, _ := env.class(long.OID)
	if c.toast == 0 {
		t.Fatal("customers has no TOAST table")
	}
	found, ok := env.class(c.toast)
	if !ok || found.kind != 't' || found.namespace != catalog.OIDToastSchema {
		t.Errorf("the TOAST table of customers is %+v", found)
	}
	if got := env.toRegclass("pg_toast." + found.name); got != c.toast {
		t.Errorf("pg_toast.%s is %d, want %d", found.name, got, c.toast)
	}
	column := func(typ types.OID, mod int32) catalog.Column {
		return catalog.Column{Type: types.T{OID: typ, Mod: mod}}
	}
	for _, c := range []struct {
		want bool
		cols []catalog.Column
	}{
		{false, []catalog.Column{column(types.OInt4, -1), column(types.OName, -1)}},
		{false, []catalog.Column{column(types.OVarchar, 404)}},
		{false, []catalog.Column{column(types.OVarchar, 494)}},
		{true, []catalog.Column{column(types.OVarchar, 604)}},
		{true, []catalog.Column{column(types.OVarchar, 404), column(types.OBpchar, 204)}},
		{true, []catalog.Column{column(types.OText, -1)}},
	} {
		if got := env.Snap.NeedsToast(&catalog.Table{Columns: c.cols}); got != c.want {
			t.Errorf("%v: NeedsToast is %t", c.cols, got)
		}
	}
}

// A foreign key has two triggers on each of its tables, which know their constraint.
func TestForeignKeysHaveTriggers(t *testing.T) {
	env := testEnv(t)
	seen := make(map[types.OID][]string)
	env.triggers(func(g *trigger) {
		def, ok := env.TriggerDef(g.oid, false)
		if !ok {
			t.Errorf("%s has no definition", g.name())
		}
		seen[g.constraint] = append(seen[g.constraint], def)
		if id := env.identifyTrigger(g.oid); !id.Found || !strings.HasPrefix(id.Description, "trigger "+g.name()+" on table ") {
			t.Errorf("%s is described as %q", g.name(), id.Description)
		}
	})
	if len(seen) == 0 {
		t.Fatal("no triggers")
	}
	for o, defs := range seen {
		all := strings.Join(defs, "\n")
		for _, event := range []string{"AFTER DELETE", "AFTER INSERT", "RI_FKey_check_upd"} {
			if len(defs) != 4 || !strings.Contains(all, event) {
				t.Errorf("constraint %d:\n%s", o, all)
			}
		}
	}
}
