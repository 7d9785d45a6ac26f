package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// clientStatement is one line of the corpus: what a real client sent.
type clientStatement struct {
	line   int
	client string
	oids   []uint32 // declared parameter types
	parse  bool     // by Parse and Describe, not as a simple query
	sql    string
}

// readCorpus reads the statements; the file's first lines describe its columns.
func readCorpus(t *testing.T, path string) []clientStatement {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []clientStatement
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		part := strings.SplitN(sc.Text(), "\t", 3)
		if strings.HasPrefix(sc.Text(), "#") || len(part) != 3 {
			continue
		}
		s := clientStatement{line: n, client: part[0], sql: strings.ReplaceAll(part[2], `\n`, "\n")}
		if list, ok := strings.CutPrefix(part[1], "P["); ok {
			s.parse = true
			for _, o := range strings.Fields(strings.TrimSuffix(list, "]")) {
				v, err := strconv.ParseUint(o, 10, 32)
				if err != nil {
					t.Fatalf("%s:%d: %v", path, n, err)
				}
				s.oids = append(s.oids, uint32(v))
			}
		}
		out = append(out, s)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// readRefused reads "line SQLSTATE reason" of the statements that may fail.
func readRefused(t *testing.T, path string) map[int]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]string{}
	for l := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(l), "\t", 3)
		if strings.HasPrefix(l, "#") || len(f) < 3 {
			continue
		}
		n, err := strconv.Atoi(f[0])
		if err != nil {
			t.Fatalf("%s: %q: %v", path, l, err)
		}
		out[n] = f[1]
	}
	return out
}

// send runs a statement the way its client did. COPY from the client is ended
// at once; parameters that a Parse declares are described, not bound.
func (s *clientStatement) send(ctx context.Context, c *pgconn.PgConn) error {
	if s.parse {
		_, err := c.Prepare(ctx, "", s.sql, s.oids)
		return err
	}
	up := strings.ToUpper(strings.TrimSpace(s.sql))
	if strings.HasPrefix(up, "COPY") && strings.Contains(up, "FROM STDIN") {
		_, err := c.CopyFrom(ctx, strings.NewReader(""), s.sql)
		return err
	}
	if strings.HasPrefix(up, "COPY") && strings.Contains(up, "TO STDOUT") {
		_, err := c.CopyTo(ctx, discard{}, s.sql)
		return err
	}
	_, err := c.Exec(ctx, s.sql).ReadAll()
	return err
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// TestClientCorpus sends every statement that 19 clients were seen to send, each
// client's in order on one connection to a database with schema.sql. None may fail with an internal error; the
// ones that fail otherwise are listed with their SQLSTATE and the reason.
func TestClientCorpus(t *testing.T) {
	const dir = "../../testdata/clients/"
	srv := startServer(t, storage.Options{Store: "mem"})
	ctx := context.Background()
	refused := readRefused(t, dir+"refused.tsv")
	schema, err := os.ReadFile(dir + "schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := srv.connect(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	databases := 0
	var c *pgconn.PgConn
	client := ""
	passed := 0
	var report strings.Builder
	for _, s := range readCorpus(t, dir+"client-sql-corpus.tsv") {
		if s.client != client { // the file is sorted by client
			if c != nil {
				c.Close(ctx)
			}
			client = s.client
			databases++
			db := "client" + strconv.Itoa(databases)
			if _, err := admin.Exec(ctx, "CREATE DATABASE "+db).ReadAll(); err != nil {
				t.Fatal(err)
			}
			if c, err = dial(ctx, srv.addr, db, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Exec(ctx, string(schema)).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
		limit, cancel := context.WithTimeout(ctx, statementTimeout)
		err := s.send(limit, c)
		cancel()
		if c.TxStatus() == 'E' { // the recordings have no statements that are meant to fail
			c.Exec(ctx, "ROLLBACK").ReadAll()
		}
		if err == nil {
			passed++
			if code := refused[s.line]; code != "" {
				t.Errorf("line %d passes, but is listed as refused with %s", s.line, code)
			}
			continue
		}
		var e *pgconn.PgError
		if !errors.As(err, &e) {
			t.Fatalf("line %d (%s): %v\n%s", s.line, s.client, err, s.sql)
		}
		fmt.Fprintf(&report, "%d\t%s\t%s\n", s.line, e.Code, e.Message)
		if e.Code == "XX000" || e.Code != refused[s.line] {
			t.Errorf("line %d (%s): %s: %s\n%s", s.line, s.client, e.Code, e.Message, s.sql)
		}
	}
	c.Close(ctx)
	t.Logf("%d statements passed", passed)
	if path := os.Getenv("KVSQLD_CLIENT_REPORT"); path != "" {
		if err := os.WriteFile(path, []byte(report.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
