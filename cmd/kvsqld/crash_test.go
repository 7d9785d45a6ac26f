package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

// crashChild is the variable that makes the test binary be kvsqld itself.
const crashChild = "KVSQLD_CRASH_CHILD"

func isCrashChild() bool { return os.Getenv(crashChild) != "" }

// child is a kvsqld in a process of its own.
type child struct {
	cmd  *exec.Cmd
	addr string
}

// startChild starts "kvsqld serve" over a data directory and waits until it says
// that it is ready.
func startChild(t *testing.T, dir string) *child {
	t.Helper()
	return startChildAs(t, exec.Command(os.Args[0], "serve", "--data", dir, "--listen", "127.0.0.1:0", "--log-format", "json"))
}

// startChildAs starts "kvsqld serve" by a command.
func startChildAs(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	cmd.Env = append(os.Environ(), crashChild+"=1")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd}
	t.Cleanup(c.kill)
	lines := bufio.NewScanner(log)
	for c.addr == "" {
		if !lines.Scan() {
			t.Fatalf("the server ended before it was ready: %v", cmd.Wait())
		}
		var entry struct{ Msg, Listen string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "ready" {
			c.addr = entry.Listen
		} else {
			t.Logf("server: %s", lines.Text())
		}
	}
	go func() {
		for lines.Scan() {
		}
	}()
	return c
}

// kill ends the process at once, with no chance to write anything.
func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		c.cmd.Process.Kill()
		c.cmd.Wait()
	}
}

func (c *child) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, "postgres://postgres@"+c.addr+"/postgres?sslmode=disable")
}

const (
	crashWriters  = 4
	crashAccounts = 20
	crashBalance  = 1000
)

// acknowledged is what the server has said to be committed.
type acknowledged struct {
	mu   sync.Mutex
	ids  map[int64]bool
	next int64
}

func (a *acknowledged) begin() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	return a.next
}

// end returns the number of commits so far.
func (a *acknowledged) end(id int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids[id] = true
	return len(a.ids)
}

// TestCrash kills a server under writes, opens its files again and looks for
// everything that was acknowledged. KVSQLD_CRASH_CYCLES sets how often; 5 unless
// it is given.
func TestCrash(t *testing.T) {
	cycles := 5
	if v := os.Getenv("KVSQLD_CRASH_CYCLES"); v != "" {
		var err error
		if cycles, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(cycles)*time.Minute)
	defer cancel()
	dir := t.TempDir()
	c := startChild(t, dir)
	conn, err := c.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"CREATE TABLE log (id bigint PRIMARY KEY, writer int NOT NULL, note text UNIQUE)",
		"CREATE INDEX log_writer ON log (writer, id)",
		"CREATE TABLE entry (id bigserial PRIMARY KEY, log bigint NOT NULL REFERENCES log, account int NOT NULL)",
		"CREATE INDEX entry_log ON entry (log) INCLUDE (account)",
		"CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)",
		fmt.Sprintf("INSERT INTO account SELECT i, %d FROM generate_series(1, %d) AS i", crashBalance, crashAccounts),
	} {
		if _, err := conn.Exec(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	conn.Close(ctx)
	ack := &acknowledged{ids: map[int64]bool{}}
	for cycle := range cycles {
		if cycle > 0 {
			c = startChild(t, dir)
		}
		ack.mu.Lock()
		limit := len(ack.ids) + 20 + rand.IntN(200)
		ack.mu.Unlock()
		var wg sync.WaitGroup
		wg.Go(func() { definitionsUntilKilled(t, ctx, c, ack) })
		wg.Go(func() { indexesUntilKilled(t, ctx, c) })
		if cycle%2 == 1 {
			wg.Go(func() { vacuumUntilKilled(ctx, c) })
		}
		if cycle%3 == 1 {
			wg.Go(func() { layoutsUntilKilled(t, ctx, c) })
		}
		for w := range crashWriters {
			wg.Go(func() {
				if err := writeUntilKilled(ctx, c, w, ack, limit); err != nil {
					t.Errorf("writer %d: %v", w, err)
				}
			})
		}
		wg.Wait()
		c.kill()
		verifyAfterCrash(t, ctx, dir, ack)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d commits in %d cycles", len(ack.ids), cycles)
}

// writeUntilKilled commits rows, alone or with a transfer between accounts, and
// kills the server when so many were acknowledged.
func writeUntilKilled(ctx context.Context, c *child, w int, ack *acknowledged, limit int) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil // another writer was quicker with the kill
	}
	defer conn.Close(ctx)
	for ctx.Err() == nil {
		id := ack.begin()
		var err error
		if id%3 == 0 {
			err = transfer(ctx, conn, id, w)
		} else {
			_, err = conn.Exec(ctx, "INSERT INTO log VALUES ($1, $2, $3)", id, w, fmt.Sprint("note ", id))
		}
		if err != nil {
			if conn.IsClosed() {
				return nil
			}
			if sqlState(err) == "40001" || sqlState(err) == "40P01" {
				continue
			}
			return err
		}
		if ack.end(id) >= limit {
			c.cmd.Process.Kill()
		}
	}
	return ctx.Err()
}

func transfer(ctx context.Context, conn *pgx.Conn, id int64, w int) error {
	from := rand.IntN(crashAccounts) + 1
	to := from%crashAccounts + 1
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, q := range []struct {
			sql  string
			args []any
		}{
			{"UPDATE account SET balance = balance - 1 WHERE id = $1", []any{min(from, to)}},
			{"UPDATE account SET balance = balance + 1 WHERE id = $1", []any{max(from, to)}},
			{"INSERT INTO log VALUES ($1, $2, NULL)", []any{id, w}},
			{"INSERT INTO entry (log, account) VALUES ($1, $2), ($1, $3)", []any{id, from, to}},
		} {
			if _, err := tx.Exec(ctx, q.sql, q.args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// verifyAfterCrash opens the files that the killed server left.
func verifyAfterCrash(t *testing.T, ctx context.Context, dir string, ack *acknowledged) {
	t.Helper()
	srv, err := openServer(storage.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.checkAndStop(t)
	conn, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, "SELECT id FROM log ORDER BY writer, id")
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Error(err)
		return
	}
	found := make(map[int64]bool, len(ids))
	for _, id := range ids {
		found[id] = true
		// A row without an acknowledgement was in flight: it counts from now on.
		ack.ids[id] = true
	}
	for id := range ack.ids {
		if !found[id] {
			t.Errorf("row %d was acknowledged and is gone", id)
		}
	}
	var sum, byKey int64
	if err := conn.QueryRow(ctx, "SELECT (SELECT sum(balance) FROM account), (SELECT count(*) FROM log WHERE id > 0)").Scan(&sum, &byKey); err != nil {
		t.Error(err)
		return
	}
	if sum != crashAccounts*crashBalance {
		t.Errorf("the balances add up to %d, want %d: a transfer was torn", sum, crashAccounts*crashBalance)
	}
	if int(byKey) != len(ids) {
		t.Errorf("%d rows by the primary key, %d by the index", byKey, len(ids))
	}
	verifyEntries(t, ctx, conn)
	verifyDefinitions(t, ctx, conn)
	verifyIndexes(t, ctx, conn)
}
