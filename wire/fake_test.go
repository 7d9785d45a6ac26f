package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
	"kvsqld/catalog/types/vec"
)

// fakeBackend serves sessions that know a handful of statements, enough to
// make the wire go through each of its ways.
type fakeBackend struct {
	method    AuthMethod
	passwords map[string]*Verifier
	running   chan int32 // receives the PID when a "wait" statement begins, unless nil
	closed    atomic.Int64
	ended     chan struct{} // receives when a session ends, unless nil
}

func (b *fakeBackend) Auth(_ context.Context, p *StartupParams, _ *ConnInfo) (AuthMethod, *Verifier, error) {
	return b.method, b.passwords[p.User], nil
}

func (b *fakeBackend) Connect(_ context.Context, p *StartupParams, info *ConnInfo) (Session, error) {
	switch p.Database {
	case "missing":
		return nil, sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", p.Database)
	case "panicking":
		panic("no such luck")
	}
	s := &fakeSession{backend: b, info: info, status: 'I', stmts: map[string]fakeStmt{}, portals: map[string]*fakePortal{}}
	s.params = []Parameter{
		{"client_encoding", "UTF8"}, {"DateStyle", "ISO, MDY"}, {"integer_datetimes", "on"},
		{"server_version", "15.18 (kvsqld test)"}, {"standard_conforming_strings", "on"}, {"TimeZone", "UTC"},
	}
	s.params = append(s.params, p.Settings...)
	return s, nil
}

type fakeStmt struct {
	sql    string
	params []uint32
	cols   []Column
}

type fakePortal struct {
	stmt    fakeStmt
	args    [][]byte // in binary form
	formats []int16
	row     int // the next one to send
}

type fakeSession struct {
	backend *fakeBackend
	info    *ConnInfo
	params  []Parameter
	status  byte
	stmts   map[string]fakeStmt
	portals map[string]*fakePortal
	pending []string // payloads to notify
	batch   vec.Batch
	vec     vec.Vec
}

func (s *fakeSession) Parameters() []Parameter { return s.params }

func (s *fakeSession) Notices() []*sqlerr.Error { return nil }

func (s *fakeSession) TxStatus() byte { return s.status }

func (s *fakeSession) Encoding() *charset.Encoding { return nil }

func (s *fakeSession) Close() {
	s.backend.closed.Add(1)
	if s.backend.ended != nil {
		s.backend.ended <- struct{}{}
	}
}

func (s *fakeSession) Abort() {
	if s.status == 'T' {
		s.status = 'E'
	}
}

func (s *fakeSession) Sync(context.Context, ResultWriter) error {
	if s.status == 'I' {
		clear(s.portals)
	}
	return nil
}

func (s *fakeSession) Wakeup(_ context.Context, w ResultWriter) error {
	for _, p := range s.pending {
		w.Notification(s.info.PID, "news", p)
	}
	s.pending = nil
	return nil
}

// FunctionCall knows one function, 1, whose result is its argument.
func (s *fakeSession) FunctionCall(_ context.Context, f *FunctionCall, w ResultWriter) error {
	if f.Function != 1 || len(f.Args) != 1 {
		return sqlerr.New(sqlerr.UndefinedFunction, "function with OID %d does not exist", f.Function)
	}
	col := []Column{{Type: types.TBytea}}
	b := vec.NewBuilder([]types.T{types.TBytea})
	b.Append([]types.Datum{{T: types.TBytea, B: f.Args[0], Null: f.Args[0] == nil}})
	w.Rows(col, []int16{f.ResultFormat}, nil)
	return w.Batch(b.Finish())
}

func (s *fakeSession) Simple(ctx context.Context, sql string, w ResultWriter) error {
	ran := false
	for _, text := range strings.Split(sql, ";") {
		st := analyse(text)
		if st.sql == "" {
			continue
		}
		ran = true
		if err := s.run(ctx, &fakePortal{stmt: st}, 0, w); err != nil {
			return err
		}
	}
	if !ran {
		w.Empty()
	}
	return nil
}

var (
	intCol  = []Column{{Name: "n", TableOID: 16384, AttNum: 1, Type: types.Of(types.OInt4)}}
	textCol = []Column{{Name: "t", Type: types.Of(types.OText)}}
)

func analyse(text string) fakeStmt {
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(l), "--") {
			lines = append(lines, l)
		}
	}
	st := fakeStmt{sql: strings.Trim(strings.Join(lines, "\n"), "; \t\n")}
	switch {
	case st.sql == "select $1::int":
		st.params, st.cols = []uint32{23}, intCol
	case st.sql == "select $1::text":
		st.params, st.cols = []uint32{25}, textCol
	case st.sql == "select 1", strings.HasPrefix(st.sql, "rows "):
		st.cols = intCol
	case strings.HasPrefix(st.sql, "long "), st.sql == "copied":
		st.cols = textCol
	case st.sql == "no columns":
		st.cols = []Column{}
	}
	return st
}

