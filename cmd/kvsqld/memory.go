package main

import (
	"os"
	"strconv"
	"strings"
)

// defaultMemory is taken where a system does not tell what it has.
const defaultMemory = 4 << 30

// halfOfMemory is half of what the machine has, or of what the control group of
// the process may use, in bytes; a quarter of its address space, if that is less.
func halfOfMemory() int64 {
	total := int64(0)
	if b, err := os.ReadFile("/proc/meminfo"); err == nil {
		total = memTotal(string(b))
	}
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > 0 && (total == 0 || n < total) {
			total = n
		}
	}
	if total == 0 {
		total = 2 * defaultMemory
	}
	// Half of a limited address space is for mapped files, and the heap is never full.
	if b, err := os.ReadFile("/proc/self/limits"); err == nil {
		if n := addressSpace(string(b)); n > 0 && n/2 < total {
			total = n / 2
		}
	}
	return total / 2
}

// addressSpace reads the line "Max address space  6144000000  unlimited  bytes" of
// proc(5)'s limits; 0 without a limit.
func addressSpace(limits string) int64 {
	for line := range strings.Lines(limits) {
		rest, ok := strings.CutPrefix(line, "Max address space")
		if f := strings.Fields(rest); ok && len(f) == 3 {
			n, err := strconv.ParseInt(f[0], 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}

// memTotal reads the line "MemTotal:  24524804 kB" of proc(5)'s meminfo.
func memTotal(info string) int64 {
	for line := range strings.Lines(info) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" && f[2] == "kB" {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}
