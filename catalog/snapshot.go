package catalog

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"kvsqld/catalog/types"
)

// OIDs that PostgreSQL gives to the objects of a new server.
const (
	OIDTemplate1         types.OID = 1
	OIDTemplate0         types.OID = 4
	OIDPostgres          types.OID = 5
	OIDSuperuser         types.OID = 10
	OIDPgCatalog         types.OID = 11
	OIDToastSchema       types.OID = 99
	OIDPublic            types.OID = 2200
	OIDInformationSchema types.OID = 13207
	OIDOwnSchema         types.OID = 9200
	oidPublicTemplate1   types.OID = 16382
	oidPublicTemplate0   types.OID = 16383
)

// Names of the schemas that every database has.
const (
	SchemaPgCatalog   = "pg_catalog"
	SchemaInformation = "information_schema"
	SchemaToast       = "pg_toast" // clients expect it to be there; no values are moved out of rows
	SchemaOwn         = "kvsqld"   // what PostgreSQL has not; not listed by pg_namespace
	SchemaPublic      = "public"
)

// Snapshot is the whole catalog at one moment. It is immutable: lookups need no
// lock, and what they return must not be changed.
type Snapshot struct {
	// Version grows with every published change; plans are valid for one version.
	Version uint64

	overlay    Overlay
	objs       layered[types.OID, Object]
	names      layered[nameKey, types.OID]
	funcs      layered[nameKey, []types.OID]
	indexTable layered[types.OID, types.OID]   // index OID to table OID
	typeInfos  layered[types.OID, *types.Info] // user types, their arrays, row types
	refs       layered[types.OID, []types.OID] // table OID to the tables with foreign keys on it
	stats      layered[types.OID, types.OID]   // table OID to the OID of its statistics
	children   layered[types.OID, []types.OID] // table OID to the tables that have it as a parent
	users      layered[types.OID, []types.OID] // OID to the objects that reference it (see references)
	casts      layered[ownCastKey, types.OID]
	parts      layered[types.OID, []types.OID]        // relation OID to the policies and statistics objects that it has
	lobs       layered[types.OID, *largeObjectTables] // by database
	files      layered[fileKey, types.OID]            // the table or index that a file, and that a space, belongs to
	spaces     layered[SpaceID, types.OID]
	// constraints counts those of tables and domains by their names, which several may have.
	constraints layered[constraintKey, int]
	lists       *listCache
}

// nameKey identifies a name within one name space of one schema.
type nameKey struct {
	space        byte
	db           types.OID
	schema, name string
}

// constraintKey is the name of constraints within a schema.
type constraintKey struct {
	db           types.OID
	schema, name string
}

// The name spaces. Relations and indexes share one, as in PostgreSQL.
const (
	spaceDatabase = 'd'
	spaceRole     = 'u'
	spaceSchema   = 'n'
	spaceRelation = 'r'
	spaceType     = 't'
	spaceFunction = 'f'
	spaceOperator = 'o'

	spaceStatistics = 's'
	spaceExtension  = 'x'
)

// listCache holds the sorted lists that are computed on first use.
type listCache struct {
	mu   sync.Mutex
	rels map[types.OID][]Relation
	memo map[any]any
}

// Memo returns what make has returned for the key at the first call: something that is
// made of the snapshot alone. Others may wait for it meanwhile; make must not call Memo,
// nor Relations.
func (s *Snapshot) Memo(key any, make func() any) any {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	v, ok := s.lists.memo[key]
	if !ok {
		if v = make(); s.lists.memo == nil {
			s.lists.memo = map[any]any{}
		}
		s.lists.memo[key] = v
	}
	return v
}

// Overlay provides relations whose rows are computed (pg_catalog,
// information_schema). They are the same in every database.
type Overlay interface {
	VirtualRelation(schema, name string) *Virtual
	VirtualByOID(o types.OID) *Virtual
	Virtuals() []*Virtual
}

// FKRef is a foreign key seen from the referenced table.
type FKRef struct {
	Table *Table
	FK    *ForeignKey
	Named types.OID // the table that it names: this one, or one that it is a partition of
}

func newSnapshot() *Snapshot { return &Snapshot{lists: &listCache{}} }

