package catalog

import (
	"maps"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// AddColumn adds a column to a table. What old rows have in it is the spec's
// Missing (NULL when nil); rewriting them instead is the caller's business.
func (c *Change) AddColumn(table types.OID, spec *ColumnSpec) (*Table, error) {
	mark := c.Mark()
	t, err := c.edit(table, func(t *Table) error {
		if t.Col(spec.Name) >= 0 {
			return ColumnExists(spec.Name, t.Name)
		}
		t.Columns = append(t.Columns, spec.Column)
		return nil
	})
	if err == nil && spec.OwnSequence != nil {
		if err = c.ownSequence(t.OID, len(t.Columns)-1, spec.OwnSequence, spec.Identity != 0); err == nil {
			t, err = c.table(table)
		}
	}
	if err != nil {
		c.RollbackTo(mark)
		return nil, err
	}
	return t, nil
}

// EditTable changes a copy of the table in a way that has no rules of its own
// beyond those of every snapshot: options, layout, a new space after a rewrite.
func (c *Change) EditTable(table types.OID, change func(t *Table) error) (*Table, error) {
	return c.edit(table, change)
}

// EditColumn changes a copy of a live column.
func (c *Change) EditColumn(table types.OID, name string, change func(t *Table, col *Column) error) (*Table, error) {
	return c.edit(table, func(t *Table) error {
		i, err := column(t, name)
		if err != nil {
			return err
		}
		return change(t, &t.Columns[i])
	})
}

// SetDefault sets a column's default to a SQL text, or removes it when the text
// is "". deps are the sequences, functions and types that it needs.
func (c *Change) SetDefault(table types.OID, name, text string, deps []types.OID) (*Table, error) {
	return c.EditColumn(table, name, func(t *Table, col *Column) error {
		switch {
		case col.Generated && text == "":
			return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is a generated column", name, t.Name).
				WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.")
		case col.Generated:
			return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is a generated column", name, t.Name)
		case col.Identity != 0 && text == "":
			return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity column", name, t.Name).
				WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.")
		case col.Identity != 0:
			return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity column", name, t.Name)
		}
		// The sequence still belongs to the column, but a default that is not its
		// next value does not follow it.
		col.Default, col.DefaultDeps, col.DefaultCols, col.Sequence = text, deps, nil, 0
		t.Unbind(text)
		c.serialColumn(t, t.Col(name))
		return nil
	})
}

// SetNotNull sets or removes NOT NULL. Whether the rows obey is the caller's
// business.
func (c *Change) SetNotNull(table types.OID, name string, notNull bool) (*Table, error) {
	return c.edit(table, func(t *Table) error {
		i, err := column(t, name)
		if err != nil {
			return err
		}
		if !notNull && t.Columns[i].Identity != 0 {
			return sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is an identity column", name, t.Name)
		}
		if !notNull && slices.Contains(t.PK, i) {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "column \"%s\" is in a primary key", name)
		}
		t.Columns[i].NotNull = notNull
		return nil
	})
}

// AlterType changes a column's type; expressions over the column (checks, index
// expressions) keep their texts, which the caller has bound against the new
// type. The rows are the caller's business, as is the default's text.
func (c *Change) AlterType(table types.OID, name string, typ types.T) (*Table, error) {
	return c.edit(table, func(t *Table) error {
		i, err := column(t, name)
		if err != nil {
			return err
		}
		if err := c.typeChangeable(t, i); err != nil {
			return err
		}
		if err := c.clusterTypeChangeable(t, i, typ); err != nil {
			return err
		}
		t.Columns[i].Type = typ
		for k, ix := range t.Indexes {
			if cols := append(append(ix.KeyCols(), ix.ExprCols...), ix.Include...); slices.Contains(cols, i) {
				n := *ix
				n.Keys = slices.Clone(ix.Keys)
				for p := range n.Keys {
					n.Keys[p].StatTarget = 0 // it is another index in PostgreSQL
					if n.Keys[p].Col != i {
						continue
					}
					method := keyMethods[ix.Kind]
					if ix.Kind == KindGin {
						method = OIDGinAm
					}
					if method != 0 && n.Keys[p].Opclass != "" {
						if n.Keys[p].Opclass, err = c.resolveOpclass(method, n.Keys[p].Opclass, typ); err != nil {
							return err
						}
					}
					n.Keys[p].Type = typ
				}
				t.Indexes[k] = &n
			}
		}
		return c.foreignKeysComparable(t, i, typ)
	})
}

