package catalog

import (
	"encoding/base64"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/types"
)

// EncodeObject returns the object's XML fragment.
func EncodeObject(o Object) ([]byte, error) {
	w := &xmlWriter{ids: true}
	w.object(o)
	return w.buf.Bytes(), nil
}

// EncodeCounters returns the fragment that keeps the next OID and space, so
// that those of dropped objects are not used again, and the form of what is stored.
func (c *Catalog) EncodeCounters() []byte {
	w := &xmlWriter{ids: true}
	var a attrList
	a.num("nextOID", int64(c.oid.Load()))
	a.num("nextSpace", int64(c.space.Load()))
	if form := c.form.Load(); form > 1 {
		a.num("form", int64(form))
	}
	w.empty("Counters", a)
	return w.buf.Bytes()
}

// SequenceState returns the state of a sequence, which is stored apart from its
// definition: its last value, and whether that was given out.
type SequenceState func(*Sequence) (last int64, called bool, err error)

// Export writes the document of the databases named, or of all but the
// templates. The output depends on the snapshot and the states of the sequences
// alone; a nil state leaves the latter out. Roles, without their passwords, are
// written when no database is named.
func Export(s *Snapshot, out io.Writer, state SequenceState, databases ...string) error {
	w := &xmlWriter{snap: s, state: state}
	w.buf.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	w.open("Databases", nil)
	if len(databases) == 0 {
		w.roles()
	}
	dbs := s.Databases()
	slices.SortFunc(dbs, func(a, b *Database) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range dbs {
		if len(databases) == 0 && d.OID != OIDTemplate0 && d.OID != OIDTemplate1 || slices.Contains(databases, d.Name) {
			w.database(d)
		}
	}
	w.close("Databases")
	if w.err != nil {
		return w.err
	}
	_, err := out.Write(w.buf.Bytes())
	return err
}

func (w *xmlWriter) roles() {
	var list []*Role
	for _, r := range w.snap.Roles() {
		if !strings.HasPrefix(r.Name, "pg_") {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *Role) int { return strings.Compare(a.Name, b.Name) })
	w.open("Roles", nil)
	for _, r := range list {
		w.object(r)
	}
	w.close("Roles")
}

// database writes a DataBase element with everything in it.
func (w *xmlWriter) database(d *Database) {
	a := w.common(&d.Common, "dataBaseName")
	w.ownership(&a, &d.Common)
	connections(&a, d)
	w.open("DataBase", a)
	w.settings(d.Settings)
	w.defaultPrivileges(d.Defaults)
	w.notes(d.Notes)
	section(w, "Schemas", objectsOf(w.snap, func(n *Schema) bool { return n.DB == d.OID }))
	section(w, "Extensions", w.snap.Extensions(d.OID))
	section(w, "Types", w.snap.UserTypes(d.OID))
	section(w, "Sequences", objectsOf(w.snap, func(q *Sequence) bool { return q.DB == d.OID && !q.Temp }))
	section(w, "Tables", objectsOf(w.snap, func(t *Table) bool { return t.DB == d.OID && !t.Temp }))
	section(w, "Views", objectsOf(w.snap, func(v *View) bool { return v.DB == d.OID && !v.Temp }))
	section(w, "Functions", w.snap.AllFunctions(d.OID))
	section(w, "Operators", w.snap.AllOperators(d.OID))
	section(w, "Casts", w.snap.AllCasts(d.OID))
	lasting := func(rel types.OID) bool {
		t := w.snap.storageTable(rel, d.OID)
		return t != nil && !t.Temp
	}
	section(w, "Policies", objectsOf(w.snap, func(p *Policy) bool { return p.DB == d.OID && lasting(p.Table) }))
	section(w, "StatisticsObjects", objectsOf(w.snap, func(e *ExtStats) bool { return e.DB == d.OID && lasting(e.Table) }))
	section(w, "Statistics", objectsOf(w.snap, func(st *Stats) bool {
		return st.DB == d.OID && lasting(st.Table)
	}))
	w.close("DataBase")
}

// connections writes who may connect to a database, and copy it.
func connections(a *attrList, d *Database) {
	if d.ConnLimit != -1 {
		a.num("connLimit", int64(d.ConnLimit))
	}
	a.flag("closed", d.Closed)
	a.flag("template", d.Template)
}

// section writes a list of objects, ordered by schema and name.
func section[T commoner](w *xmlWriter, name string, list []T) {
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b T) int {
		x, y := w.sortKey(a), w.sortKey(b)
		return slices.Compare(x[:], y[:])
	})
	w.open(name, nil)
	for _, o := range list {
		w.object(o)
	}
	w.close(name)
}

