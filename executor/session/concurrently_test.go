package session

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestIndexBesideWriters makes indexes while others insert, update and delete: each has
// exactly the entries of the rows, which the check of all tables at the end sees.
func TestIndexBesideWriters(t *testing.T) {
	srv := newServer(t)
	admin := srv.client(t)
	admin.must("CREATE TABLE t (id int PRIMARY KEY, v int, w text); INSERT INTO t SELECT i, i, 'w' || i % 7 FROM generate_series(1, 4000) i")
	var stop atomic.Bool
	var wg sync.WaitGroup
	for n := range 4 {
		c := srv.client(t)
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 11))
			for !stop.Load() {
				id := 1 + r.IntN(5000)
				q := fmt.Sprintf("UPDATE t SET v = %d, w = 'w' || %d WHERE id = %d", r.IntN(1_000_000), r.IntN(9), id)
				switch r.IntN(4) {
				case 0:
					q = fmt.Sprintf("DELETE FROM t WHERE id = %d", id)
				case 1:
					q = fmt.Sprintf("INSERT INTO t VALUES (%d, %d, 'new') ON CONFLICT DO NOTHING", id, r.IntN(1_000_000))
				case 2:
					q = fmt.Sprintf("BEGIN; %s; UPDATE t SET w = 'x' WHERE id = %d; %s", q, id%50, []string{"COMMIT", "ROLLBACK"}[r.IntN(2)])
				}
				if got := c.sql(q); strings.Contains(got, "ERROR") && !strings.Contains(got, "40P01") {
					t.Errorf("%s\n%s", q, got)
					return
				} else if strings.Contains(got, "ERROR") {
					c.sql("ROLLBACK")
				}
			}
		})
	}
	maker := srv.client(t)
	for i := range 6 {
		maker.must(fmt.Sprintf("CREATE INDEX CONCURRENTLY i%d ON t (%s)", i, []string{"v", "w, v", "(v % 10)"}[i%3]))
		if maker.s.TxStatus() != 'I' {
			t.Errorf("the status is %c", maker.s.TxStatus())
		}
	}
	stop.Store(true)
	wg.Wait()
	maker.want("SELECT count(*) FILTER (WHERE indisvalid), count(*) FROM pg_index WHERE indrelid = 't'::regclass",
		"(count,count)", "7|7", "SELECT 1", "I")
	srv.checkTables(t)
}

// TestIndexThatFails: duplicates leave an index that is not valid, which writers keep up
// to date, nothing reads, and REINDEX builds.
func TestIndexThatFails(t *testing.T) {
	srv := newServer(t)
	c := srv.client(t)
	c.must("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT i, i FROM generate_series(1, 2000) i; INSERT INTO t VALUES (3000, 1500)")
	if got := c.sql("CREATE UNIQUE INDEX CONCURRENTLY u ON t (v)"); !strings.Contains(got, "could not create unique index") {
		t.Fatal(got)
	}
	srv.checkTables(t)
	for _, q := range []string{"SELECT id FROM t WHERE v = 1999", "SELECT count(*) FROM t WHERE v > 1990"} {
		if got := c.sql("EXPLAIN " + q); strings.Contains(got, " u ") {
			t.Errorf("an index that is not valid is read: %s", got)
		}
	}
	if got := c.sql("INSERT INTO t VALUES (4000, 7) ON CONFLICT (v) DO NOTHING"); !strings.Contains(got, "42P10") {
		t.Errorf("an index that is not valid decides: %s", got)
	}
	if got := c.sql("REINDEX INDEX u"); !strings.Contains(got, "could not create unique index") {
		t.Errorf("with duplicates: %s", got)
	}
	c.must("DELETE FROM t WHERE id = 3000; REINDEX INDEX u")
	if got := c.sql("INSERT INTO t VALUES (4000, 1999)"); !strings.Contains(got, "23505") {
		t.Errorf("after REINDEX: %s", got)
	}
	srv.checkTables(t)
}

