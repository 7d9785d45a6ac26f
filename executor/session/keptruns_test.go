package session

import (
	"context"
	"fmt"
	"testing"

	"kvsqld/wire"
)

// TestKeptRuns: a session keeps the runs of the statements that it used last, and no more,
// however many are prepared.
func TestKeptRuns(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (k int PRIMARY KEY, a int)")
	c.must("INSERT INTO t SELECT i, i % 10 FROM generate_series(1, 100) AS i")
	const statements = 3 * maxKeptRuns
	name := func(i int) string { return fmt.Sprintf("s%d", i) }
	for i := range statements {
		text := fmt.Sprintf("SELECT a, count(*) + %d FROM t GROUP BY a", i)
		if err := c.s.Parse(ctx, name(i), text, nil); err != nil {
			t.Fatal(err)
		}
	}
	kept := func() (n int) {
		for _, ps := range c.s.prepared {
			if ps.planned.run != nil {
				n++
			}
		}
		return n
	}
	run := func(i int) {
		t.Helper()
		if err := c.s.Bind(ctx, &wire.Bind{Statement: name(i)}); err != nil {
			t.Fatal(err)
		}
		if err := c.s.Execute(ctx, "", 0, discarder{}); err != nil {
			t.Fatal(err)
		}
		if err := c.s.Sync(ctx, discarder{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for i := range statements {
			run(i)
			run(0) // is used all the time
			if n := kept(); n > maxKeptRuns {
				t.Fatalf("%d runs are kept after statement %d", n, i)
			}
			if c.s.prepared[name(i)].planned.run == nil || c.s.prepared[name(0)].planned.run == nil {
				t.Fatalf("the run of statement %d, or of the first one, is gone at once", i)
			}
		}
	}
	if n := kept(); n != maxKeptRuns {
		t.Errorf("%d runs are kept, not %d", n, maxKeptRuns)
	}
}

// TestTextsThatComeOnce: the plan of a text is remembered when the text comes again.
func TestTextsThatComeOnce(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (k int PRIMARY KEY)")
	before := len(c.s.cache.entries)
	for i := range 100 {
		text := fmt.Sprintf("SELECT %d FROM t WHERE k = 1", i) // the list's literals are no parameters
		c.must(text)
		if err := c.s.Parse(ctx, "", text+" + $1", nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.s.cache.entries); n != before {
		t.Errorf("%d texts that came once are remembered", n-before)
	}
	for range 2 {
		c.must("SELECT 0 FROM t WHERE k = 1")
		if err := c.s.Parse(ctx, "", "SELECT 0 FROM t WHERE k = 1 + $1", nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.s.cache.entries); n != before+2 {
		t.Errorf("%d texts that came again are remembered, not 2", n-before)
	}
}
