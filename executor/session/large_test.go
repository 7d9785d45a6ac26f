package session

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// largeForm names the variable that makes the tests of this file large: a million
// keys in a posting list, 100,000 elements in an array and in an object.
const largeForm = "KVSQLD_LARGE"

func large(few, many int) int {
	if os.Getenv(largeForm) != "" {
		return many
	}
	return few
}

var kvCounts = regexp.MustCompile(`KV (\S+): gets=(\d+) scans=(\d+) keys=(\d+) read=(\d+) written=(\d+)`)

// cost runs a statement and returns what it did to a file: gets, scans, keys read
// and bytes written. It must be a statement that EXPLAIN takes.
func (c *client) cost(file, sql string) (gets, scans, keys, written int) {
	c.t.Helper()
	text := c.sql("EXPLAIN (ANALYZE, KV, COSTS OFF, TIMING OFF) " + sql)
	if strings.Contains(text, "ERROR") {
		c.t.Fatalf("%s\n%s", sql, text)
	}
	for _, m := range kvCounts.FindAllStringSubmatch(text, -1) {
		if m[1] != file {
			continue
		}
		for i, to := range []*int{&gets, &scans, &keys, nil, &written} {
			if to != nil {
				n, _ := strconv.Atoi(m[2+i])
				*to += n
			}
		}
	}
	return gets, scans, keys, written
}

// TestLargePostingList has one key value of an inverted index in very many rows:
// each row that comes or goes writes one small key, folding puts them into few
// chunks, and reading reads these.
func TestLargePostingList(t *testing.T) {
	n := large(20_000, 1_000_000)
	srv := newServer(t)
	c := srv.client(t)
	c.must("CREATE TABLE t (id int PRIMARY KEY, k int, v text)")
	c.must("CREATE INDEX t_k ON t USING inverted (k)")
	const step = 50_000
	for at := 0; at < n; at += step {
		c.must(fmt.Sprintf("INSERT INTO t SELECT i, 7, 'v' FROM generate_series(%d, %d) i", at+1, min(at+step, n)))
	}
	count := func(when string, want, most int) {
		t.Helper()
		const sql = "SELECT count(*) FROM t WHERE k = 7"
		if got := c.sql(sql); !strings.Contains(got, fmt.Sprintf("\n%d\n", want)) {
			t.Errorf("%s, %s is\n%s", when, sql, got)
		}
		if _, _, keys, _ := c.cost("t_k.ind", sql); keys == 0 || keys > most {
			t.Errorf("%s, %s reads %d keys of the index, %d are enough", when, sql, keys, most)
		}
	}
	chunks := n / 100
	c.must("VACUUM t")
	count("folded", n, chunks)
	if _, _, keys, written := c.cost("t_k.ind", fmt.Sprintf("INSERT INTO t VALUES (%d, 7)", n+1)); keys > 1 || written > 40 {
		t.Errorf("an insertion reads %d keys and writes %d bytes of the index", keys, written)
	}
	if _, _, keys, written := c.cost("t_k.ind", fmt.Sprintf("DELETE FROM t WHERE id = %d", n/2)); keys > 1 || written > 40 {
		t.Errorf("a deletion reads %d keys and writes %d bytes of the index", keys, written)
	}
	count("with a row more and one less", n, chunks+2)
	c.must("VACUUM t")
	count("folded again", n, chunks)
	if got := c.sql(fmt.Sprintf("SELECT k FROM t WHERE k = 7 AND id BETWEEN %d AND %d", n/2-1, n/2+1)); strings.Count(got, "\n7") != 2 {
		t.Errorf("around the row deleted:\n%s", got)
	}
	srv.checkTables(t)
	c.must(fmt.Sprintf("UPDATE t SET k = 8 WHERE id > %d", n-n/10))
	c.must("VACUUM t")
	count("after an update of a tenth", n-n/10-1, chunks)
	for at := 0; at <= n; at += step {
		c.must(fmt.Sprintf("DELETE FROM t WHERE k = 7 AND id > %d AND id <= %d", at, at+step))
	}
	c.must("VACUUM t")
	if got := c.sql("SELECT count(*) FROM t WHERE k = 7"); !strings.Contains(got, "\n0\n") {
		t.Errorf("after all are deleted:\n%s", got)
	}
	srv.checkTables(t)
}

