package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// insertSource is where the rows of an INSERT come from.
type insertSource struct {
	p      *planner
	s      *ast.Insert
	d      *destination
	t      *catalog.Table // what names and positions refer to; the table itself but for a view
	sc     *scope
	right  *catalog.Right // of the destination
	cols   []int          // to insert into
	places []assignPlace  // of cols
	width  []plan.Expr    // expression per table column over the source
}

func (p *planner) insertSource(s *ast.Insert, d *destination, sc *scope) *insertSource {
	f := &insertSource{p: p, s: s, d: d, t: d.shape, sc: sc, right: p.dest, width: make([]plan.Expr, len(d.shape.Columns))}
	b := &binder{planner: p, scope: &scope{parent: sc}, what: "INSERT", noAgg: true, noWin: true}
	f.places = b.insertPlaces(s.Cols, f.t)
	for i := range f.places {
		f.cols = append(f.cols, f.places[i].col)
	}
	if f.right.Insert = f.cols; s.Cols == nil {
		f.right.Insert = nil // those that get values
	}
	return f
}

// bind plans the source and notes in width what it gives.
func (f *insertSource) bind() plan.Node {
	switch {
	case f.s.Default:
		v := &plan.Values{Rows: [][]plan.Expr{{}}}
		v.Base().Rows = 1
		return v
	case plainValues(f.s.Query):
		return f.bindValues()
	}
	return f.bindQuery()
}

// given lists the table's columns that the source gives values.
func (f *insertSource) given() []int {
	var cols []int
	for c, x := range f.width {
		if x != nil {
			cols = append(cols, c)
		}
	}
	return cols
}

// takes checks that the source may have n columns; off is where the first is that may be
// too many.
func (f *insertSource) takes(n, off int) {
	if n > len(f.cols) {
		failf(sqlerr.SyntaxError, off, "INSERT has more expressions than target columns")
	}
	if n < len(f.cols) && f.s.Cols != nil {
		failf(sqlerr.SyntaxError, f.s.Cols[n].Pos(), "INSERT has more target columns than expressions")
	}
	f.right.Insert = f.cols[:n]
}

// kept reports whether column i keeps its default, whatever the source gives it.
func (f *insertSource) kept(i int) bool {
	return f.d.descriptor(f.cols[i]).Identity != 0 && f.s.Overriding == "USER"
}

func (f *insertSource) bindValues() plan.Node {
	p, rows := f.p, f.s.Query.Values
	b := &binder{planner: p, scope: &scope{parent: f.sc}, what: "VALUES", noAgg: true, noWin: true, srf: len(rows) == 1}
	v := &plan.Values{}
	for r, row := range rows {
		row, out := b.spreadRow(row)
		if r == 0 {
			f.takes(len(row), exprOff(row, len(f.cols)))
			for i, c := range f.cols[:len(row)] {
				v.Cols = append(v.Cols, plan.OutCol{Name: f.t.Columns[c].Name, T: f.places[i].t})
			}
		}
		if len(row) != len(v.Cols) {
			failf(sqlerr.SyntaxError, row[0].Pos(), "VALUES lists must all be the same length")
		}
		f.bindRow(b, row, out)
		v.Rows = append(v.Rows, p.planExprs(out, nil))
	}
	v.Common.Rows = float64(len(v.Rows))
	for i := range v.Cols {
		f.places[i].put(p, f.t, f.width, &plan.Col{At: plan.At{T: f.places[i].t, Off: -1}, Idx: i})
	}
	if b.sawSRF {
		return projectSets(&plan.Values{Rows: [][]plan.Expr{{}}, Common: plan.Common{Rows: 1}}, v.Rows[0], v.Cols)
	}
	return v
}

// bindRow binds the entries of a row of VALUES as values of their columns; those in out
// are bound.
func (f *insertSource) bindRow(b *binder, row []ast.Expr, out []plan.Expr) {
	for i, x := range row { // all, before one of them says what a parameter is
		if out[i] == nil && !isDefault(x) {
			out[i] = b.expr(x)
		}
	}
	for i, x := range row {
		c := f.cols[i]
		if isDefault(x) {
			noDefault(f.places[i].a)
			if v, _ := f.d.viewDefault(c); v != nil {
				insertable(f.d.descriptor(c), f.s.Overriding)
			}
			out[i] = f.p.defaultOf(f.d, c)
			continue
		}
		insertable(f.d.descriptor(c), f.s.Overriding)
		if f.kept(i) {
			out[i] = f.p.defaultOf(f.d, c)
			continue
		}
		out[i] = f.places[i].value(f.p, f.t, out[i], x.Pos())
	}
}

func (f *insertSource) bindQuery() plan.Node {
	p := f.p
	q := p.bindSelect(f.s.Query, p.beside(f.d, f.sc))
	f.takes(len(q.cols), p.colOff(q, len(f.cols)))
	for i := range q.cols {
		insertable(f.d.descriptor(f.cols[i]), f.s.Overriding)
		if q.cols[i].T.OID == types.OUnknown {
			p.castColumn(q, i, p.noMod(f.places[i].t))
		}
	}
	given := constTargets(q)
	src := p.planQuery(q)
	for i := range q.cols {
		if f.kept(i) {
			continue
		}
		off, pl := p.colOff(q, i), &f.places[i]
		pl.put(p, f.t, f.width, pl.value(p, f.t, &plan.Col{At: plan.At{T: q.cols[i].T, Off: off}, Idx: i}, off))
		if k := given[i]; k != nil {
			p.constFault(q.block, pl.value(p, f.t, k, off))
		}
	}
	return src
}

// plainValues reports whether the query of an INSERT is VALUES without more, in which
// DEFAULT may stand.
func plainValues(q *ast.Select) bool {
	return q.Values != nil && q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil && q.Locking == nil
}

// spreadRow is a row of VALUES in which every t.* and (x).* is as many entries as it has
// columns; those are bound, the others are not yet.
func (b *binder) spreadRow(row []ast.Expr) ([]ast.Expr, []plan.Expr) {
	if !slices.ContainsFunc(row, isSpread) {
		return row, make([]plan.Expr, len(row))
	}
	var entries []ast.Expr
	var bound []plan.Expr
	for _, x := range row {
		if !isSpread(x) {
			entries, bound = append(entries, x), append(bound, nil)
			continue
		}
		for _, v := range b.spread(x) {
			entries, bound = append(entries, x), append(bound, v)
		}
	}
	return entries, bound
}

func exprOff(row []ast.Expr, i int) int {
	if i < len(row) {
		return row[i].Pos()
	}
	return -1
}
