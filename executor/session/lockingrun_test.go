package session

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestExecuteLocksWhatIsAskedFor: an Execute with a number of rows locks no more of them,
// whatever of the portal's rows others have or change.
func TestExecuteLocksWhatIsAskedFor(t *testing.T) {
	srv := newServer(t)
	a, b, c := srv.client(t), srv.client(t), srv.client(t)
	a.must("CREATE TABLE job (id int PRIMARY KEY, v int); INSERT INTO job SELECT i, 0 FROM generate_series(1, 3000) i")
	const first = "SELECT id, v FROM job WHERE id > $1 ORDER BY id FOR UPDATE SKIP LOCKED"
	for _, x := range []*client{a, b} {
		x.must("BEGIN")
		if err := errors.Join(x.s.Parse(context.Background(), "", first, nil), x.bind("", "", "0")); err != nil {
			t.Fatal(err)
		}
	}
	want := func(got, rows string) {
		t.Helper()
		if strings.Join(strings.Fields(got), " ") != rows {
			t.Errorf("%q, not %q", got, rows)
		}
	}
	want(a.exec("", 2), "(id,v) 1|0 2|0 suspended")
	want(b.exec("", 1), "(id,v) 3|0 suspended")
	want(a.exec("", 1), "(id,v) 4|0 suspended")
	c.must("UPDATE job SET v = 1 WHERE id IN (5, 7)")
	c.must("DELETE FROM job WHERE id = 6")
	want(a.exec("", 1), "(id,v) 5|1 suspended")
	want(a.exec("", 2), "(id,v) 7|1 8|0 suspended")
	want(c.sql("SELECT id, v FROM job WHERE id < 12 FOR UPDATE SKIP LOCKED"), "(id,v) 9|0 10|0 11|0 SELECT 3 I")
	if got := b.exec("", 0); !strings.HasSuffix(got, "SELECT 2992") { // from 9 on
		t.Errorf("all the rest: %.200s", got)
	}
	a.must("COMMIT")
	b.must("COMMIT")
}