// Retyped holds the texts of a table that were bound again after columns changed
// their types: CHECKs and predicates by OID, keys by OID and place, generation
// expressions by column.
type Retyped struct {
	Checks, Where map[types.OID]string
	Keys          map[types.OID]map[int]IndexKey
	Generated     map[int]string
}

// Retype replaces the texts of a table by those bound again.
func (c *Change) Retype(table types.OID, n Retyped) error {
	_, err := c.edit(table, func(t *Table) error {
		for i, k := range t.Checks {
			if text, ok := n.Checks[k.OID]; ok {
				copied := *k
				copied.Expr = text
				t.Unbind(text)
				t.Checks[i] = &copied
			}
		}
		for i, ix := range t.Indexes {
			copied := *ix
			copied.Keys = slices.Clone(ix.Keys)
			for at, k := range n.Keys[ix.OID] {
				copied.Keys[at] = k
				t.Unbind(k.Expr)
			}
			if text, ok := n.Where[ix.OID]; ok {
				copied.Where = text
				t.Unbind(text)
			}
			t.Indexes[i] = &copied
		}
		for i, text := range n.Generated {
			t.Columns[i].Default = text
			t.Unbind(text)
		}
		return nil
	})
	return err
}

// typeChangeable refuses what PostgreSQL refuses: columns that generated columns, views,
// policies or bound bodies of functions read.
func (c *Change) typeChangeable(t *Table, i int) error {
	name := t.Columns[i].Name
	for k := range t.Columns {
		if g := &t.Columns[k]; k != i && g.Generated && slices.Contains(g.DefaultCols, i) {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used by a generated column").
				WithDetail("Column \"%s\" is used by generated column \"%s\".", name, g.Name)
		}
	}
	col := node{kind: nodeRelation, oid: t.OID, sub: i + 1}
	for _, users := range []struct {
		what string
		list func(node, func(bool, node))
	}{{"by a view or rule", c.viewsReading}, {"in a policy definition", c.policiesNeeding}, {"by a function or procedure", c.bodiesReading}} {
		var user string
		users.list(col, func(_ bool, n node) {
			if user != "" {
				return
			}
			if user = c.describe(n); n.kind == nodeRelation {
				user = "rule _RETURN on " + user
			}
		})
		if user != "" {
			return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type of a column used %s", users.what).
				WithDetail("%s depends on column \"%s\"", user, name)
		}
	}
	return nil
}

// foreignKeysComparable checks the foreign keys of both directions against a
// column's new type.
func (c *Change) foreignKeysComparable(t *Table, i int, typ types.T) error {
	bad := func(fk *ForeignKey, from, to string, ft, tt types.T) error {
		return sqlerr.New(sqlerr.DatatypeMismatch, "foreign key constraint \"%s\" cannot be implemented", fk.Name).
			WithDetail("Key columns \"%s\" and \"%s\" are of incompatible types: %s and %s.", from, to, c.typeName(ft), c.typeName(tt))
	}
	for _, fk := range t.ForeignKeys {
		ref := c.snap.Table(fk.RefTable)
		if k := slices.Index(fk.Cols, i); k >= 0 && ref != nil && ref.OID != t.OID {
			if pk := ref.Columns[fk.RefCols[k]]; !c.comparable(pk.Type, typ) {
				return bad(fk, t.Columns[i].Name, pk.Name, typ, pk.Type)
			}
		}
	}
	for _, ref := range c.snap.Referencing(c.DB, t.OID) {
		if k := slices.Index(ref.FK.RefCols, i); k >= 0 && ref.Table.OID != t.OID {
			if from := ref.Table.Columns[ref.FK.Cols[k]]; !c.comparable(typ, from.Type) {
				return bad(ref.FK, from.Name, t.Columns[i].Name, from.Type, typ)
			}
		}
	}
	return nil
}

