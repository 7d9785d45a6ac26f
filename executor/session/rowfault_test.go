package session

import (
	"context"
	"strings"
	"testing"
)

// TestRowsBeforeFault fails statements at a row: the client gets the rows before it,
// then the error of that row, whichever column or condition fails elsewhere.
func TestRowsBeforeFault(t *testing.T) {
	c := newServer(t).client(t)
	c.must(`CREATE TABLE t (i int PRIMARY KEY, s text);
		INSERT INTO t SELECT g, CASE g WHEN 4 THEN 'x' ELSE g::text END FROM generate_series(1, 3000) g`)
	x := `invalid input syntax for type integer: "x"`
	for _, q := range []struct{ sql, want string }{
		{"SELECT 6 / (4 - i) FROM generate_series(1, 9) i", "2 3 6 22012: division by zero"},
		{"SELECT 1 / (i - 1) FROM generate_series(1, 9) i", "22012: division by zero"},
		{"SELECT 6 / (4 - i), 6 / (2 - i) FROM t", "2|6 22012: division by zero"},
		{"SELECT s::int FROM t", "1 2 3 22P02: " + x},
		{"SELECT i FROM t WHERE s::int > 1", "2 3 22P02: " + x},
		{"SELECT i FROM t WHERE s::int > 1 OR i = 3", "2 3 22P02: " + x},
		{"SELECT n FROM (SELECT i + 1 AS n, s FROM t OFFSET 0) q WHERE s::int <> 2", "2 4 22P02: " + x},
		{"SELECT (SELECT generate_series(1, i)) FROM t WHERE i < 3", "1 21000: more than one row returned by a subquery used as an expression"},
		{"SELECT i, unnest(ARRAY[s::int, 0]) FROM t WHERE i > 1", "2|2 2|0 3|3 3|0 22P02: " + x},
		{"SELECT i, generate_series(1, 2 / (3 - i)) FROM t", "1|1 2|1 2|2 22012: division by zero"},
		{"SELECT generate_series(1, 2), generate_series(1, 2 / (3 - i)) FROM t", "1|1 2|NULL 1|1 2|2 22012: division by zero"},
		{"SELECT s::int FROM t UNION ALL SELECT 0", "1 2 3 22P02: " + x},
		{"SELECT sum(s::int) FROM t", "22P02: " + x},
		{"SELECT i FROM (SELECT 3000 - i AS i FROM t) q WHERE 1 / (i - 1) = 0 AND i < 5", "4 3 22012: division by zero"},
		// Pairs of a join, and a semi join's that do not count any more.
		{"SELECT a.i FROM t a JOIN t b ON b.i = a.i AND 9 / (a.i + b.i - 8) < 9", "1 2 3 22012: division by zero"},
		{"SELECT a.i FROM t a LEFT JOIN t b ON b.i = a.i AND 9 / (a.i + b.i - 8) < -2", "1 2 3 22012: division by zero"},
		{"SELECT a.i FROM t a WHERE EXISTS (SELECT FROM t b WHERE b.i = a.i AND 9 / (a.i + b.i - 8) < 9)", "1 2 3 22012: division by zero"},
		{"SELECT a.i FROM t a WHERE NOT EXISTS (SELECT FROM t b WHERE b.i = a.i AND 9 / (a.i + b.i - 8) > 9)", "1 2 3 22012: division by zero"},
		{"SELECT a.i FROM t a, LATERAL (SELECT b.i FROM t b WHERE b.i <= a.i OFFSET 0) b WHERE 9 / (a.i + b.i - 5) < 99 AND a.i < 9", "1 2 2 3 22012: division by zero"},
		{"SELECT i FROM (VALUES (1), (2)) v(i) WHERE EXISTS (SELECT FROM (VALUES (1), (2), (3)) w(j) WHERE 6 / (i + j - 4) < 0)", "1 2"},
	} {
		if got := oneLine(c.sql(q.sql)); got != q.want {
			t.Errorf("%s\n%s, want %s", q.sql, got, q.want)
		}
	}
	// LIMIT may end a statement before it comes to that row.
	for _, q := range []string{
		"SELECT s::int FROM t UNION ALL SELECT 0 LIMIT 2",
		"SELECT unnest(ARRAY[s::int]) FROM t LIMIT 2",
		"SELECT * FROM (SELECT s::int FROM t OFFSET 0) q LIMIT 2",
		"SELECT s::int FROM t WHERE s::int > 0 LIMIT 2",
		"SELECT a.i FROM t a JOIN t b ON b.i = a.i AND 9 / (a.i + b.i - 8) < 9 LIMIT 2",
		"SELECT a.i FROM t a WHERE EXISTS (SELECT FROM t b WHERE b.i = a.i AND 9 / (a.i + b.i - 8) < 9) LIMIT 2",
	} {
		if got := oneLine(c.sql(q)); got != "1 2" {
			t.Errorf("%s: %s", q, got)
		}
	}
	// What changes something is not computed twice.
	c.must("CREATE SEQUENCE n")
	c.sql("SELECT nextval('n'), s::int FROM t LIMIT 5")
	if got := oneLine(c.sql("SELECT last_value <= 5 FROM n")); got != "t" {
		t.Errorf("nextval was called again: %s", got)
	}

	// A portal that is executed in parts has the rows too.
	ctx := context.Background()
	c.must("BEGIN")
	if err := c.s.Parse(ctx, "", "SELECT s::int FROM t", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("", ""); err != nil {
		t.Fatal(err)
	}
	if got := oneLine(c.exec("", 2)); got != "1 2 suspended" {
		t.Error(got)
	}
	if got := oneLine(c.exec("", 2)); got != "3 22P02: "+x {
		t.Error(got)
	}
}

// oneLine puts the rows and the error of a recorded answer in one line.
func oneLine(lines string) string {
	var out []string
	for _, l := range strings.Split(lines, "\n") {
		if l == "" || l[0] == '(' || len(l) == 1 && strings.Contains("ITE", l) || strings.HasPrefix(l, "SELECT") {
			continue
		}
		out = append(out, strings.TrimPrefix(l, "ERROR "))
	}
	return strings.Join(out, " ")
}
