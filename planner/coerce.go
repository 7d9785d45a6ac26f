package planner

import (
	"bytes"
	"cmp"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// Coercion contexts, PostgreSQL's pg_cast.castcontext.
const (
	implicit   byte = 'i'
	assignment byte = 'a'
	explicit   byte = 'e'
)

func (p *planner) info(o types.OID) *types.Info {
	if in := p.Snap.TypeInfo(o); in != nil {
		return in
	}
	return types.Lookup(types.OText)
}

// typeName is how messages name a type with its modifier.
func (p *planner) typeName(t types.T) string {
	if t.Mod < 0 {
		return p.bareName(t.OID)
	}
	return p.Snap.FormatType(t, p.DB, p.SearchPath)
}

// bareName is the type's name without its modifier.
func (p *planner) bareName(o types.OID) string { return p.Snap.FormatTypeNoMod(o, p.DB, p.SearchPath) }

// T makes a value type of an OID; user-defined ones get their kind.
func (p *planner) T(o types.OID, mod int32) types.T {
	if t, ok := p.Snap.T(o, mod); ok {
		return t
	}
	return types.T{OID: o, Mod: mod}
}

func isUnknown(e plan.Expr) bool { return e.Type().OID == types.OUnknown }

// Polymorphic reports whether a type stands for that of an argument.
func Polymorphic(o types.OID) bool { return isPoly(o) }

func isPoly(o types.OID) bool {
	switch o {
	case types.OAnyelement, types.OAnyarray, types.OAnynonarray, types.OAnyenum, types.OAnyrange, types.OAnymultirange,
		types.OAnycompatible, types.OAnycompatiblearray, types.OAnycompatiblenonarray, types.OAnycompatiblerange, types.OAnycompatiblemultirange:
		return true
	}
	return false
}

func (p *planner) isArray(o types.OID) bool {
	in := p.info(o)
	return in.Kind == types.KArray && in.Elem != 0 && in.Len == -1
}

// canCoerce reports whether a value of type src converts to dst in the context.
func (p *planner) canCoerce(src, dst types.OID, ctx byte) bool {
	if src == dst || dst == types.OAny || src == types.OUnknown {
		return true
	}
	base := p.Snap.BaseType(p.T(src, -1)).OID
	switch dst {
	case types.OAnyelement, types.OAnycompatible:
		return true
	case types.OAnyarray, types.OAnycompatiblearray:
		return p.isArray(base) || base == types.OInt2Vector || base == types.OOidVector
	case types.OAnynonarray, types.OAnycompatiblenonarray:
		return !p.isArray(base)
	case types.OAnyenum:
		return p.info(src).Kind == types.KEnum
	case types.OAnyrange, types.OAnycompatiblerange:
		return p.info(base).Kind == types.KRange
	case types.OAnymultirange, types.OAnycompatiblemultirange:
		return p.info(base).Kind == types.KMultirange
	}
	if base != src {
		return p.canCoerce(base, dst, ctx)
	}
	ok, _, _ := p.castPath(src, dst, ctx)
	return ok
}

type pathway uint8

const (
	pathNone pathway = iota
	pathRelabel
	pathFunc
	pathIO
	pathArray
	pathRow
)

// findCast is the cast of pg_cast between two types, or nil.
func (p *planner) findCast(src, dst types.OID) *catalog.Cast {
	if c := catalog.FindCast(src, dst); c != nil {
		return c
	}
	if own := p.Snap.OwnCast(p.DB, src, dst); own != nil && p.only.Has(own.OID) {
		return own.Row()
	}
	return nil
}

// pathway finds how src becomes dst (find_coercion_pathway of PostgreSQL).
func (p *planner) castPath(src, dst types.OID, ctx byte) (bool, pathway, *catalog.Cast) {
	if src == dst {
		return true, pathRelabel, nil
	}
	if c := p.findCast(src, dst); c != nil {
		if ctx == explicit || c.Context == implicit || ctx == assignment && c.Context == assignment {
			switch c.Method {
			case 'b':
				return true, pathRelabel, c
			case 'f':
				return true, pathFunc, c
			default:
				return true, pathIO, c
			}
		}
		return false, pathNone, nil
	}
	si, di := p.info(src), p.info(dst)
	if si.Multirange == dst && src >= types.FirstUserOID {
		c := p.Snap.MultirangeCast(src, dst)
		return c != nil && ctx == explicit, pathFunc, c
	}
	if si.Type == 'd' { // an element's
		return p.castPath(p.Snap.BaseType(p.T(src, -1)).OID, dst, ctx)
	}
	if di.Type == 'd' {
		return p.castPath(src, p.Snap.BaseType(p.T(dst, -1)).OID, ctx)
	}
	// arrays convert as their elements do
	if si.Kind == types.KArray && di.Kind == types.KArray && si.Elem != 0 && di.Elem != 0 && di.Len == -1 {
		if dst != types.OInt2Vector && dst != types.OOidVector {
			if si.Elem == di.Elem {
				return true, pathRelabel, nil
			}
			if ok, how, _ := p.castPath(si.Elem, di.Elem, ctx); ok {
				if how == pathRelabel {
					return true, pathArray, nil
				}
				return true, pathArray, nil
			}
		}
	}
	if ctx != implicit && di.Category == 'S' {
		return true, pathIO, nil
	}
	if ctx == explicit && si.Category == 'S' {
		return true, pathIO, nil
	}
	if p.rowFits(src, dst) {
		return true, pathRow, nil
	}
	if src == types.ORecord || dst == types.ORecord {
		return si.Kind == types.KRecord && di.Kind == types.KRecord, pathRelabel, nil
	}
	return false, pathNone, nil
}

// coerce converts e to the type, or returns nil when there is no way in the
// context. off is where an error of a literal's conversion points to when the
// literal itself has no offset.
func (p *planner) coerce(e plan.Expr, to types.T, ctx byte) plan.Expr {
	from := e.Type()
	if from == to || to.OID == types.OAny {
		return e
	}
	if isPoly(to.OID) {
		return e
	}
	if from.OID == types.OUnknown {
		return p.coerceUnknown(e, to, ctx)
	}
	if from.OID == to.OID {
		return p.coerceMod(e, to, ctx)
	}
	if b := p.Snap.BaseType(from); b.OID != from.OID {
		return p.coerce(&plan.Relabel{At: plan.At{T: b, Off: e.Pos()}, X: e}, to, ctx)
	}
	if b := p.Snap.BaseType(to); b.OID != to.OID {
		x := p.rowTo(e, b, to.OID, ctx)
		if x == nil {
			x = p.coerce(e, b, ctx)
		}
		if x == nil {
			return nil
		}
		if x != e {
			x = hidden(x)
		}
		return p.domain(x, to, ctx)
	}
	if r, isRow := e.(*plan.RowCtor); isRow && to.OID == types.ORecord {
		if p.rec != nil { // written down, the row keeps its type
			return &plan.Relabel{At: plan.At{T: to, Off: e.Pos()}, X: e, Cast: plan.CastImplicit}
		}
		row := *r // keeps the columns' names; a table's are its own, whatever its alias says
		if cols := p.rowColumns(r.T); len(cols) == len(r.Elems) {
			row.Names = nil
			for _, c := range cols {
				row.Names = append(row.Names, c.Name)
			}
		}
		if row.T = to; r.T.OID != to.OID {
			row.Was = r
		}
		return &row
	}
	if x := p.rowTo(e, to, to.OID, ctx); x != nil {
		return x
	}
	// (a, b) and other rows pass as record
	ok, how, c := p.castPath(from.OID, to.OID, ctx)
	if !ok {
		return nil
	}
	if c != nil && c.OID >= types.FirstUserOID {
		p.called = append(p.called, c.OID)
	}
	plain := to
	plain.Mod = -1
	var x plan.Expr
	switch how {
	case pathRelabel:
		if to.OID == types.ORecord && ctx == explicit {
			return e // which has its own type all the same
		}
		x = &plan.Relabel{At: plan.At{T: plain, Off: e.Pos()}, X: e, Cast: castForm(ctx)}
	case pathFunc:
		pr := p.procByOID(c.Func)
		args := []plan.Expr{p.coerceArg(e, pr.Args[0])}
		if len(pr.Args) > 1 {
			args = append(args, constInt4(int64(to.Mod)))
			plain.Mod = to.Mod
		}
		if len(pr.Args) > 2 {
			args = append(args, &plan.Const{At: plan.At{T: types.TBool, Off: -1}, Val: types.Bool(ctx == explicit)})
		}
		p.limit(pr)
		call := &plan.Call{At: plan.At{T: plain, Off: e.Pos()}, Proc: pr, Args: args, Cast: castForm(ctx)}
		x = call
		if pr.Own != nil {
			x = p.ownConversion(call)
		}
	case pathIO:
		read := &plan.CoerceIO{At: plan.At{T: plain, Off: e.Pos()}, X: e, Explicit: ctx == explicit, Cast: castForm(ctx)}
		x = read
		if checked := p.columnDomain(read); checked != nil {
			read.Cast = plan.CastImplicit
			checked.(*plan.CoerceArray).Cast = castForm(ctx)
			x = checked
		}
	case pathRow:
		if p.rec != nil {
			return &plan.Relabel{At: plan.At{T: to, Off: e.Pos()}, X: e, Cast: castForm(ctx)}
		}
		return &plan.Relabel{At: plan.At{T: to, Off: e.Pos()}, X: p.rowAs(e, to), Cast: castForm(ctx)}
	case pathArray:
		et := p.T(p.info(to.OID).Elem, to.Mod)
		el := p.coerce(&plan.Col{At: plan.At{T: p.T(p.info(from.OID).Elem, from.Mod), Off: -1}, Idx: 0}, et, ctx)
		if el == nil {
			return nil
		}
		return &plan.CoerceArray{At: plan.At{T: to, Off: e.Pos()}, X: e, Elem: el, Cast: castForm(ctx)}
	}
	x = p.fold(x)
	y := p.coerceMod(x, to, ctx)
	if y != x {
		hideCast(x)
	}
	return y
}

// ownConversion is the call of a user-defined function that converts.
func (p *planner) ownConversion(c *plan.Call) plan.Expr {
	if c.Proc.Volatile == 'v' {
		p.volatil = true
	}
	to := c.T
	if ret := c.Proc.Ret; ret != to.OID {
		c.T = p.T(ret, -1)
	}
	var x plan.Expr = c
	if c.Proc.SQL != nil {
		x = (&binder{planner: p}).routineCall(c)
	} else {
		p.called = append(p.called, c.Proc.OID)
	}
	if c.T.OID != to.OID {
		x = &plan.Relabel{At: plan.At{T: to, Off: c.Off}, X: x, Cast: plan.CastImplicit}
	}
	return x
}

// rowTo makes a value of a composite type of a row of type record, which only ROW(…)
// can become; nil when the types are others. named is the type that messages name, which
// may be a domain over it.
func (p *planner) rowTo(e plan.Expr, to types.T, named types.OID, ctx byte) plan.Expr {
	if e.Type().OID != types.ORecord || to.OID == types.ORecord || p.info(to.OID).Kind != types.KRecord {
		return nil
	}
	if r, ok := e.(*plan.RowCtor); ok {
		return p.coerceRow(r, to, named, ctx)
	}
	failf(sqlerr.CannotCoerce, e.Pos(), "cannot cast type %s to %s", p.bareName(e.Type().OID), p.bareName(named))
	return nil
}

// coerceRow makes a value of a composite type of ROW(…), field by field.
func (p *planner) coerceRow(r *plan.RowCtor, to types.T, named types.OID, ctx byte) plan.Expr {
	cols := p.rowColumns(to)
	refuse := func(format string, args ...any) {
		fail(sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", p.bareName(r.T.OID), p.bareName(named)).At(r.Off).WithDetail(format, args...))
	}
	out := &plan.RowCtor{At: plan.At{T: to, Off: r.Off}, Elems: make([]plan.Expr, len(cols)), Names: r.Names, Of: r.Of, Cast: castForm(ctx)}
	for i, col := range cols {
		if i >= len(r.Elems) {
			refuse("Input has too few columns.")
		}
		x := p.unsettled(r.Elems[i])
		if out.Elems[i] = p.coerce(x, col.T, ctx); out.Elems[i] == nil {
			refuse("Cannot cast type %s to %s in column %d.", p.bareName(x.Type().OID), p.bareName(col.T.OID), i+1)
		}
	}
	if len(r.Elems) > len(cols) {
		refuse("Input has too many columns.")
	}
	return out
}

func castForm(ctx byte) plan.CastForm {
	if ctx == explicit {
		return plan.CastExplicit
	}
	return plan.CastImplicit
}

// hideCast makes a conversion implicit: the one above it, which applies the
// modifier, names the whole type.
func hideCast(e plan.Expr) {
	switch e := e.(type) {
	case *plan.Call:
		e.Cast = plan.CastImplicit
	case *plan.Relabel:
		e.Cast = plan.CastImplicit
	case *plan.CoerceIO:
		e.Cast = plan.CastImplicit
	}
}

// stripImplicit is the expression below conversions that nobody wrote.
func stripImplicit(e plan.Expr) plan.Expr {
	for {
		switch x := e.(type) {
		case *plan.Call:
			if x.Cast != plan.CastImplicit || len(x.Args) == 0 {
				return e
			}
			e = x.Args[0]
		case *plan.Relabel:
			if x.Cast != plan.CastImplicit {
				return e
			}
			e = x.X
		case *plan.CoerceIO:
			if x.Cast != plan.CastImplicit {
				return e
			}
			e = x.X
		case *plan.CoerceMod:
			if x.Cast != plan.CastImplicit {
				return e
			}
			e = x.X
		default:
			return e
		}
	}
}

func (p *planner) coerceArg(e plan.Expr, to types.OID) plan.Expr {
	if e.Type().OID == to {
		return e
	}
	return &plan.Relabel{At: plan.At{T: p.T(to, -1), Off: e.Pos()}, X: e}
}

// coerceMod applies the modifier of to.
func (p *planner) coerceMod(e plan.Expr, to types.T, ctx byte) plan.Expr {
	from := e.Type()
	if to.OID == types.OBpchar && to.Mod < 0 && from.Mod >= 4 {
		// a value that no longer says its length has to carry its blanks
		return p.fold(&plan.CoerceMod{At: plan.At{T: to, Off: e.Pos()}, X: e, Cast: plan.CastImplicit})
	}
	if to.Mod < 0 || from.Mod == to.Mod {
		return e
	}
	return p.fold(&plan.CoerceMod{At: plan.At{T: to, Off: e.Pos()}, X: e, Explicit: ctx == explicit, Cast: castForm(ctx)})
}

// coerceUnknown gives an untyped literal or parameter its type.
func (p *planner) coerceUnknown(e plan.Expr, to types.T, ctx byte) plan.Expr {
	switch x := e.(type) {
	case *plan.Const:
		if to.OID == types.OUnknown {
			return e
		}
		if b := p.Snap.BaseType(to); b.OID != to.OID {
			return p.domain(hidden(p.coerceUnknown(e, b, ctx)), to, ctx)
		}
		if x.Val.Null {
			plain := to
			plain.Mod = -1
			return p.coerceMod(&plan.Const{At: plan.At{T: plain, Off: x.Off}, Val: types.Null(plain)}, to, ctx)
		}
		in := p.info(to.OID)
		if in.Kind == types.KOid && to.OID != types.OOid && to.OID != types.OXid && to.OID != types.OCid ||
			in.Kind == types.KEnum || in.Kind == types.KRecord || to.OID >= types.FirstUserOID && (in.Kind == types.KArray || in.Subtype >= types.FirstUserOID) || p.isRegArray(in) {
			// needs the catalog: converted when the statement starts
			p.readTypes = append(p.readTypes, to)
			text := &plan.Const{At: plan.At{T: types.TText, Off: x.Off}, Val: types.Bytes(types.TText, x.Val.B)}
			lit := &plan.CoerceIO{At: plan.At{T: to, Off: x.Off}, X: text, Explicit: true, Literal: true, Stored: p.inDefinition(), Cast: castForm(ctx)}
			if p.Consts != nil { // what cannot be read is an error wherever the literal stands
				var read plan.Expr = lit
				if checked := p.columnDomain(lit); checked != nil && !p.kept {
					read = checked
				}
				if _, err := p.Consts.EvalConst(read); err != nil {
					fail(at(err, x.Off))
				}
			}
			return p.fold(lit)
		}
		plain := to
		if to.OID != types.OInterval { // whose modifier may name the unit of a bare number
			plain.Mod = -1 // the modifier is applied by the rules of the context
		}
		d, err := types.Parse(plain, string(x.Val.B), cmp.Or(p.Reading, p.Fmt))
		if err != nil {
			fail(at(err, x.Off))
		}
		d.T = plain
		if plain.OID == types.OJSONPath && p.Consts != nil { // whose patterns are looked into
			text := &plan.Const{At: plan.At{T: types.TText, Off: x.Off}, Val: types.Bytes(types.TText, x.Val.B)}
			if _, err := p.Consts.EvalConst(&plan.CoerceIO{At: plan.At{T: to, Off: x.Off}, X: text, Explicit: true, Literal: true}); err != nil {
				fail(at(err, x.Off))
			}
		}
		if plain.OID == types.OBpchar && ctx == implicit {
			d.B = bytes.TrimRight(d.B, " ") // to be compared with the values of columns, which are unpadded
		}
		c := &plan.Const{At: plan.At{T: plain, Off: x.Off}, Val: d}
		return p.coerceMod(c, to, ctx)
	case *plan.Param:
		if x.Idx < len(p.params) {
			if cur := p.params[x.Idx]; cur.OID == types.OUnknown {
				t := to
				p.byField = p.byField || t.OID == types.OInterval && t.Mod >= 0
				t.Mod = -1
				p.params[x.Idx] = t
				return p.coerceMod(p.told(x, t), to, ctx)
			}
			cur := p.params[x.Idx] // another place, bound since, has said what it is
			if cur.OID != to.OID {
				fail(sqlerr.New(sqlerr.AmbiguousParameter, "inconsistent types deduced for parameter $%d", x.Idx+1).At(x.Off).
					WithDetail("%s versus %s", p.bareName(cur.OID), p.bareName(to.OID)))
			}
			return p.coerce(p.told(x, cur), to, ctx)
		}
	}
	// an unknown column of a subquery: through text
	text := &plan.Relabel{At: plan.At{T: types.TText, Off: e.Pos()}, X: e}
	if to.OID == types.OText {
		return text
	}
	return p.coerceMod(&plan.CoerceIO{At: plan.At{T: p.T(to.OID, -1), Off: e.Pos()}, X: text, Explicit: true}, to, ctx)
}

func (p *planner) isRegArray(in *types.Info) bool {
	if in.Kind != types.KArray || in.Elem == 0 {
		return false
	}
	el := p.info(in.Elem)
	return el.Kind == types.KOid && in.Elem != types.OOid && in.Elem != types.OXid && in.Elem != types.OCid
}

// at adds a position to an error that has none.
func at(err error, off int) error {
	if e, ok := err.(*sqlerr.Error); ok {
		c := *e
		return c.At(off)
	}
	return err
}

// must coerces or reports 42804/42846 in the words of the context.
func (p *planner) must(e plan.Expr, to types.T, ctx byte) plan.Expr {
	if x := p.coerce(e, to, ctx); x != nil {
		return x
	}
	failf(sqlerr.CannotCoerce, e.Pos(), "cannot cast type %s to %s", p.bareName(e.Type().OID), p.bareName(to.OID))
	return nil
}

// mustBool coerces a condition to boolean.
func (p *planner) mustBool(e plan.Expr, where string) plan.Expr {
	if x := p.coerce(e, types.TBool, assignment); x != nil && (e.Type().OID == types.OBool || isUnknown(e)) {
		return x
	}
	failf(sqlerr.DatatypeMismatch, leftmost(e), "argument of %s must be type boolean, not type %s", where, p.bareName(e.Type().OID))
	return nil
}

// commonType is select_common_type: the type that all expressions can take.
// what names the construct in errors ("UNION", "CASE").
func (p *planner) commonType(what string, exprs []plan.Expr) types.T {
	t := exprs[0].Type()
	if t.OID != types.OUnknown {
		same := true
		for _, e := range exprs[1:] {
			if e.Type().OID != t.OID {
				same = false
				break
			}
			if e.Type().Mod != t.Mod {
				t.Mod = -1
			}
		}
		if same {
			return t
		}
	}
	t.Mod = -1
	best := p.Snap.BaseType(t)
	best.Mod = -1
	for _, e := range exprs[1:] {
		n := p.Snap.BaseType(e.Type())
		n.Mod = -1
		if n.OID == types.OUnknown || n.OID == best.OID {
			continue
		}
		if best.OID == types.OUnknown {
			best = n
			continue
		}
		bi, ni := p.info(best.OID), p.info(n.OID)
		if bi.Category != ni.Category {
			if what == "" {
				return types.T{}
			}
			failf(sqlerr.DatatypeMismatch, leftmost(e), "%s types %s and %s cannot be matched", what, p.bareName(best.OID), p.bareName(n.OID))
		}
		if !bi.Preferred && p.canCoerce(best.OID, n.OID, implicit) && !p.canCoerce(n.OID, best.OID, implicit) {
			best = n
		}
	}
	if best.OID == types.OUnknown {
		return types.TText
	}
	return best
}

// toCommon converts all expressions to their common type.
func (p *planner) toCommon(what string, exprs []plan.Expr) ([]plan.Expr, types.T) {
	return p.toCommonOf(what, exprs, func(int) string { return what })
}

// toCommonOf is toCommon for a construct whose parts errors name each by its own.
func (p *planner) toCommonOf(what string, exprs []plan.Expr, part func(i int) string) ([]plan.Expr, types.T) {
	t := p.commonType(what, exprs)
	out := make([]plan.Expr, len(exprs))
	for i, e := range exprs {
		x := p.coerce(e, t, implicit)
		if x == nil {
			failf(sqlerr.CannotCoerce, e.Pos(), "%s could not convert type %s to %s", part(i), p.bareName(e.Type().OID), p.bareName(t.OID))
		}
		out[i] = x
	}
	return out, t
}

// known turns an expression that is still of type unknown into text.
func (p *planner) known(e plan.Expr) plan.Expr {
	if isUnknown(e) {
		return p.coerceUnknown(e, types.TText, implicit)
	}
	return e
}

// settled turns an unknown constant into text where any type will do. Nothing
// there says what a parameter is.
func (p *planner) settled(e plan.Expr) plan.Expr {
	if x, ok := e.(*plan.Param); ok && isUnknown(x) {
		out := &plan.Param{At: plan.At{T: types.TText, Off: x.Off}, Idx: x.Idx}
		p.untold = append(p.untold, out)
		return out
	}
	return p.known(e)
}

// unsettled takes settled back: a field of a row that becomes one of a composite type
// is read as that type's, as it was written.
func (p *planner) unsettled(e plan.Expr) plan.Expr {
	unknown := types.Of(types.OUnknown)
	switch x := e.(type) {
	case *plan.Const:
		if x.T.OID == types.OText {
			return &plan.Const{At: plan.At{T: unknown, Off: x.Off}, Val: x.Val}
		}
	case *plan.Param:
		if i := slices.Index(p.untold, x); i >= 0 {
			p.untold = slices.Delete(p.untold, i, i+1)
			return &plan.Param{At: plan.At{T: unknown, Off: x.Off}, Idx: x.Idx}
		}
	}
	return e
}

// allTold refuses parameters whose type nothing tells: at one of their places, where
// another place tells it, or at all.
func (p *planner) allTold() {
	for _, x := range p.untold {
		if p.params[x.Idx].OID != types.OUnknown {
			failf(sqlerr.AmbiguousParameter, x.Off, "could not determine data type of parameter $%d", x.Idx+1)
		}
	}
	for i, t := range p.params {
		if t.OID == types.OUnknown {
			failf(sqlerr.IndeterminateDatatype, -1, "could not determine data type of parameter $%d", i+1)
		}
	}
}

func constInt4(v int64) plan.Expr {
	return &plan.Const{At: plan.At{T: types.TInt4, Off: -1}, Val: types.Int(types.TInt4, v)}
}

func constBool(v bool) plan.Expr {
	return &plan.Const{At: plan.At{T: types.TBool, Off: -1}, Val: types.Bool(v)}
}
