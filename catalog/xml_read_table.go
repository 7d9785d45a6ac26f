package catalog

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// typ reads a type written by typeAttrs.
func (r *xmlReader) typ(e *element, attr string) types.T {
	if r.ids {
		if o := r.oid(e, attr+"OID"); o != 0 {
			t := types.T{
				OID: o, Mod: int32(r.num(e, "typmod", -1, math.MaxInt32, -1)),
				User: types.Kind(r.num(e, attr+"Kind", 0, math.MaxUint8, 0)), Elem: r.oid(e, attr+"Elem"),
			}
			if t.User == types.KText && t.Elem == types.OTid { // a domain of the formats before 4
				t.User = types.KWord
			}
			return t
		}
	}
	name := r.need(e, attr)
	if r.err != nil {
		return types.TText
	}
	if schema, ok := e.attr(attr + "Schema"); ok {
		t := r.doc.userType(r, e, attr, schema, name)
		t.Mod = int32(r.num(e, "typmod", -1, math.MaxInt32, int64(t.Mod)))
		return t
	}
	in := typeByXMLName(name)
	if in == nil {
		if bare := strings.TrimSuffix(name, "[]"); r.doc != nil && (r.doc.types[docName{SchemaPublic, bare}] != nil || r.doc.existingType(SchemaPublic, bare) != nil) {
			return r.doc.userType(r, e, attr, SchemaPublic, name)
		}
		r.fail(e, sqlerr.UndefinedObject, "attribute \"%s\": type \"%s\" does not exist", attr, name)
		return types.TText
	}
	return types.T{OID: in.OID, Mod: r.typmod(e, in.OID, name)}
}

// typeByXMLName finds a built-in type by the paper's name or by its SQL name, and one
// of an extension by its name: a user's type has its schema with it.
func typeByXMLName(name string) *types.Info {
	lower := strings.ToLower(name)
	for oid, n := range paperTypes {
		if n == lower {
			return types.Lookup(oid)
		}
	}
	if in := types.ByName(name); in != nil {
		return in
	}
	for _, d := range extensionDefs {
		for _, in := range types.ExtensionTypes(d.Name) {
			if in.SQLName == name {
				return in
			}
		}
	}
	return types.ByName(lower)
}

// typmod reads length, precision and scale.
func (r *xmlReader) typmod(e *element, oid types.OID, name string) int32 {
	switch oid {
	case types.OBpchar, types.OVarchar:
		otherwise := int64(-5) // no limit: modifier -1
		if oid == types.OBpchar && strings.EqualFold(name, "char") {
			otherwise = 1
		}
		return int32(r.num(e, "length", 1, 10485760, otherwise)) + 4
	case types.OBit, types.OVarbit:
		return int32(r.num(e, "length", 1, 83886080, -1))
	case types.ONumeric:
		if _, ok := e.attr("precision"); ok {
			return numericMod(int32(r.num(e, "precision", 1, 1000, 1)), int32(r.num(e, "scale", -1000, 1000, 0)))
		}
		return -1
	}
	if _, ok := e.attr("length"); ok {
		// The paper gives lengths to fixed-width types in places; they say nothing.
		r.num(e, "length", 0, math.MaxInt32, 0)
	}
	return int32(r.num(e, "typmod", -1, math.MaxInt32, -1))
}

