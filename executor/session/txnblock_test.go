package session

import (
	"runtime"
	"strings"
	"testing"
)

func TestBlocks(t *testing.T) {
	c := newServer(t).client(t)
	c.must("create table t(a int primary key)")
	c.want("begin; insert into t values (1)", "BEGIN", "INSERT 0 1", "T")
	c.want("select 1/0", "ERROR 22012: division by zero", "E")
	c.want("select 1", "ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block", "E")
	c.want("commit", "ROLLBACK", "I")
	c.want("select count(*) from t", "(count)", "0", "SELECT 1", "I")
	c.want("commit", "WARNING 25P01: there is no transaction in progress", "COMMIT", "I")
	c.want("begin; begin", "BEGIN", "WARNING 25001: there is already a transaction in progress", "BEGIN", "T")
	c.want("rollback", "ROLLBACK", "I")
	c.want("savepoint a", "ERROR 25P01: SAVEPOINT can only be used in transaction blocks", "I")
	c.want("rollback and chain", "ERROR 25P01: ROLLBACK AND CHAIN can only be used in transaction blocks", "I")
}

func TestImplicitTransaction(t *testing.T) {
	c := newServer(t).client(t)
	c.must("create table t(a int primary key)")
	// Several statements are one transaction …
	c.want("insert into t values (1); select 1/0", "INSERT 0 1", "ERROR 22012: division by zero", "I")
	c.want("select count(*) from t", "(count)", "0", "SELECT 1", "I")
	// … until a COMMIT inside.
	c.want("insert into t values (1); commit; insert into t values (2); select 1/0",
		"INSERT 0 1", "WARNING 25P01: there is no transaction in progress", "COMMIT", "INSERT 0 1", "ERROR 22012: division by zero", "I")
	c.want("select a from t", "(a)", "1", "SELECT 1", "I")
	// BEGIN takes in what came before.
	c.want("insert into t values (3); begin; insert into t values (4)", "INSERT 0 1", "BEGIN", "INSERT 0 1", "T")
	c.want("rollback", "ROLLBACK", "I")
	c.want("select a from t", "(a)", "1", "SELECT 1", "I")
	c.want(";", "empty", "I")
	c.want("-- ping", "empty", "I")
	c.want("set transaction isolation level serializable; show transaction_isolation", "SET", "(transaction_isolation)", "serializable", "SHOW", "I")
	c.want("set transaction read only; insert into t values (9)", "SET", "ERROR 25006: cannot execute INSERT in a read-only transaction", "I")
	c.want("show transaction_isolation", "(transaction_isolation)", "read committed", "SHOW", "I")
	c.want("vacuum; select 1", "ERROR 25001: VACUUM cannot run inside a transaction block", "I")
}

func TestSavepoints(t *testing.T) {
	c := newServer(t).client(t)
	c.must("create table t(a int primary key)")
	c.must("begin; insert into t values (1); savepoint a; insert into t values (2); savepoint b; create table u(x int); insert into t values (3)")
	c.want("select * from nosuch", `ERROR 42P01: relation "nosuch" does not exist at 15`, "E")
	c.want("rollback to nosuch", `ERROR 3B001: savepoint "nosuch" does not exist`, "E")
	c.want("rollback to b", "ROLLBACK", "T")
	c.want("select count(*) from t", "(count)", "2", "SELECT 1", "T")
	c.want("select * from u", `ERROR 42P01: relation "u" does not exist at 15`, "E")
	c.want("rollback to a; release a", "ROLLBACK", "RELEASE", "T")
	c.want("release a", `ERROR 3B001: savepoint "a" does not exist`, "E")
	c.want("rollback", "ROLLBACK", "I")
}

func TestChain(t *testing.T) {
	c := newServer(t).client(t)
	c.must("begin isolation level repeatable read read only")
	c.want("commit and chain", "COMMIT", "T")
	c.want("show transaction_isolation", "(transaction_isolation)", "repeatable read", "SHOW", "T")
	c.want("create table t(a int)", "ERROR 25006: cannot execute CREATE TABLE in a read-only transaction", "E")
	c.want("rollback and chain", "ROLLBACK", "T")
	c.want("show transaction_read_only", "(transaction_read_only)", "on", "SHOW", "T")
	c.want("set transaction read write", "SET", "T")
	c.want("create table t(a int)", "CREATE TABLE", "T")
	c.want("set transaction isolation level serializable",
		"ERROR 25001: SET TRANSACTION ISOLATION LEVEL must be called before any query", "E")
	c.want("rollback", "ROLLBACK", "I")
}

// TestReadCommitted has two sessions update the same row: the second waits, sees
// the first one's outcome and goes on from there.
func TestReadCommitted(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("create table t(id int primary key, n int); insert into t values (1, 10)")
	a.must("begin; update t set n = n + 1 where id = 1")
	done := make(chan string)
	b.must("begin; select n from t")
	go func() { done <- b.sql("update t set n = n * 2 where id = 1 returning n") }()
	for srv.Store.Stats().LockWaits == 0 {
		runtime.Gosched()
	}
	a.must("commit")
	if got := <-done; got != "(n)\n22\nUPDATE 1\nT" {
		t.Error(got)
	}
	b.must("commit")
	// One level up the change is an error.
	b.must("begin isolation level repeatable read; select n from t")
	a.must("update t set n = 0")
	b.want("update t set n = 1", "ERROR 40001: could not serialize access due to concurrent update", "E")
}

