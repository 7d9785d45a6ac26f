package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// errorCode finds the SQLSTATE in what a statement has returned.
var errorCode = regexp.MustCompile(`(?m)^(?:ERROR (\w{5})|INTERNAL)`)

// ddlUnderLoad are pairs of statements that do something to the tables of
// TestDDLUnderLoad and undo it.
var ddlUnderLoad = [][2]string{
	{"CREATE INDEX i1 ON t (a)", "DROP INDEX i1"},
	{"CREATE INDEX i2 ON t USING inverted (b)", "DROP INDEX i2"},
	{"CREATE INDEX i3 ON t (lower(c), a) WHERE a > 10", "DROP INDEX i3"},
	{"CREATE UNIQUE INDEX i4 ON t (u)", "DROP INDEX i4"},
	{"CREATE INDEX i5 ON t (b) INCLUDE (c)", "DROP INDEX i5"},
	{"ALTER TABLE t ADD CONSTRAINT u1 UNIQUE (u, b) DEFERRABLE INITIALLY DEFERRED", "ALTER TABLE t DROP CONSTRAINT u1"},
	{"ALTER TABLE t ADD CONSTRAINT c1 CHECK (a < 900)", "ALTER TABLE t DROP CONSTRAINT c1"},
	{"ALTER TABLE t ADD CONSTRAINT c2 CHECK (a < 500) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c2", "ALTER TABLE t DROP CONSTRAINT c2"},
	{"ALTER TABLE child ADD CONSTRAINT f1 FOREIGN KEY (t) REFERENCES t ON DELETE CASCADE", "ALTER TABLE child DROP CONSTRAINT f1"},
	{"ALTER TABLE child ADD CONSTRAINT f2 FOREIGN KEY (t) REFERENCES t DEFERRABLE INITIALLY DEFERRED", "ALTER TABLE child DROP CONSTRAINT f2"},
	{"ALTER TABLE t ALTER b SET NOT NULL", "ALTER TABLE t ALTER b DROP NOT NULL"},
	{"ALTER TABLE t ALTER a TYPE bigint", "ALTER TABLE t ALTER a TYPE int"},
	{"ALTER TABLE t SET (layout = 'column')", "ALTER TABLE t SET (layout = 'row')"},
	{"ALTER TABLE t ADD COLUMN r float8 DEFAULT random()", "ALTER TABLE t DROP COLUMN r"},
	{"ALTER TABLE t ADD COLUMN d int DEFAULT 7", "ALTER TABLE t DROP COLUMN d"},
	{"ALTER TABLE child SET (layout = 'column')", "ALTER TABLE child SET (layout = 'row')"},
	{"TRUNCATE child", "VACUUM"},
}

