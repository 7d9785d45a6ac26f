package session

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"kvsqld/planner/plan"
)

// TestCustomPlan runs a prepared statement whose best plan depends on its
// parameters.
func TestCustomPlan(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (k int PRIMARY KEY, a int)")
	c.must("CREATE TABLE u (k int PRIMARY KEY, b int)")
	c.must("INSERT INTO t SELECT i, i % 7 FROM generate_series(1, 30000) AS i")
	c.must("INSERT INTO u SELECT i, i % 5 FROM generate_series(1, 30000) AS i")
	c.must("ANALYZE")
	if err := c.s.Parse(context.Background(), "s", "SELECT count(*), sum(b) FROM t JOIN u ON u.k = t.k WHERE t.a < $1 AND t.k >= $2", nil); err != nil {
		t.Fatal(err)
	}
	p := c.s.prepared["s"].planned
	generic := p.q
	if cost := generic.Cost(); cost <= maxGenericCost {
		t.Fatalf("the general plan costs only %v", cost)
	}
	run := func(a, k int, want string) {
		t.Helper()
		if err := c.bind("", "s", strconv.Itoa(a), strconv.Itoa(k)); err != nil {
			t.Fatal(err)
		}
		if got := c.exec("", 0); got != "(count,sum)\n"+want+"\nSELECT 1" {
			t.Errorf("a < %d and k >= %d: %s", a, k, got)
		}
		c.sync()
	}
	join := func() plan.Node {
		n := p.q.Root
		for {
			switch n.(type) {
			case *plan.HashJoin, *plan.LookupJoin:
				return n
			}
			n = n.Children()[0]
		}
	}
	run(7, 29991, "10|20")
	if _, ok := join().(*plan.LookupJoin); !ok {
		t.Errorf("ten rows are joined by a %T", join())
	}
	run(7, 1, "30000|60000")
	if _, ok := join().(*plan.HashJoin); !ok {
		t.Errorf("all rows are joined by a %T", join())
	}
	for range 2 * customTries {
		run(7, 1, "30000|60000")
	}
	if p.q != p.custom.generic || p.custom.tries != customTries {
		t.Errorf("planned %d times with values that do not make it cheaper", p.custom.tries)
	}
}

// TestCostlyChangeIsPlannedForItsValues has statements that change rows find these by a
// partial index, which serves one value of a column: as a pattern without literals they
// would read the whole table.
func TestCostlyChangeIsPlannedForItsValues(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE TABLE job (id int PRIMARY KEY, state text, tries int)")
	c.must("INSERT INTO job SELECT i, CASE WHEN i % 100 = 0 THEN 'ready' ELSE 'done' END, 0 FROM generate_series(1, 30000) AS i")
	c.must("CREATE INDEX ON job (id) WHERE state = 'ready'")
	c.must("ANALYZE")
	for _, text := range []string{
		"UPDATE job SET tries = 3 WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)",
		"UPDATE job SET tries = 1 WHERE state = 'ready'",
		"WITH j AS (SELECT id FROM job WHERE state = 'ready' ORDER BY id LIMIT 5 FOR UPDATE SKIP LOCKED) UPDATE job SET tries = 2 FROM j WHERE job.id = j.id",
		"DELETE FROM job WHERE state = 'ready' AND tries = 7",
	} {
		var e *cacheEntry
		for range 4 { // the first one is not remembered
			c.must(text)
			if !c.s.fp.Run(text) {
				t.Fatal("no pattern")
			}
			e = c.s.cache.get(c.s.fp.Key)
		}
		p := e.asWritten[text]
		if !e.written.differs || p == nil {
			t.Fatalf("%s: differs %v, planned as written %v", text, e.written.differs, p != nil)
		}
		if p.q.Cost() >= maxGenericCost {
			t.Errorf("%s costs %v", text, p.q.Cost())
		}
		other := strings.Replace(text, "'ready'", "'done'", 1)
		c.must(other)
		if e.asWritten[other] != nil {
			t.Errorf("%s is planned for another time, though it came once", other)
		}
		c.must(other)
		c.must(text)
		if e.asWritten[other] == nil || e.asWritten[text] != p {
			t.Errorf("%s: two texts have no plans of their own", other)
		}
	}
	if got := c.sql("SELECT tries, count(*) FROM job GROUP BY tries ORDER BY tries"); got != "(tries,count)\n1|29990\n2|10\nSELECT 2\nI" {
		t.Errorf("tries: %q", got)
	}
}

