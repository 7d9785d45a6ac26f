package executor

import (
	"sync/atomic"

	"kvsqld/catalog/sqlerr"
)

// Memory is a statement's memory budget. All operators of the statement draw
// from it; Limit is the hard end (0: none), Env.WorkMem the soft one of each
// operator. Several goroutines may use it.
type Memory struct {
	Limit int64 // bytes
	used  atomic.Int64
	peak  atomic.Int64
}

// Used returns the bytes accounted for at present.
func (m *Memory) Used() int64 { return m.used.Load() }

// Peak returns the largest number of bytes that was in use.
func (m *Memory) Peak() int64 { return m.peak.Load() }

// grow takes n more bytes (or gives them back when negative); 53200 when that
// exceeds the limit.
func (m *Memory) grow(n int64) error {
	now := m.used.Add(n)
	if n <= 0 {
		return nil
	}
	if m.Limit > 0 && now > m.Limit {
		m.used.Add(-n)
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("The statement needs more than its limit of %d bytes.", m.Limit)
	}
	for p := m.peak.Load(); now > p && !m.peak.CompareAndSwap(p, now); p = m.peak.Load() {
	}
	return nil
}

// account is one operator's share of the statement's memory.
type account struct {
	mem  *Memory
	soft int64 // bytes after which the operator should spill
	used int64
	peak int64
}

func (a *account) open(env *Env) {
	a.close()
	a.mem, a.soft, a.peak = env.Mem, env.WorkMem, 0
}

// set makes the operator's use n bytes.
func (a *account) set(n int64) error {
	d := n - a.used
	if d == 0 {
		return nil
	}
	if a.mem != nil {
		if err := a.mem.grow(d); err != nil {
			return err
		}
	}
	a.used = n
	a.peak = max(a.peak, n)
	return nil
}

// over reports whether the operator should spill.
func (a *account) over() bool { return a.soft > 0 && a.used > a.soft }

func (a *account) close() {
	if a.mem != nil && a.used != 0 {
		a.mem.used.Add(-a.used)
	}
	a.used = 0
}