func (r *xmlReader) table(e *element, c Common) Object {
	t := &Table{Common: r.common(e, c, "tableName")}
	r.schemaOf(&t.Common)
	r.tableAttrs(e, t)
	t.Temp = r.flag(e, "temp")
	t.Options = r.options(e, "Options", "Option")
	t.Columns = r.structure(e)
	r.primaryKey(e, t)
	r.uniqueKeys(e, t)
	r.indexFiles(e, t)
	r.linkUniques(e, t)
	r.exclusions(e, t)
	t.Checks = r.checks(e, t)
	r.foreignKeys(e, t)
	r.cluster(e, t)
	r.clusterIndex(t)
	r.columnGroups(e, t)
	r.partition(e, t)
	for _, g := range r.each(e, "SystemGrants", "SystemGrant") {
		t.SystemGrants = append(t.SystemGrants, SystemGrant{Column: r.need(g, "attributeName"), ACL: r.acl(g)})
		r.known(g)
	}
	r.known(e, "Options", "Structure", "primaryKey", "foreignKeys", "uniqueKeys", "exclusions", "checks", "IndexFiles", "ColumnGroups",
		"Parents", "PartitionBound", "PartitionKey", "SystemGrants")
	return t
}

func (r *xmlReader) tableAttrs(e *element, t *Table) {
	t.File = r.str(e, "fileName")
	// The lengths follow from the types; they are written for people.
	r.num(e, "rowLength", 0, math.MaxInt32, 0)
	t.Unlogged = r.flag(e, "unlogged")
	t.ReplicaIdentity = r.char(e, "replicaIdentity", "fni", 0)
	if r.ids {
		t.OfType = r.oid(e, "ofTypeOID")
		r.num(e, "ofTypeKind", 0, math.MaxUint8, 0)
	} else if _, ok := e.attr("ofType"); ok {
		t.OfType = r.typ(e, "ofType").OID
	}
	t.RowSecurity, t.ForceRowSecurity = r.flag(e, "rowSecurity"), r.flag(e, "forceRowSecurity")
	switch t.Layout = r.str(e, "layout"); t.Layout {
	case "":
		t.Layout = LayoutRow
	case LayoutRow, LayoutColumn:
	default:
		r.fail(e, sqlerr.InvalidParameterValue, "attribute \"layout\" must be row or column, not \"%s\"", t.Layout)
	}
	if r.ids {
		t.RowType, t.RowArray = r.oid(e, "rowType"), r.oid(e, "rowArray")
		t.Space = SpaceID(r.num(e, "space", 0, math.MaxInt64, 0))
		t.Rewrites = int(r.num(e, "rewrites", 0, math.MaxInt32, 0))
		return
	}
	if rel := r.doc.rels[docName{t.Schema, t.Name}]; rel != nil {
		t.RowType, t.RowArray = rel.rowType, rel.rowArray
	}
	t.Space = r.doc.alloc.AllocSpace()
	if t.File == "" {
		t.File = fileBase(t.Schema, t.Name) + ".kv"
	}
}

func (r *xmlReader) structure(e *element) []Column {
	s, err := e.child("Structure")
	r.check(err)
	if s == nil {
		r.fail(e, codeXML, "has no element \"Structure\"")
		return nil
	}
	r.known(s, "Attribute")
	return r.attributes(s.children, s)
}

