package txn

import (
	"slices"

	"kvsqld/storage/kv"
)

// lockMark is what a transaction held when LockMark was called.
type lockMark struct {
	rows, upgrades, wrote int
	tables                []tableHold
}

// LockMark implements kv.Txn.
func (t *Txn) LockMark() kv.LockMark {
	t.marked = len(t.owner.rows)
	t.owner.marked = true
	return &lockMark{rows: len(t.owner.rows), upgrades: len(t.owner.upgrades), wrote: len(t.owner.wrote),
		tables: append([]tableHold(nil), t.owner.tables...)}
}

// UnlockTo implements kv.Txn.
func (t *Txn) UnlockTo(m kv.LockMark) {
	at := m.(*lockMark)
	lt, o := t.st.locks, &t.owner
	if len(o.wrote) > at.wrote {
		lt.undoWrote(o, at.wrote)
	}
	if len(o.upgrades) > at.upgrades {
		lt.undoUpgrades(o, at.upgrades)
	}
	if len(o.rows) > at.rows {
		lt.releaseRowsFrom(o, at.rows, nil)
	}
	kept := o.tables[:0]
	for _, h := range o.tables {
		var was uint8
		for _, x := range at.tables {
			if x.sl == h.sl {
				was = x.modes
			}
		}
		if drop := h.modes &^ was; drop != 0 {
			lt.releaseTable(o, h.sl, drop)
		}
		if was != 0 {
			kept = append(kept, tableHold{sl: h.sl, modes: was})
		}
	}
	clear(o.tables[len(kept):])
	o.tables, o.tableAt = kept, nil
}

// Unlock implements kv.Txn.
func (t *Txn) Unlock(sp kv.Space, keys ...[]byte) {
	if len(keys) == 0 || len(t.owner.rows) <= t.marked {
		return
	}
	of := make(map[string]bool, len(keys))
	for _, k := range keys {
		of[string(k)] = true
	}
	t.st.locks.releaseRowsFrom(&t.owner, t.marked, func(l *rowLock) bool { return l.sl.id == sp.ID && of[string(l.key)] })
}

// undoWrote takes the marks of written keys from the n-th on away, and lets those go on who
// waited for what becomes of them. All of the locks are still held.
func (lt *lockTable) undoWrote(o *owner, n int) {
	for _, l := range o.wrote[n:] {
		l.shard.mu.Lock()
		if h := l.heldBy(o); h != nil {
			if h.written = h.touched; len(l.queue) > 0 {
				lt.grantLocked(l)
			}
		}
		l.shard.mu.Unlock()
	}
	clear(o.wrote[n:])
	o.wrote = o.wrote[:n]
}

// undoUpgrades makes the row locks what they were before the n-th got stronger. All of
// them are still held.
func (lt *lockTable) undoUpgrades(o *owner, n int) {
	for i := len(o.upgrades) - 1; i >= n; i-- {
		u := o.upgrades[i]
		u.l.shard.mu.Lock()
		if h := u.l.heldBy(o); h != nil {
			h.mode = u.was
			lt.grantLocked(u.l)
		}
		u.l.shard.mu.Unlock()
	}
	o.upgrades = o.upgrades[:n]
}

// releaseRowsFrom gives back the row locks from the n-th on, of which no write is
// left: of those that which, if not nil, names, the ones that were not written and did
// not get stronger. Those of a space whose rows the owner has all are kept: it has not
// noted which came later.
func (lt *lockTable) releaseRowsFrom(o *owner, n int, which func(*rowLock) bool) {
	var kept []*rowLock
	for _, l := range slices.Backward(o.rows[n:]) { // see releaseRows
		sl := l.sl
		c := o.count(sl)
		if c.owned || which != nil && (!which(l) || slices.ContainsFunc(o.upgrades, func(u rowUpgrade) bool { return u.l == l })) {
			kept = append(kept, l)
			continue
		}
		sh := l.shard
		sh.mu.Lock()
		exclusive := false
		h := l.heldBy(o)
		if which != nil && h != nil && (h.written || h.touched) {
			sh.mu.Unlock()
			kept = append(kept, l)
			continue
		}
		if h != nil {
			exclusive = h.mode.Exclusive()
			l.dropHolder(h)
		}
		sh.held--
		if len(l.queue) > 0 {
			lt.grantLocked(l)
		}
		sh.dropLocked(l)
		sh.mu.Unlock()
		c.rows--
		if exclusive && c.excl > 0 {
			c.excl--
		}
		sl.leave()
	}
	clear(o.rows[n:])
	slices.Reverse(kept)
	o.rows = append(o.rows[:n], kept...)
}
