package kv

import (
	"sort"
	"sync"
	"sync/atomic"
)

// FileStats counts what one or more transactions did in one space. Read it
// with Load of each field; several goroutines may count at once.
type FileStats struct {
	Gets         atomic.Int64 // keys asked for by Get and BatchGet
	Scans        atomic.Int64 // range scans started
	KeysRead     atomic.Int64 // pairs returned by gets and scans, and keys passed over: ScanOpt.Skip
	BytesRead    atomic.Int64 // key and value bytes of those
	KeysWritten  atomic.Int64 // puts and deletes
	BytesWritten atomic.Int64 // key and value bytes of those
}

// Stats collects FileStats per space. The zero value is ready; a nil *Stats
// counts nothing and costs nothing.
type Stats struct {
	mu    sync.RWMutex
	files map[Space]*FileStats
}

// File returns the counters of a space, which it makes at the first call.
func (s *Stats) File(sp Space) *FileStats {
	s.mu.RLock()
	f := s.files[sp]
	s.mu.RUnlock()
	if f != nil {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f = s.files[sp]; f == nil {
		if s.files == nil {
			s.files = make(map[Space]*FileStats)
		}
		f = new(FileStats)
		s.files[sp] = f
	}
	return f
}

// Spaces returns the spaces that were touched, by DB, File and ID.
func (s *Stats) Spaces() []Space {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Space, 0, len(s.files))
	for sp := range s.files {
		out = append(out, sp)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.DB != b.DB {
			return a.DB < b.DB
		}
		if a.File != b.File {
			return a.File < b.File
		}
		return a.ID < b.ID
	})
	return out
}
