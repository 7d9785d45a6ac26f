package session

import (
	"strings"
	"testing"
)

// TestDeleteAll deletes all of very many rows, which empties the table's files unless
// somebody else is near the rows.
func TestDeleteAll(t *testing.T) {
	const (
		fill  = "INSERT INTO t SELECT i, i, 'x' || i FROM generate_series(1, 20000) i"
		count = "SELECT count(*), count(a), max(id) FROM t"
		how   = "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND mode = 'ShareRowExclusiveLock' AND granted"
	)
	tables := map[string]string{
		"plain":   "CREATE TABLE t (id int PRIMARY KEY, a int UNIQUE, b text)",
		"no key":  "CREATE TABLE t (id int, a int, b text)",
		"column":  "CREATE TABLE t (id int PRIMARY KEY, a int, b text) WITH (layout = 'column')",
		"grouped": "CREATE TABLE t (id int PRIMARY KEY, a int UNIQUE DEFERRABLE INITIALLY DEFERRED, b text) WITH (layout = 'column', groups = '(a, b)')",
	}
	for name, def := range tables {
		run := func(what string, f func(t *testing.T, a, b *client)) {
			t.Run(name+"/"+what, func(t *testing.T) {
				srv := newServer(t)
				a, b := srv.client(t), srv.client(t)
				a.must(def)
				a.must("CREATE INDEX ON t (b); CREATE INDEX ON t ((a + 1)) WHERE a > 5")
				a.must(fill)
				a.must("ANALYZE t")
				f(t, a, b)
				srv.checkTables(t)
			})
		}
		// cleared deletes the rows in a transaction and tells whether it was done at once.
		cleared := func(a *client) bool {
			a.t.Helper()
			if got := a.sql("DELETE FROM t"); !strings.Contains(got, "DELETE 20000\n") {
				a.t.Errorf("DELETE: %s", got)
			}
			return strings.Contains(a.sql(how), "\n1\n")
		}
		wants := func(c *client, sql, want string) {
			c.t.Helper()
			if got := c.sql(sql); !strings.Contains(got, want) {
				c.t.Errorf("%s\n%s\nwanted %q", sql, got, want)
			}
		}
		run("alone", func(t *testing.T, a, b *client) {
			b.must("BEGIN ISOLATION LEVEL REPEATABLE READ")
			wants(b, count, "\n20000|20000|20000\n")
			a.must("BEGIN")
			a.must("INSERT INTO t VALUES (30000, 30000, 'own')")
			a.must("DELETE FROM t WHERE id = 30000")
			a.must("SAVEPOINT s")
			a.must("DECLARE c CURSOR FOR SELECT id FROM t")
			a.must("FETCH c")
			if !cleared(a) {
				t.Error("the rows were deleted one by one")
			}
			wants(a, count, "\n0|0|NULL\n")
			wants(a, "FETCH 1000 FROM c", "FETCH 1000\n")
			a.must("INSERT INTO t VALUES (7, 7, 'again')")
			wants(a, "SELECT id FROM t WHERE b = 'again'", "\n7\n")
			wants(a, "SELECT id FROM t WHERE b = 'x8'", "SELECT 0\n")
			a.must("ROLLBACK TO s")
			wants(a, count, "\n20000|20000|20000\n")
			wants(a, "SELECT id FROM t WHERE b = 'x8'", "\n8\n")
			if !cleared(a) {
				t.Error("the rows were deleted one by one, the second time")
			}
			a.must("INSERT INTO t VALUES (8, 8, 'new')")
			a.must("COMMIT")
			wants(a, count, "\n1|1|8\n")
			wants(b, count, "\n20000|20000|20000\n")
			wants(b, "SELECT id FROM t WHERE b = 'x9'", "\n9\n")
			wants(b, "UPDATE t SET b = 'late' WHERE id = 9", "ERROR 40001")
			b.must("ROLLBACK")
			wants(b, count, "\n1|1|8\n")
		})
		run("beside an insert", func(t *testing.T, a, b *client) {
			b.must("BEGIN")
			b.must("INSERT INTO t VALUES (30000, 30000, 'other')")
			a.must("BEGIN")
			if cleared(a) {
				t.Error("the files were emptied beside somebody who writes")
			}
			b.must("COMMIT")
			a.must("COMMIT")
			wants(a, count, "\n1|1|30000\n")
		})
		run("beside a lock", func(t *testing.T, a, b *client) {
			b.must("BEGIN")
			b.must("SELECT * FROM t WHERE id = 7 FOR KEY SHARE")
			a.must("BEGIN")
			a.must("SET LOCAL lock_timeout = 1")
			wants(a, "DELETE FROM t", "ERROR 55P03")
			a.must("ROLLBACK")
			b.must("COMMIT")
			wants(a, count, "\n20000|20000|20000\n")
		})
		run("behind a commit", func(t *testing.T, a, b *client) {
			a.must("BEGIN ISOLATION LEVEL REPEATABLE READ")
			wants(a, count, "\n20000|20000|20000\n")
			b.must("INSERT INTO t VALUES (30000, 30000, 'other')")
			if cleared(a) {
				t.Error("the files were emptied though the snapshot lacks a row")
			}
			a.must("COMMIT")
			wants(a, count, "\n1|1|30000\n")
		})
		run("in parts of a statement", func(t *testing.T, a, b *client) {
			wants(a, "WITH u AS (UPDATE t SET b = 'u' WHERE id = 5), d AS (DELETE FROM t) SELECT count(*) FROM t", "\n20000\n")
			wants(a, "SELECT count(*) <= 1 FROM t", "\nt\n")
		})
		run("what refers to it", func(t *testing.T, a, b *client) {
			if strings.Contains(def, "PRIMARY KEY") {
				a.must("CREATE TABLE child (p int REFERENCES t)")
				a.must("INSERT INTO child VALUES (5)")
				wants(a, "DELETE FROM t", "ERROR 23503")
				wants(a, count, "\n20000|20000|20000\n")
			}
		})
	}
}
