package catalog

import (
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Change collects what DDL statements do: each method checks one change against
// the working snapshot as PostgreSQL would, records it in the delta, and moves
// the working snapshot on. A method that fails leaves both as they were.
//
// A Change serves one transaction; it is not safe for concurrent use.
type Change struct {
	DB    types.OID
	Owner string   // the role that new objects belong to
	Path  []string // search path, for names in messages

	// Notice receives "drop cascades to …" and the like; nil drops them.
	Notice func(*sqlerr.Error)

	// Retext writes a stored text, which is bound over the snapshot before, with the
	// names of the snapshot after; nil leaves texts as they are.
	Retext func(text StoredText, before, after *Snapshot) (string, error)

	// Uses lists the functions that a stored text calls and the relations and types
	// that it names; nil when texts need not be looked into.
	Uses func(text StoredText) []types.OID

	// Calls finds what a stored text is bound to over a snapshot, nil when it does not bind;
	// nil when texts are bound as if nothing was kept.
	Calls func(text StoredText, s *Snapshot) Calls

	// BodyReads lists the columns of a relation that a function's body names; nil
	// when bodies need not be looked into.
	BodyReads func(f *Function, rel types.OID) []int

	alloc Allocator
	base  *Snapshot // what the change stands on
	snap  *Snapshot
	delta Delta

	texts  textWords
	labels map[types.OID]bool // that AddEnumValue added
}

// AddedLabel reports whether the label of an enum was added by this change to a
// type that was there.
func (c *Change) AddedLabel(label types.OID) bool { return c.labels[label] }

// NewChange starts a change of one database over a snapshot.
func NewChange(s *Snapshot, db types.OID, owner string, path []string, alloc Allocator) *Change {
	return &Change{DB: db, Owner: owner, Path: path, alloc: alloc, base: s, snap: s}
}

// Snapshot returns the catalog as the transaction sees it.
func (c *Change) Snapshot() *Snapshot { return c.snap }

// Delta returns what was recorded so far. It is the Change's own.
func (c *Change) Delta() *Delta { return &c.delta }

// ChangeMark is a savepoint of a Change.
type ChangeMark struct {
	snap  *Snapshot
	delta DeltaMark
}

// Mark returns a savepoint.
func (c *Change) Mark() ChangeMark { return ChangeMark{c.snap, c.delta.Mark()} }

// RollbackTo undoes everything since the savepoint.
func (c *Change) RollbackTo(m ChangeMark) {
	c.snap = m.snap
	c.delta.RollbackTo(m.delta)
}

// Changed lists the objects that were changed or dropped since the mark and that others
// know, but for statistics, which may be overwritten.
func (c *Change) Changed(since ChangeMark) (oids []types.OID) {
	add := func(oid types.OID) {
		was := c.base.objs.get(oid)
		if _, stats := was.(*Stats); was != nil && !stats {
			oids = append(oids, oid)
		}
	}
	for _, o := range c.delta.Put[since.delta.put:] {
		add(o.ObjectOID())
	}
	for _, oid := range c.delta.Del[since.delta.del:] {
		add(oid)
	}
	return oids
}

// Rebase moves a change onto a newer snapshot: READ COMMITTED statements see
// what others published meanwhile. It fails when the delta no longer applies.
func (c *Change) Rebase(s *Snapshot) error {
	put, del := c.delta.Final()
	n, err := s.apply(withFiles(s, put), withStats(s, del))
	if err != nil {
		return err
	}
	c.base, c.snap = s, n
	return nil
}

// record applies objects and drops to the working snapshot.
func (c *Change) record(put []Object, del []types.OID) error {
	for _, o := range put {
		if t := StorageOf(o); t != nil && t.Key == nil && (t.Layout == LayoutColumn || len(t.Groups) > 0 || t.hasElements()) {
			settleGroups(t, c.alloc, func(base string) string { return c.fileName(base, ".col", t.OID) })
		}
	}
	c.giveDefaults(put)
	next, err := c.snap.apply(put, del)
	if err != nil {
		return err
	}
	if c.Retext != nil {
		more, err := c.follow(put, del, next)
		if err != nil {
			return err
		}
		if len(more) > 0 {
			for _, o := range more {
				put = slices.DeleteFunc(slices.Clone(put), func(p Object) bool { return p.ObjectOID() == o.ObjectOID() })
			}
			put = append(put, more...)
			if next, err = c.snap.apply(put, del); err != nil {
				return err
			}
		}
	}
	if err := c.bind(put, next); err != nil {
		return err
	}
	c.keep(put, del, next)
	return nil
}

// adopt applies objects of another database as they are.
func (c *Change) adopt(put []Object) error {
	next, err := c.snap.apply(put, nil)
	if err == nil {
		c.keep(put, nil, next)
	}
	return err
}

// keep adds objects and drops that lead to the snapshot next to the delta.
func (c *Change) keep(put []Object, del []types.OID, next *Snapshot) {
	for _, o := range put {
		c.delta.remember(o.ObjectOID(), c.snap.objs.get(o.ObjectOID()))
		c.delta.Add(o)
	}
	for _, oid := range del {
		c.delta.remember(oid, c.snap.objs.get(oid))
		c.delta.Drop(oid)
	}
	c.snap = next
}

func (c *Change) put(objs ...Object) error { return c.record(objs, nil) }

func (c *Change) notice(format string, args ...any) *sqlerr.Error {
	n := sqlerr.New(sqlerr.SuccessfulCompletion, format, args...)
	n.Severity = "NOTICE"
	return n
}

func (c *Change) tell(n *sqlerr.Error) {
	if c.Notice != nil {
		c.Notice(n)
	}
}

// creatable checks that objects can be made in the schema.
func (c *Change) creatable(schema, name string) error {
	if builtinSchemas[schema] != nil {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create \"%s.%s\"", schema, name).
			WithDetail("System catalog modifications are currently disallowed.")
	}
	if !IsTempSchema(schema) && c.snap.Schema(c.DB, schema) == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", schema)
	}
	return nil
}

