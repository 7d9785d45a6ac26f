package expr

import (
	"bytes"
	"errors"
	"strconv"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// isReg reports whether the type's text form needs the catalog.
func isReg(o types.OID) bool {
	switch o {
	case types.ORegproc, types.ORegprocedure, types.ORegoper, types.ORegoperator, types.ORegclass, types.ORegtype,
		types.ORegrole, types.ORegnamespace, types.ORegconfig, types.ORegdictionary, types.ORegcollation:
		return true
	}
	return false
}

// appendText appends a value's text form, asking the session for names.
func appendText(env *Env, buf []byte, d types.Datum) []byte {
	if isReg(d.T.OID) && env.Session != nil {
		return append(buf, env.Session.RegOut(d.T, types.OID(d.I))...)
	}
	return types.AppendText(buf, d, env.Fmt)
}

// parseText reads a value of type t, asking the session for names and labels.
func parseText(env *Env, t types.T, s string) (types.Datum, error) {
	switch {
	case isReg(t.OID):
		if env.Session == nil {
			d, err := types.Parse(types.TOid, s, env.Fmt)
			d.T = t
			return d, err
		}
		o, err := env.Session.RegIn(t, s)
		return types.Int(t, int64(o)), err
	}
	base := t
	base.Mod = -1
	if t.User == types.KArray && env.Fmt.Reg != nil {
		base, _ = env.Fmt.Reg.DomainBase(base) // elements have the modifier of their domain
	}
	d, err := types.Parse(base, s, env.Fmt)
	d.T = t
	if t.OID == types.OJSONPath && err == nil {
		err = checkPathPatterns(d.B)
	}
	return d, err
}

func (c *compiler) compileCoerceIO(e *plan.CoerceIO) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	out := &coerceIO{unary: unary{x: x, t: e.T}, pos: -1, stored: e.Stored}
	if _, ok := e.X.(*plan.Const); ok && e.X.Type().OID == types.OUnknown {
		out.pos = e.X.Pos()
	}
	switch from, to := e.X.Type(), e.T; {
	case plainText(from.OID) && plainText(to.OID):
		return &relabelEval{x: x, t: to}, nil
	case plainText(to.OID) && isInteger(from.Kind()):
		return &intText{x: x, t: to}, nil
	case plainText(to.OID):
		out.f = out.toText
	case from.Kind() == types.KText && from.OID != types.OBpchar && from.OID != types.OChar:
		if n := newTextNumber(*out); n != nil {
			return n, nil
		}
		out.f = out.fromText
	default:
		out.f = out.through
	}
	return out, nil
}

// plainText reports whether the type's values are their own text form.
func plainText(o types.OID) bool {
	return o == types.OText || o == types.OVarchar || o == types.OUnknown || o == types.OCstring
}

// unary is a conversion done value by value.
type unary struct {
	x     Eval
	t     types.T
	f     func(env *Env, d types.Datum) (types.Datum, error)
	out   vec.Vec
	arena vec.Arena
	buf   []byte
}

func (e *unary) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	e.arena.Reset()
	return convertRows(env, b, e.x, e.t, &e.out, func(x *vec.Vec, i int) error {
		d, err := e.f(env, x.Get(i))
		if err == nil {
			e.out.Set(i, d)
		}
		return err
	})
}

