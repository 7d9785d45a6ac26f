package session

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"kvsqld/storage"
)

// TestStatementLog has the settings that ask for lines about statements change while
// statements run, and compares the lines.
func TestStatementLog(t *testing.T) {
	st, err := storage.Open(storage.Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	plain := func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "pid", "user", "database", "application":
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: plain}))
	srv, err := Open(t.Context(), st, Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := srv.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := srv.client(t)
	took := regexp.MustCompile(`duration: \d+\.\d{3} ms`)
	logged := func(want ...string) {
		t.Helper()
		got := took.ReplaceAllString(out.String(), "duration: N ms")
		out.Reset()
		if all := strings.Join(append(want, ""), "\n"); got != all {
			t.Errorf("logged\n%swant\n%s", got, all)
		}
	}
	bound := func(sql string, params ...string) {
		t.Helper()
		if err := c.s.Parse(t.Context(), "s", sql, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.bind("", "s", params...); err != nil {
			t.Fatal(err)
		}
		c.exec("", 0)
		c.sync()
		if err := c.s.CloseStatement("s"); err != nil {
			t.Fatal(err)
		}
	}
	out.Reset()
	c.must("create table t (a int, b text)")
	bound("insert into t values ($1, $2)", "1", "x")
	logged()

	c.must("set log_statement = ddl")
	c.must("insert into t values (2, 'y')")
	c.must("create index on t (a)")
	c.must("select * into u from t")
	logged(`level=INFO msg="statement: create index on t (a)"`, `level=INFO msg="statement: select * into u from t"`)
	c.must("set log_statement = mod")
	for range 3 { // the last ones by a remembered plan
		c.must("delete from t where a = 7")
		c.must("select * from t where a = 7")
	}
	bound("insert into t values ($1, $2)", "3", "it's")
	bound("select $1::int", "3")
	c.must("prepare p as delete from u; execute p; explain analyze update u set a = a; explain (analyze off) update u set a = a")
	logged(strings.Repeat(`level=INFO msg="statement: delete from t where a = 7"`+"\n", 2)+`level=INFO msg="statement: delete from t where a = 7"`,
		`level=INFO msg="execute s: insert into t values ($1, $2)" detail="parameters: $1 = '3', $2 = 'it''s'"`,
		`level=INFO msg="statement: prepare p as delete from u; execute p; explain analyze update u set a = a; explain (analyze off) update u set a = a"`)
	c.must("set log_statement = 'all'; set log_parameter_max_length = 2")
	bound("select $1::text, $2::text", "äöü", "z")
	c.must("create role r password 'geheim'")
	c.must("alter role r encrypted password 'geheim'; select 1")
	c.must("select 'password'")
	logged(`level=INFO msg="execute s: select $1::text, $2::text" detail="parameters: $1 = 'ä...', $2 = 'z'"`,
		`level=INFO msg="statement: (a text with a password)"`, `level=INFO msg="statement: (a text with a password)"`,
		`level=INFO msg="statement: select 'password'"`)

	c.must("set log_statement = none; set log_min_duration_statement = 0; set log_parameter_max_length = 0")
	c.must("select 2")
	bound("select $1::int", "1")
	c.want("select 1/0", "ERROR 22012: division by zero", "I")
	c.want("alter role r password 'geheim' nonsense", `ERROR 42601: unrecognized role option "nonsense" at 32`, "I")
	logged(`level=INFO msg="statement: set log_statement = none; set log_min_duration_statement = 0; set log_parameter_max_length = 0"`,
		`level=INFO msg="duration: N ms"`, // its text is there already
		`level=INFO msg="duration: N ms  statement: select 2"`,
		`level=INFO msg="duration: N ms  parse s: select $1::int"`,
		`level=INFO msg="duration: N ms  bind s: select $1::int"`,
		`level=INFO msg="duration: N ms  execute s: select $1::int"`,
		`level=DEBUG msg="ERROR:  division by zero" sqlstate=22012 statement="select 1/0"`,
		`level=DEBUG msg="ERROR:  unrecognized role option \"nonsense\"" sqlstate=42601 statement="(a text with a password)"`)
	c.must("set log_min_duration_statement = '1h'")
	c.must("select 3")
	logged()
	c.must("set log_duration = on")
	c.must("select 4")
	c.must("begin; set local log_min_duration_sample = 0; set local log_statement_sample_rate = 0; select 5; commit")
	c.must("set log_min_duration_sample = 0")
	c.must("set log_statement_sample_rate = 0")
	c.must("reset log_duration")
	c.must("select 6")
	logged(`level=INFO msg="duration: N ms"`, `level=INFO msg="duration: N ms"`, `level=INFO msg="duration: N ms"`,
		`level=INFO msg="duration: N ms  statement: set log_min_duration_sample = 0"`, `level=INFO msg="duration: N ms"`)
}
