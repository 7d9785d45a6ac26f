package session

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/lib/pq"

	"kvsqld/storage"
	"kvsqld/wire"
)

// serveCopy starts a server behind a socket and returns a connection to it and
// the connection's URL.
func serveCopy(t testing.TB, o storage.Options) (*pgx.Conn, string) {
	t.Helper()
	ctx := context.Background()
	if o.Store != "mem" {
		o.Dir = t.TempDir()
	}
	st, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	srv, err := Open(ctx, st, Options{Auth: "trust", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	w, err := wire.NewServer(srv, wire.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.Serve(ln) }()
	url := "postgres://postgres@" + ln.Addr().String() + "/postgres?sslmode=disable"
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close(ctx)
		w.Shutdown(ctx)
		<-done
		if err := srv.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn, url
}

func execAll(t testing.TB, c *pgconn.PgConn, sql string) {
	t.Helper()
	if _, err := c.Exec(context.Background(), sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// copyError shows what a client is told: SQLSTATE, message, context.
func copyError(err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	return strings.Join([]string{e.Code, e.Message, e.Where}, " | ")
}

const copyTable = `CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL, c int CHECK (c > 0), g int GENERATED ALWAYS AS (a + 1) STORED);
	CREATE VIEW v AS SELECT * FROM t; CREATE TABLE child (id int REFERENCES t); INSERT INTO t VALUES (100, 'x', 1);
	CREATE TABLE parts (a int PRIMARY KEY) PARTITION BY RANGE (a);
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (1) TO (20);
	CREATE TABLE d (a int DEFAULT 7, n serial, at date DEFAULT '2024-05-06', b varchar(3) DEFAULT 'q')`

// copyLines are rows of t, from one key to another.
func copyLines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%d\ta\t2\n", i)
	}
	return b.String()
}

// The messages and contexts are those of PostgreSQL 15.
func TestCopyInErrors(t *testing.T) {
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	c := conn.PgConn()
	execAll(t, c, copyTable)
	long := strings.Repeat("x", 120)
	for _, tt := range []struct{ stmt, data, want string }{
		{"COPY t FROM STDIN", "1\ta\t1\nx\tb\t2\n", `22P02 | invalid input syntax for type integer: "x" | COPY t, line 2, column a: "x"`},
		{"COPY t FROM STDIN", "99999999999\tb\t3\n", `22003 | value "99999999999" is out of range for type integer | COPY t, line 1, column a: "99999999999"`},
		{"COPY t FROM STDIN", "1\ta\n", `22P04 | missing data for column "c" | COPY t, line 1: "1	a"`},
		{"COPY t FROM STDIN", "1\t" + long + "\n", `22P04 | missing data for column "c" | COPY t, line 1: "1	` + long[:98] + `..."`},
		{"COPY t FROM STDIN", "1\ta\t2\t3\n", `22P04 | extra data after last expected column | COPY t, line 1: "1	a	2	3"`},
		{"COPY t FROM STDIN", "1\ta\t2\n2\t\\N\t2\n", `23502 | null value in column "b" of relation "t" violates not-null constraint | COPY t, line 2: "2	\N	2"`},
		{"COPY t FROM STDIN", "1\ta\t2\n2\tb\t-1\n", `23514 | new row for relation "t" violates check constraint "t_c_check" | COPY t, line 2: "2	b	-1"`},
		{"COPY t FROM STDIN", "1\ta\t2\n2\tb\t1\n1\tc\t1\n", `23505 | duplicate key value violates unique constraint "t_pkey" | COPY t, line 3`},
		{"COPY t FROM STDIN", "1\ta\t2\n100\tb\t1\n", `23505 | duplicate key value violates unique constraint "t_pkey" | COPY t, line 2`},
		// Of two rows the one that is wrong by itself counts, unless the other was stored before.
		{"COPY t FROM STDIN", "1\ta\t2\n1\tb\t1\n3\tc\t0\n", `23514 | new row for relation "t" violates check constraint "t_c_check" | COPY t, line 3: "3	c	0"`},
		{"COPY t FROM STDIN", "1\ta\t2\n2\tb\t0\n1\tc\tx\n", `23514 | new row for relation "t" violates check constraint "t_c_check" | COPY t, line 2: "2	b	0"`},
		{"COPY t FROM STDIN", "1\ta\t2\n1\tb\t2\n1\tc\tx\n", `22P02 | invalid input syntax for type integer: "x" | COPY t, line 3, column c: "x"`},
		{"COPY t FROM STDIN", "1\ta\t2\n1\tb\t2\n" + copyLines(3, 1100) + "1\tc\tx\n", `23505 | duplicate key value violates unique constraint "t_pkey" | COPY t, line 2`},
		{"COPY t FROM STDIN WHERE 1 / (a - 2) < 9", "1\ta\t2\n2\tb\t2\n1\tc\t2\n", `22012 | division by zero | COPY t, line 2: "2	b	2"`},
		{"COPY t FROM STDIN WHERE random() < 2", "1\ta\t2\n1\tb\t2\n1\tc\tx\n", `23505 | duplicate key value violates unique constraint "t_pkey" | COPY t, line 2: "1	b	2"`},
		{"COPY parts FROM STDIN", "1\n11\n1\n22\n", `23514 | no partition of relation "parts" found for row | COPY parts, line 4: "22"`},
		{"COPY t FROM STDIN (HEADER MATCH)", "a\tB\tc\n", `22P04 | column name mismatch in header line field 2: got "B", expected "b" | COPY t, line 1: "a	B	c"`},
		{"COPY t FROM STDIN (HEADER MATCH)", "a\t\\N\tc\n", `22P04 | column name mismatch in header line field 2: got null value ("\N"), expected "b" | COPY t, line 1: "a	\N	c"`},
		{"COPY t FROM STDIN (HEADER MATCH)", "", `22P04 | wrong number of fields in header line: got 1, expected 3 | COPY t, line 1: ""`},
		{"COPY t FROM STDIN (HEADER MATCH, FORMAT csv)", "a,b\n", `22P04 | wrong number of fields in header line: got 2, expected 3 | COPY t, line 1: "a,b"`},
		{"COPY t FROM STDIN (FORMAT binary)", copyBinaryHeader + "\x00\x02", "22P04 | row field count is 2, expected 3 | COPY t, line 1"},
		{"COPY t FROM STDIN (FORMAT binary)", copyBinaryHeader + "\x00\x03\x00\x00\x00\x02\x00\x01", "08P01 | insufficient data left in message | COPY t, line 1, column a"},
		{"COPY t FROM STDIN (FORMAT binary)", "PGCOPY", "22P04 | COPY file signature not recognized | "},
		{"COPY child FROM STDIN", "100\n5\n", `23503 | insert or update on table "child" violates foreign key constraint "child_id_fkey" | `},
		{"COPY d (b) FROM STDIN", "abcd\n", `22001 | value too long for type character varying(3) | COPY d, line 1, column b: "abcd"`},
		{"COPY v FROM STDIN", "", `42809 | cannot copy to view "v" | `},
		{"COPY t (a, zz) FROM STDIN", "", `42703 | column "zz" of relation "t" does not exist | `},
		{"COPY t (a, a) FROM STDIN", "", `42701 | column "a" specified more than once | `},
		{"COPY t (g) FROM STDIN", "", `42P10 | column "g" is a generated column | `},
		{"COPY none FROM STDIN", "", `42P01 | relation "none" does not exist | `},
		{"COPY t FROM STDIN WHERE g > 1", "", "42P10 | generated columns are not supported in COPY FROM WHERE conditions | "},
		{"COPY t FROM '/etc/passwd'", "", "0A000 | COPY from a server file is not supported | "},
		{"COPY t FROM PROGRAM 'ls'", "", "0A000 | COPY of a PROGRAM is not supported | "},
	} {
		_, err := c.CopyFrom(context.Background(), strings.NewReader(tt.data), tt.stmt)
		if got := copyError(err); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.stmt, tt.data, got, tt.want)
		}
	}
	var n int
	if err := conn.QueryRow(context.Background(), "SELECT count(*) FROM t").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows after failed copies, %v", n, err)
	}
}

