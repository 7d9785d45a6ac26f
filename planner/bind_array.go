package planner

import (
	"slices"
	"strconv"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner/plan"
)

func (b *binder) array(e *ast.Array, elem *types.T) plan.Expr {
	off := e.Pos()
	xs := make([]plan.Expr, len(e.Elems))
	nested := false
	for i, x := range e.Elems {
		if a, ok := x.(*ast.Array); ok {
			xs[i] = b.array(a, elem)
			nested = true
			continue
		}
		xs[i] = b.expr(x)
		if in := b.info(xs[i].Type().OID); in.Kind == types.KArray && in.Elem != 0 && in.OID != types.OInt2Vector && in.OID != types.OOidVector {
			nested = true
		}
	}
	if len(xs) == 0 {
		if elem == nil {
			fail(sqlerr.New(sqlerr.IndeterminateDatatype, "cannot determine type of empty array").At(off).
				WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[]."))
		}
		return &plan.ArrayCtor{At: plan.At{T: b.T(b.info(elem.OID).Array, -1), Off: off}}
	}
	var t types.T
	switch {
	case elem != nil && nested:
		t = b.T(b.info(elem.OID).Array, elem.Mod)
		for i := range xs {
			xs[i] = b.must(xs[i], t, explicit)
		}
	case elem != nil:
		t = *elem
		for i := range xs {
			xs[i] = b.must(xs[i], t, explicit)
		}
	default:
		xs, t = b.toCommon("ARRAY", xs)
	}
	c := &plan.ArrayCtor{At: plan.At{Off: off}, Elems: xs, Nested: nested}
	if nested {
		c.T = t
		return c
	}
	ao := b.info(t.OID).Array
	if ao == 0 {
		failf(sqlerr.UndefinedObject, off, "could not find array type for data type %s", b.bareName(t.OID))
	}
	c.T = b.T(ao, t.Mod)
	return c
}

// rawElement is x[i] of a type of fixed size, counted from 0: the bytes of a
// name as "char", the coordinates of a point or the points of a box; NULL past the end,
// and of several subscripts, as it has one dimension.
func (b *binder) rawElement(x plan.Expr, steps []*ast.Index) plan.Expr {
	s := &plan.Subscript{At: plan.At{T: b.T(b.info(x.Type().OID).Elem, -1), Off: steps[len(steps)-1].Pos()}, X: x, Hi: make([]plan.Expr, len(steps))}
	for _, st := range steps {
		i := b.coerce(b.expr(st.Lo), types.TInt4, assignment)
		if i == nil {
			failf(sqlerr.DatatypeMismatch, st.Lo.Pos(), "array subscript must have type integer")
		}
		s.Lo = append(s.Lo, i)
	}
	return s
}

// slicePos is where PostgreSQL reports the bounds of a slice: at the upper one if there
// is one, -1 without any.
func slicePos(lo, hi ast.Expr) int {
	switch {
	case hi != nil:
		return hi.Pos()
	case lo != nil:
		return lo.Pos()
	}
	return -1
}

// jsonSubscript is x['key'][0]… of a jsonb value.
func (b *binder) jsonSubscript(x plan.Expr, steps []*ast.Index) plan.Expr {
	s := &plan.Subscript{At: plan.At{T: types.Of(types.OJSONB), Off: steps[len(steps)-1].Pos()}, X: x}
	if slices.ContainsFunc(steps, func(st *ast.Index) bool { return st.Slice }) {
		failf(sqlerr.DatatypeMismatch, slicePos(steps[0].Lo, steps[0].Hi), "jsonb subscript does not support slices")
	}
	for _, st := range steps {
		k := b.expr(st.Lo)
		v := k
		if isUnknown(k) {
			v = b.known(k)
		} else if v = b.coerce(k, types.TInt4, implicit); v == nil {
			v = b.coerce(k, types.TText, implicit)
		}
		if v == nil {
			fail(sqlerr.New(sqlerr.DatatypeMismatch, "subscript type %s is not supported", b.bareName(k.Type().OID)).At(k.Pos()).
				WithHint("jsonb subscript must be coercible to either integer or text."))
		}
		s.Lo = append(s.Lo, v)
	}
	return s
}

// hstoreKey binds the subscript of an hstore; more tells that it is not the only one,
// or a slice.
func (b *binder) hstoreKey(e ast.Expr, more bool) plan.Expr {
	if more {
		failf(sqlerr.FeatureNotSupported, -1, "hstore allows only one subscript")
	}
	key := b.coerce(b.expr(e), types.TText, assignment)
	if key == nil {
		failf(sqlerr.DatatypeMismatch, e.Pos(), "hstore subscript must have type text")
	}
	return key
}

// maxArrayDims is how many dimensions an array may have.
const maxArrayDims = 6

func (b *binder) subscript(e *ast.Index) plan.Expr {
	// x[1][2] is one subscript with two dimensions
	var steps []*ast.Index
	var base ast.Expr = e
	for {
		ix, ok := base.(*ast.Index)
		if !ok {
			break
		}
		steps = append([]*ast.Index{ix}, steps...)
		base = ix.X
		if ix.Apart {
			break
		}
	}
	x := b.expr(base)
	if t := b.Snap.BaseType(x.Type()); t.OID != x.Type().OID {
		x = &plan.Relabel{At: plan.At{T: t, Off: x.Pos()}, X: x, Cast: plan.CastImplicit}
	}
	in := b.info(x.Type().OID)
	if x.Type().OID == types.OJSONB {
		return b.jsonSubscript(x, steps)
	}
	raw := x.Type().Kind() == types.KGeometry && in.Elem != 0
	if (x.Type().OID == types.OName || raw) && slices.ContainsFunc(steps, func(s *ast.Index) bool { return s.Slice }) {
		failf(sqlerr.FeatureNotSupported, -1, "slices of fixed-length arrays not implemented")
	}
	if x.Type().OID == types.OName || raw {
		return b.rawElement(x, steps)
	}
	if in.Kind == types.KHstore {
		key := b.hstoreKey(steps[0].Lo, len(steps) > 1 || steps[0].Slice)
		return &plan.Subscript{At: plan.At{T: types.TText, Off: e.Pos()}, X: x, Lo: []plan.Expr{key}}
	}
	if in.Kind != types.KArray || in.Elem == 0 {
		failf(sqlerr.DatatypeMismatch, x.Pos(), "cannot subscript type %s because it does not support subscripting", b.bareName(x.Type().OID))
	}
	if n := len(steps); n > maxArrayDims {
		failf(sqlerr.ProgramLimitExceeded, -1, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, maxArrayDims)
	}
	s := &plan.Subscript{At: plan.At{Off: e.Pos()}, X: x}
	for _, st := range steps {
		s.Slice = s.Slice || st.Slice
	}
	for _, st := range steps {
		lo, hi := b.arrayBounds(st.Lo, st.Hi, s.Slice && !st.Slice)
		s.Lo = append(s.Lo, lo)
		s.Hi = append(s.Hi, hi)
	}
	if s.Slice {
		s.T = x.Type()
		if s.T.OID == types.OInt2Vector || s.T.OID == types.OOidVector {
			s.T = b.T(b.info(in.Elem).Array, -1) // a part of a vector is an array
		}
	} else {
		s.Hi = nil
		s.T = b.T(in.Elem, x.Type().Mod)
		if s.T.OID == types.OBpchar {
			s.T.Mod = -1 // elements carry their blanks
		}
	}
	return s
}

// arrayBounds binds a subscript of an array. One that is widened, because another one
// beside it is a slice, ends a slice that begins at 1.
func (b *binder) arrayBounds(lo, hi ast.Expr, widened bool) (plan.Expr, plan.Expr) {
	first, last := b.arrayIndex(lo), b.arrayIndex(hi)
	if widened {
		return constInt4(1), first
	}
	return first, last
}

// arrayIndex binds a bound of a subscript; nil stays nil.
func (b *binder) arrayIndex(x ast.Expr) plan.Expr {
	if x == nil {
		return nil
	}
	v := b.coerce(b.expr(x), types.TInt4, assignment)
	if v == nil {
		failf(sqlerr.DatatypeMismatch, x.Pos(), "array subscript must have type integer")
	}
	return v
}

// field selects a named field of a row value, or calls the function of that name with
// the value. The value was bound from of.
func (b *binder) field(of ast.Expr, x plan.Expr, name string, off int) plan.Expr {
	cols := b.recordCols(x)
	if r, ok := x.(*plan.RowCtor); ok {
		for i, n := range r.Names {
			if n == name {
				b.read(r.Elems[i]) // (t).a is a column as t.a is
				return r.Elems[i]
			}
		}
	}
	for i, c := range cols {
		if c.Name == name {
			if r, ok := x.(*plan.RowCtor); ok {
				b.read(r.Elems[i])
				return r.Elems[i]
			}
			b.readField(x.Type(), i)
			b.coll.any = b.coll.any || b.fieldCollation(x.Type(), i) != ""
			return &plan.FieldOf{At: plan.At{T: c.T, Off: off}, X: x, Idx: i, Name: c.Name}
		}
	}
	if v, ok := x.(*plan.Var); ok && cols == nil && v.T.OID == types.ORecord {
		failf(sqlerr.WrongObjectType, -1, "record type has not been registered")
	}
	if f := b.functionOf(of, x, name, off); f != nil {
		return f
	}
	if cols == nil {
		failf(sqlerr.WrongObjectType, off, "column notation .%s applied to type %s, which is not a composite type", name, b.bareName(x.Type().OID))
	}
	if x.Type().OID == types.ORecord {
		failf(sqlerr.UndefinedColumn, off, "could not identify column \"%s\" in record data type", name)
	}
	failf(sqlerr.UndefinedColumn, off, "column \"%s\" not found in data type %s", name, b.bareName(x.Type().OID))
	return nil
}

// recordCols lists the fields of a row-valued expression, nil if it has none.
func (b *binder) recordCols(x plan.Expr) []plan.OutCol {
	switch x := x.(type) {
	case *plan.RowCtor:
		if cols := b.rowColumns(x.T); len(cols) == len(x.Elems) {
			return cols
		}
		out := make([]plan.OutCol, len(x.Elems))
		for i, e := range x.Elems {
			out[i] = plan.OutCol{Name: "f" + strconv.Itoa(i+1), T: e.Type()}
			if i < len(x.Names) {
				out[i].Name = x.Names[i]
			}
			if v, ok := e.(*plan.Var); ok && x.T.OID != types.ORecord {
				out[i].Name = v.Name
			}
		}
		return out
	case *plan.Call:
		if x.T.OID == types.ORecord || x.Proc.SQL == nil {
			if cols := b.outCols(x.Proc, x.Args); cols != nil || x.Proc.SQL != nil {
				return cols
			}
		}
	case *plan.Var:
		// a column of a subquery that is a row of no named type
		if q := b.queries[x.Rel]; x.T.OID == types.ORecord && q != nil {
			for q.setop != nil || q.ref != nil && !q.work {
				if q.setop != nil {
					q = q.setop.l
				} else {
					q = q.ref.q
				}
			}
			if q.block != nil && x.Col >= 0 && x.Col < len(q.block.targets) {
				return b.recordCols(q.block.targets[x.Col].x)
			}
		}
	}
	return b.rowColumns(b.Snap.BaseType(x.Type()))
}

// outCols lists the columns of a function with OUT arguments.
func (p *planner) outCols(pr *catalog.Proc, args []plan.Expr) []plan.OutCol {
	var out []plan.OutCol
	in := make([]types.OID, len(args))
	for i, a := range args {
		in[i] = a.Type().OID
	}
	family, _ := p.polyFamily(pr.Args, in)
	for i, m := range pr.ArgModes {
		if m != 'o' && m != 't' && m != 'b' {
			continue
		}
		t := p.T(pr.AllArgs[i], -1)
		if isPoly(t.OID) {
			t = p.T(p.concrete(family, t.OID), -1)
		}
		name := ""
		if i < len(pr.ArgNames) {
			name = pr.ArgNames[i]
		}
		out = append(out, plan.OutCol{Name: name, T: t})
	}
	return out
}
