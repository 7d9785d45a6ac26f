package main

import (
	"bufio"
	"context"
	"crypto/md5"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/sqllogictest/go/logictest/parser"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// The scripts of testdata/slt, and those of the directory KVSQLD_SLT_DIR, are in
// the format of sqllogictest (sqlite.org/sqllogictest): statements that succeed
// or fail, and queries with their values, one per line, or with the MD5 of them.
// Values are printed by the letters of the record: I as integer, R with three
// decimals, T as text, (empty) and NULL.
//
// KVSQLD_SLT_EXCEPT names a file of FILE:LINE, the records of the directory that
// need not pass. KVSQLD_SLT_SERVER=postgres runs the directory on PostgreSQL.

// maxSLTReports bounds the failures that are printed for one file.
const maxSLTReports = 10

// sltScore counts the records of scripts.
type sltScore struct {
	passed, failed, excepted int
	took                     time.Duration
}

func TestSLT(t *testing.T) {
	for _, path := range sltFiles(t, "../../testdata/slt") {
		name := filepath.Base(path)
		t.Run("kvsqld/"+name, func(t *testing.T) {
			srv := startServer(t, storage.Options{NoSync: true})
			runSLT(t, path, name, nil, srv.connect)
		})
		t.Run("postgres/"+name, func(t *testing.T) {
			runSLT(t, path, name, nil, postgresScratch(t))
		})
	}
}

func TestSLTDirectory(t *testing.T) {
	dir := os.Getenv("KVSQLD_SLT_DIR")
	if dir == "" {
		t.Skip("KVSQLD_SLT_DIR is not set")
	}
	except := map[string]bool{}
	if list := os.Getenv("KVSQLD_SLT_EXCEPT"); list != "" {
		f, err := os.Open(list)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			if w := strings.Fields(sc.Text()); len(w) > 0 {
				except[w[0]] = true
			}
		}
	}
	var total sltScore
	for _, path := range sltFiles(t, dir) {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			var connect connector
			if os.Getenv("KVSQLD_SLT_SERVER") == "postgres" {
				connect = postgresScratch(t)
			} else {
				connect = startServer(t, storage.Options{NoSync: true}).connect
			}
			s := runSLT(t, path, name, except, connect)
			t.Logf("%d passed, %d failed, %d excepted, %.2f s", s.passed, s.failed, s.excepted, s.took.Seconds())
			total.passed += s.passed
			total.failed += s.failed
			total.excepted += s.excepted
			total.took += s.took
		})
	}
	t.Logf("records: %d passed, %d failed, %d excepted, %.1f s", total.passed, total.failed, total.excepted, total.took.Seconds())
}

func sltFiles(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".test") {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	return paths
}

type connector func(ctx context.Context, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error)

// postgresScratch returns connections to an empty database of the reference.
func postgresScratch(t *testing.T) connector {
	t.Helper()
	p := requirePostgres(t)
	ctx := context.Background()
	exec := func(sql string) {
		admin, err := p.connect(ctx, "postgres", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close(ctx)
		if _, err := admin.Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE DATABASE scratch TEMPLATE template0")
	t.Cleanup(func() { exec("DROP DATABASE scratch WITH (FORCE)") })
	return func(ctx context.Context, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error) {
		return p.connect(ctx, "scratch", onNotice)
	}
}

// runSLT runs one file; name is what except calls it.
func runSLT(t *testing.T, path, name string, except map[string]bool, connect connector) sltScore {
	t.Helper()
	records, err := parser.ParseTestFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	c, err := connect(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	var s sltScore
	start := time.Now()
	for _, r := range records {
		if !r.ShouldExecuteForEngine("postgresql") {
			continue
		}
		if r.Type() == parser.Halt {
			break
		}
		err := runSLTRecord(ctx, c, r)
		switch {
		case err == nil:
			s.passed++
		case except[fmt.Sprintf("%s:%d", name, r.LineNum())]:
			s.excepted++
		default:
			if s.failed++; s.failed <= maxSLTReports {
				t.Errorf("%s:%d: %v\n%s", name, r.LineNum(), err, r.Query())
			}
		}
	}
	s.took = time.Since(start)
	if s.failed > maxSLTReports {
		t.Errorf("%s: %d records failed", name, s.failed)
	}
	return s
}

func runSLTRecord(ctx context.Context, c *pgconn.PgConn, r *parser.Record) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	results, err := c.Exec(ctx, r.Query()).ReadAll()
	if r.Type() == parser.Statement {
		if r.ExpectError() && err == nil {
			return fmt.Errorf("succeeded, an error was expected")
		}
		if !r.ExpectError() && err != nil {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	if len(results) != 1 {
		return fmt.Errorf("%d results", len(results))
	}
	var values []string
	for _, row := range results[0].Rows {
		if len(row) != r.NumCols() {
			return fmt.Errorf("%d columns, want %d", len(row), r.NumCols())
		}
		for i, v := range row {
			values = append(values, sltValue(r.Schema()[i], v))
		}
	}
	values = r.SortResults(values)
	if len(values) != r.NumResults() {
		return fmt.Errorf("%d values, want %d", len(values), r.NumResults())
	}
	if r.IsHashResult() {
		got := fmt.Sprintf("%x", md5.Sum([]byte(strings.Join(values, "\n")+"\n")))
		if got != r.HashResult() {
			return fmt.Errorf("hash %s, want %s", got, r.HashResult())
		}
		return nil
	}
	want := make([]string, len(r.Result()))
	for i, v := range r.Result() {
		want[i] = strings.TrimSpace(v)
	}
	if !slices.Equal(values, want) {
		return fmt.Errorf("values %q, want %q", values, want)
	}
	return nil
}

// sltValue prints a value in text form by the record's letter.
func sltValue(kind byte, v []byte) string {
	if v == nil {
		return "NULL"
	}
	s := string(v)
	switch kind {
	case 'I':
		switch f, err := strconv.ParseFloat(s, 64); {
		case s == "t":
			return "1"
		case err != nil: // false, and text: no number is 0
			return "0"
		case strings.ContainsAny(s, ".eE") || s == "-0":
			return strconv.FormatInt(int64(f), 10)
		}
	case 'R':
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return strconv.FormatFloat(f, 'f', 3, 64)
		}
	case 'T':
		if s == "" {
			return "(empty)"
		}
	}
	return s
}
