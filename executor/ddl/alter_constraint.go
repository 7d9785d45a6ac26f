package ddl

import (
	"cmp"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

func hasConstraint(t *catalog.Table, name string) bool {
	return slices.ContainsFunc(t.Uniques, func(u *catalog.Unique) bool { return u.Name == name }) ||
		slices.ContainsFunc(t.Checks, func(k *catalog.Check) bool { return k.Name == name }) ||
		slices.ContainsFunc(t.ForeignKeys, func(k *catalog.ForeignKey) bool { return k.Name == name })
}

func (x *exec) addConstraint(t *catalog.Table, a *ast.AlterAction) error {
	spec, err := x.constraintSpec(a.Constraint, "")
	if err != nil {
		return err
	}
	if spec.Kind == 'c' {
		if err := x.bindCheck(spec, a.Constraint.Expr, t); err != nil {
			return withoutPosition(err)
		}
	}
	if spec.Kind == 'x' {
		if t.Key != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported, "exclusion constraints are not supported on partitioned tables").At(a.Constraint.Pos())
		}
		if err := x.bindExclusion(spec, a.Constraint, t, -1); err != nil {
			return err
		}
	}
	if spec.Kind == 'p' || spec.Kind == 'u' {
		if err := x.newKey(t, spec, a.Constraint.Pos()); err != nil {
			return err
		}
		if spec.IndexOptions, err = keyOptions(catalog.KindBtree, a.Constraint); err != nil {
			return err
		}
		if spec.UsingIndex != "" {
			if t.Key != nil {
				return sqlerr.New(sqlerr.FeatureNotSupported, "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables")
			}
			if err := t.Adoptable(spec); err != nil {
				return positioned(err, a.Constraint.Pos())
			}
		}
	}
	return x.addTableConstraint(t.OID, spec)
}

// newKey checks the columns of a primary key or unique constraint that a table gets. Those
// that the table does not have are missed without a position, as the columns of the table
// as it is then are looked up, by a primary key for their NOT NULL first.
func (x *exec) newKey(t *catalog.Table, spec *catalog.ConstraintSpec, pos int) error {
	if spec.UsingIndex == "" {
		for _, name := range spec.Cols {
			switch system := catalog.IsSystemColumn(name); {
			case t.Col(name) >= 0:
			case spec.Kind == 'p' && system:
				return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter system column \"%s\"", name)
			case system:
				return sqlerr.New(sqlerr.FeatureNotSupported, "index creation on system columns is not supported")
			case spec.Kind == 'p':
				return noColumn(t, name)
			}
		}
	}
	err := spec.CheckKey(t)
	if e, ok := err.(*sqlerr.Error); ok && e.Code == sqlerr.UndefinedColumn {
		return err
	}
	return positioned(err, pos)
}

// addTableConstraint adds a constraint to a table and to what is below it.
func (x *exec) addTableConstraint(oid types.OID, spec *catalog.ConstraintSpec) error {
	t, err := x.table(oid)
	if err != nil {
		return err
	}
	if spec.Kind == 'c' {
		return x.addCheck(t, *spec, false)
	}
	if t.Key != nil {
		if err := x.partitionedConstraint(t, spec); err != nil {
			return err
		}
	}
	if err := x.addConstraintSpec(oid, spec); err != nil || spec.Kind != 'p' || t.Key != nil {
		return err
	}
	list, err := x.below(t)
	if err != nil {
		return err
	}
	for _, m := range list {
		for _, name := range spec.Cols {
			if err := x.alterOne(m.OID, &ast.AlterAction{Kind: "SET NOT NULL", Name: name}); err != nil {
				return err
			}
		}
	}
	return nil
}

// partitionedConstraint prepares a constraint of a partitioned table.
func (x *exec) partitionedConstraint(t *catalog.Table, spec *catalog.ConstraintSpec) error {
	spec.Only = x.only
	if spec.Kind == 'f' && x.only {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot use ONLY for foreign key on partitioned table \"%s\" referencing relation \"%s\"", t.Name, spec.RefTable)
	}
	if spec.Kind == 'f' && spec.NotValid {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot add NOT VALID foreign key on partitioned table \"%s\" referencing relation \"%s\"", t.Name, spec.RefTable).
			WithDetail("This feature is not yet supported on partitioned tables.")
	}
	if spec.Kind != 'p' || !x.only {
		return nil
	}
	return x.notNullBelow(t, spec.Cols)
}

