package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
)

// newColumn is a column of ADD COLUMN with what its rows get in it.
type newColumn struct {
	catalog.ColumnSpec
	initial, gen ast.Expr  // as written, nil for none
	sequence     types.OID // of the parent's column, 0 for none
}

// addColumn adds a column to a table and to those below it.
func (x *exec) addColumn(t *catalog.Table, a *ast.AlterAction) error {
	if err := x.keepsType(t, "cannot add column to"); err != nil {
		return err
	}
	if t.Bound != nil {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot add column to a partition")
	}
	if a.IfExists && t.Col(a.Column.Name) >= 0 {
		x.notice(sqlerr.DuplicateColumn, "column \"%s\" of relation \"%s\" already exists, skipping", a.Column.Name, t.Name)
		return nil
	}
	b := &tableBuilder{exec: x, spec: &catalog.TableSpec{Schema: t.Schema, Name: t.Name}}
	for i := range t.Columns {
		b.spec.Columns = append(b.spec.Columns, catalog.ColumnSpec{Column: t.Columns[i]})
	}
	n := len(b.spec.Columns)
	if t.Col(a.Column.Name) >= 0 {
		return catalog.ColumnExists(a.Column.Name, t.Name)
	}
	err := b.column(a.Column)
	if err == nil {
		err = x.notInItself(b.spec.Columns[n].Type, t.RowType)
	}
	if err == nil {
		err = withoutPosition(b.bindTexts())
	}
	if err != nil {
		return err
	}
	children := x.snap().Children(t.OID)
	if b.spec.Columns[n].Identity != 0 && !x.only && len(children) > 0 {
		return badTable("cannot recursively add identity column to table that has child tables")
	}
	col := &newColumn{ColumnSpec: b.spec.Columns[n], initial: b.defaults[n], gen: b.genCols[n]}
	after, err := x.placeColumn(t, col)
	if err != nil {
		return err
	}
	if x.only && len(children) > 0 {
		return badTable("column must be added to child tables too")
	}
	for _, c := range children {
		if err := x.columnBelow(after, n, c, col); err != nil {
			return err
		}
	}
	for i := range b.spec.Constraints {
		if err := x.addTableConstraint(t.OID, &b.spec.Constraints[i]); err != nil {
			return err
		}
	}
	return nil
}

// notInItself refuses a column or attribute whose values have rows of the type row, which
// has it, in them.
func (x *exec) notInItself(c types.T, row types.OID) error {
	if x.madeOf(c, row) {
		return badTable("composite type %s cannot be made a member of itself", x.typeName(types.Of(row)))
	}
	return nil
}

// columnBelow gives a child the column n of its parent, which is new. It may have
// one of the name already.
func (x *exec) columnBelow(p *catalog.Table, n int, t *catalog.Table, new *newColumn) error {
	if err := x.reach(t); err != nil {
		return err
	}
	if t = x.snap().Table(t.OID); t == nil { // another parent may have given it the column
		return nil
	}
	pc := &p.Columns[n]
	if i := t.Col(pc.Name); i >= 0 {
		switch was := &t.Columns[i]; {
		case was.Type != pc.Type:
			return sqlerr.New(sqlerr.DatatypeMismatch, "child table \"%s\" has different type for column \"%s\"", t.Name, pc.Name)
		case was.Collation != pc.Collation:
			return sqlerr.New(sqlerr.CollationMismatch, "child table \"%s\" has different collation for column \"%s\"", t.Name, pc.Name).
				WithDetail("\"%s\" versus \"%s\"", collationText(was.Collation), collationText(pc.Collation))
		}
		x.notice(sqlerr.SuccessfulCompletion, "merging definition of column \"%s\" for child \"%s\"", pc.Name, t.Name)
		_, err := x.Change.EditColumn(t.OID, pc.Name, func(_ *catalog.Table, c *catalog.Column) error {
			c.Parents++
			return nil
		})
		return err
	}
	own := *new
	own.ColumnSpec = catalog.ColumnSpec{Column: inheritedColumn(pc)}
	own.Dims = pc.Dims // as written; a new child's are not written
	own.DefaultCols = nil
	for _, c := range pc.DefaultCols {
		own.DefaultCols = append(own.DefaultCols, t.Col(p.Columns[c].Name))
	}
	if pc.Identity == 0 && pc.Sequence != 0 {
		own.sequence = pc.Sequence
	}
	after, err := x.placeColumn(t, &own)
	if err != nil {
		return err
	}
	for _, c := range x.snap().Children(t.OID) {
		if err := x.columnBelow(after, len(after.Columns)-1, c, &own); err != nil {
			return err
		}
	}
	return nil
}