// The lines that a script has for a view are data, not statements.
func TestCopyIntoView(t *testing.T) {
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	c := conn.PgConn()
	execAll(t, c, copyTable)
	fe := c.Frontend()
	fe.Send(&pgproto3.Query{String: "COPY v FROM STDIN"})
	fe.Send(&pgproto3.CopyData{Data: []byte("DROP TABLE t;\n")})
	fe.Send(&pgproto3.CopyDone{})
	if err := fe.Flush(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		m, err := fe.Receive()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%T", m))
		if _, ok := m.(*pgproto3.ReadyForQuery); ok {
			break
		}
	}
	if want := []string{"*pgproto3.CopyInResponse", "*pgproto3.ErrorResponse", "*pgproto3.ReadyForQuery"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCopyOptionErrors(t *testing.T) {
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	c := conn.PgConn()
	execAll(t, c, copyTable)
	for _, tt := range []struct{ stmt, want string }{
		{"FROM STDIN (FORMAT xx)", `22023 COPY format "xx" not recognized`},
		{"FROM STDIN (FORMAT csv, FORMAT csv)", "42601 conflicting or redundant options"},
		{"FROM STDIN (DELIMITER 'ab')", "0A000 COPY delimiter must be a single one-byte character"},
		{"FROM STDIN (DELIMITER E'\n')", "22023 COPY delimiter cannot be newline or carriage return"},
		{"FROM STDIN (DELIMITER 'a')", `22023 COPY delimiter cannot be "a"`},
		{"FROM STDIN (NULL E'a\n')", "22023 COPY null representation cannot use newline or carriage return"},
		{"FROM STDIN (FORMAT binary, HEADER)", "0A000 cannot specify HEADER in BINARY mode"},
		{"FROM STDIN (FORMAT binary, DELIMITER ',')", "42601 cannot specify DELIMITER in BINARY mode"},
		{"FROM STDIN (FORMAT binary, NULL ',')", "42601 cannot specify NULL in BINARY mode"},
		{"FROM STDIN (QUOTE '\"')", "0A000 COPY quote available only in CSV mode"},
		{"FROM STDIN (FORMAT csv, QUOTE ',')", "22023 COPY delimiter and quote must be different"},
		{"FROM STDIN (ESCAPE '\"')", "0A000 COPY escape available only in CSV mode"},
		{"FROM STDIN (FORMAT csv, ESCAPE 'ab')", "0A000 COPY escape must be a single one-byte character"},
		{"FROM STDIN (FORMAT csv, FORCE_QUOTE (a))", "0A000 COPY force quote only available using COPY TO"},
		{"TO STDOUT (FORCE_QUOTE (a))", "0A000 COPY force quote available only in CSV mode"},
		{"TO STDOUT (FORMAT csv, FORCE_NOT_NULL (a))", "0A000 COPY force not null only available using COPY FROM"},
		{"TO STDOUT (FORMAT csv, FORCE_NULL (a))", "0A000 COPY force null only available using COPY FROM"},
		{"(a) TO STDOUT (FORMAT csv, FORCE_QUOTE (b))", `42P10 FORCE_QUOTE column "b" not referenced by COPY`},
		{"FROM STDIN (FORMAT csv, FORCE_NULL (zz))", `42703 column "zz" of relation "t" does not exist`},
		{"FROM STDIN (FORMAT csv, FORCE_NULL *)", `22023 argument to option "force_null" must be a list of column names`},
		{"FROM STDIN (FORMAT csv, NULL ',')", "0A000 COPY delimiter must not appear in the NULL specification"},
		{"FROM STDIN (FORMAT csv, NULL '\"')", "0A000 CSV quote character must not appear in the NULL specification"},
		{"FROM STDIN (HEADER 3)", `42601 header requires a Boolean value or "match"`},
		{"TO STDOUT (HEADER match)", `0A000 cannot use "match" with HEADER in COPY TO`},
		{"FROM STDIN (FREEZE 7)", "42601 freeze requires a Boolean value"},
		{"FROM STDIN (ENCODING 'blah')", `22023 argument to option "encoding" must be a valid encoding name`},
		{"FROM STDIN (bogus)", `42601 option "bogus" not recognized`},
		{"FROM STDIN (DELIMITER)", "42601 delimiter requires a parameter"},
	} {
		_, err := c.Exec(context.Background(), "COPY t "+tt.stmt).ReadAll()
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code+" "+e.Message != tt.want {
			t.Errorf("%s: %v, want %s", tt.stmt, err, tt.want)
		}
	}
}

// copyOutText returns what COPY … TO STDOUT sends.
func copyOutText(t testing.TB, c *pgconn.PgConn, stmt string) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := c.CopyTo(context.Background(), &b, stmt); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	return b.String()
}

func TestCopyInRows(t *testing.T) {
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	c := conn.PgConn()
	execAll(t, c, copyTable)
	for _, tt := range []struct{ stmt, data, query, want string }{
		{"COPY t FROM STDIN", "1\ta\t\\N\n2\tb\\n\t5\n", "SELECT * FROM t WHERE a < 3 ORDER BY a", "1,a,,2\n2,\"b\n\",5,3\n"},
		{"COPY t (c, b, a) FROM STDIN (FORMAT csv)", "9,\"x,y\",3\n", "SELECT * FROM t WHERE a = 3", "3,\"x,y\",9,4\n"},
		{"COPY t FROM STDIN WHERE a % 2 = 0 AND b <> 'no'", "10\tx\t1\n11\tx\t1\n12\tno\t1\n", "SELECT a FROM t WHERE a BETWEEN 10 AND 19", "10\n"},
		{"COPY t FROM STDIN CSV HEADER", "x,y,z\n20,b,1\n", "SELECT b FROM t WHERE a = 20", "b\n"},
		{"COPY t FROM STDIN (FORMAT csv, FORCE_NOT_NULL (b))", "21,,1\n", "SELECT b = '' FROM t WHERE a = 21", "t\n"},
		{"COPY t FROM STDIN (FORMAT csv, FORCE_NULL (c), NULL 'nil')", "22,nil!,\"nil\"\n", "SELECT c IS NULL FROM t WHERE a = 22", "t\n"},
		{"COPY d (b) FROM STDIN", "a\nb\n", "SELECT * FROM d ORDER BY n", "7,1,2024-05-06,a\n7,2,2024-05-06,b\n"},
		{"COPY d (a, n, at) FROM STDIN (FORMAT csv)", "1,0,2000-02-29\n", "SELECT * FROM d WHERE n = 0", "1,0,2000-02-29,q\n"},
		{"COPY child FROM STDIN", "100\n100\n\\N\n", "SELECT count(*) FROM child", "3\n"},
	} {
		if _, err := c.CopyFrom(context.Background(), strings.NewReader(tt.data), tt.stmt); err != nil {
			t.Errorf("%s: %v", tt.stmt, copyError(err))
			continue
		}
		if got := copyOutText(t, c, "COPY ("+tt.query+") TO STDOUT (FORMAT csv)"); got != tt.want {
			t.Errorf("%s of %q: %q, want %q", tt.stmt, tt.data, got, tt.want)
		}
	}
}

// The expectations are what PostgreSQL 15 sends.
func TestCopyOut(t *testing.T) {
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	c := conn.PgConn()
	execAll(t, c, copyTable)
	for _, tt := range []struct{ stmt, want string }{
		{"t TO STDOUT", "100\tx\t1\n"},
		{"t (c, a) TO STDOUT CSV HEADER", "c,a\n1,100\n"},
		{"(SELECT 1 AS a, 'x' AS b, null, '', E'a\tb\\\\c') TO STDOUT (HEADER)", "a\tb\t?column?\t?column?\t?column?\n1\tx\t\\N\t\ta\\tb\\\\c\n"},
		{"(SELECT 'x', -1, '2024-01-01'::date) TO STDOUT (DELIMITER '-')", "x-\\-1-2024\\-01\\-01\n"},
		{"(SELECT 'a\"b', 'x,y', null, '', E'a\nb') TO STDOUT CSV", "\"a\"\"b\",\"x,y\",,\"\",\"a\nb\"\n"},
		{"(SELECT 'a', null, '\"') TO STDOUT (FORMAT csv, FORCE_QUOTE *, ESCAPE '/')", "\"a\",,\"/\"\"\n"},
		{"(SELECT 1 AS a, 2 AS b) TO STDOUT (FORMAT csv, FORCE_QUOTE (b))", "1,\"2\"\n"},
		{"(SELECT '\\.') TO STDOUT CSV", "\"\\.\"\n"},
		{"(SELECT 7, 7) TO STDOUT (FORMAT csv, NULL '7')", "\"7\",\"7\"\n"},
		{"(INSERT INTO d VALUES (1, 1) RETURNING a, b) TO STDOUT", "1\tq\n"},
		{"(SELECT 1::int4, null, 'ab'::text) TO STDOUT BINARY", copyBinaryHeader + "\x00\x03\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x02ab\xff\xff"},
	} {
		if strings.HasSuffix(tt.stmt, "BINARY") {
			tt.stmt = strings.TrimSuffix(tt.stmt, "BINARY") + "(FORMAT binary)"
		}
		if got := copyOutText(t, c, "COPY "+tt.stmt); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.stmt, got, tt.want)
		}
	}
}

