package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kvsqld/catalog/types"
)

// Parameters may stand in the query that a utility statement contains: clients
// send EXPLAIN and DECLARE with their values beside.
func TestParametersInside(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("create table t(id int primary key, s text); insert into t values (1,'a'),(2,'b'),(3,'c')")
	run := func(sql, params string, values ...string) string {
		t.Helper()
		if err := c.s.Parse(ctx, "", sql, nil); err != nil {
			return code(err)
		}
		oids, _, err := c.s.DescribeStatement(ctx, "")
		if err != nil || fmt.Sprint(oids) != params {
			t.Errorf("%s: parameters %v, %v", sql, oids, err)
		}
		if err := c.bind("", "", values...); err != nil {
			return code(err)
		}
		return c.exec("", 0)
	}
	if got := run("explain (costs off) select * from t where id = $1", "[23]", "2"); !strings.Contains(got, "unique get t_pkey") && !strings.Contains(got, "EXPLAIN") {
		t.Errorf("EXPLAIN: %q", got)
	}
	c.sync()
	if got := run("create table u as select id, s || $2 as s from t where id <= $1", "[23 25]", "2", "!"); got != "SELECT 2" {
		t.Errorf("CREATE TABLE AS: %q", got)
	}
	c.sync()
	c.want("select * from u", "(id,s)", "1|a!", "2|b!", "SELECT 2", "I")
	c.must("begin")
	if got := run("declare d cursor for select id from t where id >= $1 order by id", "[23]", "2"); got != "DECLARE CURSOR" {
		t.Errorf("DECLARE: %q", got)
	}
	c.sync()
	c.want("fetch all from d", "(id)", "2", "3", "FETCH 2", "T")
	c.must("commit")
	for sql, want := range map[string]string{
		"create materialized view m as select $1::int": "0A000",
		"create view v as select $1::int as a":         "42P02",
		"explain select $1 is null":                    "42P18",
		"select row($1)":                               "42P18",
		"select count($1)":                             "42P18",
	} {
		if got := run(sql, "[]"); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
		c.sync()
	}
}

// A parameter declared void stands for an OUT parameter and is no argument.
func TestVoidParameter(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("create function plus(a int, out b int) language sql as 'select a + 1'")
	if err := c.s.Parse(ctx, "", "select * from plus($1, $2)", []uint32{uint32(types.OVoid), 23}); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("", "", "", "4"); err != nil {
		t.Fatal(err)
	}
	if got := c.exec("", 0); got != "(b)\n5\nSELECT 1" {
		t.Errorf("%q", got)
	}
}
