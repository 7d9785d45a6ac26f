package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// callSQL is a call of a user-defined function in an expression: the first row
// of the body's last statement, NULL when there is none.
func callSQL(c *callCtx, args []types.Datum) (types.Datum, error) {
	out, found := types.Null(c.call.T), false
	err := runSQL(c.env, c.call, args, func(b *vec.Batch) (bool, error) {
		if !found && b.Rows() > 0 {
			out, found = own(rowValue(c.call, b, b.Row(0))), true
		}
		return !found, nil
	})
	return out, err
}

func runSQL(env *Env, c *plan.Call, args []types.Datum, yield func(*vec.Batch) (bool, error)) error {
	if env.CallSQL == nil {
		return sqlerr.Unsupported(c.Off, "user-defined function %s here", c.Proc.Name)
	}
	return env.CallSQL(env, c, args, yield)
}

// rowValue is a row of a body's result as one value of the call's type: its column, or a row
// made of its columns.
func rowValue(c *plan.Call, b *vec.Batch, i int) types.Datum {
	t := c.T
	if t.Kind() != types.KRecord || wholeRow(c, b) {
		d := b.Cols[0].Get(i)
		d.T = t
		return d
	}
	return rowOf(t, b, i)
}

// rowOf is a row of a batch as one value of a row's type t.
func rowOf(t types.T, b *vec.Batch, i int) types.Datum {
	fields := make([]types.Datum, len(b.Cols))
	for k, c := range b.Cols {
		fields[k] = c.Get(i)
	}
	d := newRecord(fields...)
	d.T = t
	return d
}

// sqlSet is a call of a user-defined set-returning function. The body runs to
// its end when the set is begun, so that what it changes has happened then.
type sqlSet struct {
	env  callCtx
	args []Eval
	cols []types.T
	rows []*vec.Batch
	at   int
	held int64 // bytes accounted for rows
}

func newSQLSet(call *plan.Call, args []Eval) *sqlSet {
	return &sqlSet{env: callCtx{call: call}, args: args, cols: setColumns(call)}
}

func (s *sqlSet) Cols() []types.T { return s.cols }

func (s *sqlSet) Start(env *Env, b *vec.Batch, row int) error {
	s.rows, s.at, s.held = nil, 0, 0
	vals, ok, err := argValues(env, s.env.call, s.args, b, row)
	if err != nil || !ok {
		return err
	}
	build := vec.NewBuilder(s.cols)
	line := make([]types.Datum, len(s.cols))
	err = runSQL(env, s.env.call, vals, func(b *vec.Batch) (bool, error) {
		for _, i := range rowsOf(b) {
			if err := s.split(b, int(i), line); err != nil {
				return false, err
			}
			build.Append(line)
			if build.Len() == vec.BatchSize {
				s.rows = append(s.rows, build.Finish())
			}
		}
		n := int64(b.Rows()*len(line)) * 32
		s.held += n
		return true, account(env, n)
	})
	if build.Len() > 0 {
		s.rows = append(s.rows, build.Finish())
	}
	return err
}

