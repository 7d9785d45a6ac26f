package main

import (
	"runtime"
	"testing"
)

func TestSpareProcessor(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	t.Setenv("GOMAXPROCS", "")
	restore := spareProcessor()
	if got := runtime.GOMAXPROCS(0); got != n+1 {
		t.Errorf("%d processors, want %d", got, n+1)
	}
	restore()
	t.Setenv("GOMAXPROCS", "7")
	defer spareProcessor()()
	if got := runtime.GOMAXPROCS(0); got != n {
		t.Errorf("%d processors, want %d as before", got, n)
	}
}