func (s *fakeSession) Parse(_ context.Context, name, sql string, _ []uint32) error {
	if _, dup := s.stmts[name]; dup && name != "" {
		return sqlerr.New(sqlerr.DuplicatePreparedStatement, "prepared statement %q already exists", name)
	}
	st := analyse(sql)
	if st.sql == "syntax error" {
		return sqlerr.New(sqlerr.SyntaxError, "syntax error at or near %q", "syntax").At(0)
	}
	s.stmts[name] = st
	return nil
}

func (s *fakeSession) statement(name string) (fakeStmt, error) {
	st, ok := s.stmts[name]
	if !ok {
		return st, sqlerr.New(sqlerr.InvalidSQLStatementName, "prepared statement %q does not exist", name)
	}
	return st, nil
}

func (s *fakeSession) portal(name string) (*fakePortal, error) {
	p, ok := s.portals[name]
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidCursorName, "portal %q does not exist", name)
	}
	return p, nil
}

func (s *fakeSession) Bind(_ context.Context, b *Bind) error {
	st, err := s.statement(b.Statement)
	if err != nil {
		return err
	}
	if err := b.CheckParams(len(st.params)); err != nil {
		return err
	}
	p := s.portals[b.Portal]
	if p == nil {
		p = &fakePortal{}
		s.portals[b.Portal] = p
	}
	p.stmt, p.row = st, 0
	p.formats = append(p.formats[:0], b.ResultFormats...)
	p.args = p.args[:0]
	for i := range b.Params {
		a, err := b.Param(i)
		if err != nil {
			return err
		}
		if a != nil && b.ParamFormat(i) == formatText && st.params[i] == 23 {
			n, err := strconv.Atoi(string(a))
			if err != nil {
				return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type integer: %q", a)
			}
			a = binary.BigEndian.AppendUint32(nil, uint32(n))
		}
		p.args = append(p.args, bytes.Clone(a))
	}
	return b.CheckResults(st.cols)
}

func (s *fakeSession) DescribeStatement(_ context.Context, name string) ([]uint32, []Column, error) {
	st, err := s.statement(name)
	return st.params, st.cols, err
}

func (s *fakeSession) DescribePortal(_ context.Context, name string) ([]Column, []int16, error) {
	p, err := s.portal(name)
	if err != nil {
		return nil, nil, err
	}
	return p.stmt.cols, p.formats, nil
}

func (s *fakeSession) Execute(ctx context.Context, portal string, maxRows int, w ResultWriter) error {
	p, err := s.portal(portal)
	if err != nil {
		return err
	}
	if p.stmt.sql == "" {
		w.Empty()
		return nil
	}
	return s.run(ctx, p, maxRows, w)
}

func (s *fakeSession) CloseStatement(name string) error { delete(s.stmts, name); return nil }
func (s *fakeSession) ClosePortal(name string) error    { delete(s.portals, name); return nil }