func (w *xmlWriter) sortKey(o commoner) [3]string {
	co := o.common()
	if st, ok := o.(*Stats); ok {
		if r := asRelation(w.snap.objs.get(st.Table)); r != nil {
			schema, name := r.RelName()
			return [3]string{schema, name}
		}
	}
	extra := ""
	switch x := o.(type) {
	case *Function:
		extra = w.signature(x)
	case *Policy:
		extra = w.snap.relationName(x.Table)
	}
	return [3]string{co.Schema, co.Name, extra}
}

// common writes what every object has; nameAttr is the element's name attribute.
func (w *xmlWriter) common(c *Common, nameAttr string) attrList {
	var a attrList
	if w.ids {
		a.num("oid", int64(c.OID))
		a.optNum("db", int64(c.DB))
	}
	if c.Schema != "" && (w.ids || c.Schema != SchemaPublic) {
		a.set("schema", c.Schema)
	}
	if nameAttr != "" {
		a.set(nameAttr, c.Name)
	}
	return a
}

// ownership adds what comes last among an object's attributes.
func (w *xmlWriter) ownership(a *attrList, c *Common) {
	a.opt("owner", c.Owner)
	if c.Comment != "" || w.born(c) {
		a.set("comment", c.Comment)
	}
	aclAttr(a, c.ACL)
	w.bindings(a, c)
}

// born reports whether a new server has the object, with a comment: a document says
// that it has none, as what it does not mention stays.
func (w *xmlWriter) born(c *Common) bool {
	if w.ids {
		return false
	}
	switch o := w.snap.objs.get(c.OID).(type) {
	case *Schema:
		return o.Name == SchemaPublic
	case *Database:
		return o.OID == OIDPostgres || o.OID == OIDTemplate0 || o.OID == OIDTemplate1
	}
	return false
}

// aclAttr writes an ACL that is not the default.
func aclAttr(a *attrList, acl ACL) {
	if acl != nil {
		a.set("acl", acl.text())
	}
}

// object writes one object's element.
func (w *xmlWriter) object(o Object) {
	switch x := o.(type) {
	case *Database:
		a := w.common(&x.Common, "dataBaseName")
		w.ownership(&a, &x.Common)
		connections(&a, x)
		a.optNum("largeObjectSpace", int64(x.LargeObjects.Metadata))
		a.optNum("pageSpace", int64(x.LargeObjects.Pages))
		w.open("DataBase", a)
		w.settings(x.Settings)
		w.defaultPrivileges(x.Defaults)
		w.notes(x.Notes)
		w.close("DataBase")
	case *Schema:
		a := w.common(&x.Common, "schemaName")
		w.ownership(&a, &x.Common)
		w.empty("Schema", a)
	case *Role:
		w.role(x)
	case *Table:
		w.table(x)
	case *View:
		w.view(x)
	case *Sequence:
		w.sequence(x)
	case *UserType:
		w.userType(x)
	case *Function:
		w.function(x)
	case *OwnOperator:
		w.operator(x)
	case *OwnCast:
		w.cast(x)
	case *Policy:
		w.policy(x)
	case *ExtStats:
		w.extStats(x)
	case *Extension:
		w.extension(x)
	case *Stats:
		w.stats(x)
	}
}

func (w *xmlWriter) defaultPrivileges(list []DefaultPrivileges) {
	if len(list) == 0 {
		return
	}
	w.open("DefaultPrivileges", nil)
	for _, d := range list {
		var a attrList
		a.set("roleName", d.Role)
		a.opt("schema", d.Schema)
		a.set("objects", string(rune(d.Kind)))
		a.set("acl", d.ACL.text())
		w.empty("DefaultPrivilege", a)
	}
	w.close("DefaultPrivileges")
}

