package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestFlippedBytes changes a byte somewhere in the files that a killed server left,
// its log as well, and asks another one about everything. It is refused, fails with
// XX001, or answers right; of the log it may take a damaged end for one that was not
// written to its end. KVSQLD_FLIPS sets how often; 40 unless it is given.
func TestFlippedBytes(t *testing.T) {
	flips := 40
	if v, err := strconv.Atoi(os.Getenv("KVSQLD_FLIPS")); err == nil {
		flips = v
	}
	const rows, logged = 3000, 200
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	dir := t.TempDir()
	whole := startServer(t, storage.Options{Dir: dir})
	conn, err := pgx.Connect(ctx, whole.dsn())
	if err != nil {
		t.Fatal(err)
	}
	exec := func(q string) {
		t.Helper()
		if _, err := conn.Exec(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE t (id int PRIMARY KEY, v int, filler text)")
	exec("CREATE INDEX t_v ON t (v)")
	exec("CREATE TABLE l (id int PRIMARY KEY, g int) WITH (layout = 'column')")
	exec("CREATE INDEX l_g ON l USING inverted (g)")
	exec(fmt.Sprintf("INSERT INTO t SELECT i, i, repeat('x', 50) FROM generate_series(1, %d) i", rows))
	exec(fmt.Sprintf("INSERT INTO l SELECT i, i %% 10 FROM generate_series(1, %d) i", rows))
	exec("VACUUM")
	for i := 1; i <= logged; i++ {
		exec(fmt.Sprintf("UPDATE t SET v = %d WHERE id = %d", 100_000+i, i))
	}
	image := t.TempDir() // as a kill would leave it
	files := copyFiles(t, dir, image)
	conn.Close(ctx)

	outcomes := map[string]int{}
	rnd := rand.New(rand.NewPCG(uint64(flips), 5))
	for n := range flips {
		broken := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(broken, 0o700); err != nil {
			t.Fatal(err)
		}
		copyFiles(t, image, broken)
		name := files[n%len(files)]
		b, err := os.ReadFile(filepath.Join(broken, name))
		if err != nil {
			t.Fatal(err)
		}
		at := rnd.IntN(len(b))
		b[at] ^= 1 << rnd.IntN(8)
		if err := os.WriteFile(filepath.Join(broken, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		log := !strings.HasSuffix(name, ".db") && !strings.HasSuffix(name, ".sum")
		outcome, wrong := askDamaged(ctx, broken, rows, logged, log)
		outcomes[outcome]++
		if wrong != "" {
			t.Errorf("byte %d of %s: %s", at, name, wrong)
		}
		os.RemoveAll(broken)
	}
	t.Logf("%d flips in %v: %v", flips, files, outcomes)
}

// copyFiles copies the files with contents of a data directory and returns their names.
func copyFiles(t *testing.T, from, to string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || strings.HasSuffix(e.Name(), ".lock") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if len(b) > 0 {
			names = append(names, e.Name())
		}
	}
	return names
}

// askDamaged opens a data directory and reads everything in several ways. It says what
// happened, and what was answered wrongly.
func askDamaged(ctx context.Context, dir string, rows, logged int, log bool) (outcome, wrong string) {
	srv, err := openServer(storage.Options{Dir: dir, NoSync: true})
	if err != nil {
		return "refused", ""
	}
	defer func() { // what cannot be closed in order is damaged
		srv.wire.Shutdown(ctx)
		<-srv.done
		_ = srv.Server.Close(ctx)
		_ = srv.store.Close()
	}()
	conn, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		return "no connection", codeOfDamage(err)
	}
	defer conn.Close(ctx)
	outcome = "right"
	number := func(q string) (n int, ok bool) {
		if wrong != "" {
			return 0, false
		}
		err := conn.QueryRow(ctx, q).Scan(&n)
		if err != nil {
			outcome, wrong = "XX001", codeOfDamage(err)
			return 0, false
		}
		return n, true
	}
	kept, ok := number("SELECT count(*) FROM t WHERE v + 0 > 100000")
	if ok && (kept > logged || kept < logged && !log) {
		return outcome, fmt.Sprintf("%d of %d updates are there", kept, logged)
	}
	if ok && kept < logged {
		outcome = "a part of the log"
	}
	for _, q := range []struct {
		sql  string
		want int
	}{
		{"SELECT count(*) FROM t", rows},
		{fmt.Sprintf("SELECT count(*) FROM t WHERE v > 100000 AND id <= %d", kept), kept},
		{"SELECT count(*) FROM t WHERE v BETWEEN 1 AND 50000", rows - kept},
		{"SELECT count(*) FROM t WHERE v = id", rows - kept},
		{"SELECT v FROM t WHERE id = 2999", 2999},
		{"SELECT id FROM t WHERE v = 2500", 2500},
		{"SELECT count(*) FROM t WHERE filler <> repeat('x', 50)", 0},
		{"SELECT count(*) FROM l WHERE g = 7", rows / 10},
		{"SELECT sum(g)::int FROM l", 45 * rows / 10},
		{"SELECT count(*) FROM t JOIN l USING (id) WHERE g = 3", rows / 10},
	} {
		if got, here := number(q.sql); ok && here && got != q.want {
			return outcome, fmt.Sprintf("%s gives %d, not %d", q.sql, got, q.want)
		}
	}
	return outcome, wrong
}

// codeOfDamage returns "" for the error of a damaged file, else the error.
func codeOfDamage(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == "XX001" {
		return ""
	}
	return err.Error()
}
