package pgcatalog

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// classRow is a row of pg_class, whatever it stands for.
type classRow struct {
	oid, namespace, rowType, ofType, owner, am, tablespace types.OID
	name                                                   string
	kind, persistence, replident                           byte
	natts, checks                                          int
	rows, pages                                            float64
	hasIndex, shared, rules, triggers, populated           bool
	options                                                []string
	acl                                                    catalog.ACL
	bound                                                  string // of a partition
	isPart, hasChildren                                    bool
	rowSecurity, forceRowSecurity                          bool
	toast                                                  types.OID
}

func rowsPgClass(w *writer) {
	env := w.env
	if oid, ok := w.wantOID("oid"); ok {
		if c, ok := env.class(oid); ok {
			w.class(&c)
		}
		return
	}
	if typ, ok := w.wantOID("reltype"); ok && typ != 0 {
		if in := env.Snap.TypeInfo(typ); in != nil && in.RelID != 0 {
			if c, ok := env.class(in.RelID); ok {
				w.class(&c)
			}
		}
		return
	}
	name, byName := w.wantName("relname")
	if byName && name == "" {
		return
	}
	env.classes(name, func(c *classRow) bool {
		w.class(c)
		return !w.done
	})
}

// stored reports whether a relation has a file of its own.
func (c *classRow) stored() bool {
	return c.kind != 'v' && c.kind != 'c' && c.kind != 'p' && c.kind != 'I'
}

// Filenode is pg_relation_filenode, 0 for a relation without a file. That of a table
// changes when the table is written anew.
func (env *Env) Filenode(oid types.OID) int64 {
	c, ok := env.class(oid)
	if !ok || !c.stored() {
		return 0
	}
	if t := catalog.StorageOf(env.Snap.RelationByOID(env.DB, oid)); t != nil {
		return int64(t.Space)
	}
	return int64(oid)
}

func (w *writer) class(c *classRow) {
	file := c.oid
	if !c.stored() {
		file = 0
	}
	w.oid(c.oid).str(c.name).oid(c.namespace).oid(c.rowType).oid(c.ofType).oid(c.owner).oid(c.am).oid(file).oid(c.tablespace).
		int(int64(c.pages)).float(c.rows).int(0).oid(c.toast).bool(c.hasIndex).bool(c.shared).chr(c.persistence).chr(c.kind).
		int(int64(c.natts)).int(int64(c.checks)).bool(c.rules).bool(c.triggers).bool(c.hasChildren).bool(c.rowSecurity).bool(c.forceRowSecurity).
		bool(c.populated).chr(c.replident).bool(c.isPart).oid(0).int(0).int(0).acl(c.acl).optArray(c.options).opt(c.bound).end()
}

// class returns the row of one OID.
func (env *Env) class(oid types.OID) (classRow, bool) {
	if r := ByOID(oid); r != nil {
		return env.systemClass(r), true
	}
	if r := env.Snap.RelationByOID(env.DB, oid); r != nil {
		return env.relationClass(r), true
	}
	if t, ix := env.Snap.IndexByOID(env.DB, oid); ix != nil {
		return env.indexClass(t, ix), true
	}
	for _, ix := range catalog.SystemIndexes() {
		if ix.OID == oid {
			return systemIndexClass(&ix), true
		}
	}
	if u := env.composites()[oid]; u != nil {
		return env.compositeClass(u), true
	}
	if t, ok := env.toastByOID(oid); ok {
		if t.oid == oid {
			return t.class(), true
		}
		return t.indexClass(), true
	}
	return classRow{}, false
}

// composites are the composite types by the OIDs of the relations that stand for them.
func (env *Env) composites() map[types.OID]*catalog.UserType {
	type key struct{ db types.OID }
	return env.Snap.Memo(key{env.DB}, func() any {
		m := map[types.OID]*catalog.UserType{}
		for _, u := range env.Snap.UserTypes(env.DB) {
			if u.Kind == 'c' && u.RelOID != 0 {
				m[u.RelOID] = u
			}
		}
		return m
	}).(map[types.OID]*catalog.UserType)
}

func (env *Env) compositeClass(u *catalog.UserType) classRow {
	return classRow{oid: u.RelOID, namespace: env.namespace(u.Schema), rowType: u.OID, name: u.Name, owner: env.role(u.Owner),
		kind: 'c', persistence: 'p', replident: 'n', natts: len(u.Columns), populated: true}
}

func systemIndexClass(ix *catalog.SystemIndex) classRow {
	c := classRow{oid: ix.OID, namespace: catalog.OIDPgCatalog, name: ix.Name, owner: catalog.OIDSuperuser, am: catalog.OIDBtreeAm,
		kind: 'i', persistence: 'p', replident: 'n', natts: len(ix.Keys), populated: true, pages: 1}
	if r := ByOID(ix.Table); r != nil && Shared(r) {
		c.shared, c.tablespace = true, oidGlobalTablespace
	}
	return c
}

