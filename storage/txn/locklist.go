package txn

import "kvsqld/storage/kv"

var _ kv.Waits = (*Store)(nil)

// Locks implements kv.Waits.
func (st *Store) Locks() []kv.LockInfo {
	lt := st.locks
	var out []kv.LockInfo
	type key struct {
		o  *owner
		id uint64
		m  kv.TableLockMode
	}
	listed := make(map[key]bool)
	add := func(o *owner, id uint64, modes uint8) {
		for m := range kv.TableLockMode(kv.NumTableLockModes) {
			if k := (key{o, id, m}); modes&(1<<m) != 0 && !listed[k] { // a weak one may move meanwhile
				listed[k] = true
				out = append(out, kv.LockInfo{Client: o.client, Space: id, Mode: m, Granted: true})
			}
		}
	}
	for i := range lt.weak.lists {
		l := &lt.weak.lists[i]
		l.mu.Lock()
		for _, h := range l.holds {
			add(h.o, h.id, h.modes)
		}
		l.mu.Unlock()
	}
	lt.spacesMu.RLock()
	spaces := make([]*spaceLock, 0, len(lt.spaces))
	for _, sl := range lt.spaces {
		spaces = append(spaces, sl)
	}
	lt.spacesMu.RUnlock()
	for _, sl := range spaces {
		sl.mu.Lock()
		for _, h := range sl.holders {
			add(h.o, sl.id, h.modes)
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
