package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// setBuilder makes a set-returning function's body for one call.
type setBuilder func(call *plan.Call) setBody

// setBody begins a set for one row of arguments and returns its generator,
// which appends the next rows, up to the capacity of the emitter, and returns
// false at the end. Arguments of strict functions are not NULL.
type setBody func(c *callCtx, args []types.Datum) (next func(out *emitter) (bool, error), err error)

// emitter collects the rows of a set.
type emitter struct{ b *vec.Builder }

func (o *emitter) row(ds ...types.Datum) { o.b.Append(ds) }
func (o *emitter) full() bool            { return o.b.Full() }

// rowsSet adapts a body that knows all its rows at once.
func rowsSet(f func(c *callCtx, args []types.Datum) ([][]types.Datum, error)) setBuilder {
	return func(*plan.Call) setBody {
		return func(c *callCtx, args []types.Datum) (func(*emitter) (bool, error), error) {
			rows, err := f(c, args)
			if err != nil {
				return nil, err
			}
			return func(out *emitter) (bool, error) {
				for len(rows) > 0 && !out.full() {
					out.row(rows[0]...)
					rows = rows[1:]
				}
				return len(rows) > 0, nil
			}, nil
		}
	}
}

// column1 makes rows of one column.
func column1(ds []types.Datum) [][]types.Datum {
	rows := make([][]types.Datum, len(ds))
	for i := range ds {
		rows[i] = ds[i : i+1]
	}
	return rows
}

func (c *compiler) compileSet(e plan.Expr) (SetFunc, error) {
	call, ok := e.(*plan.Call)
	if !ok || !call.Proc.RetSet {
		return c.compileSingle(e)
	}
	args, err := c.compileAll(call.Args)
	if err != nil {
		return nil, err
	}
	if call.Proc.SQL != nil {
		return newSQLSet(call, args), nil
	}
	b, ok := functions().sets[call.Proc.Src]
	if !ok {
		return nil, unsupportedCall(call)
	}
	s := &setCall{callCtx: callCtx{call: call}, args: args, body: b(call), cols: setColumns(call)}
	s.out.b = vec.NewBuilder(s.cols)
	return s, nil
}

// setColumns returns the result's columns: the OUT arguments, or the type itself.
func setColumns(call *plan.Call) []types.T {
	p := call.Proc
	if p.SQL != nil {
		if len(call.Cols) > 0 {
			return call.Cols
		}
		return []types.T{call.T}
	}
	var cols []types.T
	for _, c := range call.Defined {
		cols = append(cols, c.T)
	}
	for i, m := range p.ArgModes {
		if m != 'i' && m != 'v' && i < len(p.AllArgs) {
			cols = append(cols, resolvePoly(p.AllArgs[i], call))
		}
	}
	if len(cols) > 0 {
		return cols
	}
	if p.Src == "array_unnest" && len(call.Args) > 1 {
		for _, a := range call.Args {
			cols = append(cols, elemType(a.Type()))
		}
		return cols
	}
	return []types.T{call.T}
}

// resolvePoly turns a polymorphic OUT type into the call's actual one.
func resolvePoly(o types.OID, call *plan.Call) types.T {
	switch o {
	case types.OAnyelement, types.OAnynonarray, types.OAnycompatible:
		for i, a := range call.Proc.Args {
			if i >= len(call.Args) {
				break
			}
			switch a {
			case types.OAnyarray, types.OAnycompatiblearray:
				return elemType(call.Args[i].Type())
			case o:
				return call.Args[i].Type()
			}
		}
	case types.OAnyarray, types.OAnycompatiblearray:
		for i, a := range call.Proc.Args {
			if a == o && i < len(call.Args) {
				return call.Args[i].Type()
			}
		}
	}
	return types.Of(o)
}

// setCall is a running set-returning function.
type setCall struct {
	callCtx
	args []Eval
	body setBody
	next func(*emitter) (bool, error)
	out  emitter
	cols []types.T
	vals []types.Datum // the arguments of the set under way
	row  [1]uint32
}

func (s *setCall) Cols() []types.T { return s.cols }

func (s *setCall) Start(env *Env, b *vec.Batch, row int) error {
	s.env, s.next = env, nil
	one := vec.Batch{Cols: b.Cols, N: b.N, Sel: s.row[:]}
	if b.N == 0 {
		one, row = vec.Batch{N: 1}, 0
	}
	s.row[0] = uint32(row)
	s.vals = s.vals[:0]
	for _, a := range s.args {
		v, err := a.Eval(env, &one)
		if err != nil {
			return err
		}
		d := v.Get(row) // its bytes stay until the set's end: nothing evaluates the argument before
		if d.Null && s.call.Proc.Strict {
			return nil
		}
		s.vals = append(s.vals, d)
	}
	next, err := s.body(&s.callCtx, s.vals)
	s.next = next
	return err
}