// freeRelation checks that a relation of the name can be made.
func (c *Change) freeRelation(schema, name string) error {
	if err := c.creatable(schema, name); err != nil {
		return err
	}
	if c.relationTaken(schema, name) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", name)
	}
	return nil
}

// freeType checks that a type can be made. Of a table's name it says that the
// type exists: that of its rows.
func (c *Change) freeType(schema, name string) error {
	if err := c.creatable(schema, name); err != nil {
		return err
	}
	if c.typeTaken(schema, name) {
		return typeExists(name)()
	}
	return nil
}

// freeRowType checks that a relation's row type can be made.
func (c *Change) freeRowType(schema, name string) error {
	if c.typeTaken(schema, name) {
		return sqlerr.New(sqlerr.DuplicateObject, "type \"%s\" already exists", name).
			WithHint("A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.")
	}
	return nil
}

// typeTaken reports whether a type has the name. Array types make room: they get
// another name.
func (c *Change) typeTaken(schema, name string) bool {
	oid, taken := c.snap.names.lookup(nameKey{spaceType, c.DB, schema, name})
	return taken && !c.snap.isArrayType(oid)
}

func (c *Change) relationTaken(schema, name string) bool {
	_, taken := c.snap.names.lookup(nameKey{spaceRelation, c.DB, schema, name})
	return taken
}

// constraintTaken reports whether any table or domain of the schema has a constraint of
// the name: generated names are unique in the schema.
func (c *Change) constraintTaken(schema, name string) bool {
	return c.snap.constraints.get(constraintKey{c.DB, schema, name}) > 0
}

// common returns the common part of a new object.
func (c *Change) common(schema, name string) Common {
	return Common{OID: c.alloc.AllocOID(), DB: c.DB, Schema: schema, Name: name, Owner: c.Owner}
}

// table returns the working version of a table.
func (c *Change) table(oid types.OID) (*Table, error) {
	t := c.snap.Table(oid)
	if t == nil || t.DB != c.DB {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	return t, nil
}

// copyTable returns a copy whose lists can be changed; the things in the lists
// are still shared and must be copied before they are changed.
func copyTable(t *Table) *Table {
	n := *t
	n.Columns = slices.Clone(t.Columns)
	n.PK = slices.Clone(t.PK)
	n.Indexes = slices.Clone(t.Indexes)
	n.Uniques = slices.Clone(t.Uniques)
	n.Checks = slices.Clone(t.Checks)
	n.ForeignKeys = slices.Clone(t.ForeignKeys)
	n.Groups = slices.Clone(t.Groups)
	n.SystemGrants = slices.Clone(t.SystemGrants)
	return &n
}

// edit changes a copy of the table and records it.
func (c *Change) edit(oid types.OID, change func(t *Table) error) (*Table, error) {
	t, err := c.table(oid)
	if err != nil {
		return nil, err
	}
	n := copyTable(t)
	if err := change(n); err != nil {
		return nil, err
	}
	if err := c.put(n); err != nil {
		return nil, err
	}
	return n, nil
}

// column returns the position of a live column.
func column(t *Table, name string) (int, error) {
	if i := t.Col(name); i >= 0 {
		return i, nil
	}
	if slices.Contains(systemColumns, name) {
		return 0, sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter system column \"%s\"", name)
	}
	return 0, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, t.Name)
}

// fileName returns a file name that no table of the database uses: base, and
// when that is taken, base with the OID, and a number where that is taken as well: the
// files of a table that gets others are there until the commit.
func (c *Change) fileName(base, ext string, oid types.OID) string {
	name := base
	if !strings.HasSuffix(name, ext) {
		name += ext
	}
	if !c.fileTaken(name) {
		return name
	}
	base = strings.TrimSuffix(base, ext) + "." + oidString(oid)
	name = base + ext
	for n := 2; c.fileTaken(name); n++ {
		name = base + "." + strconv.Itoa(n) + ext
	}
	return name
}

func (c *Change) fileTaken(name string) bool {
	// The files of what this change has dropped are there until the commit.
	return fileIn(c.snap, c.DB, name) || c.base != c.snap && fileIn(c.base, c.DB, name)
}

func fileIn(s *Snapshot, db types.OID, name string) bool {
	_, taken := s.files.lookup(fileKey{db, strings.ToLower(name)})
	return taken
}

// fileBase is the file name of a relation without its ending.
func fileBase(schema, name string) string {
	if schema == SchemaPublic || schema == "" {
		return name
	}
	return schema + "." + name
}
