package txn

import (
	"slices"

	"kvsqld/storage/kv"
)

var _ kv.Waits = (*Store)(nil)

// Locks implements kv.Waits.
func (st *Store) Locks() []kv.LockInfo {
	lt := st.locks
	var out []kv.LockInfo
	lt.spacesMu.RLock()
	spaces := make([]*spaceLock, 0, len(lt.spaces))
	for _, sl := range lt.spaces {
		spaces = append(spaces, sl)
	}
	lt.spacesMu.RUnlock()
	for _, sl := range spaces {
		sl.mu.Lock()
		for _, h := range sl.holders {
			for m := range kv.TableLockMode(kv.NumTableLockModes) {
				if h.modes&(1<<m) != 0 {
					out = append(out, kv.LockInfo{Client: h.o.client, Space: sl.id, Mode: m, Granted: true})
				}
			}
		}
		lt.graph.mu.Lock()
		for _, w := range sl.queue {
			out = append(out, kv.LockInfo{Client: w.o.client, Space: sl.id, Mode: w.mode, Since: w.o.since})
		}
		for _, x := range sl.leaving {
			out = append(out, kv.LockInfo{Client: x.w.o.client, Space: sl.id, Mode: x.w.mode, Since: x.w.o.since})
		}
		lt.graph.mu.Unlock()
		sl.mu.Unlock()
	}
	var queues []*rowLock
	lt.graph.mu.Lock()
	for o := range lt.graph.owners {
		switch {
		case o.queued != nil:
			if !slices.Contains(queues, o.queued) {
				queues = append(queues, o.queued)
			}
		case o.wait.Row:
			out = append(out, endLocks(o)...)
		}
	}
	lt.graph.mu.Unlock()
	for _, l := range queues {
		out = append(out, lt.rowWaits(l)...)
	}
	return out
}

// rowWaits lists those who wait for a row.
func (lt *lockTable) rowWaits(l *rowLock) []kv.LockInfo {
	l.shard.mu.Lock()
	defer l.shard.mu.Unlock()
	lt.graph.mu.Lock()
	defer lt.graph.mu.Unlock()
	var out []kv.LockInfo
	for i, w := range l.queue { // nobody, if the lock has become that of another row
		if w.fresh || w.look { // which nobody can wait for to become the next
			out = append(out, endLocks(w.o)...)
			continue
		}
		row := kv.LockInfo{Client: w.o.client, Kind: kv.RowLock, Space: l.sl.id, RowMode: w.row, Row: string(l.key), Granted: i == 0}
		if i > 0 {
			row.Since = w.o.since
		} else {
			out = append(out, endLocks(w.o)...)
		}
		out = append(out, row)
	}
	return out
}

// endLocks is the wait of an owner for the end of another one; none if it waits for
// nobody who can be named.
func endLocks(o *owner) []kv.LockInfo {
	for _, b := range o.blockers {
		if x := b.number.Load(); x != 0 {
			return []kv.LockInfo{{Client: o.client, Kind: kv.EndLock, Space: o.wait.Space, Number: x, Since: o.since}}
		}
	}
	return nil
}

// Blockers implements kv.Waits.
func (st *Store) Blockers(client int32) []int32 {
	g := &st.locks.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []int32
	for o := range g.owners {
		if o.client == client {
			for _, b := range o.blockers {
				out = append(out, b.client)
			}
		}
	}
	if x := g.clients[client]; x != nil {
		out = append(out, x.blockers...)
	}
	return out
}

// Unsafe implements kv.Waits.
func (st *Store) Unsafe(client int32) []int32 { return st.log.unsafe(client) }

// WaitOutside implements kv.Waits.
func (st *Store) WaitOutside(w kv.LockWait, blockers []int32) error {
	return st.locks.passing(func() error { return st.locks.graph.blockClient(w, blockers) })
}

// EndWait implements kv.Waits.
func (st *Store) EndWait(client int32) { st.locks.graph.unblockClient(client) }
