package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

// TestKeyValueConcurrently lets many clients add, count and delete the same keys:
// every key is added by one of them, and no increment is lost.
func TestKeyValueConcurrently(t *testing.T) {
	const clients, keys, rounds = 8, 5, 20
	srv := startServer(t, storage.Options{NoSync: true})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	open := func() *pgx.Conn {
		c, err := pgx.Connect(ctx, srv.dsn())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close(context.Background()) })
		return c
	}
	first := open()
	if _, err := first.Exec(ctx, "CREATE TABLE counter (key text PRIMARY KEY, n int)"); err != nil {
		t.Fatal(err)
	}
	var added, deleted atomic.Int32
	each := func(f func(c *pgx.Conn, client int) error) {
		t.Helper()
		var wg sync.WaitGroup
		errs := make(chan error, clients)
		for i := range clients {
			c := open()
			wg.Add(1)
			go func() {
				defer wg.Done()
				errs <- f(c, i)
			}()
		}
		wg.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	each(func(c *pgx.Conn, _ int) error {
		for k := range keys {
			var ok bool
			if err := c.QueryRow(ctx, "SELECT kv_add('counter', $1, '0')", fmt.Sprint("k", k)).Scan(&ok); err != nil {
				return err
			}
			if ok {
				added.Add(1)
			}
		}
		return nil
	})
	if n := added.Load(); n != keys {
		t.Errorf("%d keys added, want %d", n, keys)
	}
	each(func(c *pgx.Conn, client int) error {
		for r := range rounds {
			key := fmt.Sprint("k", (client+r)%keys)
			// The row is locked before it is read, as in any read-modify-write.
			if err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "SELECT FROM counter WHERE key = $1 FOR UPDATE", key); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, "SELECT kv_replace('counter', $1, (kv_get('counter', $1)::int + 1)::text)", key)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
	var sum int
	if err := first.QueryRow(ctx, "SELECT sum(value::int) FROM kv_scan('counter', 'k')").Scan(&sum); err != nil || sum != clients*rounds {
		t.Errorf("sum = %d, %v; want %d", sum, err, clients*rounds)
	}
	each(func(c *pgx.Conn, client int) error {
		for k := range keys {
			key := fmt.Sprint("k", k)
			// Writers of one key wait for each other.
			if _, err := c.Exec(ctx, "SELECT kv_set('counter', $1, $2)", "shared", fmt.Sprint(client)); err != nil {
				return err
			}
			var ok bool
			if err := c.QueryRow(ctx, "SELECT kv_delete('counter', $1)", key).Scan(&ok); err != nil {
				return err
			}
			if ok {
				deleted.Add(1)
			}
		}
		return nil
	})
	if n := deleted.Load(); n != keys {
		t.Errorf("%d keys deleted, want %d", n, keys)
	}
}
