package session

// What the server's locks look like from outside: pg_locks, pg_blocking_pids,
// the wait events of pg_stat_activity and the circle in a deadlock's message.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
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

// lockedRelation is the table or index that a space belongs to; table is nil for an
// index of its own.
type lockedRelation struct {
	db, rel types.OID
	table   *catalog.Table
}

// relationsBySpace maps the spaces of all databases.
func relationsBySpace(snap *catalog.Snapshot) map[uint64]lockedRelation {
	out := make(map[uint64]lockedRelation)
	add := func(t *catalog.Table) {
		out[uint64(t.Space)] = lockedRelation{t.DB, t.OID, t}
		for _, ix := range t.Indexes {
			if !ix.Primary {
				out[uint64(ix.Space)] = lockedRelation{t.DB, ix.OID, nil}
			}
		}
	}
	for _, db := range snap.Databases() {
		for _, r := range snap.Relations(db.OID) {
			switch r := r.(type) {
			case *catalog.Table:
				add(r)
			case *catalog.Sequence:
				out[table.RelationLock(r.OID)] = lockedRelation{r.DB, r.OID, nil}
			case *catalog.View:
				if r.Materialized != nil {
					add(r.Materialized)
				} else {
					out[table.RelationLock(r.OID)] = lockedRelation{r.DB, r.OID, nil}
				}
			}
		}
	}
	return out
}

// classPgClass is the OID of pg_class.
const classPgClass = 1259

// rowLockNames are the modes in which PostgreSQL locks a row for those who want it
// next, by the mode that they want it in.
var rowLockNames = [...]kv.TableLockMode{kv.ForUpdate: kv.AccessExclusive, kv.ForNoKeyUpdate: kv.Exclusive,
	kv.ForShare: kv.RowShare, kv.ForKeyShare: kv.AccessShare}

// locksSeen are the rows of pg_locks for who reads it by its name, and so holds a lock of
// it himself.
func (s *Session) locksSeen() []pgcatalog.LockInfo {
	out := s.lockRows()
	own := pgcatalog.LockInfo{Type: "relation", DB: s.db, Rel: pgcatalog.Find(catalog.SchemaPgCatalog, "pg_locks").OID,
		PID: s.info.PID, Mode: kv.AccessShare.String(), Granted: true, Fast: true}
	at, found := slices.BinarySearchFunc(out, own.PID, func(l pgcatalog.LockInfo, pid int32) int { return int(l.PID - pid) })
	if found {
		own.Owner = out[at].Owner
	}
	return slices.Insert(out, at, own)
}

// lockRows are the rows of pg_lock_status.
func (s *Session) lockRows() []pgcatalog.LockInfo {
	xacts := s.srv.xacts()
	out := xactLocks(xacts)
	var rels map[uint64]lockedRelation
	if s.srv.advisory.waits != nil {
		rels = relationsBySpace(s.srv.Catalog.Current())
		locks := s.srv.advisory.waits.Locks()
		strong := map[uint64]bool{} // for which weak locks are kept where all see them
		for _, l := range locks {
			if l.Kind == kv.TableLock && l.Mode >= kv.Share {
				strong[l.Space] = true
			}
		}
		for _, l := range locks {
			space, definition := kv.DefinedSpace(l.Space)
			at := rels[space]
			if definition { // which PostgreSQL has no lock for: only who waits for it is shown
				if !l.Granted && at.rel != 0 {
					out = append(out, pgcatalog.LockInfo{Type: "object", DB: at.db, PID: l.Client, Mode: l.Mode.String(),
						Object: [3]uint32{classPgClass, uint32(at.rel)}, WaitFrom: types.TimestampFromTime(l.Since)})
				}
				continue
			}
			row := pgcatalog.LockInfo{Type: "relation", DB: at.db, Rel: at.rel, PID: l.Client, Mode: l.Mode.String(), Granted: l.Granted,
				Fast: l.Granted && l.Mode <= kv.RowExclusive && !strong[l.Space]}
			switch l.Kind {
			case kv.RowLock:
				if at.table == nil {
					continue // the wait for a key of an index
				}
				d, err := s.srv.Tables.For(at.table)
				if err != nil {
					continue
				}
				row.Type, row.Mode, row.Fast = "tuple", rowLockNames[l.RowMode].String(), false
				row.Page, row.Tuple = d.Tid([]byte(l.Row))
			case kv.EndLock: // who waits for a row waits for its transaction
				row = pgcatalog.LockInfo{Type: "transactionid", Xid: l.Number, PID: l.Client, Mode: kv.Share.String()}
			}
			if !l.Since.IsZero() {
				row.WaitFrom = types.TimestampFromTime(l.Since)
			}
			out = append(out, row)
		}
	}
	out = append(out, s.srv.advisory.list()...)
	for i := range out {
		if x := xacts[out[i].PID]; x != nil {
			out[i].Owner = x.virtual()
		}
	}
	slices.SortStableFunc(out, func(a, b pgcatalog.LockInfo) int { return int(a.PID - b.PID) })
	return out
}

