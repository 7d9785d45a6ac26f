package ddl

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/storage/kv"
)

// Typed tables (CREATE TABLE … OF) have the columns of a composite type, and follow it
// when ALTER TYPE … CASCADE changes it.

// rowTypeNamed finds the composite type that a table can be of.
func (x *exec) rowTypeNamed(n *ast.Name) (*catalog.UserType, error) {
	in := x.madeType(n)
	if in == nil {
		if in := x.builtinType(n); in != nil && in.Name == n.Last() {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "type %s is not a composite type", in.SQLName)
		}
		return nil, x.noType(n)
	}
	u := x.snap().TypeByOID(in.OID)
	if u == nil || u.Kind != 'c' {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "type %s is not a composite type", x.typeName(types.Of(in.OID)))
	}
	return u, nil
}

// typedColumns gives a new table the columns of its type.
func (b *tableBuilder) typedColumns(s *ast.CreateTable) error {
	u, err := b.rowTypeNamed(s.OfType)
	if err != nil {
		return err
	}
	if err := b.snap().CheckPriv(b.User, u, catalog.PrivUsage); err != nil {
		return err
	}
	b.spec.OfType = u.OID
	for _, c := range u.Columns {
		b.spec.Columns = append(b.spec.Columns, catalog.ColumnSpec{Column: catalog.Column{Name: c.Name, Type: c.Type, Collation: c.Collation}})
	}
	for i := range s.Columns {
		for _, k := range s.Columns[i].Constraints {
			switch k.Kind {
			case "IDENTITY":
				return sqlerr.New(sqlerr.FeatureNotSupported, "identity columns are not supported on typed tables")
			case "GENERATED":
				return sqlerr.New(sqlerr.FeatureNotSupported, "generated columns are not supported on typed tables")
			}
		}
	}
	return b.columnOptions(s)
}

// setOf is ALTER TABLE … OF: the columns are those of the type already.
func (x *exec) setOf(t *catalog.Table, a *ast.AlterAction) error {
	u, err := x.rowTypeNamed(a.Other)
	if err != nil {
		return err
	}
	if len(t.Parents) > 0 {
		return sqlerr.New(sqlerr.WrongObjectType, "typed tables cannot inherit")
	}
	differs := func(format string, args ...any) error { return sqlerr.New(sqlerr.DatatypeMismatch, format, args...) }
	i := 0
	next := func() *catalog.Column {
		for ; i < len(t.Columns); i++ {
			if c := &t.Columns[i]; !c.Dropped {
				i++
				return c
			}
		}
		return nil
	}
	for _, want := range u.Columns {
		c := next()
		switch {
		case c == nil:
			return differs("table is missing column \"%s\"", want.Name)
		case c.Name != want.Name:
			return differs("table has column \"%s\" where type requires \"%s\"", c.Name, want.Name)
		case c.Type.OID != want.Type.OID || c.Type.Mod != want.Type.Mod || c.Collation != want.Collation:
			return differs("table \"%s\" has different type for column \"%s\"", t.Name, want.Name)
		}
	}
	if c := next(); c != nil {
		return differs("table has extra column \"%s\"", c.Name)
	}
	return x.setType(t, u.OID)
}

// setNotOf is ALTER TABLE … NOT OF.
func (x *exec) setNotOf(t *catalog.Table) error {
	if t.OfType == 0 {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a typed table", t.Name)
	}
	return x.setType(t, 0)
}

func (x *exec) setType(t *catalog.Table, typ types.OID) error {
	_, err := x.Change.EditTable(t.OID, func(t *catalog.Table) error {
		t.OfType = typ
		return nil
	})
	return err
}

// keepsType refuses what would make a typed table differ from its type; what names the
// action. Changes that come from the type pass.
func (x *exec) keepsType(t *catalog.Table, what string) error {
	if t.OfType == 0 || x.ofType == t.OfType {
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "%s typed table", what)
}

// typedTables lists the tables of a composite type that is to change, which it may
// with CASCADE alone if there are any.
func (x *exec) typedTables(u *catalog.UserType, cascade bool) ([]*catalog.Table, error) {
	list := slices.DeleteFunc(x.snap().Tables(x.db()), func(t *catalog.Table) bool { return t.OfType != u.OID })
	if len(list) > 0 && !cascade {
		return nil, sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot alter type \"%s\" because it is the type of a typed table", u.Name).
			WithHint("Use ALTER ... CASCADE to alter the typed tables too.")
	}
	return list, nil
}

// alterTyped has typed tables follow one action on their type.
func (x *exec) alterTyped(tables []*catalog.Table, a *ast.AlterAction) error {
	act := *a
	switch a.Kind {
	case "ADD ATTRIBUTE":
		act.Kind = "ADD COLUMN"
	case "DROP ATTRIBUTE":
		act.Kind = "DROP COLUMN"
	case "ALTER ATTRIBUTE":
		act.Kind, act.Type = "ALTER COLUMN TYPE", &a.Column.Type
	case "RENAME ATTRIBUTE":
		act.Kind = "RENAME COLUMN"
	}
	for _, t := range tables {
		for _, m := range x.snap().Tree(t) {
			if err := x.lock(m, kv.AccessExclusive); err != nil {
				return err
			}
			if err := x.unused(m, "ALTER TABLE"); err != nil {
				return err
			}
		}
		x.ofType = t.OfType
		err := x.alterAction(x.snap().Table(t.OID), &act)
		x.ofType = 0
		if err != nil {
			return err
		}
	}
	return nil
}
