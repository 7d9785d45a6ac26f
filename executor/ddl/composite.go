package ddl

import (
	"fmt"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// attributes resolves the attributes of a composite type.
func (x *exec) attributes(defs []ast.ColumnDef) ([]catalog.Column, error) {
	var cols []catalog.Column
	for i := range defs {
		c, err := x.attribute(&defs[i])
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	return cols, catalog.DistinctColumns(len(cols), func(i int) string { return cols[i].Name })
}

func (x *exec) attribute(d *ast.ColumnDef) (c catalog.Column, err error) {
	t, err := planner.ResolveType(x.Planner(), &d.Type)
	if err != nil {
		return c, err
	}
	c = catalog.Column{Name: d.Name, Type: t, Dims: d.Type.Dims}
	if c.Collation, err = x.collation(d.Collate, t); err != nil {
		return c, err
	}
	if err = storable(d.Name, t); err != nil {
		return c, err
	}
	return c, x.mayUseType(t)
}

// attributeEdit is the new list of the attributes of a composite type or of a table's
// row type; from has the place that each had in the old one, which was was, -1 for
// none.
type attributeEdit struct {
	typ       types.OID
	was, cols []catalog.Column
	from      []int
}

func (e *attributeEdit) find(name string) int {
	return slices.IndexFunc(e.cols, func(c catalog.Column) bool { return c.Name == name })
}

// alterComposite is ALTER TYPE with ADD, DROP, ALTER and RENAME ATTRIBUTE. Stored
// values have a field for each attribute, so that the tables that hold some are
// written anew.
func (x *exec) alterComposite(s *ast.AlterTable) error {
	u := x.userType(&s.Name)
	switch r := x.lookup(&s.Name); {
	case u == nil && r != nil:
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a composite type", s.Name.Last())
	case u == nil || u.Kind != 'c':
		return x.noRelation(&s.Name)
	}
	before := x.boundTexts()
	e := &attributeEdit{typ: u.OID, was: u.Columns, cols: slices.Clone(u.Columns)}
	for i := range e.cols {
		e.from = append(e.from, i)
	}
	changed := ""
	for i := range s.Actions {
		a := &s.Actions[i]
		tables, err := x.typedTables(u, a.Cascade)
		if err == nil && a.Kind == "DROP ATTRIBUTE" {
			err = x.attributeUnused(u, a)
		}
		if err != nil {
			return err
		}
		done, err := x.editAttribute(u, a, e)
		if err == nil {
			err = x.alterTyped(tables, a)
		}
		if err != nil {
			return err
		}
		if done {
			changed = a.Name
		}
	}
	if changed == "" {
		return nil
	}
	if err := x.Change.SetAttributes(u.OID, e.cols); err != nil {
		return err
	}
	if err := x.convertStored(s.Pos(), e); err != nil {
		return err
	}
	user := x.brokenText(before)
	if slices.ContainsFunc(s.Actions, func(a ast.AlterAction) bool { return a.Kind != "RENAME ATTRIBUTE" }) {
		for _, t := range before { // whose literals cannot be read as before
			holds := func(l types.T) bool { return x.madeOf(l, u.OID) }
			if user == "" && slices.ContainsFunc(planner.LiteralTypes(x.Planner(), t.StoredText), holds) {
				user = t.Owner
			}
		}
	}
	if user != "" {
		return sqlerr.Unsupported(s.Pos(), "changing attribute \"%s\" of type %s that %s uses", changed, x.typeName(types.Of(u.OID)), user)
	}
	return nil
}

// attributeUnused fails if a stored text reads the attribute that an action drops: one
// that would follow a new name of it.
func (x *exec) attributeUnused(u *catalog.UserType, a *ast.AlterAction) error {
	at := slices.IndexFunc(u.Columns, func(c catalog.Column) bool { return c.Name == a.Name })
	if at < 0 {
		return nil
	}
	cols := slices.Clone(u.Columns)
	for slices.ContainsFunc(u.Columns, func(c catalog.Column) bool { return c.Name == cols[at].Name }) {
		cols[at].Name += "_"
	}
	before, mark := x.snap().Texts(x.db()), x.Change.Mark()
	err := x.Change.SetAttributes(u.OID, cols)
	after := x.snap().Texts(x.db())
	x.Change.RollbackTo(mark)
	if err != nil {
		return err
	}
	column := fmt.Sprintf("column %s of composite type %s", a.Name, x.typeName(types.Of(u.OID)))
	var users []catalog.OwnedText
	for i := range before {
		if before[i].Text != after[i].Text {
			users = append(users, before[i])
		}
	}
	switch {
	case users == nil:
		return nil
	case a.Cascade:
		return sqlerr.Unsupported(a.Pos(), "DROP ATTRIBUTE CASCADE of an attribute that %s uses", users[0].Owner)
	}
	slices.SortStableFunc(users, func(a, b catalog.OwnedText) int {
		switch {
		case a.Before(b):
			return -1
		case b.Before(a):
			return 1
		}
		return 0
	})
	var details []string
	for _, t := range users {
		details = append(details, fmt.Sprintf("%s depends on %s", x.Change.Describe(t), column))
	}
	details = slices.Compact(details)
	return sqlerr.New(sqlerr.DependentObjectsStillExist, "cannot drop %s because other objects depend on it", column).
		WithDetail("%s", strings.Join(details, "\n")).
		WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
}

// brokenText names the owner of one of the texts, which were bound before the
// statement, that cannot be bound any more though the names in it follow; "" for none.
func (x *exec) brokenText(before []catalog.OwnedText) string {
	broken := map[string]bool{}
	for _, t := range x.snap().Texts(x.db()) {
		broken[t.Owner] = broken[t.Owner] || planner.Binds(x.Planner(), t.StoredText) != nil
	}
	for _, t := range before {
		if broken[t.Owner] {
			return t.Owner
		}
	}
	return ""
}

// boundTexts lists the stored texts that can be bound.
func (x *exec) boundTexts() []catalog.OwnedText {
	return slices.DeleteFunc(x.snap().Texts(x.db()), func(t catalog.OwnedText) bool {
		return planner.Binds(x.Planner(), t.StoredText) != nil
	})
}

// editAttribute applies one action; false when there was nothing to do.
func (x *exec) editAttribute(u *catalog.UserType, a *ast.AlterAction, e *attributeEdit) (bool, error) {
	noAttribute := sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", a.Name, u.Name)
	taken := func(name string) error {
		return catalog.ColumnExists(name, u.Name)
	}
	at := e.find(a.Name)
	switch a.Kind {
	case "ADD ATTRIBUTE":
		if at >= 0 {
			return false, taken(a.Name)
		}
		c, err := x.attribute(a.Column)
		if err != nil {
			return false, err
		}
		if err := x.notInItself(c.Type, u.OID); err != nil {
			return false, err
		}
		e.cols, e.from = append(e.cols, c), append(e.from, -1)
	case "DROP ATTRIBUTE":
		if at < 0 {
			if a.IfExists {
				x.notice(sqlerr.SuccessfulCompletion, "column \"%s\" of relation \"%s\" does not exist, skipping", a.Name, u.Name)
				return false, nil
			}
			return false, noAttribute
		}
		e.cols, e.from = slices.Delete(e.cols, at, at+1), slices.Delete(e.from, at, at+1)
	case "ALTER ATTRIBUTE":
		if at < 0 {
			return false, noAttribute
		}
		c, err := x.attribute(a.Column)
		if err != nil {
			return false, err
		}
		if err := x.notInItself(c.Type, u.OID); err != nil {
			return false, err
		}
		if user := x.rowUser(u.OID); user != "" {
			return false, sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter type \"%s\" because column \"%s\" uses it", u.Name, user)
		}
		e.cols[at].Type, e.cols[at].Dims, e.cols[at].Collation = c.Type, c.Dims, c.Collation
	case "RENAME ATTRIBUTE":
		if at < 0 {
			return false, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", a.Name)
		}
		if e.find(a.NewName) >= 0 {
			return false, taken(a.NewName)
		}
		e.cols[at].Name = a.NewName
	}
	return true, nil
}
