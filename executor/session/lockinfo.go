package session

// What the server's locks look like from outside: pg_locks, pg_blocking_pids,
// the wait events of pg_stat_activity and the circle in a deadlock's message.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/kv"
)

// String is the lock's name as PostgreSQL prints it: database, two halves of
// the key, and 1 or 2 for the form.
func (n advisoryName) String() string {
	return fmt.Sprintf("[%d,%d,%d,%d]", n.db, uint32(n.key>>32), uint32(n.key), n.form())
}

func (n advisoryName) form() int32 {
	if n.two {
		return 2
	}
	return 1
}

// relationOf is the table or index that a space belongs to.
type relationOf struct{ db, rel types.OID }

// relationsBySpace maps the spaces of all databases.
func relationsBySpace(snap *catalog.Snapshot) map[uint64]relationOf {
	out := make(map[uint64]relationOf)
	add := func(t *catalog.Table) {
		out[uint64(t.Space)] = relationOf{t.DB, t.OID}
		for _, ix := range t.Indexes {
			if !ix.Primary {
				out[uint64(ix.Space)] = relationOf{t.DB, ix.OID}
			}
		}
	}
	for _, db := range snap.Databases() {
		for _, r := range snap.Relations(db.OID) {
			switch r := r.(type) {
			case *catalog.Table:
				add(r)
			case *catalog.View:
				if r.Materialized != nil {
					add(r.Materialized)
				}
			}
		}
	}
	return out
}

// lockRows are the rows of pg_locks.
func (s *Session) lockRows() []pgcatalog.LockInfo {
	var out []pgcatalog.LockInfo
	if s.srv.advisory.waits != nil {
		rels := relationsBySpace(s.srv.Catalog.Current())
		for _, l := range s.srv.advisory.waits.Locks() {
			at := rels[l.Space]
			row := pgcatalog.LockInfo{Type: "relation", DB: at.db, Rel: at.rel, PID: l.Client, Mode: l.Mode.String(), Granted: l.Granted}
			if l.Rows > 0 { // who waits for a row waits for its transaction
				row.Type, row.Mode = "transactionid", "ShareLock"
			}
			out = append(out, row)
		}
	}
	out = append(out, s.srv.advisory.list()...)
	slices.SortStableFunc(out, func(a, b pgcatalog.LockInfo) int { return int(a.PID - b.PID) })
	return out
}

func (a *advisoryLocks) list() []pgcatalog.LockInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []pgcatalog.LockInfo
	add := func(n advisoryName, s *Session, shared, granted bool) {
		out = append(out, pgcatalog.LockInfo{Type: "advisory", DB: n.db, PID: s.info.PID, Mode: lockMode(shared), Granted: granted,
			Advisory: [3]uint32{uint32(n.key >> 32), uint32(n.key), uint32(n.form())}})
	}
	for n, l := range a.mu.locks {
		for s, h := range l.holds {
			if h.exclusive() {
				add(n, s, false, true)
			}
			if h.sessShared+h.txnShared > 0 {
				add(n, s, true, true)
			}
		}
		for _, w := range l.queue {
			add(n, w.s, w.key.Shared, false)
		}
	}
	return out
}

// blockingPIDs lists whom a client waits for, directly.
func (srv *Server) blockingPIDs(pid int32) []int32 {
	if srv.advisory.waits == nil {
		return nil
	}
	out := srv.advisory.waits.Blockers(pid)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(p int32) bool { return p == 0 })
}

// waitEvents maps the clients that wait for a lock to the wait event's name.
func (s *Session) waitEvents() map[int32]string {
	out := make(map[int32]string)
	for _, l := range s.lockRows() {
		if !l.Granted {
			out[l.PID] = l.Type
		}
	}
	return out
}

// explainDeadlock adds the circle to the message of a deadlock.
func (s *Session) explainDeadlock(err error) error {
	var dead *kv.DeadlockError
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Code != sqlerr.DeadlockDetected || !errors.As(err, &dead) {
		return err
	}
	rels := relationsBySpace(s.srv.Catalog.Current())
	var b strings.Builder
	for i, w := range dead.Waits {
		at := rels[w.Space]
		what := w.External
		switch {
		case what != "":
		case w.Row:
			what = fmt.Sprintf("ExclusiveLock on a row of relation %d of database %d", at.rel, at.db)
			if !w.RowMode.Exclusive() {
				what = "Share" + strings.TrimPrefix(what, "Exclusive")
			}
		default:
			what = fmt.Sprintf("%s on relation %d of database %d", w.TableMode, at.rel, at.db)
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "Process %d waits for %s; blocked by process %d.", w.Client, what, w.Blocker)
	}
	c := *e
	c.Detail = b.String()
	c.Hint = "See server log for query details."
	return &c
}

func int4Array(list []int32) types.Datum {
	elems := make([]types.Datum, len(list))
	for i, n := range list {
		elems[i] = types.Int(types.TInt4, int64(n))
	}
	return types.NewVector(types.TInt4, elems)
}
