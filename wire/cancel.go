package wire

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"kvsqld/catalog/sqlerr"
)

// statement is the part of a connection that other goroutines may reach: the
// context of the call that runs, and the order to end the connection.
//
// One context serves many calls, so that a call costs no allocation; it is
// replaced after a call during which it was cancelled (W9). Nor does a call take a
// lock: who cancels sets hit first and looks then whether a call runs, and the end
// of a call does the two in the other order. So one that is cancelled knows it, and
// its end waits for who does it: the context of the next call is another one.
type statement struct {
	seq     atomic.Uint64 // counts begins and ends: odd while a call runs
	hit     atomic.Bool   // a running call may be being cancelled
	killed  atomic.Pointer[sqlerr.Error]
	severed atomic.Bool // killed, and no call is to begin any more

	ctx context.Context // written by the connection's goroutine alone, which may read it
	mu  struct {
		sync.Mutex
		cancel context.CancelCauseFunc // of ctx
	}
}

func (s *statement) renewLocked() {
	s.ctx, s.mu.cancel = context.WithCancelCause(context.Background())
}

// begin opens a call into the session and returns its context.
func (s *statement) begin() context.Context {
	if s.ctx == nil {
		s.mu.Lock()
		s.renewLocked()
		s.mu.Unlock()
	}
	s.seq.Add(1)
	return s.ctx
}

// current is the context of the running call, for the goroutine that began it.
func (s *statement) current() context.Context { return s.ctx }

// end closes the call.
func (s *statement) end() {
	s.seq.Add(1)
	if !s.hit.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hit.Store(false)
	if s.ctx.Err() != nil {
		s.renewLocked()
	}
}

// cancel ends the context of the running call, if there is one.
func (s *statement) cancel(cause *sqlerr.Error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hit.Store(true)
	_, running := s.progress()
	if running {
		s.mu.cancel(cause)
	}
	return running
}

// kill makes the connection end with e when it next rests. The first reason
// given stays.
func (s *statement) kill(e *sqlerr.Error) { s.killed.CompareAndSwap(nil, e) }

// sever is kill for a connection whose message may have been read already: the
// call for it does not begin. One that has begun is to be cancelled afterwards.
func (s *statement) sever(e *sqlerr.Error) {
	s.kill(e)
	s.severed.Store(true)
}

// refusal is the reason why the call that has just begun must do nothing, or nil.
func (s *statement) refusal() error {
	if s.severed.Load() {
		return s.killed.Load()
	}
	return nil
}

// progress returns a number that changes with every begin and end, and whether
// a call is running.
func (s *statement) progress() (seq uint64, running bool) {
	seq = s.seq.Load()
	return seq, seq%2 == 1
}

// registry holds the live connections: all of them, and by backend PID those
// that have been admitted.
type registry struct {
	mu struct {
		sync.Mutex
		conns   map[*conn]struct{}
		byPID   map[int32]*conn
		lastPID int32
		closed  bool
	}
}

// add takes in an accepted connection; it refuses when the server is closing.
func (r *registry) add(c *conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.closed {
		return false
	}
	r.mu.conns[c] = struct{}{}
	return true
}

// admit gives c a PID and a secret, or refuses when limit connections have
// theirs already.
func (r *registry) admit(c *conn, limit int) error {
	var secret [4]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.closed {
		return fatal(sqlerr.CannotConnectNow, "the database system is shutting down")
	}
	if len(r.mu.byPID) >= limit {
		return fatal(sqlerr.TooManyConnections, "sorry, too many clients already")
	}
	for {
		r.mu.lastPID = max(1, r.mu.lastPID+1) // wraps to 1
		if _, taken := r.mu.byPID[r.mu.lastPID]; !taken {
			break
		}
	}
	c.info.PID = r.mu.lastPID
	c.secret = binary.BigEndian.Uint32(secret[:])
	r.mu.byPID[c.info.PID] = c
	return nil
}

func (r *registry) remove(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.mu.conns, c)
	if c.info.PID != 0 {
		delete(r.mu.byPID, c.info.PID)
	}
}

// find returns the connection of a PID, or nil.
func (r *registry) find(pid int32) *conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.byPID[pid]
}

// all returns the live connections.
func (r *registry) all() []*conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*conn, 0, len(r.mu.conns))
	for c := range r.mu.conns {
		list = append(list, c)
	}
	return list
}

func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.mu.byPID)
}

// close makes add and admit refuse from now on.
func (r *registry) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.closed = true
}

// cancelRequest serves a CancelRequest packet. Whether the key fits is not
// told to the peer, and takes the same time either way.
func (s *Server) cancelRequest(pid int32, secret uint32) {
	c := s.conns.find(pid)
	if c == nil {
		return
	}
	var got, want [4]byte
	binary.BigEndian.PutUint32(got[:], secret)
	binary.BigEndian.PutUint32(want[:], c.secret)
	if subtle.ConstantTimeCompare(got[:], want[:]) == 1 {
		s.metrics.CancelRequests.Add(1)
		c.cancel(canceledByUser())
	}
}

// Cancel cancels what the connection runs, as a cancel request does
// (pg_cancel_backend). It reports whether there is such a connection.
func (s *Server) Cancel(pid int32) bool {
	c := s.conns.find(pid)
	if c == nil {
		return false
	}
	c.cancel(canceledByUser())
	return true
}

// Terminate ends a connection, cancelling what it runs (pg_terminate_backend).
// It reports whether there is such a connection.
func (s *Server) Terminate(pid int32) bool {
	c := s.conns.find(pid)
	if c == nil {
		return false
	}
	c.cut(adminShutdown())
	return true
}