func TestConcurrentDDL(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("create table t(id int primary key, n int); insert into t values (1, 10)")
	b.must("select * from t where id = 1") // remembered with two columns
	a.must("begin; alter table t add column x int default 7")
	b.must("set lock_timeout = 1")
	b.want("select * from t where id = 1", "ERROR 55P03: canceling statement due to lock timeout", "I")
	b.must("set lock_timeout = 0")
	waits := srv.Store.Stats().LockWaits
	done := make(chan string)
	go func() { done <- b.sql("select * from t where id = 1") }()
	for srv.Store.Stats().LockWaits == waits {
		runtime.Gosched()
	}
	a.must("commit")
	if got := <-done; got != "(id,n,x)\n1|10|7\nSELECT 1\nI" {
		t.Error(got)
	}
	// A rolled back change leaves nothing.
	a.must("begin; drop table t; rollback")
	b.want("select n from t", "(n)", "10", "SELECT 1", "I")
}

// TestSpentTransaction looks when a transaction's memory is used again: nobody may
// have a pointer to it.
func TestSpentTransaction(t *testing.T) {
	c := newServer(t).client(t)
	c.must("create table t(a int)")
	c.must("select 1")
	first := c.s.spent
	if first == nil {
		t.Fatal("a reading transaction leaves nothing")
	}
	c.must("select 2")
	c.must("begin; select 1; commit")
	if c.s.spent != first {
		t.Error("the next one does not use it")
	}
	for _, sql := range []string{
		"insert into t values (1)",
		"create table u(a int)",
		"notify x",
		"begin; savepoint s; select 1; commit",
		"begin; select pg_export_snapshot(); commit",
		"begin; declare h cursor with hold for select now(); commit",
		"select 3", // h is still open
	} {
		c.must(sql)
		if c.s.spent != nil {
			t.Errorf("%s: a pointer to the transaction may be left", sql)
		}
	}
	c.must("close h")
	c.must("select 4")
	if c.s.spent == nil {
		t.Error("no portal is open any more")
	}
}

// TestSequenceLocks has sequences change beside those who draw from them.
func TestSequenceLocks(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("create sequence q; create table t (i int generated always as identity); select nextval('q')")
	b.must("set lock_timeout = '20ms'")
	const waits = "ERROR 55P03: canceling statement due to lock timeout"
	late := func(q string) {
		t.Helper()
		if got := b.sql(q); !strings.Contains(got, waits) {
			t.Errorf("%s: %s", q, got)
		}
	}
	a.must("begin; alter sequence q restart with 50")
	a.want("select nextval('q')", "(nextval)", "50", "SELECT 1", "T")
	for _, q := range []string{"select nextval('q')", "select setval('q', 3)", "alter sequence q increment 2", "drop sequence q"} {
		late(q)
	}
	b.want("select last_value from q", "(last_value)", "1", "SELECT 1", "I")
	a.must("rollback")
	b.want("select nextval('q')", "(nextval)", "2", "SELECT 1", "I")
	a.must("begin; alter sequence q restart with 50; alter sequence q increment 5; commit")
	b.want("select nextval('q'), nextval('q')", "(nextval,nextval)", "50|55", "SELECT 1", "I")
	a.must("begin; truncate t restart identity")
	late("select last_value from t_i_seq")
	a.must("commit; begin; select nextval('q')")
	late("alter sequence q restart")
	a.must("rollback")
	b.want("alter sequence q maxvalue 55", "ERROR 22023: RESTART value (60) cannot be greater than MAXVALUE (55)", "I")
	// What is dropped and made again begins anew, and leaves nothing behind.
	a.must("drop sequence q; create sequence q")
	b.want("select nextval('q')", "(nextval)", "1", "SELECT 1", "I")
	// A definition that was undone does not count when others change the object.
	a.must("begin; savepoint s; alter sequence q increment 3; rollback to s")
	b.must("alter sequence q increment 4")
	a.must("alter sequence q maxvalue 1000; commit")
	b.want("select nextval('q')", "(nextval)", "5", "SELECT 1", "I")
}

// TestReadOnlyUntilRollback goes back behind SET TRANSACTION READ ONLY.
func TestReadOnlyUntilRollback(t *testing.T) {
	c := newServer(t).client(t)
	c.must("create table t (a int); begin; savepoint s; set transaction read only")
	c.want("insert into t values (1)", "ERROR 25006: cannot execute INSERT in a read-only transaction", "E")
	c.must("rollback to s; insert into t values (1); commit")
	c.must("begin; savepoint s; set transaction read only; select 1; rollback to s; insert into t values (2); commit")
	c.must("begin; savepoint s; set transaction read only")
	c.want("set transaction read write", "ERROR 25001: cannot set transaction read-write mode inside a read-only transaction", "E")
	c.must("rollback")
	c.want("select sum(a) from t", "(sum)", "3", "SELECT 1", "I")
}
