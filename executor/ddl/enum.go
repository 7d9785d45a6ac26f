package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// renameEnumValue renames a label. Stored values carry their label, so that the
// tables with columns of the type, or with arrays and rows of it, are written anew;
// where a label hides inside of a range the renaming is refused. Stored expressions
// follow it like any other renaming.
func (x *exec) renameEnumValue(s *ast.AlterObject, u *catalog.UserType, old, label string) error {
	if err := x.Change.RenameEnumValue(u.OID, old, label); err != nil {
		return err
	}
	was, now := ast.QuoteLiteral(old), ast.QuoteLiteral(label)
	cast := "::" + x.snap().FormatType(types.Of(u.OID), x.db(), []string{catalog.SchemaPgCatalog})
	for _, r := range x.snap().Holding(x.db(), u.OID) {
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

// relabel is the value in column 0 with its new label.
func (x *exec) relabel(u *catalog.UserType, was, now, cast string) (plan.Expr, error) {
	ex, err := parser.ParseExpr("CASE WHEN value::text = " + was + " THEN " + now + cast + " ELSE value END")
	if err != nil {
		return nil, err
	}
	t, _ := x.snap().T(u.OID, -1)
	return x.toRun(ex, &catalog.Table{Columns: []catalog.Column{{Name: "value", Type: t}}}, t, "transform expressions")
}

// relabelled is a value of type t with one applied to each value of the enum type
// inside of it, nil where that cannot be done: in ranges.
func (x *exec) relabelled(v plan.Expr, t types.T, enum types.OID, one plan.Expr) plan.Expr {
	if !x.madeOf(t, enum) {
		return v
	}
	at := func(t types.T) plan.At { return plan.At{T: t, Off: -1} }
	base := x.snap().BaseType(t)
	if base.OID != t.OID {
		inner := x.relabelled(&plan.Relabel{At: at(base), X: v}, base, enum, one)
		if inner == nil {
			return nil
		}
		return &plan.Relabel{At: at(t), X: inner}
	}
	if t.OID == enum {
		return plan.Map(one, func(e plan.Expr) plan.Expr {
			if _, ok := e.(*plan.Col); ok {
				return v
			}
			return e
		})
	}
	in := x.snap().TypeInfo(t.OID)
	switch {
	case in.Kind == types.KArray && in.Elem != 0:
		et, _ := x.snap().T(in.Elem, -1)
		elem := x.relabelled(&plan.Col{At: at(et)}, et, enum, one)
		if elem == nil {
			return nil
		}
		return &plan.CoerceArray{At: at(t), X: v, Elem: elem}
	case in.Kind == types.KRecord:
		row := &plan.RowCtor{At: at(t), Present: v}
		n := 0
		for _, c := range x.fields(t.OID) {
			if c.Dropped {
				continue
			}
			f := x.relabelled(&plan.FieldOf{At: at(c.Type), X: v, Idx: n, Name: c.Name}, c.Type, enum, one)
			if f == nil {
				return nil
			}
			row.Names, row.Elems = append(row.Names, c.Name), append(row.Elems, f)
			n++
		}
		return row
	}
	return nil
}

// renameStored brings a table's rows to the new label; was and
// now are the labels as literals, cast what follows them in stored expressions.
func (x *exec) renameStored(s *ast.AlterObject, t *catalog.Table, u *catalog.UserType, was, now, cast string) error {
	for i := range t.Columns {
		col := &t.Columns[i]
		if col.Dropped || !x.madeOf(col.Type, u.OID) {
			continue
		}
		name := ast.QuoteIdent(col.Name)
		text := "CASE WHEN " + name + "::text = " + was + " THEN " + now + cast + " ELSE " + name + " END"
		if x.snap().BaseType(col.Type).OID != u.OID {
			text = name
		}
		ex, err := parser.ParseExpr(text)
		if err != nil {
			return err
		}
		e, err := x.toRun(ex, x.base(t), col.Type, "transform expressions")
		if err != nil {
			return err
		}
		if text == name {
			one, err := x.relabel(u, was, now, cast)
			if err != nil {
				return err
			}
			if e = x.relabelled(e, col.Type, u.OID, one); e == nil {
				return sqlerr.Unsupported(s.Pos(), "renaming a value of an enum type that is part of the type of column \"%s\" of table \"%s\"", col.Name, t.Name)
			}
		}
		x.rewriteWith(t.OID, i, e)
	}
	_, err := x.Change.EditTable(t.OID, func(t *catalog.Table) error {
		for i := range t.Columns {
			if m := t.Columns[i].Missing; m != nil && x.madeOf(t.Columns[i].Type, u.OID) {
				t.Columns[i].Missing = nil // every row is written anew
			}
		}
		return nil
	})
	return err
}
