package session

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"kvsqld/storage"
)

// TestMemoryLimits lets statements that cannot spill exceed the limit of one
// statement and that of the server; what is taken is given back.
func TestMemoryLimits(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
	}{
		{"of a statement", Options{MaxStatementMemory: 4 << 20}},
		{"of the server", Options{MaxMemory: 4 << 20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Logger = slog.New(slog.DiscardHandler)
			st, err := storage.Open(storage.Options{Store: "mem"})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			srv, err := Open(context.Background(), st, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close(context.Background())
			c := srv.client(t)
			defer c.s.Close()
			for _, q := range []string{
				"select array_agg(repeat('x', 1000) || i) from generate_series(1, 100000) i",
				"insert into t select i, repeat('x', 1000) from generate_series(1, 20000) i returning *",
				"select length(repeat('x', 100000000))",
			} {
				c.must("create table t (id int, v text)")
				got := c.sql(q)
				if !strings.Contains(got, "53200") {
					t.Errorf("%s: want 53200, got %.200s", q, got)
				}
				c.must("drop table t")
			}
			c.must("create table t (id int, v text)")
			got := c.sql("insert into t select i, repeat('x', 1000) from generate_series(1, 20000) i")
			if !strings.Contains(got, "INSERT 0 20000") {
				t.Errorf("what a transaction writes does not go to a file: %.200s", got)
			}
			c.must("drop table t")
			c.must("create table t (i int)")
			c.must("insert into t select generate_series(1, 1000)")
			c.want("select count(*) from t x where x.i not in (select y.i from t y where y.i <> x.i)", "(count)", "1000", "SELECT 1", "I")
			c.must("create function others(int) returns setof int language sql as 'select i from t where i <> $1'")
			c.want("select count(*) from t x, others(x.i)", "(count)", "999000", "SELECT 1", "I")
			c.must("drop function others")
			c.must("drop table t")
			c.want("select 1 as one", "(one)", "1", "SELECT 1", "I")
			if n := srv.memory.Used(); n != 0 {
				t.Errorf("%d bytes are still accounted for", n)
			}
		})
	}
}

// TestLongPatterns lets patterns and templates of megabytes need more than there is, or
// than the time; and looks for what is left of long values when the statement, whose plan
// is kept, has ended.
func TestLongPatterns(t *testing.T) {
	srv := newServer(t)
	srv.memory.Limit = 256 << 20
	c := srv.client(t)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for _, tt := range []struct{ expr, want string }{
		{"'x' ~ repeat('ab', 5000000)", "2201B"},
		{"to_char(now(), repeat('Day', 1000000))", "53200"},
		{"to_char(1, repeat('x', 3000000))", "53200"},
		{"to_date('2020', repeat('x', 3000000))", "53200"},
		{`'"1"'::jsonb @? ('$.datetime("' || repeat('x', 3000000) || '")')::jsonpath`, "53200"},
		{"'a' like repeat('%a', 3000000)", "53200"},
		{"length(to_char(now(), repeat('D', 1000000)))", "1000000"},
		{"length(repeat('x', 50000000))", "50000000"},
		{"repeat('a', 1000000) like repeat('%a', 1000000)", "t"},
		{"translate(repeat('a', 10000000), 'a', 'b') is null", "f"},
	} {
		q := "select " + tt.expr
		if got := c.sql(q); !strings.Contains(got, tt.want) {
			t.Errorf("%s: want %s, got %.200s", q, tt.want, got)
		}
		if left := heap() - before; left > 16<<20 {
			t.Errorf("%s leaves %d bytes", q, left)
		}
	}
	c.must("set statement_timeout = '200ms'")
	for _, q := range []string{
		"select repeat('a', 1000000) like '%' || repeat('_a', 400000) || 'b'",
		`select count(*) from generate_series(1, 1000) i where '"1"'::jsonb @? ('$.datetime("' || repeat('x', 100000 + i) || '")')::jsonpath`,
	} {
		if got := c.sql(q); !strings.Contains(got, "57014") {
			t.Errorf("%s: want 57014, got %.200s", q, got)
		}
	}
}

