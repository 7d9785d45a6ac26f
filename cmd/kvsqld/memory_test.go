package main

import "testing"

func TestMemTotal(t *testing.T) {
	for info, want := range map[string]int64{
		"MemTotal:       24524804 kB\nMemFree: 1 kB\n": 24524804 << 10,
		"MemFree: 1 kB\nMemTotal: 2 kB":                2 << 10,
		"MemTotal: 2 pages\n":                          0,
		"":                                             0,
	} {
		if got := memTotal(info); got != want {
			t.Errorf("%q: %d, want %d", info, got, want)
		}
	}
}
