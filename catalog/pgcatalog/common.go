package pgcatalog

import (
	"hash/fnv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// OIDs of system relations that rows refer to.
const (
	oidPgType       types.OID = 1247
	oidPgProc       types.OID = 1255
	oidPgOperator   types.OID = 2617
	oidPgCast       types.OID = 2605
	oidPgClass      types.OID = 1259
	oidPgDatabase   types.OID = 1262
	oidPgAuthid     types.OID = 1260
	oidPgConstraint types.OID = 2606
	oidPgAttrdef    types.OID = 2604
	oidPgNamespace  types.OID = 2615
	oidPgRewrite    types.OID = 2618

	oidDefaultTablespace types.OID = 1663
	oidGlobalTablespace  types.OID = 1664

	oidDefaultCollation types.OID = 100
	oidCollationC       types.OID = 950

	encodingUTF8 = 6
)

// synthOID makes up the OID of something that has none of its own here (a
// column's default, a view's rule): the same in every session, above the OIDs
// of objects.
func synthOID(kind string, rel types.OID, sub int) types.OID {
	h := fnv.New32a()
	h.Write([]byte(kind))
	h.Write([]byte{byte(rel), byte(rel >> 8), byte(rel >> 16), byte(rel >> 24), byte(sub), byte(sub >> 8)})
	return types.OID(h.Sum32()) | firstSynthOID
}

// firstSynthOID is the least OID that synthOID makes up.
const firstSynthOID types.OID = 0x80000000

// role returns the OID of a role by name; objects whose owner is gone belong to
// the superuser.
func (env *Env) role(name string) types.OID {
	if o := env.Snap.RoleOID(name); o != 0 {
		return o
	}
	return catalog.OIDSuperuser
}

// namespace returns the OID of a schema of the connected database.
func (env *Env) namespace(name string) types.OID {
	if n := env.Snap.Schema(env.DB, name); n != nil {
		return n.OID
	}
	if catalog.IsTempSchema(name) {
		return synthOID("namespace"+name, 0, 0)
	}
	return 0
}

// dbName returns the name of the connected database.
func (env *Env) dbName() string {
	if d, ok := env.Snap.Object(env.DB).(*catalog.Database); ok {
		return d.Name
	}
	return ""
}

// collationOf returns the collation that a type's values have by default.
func (env *Env) collationOf(t types.T) types.OID {
	if o := collationNamed(env.Snap.TypeCollation(t)); o != 0 {
		return o
	}
	return env.baseCollation(t)
}

// baseCollation is collationOf for the type below a domain.
func (env *Env) baseCollation(t types.T) types.OID {
	o := env.Snap.BaseType(t).OID
	if in := env.Snap.TypeInfo(o); in != nil && in.Kind == types.KArray && in.Elem != 0 && in.Category == 'A' {
		o = env.Snap.BaseType(types.Of(in.Elem)).OID
	}
	switch o {
	case types.OText, types.OVarchar, types.OBpchar, types.OCitext, types.OPgNodeTree:
		return oidDefaultCollation
	case types.OName:
		return oidCollationC
	}
	return 0
}

// columnCollation returns a column's collation.
func (env *Env) columnCollation(col *catalog.Column) types.OID {
	if o := collationNamed(col.Collation); o != 0 {
		return o
	}
	return env.baseCollation(col.Type)
}

// collationNamed returns the OID of a collation; 0 for "".
func collationNamed(name string) types.OID {
	if name == "" {
		return 0
	}
	for _, c := range catalog.Collations() {
		if c.Name == name {
			return c.OID
		}
	}
	return 0
}

// keyCollation returns the collation of an index key.
func (env *Env) keyCollation(t *catalog.Table, k *catalog.IndexKey) types.OID {
	if o := collationNamed(k.Collation); o != 0 {
		return o
	}
	if k.Col >= 0 {
		return env.columnCollation(&t.Columns[k.Col])
	}
	return env.collationOf(k.Type)
}

// systemCollation is collationOf for the columns of system relations, whose
// order is that of bytes in every database.
func (env *Env) systemCollation(t types.T) types.OID {
	if env.collationOf(t) != 0 {
		return oidCollationC
	}
	return 0
}

// commonOf returns what every object has.
func commonOf(o catalog.Object) *catalog.Common {
	if c := catalog.CommonOf(o); c != nil {
		return c
	}
	return &catalog.Common{}
}

// tables calls f for each relation of the database that has rows of its own:
// tables and materialized views. oid is the relation's.
func (env *Env) tables(f func(oid types.OID, t *catalog.Table)) {
	for _, r := range env.Snap.Relations(env.DB) {
		if t := catalog.StorageOf(r); t != nil {
			f(r.ObjectOID(), t)
		}
	}
}

// tablesOf is tables, of one relation where it is given.
func (env *Env) tablesOf(one types.OID, given bool, f func(oid types.OID, t *catalog.Table)) {
	if !given {
		env.tables(f)
		return
	}
	if r := env.Snap.RelationByOID(env.DB, one); r != nil {
		if t := catalog.StorageOf(r); t != nil {
			f(one, t)
		}
	}
}

// ginOpclass returns the operator class of a key of a gin index, or nil.
func (env *Env) ginOpclass(k *catalog.IndexKey) *catalog.Opclass {
	in := env.Snap.BaseType(k.Type).OID
	if info := env.Snap.TypeInfo(in); info != nil && info.Kind == types.KArray {
		in = types.OAnyarray
	}
	return catalog.FindOpclass(catalog.OIDGinAm, in, k.Opclass)
}

// indexColumnType returns what an index stores of a key: itself, or what gin
// takes out of it.
func (env *Env) indexColumnType(ix *catalog.Index, k *catalog.IndexKey) types.T {
	switch ix.Kind {
	case catalog.KindHash:
		return types.Of(types.OInt4) // PostgreSQL keeps the hash code alone
	case catalog.KindGin:
		if c := env.ginOpclass(k); c != nil && c.KeyType == types.OAnyelement {
			return types.Of(env.Snap.TypeInfo(env.Snap.BaseType(k.Type).OID).Elem)
		}
	}
	return keyType(env.opclass(ix, k), k.Type)
}

// keyType is the type that an operator class keeps values of type t as.
func keyType(opclass types.OID, t types.T) types.T {
	for _, c := range catalog.Opclasses() {
		if c.OID == opclass && c.KeyType != 0 {
			return types.Of(c.KeyType)
		}
	}
	return t
}

// opclass returns the operator class of an index key.
func (env *Env) opclass(ix *catalog.Index, k *catalog.IndexKey) types.OID {
	method := catalog.OIDBtreeAm
	switch ix.Kind {
	case catalog.KindGin:
		if c := env.ginOpclass(k); c != nil {
			return c.OID
		}
	case catalog.KindHash:
		method = catalog.OIDHashAm
	case catalog.KindGist:
		method = catalog.OIDGistAm
	case catalog.KindSpgist:
		method = catalog.OIDSpgistAm
	case catalog.KindBrin:
		method = catalog.OIDBrinAm
	}
	for _, name := range []string{k.Opclass, ""} {
		if c := env.Snap.KeyOpclass(env.DB, method, k.Type, name); c != nil {
			return c.OID
		}
	}
	return 0
}

// am returns the OID of an index's access method.
func am(ix *catalog.Index) types.OID {
	switch ix.Kind {
	case catalog.KindHash:
		return catalog.OIDHashAm
	case catalog.KindInverted:
		return catalog.OIDInvertedAm
	case catalog.KindGin:
		return catalog.OIDGinAm
	case catalog.KindGist:
		return catalog.OIDGistAm
	case catalog.KindSpgist:
		return catalog.OIDSpgistAm
	case catalog.KindBrin:
		return catalog.OIDBrinAm
	}
	return catalog.OIDBtreeAm
}

// hasTriggers is a flag of pg_class: foreign keys are triggers there.
func (env *Env) hasTriggers(t *catalog.Table) bool {
	return len(t.ForeignKeys) > 0 || len(env.Snap.Referencing(env.DB, t.OID)) > 0
}

// reltuples returns rows and pages of a relation as pg_class has them: -1 rows
// when it was never analysed.
func (env *Env) reltuples(oid types.OID) (rows, pages float64) {
	if st := env.Snap.Stats(oid); st != nil {
		return st.Rows, st.Pages
	}
	return -1, 0
}

func persistence(temp bool) byte {
	if temp {
		return 't'
	}
	return 'p'
}

func tablePersistence(t *catalog.Table) byte {
	if t.Unlogged {
		return 'u'
	}
	return persistence(t.Temp)
}

func options(list catalog.Options) []string {
	var out []string
	for _, o := range list {
		if !strings.HasPrefix(o.Name, toastPrefix) {
			out = append(out, o.Name+"="+o.Value)
		}
	}
	return out
}

// toastPrefix begins the names of the options that are of the table with long values.
const toastPrefix = "toast."

func toastOptions(list catalog.Options) []string {
	var out []string
	for _, o := range list {
		if name, ok := strings.CutPrefix(o.Name, toastPrefix); ok {
			out = append(out, name+"="+o.Value)
		}
	}
	return out
}

// optArray writes an array of strings, NULL when it is empty.
func (w *writer) optArray(list []string) *writer {
	if len(list) == 0 {
		return w.null()
	}
	return w.strArray(list)
}