// TestDDLUnderLoad has indexes, constraints and layouts come and go while others
// write, at all isolation levels. No write is lost, every constraint is true and
// every index has its rows. KVSQLD_DDL_LOAD is how many seconds it takes.
func TestDDLUnderLoad(t *testing.T) {
	seconds, _ := strconv.Atoi(os.Getenv("KVSQLD_DDL_LOAD"))
	if seconds == 0 {
		seconds = 4
	}
	srv := newServer(t)
	admin := srv.client(t)
	admin.must("CREATE TABLE t (id int PRIMARY KEY, a int, b int, c text, u int)")
	admin.must("CREATE TABLE child (id int PRIMARY KEY, t int)")
	admin.must("CREATE TABLE tally (who int PRIMARY KEY, n int)")
	admin.must("INSERT INTO t SELECT i, i, i % 10, 'c' || i, i FROM generate_series(1, 400) i")
	admin.must("INSERT INTO child SELECT i, i FROM generate_series(1, 400) i")
	levels := []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}
	end := time.Now().Add(time.Duration(seconds) * time.Second)

	var mu sync.Mutex
	codes := map[string]int{}
	// run begins a transaction and commits it; false: it has not happened.
	run := func(c *client, rnd *rand.Rand, stmts ...string) bool {
		block := len(stmts) > 1 || rnd.IntN(2) == 0
		for _, s := range stmts {
			block = block && s != "VACUUM"
		}
		if block {
			stmts = append(append([]string{"BEGIN ISOLATION LEVEL " + levels[rnd.IntN(3)]}, stmts...), "COMMIT")
		}
		for _, s := range stmts {
			got := c.sql(s)
			m := errorCode.FindStringSubmatch(got)
			if m == nil {
				continue
			}
			c.sql("ROLLBACK")
			mu.Lock()
			codes[m[1]]++
			mu.Unlock()
			switch m[1] {
			case "40001", "40P01", "23505", "23514", "23503", "23502", "42710", "42P07", "42704", "42701", "42703", "55P03":
			default:
				t.Errorf("%s\n%s", s, got)
			}
			return false
		}
		return true
	}

	var wg sync.WaitGroup
	tallies := make([]int, 4)
	for w := range tallies {
		c, rnd := srv.client(t), rand.New(rand.NewPCG(uint64(w), 1))
		admin.must(fmt.Sprintf("INSERT INTO tally VALUES (%d, 0)", w))
		admin.must(fmt.Sprintf("INSERT INTO t VALUES (%d, 0, %d, 'tally', %d)", 10_000+w, w, 10_000+w))
		wg.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				id, x := rnd.IntN(500)+1, rnd.IntN(1000)
				var s []string
				if rnd.IntN(3) == 0 { // the snapshot is older than what waits for locks
					s = append(s, "SELECT count(*) FROM tally")
				}
				switch rnd.IntN(6) {
				case 0:
					s = append(s, fmt.Sprintf("INSERT INTO t (id, a, b, c, u) VALUES (%d, %d, %d, 'n', %d) ON CONFLICT (id) DO UPDATE SET a = excluded.a", id, x, x%10, x))
				case 1:
					s = append(s, fmt.Sprintf("DELETE FROM t WHERE id = %d AND id < 10000", id))
				case 2:
					s = append(s, fmt.Sprintf("UPDATE t SET b = %d, u = u WHERE a BETWEEN %d AND %d AND id < 10000", x%10, x, x+20))
				case 3:
					s = append(s, fmt.Sprintf("INSERT INTO child VALUES (%d, %d) ON CONFLICT (id) DO UPDATE SET t = excluded.t", id, x%500))
				case 4:
					s = append(s, fmt.Sprintf("UPDATE t SET u = %d, b = NULL WHERE id = %d", x, id))
				default:
					s = append(s, fmt.Sprintf("UPDATE tally SET n = n + 1 WHERE who = %d", w), fmt.Sprintf("UPDATE t SET a = a + 1 WHERE id = %d", 10_000+w))
					if run(c, rnd, s...) {
						tallies[w]++
					}
					continue
				}
				run(c, rnd, s...)
			}
		})
	}
	done := make([]int, 2)
	for d := range done {
		c, rnd := srv.client(t), rand.New(rand.NewPCG(uint64(d), 2))
		wg.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				var s []string
				if rnd.IntN(2) == 0 {
					s = append(s, "SELECT count(*) FROM tally")
				}
				pair := ddlUnderLoad[rnd.IntN(len(ddlUnderLoad))]
				s = append(s, strings.Split(pair[rnd.IntN(2)], "; ")...)
				if run(c, rnd, s...) {
					done[d]++
				}
				time.Sleep(time.Duration(rnd.IntN(5)) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	t.Logf("%v increments, %v definitions, errors %v", tallies, done, codes)

	srv.checkTables(t)
	number := func(q string) string { return strings.Split(admin.sql(q), "\n")[1] }
	for w, n := range tallies {
		if got := number(fmt.Sprintf("SELECT n FROM tally WHERE who = %d", w)); got != strconv.Itoa(n) {
			t.Errorf("tally %d is %s, %d were committed", w, got, n)
		}
		if got := number(fmt.Sprintf("SELECT a FROM t WHERE id = %d", 10_000+w)); got != strconv.Itoa(n) {
			t.Errorf("row %d has %s, %d were committed", 10_000+w, got, n)
		}
	}
	for _, x := range []struct{ when, wrong string }{
		{"conname = 'c1' AND convalidated", "SELECT count(*) FROM t WHERE a >= 900"},
		{"conname = 'c2' AND convalidated", "SELECT count(*) FROM t WHERE a >= 500"},
		{"conname IN ('f1', 'f2')", "SELECT count(*) FROM child c WHERE c.t IS NOT NULL AND NOT EXISTS (SELECT 1 FROM t WHERE t.id + 0 = c.t)"},
		{"conname = 'u1'", "SELECT count(*) FROM (SELECT 1 FROM t WHERE b IS NOT NULL GROUP BY u + 0, b + 0 HAVING count(*) > 1) x"},
	} {
		if number("SELECT count(*) FROM pg_constraint WHERE "+x.when) != "0" && number(x.wrong) != "0" {
			t.Errorf("constraint with %s: %s gives %s", x.when, x.wrong, number(x.wrong))
		}
	}
	if number("SELECT count(*) FROM pg_class WHERE relname = 'i4'") != "0" {
		if n := number("SELECT count(*) FROM (SELECT 1 FROM t GROUP BY u + 0 HAVING count(*) > 1 AND count(u) > 0) x"); n != "0" {
			t.Errorf("unique index: %s duplicates", n)
		}
	}
}