func (w *xmlWriter) settings(m map[string]string) { w.pairs("Settings", "Setting", m) }

// databaseSettings writes what a role has set in single databases.
func (w *xmlWriter) databaseSettings(m map[string]map[string]string) {
	if len(m) == 0 {
		return
	}
	w.open("DatabaseSettings", nil)
	for _, db := range slices.Sorted(maps.Keys(m)) {
		for _, k := range slices.Sorted(maps.Keys(m[db])) {
			var a attrList
			a.set("database", db)
			a.set("name", k)
			a.set("value", m[db][k])
			w.empty("Setting", a)
		}
	}
	w.close("DatabaseSettings")
}

func (w *xmlWriter) pairs(list, item string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	w.open(list, nil)
	for _, k := range keys {
		w.pair(item, k, m[k])
	}
	w.close(list)
}

func (w *xmlWriter) pair(item, name, value string) {
	var a attrList
	a.set("name", name)
	a.set("value", value)
	w.empty(item, a)
}

// options writes parameters in their order.
func (w *xmlWriter) options(list Options) {
	if len(list) == 0 {
		return
	}
	w.open("Options", nil)
	for _, o := range list {
		w.pair("Option", o.Name, o.Value)
	}
	w.close("Options")
}

func (w *xmlWriter) role(r *Role) {
	a := w.common(&r.Common, "roleName")
	a.flag("super", r.Super)
	a.flag("login", r.Login)
	a.flag("createDB", r.CreateDB)
	a.flag("createRole", r.CreateRole)
	a.flag("inherit", r.Inherit)
	a.flag("replication", r.Replication)
	a.flag("bypassRLS", r.BypassRLS)
	a.num("connLimit", int64(r.ConnLimit))
	a.optNum("validUntil", r.ValidUntil)
	if w.ids {
		// Documents are read by people; a password's verifier is not for them.
		a.opt("verifier", r.Verifier)
	}
	w.ownership(&a, &r.Common)
	w.open("Role", a)
	for _, m := range r.MemberOf {
		var ma attrList
		ma.flag("admin", slices.Contains(r.AdminOf, m))
		w.text("memberOf", ma, m)
	}
	w.settings(r.Settings)
	w.databaseSettings(r.InDatabase)
	w.pairs("Everybody", "Setting", r.Everybody)
	w.notes(r.Notes)
	w.close("Role")
}

func (w *xmlWriter) sequence(q *Sequence) {
	a := w.common(&q.Common, "sequenceName")
	w.typeAttrs(&a, "type", q.Type)
	a.num("start", q.Start)
	a.num("increment", q.Inc)
	a.num("min", q.Min)
	a.num("max", q.Max)
	a.num("cache", q.Cache)
	a.flag("cycle", q.Cycle)
	a.flag("unlogged", q.Unlogged)
	a.flag("identity", q.Identity)
	a.flag("temp", q.Temp)
	if q.OwnerTable != 0 {
		if w.ids {
			a.num("ownerTable", int64(q.OwnerTable))
			a.num("ownerPosition", int64(q.OwnerCol+1))
		} else if t := w.snap.Table(q.OwnerTable); t != nil {
			w.relRef(&a, "ownerTable", "ownerSchema", t)
			a.set("ownerAttribute", t.Columns[q.OwnerCol].Name)
		}
	}
	if w.state != nil {
		last, called, err := w.state(q)
		if err != nil && w.err == nil {
			w.err = err
		}
		if called || last != q.Start {
			a.num("lastValue", last)
			a.flag("isCalled", called)
		}
	}
	w.ownership(&a, &q.Common)
	w.empty("Sequence", a)
}

// relRef writes a reference to a relation by name.
func (w *xmlWriter) relRef(a *attrList, nameAttr, schemaAttr string, r Relation) {
	schema, name := r.RelName()
	a.set(nameAttr, name)
	if schema != SchemaPublic {
		a.set(schemaAttr, schema)
	}
}

// paperTypes are the names that the founding paper uses.
var paperTypes = map[types.OID]string{
	types.OBpchar: "char", types.OVarchar: "varchar", types.OInt4: "int", types.OFloat8: "double",
}

