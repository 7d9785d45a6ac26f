package expr

import (
	"bytes"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// callCtx is what a function's body may use beside its arguments.
type callCtx struct {
	env   *Env
	call  *plan.Call
	arena vec.Arena
	buf   []byte // scratch for building a result, see keep
	canon []byte // likewise, for canonical jsonb
	state any    // kept from row to row: compiled patterns and the like
}

// keep copies a result out of the scratch buffer to where it lives until the
// next evaluation, and hands the buffer back.
func (c *callCtx) keep(b []byte) []byte {
	if len(b) >= largeValue { // is not copied, nor is so much room kept for the next
		c.buf = nil
		return b[:len(b):len(b)]
	}
	c.buf = b[:0]
	return c.arena.Copy(b)
}

// largeValue is the number of bytes from which a function asks for room.
const largeValue = 1 << 20

// datumBytes is about what a value in a list takes, beside its bytes.
const datumBytes = 128

// room makes sure that a value of n bytes may be made.
func (c *callCtx) room(n int64) error { return c.env.room(n) }

func (env *Env) room(n int64) error {
	if n < largeValue || env == nil || env.Room == nil {
		return nil
	}
	return env.Room(n)
}

// roomForResults makes sure that values about as long as the arguments may be made of
// them, for the rows that b selects.
func (env *Env) roomForResults(args []*vec.Vec, b *vec.Batch) error {
	n := 0
	for _, v := range args {
		switch {
		case v.T.Rep() != types.RepBytes || len(v.B) == 0:
		case v.Const:
			n += len(v.B[0])
		default:
			for _, i := range rowsOf(b) {
				n += len(v.B[i])
			}
		}
	}
	return env.room(int64(n))
}

// roomToRead makes sure that the text of a value of the type may be read: arrays and
// documents are lists of elements before they are one value.
func (env *Env) roomToRead(t types.T, text []byte) error {
	if len(text) < largeValue/datumBytes {
		return nil
	}
	n := int64(len(text))
	switch t.Kind() {
	case types.KText, types.KBytea:
		n *= 2
	default:
		n = 4*n + int64(bytes.Count(text, []byte{','}))*2*datumBytes
	}
	return env.room(n)
}

// enlarge returns buf with room for n more bytes, if a value may be so long and there
// is memory for it: 54000, 53200. It is for values that grow row by row.
func (env *Env) enlarge(buf []byte, n int) ([]byte, error) {
	need := len(buf) + n
	switch {
	case need <= cap(buf):
		return buf, nil
	case need > maxText:
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "out of memory").
			WithDetail("Cannot enlarge string buffer containing %d bytes by %d more bytes.", len(buf), n)
	case need < largeValue:
		return slices.Grow(buf, n), nil
	}
	size := min(max(need, 2*cap(buf)), maxText)
	if err := env.room(int64(size)); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, size), buf...), nil
}

// text is an empty buffer for a text of n bytes: 54000 if no value may be so long.
func (c *callCtx) text(n int64) ([]byte, error) {
	if n > maxText {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "out of memory").
			WithDetail("A value of %d bytes is longer than the longest, which has %d.", n, maxText)
	}
	if n < largeValue {
		return c.buf[:0], nil
	}
	if err := c.room(n); err != nil {
		return nil, err
	}
	return make([]byte, 0, n), nil
}

func (c *callCtx) keepString(s string) []byte { return c.keep(append(c.buf[:0], s...)) }

// frame is the part that all lifted calls share: it evaluates arguments, joins
// their NULLs and finds the rows for which the body runs.
type frame struct {
	callCtx
	args    []Eval
	vecs    []*vec.Vec
	out     vec.Vec
	sel     []uint32
	scratch [4][]types.Decimal
}

func newFrame(call *plan.Call, args []Eval) frame {
	return frame{callCtx: callCtx{call: call}, args: args, vecs: make([]*vec.Vec, len(args))}
}

// evalArgs evaluates the arguments and sizes the result: one row if everything
// is constant and the function gives the same for the same arguments.
func (f *frame) evalArgs(env *Env, b *vec.Batch) (n int, err error) {
	constant := f.call.Proc.Volatile != 'v'
	for i, a := range f.args {
		if f.vecs[i], err = a.Eval(env, b); err != nil {
			return 0, err
		}
		constant = constant && f.vecs[i].Const
	}
	n = b.N
	if constant {
		n = 1
	}
	f.env = env
	if err := env.roomForResults(f.vecs, b); err != nil {
		return 0, err
	}
	f.arena.Reset()
	f.out.Reset(f.call.T, max(n, 1))
	f.out.Const = constant
	return n, nil
}

// rows returns the rows to compute of a function that sees NULLs.
func (f *frame) rows(b *vec.Batch) []uint32 {
	if !f.out.Const {
		return rowsOf(b)
	}
	if b.Rows() == 0 {
		return nil
	}
	return identity[:1]
}

// strictRows evaluates the arguments of a strict function and returns the rows
// in which none is NULL; the others are NULL in the result.
func (f *frame) strictRows(env *Env, b *vec.Batch) ([]uint32, error) {
	n, err := f.evalArgs(env, b)
	if err != nil {
		return nil, err
	}
	for _, v := range f.vecs {
		unionNulls(&f.out, v, n)
	}
	rows := f.rows(b)
	if f.out.Nulls.Any() {
		f.sel = nonNull1(f.sel[:0], &f.out.Nulls, rows)
		rows = f.sel
	}
	return rows, nil
}