// TestLiveMemory looks at what is alive while long values are computed for the rows of a
// batch, some at a time: no more than a part of them.
func TestLiveMemory(t *testing.T) {
	c := newServer(t).client(t)
	live := func() uint64 {
		runtime.GC()
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	for _, q := range []string{
		"select count(*) from (select repeat('x', 500000 + i) v from generate_series(1, 1024) i offset 0) s where right(v, 2) = 'xx'",
		"select count(*) from generate_series(1, 1024) i where repeat('x', 500000 + i) like '%xx'",
		"select max(length(v)) from (select string_agg(repeat('x', 5000), '') over (order by i) v from generate_series(1, 500) i) s",
		"select sum(length(v)) from (select string_agg(repeat('x', 5000), '') over (partition by i < 0) v from generate_series(1, 400) i) s",
	} {
		before, most := live(), uint64(0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.must(q)
		}()
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
				most = max(most, live())
			}
		}
		if most > before+200<<20 {
			t.Errorf("%s: %d MB are alive", q, (most-before)>>20)
		}
	}
}

// TestTempFileLimit stops a sort that spills too much.
func TestTempFileLimit(t *testing.T) {
	c := newServer(t).client(t)
	c.must("set work_mem = '64kB'")
	c.must("set temp_file_limit = '1MB'")
	const q = "select md5(i::text) from generate_series(1, 100000) i order by 1 limit 1 offset 99999"
	if got := c.sql(q); !strings.Contains(got, "53400") {
		t.Errorf("want 53400, got %.200s", got)
	}
	c.must("set temp_file_limit = -1")
	if got := c.sql(q); !strings.Contains(got, "SELECT 1") {
		t.Errorf("without a limit: %.200s", got)
	}
}

