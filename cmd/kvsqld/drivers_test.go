package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/lib/pq"

	"kvsqld/storage"
)

// sqlState is the SQLSTATE of a driver's error, or "".
func sqlState(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	var qe *pq.Error
	if errors.As(err, &qe) {
		return string(qe.Code)
	}
	return ""
}

func pgxConn(t *testing.T, srv *server) (*pgx.Conn, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	t.Cleanup(cancel)
	c, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c, ctx
}

func mustExec(t *testing.T, ctx context.Context, c *pgx.Conn, sql string, args ...any) pgconn.CommandTag {
	t.Helper()
	tag, err := c.Exec(ctx, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag
}

var pgxModes = map[string]pgx.QueryExecMode{
	"prepared":        pgx.QueryExecModeCacheStatement,
	"cached describe": pgx.QueryExecModeCacheDescribe,
	"described":       pgx.QueryExecModeDescribeExec,
	"exec":            pgx.QueryExecModeExec,
	"simple":          pgx.QueryExecModeSimpleProtocol,
}

func TestPgxModes(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	mustExec(t, ctx, c, "CREATE TABLE t (id int PRIMARY KEY, name text NOT NULL, score float8)")
	id := 0
	for name, mode := range pgxModes {
		t.Run(name, func(t *testing.T) {
			for range 3 { // the first one plans, the others may use what was cached
				id++
				mustExec(t, ctx, c, "INSERT INTO t VALUES ($1, $2, $3)", mode, id, fmt.Sprint("n", id), 1.5)
				var name string
				var score float64
				err := c.QueryRow(ctx, "SELECT name, score * 2 FROM t WHERE id = $1", mode, id).Scan(&name, &score)
				if err != nil || name != fmt.Sprint("n", id) || score != 3 {
					t.Errorf("row %d: got %q, %v, %v", id, name, score, err)
				}
			}
			_, err := c.Exec(ctx, "INSERT INTO t VALUES ($1, $2)", mode, id, "again")
			if sqlState(err) != "23505" {
				t.Errorf("duplicate key: got %v", err)
			}
			if err := c.QueryRow(ctx, "SELECT name FROM t WHERE id = $1", mode, -1).Scan(new(string)); err != pgx.ErrNoRows {
				t.Errorf("no row: got %v", err)
			}
		})
	}
}

// typeSamples are a value of each type, as the driver sends and receives it in
// the binary format, with the text form.
var typeSamples = []struct {
	typ, text string
	value     any
}{
	{"bool", "t", true},
	{"int2", "-7", int16(-7)},
	{"int4", "70000", int32(70000)},
	{"int8", "-9223372036854775808", int64(math.MinInt64)},
	{"float4", "1.25", float32(1.25)},
	{"float8", "1e-300", 1e-300},
	{"text", "žluť", "žluť"},
	{"varchar(10)", "abc", "abc"},
	{"char(3)", "ab ", "ab "},
	{"bytea", `\x00ff`, []byte{0, 255}},
	{"uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f", [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	{"date", "2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
	{"timestamp", "2024-02-29 13:14:15.000123", time.Date(2024, 2, 29, 13, 14, 15, 123000, time.UTC)},
	{"timestamptz", "2024-02-29 13:14:15+00", time.Date(2024, 2, 29, 13, 14, 15, 0, time.UTC)},
	{"time", "13:14:15", pgtype.Time{Microseconds: (13*3600 + 14*60 + 15) * 1e6, Valid: true}},
	{"interval", "1 mon 2 days 00:00:03", pgtype.Interval{Months: 1, Days: 2, Microseconds: 3e6, Valid: true}},
	{"json", `{"a": 1}`, `{"a": 1}`},
	{"jsonb", `{"a": 1}`, `{"a": 1}`},
	{"inet", "10.0.0.1/8", netip.MustParsePrefix("10.0.0.1/8")},
	{"int4[]", "{1,2,3}", []int32{1, 2, 3}},
	{"text[]", `{a,"b c"}`, []string{"a", "b c"}},
	{"float8[]", "{0.5}", []float64{0.5}},
	{"oid", "26", uint32(26)},
}

// TestBinaryTypes sends a value of each type, stores it and reads it back, in
// both formats.
func TestBinaryTypes(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	mustExec(t, ctx, c, "SET timezone = 'UTC'")
	for i, s := range typeSamples {
		t.Run(s.typ, func(t *testing.T) {
			table := fmt.Sprintf("t%d", i)
			mustExec(t, ctx, c, fmt.Sprintf("CREATE TABLE %s (v %s)", table, s.typ))
			mustExec(t, ctx, c, fmt.Sprintf("INSERT INTO %s VALUES ($1), (NULL)", table), s.value)
			got := reflect.New(reflect.TypeOf(s.value))
			if err := c.QueryRow(ctx, fmt.Sprintf("SELECT v FROM %s WHERE v IS NOT NULL", table)).Scan(got.Interface()); err != nil {
				t.Fatal(err)
			}
			v := got.Elem().Interface()
			if tm, ok := v.(time.Time); ok {
				v = tm.UTC()
			}
			if !reflect.DeepEqual(v, s.value) {
				t.Errorf("binary: got %v, want %v", v, s.value)
			}
			res := c.PgConn().ExecParams(ctx, fmt.Sprintf("SELECT v FROM %s ORDER BY v NULLS LAST", table), nil, nil, nil, nil).Read()
			if s.typ == "json" { // has no order
				res = c.PgConn().ExecParams(ctx, fmt.Sprintf("SELECT v FROM %s WHERE v IS NOT NULL", table), nil, nil, nil, nil).Read()
			}
			if res.Err != nil || len(res.Rows) == 0 || string(res.Rows[0][0]) != s.text {
				t.Errorf("text: got %q, %v, want %q", res.Rows, res.Err, s.text)
			}
		})
	}
	t.Run("numeric", func(t *testing.T) {
		for _, want := range []string{"0", "1.50", "-12345678901234567890.123456789", "0.0001", "1000000", "NaN"} {
			var n pgtype.Numeric
			if err := n.Scan(want); err != nil {
				t.Fatal(err)
			}
			var text string
			var back pgtype.Numeric
			if err := c.QueryRow(ctx, "SELECT $1::numeric::text, $1::numeric", n).Scan(&text, &back); err != nil || text != want {
				t.Errorf("numeric %s: got %q, %v", want, text, err)
			}
			if v, _ := back.Value(); fmt.Sprint(v) != want {
				t.Errorf("numeric %s: back %v", want, v)
			}
		}
	})
}

// TestBinaryEnums sends enums and arrays of them in binary, as drivers do that
// have loaded the type.
func TestBinaryEnums(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	mustExec(t, ctx, c, "CREATE TYPE mood AS ENUM ('sad', 'ok')")
	mustExec(t, ctx, c, "CREATE TABLE m (v mood, a mood[])")
	loaded, err := c.LoadTypes(ctx, []string{"mood", "_mood"})
	if err != nil {
		t.Fatal(err)
	}
	c.TypeMap().RegisterTypes(loaded)
	ok := "ok"
	want := []*string{&ok, nil}
	mustExec(t, ctx, c, "INSERT INTO m VALUES ($1, $2)", ok, want)
	mustExec(t, ctx, c, "INSERT INTO m VALUES ($1, $2)", ok, []string{})
	if _, err := c.CopyFrom(ctx, pgx.Identifier{"m"}, []string{"v", "a"}, pgx.CopyFromRows([][]any{{"sad", want}})); err != nil {
		t.Fatal(err)
	}
	var text string
	if err := c.QueryRow(ctx, "SELECT string_agg(a::text, ' ' ORDER BY a, v) FROM m").Scan(&text); err != nil || text != "{} {ok,NULL} {ok,NULL}" {
		t.Errorf("text: %q, %v", text, err)
	}
	var back []*string
	if err := c.QueryRow(ctx, "SELECT a FROM m WHERE v = $1 AND a <> '{}'", ok).Scan(&back); err != nil || !reflect.DeepEqual(back, want) {
		t.Errorf("got %v, %v", back, err)
	}
	if _, err := c.Exec(ctx, "INSERT INTO m (a) VALUES ($1)", []string{"bad"}); sqlState(err) != "22P02" {
		t.Errorf("unknown label: %v", err)
	}
}

// binaryField is a value in the binary form of rows and arrays: its type for a
// row's field, the length and the bytes; nil is NULL.
func binaryField(typ uint32, v []byte) []byte {
	var b []byte
	if typ != 0 {
		b = binary.BigEndian.AppendUint32(b, typ)
	}
	if v == nil {
		return append(b, 0xff, 0xff, 0xff, 0xff)
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
}

// TestBinaryComposites sends rows in binary, with enums in them and in their
// arrays: fields are checked against the type, labels are looked up, and what
// comes back, from the functions that send values too, is what was sent.
func TestBinaryComposites(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	mustExec(t, ctx, c, "CREATE TYPE mood AS ENUM ('sad', 'ok')")
	mustExec(t, ctx, c, "CREATE TYPE place AS (x float8, name varchar(5), moods mood[])")
	var place, mood, moods uint32
	if err := c.QueryRow(ctx, "SELECT 'place'::regtype::oid, 'mood'::regtype::oid, 'mood[]'::regtype::oid").Scan(&place, &mood, &moods); err != nil {
		t.Fatal(err)
	}
	row := func(fields ...[]byte) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(fields))), bytes.Join(fields, nil)...)
	}
	array := func(elem uint32, labels ...string) []byte {
		var b []byte
		for _, w := range []uint32{1, 0, elem, uint32(len(labels)), 1} {
			b = binary.BigEndian.AppendUint32(b, w)
		}
		for _, l := range labels {
			b = append(b, binaryField(0, []byte(l))...)
		}
		return b
	}
	x := binaryField(pgtype.Float8OID, []byte{0x40, 4, 0, 0, 0, 0, 0, 0})
	good := row(x, binaryField(pgtype.VarcharOID, []byte("x,y")), binaryField(moods, array(mood, "ok", "sad")))
	for _, v := range []struct {
		name string
		sent []byte
		text string // or the SQLSTATE
	}{
		{"a row", good, `(2.5,"x,y","{ok,sad}")`},
		{"nulls", row(binaryField(pgtype.Float8OID, nil), binaryField(pgtype.VarcharOID, nil), binaryField(moods, nil)), "(,,)"},
		{"a type that another database made", row(x, binaryField(pgtype.VarcharOID, nil), binaryField(99999, array(99998, "ok"))), "(2.5,,{ok})"},
		{"no such label", row(x, binaryField(pgtype.VarcharOID, nil), binaryField(moods, array(mood, "no"))), "22P02"},
		{"too long", row(x, binaryField(pgtype.VarcharOID, []byte("longer")), binaryField(moods, nil)), "22001"},
		{"too few fields", row(x), "42804"},
		{"another type", row(binaryField(pgtype.Int8OID, nil), binaryField(pgtype.VarcharOID, nil), binaryField(moods, nil)), "42804"},
		{"cut", good[:len(good)-1], "22P03"},
		{"cut in the head", good[:2], "08P01"},
		{"too long a value", append(append([]byte(nil), good...), 0), "22P03"},
	} {
		got := c.PgConn().ExecParams(ctx, "SELECT $1::text", [][]byte{v.sent}, []uint32{place}, []int16{1}, nil).Read()
		text := sqlState(got.Err)
		if got.Err == nil {
			text = string(got.Rows[0][0])
		}
		if text != v.text {
			t.Errorf("%s: %s, %v; want %s", v.name, text, got.Err, v.text)
		}
	}
	got := c.PgConn().ExecParams(ctx, "SELECT $1, record_send($1), enum_send(($1).moods[2]), array_send(($1).moods), ARRAY[$1], ROW(($1).moods[1])",
		[][]byte{good}, []uint32{place}, []int16{1}, []int16{1}).Read()
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	var rows []byte
	for _, w := range []uint32{1, 0, place, 1, 1} {
		rows = binary.BigEndian.AppendUint32(rows, w)
	}
	want := [][]byte{good, good, []byte("sad"), array(mood, "ok", "sad"), append(rows, binaryField(0, good)...), row(binaryField(mood, []byte("ok")))}
	for i := range want {
		if !bytes.Equal(got.Rows[0][i], want[i]) {
			t.Errorf("column %d: got %x, want %x", i+1, got.Rows[0][i], want[i])
		}
	}
	if got := c.PgConn().ExecParams(ctx, "SELECT $1::text", [][]byte{good}, []uint32{pgtype.RecordOID}, []int16{1}, nil).Read(); sqlState(got.Err) != "0A000" {
		t.Errorf("a row of no type: %v", got.Err)
	}
	if got := c.PgConn().ExecParams(ctx, "SELECT $1::text", [][]byte{array(99999, "ab")}, []uint32{pgtype.TextArrayOID}, []int16{1}, []int16{1}).Read(); got.Err != nil || string(got.Rows[0][0]) != "{ab}" {
		t.Errorf("an array of an unknown type's elements: %v", got.Err)
	}
}

// TestBinaryInetFlag: an inet whose binary form carries a cidr's flag, as some
// drivers send it, is stored and sent back as an inet.
func TestBinaryInetFlag(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	raw := []byte{2, 8, 1, 4, 10, 0, 0, 0}
	res := c.PgConn().ExecParams(ctx, "SELECT $1::inet, $1::inet = '10.0.0.0/8'", [][]byte{raw}, nil, []int16{1}, []int16{1}).Read()
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	if want := []byte{2, 8, 0, 4, 10, 0, 0, 0}; !bytes.Equal(res.Rows[0][0], want) || res.Rows[0][1][0] != 1 {
		t.Errorf("got %v", res.Rows[0])
	}
}

func TestPgxBatch(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	mustExec(t, ctx, c, "CREATE TABLE t (id int PRIMARY KEY)")
	b := &pgx.Batch{}
	for i := range 50 {
		b.Queue("INSERT INTO t VALUES ($1)", i)
	}
	var n int
	b.Queue("SELECT count(*) FROM t").QueryRow(func(r pgx.Row) error { return r.Scan(&n) })
	if err := c.SendBatch(ctx, b).Close(); err != nil || n != 50 {
		t.Errorf("batch: %d rows, %v", n, err)
	}
	// A batch is one implicit transaction: its failure takes all of it back.
	b = &pgx.Batch{}
	b.Queue("INSERT INTO t VALUES (100)")
	b.Queue("INSERT INTO t VALUES (1)")
	b.Queue("INSERT INTO t VALUES (101)")
	if err := c.SendBatch(ctx, b).Close(); sqlState(err) != "23505" {
		t.Errorf("failing batch: %v", err)
	}
	if err := c.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n); err != nil || n != 50 {
		t.Errorf("after the failing batch: %d rows, %v", n, err)
	}
	// Pipelined transactions of one statement each are independent.
	p := c.PgConn().StartPipeline(ctx)
	for _, id := range []string{"200", "1", "201"} {
		p.SendQueryParams("INSERT INTO t VALUES ($1)", [][]byte{[]byte(id)}, nil, nil, nil)
		if err := p.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	p.Close()
	if err := c.QueryRow(ctx, "SELECT count(*) FROM t WHERE id >= 200").Scan(&n); err != nil || n != 2 {
		t.Errorf("after the pipeline: %d rows, %v", n, err)
	}
}

func TestPgxCopy(t *testing.T) {
	srv := startServer(t, storage.Options{})
	c, ctx := pgxConn(t, srv)
	mustExec(t, ctx, c, "CREATE TABLE t (id int PRIMARY KEY, v text, n float8, d timestamptz, a int[])")
	const rows = 5000
	now := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	n, err := c.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id", "v", "n", "d", "a"}, pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
		var v any
		if i%3 > 0 {
			v = fmt.Sprint("v", i)
		}
		return []any{i, v, float64(i) / 2, now, []int32{int32(i), 7}}, nil
	}))
	if err != nil || n != rows {
		t.Fatalf("binary copy: %d, %v", n, err)
	}
	var count, nulls, sum int64
	if err := c.QueryRow(ctx, "SELECT count(*), count(*) - count(v), sum(a[1])::bigint FROM t WHERE d = $1", now).Scan(&count, &nulls, &sum); err != nil ||
		count != rows || nulls != (rows+2)/3 || sum != rows*(rows-1)/2 {
		t.Errorf("after copy: %d rows, %d nulls, sum %d, %v", count, nulls, sum, err)
	}
	_, err = c.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"id"}, pgx.CopyFromRows([][]any{{9000}, {1}}))
	if sqlState(err) != "23505" {
		t.Errorf("duplicate in copy: %v", err)
	}
	for _, format := range []string{"binary", "text", "csv"} {
		var buf bytes.Buffer
		if _, err := c.PgConn().CopyTo(ctx, &buf, "COPY t TO STDOUT (FORMAT "+format+")"); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		mustExec(t, ctx, c, "CREATE TABLE back (LIKE t)")
		tag, err := c.PgConn().CopyFrom(ctx, &buf, "COPY back FROM STDIN (FORMAT "+format+")")
		if err != nil || tag.RowsAffected() != rows {
			t.Errorf("%s: %v, %v", format, tag, err)
		}
		if err := c.QueryRow(ctx, "SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM back) AS x").Scan(&count); err != nil || count != 0 {
			t.Errorf("%s: %d rows differ, %v", format, count, err)
		}
		mustExec(t, ctx, c, "DROP TABLE back")
	}
	// A client that gives up in the middle leaves nothing.
	_, err = c.PgConn().CopyFrom(ctx, &failingReader{strings.NewReader("10000\n10001\n")}, "COPY t (id) FROM STDIN")
	if err == nil {
		t.Error("a copy that the client failed has succeeded")
	}
	if err := c.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&count); err != nil || count != rows {
		t.Errorf("after a failed copy: %d rows, %v", count, err)
	}
}