// convertRows evaluates x and has each fill the rows of out that are not NULL; a
// constant stays one.
func convertRows(env *Env, b *vec.Batch, x Eval, t types.T, out *vec.Vec, each func(x *vec.Vec, i int) error) (*vec.Vec, error) {
	v, err := x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	n, rows := b.N, rowsOf(b)
	if v.Const {
		n, rows = 1, identity[:min(1, b.Rows())]
	}
	out.Reset(t, max(n, 1))
	out.Const = v.Const
	nulls := v.Nulls.Any()
	for _, i := range rows {
		if nulls && v.Nulls.Get(int(i)) {
			out.Nulls.Set(int(i))
			continue
		}
		if x := v.Idx(int(i)); v.T.Rep() == types.RepBytes && len(v.B[x]) >= largeValue/4 {
			if err := env.room(4 * int64(len(v.B[x]))); err != nil {
				return nil, err
			}
		}
		if err := each(v, int(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type coerceIO struct {
	unary
	pos    int
	stored bool
}

func isInteger(k types.Kind) bool {
	return k == types.KInt2 || k == types.KInt4 || k == types.KInt8
}

// intText writes integers as text.
type intText struct {
	x     Eval
	t     types.T
	out   vec.Vec
	arena vec.Arena
	buf   [20]byte // the longest, with its sign
}

func (e *intText) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	e.arena.Reset()
	return convertRows(env, b, e.x, e.t, &e.out, func(x *vec.Vec, i int) error {
		e.out.B[i] = e.arena.Copy(strconv.AppendInt(e.buf[:0], x.I64[i], 10))
		return nil
	})
}

func (e *coerceIO) toText(env *Env, d types.Datum) (types.Datum, error) {
	e.buf = appendText(env, e.buf[:0], d)
	return types.Bytes(e.t, e.arena.Copy(e.buf)), nil
}

func (e *coerceIO) fromText(env *Env, d types.Datum) (types.Datum, error) {
	if err := env.roomToRead(e.t, d.B); err != nil {
		return types.Datum{}, err
	}
	if e.stored && isReg(e.t.OID) && env.Session != nil {
		o, err := env.Session.RegStored(e.t, string(d.B))
		return types.Int(e.t, int64(o)), e.at(err)
	}
	out, err := parseText(env, e.t, string(d.B))
	return out, e.at(err)
}

func (e *coerceIO) through(env *Env, d types.Datum) (types.Datum, error) {
	e.buf = appendText(env, e.buf[:0], d)
	out, err := parseText(env, e.t, string(e.buf))
	return out, e.at(err)
}

// at adds the literal's position to the error of a literal's conversion.
func (e *coerceIO) at(err error) error {
	var se *sqlerr.Error
	if err != nil && e.pos >= 0 && errors.As(err, &se) {
		return se.At(e.pos)
	}
	return err
}

// compileRelabel changes the type alone. Text that becomes character keeps its
// blanks until a length is applied.
func (c *compiler) compileRelabel(e *plan.Relabel) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	return relabelTo(x, e.X.Type(), e.T), nil
}

// relabeled is what a change of type does to the number: object identifiers
// have no sign, integers do. nil where the number stays.
func relabeled(from, to types.T) func(int64) int64 {
	f, t := from.Kind(), to.Kind()
	switch {
	case t == types.KOid && (f == types.KInt2 || f == types.KInt4):
		return func(v int64) int64 { return int64(uint32(v)) }
	case f == types.KOid && t == types.KInt4:
		return func(v int64) int64 { return int64(int32(v)) }
	}
	return nil
}

// relabelTo changes the type, and the number where that needs it.
func relabelTo(x Eval, from, to types.T) Eval {
	f := relabeled(from, to)
	if f == nil {
		return &relabelEval{x: x, t: to}
	}
	return &unary{x: x, t: to, f: func(_ *Env, d types.Datum) (types.Datum, error) { return types.Int(to, f(d.I)), nil }}
}

func (c *compiler) compileCoerceMod(e *plan.CoerceMod) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	if from := e.X.Type(); e.T.OID == types.OBpchar && e.T.Mod < 0 && from.Mod >= 4 {
		return &unary{x: x, t: e.T, f: func(_ *Env, d types.Datum) (types.Datum, error) {
			return types.ApplyMod(d, e.T, false)
		}}, nil
	}
	if e.T.Mod < 0 {
		return &relabelEval{x: x, t: e.T}, nil
	}
	out := &coerceMod{explicit: e.Explicit}
	out.unary = unary{x: x, t: e.T, f: out.apply}
	return out, nil
}

// coerceMod applies a type modifier. Values that satisfy it already pass
// without being touched.
type coerceMod struct {
	unary
	explicit bool
	same     vec.Vec
	ints     []int64
}

func (e *coerceMod) apply(_ *Env, d types.Datum) (types.Datum, error) {
	if k := e.t.OID; (k == types.OVarchar || k == types.OBpchar) && len(d.B) <= int(e.t.Mod)-4 {
		d.T = e.t
		if k == types.OBpchar {
			d.B = bytes.TrimRight(d.B, " ")
		}
		return d, nil
	}
	return types.ApplyMod(d, e.t, e.explicit)
}

func (e *coerceMod) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	if e.t.Rep() != types.RepDec {
		return e.unary.Eval(env, b)
	}
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	precision, scale := numericMod(e.t.Mod)
	var one [1]int64
	vals, from, ok := narrowForm(x, &one)
	if ok && scale >= 0 && precision < len(pow10) && from <= scale {
		if e.rescale(x, vals, from, scale, pow10[precision], b) {
			return &e.same, nil
		}
	}
	h := holder{x}
	kept := e.x
	e.x = &h
	v, err := e.unary.Eval(env, b)
	e.x = kept
	return v, err
}

// numericMod takes a numeric's modifier apart; the scale may be negative.
func numericMod(mod int32) (precision int, scale int32) {
	m := mod - 4
	scale = m & 0x7ff
	if scale >= 1024 {
		scale -= 2048
	}
	return int(m>>16) & 0xffff, scale
}

// rescale brings integers to a larger or equal scale; false when one does not
// fit the precision, so that the general path reports it.
func (e *coerceMod) rescale(x *vec.Vec, vals []int64, from, scale int32, limit int64, b *vec.Batch) bool {
	rows := rowsOf(b)
	n := b.N
	if x.Const {
		n, rows = 1, identity[:min(1, b.Rows())]
	}
	e.ints = resize(e.ints, max(n, 1))
	for _, i := range rows {
		if x.IsNull(int(i)) {
			continue
		}
		v, ok := mulPow10(vals[i], scale-from)
		if !ok || v >= limit || v <= -limit {
			return false
		}
		e.ints[i] = v
	}
	e.same = vec.Vec{T: e.t, Const: x.Const, Nulls: x.Nulls, I64: e.ints, Scale: scale}
	return true
}

func (c *compiler) compileCoerceArray(e *plan.CoerceArray) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	elem, err := newCompiler().compile(e.Elem)
	if err != nil {
		return nil, err
	}
	conv := func(env *Env, d types.Datum) (types.Datum, error) {
		t, dims, lbs, elems, err := types.ArrayElems(d)
		if err != nil {
			return d, err
		}
		to := e.Elem.Type()
		out := make([]types.Datum, len(elems))
		if len(elems) > 0 {
			v := vec.New(t, len(elems))
			for i, el := range elems {
				v.Set(i, el)
			}
			r, err := elem.Eval(env, &vec.Batch{Cols: []*vec.Vec{v}, N: len(elems)})
			if err != nil {
				return d, err
			}
			for i := range out {
				out[i] = r.Get(i)
			}
		}
		if e.Check {
			d.T = e.T
			return d, nil
		}
		a := types.NewArray(to, dims, lbs, out)
		a.T = e.T
		return a, nil
	}
	return &unary{x: x, t: e.T, f: conv}, nil
}