// TestGeneralPlanThatIsLikeOthers runs a statement whose plan is the same for all values of
// its parameters, but looks costly without them: it is made for few of them.
func TestGeneralPlanThatIsLikeOthers(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (k int PRIMARY KEY, b text)")
	c.must("INSERT INTO t SELECT i, 'b' || i FROM generate_series(1, 90000) AS i")
	c.must("ANALYZE")
	prepared := func(sql string) *plannedStmt {
		t.Helper()
		if err := c.s.Parse(context.Background(), "", sql, nil); err != nil {
			t.Fatal(err)
		}
		p := c.s.prepared[""].planned
		if cost := p.q.Cost(); cost <= maxGenericCost {
			t.Fatalf("the general plan of %s costs only %v", sql, cost)
		}
		return p
	}
	run := func(want string, params ...string) {
		t.Helper()
		if err := c.bind("", "", params...); err != nil {
			t.Fatal(err)
		}
		if got := c.exec("", 0); !strings.Contains(got, want) {
			t.Errorf("%q: %s", params, got)
		}
		c.sync()
	}
	p := prepared("SELECT 'n', count(b) FROM t WHERE k >= $1")
	for range customTries + alikeUses {
		run("n|1\n", "90000")
	}
	if p.custom.tries != customTries || p.custom.differs || p.q != p.custom.generic {
		t.Errorf("%d plans for values, of which one differs: %v", p.custom.tries, p.custom.differs)
	}
	run("n|1\n", "90000")
	if p.custom.tries != customTries+1 {
		t.Errorf("nobody looks again: %+v, %v", p.custom, p.custom.generic.Cost())
	}

	// As does the pattern of a text.
	for i := range 3 * customTries {
		sql := "SELECT 'n', count(b) FROM t WHERE k >= " + strconv.Itoa(90000-i)
		if got := c.sql(sql); !strings.Contains(got, "n|"+strconv.Itoa(i+1)+"\n") {
			t.Errorf("%s: %s", sql, got)
		}
		if i == 0 { // of a pattern that comes for the first time nothing is remembered
			c.sql(sql)
		}
		c.s.fp.Run(sql)
		e := c.s.cache.get(c.s.fp.Key)
		if uses := max(0, i+1-customTries); e.plain || e.written.differs || e.written.uses != uses {
			t.Fatalf("text %d: the pattern's plan was used %d times, not %d", i, e.written.uses, uses)
		}
	}
}

// TestRecursionIntoAPlanForValues has a function call itself while the plan of its body
// is one for the outer call's values alone.
func TestRecursionIntoAPlanForValues(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (k int PRIMARY KEY, a int)")
	c.must("INSERT INTO t SELECT i, i / 3 + 1 FROM generate_series(1, 30000) AS i")
	c.must("CREATE INDEX ON t (a)")
	c.must("ANALYZE")
	c.must("CREATE FUNCTION f(n int) RETURNS bigint LANGUAGE sql STABLE AS " +
		"'SELECT sum(k) + CASE WHEN $1 > 0 THEN f(0) ELSE 0 END FROM t WHERE $1 = 0 OR a = $1'")
	for range 2 {
		if got := c.sql("SELECT f(6)"); got != "(f)\n450015048\nSELECT 1\nI" {
			t.Errorf("f(6): %q", got)
		}
	}
}
