package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	bolt "go.etcd.io/bbolt"

	"kvsqld/storage"
	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
)

// alive fails the test unless the server still answers a new client.
func alive(t *testing.T, srv *server) {
	t.Helper()
	c, ctx := pgxConn(t, srv)
	defer c.Close(ctx)
	var one int
	if err := c.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil || one != 1 {
		t.Errorf("the server does not go on: %d, %v", one, err)
	}
}

// rawConn is a connection after its startup, for messages that no driver sends.
func rawConn(t *testing.T, srv *server) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", srv.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(statementTimeout))
	body := append(binary.BigEndian.AppendUint32(nil, 3<<16), "user\x00postgres\x00database\x00postgres\x00\x00"...)
	nc.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4)), body...))
	readUntil(t, nc, 'Z')
	return nc
}

// readUntil reads messages to the first of a type and returns the SQLSTATEs of
// the errors on the way; the end of the connection ends it too.
func readUntil(t *testing.T, nc net.Conn, typ byte) []string {
	t.Helper()
	var codes []string
	for {
		var head [5]byte
		if _, err := io.ReadFull(nc, head[:]); err != nil {
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() {
				t.Fatal("no answer")
			}
			return append(codes, "closed")
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(nc, body); err != nil {
			return append(codes, "closed")
		}
		if head[0] == 'E' {
			for f := range strings.SplitSeq(string(body), "\x00") {
				if strings.HasPrefix(f, "C") {
					codes = append(codes, f[1:])
				}
			}
		}
		if head[0] == typ {
			return codes
		}
	}
}

func message(typ byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{typ}, uint32(len(body)+4)), body...)
}

func TestMalformedMessages(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	for _, tt := range []struct {
		name, bytes, code string
	}{
		{"unknown message type", string(message('~', "x")), "08P01"},
		{"text without its end", string(message('Q', "SELECT 1")), "08P01"},
		{"invalid UTF-8", string(message('Q', "SELECT '\xff\xfe'\x00")), "22021"},
		{"length below four", "Q\x00\x00\x00\x01", "08P01"},
		{"length beyond the limit", "Q\x7f\xff\xff\xff", "08P01"},
		{"Bind that is cut short", string(message('B', "\x00\x00\x00\x05")) + string(message('S', "")), "08P01"},
		{"Execute of no portal", string(message('E', "none\x00\x00\x00\x00\x00")) + string(message('S', "")), "34000"},
		{"Describe of nothing known", string(message('D', "Xa\x00")) + string(message('S', "")), "08P01"},
		{"Bind of no statement", string(message('B', "\x00none\x00\x00\x00\x00\x00\x00\x00")) + string(message('S', "")), "26000"},
		{"COPY data outside of COPY, ignored", string(message('d', "x")) + string(message('Q', "SELECT 1\x00")), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nc := rawConn(t, srv)
			if _, err := io.WriteString(nc, tt.bytes); err != nil {
				t.Fatal(err)
			}
			codes := readUntil(t, nc, 'Z')
			if tt.code == "" && len(codes) > 0 || tt.code != "" && (len(codes) == 0 || codes[0] != tt.code) {
				t.Errorf("got %v, want %q", codes, tt.code)
			}
			alive(t, srv)
		})
	}
}

// TestTruncatedAndRandomBytes cuts a good conversation at every byte, and sends
// noise.
func TestTruncatedAndRandomBytes(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	good := string(message('P', "s\x00SELECT $1::int\x00\x00\x00")) +
		string(message('B', "\x00s\x00\x00\x00\x00\x01\x00\x00\x00\x01\x37\x00\x00")) +
		string(message('E', "\x00\x00\x00\x00\x00")) + string(message('S', ""))
	for n := range len(good) {
		nc := rawConn(t, srv)
		io.WriteString(nc, good[:n])
		nc.Close()
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		noise := make([]byte, 1+rng.IntN(200))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		nc, err := net.Dial("tcp", srv.addr)
		if err != nil {
			t.Fatal(err)
		}
		nc.Write(noise)
		nc.Close()
		nc = rawConn(t, srv)
		nc.Write(append([]byte{"QPBDESCHXdcf"[rng.IntN(12)]}, noise...))
		nc.Close()
	}
	alive(t, srv)
}

