package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestDDLMeetsNewestRows has a transaction of an older state run a statement that
// must meet every row there is, as PostgreSQL's do: those that others have changed,
// added and deleted since are in the index, in the new files, and checked.
func TestDDLMeetsNewestRows(t *testing.T) {
	const (
		added  = "INSERT INTO t VALUES (5000, 5000, 1, 'new')"
		null   = "INSERT INTO t VALUES (5000, NULL, 1, 'new')"
		same   = "INSERT INTO t VALUES (5000, 7, 1, 'new')"
		broken = "INSERT INTO t VALUES (5000, -1, 1, 'new')"
		mixed  = "UPDATE t SET a = a + 10000 WHERE id % 3 = 0; DELETE FROM t WHERE id % 5 = 0; " + added
	)
	for _, tt := range []struct{ others, ddl, code, query, want string }{
		{others: mixed, ddl: "CREATE INDEX ON t (a)"},
		{others: mixed, ddl: "CREATE INDEX ON t USING inverted (b)"},
		{others: mixed, ddl: "CREATE UNIQUE INDEX ON t (a)"},
		{others: mixed, ddl: "CREATE INDEX ON t (lower(c)) WHERE a > 100"},
		{others: mixed, ddl: "ALTER TABLE t ADD UNIQUE (a)"},
		{others: same, ddl: "CREATE UNIQUE INDEX ON t (a)", code: "23505"},
		{others: mixed, ddl: "ALTER TABLE t ALTER a TYPE bigint", query: "SELECT count(*), max(a) FROM t", want: "2401|12997"},
		{others: mixed, ddl: "ALTER TABLE t SET (layout = 'column')", query: "SELECT count(*), max(a) FROM t", want: "2401|12997"},
		{others: mixed, ddl: "ALTER TABLE t DROP CONSTRAINT t_pkey", query: "SELECT count(*), max(a) FROM t", want: "2401|12997"},
		{others: mixed, ddl: "ALTER TABLE t ADD COLUMN r float8 DEFAULT random()", query: "SELECT count(*), count(r) FROM t", want: "2401|2401"},
		{others: added, ddl: "ALTER TABLE t ADD CHECK (a >= 0)"},
		{others: broken, ddl: "ALTER TABLE t ADD CHECK (a >= 0)", code: "23514"},
		{others: null, ddl: "ALTER TABLE t ALTER a SET NOT NULL", code: "23502"},
		{others: broken, ddl: "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES parent", code: "23503"},
		{others: "DELETE FROM parent WHERE id = 7", ddl: "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES parent", code: "23503"},
		{others: "INSERT INTO parent VALUES (5000); " + added, ddl: "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES parent"},
		{others: "INSERT INTO d VALUES (-1)", ddl: "ALTER DOMAIN positive ADD CHECK (value > 0)", code: "23514"},
		{others: "INSERT INTO part VALUES (200)", ddl: "ALTER TABLE parted ATTACH PARTITION part FOR VALUES FROM (0) TO (100)", code: "23514"},
		{others: added, ddl: "TRUNCATE t", query: "SELECT count(*) FROM t", want: "0"},
	} {
		for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
			t.Run(tt.ddl+"/"+level, func(t *testing.T) {
				srv := newServer(t)
				a, b := srv.client(t), srv.client(t)
				a.must("CREATE TABLE parent (id int PRIMARY KEY)")
				a.must("INSERT INTO parent SELECT generate_series(1, 3000)")
				a.must("CREATE TABLE t (id int PRIMARY KEY, a int, b int, c text)")
				a.must("CREATE INDEX t_b ON t (b)")
				a.must("INSERT INTO t SELECT i, i, i % 10, 'c' || i FROM generate_series(1, 3000) i")
				a.must("CREATE DOMAIN positive int; CREATE TABLE d (x positive)")
				a.must("CREATE TABLE parted (x int) PARTITION BY RANGE (x); CREATE TABLE part (x int)")
				a.must("CREATE TABLE other (x int)")
				a.must("BEGIN ISOLATION LEVEL " + level)
				a.must("SELECT count(*) FROM other")
				b.must(tt.others)
				got := a.sql(tt.ddl)
				if tt.code != "" {
					if !strings.Contains(got, "ERROR "+tt.code) {
						t.Errorf("%s\n%s", tt.ddl, got)
					}
					a.must("ROLLBACK")
					srv.checkTables(t)
					return
				}
				if strings.Contains(got, "ERROR") {
					t.Fatalf("%s\n%s", tt.ddl, got)
				}
				if tt.query != "" {
					if got := a.sql(tt.query); !strings.Contains(got, "\n"+tt.want+"\n") {
						t.Errorf("%s\n%s", tt.query, got)
					}
				}
				if tt.query != "" && level == "SERIALIZABLE" {
					// It has read what is newer than what else it read.
					if got := a.sql("COMMIT"); !strings.Contains(got, "ERROR 40001") {
						t.Errorf("COMMIT\n%s", got)
					}
				} else {
					a.must("COMMIT")
				}
				srv.checkTables(t)
				for _, q := range []string{"SELECT count(*) FROM t WHERE a = 5000", "SELECT count(*) FROM t WHERE a = 10003", "SELECT count(*) FROM t WHERE a = 5"} {
					fast := a.sql(q)
					if full := b.sql(strings.Replace(q, "a =", "a + 0 =", 1)); fast != full {
						t.Errorf("%s: %s, without an index %s", q, fast, full)
					}
				}
			})
		}
	}
}

// TestIndexOfNewerState has the transaction that made such an index go on: it never
// reads through it what its snapshot does not have.
func TestIndexOfNewerState(t *testing.T) {
	for _, changed := range []bool{false, true} {
		t.Run(fmt.Sprint(changed), func(t *testing.T) {
			srv := newServer(t)
			a, b := srv.client(t), srv.client(t)
			a.must("CREATE TABLE t (id int PRIMARY KEY, a int)")
			a.must("CREATE TABLE other (x int)")
			a.must("INSERT INTO t SELECT i, i FROM generate_series(1, 3000) i")
			a.must("ANALYZE t")
			a.must("BEGIN ISOLATION LEVEL REPEATABLE READ")
			a.must("SELECT count(*) FROM t")
			if changed {
				b.must("UPDATE t SET a = 0 WHERE id = 7")
			}
			b.must("INSERT INTO other VALUES (1)")
			a.must("CREATE INDEX ON t (a)")
			got := a.sql("SELECT id FROM t WHERE a = 7")
			if changed && !strings.Contains(got, "ERROR 40001") || !changed && !strings.Contains(got, "\n7\n") {
				t.Error(got)
			}
			if !changed {
				a.must("COMMIT")
			}
		})
	}
}