// split makes the columns of one row: a row value is taken apart when the call
// has columns, and made when it has none.
func (s *sqlSet) split(b *vec.Batch, i int, line []types.Datum) error {
	if len(s.env.call.Cols) == 0 {
		line[0] = rowValue(s.env.call, b, i)
		return nil
	}
	if wholeRow(s.env.call, b) {
		d := b.Cols[0].Get(i)
		if !d.Null {
			if err := sameFields(d, s.cols); err != nil {
				return err
			}
		}
		for k, t := range s.cols {
			line[k] = types.Null(t)
			if !d.Null {
				var err error
				if line[k], err = field(d.B, k, t); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if len(b.Cols) != len(line) {
		return sqlerr.New(sqlerr.DatatypeMismatch, "function return row and query-specified return row do not match").
			WithDetail("Returned row contains %d attributes, but query expects %d.", len(b.Cols), len(line))
	}
	for k := range line {
		line[k] = b.Cols[k].Get(i)
	}
	return nil
}

// wholeRow tells whether the one column of a body's result is the row that the call
// returns, rather than that row's first column.
func wholeRow(c *plan.Call, b *vec.Batch) bool {
	if len(b.Cols) != 1 || c.Proc.SQL.Procedure {
		return false
	}
	t := b.Cols[0].T
	return t.Kind() == types.KRecord && (t.OID == c.T.OID || t.OID == types.ORecord || c.T.OID == types.ORecord)
}

// sameFields reports how a row of no declared type differs from the columns of a call.
func sameFields(d types.Datum, cols []types.T) error {
	fields, err := types.RecordFields(d)
	if err != nil {
		return err
	}
	got := make([]types.T, len(fields))
	for i, f := range fields {
		if got[i] = f.T; i < len(cols) && cols[i].OID >= types.FirstUserOID {
			got[i] = cols[i] // the field of a domain has the type below it
		}
	}
	return sameRow(got, cols)
}

// sameRow reports how a row that a function returns differs from the one that the query
// says it returns.
func sameRow(got, want []types.T) error {
	if len(got) != len(want) {
		return errRowWidth(len(got), len(want))
	}
	for i := range got {
		if got[i].OID != want[i].OID && !(isPlainText(got[i]) && isPlainText(want[i])) {
			return errRowMatch().WithDetail("Returned type %s at ordinal position %d, but query expects %s.",
				types.FormatTypeNoMod(got[i].OID), i+1, types.FormatTypeNoMod(want[i].OID))
		}
	}
	return nil
}

// isPlainText reports whether a type is text or varchar, whose values are the same.
func isPlainText(t types.T) bool { return t.OID == types.OText || t.OID == types.OVarchar }

func errRowWidth(got, want int) error {
	what := "attributes"
	if got == 1 {
		what = "attribute"
	}
	return errRowMatch().WithDetail("Returned row contains %d %s, but query expects %d.", got, what, want)
}

func errRowMatch() *sqlerr.Error {
	return sqlerr.New(sqlerr.DatatypeMismatch, "function return row and query-specified return row do not match")
}

func (s *sqlSet) Next(env *Env) (*vec.Batch, error) {
	if s.at >= len(s.rows) {
		n := s.held
		s.rows, s.held = nil, 0
		return nil, account(env, -n)
	}
	s.at++
	return s.rows[s.at-1], nil
}

// argValues evaluates the arguments of a set at a row; false when the function
// is strict and one is NULL.
func argValues(env *Env, call *plan.Call, args []Eval, b *vec.Batch, row int) ([]types.Datum, bool, error) {
	one := vec.Batch{Cols: b.Cols, N: b.N, Sel: []uint32{uint32(row)}}
	if b.N == 0 {
		one, row = vec.Batch{N: 1}, 0
	}
	vals := make([]types.Datum, 0, len(args))
	for _, a := range args {
		v, err := a.Eval(env, &one)
		if err != nil {
			return nil, false, err
		}
		d := own(v.Get(row))
		if d.Null && call.Proc.Strict {
			return nil, false, nil
		}
		vals = append(vals, d)
	}
	return vals, true, nil
}

// CompileSetValue compiles a set-returning call of a select list, whose rows
// are one value each: those of several columns become row values.
func CompileSetValue(e plan.Expr) (SetFunc, error) {
	s, err := newCompiler().compileSet(e)
	if err != nil || e.Type().Kind() != types.KRecord {
		return s, err
	}
	call, isCall := e.(*plan.Call)
	if cols := s.Cols(); len(cols) == 1 && cols[0].Kind() == types.KRecord && !(isCall && len(call.Cols) == 1) {
		return s, nil
	}
	set := &rowSet{SetFunc: s, t: e.Type(), build: vec.NewBuilder([]types.T{e.Type()})}
	if isCall {
		set.names = outNames(call)
	}
	return set, nil
}

// rowSet makes row values of the columns of a set.
type rowSet struct {
	SetFunc
	t     types.T
	names []string
	build *vec.Builder
}

func (s *rowSet) Cols() []types.T { return []types.T{s.t} }

func (s *rowSet) Next(env *Env) (*vec.Batch, error) {
	b, err := s.SetFunc.Next(env)
	if b == nil || err != nil {
		return nil, err
	}
	for _, i := range rowsOf(b) {
		s.build.Append([]types.Datum{withNames(rowOf(s.t, b, int(i)), s.names)})
	}
	return s.build.Finish(), nil
}