// TestLargeElements has an array and an object of very many elements, a key for each:
// one of them is read and written alone, and all together with the row.
func TestLargeElements(t *testing.T) {
	n := large(3_000, 100_000)
	srv := newServer(t)
	c := srv.client(t)
	c.must("CREATE TABLE t (id int PRIMARY KEY, a int[] STORAGE elements, j jsonb STORAGE elements)")
	c.must(fmt.Sprintf(`INSERT INTO t SELECT k, array_agg(i ORDER BY i), jsonb_object_agg('k' || i, i)
  FROM generate_series(1, 2) k, generate_series(1, %d) i GROUP BY k`, n))
	one := func(file, sql string, gets, scans, keys, written int) {
		t.Helper()
		g, s, k, w := c.cost(file, sql)
		if g > gets || s > scans || k > keys || w > written {
			t.Errorf("%s: %d gets, %d scans, %d keys read, %d bytes written; enough are %d, %d, %d, %d", sql, g, s, k, w, gets, scans, keys, written)
		}
	}
	one("t.a.col", fmt.Sprintf("SELECT a[%d], array_length(a, 1) FROM t WHERE id = 1", n/2), 2, 0, 2, 0)
	one("t.j.col", fmt.Sprintf("SELECT j->'k%d' FROM t WHERE id = 1", n/2), 2, 0, 2, 0)
	one("t.a.col", fmt.Sprintf("UPDATE t SET a[%d] = -1 WHERE id = 1", n/2), 3, 0, 3, 60)
	one("t.j.col", fmt.Sprintf("UPDATE t SET j['k%d'] = '-1' WHERE id = 1", n/2), 3, 0, 3, 60)
	c.want(fmt.Sprintf("SELECT a[%d], j->'k%d', array_length(a, 1) FROM t WHERE id = 1", n/2, n/2), "(a,?column?,array_length)", fmt.Sprintf("-1|-1|%d", n), "SELECT 1", "I")
	sum := n*(n+1)/2 - n/2 - 1
	c.want("SELECT sum(x) FROM t, unnest(a) x WHERE id = 1", "(sum)", fmt.Sprint(sum), "SELECT 1", "I")
	c.want("SELECT count(*), sum(value::int) FROM t, jsonb_each_text(j) WHERE id = 1", "(count,sum)", fmt.Sprintf("%d|%d", n, sum), "SELECT 1", "I")
	c.must(fmt.Sprintf("UPDATE t SET a[%d] = 5, j = j - 'k1' WHERE id = 1", n+1))
	c.want("SELECT array_length(a, 1), (SELECT count(*) FROM jsonb_object_keys(j)), j ? 'k1', j ? 'k2' FROM t WHERE id = 1",
		"(array_length,count,?column?,?column?)", fmt.Sprintf("%d|%d|f|t", n+1, n-1), "SELECT 1", "I")
	srv.checkTables(t)
	c.must("DELETE FROM t WHERE id = 1")
	for _, file := range []string{"a", "j"} {
		if _, _, keys, _ := c.cost("t."+file+".col", "SELECT count("+file+") FROM t"); keys > n+1 {
			t.Errorf("%d keys are left of %s", keys, file)
		}
	}
	c.want("SELECT id, array_length(a, 1) FROM t", "(id,array_length)", fmt.Sprintf("2|%d", n), "SELECT 1", "I")
	c.must("UPDATE t SET a = NULL, j = NULL")
	for _, file := range []string{"a", "j"} {
		if _, _, keys, _ := c.cost("t."+file+".col", "SELECT "+file+" FROM t"); keys != 0 {
			t.Errorf("%d keys are left of %s", keys, file)
		}
	}
	srv.checkTables(t)
}