// clone copies the maps (see layered), so that the copy can be changed before it is published.
func (s *Snapshot) clone() *Snapshot {
	return &Snapshot{
		Version: s.Version, overlay: s.overlay,
		objs: s.objs.copy(), names: s.names.copy(), funcs: s.funcs.copy(),
		indexTable: s.indexTable.copy(), typeInfos: s.typeInfos.copy(),
		refs: s.refs.copy(), stats: s.stats.copy(), children: s.children.copy(), users: s.users.copy(),
		casts: s.casts.copy(), parts: s.parts.copy(), lobs: s.lobs.copy(),
		files: s.files.copy(), spaces: s.spaces.copy(), constraints: s.constraints.copy(),
		lists: &listCache{},
	}
}

// settle ends the making of a snapshot.
func (s *Snapshot) settle() {
	s.objs.settle()
	s.names.settle()
	s.funcs.settle()
	s.indexTable.settle()
	s.typeInfos.settle()
	s.refs.settle()
	s.stats.settle()
	s.children.settle()
	s.users.settle()
	s.casts.settle()
	s.parts.settle()
	s.lobs.settle()
	s.files.settle()
	s.spaces.settle()
	s.constraints.settle()
}

// WithVirtual returns the snapshot with computed relations in it.
func (s *Snapshot) WithVirtual(o Overlay) *Snapshot {
	c := *s
	c.overlay = o
	c.lists = &listCache{}
	return &c
}

// Overlay returns the provider of computed relations, or nil.
func (s *Snapshot) Overlay() Overlay { return s.overlay }

// Object returns the object of the OID, or nil. Indexes and constraints are
// part of their table and are not found here.
func (s *Snapshot) Object(o types.OID) Object { return s.objs.get(o) }

// Differing returns the OIDs, in order, of the objects that another snapshot has not or
// has in another version, and of those that only the other one has. It is quick where
// one was made of the other by few changes.
func (s *Snapshot) Differing(other *Snapshot) (oids []types.OID) {
	for oid := range s.objs.differ(&other.objs) {
		if s.objs.get(oid) != other.objs.get(oid) {
			oids = append(oids, oid)
		}
	}
	slices.Sort(oids)
	return oids
}

// Objects returns all objects in OID order.
func (s *Snapshot) Objects() []Object {
	out := make([]Object, 0, s.objs.n)
	for _, o := range s.objs.all() {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b Object) int { return cmp.Compare(a.ObjectOID(), b.ObjectOID()) })
	return out
}

// objectsOf returns the objects of one Go type in OID order.
func objectsOf[T Object](s *Snapshot, keep func(T) bool) []T {
	var out []T
	for _, o := range s.objs.all() {
		if t, ok := o.(T); ok && keep(t) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b T) int { return cmp.Compare(a.ObjectOID(), b.ObjectOID()) })
	return out
}

func lookup[T Object](s *Snapshot, k nameKey) (zero T) {
	oid, ok := s.names.lookup(k)
	if !ok {
		return zero
	}
	t, ok := s.objs.get(oid).(T)
	if !ok {
		return zero
	}
	return t
}

// Database returns the database of that name, or nil.
func (s *Snapshot) Database(name string) *Database {
	return lookup[*Database](s, nameKey{space: spaceDatabase, name: name})
}

// Databases returns the databases in OID order.
func (s *Snapshot) Databases() []*Database {
	return objectsOf(s, func(*Database) bool { return true })
}

// Role returns the role of that name, or nil.
func (s *Snapshot) Role(name string) *Role {
	return lookup[*Role](s, nameKey{space: spaceRole, name: name})
}

// RoleOID returns the OID of the role, or 0.
func (s *Snapshot) RoleOID(name string) types.OID {
	return s.names.get(nameKey{space: spaceRole, name: name})
}

// Roles returns the roles in OID order.
func (s *Snapshot) Roles() []*Role {
	return objectsOf(s, func(*Role) bool { return true })
}