type failingReader struct{ r *strings.Reader }

func (f *failingReader) Read(p []byte) (int, error) {
	if f.r.Len() == 0 {
		return 0, errors.New("the client's file is broken")
	}
	return f.r.Read(p)
}

// longQuery runs for as long as nobody stops it.
const longQuery = "SELECT count(*) FROM generate_series(1, 10000000) AS a, generate_series(1, 10000000) AS b WHERE a + b = -1"

func TestCancel(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	other, _ := pgxConn(t, srv)
	t.Run("request", func(t *testing.T) {
		done := make(chan error, 1)
		go func() {
			_, err := c.PgConn().Exec(ctx, longQuery).ReadAll()
			done <- err
		}()
		awaitActive(t, ctx, other, c.PgConn().PID())
		if err := c.PgConn().CancelRequest(ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-done; sqlState(err) != "57014" {
			t.Errorf("cancelled statement: %v", err)
		}
	})
	t.Run("statement_timeout", func(t *testing.T) {
		// In one message: the error takes the SET back before another statement meets it.
		if _, err := c.PgConn().Exec(ctx, "SET statement_timeout = 50; "+longQuery).ReadAll(); sqlState(err) != "57014" {
			t.Errorf("timed out statement: %v", err)
		}
	})
	t.Run("pg_cancel_backend", func(t *testing.T) {
		done := make(chan error, 1)
		go func() {
			_, err := c.PgConn().Exec(ctx, longQuery).ReadAll()
			done <- err
		}()
		awaitActive(t, ctx, other, c.PgConn().PID())
		mustExec(t, ctx, other, "SELECT pg_cancel_backend($1)", int32(c.PgConn().PID()))
		if err := <-done; sqlState(err) != "57014" {
			t.Errorf("cancelled statement: %v", err)
		}
	})
	var one int
	if err := c.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		t.Errorf("after the cancels: %v", err)
	}
}

