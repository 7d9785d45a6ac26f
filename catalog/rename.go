package catalog

import (
	"cmp"
	"strings"

	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// RenameColumn renames a column of a table, a view or a composite type.
func (c *Change) RenameColumn(rel types.OID, old, new string) error {
	switch x := c.snap.objs.get(rel).(type) {
	case *Table:
		return c.renameTableColumn(x, old, new)
	case *View:
		i := slices.IndexFunc(x.Columns, func(col Column) bool { return col.Name == old })
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", old)
		}
		if slices.ContainsFunc(x.Columns, func(col Column) bool { return col.Name == new }) {
			return ColumnExists(new, x.Name)
		}
		v := *x
		v.Columns = slices.Clone(x.Columns)
		v.Columns[i].Name = new
		if v.Materialized != nil {
			v.Materialized = copyTable(v.Materialized)
			v.Materialized.Columns[i].Name = new
			v.Materialized.keepKeyNames(i, old)
		}
		return c.put(&v)
	case *UserType:
		i := slices.IndexFunc(x.Columns, func(col Column) bool { return col.Name == old })
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "attribute \"%s\" does not exist", old)
		}
		u := *x
		u.Columns = slices.Clone(x.Columns)
		u.Columns[i].Name = new
		return c.put(&u)
	}
	return sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", rel)
}

// ColumnExists refuses a second column of a name.
func ColumnExists(name, rel string) error {
	return sqlerr.New(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists", name, rel)
}

func (c *Change) renameTableColumn(t *Table, old, new string) error {
	i := t.Col(old)
	if i < 0 {
		if slices.Contains(systemColumns, old) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot rename system column \"%s\"", old)
		}
		return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", old)
	}
	if t.Col(new) >= 0 {
		return ColumnExists(new, t.Name)
	}
	n := copyTable(t)
	n.Columns[i].Name = new
	n.keepKeyNames(i, old)
	return c.put(n)
}

// RenameRelation renames a table, view or sequence.
func (c *Change) RenameRelation(oid types.OID, new string) error {
	r := asRelation(c.snap.objs.get(oid))
	if r == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	schema, _ := r.RelName()
	if err := c.freeRelation(schema, new); err != nil {
		return err
	}
	if _, isSeq := r.(*Sequence); !isSeq {
		if err := c.freeRowType(schema, new); err != nil {
			return err
		}
	}
	return c.put(withCommon(r, func(co *Common) { co.Name = new }))
}

// RenameIndex renames an index, and the constraint that it serves.
func (c *Change) RenameIndex(index types.OID, new string) error {
	owner := c.snap.indexTable.get(index)
	t := c.snap.storageTable(owner, c.DB)
	if t == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "index with OID %d does not exist", index)
	}
	if c.relationTaken(t.Schema, new) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", new)
	}
	return c.editStorage(owner, func(t *Table) { renameIndexIn(t, index, new) })
}

func renameIndexIn(t *Table, index types.OID, new string) {
	for i, ix := range t.Indexes {
		if ix.OID == index {
			n := *ix
			n.Name = new
			t.Indexes[i] = &n
		}
	}
	for i, u := range t.Uniques {
		if u.Index == index {
			n := *u
			n.Name = new
			t.Uniques[i] = &n
		}
	}
}

// RenameConstraint renames a constraint of a table, and its index.
func (c *Change) RenameConstraint(table types.OID, old, new string) error {
	_, err := c.edit(table, func(t *Table) error {
		fk, at := t.targetNamed(old)
		if t.ConstraintOID(old) == 0 && fk < 0 {
			return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", old, t.Name)
		}
		if other, _ := t.targetNamed(new); t.ConstraintOID(new) != 0 || other >= 0 {
			return sqlerr.New(sqlerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", new, t.Name)
		}
		for _, u := range t.Uniques {
			if u.Name == old {
				if c.relationTaken(t.Schema, new) {
					return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists", new)
				}
				renameIndexIn(t, u.Index, new)
				return nil
			}
		}
		if fk >= 0 {
			k := *t.ForeignKeys[fk]
			k.Targets = slices.Clone(k.Targets)
			k.Targets[at].Name = new
			t.ForeignKeys[fk] = &k
			return nil
		}
		t.editConstraint(old, func(name, _ *string) { *name = new })
		return nil
	})
	return err
}

// targetNamed finds the constraint of a name that a foreign key has for a partition of
// the table that it refers to: the key and the target, or -1.
func (t *Table) targetNamed(name string) (fk, target int) {
	for i, k := range t.ForeignKeys {
		for j := range k.Targets {
			if k.Targets[j].Name == name {
				return i, j
			}
		}
	}
	return -1, -1
}

// SetSchema moves a relation, type or function to another schema; a table takes
// its indexes and sequences along.
func (c *Change) SetSchema(oid types.OID, schema string) error {
	o := c.snap.objs.get(oid)
	co := CommonOf(o)
	if co == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "object with OID %d does not exist", oid)
	}
	if err := c.creatable(schema, co.Name); err != nil {
		return err
	}
	if IsTempSchema(schema) || IsTempSchema(co.Schema) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot move objects into or out of temporary schemas")
	}
	if co.Schema == schema {
		return nil
	}
	if asRelation(o) == nil {
		put := []Object{withCommon(o, func(x *Common) { x.Schema = schema })}
		if u, ok := o.(*UserType); ok {
			if c.typeTaken(schema, u.Name) {
				return sqlerr.New(sqlerr.DuplicateObject, "type \"%s\" already exists in schema \"%s\"", u.Name, schema)
			}
		}
		if f, ok := o.(*Function); ok {
			for _, other := range c.snap.Functions(c.DB, schema, f.Name) {
				if sameArgs(other.inputs(), f.inputs()) {
					return sqlerr.New(sqlerr.DuplicateFunction, "function %s already exists in schema \"%s\"", c.functionText(f), schema)
				}
			}
		}
		return c.put(put...)
	}
	if c.relationTaken(schema, co.Name) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists in schema \"%s\"", co.Name, schema)
	}
	put := []Object{withCommon(o, func(x *Common) { x.Schema = schema })}
	for _, q := range c.ownedSequences(oid) {
		put = append(put, withCommon(q, func(x *Common) { x.Schema = schema }))
	}
	return c.put(put...)
}

