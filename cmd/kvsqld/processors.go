package main

import (
	"os"
	"runtime"
)

// spareProcessor lets one more goroutine run at a time than there are
// processors, unless the environment says how many, until the returned function
// is called. Nearly always one of a busy server's threads waits for the log to
// reach the disk. The runtime counts such a thread as running until its monitor
// looks, which may be after the wait: without a spare, others that could run
// wait as well, on two processors for half of them.
func spareProcessor() (restore func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	n := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(n + 1)
	return func() { runtime.GOMAXPROCS(n) }
}
