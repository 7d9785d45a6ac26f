package catalog

import (
	"slices"
	"strings"

	"kvsqld/catalog/types"
)

// xmlLength is a type's longest value in bytes as the founding paper counts it,
// or 0 when it has no limit.
func xmlLength(t types.T) int {
	switch {
	case (t.OID == types.OBpchar || t.OID == types.OVarchar) && t.Mod >= 4:
		return int(t.Mod - 4)
	case t.OID == types.ONumeric && t.Mod >= 4:
		return int((t.Mod-4)>>16&0xFFFF) + 2
	}
	if in := types.Lookup(t.OID); in != nil && in.Len > 0 {
		return int(in.Len)
	}
	return 0
}

func (w *xmlWriter) table(t *Table) {
	a := w.common(&t.Common, "tableName")
	w.tableAttrs(&a, t)
	a.flag("temp", t.Temp)
	w.ownership(&a, &t.Common)
	w.open("Table", a)
	w.tableBody(t)
	w.close("Table")
}

// tableAttrs writes what belongs to the master file.
func (w *xmlWriter) tableAttrs(a *attrList, t *Table) {
	a.opt("fileName", t.File)
	length := 0
	for i := range t.Columns {
		if !t.Columns[i].Dropped {
			length += xmlLength(t.Columns[i].Type)
		}
	}
	a.num("rowLength", int64(length))
	if t.Layout != "" && t.Layout != LayoutRow {
		a.set("layout", t.Layout)
	}
	a.flag("unlogged", t.Unlogged)
	if t.ReplicaIdentity != 0 {
		a.set("replicaIdentity", string(t.ReplicaIdentity))
	}
	if t.OfType != 0 {
		w.typeAttrs(a, "ofType", types.T{OID: t.OfType, Mod: -1, User: types.KRecord})
	}
	a.flag("rowSecurity", t.RowSecurity)
	a.flag("forceRowSecurity", t.ForceRowSecurity)
	w.clusterAttrs(a, t)
	if w.ids {
		a.num("rowType", int64(t.RowType))
		w.rowArray(a, t.RowArray)
		a.num("space", int64(t.Space))
		a.optNum("rewrites", int64(t.Rewrites))
	}
}

// rowArray writes the OID of a row type's array type, which old stores lack.
func (w *xmlWriter) rowArray(a *attrList, oid types.OID) {
	if oid != 0 {
		a.num("rowArray", int64(oid))
	}
}

func (w *xmlWriter) tableBody(t *Table) {
	w.options(t.Options)
	w.open("Structure", nil)
	for i := range t.Columns {
		if w.ids || !t.Columns[i].Dropped {
			w.attribute(t, &t.Columns[i])
		}
	}
	w.close("Structure")
	w.primaryKey(t)
	w.foreignKeys(t)
	w.uniqueKeys(t)
	w.exclusions(t)
	w.checks(t, t.Checks)
	w.indexFiles(t)
	w.columnGroups(t)
	w.partition(t)
	w.systemGrants(t)
}

// systemGrants writes the ACLs of system columns.
func (w *xmlWriter) systemGrants(t *Table) {
	if len(t.SystemGrants) == 0 {
		return
	}
	w.open("SystemGrants", nil)
	for _, g := range t.SystemGrants {
		var a attrList
		a.set("attributeName", g.Column)
		aclAttr(&a, g.ACL)
		w.empty("SystemGrant", a)
	}
	w.close("SystemGrants")
}

// columnGroups writes the attribute files.
func (w *xmlWriter) columnGroups(t *Table) {
	if !slices.ContainsFunc(t.Groups, func(g ColumnGroup) bool { return w.ids || g.Space != 0 }) {
		return
	}
	w.open("ColumnGroups", nil)
	for _, g := range t.Groups {
		if !w.ids && g.Space == 0 {
			continue
		}
		var a attrList
		a.opt("fileName", g.File)
		a.flag("elements", g.Elements)
		cols := t.liveCols(g.Cols)
		if w.ids {
			a.num("space", int64(g.Space))
			cols = g.Cols
		}
		w.open("ColumnGroup", a)
		w.columnList("groupAttribute", t, cols)
		w.close("ColumnGroup")
	}
	w.close("ColumnGroups")
}