// failingReader ends with an error, which the driver sends as CopyFail.
type failingReader struct{ r io.Reader }

func (f failingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err == io.EOF {
		err = errors.New("no more")
	}
	return n, err
}

func TestCopyFail(t *testing.T) {
	ctx := context.Background()
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	c := conn.PgConn()
	execAll(t, c, copyTable)
	execAll(t, c, "BEGIN")
	_, err := c.CopyFrom(ctx, failingReader{strings.NewReader("1\ta\t2\n")}, "COPY t FROM STDIN")
	if got := copyError(err); !strings.HasPrefix(got, "57014 | COPY from stdin failed: ") {
		t.Errorf("after CopyFail: %s", got)
	}
	if c.TxStatus() != 'E' {
		t.Errorf("after CopyFail: transaction status %c", c.TxStatus())
	}
	execAll(t, c, "ROLLBACK")
	if got := copyOutText(t, c, "COPY t (a) TO STDOUT"); got != "100\n" {
		t.Errorf("after CopyFail the table has %q", got)
	}
}

func TestCopyCancel(t *testing.T) {
	ctx := context.Background()
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	c := conn.PgConn()
	execAll(t, c, copyTable)
	fe := c.Frontend()
	fe.Send(&pgproto3.Query{String: "COPY t FROM STDIN"})
	if err := fe.Flush(); err != nil {
		t.Fatal(err)
	}
	receive := func() pgproto3.BackendMessage {
		m, err := fe.Receive()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if _, ok := receive().(*pgproto3.CopyInResponse); !ok {
		t.Fatal("no CopyInResponse")
	}
	fe.Send(&pgproto3.CopyData{Data: []byte("1\ta\t2\n")})
	if err := fe.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := c.CancelRequest(ctx); err != nil {
		t.Fatal(err)
	}
	e, ok := receive().(*pgproto3.ErrorResponse)
	if !ok || e.Code != "57014" || e.Message != "canceling statement due to user request" || !strings.HasPrefix(e.Where, "COPY t, line ") {
		t.Errorf("after a cancel: %+v", e)
	}
	if _, ok := receive().(*pgproto3.ReadyForQuery); !ok {
		t.Error("no ReadyForQuery after the error")
	}
	if got := copyOutText(t, c, "COPY t (a) TO STDOUT"); got != "100\n" {
		t.Errorf("after a cancel the table has %q", got)
	}
}

// Behind an end-of-copy marker nothing is looked at before the data end: a Sync that
// comes first is not answered, also if the last row is bad.
func TestCopyMarkerThenSync(t *testing.T) {
	for _, data := range []string{"1x\\.\n", "1\n1x\\.\nx", "1x\\.\n\xff"} {
		conn, _ := serveCopy(t, storage.Options{Store: "mem"})
		c := conn.PgConn()
		execAll(t, c, "CREATE TABLE marked (a int)")
		fe := c.Frontend()
		for _, m := range []pgproto3.FrontendMessage{&pgproto3.Parse{Query: "COPY marked FROM STDIN"}, &pgproto3.Bind{}, &pgproto3.Execute{},
			&pgproto3.CopyData{Data: []byte(data)}, &pgproto3.Sync{}, &pgproto3.CopyData{Data: []byte("2\n")}, &pgproto3.CopyDone{}, &pgproto3.Sync{},
			&pgproto3.Query{String: "TABLE marked"}} {
			fe.Send(m)
		}
		if err := fe.Flush(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for ready := 0; ready < 2; {
			m, err := fe.Receive()
			if err != nil {
				t.Fatal(err)
			}
			what := strings.TrimPrefix(fmt.Sprintf("%T", m), "*pgproto3.")
			switch m := m.(type) {
			case *pgproto3.ReadyForQuery:
				ready++
			case *pgproto3.ErrorResponse:
				what = m.Code
			case *pgproto3.CommandComplete:
				what = string(m.CommandTag)
			}
			got = append(got, what)
		}
		const want = "ParseComplete BindComplete CopyInResponse 22P02 ReadyForQuery RowDescription SELECT 0 ReadyForQuery"
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: %s", data, got)
		}
	}
}

// A client that sends rows slowly hears of a bad one before it sends the rest.
func TestCopySlowClient(t *testing.T) {
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	c := conn.PgConn()
	execAll(t, c, "CREATE TABLE slow (a int NOT NULL)")
	fe := c.Frontend()
	fe.Send(&pgproto3.Query{String: "COPY slow FROM STDIN"})
	fe.Send(&pgproto3.CopyData{Data: []byte("1\n2\n\\N\n")})
	if err := fe.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := c.Conn().SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := fe.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.CopyInResponse:
			continue
		case *pgproto3.ErrorResponse:
			if m.Code != "23502" || m.Where != "COPY slow, line 3: \"\\N\"" {
				t.Errorf("%+v", m)
			}
			continue
		case *pgproto3.ReadyForQuery:
		default:
			t.Errorf("%+v", m)
		}
		break
	}
	if got := copyOutText(t, c, "COPY slow TO STDOUT"); got != "" {
		t.Errorf("the table has %q", got)
	}
}

