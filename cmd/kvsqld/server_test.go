package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/executor/session"
	"kvsqld/storage"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/wire"
)

func TestMain(m *testing.M) {
	if isCrashChild() {
		main() // ends with the process
		return
	}
	code := m.Run()
	if startedPostgres != nil {
		startedPostgres.stop()
	}
	os.Exit(code)
}

// eachScript runs f as a subtest for every script.
func eachScript(t *testing.T, f func(t *testing.T, name, path string)) {
	paths, err := filepath.Glob("../../testdata/sql/*.test")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".test")
		t.Run(name, func(t *testing.T) { f(t, name, p) })
	}
}

// TestSQL runs the scripts through a socket: on each engine, on one of them with the plans
// that statements have when they come again, and once more with the extended protocol,
// whose answers are the same.
func TestSQL(t *testing.T) {
	for _, v := range []struct {
		name     string
		options  storage.Options
		extended bool
	}{
		{"mem", storage.Options{Store: "mem"}, false},
		{"bolt", storage.Options{NoSync: true}, false},
		{"extended", storage.Options{Store: "mem"}, true},
	} {
		t.Run(v.name, func(t *testing.T) {
			eachScript(t, func(t *testing.T, _, path string) {
				srv := startServerWith(t, v.options, session.Options{RememberAtOnce: v.name == "bolt"})
				s := &script{extended: v.extended, connect: srv.connect}
				s.run(t, path)
			})
		})
	}
}

// server is a kvsqld server of a test, in this process, behind a real socket.
type server struct {
	store kv.Store
	*session.Server
	wire *wire.Server
	addr string
	done chan error
}

// startServer starts a server that the test's cleanup checks and stops. The bolt
// engine gets a temporary directory unless o names one.
func startServer(t testing.TB, o storage.Options) *server {
	t.Helper()
	return startServerWith(t, o, session.Options{})
}

func startServerWith(t testing.TB, o storage.Options, so session.Options) *server {
	t.Helper()
	if o.Store != "mem" && o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := openServerWith(o, so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.checkAndStop(t) })
	return s
}

// pgx returns a connection of pgx that the test's cleanup closes.
func (s *server) pgx(ctx context.Context, t testing.TB) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(ctx, s.dsn())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

func openServer(o storage.Options) (*server, error) { return openServerWith(o, session.Options{}) }

func openServerWith(o storage.Options, so session.Options) (*server, error) {
	ctx := context.Background()
	st, err := storage.Open(o)
	if err != nil {
		return nil, err
	}
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	if testing.Verbose() {
		logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	so.Auth, so.Logger = "trust", logger
	srv, err := session.Open(ctx, st, so)
	if err != nil {
		st.Close()
		return nil, err
	}
	w, err := wire.NewServer(srv, wire.Options{Logger: logger, MaxConnections: 400})
	if err != nil {
		st.Close()
		return nil, err
	}
	srv.Cancel, srv.Terminate = w.Cancel, w.Terminate
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		st.Close()
		return nil, err
	}
	s := &server{store: st, Server: srv, wire: w, addr: ln.Addr().String(), done: make(chan error, 1)}
	go func() { s.done <- w.Serve(ln) }()
	return s, nil
}

// dsn is the connection URL of the first database.
func (s *server) dsn() string { return "postgres://postgres@" + s.addr + "/postgres?sslmode=disable" }

func (s *server) connect(ctx context.Context, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error) {
	return dial(ctx, s.addr, "postgres", onNotice)
}

// checkAndStop ends the connections, verifies the whole store and closes it.
func (s *server) checkAndStop(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	s.wire.Shutdown(ctx)
	if err := <-s.done; err != wire.ErrServerClosed {
		t.Errorf("serve: %v", err)
	}
	s.check(t)
	if err := s.Server.Close(ctx); err != nil {
		t.Errorf("close the server: %v", err)
	}
	if err := s.store.Close(); err != nil {
		t.Errorf("close the store: %v", err)
	}
}

// check verifies that rows, index entries, files and catalog agree.
func (s *server) check(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	if err := s.store.Check(ctx, func(text string) { t.Errorf("check: %s", text) }); err != nil {
		t.Errorf("check of the store: %v", err)
	}
	tables := storedTables(s.Catalog.Current())
	snap, err := s.store.Snapshot(ctx)
	if err != nil {
		t.Errorf("check: %v", err)
		return
	}
	defer snap.Close()
	report := func(p table.Problem) { t.Errorf("check: %s", p) }
	if err := s.CheckTables(ctx, snap, tables, report); err != nil {
		t.Errorf("check of the tables: %v", err)
	}
	if err := s.Tables.CheckFiles(ctx, tables, report); err != nil {
		t.Errorf("check of the files: %v", err)
	}
}
