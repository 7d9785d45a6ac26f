package executor

import (
	"errors"
	"slices"
	"unicode/utf8"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
)

// verify checks NOT NULL and CHECK on rows of live columns. Of several faults
// the one of the first row is reported, NOT NULL before CHECK.
func (w *tableWriter) verify(b *vec.Batch) error {
	if err := w.mayCall(); err != nil {
		return err
	}
	row, fault := -1, func() error { return nil }
	first := func(r int, f func() error) {
		if row < 0 || r < row {
			row, fault = r, f
		}
	}
	for i, c := range w.live {
		col := &w.table.Columns[c]
		if !col.NotNull || !b.Cols[i].Nulls.Any() || slices.Contains(w.absent, c) {
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
		if slices.ContainsFunc(c.cols, func(c int) bool { return slices.Contains(w.absent, c) }) {
			continue // the planner has seen to it that nothing it looks at changes
		}
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
	e := w.withRow(sqlerr.New(sqlerr.NotNullViolation, `null value in column "%s" of relation "%s" violates not-null constraint`, c.Name, w.table.Name), b, r)
	e.Schema, e.Table, e.Column = w.table.Schema, w.table.Name, c.Name
	return e
}

func (w *tableWriter) checkError(name string, b *vec.Batch, r int) error {
	e := w.withRow(sqlerr.New(sqlerr.CheckViolation, `new row for relation "%s" violates check constraint "%s"`, w.table.Name, name), b, r)
	e.Schema, e.Table, e.Constraint = w.table.Schema, w.table.Name, name
	return e
}

// rowTextMax is the length in bytes after which a value is cut in details.
const rowTextMax = 64

// withRow adds the row that an error is about, as far as the user may know it.
func (w *tableWriter) withRow(e *sqlerr.Error, b *vec.Batch, r int) *sqlerr.Error {
	if x := w.shown; x != nil && x.root != w {
		return x.root.withRow(e, relayout(b, x.toRoot, nil), r)
	}
	known := w.known()
	if len(known) == 0 || w.env.Snap.SubjectTo(w.table, w.env.User) {
		return e
	}
	names := ""
	if len(known) < len(w.live) || !w.mayRead() {
		for i, k := range known {
			if names += ", "; i == 0 {
				names = "("
			}
			names += w.table.Columns[w.live[k]].Name
		}
		names += ") = "
	}
	b, r, err := w.whole(b, r)
	if err != nil {
		return e
	}
	return e.WithDetail("Failing row contains %s%s.", names, w.rowText(known, b, r))
}

// whole returns a row of a batch with the values that the batch lacks.
func (w *tableWriter) whole(b *vec.Batch, r int) (*vec.Batch, int, error) {
	if len(w.absent) == 0 {
		return b, r, nil
	}
	var have vec.Batch
	key := w.absentKeys.B[w.absentKeys.Idx(r)]
	if err := w.desc.GetRows(w.env.Ctx, w.env.rows(), [][]byte{key}, w.absent, nil, &have); err != nil {
		return nil, 0, err
	}
	row := &vec.Batch{Cols: newVecs(typesOf(b.Cols)), N: 1}
	gatherBatch(row.Cols, b.Cols, []uint32{uint32(r)}, false)
	for i, c := range w.absent {
		row.Cols[w.pos[c]] = have.Cols[i]
	}
	return row, 0, nil
}

// mayRead reports whether the user may read all columns of the table.
func (w *tableWriter) mayRead() bool {
	if w.env.User == "" {
		return true
	}
	has, _ := w.env.Snap.Privileges(w.env.User, w.table)
	return has&catalog.PrivSelect != 0
}

// keyCols lists the columns of keys.
func keyCols(keys []catalog.IndexKey) []int {
	cols := make([]int, len(keys))
	for i, k := range keys {
		cols[i] = k.Col
	}
	return cols
}

// showsKey reports whether the user may know what a row has in columns of a table: no
// policy may hide it and he may read them all, of which -1 is an expression.
func (env *Env) showsKey(t *catalog.Table, cols []int) bool {
	if env.User == "" {
		return true
	}
	if env.Snap.SubjectTo(t, env.User) {
		return false
	}
	has, _ := env.Snap.Privileges(env.User, t)
	return has&catalog.PrivSelect != 0 || !slices.ContainsFunc(cols, func(c int) bool {
		if c < 0 {
			return true
		}
		has, _ := env.Snap.ColumnPrivileges(env.User, t, c)
		return has&catalog.PrivSelect == 0
	})
}

// hideKey takes the key out of the error of a duplicate that the user may not see.
func (w *tableWriter) hideKey(err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.UniqueViolation && e.Code != sqlerr.ExclusionViolation || w.env.showsKey(w.table, []int{-1}) {
		return err
	}
	for _, ix := range w.table.Indexes {
		if ix.Name == e.Constraint && w.env.showsKey(w.table, keyCols(ix.Keys)) {
			return err
		}
	}
	return table.WithoutKeys(e)
}

// known lists the live columns, by position, that the user may read or has
// assigned.
func (w *tableWriter) known() []int {
	all := w.mayRead()
	var out []int
	for i, c := range w.live {
		see := all
		if !see {
			has, _ := w.env.Snap.ColumnPrivileges(w.env.User, w.table, c)
			see = has&catalog.PrivSelect != 0
		}
		for _, right := range w.env.run.query.Rights {
			see = see || right.Rel.ObjectOID() == w.table.OID && (slices.Contains(right.Insert, c) || slices.Contains(right.Update, c))
		}
		if see {
			out = append(out, i)
		}
	}
	return out
}

// rowText shows columns of a row as PostgreSQL's details do: (1, abc, null).
func (w *tableWriter) rowText(cols []int, b *vec.Batch, r int) string {
	buf := []byte{'('}
	for k, i := range cols {
		if k > 0 {
			buf = append(buf, ", "...)
		}
		v := b.Cols[i]
		if v.IsNull(r) {
			buf = append(buf, "null"...)
			continue
		}
		buf = append(buf, clipText(types.AppendText(nil, v.Get(r), w.env.Expr.Fmt))...)
	}
	return string(append(buf, ')'))
}

// clipText cuts a value that is too long for a detail.
func clipText(s []byte) string {
	if len(s) <= rowTextMax {
		return string(s)
	}
	end := rowTextMax
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return string(s[:end]) + "..."
}
