package session

import (
	"context"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser"
	"kvsqld/wire"
)

// FunctionCall implements wire.Session: the call is a statement SELECT f($1, …), so that
// rights, conflicts and transactions are those of any other.
func (s *Session) FunctionCall(ctx context.Context, f *wire.FunctionCall, w wire.ResultWriter) error {
	s.begin(w, "<FASTPATH> function call")
	defer s.rest(w)
	defer s.clock.stop()
	ctx, cancel, err := s.timed(ctx)
	defer cancel()
	if err == nil {
		err = withoutPosition(s.functionCall(ctx, f, w))
	}
	return s.fail(ctx, err, "")
}

func (s *Session) functionCall(ctx context.Context, f *wire.FunctionCall, w wire.ResultWriter) error {
	if s.block == failed {
		return errFailedBlock()
	}
	p, err := s.fastCall(types.OID(f.Function))
	if err != nil {
		return err
	}
	if len(f.Args) != len(p.declared) {
		return sqlerr.New(sqlerr.ProtocolViolation, "function call message contains %d arguments but function requires %d", len(f.Args), len(p.declared))
	}
	if err := s.ensureTx(ctx); err != nil {
		return err
	}
	if err := s.newStatement(ctx); err != nil {
		return err
	}
	params := make([]types.Datum, len(f.Args))
	for i, raw := range f.Args {
		if params[i], err = s.readParam(p.declared[i], raw, wire.FormatOf(f.ArgFormats, i)); err != nil {
			return err
		}
	}
	if _, err := s.runPlanned(ctx, p, params, &lateSink{sink: wireSink{w: w, formats: []int16{f.ResultFormat}}}, nil); err != nil {
		return err
	}
	if s.block == idle {
		return s.commit(ctx)
	}
	return nil
}

// maxFastCalls bounds the functions whose calls a session remembers.
const maxFastCalls = 64

// fastCall returns the statement that calls the function of an OID. Those of built-in
// functions are remembered: they do not change.
func (s *Session) fastCall(oid types.OID) (*plannedStmt, error) {
	if p := s.fastCalls[oid]; p != nil {
		return p, nil
	}
	schema, name, kind, set := catalog.SchemaPgCatalog, "", byte('f'), false
	var args []types.T
	proc := catalog.ProcByOID(oid)
	snap := s.snapshot()
	if f, ok := snap.Object(oid).(*catalog.Function); ok && f.DB == s.db {
		schema, name, set, args = f.Schema, f.Name, f.RetSet, f.Inputs()
		if f.Procedure || f.Agg != nil {
			kind = 'p'
		}
	} else if proc != nil && proc.Schema == "" {
		name, kind, set = proc.Name, proc.Kind, proc.RetSet
		for _, a := range proc.Args {
			t, _ := snap.T(a, -1) // pseudo-types are refused below
			args = append(args, t)
		}
	} else {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function with OID %d does not exist", oid)
	}
	if kind != 'f' || set {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot call function \"%s\" via fastpath interface", name)
	}
	var text strings.Builder
	text.WriteString("SELECT " + catalog.QuoteIdent(schema) + "." + catalog.QuoteIdent(name) + "(")
	for i, a := range args {
		if a.Kind() == types.KPseudo || a.OID == 0 {
			return nil, sqlerr.Unsupported(-1, "function \"%s\", which has an argument of a pseudo-type, via the fast-path interface", name)
		}
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString("$" + strconv.Itoa(i+1))
	}
	text.WriteString(")")
	st, err := parser.ParseOne(text.String())
	if err != nil {
		return nil, err
	}
	p := &plannedStmt{stmt: st.Stmt, declared: args}
	if schema == catalog.SchemaPgCatalog {
		if s.fastCalls == nil || len(s.fastCalls) >= maxFastCalls {
			s.fastCalls = make(map[types.OID]*plannedStmt)
		}
		s.fastCalls[oid] = p
	}
	return p, nil
}
