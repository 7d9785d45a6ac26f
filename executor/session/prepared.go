package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/executor/expr"
	"kvsqld/parser/ast"
	"kvsqld/planner"
	"kvsqld/planner/plan"
	"kvsqld/wire"
)

// prepared is a prepared statement, made by Parse or by PREPARE.
type prepared struct {
	name    string
	text    string   // what was prepared, for positions
	stmt    ast.Stmt // nil for an empty text
	planned *plannedStmt
	params  []types.T // of the query inside of a utility statement; planned knows its own
	made    int64
	fromSQL bool
	cols    []wire.Column // of the result, when it was prepared
	uses    planUses
}

// sameResult refuses a statement whose result has other columns than it had
// when it was prepared: its clients read what was described then.
func (p *prepared) sameResult() error { return sameDescription(p.cols, p.planned.cols) }

// sameDescription refuses columns that differ from those that were described.
func sameDescription(was, now []wire.Column) error {
	same := len(was) == len(now)
	for i := 0; same && i < len(now); i++ {
		same = was[i].Type == now[i].Type && was[i].Name == now[i].Name
	}
	if same {
		return nil
	}
	e := sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change result type")
	e.Routine = "RevalidateCachedQuery" // by which drivers know that they are to prepare it again
	return e
}

// Parse implements wire.Session.
func (s *Session) Parse(ctx context.Context, name, sql string, paramOIDs []uint32) error {
	s.begin(nil, sql)
	defer s.leave()
	ctx, cancel, err := s.timed(ctx)
	defer cancel()
	if err == nil {
		err = s.parse(ctx, name, sql, paramOIDs)
	}
	if err == nil && s.settings.logs.on {
		s.logDuration(s.received, (&prepared{name: name}).named("parse", ""), sql, nil)
	}
	return s.fail(ctx, err, sql)
}

func (s *Session) parse(ctx context.Context, name, sql string, paramOIDs []uint32) error {
	if name == "" {
		delete(s.prepared, "") // whether there will be a new one or not
	}
	key := s.textKey(sql, paramOIDs)
	standard := s.settings.literals == nil
	if e := s.cache.get(key); e != nil && standard && e.planned.reading.ReadsAs(s.fmt()) && s.block != failed && (name == "" || s.prepared[name] == nil) {
		if err := s.planNow(ctx, e.planned); err != nil {
			return err
		}
		s.prepared[name] = &prepared{name: name, text: sql, stmt: e.planned.stmt, planned: e.planned, made: s.stmtStart, cols: e.planned.cols}
		return nil
	}
	st, err := s.strings(sql).ParseOne(sql)
	if err == nil {
		s.tellLongNames(sql)
	}
	if err != nil {
		return err
	}
	if s.block == failed && st.Stmt != nil && !isTxnExit(st.Stmt) {
		return errFailedBlock()
	}
	declared := make([]types.T, max(len(paramOIDs), st.NumParams))
	for i, o := range paramOIDs {
		if o == 0 || types.OID(o) == types.OUnknown {
			continue
		}
		t, ok := s.snapshot().T(types.OID(o), -1)
		if !ok {
			return sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", o)
		}
		declared[i] = t
	}
	ps := &prepared{name: name, text: sql, stmt: st.Stmt, made: s.stmtStart}
	if plannable(st.Stmt) {
		ps.planned = &plannedStmt{stmt: st.Stmt, declared: declared, reading: s.reading()}
		if err := s.planNow(ctx, ps.planned); err != nil {
			return err
		}
		ps.cols = ps.planned.cols
		ps.planned.keeps = name != ""
		if len(sql) <= maxCachedText && standard && !timeWords(sql) && s.comesAgain(s.textKey(sql, paramOIDs)) {
			s.cache.add(&cacheEntry{key: string(s.keyBuf), planned: ps.planned})
		}
	} else {
		ps.params = declared
		if st.NumParams > 0 || innerQuery(st.Stmt) != nil {
			if ps.params, err = s.innerParams(ctx, st.Stmt, declared); err != nil {
				return err
			}
		}
		for i, t := range ps.params {
			if t.OID == 0 && st.Stmt != nil {
				return sqlerr.New(sqlerr.IndeterminateDatatype, "could not determine data type of parameter $%d", i+1)
			}
		}
	}
	if name != "" && s.prepared[name] != nil {
		return duplicatePrepared(name)
	}
	if ps.planned == nil {
		if ps.cols, err = s.utilityColumns(ctx, ps.stmt); err != nil {
			return err
		}
	}
	s.prepared[name] = ps
	return nil
}

