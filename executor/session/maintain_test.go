package session

import (
	"testing"

	"kvsqld/catalog/types"
)

// TestAnalyzeIsAskedForOnce: commits ask for an analysis when the analyzer does not
// know yet that a table needs one, or when the table has outgrown a pause.
func TestAnalyzeIsAskedForOnce(t *testing.T) {
	srv := newServer(t)
	srv.stop() // nobody takes what is asked for
	<-srv.analyzerDone
	c := srv.client(t)
	c.must("CREATE TABLE t (k int PRIMARY KEY, a int)")
	oid := types.OID(0)
	for _, tab := range srv.Catalog.Current().Tables(c.s.db) {
		if tab.Name == "t" {
			oid = tab.OID
		}
	}
	state := &srv.rows.of(oid).analyze
	asked := func(what string, want int) {
		t.Helper()
		n := 0
		for len(srv.stale) > 0 {
			if <-srv.stale == oid {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: asked for %d times, want %d", what, n, want)
		}
	}
	c.must("INSERT INTO t SELECT i, 0 FROM generate_series(1, 500) AS i")
	asked("few rows", 0)
	for range 5 {
		c.must("INSERT INTO t SELECT max(k) + i, 0 FROM t, generate_series(1, 1000) AS i GROUP BY i")
	}
	asked("five large changes", 1)
	c.must("ANALYZE t")
	state.Store(analyzeDelayed) // as after an analysis, the table having changed again
	for range 3 {
		c.must("UPDATE t SET a = a + 1")
	}
	asked("changes in a pause", 0)
	c.must("INSERT INTO t SELECT 1000000 + i, 0 FROM generate_series(1, 30000) AS i")
	asked("much growth in a pause", 1)
	state.Store(analyzeIdle)
	c.must("UPDATE t SET a = 0 WHERE k = 1")
	asked("a change after a look that did not lead to an analysis", 1)
}