func (s *setCall) Next(env *Env) (*vec.Batch, error) {
	if s.next == nil {
		return nil, nil
	}
	if err := env.Ctx.Err(); err != nil {
		return nil, canceled()
	}
	s.env = env
	s.out.b.Reset()
	more, err := s.next(&s.out)
	if err != nil {
		return nil, err
	}
	if !more {
		s.next = nil
	}
	if s.out.b.Len() == 0 {
		return nil, nil
	}
	return s.out.b.Batch(), nil
}

func (s *setCall) Fill(env *Env, b *vec.Builder) (bool, error) {
	if s.next == nil {
		return false, nil
	}
	if err := env.Ctx.Err(); err != nil {
		return false, canceled()
	}
	s.env = env
	more, err := s.next(&emitter{b})
	if !more {
		s.next = nil
	}
	return more, err
}

func canceled() error {
	return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
}

// singleRow is any expression as a set of one row; a record's OUT arguments
// become columns.
type singleRow struct {
	x    Eval
	cols []types.T
	rec  bool
	own  bool // a user-defined function, whose body may return another row than it says
	free bool // a row of no declared type, which may be another one than the query says
	reg  types.RegNames
	v    *vec.Vec
	row  int
	done bool
}

func (c *compiler) compileSingle(e plan.Expr) (SetFunc, error) {
	x, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	s := &singleRow{x: x, cols: []types.T{e.Type()}}
	if call, ok := e.(*plan.Call); ok && e.Type().Kind() == types.KRecord {
		if cols := setColumns(call); len(cols) > 1 || cols[0] != call.T {
			s.cols, s.rec, s.own = cols, true, call.Proc.SQL != nil
		}
	}
	return s, nil
}

func (s *singleRow) Cols() []types.T { return s.cols }

func (s *singleRow) Start(env *Env, b *vec.Batch, row int) error {
	one := vec.Batch{Cols: b.Cols, N: b.N, Sel: []uint32{uint32(row)}}
	if b.N == 0 {
		one = vec.Batch{N: 1}
		row = 0
	}
	if env.Fmt != nil {
		s.reg = env.Fmt.Reg
	}
	v, err := s.x.Eval(env, &one)
	s.v, s.row, s.done = v, row, false
	return err
}

func (s *singleRow) Next(*Env) (*vec.Batch, error) {
	if s.done {
		return nil, nil
	}
	s.done = true
	row, err := s.values(s.v.Get(s.row))
	if err != nil {
		return nil, err
	}
	out := &vec.Batch{N: 1}
	for _, f := range row {
		out.Cols = append(out.Cols, oneRow(f))
	}
	return out, nil
}

func (s *singleRow) Fill(_ *Env, b *vec.Builder) (bool, error) {
	if s.done {
		return false, nil
	}
	s.done = true
	row, err := s.values(s.v.Get(s.row))
	if err == nil {
		b.Append(row)
	}
	return false, err
}

// values are the columns that the value d makes.
func (s *singleRow) values(d types.Datum) ([]types.Datum, error) {
	if !s.rec {
		return []types.Datum{d}, nil
	}
	if s.own && !d.Null {
		if err := sameFields(d, s.cols); err != nil {
			if v, ok := s.only(d); ok {
				return []types.Datum{v}, nil
			}
			return nil, err
		}
	}
	if s.free && !d.Null {
		if err := sameFields(d, s.cols); err != nil {
			return nil, err
		}
	}
	row := make([]types.Datum, len(s.cols))
	for i, t := range s.cols {
		row[i] = types.Null(t)
		if d.Null {
			continue
		}
		var err error
		if row[i], err = field(d.B, i, t); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// only is a row that is the value of the only column: what a body returns for one
// output parameter of a composite type is a row either way.
func (s *singleRow) only(d types.Datum) (types.Datum, bool) {
	if len(s.cols) != 1 || s.cols[0].Kind() != types.KRecord || s.reg == nil {
		return d, false
	}
	_, attributes, err := s.reg.Attributes(s.cols[0].OID)
	if err != nil || sameFields(d, attributes) != nil {
		return d, false
	}
	d.T = s.cols[0]
	return d, true
}

func oneRow(d types.Datum) *vec.Vec {
	v := vec.New(d.T, 1)
	v.Set(0, d)
	return v
}
