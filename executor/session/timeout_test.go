package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestEverythingStops lets statement_timeout end statements that would run for
// hours, one for each operator and command that does long work: one that does
// not look at its context hangs this test.
func TestEverythingStops(t *testing.T) {
	c := newServer(t).client(t)
	c.must("create table big (id int primary key, v int, t text)")
	c.must("insert into big select i, i % 100, md5(i::text) from generate_series(1, 20000) i")
	c.must("create table log (h int, g int)")
	c.must("create view views0 as select 1 from big")
	for i := range 10 {
		c.must(fmt.Sprintf("create view views%d as select 1 from views%d a union all select 1 from views%d b", i+1, i, i))
	}
	var joins strings.Builder
	for i := range 60 {
		fmt.Fprintf(&joins, " join big b%d on true", i+1)
		for j := range i + 1 {
			fmt.Fprintf(&joins, " and b%d.v + b%d.v > %d", i+1, j, i)
		}
	}
	// huge has more rows than there is time for, but takes no memory.
	const huge = "generate_series(1, 100000) h, generate_series(1, 100000) g"
	for _, q := range []string{
		// Scans, joins, filters.
		"select count(*) from big a, big b, big c",
		"select a.t from big a join (select g from " + huge + ") b on a.v < b.g and a.v > b.g",
		"select count(*) from big a join (select g from " + huge + ") b on a.id = b.g and a.v + b.g < 0",
		"select count(*) from (select h from " + huge + ") a where exists (select 1 from big b where b.v + a.h = -1)",
		"select count(*) from " + huge + " where h in (select v from big where id + g = -1)",
		// Grouping, sorting, windows, sets, recursion.
		"select v, sum(g) from big, " + huge + " group by v",
		"select distinct v from big, " + huge,
		"select g from " + huge + " order by h desc limit 1",
		"select max(s) from (select sum(g) over (partition by h order by g) s from " + huge + ") x",
		"select g from " + huge + " except select id from big",
		"select percentile_disc(0.5) within group (order by g) from " + huge,
		"with recursive r as (select 1 n union all select n + 1 from r) select max(n) from r",
		"with recursive r as (select 1 n union select n % 1000 + 1 from r, " + huge + ") select max(n) from r",
		// Functions that return rows, patterns.
		"select count(*) from (select generate_series(1, 10000000000)) x",
		"select count(*) from big, " + huge + " where t || g ~ '(x+x+)+y'",
		"select pg_sleep(10000)",
		// Planning: views in views, the order of many joins, a constant.
		"select 1 from views10" + strings.Repeat(" union all select 1 from views10", 500),
		"select count(*) from big b0" + joins.String(),
		"select repeat('x', 10000000) || '!' ~ '(x+x+)+y'",
		// Writing.
		"insert into log select h, g from " + huge,
		"update big set v = (select count(*) from " + huge + ")",
		"delete from big using " + huge + " where v + g < h - 100000",
		"merge into big using (select g from " + huge + ") s on id = -s.g when matched then delete",
		"create table other as select h from " + huge,
		"refresh materialized view slow",
	} {
		if strings.HasPrefix(q, "refresh") {
			c.must("create materialized view slow as select count(*) from " + huge + " with no data")
		}
		// In one message: the error takes the SET back, and no other statement has
		// so little time.
		if got := c.sql("set statement_timeout = '30ms'; " + q); !strings.Contains(got, "57014") {
			t.Errorf("%s: want 57014, got %.200s", q, got)
		}
	}
	c.want("select count(*), sum(v) from big", "(count,sum)", "20000|990000", "SELECT 1", "I")
}

// TestTimeoutBetweenMessages has statement_timeout pass while a client of the extended
// protocol keeps the server waiting: the clock runs from the first message of a statement
// to its end, and the message that comes too late fails.
func TestTimeoutBetweenMessages(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("set statement_timeout = '60ms'")
	wait := func() { time.Sleep(80 * time.Millisecond) }
	late := func(what string, err error) {
		t.Helper()
		if code(err) != "57014" || err.Error() != "canceling statement due to statement timeout" {
			t.Errorf("%s: %v", what, err)
		}
		if err := c.s.Sync(ctx, &recorder{}); err != nil {
			t.Errorf("%s: Sync after the error: %v", what, err)
		}
	}
	start := func(rows int) {
		t.Helper()
		if err := c.s.Parse(ctx, "", "select generate_series(1, 4)", nil); err != nil {
			t.Fatal(err)
		}
		if err := c.bind("", ""); err != nil {
			t.Fatal(err)
		}
		if rows >= 0 {
			if err := c.s.Execute(ctx, "", rows, &recorder{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	start(-1)
	wait()
	late("Execute", c.s.Execute(ctx, "", 0, &recorder{}))
	start(-1)
	wait()
	_, _, err := c.s.DescribePortal(ctx, "")
	late("Describe", err)
	start(-1)
	wait()
	late("Close", c.s.ClosePortal(""))
	start(2)
	wait()
	late("Execute of a suspended portal", c.s.Execute(ctx, "", 2, &recorder{}))
	start(-1)
	wait()
	if err := c.s.Sync(ctx, &recorder{}); code(err) != "57014" {
		t.Errorf("Sync: %v", err)
	}
	start(0) // to its end: the next statement has all its time
	wait()
	if err := c.s.Parse(ctx, "", "select 1", nil); err != nil {
		t.Error(err)
	}
	if err := c.s.Sync(ctx, &recorder{}); err != nil {
		t.Error(err)
	}
	wait()
	c.must("select 1")
}
