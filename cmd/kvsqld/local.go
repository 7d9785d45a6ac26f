package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"kvsqld/executor/session"
	"kvsqld/storage"
	"kvsqld/storage/kv"
	"kvsqld/wire"
)

// local is a data directory opened by a command, without a listening socket.
type local struct {
	store kv.Store
	srv   *session.Server
}

// openLocal opens the data directory named by --data, or creates it for a command that
// fills it. A server that uses the directory is the usual reason for failure, and the
// message says what to do.
func openLocal(cmd *cobra.Command, creates bool) (*local, error) {
	dir, err := cmd.Flags().GetString("data")
	if err != nil {
		return nil, err
	}
	st, err := storage.Open(storage.Options{Dir: dir, Existing: !creates})
	if errors.Is(err, kv.ErrInUse) {
		return nil, fmt.Errorf("--data %s: %w: stop that server, or reach it with --dsn where the command has it", dir, err)
	}
	if err != nil {
		return nil, openError(dir, err)
	}
	return serveLocal(cmd.Context(), st)
}

// openError says of a data directory that could not be opened what to do.
func openError(dir string, err error) error {
	do := ""
	switch {
	case errors.Is(err, kv.ErrNoStore):
		do = ": name the directory that a server uses"
	case errors.Is(err, kv.ErrInUse):
		do = ": stop it, or choose another --data"
	case errors.Is(err, kv.ErrCorrupt):
		do = ": put all files of the directory back as they were at one time, or make it anew from a backup with restore --force"
	case errors.Is(err, kv.ErrFormat):
		do = ": choose another --data, or use the version that wrote it"
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		do = ": the directory and its files must belong to the user who runs the server, and be writable"
	case errors.Is(err, kv.ErrDiskFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		do = ": make room on that disk, or choose another --data"
	}
	return fmt.Errorf("--data %s: %w%s", dir, err, do)
}

// serveLocal makes a server over an open store, which it owns from then on.
func serveLocal(ctx context.Context, st kv.Store) (*local, error) {
	srv, err := session.Open(ctx, st, session.Options{Auth: "trust", Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		st.Close()
		return nil, err
	}
	return &local{st, srv}, nil
}

func (l *local) Close() error {
	return errors.Join(l.srv.Close(context.Background()), l.store.Close())
}

// client is a connection of a command: to a server given by --dsn, or to the
// data directory through a pipe in this process, so that both run the same code.
type client struct {
	*pgconn.PgConn
	local *local
	wire  *wire.Server
	done  chan error
}

func connect(cmd *cobra.Command, creates bool) (*client, error) {
	dsn, _ := cmd.Flags().GetString("dsn")
	db, _ := cmd.Flags().GetString("database")
	if dsn != "" {
		conn, err := pgconn.Connect(cmd.Context(), dsn)
		if err != nil {
			return nil, err
		}
		return &client{PgConn: conn}, nil
	}
	l, err := openLocal(cmd, creates)
	if err != nil {
		return nil, err
	}
	c := &client{local: l, done: make(chan error, 1)}
	ln := newPipeListener()
	c.wire, err = wire.NewServer(l.srv, wire.Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	go func() { c.done <- c.wire.Serve(ln) }()
	cfg, err := pgconn.ParseConfig(fmt.Sprintf("host=127.0.0.1 user=postgres dbname=%s sslmode=disable", db))
	if err == nil {
		cfg.DialFunc = ln.dial
		cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { fmt.Fprintf(os.Stderr, "%s: %s\n", n.Severity, n.Message) }
		c.PgConn, err = pgconn.ConnectConfig(cmd.Context(), cfg)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the connection and, when the data directory is ours, closes it.
func (c *client) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if c.PgConn != nil {
		err = c.PgConn.Close(ctx)
	}
	if c.local == nil {
		return err
	}
	c.wire.Shutdown(ctx)
	<-c.done
	return c.local.Close()
}

// pipeListener hands both ends of in-memory pipes to one process.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case l.conns <- b:
		return a, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
