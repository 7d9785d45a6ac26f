package catalog

import (
	"reflect"
	"slices"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// The OIDs of the relations that show large objects.
const (
	OIDLargeObject         types.OID = 2613
	OIDLargeObjectMetadata types.OID = 2995

	oidLargeObjectIndex         types.OID = 2683
	oidLargeObjectMetadataIndex types.OID = 2996
)

// changesLargeObjects are the functions, by prosrc, that write rows of large objects, or
// lock them.
var changesLargeObjects = map[string]bool{"be_lo_open": true, "be_lowrite": true, "be_lo_creat": true, "be_lo_create": true,
	"be_lo_unlink": true, "be_lo_truncate": true, "be_lo_truncate64": true, "be_lo_from_bytea": true, "be_lo_put": true,
	"be_lo_import": true, "be_lo_import_with_oid": true}

// LargeObjectFiles are the files of a database's large objects. They are made when
// the database gets its first one.
type LargeObjectFiles struct{ Metadata, Pages SpaceID }

// largeObjectTables are the tables over LargeObjectFiles. They are no objects of the
// catalog: no statement names them, but for reading pg_largeobject.
type largeObjectTables struct {
	files           LargeObjectFiles
	metadata, pages *Table
}

// LargeObjects returns the tables with the large objects of a database: one with a
// row for each object (its OID, its owner's, its ACL as the session writes it, its
// comment), one with its pages. They are nil as long as there was no large object.
func (s *Snapshot) LargeObjects(db types.OID) (metadata, pages *Table) {
	if t := s.lobs.get(db); t != nil {
		return t.metadata, t.pages
	}
	return nil, nil
}

// Stored returns the table with the rows of a computed relation that has any stored
// as they are shown, and with all also of one that shows them otherwise; else nil.
func (s *Snapshot) Stored(db types.OID, v *Virtual, all bool) *Table {
	metadata, pages := s.LargeObjects(db)
	switch {
	case v.OID == OIDLargeObject:
		return pages
	case v.OID == OIDLargeObjectMetadata && all:
		return metadata
	}
	return nil
}

// MakeLargeObjects gives a database the files of large objects, if it has none.
func (c *Change) MakeLargeObjects() error {
	d, _ := c.snap.objs.get(c.DB).(*Database)
	if d == nil || d.LargeObjects != (LargeObjectFiles{}) {
		return nil
	}
	n := *d
	n.LargeObjects = LargeObjectFiles{Metadata: c.alloc.AllocSpace(), Pages: c.alloc.AllocSpace()}
	return c.put(&n)
}

// withFiles gives databases that a transaction changes the files of large objects which
// another one has made meanwhile: nobody waits for that.
func withFiles(cur *Snapshot, put []Object) []Object {
	for i, o := range put {
		d, ok := o.(*Database)
		if !ok || d.LargeObjects != (LargeObjectFiles{}) {
			continue
		}
		if now, _ := cur.objs.get(d.OID).(*Database); now != nil {
			n := *d
			n.LargeObjects = now.LargeObjects
			put[i] = &n
		}
	}
	return put
}

// gotFiles reports whether an object is a database that differs from what it was by
// nothing but the files of large objects that it has got.
func gotFiles(was, now Object) bool {
	a, _ := was.(*Database)
	b, _ := now.(*Database)
	if a == nil || b == nil || a.LargeObjects != (LargeObjectFiles{}) {
		return false
	}
	n := *b
	n.LargeObjects = a.LargeObjects
	return reflect.DeepEqual(a, &n)
}

// linkLargeObjects makes the tables of a database's large objects. They stay the same
// as long as the files do.
func (s *Snapshot) linkLargeObjects(d *Database) {
	t := s.lobs.get(d.OID)
	switch {
	case d.LargeObjects == LargeObjectFiles{}:
		s.lobs.delete(d.OID)
		return
	case t != nil && t.files == d.LargeObjects:
		return
	}
	table := func(oid types.OID, name string, space SpaceID, index types.OID, indexName string, pk []int, cols ...Column) *Table {
		t := &Table{Common: Common{OID: oid, DB: d.OID, Schema: SchemaPgCatalog, Name: name, Owner: "postgres"},
			Space: space, File: name + ".sys", Layout: LayoutRow, Columns: cols, PK: pk}
		ix := &Index{OID: index, Name: indexName, Unique: true, Primary: true, Kind: KindBtree, Constraint: index}
		for _, c := range pk {
			t.Columns[c].NotNull = true
			ix.Keys = append(ix.Keys, IndexKey{Col: c, Type: cols[c].Type})
		}
		t.Indexes = []*Index{ix}
		t.Uniques = []*Unique{{OID: index, Name: indexName, Primary: true, Cols: pk, Index: index}}
		return t
	}
	column := func(name string, t types.OID, notNull bool) Column {
		return Column{Name: name, Type: types.Of(t), NotNull: notNull}
	}
	s.lobs.set(d.OID, &largeObjectTables{
		files: d.LargeObjects,
		metadata: table(OIDLargeObjectMetadata, "pg_largeobject_metadata", d.LargeObjects.Metadata,
			oidLargeObjectMetadataIndex, "pg_largeobject_metadata_oid_index", []int{0},
			column("oid", types.OOid, true), column("lomowner", types.OOid, true), column("lomacl", types.OText, false), column("comment", types.OText, false)),
		pages: table(OIDLargeObject, "pg_largeobject", d.LargeObjects.Pages, oidLargeObjectIndex, "pg_largeobject_loid_pn_index", []int{0, 1},
			column("loid", types.OOid, true), column("pageno", types.OInt4, true), column("data", types.OBytea, true)),
	})
}

// LargeObject is a large object as a statement sees it. Its row is in the table that
// Snapshot.LargeObjects returns: it is no part of a snapshot.
type LargeObject struct{ Common }

// NewLargeObject is the large object of a row of the table of a database.
func (s *Snapshot) NewLargeObject(db, oid, owner types.OID, acl string, comment string) (*LargeObject, error) {
	o := &LargeObject{Common{OID: oid, DB: db, Name: oidString(oid), Owner: s.roleByNumber(oidString(owner)), Comment: comment}}
	if acl == "" {
		return o, nil
	}
	list, err := parseACL(acl)
	if err != nil {
		return nil, err
	}
	o.ACL = list.withRoles(s.roleByNumber)
	return o, nil
}

// Row is the owner's OID and the text of the ACL that the object's row has.
func (o *LargeObject) Row(s *Snapshot) (owner types.OID, acl string) {
	if o.ACL != nil {
		acl = o.ACL.withRoles(func(name string) string { return oidString(s.RoleOID(name)) }).text()
		if acl == "" {
			acl = " " // no privileges at all, which is not the default
		}
	}
	return s.RoleOID(o.Owner), acl
}

// withRoles returns the ACL with other words for its roles.
func (a ACL) withRoles(word func(string) string) ACL {
	out := make(ACL, len(a))
	for i, it := range a {
		if it.Grantee != "" {
			it.Grantee = word(it.Grantee)
		}
		it.Grantor = word(it.Grantor)
		out[i] = it
	}
	return out
}

// roleByNumber is the name of the role with an OID, or the OID where there is none.
func (s *Snapshot) roleByNumber(oid string) string {
	n, err := strconv.ParseUint(oid, 10, 32)
	if r, ok := s.objs.get(types.OID(n)).(*Role); ok && err == nil {
		return r.Name
	}
	return oid
}

// GrantLargeObject returns a large object with its privileges changed.
func (c *Change) GrantLargeObject(o *LargeObject, g *GrantSpec) (*LargeObject, error) {
	if !g.Revoke && g.Option && slices.Contains(g.Grantees, "") {
		return nil, sqlerr.New(sqlerr.InvalidGrantOperation, "grant options can only be granted to roles")
	}
	named := *o
	named.Name = "large object " + o.Name // so do messages name it
	acl, err := c.changedACL(&named, ACLLargeObject, named.Name, -1, g.Privs, c.snap.EffectiveACL(o), g)
	n := *o
	n.ACL = acl
	return &n, err
}

// OwnedBy returns a large object with another owner.
func (o *LargeObject) OwnedBy(role string) *LargeObject { return ownedBy(o, role).(*LargeObject) }

// WithoutRoles returns a large object without what was granted to roles.
func (o *LargeObject) WithoutRoles(roles []string) *LargeObject {
	for _, r := range roles {
		if o.ACL.mentions(r) {
			o = withoutRole(o, r).(*LargeObject)
		}
	}
	return o
}

// RoleLines says, as DROP ROLE does, what a role has to do with a large object.
func (o *LargeObject) RoleLines(role string) []string {
	switch {
	case o.Owner == role:
		return []string{"owner of large object " + o.Name}
	case o.ACL.mentions(role):
		return []string{"privileges for large object " + o.Name}
	}
	return nil
}
