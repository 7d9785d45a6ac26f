package session

import (
	"context"
	"strconv"
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
	if cost := generic.Root.Base().Cost; cost <= maxGenericCost {
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

// TestPortalsOfOneStatement has two portals of a statement, one planned for its values
// alone, pass rows in turns.
func TestPortalsOfOneStatement(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (k int PRIMARY KEY, a int)")
	c.must("INSERT INTO t SELECT i, i / 3 FROM generate_series(1, 30000) AS i")
	c.must("CREATE INDEX ON t (a)")
	c.must("ANALYZE")
	c.must("BEGIN")
	if err := c.s.Parse(context.Background(), "s", "SELECT k FROM t WHERE $1 = 0 OR a = $1", nil); err != nil {
		t.Fatal(err)
	}
	p := c.s.prepared["s"].planned
	for _, portal := range []string{"5", "6", "0", "7"} {
		if err := c.bind(portal, "s", portal); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct{ portal, want string }{
		{"5", "(k)\n15\nsuspended"}, {"6", "(k)\n18\nsuspended"}, {"0", "(k)\n1\nsuspended"}, {"5", "(k)\n16\nsuspended"},
		{"7", "(k)\n21\nsuspended"}, {"6", "(k)\n19\nsuspended"}, {"0", "(k)\n2\nsuspended"},
	} {
		if got := c.exec(x.portal, 1); got != x.want {
			t.Errorf("portal %s: %q, want %q", x.portal, got, x.want)
		}
		if x.portal == "5" && !p.q.ForValues && p.q != p.custom.generic {
			t.Error("the plan is not one for the values")
		}
	}
	c.sync()
}
