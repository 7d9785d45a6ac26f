package planner

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

// assignPlace is where one assignment puts its value: a column, or an element, a
// slice or a member of one.
type assignPlace struct {
	a   *ast.AssignTarget
	col int
	t   types.T // of the values that it takes

	base   types.T // of the container, without its domain
	slice  bool
	lo, hi []plan.Expr // as in plan.SubscriptAssign
}

// assignPlace resolves a target of INSERT or SET.
func (b *binder) assignPlace(t *catalog.Table, a *ast.AssignTarget) assignPlace {
	pl := assignPlace{a: a, col: t.Col(a.Col)}
	if pl.col < 0 {
		failf(sqlerr.UndefinedColumn, a.Pos(), "column \"%s\" of relation \"%s\" does not exist", a.Col, t.Name)
	}
	pl.t = t.Columns[pl.col].Type
	if len(a.Path) == 0 {
		return pl
	}
	pl.base = b.Snap.BaseType(pl.t)
	if f := a.Path[0].Field; f != "" {
		b.assignField(a, f, pl.base)
	}
	in := b.info(pl.base.OID)
	switch {
	case pl.base.OID == types.OJSONB:
		pl.t = types.Of(types.OJSONB)
		for i := range a.Path {
			if a.Path[i].Slice {
				failf(sqlerr.DatatypeMismatch, stepPos(a, &a.Path[i]), "jsonb subscript does not support slices")
			}
			if a.Path[i].Field != "" {
				b.assignField(a, a.Path[i].Field, pl.t)
			}
			pl.lo = append(pl.lo, b.jsonKey(a.Path[i].Lo))
		}
	case in.Kind == types.KArray && in.Elem != 0 && in.Len == -1:
		b.arrayPlace(&pl, in.Elem)
	case in.Elem != 0:
		unsupported(a.Pos(), "assignment to an element of type %s", b.bareName(pl.base.OID))
	default:
		fail(sqlerr.New(sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", b.bareName(pl.base.OID)))
	}
	return pl
}

// arrayPlace binds the subscripts of an array.
func (b *binder) arrayPlace(pl *assignPlace, elem types.OID) {
	a := pl.a
	for i := range a.Path {
		pl.slice = pl.slice || a.Path[i].Slice
	}
	index := func(x ast.Expr) plan.Expr {
		if x == nil {
			return nil
		}
		v := b.coerce(b.expr(x), types.TInt4, assignment)
		if v == nil {
			failf(sqlerr.DatatypeMismatch, x.Pos(), "array subscript must have type integer")
		}
		return v
	}
	for i := range a.Path {
		st := &a.Path[i]
		if st.Field != "" {
			b.assignField(a, st.Field, b.T(elem, -1))
		}
		lo, hi := index(st.Lo), index(st.Hi)
		if pl.slice && !st.Slice {
			lo, hi = constInt4(1), lo
		}
		pl.lo, pl.hi = append(pl.lo, lo), append(pl.hi, hi)
	}
	if pl.slice {
		pl.t = pl.base
		return
	}
	pl.hi = nil
	pl.t = b.T(elem, pl.base.Mod)
}

// assignField refuses an assignment to a field of a value of type t.
func (b *binder) assignField(a *ast.AssignTarget, field string, t types.T) {
	if u := b.Snap.TypeByOID(t.OID); u != nil && u.Kind == 'c' {
		unsupported(a.Pos(), "assignment to a field of column \"%s\"", a.Col)
	}
	failf(sqlerr.DatatypeMismatch, a.Pos(), "cannot assign to field \"%s\" of column \"%s\" because its type %s is not a composite type",
		field, a.Col, b.bareName(t.OID))
}

// stepPos is the position of a subscript of a target.
func stepPos(a *ast.AssignTarget, st *ast.PathStep) int {
	for _, x := range []ast.Expr{st.Lo, st.Hi} {
		if x != nil {
			return x.Pos()
		}
	}
	return a.Pos()
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
	fail(sqlerr.New(sqlerr.DatatypeMismatch, "subscripted assignment to \"%s\" requires type %s but expression is of type %s",
		pl.a.Col, p.typeName(p.noMod(pl.t)), p.bareName(x.Type().OID)).At(pl.a.Pos()).
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
	if old.Type() != pl.base {
		old = &plan.Relabel{At: plan.At{T: pl.base, Off: -1}, X: old, Cast: plan.CastImplicit}
	}
	y := &plan.SubscriptAssign{At: plan.At{T: pl.base, Off: pl.a.Pos()}, X: old, Slice: pl.slice, Lo: pl.lo, Hi: pl.hi, Val: x}
	return p.assign(y, &t.Columns[pl.col], -1)
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
