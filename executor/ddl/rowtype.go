package ddl

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

// Values of composite types and of tables' row types are stored in columns with a
// field for each attribute. When the attributes change, the tables that hold such
// values are written anew.

// followRowTypes brings the values of row types that tables hold to the columns that
// the statement gave the types' tables.
func (x *exec) followRowTypes(off int) error {
	var edits []*attributeEdit
	for _, oid := range x.snap().Differing(x.before) {
		t, was := x.snap().Table(oid), x.before.Table(oid)
		if t == nil || was == nil || t.DB != x.db() || t.RowType == 0 {
			continue
		}
		e := &attributeEdit{typ: t.RowType}
		place, changed := map[int]int{}, x.rewrites[t.OID].cols != nil
		for i, c := range was.Columns {
			if !c.Dropped {
				place[i] = len(e.was)
				e.was = append(e.was, c)
			}
		}
		for i, c := range t.Columns {
			if c.Dropped {
				continue
			}
			from := -1
			if at, ok := place[i]; ok {
				from = at
				changed = changed || was.Columns[i].Type != c.Type
			} else {
				changed = changed || c.Default != ""
			}
			e.cols, e.from = append(e.cols, c), append(e.from, from)
		}
		if changed {
			if user := x.rowUser(t.RowType); user != "" {
				return sqlerr.New(sqlerr.FeatureNotSupported, "cannot alter table \"%s\" because column \"%s\" uses its row type", t.Name, user)
			}
		}
		edits = append(edits, e)
	}
	for _, e := range edits {
		if err := x.convertStored(off, e); err != nil {
			return err
		}
	}
	return nil
}

// followAttributes does the same for composite types that DROP … CASCADE took
// attributes from.
func (x *exec) followAttributes(off int) error {
	for _, oid := range x.snap().Differing(x.before) {
		u, old := x.snap().TypeByOID(oid), x.before.TypeByOID(oid)
		if u == nil || old == nil || u.DB != x.db() || len(old.Columns) == len(u.Columns) {
			continue
		}
		e := &attributeEdit{typ: u.OID, was: old.Columns, cols: u.Columns}
		for _, c := range u.Columns {
			e.from = append(e.from, slices.IndexFunc(old.Columns, func(o catalog.Column) bool { return o.Name == c.Name }))
		}
		if err := x.convertStored(off, e); err != nil {
			return err
		}
		was := *x.Planner()
		was.Snap = x.before
		bound := slices.DeleteFunc(x.before.Texts(x.db()), func(t catalog.OwnedText) bool { return planner.Binds(&was, t.StoredText) != nil })
		if user := x.brokenText(bound); user != "" {
			return sqlerr.Unsupported(off, "DROP CASCADE of an attribute of type %s that %s uses", x.typeName(types.Of(u.OID)), user)
		}
	}
	return nil
}

// rowUser names a column that holds values of the type, as table.column; "" for none.
// As in PostgreSQL it is the first that is met from the type on, its array type coming
// before what else is made of it.
func (x *exec) rowUser(typ types.OID) string {
	in := x.snap().TypeInfo(typ)
	if in == nil {
		return ""
	}
	if in.Array != 0 {
		if user := x.rowUser(in.Array); user != "" {
			return user
		}
	}
	uses := func(c catalog.Column) bool { return !c.Dropped && c.Type.OID == typ }
	for _, o := range x.snap().Users(x.db(), typ) {
		switch o := o.(type) {
		case *catalog.Table:
			if i := slices.IndexFunc(o.Columns, uses); i >= 0 {
				return o.Name + "." + o.Columns[i].Name
			}
		case *catalog.UserType:
			if o.Kind == 'd' && o.Base.OID == typ || slices.ContainsFunc(o.Columns, uses) || o.Kind == 'r' && o.Range.Subtype.OID == typ {
				if user := x.rowUser(o.OID); user != "" {
					return user
				}
			}
		}
	}
	return ""
}

// fields are the attributes of a composite type or row type.
func (x *exec) fields(typ types.OID) []catalog.Column {
	if u := x.snap().TypeByOID(typ); u != nil {
		return u.Columns
	}
	in := x.snap().TypeInfo(typ)
	if in == nil || in.RelID == 0 {
		return nil
	}
	r := x.snap().RelationByOID(x.db(), in.RelID)
	if r == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.RelColumns()), func(c catalog.Column) bool { return c.Dropped })
}

// convertStored has the values of the type that tables hold written anew.
func (x *exec) convertStored(off int, e *attributeEdit) error {
	if len(e.from) == len(e.was) && slices.IsSorted(e.from) && !slices.Contains(e.from, -1) {
		return nil // the fields are what they were
	}
	for _, r := range x.snap().Holding(x.db(), e.typ) {
		if !x.holdsType(r.RelColumns(), e.typ) {
			continue
		}
		switch r := r.(type) {
		case *catalog.View:
			if r.Materialized != nil {
				return sqlerr.Unsupported(off, "changing the attributes of a type that materialized view \"%s\" holds", r.Name)
			}
		case *catalog.Table:
			if err := x.lock(r, kv.AccessExclusive); err != nil {
				return err
			}
			if err := x.convertTable(r, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exec) convertTable(t *catalog.Table, e *attributeEdit) error {
	pos := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Dropped {
			continue
		}
		if x.madeOf(c.Type, e.typ) {
			x.rewriteWith(t.OID, i, x.converted(&plan.Col{At: plan.At{T: c.Type, Off: -1}, Idx: pos}, c.Type, e))
		}
		pos++
	}
	_, err := x.Change.EditTable(t.OID, func(t *catalog.Table) error {
		for i := range t.Columns {
			if t.Columns[i].Missing != nil && x.madeOf(t.Columns[i].Type, e.typ) {
				t.Columns[i].Missing = nil // every row is written anew
			}
		}
		return nil
	})
	return err
}

// converted is the value v of type t with the values of the type in it in their
// new form.
func (x *exec) converted(v plan.Expr, t types.T, e *attributeEdit) plan.Expr {
	base := x.snap().BaseType(t)
	if base != t {
		at := plan.At{T: base, Off: -1}
		return &plan.Relabel{At: plan.At{T: t, Off: -1}, X: x.converted(&plan.Relabel{At: at, X: v}, base, e)}
	}
	if !x.madeOf(t, e.typ) {
		return v
	}
	if in := x.snap().TypeInfo(t.OID); in.Kind == types.KArray {
		elem, _ := x.snap().T(in.Elem, -1)
		one := x.converted(&plan.Col{At: plan.At{T: elem, Off: -1}}, elem, e)
		return &plan.CoerceArray{At: plan.At{T: t, Off: -1}, X: v, Elem: one}
	}
	row := &plan.RowCtor{At: plan.At{T: t, Off: -1}, Present: v}
	field := func(i int, f types.T) plan.Expr {
		return &plan.FieldOf{At: plan.At{T: f, Off: -1}, X: v, Idx: i}
	}
	if t.OID != e.typ {
		for i, c := range x.fields(t.OID) {
			row.Elems = append(row.Elems, x.converted(field(i, c.Type), c.Type, e))
		}
		return row
	}
	for i, c := range e.cols {
		if e.from[i] < 0 {
			row.Elems = append(row.Elems, &plan.Const{At: plan.At{T: c.Type, Off: -1}, Val: types.Null(c.Type)})
		} else {
			row.Elems = append(row.Elems, field(e.from[i], c.Type))
		}
	}
	return row
}
