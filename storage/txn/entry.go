package txn

import (
	"bytes"
	"unsafe"
)

// entry is one buffered write. Key and value lie side by side in an arena
// block; 16 bytes an entry keep a bulk load's bookkeeping small.
type entry struct {
	p     *byte
	vlen  uint32
	klen  uint16
	flags uint16
}

const (
	flagDelete  = 1 << iota // the key is removed; there is no value
	flagCovered             // written under kv.Covered, or not at all
	flagNewest              // kv.Newest
	flagPrivate             // kv.Private: not committed
	flagSealed              // key and value are in a file (sealedRun)
)

// key returns the entry's key, which lives as long as the arena.
func (e entry) key() []byte { return unsafe.Slice(e.p, int(e.klen)) }

// val returns the value, or nil for a delete.
func (e entry) val() []byte {
	if e.flags&flagDelete != 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(e.p), int(e.klen))), int(e.vlen))
}

// private reports whether the commit leaves the write out.
func (e entry) private() bool { return e.flags&flagPrivate != 0 }

// keep returns the value as somebody outside may keep it: for as long as the
// transaction, which may have given up the file then. nil for a delete.
func (e entry) keep() []byte {
	if e.flags&flagSealed == 0 || e.flags&flagDelete != 0 {
		return e.val()
	}
	return append(make([]byte, 0, e.vlen), e.val()...)
}

// search returns the first position in the ascending entries whose key is not
// below key.
func search(es []entry, key []byte) int {
	lo, hi := 0, len(es)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if bytes.Compare(es[m].key(), key) < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

const (
	arenaFirst = 1 << 10 // bytes of the first block, enough for a small transaction
	arenaBlock = 1 << 20 // bytes of later blocks
)

// arena hands out memory that is freed as a whole, with the transaction.
type arena struct {
	free []byte // rest of the current block
	size int    // bytes of the current block, 0 before the first
	used int    // bytes handed out
}

// alloc returns n bytes that nothing else uses.
func (a *arena) alloc(n int) []byte {
	if n > len(a.free) {
		switch {
		case a.size == 0:
			a.size = arenaFirst
		case a.size < arenaBlock:
			a.size *= 4
		}
		if n > a.size/4 {
			a.used += n
			return make([]byte, n)
		}
		a.free = make([]byte, a.size)
	}
	b := a.free[:n:n]
	a.free = a.free[n:]
	a.used += n
	return b
}

// copy returns a copy of b in the arena.
func (a *arena) copy(b []byte) []byte {
	c := a.alloc(len(b))
	copy(c, b)
	return c
}

// entry copies a write into the arena. len(key) is in 1..65535.
func (a *arena) entry(key, val []byte, flags uint16) entry {
	b := a.alloc(len(key) + len(val))
	copy(b, key)
	copy(b[len(key):], val)
	return entry{p: &b[0], vlen: uint32(len(val)), klen: uint16(len(key)), flags: flags}
}
