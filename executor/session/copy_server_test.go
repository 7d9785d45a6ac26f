package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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

var _ = strings.NewReader