// TestIndexNewerThanSnapshots: an index becomes valid while others read a snapshot that has
// not all of its entries: a statement that runs again as a row has changed, one that calls a
// function, and a transaction that keeps its snapshot.
func TestIndexNewerThanSnapshots(t *testing.T) {
	srv := newServer(t)
	admin, old, writer, waiter, maker := srv.client(t), srv.client(t), srv.client(t), srv.client(t), srv.client(t)
	older, caller, keeper := srv.client(t), srv.client(t), srv.client(t)
	admin.must("CREATE TABLE t (id int PRIMARY KEY, v int, n int); INSERT INTO t SELECT i, i % 500, 0 FROM generate_series(1, 5000) i; ANALYZE t")
	admin.must("CREATE TABLE one (a int); INSERT INTO one VALUES (7)")
	admin.must("CREATE FUNCTION f(int) RETURNS bigint STABLE LANGUAGE sql AS 'SELECT 1; SELECT count(*) FROM t WHERE v = $1'")
	admin.must("SELECT pg_advisory_lock(5)")
	waits := "relation = 't'::regclass AND mode = 'ShareLock'"
	old.must("BEGIN; UPDATE t SET n = 1 WHERE id = 1")
	var wg sync.WaitGroup
	wg.Go(func() { maker.must("CREATE INDEX CONCURRENTLY i ON t (v)") })
	until(admin, waits) // for those who do not know the index
	older.must("BEGIN; UPDATE t SET n = 1 WHERE id = 2")
	old.must("COMMIT")
	until(admin, waits+" AND (SELECT indisready FROM pg_index WHERE indexrelid = 'i'::regclass)") // for those who make no entries
	keeper.must("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM one")
	called := make(chan string)
	go func() { called <- caller.sql("SELECT a, pg_advisory_lock(5) IS NULL, f(a) FROM one") }()
	until(admin, "locktype = 'advisory'")
	writer.must("BEGIN; UPDATE t SET n = 1 WHERE id = 7")
	got := make(chan string)
	go func() { got <- waiter.sql("UPDATE t SET n = n + 1 WHERE v = 7") }()
	until(admin, "locktype = 'transactionid'")
	older.must("COMMIT")
	wg.Wait()
	writer.must("COMMIT")
	if got := <-got; got != "UPDATE 10\nI" {
		t.Errorf("got %s", got)
	}
	keeper.want("SELECT count(*), sum(n) FROM t WHERE v = 7", "(count,sum)", "10|0", "SELECT 1", "T")
	keeper.must("COMMIT")
	admin.must("SELECT pg_advisory_unlock(5)")
	if got := <-called; got != "(a,?column?,f)\n7|f|10\nSELECT 1\nI" {
		t.Errorf("got %s", got)
	}
	admin.want("SELECT sum(n) FROM t WHERE v = 7", "(sum)", "11", "SELECT 1", "I")
	srv.checkTables(t)
}

// TestIndexBesideOldPlans: a statement that was planned before there was an index changes a
// row after one that knows of the index has. No entry of the row stays behind.
func TestIndexBesideOldPlans(t *testing.T) {
	for _, change := range []string{"UPDATE t SET w = 'x' WHERE id =", "DELETE FROM t WHERE id ="} {
		srv := newServer(t)
		admin, old, maker := srv.client(t), srv.client(t), srv.client(t)
		admin.must("CREATE TABLE t (id int PRIMARY KEY, v int, w text); INSERT INTO t SELECT i, i, 'w' FROM generate_series(1, 20) i")
		admin.must("SELECT pg_advisory_lock(5)")
		var wg sync.WaitGroup
		wg.Go(func() { old.must(change + " (SELECT 7 FROM (SELECT pg_advisory_lock(5)) x)") })
		until(admin, "locktype = 'advisory'")
		wg.Go(func() { maker.must("CREATE INDEX CONCURRENTLY i ON t (w, v)") })
		until(admin, "relation = 't'::regclass AND mode = 'ShareLock'")
		admin.must("UPDATE t SET v = 1000, w = 'new' WHERE id = 7; SELECT pg_advisory_unlock(5)")
		wg.Wait()
		srv.checkTables(t)
	}
}

