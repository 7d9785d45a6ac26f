package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage"
	"kvsqld/wire"
)

// newServer opens a server over a store in memory.
func newServer(t testing.TB) *Server {
	t.Helper()
	return newServerOn(t, storage.Options{Store: "mem"})
}

func newServerOn(t testing.TB, o storage.Options) *Server {
	t.Helper()
	st, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := Open(context.Background(), st, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

var lastPID atomic.Int32

// client is a session with a recorder in place of the wire.
type client struct {
	t    testing.TB
	s    *Session
	wake chan struct{}
	data string // what COPY FROM STDIN gets
}

func (srv *Server) client(t testing.TB, settings ...wire.Parameter) *client {
	t.Helper()
	c := &client{t: t, wake: make(chan struct{}, 8)}
	info := &wire.ConnInfo{PID: lastPID.Add(1), RemoteAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, Wake: func() {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}}
	s, err := srv.connect(&wire.StartupParams{User: "postgres", Database: "postgres", Settings: settings}, info)
	if err != nil {
		t.Fatal(err)
	}
	c.s = s
	t.Cleanup(s.Close)
	return c
}

// recorder writes results down, one item per line.
type recorder struct {
	wire.ResultWriter
	lines []string
	opts  *types.FmtOpts
	data  string // what COPY FROM STDIN gets
}

func (r *recorder) CopyIn(bool, int) (wire.CopyReader, error) {
	return &pieces{data: []byte(r.data), size: 5}, nil
}

func (r *recorder) Rows(cols []wire.Column, _ []int16, o *types.FmtOpts) {
	r.opts = o
	var names []string
	for _, c := range cols {
		names = append(names, c.Name)
	}
	r.lines = append(r.lines, "("+strings.Join(names, ",")+")")
}

func (r *recorder) Batch(b *vec.Batch) error {
	for i := range b.Rows() {
		var vals []string
		for _, c := range b.Cols {
			d := c.Get(b.Row(i))
			if d.Null {
				vals = append(vals, "NULL")
			} else {
				vals = append(vals, string(types.AppendText(nil, d, r.opts)))
			}
		}
		r.lines = append(r.lines, strings.Join(vals, "|"))
	}
	return nil
}

func (r *recorder) Complete(tag string, n int64) {
	if n >= 0 {
		tag += fmt.Sprintf(" %d", n)
	}
	r.lines = append(r.lines, tag)
}
func (r *recorder) Empty()     { r.lines = append(r.lines, "empty") }
func (r *recorder) Suspended() { r.lines = append(r.lines, "suspended") }
func (r *recorder) Notice(e *sqlerr.Error) {
	r.lines = append(r.lines, fmt.Sprintf("%s %s: %s", e.Severity, e.Code, e.Message))
}
func (r *recorder) ParameterStatus(n, v string) { r.lines = append(r.lines, n+"="+v) }
func (r *recorder) Notification(_ int32, ch, p string) {
	r.lines = append(r.lines, "notification "+ch+" "+p)
}

func (r *recorder) fault(err error) {
	if err == nil {
		return
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		r.lines = append(r.lines, "INTERNAL: "+err.Error())
		return
	}
	line := fmt.Sprintf("ERROR %s: %s", e.Code, e.Message)
	if e.Pos > 0 {
		line += fmt.Sprintf(" at %d", e.Pos)
	}
	r.lines = append(r.lines, line)
}

// sql runs a simple query and returns everything that came back, with the
// transaction's state.
func (c *client) sql(text string) string {
	return c.sqlCtx(context.Background(), text)
}

func (c *client) sqlCtx(ctx context.Context, text string) string {
	r := &recorder{data: c.data}
	if err := c.s.Simple(ctx, text, r); err != nil {
		r.fault(err)
		c.s.Abort()
	}
	return strings.Join(append(r.lines, string(c.s.TxStatus())), "\n")
}

// want runs a query and compares.
func (c *client) want(text string, lines ...string) {
	c.t.Helper()
	if got := c.sql(text); got != strings.Join(lines, "\n") {
		c.t.Errorf("%s\ngot:\n%s\nwant:\n%s", text, got, strings.Join(lines, "\n"))
	}
}

// must runs statements that succeed.
func (c *client) must(text string) {
	c.t.Helper()
	if got := c.sql(text); strings.Contains(got, "ERROR") || strings.Contains(got, "INTERNAL") {
		c.t.Fatalf("%s\n%s", text, got)
	}
}

// exec runs a portal.
func (c *client) exec(portal string, max int) string {
	r := &recorder{}
	if err := c.s.Execute(context.Background(), portal, max, r); err != nil {
		r.fault(err)
		c.s.Abort()
	}
	return strings.Join(r.lines, "\n")
}

func (c *client) sync() string {
	r := &recorder{}
	if err := c.s.Sync(context.Background(), r); err != nil {
		r.fault(err)
		c.s.Abort()
	}
	return strings.Join(append(r.lines, string(c.s.TxStatus())), "\n")
}

// bind makes a portal with text parameters.
func (c *client) bind(portal, stmt string, params ...string) error {
	b := &wire.Bind{Portal: portal, Statement: stmt}
	for _, p := range params {
		b.Params = append(b.Params, []byte(p))
	}
	return c.s.Bind(context.Background(), b)
}

func code(err error) string { return string(sqlerr.CodeOf(err)) }
