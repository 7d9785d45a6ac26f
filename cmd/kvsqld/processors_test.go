package main

import (
	"runtime"
	"testing"
)

func TestSpareProcessors(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	t.Setenv("GOMAXPROCS", "")
	restore := spareProcessors()
	if got := runtime.GOMAXPROCS(0); got != n+spareCount {
		t.Errorf("%d processors, want %d", got, n+spareCount)
	}
	restore()
	t.Setenv("GOMAXPROCS", "7")
	defer spareProcessors()()
	if got := runtime.GOMAXPROCS(0); got != n {
		t.Errorf("%d processors, want %d as before", got, n)
	}
}