// attribute writes a column; t is nil for those of composite types.
func (w *xmlWriter) attribute(t *Table, c *Column) {
	var a attrList
	a.set("attributeName", c.Name)
	w.typeAttrs(&a, "type", c.Type)
	a.set("isnull", boolDigit(!c.NotNull))
	a.flag("dropped", c.Dropped)
	a.opt("default", c.Default)
	a.flag("generated", c.Generated)
	if c.Identity != 0 {
		a.set("identity", string(c.Identity))
	}
	if c.Sequence != 0 {
		if w.ids {
			a.num("sequence", int64(c.Sequence))
		} else if q, ok := w.snap.objs.get(c.Sequence).(*Sequence); ok {
			w.relRef(&a, "sequence", "sequenceSchema", q)
		}
	}
	a.optNum("dimensions", int64(c.Dims))
	a.opt("storage", c.Storage)
	a.opt("compression", c.Compression)
	a.optNum("statisticsTarget", int64(c.StatTarget))
	a.opt("collation", c.Collation)
	a.opt("comment", c.Comment)
	a.inherited(c.Inherited)
	aclAttr(&a, c.ACL)
	// A document's tables are empty: no row of theirs lacks a column.
	missing := w.ids && c.Missing != nil
	if !missing && len(c.DefaultCols) == 0 && len(c.DefaultDeps) == 0 && len(c.Options) == 0 {
		w.empty("Attribute", a)
		return
	}
	w.open("Attribute", a)
	w.options(c.Options)
	if missing {
		w.datum("Missing", *c.Missing, "", "")
	}
	if t != nil {
		w.columnList("DefaultAttribute", t, c.DefaultCols)
	}
	for _, dep := range c.DefaultDeps {
		w.dependency(dep)
	}
	w.close("Attribute")
}

