package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/wire"
)

func TestDescribe(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("create table t(id int primary key, name varchar(20), d date)")
	if err := c.s.Parse(ctx, "q", "select id, name from t where id = $1 and name = $2 limit $3", nil); err != nil {
		t.Fatal(err)
	}
	params, cols, err := c.s.DescribeStatement(ctx, "q")
	if err != nil || len(params) != 3 || params[0] != 23 || params[1] != 25 && params[1] != 1043 || params[2] != 20 {
		t.Errorf("parameters %v, %v", params, err)
	}
	if len(cols) != 2 || cols[0].TableOID == 0 || cols[1].AttNum != 2 {
		t.Errorf("columns %+v", cols)
	}
	if err := c.s.Parse(ctx, "q", "select 1", nil); code(err) != "42P05" {
		t.Error(err)
	}
	if _, _, err := c.s.DescribeStatement(ctx, "none"); code(err) != "26000" {
		t.Error(err)
	}
	if err := c.s.Parse(ctx, "", "insert into t values ($1, $2, $3)", nil); err != nil {
		t.Fatal(err)
	}
	if _, cols, err := c.s.DescribeStatement(ctx, ""); cols != nil || err != nil {
		t.Error(cols, err)
	}
	if err := c.bind("", "", "1", "x"); code(err) != "08P01" {
		t.Error(err)
	}
	if err := c.bind("", "", "1", "x", "nodate"); code(err) != "22007" {
		t.Error(err)
	}
	if err := c.bind("", "", "1", "x", "2024-02-29"); err != nil {
		t.Fatal(err)
	}
	if got := c.exec("", 0); got != "INSERT 0 1" {
		t.Error(got)
	}
	if got := c.sync(); got != "I" {
		t.Error(got)
	}
	// An empty text has no columns and no rows.
	if err := c.s.Parse(ctx, "", "", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("", ""); err != nil {
		t.Fatal(err)
	}
	if got := c.exec("", 0); got != "empty" {
		t.Error(got)
	}
}

func TestBinaryParameter(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	if err := c.s.Parse(ctx, "", "select $1 + 1", []uint32{20}); err != nil {
		t.Fatal(err)
	}
	b := &wire.Bind{ParamFormats: []int16{1}, Params: [][]byte{binary.BigEndian.AppendUint64(nil, 41)}}
	if err := c.s.Bind(ctx, b); err != nil {
		t.Fatal(err)
	}
	if got := c.exec("", 0); got != "(?column?)\n42\nSELECT 1" {
		t.Error(got)
	}
	for _, bad := range []struct {
		format int16
		value  string
		want   string
	}{
		{1, "\x01", "08P01: insufficient data left in message | unnamed portal parameter $1"},
		{1, "\x01\x02\x03\x04\x05\x06\x07\x08\x09", "22P03: incorrect binary data format in bind parameter 1 | unnamed portal parameter $1"},
		{0, "x", `22P02: invalid input syntax for type bigint: "x" | unnamed portal parameter $1 = '...'`},
	} {
		b.ParamFormats[0], b.Params[0] = bad.format, []byte(bad.value)
		var e *sqlerr.Error
		if err := c.s.Bind(ctx, b); !errors.As(err, &e) || string(e.Code)+": "+e.Message+" | "+e.Where != bad.want {
			t.Errorf("%q: %v, %v", bad.value, err, e)
		}
	}
}

// TestBinaryParameterUnsupported sends values of types that have no binary form here.
func TestBinaryParameterUnsupported(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	for name, value := range map[string]string{"tsquery": "\x00\x00\x00\x00", "tsvector": "\x00\x00\x00\x00", "tsvector[]": "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x0e\x1e\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\xf0"} {
		if err := c.s.Parse(ctx, "", "select $1::"+name, nil); err != nil {
			t.Fatal(err)
		}
		b := &wire.Bind{ParamFormats: []int16{1}, Params: [][]byte{[]byte(value)}}
		if err := c.s.Bind(ctx, b); err == nil || err.Error() != "type "+strings.TrimSuffix(name, "[]")+" is not supported" || code(err) != "0A000" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManyParameters describes a statement with more parameters than Bind can pass.
func TestManyParameters(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	if err := c.s.Parse(ctx, "many", "SELECT $1::int, $65536::text, $70000 || 'x'", nil); err == nil || code(err) != "42P18" {
		t.Errorf("parameters without types: %v", err)
	}
	const n = 66000
	text := []byte("VALUES ($1::int4)")
	for i := 2; i <= n; i++ {
		text = fmt.Appendf(text, ", ($%d::int4)", i)
	}
	if err := c.s.Parse(ctx, "many", string(text), nil); err != nil {
		t.Fatal(err)
	}
	params, cols, err := c.s.DescribeStatement(ctx, "many")
	if err != nil || len(params) != n || len(cols) != 1 {
		t.Errorf("%d parameters, %d columns, %v", len(params), len(cols), err)
	}
	if err := c.bind("", "many", "1"); err == nil || code(err) != "08P01" {
		t.Errorf("bind: %v", err)
	}
	c.want("SELECT $2000000", "ERROR 42P02: there is no parameter $2000000 at 8", "I")
}

// TestPortalLimits runs a portal in pieces, over Sync and other statements.
func TestPortalLimits(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("create table t(a int primary key); insert into t select generate_series(1, 5)")
	c.must("begin")
	if err := c.s.Parse(ctx, "", "select a from t order by a", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("p", ""); err != nil {
		t.Fatal(err)
	}
	if got := c.exec("p", 2); got != "(a)\n1\n2\nsuspended" {
		t.Error(got)
	}
	if got := c.sync(); got != "T" {
		t.Error(got)
	}
	c.must("delete from t where a > 3")
	if got := c.exec("p", 2); got != "(a)\n3\n4\nsuspended" {
		t.Error(got)
	}
	if got := c.exec("p", 2); got != "(a)\n5\nSELECT 1" {
		t.Error(got)
	}
	if err := c.s.Parse(ctx, "", "select a from t order by a", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("p", ""); code(err) != "42P03" {
		t.Error(err)
	}
	c.must("rollback")
	if got := c.exec("p", 2); got != `ERROR 34000: portal "p" does not exist` {
		t.Error(got)
	}
	// RETURNING runs to its end at once.
	if err := c.s.Parse(ctx, "", "update t set a = a + 10 returning a", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("", ""); err != nil {
		t.Fatal(err)
	}
	if got := c.exec("", 3); got != "(a)\n11\n12\n13\nsuspended" {
		t.Error(got)
	}
	if got := c.sync(); got != "I" {
		t.Error(got)
	}
	c.want("select min(a) from t", "(min)", "11", "SELECT 1", "I")
}

func TestPrepare(t *testing.T) {
	c := newServer(t).client(t)
	c.must("create table t(a int primary key, b text); insert into t values (1, 'x')")
	c.want("prepare q(int) as select b from t where a = $1", "PREPARE", "I")
	c.want("execute q(1)", "(b)", "x", "SELECT 1", "I")
	c.want("execute q(1, 2)", `ERROR 42601: wrong number of parameters for prepared statement "q"`, "I")
	c.want("prepare q as select 1", `ERROR 42P05: prepared statement "q" already exists`, "I")
	c.must("alter table t alter column b set default 'y'")
	c.want("execute q(1)", "(b)", "x", "SELECT 1", "I")
	c.want("deallocate q", "DEALLOCATE", "I")
	c.want("execute q(1)", `ERROR 26000: prepared statement "q" does not exist`, "I")
	c.want("deallocate all", "DEALLOCATE ALL", "I")
}

func TestCursors(t *testing.T) {
	c := newServer(t).client(t)
	c.want("declare c cursor for select 1", "ERROR 25P01: DECLARE CURSOR can only be used in transaction blocks", "I")
	c.must("begin; declare c scroll cursor for select * from generate_series(1, 6) g")
	c.want("fetch 2 from c", "(g)", "1", "2", "FETCH 2", "T")
	c.want("fetch prior from c", "(g)", "1", "FETCH 1", "T")
	c.want("fetch absolute -1 from c", "(g)", "6", "FETCH 1", "T")
	c.want("fetch relative -2 from c", "(g)", "4", "FETCH 1", "T")
	c.want("move all from c", "MOVE 2", "T")
	c.want("fetch from c", "(g)", "FETCH 0", "T")
	c.want("fetch backward 2 from c", "(g)", "6", "5", "FETCH 2", "T")
	c.want("close c; fetch from c", "CLOSE CURSOR", `ERROR 34000: cursor "c" does not exist`, "E")
	c.must("rollback; begin; declare h cursor with hold for select * from generate_series(1, 3) g; commit")
	c.want("fetch all from h", "(g)", "1", "2", "3", "FETCH 3", "I")
	c.want("close all", "CLOSE CURSOR ALL", "I")
}

func TestUtilityInPortal(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	for _, q := range []struct{ sql, want string }{
		{"vacuum", "VACUUM"}, {"create database d", "CREATE DATABASE"}, {"discard plans", "DISCARD PLANS"},
		{"lock table pg_class", "ERROR 25P01: LOCK TABLE can only be used in transaction blocks"},
		{"show work_mem", "(work_mem)\n4MB\nSHOW"},
	} {
		if err := c.s.Parse(ctx, "", q.sql, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.bind("", ""); err != nil {
			t.Fatal(err)
		}
		if got := c.exec("", 0); got != q.want {
			t.Errorf("%s: %s", q.sql, got)
		}
		c.sync()
	}
}

// TestSetTransactionInPipeline sets the properties of the transaction that lasts until Sync.
func TestSetTransactionInPipeline(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	const outside = "WARNING 25P01: SET TRANSACTION can only be used in transaction blocks\n"
	for _, pipeline := range [][][2]string{
		{{"set transaction isolation level serializable", outside + "SET"}, {"show transaction_isolation", "(transaction_isolation)\nserializable\nSHOW"}},
		{{"show transaction_isolation", "(transaction_isolation)\nread committed\nSHOW"}},
		{{"select 1", "(?column?)\n1\nSELECT 1"}, {"set transaction isolation level serializable",
			outside + "ERROR 25001: SET TRANSACTION ISOLATION LEVEL must be called before any query"}},
		{{"set transaction read only", outside + "SET"}, {"create table t()", "ERROR 25006: cannot execute CREATE TABLE in a read-only transaction"}},
	} {
		for _, q := range pipeline {
			if err := c.s.Parse(ctx, "", q[0], nil); err != nil {
				t.Fatal(err)
			}
			if err := c.bind("", ""); err != nil {
				t.Fatal(err)
			}
			if got := c.exec("", 0); got != q[1] {
				t.Errorf("%s: %s", q[0], got)
			}
		}
		c.sync()
	}
	c.want("set transaction isolation level serializable", strings.TrimSpace(outside), "SET", "I")
	c.want("show transaction_isolation", "(transaction_isolation)", "read committed", "SHOW", "I")
}

// TestPortalRunsOnce executes portals again that have run: one without rows cannot.
func TestPortalRunsOnce(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("create table t(a int)")
	for _, tt := range []struct{ sql, first, again string }{
		{"insert into t values (1)", "INSERT 0 1", "ERROR 55000: portal \"\" cannot be run"},
		{"set a.b = 'c'", "SET", "ERROR 55000: portal \"\" cannot be run"},
		{"select count(*) from t", "(count)\n0\nSELECT 1", "(count)\nSELECT 0"},
	} {
		if err := c.s.Parse(ctx, "", tt.sql, nil); err != nil {
			t.Fatal(err)
		}
		// Formats for columns that are not there are of no interest.
		b := &wire.Bind{}
		if tt.first == "SET" {
			b.ResultFormats = []int16{0, 1, 0}
		}
		if err := c.s.Bind(ctx, b); err != nil {
			t.Fatal(err)
		}
		if got := c.exec("", 0); got != tt.first {
			t.Errorf("%s: %s", tt.sql, got)
		}
		if got := c.exec("", 0); got != tt.again {
			t.Errorf("%s, again: %s", tt.sql, got)
		}
		c.sync()
	}
	if err := c.s.Parse(ctx, "", "select 1", nil); err != nil {
		t.Fatal(err)
	}
	c.must("select 2")
	if err := c.bind("", ""); code(err) != "26000" {
		t.Errorf("a simple query ends the unnamed statement: %v", err)
	}
}

// TestDomainParameters: a client sees that a parameter is of a domain, and what it passes
// is checked whether it was told or said so itself.
// TestPortalMeetsItself fetches from, closes and executes what is running just then.
func TestPortalMeetsItself(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	run := func(sql, want string) {
		t.Helper()
		c.must("begin")
		if err := c.s.Parse(ctx, "p", sql, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.bind("p", "p"); err != nil {
			t.Fatal(err)
		}
		if got := c.exec("p", 0); got != want {
			t.Errorf("%s: got %q, want %q", sql, got, want)
		}
		c.s.CloseStatement("p")
		c.must("rollback")
	}
	run("fetch all from p", `ERROR 55000: portal "p" cannot be run`)
	run("close p", `ERROR 24000: cannot drop active portal "p"`)
	run("close all", "CLOSE CURSOR ALL")
	run("declare p cursor for select 1", `ERROR 42P03: cursor "p" already exists`)
	run("execute p", "ERROR 54001: stack depth limit exceeded")
}

// TestNamedPortalToTheEnd executes a query with a name, which may be the cursor of WHERE
// CURRENT OF, without a limit: the client gets the columns that it was told of.
func TestNamedPortalToTheEnd(t *testing.T) {
	c := newServer(t).client(t)
	c.must("create table t (a int primary key, b text)")
	c.must("insert into t values (1, 'x')")
	if err := c.s.Parse(context.Background(), "q", "select * from t", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("p", "q"); err != nil {
		t.Fatal(err)
	}
	if got, want := c.exec("p", 0), "(a,b)\n1|x\nSELECT 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDomainParameters(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("create domain positive as int check (value > 0); create table t (p positive, ps positive[])")
	c.must("create table plain (p int)")
	if err := c.s.Parse(ctx, "told", "insert into t values ($1, $2)", nil); err != nil {
		t.Fatal(err)
	}
	oids, _, err := c.s.DescribeStatement(ctx, "told")
	if err != nil || len(oids) != 2 {
		t.Fatal(oids, err)
	}
	c.want(fmt.Sprintf("select %d::regtype, %d::regtype", oids[0], oids[1]), "(regtype,regtype)", "positive|positive[]", "SELECT 1", "I")
	for _, tt := range []struct {
		sql, values, want string
		declared          []uint32
	}{
		{"insert into t values ($1, $2)", "1 {2}", "INSERT 0 1", nil},
		{"insert into t values ($1, $2)", "0 {2}", "ERROR 23514", nil},
		{"insert into t values ($1, $2)", "1 {0}", "ERROR 23514", nil},
		{"select $1", "1", "(?column?)\n1\nSELECT 1", oids[:1]},
		{"select $1", "0", "ERROR 23514", oids[:1]},
		{"insert into plain values ($1), ($1 + 1)", "-5", "ERROR 23514", oids[:1]},
		{"select $1, $2", "1 {0}", "ERROR 23514", oids},
		{"select $1::positive + 1", "-1", "ERROR 23514", nil},
	} {
		if err := c.s.Parse(ctx, "", tt.sql, tt.declared); err != nil {
			t.Fatal(tt.sql, err)
		}
		if err := c.bind("", "", strings.Fields(tt.values)...); err != nil {
			t.Fatal(tt.sql, err)
		}
		if got := c.exec("", 0); !strings.Contains(got, tt.want) {
			t.Errorf("%s with %s: %s", tt.sql, tt.values, got)
		}
		c.sync()
	}
}

// TestPortalsOfAFailedBlock runs portals behind an error: they are there until the block, or
// the savepoint behind which they were made, is left.
func TestPortalsOfAFailedBlock(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	if err := c.s.Parse(ctx, "s", "select generate_series(1, 5) a", nil); err != nil {
		t.Fatal(err)
	}
	bind := func(portal string) {
		t.Helper()
		if err := c.bind(portal, "s"); err != nil {
			t.Fatal(err)
		}
	}
	want := func(portal, want string) {
		t.Helper()
		if got := c.exec(portal, 2); got != want {
			t.Errorf("%s: %s\nwant %s", portal, got, want)
		}
	}
	const aborted = "ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block"
	const gone = `ERROR 34000: portal "%s" does not exist`
	fail := func() { c.want("select 1 / 0", "ERROR 22012: division by zero", "E") }

	c.must("begin")
	bind("p")
	want("p", "(a)\n1\n2\nsuspended")
	fail()
	want("p", aborted)
	if _, _, err := c.s.DescribePortal(ctx, "p"); code(err) != "25P02" {
		t.Error(err)
	}
	want("q", fmt.Sprintf(gone, "q"))
	c.must("rollback")
	want("p", fmt.Sprintf(gone, "p"))

	c.must("begin")
	bind("p")
	c.must("savepoint before")
	bind("q")
	fail()
	want("p", aborted)
	want("q", aborted)
	c.must("rollback to before")
	want("p", "(a)\n1\n2\nsuspended")
	want("q", fmt.Sprintf(gone, "q"))
	c.must("commit")
}

// TestBindMeetsFaults: a constant that fails does so when the statement is planned, which is
// at Bind; not where parameters may keep it from being evaluated.
func TestBindMeetsFaults(t *testing.T) {
	ctx := context.Background()
	c := newServer(t).client(t)
	c.must("create table t (a int)")
	for _, tt := range []struct{ sql, value, bound, got string }{
		{"select 1/0", "", "22012", ""},
		{"select 1/0 from t", "", "22012", ""},
		{"values (1), (1/0) limit 1", "", "22012", ""},
		{"select sum(1/0) over () from t", "", "22012", ""},
		{"select a from t where a = $1 and 1/0 = 1", "1", "22012", ""},
		{"select case when $1::int = 1 then 1/0 else 2 end", "0", "", "(case)\n2\nSELECT 1"},
		{"select case when $1::int = 1 then 1/0 else 2 end", "1", "", "(case)\nERROR 22012: division by zero"},
		{"select coalesce($1::int, 1/0)", "3", "", "(coalesce)\n3\nSELECT 1"},
		{"select $1::bool and 1/0 = 1", "f", "", "(?column?)\nf\nSELECT 1"},
		{"select $1::bool or 1/0 = 1", "t", "", "(?column?)\nt\nSELECT 1"},
	} {
		if err := c.s.Parse(ctx, "", tt.sql, nil); err != nil {
			t.Fatal(tt.sql, err)
		}
		err := c.bind("", "", strings.Fields(tt.value)...)
		if (err != nil || tt.bound != "") && code(err) != tt.bound {
			t.Errorf("%s: Bind says %v", tt.sql, err)
		}
		if err == nil {
			if got := c.exec("", 0); got != tt.got {
				t.Errorf("%s with %s: %s", tt.sql, tt.value, got)
			}
		}
		c.sync()
	}
}

// TestDefinitionAfterBind changes a table between Bind, with which the client gets the
// columns, and Execute: rows come with those columns or not at all.
func TestDefinitionAfterBind(t *testing.T) {
	srv := newServer(t)
	c, other := srv.client(t), srv.client(t)
	const refused = "ERROR 0A000: cached plan must not change result type"
	for _, test := range []struct{ before, sql, portal, ddl, want string }{
		{"", "select * from t", "", "alter table t add column z int default 7", refused},
		{"", "select * from t", "p", "alter table t add column z int default 7", refused},
		{"begin", "select * from t", "", "alter table t drop column b", refused},
		{"", "select a from t", "", "alter table t alter a type text using 'x' || a", refused},
		{"", "select a from t", "", "alter table t rename a to x", `ERROR 42703: column "a" does not exist`},
		{"", "insert into t values (2, 'n') returning *", "", "alter table t add column z int default 7", refused},
		{"", "insert into t values (2, 'n')", "", "alter table t add column z int default 7", "INSERT 0 1"},
		{"", "select a from t", "", "alter table t add column z int default 7", "(a)\n1\nSELECT 1"},
		{"", "select a from t", "", "create index on t (a)", "(a)\n1\nSELECT 1"},
		{"", "select a from t", "", "truncate t", "(a)\nSELECT 0"},
		{"", "select a from t", "", "drop table t", `ERROR 42P01: relation "t" does not exist`},
	} {
		for _, rows := range []int{0, 1} {
			other.must("drop table if exists t; create table t (a int, b text); insert into t values (1, 'one')")
			if test.before != "" {
				c.must(test.before)
			}
			if err := c.s.Parse(t.Context(), "s", test.sql, nil); err != nil {
				t.Fatal(err)
			}
			if err := c.bind(test.portal, "s"); err != nil {
				t.Fatal(err)
			}
			other.must(test.ddl)
			got := c.exec(test.portal, rows)
			if more, ok := strings.CutSuffix(got, "suspended"); ok {
				got = more + strings.TrimPrefix(c.exec(test.portal, 0), "(a)\n")
				got = strings.Replace(got, "SELECT 0", "SELECT 1", 1) // what the second call returned
			}
			if got != test.want {
				t.Errorf("%s, %d rows, behind %s:\n%s\nwant:\n%s", test.sql, rows, test.ddl, got, test.want)
			}
			c.sync()
			c.sql("rollback")
			if err := c.s.CloseStatement("s"); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Afterwards the statement is what it is now.
	other.must("drop table if exists t; create table t (a int, b text)")
	if err := c.s.Parse(t.Context(), "", "select * from t", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.bind("", ""); err != nil {
		t.Fatal(err)
	}
	if got := c.exec("", 0); got != "(a,b)\nSELECT 0" {
		t.Errorf("got\n%s", got)
	}
}