// innerParams returns the types of the parameters of the query that a utility
// statement contains. Other utility statements have none.
func (s *Session) innerParams(ctx context.Context, st ast.Stmt, declared []types.T) ([]types.T, error) {
	if x, ok := st.(*ast.CreateView); ok && x.Materialized {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "materialized views may not be defined using bound parameters")
	}
	q := innerQuery(st)
	if q == nil {
		return nil, noParam(st)
	}
	p := &plannedStmt{stmt: q, declared: declared}
	if err := s.planNow(ctx, p); err != nil {
		return nil, err
	}
	return p.q.Params, nil
}

// innerQuery returns the statement that a utility statement runs or explains,
// nil when there is none.
func innerQuery(st ast.Stmt) ast.Stmt {
	switch x := st.(type) {
	case *ast.Explain:
		if plannable(x.Stmt) {
			return x.Stmt
		}
		if d, ok := x.Stmt.(*ast.DeclareCursor); ok {
			return d.Query
		}
	case *ast.DeclareCursor:
		if x.Query.Into == nil {
			return x.Query
		}
	case *ast.CreateTable:
		if x.As != nil {
			return x.As
		}
	case *ast.Select: // INTO
		q := *x
		q.Into = nil
		return &q
	}
	return nil
}

// typesOf returns the types of parameters, which those of an inner query keep.
func typesOf(params []types.Datum) []types.T {
	var out []types.T
	for _, d := range params {
		out = append(out, d.T)
	}
	return out
}

// maxCachedText bounds the texts of prepared statements worth remembering, in
// bytes.
const maxCachedText = 8 << 10

// textKey is the plan cache's key of a statement with parameters: its text and
// the declared types, behind a byte that begins no fingerprint.
func (s *Session) textKey(sql string, oids []uint32) []byte {
	k := append(s.keyBuf[:0], 0)
	k = append(k, sql...)
	for _, o := range oids {
		k = binary.BigEndian.AppendUint32(append(k, 0), o)
	}
	s.keyBuf = k
	return k
}

// planNow plans a statement that is not run yet.
func (s *Session) planNow(ctx context.Context, p *plannedStmt) error {
	if err := s.rebase(); err != nil {
		return err
	}
	return p.refresh(ctx, s, s.snapshot())
}

func duplicatePrepared(name string) error {
	return sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement \"%s\" already exists", name)
}

func (s *Session) findPrepared(name string) (*prepared, error) {
	ps := s.prepared[name]
	if ps == nil {
		if name == "" {
			return nil, sqlerr.New(sqlerr.InvalidSQLStatementName, "unnamed prepared statement does not exist")
		}
		return nil, sqlerr.New(sqlerr.InvalidSQLStatementName, "prepared statement \"%s\" does not exist", name)
	}
	return ps, nil
}

// DescribeStatement implements wire.Session.
func (s *Session) DescribeStatement(ctx context.Context, name string) ([]uint32, []wire.Column, error) {
	s.begin(nil, "")
	defer s.leave()
	ctx, cancel, err := s.timed(ctx)
	defer cancel()
	if err != nil {
		return nil, nil, s.fail(ctx, err, "")
	}
	ps, err := s.findPrepared(name)
	if err != nil {
		return nil, nil, s.fail(ctx, err, "")
	}
	if s.block == failed && ps.cols != nil {
		return nil, nil, errFailedBlock()
	}
	params := []uint32{}
	for _, t := range ps.paramTypes() {
		params = append(params, uint32(t.OID))
	}
	if s.block == failed {
		return params, nil, nil
	}
	cols, err := s.describe(ctx, ps)
	if err != nil {
		return params, nil, s.fail(ctx, err, ps.text)
	}
	return params, cols, nil
}

func (p *prepared) paramTypes() []types.T {
	if p.planned != nil {
		return p.planned.q.Params
	}
	return p.params
}

// describe returns the columns of a statement's result, nil when it has none.
func (s *Session) describe(ctx context.Context, ps *prepared) ([]wire.Column, error) {
	if ps.planned != nil {
		if err := s.planNow(ctx, ps.planned); err != nil {
			return nil, err
		}
		if err := ps.sameResult(); err != nil {
			return nil, err
		}
		return ps.planned.cols, nil
	}
	return s.utilityColumns(ctx, ps.stmt)
}

