package session

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	c.want("savepoint s; fetch prior from p", "SAVEPOINT",
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

// A cursor that is read backward runs its query again, with the values that DECLARE got,
// though the portal of that has been used for others since.
func TestCursorParameters(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	run := func(sql string, params ...string) string {
		t.Helper()
		if err := c.s.Parse(ctx, "", sql, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.bind("", "", params...); err != nil {
			t.Fatal(err)
		}
		defer c.sync()
		return c.exec("", 0)
	}
	run("begin")
	run("declare d scroll cursor for select g from generate_series(1, 5000) g where g % $1 = 0", "2")
	for _, x := range [][2]string{
		{"move 2000 from d", "MOVE 2000"}, {"fetch absolute 2 from d", "(g)\n4\nFETCH 1"}, {"fetch 2 from d", "(g)\n6\n8\nFETCH 2"},
	} {
		if got := run(x[0]); got != x[1] {
			t.Errorf("%s: %q, want %q", x[0], got, x[1])
		}
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

// A cursor over many rows holds none but those on their way to the client, whatever other
// statements of its transaction come between; nor is anything left at the end.
func TestCursorReadsOnDemand(t *testing.T) {
	ctx := context.Background()
	srv := newServer(t)
	c, other := srv.client(t), srv.client(t)
	srv.opts.MaxParallel = 4
	const rows = 60_000
	c.must("create table big(a int primary key, b text); insert into big select g, repeat('x', 100) from generate_series(1, 60000) g; analyze big")
	c.must("set temp_file_limit = '100kB'; set work_mem = '64kB'; set min_parallel_table_scan_size = 0")
	for _, level := range []string{"read committed", "repeatable read"} {
		for _, end := range []string{"commit", "rollback", "savepoint s; select 1/0", "close c; commit"} {
			query := "declare c cursor for select a, b from big"
			if end == "commit" || end == "rollback" { // perhaps by several goroutines
				query = "declare c no scroll cursor for select a, b from big where b like 'x%'"
			}
			c.must("begin isolation level " + level + "; " + query)
			seen := make(map[string]bool)
			for i := range 20 {
				got := strings.Split(c.sql("fetch 50 from c"), "\n")
				if len(got) != 53 {
					t.Fatalf("%s: fetch %d: %d lines, the last %q", level, i, len(got), got[len(got)-2])
				}
				for _, l := range got[1:51] {
					seen[l] = true
				}
				c.must("insert into big values (" + itoa(-i) + ", 'mine'); update big set b = 'mine' where a = " + itoa(1+i*3000))
				other.must("update big set b = 'theirs' where a = " + itoa(2+i*3000))
				if n := srv.memory.Used(); n > 4<<20 {
					t.Fatalf("%d bytes in use", n)
				}
			}
			for l := range seen {
				if strings.HasSuffix(l, "mine") {
					t.Errorf("%s: the cursor has %q", level, l)
				}
			}
			if len(seen) != 1000 {
				t.Errorf("%s: %d different rows", level, len(seen))
			}
			if end == "commit" {
				c.want("move forward all from c", "MOVE "+itoa(rows-1000), "T")
			}
			c.sql(end)
			c.sql("rollback")
			if end != "rollback" {
				c.must("delete from big where a <= 0; update big set b = 'x' where b in ('mine', 'theirs')")
			}
			if n := srv.Store.Stats().OpenSnapshots; n != 0 {
				t.Errorf("%s, %s: %d snapshots are open", level, end, n)
			}
		}
	}

	// So does a portal that is executed in parts.
	if err := c.s.Parse(ctx, "q", "select a from big where a > 0 order by a", nil); err != nil {
		t.Fatal(err)
	}
	c.must("reset temp_file_limit; begin")
	if err := c.bind("", "q"); err != nil {
		t.Fatal(err)
	}
	if got, want := c.exec("", 2), "(a)\n1\n2\nsuspended"; got != want {
		t.Errorf("got %q", got)
	}
	other.must("delete from big where a between 3 and 2000")
	if err := c.s.Parse(ctx, "d", "delete from big where a > 2000", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("other", "d"); err != nil {
		t.Fatal(err)
	}
	if got, want := c.exec("other", 0), "DELETE 58000"; got != want {
		t.Errorf("got %q", got)
	}
	if got := strings.Split(c.exec("", 0), "\n"); len(got) != rows || got[1] != "3" || got[rows-2] != "60000" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
	c.must("commit")
	if n := srv.Store.Stats().OpenSnapshots; n != 0 {
		t.Errorf("%d snapshots are open", n)
	}
}

// Wherever a cursor goes, back and forth, it finds the rows that it would have found when it
// was declared.
func TestCursorWalks(t *testing.T) {
	for i, query := range []string{
		"select a, b from w",
		"select a, b from w where a % 3 > 0 order by a desc",
		"select a, b from w order by b, a limit 2500 offset 10",
		"select a, b::text || statement_timestamp()::text from w where b < 5",
		"select a, b from w where b = 7 or a < 900",
		"select a, -b from w where a > 2000 union all select a, b from w where b = 1",
		"select a, b from (values (1, 2), (3, 4), (5, 6)) v(a, b)",
		"select a, (select count(*) from w x where x.a < w.a) from w where a < 200",
		"select a, random() from w where a < 1000",
		"select g, g from generate_series(1, 2000) g",
	} {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		c := newServer(t).client(t)
		c.must("set work_mem = '64kB'; create table w(a int primary key, b int); create index on w(b); insert into w select g, g % 10 from generate_series(1, 3000) g; analyze w")
		c.must("begin; declare whole scroll cursor for " + query + "; declare c cursor for " + query)
		model := strings.Split(c.sql("fetch all from whole"), "\n")
		model = model[1 : len(model)-2]
		if random := strings.Contains(query, "random"); random {
			model = strings.Split(c.sql("fetch all from c"), "\n")
			model = model[1 : len(model)-2]
			c.must("move absolute 0 from c")
		}
		n, at := len(model), 0
		for range 60 {
			var how string
			var want []string
			k := r.IntN(n + 2)
			if r.IntN(2) == 0 {
				k = r.IntN(5)
			}
			switch r.IntN(6) {
			case 0:
				how, at = fmt.Sprintf("absolute %d", k), min(k, n+1)
				if k > 0 && k <= n {
					want = model[k-1 : k]
				}
			case 1:
				how = fmt.Sprintf("forward %d", k+1)
				from, to := min(at, n), min(at+k+1, n)
				want = model[from:to]
				if at += k + 1; at > n {
					at = n + 1
				}
			case 2:
				how = fmt.Sprintf("backward %d", k+1)
				for range k + 1 {
					if at--; at < 1 {
						at = 0
						break
					}
					want = append(want, model[at-1])
				}
			case 3:
				how, at, want = "last", n, model[n-1:]
			case 4:
				how, at, want = "first", 1, model[:1]
			case 5:
				c.must(fmt.Sprintf("update w set b = b + 1 where a = %d; delete from w where a = %d; insert into w values (%d, 1)", r.IntN(3000), r.IntN(3000), r.IntN(1e9)+3001))
				how = "relative 0"
				if at >= 1 && at <= n {
					want = model[at-1 : at]
				}
			}
			lines := strings.Split(c.sql("fetch "+how+" from c"), "\n")
			if got := lines[1:max(1, len(lines)-2)]; strings.Join(got, " ") != strings.Join(want, " ") {
				t.Fatalf("%s: %s gives %d rows, want %d: %.300q, %.300q", query, how, len(got), len(want), got, want)
			}
		}
		c.must("rollback")
	}
}
