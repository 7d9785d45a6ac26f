package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestUnixSocket connects through a socket: with no password, no address and no TLS, and
// with a cancel request. A socket that a killed server has left behind is replaced, that of
// one that lives is not, and the file goes with its server.
func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "kvsqld") // names of sockets may not be long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key)
	serve := func(data, listen string) *exec.Cmd {
		return exec.Command(os.Args[0], "serve", "--data", data, "--listen", listen, "--unix-socket", dir, "--log-format", "json",
			"--tls-cert", cert, "--tls-key", key)
	}
	data := t.TempDir()
	c := startChildAs(t, serve(data, "127.0.0.1:0"))
	_, port, err := net.SplitHostPort(c.addr)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ".s.PGSQL."+port)
	ctx := t.Context()
	connect := func() *pgx.Conn {
		t.Helper()
		conn, err := pgx.Connect(ctx, "host="+dir+" port="+port+" user=postgres dbname=postgres sslmode=prefer")
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	conn := connect()
	var told string
	err = conn.QueryRow(ctx, `SELECT concat_ws(' ', client_addr, client_port, inet_client_addr(), inet_server_port(), current_setting('unix_socket_directories'),
		(SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())) FROM pg_stat_activity WHERE pid = pg_backend_pid()`).Scan(&told)
	if want := "-1 " + dir + " f"; err != nil || told != want {
		t.Errorf("the connection is told as %q, %v; want %q", told, err, want)
	}
	sleeping := make(chan error, 1)
	go func() {
		_, err := conn.Exec(ctx, "SELECT pg_sleep(100)")
		sleeping <- err
	}()
	other := connect()
	for n := 0; n == 0; {
		if err := other.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(100)' AND state = 'active'").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.PgConn().CancelRequest(ctx); err != nil {
		t.Error(err)
	}
	if err := <-sleeping; sqlState(err) != "57014" {
		t.Errorf("the cancelled statement ends with %v", err)
	}
	conn.Close(ctx)
	other.Close(ctx)

	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listenUnix(dir, number); err == nil || err.Error() != "a server listens at "+path {
		t.Errorf("a second socket: %v", err)
	}
	c.kill()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the killed server took its socket along: %v", err)
	}
	c = startChildAs(t, serve(data, c.addr))
	conn = connect()
	conn.Close(context.Background())
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listenUnix(dir, number); err == nil {
		t.Error("a file that is no socket was removed")
	}
}