func (s *fakeSession) run(ctx context.Context, p *fakePortal, maxRows int, w ResultWriter) error {
	sql := p.stmt.sql
	verb, arg, _ := strings.Cut(sql, " ")
	verb = strings.ToLower(verb)
	if s.status == 'E' && verb != "rollback" && verb != "commit" {
		return sqlerr.New(sqlerr.InFailedSQLTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	n, _ := strconv.Atoi(arg)
	switch verb {
	case "begin":
		s.status = 'T'
		w.Complete("BEGIN", -1)
	case "commit", "rollback":
		s.status = 'I'
		w.Complete(strings.ToUpper(verb), -1)
	case "select":
		return s.one(p, w)
	case "rows":
		return s.rows(p, n, maxRows, w)
	case "long":
		w.Rows(textCol, p.formats, types.DefaultFmt)
		return s.text(bytes.Repeat([]byte("x"), n), w)
	case "no":
		w.Rows(p.stmt.cols, nil, types.DefaultFmt)
		if err := w.Batch(&vec.Batch{N: 2}); err != nil {
			return err
		}
		w.Complete("SELECT", 2)
	case "copy":
		return s.copy(sql, w)
	case "wait":
		if s.backend.running != nil {
			s.backend.running <- s.info.PID
		}
		<-ctx.Done()
		return ctx.Err()
	case "notice":
		w.Notice(sqlerr.New(sqlerr.SuccessfulCompletion, "as you wish").WithHint("none"))
		w.Complete("NOTICE", -1)
	case "set":
		name, value, _ := strings.Cut(arg, "=")
		w.ParameterStatus(name, value)
		w.Complete("SET", -1)
	case "notify":
		s.pending = append(s.pending, arg)
		s.info.Wake()
		w.Complete("NOTIFY", -1)
	case "error":
		e := sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint %q", "t_pkey")
		e.Schema, e.Table, e.Column, e.DataType, e.Constraint = "public", "t", "c", "int4", "t_pkey"
		return e.WithDetail("Key (c)=(1) already exists.").WithHint("Use another.").At(6)
	case "fatal":
		return adminShutdown()
	case "oops":
		return errors.New("the disk is on fire")
	case "panic":
		panic("the disk is on fire")
	default:
		return sqlerr.New(sqlerr.SyntaxError, "syntax error at or near %q", verb).At(0)
	}
	return nil
}

// one sends the row of "select 1" or of a parameter.
func (s *fakeSession) one(p *fakePortal, w ResultWriter) error {
	w.Rows(p.stmt.cols, p.formats, types.DefaultFmt)
	if p.stmt.cols[0].Type.OID == types.OText {
		return s.text(p.args[0], w)
	}
	v := int64(1)
	null := false
	if len(p.args) > 0 {
		if null = p.args[0] == nil; !null {
			v = int64(int32(binary.BigEndian.Uint32(p.args[0])))
		}
	}
	s.vec.Reset(p.stmt.cols[0].Type, 1)
	s.vec.I64[0] = v
	if null {
		s.vec.Nulls.Set(0)
	}
	return s.send(1, "SELECT", w)
}

func (s *fakeSession) text(b []byte, w ResultWriter) error {
	s.vec.Reset(textCol[0].Type, 1)
	s.vec.B[0] = b
	if b == nil {
		s.vec.Nulls.Set(0)
	}
	return s.send(1, "SELECT", w)
}

func (s *fakeSession) send(n int, tag string, w ResultWriter) error {
	if s.batch.Cols == nil {
		s.batch.Cols = []*vec.Vec{&s.vec}
	}
	s.batch.N = n
	if err := w.Batch(&s.batch); err != nil {
		return err
	}
	if tag != "" {
		w.Complete(tag, int64(n))
	}
	return nil
}

// rows sends the numbers 1 … n, at most maxRows of them.
func (s *fakeSession) rows(p *fakePortal, n, maxRows int, w ResultWriter) error {
	w.Rows(intCol, p.formats, types.DefaultFmt)
	first := p.row
	for p.row < n && (maxRows == 0 || p.row-first < maxRows) {
		k := min(vec.BatchSize, n-p.row)
		if maxRows > 0 {
			k = min(k, maxRows-(p.row-first))
		}
		s.vec.Reset(intCol[0].Type, k)
		for i := range k {
			s.vec.I64[i] = int64(p.row + i + 1)
		}
		if err := s.send(k, "", w); err != nil {
			return err
		}
		p.row += k
	}
	if maxRows > 0 && p.row-first == maxRows {
		w.Suspended()
		return nil
	}
	w.Complete("SELECT", int64(p.row-first))
	return nil
}

func (s *fakeSession) copy(sql string, w ResultWriter) error {
	bin := strings.Contains(sql, "binary")
	if strings.Contains(sql, "to stdout") {
		out, err := w.CopyOut(bin, 1)
		if err != nil {
			return err
		}
		for _, row := range []string{"a\n", "b\n"} {
			if _, err := io.WriteString(out, row); err != nil {
				return err
			}
		}
		if err := out.Close(); err != nil {
			return err
		}
		w.Complete("COPY", 2)
		return nil
	}
	in, err := w.CopyIn(bin, 1)
	if err != nil {
		return err
	}
	var data []byte
	if s.backend.running != nil {
		s.backend.running <- s.info.PID
	}
	for {
		chunk, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if bytes.HasPrefix(chunk, []byte("bad")) {
			return sqlerr.New(sqlerr.BadCopyFileFormat, "extra data after last expected column")
		}
		data = append(data, chunk...)
	}
	n := bytes.Count(data, []byte("\n"))
	if bin {
		n = int(binary.BigEndian.Uint32(data[len(data)-6:])) // the fake's rows end with an int4 before the trailer
	}
	w.Complete("COPY", int64(n))
	return nil
}

// startServer serves b on a loopback port until the test ends.
func startServer(tb testing.TB, b *fakeBackend, o Options) (srv *Server, addr string) {
	tb.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	srv, err := NewServer(b, o)
	if err != nil {
		tb.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
		defer cancel()
		if err := srv.Shutdown(ctx); err != nil {
			tb.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != ErrServerClosed {
			tb.Errorf("Serve returned %v", err)
		}
	})
	return srv, ln.Addr().String()
}
