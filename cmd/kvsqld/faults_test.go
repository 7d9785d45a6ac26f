package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
	"kvsqld/storage/txn"
	"kvsqld/storage/vfs"
	"kvsqld/storage/vfs/vfstest"
)

// execOK runs statements and returns the tag of the last.
func execOK(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	tag, err := conn.Exec(context.Background(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag.String()
}

func connectTo(t *testing.T, srv *server) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// TestNoRoom: commits without room fail with 53100, reading goes on, and so
// does writing when there is room again. Small commits have room in the log,
// whose space is written beforehand.
func TestNoRoom(t *testing.T) {
	var on atomic.Bool
	srv := startServer(t, storage.Options{FS: vfstest.Faulty{FS: vfs.OS, Fail: func(op, name string) error {
		if op == "write" && on.Load() && !strings.HasPrefix(name, "kvsqld.log") {
			return syscall.ENOSPC
		}
		return nil
	}}})
	conn := connectTo(t, srv)
	execOK(t, conn, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	on.Store(true)
	execOK(t, conn, "INSERT INTO t VALUES (2)")
	for _, q := range []string{"CREATE TABLE u (id int)", "INSERT INTO t SELECT * FROM generate_series(10, 500000)", "VACUUM FULL"} {
		if _, err := conn.Exec(context.Background(), q); sqlState(err) != "53100" {
			t.Errorf("%s: %v", q, err)
		}
	}
	if tag := execOK(t, connectTo(t, srv), "SELECT * FROM t"); tag != "SELECT 2" {
		t.Errorf("with a full disk: %s", tag)
	}
	on.Store(false)
	execOK(t, conn, "INSERT INTO t VALUES (3); CREATE TABLE u (id int)")
	if tag := execOK(t, conn, "SELECT * FROM t"); tag != "SELECT 3" {
		t.Errorf("with room again: %s", tag)
	}
}

// TestFailedMedium: after a sync has failed nothing is written any more (58030),
// old and new connections go on reading, and a restart finds everything that was
// acknowledged.
func TestFailedMedium(t *testing.T) {
	var on atomic.Bool
	dir := t.TempDir()
	srv, err := openServer(storage.Options{Dir: dir, FS: vfstest.Faulty{FS: vfs.OS, Fail: func(op, _ string) error {
		if op == "datasync" && on.Load() {
			return syscall.EIO
		}
		return nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	conn := connectTo(t, srv)
	execOK(t, conn, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	on.Store(true)
	_, err = conn.Exec(context.Background(), "INSERT INTO t VALUES (2)")
	if s := sqlState(err); s != "58030" && s != "08007" {
		t.Errorf("the commit whose sync fails: %v", err)
	}
	on.Store(false) // it says that all is well again: that is not believed
	for _, q := range []string{"INSERT INTO t VALUES (3)", "CREATE TABLE u (id int)", "VACUUM FULL"} {
		_, err := conn.Exec(context.Background(), q)
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != "58030" || !strings.Contains(pe.Message, "until the server is restarted") {
			t.Errorf("%s: %v", q, err)
		}
	}
	for _, c := range []*pgx.Conn{conn, connectTo(t, srv)} {
		if tag := execOK(t, c, "SELECT * FROM t WHERE id = 1"); tag != "SELECT 1" {
			t.Errorf("reading: %s", tag)
		}
	}
	ctx := context.Background()
	srv.wire.Shutdown(ctx)
	<-srv.done
	_ = srv.Server.Close(ctx) // they tell that they cannot write
	_ = srv.store.Close()
	srv = startServer(t, storage.Options{Dir: dir})
	conn = connectTo(t, srv)
	if tag := execOK(t, conn, "SELECT * FROM t WHERE id = 1"); tag != "SELECT 1" {
		t.Errorf("after the restart: %s", tag)
	}
	execOK(t, conn, "INSERT INTO t VALUES (3)")
}

// TestCommitWaitsForSync: a client is told COMMIT, and others see it, only when
// the log is synced.
func TestCommitWaitsForSync(t *testing.T) {
	var on atomic.Bool
	entered, release := make(chan struct{}), make(chan struct{})
	srv := startServer(t, storage.Options{FS: vfstest.Faulty{FS: vfs.OS, Fail: func(op, _ string) error {
		if op == "datasync" && on.CompareAndSwap(true, false) {
			close(entered)
			<-release
		}
		return nil
	}}})
	conn := connectTo(t, srv)
	execOK(t, conn, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	on.Store(true)
	done := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "INSERT INTO t VALUES (2)")
		done <- err
	}()
	<-entered
	if tag := execOK(t, connectTo(t, srv), "SELECT * FROM t"); tag != "SELECT 1" {
		t.Errorf("before the sync others see %s", tag)
	}
	select {
	case err := <-done:
		t.Errorf("acknowledged before the sync: %v", err)
	default:
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if tag := execOK(t, connectTo(t, srv), "SELECT * FROM t"); tag != "SELECT 2" {
		t.Errorf("after the sync others see %s", tag)
	}
}

// blockedSync starts a server with a table t of two rows, (1, 0) and (2, 0), the
// next sync of whose log reports to entered and waits for release.
func blockedSync(t *testing.T) (srv *server, entered, release chan struct{}) {
	var on atomic.Bool
	entered, release = make(chan struct{}), make(chan struct{})
	srv = startServer(t, storage.Options{FS: vfstest.Faulty{FS: vfs.OS, Fail: func(op, _ string) error {
		if op == "datasync" && on.CompareAndSwap(true, false) {
			close(entered)
			<-release
		}
		return nil
	}}})
	execOK(t, connectTo(t, srv), "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0); INSERT INTO t VALUES (2, 0)")
	on.Store(true)
	return srv, entered, release
}

// wantN compares the column n of the table t.
func wantN(t *testing.T, conn *pgx.Conn, when, want string) {
	t.Helper()
	var got string
	if err := conn.QueryRow(context.Background(), "SELECT string_agg(n::text, ' ' ORDER BY id) FROM t").Scan(&got); err != nil || got != want {
		t.Errorf("%s: %s and %v, want %s", when, got, err, want)
	}
}

// TestAsynchronousCommit: with synchronous_commit = off a COMMIT is acknowledged
// and seen while the disk does not answer, for one transaction or a session.
func TestAsynchronousCommit(t *testing.T) {
	srv, entered, release := blockedSync(t)
	conn, other := connectTo(t, srv), connectTo(t, srv)
	execOK(t, conn, "BEGIN; SET LOCAL synchronous_commit = off; UPDATE t SET n = 1 WHERE id = 1; COMMIT")
	wantN(t, other, "after the first commit", "1 0")
	execOK(t, conn, "SET synchronous_commit = off; UPDATE t SET n = 2 WHERE id = 1")
	wantN(t, other, "after the second commit", "2 0")
	<-entered // nobody but the server itself asks for it
	execOK(t, conn, "UPDATE t SET n = 3 WHERE id = 1")
	wantN(t, other, "during the sync", "3 0")
	done := make(chan error, 1)
	go func() {
		_, err := other.Exec(context.Background(), "SET synchronous_commit = local; UPDATE t SET n = 4 WHERE id = 2")
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("a synchronous commit did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	wantN(t, conn, "in the end", "3 4")
}

// TestPipelinedCommit: an UPDATE goes on with a row whose last change is being
// synced. Nobody reads that change before it is durable, and no COMMIT is
// acknowledged.
func TestPipelinedCommit(t *testing.T) {
	srv, entered, release := blockedSync(t)
	conn, next, reader := connectTo(t, srv), connectTo(t, srv), connectTo(t, srv)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "UPDATE t SET n = n + 1")
		first <- err
	}()
	<-entered
	execOK(t, next, "BEGIN")
	if tag := execOK(t, next, "UPDATE t SET n = n + 1 WHERE id = 1"); tag != "UPDATE 1" {
		t.Errorf("%s of the row that is being synced", tag)
	}
	if tag := execOK(t, next, "INSERT INTO t SELECT 10 + n, 0 FROM t WHERE id = 2"); tag != "INSERT 0 1" {
		t.Errorf("%s of a row that is being synced", tag)
	}
	wantN(t, reader, "before the sync", "0 0")
	go func() {
		var n int
		err := next.QueryRow(context.Background(), "SELECT sum(n) FROM t").Scan(&n)
		if err == nil && n != 3 {
			err = errors.New("the next transaction reads something else")
		}
		if err == nil {
			_, err = next.Exec(context.Background(), "COMMIT")
		}
		second <- err
	}()
	select {
	case err := <-first:
		t.Fatalf("acknowledged before the sync: %v", err)
	case err := <-second:
		t.Fatalf("told before the sync what it read: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	if err := errors.Join(<-first, <-second); err != nil {
		t.Error(err)
	}
	wantN(t, reader, "after the sync", "2 1 0")
	var id int
	if err := reader.QueryRow(context.Background(), "SELECT max(id) FROM t").Scan(&id); err != nil || id != 11 {
		t.Errorf("the inserted row has %d and %v", id, err)
	}
}

// TestOldSnapshot: a snapshot that is held for too long is reported and ended.
func TestOldSnapshot(t *testing.T) {
	var told atomic.Int64
	srv := startServer(t, storage.Options{NoSync: true, Txn: txn.Options{
		WarnSnapshotAge: time.Millisecond, MaxSnapshotAge: 10 * time.Millisecond,
		OnOldSnapshot: func(o txn.OldSnapshot) {
			if o.FileBytes > 0 && o.Age > 0 {
				told.Add(1)
			}
		},
	}})
	conn, other := connectTo(t, srv), connectTo(t, srv)
	execOK(t, conn, "CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)")
	execOK(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	execOK(t, conn, "SELECT * FROM t")
	execOK(t, other, "INSERT INTO t VALUES (2)")
	var err error
	for err == nil {
		_, err = conn.Exec(context.Background(), "SELECT * FROM t")
	}
	if sqlState(err) != "72000" || told.Load() == 0 {
		t.Errorf("%v, reported %d times", err, told.Load())
	}
	execOK(t, conn, "ROLLBACK")
	if tag := execOK(t, conn, "SELECT * FROM t"); tag != "SELECT 2" {
		t.Errorf("afterwards: %s", tag)
	}
}

// TestSpaceIsReused: updates of the same rows do not make the file grow, and
// VACUUM gives the space of deleted ones back, through SQL.
func TestSpaceIsReused(t *testing.T) {
	srv := startServer(t, storage.Options{NoSync: true})
	conn := connectTo(t, srv)
	execOK(t, conn, "CREATE TABLE t (id int PRIMARY KEY, s text)")
	execOK(t, conn, "INSERT INTO t SELECT i, repeat('x', 2000) FROM generate_series(1, 8000) AS g(i)")
	early := int64(0)
	for i := range 14 {
		execOK(t, conn, "UPDATE t SET s = repeat('y', 2000)")
		if i == 7 {
			early = srv.store.Stats().FileBytes
		}
	}
	late := srv.store.Stats().FileBytes
	if late > early+early/4 {
		t.Errorf("the file grew from %d to %d bytes", early, late)
	}
	execOK(t, conn, "DELETE FROM t WHERE id % 20 > 0")
	execOK(t, conn, "VACUUM t")
	if n := srv.store.Stats().FileBytes; n < late {
		t.Errorf("VACUUM of a table rewrote the file: %d bytes, %d before", n, late)
	}
	execOK(t, conn, "VACUUM")
	if n := srv.store.Stats().FileBytes; n > late/5 {
		t.Errorf("%d bytes after VACUUM, %d before", n, late)
	}
	if tag := execOK(t, conn, "SELECT * FROM t"); tag != "SELECT 400" {
		t.Errorf("after VACUUM: %s", tag)
	}
	// What was deleted a moment ago, and is in the log only, counts as free.
	execOK(t, conn, "CREATE TABLE u (id int PRIMARY KEY, s text)")
	execOK(t, conn, "INSERT INTO u SELECT i, repeat('x', 2000) FROM generate_series(1, 8000) AS g(i)")
	full := srv.store.Stats().FileBytes
	execOK(t, conn, "DELETE FROM u WHERE id > 2000")
	execOK(t, conn, "VACUUM")
	if n := srv.store.Stats().FileBytes; n > full/2 {
		t.Errorf("%d bytes after DELETE and VACUUM, %d before", n, full)
	}
}

// TestDamagedPage: a flipped bit in a table's page is XX001 with the file's name,
// other tables go on, and check finds it.
func TestDamagedPage(t *testing.T) {
	dir := t.TempDir()
	srv, err := openServer(storage.Options{Dir: dir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	conn := connectTo(t, srv)
	execOK(t, conn, `CREATE TABLE t (id int PRIMARY KEY, s text); CREATE TABLE u (id int PRIMARY KEY); INSERT INTO u VALUES (1);
		INSERT INTO t SELECT i, 'needle ' || i FROM generate_series(1, 3000) AS g(i)`)
	conn.Close(context.Background())
	srv.checkAndStop(t)
	path := filepath.Join(dir, "kvsqld.db")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(b, []byte("needle 1500"))
	b[at-40] ^= 4 // near a key, so that searching for it would go astray
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := command("check", "--data", dir); err == nil || !strings.Contains(out, "does not match") {
		t.Errorf("check: %s, %v", out, err)
	}
	if srv, err = openServer(storage.Options{Dir: dir, NoSync: true}); err != nil {
		t.Fatal(err)
	}
	conn = connectTo(t, srv)
	for _, q := range []string{"SELECT s FROM t WHERE id = 1500", "SELECT count(*) FROM t", "UPDATE t SET s = '' WHERE id = 1501"} {
		_, err := conn.Exec(context.Background(), q)
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != "XX001" || !strings.Contains(pe.Message+pe.Detail, "t.kv") {
			t.Errorf("%s: %v (%s)", q, err, pe.Detail)
		}
	}
	if tag := execOK(t, conn, "SELECT * FROM u"); tag != "SELECT 1" {
		t.Errorf("another table: %s", tag)
	}
	conn.Close(context.Background())
	srv.wire.Shutdown(context.Background())
	<-srv.done
	_ = srv.Server.Close(context.Background())
	_ = srv.store.Close()
}
