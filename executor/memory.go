package executor

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// Pool is the memory of all statements of a server, and of what transactions
// have written and not committed. Limit is in bytes, 0: none.
// Several goroutines may use it.
type Pool struct {
	Limit   int64
	used    atomic.Int64
	granted atomic.Int64 // by Grants
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

// Room makes sure that n more bytes may be in memory now: what the process has in use,
// garbage left out, and what was granted to others stay within the limit.
func (p *Pool) Room(n int64) error {
	if p.Limit <= 0 || heapInUse()+p.granted.Load()+n <= p.Limit {
		return nil
	}
	runtime.GC()
	if heapInUse()+p.granted.Load()+n <= p.Limit {
		return nil
	}
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("Failed on request of size %d.", n)
}

// heapInUse is the size of all objects, and of garbage that was not found yet.
func heapInUse() int64 {
	s := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s[:])
	return int64(s[0].Value.Uint64())
}

// Grants is the room that a session was granted for the values that it makes. The last
// grant counts until the next, when its value is in memory or given up, so that several
// sessions are not granted the same room. Several goroutines may use it.
type Grants struct {
	pool  *Pool
	last  atomic.Int64
	asked atomic.Int64
	limit int64 // of one statement, in bytes; 0: none
}

// Grants returns a session's grants, none of which is larger than a statement may be:
// limit, in bytes, unless it is 0.
func (p *Pool) Grants(limit int64) *Grants { return &Grants{pool: p, limit: limit} }

// Room is the pool's Room, with the room kept for the session.
func (g *Grants) Room(n int64) error {
	g.asked.Add(1)
	if g.limit > 0 && n > g.limit {
		return errStatementMemory(g.limit)
	}
	g.Release()
	g.pool.granted.Add(n)
	if err := g.pool.Room(0); err != nil {
		g.pool.granted.Add(-n)
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").WithDetail("Failed on request of size %d.", n)
	}
	g.pool.granted.Add(-g.last.Swap(n))
	return nil
}

// Asked returns how often room was asked for.
func (g *Grants) Asked() int64 { return g.asked.Load() }

// Release gives back what was granted last.
func (g *Grants) Release() {
	if g.last.Load() != 0 { // mostly: the sum is everybody's
		g.pool.granted.Add(-g.last.Swap(0))
	}
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

func errStatementMemory(limit int64) error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
		WithDetail("The statement needs more than its limit of %d bytes.", limit)
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
		return errStatementMemory(m.Limit)
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

// longRow is the length from which rows are copied only when there is room for them.
const longRow = 1 << 20

// roomFor makes sure that the selected rows may be copied, and the longest of them once
// more for a while; it asks only where their values are long.
func (m *Memory) roomFor(cols []*vec.Vec, sel []uint32, n int) error {
	if m == nil || m.Pool == nil {
		return nil
	}
	if need := copyBytes(cols, sel, n, 1); need > 0 {
		return m.Pool.Room(need)
	}
	return nil
}

// copyBytes is how many bytes a copy of the selected rows takes, and so many more of the
// longest; 0 if no row is long.
func copyBytes(cols []*vec.Vec, sel []uint32, n, more int) int64 {
	all, longest := 0, 0
	for _, v := range cols {
		if v.T.Rep() != types.RepBytes {
			continue
		}
		most := 0
		for r := range n {
			if sel != nil {
				r = int(sel[r])
			}
			if !v.IsNull(r) {
				l := len(v.B[v.Idx(r)])
				all, most = all+l, max(most, l)
			}
		}
		longest += most
	}
	if longest < longRow {
		return 0
	}
	return int64(all + more*longest)
}

// growTemp is Grow for temporary files, with 53400.
func (m *Memory) growTemp(n int64) error {
	if now := m.temp.Add(n); n > 0 && m.TempLimit > 0 && now > m.TempLimit {
		m.temp.Add(-n)
		return TempLimitError(m.TempLimit)
	}
	return nil
}

// TempLimitError is the error of more bytes in temporary files than temp_file_limit.
func TempLimitError(limit int64) error {
	return sqlerr.New(sqlerr.ConfigurationLimitExceeded, "temporary file size exceeds temp_file_limit (%dkB)", limit>>10)
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