func TestWrongParameters(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	if _, err := c.Prepare(ctx, "s", "SELECT $1::int + $2::int"); err != nil {
		t.Fatal(err)
	}
	pc := c.PgConn()
	b := func(s string) []byte { return []byte(s) }
	for _, tt := range []struct {
		name             string
		values           [][]byte
		formats, results []int16
		code             string
	}{
		{"too few", [][]byte{b("1")}, nil, nil, "08P01"},
		{"too many", [][]byte{b("1"), b("2"), b("3")}, nil, nil, "08P01"},
		{"bad text", [][]byte{b("1"), b("x")}, nil, nil, "22P02"},
		{"binary of the wrong length", [][]byte{b("12345"), b("1234")}, []int16{1, 1}, nil, "22P03"},
		{"unknown format", [][]byte{b("1"), b("2")}, []int16{7, 7}, nil, "22023"},
		{"wrong number of formats", [][]byte{b("1"), b("2")}, []int16{0, 0, 0}, nil, "08P01"},
		{"wrong number of result formats", [][]byte{b("1"), b("2")}, nil, []int16{0, 0, 0}, "08P01"},
		{"invalid UTF-8", [][]byte{b("\xff"), b("2")}, nil, nil, "22021"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := pc.ExecPrepared(ctx, "s", tt.values, tt.formats, tt.results).Read()
			if sqlState(r.Err) != tt.code {
				t.Errorf("got %v, want %s", r.Err, tt.code)
			}
		})
	}
	r := pc.ExecPrepared(ctx, "s", [][]byte{b("1"), b("2")}, nil, nil).Read()
	if r.Err != nil || string(r.Rows[0][0]) != "3" {
		t.Errorf("after the bad ones: %v, %v", r.Rows, r.Err)
	}
	if _, err := c.Exec(ctx, "SELECT $1::text", "a\x00b"); sqlState(err) != "22021" {
		t.Errorf("a NUL in a text: %v", err)
	}
}

func TestDeepAndLongStatements(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	c, ctx := pgxConn(t, srv)
	exec := func(sql string) error {
		_, err := c.PgConn().Exec(ctx, sql).ReadAll()
		return err
	}
	deep := 100_000
	for name, sql := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", deep) + "1" + strings.Repeat(")", deep),
		"NOT":         "SELECT " + strings.Repeat("NOT ", deep) + "true",
		"minus":       "SELECT " + strings.Repeat("- ", deep) + "1",
		"subqueries":  strings.Repeat("SELECT (", deep) + "SELECT 1" + strings.Repeat(")", deep),
		"CASE":        "SELECT " + strings.Repeat("CASE WHEN true THEN ", deep) + "1" + strings.Repeat(" END", deep),
		"functions":   "SELECT " + strings.Repeat("abs(", deep) + "1" + strings.Repeat(")", deep),
		"joins":       "SELECT 1 FROM " + strings.Repeat("(", deep) + "t" + strings.Repeat(")", deep),
	} {
		if err := exec(sql); sqlState(err) != "54001" {
			t.Errorf("%s, %d deep: %v", name, deep, clip(err))
		}
	}
	// Long chains of one operator are no nesting to a client; they either work
	// or are refused by the same limit.
	for name, sql := range map[string]string{
		"plus":   "SELECT 1" + strings.Repeat(" + 1", deep),
		"OR":     "SELECT true" + strings.Repeat(" OR true", deep),
		"UNION":  "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", deep/10),
		"concat": "SELECT 'a'" + strings.Repeat(" || 'a'", deep),
	} {
		if err := exec(sql); err != nil && sqlState(err) != "54001" {
			t.Errorf("a chain of %s: %v", name, clip(err))
		}
	}
	const megabytes = 20
	if err := exec("CREATE TABLE big (id int PRIMARY KEY, v text)"); err != nil {
		t.Fatal(err)
	}
	var sql strings.Builder
	sql.WriteString("INSERT INTO big VALUES (0, 'x')")
	filler := strings.Repeat("y", 1000)
	n := 1
	for ; sql.Len() < megabytes<<20; n++ {
		fmt.Fprintf(&sql, ", (%d, '%s')", n, filler)
	}
	if err := exec(sql.String()); err != nil {
		t.Errorf("a statement of %d MB: %v", megabytes, clip(err))
	}
	var got int
	if err := c.QueryRow(ctx, "SELECT count(*) FROM big").Scan(&got); err != nil || got != n {
		t.Errorf("%d rows of %d, %v", got, n, err)
	}
	var length int
	if err := c.QueryRow(ctx, "SELECT length($1)", strings.Repeat("z", megabytes<<20)).Scan(&length); err != nil || length != megabytes<<20 {
		t.Errorf("a parameter of %d MB: %d, %v", megabytes, length, clip(err))
	}
	alive(t, srv)
}