// typeAttrs writes a type: its name, and length, precision and scale where the
// type has them.
func (w *xmlWriter) typeAttrs(a *attrList, attr string, t types.T) {
	in := types.Lookup(t.OID)
	if in == nil {
		w.userTypeAttrs(a, attr, t)
		return
	}
	name, ok := paperTypes[t.OID]
	if !ok {
		name = in.SQLName
	}
	if back := types.ByName(name); !ok && in.Extension == "" && (back == nil || back.OID != t.OID) {
		name = in.Name
	}
	if t.OID == types.OBpchar && t.Mod < 0 {
		name = "bpchar"
	}
	a.set(attr, name)
	switch {
	case t.Mod < 0:
	case t.OID == types.OBpchar || t.OID == types.OVarchar:
		a.num("length", int64(t.Mod-4))
	case t.OID == types.OBit || t.OID == types.OVarbit:
		a.num("length", int64(t.Mod))
	case t.OID == types.ONumeric:
		a.num("precision", int64((t.Mod-4)>>16&0xFFFF))
		a.num("scale", int64(numericScale(t.Mod)))
	default:
		a.num("typmod", int64(t.Mod))
	}
}

// numericScale is the scale in a numeric's modifier, -1000 … 1000.
func numericScale(mod int32) int32 { return ((mod-4)&0x7FF ^ 1024) - 1024 }

func numericMod(precision, scale int32) int32 { return precision<<16 | scale&0x7FF + 4 }

// userTypeAttrs writes a reference to a user-defined type. A fragment also says
// how its values are held, so that it can be decoded before the type is known.
func (w *xmlWriter) userTypeAttrs(a *attrList, attr string, t types.T) {
	if w.ids {
		a.num(attr+"OID", int64(t.OID))
		a.num(attr+"Kind", int64(t.User))
		a.optNum(attr+"Elem", int64(t.Elem))
	} else {
		in := w.snap.TypeInfo(t.OID)
		schema, suffix := w.snap.TypeSchema(0, t.OID), ""
		if in != nil && in.Kind == types.KArray && in.Elem != 0 && in.Type == 'b' {
			in, suffix = w.snap.TypeInfo(in.Elem), "[]"
		}
		if in != nil {
			a.set(attr, in.Name+suffix)
			a.set(attr+"Schema", schema)
		}
	}
	if t.Mod >= 0 && (w.ids || t.User != types.KText) { // a domain has its own
		a.num("typmod", int64(t.Mod))
	}
}

func (w *xmlWriter) userType(u *UserType) {
	a := w.common(&u.Common, "typeName")
	if w.ids {
		a.optNum("array", int64(u.Array))
		a.optNum("relation", int64(u.RelOID))
	}
	name := "CompositeType"
	switch u.Kind {
	case 'e':
		name = "EnumType"
	case 'd':
		name = "DomainType"
		w.typeAttrs(&a, "type", u.Base)
		a.opt("collation", u.Collation)
		a.set("isnull", boolDigit(!u.NotNull))
		a.opt("default", u.Default)
	case 'r', 'm':
		name = w.rangeType(&a, u)
	}
	w.ownership(&a, &u.Common)
	w.open(name, a)
	for _, l := range u.Labels {
		var la attrList
		if w.ids {
			la.num("oid", int64(l.OID))
			la.set("order", formatFloat(l.Order))
		}
		w.text("Label", la, l.Label)
	}
	for i := range u.Columns {
		w.attribute(nil, &u.Columns[i])
	}
	w.checks(nil, u.Checks)
	w.close(name)
}

func boolDigit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// signature names a function with its arguments.
func (w *xmlWriter) signature(f *Function) string {
	parts := make([]string, 0, len(f.Args))
	for _, t := range f.inputs() {
		parts = append(parts, w.snap.FormatType(types.T{OID: t.OID, Mod: -1, User: t.User, Elem: t.Elem}, f.DB, nil))
	}
	return f.Name + "(" + strings.Join(parts, ",") + ")"
}

