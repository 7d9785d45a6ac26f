package session

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kvsqld/wire"
)

// TestLargeObjectSnapshot has a descriptor that is only read keep what it saw when it was
// opened, and one that is written see every commit.
func TestLargeObjectSnapshot(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("select lo_from_bytea(100, 'old old')")
	a.must("begin; select lo_open(100, 262144); select lo_open(100, 393216)")
	b.must("select lo_put(100, 4, 'new!')")
	a.want("select encode(loread(0, 3), 'escape'), encode(loread(1, 3), 'escape')", "(encode,encode)", "old|old", "SELECT 1", "T")
	a.want("select encode(loread(0, 9), 'escape'), encode(loread(1, 9), 'escape')", "(encode,encode)", " old| new!", "SELECT 1", "T")
	a.must("commit")
	a.must("begin isolation level repeatable read; select lo_open(100, 393216)")
	b.must("select lo_put(100, 0, 'NEW')")
	a.want("select encode(loread(0, 9), 'escape')", "(encode)", "old new!", "SELECT 1", "T")
	a.want("select lowrite(0, '!')", "(lowrite)", "ERROR 40001: could not serialize access due to concurrent update", "E")
	a.must("rollback")
	if n := srv.Store.Stats().OpenSnapshots; n != 0 {
		t.Errorf("%d snapshots are left open", n)
	}
}

// TestLargeObjectWriters has two transactions write one object: the second waits for the
// first, and neither's bytes are lost. What is written cannot be removed meanwhile.
func TestLargeObjectWriters(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("select lo_from_bytea(100, '......')")
	a.must("begin; select lo_put(100, 0, 'a')")
	done := make(chan string)
	waits := srv.Store.Stats().LockWaits
	go func() { done <- b.sql("select lo_put(100, 1, 'b'), lo_create(101)") }()
	waitLock(srv, waits)
	a.must("commit")
	if got := <-done; strings.HasPrefix(got, "ERROR") {
		t.Fatal(got)
	}
	a.want("select encode(lo_get(100), 'escape')", "(encode)", "ab....", "SELECT 1", "I")
	a.must("begin; select lo_put(100, 5000, 'x')")
	waits = srv.Store.Stats().LockWaits
	go func() { done <- b.sql("select lo_unlink(100)") }()
	waitLock(srv, waits)
	a.must("commit")
	if got := <-done; strings.HasPrefix(got, "ERROR") {
		t.Fatal(got)
	}
	a.want("select count(*) from pg_largeobject where loid = 100", "(count)", "0", "SELECT 1", "I")
}

// waitLock returns when a transaction more than before waits for a lock.
func waitLock(srv *Server, before uint64) {
	for srv.Store.Stats().LockWaits == before {
		runtime.Gosched()
	}
}

// TestLargeObjectFirst has two sessions make the first large object of a database at once,
// one of them in a transaction that began, and changed the catalog, before.
func TestLargeObjectFirst(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("begin isolation level repeatable read; create table t(id oid); select 1")
	b.must("select lo_from_bytea(100, 'b')")
	a.must("insert into t values (lo_from_bytea(101, 'a')); commit")
	b.want("select encode(lo_get(id), 'escape'), encode(lo_get(100), 'escape') from t", "(encode,encode)", "a|b", "SELECT 1", "I")
	b.must("create database other")
	b.must("drop database other")
}

// TestLargeObjectFiles copies a file of the server into a large object and back.
func TestLargeObjectFiles(t *testing.T) {
	srv := newServer(t)
	dir := t.TempDir()
	files, err := OpenServerFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	srv.opts.Files = files
	text := strings.Repeat("some bytes\n", 20000)
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := srv.client(t)
	c.want("select lo_import('"+dir+"/in', 77), lo_export(77, '"+dir+"/out')", "(lo_import,lo_export)", "ERROR 42704: large object 77 does not exist", "I")
	c.must("select lo_import('" + dir + "/in', 77)")
	c.must("select lo_export(77, '" + dir + "/out')")
	if out, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(out) != text {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	c.want("select lo_import('"+dir+"/none')", "(lo_import)", "ERROR 58P01: could not open server file \""+dir+"/none\": No such file or directory", "I")
	c.want("select lo_export(77, '/etc/x')", "(lo_export)", "ERROR 42501: path \"/etc/x\" is outside of the directory of server files", "I")
}

// TestFunctionCall calls functions outside of any statement.
func TestFunctionCall(t *testing.T) {
	srv := newServer(t)
	c := srv.client(t)
	call := func(want string, oid uint32, args ...string) {
		t.Helper()
		f := &wire.FunctionCall{Function: oid}
		for _, a := range args {
			f.Args = append(f.Args, []byte(a))
		}
		r := &recorder{}
		if err := c.s.FunctionCall(context.Background(), f, r); err != nil {
			r.fault(err)
			c.s.Abort()
		}
		if got := strings.Join(r.lines, "\n"); got != want {
			t.Errorf("function %d%v: %q, want %q", oid, args, got, want)
		}
	}
	c.must("create function twice(int) returns int language sql as 'select 2 * $1'; create function rows() returns setof int language sql as 'select 1'")
	oid := func(sql string) uint32 {
		var n uint32
		for _, d := range strings.Split(c.sql(sql), "\n")[1] {
			n = n*10 + uint32(d-'0')
		}
		return n
	}
	call("(lo_create)\n500", 715, "500")
	call("(lo_open)\n0", 952, "500", "131072")
	call("ERROR 42704: invalid large-object descriptor: 0", 953, "0") // its transaction has ended
	c.must("begin")
	call("(lo_open)\n0", 952, "500", "131072")
	call("(lowrite)\n5", 955, "0", "bytes")
	call("(lo_close)\n0", 953, "0")
	c.must("commit")
	call("(lo_get)\n\\x6279746573", 3458, "500")
	call("(twice)\n42", oid("select 'twice'::regproc::oid"), "21")
	call("ERROR 08P01: function call message contains 0 arguments but function requires 1", 953)
	call("ERROR 0A000: cannot call function \"rows\" via fastpath interface", oid("select 'rows'::regproc::oid"))
	call("ERROR 0A000: cannot call function \"count\" via fastpath interface", 2803)
	call("ERROR 42883: function with OID 1 does not exist", 1)
	call("ERROR 22P02: invalid input syntax for type integer: \"x\"", 953, "x")
	c.must("begin")
	call("ERROR 42704: large object 1 does not exist", 952, "1", "262144")
	call("ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block", 952, "1", "262144")
	c.must("rollback")
}