// builtinSchemas exist in every database and cannot be changed.
var builtinSchemas = map[string]*Schema{
	SchemaPgCatalog:   {Common{OID: OIDPgCatalog, Name: SchemaPgCatalog, Owner: "postgres", Comment: "system catalog schema"}},
	SchemaInformation: {Common{OID: OIDInformationSchema, Name: SchemaInformation, Owner: "postgres"}},
	SchemaToast:       {Common{OID: OIDToastSchema, Name: SchemaToast, Owner: "postgres", Comment: "reserved schema for TOAST tables"}},
	SchemaOwn:         {Common{OID: OIDOwnSchema, Name: SchemaOwn, Owner: "postgres"}},
}

// IsBuiltinSchema reports whether every database has the schema, and nobody may
// change it.
func IsBuiltinSchema(name string) bool { return builtinSchemas[name] != nil }

// Schema returns the schema of the database, or nil.
func (s *Snapshot) Schema(db types.OID, name string) *Schema {
	if b := builtinSchemas[name]; b != nil {
		return s.grantedSchema(db, b)
	}
	return lookup[*Schema](s, nameKey{space: spaceSchema, db: db, name: name})
}

// SchemaByOID returns the schema, or nil. A built-in one is without the privileges that
// a database has given on it.
func (s *Snapshot) SchemaByOID(o types.OID) *Schema {
	for _, b := range builtinSchemas {
		if b.OID == o {
			return b
		}
	}
	n, _ := s.objs.get(o).(*Schema)
	return n
}

// Schemas returns the schemas of the database, the built-in ones of PostgreSQL
// included, in OID order. SchemaOwn is found by name only: tools that copy every
// schema they see must not meet what they cannot create elsewhere. The slice is shared.
func (s *Snapshot) Schemas(db types.OID) []*Schema {
	return s.Memo(schemasOf(db), func() any {
		out := objectsOf(s, func(n *Schema) bool { return n.DB == db })
		for _, b := range builtinSchemas {
			if b.Name != SchemaOwn {
				out = append(out, s.grantedSchema(db, b))
			}
		}
		slices.SortFunc(out, func(a, b *Schema) int { return cmp.Compare(a.OID, b.OID) })
		return out
	}).([]*Schema)
}

// schemasOf is the key of a database's Schemas.
type schemasOf types.OID

// RelationsNamed returns what the relations, indexes and composite types with a name are
// known by, those of temporary schemas included, in the order of their OIDs: the OID of
// each, of a composite type that of the type.
func (s *Snapshot) RelationsNamed(db types.OID, name string) (oids []types.OID) {
	add := func(schema string) {
		if oid, ok := s.names.lookup(nameKey{spaceRelation, db, schema, name}); ok {
			oids = append(oids, oid)
		}
	}
	for _, n := range s.Schemas(db) {
		add(n.Name)
	}
	for _, n := range s.TempSchemas(db) {
		add(n)
	}
	slices.Sort(oids)
	return oids
}

// IsTempSchema reports whether the name is that of a session's temporary schema.
func IsTempSchema(name string) bool { return strings.HasPrefix(name, "pg_temp_") }

// tempSchemasOf is the key of a database's TempSchemas.
type tempSchemasOf types.OID

// TempSchemas returns the temporary schemas of all sessions in which the database has
// something, sorted. The slice is shared.
func (s *Snapshot) TempSchemas(db types.OID) []string {
	return s.Memo(tempSchemasOf(db), func() any {
		var list []string
		for _, o := range s.objs.all() {
			if c := CommonOf(o); c != nil && c.DB == db && IsTempSchema(c.Schema) && !slices.Contains(list, c.Schema) {
				list = append(list, c.Schema)
			}
		}
		slices.Sort(list)
		return list
	}).([]string)
}

// Relation returns the table, view, sequence or computed relation of that name,
// or nil.
func (s *Snapshot) Relation(db types.OID, schema, name string) Relation {
	if s.overlay != nil && builtinSchemas[schema] != nil {
		if v := s.overlay.VirtualRelation(schema, name); v != nil {
			return s.granted(db, v)
		}
		return nil
	}
	oid, ok := s.names.lookup(nameKey{spaceRelation, db, schema, name})
	if !ok {
		return nil
	}
	return asRelation(s.objs.get(oid))
}

