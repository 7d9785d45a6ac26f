package session

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/storage"
)

// temporaries makes a temporary object of every kind, which need each other, and two
// that are not temporary and need them.
var temporaries = []string{
	"CREATE TEMP TABLE t (id serial PRIMARY KEY, n int GENERATED ALWAYS AS IDENTITY, up text GENERATED ALWAYS AS (upper('x')) STORED, UNIQUE (n))",
	"CREATE TEMP TABLE child (id int REFERENCES t, note text CHECK (note <> ''))",
	"CREATE TEMP TABLE part (k int) PARTITION BY LIST (k)",
	"CREATE TEMP TABLE part1 PARTITION OF part FOR VALUES IN (1)",
	"CREATE TEMP TABLE heir (extra int) INHERITS (child)",
	"CREATE TEMP SEQUENCE q",
	"CREATE TEMP VIEW v AS SELECT id FROM t",
	"CREATE STATISTICS pg_temp.st ON id, n FROM t",
	"CREATE TYPE pg_temp.mood AS ENUM ('sad', 'happy')",
	"CREATE TYPE pg_temp.pair AS (a int, m pg_temp.mood)",
	"CREATE TYPE pg_temp.floats AS RANGE (subtype = float8)",
	"CREATE DOMAIN pg_temp.positive AS int CHECK (VALUE > 0)",
	"CREATE FUNCTION pg_temp.twice(x pg_temp.positive) RETURNS int LANGUAGE sql IMMUTABLE RETURN x * 2",
	"CREATE FUNCTION pg_temp.later(x float8) RETURNS pg_temp.floats LANGUAGE sql AS 'SELECT pg_temp.floats(x, NULL)'",
	"CREATE FUNCTION pg_temp.plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1 + $2",
	"CREATE AGGREGATE pg_temp.total(int) (sfunc = int4pl, stype = int)",
	"CREATE OPERATOR pg_temp.## (leftarg = int, rightarg = int, function = pg_temp.plus)",
	"CREATE TEMP TABLE holder (p pg_temp.pair, f pg_temp.floats, d pg_temp.positive DEFAULT pg_temp.plus(1, 2), ds pg_temp.positive[])",
	"CREATE TABLE stays (k int PRIMARY KEY, m pg_temp.mood)",
	"CREATE FUNCTION goes(pg_temp.mood) RETURNS int LANGUAGE sql RETURN 1",
}

// leftTemporaries lists the objects in temporary schemas.
func leftTemporaries(srv *Server) (out []string) {
	for _, o := range srv.Catalog.Current().Objects() {
		if c := catalog.CommonOf(o); catalog.IsTempSchema(c.Schema) {
			out = append(out, c.Schema+"."+c.Name)
		}
	}
	return out
}

// TestTemporaryObjectsGo: every kind of temporary object goes with its session, and with
// the next start of a server that died before.
func TestTemporaryObjectsGo(t *testing.T) {
	ctx := context.Background()
	st, err := storage.Open(storage.Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	open := func() *Server {
		srv, err := Open(ctx, st, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return srv
	}
	make := func(srv *Server) *client {
		c := srv.client(t)
		for _, sql := range temporaries {
			if got := c.sql(sql); strings.Contains(got, "ERROR") {
				t.Fatalf("%s\n%s", sql, got)
			}
		}
		if n := len(leftTemporaries(srv)); n < 20 {
			t.Fatalf("%d temporary objects", n)
		}
		return c
	}
	gone := func(srv *Server, when string) {
		t.Helper()
		if left := leftTemporaries(srv); left != nil {
			t.Errorf("left %s: %v", when, left)
		}
		c := srv.client(t)
		if got := c.sql("SELECT * FROM stays; DROP TABLE stays"); !strings.Contains(got, "(k)") || !strings.Contains(got, "DROP TABLE") {
			t.Errorf("%s: %s", when, got)
		}
		if got := c.sql("DROP FUNCTION IF EXISTS goes"); !strings.Contains(got, "DROP FUNCTION") {
			t.Errorf("%s: %s", when, got)
		}
	}
	srv := open()
	make(srv).s.Close()
	gone(srv, "by a session")
	c := make(srv)
	if got := c.sql("DISCARD TEMP"); strings.Contains(got, "ERROR") {
		t.Error(got)
	}
	gone(srv, "by DISCARD TEMP")
	make(srv)
	srv.stop() // it dies
	<-srv.analyzerDone
	gone(open(), "by a server that died")
}

// TestTemporarySchemasOfOthers: what lists the objects of all sessions, as pg_dump does,
// finds their schemas, too.
func TestTemporarySchemasOfOthers(t *testing.T) {
	srv := newServer(t)
	c := srv.client(t)
	for _, sql := range temporaries {
		c.must(sql)
	}
	srv.client(t).want(`SELECT count(*) > 5 AS some, count(n.oid) = count(*) AS same FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = relnamespace WHERE relpersistence = 't'`,
		"(some,same)", "t|t", "SELECT 1", "I")
	c.s.Close()
	srv.client(t).want("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pg\\_temp\\_%'", "(count)", "0", "SELECT 1", "I")
}
