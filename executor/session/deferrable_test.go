package session

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestDeferrable: who waits for a safe snapshot is seen to, and can be ended.
func TestDeferrable(t *testing.T) {
	srv := newServer(t)
	a, b, c := srv.client(t), srv.client(t), srv.client(t)
	a.must("CREATE TABLE t (i int)")
	a.must("BEGIN ISOLATION LEVEL SERIALIZABLE")
	a.must("INSERT INTO t VALUES (1)")
	b.must("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE")
	done := make(chan string)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- b.sqlCtx(ctx, "SELECT * FROM t") }()
	seen := ""
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline) && !strings.Contains(seen, "SafeSnapshot"); {
		seen = c.sql("SELECT wait_event_type, wait_event, cardinality(pg_safe_snapshot_blocking_pids(pid)), cardinality(pg_blocking_pids(pid)) " +
			"FROM pg_stat_activity WHERE query = 'SELECT * FROM t'")
	}
	if !strings.Contains(seen, "IPC|SafeSnapshot|1|0") {
		t.Error(seen)
	}
	cancel()
	if got := <-done; !strings.Contains(got, "57014") {
		t.Error(got)
	}
	b.must("ROLLBACK")
	b.must("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE")
	go func() { done <- b.sql("SELECT * FROM t") }()
	a.must("COMMIT")
	if got := <-done; !strings.Contains(got, "SELECT") {
		t.Error(got)
	}
	b.must("COMMIT")
}
