package catalog

import (
	"strings"

	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Rename is a change of a name that the queries of views may mention.
type Rename struct {
	Rel                types.OID
	Column, NewColumn  string // "" when the relation itself is renamed or moved
	OldSchema, OldName string
	NewSchema, NewName string
}

// rewriteViews changes the queries of the views that read what is renamed. The
// catalog cannot parse them; without ViewRewriter such renames are refused.
func (c *Change) rewriteViews(rn Rename) ([]Object, error) {
	var out []Object
	n := node{kind: nodeRelation, oid: rn.Rel}
	if rn.Column != "" {
		r := asRelation(c.snap.objs[rn.Rel])
		for i, col := range r.RelColumns() {
			if !col.Dropped && col.Name == rn.Column {
				n.sub = i + 1
			}
		}
	}
	var views []*View
	c.viewsReading(n, func(_ bool, d node) { views = append(views, c.snap.objs[d.oid].(*View)) })
	for _, v := range views {
		if c.ViewRewriter == nil {
			return nil, sqlerr.Unsupported(-1, "renaming %s, which %s reads,", c.describe(n), c.describeRelation(v.OID))
		}
		q, err := c.ViewRewriter(v, rn)
		if err != nil {
			return nil, err
		}
		cp := *v
		cp.Query = q
		out = append(out, &cp)
	}
	return out, nil
}

// RenameColumn renames a column of a table, a view or a composite type.
func (c *Change) RenameColumn(rel types.OID, old, new string) error {
	switch x := c.snap.objs[rel].(type) {
	case *Table:
		return c.renameTableColumn(x, old, new)
	case *View:
		i := slices.IndexFunc(x.Columns, func(col Column) bool { return col.Name == old })
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", old)
		}
		if slices.ContainsFunc(x.Columns, func(col Column) bool { return col.Name == new }) {
			return columnExists(new, x.Name)
		}
		put, err := c.rewriteViews(Rename{Rel: rel, Column: old, NewColumn: new})
		if err != nil {
			return err
		}
		v := *x
		v.Columns = slices.Clone(x.Columns)
		v.Columns[i].Name = new
		if v.Materialized != nil {
			v.Materialized = copyTable(v.Materialized)
			v.Materialized.Columns[i].Name = new
		}
		return c.put(append(put, &v)...)
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

func columnExists(name, rel string) error {
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
		return columnExists(new, t.Name)
	}
	put, err := c.rewriteViews(Rename{Rel: t.OID, Column: old, NewColumn: new})
	if err != nil {
		return err
	}
	n := copyTable(t)
	n.Columns[i].Name = new
	for k := range n.Columns {
		if g := &n.Columns[k]; g.Generated && slices.Contains(g.DefaultCols, i) {
			g.Default = renameColumnText(g.Default, old, new)
		}
	}
	for k, ch := range n.Checks {
		if slices.Contains(ch.Cols, i) {
			cp := *ch
			cp.Expr = renameColumnText(ch.Expr, old, new)
			n.Checks[k] = &cp
		}
	}
	if n.InKey(i) {
		key := *n.Key
		key.Keys = slices.Clone(key.Keys)
		for k := range key.Keys {
			key.Keys[k].Expr = renameColumnText(key.Keys[k].Expr, old, new)
		}
		n.Key = &key
	}
	for k, ix := range n.Indexes {
		if !slices.Contains(ix.ExprCols, i) {
			continue
		}
		cp := *ix
		cp.Keys = slices.Clone(ix.Keys)
		cp.Where = renameColumnText(ix.Where, old, new)
		for p := range cp.Keys {
			if cp.Keys[p].Col < 0 {
				cp.Keys[p].Expr = renameColumnText(cp.Keys[p].Expr, old, new)
			}
		}
		n.Indexes[k] = &cp
	}
	return c.put(append(put, n)...)
}

// RenameRelation renames a table, view or sequence.
func (c *Change) RenameRelation(oid types.OID, new string) error {
	r := asRelation(c.snap.objs[oid])
	if r == nil {
		return sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	schema, old := r.RelName()
	if err := c.freeRelation(schema, new); err != nil {
		return err
	}
	if _, isSeq := r.(*Sequence); !isSeq {
		if err := c.freeRowType(schema, new); err != nil {
			return err
		}
	}
	put, err := c.rewriteViews(Rename{Rel: oid, OldSchema: schema, OldName: old, NewSchema: schema, NewName: new})
	if err != nil {
		return err
	}
	put = append(put, withCommon(r, func(co *Common) { co.Name = new }))
	put = append(put, c.followSequence(oid, schema, new, nil)...)
	return c.put(put...)
}

// followSequence returns the tables whose defaults name a sequence, with the
// sequence's new name in them. Tables of which base has a newer copy are
// changed there.
func (c *Change) followSequence(oid types.OID, newSchema, newName string, base map[types.OID]*Table) []Object {
	q, ok := c.snap.objs[oid].(*Sequence)
	if !ok {
		return nil
	}
	var out []Object
	renamed := *q
	renamed.Schema, renamed.Name = newSchema, newName
	for _, t := range c.snap.Tables(c.DB) {
		var n *Table
		for i := range t.Columns {
			col := &t.Columns[i]
			owns := col.Sequence == oid && col.Identity == 0
			if !owns && !slices.Contains(col.DefaultDeps, oid) {
				continue
			}
			if n == nil {
				if n = base[t.OID]; n == nil {
					n = copyTable(t)
					out = append(out, n)
				}
			}
			if owns {
				n.Columns[i].Default = nextvalText(&renamed)
			} else {
				n.Columns[i].Default = renameRegclassText(col.Default, q.Schema, q.Name, newSchema, newName)
			}
		}
	}
	return out
}

// RenameIndex renames an index, and the constraint that it serves.
func (c *Change) RenameIndex(index types.OID, new string) error {
	owner := c.snap.indexTable[index]
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
		if t.constraintOID(old) == 0 {
			return sqlerr.New(sqlerr.UndefinedObject, "constraint \"%s\" for table \"%s\" does not exist", old, t.Name)
		}
		if t.constraintOID(new) != 0 {
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
		t.editConstraint(old, func(name, _ *string) { *name = new })
		return nil
	})
	return err
}

// SetSchema moves a relation, type or function to another schema; a table takes
// its indexes and sequences along.
func (c *Change) SetSchema(oid types.OID, schema string) error {
	o := c.snap.objs[oid]
	co := CommonOf(o)
	if co == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "object with OID %d does not exist", oid)
	}
	if err := c.creatable(schema, co.Name); err != nil {
		return err
	}
	if co.Schema == schema {
		return nil
	}
	if asRelation(o) == nil {
		put := []Object{withCommon(o, func(x *Common) { x.Schema = schema })}
		if u, ok := o.(*UserType); ok {
			if _, taken := c.snap.names[nameKey{spaceType, c.DB, schema, u.Name}]; taken {
				return sqlerr.New(sqlerr.DuplicateObject, "type \"%s\" already exists in schema \"%s\"", u.Name, schema)
			}
			put = append(put, c.rewriteTexts(func(s string) string {
				return renameTypeText(s, u.Schema, u.Name, schema, u.Name)
			})...)
		}
		if f, ok := o.(*Function); ok {
			for _, other := range c.snap.Functions(c.DB, schema, f.Name) {
				if sameArgs(other.inputs(), f.inputs()) {
					return sqlerr.New(sqlerr.DuplicateFunction, "%s %s already exists in schema \"%s\"", routineKind(f), c.functionText(f), schema)
				}
			}
			put = append(put, c.moveFunction(f, schema, f.Name)...)
		}
		return c.put(put...)
	}
	if c.relationTaken(schema, co.Name) {
		return sqlerr.New(sqlerr.DuplicateTable, "relation \"%s\" already exists in schema \"%s\"", co.Name, schema)
	}
	put, err := c.rewriteViews(Rename{Rel: oid, OldSchema: co.Schema, OldName: co.Name, NewSchema: schema, NewName: co.Name})
	if err != nil {
		return err
	}
	moved := withCommon(o, func(x *Common) { x.Schema = schema })
	base := map[types.OID]*Table{}
	if t, ok := moved.(*Table); ok {
		moved = copyTable(t)
		base[oid] = moved.(*Table)
	}
	put = append(put, moved)
	put = append(put, c.followSequence(oid, schema, co.Name, base)...)
	for _, q := range c.ownedSequences(oid) {
		put = append(put, withCommon(q, func(x *Common) { x.Schema = schema }))
		put = append(put, c.followSequence(q.OID, schema, q.Name, base)...)
	}
	return c.put(put...)
}

