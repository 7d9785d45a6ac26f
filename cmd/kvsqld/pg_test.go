package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgres is a PostgreSQL 15 server in a temporary folder, the reference that
// the scripts are compared with.
type postgres struct {
	bin, dir string              // dir has the data and the socket: no port to be taken by another process meanwhile
	cred     *syscall.Credential // initdb and the server refuse to run as root
}

// postgresPort is the end of the socket's name; the folder is the server's own.
const postgresPort = "5432"

// errNoPostgres says that this machine cannot run the reference.
var errNoPostgres = errors.New("PostgreSQL 15 is not installed")

// sharedPostgres starts the reference at its first use; TestMain stops it.
var sharedPostgres = sync.OnceValues(startPostgres)

// startedPostgres is the server to be stopped at the end.
var startedPostgres *postgres

// requirePostgres returns the reference. Without one the test is skipped; under
// continuous integration that is a failure.
func requirePostgres(t *testing.T) *postgres {
	t.Helper()
	p, err := sharedPostgres()
	if errors.Is(err, errNoPostgres) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func findPostgres() (string, error) {
	dirs := []string{"/usr/lib/postgresql/15/bin"}
	if p, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(p))
	}
	for _, d := range dirs {
		out, err := exec.Command(filepath.Join(d, "postgres"), "--version").Output()
		if err == nil && bytes.Contains(out, []byte(" 15.")) {
			return d, nil
		}
	}
	return "", errNoPostgres
}

func startPostgres() (*postgres, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kvsqld-postgres-")
	if err != nil {
		return nil, err
	}
	p := &postgres{bin: bin, dir: dir}
	startedPostgres = p
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, fmt.Errorf("PostgreSQL does not run as root: %w", err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			return nil, err
		}
		p.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	if err := p.command("initdb", "-D", p.data(), "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync"); err != nil {
		return nil, err
	}
	// Nothing may happen by itself: autovacuum takes locks and changes plans, parallel
	// workers change the order of rows.
	opts := "-p " + postgresPort + " -c listen_addresses= -c unix_socket_directories='" + dir + "' -c fsync=off -c timezone=UTC" +
		" -c autovacuum=off -c max_parallel_workers_per_gather=0"
	return p, p.command("pg_ctl", "-D", p.data(), "-l", filepath.Join(dir, "log"), "-w", "-t", "600", "-o", opts, "start")
}

func (p *postgres) data() string { return filepath.Join(p.dir, "data") }

func (p *postgres) command(name string, args ...string) error {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.cred}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

func (p *postgres) stop() {
	if _, err := os.Stat(filepath.Join(p.data(), "postmaster.pid")); err == nil {
		if err := p.command("pg_ctl", "-D", p.data(), "-m", "immediate", "stop"); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.RemoveAll(p.dir)
}

func (p *postgres) connect(ctx context.Context, db string, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error) {
	return dialAs(ctx, fmt.Sprintf("host='%s' port=%s user=postgres dbname='%s' sslmode=disable", p.dir, postgresPort, db), onNotice)
}

// dial opens a connection to a database of a server that listens on a port.
func dial(ctx context.Context, addr, db string, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error) {
	return dialAs(ctx, fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", addr, db), onNotice)
}

func dialAs(ctx context.Context, dsn string, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error) {
	cfg, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if onNotice != nil {
		cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { onNotice(n) }
	}
	return pgconn.ConnectConfig(ctx, cfg)
}

// TestPostgres runs every script against PostgreSQL: rows, columns, types, tags
// and SQLSTATEs are those that the scripts expect of ours.
func TestPostgres(t *testing.T) {
	p := requirePostgres(t)
	ctx := context.Background()
	admin, err := p.connect(ctx, "postgres", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	exec := func(t *testing.T, sql string) {
		if _, err := admin.Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	for _, extended := range []bool{false, true} {
		t.Run(fmt.Sprintf("extended=%t", extended), func(t *testing.T) {
			eachScript(t, func(t *testing.T, name, path string) {
				db := "script_" + name
				exec(t, "CREATE DATABASE "+db+" TEMPLATE template0")
				defer exec(t, "DROP DATABASE "+db+" WITH (FORCE)")
				s := &script{extended: extended, postgres: true, connect: func(ctx context.Context, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error) {
					return p.connect(ctx, db, onNotice)
				}}
				s.run(t, path)
			})
		})
	}
}
