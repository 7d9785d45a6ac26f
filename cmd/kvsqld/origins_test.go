package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestColumnOrigins compares the tables and the column numbers that descriptions of rows
// name: clients take columns with them for columns of the table, which may be NULL or not,
// or be edited.
func TestColumnOrigins(t *testing.T) {
	pg := requirePostgres(t)
	ctx := t.Context()
	srv := startServer(t, storage.Options{Store: "mem"})
	own, err := srv.connect(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close(context.Background())
	ref, err := pg.connect(ctx, "postgres", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := ref.Exec(context.Background(), "DROP SCHEMA origins CASCADE").ReadAll(); err != nil {
			t.Error(err)
		}
		ref.Close(context.Background())
	}()
	for _, q := range []string{
		"CREATE SCHEMA origins", "SET search_path = origins",
		"CREATE TABLE t (id bigint PRIMARY KEY, name varchar(20))",
		"CREATE TABLE u (id bigint, t_id bigint)",
		"CREATE TABLE p (id int, name text) PARTITION BY RANGE (id)",
		"CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)",
		"CREATE VIEW v AS SELECT id, upper(name) AS name FROM t",
		"CREATE MATERIALIZED VIEW m AS SELECT id FROM t",
		"CREATE FUNCTION f() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t'",
	} {
		for _, c := range []*pgconn.PgConn{own, ref} {
			if _, err := c.Exec(ctx, q).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, q := range []string{
		"SELECT id, name, id + 1, name::text, (id) FROM t",
		"SELECT * FROM t JOIN u USING (id) LEFT JOIN p ON p.id = t_id",
		"SELECT s.*, s FROM (SELECT id AS a, name || 'x' AS b FROM t) s",
		"SELECT t FROM t", "SELECT x, x.* FROM t x", "SELECT v, v.* FROM v", "SELECT m FROM m", "SELECT p FROM p", "SELECT f, f.id FROM f()",
		"SELECT t.t FROM (SELECT t FROM t) t", "SELECT t::text, row(t.*), (t).id, (t).* FROM t", "SELECT c FROM pg_class c",
		"SELECT ctid, xmin, xmax, cmin, cmax, tableoid FROM t", "SELECT x.tableoid, p.tableoid, p.ctid, u.cmax FROM p, p1 x, u",
		"SELECT s.tableoid, s.ctid, s.xmax FROM (SELECT tableoid, ctid, xmax FROM t) s", "SELECT tableoid, xmin, oid FROM pg_class",
		"SELECT (SELECT t.id), (SELECT id FROM t LIMIT 1), (SELECT t.tableoid) FROM t",
		"INSERT INTO t (id) VALUES (1) RETURNING t, id, ctid, tableoid, xmax", "UPDATE p SET name = 'x' RETURNING tableoid, p, id",
		"DELETE FROM t USING u WHERE u.id = t.id RETURNING t, u, u.t_id, t.cmin, u.tableoid",
		"WITH w AS (SELECT id, tableoid FROM t) SELECT * FROM w", "WITH w AS MATERIALIZED (SELECT id, t FROM t) SELECT * FROM w",
		"WITH w AS (DELETE FROM t RETURNING id, ctid) SELECT * FROM w",
		"WITH RECURSIVE r AS (SELECT id, name FROM t UNION ALL SELECT id, name FROM r WHERE false) SELECT * FROM r",
		"WITH RECURSIVE r AS (SELECT id FROM t) SELECT id FROM r",
		"WITH RECURSIVE r (a) AS (SELECT id FROM t UNION SELECT a FROM r) SELECT a, x FROM r x JOIN u ON u.id = x.a",
		"SELECT id FROM t UNION ALL SELECT id FROM u", "SELECT id, count(*) FROM t GROUP BY id", "SELECT DISTINCT id FROM t",
		"SELECT id, max(name) OVER () FROM t ORDER BY name LIMIT 1", "SELECT x.id, y.tableoid FROM t x, LATERAL (SELECT x.id, tableoid FROM u) y", "TABLE t",
		"VALUES (1)", "SELECT tableoid FROM (SELECT 5 AS tableoid) s", "MERGE INTO t USING u ON false WHEN MATCHED THEN DELETE",
	} {
		if want, got := origins(ctx, ref, q), origins(ctx, own, q); got != want {
			t.Errorf("%s\ncomes from %s\nwant       %s", q, got, want)
		}
	}
}

// origins lists where the columns of a statement come from.
func origins(ctx context.Context, c *pgconn.PgConn, q string) string {
	d, err := c.Prepare(ctx, "", q, nil)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, f := range d.Fields {
		name := ""
		if f.TableOID != 0 {
			r, err := c.Exec(ctx, fmt.Sprintf("SELECT %d::regclass", f.TableOID)).ReadAll()
			if err != nil {
				return err.Error()
			}
			name = string(r[0].Rows[0][0])
		}
		out = append(out, fmt.Sprintf("%s=%s.%d", f.Name, name, int16(f.TableAttributeNumber)))
	}
	return strings.Join(out, " ")
}