// placeColumn adds a column to one table. Old rows get the default's value without
// being written when it is a constant or stable; a volatile default, a generated
// column or a sequence writes them anew.
func (x *exec) placeColumn(t *catalog.Table, col *newColumn) (*catalog.Table, error) {
	spec := col.ColumnSpec
	var rewriteExpr plan.Expr
	initial := col.initial
	var err error
	if initial == nil && !spec.Generated && spec.OwnSequence == nil && col.sequence == 0 {
		if initial, err = planner.DomainDefault(x.Planner(), spec.Type); err != nil {
			return nil, err
		}
	}
	switch {
	case spec.Generated:
		if _, err := planner.ColumnExpr(x.Planner(), col.gen, t, spec.Type, "column generation expressions"); err != nil {
			return nil, err
		}
	case initial != nil && (spec.Default != "" || col.initial == nil):
		e, err := x.toRun(initial, nil, spec.Type, "DEFAULT expressions")
		if err != nil {
			return nil, err
		}
		if volatileBelow(e, 's') {
			rewriteExpr = e
			break
		}
		d, err := x.evalConst(e)
		if err != nil {
			if t.Partitioned() {
				break // it has no rows itself
			}
			// What a domain refuses is asked of the rows, all else of the definition.
			if u := x.snap().TypeByOID(spec.Type.OID); u == nil || u.Kind != 'd' {
				return nil, err
			}
			if some, err2 := x.any("SELECT 1 FROM " + ownRows(t) + " LIMIT 1"); some || err2 != nil {
				return nil, err
			}
			break
		}
		d.T = spec.Type
		spec.Missing = &d
	}
	after, err := x.Change.AddColumn(t.OID, &spec)
	if err != nil {
		return nil, err
	}
	n := len(after.Columns) - 1
	if seq := max(after.Columns[n].Sequence, col.sequence); seq != 0 && initial == nil {
		if rewriteExpr, err = planner.NextvalExpr(x.Planner(), seq, spec.Type); err != nil {
			return nil, err
		}
	}
	if spec.Generated {
		x.regenerate(t.OID, n)
	} else if rewriteExpr != nil {
		x.rewriteWith(t.OID, n, rewriteExpr)
	}
	if spec.NotNull && !spec.Generated && rewriteExpr == nil && (spec.Missing == nil || spec.Missing.Null) {
		x.after = append(x.after, func() error { return x.checkNotNull(t.OID, spec.Name) })
	}
	return after, nil
}

// rewriteWith computes a column of an expression over the old row.
func (x *exec) rewriteWith(oid types.OID, col int, e plan.Expr) {
	x.recompute(oid, func(rw *rewrite) { rw.cols[col] = e })
}

// regenerate computes a generated column of the new row.
func (x *exec) regenerate(oid types.OID, col int) {
	x.recompute(oid, func(rw *rewrite) { rw.generated[col] = true })
}

func (x *exec) recompute(oid types.OID, add func(*rewrite)) {
	if x.rewrites == nil {
		x.rewrites = map[types.OID]rewrite{}
	}
	rw := x.rewrites[oid]
	if rw.cols == nil {
		rw.cols, rw.generated, rw.turn = map[int]plan.Expr{}, map[int]bool{}, len(x.rewrites)+1
	}
	add(&rw)
	x.rewrites[oid] = rw
}
