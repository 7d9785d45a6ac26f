package main

import (
	"log/slog"
	"os"
	"runtime"
)

// spareCount is how many more goroutines run at a time than there are processors.
const spareCount = 2

// spareProcessors lets spareCount more goroutines run at a time than there are
// processors, unless the environment says how many, until the returned function
// is called. Nearly always one of a busy server's threads waits for the log to
// reach the disk, and often another for a page of a mapped file or is put aside by
// the kernel for a client that it has just answered. The runtime counts such a
// thread as running: the first until its monitor looks, which may be after the
// wait, the others for as long as it lasts. Without a spare, goroutines that could
// run wait as well, on two processors for half of them. Each thread more is one
// more that goes to sleep and is woken, so that more than two gain little.
func spareProcessors() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	n := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(n + spareCount)
	return func() { runtime.GOMAXPROCS(n) }
}

// adaptTurns returns what lets the server's threads have long turns while it is crowded;
// nil where set is. Where that fails, the turns stay as they are.
func adaptTurns(set func(long bool) error, log *slog.Logger) (crowded func(bool)) {
	if set == nil {
		return nil
	}
	return func(crowded bool) {
		if err := set(crowded); err != nil {
			log.Debug("threads keep their turns", "err", err)
		}
	}
}
