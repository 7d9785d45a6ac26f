package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// lockModeNames are the table lock modes, each with its letter in the table below.
var lockModeNames = []struct{ letter, name string }{
	{"s", "ACCESS SHARE"}, {"S", "ROW SHARE"}, {"x", "ROW EXCLUSIVE"}, {"u", "SHARE UPDATE EXCLUSIVE"},
	{"h", "SHARE"}, {"r", "SHARE ROW EXCLUSIVE"}, {"e", "EXCLUSIVE"}, {"a", "ACCESS EXCLUSIVE"},
}

// TestLockModes tries which table locks of another session each command of
// testdata/locks/modes.tsv waits for.
func TestLockModes(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	lockModes(t, false, func(ctx context.Context) (*pgconn.PgConn, error) { return srv.connect(ctx, nil) })
}

// TestLockModesPostgres tries the same on PostgreSQL.
func TestLockModesPostgres(t *testing.T) {
	pg := requirePostgres(t)
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	admin, err := pg.connect(ctx, "postgres", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	for _, q := range []string{"DROP DATABASE IF EXISTS lock_modes", "CREATE DATABASE lock_modes TEMPLATE template0"} {
		if _, err := admin.Exec(ctx, q).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	lockModes(t, true, func(ctx context.Context) (*pgconn.PgConn, error) { return pg.connect(ctx, "lock_modes", nil) })
}

func lockModes(t *testing.T, postgres bool, connect func(ctx context.Context) (*pgconn.PgConn, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*statementTimeout)
	defer cancel()
	run := func(c *pgconn.PgConn, sql string) error {
		_, err := c.Exec(ctx, sql).ReadAll()
		return err
	}
	must := func(c *pgconn.PgConn, sql string) {
		t.Helper()
		if err := run(c, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	var holder, asker *pgconn.PgConn
	for _, c := range []**pgconn.PgConn{&holder, &asker} {
		var err error
		if *c, err = connect(ctx); err != nil {
			t.Fatal(err)
		}
		defer (*c).Close(ctx)
	}
	text := func(name string) string {
		b, err := os.ReadFile("../../testdata/locks/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	setup := text("setup.sql")
	must(holder, setup)
	must(asker, "SET lock_timeout = '1ms'")
	for line := range strings.Lines(text("modes.tsv")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rel, command, want := f[0], f[1], f[2]
		if !postgres && len(f) > 3 {
			want = f[3]
		}
		// What may not run in a block ends by its own, and begins only where it waits.
		alone := strings.Contains(command, "CONCURRENTLY") && !strings.HasPrefix(command, "REFRESH") || strings.HasPrefix(command, "VACUUM")
		got := ""
		for _, m := range lockModeNames {
			must(holder, "BEGIN")
			must(holder, "LOCK TABLE "+rel+" IN "+m.name+" MODE")
			if !alone {
				must(asker, "BEGIN")
			}
			err := run(asker, command)
			var pe *pgconn.PgError
			switch {
			case errors.As(err, &pe) && pe.Code == "55P03":
				got += m.letter
			case err != nil:
				t.Errorf("%s: %v", command, err)
			}
			if !alone {
				must(asker, "ROLLBACK")
			}
			must(holder, "ROLLBACK")
			if alone && strings.Contains(command, "INDEX") {
				must(holder, "DROP SCHEMA public CASCADE; DROP SCHEMA sc; CREATE SCHEMA public")
				must(holder, setup)
			}
		}
		if got == "" {
			got = "-"
		}
		if got != want {
			t.Errorf("%s\t%s\t%s, want %s", rel, command, got, want)
		}
	}
}
