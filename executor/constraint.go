package executor

import (
	"unicode/utf8"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// verify checks NOT NULL and CHECK on rows of live columns. Of several faults
// the one of the first row is reported, NOT NULL before CHECK.
func (w *tableWriter) verify(b *vec.Batch) error {
	row, fault := -1, func() error { return nil }
	first := func(r int, f func() error) {
		if row < 0 || r < row {
			row, fault = r, f
		}
	}
	for i, c := range w.live {
		col := &w.table.Columns[c]
		if !col.NotNull || !b.Cols[i].Nulls.Any() {
			continue
		}
		for k := range b.Rows() {
			if r := b.Row(k); b.Cols[i].IsNull(r) {
				first(r, func() error { return w.notNullError(col, b, r) })
				break
			}
		}
	}
	for i := range w.checks {
		c := &w.checks[i]
		rest := *b
		if row >= 0 {
			rest.Sel = before(b, row)
			if len(rest.Sel) == 0 {
				break
			}
		}
		v, err := c.eval.Eval(w.env.Expr, &rest)
		if err != nil {
			return err
		}
		for k := range rest.Rows() {
			r := rest.Row(k)
			if x := v.Idx(r); !v.Bool[x] && !(v.Nulls.Any() && v.Nulls.Get(x)) {
				first(r, func() error { return w.checkError(c.name, b, r) })
				break
			}
		}
	}
	return fault()
}

// before lists the selected rows below row.
func before(b *vec.Batch, row int) []uint32 {
	out := make([]uint32, 0, b.Rows())
	for k := range b.Rows() {
		if r := b.Row(k); r < row {
			out = append(out, uint32(r))
		}
	}
	return out
}

func (w *tableWriter) notNullError(c *catalog.Column, b *vec.Batch, r int) error {
	e := sqlerr.New(sqlerr.NotNullViolation, `null value in column "%s" of relation "%s" violates not-null constraint`, c.Name, w.table.Name).
		WithDetail("Failing row contains %s.", w.rowText(b, r))
	e.Schema, e.Table, e.Column = w.table.Schema, w.table.Name, c.Name
	return e
}

func (w *tableWriter) checkError(name string, b *vec.Batch, r int) error {
	e := sqlerr.New(sqlerr.CheckViolation, `new row for relation "%s" violates check constraint "%s"`, w.table.Name, name).
		WithDetail("Failing row contains %s.", w.rowText(b, r))
	e.Schema, e.Table, e.Constraint = w.table.Schema, w.table.Name, name
	return e
}

func (w *tableWriter) viewCheckError(b *vec.Batch, r int) error {
	return sqlerr.New(sqlerr.WithCheckOptionViolation, `new row violates check option for view "%s"`, w.table.Name).
		WithDetail("Failing row contains %s.", w.rowText(b, r))
}

// rowTextMax is the length in bytes after which a value is cut in details.
const rowTextMax = 64

// rowText shows a row as PostgreSQL's details do: (1, abc, null).
func (w *tableWriter) rowText(b *vec.Batch, r int) string {
	buf := []byte{'('}
	for i := range w.live {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		v := b.Cols[i]
		if v.IsNull(r) {
			buf = append(buf, "null"...)
			continue
		}
		at := len(buf)
		buf = types.AppendText(buf, v.Get(r), w.env.Expr.Fmt)
		if len(buf)-at > rowTextMax {
			end := at + rowTextMax
			for end > at && !utf8.RuneStart(buf[end]) {
				end--
			}
			buf = append(buf[:end], "..."...)
		}
	}
	return string(append(buf, ')'))
}
