package session

import (
	"strings"
	"testing"
)

// export asks for a snapshot's identifier.
func (c *client) export() string {
	c.t.Helper()
	lines := strings.Split(c.sql("select pg_export_snapshot()"), "\n")
	if len(lines) != 4 || strings.HasPrefix(lines[0], "ERROR") {
		c.t.Fatal(lines)
	}
	return lines[1]
}

// TestExportedSnapshot has transactions read what another reads, at every level,
// while others commit.
func TestExportedSnapshot(t *testing.T) {
	srv := newServer(t)
	a, b, c := srv.client(t), srv.client(t), srv.client(t)
	a.must("create table t(id int primary key, n int); insert into t values (1, 10); create table u(id int)")
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		a.must("update t set n = 10")
		a.must("begin isolation level " + level + "; select n from t where id = 1; update t set n = 11 where id = 1")
		id := a.export()
		c.must("insert into u values (2)")
		b.must("begin isolation level repeatable read; set transaction snapshot '" + id + "'")
		b.want("select n, (select count(*) from u) from t", "(n,count)", "10|0", "SELECT 1", "T") // neither a's nor c's writes
		a.must("commit")
		b.want("select n, (select count(*) from u) from t", "(n,count)", "10|0", "SELECT 1", "T") // it outlives its maker
		b.want("update t set n = 0 where id = 1", "ERROR 40001: could not serialize access due to concurrent update", "E")
		b.must("rollback; begin isolation level repeatable read")
		b.want("set transaction snapshot '"+id+"'", `ERROR 22023: invalid snapshot identifier: "`+id+`"`, "E")
		b.must("rollback; delete from u")
	}
	if n := srv.Store.Stats().OpenSnapshots; n != 0 {
		t.Errorf("%d snapshots are left open", n)
	}
}

// TestImportSerializable finds the conflict with a commit between the snapshot and
// its import.
func TestImportSerializable(t *testing.T) {
	srv := newServer(t)
	a, b, c := srv.client(t), srv.client(t), srv.client(t)
	a.must("create table t(id int primary key, n int); insert into t values (1, 10), (2, 20)")
	a.must("begin isolation level serializable; select n from t where id = 1")
	id := a.export()
	c.must("begin isolation level serializable; select n from t where id = 2; update t set n = 11 where id = 1; commit")
	b.must("begin isolation level serializable; set transaction snapshot '" + id + "'")
	a.must("rollback")
	b.want("select n from t where id = 1", "(n)", "10", "SELECT 1", "T")
	b.must("update t set n = 21 where id = 2")
	if got := b.sql("commit"); !strings.HasPrefix(got, "ERROR 40001: ") {
		t.Error(got)
	}
}

func TestSnapshotErrors(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	fails := func(setup, want string) {
		t.Helper()
		b.must(setup)
		i := strings.LastIndex(want, " <- ")
		b.want(want[i+4:], want[:i], "E")
		b.must("rollback")
	}
	a.must("begin isolation level repeatable read")
	id := a.export()
	set := " <- set transaction snapshot '" + id + "'"
	const before = "ERROR 25001: SET TRANSACTION SNAPSHOT must be called before any query"
	fails("begin", "ERROR 0A000: a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ"+set)
	fails("begin isolation level serializable", "ERROR 0A000: a serializable transaction cannot import a snapshot from a non-serializable transaction"+set)
	fails("begin isolation level repeatable read; select 1", before+set)
	fails("begin isolation level repeatable read; savepoint a", before+set)
	fails("begin isolation level repeatable read; set transaction snapshot '"+id+"'", before+set)
	fails("begin isolation level repeatable read; set transaction snapshot '"+id+"'",
		"ERROR 25001: SET TRANSACTION ISOLATION LEVEL must be called before any query <- set transaction isolation level serializable")
	fails("begin isolation level repeatable read", `ERROR 22023: invalid snapshot identifier: "../x" <- set transaction snapshot '../x'`)
	fails("begin; savepoint a", "(pg_export_snapshot)\nERROR 25001: cannot export a snapshot from a subtransaction <- select pg_export_snapshot()")
	a.must("rollback; begin isolation level serializable read only")
	set = " <- set transaction snapshot '" + a.export() + "'"
	fails("begin isolation level serializable", "ERROR 0A000: a non-read-only serializable transaction cannot import a snapshot from a read-only transaction"+set)
}
