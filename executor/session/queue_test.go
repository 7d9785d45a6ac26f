package session

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"kvsqld/storage"
)

// TestNotifyQueue fills the queue while a listener is in a transaction block: commits of
// notifications fail then, and there is room again when it has got them.
func TestNotifyQueue(t *testing.T) {
	st, err := storage.Open(storage.Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := Open(context.Background(), st, Options{MaxMemory: 32 << 20, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close(context.Background())
	slow, quick, from := srv.client(t), srv.client(t), srv.client(t)
	for _, c := range []*client{slow, quick, from} {
		defer c.s.Close()
	}
	slow.must("listen a")
	quick.must("listen a; listen b")
	for round := range 2 {
		slow.must("begin")
		sent := 0
		for ; sent < 100; sent++ {
			got := from.sql("select count(pg_notify('a', i || repeat('x', 7000))) from generate_series(1, 10) i, generate_series(1, 2)")
			if strings.Contains(got, "54000") {
				break
			} else if !strings.Contains(got, "20") {
				t.Fatal(got)
			}
			if n := strings.Count(quick.sql("select 1"), "notification a"); n != 10 {
				t.Fatalf("%d notifications, want 10", n)
			}
		}
		if sent < 50 || sent > 65 {
			t.Errorf("round %d: the queue of 4 MB is full after %d commits of 70 KB", round, sent)
		}
		if got := from.sql("select pg_notification_queue_usage() > 0.95"); !strings.Contains(got, "t") {
			t.Error(got)
		}
		from.must("notify b") // nobody else's
		if got := slow.sql("commit"); strings.Count(got, "notification a") != 10*sent {
			t.Errorf("round %d: %d of %d notifications", round, strings.Count(got, "notification a"), 10*sent)
		}
		quick.must("select 1")
		from.want("select pg_notification_queue_usage()", "(pg_notification_queue_usage)", "0", "SELECT 1", "I")
	}
	slow.must("begin")
	from.must("select pg_notify('a', i::text || repeat('x', 7000)) from generate_series(1, 100) i")
	slow.s.Close()
	quick.must("unlisten *")
	from.want("select pg_notification_queue_usage()", "(pg_notification_queue_usage)", "0", "SELECT 1", "I")
}

// TestNotificationsOnce sends many notifications, some of them twice, in a transaction.
func TestNotificationsOnce(t *testing.T) {
	srv := newServer(t)
	to, from := srv.client(t), srv.client(t)
	to.must("listen a")
	from.must("begin")
	from.must("select pg_notify('a', (i % 20000)::text) from generate_series(1, 40000) i")
	from.must("savepoint s; select pg_notify('a', 'more ' || i) from generate_series(1, 100) i; rollback to s")
	from.must("select pg_notify('a', 'more ' || i) from generate_series(51, 60) i, generate_series(1, 3)")
	from.must("commit")
	got := to.sql("select 1")
	if n := strings.Count(got, "notification a"); n != 20010 {
		t.Errorf("%d notifications, want 20010: %.300s", n, got)
	}
}

// TestAdvisoryLimit takes as many advisory locks as there may be.
func TestAdvisoryLimit(t *testing.T) {
	srv := newServer(t)
	srv.advisory.limit = leastAdvisory
	a, b := srv.client(t), srv.client(t)
	a.must("select count(pg_advisory_lock(i)), count(pg_advisory_lock_shared(i, 1)) from generate_series(1, 3200) i")
	for _, q := range []string{"select pg_advisory_lock(7000)", "select pg_try_advisory_xact_lock(7, 7)"} {
		if got := b.sql(q); !strings.Contains(got, "53200") {
			t.Errorf("%s: %s", q, got)
		}
	}
	b.want("select pg_try_advisory_lock(1), pg_try_advisory_lock_shared(1, 1)", "(pg_try_advisory_lock,pg_try_advisory_lock_shared)", "f|t", "SELECT 1", "I")
	a.must("select pg_advisory_unlock(1)")
	b.want("select pg_try_advisory_lock(7000)", "(pg_try_advisory_lock)", "t", "SELECT 1", "I")
	a.must("begin; savepoint s; select pg_advisory_xact_lock(2); rollback to s; commit; select pg_advisory_unlock_all()")
	b.must("select pg_advisory_unlock_all()")
	if n := len(srv.advisory.mu.locks) + len(srv.advisory.mu.held); n != 0 {
		t.Errorf("%d locks are left", n)
	}
}