func nonNull1(dst []uint32, n *vec.Nulls, rows []uint32) []uint32 {
	for _, i := range rows {
		if !n.Get(int(i)) {
			dst = append(dst, i)
		}
	}
	return dst
}

type call1[A, R value] struct {
	frame
	body func(c *callCtx, a A) (R, error)
}

// fn1 lifts a strict function of one argument to vectors; fn0, fn2 and fn3
// likewise. Byte results must stay valid until the next evaluation: parts of
// the arguments, constants, or callCtx.keep.
func fn1[A, R value](body func(c *callCtx, a A) (R, error)) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &call1[A, R]{newFrame(call, args), body}, nil
	}
}

func (e *call1[A, R]) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	x, mx := column[A](e.vecs[0], rows, &e.scratch[0]), mask(e.vecs[0])
	out := column[R](&e.out, nil, nil)
	for _, i := range rows {
		if out[i], err = e.body(&e.callCtx, x[int(i)&mx]); err != nil {
			return nil, err
		}
	}
	return &e.out, nil
}

type call2[A, B, R value] struct {
	frame
	body func(c *callCtx, a A, b B) (R, error)
}

func fn2[A, B, R value](body func(c *callCtx, a A, b B) (R, error)) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &call2[A, B, R]{newFrame(call, args), body}, nil
	}
}

func (e *call2[A, B, R]) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	x, mx := column[A](e.vecs[0], rows, &e.scratch[0]), mask(e.vecs[0])
	y, my := column[B](e.vecs[1], rows, &e.scratch[1]), mask(e.vecs[1])
	out := column[R](&e.out, nil, nil)
	for _, i := range rows {
		if out[i], err = e.body(&e.callCtx, x[int(i)&mx], y[int(i)&my]); err != nil {
			return nil, err
		}
	}
	return &e.out, nil
}

type call3[A, B, C, R value] struct {
	frame
	body func(c *callCtx, x A, y B, z C) (R, error)
}

func fn3[A, B, C, R value](body func(c *callCtx, x A, y B, z C) (R, error)) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &call3[A, B, C, R]{newFrame(call, args), body}, nil
	}
}

func (e *call3[A, B, C, R]) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	x, mx := column[A](e.vecs[0], rows, &e.scratch[0]), mask(e.vecs[0])
	y, my := column[B](e.vecs[1], rows, &e.scratch[1]), mask(e.vecs[1])
	z, mz := column[C](e.vecs[2], rows, &e.scratch[2]), mask(e.vecs[2])
	out := column[R](&e.out, nil, nil)
	for _, i := range rows {
		if out[i], err = e.body(&e.callCtx, x[int(i)&mx], y[int(i)&my], z[int(i)&mz]); err != nil {
			return nil, err
		}
	}
	return &e.out, nil
}

type call0[R value] struct {
	frame
	body func(c *callCtx) (R, error)
}

func fn0[R value](body func(c *callCtx) (R, error)) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &call0[R]{newFrame(call, args), body}, nil
	}
}

func (e *call0[R]) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	rows, err := e.strictRows(env, b)
	if err != nil {
		return nil, err
	}
	out := column[R](&e.out, nil, nil)
	for _, i := range rows {
		if out[i], err = e.body(&e.callCtx); err != nil {
			return nil, err
		}
	}
	return &e.out, nil
}

// datumBody is the body of a function that takes and returns datums; the result
// may be NULL. A non-null result's T is set by the adapter.
type datumBody func(c *callCtx, args []types.Datum) (types.Datum, error)

type callN struct {
	frame
	row  []types.Datum
	body datumBody
}

// fnD lifts a function over datums, for polymorphic functions, for results that
// may be NULL, and for the long tail. NULL arguments are kept from strict ones.
func fnD(body datumBody) builder {
	return func(_ *compiler, call *plan.Call, args []Eval) (Eval, error) {
		return &callN{newFrame(call, args), make([]types.Datum, len(args)), body}, nil
	}
}

func (e *callN) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	var rows []uint32
	var err error
	if e.call.Proc.Strict {
		rows, err = e.strictRows(env, b)
	} else if _, err = e.evalArgs(env, b); err == nil {
		rows = e.rows(b)
	}
	if err != nil {
		return nil, err
	}
	if err := e.each(rows); err != nil {
		return nil, err
	}
	return &e.out, nil
}

// each computes the result of some rows, of which the arguments are evaluated.
func (e *callN) each(rows []uint32) error {
	for _, i := range rows {
		for k, v := range e.vecs {
			e.row[k] = v.Get(int(i))
		}
		d, err := e.body(&e.callCtx, e.row)
		if err != nil {
			return err
		}
		e.out.Set(int(i), d)
	}
	return nil
}

// null is the result of a datumBody that is NULL.
var null = types.Datum{Null: true}

func textDatum(b []byte) types.Datum { return types.Datum{T: types.TText, B: b} }
func intDatum(v int64) types.Datum   { return types.Datum{T: types.TInt8, I: v} }
