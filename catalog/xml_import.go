package catalog

import (
	"io"
	"maps"
	"slices"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// docName is a name inside one database of a document.
type docName struct{ schema, name string }

// docRelation is a relation of a document before it is read.
type docRelation struct {
	oid, rowType, rowArray types.OID
	columns                []Column // names and dropped marks only
}

// docType is a user-defined type of a document before it is read.
type docType struct {
	oid, array, rel types.OID
	element         *element
	resolving       bool
}

// docScope has the names of one database of a document.
type docScope struct {
	alloc Allocator
	owner string
	rels  map[docName]*docRelation
	types map[docName]*docType
	funcs map[docName]types.OID // by schema and name
	opers map[docName][]docOperator
	// base has the objects that the database has already, which the document may
	// refer to; db is 0 for a new database.
	base *Snapshot
	db   types.OID
}

// docOperator is an operator of a document.
type docOperator struct {
	oid     types.OID
	element *element
}

// Document is what Import read.
type Document struct {
	Delta *Delta
	// Values are the states of sequences that are not at their start.
	Values []SequenceValue
}

// SequenceValue is the state of a sequence: as in SequenceState.
type SequenceValue struct {
	Sequence *Sequence
	Last     int64
	Called   bool
}

// Import reads a document and returns the delta that brings its databases,
// roles and everything in them into the base snapshot. Databases, schemas and
// roles that exist already are kept and added to, and the document may refer to
// what they have; other objects that exist already are an error. owner is the
// owner of objects for which the document names none. The delta applies to base
// without error.
//
// Errors name the line, the element and the attribute at fault.
func Import(in io.Reader, base *Snapshot, alloc Allocator, owner string) (*Document, error) {
	root, err := parseXML(in)
	if err != nil {
		return nil, err
	}
	r := &xmlReader{doc: &docScope{alloc: alloc, owner: owner, base: base}, oldTids: true}
	d := &Delta{}
	switch root.name {
	case "Databases":
		r.roles(r.each(root, "Roles", "Role"), base, d)
		seen := make(map[string]int)
		for _, e := range root.children {
			if e.name != "DataBase" || r.err != nil {
				continue
			}
			name := r.database(e, base, d)
			if first, twice := seen[name]; twice {
				r.fail(e, sqlerr.DuplicateDatabase, "database \"%s\" is already in line %d", name, first)
			}
			seen[name] = e.line
		}
		r.known(root, "Roles", "DataBase")
	case "DataBase":
		// The founding paper also prints a single database.
		r.database(root, base, d)
	default:
		r.fail(root, codeXML, "is not \"Databases\"")
	}
	if r.err == nil {
		r.err = root.unread()
	}
	if r.err != nil {
		return nil, r.err
	}
	if _, err := base.Apply(d); err != nil {
		return nil, err
	}
	return &Document{d, r.values}, nil
}

// sections of a DataBase element and what they hold.
var docSections = []struct {
	list  string
	items []string
}{
	{"Schemas", []string{"Schema"}},
	{"Extensions", []string{"Extension"}},
	{"Types", []string{"EnumType", "DomainType", "CompositeType", "RangeType", "MultirangeType"}},
	{"Sequences", []string{"Sequence"}},
	{"Tables", []string{"Table"}},
	{"Views", []string{"View", "MaterializedView"}},
	{"Functions", []string{"Function"}},
	{"Operators", []string{"Operator"}},
	{"Casts", []string{"Cast"}},
	{"Policies", []string{"Policy"}},
	{"StatisticsObjects", []string{"ExtendedStatistics"}},
	{"Statistics", []string{"TableStatistics"}},
}

// database reads a DataBase element into the delta and returns its name.
func (r *xmlReader) database(e *element, base *Snapshot, d *Delta) string {
	db := &Database{Common: r.common(e, Common{}, "dataBaseName")}
	r.connections(e, db)
	db.Settings = r.settings(e, "Settings")
	db.Defaults, db.Notes = r.defaultPrivileges(e), r.notes(e)
	allowed := []string{"Settings", "DefaultPrivileges", "SystemNotes"}
	for _, s := range docSections {
		allowed = append(allowed, s.list)
	}
	r.known(e, allowed...)
	if r.err != nil {
		return db.Name
	}
	if old := base.Database(db.Name); old != nil {
		db = r.addTo(e, old, db, d)
	} else {
		db.OID, db.Schema = r.doc.alloc.AllocOID(), ""
		d.Add(db)
	}
	items := make(map[string][]*element)
	for _, s := range docSections {
		items[s.list] = r.each(e, s.list, s.items...)
	}
	r.doc.db = db.OID
	r.collectNames(items)
	r.schemas(items["Schemas"], db, base, d)
	var tables []*Table
	for _, s := range docSections[1:] {
		for _, oe := range items[s.list] {
			if r.err != nil {
				return db.Name
			}
			o := r.object(oe, Common{OID: r.doc.oidOf(r, oe), DB: db.OID})
			if t, ok := o.(*Table); ok {
				tables = append(tables, t)
			}
			if r.err == nil {
				d.Add(o)
			}
		}
	}
	r.linkForeignKeys(items["Tables"], tables)
	linkParts(tables, r.doc.alloc)
	return db.Name
}

// addTo adds the settings, the comment, the owner and the privileges that a document
// has for a database that exists.
func (r *xmlReader) addTo(e *element, old, doc *Database, d *Delta) *Database {
	db := *old
	db.Settings = mergePairs(old.Settings, doc.Settings)
	given := func(attr string) bool {
		_, ok := e.attr(attr)
		return ok
	}
	if given("comment") {
		db.Comment = doc.Comment
	}
	if given("owner") {
		db.Owner = doc.Owner
	}
	if doc.ACL != nil {
		db.ACL = doc.ACL
	}
	if doc.Defaults != nil {
		db.Defaults = doc.Defaults
	}
	if doc.Notes != nil {
		db.Notes = doc.Notes
	}
	if given("connLimit") {
		db.ConnLimit = doc.ConnLimit
	}
	if given("closed") {
		db.Closed = doc.Closed
	}
	if given("template") {
		db.Template = doc.Template
	}
	if doc.ACL == nil && doc.Defaults == nil && doc.Notes == nil && db.Comment == old.Comment && db.Owner == old.Owner && db.ConnLimit == old.ConnLimit && db.Closed == old.Closed &&
		db.Template == old.Template && maps.Equal(db.Settings, old.Settings) {
		return old
	}
	d.Add(&db)
	return &db
}

// mergePairs returns settings with others over them.
func mergePairs(old, more map[string]string) map[string]string {
	if len(more) == 0 {
		return old
	}
	out := make(map[string]string, len(old)+len(more))
	maps.Copy(out, old)
	maps.Copy(out, more)
	return out
}

// roles adds the document's roles; those that exist get more settings and groups,
// and keep what they may do.
func (r *xmlReader) roles(list []*element, base *Snapshot, d *Delta) {
	for _, e := range list {
		role, _ := r.object(e, Common{OID: r.doc.alloc.AllocOID()}).(*Role)
		if r.err != nil {
			return
		}
		old := base.Role(role.Name)
		if old == nil {
			d.Add(role)
			continue
		}
		n := *old
		n.Settings = mergePairs(old.Settings, role.Settings)
		n.Everybody = mergePairs(old.Everybody, role.Everybody)
		if role.Notes != nil {
			n.Notes = role.Notes
		}
		n.InDatabase = maps.Clone(old.InDatabase)
		for db, m := range role.InDatabase {
			if n.InDatabase == nil {
				n.InDatabase = make(map[string]map[string]string)
			}
			n.InDatabase[db] = mergePairs(n.InDatabase[db], m)
		}
		for _, g := range role.MemberOf {
			if !slices.Contains(n.MemberOf, g) {
				n.MemberOf = append(slices.Clip(n.MemberOf), g)
				if slices.Contains(role.AdminOf, g) {
					n.AdminOf = append(slices.Clip(n.AdminOf), g)
				}
			}
		}
		if role.Comment != "" {
			n.Comment = role.Comment
		}
		if n.Comment != old.Comment || len(n.MemberOf) != len(old.MemberOf) || !maps.Equal(n.Settings, old.Settings) ||
			role.Notes != nil || !maps.Equal(n.Everybody, old.Everybody) ||
			!maps.EqualFunc(n.InDatabase, old.InDatabase, maps.Equal[map[string]string, map[string]string]) {
			d.Add(&n)
		}
	}
}

// schemas adds the document's schemas and public.
func (r *xmlReader) schemas(list []*element, db *Database, base *Snapshot, d *Delta) {
	have := make(map[string]bool)
	for _, e := range list {
		n := r.object(e, Common{OID: r.doc.alloc.AllocOID(), DB: db.OID})
		if r.err != nil {
			return
		}
		name := CommonOf(n).Name
		have[name] = true
		old := base.Schema(db.OID, name)
		if old == nil {
			d.Add(n)
			continue
		}
		x, doc := *old, n.(*Schema)
		if _, given := e.attr("comment"); given {
			x.Comment = doc.Comment
		}
		if _, given := e.attr("owner"); given && builtinSchemas[name] == nil {
			x.Owner = doc.Owner
		}
		if doc.ACL != nil {
			x.ACL = doc.ACL
		}
		if x.Comment != old.Comment || x.Owner != old.Owner || !x.ACL.Equal(old.ACL) {
			d.Add(&x)
		}
	}
	if !have[SchemaPublic] && base.Schema(db.OID, SchemaPublic) == nil {
		d.Add(&Schema{Common{OID: r.doc.alloc.AllocOID(), DB: db.OID, Name: SchemaPublic, Owner: roleDatabaseOwner}})
	}
}

// nameOf reads an element's schema and name without judging the rest.
func nameOf(e *element, attr string) docName {
	n, _ := e.attr(attr)
	s, ok := e.attr("schema")
	if !ok {
		s = SchemaPublic
	}
	return docName{s, n}
}

// collectNames gives every relation, type and function of the document its
// OID, so that they can refer to each other in any order.
func (r *xmlReader) collectNames(items map[string][]*element) {
	d := r.doc
	d.rels = make(map[docName]*docRelation)
	d.types = make(map[docName]*docType)
	d.funcs = make(map[docName]types.OID)
	addRel := func(e *element, attr string, cols []Column) {
		n := nameOf(e, attr)
		if d.existing(n.schema, n.name) != nil {
			r.fail(e, sqlerr.DuplicateTable, "attribute \"%s\": relation \"%s\" already exists", attr, n.name)
		}
		if d.rels[n] != nil {
			r.fail(e, sqlerr.DuplicateTable, "attribute \"%s\": \"%s\" is given twice", attr, n.name)
		}
		rel := &docRelation{oid: d.alloc.AllocOID(), columns: cols}
		if e.name != "Sequence" {
			rel.rowType, rel.rowArray = d.alloc.AllocOID(), d.alloc.AllocOID()
		}
		d.rels[n] = rel
	}
	for _, e := range items["Types"] {
		n := nameOf(e, "typeName")
		if d.types[n] != nil {
			r.fail(e, sqlerr.DuplicateObject, "attribute \"typeName\": \"%s\" is given twice", n.name)
		}
		if d.existingType(n.schema, n.name) != nil {
			r.fail(e, sqlerr.DuplicateObject, "attribute \"typeName\": type \"%s\" already exists", n.name)
		}
		t := &docType{oid: d.alloc.AllocOID(), array: d.alloc.AllocOID(), element: e}
		if e.name == "CompositeType" {
			t.rel = d.alloc.AllocOID()
		}
		d.types[n] = t
	}
	for _, e := range items["Sequences"] {
		addRel(e, "sequenceName", sequenceColumns)
	}
	for _, e := range items["Tables"] {
		addRel(e, "tableName", docColumns(e))
	}
	for _, e := range items["Views"] {
		addRel(e, "viewName", docColumns(e))
	}
	d.opers = make(map[docName][]docOperator)
	for _, e := range items["Operators"] {
		n := nameOf(e, "operatorName")
		d.opers[n] = append(d.opers[n], docOperator{d.alloc.AllocOID(), e})
	}
	for _, e := range items["Functions"] {
		n := nameOf(e, "functionName")
		if _, overloaded := d.funcs[n]; !overloaded {
			d.funcs[n] = d.alloc.AllocOID()
		}
	}
}

func docColumns(e *element) []Column {
	var out []Column
	for _, s := range e.children {
		if s.name != "Structure" {
			continue
		}
		for _, a := range s.children {
			a.liftChildren("attributeName")
			n, _ := a.attr("attributeName")
			out = append(out, Column{Name: n})
		}
	}
	return out
}

// oidOf returns the OID that collectNames gave an element, or a new one.
func (d *docScope) oidOf(r *xmlReader, e *element) types.OID {
	var rel *docRelation
	switch e.name {
	case "Table":
		rel = d.rels[nameOf(e, "tableName")]
	case "View", "MaterializedView":
		rel = d.rels[nameOf(e, "viewName")]
	case "Sequence":
		rel = d.rels[nameOf(e, "sequenceName")]
	case "EnumType", "DomainType", "CompositeType", "RangeType", "MultirangeType":
		if t := d.types[nameOf(e, "typeName")]; t != nil {
			return t.oid
		}
	case "Operator":
		for _, o := range d.opers[nameOf(e, "operatorName")] {
			if o.element == e {
				return o.oid
			}
		}
	case "Function":
		n := nameOf(e, "functionName")
		if oid := d.funcs[n]; oid != 0 {
			// The first of several signatures has the collected OID.
			if !r.taken(oid) {
				return oid
			}
		}
	}
	if rel != nil {
		return rel.oid
	}
	return d.alloc.AllocOID()
}

// taken reports whether a function's OID was used before, and marks it.
func (r *xmlReader) taken(oid types.OID) bool {
	if r.usedFuncs == nil {
		r.usedFuncs = make(map[types.OID]bool)
	}
	was := r.usedFuncs[oid]
	r.usedFuncs[oid] = true
	return was
}

// function returns the OID of the function with the signature's name.
func (d *docScope) function(schema, signature string) types.OID {
	name, _, _ := strings.Cut(signature, "(")
	if schema == "" {
		schema = SchemaPublic
	}
	return d.funcs[docName{schema, name}]
}

// relation resolves a reference to a relation of the document; attr is "" when
// the name is the element's text.
func (r *xmlReader) relation(e *element, attr, schema, name string) *docRelation {
	if schema == "" {
		schema = SchemaPublic
	}
	rel := r.doc.relation(schema, name)
	if rel == nil {
		rel = r.doc.relation(schema, strings.TrimSpace(name))
	}
	if rel == nil {
		where := ""
		if attr != "" {
			where = "attribute \"" + attr + "\": "
		}
		r.fail(e, sqlerr.UndefinedTable, "%s\"%s\" names no relation of the database", where, strings.TrimSpace(name))
	}
	return rel
}

// relation returns a relation of the document, or one that the database has.
func (d *docScope) relation(schema, name string) *docRelation {
	if rel := d.rels[docName{schema, name}]; rel != nil {
		return rel
	}
	rel := d.existing(schema, name)
	if rel == nil {
		return nil
	}
	out := &docRelation{oid: rel.ObjectOID(), columns: rel.RelColumns()}
	switch x := rel.(type) {
	case *Table:
		out.rowType, out.rowArray = x.RowType, x.RowArray
	case *View:
		out.rowType, out.rowArray = x.RowType, x.RowArray
	}
	return out
}

// existing returns a relation that the database has already, or nil.
func (d *docScope) existing(schema, name string) Relation {
	if d.db == 0 || builtinSchemas[schema] != nil {
		return nil
	}
	return d.base.Relation(d.db, schema, name)
}

// existingType returns a user-defined type that the database has already.
func (d *docScope) existingType(schema, name string) *UserType {
	for _, u := range d.base.UserTypes(d.db) {
		if u.Schema == schema && u.Name == name {
			return u
		}
	}
	return nil
}

// columnOf resolves a column of a relation of the document.
func (r *xmlReader) columnOf(e *element, attr string, rel *docRelation, name string) int {
	i := columnByName(rel.columns, name)
	if i < 0 {
		r.fail(e, sqlerr.UndefinedColumn, "attribute \"%s\": \"%s\" names no attribute of the table", attr, name)
		return 0
	}
	return i
}

// userType resolves a reference to a user-defined or information_schema type;
// a name with [] is its array.
func (d *docScope) userType(r *xmlReader, e *element, attr, schema, name string) types.T {
	base, array := strings.CutSuffix(name, "[]")
	if schema == SchemaInformation {
		for _, in := range informationInfos() {
			if in.Name == base && in.Type == 'd' {
				elem := types.OID(0)
				for _, row := range InformationDomains() {
					if row.OID == in.OID {
						elem = row.Base
					}
				}
				if array {
					return types.T{OID: in.Array, Mod: -1, User: types.KArray, Elem: in.OID}
				}
				return types.T{OID: in.OID, Mod: -1, User: in.Kind, Elem: elem}
			}
		}
	}
	if t := d.types[docName{schema, base}]; t != nil {
		if array {
			elem := t.oid
			if t.element.name == "DomainType" {
				if of := d.userType(r, e, attr, schema, base); of.Elem != 0 {
					elem = of.Elem
				}
			}
			return types.T{OID: t.array, Mod: -1, User: types.KArray, Elem: elem}
		}
		switch t.element.name {
		case "EnumType":
			return types.T{OID: t.oid, Mod: -1, User: types.KEnum}
		case "CompositeType":
			return types.T{OID: t.oid, Mod: -1, User: types.KRecord}
		case "RangeType", "MultirangeType":
			return d.rangeT(r, t)
		}
		if t.resolving {
			r.fail(t.element, sqlerr.InvalidObjectDefinition, "domain \"%s\" is based on itself", name)
			return types.TText
		}
		t.resolving = true
		of := r.typ(t.element, "type")
		t.resolving = false
		elem, mod := of.OID, int32(-1)
		if of.User != types.KInvalid && of.Elem != 0 {
			elem = of.Elem // a domain over a domain holds what that one holds
		} else if in := types.Lookup(of.OID); in != nil && in.Kind == types.KArray {
			elem = in.Elem
		}
		if elem == types.OBpchar {
			mod = of.Mod
		}
		return types.T{OID: t.oid, Mod: mod, User: of.Kind(), Elem: elem}
	}
	if u := d.existingType(schema, base); u != nil {
		oid := u.OID
		if array {
			oid = u.Array
		}
		t, _ := d.base.T(oid, -1)
		return t
	}
	if rel := d.relation(schema, base); rel != nil && rel.rowType != 0 && !array {
		return types.T{OID: rel.rowType, Mod: -1, User: types.KRecord}
	} else if rel != nil && rel.rowArray != 0 && array {
		return types.T{OID: rel.rowArray, Mod: -1, User: types.KArray, Elem: rel.rowType}
	}
	r.fail(e, sqlerr.UndefinedObject, "attribute \"%s\": type \"%s\" does not exist", attr, name)
	return types.TText
}

// linkForeignKeys finds the unique index behind each foreign key.
func (r *xmlReader) linkForeignKeys(elements []*element, tables []*Table) {
	if r.err != nil {
		return
	}
	byOID := make(map[types.OID]*Table, len(tables))
	for _, t := range tables {
		byOID[t.OID] = t
	}
	for i, t := range tables {
		for k, fk := range t.ForeignKeys {
			fe := r.each(elements[i], "foreignKeys", "foreignKey")[k]
			ref := byOID[fk.RefTable]
			if ref == nil {
				ref = r.doc.base.Table(fk.RefTable)
			}
			if ref == nil {
				r.fail(fe, sqlerr.WrongObjectType, "refers to a relation that is not a table")
				return
			}
			ix, err := referencedIndex(ref, fk.RefCols)
			if err != nil {
				r.fail(fe, sqlerr.InvalidForeignKey, "%v", err)
				return
			}
			fk.RefIndex = ix.OID
		}
	}
}
