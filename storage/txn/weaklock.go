package txn

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
)

// Table locks of those who read and write rows do not exclude each other, and nearly
// every transaction takes some. So they do not meet at the table: they are noted in a
// list that their client has nearly for itself, while nobody holds, or waits for, a
// mode that may exclude them. Who wants such a mode says so first and then takes the
// notes about the table out of all lists into its spaceLock, where those who come
// later find it: from then on they do as everybody else (T10).
const (
	weakLists   = 64
	strongSlots = 1024

	weakModes   = 1<<kv.AccessShare | 1<<kv.RowShare | 1<<kv.RowExclusive
	strongModes = 0xff &^ (weakModes | 1<<kv.ShareUpdateExclusive) // that exclude a weak one
)

// weakLocks is the weak table locks that are in no spaceLock.
type weakLocks struct {
	lists [weakLists]weakList
	// strong counts the strong modes held and waited for, of all tables with a slot.
	strong [strongSlots]atomic.Int32
}

// weakList is the weak locks of some clients.
type weakList struct {
	mu    sync.Mutex
	holds []weakHold
	_     [128 - 32]byte // others do not touch its cache line
}

type weakHold struct {
	o     *owner
	id    uint64 // of the space
	modes uint8
}

func (w *weakLocks) list(o *owner) *weakList { return &w.lists[uint32(o.client)%weakLists] }

func (w *weakLocks) slot(id uint64) *atomic.Int32 { return &w.strong[id%strongSlots] }

// find returns the note about a lock, or nil.
func (l *weakList) find(o *owner, id uint64) *weakHold {
	for i := range l.holds {
		if h := &l.holds[i]; h.o == o && h.id == id {
			return h
		}
	}
	return nil
}

// remove drops a note.
func (l *weakList) remove(h *weakHold) {
	last := len(l.holds) - 1
	*h = l.holds[last]
	l.holds[last] = weakHold{}
	l.holds = l.holds[:last]
}

// take notes a weak mode; false if somebody may exclude it.
func (w *weakLocks) take(o *owner, id uint64, mode uint8) bool {
	slot := w.slot(id)
	if slot.Load() != 0 {
		return false
	}
	l := w.list(o)
	l.mu.Lock()
	defer l.mu.Unlock()
	if slot.Load() != 0 { // whoever raises it now comes to this list later
		return false
	}
	if h := l.find(o, id); h != nil {
		h.modes |= mode
	} else {
		l.holds = append(l.holds, weakHold{o, id, mode})
	}
	return true
}

// giveBack drops modes of a lock; it returns those that were noted here.
func (w *weakLocks) giveBack(o *owner, id uint64, modes uint8) uint8 {
	l := w.list(o)
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.find(o, id)
	if h == nil {
		return 0
	}
	modes &= h.modes
	if h.modes &^= modes; h.modes == 0 {
		l.remove(h)
	}
	return modes
}

// gatherLocked announces a strong mode and makes all weak locks of the space holders.
func (w *weakLocks) gatherLocked(sl *spaceLock) {
	w.slot(sl.id).Add(1)
	for i := range w.lists {
		l := &w.lists[i]
		l.mu.Lock()
		for k := 0; k < len(l.holds); {
			h := &l.holds[k]
			if h.id != sl.id {
				k++
				continue
			}
			for m := range kv.RowExclusive + 1 {
				if h.modes&(1<<m) != 0 {
					sl.grantTableLocked(h.o, m)
				}
			}
			l.remove(h)
		}
		l.mu.Unlock()
	}
}

// forgo takes back what gatherLocked announced, for each strong one of the modes.
func (w *weakLocks) forgo(id uint64, modes uint8) {
	if n := bits.OnesCount8(modes & strongModes); n > 0 {
		w.slot(id).Add(-int32(n))
	}
}
