package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// assignPlace is where one assignment puts its value: a column, or an element, a
// slice, a member or a field of one, however deep.
type assignPlace struct {
	a     *ast.AssignTarget
	col   int
	t     types.T // of the values that it takes
	steps []placeStep
}

// placeStep is one way down into a value: a field of a row, or the subscripts of
// an array, a jsonb value or an hstore.
type placeStep struct {
	t, base types.T // of the container, and without its domain
	field   int     // of a row; -1 for subscripts
	slice   bool
	lo, hi  []plan.Expr // as in plan.SubscriptAssign
}

// assignPlace resolves a target of INSERT or SET.
func (b *binder) assignPlace(t *catalog.Table, a *ast.AssignTarget) assignPlace {
	pl := assignPlace{a: a, col: t.Col(a.Col)}
	if pl.col < 0 {
		failf(sqlerr.UndefinedColumn, a.Pos(), "column \"%s\" of relation \"%s\" does not exist", a.Col, t.Name)
	}
	pl.t = t.Columns[pl.col].Type
	name := a.Col
	for path := a.Path; len(path) > 0; {
		st := placeStep{t: pl.t, base: b.Snap.BaseType(pl.t), field: -1}
		if f := path[0].Field; f != "" {
			pl.t = b.fieldPlace(a, name, f, &st)
			name, path = f, path[1:]
		} else {
			n := 1
			for n < len(path) && path[n].Field == "" {
				n++
			}
			pl.t = b.subscriptPlace(a, path[:n], &st)
			path = path[n:]
		}
		pl.steps = append(pl.steps, st)
	}
	return pl
}

// fieldPlace resolves a field of a row, which is called name, and returns its type.
func (b *binder) fieldPlace(a *ast.AssignTarget, name, field string, st *placeStep) types.T {
	cols := b.rowColumns(st.base)
	if cols == nil {
		failf(sqlerr.DatatypeMismatch, a.Pos(), "cannot assign to field \"%s\" of column \"%s\" because its type %s is not a composite type",
			field, name, b.bareName(st.t.OID))
	}
	st.field = slices.IndexFunc(cols, func(c plan.OutCol) bool { return c.Name == field })
	if st.field < 0 {
		failf(sqlerr.UndefinedColumn, a.Pos(), "cannot assign to field \"%s\" of column \"%s\" because there is no such column in data type %s",
			field, name, b.bareName(st.t.OID))
	}
	return cols[st.field].T
}

// subscriptPlace binds the subscripts of an array, a jsonb value or an hstore and
// returns the type of the part.
func (b *binder) subscriptPlace(a *ast.AssignTarget, path []ast.PathStep, st *placeStep) types.T {
	in := b.info(st.base.OID)
	switch {
	case st.base.OID == types.OJSONB:
		if slices.ContainsFunc(path, func(p ast.PathStep) bool { return p.Slice }) {
			failf(sqlerr.DatatypeMismatch, slicePos(path[0].Lo, path[0].Hi), "jsonb subscript does not support slices")
		}
		for i := range path {
			st.lo = append(st.lo, b.jsonKey(path[i].Lo))
		}
		return types.Of(types.OJSONB)
	case in.Kind == types.KArray && in.Elem != 0 && in.Len == -1:
		return b.arrayPlace(path, st, in.Elem)
	case in.Kind == types.KHstore:
		st.lo = []plan.Expr{b.hstoreKey(path[0].Lo, len(path) > 1 || path[0].Slice)}
		return types.TText
	case st.base.Kind() == types.KGeometry && in.Elem != 0:
		return b.arrayPlace(path, st, in.Elem)
	case in.Elem != 0:
		unsupported(a.Pos(), "assignment to an element of type %s", b.bareName(st.base.OID))
	default:
		failf(sqlerr.DatatypeMismatch, a.Pos(), "cannot subscript type %s because it does not support subscripting", b.bareName(st.base.OID))
	}
	return types.T{}
}

// arrayPlace binds the subscripts of an array.
func (b *binder) arrayPlace(path []ast.PathStep, st *placeStep, elem types.OID) types.T {
	for i := range path {
		st.slice = st.slice || path[i].Slice
	}
	for i := range path {
		lo, hi := b.arrayBounds(path[i].Lo, path[i].Hi, st.slice && !path[i].Slice)
		st.lo, st.hi = append(st.lo, lo), append(st.hi, hi)
	}
	if st.slice {
		return st.base
	}
	st.hi = nil
	return b.T(elem, st.base.Mod)
}

// jsonKey binds a subscript of jsonb: the number of an element or the key of a
// member.
func (b *binder) jsonKey(e ast.Expr) plan.Expr {
	k := b.expr(e)
	if isUnknown(k) {
		return b.known(k)
	}
	v := b.coerce(k, types.TInt4, implicit)
	if v == nil {
		v = b.coerce(k, types.TText, implicit)
	}
	if v == nil {
		fail(sqlerr.New(sqlerr.DatatypeMismatch, "subscript type %s is not supported", b.bareName(k.Type().OID)).At(k.Pos()).
			WithHint("jsonb subscript must be coercible to either integer or text."))
	}
	return v
}