// attributes reads the columns of a table, view or composite type.
func (r *xmlReader) attributes(list []*element, parent *element) []Column {
	if len(list) > MaxColumns {
		r.fail(parent, sqlerr.TooManyColumns, "tables can have at most %d columns", MaxColumns)
		return nil
	}
	seen := make(map[string]int, len(list))
	var out []Column
	for _, e := range list {
		e.liftChildren("attributeName", "type", "length", "isnull")
		col := Column{Name: r.need(e, "attributeName")}
		if first, twice := seen[col.Name]; twice {
			r.fail(e, sqlerr.DuplicateColumn, "attribute \"attributeName\": \"%s\" is already the name of the attribute in line %d", col.Name, first)
		}
		seen[col.Name] = e.line
		if len(col.Name) > maxNameLen {
			r.fail(e, sqlerr.NameTooLong, "attribute \"attributeName\": name is longer than %d bytes", maxNameLen)
		}
		col.Type = r.typ(e, "type")
		col.NotNull = !r.flagOr(e, "isnull", true)
		col.Dropped, col.Generated = r.flag(e, "dropped"), r.flag(e, "generated")
		col.Default = r.str(e, "default")
		col.Identity = r.char(e, "identity", "ad", 0)
		r.columnSequence(e, &col)
		col.Dims = int(r.num(e, "dimensions", 0, 6, 0))
		col.Storage = r.str(e, "storage")
		col.Compression, col.Options = r.str(e, "compression"), r.options(e, "Options", "Option")
		col.StatTarget = int(r.num(e, "statisticsTarget", -1, 10000, 0))
		col.Collation = r.str(e, "collation")
		col.Comment = r.str(e, "comment")
		col.Inherited = r.inherited(e)
		col.ACL = r.acl(e)
		out = append(out, col)
	}
	for i, e := range list {
		for _, ch := range e.children {
			switch ch.name {
			case "Missing":
				if !r.ids {
					r.fail(ch, codeXML, "is not known inside \"Attribute\"")
				}
				d := r.datum(ch)
				out[i].Missing = &d
			case "DefaultAttribute":
				out[i].DefaultCols = append(out[i].DefaultCols, r.columnRef(ch, out))
			case "DefaultDependency":
				if oid := r.dependency(ch); oid != 0 {
					out[i].DefaultDeps = append(out[i].DefaultDeps, oid)
				}
			}
		}
		r.known(e, "Options", "Missing", "DefaultAttribute", "DefaultDependency")
	}
	return out
}

// liftChildren turns child elements that the paper allows in place of
// attributes into attributes.
func (e *element) liftChildren(names ...string) {
	rest := e.children[:0:0]
next:
	for _, c := range e.children {
		for _, n := range names {
			if _, given := e.attr(n); c.name == n && !given && len(c.attrs) == 0 && len(c.children) == 0 {
				e.attrs = append(e.attrs, xmlAttr{name: n, value: strings.TrimSpace(c.content())})
				continue next
			}
		}
		rest = append(rest, c)
	}
	e.children = rest
}

func (r *xmlReader) columnSequence(e *element, col *Column) {
	if r.ids {
		col.Sequence = r.oid(e, "sequence")
	} else if name, ok := e.attr("sequence"); ok {
		if rel := r.relation(e, "sequence", r.str(e, "sequenceSchema"), name); rel != nil {
			col.Sequence = rel.oid
		}
	}
}

func (r *xmlReader) dependency(e *element) types.OID {
	var oid types.OID
	if r.ids {
		oid = r.oid(e, "oid")
	} else {
		schema := r.str(e, "schema")
		if name, ok := e.attr("sequence"); ok {
			if rel := r.relation(e, "sequence", schema, name); rel != nil {
				oid = rel.oid
			}
		} else if name, ok := e.attr("type"); ok {
			oid = r.doc.userType(r, e, "type", schema, name).OID
		} else if sig := r.need(e, "function"); r.err == nil {
			// Functions are found by name; of several the first.
			oid = r.doc.function(schema, sig)
			if oid == 0 {
				r.fail(e, sqlerr.UndefinedFunction, "attribute \"function\": \"%s\" does not exist", sig)
			}
		}
	}
	r.known(e)
	return oid
}

// columnRef reads an element that names a column: by position attribute, by
// name, or (as the paper allows) by its position as text.
func (r *xmlReader) columnRef(e *element, cols []Column) int {
	if _, ok := e.attr("position"); ok {
		pos := int(r.num(e, "position", 1, MaxColumns, 1)) - 1
		// A fragment's reference to another table cannot be checked here: cols is nil.
		if cols != nil && (pos >= len(cols) || cols[pos].Dropped && !r.ids) {
			r.fail(e, sqlerr.UndefinedColumn, "attribute \"position\": there is no attribute %d", pos+1)
			return 0
		}
		return pos
	}
	name := strings.TrimSpace(e.content())
	if i := columnByName(cols, name); i >= 0 {
		return i
	}
	if pos, err := strconv.Atoi(name); err == nil && pos >= 1 && pos <= len(cols) {
		return pos - 1
	}
	r.fail(e, sqlerr.UndefinedColumn, "\"%s\" names no attribute of the table", name)
	return 0
}