// CloseStatement implements wire.Session.
func (s *Session) CloseStatement(name string) error {
	if err := s.clock.overdue(); err != nil {
		return s.fail(context.Background(), err, "")
	}
	delete(s.prepared, name)
	return nil
}

// bindParams decodes the parameters of a Bind.
func (s *Session) bindParams(dst []types.Datum, ps *prepared, b *wire.Bind) ([]types.Datum, error) {
	for i, t := range ps.paramTypes() {
		raw, err := b.Param(i)
		if err != nil {
			return dst, err
		}
		d, err := s.readParam(t, raw, b.ParamFormat(i))
		if err != nil {
			var e *sqlerr.Error
			if b.ParamFormat(i) == 1 && errors.As(err, &e) && e.Message == types.TrailingBytes {
				err = sqlerr.New(e.Code, "%s in bind parameter %d", e.Message, i+1)
			}
			return dst, b.ParamError(err, i, true)
		}
		dst = append(dst, d)
	}
	return dst, nil
}

// readParam reads one parameter; of its bytes those that the value points to are copied.
func (s *Session) readParam(t types.T, raw []byte, format int16) (types.Datum, error) {
	switch {
	case raw == nil:
		return types.Null(t), nil
	case format == 0:
		return s.readText(t, string(raw))
	case format == 1:
		raw, err := s.binaryText(t, raw)
		if err != nil {
			return types.Datum{}, err
		}
		switch t.Rep() {
		case types.RepInt, types.RepFloat, types.RepBool:
		default:
			raw = bytes.Clone(raw)
		}
		return s.readBinary(t, raw)
	}
	return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", format)
}

// binaryText is the binary form of a parameter with its text in UTF-8.
func (s *Session) binaryText(t types.T, raw []byte) ([]byte, error) {
	switch enc := s.settings.enc; {
	case enc == nil:
	case t.Textual():
		return enc.Decode(raw)
	case t.HoldsText():
		return nil, sqlerr.Unsupported(-1, "binary format of type %s with client encoding %s", types.FormatType(t), enc.Name)
	}
	return raw, nil
}

// readText reads a value's text form, of user-defined types too.
func (s *Session) readText(t types.T, text string) (types.Datum, error) {
	f := s.fmt()
	if t.OID < types.FirstUserOID {
		return types.Parse(t, text, f)
	}
	base, _ := s.snapshot().BelowDomains(t)
	d, err := types.Parse(base, text, f)
	if err != nil {
		return d, err
	}
	d.T = t
	return d, nil
}

// prepareStmt runs PREPARE.
func (s *Session) prepareStmt(ctx context.Context, x *ast.Prepare) error {
	if s.prepared[x.Name] != nil {
		return duplicatePrepared(x.Name)
	}
	if !plannable(x.Stmt) {
		return sqlerr.Unsupported(x.Pos(), "PREPARE of a statement that is not SELECT, INSERT, UPDATE, DELETE or VALUES")
	}
	var declared []types.T
	for i := range x.Types {
		t, err := planner.ResolveType(s.planContext(s.snapshot()), &x.Types[i])
		if err != nil {
			return err
		}
		t.Mod = -1 // a parameter has a type and no modifier
		declared = append(declared, t)
	}
	for n := maxParam(x.Stmt); len(declared) < n; {
		declared = append(declared, types.T{})
	}
	p := &plannedStmt{stmt: x.Stmt, declared: declared, reading: s.reading()}
	if err := s.planNow(ctx, p); err != nil {
		return err
	}
	p.keeps = true
	s.prepared[x.Name] = &prepared{name: x.Name, text: s.queryText(), stmt: x.Stmt, planned: p, made: s.stmtStart, fromSQL: true, cols: p.cols}
	return nil
}

// queryText is the text that the client sent, all statements of it.
func (s *Session) queryText() string {
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	return s.activity.query
}

// maxParam returns the highest parameter number in a statement.
func maxParam(st ast.Stmt) int {
	n := 0
	ast.Walk(st, func(x ast.Node) bool {
		if p, ok := x.(*ast.Param); ok {
			n = max(n, p.Num)
		}
		return true
	})
	return n
}