// clip shortens the message of an error that may quote its statement.
func clip(err error) string {
	s := fmt.Sprint(err)
	return s[:min(len(s), 200)]
}

func TestDataDirectory(t *testing.T) {
	dir := t.TempDir()
	srv, err := openServer(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openServer(storage.Options{Dir: dir}); !errors.Is(err, kv.ErrInUse) {
		t.Errorf("a directory in use: %v", err)
	}
	srv.checkAndStop(t)

	path := filepath.Join(dir, boltkv.FileName)
	setFormat(t, path, "999")
	if _, err := openServer(storage.Options{Dir: dir}); !errors.Is(err, kv.ErrFormat) || !strings.Contains(fmt.Sprint(err), "999") {
		t.Errorf("a newer format: %v", err)
	}
	for name, content := range map[string]string{
		"a text":            "this is not a database",
		"a page of text":    strings.Repeat("this is not a database\n", 10_000),
		"zeros":             string(make([]byte, 1<<20)),
		"the first 10000 B": string(readFile(t, path)[:10_000]),
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, boltkv.FileName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openServer(storage.Options{Dir: dir}); !errors.Is(err, kv.ErrFormat) && !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%s as data file: %v", name, err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openServer(storage.Options{Dir: file}); err == nil {
		t.Error("a file was taken for a data directory")
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// setFormat writes another format version into a data file.
func setFormat(t *testing.T, path, version string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("\x00kvsqld")).Put([]byte("format"), []byte(version))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDiskFull bounds the data file: what does not fit fails with 53100, and
// the server goes on with what it has.
func TestDiskFull(t *testing.T) {
	srv := startServer(t, storage.Options{MaxFileBytes: 16 << 20, NoSync: true})
	c, ctx := pgxConn(t, srv)
	mustExec(t, ctx, c, "CREATE TABLE t (id int PRIMARY KEY, v text)")
	committed, full := 0, false
	for i := 0; i < 1000 && !full; i++ {
		_, err := c.Exec(ctx, "INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series($1::int, $1::int + 99) AS i", i*100)
		switch {
		case err == nil:
			committed += 100
		case sqlState(err) == "53100":
			full = true
		default:
			t.Fatalf("insert %d: %v", i, err)
		}
	}
	if !full {
		t.Fatal("the file never got full")
	}
	var n int
	if err := c.QueryRow(ctx, "SELECT count(*) FROM t").Scan(&n); err != nil || n != committed {
		t.Errorf("%d rows of %d, %v", n, committed, err)
	}
	alive(t, srv)
}

func TestConnectionRefusals(t *testing.T) {
	srv := startServer(t, storage.Options{Store: "mem"})
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	for url, code := range map[string]string{
		"postgres://postgres@%s/no_such_database?sslmode=disable":                 "3D000",
		"postgres://no_such_role@%s/postgres?sslmode=disable":                     "28000",
		"postgres://postgres@%s/postgres?sslmode=disable&no_such_setting=1":       "42704",
		"postgres://postgres@%s/postgres?sslmode=disable&timezone=Nowhere/Land":   "22023",
		"postgres://postgres@%s/postgres?sslmode=disable&client_encoding=KLINGON": "22023",
	} {
		c, err := pgconn.Connect(ctx, fmt.Sprintf(url, srv.addr))
		if err == nil {
			c.Close(ctx)
		}
		if sqlState(err) != code {
			t.Errorf("%s: got %v, want %s", url, err, code)
		}
	}
	if _, err := pgx.Connect(ctx, "postgres://postgres@"+srv.addr+"/postgres?sslmode=require"); err == nil {
		t.Error("TLS was agreed on without a certificate")
	}
	alive(t, srv)
}

// TestLittleAddressSpace starts a server whose process may not map as much as is
// kept for a growing file.
func TestLittleAddressSpace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ulimit -v is Linux's")
	}
	const limit = "6000000" // KiB
	cmd := exec.Command("sh", "-c", "ulimit -v "+limit+` && exec "$0" "$@"`, os.Args[0], "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--log-format", "json")
	c := startChildAs(t, cmd)
	ctx := t.Context()
	conn, err := c.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE TABLE a (v text); INSERT INTO a SELECT repeat('x', 1000) FROM generate_series(1, 100000)"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM a").Scan(&n); err != nil || n != 100000 {
		t.Fatal(n, err)
	}
}
