package session

import (
	"context"
	"testing"
)

// A text that was parsed under other settings shares no plan with one that is parsed now:
// its literals are what they were then.
func TestParsedLiterals(t *testing.T) {
	c := newServer(t).client(t)
	parse := func(name string) {
		t.Helper()
		if err := c.s.Parse(context.Background(), name, "select extract(epoch from '2020-01-01'::timestamptz)::int", nil); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name, want string) {
		t.Helper()
		if err := c.bind("", name); err != nil {
			t.Fatal(err)
		}
		if got := c.exec("", 0); got != "(extract)\n"+want+"\nSELECT 1" {
			t.Errorf("%s: %q, want %s", name, got, want)
		}
		c.sync()
	}
	c.must("set timezone = 'UTC'")
	for _, name := range []string{"a", "b", "c"} { // from the second time on the plan is shared
		parse(name)
	}
	run("a", "1577836800")
	c.must("set timezone = 'Asia/Tokyo'")
	for _, name := range []string{"d", "e", "f"} {
		parse(name)
	}
	for _, name := range []string{"a", "b", "c"} {
		run(name, "1577836800")
	}
	for _, name := range []string{"d", "e", "f"} {
		run(name, "1577804400")
	}
}
