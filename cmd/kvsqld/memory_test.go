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

func TestAddressSpace(t *testing.T) {
	for limits, want := range map[string]int64{
		"Limit    Soft Limit  Hard Limit  Units\nMax address space         6144000000           unlimited            bytes     \n": 6144000000,
		"Max address space         unlimited            unlimited            bytes\n":                                              0,
		"": 0,
	} {
		if got := addressSpace(limits); got != want {
			t.Errorf("%q: %d, want %d", limits, got, want)
		}
	}
}
