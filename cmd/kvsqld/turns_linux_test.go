package main

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLongTurns(t *testing.T) {
	runtime.LockOSThread() // so that this thread is there throughout
	defer runtime.UnlockOSThread()
	set := longTurns()
	if set == nil {
		t.Skip("the kernel has no turns to choose, or others were chosen")
	}
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, long := range []bool{true, false} {
		if err := set(long); err != nil {
			t.Fatal(err)
		}
		want := before.Runtime
		if long {
			want = uint64(longTurn)
		}
		for _, id := range []int{unix.Gettid(), os.Getpid()} { // the second is the first thread's
			got, err := unix.SchedGetAttr(id, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got.Runtime != want || got.Nice != before.Nice {
				t.Errorf("long %t, thread %d: turns of %d ns at nice %d, want %d at %d", long, id, got.Runtime, got.Nice, want, before.Nice)
			}
		}
	}
}