// RenameType renames an enum, domain or composite type.
func (c *Change) RenameType(oid types.OID, new string) error {
	u := c.snap.TypeByOID(oid)
	if u == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", oid)
	}
	if c.typeTaken(u.Schema, new) {
		return typeExists(new)()
	}
	return c.put(withCommon(u, func(co *Common) { co.Name = new }))
}

// RenameFunction renames a function.
func (c *Change) RenameFunction(oid types.OID, new string) error {
	f, ok := c.snap.objs.get(oid).(*Function)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedFunction, "function with OID %d does not exist", oid)
	}
	for _, o := range c.snap.Functions(c.DB, f.Schema, new) {
		if sameArgs(o.inputs(), f.inputs()) {
			return sqlerr.New(sqlerr.DuplicateFunction, "function %s already exists in schema \"%s\"",
				strings.Replace(c.functionText(f), QuoteIdent(f.Name), QuoteIdent(new), 1), f.Schema)
		}
	}
	return c.put(withCommon(f, func(co *Common) { co.Name = new }))
}

// RenameSchema renames a schema and moves everything in it along.
func (c *Change) RenameSchema(old, new string) error {
	n := c.snap.Schema(c.DB, old)
	if n == nil {
		return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", old)
	}
	if builtinSchemas[old] != nil {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied: \"%s\" is a system schema", old)
	}
	if c.snap.Schema(c.DB, new) != nil {
		return sqlerr.New(sqlerr.DuplicateSchema, "schema \"%s\" already exists", new)
	}
	if len(new) >= 3 && new[:3] == "pg_" {
		return sqlerr.New(sqlerr.ReservedName, "unacceptable schema name \"%s\"", new).
			WithDetail("The prefix \"pg_\" is reserved for system schemas.")
	}
	put := []Object{withCommon(n, func(co *Common) { co.Name = new })}
	put = append(put, c.moveDefaults(map[string]string{old: new})...)
	for _, o := range c.snap.Objects() {
		if co := CommonOf(o); co.DB == c.DB && co.Schema == old {
			put = append(put, withCommon(o, func(x *Common) { x.Schema = new }))
		}
	}
	return c.put(put...)
}

// RenameDatabase renames a database.
func (c *Change) RenameDatabase(old, new string) error {
	d := c.snap.Database(old)
	switch {
	case d == nil:
		return sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", old)
	case d.OID == c.DB:
		return sqlerr.New(sqlerr.FeatureNotSupported, "current database cannot be renamed")
	}
	if err := c.moveDatabaseSettings(old, new); err != nil {
		return err
	}
	return c.put(withCommon(d, func(co *Common) { co.Name = new }))
}

// RenameRole renames a role; what it owns and its memberships follow.
func (c *Change) RenameRole(old, new string) error {
	role := c.snap.Role(old)
	switch {
	case role == nil:
		return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", old)
	case old == c.Owner:
		return sqlerr.New(sqlerr.FeatureNotSupported, "session user cannot be renamed")
	}
	if err := cmp.Or(reservedRole(old), reservedRole(new)); err != nil {
		return err
	}
	if c.snap.Role(new) != nil {
		return sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", new)
	}
	var put []Object
	for _, o := range c.snap.Objects() {
		n := o
		if r, ok := o.(*Role); ok && slices.Contains(r.MemberOf, old) {
			cp := *r
			cp.MemberOf = slices.Clone(r.MemberOf)
			cp.MemberOf[slices.Index(cp.MemberOf, old)] = new
			if i := slices.Index(r.AdminOf, old); i >= 0 {
				cp.AdminOf = slices.Clone(r.AdminOf)
				cp.AdminOf[i] = new
			}
			n = &cp
		}
		n = renameInACLs(n, old, new)
		if CommonOf(n).Owner == old {
			n = withCommon(n, func(co *Common) { co.Owner = new })
		}
		if o.ObjectOID() == role.OID {
			n = withCommon(n, func(co *Common) { co.Name = new })
		}
		if n != o {
			put = append(put, n)
		}
	}
	return c.put(put...)
}
