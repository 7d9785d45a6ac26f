package ddl

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// renameEnumValue renames a label. Stored values carry their label, so that the
// tables with columns of the type are written anew; where a label hides inside
// of another value or of a view's text the renaming is refused.
func (x *exec) renameEnumValue(s *ast.AlterObject, u *catalog.UserType, old, label string) error {
	if err := x.Change.RenameEnumValue(u.OID, old, label); err != nil {
		return err
	}
	was, now := ast.QuoteLiteral(old), ast.QuoteLiteral(label)
	cast := "::" + x.snap().FormatType(types.Of(u.OID), x.db(), []string{catalog.SchemaPgCatalog})
	for _, r := range x.snap().Relations(x.db()) {
		switch r := r.(type) {
		case *catalog.View:
			if r.Materialized != nil && x.holdsType(r.Columns, u.OID) {
				return sqlerr.Unsupported(s.Pos(), "renaming a value of an enum type that view \"%s\" uses", r.Name)
			}
		case *catalog.Table:
			if err := x.renameStored(s, r, u, was, now, cast); err != nil {
				return err
			}
		}
	}
	return nil
}

// holdsType reports whether a column is of the type or made of it.
func (x *exec) holdsType(cols []catalog.Column, typ types.OID) bool {
	for i := range cols {
		if !cols[i].Dropped && x.madeOf(cols[i].Type, typ) {
			return true
		}
	}
	return false
}

// madeOf reports whether values of t are, or have inside, values of typ.
func (x *exec) madeOf(t types.T, typ types.OID) bool {
	t = x.snap().BaseType(t)
	if t.OID == typ {
		return true
	}
	in := x.snap().TypeInfo(t.OID)
	if in == nil || t.OID < types.FirstUserOID {
		return false
	}
	if in.Kind == types.KArray && in.Elem != 0 {
		e, _ := x.snap().T(in.Elem, -1)
		return x.madeOf(e, typ)
	}
	if u := x.snap().TypeByOID(t.OID); u != nil {
		return x.holdsType(u.Columns, typ) || x.rangeSubtype(t, typ)
	}
	if in.Kind == types.KRecord {
		return x.holdsType(x.fields(t.OID), typ)
	}
	return false
}

// renameStored brings a table's rows and expressions to the new label; was and
// now are the labels as literals, cast what follows them in stored expressions.
func (x *exec) renameStored(s *ast.AlterObject, t *catalog.Table, u *catalog.UserType, was, now, cast string) error {
	for i := range t.Columns {
		col := &t.Columns[i]
		if col.Dropped || !x.madeOf(col.Type, u.OID) {
			continue
		}
		if x.snap().BaseType(col.Type).OID != u.OID {
			return sqlerr.Unsupported(s.Pos(), "renaming a value of an enum type that is part of the type of column \"%s\" of table \"%s\"", col.Name, t.Name)
		}
		name := ast.QuoteIdent(col.Name)
		text := "CASE WHEN " + name + "::text = " + was + " THEN " + now + cast + " ELSE " + name + " END"
		ex, err := parser.ParseExpr(text)
		if err != nil {
			return err
		}
		e, _, err := planner.ColumnExpr(x.Planner(), ex, x.base(t), col.Type, "transform expressions")
		if err != nil {
			return err
		}
		x.rewriteWith(t.OID, i, e)
	}
	_, err := x.Change.EditTable(t.OID, func(t *catalog.Table) error {
		fix := func(text *string) { *text = strings.ReplaceAll(*text, was+cast, now+cast) }
		for i := range t.Columns {
			fix(&t.Columns[i].Default)
			if m := t.Columns[i].Missing; m != nil && x.madeOf(t.Columns[i].Type, u.OID) {
				t.Columns[i].Missing = nil // every row is written anew
			}
		}
		for i, k := range t.Checks {
			n := *k
			fix(&n.Expr)
			t.Checks[i] = &n
		}
		for i, ix := range t.Indexes {
			n := *ix
			n.Keys = append([]catalog.IndexKey(nil), ix.Keys...)
			fix(&n.Where)
			for k := range n.Keys {
				fix(&n.Keys[k].Expr)
			}
			t.Indexes[i] = &n
		}
		return nil
	})
	return err
}