// Drivers copy in their own ways: pgx prepares, describes and sends the binary
// format; lib/pq runs a simple query and sends text row by row.
func TestCopyDrivers(t *testing.T) {
	ctx := context.Background()
	conn, url := serveCopy(t, storage.Options{Store: "mem"})
	execAll(t, conn.PgConn(), `CREATE TABLE x (i int2, j int8 PRIMARY KEY, f float8, b bool, s text, v varchar(10), n numeric(10, 2), m numeric,
		d date, ts timestamp, tz timestamptz, u uuid, y bytea, js jsonb, arr int[], iv interval)`)
	at := time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)
	row := func(i int) []any {
		return []any{int16(i), int64(i), float64(i) / 4, i%2 == 0, "text\t" + strings.Repeat("é", i%5), "v", fmt.Sprintf("%d.25", i), "0.001",
			at.Truncate(24 * time.Hour), at, at, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", []byte{0, byte(i)}, `{"a": 1}`, []int32{1, int32(i)}, "1 day 02:00:00"}
	}
	cols := strings.Split("i j f b s v n m d ts tz u y js arr iv", " ")
	const n = 5000
	var rows [][]any
	for i := range n {
		r := row(i)
		if i%7 == 0 {
			r = make([]any, len(cols))
			r[1] = int64(i)
		}
		rows = append(rows, r)
	}
	if got, err := conn.CopyFrom(ctx, pgx.Identifier{"x"}, cols, pgx.CopyFromRows(rows)); err != nil || got != n {
		t.Fatalf("pgx: %d, %v", got, err)
	}
	const check = "COPY (SELECT * FROM x WHERE j IN (1, 6, 7, 4999) ORDER BY j) TO STDOUT"
	byPgx := copyOutText(t, conn.PgConn(), check)
	all := copyOutText(t, conn.PgConn(), "COPY x TO STDOUT")
	execAll(t, conn.PgConn(), "TRUNCATE x")

	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	st, err := tx.Prepare("COPY x (" + strings.Join(cols, ", ") + ") FROM STDIN")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		r = append([]any(nil), r...)
		if a, ok := r[14].([]int32); ok {
			r[14] = pq.Array(a)
		}
		if _, err := st.Exec(r...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Exec(); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := copyOutText(t, conn.PgConn(), check); got != byPgx || strings.Count(got, "\n") != 4 {
		t.Errorf("lib/pq stored\n%swhat pgx stored is\n%s", got, byPgx)
	}

	for _, format := range []string{"text", "csv", "binary"} {
		data := copyOutText(t, conn.PgConn(), "COPY x TO STDOUT (FORMAT "+format+")")
		execAll(t, conn.PgConn(), "TRUNCATE x")
		if _, err := conn.PgConn().CopyFrom(ctx, strings.NewReader(data), "COPY x FROM STDIN (FORMAT "+format+")"); err != nil {
			t.Fatalf("%s: %v", format, copyError(err))
		}
		if got := copyOutText(t, conn.PgConn(), "COPY x TO STDOUT"); got != all {
			t.Errorf("the table is another one after a round trip by %s", format)
		}
	}
}

// benchRows is text COPY data: int, int, text, float, timestamp.
func benchRows(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%d\t%d\tsome text value %d\t%v\t2024-%02d-%02d %02d:%02d:%02d\n", i+1, r.IntN(n), i,
			float64(r.IntN(10000000))/10000, r.IntN(12)+1, r.IntN(28)+1, r.IntN(24), r.IntN(60), r.IntN(60))
	}
	return b.Bytes()
}

