package ddl

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// alterType changes a column's type, by USING or by assignment.
func (x *exec) alterType(t *catalog.Table, a *ast.AlterAction) error {
	i := t.Col(a.Name)
	if i < 0 {
		return noColumn(t, a.Name)
	}
	to, err := planner.ResolveType(x.Planner(), a.Type)
	if err != nil {
		return withoutPosition(err)
	}
	if err := x.mayUseType(to); err != nil {
		return err
	}
	var collate *ast.Name
	if a.Column != nil {
		collate = a.Column.Collate
	}
	collation, err := x.collation(collate, to)
	if err != nil {
		return withoutPosition(err)
	}
	if c := &t.Columns[i]; c.Identity != 0 && to.OID != types.OInt2 && to.OID != types.OInt4 && to.OID != types.OInt8 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "identity column type must be smallint, integer, or bigint")
	}
	if err := x.notInItself(to, t.RowType); err != nil {
		return err
	}
	from := t.Columns[i].Type
	if t.Columns[i].Generated && a.Using != nil {
		return sqlerr.New(sqlerr.InvalidColumnDefinition, "cannot specify USING when altering type of generated column").
			WithDetail("Column \"%s\" is a generated column.", a.Name)
	}
	var src ast.Expr = &ast.ColumnRef{Off: -1, Parts: []string{a.Name}}
	if a.Using != nil {
		src = a.Using
		if _, err := planner.ColumnExpr(x.Planner(), src, x.base(t), types.T{}, "transform expressions"); err != nil {
			return err
		}
	}
	e, err := x.toRun(src, x.base(t), to, "transform expressions")
	if err != nil {
		switch {
		case sqlerr.CodeOf(err) != sqlerr.DatatypeMismatch:
		case a.Using != nil:
			return sqlerr.New(sqlerr.DatatypeMismatch, "result of USING clause for column \"%s\" cannot be cast automatically to type %s", a.Name, x.typeName(to)).
				WithHint("You might need to add an explicit cast.")
		default:
			return sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" cannot be cast automatically to type %s", a.Name, x.typeName(to)).
				WithHint("You might need to specify \"USING %s::%s\".", ast.QuoteIdent(a.Name), x.typeName(to))
		}
		return err
	}
	d := t.Columns[i].Default
	if t.Columns[i].Sequence != 0 {
		if d = ""; t.Columns[i].Identity == 0 {
			d = "0::bigint" // of the type of nextval
		}
	}
	if d != "" && !t.Columns[i].Generated {
		de, err := planner.DefaultFits(x.Planner(), d, to)
		if err != nil || !de {
			return sqlerr.New(sqlerr.DatatypeMismatch, "default for column \"%s\" cannot be cast automatically to type %s", a.Name, x.typeName(to))
		}
	}
	if _, err := x.Change.AlterType(t.OID, a.Name, to); err != nil {
		return err
	}
	if _, err := x.Change.EditColumn(t.OID, a.Name, func(_ *catalog.Table, col *catalog.Column) error {
		col.Dims, col.Collation = a.Type.Dims, collation
		if from.OID != to.OID && col.Storage != catalog.StorageElements {
			col.Storage, col.Compression = "", "" // those of the new type
		}
		return nil
	}); err != nil {
		return err
	}
	if c := &t.Columns[i]; c.Identity != 0 && c.Sequence != 0 && from.OID != to.OID {
		if err := x.changeSequence(c.Sequence, []ast.Option{{Off: -1, Name: "as", X: &ast.Cast{Off: -1, Type: *a.Type}}}); err != nil {
			return err
		}
	}
	if from != to || a.Using != nil {
		x.rewriteWith(t.OID, i, e)
		// indexes over the column are filled again with the rows
	}
	return nil
}

// retyped is a column of a table that changed its type.
type retyped struct {
	table  types.OID
	column string
}

// retypeAll is retype for all tables of the statement.
func (x *exec) retypeAll() error {
	columns := map[types.OID][]string{}
	var order []types.OID
	for _, r := range x.retyped {
		if columns[r.table] == nil {
			order = append(order, r.table)
		}
		columns[r.table] = append(columns[r.table], r.column)
	}
	for _, oid := range order {
		if err := x.retype(oid, columns[oid]); err != nil {
			return err
		}
	}
	return nil
}

// retype binds the indexes, CHECKs and generation expressions that read the
// columns again, as what their operators and functions are depends on the types,
// and has the rows obey the CHECKs.
func (x *exec) retype(oid types.OID, columns []string) error {
	t, err := x.table(oid)
	if err != nil {
		return err
	}
	reads := func(cols []int) bool {
		return slices.ContainsFunc(columns, func(name string) bool { return slices.Contains(cols, t.Col(name)) })
	}
	bind := func(text string, want types.T, what string) (*planner.Stored, error) {
		e, err := x.Planner().Texts.ParseExpr(text)
		if err != nil {
			return nil, err
		}
		s, err := planner.StoredExpr(x.Planner(), e, t, want, what)
		if se, ok := err.(*sqlerr.Error); ok {
			c := *se
			c.Pos = 0 // of the stored text, not of the statement
			return nil, &c
		}
		return s, err
	}
	n := catalog.Retyped{Checks: map[types.OID]string{}, Keys: map[types.OID]map[int]catalog.IndexKey{}, Where: map[types.OID]string{}, Generated: map[int]string{}}
	for _, ix := range t.Indexes {
		if !reads(ix.ExprCols) {
			continue
		}
		for i, k := range ix.Keys {
			if k.Expr == "" {
				continue
			}
			s, err := bind(k.Expr, types.T{}, "index expressions")
			if err != nil {
				return err
			}
			if n.Keys[ix.OID] == nil {
				n.Keys[ix.OID] = map[int]catalog.IndexKey{}
			}
			k.Expr, k.Type = s.Text, s.Expr.Type()
			n.Keys[ix.OID][i] = k
		}
		if ix.Where != "" {
			s, err := bind(ix.Where, types.TBool, "index predicates")
			if err != nil {
				return err
			}
			n.Where[ix.OID] = s.Text
		}
	}
	for i, c := range t.Columns {
		if c.Generated && slices.Contains(columns, c.Name) {
			s, err := bind(c.Default, c.Type, "column generation expressions")
			if se, ok := err.(*sqlerr.Error); ok && se.Code == sqlerr.DatatypeMismatch {
				return sqlerr.New(sqlerr.DatatypeMismatch, "generation expression for column \"%s\" cannot be cast automatically to type %s", c.Name, x.typeName(c.Type))
			}
			if err != nil {
				return err
			}
			n.Generated[i] = s.Text
		}
	}
	for _, k := range t.Checks {
		if !reads(k.Cols) {
			continue
		}
		s, err := bind(k.Expr, types.TBool, "check constraints")
		if err != nil {
			return err
		}
		n.Checks[k.OID] = s.Text
		if !k.NotValid {
			x.after = append(x.after, func() error { return x.validate(oid, k.Name) })
		}
	}
	return x.Change.Retype(oid, n)
}
