package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/executor/session"
	"kvsqld/storage"
)

// The scripts of testdata/diff, and those of the directory KVSQLD_COMPARE_DIR,
// are plain SQL: their answers are not written down but asked of a real
// PostgreSQL. A statement ends with a semicolon at the end of a line, lines
// that begin with "--" are left out. Columns, types, rows, command tags and
// SQLSTATEs must be equal, but for the statements of testdata/diff/known.tsv:
//
//	SCRIPT<TAB>STATEMENT (one line, blanks as single spaces)<TAB>REASON
//
// A statement with an ORDER BY must give PostgreSQL's order, others any order.

const compareDir = "../../testdata/diff"

// maxCompareReports bounds the differences that are printed for one script.
const maxCompareReports = 20

// TestCompare runs the scripts on both servers. KVSQLD_COMPARE_MESSAGES=1 also
// compares the texts of errors and notices.
func TestCompare(t *testing.T) {
	known := knownDifferences(t)
	seen, ran := map[string]bool{}, map[string]bool{}
	dirs := []string{compareDir}
	if d := os.Getenv("KVSQLD_COMPARE_DIR"); d != "" {
		dirs = []string{d}
	}
	var total, differ int
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no scripts in %s: %v", dir, err)
		}
		for _, path := range paths {
			name := strings.TrimSuffix(filepath.Base(path), ".sql")
			t.Run(name, func(t *testing.T) {
				ran[name] = true
				n, d := compareScript(t, path, name, known, seen)
				total += n
				differ += d
			})
		}
	}
	t.Logf("%d statements, %d differ, %d of them are known", total, differ, len(seen))
	if os.Getenv("KVSQLD_COMPARE_DIR") == "" && !t.Failed() {
		for k := range known {
			if script, _, _ := strings.Cut(k, "\t"); ran[script] && !seen[k] {
				t.Errorf("known.tsv lists a statement that does not differ: %s", strings.ReplaceAll(k, "\t", ": "))
			}
		}
	}
}

func knownDifferences(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(compareDir, "known.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 || f[2] == "" {
			t.Fatalf("known.tsv: %q is not SCRIPT, STATEMENT, REASON", line)
		}
		known[f[0]+"\t"+f[1]] = f[2]
	}
	return known
}

// scriptStatements reads the statements of a file, without lines that are comments.
func scriptStatements(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var sql strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "--") {
			sql.WriteString(line)
		}
	}
	return statements(sql.String())
}

// compareScript returns the numbers of statements and of differences.
func compareScript(t *testing.T, path, name string, known map[string]string, seen map[string]bool) (total, differ int) {
	var ours [2]*script // the second one has the plans that statements have when they come again
	for i := range ours {
		srv := startServerWith(t, storage.Options{Store: "mem"}, session.Options{RememberAtOnce: i == 1})
		ours[i] = &script{t: t, connect: srv.connect, conns: map[string]*pgconn.PgConn{}}
		defer ours[i].close()
	}
	theirs := &script{t: t, connect: postgresScratch(t), conns: map[string]*pgconn.PgConn{}}
	defer theirs.close()
	answer := func(s *script, q string) string {
		ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
		defer cancel()
		c := s.conn(ctx, "")
		s.out.Reset()
		s.statement(ctx, c, q, !strings.Contains(strings.ToUpper(q), "ORDER BY"))
		if os.Getenv("KVSQLD_COMPARE_MESSAGES") != "" {
			return s.out.String()
		}
		return withoutMessages(s.out.String())
	}
	for _, q := range scriptStatements(t, path) {
		total++
		want, got, again := answer(theirs, q), answer(ours[0], q), answer(ours[1], q)
		if got == want {
			if got = again; got == want {
				continue
			}
			q += " -- with the plan that is remembered"
		}
		differ++
		key := name + "\t" + strings.Join(strings.Fields(q), " ")
		if known[key] != "" {
			seen[key] = true
			continue
		}
		if differ <= maxCompareReports || os.Getenv("KVSQLD_COMPARE_DIR") != "" {
			t.Errorf("%s\n%s", q, indented("kvsqld:     ", got)+indented("PostgreSQL: ", want))
		}
	}
	if differ > maxCompareReports {
		t.Errorf("%d of %d statements differ", differ, total)
	}
	return total, differ
}

func indented(head, text string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 12 {
		lines = append(lines[:12], fmt.Sprintf("(%d more lines)", len(lines)-12))
	}
	for _, l := range lines {
		b.WriteString(head + l + "\n")
	}
	return b.String()
}