// xactLocks are the locks that transactions hold of themselves, until they end.
func xactLocks(xacts map[int32]*xactInfo) []pgcatalog.LockInfo {
	var out []pgcatalog.LockInfo
	for _, x := range xacts {
		if x.open {
			out = append(out, pgcatalog.LockInfo{Type: "virtualxid", Virtual: x.virtual(), PID: x.pid, Mode: kv.Exclusive.String(), Granted: true, Fast: true})
		}
		if x.number != 0 {
			out = append(out, pgcatalog.LockInfo{Type: "transactionid", Xid: x.number, PID: x.pid, Mode: kv.Exclusive.String(), Granted: true})
		}
	}
	return out
}

// xidText is a transaction's number as an xid.
func xidText(n uint64) string { return strconv.FormatUint(uint64(uint32(n)), 10) }

func (a *advisoryLocks) list() []pgcatalog.LockInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []pgcatalog.LockInfo
	add := func(n advisoryName, s *Session, shared, granted bool, since int64) {
		out = append(out, pgcatalog.LockInfo{Type: "advisory", DB: n.db, PID: s.info.PID, Mode: lockMode(shared), Granted: granted, WaitFrom: since,
			Object: [3]uint32{uint32(n.key >> 32), uint32(n.key), uint32(n.form())}})
	}
	for n, l := range a.mu.locks {
		for s, h := range l.holds {
			if h.exclusive() {
				add(n, s, false, true, 0)
			}
			if h.sessShared+h.txnShared > 0 {
				add(n, s, true, true, 0)
			}
		}
		for _, w := range l.queue {
			add(n, w.s, w.key.Shared, false, w.since)
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

// unsafeFor returns the connections that one waits for to have a safe snapshot.
func (srv *Server) unsafeFor(pid int32) []int32 {
	if srv.advisory.waits == nil {
		return nil
	}
	return srv.advisory.waits.Unsafe(pid)
}

// waitEvents maps the clients that wait for a lock to the wait event's name.
func (s *Session) waitEvents() map[int32]string {
	out := make(map[int32]string)
	if s.srv.advisory.waits != nil {
		for _, l := range s.srv.advisory.waits.Locks() {
			if !l.Granted {
				if _, definition := kv.DefinedSpace(l.Space); definition {
					out[l.Client] = "object"
					continue
				}
				out[l.Client] = map[kv.LockKind]string{kv.TableLock: "relation", kv.RowLock: "tuple", kv.EndLock: "transactionid"}[l.Kind]
			}
		}
	}
	for _, l := range s.srv.advisory.list() {
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
		space, definition := kv.DefinedSpace(w.Space)
		at := rels[space]
		what := w.External
		switch {
		case what != "":
		case w.Row:
			if what = "ShareLock on transaction " + xidText(w.Number); w.Number == 0 {
				what = fmt.Sprintf("%s on a row of relation %d of database %d", rowLockNames[w.RowMode], at.rel, at.db)
			}
		case definition:
			what = fmt.Sprintf("%s on object %d of class %d of database %d", w.TableMode, at.rel, classPgClass, at.db)
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
