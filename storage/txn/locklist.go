package txn

import "kvsqld/storage/kv"

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
		for _, w := range sl.queue {
			out = append(out, kv.LockInfo{Client: w.o.client, Space: sl.id, Mode: w.mode})
		}
		sl.mu.Unlock()
	}
	lt.graph.mu.Lock()
	defer lt.graph.mu.Unlock()
	for o := range lt.graph.owners {
		if o.wait.Row {
			m := kv.AccessExclusive
			if !o.wait.RowMode.Exclusive() {
				m = kv.RowShare
			}
			out = append(out, kv.LockInfo{Client: o.client, Space: o.wait.Space, Mode: m, Rows: 1})
		}
	}
	return out
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

// WaitOutside implements kv.Waits.
func (st *Store) WaitOutside(w kv.LockWait, blockers []int32) error {
	return st.locks.graph.blockClient(w, blockers)
}

// EndWait implements kv.Waits.
func (st *Store) EndWait(client int32) { st.locks.graph.unblockClient(client) }
