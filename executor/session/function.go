package session

import (
	"context"
	"errors"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

const (
	// maxCallDepth bounds calls of functions inside of functions.
	maxCallDepth = 500
	// maxBodies bounds the bodies of functions that a session keeps planned.
	maxBodies = 1024
)

// routineBody is a function's body, planned for one call of it: polymorphic
// arguments have the call's types.
type routineBody struct {
	f     *catalog.Function
	stmts []*plannedStmt
}

// callSQL is expr.Env.CallSQL: it runs the statements of a function's body and
// yields the rows of the last one until yield returns false.
func (s *Session) callSQL(x *expr.Env, c *plan.Call, args []types.Datum, yield rowYield) error {
	if s.tx == nil {
		return sqlerr.New(sqlerr.InternalError, "a function is called outside of a transaction")
	}
	f := c.Proc.SQL
	outer := s.readsFrom
	defer func() { s.readsFrom = outer }()
	if s.readsFrom = nil; f.Volatile != 'v' {
		s.readsFrom, _ = x.Reads.(kv.Reader)
	}
	alone := s.readsNothing
	defer func() { s.readsNothing = alone }()
	s.readsNothing = x.ReadsNothing && (alone || s.depth == 0)
	if s.settings.trackFunctions {
		defer s.timeCall(f.OID)()
	}
	if s.depth >= maxCallDepth {
		return sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
			WithHint("Functions call each other more than %d deep.", maxCallDepth)
	}
	s.depth++
	defer func() { s.depth-- }()
	if len(f.Config) > 0 {
		inner, leave, err := s.configured(f, yield)
		if err != nil {
			return err
		}
		defer leave()
		yield = inner
	}
	body, err := s.bodyOf(c)
	if err != nil {
		return inFunction(err, f, "during startup")
	}
	// The values live as long as the call, which may run statements over and over.
	own := make([]types.Datum, len(args))
	for i, d := range args {
		own[i] = d
		if d.B != nil {
			own[i].B = append([]byte(nil), d.B...)
		}
	}
	now := f.Volatile == 'v' && s.calledOnView(x)
	run := func(yield rowYield) error {
		for i, p := range body.stmts {
			if i > 0 && now {
				if err := s.readAgain(x.Ctx); err != nil {
					return err
				}
			}
			out := yield
			if i < len(body.stmts)-1 || c.T.OID == types.OVoid {
				out = nil
			} else if c.T.OID == types.ORecord && len(c.Cols) == 0 {
				out = asRecords(p, c.T, yield)
			}
			if err := s.runInBody(x.Ctx, f, p, own, out, !c.Proc.RetSet); err != nil {
				return inFunction(err, f, "statement "+itoa(i+1))
			}
		}
		return nil
	}
	if now {
		return s.callNow(x.Ctx, body, run, yield)
	}
	return run(yield)
}

// rowYield takes rows of a function until it returns false.
type rowYield = func(*vec.Batch) (bool, error)

// asRecords makes each row that p yields one record, which carries the names of
// p's columns, for a function whose call says nothing about columns.
func asRecords(p *plannedStmt, t types.T, yield rowYield) rowYield {
	build := vec.NewBuilder([]types.T{t})
	return func(b *vec.Batch) (bool, error) {
		if len(b.Cols) == 1 && b.Cols[0].T.Kind() == types.KRecord {
			return yield(b)
		}
		names := make([]string, len(p.cols))
		for i, c := range p.cols {
			names[i] = c.Name
		}
		fields := make([]types.Datum, len(b.Cols))
		for i := range b.Rows() {
			row := b.Row(i)
			for k, c := range b.Cols {
				fields[k] = c.Get(row)
			}
			d := types.NewRecord(fields)
			d.T, d.B = t, types.AppendRecordNames(d.B, names)
			build.Append([]types.Datum{d})
		}
		return yield(build.Finish())
	}
}

// bodyOf returns the body of the function that a call calls.
func (s *Session) bodyOf(c *plan.Call) (*routineBody, error) {
	f := c.Proc.SQL
	if b := s.bodies[c]; b != nil && b.f == f {
		return b, nil
	}
	list, err := planner.Body(parser.Texts{}, f)
	if err == nil && len(list) == 0 { // made while check_function_bodies was off, perhaps
		err = planner.CheckBody(s.planContext(s.snapshot()), f, nil, true)
	}
	if err != nil {
		return nil, err
	}
	b := &routineBody{f: f}
	declared := make([]types.T, len(c.Args))
	for i, a := range c.Args {
		declared[i] = a.Type()
	}
	for i, st := range list {
		if err := allowedInBody(f, st); err != nil {
			return nil, err
		}
		p := &plannedStmt{stmt: st, declared: declared, routine: planner.RoutineOf(f, i == len(list)-1, c.T, c.Cols)}
		b.stmts = append(b.stmts, p)
	}
	if s.bodies == nil || len(s.bodies) >= maxBodies {
		s.bodies = make(map[*plan.Call]*routineBody)
	}
	s.bodies[c] = b
	return b, nil
}

// runInBody runs one statement of a body; yield is nil when its rows are not
// wanted. A statement that writes runs to its end whatever yield says; a query of which no
// more than the first row is wanted stops there.
func (s *Session) runInBody(ctx context.Context, f *catalog.Function, p *plannedStmt, args []types.Datum, yield rowYield, first bool) error {
	if !plannable(p.stmt) {
		return s.utilityInBody(ctx, f, p.stmt)
	}
	if f.Definer && s.user != f.Owner {
		outer := s.user
		s.actAs(f.Owner)
		defer s.actAs(outer)
		if consume := yield; consume != nil {
			yield = func(b *vec.Batch) (bool, error) {
				s.actAs(outer)
				defer s.actAs(f.Owner)
				return consume(b)
			}
		}
	}
	if err := s.settlePlan(ctx, p, nil); err != nil {
		return err
	}
	if err := s.storedAsSeen(p.q); err != nil {
		return err
	}
	if !p.q.ReadOnly && p.writes() {
		if f.Volatile != 'v' {
			return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed in a non-volatile function", p.command())
		}
		if p.writesKept() {
			if err := s.writable(p.q.Tag); err != nil {
				return err
			}
		}
	}
	if f.Volatile == 'v' {
		s.tx.lobs.before = nil // each statement sees what the one before it did
		leave, err := s.readView(p)
		if err != nil {
			return err
		}
		defer leave()
	}
	run, err := s.start(ctx, p, args, nil)
	if err != nil {
		return err
	}
	defer p.release(run)
	more := yield != nil
	if first = first && more && p.streamsRows(); first {
		run.First()
	}
	for {
		b, err := run.Next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if more {
			if more, err = yield(b); err != nil {
				return err
			}
			if first || !more && p.q.ReadOnly {
				return nil
			}
		}
	}
	if !p.q.ReadOnly {
		s.count(p.q, run.Affected())
	}
	return nil
}

// inFunction says where in a function an error happened. Positions are of the
// function's text, which the client did not send. Functions in other languages say nothing.
func inFunction(err error, f *catalog.Function, where string) error {
	var e *sqlerr.Error
	if f.Language != catalog.LanguageSQL || isRetry(err) || !errors.As(err, &e) {
		return err
	}
	c := *e
	c.Pos = 0
	if c.Where != "" {
		c.Where += "\n"
	}
	c.Where += "SQL function \"" + f.Name + "\" " + where
	return &c
}