// rewriteTexts returns the objects of the database whose expressions a rewrite
// changes. Queries of views are left to rewriteViews.
func (c *Change) rewriteTexts(rewrite func(string) string) []Object {
	var out []Object
	for _, t := range c.snap.Tables(c.DB) {
		n := copyTable(t)
		changed := false
		set := func(s *string) {
			if *s == "" {
				return
			}
			if r := rewrite(*s); r != *s {
				*s, changed = r, true
			}
		}
		for i := range n.Columns {
			set(&n.Columns[i].Default)
		}
		for i, k := range n.Checks {
			cp := *k
			set(&cp.Expr)
			n.Checks[i] = &cp
		}
		for i, ix := range n.Indexes {
			cp := *ix
			cp.Keys = slices.Clone(ix.Keys)
			set(&cp.Where)
			for k := range cp.Keys {
				set(&cp.Keys[k].Expr)
			}
			n.Indexes[i] = &cp
		}
		if changed {
			out = append(out, n)
		}
	}
	return out
}

// RenameType renames an enum, domain or composite type.
func (c *Change) RenameType(oid types.OID, new string) error {
	u := c.snap.TypeByOID(oid)
	if u == nil {
		return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", oid)
	}
	if _, taken := c.snap.names[nameKey{spaceType, c.DB, u.Schema, new}]; taken {
		return typeExists(new)()
	}
	var view *View
	c.typeDependents(oid, func(_ bool, n node) {
		if v, ok := c.snap.objs[n.oid].(*View); ok {
			view = v
		}
	})
	if view != nil && c.ViewRewriter == nil {
		return sqlerr.Unsupported(-1, "renaming type %s, which %s reads,", QuoteIdent(u.Name), c.describeRelation(view.OID))
	}
	put := []Object{withCommon(u, func(co *Common) { co.Name = new })}
	put = append(put, c.rewriteTexts(func(s string) string { return renameTypeText(s, u.Schema, u.Name, "", new) })...)
	return c.put(put...)
}