const benchTable = "create table big (id int primary key, k int, s text, f float8, ts timestamp); create index on big (k)"

func BenchmarkCopyIn(b *testing.B) {
	const rows = 1_000_000
	data := benchRows(rows)
	conn, _ := serveCopy(b, storage.Options{})
	c := conn.PgConn()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		b.StopTimer()
		execAll(b, c, "drop table if exists big")
		execAll(b, c, benchTable)
		b.StartTimer()
		tag, err := c.CopyFrom(context.Background(), bytes.NewReader(data), "COPY big FROM STDIN")
		if err != nil || tag.String() != "COPY 1000000" {
			b.Fatal(tag, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

func BenchmarkCopyOut(b *testing.B) {
	const rows = 200_000
	data := benchRows(rows)
	conn, _ := serveCopy(b, storage.Options{})
	c := conn.PgConn()
	execAll(b, c, benchTable)
	if _, err := c.CopyFrom(context.Background(), bytes.NewReader(data), "COPY big FROM STDIN"); err != nil {
		b.Fatal(err)
	}
	for _, format := range []string{"text", "csv", "binary"} {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.CopyTo(context.Background(), io.Discard, "COPY big TO STDOUT (FORMAT "+format+")"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

// TestCopyFreeze copies with FREEZE into tables that the present subtransaction has
// and has not made or emptied.
func TestCopyFreeze(t *testing.T) {
	ctx := context.Background()
	conn, _ := serveCopy(t, storage.Options{Store: "mem"})
	const other = "55000: cannot perform COPY FREEZE because the table was not created or truncated in the current subtransaction"
	for _, tt := range []struct{ before, want string }{
		{"begin; create table f(i int)", ""},
		{"begin; create table f(i int); savepoint s", other},
		{"begin; savepoint s; create table f(i int)", ""},
		{"begin; savepoint s; create table f(i int); release s", ""},
		{"begin; savepoint s; create table f(i int); savepoint u; release s", ""},
		{"create table f(i int)", other},
		{"create table f(i int); begin; truncate f", ""},
		{"create table f(i int); begin; truncate f; savepoint s", other},
		{"create table f(i int); begin; savepoint s; truncate f; release s", ""},
		{"create table f(i int); begin; savepoint s; truncate f; rollback to s", other},
		{"begin; create table f(i int); declare c cursor for select 1", "25000: cannot perform COPY FREEZE because of prior transaction activity"},
	} {
		for _, q := range append(strings.Split(tt.before, ";"), "") {
			if _, err := conn.Exec(ctx, q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
		_, err := conn.PgConn().CopyFrom(ctx, strings.NewReader("1\n"), "copy f from stdin with (freeze)")
		got := ""
		if e := new(pgconn.PgError); errors.As(err, &e) {
			got = e.Code + ": " + e.Message
		} else if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.before, got, tt.want)
		}
		if _, err := conn.Exec(ctx, "rollback"); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, "drop table if exists f"); err != nil {
			t.Fatal(err)
		}
	}
}