// inOrder returns the parts of a table as they are written: in documents by name,
// so that equal schemas have equal documents whatever their history.
func inOrder[T any](w *xmlWriter, list []T, name func(T) string) []T {
	if w.ids {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	return list
}

// dependency writes a reference to an object that a default needs.
func (w *xmlWriter) dependency(oid types.OID) {
	var a attrList
	if w.ids {
		a.num("oid", int64(oid))
		w.empty("DefaultDependency", a)
		return
	}
	switch x := w.snap.objs.get(oid).(type) {
	case *Sequence:
		w.relRef(&a, "sequence", "schema", x)
	case *UserType:
		a.set("type", x.Name)
		a.set("schema", x.Schema)
	case *Function:
		a.set("function", w.signature(x))
		a.set("schema", x.Schema)
	default:
		return
	}
	w.empty("DefaultDependency", a)
}

// columnRef is how an element names a column: by name, in fragments by position.
func (w *xmlWriter) columnRef(element string, t *Table, col int) {
	if w.ids {
		var a attrList
		a.num("position", int64(col+1))
		w.empty(element, a)
		return
	}
	w.text(element, nil, t.Columns[col].Name)
}

func (w *xmlWriter) columnList(element string, t *Table, cols []int) {
	for _, c := range cols {
		w.columnRef(element, t, c)
	}
}

// constraintAttrs begins a constraint's element.
func (w *xmlWriter) constraintAttrs(name string, oid types.OID) attrList {
	var a attrList
	if w.ids {
		a.num("oid", int64(oid))
	}
	a.set("name", name)
	return a
}

func (w *xmlWriter) uniqueAttrs(u *Unique) attrList {
	a := w.constraintAttrs(u.Name, u.OID)
	a.flag("deferrable", u.Deferrable)
	a.flag("initiallyDeferred", u.InitiallyDeferred)
	a.opt("comment", u.Comment)
	w.partOf(&a, "parent", u.Parent)
	a.flag("derived", u.Derived)
	return a
}

func (w *xmlWriter) primaryKey(t *Table) {
	if len(t.PK) == 0 {
		return
	}
	var a attrList
	ix := t.PrimaryIndex()
	for _, u := range t.Uniques {
		if u.Primary {
			a = w.uniqueAttrs(u)
		}
	}
	if ix != nil {
		if w.ids {
			a.num("index", int64(ix.OID))
			a.flag("indexInvalid", ix.Invalid)
			a.optNum("space", int64(ix.Space))
			w.partOf(&a, "parentIndex", ix.Parent)
		}
		a.opt("fileName", ix.File)
		a.set("indexName", ix.Name)
		a.opt("indexComment", ix.Comment)
		indexMarks(&a, ix)
		if ix.Kind != "btree" {
			a.set("indexType", ix.Kind)
		}
	}
	w.open("primaryKey", a)
	w.columnList("pkAttribute", t, t.PK)
	if ix != nil {
		w.columnList("includeAttribute", t, ix.Include)
	}
	w.close("primaryKey")
}

func (w *xmlWriter) foreignKeys(t *Table) {
	if len(t.ForeignKeys) == 0 {
		return
	}
	w.open("foreignKeys", nil)
	for _, fk := range inOrder(w, t.ForeignKeys, func(fk *ForeignKey) string { return fk.Name }) {
		a := w.constraintAttrs(fk.Name, fk.OID)
		a.set("onDelete", string(fk.OnDelete))
		a.set("onUpdate", string(fk.OnUpdate))
		a.set("match", string(fk.Match))
		a.flag("deferrable", fk.Deferrable)
		a.flag("initiallyDeferred", fk.InitiallyDeferred)
		a.flag("notValid", fk.NotValid)
		a.opt("comment", fk.Comment)
		w.partOf(&a, "parent", fk.Parent)
		if w.ids { // a document has constraints that hold, as a dump
			a.flag("unchecked", fk.Unchecked)
			a.flag("unwatched", fk.Unwatched)
		}
		w.open("foreignKey", a)
		w.columnList("fkAttribute", t, fk.Cols)
		w.columnList("deleteAttribute", t, fk.DelCols)
		w.open("references", nil)
		if w.ids {
			var ra attrList
			ra.num("oid", int64(fk.RefTable))
			ra.num("index", int64(fk.RefIndex))
			w.empty("refTable", ra)
			w.columnList("refAttribute", nil, fk.RefCols)
		} else if ref := w.snap.Table(fk.RefTable); ref != nil {
			var ra attrList
			if ref.Schema != SchemaPublic {
				ra.set("schema", ref.Schema)
			}
			w.text("refTable", ra, ref.Name)
			w.columnList("refAttribute", ref, fk.RefCols)
		}
		w.close("references")
		w.targets(fk)
		w.close("foreignKey")
	}
	w.close("foreignKeys")
}

func (w *xmlWriter) uniqueKeys(t *Table) {
	plain := func(u *Unique) bool { return !u.Primary && u.Exclude == nil }
	if !slices.ContainsFunc(t.Uniques, plain) {
		return
	}
	w.open("uniqueKeys", nil)
	for _, u := range inOrder(w, t.Uniques, func(u *Unique) string { return u.Name }) {
		if !plain(u) {
			continue
		}
		a := w.uniqueAttrs(u)
		if w.ids {
			a.num("index", int64(u.Index))
		} else if ix := t.IndexByOID(u.Index); ix != nil {
			a.set("indexName", ix.Name)
		}
		w.open("uniqueKey", a)
		w.columnList("ukAttribute", t, u.Cols)
		w.close("uniqueKey")
	}
	w.close("uniqueKeys")
}

// exclusions writes EXCLUDE constraints, of whose indexes the keys are.
func (w *xmlWriter) exclusions(t *Table) {
	if !slices.ContainsFunc(t.Uniques, func(u *Unique) bool { return u.Exclude != nil }) {
		return
	}
	w.open("exclusions", nil)
	for _, u := range inOrder(w, t.Uniques, func(u *Unique) string { return u.Name }) {
		if ix := t.IndexByOID(u.Index); u.Exclude != nil && ix != nil {
			a := w.uniqueAttrs(u)
			a.set("indexName", ix.Name)
			a.set("operators", strings.Join(u.Exclude, " "))
			w.empty("exclusion", a)
		}
	}
	w.close("exclusions")
}

// checks writes CHECK constraints; t is nil for a domain's.
func (w *xmlWriter) checks(t *Table, list []*Check) {
	if len(list) == 0 {
		return
	}
	w.open("checks", nil)
	for _, k := range inOrder(w, list, func(k *Check) string { return k.Name }) {
		a := w.constraintAttrs(k.Name, k.OID)
		a.set("expression", k.Expr)
		a.flag("notValid", k.NotValid)
		a.flag("noInherit", k.NoInherit)
		a.inherited(k.Inherited)
		a.opt("comment", k.Comment)
		w.open("check", a)
		if t != nil {
			w.columnList("checkAttribute", t, k.Cols)
		}
		w.close("check")
	}
	w.close("checks")
}

// paperIndexTypes maps an index's kind to the paper's indexType.
var paperIndexTypes = map[string]string{"btree": "BTree", "inverted": "Inverted", "gin": "GIN", "hash": "Hash", "gist": "GiST", "spgist": "SP-GiST", "brin": "BRIN"}

func (w *xmlWriter) indexFiles(t *Table) {
	if !slices.ContainsFunc(t.Indexes, func(ix *Index) bool { return !ix.Primary }) {
		return
	}
	w.open("IndexFiles", nil)
	for _, ix := range inOrder(w, t.Indexes, func(ix *Index) string { return ix.Name }) {
		if !ix.Primary {
			w.indexFile(t, ix)
		}
	}
	w.close("IndexFiles")
}

func (w *xmlWriter) indexFile(t *Table, ix *Index) {
	var a attrList
	if w.ids {
		a.num("oid", int64(ix.OID))
		a.num("space", int64(ix.Space))
		a.optNum("constraint", int64(ix.Constraint))
		w.partOf(&a, "parent", ix.Parent)
	}
	a.set("indexName", ix.Name)
	if ix.File != ix.Name {
		a.opt("fileName", ix.File)
	}
	length := 0
	for _, k := range ix.Keys {
		length += xmlLength(k.Type)
	}
	a.num("keyLength", int64(length))
	a.set("isUnique", boolDigit(ix.Unique))
	a.set("indexType", paperIndexTypes[ix.Kind])
	a.flag("nullsNotDistinct", ix.NullsNotDistinct)
	a.flag("invalid", ix.Invalid)
	a.flag("unready", ix.Unready)
	a.flag("byLength", ix.ByLength)
	indexMarks(&a, ix)
	a.opt("where", ix.Where)
	a.opt("comment", ix.Comment)
	w.open("IndexFile", a)
	w.open("IndexAttributes", nil)
	for i := range ix.Keys {
		w.indexKey(t, &ix.Keys[i])
	}
	w.close("IndexAttributes")
	if len(ix.Include) > 0 {
		w.open("IncludeAttributes", nil)
		w.columnList("IAttribute", t, ix.Include)
		w.close("IncludeAttributes")
	}
	w.columnList("expressionAttribute", t, ix.ExprCols)
	w.close("IndexFile")
}

// indexMarks writes what is only shown of an index.
func indexMarks(a *attrList, ix *Index) {
	a.flag("clustered", ix.Clustered)
	a.flag("replicaIdentity", ix.Identity)
	var options []string
	for _, o := range ix.Options {
		options = append(options, o.Name+"="+o.Value)
	}
	a.opt("storageParameters", strings.Join(options, ","))
}

func (w *xmlWriter) indexKey(t *Table, k *IndexKey) {
	var a attrList
	a.flag("desc", k.Desc)
	a.flag("nullsFirst", k.NullsFirst)
	a.opt("opclass", k.Opclass)
	a.opt("collation", k.Collation)
	a.optNum("statisticsTarget", int64(k.StatTarget))
	a.opt("columnName", k.Name)
	switch {
	case k.Col < 0:
		w.typeAttrs(&a, "type", k.Type)
		a.set("expression", k.Expr)
		w.empty("IAttribute", a)
	case w.ids:
		a.num("position", int64(k.Col+1))
		w.empty("IAttribute", a)
	default:
		w.text("IAttribute", a, t.Columns[k.Col].Name)
	}
}

func (w *xmlWriter) view(v *View) {
	name := "View"
	a := w.common(&v.Common, "viewName")
	if v.Materialized != nil {
		name = "MaterializedView"
		w.tableAttrs(&a, v.Materialized)
		if w.ids {
			// A document has no rows: its materialized views are not populated.
			a.flag("populated", v.Populated)
		}
	} else if w.ids {
		a.num("rowType", int64(v.RowType))
		w.rowArray(&a, v.RowArray)
	}
	a.opt("checkOption", v.CheckOption)
	a.flag("temp", v.Temp)
	w.ownership(&a, &v.Common)
	w.open(name, a)
	w.text("Query", nil, v.Query)
	for _, n := range v.MadeAliases {
		var a attrList
		a.set("name", n)
		w.empty("madeAlias", a)
	}
	w.options(v.Options)
	w.open("Structure", nil)
	for i := range v.Columns {
		w.attribute(nil, &v.Columns[i])
	}
	w.close("Structure")
	w.dependencies(v)
	if v.Materialized != nil {
		w.indexFiles(v.Materialized)
	}
	w.close(name)
}

// dependencies writes the relations that a view's query reads, with their columns: in
// documents by name, as OIDs differ between servers.
func (w *xmlWriter) dependencies(v *View) {
	name := func(o types.OID) string {
		if r := asRelation(w.snap.objs.get(o)); r != nil {
			return QualifiedIdent(r.RelName())
		}
		return ""
	}
	for _, dep := range inOrder(w, v.Deps, name) {
		var da attrList
		if w.ids {
			da.num("oid", int64(dep))
		} else if r := asRelation(w.snap.objs.get(dep)); r != nil {
			w.relRef(&da, "relation", "schema", r)
		} else {
			continue
		}
		cols := v.colDeps(dep)
		if len(cols) == 1 && cols[0] < 0 {
			da.flag("noAttribute", true)
			cols = nil
		}
		if len(cols) == 0 {
			w.empty("dependency", da)
			continue
		}
		w.open("dependency", da)
		var t *Table
		if !w.ids {
			t = &Table{Columns: asRelation(w.snap.objs.get(dep)).RelColumns()}
		}
		w.columnList("depAttribute", t, cols)
		w.close("dependency")
	}
}

// colDeps returns the columns of a relation that the view reads.
func (v *View) colDeps(rel types.OID) []int {
	var out []int
	for _, c := range v.ColDeps {
		if c.Rel == rel {
			out = append(out, c.Col)
		}
	}
	return out
}