// execute runs EXECUTE.
func (s *Session) execute(ctx context.Context, x *ast.Execute, out sink) (string, int64, error) {
	ps, params, err := s.executeArgs(ctx, x)
	if err != nil {
		return "", 0, err
	}
	if ps.planned == nil {
		return s.executeUtility(ctx, ps, params, out)
	}
	late := &lateSink{sink: out} // EXECUTE announces no columns when it fails at once
	n, err := s.runPlanned(ctx, ps.planned, params, late, nil)
	if err != nil {
		return "", 0, withoutPosition(err)
	}
	late.announce()
	return tagOf(ps.planned.q), n, nil
}

// executeUtility runs what Parse has prepared of statements that are not planned; one may
// be an EXECUTE, of itself even.
func (s *Session) executeUtility(ctx context.Context, ps *prepared, params []types.Datum, out sink) (string, int64, error) {
	if ps.stmt == nil {
		return "EXECUTE", -1, nil
	}
	if _, is := ps.stmt.(*ast.Transaction); is {
		return "", 0, sqlerr.Unsupported(-1, "EXECUTE of a transaction's statement")
	}
	if s.depth >= maxCallDepth {
		return "", 0, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded").
			WithHint("Prepared statements execute each other more than %d deep.", maxCallDepth)
	}
	s.depth++
	defer func() { s.depth-- }()
	tag, n, err := s.run(ctx, &call{stmt: ps.stmt, text: ps.text, params: params, several: true}, out)
	return tag, n, withoutPosition(err)
}

// executeArgs evaluates the arguments of EXECUTE.
func (s *Session) executeArgs(ctx context.Context, x *ast.Execute) (*prepared, []types.Datum, error) {
	ps, err := s.findPrepared(x.Name)
	if err != nil {
		return nil, nil, err
	}
	want := ps.paramTypes()
	if len(want) > 0 && len(x.Args) != len(want) {
		return nil, nil, sqlerr.New(sqlerr.SyntaxError, "wrong number of parameters for prepared statement \"%s\"", x.Name).
			WithDetail("Expected %d parameters but got %d.", len(want), len(x.Args))
	}
	var params []types.Datum
	for i, a := range x.Args[:len(want)] { // those of a statement without parameters are not looked at
		e, err := planner.Argument(s.planDuring(ctx, s.snapshot()), a, want[i], i+1)
		if err != nil {
			return nil, nil, err
		}
		d, err := s.evalBound(ctx, e)
		if err != nil {
			return nil, nil, err
		}
		params = append(params, d)
	}
	if ps.planned != nil {
		ps.planned.countIn(&ps.uses)
		if err := s.planNow(ctx, ps.planned); err != nil {
			return nil, nil, err
		}
		if err := ps.sameResult(); err != nil {
			return nil, nil, err
		}
	}
	return ps, params, nil
}

// evalExpr binds and evaluates an expression without columns.
func (s *Session) evalExpr(ctx context.Context, x ast.Expr, want types.T, what string) (types.Datum, error) {
	e, err := planner.ColumnExpr(s.planDuring(ctx, s.snapshot()), x, nil, want, what)
	if err != nil {
		return types.Datum{}, err
	}
	return s.evalBound(ctx, e)
}

// evalBound evaluates an expression without columns for the current role.
func (s *Session) evalBound(ctx context.Context, e planner.Bound) (types.Datum, error) {
	if err := s.checkRights(&plan.Query{Calls: e.Calls}); err != nil {
		return types.Datum{}, err
	}
	return s.evalConst(ctx, e.X)
}

func (s *Session) evalConst(ctx context.Context, e plan.Expr) (types.Datum, error) {
	var env expr.Env
	s.fillExpr(ctx, &env, nil)
	return expr.EvalConst(&env, e)
}

// constants evaluates for the planner.
type constants struct {
	s   *Session
	ctx context.Context // of the call that plans
}

// EvalConst implements planner.ConstEvaluator.
func (c constants) EvalConst(e plan.Expr) (types.Datum, error) {
	return c.s.evalConst(c.ctx, e)
}

// HoldsFor implements planner.ConstEvaluator.
func (c constants) HoldsFor(cond plan.Expr, t types.T, vals ...[]types.Datum) ([]bool, error) {
	var env expr.Env
	c.s.fillExpr(c.ctx, &env, nil)
	return expr.HoldsFor(&env, cond, t, vals...)
}