// classes calls f for the rows of pg_class with a name, or for every row where it is "",
// until f returns false.
func (env *Env) classes(name string, f func(*classRow) bool) {
	other := func(n string) bool { return name != "" && n != name }
	for _, r := range All() {
		if other(r.Name) {
			continue
		}
		if c := env.systemClass(r); !f(&c) {
			return
		}
	}
	for _, ix := range catalog.SystemIndexes() {
		if other(ix.Name) {
			continue
		}
		if c := systemIndexClass(&ix); !f(&c) {
			return
		}
	}
	more := true
	if name == "" || strings.HasPrefix(name, "pg_toast_") {
		env.toasts(func(t *toast) bool {
			c, ix := t.class(), t.indexClass()
			more = (other(c.name) || f(&c)) && (other(ix.name) || f(&ix))
			return more
		})
	}
	if !more {
		return
	}
	if name != "" {
		for _, oid := range env.Snap.RelationsNamed(env.DB, name) {
			c, ok := classRow{}, false
			if u := env.Snap.TypeByOID(oid); u != nil {
				c, ok = env.compositeClass(u), true
			} else {
				c, ok = env.class(oid)
			}
			if ok && !f(&c) {
				return
			}
		}
		return
	}
	for _, r := range env.Snap.Relations(env.DB) {
		if c := env.relationClass(r); !f(&c) {
			return
		}
		if t := catalog.StorageOf(r); t != nil {
			for _, ix := range t.Indexes {
				if c := env.indexClass(t, ix); !f(&c) {
					return
				}
			}
		}
	}
	for _, u := range env.Snap.UserTypes(env.DB) {
		if u.Kind != 'c' {
			continue
		}
		if c := env.compositeClass(u); !f(&c) {
			return
		}
	}
}

// sharedRelations are kept once for all databases.
var sharedRelations = []string{
	"pg_authid", "pg_auth_members", "pg_database", "pg_db_role_setting", "pg_parameter_acl", "pg_replication_origin",
	"pg_shdepend", "pg_shdescription", "pg_shseclabel", "pg_subscription", "pg_tablespace",
}

// Shared reports whether a system relation is kept once for all databases.
func Shared(r *Relation) bool { return slices.Contains(sharedRelations, r.Name) }

func (env *Env) systemClass(r *Relation) classRow {
	c := classRow{oid: r.OID, namespace: env.namespace(r.Schema), name: r.Name, owner: catalog.OIDSuperuser, am: catalog.OIDHeapAm,
		kind: 'r', persistence: 'p', replident: 'n', natts: len(r.Columns), populated: true, rows: -1}
	if env.Snap.TypeInfo(r.RowType) != nil {
		c.rowType = r.RowType
	}
	if r.View {
		c.kind, c.am, c.rules = 'v', 0, true
	} else {
		c.hasIndex = slices.ContainsFunc(catalog.SystemIndexes(), func(ix catalog.SystemIndex) bool { return ix.Table == r.OID })
		if r.Schema == catalog.SchemaInformation {
			c.replident = 'd'
		}
	}
	c.acl = env.systemACL(r)
	for _, t := range catalog.Toasts() {
		if t.Table == r.OID {
			c.toast = t.OID
		}
	}
	if c.shared = Shared(r); c.shared {
		c.tablespace = oidGlobalTablespace
	}
	return c
}

func (env *Env) relationClass(r catalog.Relation) classRow {
	co := commonOf(r)
	c := classRow{oid: co.OID, namespace: env.namespace(co.Schema), name: co.Name, owner: env.role(co.Owner),
		persistence: 'p', replident: 'n', natts: len(r.RelColumns()), populated: true}
	c.rows, c.pages = env.reltuples(co.OID)
	c.acl, c.toast = co.ACL, env.toastOID(r)
	switch x := r.(type) {
	case *catalog.Table:
		c.kind, c.am, c.replident, c.rowType = 'r', catalog.OIDHeapAm, 'd', x.RowType
		c.ofType = x.OfType
		if x.ReplicaIdentity != 0 {
			c.replident = x.ReplicaIdentity
		}
		c.persistence, c.checks, c.hasIndex = tablePersistence(x), len(x.Checks), len(x.Indexes) > 0
		c.triggers, c.options = env.hasTriggers(x), append(options(x.Options), x.MappingOptions()...)
		c.hasChildren = env.Snap.HasChildren(x.OID)
		c.rowSecurity, c.forceRowSecurity = x.RowSecurity, x.ForceRowSecurity
		if x.Key != nil {
			c.kind, c.am, c.pages = 'p', 0, 0
		}
		if x.Bound != nil {
			c.isPart, c.bound = true, catalog.BoundText(x.Bound, env.Fmt)
		}
	case *catalog.View:
		c.kind, c.rules, c.rowType, c.persistence = 'v', true, x.RowType, persistence(x.Temp)
		c.options = x.RelOptions()
		if x.Materialized != nil {
			c.options = options(x.Materialized.Options)
			c.kind, c.am, c.replident, c.populated = 'm', catalog.OIDHeapAm, 'd', x.Populated
			c.hasIndex = len(x.Materialized.Indexes) > 0
			c.options = append(c.options, x.Materialized.MappingOptions()...)
		}
	case *catalog.Sequence:
		c.kind, c.persistence, c.rows, c.pages = 'S', persistence(x.Temp), 1, 1
		if x.Unlogged {
			c.persistence = 'u'
		}
	}
	return c
}

func (env *Env) indexClass(t *catalog.Table, ix *catalog.Index) classRow {
	rows, _ := env.reltuples(t.OID)
	c := classRow{oid: ix.OID, namespace: env.namespace(t.Schema), name: ix.Name, owner: env.role(t.Owner), am: am(ix), kind: 'i',
		persistence: tablePersistence(t), replident: 'n', natts: len(ix.Keys) + len(ix.Include), populated: true, rows: max(rows, 0), pages: 1, isPart: ix.Parent != 0,
		options: options(ix.Options)}
	if t.Key != nil {
		c.kind, c.rows, c.pages = 'I', 0, 0
		children, _, _ := env.family(ix.OID)
		c.hasChildren = children != nil
	}
	return c
}