// columnByName takes the name as written, since a column's name may begin or
// end with a blank, and then without blanks around it.
func columnByName(cols []Column, name string) int {
	for i := range cols {
		if !cols[i].Dropped && cols[i].Name == name {
			return i
		}
	}
	return -1
}

// columnRefs reads the children of that name, each of which names another column.
func (r *xmlReader) columnRefs(e *element, name string, cols []Column) []int {
	out, n := r.columnList(e, name, cols), 0
	for _, ch := range e.children {
		if ch.name != name {
			continue
		}
		if slices.Contains(out[:n], out[n]) {
			r.fail(ch, sqlerr.DuplicateColumn, "attribute %d of the table is named twice", out[n]+1)
		}
		n++
	}
	return out
}

// columnList is columnRefs where a column may come more than once.
func (r *xmlReader) columnList(e *element, name string, cols []Column) []int {
	var out []int
	for _, ch := range e.children {
		if ch.name != name {
			continue
		}
		i := -1
		if _, byPos := ch.attr("position"); !byPos {
			i = columnByName(cols, ch.content())
		}
		if i < 0 {
			i = r.columnRef(ch, cols)
		}
		out = append(out, i)
		r.known(ch)
	}
	return out
}

func (r *xmlReader) view(e *element, c Common) Object {
	v := &View{Common: r.common(e, c, "viewName")}
	r.schemaOf(&v.Common)
	storage := &Table{}
	if e.name == "MaterializedView" {
		storage.Common = v.Common
		r.tableAttrs(e, storage)
		v.Materialized, v.RowType, v.RowArray = storage, storage.RowType, storage.RowArray
		v.Populated = r.ids && r.flag(e, "populated")
	} else {
		v.Populated = true
		if r.ids {
			v.RowType, v.RowArray = r.oid(e, "rowType"), r.oid(e, "rowArray")
		} else if rel := r.doc.rels[docName{v.Schema, v.Name}]; rel != nil {
			v.RowType, v.RowArray = rel.rowType, rel.rowArray
		}
	}
	v.CheckOption, v.Temp = r.str(e, "checkOption"), r.flag(e, "temp")
	q, err := e.child("Query")
	r.check(err)
	if q == nil {
		r.fail(e, codeXML, "has no element \"Query\"")
		return v
	}
	v.Query = q.content()
	r.known(q)
	v.Options = r.options(e, "Options", "Option")
	v.Columns = r.structure(e)
	for _, d := range e.children {
		switch d.name {
		case "dependency":
			r.viewDependency(d, v)
		case "madeAlias":
			v.MadeAliases = append(v.MadeAliases, r.str(d, "name"))
			r.known(d)
		}
	}
	if v.Materialized != nil {
		v.Materialized.Bindings = v.Bindings
		v.Materialized.Columns = append([]Column(nil), v.Columns...)
		r.indexFiles(e, v.Materialized)
	}
	r.known(e, "Query", "madeAlias", "Options", "Structure", "dependency", "IndexFiles")
	return v
}

func (r *xmlReader) viewDependency(e *element, v *View) {
	var oid types.OID
	var cols []Column
	if r.ids {
		oid = r.oid(e, "oid")
	} else if rel := r.relation(e, "relation", r.str(e, "schema"), r.need(e, "relation")); rel != nil {
		oid, cols = rel.oid, rel.columns
	}
	v.Deps = append(v.Deps, oid)
	if r.flag(e, "noAttribute") {
		v.ColDeps = append(v.ColDeps, ColRef{oid, -1})
	}
	for _, c := range r.columnRefs(e, "depAttribute", cols) {
		v.ColDeps = append(v.ColDeps, ColRef{oid, c})
	}
	r.known(e, "depAttribute")
}
