package executor

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"

	"kvsqld/catalog/sqlerr"
)

// Pool is the memory of all statements of a server, and of what transactions
// have written and not committed. Limit is in bytes, 0: none.
// Several goroutines may use it.
type Pool struct {
	Limit int64
	used  atomic.Int64
	due   atomic.Uint64 // allocations in all by which what Room has granted is in the heap
}

// Used returns the bytes accounted for at present.
func (p *Pool) Used() int64 { return p.used.Load() }

// Grow takes n more bytes (or gives them back when negative); 53200 when that
// exceeds the limit.
func (p *Pool) Grow(n int64) error {
	all := p.used.Add(n)
	if n > 0 && p.Limit > 0 && all > p.Limit {
		p.used.Add(-n)
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("All statements together need more than the server's limit of %d bytes.", p.Limit)
	}
	return nil
}

// Room makes sure that a value of n bytes may be made now: what the process has in
// use, garbage left out, stays within the limit.
func (p *Pool) Room(n int64) error {
	if p.Limit <= 0 || p.grant(n) {
		return nil
	}
	runtime.GC()
	if p.grant(n) {
		return nil
	}
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("Failed on request of size %d.", n)
}

// grant reports whether n bytes fit beside what is in use and what others were
// granted and have not allocated yet: a grant counts until the process has allocated
// as much as all grants together.
func (p *Pool) grant(n int64) bool {
	for {
		inUse, allocated := heap()
		due := p.due.Load()
		granted := uint64(0)
		if due > allocated {
			granted = due - allocated
		}
		if inUse+int64(granted)+n > p.Limit {
			return false
		}
		if p.due.CompareAndSwap(due, max(due, allocated)+uint64(n)) {
			return true
		}
	}
}

// heap returns the size of all objects, garbage that was not found yet among them,
// and of all that were ever allocated.
func heap() (inUse int64, allocated uint64) {
	s := [2]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s[:])
	return int64(s[0].Value.Uint64()), s[1].Value.Uint64()
}

// Memory is a statement's memory budget. All operators of the statement draw
// from it; Limit is the hard end in bytes (0: none), Env.WorkMem the soft one of
// each operator, Pool what it shares with other statements. Temporary files count
// apart. Several goroutines may use it.
type Memory struct {
	Limit     int64
	Pool      *Pool // nil: none
	TempLimit int64 // bytes in temporary files; 0: none
	used      atomic.Int64
	peak      atomic.Int64
	temp      atomic.Int64
	looked    atomic.Int64 // used, when the process' memory was last looked at
}

// lookEvery is how much a statement takes between two looks at what the process has
// in use: not all that a statement makes is accounted for.
const lookEvery = 16 << 20

// Used returns the bytes accounted for at present.
func (m *Memory) Used() int64 { return m.used.Load() }

// Peak returns the largest number of bytes that was in use.
func (m *Memory) Peak() int64 { return m.peak.Load() }

// Grow takes n more bytes (or gives them back when negative); 53200 when that
// exceeds the limit of the statement or of the pool.
func (m *Memory) Grow(n int64) error {
	now := m.used.Add(n)
	if m.Pool != nil {
		if err := m.Pool.Grow(n); err != nil {
			m.used.Add(-n)
			return err
		}
	}
	if n <= 0 {
		return nil
	}
	if m.Limit > 0 && now > m.Limit {
		m.used.Add(-n)
		if m.Pool != nil {
			m.Pool.used.Add(-n)
		}
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("The statement needs more than its limit of %d bytes.", m.Limit)
	}
	if last := m.looked.Load(); now > last+lookEvery || now < last {
		m.looked.Store(now)
		if now > last+lookEvery && m.Pool != nil {
			if err := m.Pool.Room(lookEvery); err != nil {
				m.used.Add(-n)
				m.Pool.used.Add(-n)
				return err
			}
		}
	}
	for p := m.peak.Load(); now > p && !m.peak.CompareAndSwap(p, now); p = m.peak.Load() {
	}
	return nil
}

// growTemp is Grow for temporary files, with 53400.
func (m *Memory) growTemp(n int64) error {
	if now := m.temp.Add(n); n > 0 && m.TempLimit > 0 && now > m.TempLimit {
		m.temp.Add(-n)
		return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "temporary file size exceeds temp_file_limit (%dkB)", m.TempLimit>>10)
	}
	return nil
}

// Release gives back all that the statement has taken, at its end.
func (m *Memory) Release() {
	if n := m.used.Swap(0); n != 0 && m.Pool != nil {
		m.Pool.used.Add(-n)
	}
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
		if err := a.mem.Grow(d); err != nil {
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
		_ = a.mem.Grow(-a.used) // giving back does not fail
	}
	a.used = 0
}