// until waits until another session waits for a lock.
func until(c *client, locked string) {
	for !strings.Contains(c.sql("SELECT count(*) FROM pg_locks WHERE NOT granted AND "+locked), "\n1\n") {
		runtime.Gosched()
	}
}

// TestIndexOfANewerState: a transaction that keeps its snapshot goes on when others make an
// index, which lacks rows of that snapshot. Who writes needs what a unique one says of them.
func TestIndexOfANewerState(t *testing.T) {
	srv := newServer(t)
	keeper, admin := srv.client(t), srv.client(t)
	admin.must("CREATE TABLE o (a int); CREATE TABLE t (id int PRIMARY KEY, v int REFERENCES t, n int)")
	admin.must("INSERT INTO t SELECT i, i % 500 + 1, 0 FROM generate_series(1, 5000) i; ANALYZE t")
	keeper.must("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM o")
	admin.must("CREATE INDEX i ON t (v); CREATE INDEX j ON t (n) WHERE n = 0")
	keeper.want("SELECT count(*) FROM t WHERE v = 7", "(count)", "10", "SELECT 1", "T")
	keeper.want("SELECT count(*) FROM t a JOIN t b ON b.v = a.id WHERE a.id < 3 AND b.n = 0", "(count)", "20", "SELECT 1", "T")
	keeper.want("UPDATE t SET n = 1, v = 8 WHERE v = 7", "UPDATE 10", "T")
	keeper.want("INSERT INTO t VALUES (9000, 7, 0), (9001, 9000, 0)", "INSERT 0 2", "T")
	keeper.want("DELETE FROM t WHERE id = 9000", "ERROR 23503: update or delete on table \"t\" violates foreign key constraint \"t_v_fkey\" on table \"t\"", "E")
	keeper.must("ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM o")
	admin.must("DROP INDEX i; CREATE INDEX k ON t (v)")
	keeper.want("UPDATE t SET n = 1, v = 8 WHERE v = 7", "UPDATE 10", "T")
	keeper.want("DELETE FROM t WHERE id = 3", "ERROR 23503: update or delete on table \"t\" violates foreign key constraint \"t_v_fkey\" on table \"t\"", "E")
	keeper.must("ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE t SET n = 1, v = 8 WHERE v = 7; COMMIT")
	keeper.want("SELECT count(*) FROM t WHERE v = 8", "(count)", "20", "SELECT 1", "I")
	keeper.must("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM o")
	admin.must("CREATE UNIQUE INDEX u ON t (n, id)")
	keeper.want("SELECT count(*) FROM t WHERE n = 1 AND id = 6", "(count)", "1", "SELECT 1", "T")
	if got := keeper.sql("UPDATE t SET n = 2 WHERE v = 8"); !strings.Contains(got, "40001") {
		t.Error(got)
	}
	srv.checkTables(t)
}

// TestReindexBesideDefinitions: REINDEX waits for who makes another index, and goes on.
func TestReindexBesideDefinitions(t *testing.T) {
	srv := newServer(t)
	admin, other, rebuilder := srv.client(t), srv.client(t), srv.client(t)
	admin.must("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 1)")
	if got := admin.sql("CREATE UNIQUE INDEX CONCURRENTLY u ON t (v)"); !strings.Contains(got, "23505") {
		t.Fatal(got)
	}
	admin.must("UPDATE t SET v = id")
	other.must("BEGIN; CREATE INDEX i ON t (v)")
	got := make(chan string)
	go func() { got <- rebuilder.sql("REINDEX TABLE t") }()
	until(admin, "true")
	other.must("COMMIT")
	if got := <-got; got != "REINDEX\nI" {
		t.Error(got)
	}
	admin.want("SELECT indisvalid, indisready FROM pg_index WHERE indexrelid = 'u'::regclass", "(indisvalid,indisready)", "t|t", "SELECT 1", "I")
	srv.checkTables(t)
}
