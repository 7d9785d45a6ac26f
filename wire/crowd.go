package wire

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// crowdTurns is the number of waits for input after which the connections that they were
// of are counted.
const crowdTurns = 512

// crowdPace is the time within which crowdTurns waits come where the messages are many
// and each is short work.
const crowdPace = 100 * time.Millisecond

// crowd counts the connections that are busy.
type crowd struct {
	turns atomic.Uint32
	met   atomic.Uint64 // a bit for each connection, by its number, since they were counted
	busy  atomic.Int32  // as they were counted last

	tell     func(crowded bool) // told of a change; nil: nobody asks
	counting sync.Mutex
	last     time.Time // when they were counted; of who counts, as what follows
	found    bool      // a crowd, when they were counted last
	told     bool
}

// meet notes a wait for input of a connection and returns how many are busy.
func (w *crowd) meet(pid int32) int32 {
	bit := uint64(1) << (uint32(pid) % 64)
	if w.met.Load()&bit == 0 {
		w.met.Or(bit)
	}
	if w.turns.Add(1)%crowdTurns == 0 {
		w.count(time.Now())
	}
	return w.busy.Load()
}

// count counts those who were met. Two counts that agree and differ from what was told
// are told: one alone may be of the moment in which a client comes or goes.
func (w *crowd) count(now time.Time) {
	busy := int32(bits.OnesCount64(w.met.Swap(0)))
	w.busy.Store(busy)
	if w.tell == nil || !w.counting.TryLock() {
		return // another counts; the next count tells
	}
	defer w.counting.Unlock()
	found := busy > spinCrowd && now.Sub(w.last) < crowdPace
	if found == w.found && found != w.told {
		w.told = found
		w.tell(found)
	}
	w.found, w.last = found, now
}
