package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestNarrowedScans joins a table by columns with and without an index to build
// sides of several reaches, and compares the answers with those of joins by a
// computed key, for which the whole table is read.
func TestNarrowedScans(t *testing.T) {
	c := newServer(t).client(t)
	c.must(`CREATE TABLE lines (a int, b bigint, d date, n int, pay text, PRIMARY KEY (a, b));
		CREATE INDEX lines_n ON lines (n DESC);
		CREATE INDEX lines_d ON lines (d, a);
		CREATE TABLE heads (a int, b bigint, d date, n int, name text);
		CREATE TABLE few (a int, d date, n int);
		INSERT INTO lines SELECT i / 3, i % 3 - 5, '2020-01-01'::date + i, CASE WHEN i % 7 > 0 THEN 2000 - i END, 'pay ' || i
			FROM generate_series(-1000, 5000) AS i WHERE i % 1000 <> 5;
		INSERT INTO heads SELECT i, i % 3 - 5, '2020-01-01'::date + i, i, 'head ' || i FROM generate_series(-300, 1000) AS i;
		INSERT INTO heads VALUES (NULL, NULL, NULL, NULL, 'nothing'), (7, 1, NULL, 7, 'twice'), (2147483647, 0, 'infinity', -2147483648, 'far');
		INSERT INTO few SELECT i % 100, '2020-01-01'::date + i % 100, -(i % 100) FROM generate_series(1, 5000) AS i;
		ANALYZE`)
	kinds := []string{
		"SELECT count(*), sum(l.n), min(l.pay), max(h.name) FROM lines AS l JOIN heads AS h ON %s WHERE %s",
		"SELECT l.d, count(*) FROM lines AS l JOIN heads AS h ON %s WHERE %s GROUP BY l.d ORDER BY 2 DESC, 1 LIMIT 5",
		"SELECT count(*), sum(l.n) FROM lines AS l WHERE EXISTS (SELECT FROM heads AS h WHERE %s AND %s)",
		"SELECT count(*), sum(l.n) FROM lines AS l WHERE NOT EXISTS (SELECT FROM heads AS h WHERE %s AND %s)",
		"SELECT count(*), count(l.a), max(l.pay) FROM heads AS h LEFT JOIN lines AS l ON %s WHERE %s",
		"SELECT count(*), count(h.a), max(h.name) FROM lines AS l LEFT JOIN heads AS h ON %s AND %s",
		"SELECT count(*), sum(l.a), max(x.name) FROM lines AS l JOIN heads AS h ON %s JOIN heads AS x ON x.a = l.a WHERE %s",
	}
	compute := strings.NewReplacer("l.a =", "l.a + 0 =", "l.n =", "l.n + 0 =", "l.d =", "l.d + 0 =")
	for _, on := range []string{"l.a = h.a", "l.n = h.n", "l.d = h.d", "l.b = h.b AND l.a = h.a", "l.a = h.b"} {
		for _, where := range []string{"h.a BETWEEN 0 AND 800", "true", "h.name = 'nothing'", "h.a > 900 AND h.a < 1000000"} {
			for _, kind := range kinds {
				q := fmt.Sprintf(kind, on, where)
				if got, want := c.sql(q), c.sql(compute.Replace(q)); got != want || !strings.Contains(got, "SELECT") {
					t.Errorf("%s\ngives\n%s\nby a computed key\n%s", q, got, want)
				}
			}
		}
	}
	for _, want := range []struct{ query, narrowed string }{
		{"SELECT sum(l.n) FROM lines AS l JOIN few AS f ON f.a = l.a", "key, 0 to 99"},
		{"SELECT sum(l.a) FROM lines AS l JOIN few AS f ON f.n = l.n", "lines_n, index only, -99 to 0"},
		{"SELECT sum(l.n) FROM lines AS l JOIN few AS f ON f.d = l.d", "lines_d, 2020-01-01 to 2020-04-09"},
	} {
		if got := c.sql("EXPLAIN (ANALYZE, TIMING OFF) " + want.query); !strings.Contains(got, "Narrowed by the join: "+want.narrowed+"\n") {
			t.Errorf("%s: not narrowed to %s:\n%s", want.query, want.narrowed, got)
		}
	}
	for _, query := range []string{
		"SELECT sum(l.n) FROM lines AS l JOIN heads AS h ON h.d = l.d", // every day
		"SELECT sum(f.n) FROM few AS f LEFT JOIN lines AS l ON f.d = l.d",
		"SELECT sum(l.n) FROM lines AS l LEFT JOIN few AS f ON f.d = l.d",
	} {
		if got := c.sql("EXPLAIN (ANALYZE, TIMING OFF) " + query); strings.Contains(got, "Narrowed") && !strings.Contains(got, "Hash join, right") {
			t.Errorf("%s is narrowed:\n%s", query, got)
		}
	}
}
