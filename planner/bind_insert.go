package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// insertable fails if INSERT cannot give the column a value that is not its default.
func insertable(c *catalog.Column, overriding string) {
	always := c.Identity == 'a' && overriding != "SYSTEM" && overriding != "USER"
	if !c.Generated && !always {
		return // of every value of a long VALUES list
	}
	err := sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", c.Name)
	if c.Generated {
		fail(err.WithDetail("Column \"%s\" is a generated column.", c.Name))
	}
	fail(err.WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", c.Name).
		WithHint("Use OVERRIDING SYSTEM VALUE to override."))
}

// generatedError is the error of an UPDATE that gives a generated column a value.
func generatedError(c *catalog.Column) error {
	return sqlerr.New(sqlerr.GeneratedAlways, "column \"%s\" can only be updated to DEFAULT", c.Name).
		WithDetail("Column \"%s\" is a generated column.", c.Name)
}

// planInsert binds and plans INSERT.
func (p *planner) planInsert(s *ast.Insert, outer *scope) plan.Node {
	sc, defs := outer, []*cteDef(nil)
	if s.With != nil {
		sc, defs = p.with(s.With, outer)
	}
	d := p.destination(&s.Table, false, "INSERT")
	t := d.shape // what names and positions refer to; the table itself but for a view
	var cols []int
	ib := &binder{planner: p, scope: &scope{parent: sc}, what: "INSERT", noAgg: true, noWin: true}
	places := ib.insertPlaces(s.Cols, t)
	for i := range places {
		cols = append(cols, places[i].col)
	}
	implicitCols := s.Cols == nil
	right := p.dest
	if right.Insert = cols; implicitCols {
		right.Insert = nil // those that get values
	}
	ins := &plan.Insert{}
	width := make([]plan.Expr, len(t.Columns)) // expression per table column over the source
	var src plan.Node
	colOff := func(i int) int {
		if i < len(s.Cols) {
			return s.Cols[i].Pos()
		}
		return -1
	}
	check := func(i int, isDefault bool) {
		if !isDefault {
			insertable(d.descriptor(cols[i]), s.Overriding)
		}
	}
	number := func(n int, off int) {
		if n > len(cols) {
			failf(sqlerr.SyntaxError, off, "INSERT has more expressions than target columns")
		}
		if n < len(cols) && !implicitCols {
			failf(sqlerr.SyntaxError, colOff(n), "INSERT has more target columns than expressions")
		}
		right.Insert = cols[:n]
	}
	switch {
	case s.Default:
		src = &plan.Values{Rows: [][]plan.Expr{{}}}
		src.Base().Rows = 1
	case plainValues(s.Query):
		b := &binder{planner: p, scope: &scope{parent: sc}, what: "VALUES", noAgg: true, noWin: true, srf: len(s.Query.Values) == 1}
		v := &plan.Values{}
		var rowCols []int
		for r, row := range s.Query.Values {
			row, out := b.spreadRow(row)
			if r == 0 {
				number(len(row), exprOff(row, len(cols)))
				rowCols = cols[:len(row)]
			}
			if len(row) != len(rowCols) {
				failf(sqlerr.SyntaxError, row[0].Pos(), "VALUES lists must all be the same length")
			}
			for i, x := range row { // all, before one of them says what a parameter is
				if out[i] == nil && !isDefault(x) {
					out[i] = b.expr(x)
				}
			}
			for i, x := range row {
				if isDefault(x) {
					noDefault(places[i].a)
					v, _ := d.viewDefault(cols[i])
					check(i, v == nil)
					out[i] = p.defaultOf(d, cols[i])
					continue
				}
				check(i, false)
				if d.descriptor(cols[i]).Identity != 0 && s.Overriding == "USER" {
					out[i] = p.defaultOf(d, cols[i])
					continue
				}
				out[i] = places[i].value(p, t, out[i], x.Pos())
			}
			v.Rows = append(v.Rows, p.planExprs(out, nil))
		}
		for i, c := range rowCols {
			v.Cols = append(v.Cols, plan.OutCol{Name: t.Columns[c].Name, T: places[i].t})
		}
		v.Common.Rows = float64(len(v.Rows))
		src = v
		if b.sawSRF {
			src = projectSets(&plan.Values{Rows: [][]plan.Expr{{}}, Common: plan.Common{Rows: 1}}, v.Rows[0], v.Cols)
		}
		for i := range rowCols {
			places[i].put(p, t, width, &plan.Col{At: plan.At{T: places[i].t, Off: -1}, Idx: i})
		}
	default:
		q := p.bindSelect(s.Query, p.beside(d, sc))
		number(len(q.cols), p.colOff(q, len(cols)))
		for i := range q.cols {
			check(i, false)
			if q.cols[i].T.OID == types.OUnknown {
				p.castColumn(q, i, p.noMod(places[i].t))
			}
		}
		given := constTargets(q)
		src = p.planQuery(q)
		for i := range q.cols {
			if d.descriptor(cols[i]).Identity != 0 && s.Overriding == "USER" {
				continue
			}
			off := p.colOff(q, i)
			places[i].put(p, t, width, places[i].value(p, t, &plan.Col{At: plan.At{T: q.cols[i].T, Off: off}, Idx: i}, off))
			if k := given[i]; k != nil {
				p.constFault(q.block, places[i].value(p, t, k, off))
			}
		}
	}
	var given []int
	for c, x := range width {
		if x != nil {
			given = append(given, c)
		}
	}
	p.ready(d, "INSERT", given)
	if s.OnConflict != nil {
		if ins.OnConflict = p.onConflict(s, d, s.Alias, sc); ins.OnConflict.DoUpdate {
			d.upsert = ins.OnConflict
		}
	}
	ins.Returning, ins.Cols, ins.System = p.returning(s.Returning, d, s.Alias, nil, sc)
	ins.HasReturning = s.Returning != nil
	if s.OnConflict != nil {
		mustArbitrate(s.OnConflict, ins.OnConflict)
	}
	width = p.insertThrough(d, width, s.Overriding)
	t = d.table
	ins.Table, ins.Tree = t, d.tree
	live := liveCols(t)
	ins.Checks = p.insertChecks(d, ins.OnConflict, s.Returning != nil, p.viewChecks(d, live))
	d.grant()
	// fill in defaults
	pr := &plan.Project{Input: src}
	identity := len(src.Base().Cols) == len(live)
	for i, c := range live {
		x := width[c]
		if x == nil {
			x = p.columnDefault(t, c)
		}
		if k, ok := x.(*plan.Col); !ok || k.Idx != i {
			identity = false
		}
		pr.Exprs = append(pr.Exprs, x)
		pr.Cols = append(pr.Cols, plan.OutCol{Name: t.Columns[c].Name, T: t.Columns[c].Type})
	}
	ins.Input = src
	if !identity {
		pr.Common.Rows, pr.Cost = src.Base().Rows, src.Base().Cost
		ins.Input = pr
	}
	ins.Common.Rows, ins.Cost = src.Base().Rows, src.Base().Cost
	p.prepareCTEs(defs)
	return ins
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