// SetLogged makes a table, with the sequences of its columns, logged or unlogged. A
// partitioned table has no rows of its own and stays as it is.
func (c *Change) SetLogged(table types.OID, logged bool) error {
	if t, err := c.table(table); err != nil || t.Unlogged == !logged || t.Partitioned() {
		return err
	}
	if _, err := c.EditTable(table, func(t *Table) error {
		t.Unlogged = !logged
		return nil
	}); err != nil {
		return err
	}
	for _, q := range c.ownedSequences(table) {
		if _, err := c.AlterSequence(q.OID, func(q *Sequence) error {
			q.Unlogged = !logged
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// AddIdentity makes an identity column of a NOT NULL column. kind is 'a' for
// ALWAYS, 'd' for BY DEFAULT.
func (c *Change) AddIdentity(table types.OID, name string, kind byte, spec *SequenceSpec) (*Table, error) {
	mark := c.Mark()
	t, err := c.EditColumn(table, name, func(t *Table, col *Column) error {
		switch col.Type.OID {
		case types.OInt2, types.OInt4, types.OInt8:
		default:
			return sqlerr.New(sqlerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint")
		}
		switch {
		case !col.NotNull:
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "column \"%s\" of relation \"%s\" must be declared NOT NULL before identity can be added", name, t.Name)
		case col.Identity != 0:
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "column \"%s\" of relation \"%s\" is already an identity column", name, t.Name)
		case col.Default != "":
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "column \"%s\" of relation \"%s\" already has a default value", name, t.Name)
		}
		col.Identity = kind
		return nil
	})
	if err == nil {
		if err = c.ownSequence(table, t.Col(name), spec, true); err == nil {
			t, err = c.table(table)
		}
	}
	if err != nil {
		c.RollbackTo(mark)
		return nil, err
	}
	return t, nil
}

// DropIdentity turns an identity column into a plain one and drops its sequence.
func (c *Change) DropIdentity(table types.OID, name string, ifExists bool) error {
	t, err := c.table(table)
	if err != nil {
		return err
	}
	i, err := column(t, name)
	if err != nil {
		return err
	}
	col := t.Columns[i]
	if col.Identity == 0 {
		if ifExists {
			c.tell(c.notice("column \"%s\" of relation \"%s\" is not an identity column, skipping", name, t.Name))
			return nil
		}
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "column \"%s\" of relation \"%s\" is not an identity column", name, t.Name)
	}
	n := copyTable(t)
	n.Columns[i].Identity, n.Columns[i].Sequence = 0, 0
	return c.record([]Object{n}, []types.OID{col.Sequence})
}

// DropExpression turns a generated column into a plain one.
func (c *Change) DropExpression(table types.OID, name string, ifExists bool) error {
	_, err := c.EditColumn(table, name, func(t *Table, col *Column) error {
		if !col.Generated {
			if ifExists {
				c.tell(c.notice("column \"%s\" of relation \"%s\" is not a stored generated column, skipping", name, t.Name))
				return nil
			}
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "column \"%s\" of relation \"%s\" is not a stored generated column", name, t.Name)
		}
		removeDefault(col)
		return nil
	})
	return err
}

// ValidateConstraint marks a NOT VALID constraint as checked.
func (c *Change) ValidateConstraint(table types.OID, name string) error {
	_, err := c.edit(table, func(t *Table) error {
		for i, k := range t.Checks {
			if k.Name == name {
				n := *k
				n.NotValid = false
				t.Checks[i] = &n
				return nil
			}
		}
		for i, k := range t.ForeignKeys {
			if k.Name == name {
				n := *k
				n.NotValid = false
				t.ForeignKeys[i] = &n
				return nil
			}
		}
		if t.ConstraintOID(name) != 0 {
			return sqlerr.New(sqlerr.WrongObjectType, "constraint \"%s\" of relation \"%s\" is not a foreign key or check constraint", name, t.Name)
		}
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", name, t.Name)
	})
	return err
}

