package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

// templateSchema has one of each thing whose values or definition name others.
const templateSchema = `
CREATE EXTENSION citext;
CREATE SCHEMA s;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (m mood, n int, ms mood[]);
CREATE DOMAIN pos AS int CHECK (value > 0);
CREATE TYPE moods AS RANGE (subtype = mood);
CREATE TABLE s.a (id serial PRIMARY KEY, gone int, m mood, ms mood[], p pair, ps pair[], d pos DEFAULT 3, ct citext, r moods, c regclass, cs regtype[], f regproc);
CREATE FUNCTION next(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
INSERT INTO s.a (m, ms, p, ps, ct, r, c, cs, f) VALUES
  ('ok', '{sad,NULL,happy}', ROW('happy', 7, '{ok}'), ARRAY[ROW('sad', 1, '{}')::pair], 'Abc', '[sad,ok]', 's.a', '{mood,int4,pair}', 'next'),
  ('sad', NULL, NULL, NULL, 'x', NULL, 's.a_id_seq', '{}', 'lower(text)'::regprocedure);
ALTER TABLE s.a DROP COLUMN gone;
ALTER TABLE s.a ADD COLUMN e text DEFAULT 'later' NOT NULL;
CREATE UNIQUE INDEX ON s.a (lower(ct::text));
CREATE INDEX ON s.a (m) WHERE m > 'sad';
CREATE INDEX ON s.a (next(id));
CREATE TABLE b (a_id int REFERENCES s.a ON DELETE CASCADE, t s.a);
INSERT INTO b SELECT id, a FROM s.a;
CREATE VIEW v AS SELECT a.id, (p).m FROM s.a;
CREATE MATERIALIZED VIEW mv AS SELECT count(*) FROM s.a;
CREATE TABLE pt (k int, v mood) PARTITION BY LIST (k);
CREATE TABLE pt1 PARTITION OF pt FOR VALUES IN (1);
INSERT INTO pt VALUES (1, 'ok');
CREATE TABLE geo (id int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon', region_size = '0.5 x 0.5');
CREATE TABLE place (id int REFERENCES geo, n int, PRIMARY KEY (id, n)) WITH (cluster_with = 'geo');
INSERT INTO geo SELECT i, 46 + i % 50 * 0.05, 23 + i / 50 * 0.05 FROM generate_series(1, 100) i;
INSERT INTO place SELECT id, 1 FROM geo;
CREATE TABLE el (id int PRIMARY KEY, j jsonb STORAGE elements, a mood[] STORAGE elements) WITH (layout = 'column');
INSERT INTO el VALUES (1, '{"a": 1}', '{ok,sad}');
COMMENT ON TABLE b IS 'bees';
SELECT lo_from_bytea(77777, 'hello');
COMMENT ON FUNCTION lower(text) IS 'small';
REVOKE SELECT ON pg_stat_activity FROM public;
GRANT USAGE ON SCHEMA pg_toast TO public;
REVOKE EXECUTE ON FUNCTION pg_sleep(float8) FROM public;
CREATE FUNCTION filled(n int) RETURNS void LANGUAGE sql BEGIN ATOMIC INSERT INTO b (a_id) VALUES (n); UPDATE b SET a_id = n + 1 WHERE a_id = n; END;
`

var templateQueries = []string{
	"SELECT id, m, ms, p, ps, d, ct, r, c, cs, f, e FROM s.a ORDER BY id",
	"SELECT id FROM s.a WHERE lower(ct::text) = 'abc' OR next(id) = 3 ORDER BY id",
	"SELECT id FROM s.a WHERE m = 'ok'",
	"SELECT a_id, t, (t).p FROM b ORDER BY a_id",
	"SELECT (ps[1]).m FROM s.a WHERE id = 1",
	"SELECT * FROM v ORDER BY id",
	"SELECT * FROM mv",
	"SELECT tableoid::regclass, * FROM pt",
	"SELECT count(*), sum(n) FROM geo JOIN place USING (id) WHERE distance(lat, lon, 46.5, 23) < 30000",
	"SELECT j, a, a[2] FROM el",
	"SELECT obj_description('lower(text)'::regprocedure, 'pg_proc'), has_table_privilege('public', 'pg_stat_activity', 'select'), has_schema_privilege('public', 'pg_toast', 'usage'), has_function_privilege('public', 'pg_sleep(float8)', 'execute')",
	"SELECT pg_get_function_sqlbody('filled'::regproc)",
	"SELECT obj_description('b'::regclass), convert_from(lo_get(77777), 'UTF8')",
	"SELECT nextval('s.a_id_seq')",
	"INSERT INTO s.a (m) VALUES ('happy') RETURNING m, e, d",
	"SELECT upper(r) FROM s.a WHERE id = 1",
}

// A database made from a template has all of it, under OIDs of its own: the template
// may go.
func TestDatabaseFromTemplate(t *testing.T) {
	ctx := context.Background()
	conn, url := serveCopy(t, storage.Options{Store: "mem"})
	execAll(t, conn.PgConn(), "CREATE DATABASE src")
	in := func(db string) *pgx.Conn {
		c, err := pgx.Connect(ctx, strings.Replace(url, "/postgres?", "/"+db+"?", 1))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	answers := func(c *pgx.Conn) (out []string) {
		for _, q := range templateQueries {
			for _, r := range must(c.PgConn().Exec(ctx, q).ReadAll())(t) {
				out = append(out, fmt.Sprintf("%s: %q", q, r.Rows))
			}
		}
		return out
	}
	src := in("src")
	execAll(t, src.PgConn(), templateSchema)
	if _, err := conn.Exec(ctx, "CREATE DATABASE copy TEMPLATE src"); err == nil ||
		!strings.Contains(err.Error(), `source database "src" is being accessed by other users`) {
		t.Errorf("with a session in the template: %v", err)
	}
	src.Close(ctx)
	execAll(t, conn.PgConn(), "CREATE DATABASE copy TEMPLATE src")
	src = in("src")
	want := answers(src)
	src.Close(ctx)
	execAll(t, conn.PgConn(), "DROP DATABASE src")
	c := in("copy")
	defer c.Close(ctx)
	for i, got := range answers(c) {
		if got != want[i] {
			t.Errorf("%s\nin the template: %s", got, want[i])
		}
	}
	if _, err := c.Exec(ctx, "INSERT INTO b VALUES (99, NULL)"); err == nil || !strings.Contains(err.Error(), "b_a_id_fkey") {
		t.Errorf("a foreign key of the copy: %v", err)
	}
	if _, err := c.Exec(ctx, "DROP TYPE mood"); err == nil || !strings.Contains(err.Error(), "cannot drop type mood because other objects depend on it") {
		t.Errorf("dependencies of the copy: %v", err)
	}
}

// must returns v, or fails the test with the error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
