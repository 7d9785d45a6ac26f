package session

import (
	"errors"
	"os"

	"kvsqld/catalog/sqlerr"
	"kvsqld/executor"
	"kvsqld/storage/kv"
)

// writesSpill lets the writes of a session's transactions go to temporary files, which
// count by themselves against temp_file_limit.
type writesSpill struct {
	kv.Spill
	bytes int64 // in files
}

const (
	// spillShare is the part of the server's memory that the writes of one transaction
	// may take before they go to files, within the two bounds.
	spillShare            = 8
	spillLeast, spillMost = 1 << 20, 512 << 20
)

// spillAt returns the memory of one transaction's writes from which they go to files.
func (srv *Server) spillAt() int64 {
	if srv.memory.Limit <= 0 {
		return spillMost
	}
	return min(max(srv.memory.Limit/spillShare, spillLeast), spillMost)
}

// beginOpt returns how the session's next transaction begins.
func (s *Session) beginOpt(iso kv.Isolation, readOnly bool) kv.BeginOpt {
	w := &s.spill
	if w.File == nil {
		w.At = s.srv.spillAt()
		w.File = func() (*os.File, error) { return executor.TempFile(s.srv.opts.TempDir) }
		w.Grow = func(n int64) error {
			if limit := s.settings.tempLimit; n > 0 && limit > 0 && w.bytes+n > limit {
				return executor.TempLimitError(limit)
			}
			w.bytes += n
			return nil
		}
	}
	// A read-only transaction may write the session's temporary tables.
	return kv.BeginOpt{Isolation: iso, ReadOnly: readOnly && !s.hasTemp, Client: s.info.PID, Grow: s.srv.grow, Spill: &w.Spill}
}

// growWrites takes memory for the writes of a transaction, or gives it back.
func (srv *Server) growWrites(n int64) error {
	err := srv.memory.Grow(n)
	if e := new(sqlerr.Error); errors.As(err, &e) {
		return e.WithHint("The changes of transactions that have not ended take memory: end some, or raise --max-memory.")
	}
	return err
}
