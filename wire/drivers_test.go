package wire

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

func TestPgx(t *testing.T) {
	b := &fakeBackend{running: make(chan int32, 1)}
	_, addr := startServer(t, b, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	c, err := pgx.Connect(ctx, "postgres://u@"+addr+"/d?sslmode=prefer")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if err := c.Ping(ctx); err != nil {
		t.Errorf("ping: %v", err)
	}
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec,
	} {
		for range 2 { // the second time from the cache
			var n int32
			var s string
			if err := c.QueryRow(ctx, "select $1::int", mode, int32(42)).Scan(&n); err != nil || n != 42 {
				t.Errorf("%v: got %d, %v", mode, n, err)
			}
			if err := c.QueryRow(ctx, "select $1::text", mode, "žluť").Scan(&s); err != nil || s != "žluť" {
				t.Errorf("%v: got %q, %v", mode, s, err)
			}
		}
	}
	var n int32
	if err := c.QueryRow(ctx, "select 1", pgx.QueryExecModeSimpleProtocol).Scan(&n); err != nil || n != 1 {
		t.Errorf("simple: got %d, %v", n, err)
	}

	rows, _ := c.Query(ctx, "rows 5000")
	got, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil || len(got) != 5000 || got[4999] != 5000 {
		t.Errorf("5000 rows: got %d, %v", len(got), err)
	}

	batch := &pgx.Batch{}
	for i := range 10 {
		batch.Queue("select $1::int", int32(i)).QueryRow(func(r pgx.Row) error { return r.Scan(&n) })
	}
	if err := c.SendBatch(ctx, batch).Close(); err != nil || n != 9 {
		t.Errorf("batch: last %d, %v", n, err)
	}

	var pe *pgconn.PgError
	_, err = c.Exec(ctx, "error")
	if !errors.As(err, &pe) || pe.Code != "23505" || pe.ConstraintName != "t_pkey" || pe.TableName != "t" || pe.Position != 7 {
		t.Errorf("error: got %#v", err)
	}

	tag, err := c.PgConn().CopyFrom(ctx, strings.NewReader(strings.Repeat("a line\n", 100_000)), "copy t from stdin")
	if err != nil || tag.RowsAffected() != 100_000 {
		t.Errorf("copy in: %s, %v", tag, err)
	}
	var out bytes.Buffer
	if tag, err := c.PgConn().CopyTo(ctx, &out, "copy t to stdout"); err != nil || tag.RowsAffected() != 2 || out.String() != "a\nb\n" {
		t.Errorf("copy out: %s %q, %v", tag, out.String(), err)
	}

	tx, err := c.Begin(ctx)
	if err != nil || c.PgConn().TxStatus() != 'T' {
		t.Fatalf("begin: %v, status %c", err, c.PgConn().TxStatus())
	}
	if err := tx.Rollback(ctx); err != nil || c.PgConn().TxStatus() != 'I' {
		t.Errorf("rollback: %v, status %c", err, c.PgConn().TxStatus())
	}

	for len(b.running) > 0 { // the COPY has reported itself
		<-b.running
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, "wait", pgx.QueryExecModeSimpleProtocol)
		done <- err
	}()
	<-b.running
	other, err := pgx.Connect(ctx, "postgres://u@"+addr+"/d?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(ctx)
	if err := c.PgConn().CancelRequest(ctx); err != nil {
		t.Errorf("cancel request: %v", err)
	}
	if err := <-done; !errors.As(err, &pe) || pe.Code != "57014" {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestLibPQ(t *testing.T) {
	b := &fakeBackend{running: make(chan int32, 1)}
	_, addr := startServer(t, b, Options{})
	host, port, _ := strings.Cut(addr, ":")
	db, err := sql.Open("postgres", "sslmode=disable user=u dbname=d host="+host+" port="+port)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		t.Fatalf("ping: %v", err)
	}
	var n int
	if err := db.QueryRowContext(ctx, "select $1::int", 42).Scan(&n); err != nil || n != 42 {
		t.Errorf("got %d, %v", n, err)
	}
	if err := db.QueryRowContext(ctx, "select 1").Scan(&n); err != nil || n != 1 {
		t.Errorf("got %d, %v", n, err)
	}
	stmt, err := db.PrepareContext(ctx, "select $1::text")
	if err != nil {
		t.Fatal(err)
	}
	var s string
	if err := stmt.QueryRowContext(ctx, "x").Scan(&s); err != nil || s != "x" {
		t.Errorf("got %q, %v", s, err)
	}
	if err := stmt.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	var pe *pq.Error
	if _, err := db.ExecContext(ctx, "error"); !errors.As(err, &pe) || pe.Code != "23505" || pe.Detail != "Key (c)=(1) already exists." {
		t.Errorf("error: got %v", err)
	}

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	cp, err := tx.PrepareContext(ctx, "copy t from stdin")
	if err != nil {
		t.Fatalf("copy: %v", err)
	}
	for i := range 3 {
		if _, err := cp.ExecContext(ctx, i); err != nil {
			t.Errorf("copy: %v", err)
		}
	}
	res, err := cp.ExecContext(ctx)
	if err != nil {
		t.Fatalf("copy: %v", err)
	}
	if k, err := res.RowsAffected(); err != nil || k != 3 {
		t.Errorf("copy: %d rows, %v", k, err)
	}
	if err := errors.Join(cp.Close(), tx.Rollback()); err != nil {
		t.Errorf("after copy: %v", err)
	}

	for len(b.running) > 0 {
		<-b.running
	}
	wait, stop := context.WithCancel(ctx)
	go func() {
		<-b.running
		stop()
	}()
	if _, err := db.ExecContext(wait, "wait"); !errors.As(err, &pe) || pe.Code != "57014" {
		t.Errorf("cancelled: got %v", err)
	}
	if err := db.PingContext(ctx); err != nil {
		t.Errorf("ping after cancel: %v", err)
	}
}