// AlterConstraint changes when a foreign key is checked.
func (c *Change) AlterConstraint(table types.OID, name string, deferrable, deferred bool) error {
	_, err := c.edit(table, func(t *Table) error {
		for i, k := range t.ForeignKeys {
			if k.Name == name {
				n := *k
				n.Deferrable, n.InitiallyDeferred = deferrable, deferred
				t.ForeignKeys[i] = &n
				return nil
			}
		}
		if t.ConstraintOID(name) != 0 {
			return sqlerr.New(sqlerr.WrongObjectType, "constraint \"%s\" of relation \"%s\" is not a foreign key constraint", name, t.Name)
		}
		return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", name, t.Name)
	})
	return err
}

// SetOwner gives an object to another role; a table takes its sequences along.
func (c *Change) SetOwner(oid types.OID, owner string) error {
	if c.snap.Role(owner) == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", owner)
	}
	o := c.snap.objs.get(oid)
	if o == nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "changing the owner of a system object is not supported")
	}
	put := []Object{ownedBy(o, owner)}
	for _, q := range c.ownedSequences(oid) {
		put = append(put, ownedBy(q, owner))
	}
	return c.put(put...)
}

// ownedBy returns an object with another owner, whose name takes the old one's
// place in the grants.
func ownedBy(o Object, owner string) Object {
	old := CommonOf(o).Owner
	if n, ok := o.(*Schema); ok && storedACL(o, &n.Common) != nil {
		o = withCommon(o, func(co *Common) { co.ACL = storedACL(n, &n.Common) })
	}
	if CommonOf(o).ACL != nil || hasColumnACL(o) {
		o = renameInGrants(o, old, owner)
	}
	return withCommon(o, func(co *Common) { co.Owner = owner })
}

// withCommon returns a copy of an object with its common part changed.
func withCommon(o Object, change func(*Common)) Object {
	var n commoner
	switch x := o.(type) {
	case *Database:
		cp := *x
		n = &cp
	case *LargeObject:
		cp := *x
		n = &cp
	case *Schema:
		cp := *x
		n = &cp
	case *Role:
		cp := *x
		n = &cp
	case *Table:
		cp := *x
		n = &cp
	case *View:
		cp := *x
		if x.Materialized != nil {
			m := *x.Materialized
			change(&m.Common)
			cp.Materialized = &m
		}
		n = &cp
	case *Sequence:
		cp := *x
		n = &cp
	case *UserType:
		cp := *x
		n = &cp
	case *Function:
		cp := *x
		n = &cp
	case *OwnOperator:
		cp := *x
		n = &cp
	case *OwnCast:
		cp := *x
		n = &cp
	case *Policy:
		cp := *x
		n = &cp
	case *ExtStats:
		cp := *x
		n = &cp
	case *Extension:
		cp := *x
		n = &cp
	case *Stats:
		cp := *x
		n = &cp
	}
	change(n.common())
	return n
}

// EditRole changes a copy of a role.
func (c *Change) EditRole(name string, change func(r *Role) error) error {
	old := c.snap.Role(name)
	if old == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
	}
	n := *old
	n.MemberOf = slices.Clone(old.MemberOf)
	n.Settings = cloneSettings(old.Settings)
	n.InDatabase = maps.Clone(old.InDatabase) // the maps in it are replaced, not changed
	if err := change(&n); err != nil {
		return err
	}
	return c.put(&n)
}

// moveDatabaseSettings gives the settings that roles have in one database to
// another name; "" drops them.
func (c *Change) moveDatabaseSettings(old, new string) error {
	for _, r := range c.snap.Roles() {
		m, ok := r.InDatabase[old]
		if !ok {
			continue
		}
		n := *r
		n.InDatabase = maps.Clone(r.InDatabase)
		delete(n.InDatabase, old)
		if new != "" {
			n.InDatabase[new] = m
		}
		if err := c.put(&n); err != nil {
			return err
		}
	}
	return nil
}

// EditDatabase changes a copy of a database.
func (c *Change) EditDatabase(name string, change func(d *Database) error) error {
	old := c.snap.Database(name)
	if old == nil {
		return sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
	}
	n := *old
	n.Settings = cloneSettings(old.Settings)
	if err := change(&n); err != nil {
		return err
	}
	return c.put(&n)
}

func cloneSettings(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