// TestLeftovers starts a server where another one died between making a temporary
// file and unlinking it.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "kvsqld-spill-123")
	if err := os.WriteFile(left, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := storage.Open(storage.Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := Open(context.Background(), st, Options{TempDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close(context.Background())
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// TestIdleTimeouts wakes connections that have been idle for too long, each with
// its own reason.
func TestIdleTimeouts(t *testing.T) {
	srv := newServer(t)
	for _, tt := range []struct{ set, begin, want string }{
		{"set idle_session_timeout = '1ms'", "select 1", "57P05"},
		{"set idle_in_transaction_session_timeout = '1ms'", "begin", "25P03"},
		{"set transaction_timeout = '1ms'", "begin", "25P04"},
	} {
		c := srv.client(t)
		c.sql(tt.set + "; " + tt.begin)
		<-c.wake
		err := c.s.Wakeup(context.Background(), &recorder{})
		if err == nil || code(err) != tt.want {
			t.Errorf("%s: got %v, want %s", tt.set, err, tt.want)
		}
	}
}

// TestTransactionTimeout ends a statement that its transaction has no time for.
func TestTransactionTimeout(t *testing.T) {
	c := newServer(t).client(t)
	c.must("set transaction_timeout = '20ms'")
	if got := c.sql("select count(*) from generate_series(1, 1000000000)"); !strings.Contains(got, "25P04") {
		t.Errorf("got %.200s", got)
	}
}

// TestRoomForValues asks for values that there is no memory for: they are refused
// before they are made.
func TestRoomForValues(t *testing.T) {
	st, err := storage.Open(storage.Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := Open(context.Background(), st, Options{MaxMemory: 512 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close(context.Background())
	c := srv.client(t)
	defer c.s.Close()
	for q, want := range map[string]string{
		"select length(repeat('x', 600000000))":                                                          "53200",
		"select length(repeat('x', 1 << 30))":                                                            "54000",
		"select length(repeat('x', 50000000) || repeat('y', 500000000))":                                 "53200",
		"select length(replace(repeat('a', 1000000), 'a', repeat('b', 1000)))":                           "53200",
		"select length(replace(repeat('a', 1000000), 'a', repeat('b', 2000)))":                           "54000",
		"select length(regexp_replace(repeat('a', 200000), 'a', repeat('b', 5000), 'g'))":                "53200",
		"select length(format('%600000000s', 'x'))":                                                      "53200",
		"select array_length(array_fill(1, array[10000000]), 1)":                                         "53200",
		"select array_length(string_to_array(repeat('a,', 4000000), ','), 1)":                            "53200",
		"select length(string_agg(repeat('x', 100000), ',')) from generate_series(1, 9000)":              "53200",
		"select cardinality(array_agg(repeat('x', 100000))) from generate_series(1, 9000)":               "53200",
		"select array_length(array(select repeat('x', 100000) || g from generate_series(1, 9000) g), 1)": "53200",
		"select length(regexp_replace(repeat('ab', 10000000), 'a', '', 'g'))":                            "53200",
		"values (1)" + strings.Repeat(", (1 + 1)", 2_000_000):                                            "53200",
		"select length(json_agg(repeat('x', 100000))::text) from generate_series(1, 9000)":               "53200",
		"select length(encode(repeat('x', 200000000)::bytea, 'hex'))":                                    "53200",
		"select length(encode(decode(repeat('ab', 57), 'hex'), 'base64'))":                               "77",
		"select length(lpad('x', 20000000)) + length(repeat('xy', 3000001))":                             "26000002",
		"select length(replace(repeat('ab', 1000000), 'b', 'cc')), right(repeat('xyz', 7), 4)":           "3000000|zxyz",
	} {
		if got := c.sql(q); !strings.Contains(got, want) {
			t.Errorf("%.200s: want %s, got %.200s", q, want, got)
		}
	}
}

// TestLargeRows runs statements over rows of a megabyte in less memory than a batch
// of them takes: what is computed of a batch, and what is kept of it, is accounted
// for a few rows at a time.
func TestLargeRows(t *testing.T) {
	st, err := storage.Open(storage.Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := Open(context.Background(), st, Options{MaxStatementMemory: 32 << 20, TempDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close(context.Background())
	c := srv.client(t)
	defer c.s.Close()
	c.must("set work_mem = '8MB'")
	const rows = "(select repeat('x', 1000000) || i as v, i from generate_series(1, 60) i) s"
	c.must("create table kept as select i, v from " + rows)
	for q, want := range map[string]string{
		"select count(*) from (select distinct v from " + rows + ") d":                                                                                                       "60",
		"select count(v) from (select v from " + rows + " order by v desc offset 0) d":                                                                                       "60",
		"select count(*) from " + rows + " join " + rows[:len(rows)-1] + "t using (v)":                                                                                       "60",
		"select count(v) from (select v, row_number() over (partition by i) from " + rows + ") d":                                                                            "60",
		"select sum(length(upper(v))) from " + rows:                                                                                                                          "60000111",
		"select count(*) from " + rows + " where upper(v) like 'XX%1'":                                                                                                       "6",
		"with w as materialized (select * from " + rows + ") select count(*) from w a, w b where a.i = b.i":                                                                  "60",
		"select array_length(array_agg(v), 1) from " + rows:                                                                                                                  "53200",
		"select count(*) from (select 'y' except select v from " + rows + ") d":                                                                                              "1",
		"select sum(length(s)) from (select string_agg(left(v, 100000), '') over (order by i) s from " + rows + ") d":                                                        "183000000",
		"select sum(length(s)) from (select string_agg(left(v, 100000), '') over (order by i rows between current row and unbounded following) s from " + rows + ") d":       "183000000",
		"select sum(length(s)) from (select string_agg(left(v, 100000), '') over (order by i rows between 30 preceding and 1 following exclude ties) s from " + rows + ") d": "145400000",
		"select sum(length(s)), count(*) from (select string_agg(left(v, 100000), '') over () s from " + rows + ") d":                                                        "360000000|60",
		"insert into kept select -i, v from " + rows + " returning v":                                                                                                        "INSERT 0 60",
		"select count(*) from (select v from " + rows + " except all select v from " + rows + " t) d":                                                                        "0",
	} {
		if got := c.sql(q); !strings.Contains(got, want) {
			t.Errorf("%s: want %s, got %.200s", q, want, got)
		}
	}
	if n := srv.memory.Used(); n != 0 {
		t.Errorf("%d bytes are still accounted for", n)
	}
}
