package session

import (
	"strings"
	"testing"
)

// The file of a NOT NULL column of a table by columns has all rows, so that a scan
// needs no master file. These tests are about when it does not have them.

// TestFilesOfNotNullColumns reads columns with and without the master file.
func TestFilesOfNotNullColumns(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b int, c text NOT NULL, d text) WITH (layout = 'column')")
	c.must("INSERT INTO t SELECT i, i, nullif(i % 3, 0), 'c' || i, NULL FROM generate_series(1, 3000) i")
	c.must("ALTER TABLE t ADD COLUMN e int NOT NULL DEFAULT 7")
	for _, tt := range []struct {
		query, want string
		master      bool
	}{
		{"SELECT sum(a) FROM t", "4501500", false},
		{"SELECT sum(a), count(b), count(c) FROM t", "4501500|2000|3000", false},
		{"SELECT sum(id), sum(a) FROM t WHERE id > 2990", "29955|29955", false},
		{"SELECT count(b) FROM t", "2000", true},
		{"SELECT sum(e) FROM t", "21000", true}, // older rows have no value
		{"SELECT sum(a) FILTER (WHERE d IS NULL) FROM t", "4501500", false},
		{"SELECT count(*) FROM t", "3000", true},
	} {
		if got := c.sql(tt.query); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.query, got)
		}
		got := c.sql("EXPLAIN (ANALYZE, KV, COSTS off, TIMING off) " + tt.query)
		if strings.Contains(got, "KV t.kv") != tt.master {
			t.Errorf("%s: %s", tt.query, got)
		}
	}
	for _, dir := range []string{"ASC", "DESC"} {
		if got := c.sql("SELECT a, b, c FROM t ORDER BY id " + dir + " LIMIT 1 OFFSET 10"); !strings.Contains(got, map[string]string{"ASC": "11|2|c11", "DESC": "2990|2|c2990"}[dir]) {
			t.Errorf("%s: %s", dir, got)
		}
	}
	c.must("BEGIN")
	c.must("UPDATE t SET a = 0 WHERE id <= 2990")
	c.must("DELETE FROM t WHERE id = 3000")
	c.must("INSERT INTO t VALUES (5000, 1, NULL, 'x', NULL)")
	if got := c.sql("SELECT sum(a), count(c) FROM t"); !strings.Contains(got, "26956|3000") {
		t.Errorf("own writes: %s", got)
	}
	c.must("ROLLBACK")
}

// TestColumnBecomesNotNull checks a new constraint on rows that the file lacks, and
// reads by it afterwards.
func TestColumnBecomesNotNull(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (id int PRIMARY KEY, a int) WITH (layout = 'column')")
	c.must("INSERT INTO t VALUES (1, 1), (2, NULL), (3, 3)")
	if got := c.sql("ALTER TABLE t ALTER a SET NOT NULL"); !strings.Contains(got, "23502") {
		t.Errorf("with a NULL: %s", got)
	}
	if got := c.sql("ALTER TABLE t ADD CHECK (a IS NOT NULL), ALTER a SET NOT NULL"); !strings.Contains(got, "23514") && !strings.Contains(got, "23502") {
		t.Errorf("with a NULL: %s", got)
	}
	c.must("BEGIN")
	c.must("UPDATE t SET a = 2 WHERE id = 2")
	c.must("ALTER TABLE t ALTER a SET NOT NULL")
	if got := c.sql("SELECT sum(a) FROM t"); !strings.Contains(got, "6") {
		t.Errorf("in the transaction: %s", got)
	}
	c.must("COMMIT")
	c.must("ALTER TABLE t ALTER a DROP NOT NULL")
	c.must("UPDATE t SET a = NULL WHERE id = 1")
	if got := c.sql("SELECT count(coalesce(a, 0)) FROM t"); !strings.Contains(got, "3") {
		t.Errorf("without the constraint: %s", got)
	}
}

// TestOldSnapshotOfNullColumn has transactions whose snapshot has NULLs in a column
// that is NOT NULL by now: its file lacks their rows.
func TestOldSnapshotOfNullColumn(t *testing.T) {
	for _, own := range []bool{false, true} {
		srv := newServer(t)
		a, b := srv.client(t), srv.client(t)
		a.must("CREATE TABLE other (x int)")
		a.must("CREATE TABLE t (id int PRIMARY KEY, a int) WITH (layout = 'column')")
		a.must("INSERT INTO t VALUES (1, 1), (2, NULL), (3, 3)")
		a.must("BEGIN ISOLATION LEVEL REPEATABLE READ")
		a.must("SELECT count(*) FROM other")
		b.must("UPDATE t SET a = 2 WHERE a IS NULL")
		by := b
		if own {
			by = a
		}
		by.must("ALTER TABLE t ALTER a SET NOT NULL")
		if got := a.sql("SELECT count(coalesce(a, 0)) FROM t"); !strings.Contains(got, "40001") && !strings.Contains(got, "3") {
			t.Errorf("altered by itself: %t: %s", own, got)
		}
		a.must("ROLLBACK")
	}
}

// TestSerializableReadOfColumnFile has two transactions each read a column and add a
// row to it: one of them has to give way.
func TestSerializableReadOfColumnFile(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL) WITH (layout = 'column')")
	a.must("INSERT INTO t VALUES (1, 1), (2, 2)")
	for _, x := range []*client{a, b} {
		x.must("BEGIN ISOLATION LEVEL SERIALIZABLE")
		x.must("SELECT sum(a) FROM t")
	}
	a.must("INSERT INTO t SELECT 3, 3")
	b.must("INSERT INTO t SELECT 4, 4")
	first := a.sql("COMMIT")
	if second := b.sql("COMMIT"); !strings.Contains(first+second, "40001") {
		t.Errorf("both committed: %s %s", first, second)
	}
}
