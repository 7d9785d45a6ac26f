package pgcatalog

import (
	"fmt"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// toast is the TOAST table that pg_class lists for a table, and its index. Long values are
// kept with their rows here, so that it has no rows; clients that go from a table to its
// TOAST table find it.
type toast struct {
	table, oid, index types.OID
	owner             types.OID
	persistence       byte
	tablespace        types.OID
	options           []string
}

// toastColumns are the columns of a TOAST table.
var toastColumns = []catalog.Column{
	{Name: "chunk_id", Type: types.Of(types.OOid)},
	{Name: "chunk_seq", Type: types.Of(types.OInt4)},
	{Name: "chunk_data", Type: types.Of(types.OBytea), Storage: "plain"},
}

func (t *toast) name() string { return fmt.Sprintf("pg_toast_%d", t.table) }

// toastOf returns the TOAST table of a relation; ok is false when it has none.
func (env *Env) toastOf(r catalog.Relation) (t toast, ok bool) {
	if !env.toastable(r) {
		return t, false
	}
	co, table := commonOf(r), catalog.StorageOf(r)
	return toast{table: co.OID, oid: synthOID("toast", co.OID, 0), index: synthOID("toast", co.OID, 1), owner: env.role(co.Owner),
		persistence: tablePersistence(table), options: toastOptions(table.Options)}, true
}

func (env *Env) toastable(r catalog.Relation) bool {
	table := catalog.StorageOf(r)
	return table != nil && env.Snap.NeedsToast(table)
}

// systemToast returns the TOAST table of a system relation.
func (env *Env) systemToast(t catalog.Toast) toast {
	out := toast{table: t.Table, oid: t.OID, index: t.Index, owner: catalog.OIDSuperuser, persistence: 'p'}
	if r := ByOID(t.Table); r != nil && Shared(r) {
		out.tablespace = oidGlobalTablespace
	}
	return out
}

// toasts calls f for each TOAST table until it returns false.
func (env *Env) toasts(f func(*toast) bool) {
	for _, s := range catalog.Toasts() {
		if t := env.systemToast(s); !f(&t) {
			return
		}
	}
	for _, r := range env.Snap.Relations(env.DB) {
		if t, ok := env.toastOf(r); ok && !f(&t) {
			return
		}
	}
}

// toastedTables is the key of what a snapshot keeps for a database: the relations that
// have a TOAST table, by its OID and that of its index.
type toastedTables struct{ db types.OID }

// toastByOID returns the TOAST table that has an OID or whose index has it.
func (env *Env) toastByOID(o types.OID) (found toast, ok bool) {
	if o >= types.FirstUserOID && o < firstSynthOID {
		return found, false
	}
	for _, s := range catalog.Toasts() {
		if s.OID == o || s.Index == o {
			return env.systemToast(s), true
		}
	}
	if o < firstSynthOID {
		return found, false
	}
	of := env.Snap.Memo(toastedTables{env.DB}, func() any {
		m := map[types.OID]types.OID{}
		for _, r := range env.Snap.RelationsWhere(env.DB, func(r catalog.Relation) bool { return env.toastable(r) }) {
			rel := r.ObjectOID()
			m[synthOID("toast", rel, 0)], m[synthOID("toast", rel, 1)] = rel, rel
		}
		return m
	}).(map[types.OID]types.OID)
	if r := env.Snap.RelationByOID(env.DB, of[o]); r != nil {
		return env.toastOf(r)
	}
	return found, false
}

// toastByName returns the OID of the TOAST table or index of that name, or 0.
func (env *Env) toastByName(name string) types.OID {
	base, index := strings.CutSuffix(name, "_index")
	number, _ := strings.CutPrefix(base, "pg_toast_")
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0
	}
	var t toast
	ok := false
	for _, s := range catalog.Toasts() {
		if s.Table == types.OID(n) {
			t, ok = env.systemToast(s), true
		}
	}
	if r := env.Snap.RelationByOID(env.DB, types.OID(n)); r != nil && !ok {
		t, ok = env.toastOf(r)
	}
	switch {
	case !ok || t.name() != base:
		return 0
	case index:
		return t.index
	}
	return t.oid
}

// toastOID is pg_class.reltoastrelid.
func (env *Env) toastOID(r catalog.Relation) types.OID {
	if t, ok := env.toastOf(r); ok {
		return t.oid
	}
	return 0
}

// class is the row of pg_class of a TOAST table.
func (t *toast) class() classRow {
	return classRow{oid: t.oid, namespace: catalog.OIDToastSchema, name: t.name(), owner: t.owner, am: catalog.OIDHeapAm, kind: 't', persistence: t.persistence,
		replident: 'n', natts: len(toastColumns), populated: true, rows: -1, hasIndex: true, options: t.options, tablespace: t.tablespace, shared: t.tablespace != 0}
}

// indexClass is the row of pg_class of a TOAST table's index.
func (t *toast) indexClass() classRow {
	return classRow{oid: t.index, namespace: catalog.OIDToastSchema, name: t.name() + "_index", owner: t.owner, am: catalog.OIDBtreeAm, kind: 'i',
		persistence: t.persistence, replident: 'n', natts: 2, populated: true, pages: 1, tablespace: t.tablespace, shared: t.tablespace != 0}
}

// indexDef is pg_get_indexdef of a TOAST table's index.
func (t *toast) indexDef(col int) string {
	switch col {
	case 0:
		return "CREATE UNIQUE INDEX " + t.name() + "_index ON pg_toast." + t.name() + " USING btree (chunk_id, chunk_seq)"
	case 1, 2:
		return toastColumns[col-1].Name
	}
	return ""
}

// toastAttributes writes the columns of a TOAST table or its index.
func (w *writer) toastAttributes(oid types.OID) {
	t, ok := w.env.toastByOID(oid)
	switch {
	case !ok:
	case oid == t.oid:
		w.attributes(oid, toastColumns, true)
	default:
		w.attributes(oid, toastColumns[:2], false)
	}
}

// toastIndex writes the row of pg_index of a TOAST table's index.
func (w *writer) toastIndex(t *toast) {
	w.oid(t.index).oid(t.oid).int(2).int(2).bool(true).bool(false).bool(true).bool(false).bool(true).bool(false).bool(true).bool(false).bool(true).bool(true).bool(false)
	vector(w, []int{1, 2})
	vector(w, []int{0, 0})
	vector(w, []types.OID{oidOidOps, oidInt4Ops})
	vector(w, []int{0, 0})
	w.null().null().end()
}

// The operator classes of a TOAST table's index.
const (
	oidOidOps  types.OID = 1981
	oidInt4Ops types.OID = 1978
)

// toast tells that a relation's TOAST table goes with it.
func (d *dependWriter) toast(r catalog.Relation) {
	t, ok := d.env.toastOf(r)
	if !ok {
		return
	}
	d.dep(relationObject(t.oid), relationObject(t.table), 'i')
	for c := range 2 {
		d.dep(relationObject(t.index), columnObject(t.oid, c), 'a')
	}
}

// HiddenStorage tells of a name in pg_catalog or pg_toast that is an index of a system
// relation, a TOAST table or the index of one; of is the relation that has it.
func (env *Env) HiddenStorage(schema, name string) (of types.OID, index, ok bool) {
	switch schema {
	case catalog.SchemaPgCatalog:
		for _, ix := range catalog.SystemIndexes() {
			if ix.Name == name {
				return ix.Table, true, true
			}
		}
	case catalog.SchemaToast:
		if t, found := env.toastByOID(env.toastByName(name)); found {
			return t.table, t.name() != name, true
		}
	}
	return 0, false, false
}