// awaitActive returns when the session with the pid runs the long query,
// which must have come as one message: between those of a prepared statement it is
// active too, with nothing to cancel.
func awaitActive(t *testing.T, ctx context.Context, c *pgx.Conn, pid uint32) {
	t.Helper()
	for n := 0; n == 0; {
		err := c.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND state = 'active' AND query LIKE '%generate_series%'", int32(pid)).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestNotify(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	a, ctx := pgxConn(t, srv)
	b, _ := pgxConn(t, srv)
	mustExec(t, ctx, a, "LISTEN news")
	mustExec(t, ctx, b, "BEGIN")
	mustExec(t, ctx, b, "NOTIFY news, 'first'")
	mustExec(t, ctx, b, "SELECT pg_notify('news', 'second')")
	mustExec(t, ctx, b, "COMMIT")
	for _, want := range []string{"first", "second"} {
		n, err := a.WaitForNotification(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n.Channel != "news" || n.Payload != want || n.PID != b.PgConn().PID() {
			t.Errorf("got %+v, want %s", n, want)
		}
	}
}

func TestPq(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	for _, mode := range []string{"", "&binary_parameters=yes"} {
		db, err := sql.Open("postgres", srv.dsn()+mode)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		testPq(t, db)
	}
}

func testPq(t *testing.T, db *sql.DB) {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	exec := func(q string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(ctx, q, args...); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	exec("DROP TABLE IF EXISTS pq; CREATE TABLE pq (id int PRIMARY KEY, v text, a int[], b bytea, w timestamptz)")
	st, err := db.PrepareContext(ctx, "INSERT INTO pq VALUES ($1, $2, $3, $4, $5)")
	if err != nil {
		t.Fatal(err)
	}
	when := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for i := range 10 {
		if _, err := st.ExecContext(ctx, i, fmt.Sprint("v", i), pq.Array([]int64{int64(i), 2}), []byte{byte(i)}, when); err != nil {
			t.Fatal(err)
		}
	}
	st.Close()
	var v string
	var a []int64
	var b []byte
	var w time.Time
	if err := db.QueryRowContext(ctx, "SELECT v, a, b, w FROM pq WHERE id = $1", 3).Scan(&v, pq.Array(&a), &b, &w); err != nil {
		t.Fatal(err)
	}
	if v != "v3" || !reflect.DeepEqual(a, []int64{3, 2}) || !bytes.Equal(b, []byte{3}) || !w.Equal(when) {
		t.Errorf("got %q, %v, %v, %v", v, a, b, w)
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pq WHERE id = ANY ($1)", pq.Array([]int{1, 2, 99})).Scan(&n); err != nil || n != 2 {
		t.Errorf("ANY: %d, %v", n, err)
	}

	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		t.Fatal(err)
	}
	cp, err := tx.PrepareContext(ctx, `COPY "pq" ("id", "v") FROM STDIN`)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < 300; i++ {
		if _, err := cp.ExecContext(ctx, i, "tab\tand\\"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cp.ExecContext(ctx); err != nil {
		t.Fatal(err)
	}
	cp.Close()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM pq WHERE v = E'tab\tand\\'`).Scan(&n); err != nil || n != 200 {
		t.Errorf("copy: %d, %v", n, err)
	}

	if _, err := db.ExecContext(ctx, "INSERT INTO pq (id) VALUES (1)"); sqlState(err) != "23505" {
		t.Errorf("duplicate: %v", err)
	}
	short, stop := context.WithTimeout(ctx, 50*time.Millisecond)
	defer stop()
	if _, err := db.ExecContext(short, longQuery); err == nil {
		t.Error("a cancelled statement has succeeded")
	}
	if err := db.PingContext(ctx); err != nil {
		t.Errorf("after the cancel: %v", err)
	}
}

// TestStaleStatement: a prepared statement whose result would have other columns
// is refused with the routine by which drivers know that they are to prepare it again.
func TestStaleStatement(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	mustExec(t, ctx, c, "CREATE TABLE t (a int)")
	if _, err := c.PgConn().Prepare(ctx, "stale", "SELECT * FROM t", nil); err != nil {
		t.Fatal(err)
	}
	mustExec(t, ctx, c, "ALTER TABLE t ADD COLUMN b int")
	got := c.PgConn().ExecPrepared(ctx, "stale", nil, nil, nil).Read()
	var e *pgconn.PgError
	if !errors.As(got.Err, &e) || e.Code != "0A000" || e.Routine != "RevalidateCachedQuery" {
		t.Errorf("got %#v", got.Err)
	}
}

// TestEmptyInFailedBlock: an empty statement is answered in a failed block when it
// comes as text, and refused when it is bound.
func TestEmptyInFailedBlock(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	if _, err := c.PgConn().Exec(ctx, "BEGIN; SELECT 1/0").ReadAll(); sqlState(err) != "22012" {
		t.Fatal(err)
	}
	if _, err := c.PgConn().Exec(ctx, "").ReadAll(); err != nil {
		t.Errorf("text: %v", err)
	}
	if got := c.PgConn().ExecParams(ctx, "", nil, nil, nil, nil).Read(); sqlState(got.Err) != "25P02" {
		t.Errorf("bound: %v", got.Err)
	}
	mustExec(t, ctx, c, "ROLLBACK")
}