// addConstraintSpec adds a constraint and has the rows checked.
func (x *exec) addConstraintSpec(oid types.OID, spec *catalog.ConstraintSpec) error {
	was, err := x.table(oid)
	if err != nil {
		return err
	}
	t, err := x.Change.AddConstraint(oid, spec)
	if err != nil {
		return err
	}
	switch spec.Kind {
	case 'c':
		if !spec.NotValid {
			name := t.Checks[len(t.Checks)-1].Name
			x.after = append(x.after, func() error { return x.validate(oid, name) })
		}
	case 'f':
		if t.Key != nil {
			x.checkNewKeys(t)
		} else if !spec.NotValid {
			name := t.ForeignKeys[len(t.ForeignKeys)-1].Name
			x.after = append(x.after, func() error { return x.validate(oid, name) })
		}
	case 'p':
		for _, c := range t.PK {
			if c < len(was.Columns) && !was.Columns[c].NotNull {
				name := t.Columns[c].Name
				x.after = append(x.after, func() error { return x.checkNotNull(oid, name) })
			}
		}
	}
	return nil
}

func qualified(t *catalog.Table) string {
	return ast.QuoteIdent(t.Schema) + "." + ast.QuoteIdent(t.Name)
}

// ownRows is the table for FROM, without those below it.
func ownRows(t *catalog.Table) string { return "ONLY " + qualified(t) }

// keyRows is a table of a foreign key, on either side, for FROM: the key is one of a
// partitioned table's partitions, but not of the tables that inherit from it.
func keyRows(t *catalog.Table) string {
	if t.Key != nil {
		return qualified(t)
	}
	return ownRows(t)
}

// checkNotNull fails with 23502 when the column has NULLs.
func (x *exec) checkNotNull(oid types.OID, col string) error {
	t, err := x.table(oid)
	if err != nil {
		return err
	}
	bad, err := x.any("SELECT 1 FROM " + ownRows(t) + " WHERE " + ast.QuoteIdent(col) + " IS NULL LIMIT 1")
	if err != nil {
		return err
	}
	if bad {
		return containsNulls(t, t.Col(col))
	}
	return nil
}

// validate checks all rows against a CHECK or FOREIGN KEY constraint.
func (x *exec) validate(oid types.OID, name string) error {
	t, err := x.table(oid)
	if err != nil {
		return err
	}
	for _, k := range t.Checks {
		if k.Name != name {
			continue
		}
		bad, err := x.any("SELECT 1 FROM " + ownRows(t) + " WHERE NOT (" + k.Expr + ") LIMIT 1")
		if err != nil {
			return err
		}
		if bad {
			e := sqlerr.New(sqlerr.CheckViolation, "check constraint \"%s\" of relation \"%s\" is violated by some row", name, t.Name)
			e.Schema, e.Table, e.Constraint = t.Schema, t.Name, name
			return e
		}
	}
	for _, k := range t.ForeignKeys {
		if k.Name == name {
			return x.validateFK(t, k)
		}
	}
	return nil
}

func (x *exec) validateFK(t *catalog.Table, k *catalog.ForeignKey) error {
	p, err := x.table(k.RefTable)
	if err != nil {
		return err
	}
	if err := x.hold(p, kv.RowShare); err != nil {
		return err
	}
	var sel, on, notNull []string
	for i, c := range k.Cols {
		child, parent := "c."+ast.QuoteIdent(t.Columns[c].Name), "p."+ast.QuoteIdent(p.Columns[k.RefCols[i]].Name)
		sel = append(sel, child)
		if own, other := t.Columns[c].Collation, p.Columns[k.RefCols[i]].Collation; own != other {
			child += " COLLATE " + ast.QuoteIdent(cmp.Or(other, "default")) // what the referenced values are compared by
		}
		on = append(on, child+" = "+parent)
		notNull = append(notNull, "c."+ast.QuoteIdent(t.Columns[c].Name)+" IS NOT NULL")
	}
	violated := sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", t.Name, k.Name)
	violated.Schema, violated.Table, violated.Constraint = t.Schema, t.Name, k.Name
	if k.Match == 'f' {
		mixed, err := x.any("SELECT 1 FROM " + ownRows(t) + " c WHERE (" + strings.Join(notNull, " OR ") + ") AND NOT (" +
			strings.Join(notNull, " AND ") + ") LIMIT 1")
		if err != nil {
			return err
		}
		if mixed {
			return violated.WithDetail("MATCH FULL does not allow mixing of null and nonnull key values.")
		}
	}
	sql := "SELECT " + strings.Join(sel, ", ") + " FROM " + ownRows(t) + " c WHERE " + strings.Join(notNull, " AND ") +
		" AND NOT EXISTS (SELECT 1 FROM " + keyRows(p) + " p WHERE " + strings.Join(on, " AND ") + ") LIMIT 1"
	vals, err := x.firstTexts(sql, len(sel))
	if err != nil || vals == nil {
		return err
	}
	var cols []string
	for _, c := range k.Cols {
		cols = append(cols, t.Columns[c].Name)
	}
	return violated.WithDetail("Key (%s)=(%s) is not present in table \"%s\".", strings.Join(cols, ", "), strings.Join(vals, ", "), p.Name)
}
