package session

import (
	"fmt"
	"testing"
)

// TestViewsOfViews reads and changes a table through views that read each other.
func TestViewsOfViews(t *testing.T) {
	const chain = 150
	c := newServer(t).client(t)
	c.must("create table v0 (a int)")
	for i := range chain {
		c.must(fmt.Sprintf("create view v%d as select a from v%d", i+1, i))
	}
	last := fmt.Sprintf("v%d", chain)
	c.must("insert into " + last + " values (1), (2)")
	c.must("update " + last + " set a = a + 10 where a = 2")
	c.want("select a from "+last+" order by a", "(a)", "1", "12", "SELECT 2", "I")
	c.must("create or replace view v1 as select 1 as a")
	c.want("create or replace view v1 as select a from "+last, "CREATE VIEW", "I")
	c.want("select a from v7", `ERROR 42P17: infinite recursion detected in rules for relation "v7"`, "I")
}

// TestFunctionsThatDouble: functions that each call another one twice would be 2⁴⁰ calls
// with all bodies in their places. They are made at once, and those of a few levels run.
func TestFunctionsThatDouble(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE FUNCTION d0(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'")
	for i := range 40 {
		c.must(fmt.Sprintf("CREATE FUNCTION d%d(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT d%d($1) + d%d($1)'", i+1, i, i))
	}
	c.want("SELECT d10(1), d10(x) FROM generate_series(1, 2) AS x", "(d10,d10)", "1024|1024", "1024|2048", "SELECT 2", "I")
}
