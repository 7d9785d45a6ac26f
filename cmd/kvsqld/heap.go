package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// The garbage collector's own rule, a cycle whenever the heap has doubled, costs
// a server with little live data a cycle every few thousand short statements,
// and one with much live data as much garbage again. So the room between two
// cycles is at least heapRoomMin, from heapRoomFull on it grows slower than the
// live heap, and a server at rest gives back what its load has used.
const (
	heapRoomMin  = 64 << 20
	heapRoomFull = 256 << 20
	restInterval = 10 * time.Second
	restAllocs   = 1 << 20 // what a server at rest allocates at most in the interval
)

// heapRoom is the garbage that may pile up on a live heap before a cycle.
func heapRoom(live uint64) uint64 {
	if live > heapRoomFull {
		return heapRoomFull + (live-heapRoomFull)/3
	}
	return max(live, heapRoomMin)
}

// heapPacer sets the collector's target after each cycle.
type heapPacer struct {
	live    [1]metrics.Sample
	percent int
	stopped atomic.Bool
}

// paceHeap applies the policy, unless the environment has one, until the
// returned function is called.
func paceHeap() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	p := &heapPacer{percent: 100}
	p.live[0].Name = "/gc/heap/live:bytes"
	p.set()
	p.watch()
	done := make(chan struct{})
	go rest(done)
	return func() {
		close(done)
		p.stopped.Store(true)
	}
}

// watch calls set after the next cycle: that is when an object which nobody
// holds is found.
func (p *heapPacer) watch() {
	sentinel := new([16]byte)
	runtime.AddCleanup(sentinel, func(p *heapPacer) {
		if !p.stopped.Load() {
			p.set()
			p.watch()
		}
	}, p)
}

// set makes the next cycle begin when heapRoom is used up. Small changes are
// left out, as each stops the world for a moment.
func (p *heapPacer) set() {
	metrics.Read(p.live[:])
	live := max(p.live[0].Value.Uint64(), 4<<20)
	percent := int(heapRoom(live) * 100 / live)
	if d := percent - p.percent; d*8 > p.percent || -d*8 > p.percent {
		debug.SetGCPercent(percent)
		p.percent = percent
	}
}

// rest returns memory to the operating system once the server has become idle.
func rest(done <-chan struct{}) {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	tick := time.NewTicker(restInterval)
	defer tick.Stop()
	last, freed := uint64(0), uint64(0) // allocations at the last look, and when memory was given back
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		metrics.Read(s)
		now := s[0].Value.Uint64()
		if now-last < restAllocs && now-freed > 8*restAllocs {
			debug.FreeOSMemory()
			freed = now
		}
		last = now
	}
}