// RelationByOID returns the relation, or nil. Relations of other databases are
// not found.
func (s *Snapshot) RelationByOID(db, oid types.OID) Relation {
	if o, ok := s.objs.lookup(oid); ok {
		if o.DatabaseOID() != db {
			return nil
		}
		return asRelation(o)
	}
	if s.overlay != nil {
		if v := s.overlay.VirtualByOID(oid); v != nil {
			return s.granted(db, v)
		}
	}
	return nil
}

// asRelation returns the object as a relation, or nil if it is none.
func asRelation(o Object) Relation {
	switch r := o.(type) {
	case *Table:
		return r
	case *View:
		return r
	case *Sequence:
		return r
	}
	return nil
}

// Table returns the base table of the OID, or nil.
func (s *Snapshot) Table(oid types.OID) *Table {
	t, _ := s.objs.get(oid).(*Table)
	return t
}

// Relations returns the database's own relations (not the computed ones)
// sorted by schema and name. The slice is shared.
func (s *Snapshot) Relations(db types.OID) []Relation {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	if list, ok := s.lists.rels[db]; ok {
		return list
	}
	list := s.RelationsWhere(db, func(Relation) bool { return true })
	if s.lists.rels == nil {
		s.lists.rels = make(map[types.OID][]Relation)
	}
	s.lists.rels[db] = list
	return list
}

// RelationsWhere returns the relations of the database for which keep holds, sorted by
// schema and name.
func (s *Snapshot) RelationsWhere(db types.OID, keep func(Relation) bool) (list []Relation) {
	for _, o := range s.objs.all() {
		if o.DatabaseOID() == db {
			if r := asRelation(o); r != nil && keep(r) {
				list = append(list, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b Relation) int {
		as, an := a.RelName()
		bs, bn := b.RelName()
		return cmp.Or(strings.Compare(as, bs), strings.Compare(an, bn))
	})
	return list
}

// Tables returns the base tables of the database sorted by schema and name,
// without the tables behind materialized views.
func (s *Snapshot) Tables(db types.OID) []*Table {
	var out []*Table
	for _, r := range s.Relations(db) {
		if t, ok := r.(*Table); ok {
			out = append(out, t)
		}
	}
	return out
}

// TableOfIndex returns the table (or materialized view's table) of the index,
// or nil.
func (s *Snapshot) TableOfIndex(db, index types.OID) *Table {
	return s.storageTable(s.indexTable.get(index), db)
}

// StorageOf returns the table with an object's rows, or nil.
func StorageOf(o Object) *Table {
	switch x := o.(type) {
	case *Table:
		return x
	case *View:
		return x.Materialized
	}
	return nil
}

// storageTable returns the table with the rows of a relation.
func (s *Snapshot) storageTable(oid, db types.OID) *Table {
	switch r := s.objs.get(oid).(type) {
	case *Table:
		if r.DB == db {
			return r
		}
	case *View:
		if r.DB == db {
			return r.Materialized
		}
	}
	return nil
}

// IndexByName returns the index of that name and its table, or nils.
func (s *Snapshot) IndexByName(db types.OID, schema, name string) (*Table, *Index) {
	oid, ok := s.names.lookup(nameKey{spaceRelation, db, schema, name})
	if !ok {
		return nil, nil
	}
	return s.IndexByOID(db, oid)
}

// IndexByOID returns the index and its table, or nils.
func (s *Snapshot) IndexByOID(db, oid types.OID) (*Table, *Index) {
	t := s.TableOfIndex(db, oid)
	if t == nil {
		return nil, nil
	}
	return t, t.IndexByOID(oid)
}

// Functions returns the user-defined functions of that name.
func (s *Snapshot) Functions(db types.OID, schema, name string) []*Function {
	var out []*Function
	for _, oid := range s.funcs.get(nameKey{spaceFunction, db, schema, name}) {
		if f, ok := s.objs.get(oid).(*Function); ok {
			out = append(out, f)
		}
	}
	return out
}

// AllFunctions returns the user-defined functions of the database in OID order.
func (s *Snapshot) AllFunctions(db types.OID) []*Function {
	return objectsOf(s, func(f *Function) bool { return f.DB == db })
}

// Stats returns the statistics of the table, or nil when it was never analysed.
func (s *Snapshot) Stats(table types.OID) *Stats {
	st, _ := s.objs.get(s.stats.get(table)).(*Stats)
	return st
}