// value converts an expression to what the place takes.
func (pl *assignPlace) value(p *planner, t *catalog.Table, x plan.Expr, off int) plan.Expr {
	if len(pl.a.Path) == 0 {
		return p.assign(x, &t.Columns[pl.col], off)
	}
	if y := p.coerce(x, pl.t, assignment); y != nil {
		return y
	}
	if pl.steps[len(pl.steps)-1].field >= 0 {
		fail(sqlerr.New(sqlerr.DatatypeMismatch, "subfield \"%s\" is of type %s but expression is of type %s", pl.a.Path[len(pl.a.Path)-1].Field,
			p.bareName(pl.t.OID), p.bareName(x.Type().OID)).At(pl.a.Pos()).
			WithHint("You will need to rewrite or cast the expression."))
	}
	fail(sqlerr.New(sqlerr.DatatypeMismatch, "subscripted assignment to \"%s\" requires type %s but expression is of type %s",
		pl.a.Col, p.bareName(pl.t.OID), p.bareName(x.Type().OID)).At(pl.a.Pos()).
		WithHint("You will need to rewrite or cast the expression."))
	return nil
}

// noDefault refuses DEFAULT for a part of a column.
func noDefault(a *ast.AssignTarget) {
	switch {
	case len(a.Path) == 0:
	case a.Path[0].Field != "":
		failf(sqlerr.FeatureNotSupported, a.Pos(), "cannot set a subfield to DEFAULT")
	default:
		failf(sqlerr.FeatureNotSupported, a.Pos(), "cannot set an array element to DEFAULT")
	}
}

// into makes the column's new value of its old one and a value for the place.
func (pl *assignPlace) into(p *planner, t *catalog.Table, old, x plan.Expr) plan.Expr {
	if len(pl.a.Path) == 0 {
		return x
	}
	return p.assign(pl.down(p, old, 0, x), &t.Columns[pl.col], -1)
}

// down is the container that step i goes into, of which old is the value, with x
// in the place. The fields beside the one that changes are those of old.
func (pl *assignPlace) down(p *planner, old plan.Expr, i int, x plan.Expr) plan.Expr {
	if i == len(pl.steps) {
		return x
	}
	st := &pl.steps[i]
	if old.Type() != st.base {
		old = &plan.Relabel{At: plan.At{T: st.base, Off: -1}, X: old, Cast: plan.CastImplicit}
	}
	off := pl.a.Pos()
	var y plan.Expr
	switch {
	case st.field < 0:
		if i+1 < len(pl.steps) {
			elem := &plan.Subscript{At: plan.At{T: pl.steps[i+1].t, Off: off}, X: old, Lo: st.lo}
			if st.slice {
				unsupported(off, "assignment to a field of a slice")
			}
			x = pl.down(p, elem, i+1, x)
		}
		y = &plan.SubscriptAssign{At: plan.At{T: st.base, Off: off}, X: old, Slice: st.slice, Lo: st.lo, Hi: st.hi, Val: x}
	default:
		row := &plan.RowCtor{At: plan.At{T: st.base, Off: off}}
		was, _ := old.(*plan.RowCtor)
		for k, c := range p.rowColumns(st.base) {
			var f plan.Expr = &plan.FieldOf{At: plan.At{T: c.T, Off: off}, X: old, Idx: k, Name: c.Name}
			if was != nil && was.Present == nil {
				f = was.Elems[k]
			}
			if k == st.field {
				f = pl.down(p, f, i+1, x)
			}
			row.Elems = append(row.Elems, f)
		}
		y = row
	}
	if i > 0 && st.t != st.base {
		return p.domain(y, st.t, assignment)
	}
	return y
}

// put gives a column of a new row its value, or adds a part to the value that it
// has; width has the values by column.
func (pl *assignPlace) put(p *planner, t *catalog.Table, width []plan.Expr, x plan.Expr) {
	old := width[pl.col]
	if old == nil {
		old = nullConst(t.Columns[pl.col].Type)
	}
	width[pl.col] = pl.into(p, t, old, x)
}

// insertPlaces resolves the column list of INSERT, nil being all columns. Several
// parts of one column may be named, a whole column once.
func (b *binder) insertPlaces(list []ast.AssignTarget, t *catalog.Table) []assignPlace {
	var out []assignPlace
	if list == nil {
		for _, c := range liveCols(t) {
			out = append(out, assignPlace{a: &ast.AssignTarget{}, col: c, t: t.Columns[c].Type})
		}
	}
	for i := range list {
		pl := b.assignPlace(t, &list[i])
		for k := range out {
			if out[k].col == pl.col && (len(pl.a.Path) == 0 || len(out[k].a.Path) == 0) {
				failf(sqlerr.DuplicateColumn, list[i].Pos(), "column \"%s\" specified more than once", list[i].Col)
			}
		}
		out = append(out, pl)
	}
	return out
}

func nullConst(t types.T) plan.Expr {
	return &plan.Const{At: plan.At{T: t, Off: -1}, Val: types.Null(t)}
}