// RenameFunction renames a function.
func (c *Change) RenameFunction(oid types.OID, new string) error {
	f, ok := c.snap.objs[oid].(*Function)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedFunction, "function with OID %d does not exist", oid)
	}
	for _, o := range c.snap.Functions(c.DB, f.Schema, new) {
		if sameArgs(o.inputs(), f.inputs()) {
			return sqlerr.New(sqlerr.DuplicateFunction, "%s %s already exists in schema \"%s\"", routineKind(f),
				strings.Replace(c.functionText(f), QuoteIdent(f.Name), QuoteIdent(new), 1), f.Schema)
		}
	}
	put := []Object{withCommon(f, func(co *Common) { co.Name = new })}
	return c.put(append(put, c.moveFunction(f, f.Schema, new)...)...)
}

// moveFunction rewrites the texts that call a function, which gets another name
// or schema.
func (c *Change) moveFunction(f *Function, schema, name string) []Object {
	rewrite := func(s string) string { return renameFunctionText(s, f.Schema, f.Name, schema, name) }
	put := c.rewriteTexts(rewrite)
	for _, v := range objectsOf(c.snap, func(v *View) bool { return v.DB == c.DB }) {
		if q := rewrite(v.Query); q != v.Query {
			n := *v
			n.Query = q
			put = append(put, &n)
		}
	}
	for _, o := range c.snap.AllFunctions(c.DB) {
		if b := rewrite(o.Body); o.Standard && o.OID != f.OID && b != o.Body {
			n := *o
			n.Body = b
			put = append(put, &n)
		}
	}
	return put
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
	put = append(put, c.rewriteTexts(func(s string) string { return renameSchemaText(s, old, new) })...)
	done := make(map[types.OID]int)
	for i, o := range put {
		done[o.ObjectOID()] = i
	}
	for _, o := range c.snap.Objects() {
		co := CommonOf(o)
		if co.DB != c.DB || co.Schema != old {
			if v, ok := o.(*View); ok && co.DB == c.DB {
				if err := c.viewFollowsSchema(v, old); err != nil {
					return err
				}
			}
			continue
		}
		if v, ok := o.(*View); ok {
			if err := c.viewFollowsSchema(v, old); err != nil {
				return err
			}
		}
		move := func(x *Common) { x.Schema = new }
		if i, ok := done[co.OID]; ok {
			put[i] = withCommon(put[i], move)
		} else {
			put = append(put, withCommon(o, move))
		}
	}
	return c.put(put...)
}

// viewFollowsSchema refuses to rename a schema under a view that reads from it.
func (c *Change) viewFollowsSchema(v *View, schema string) error {
	for _, dep := range v.Deps {
		if co := CommonOf(c.snap.objs[dep]); co != nil && co.Schema == schema {
			return sqlerr.Unsupported(-1, "renaming schema %s, from which %s reads,", QuoteIdent(schema), c.describeRelation(v.OID))
		}
	}
	return nil
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
	return c.put(withCommon(d, func(co *Common) { co.Name = new }))
}

// RenameRole renames a role; what it owns and its memberships follow.
func (c *Change) RenameRole(old, new string) error {
	role := c.snap.Role(old)
	switch {
	case role == nil:
		return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", old)
	case c.snap.Role(new) != nil:
		return sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", new)
	case old == c.Owner:
		return sqlerr.New(sqlerr.FeatureNotSupported, "session user cannot be renamed")
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
