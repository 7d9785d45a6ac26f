package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestHeapRoom(t *testing.T) {
	for _, c := range []struct{ live, want uint64 }{
		{1 << 20, 64 << 20}, {64 << 20, 64 << 20}, {200 << 20, 200 << 20}, {256 << 20, 256 << 20}, {1024 << 20, 512 << 20},
	} {
		if got := heapRoom(c.live); got != c.want {
			t.Errorf("heapRoom(%d MB) = %d MB, want %d MB", c.live>>20, got>>20, c.want>>20)
		}
	}
}

// TestPaceHeap looks at the collector's target with little live data and, after
// a cycle that has found more, with much.
func TestPaceHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	stop := paceHeap()
	defer stop()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.NextGC < heapRoomMin {
		t.Errorf("with %d MB alive the next cycle begins at %d MB", m.HeapAlloc>>20, m.NextGC>>20)
	}
	much := make([]byte, 1<<30) // never touched
	ok := false
	for end := time.Now().Add(statementTimeout); !ok && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		runtime.ReadMemStats(&m)
		ok = m.NextGC < 1800<<20
	}
	if !ok {
		t.Errorf("with %d MB alive the next cycle begins at %d MB", m.HeapAlloc>>20, m.NextGC>>20)
	}
	runtime.KeepAlive(much)
}