func (w *xmlWriter) function(f *Function) {
	a := w.common(&f.Common, "functionName")
	w.typeAttrs(&a, "returns", f.Ret)
	a.flag("returnsSet", f.RetSet)
	a.set("volatility", string(f.Volatile))
	a.flag("strict", f.Strict)
	a.flag("procedure", f.Procedure)
	a.flag("window", f.Window)
	a.set("language", f.Language)
	a.flag("standardBody", f.Standard)
	w.rangeRef(&a, f.RangeType)
	a.opt("extension", f.Extension)
	a.flag("securityDefiner", f.Definer)
	a.flag("leakProof", f.LeakProof)
	if f.Parallel != 'u' {
		a.set("parallel", string(f.Parallel))
	}
	if f.Cost != defaultCost {
		a.set("cost", formatFloat(f.Cost))
	}
	if f.Rows != f.defaultRows() {
		a.set("rows", formatFloat(f.Rows))
	}
	w.ownership(&a, &f.Common)
	w.open("Function", a)
	for i, t := range f.Args {
		var aa attrList
		if i < len(f.ArgNames) {
			aa.opt("argumentName", f.ArgNames[i])
		}
		w.typeAttrs(&aa, "type", t)
		if i < len(f.ArgModes) {
			aa.set("mode", string(f.ArgModes[i]))
		}
		w.empty("Argument", aa)
	}
	for _, d := range f.Defaults {
		w.text("Default", nil, d)
	}
	for _, kv := range f.Config {
		var ca attrList
		name, value, _ := strings.Cut(kv, "=")
		ca.set("name", name)
		ca.set("value", value)
		w.empty("Setting", ca)
	}
	if f.Agg != nil {
		w.aggregate(f.Agg)
	}
	if f.Agg == nil || f.Body != "" {
		w.text("Body", nil, f.Body)
	}
	w.close("Function")
}

func (w *xmlWriter) stats(st *Stats) {
	var a attrList
	if w.ids {
		a = w.common(&st.Common, "")
		a.num("table", int64(st.Table))
	} else if r := asRelation(w.snap.objs.get(st.Table)); r != nil {
		w.relRef(&a, "tableName", "schema", r)
	}
	a.set("rows", formatFloat(st.Rows))
	a.set("pages", formatFloat(st.Pages))
	w.open("TableStatistics", a)
	for i := range st.Cols {
		c := &st.Cols[i]
		var ca attrList
		ca.num("position", int64(i+1))
		ca.set("nullFraction", formatFloat(c.NullFrac))
		ca.set("distinct", formatFloat(c.NDistinct))
		ca.set("averageWidth", formatFloat(c.AvgWidth))
		ca.set("correlation", formatFloat(c.Correlation))
		if len(c.Elems) > 0 {
			ca.set("otherElements", formatFloat(c.ElemRest))
			ca.set("nullElements", formatFloat(c.ElemNull))
		}
		w.open("AttributeStatistics", ca)
		for k := range c.MCV {
			var f float64
			if k < len(c.MCF) {
				f = c.MCF[k]
			}
			w.datum("Common", c.MCV[k], "frequency", formatFloat(f))
		}
		for _, d := range c.Histogram {
			w.datum("Bound", d, "", "")
		}
		for k, d := range c.Elems {
			w.datum("Element", d, "frequency", formatFloat(c.ElemFreq[k]))
		}
		w.close("AttributeStatistics")
	}
	w.close("TableStatistics")
}

// datum writes a value: integers, floats and decimals as numbers, bytes as text
// where they are text and in base64 otherwise.
func (w *xmlWriter) datum(name string, d types.Datum, attr, value string) {
	var a attrList
	if attr != "" {
		a.set(attr, value)
	}
	w.typeAttrs(&a, "type", d.T)
	if d.Null {
		a.flag("null", true)
		w.empty(name, a)
		return
	}
	text := ""
	switch d.T.Rep() {
	case types.RepBool, types.RepInt:
		text = strconv.FormatInt(d.I, 10)
	case types.RepFloat:
		text = formatFloat(d.F)
	case types.RepDec:
		text = d.Dec.String()
	case types.RepInterval:
		text = strconv.Itoa(int(d.Iv.Months)) + " " + strconv.Itoa(int(d.Iv.Days)) + " " + strconv.FormatInt(d.Iv.Micros, 10)
	default:
		text = string(d.B)
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			a.set("encoding", "base64")
			text = base64.StdEncoding.EncodeToString(d.B)
		}
	}
	w.text(name, a, text)
}
