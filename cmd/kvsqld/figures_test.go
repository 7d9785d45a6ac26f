package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// inFull makes the tests of this file run in their full size.
const inFull = "KVSQLD_FIGURES"

// processorTime is what a process has used so far; negative where the system does
// not tell.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	user, err1 := strconv.Atoi(f[11])
	system, err2 := strconv.Atoi(f[12])
	if err1 != nil || err2 != nil {
		t.Fatalf("%s", b)
	}
	return time.Duration(user+system) * time.Second / 100
}

// TestWaitersCostNothing has many sessions wait for one row and looks at the
// processor time of the server meanwhile.
func TestWaitersCostNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processor times are those of Linux")
	}
	waiters, wait := 40, 2*time.Second
	if os.Getenv(inFull) != "" {
		waiters, wait = 200, 10*time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c := startChildAs(t, exec.Command(os.Args[0], "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0",
		"--log-format", "json", "--max-connections", "300"))
	connect := func() *pgx.Conn {
		conn, err := c.connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
		return conn
	}
	holder := connect()
	for _, q := range []string{"CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 0)", "BEGIN", "UPDATE t SET v = 0"} {
		if _, err := holder.Exec(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, waiters)
	for range waiters {
		conn := connect()
		go func() {
			_, err := conn.Exec(ctx, "UPDATE t SET v = v + 1 WHERE id = 1")
			done <- err
		}()
	}
	for n := 0; n < waiters; time.Sleep(10 * time.Millisecond) {
		if err := holder.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	// What the server has still to tidy up after the connections came is not waiting:
	// the quietest of a few spells counts.
	least := time.Duration(math.MaxInt64)
	for n := 0; n < 10 && least > wait/20; n++ {
		before := processorTime(t, c.cmd.Process.Pid)
		time.Sleep(wait)
		least = min(least, processorTime(t, c.cmd.Process.Pid)-before)
	}
	t.Logf("%d waiters: %v of processor time in %v", waiters, least, wait)
	if least > wait/20 {
		t.Errorf("waiting takes %v of processor time in %v", least, wait)
	}
	if _, err := holder.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	for range waiters {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	var v int
	if err := holder.QueryRow(ctx, "SELECT v FROM t").Scan(&v); err != nil || v != waiters {
		t.Errorf("%d of %d were counted, %v", v, waiters, err)
	}
}

// TestRestartAfterKill kills a server with a large data file and a log full of
// changes, and looks how long the next one takes until it is ready.
func TestRestartAfterKill(t *testing.T) {
	batches, bound := 2, time.Duration(0) // the short form looks for the changes only
	if os.Getenv(inFull) != "" {
		batches, bound = 50, 2*time.Second // 1 GB
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	dir := t.TempDir()
	c := startChild(t, dir)
	conn, err := c.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(format string, a ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, fmt.Sprintf(format, a...)); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE TABLE t (id int PRIMARY KEY, v int, filler text)")
	for b := range batches {
		exec("INSERT INTO t SELECT i, 0, repeat(md5(i::text), 32) FROM generate_series(%d, %d) i", b*20_000, b*20_000+19_999)
	}
	exec("CREATE INDEX ON t (v)")
	updates := 0
	for began := time.Now(); time.Since(began) < 2*time.Second; updates++ {
		exec("UPDATE t SET v = v + 1 WHERE id = %d", updates*7919%(batches*20_000))
	}
	c.kill()
	size := int64(0)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if fi, err := e.Info(); err == nil {
			size += fi.Size()
		}
	}
	began := time.Now()
	c = startChild(t, dir)
	took := time.Since(began)
	t.Logf("%d MB, %d commits in the log: ready after %v", size>>20, updates, took.Round(time.Millisecond))
	if bound > 0 && took > bound {
		t.Errorf("the server is ready after %v", took)
	}
	if conn, err = c.connect(ctx); err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var n int
	if err := conn.QueryRow(ctx, "SELECT sum(v) FROM t WHERE v > 0").Scan(&n); err != nil || n != updates {
		t.Errorf("%d of %d updates are there, %v", n, updates, err)
	}
}
