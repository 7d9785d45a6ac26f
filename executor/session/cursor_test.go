package session

import (
	"context"
	"strings"
	"testing"
)

// Portals of the extended protocol and cursors are one thing: each can be read
// with the other's means.
func TestFetchFromPortal(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("create table t(a int primary key); insert into t select generate_series(1, 5)")
	c.must("begin")
	if err := c.s.Parse(ctx, "q", "select a from t order by a", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("p", "q"); err != nil {
		t.Fatal(err)
	}
	if got, want := c.exec("p", 1), "(a)\n1\nsuspended"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.want("fetch p", "(a)", "2", "FETCH 1", "T")
	c.want("move 1 from p", "MOVE 1", "T")
	c.want("select name, is_scrollable from pg_cursors", "(name,is_scrollable)", "p|f", "SELECT 1", "T")
	c.want("delete from t where current of p returning a", "(a)", "3", "DELETE 1", "T")
	c.want("savepoint s; fetch prior from p", "SAVEPOINT", "(a)",
		"ERROR 55000: cursor can only scan forward", "E")
	c.want("rollback to s; close p; fetch p", "ROLLBACK", "CLOSE CURSOR", `ERROR 34000: cursor "p" does not exist`, "E")
	c.must("rollback")
	c.must("begin; declare d cursor for select a from t order by a; fetch 2 from d")
	if got, want := c.exec("d", 2), "(a)\n3\n4\nsuspended"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.exec("d", 2), "(a)\n5\nSELECT 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A cursor does not see what was written after it was opened, in no isolation
// level, and survives the end of savepoints that it is older than.
func TestCursorSnapshot(t *testing.T) {
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		c := newServer(t).client(t)
		c.must("create table t(a int primary key); insert into t select generate_series(1, 3)")
		c.must("begin isolation level " + level + "; declare c cursor for select a from t; fetch c; savepoint s")
		c.must("insert into t values (4); delete from t where a = 2; declare d cursor for select 1")
		c.want("fetch c", "(a)", "2", "FETCH 1", "T")
		c.want("rollback to s; fetch all from c", "ROLLBACK", "(a)", "3", "FETCH 1", "T")
		c.want("fetch d", `ERROR 34000: cursor "d" does not exist`, "E")
	}
}

// Rows that a cursor keeps go to a file beyond the work memory, and count against
// the limits of temporary files.
func TestCursorSpills(t *testing.T) {
	srv := newServer(t)
	c := srv.client(t)
	c.must("set work_mem = '64kB'; create table w(a int); insert into w values (1)")
	c.must("begin; declare c scroll cursor for select g, repeat('x', 100) from generate_series(1, 20000) g; insert into w values (2)")
	for _, q := range []struct{ fetch, row string }{{"absolute 15000", "15000"}, {"first", "1"}, {"last", "20000"}, {"relative -4", "19996"}} {
		if got, want := c.sql("fetch "+q.fetch+" from c"), "(g,repeat)\n"+q.row+"|x"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %.40q", q.fetch, got)
		}
	}
	if n := srv.memory.Used(); n > 256<<10 {
		t.Errorf("%d bytes in use", n)
	}
	c.must("commit")
	if n := srv.memory.Used(); n != 0 {
		t.Errorf("%d bytes in use at the end", n)
	}
	c.must("set temp_file_limit = '100kB'; begin; declare c cursor with hold for select g, repeat('x', 100) from generate_series(1, 20000) g")
	c.want("commit", "ERROR 53400: temporary file size exceeds temp_file_limit (100kB)", "I")
}
