package wire

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"sync"

	"kvsqld/catalog/sqlerr"
)

// statement is the part of a connection that other goroutines may reach: the
// context of the call that runs, and the order to end the connection.
//
// One context serves many calls, so that a call costs no allocation; it is
// replaced after a call during which it was cancelled (W9).
type statement struct {
	mu struct {
		sync.Mutex
		ctx     context.Context
		cancel  context.CancelCauseFunc
		running bool
		seq     uint64        // counts begins and ends
		killed  *sqlerr.Error // what ends the connection at its next rest
	}
}

func (s *statement) renewLocked() {
	s.mu.ctx, s.mu.cancel = context.WithCancelCause(context.Background())
}

// begin opens a call into the session and returns its context.
func (s *statement) begin() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.ctx == nil {
		s.renewLocked()
	}
	s.mu.running = true
	s.mu.seq++
	return s.mu.ctx
}

// current is the context of the running call.
func (s *statement) current() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.ctx
}

// end closes the call.
func (s *statement) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.running = false
	s.mu.seq++
	if s.mu.ctx.Err() != nil {
		s.renewLocked()
	}
}

// cancel ends the context of the running call, if there is one.
func (s *statement) cancel(cause *sqlerr.Error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.running {
		s.mu.cancel(cause)
	}
	return s.mu.running
}

// kill makes the connection end with e when it next rests. The first reason
// given stays.
func (s *statement) kill(e *sqlerr.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.killed == nil {
		s.mu.killed = e
	}
}

func (s *statement) killed() *sqlerr.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.killed
}

// progress returns a number that changes with every begin and end, and whether
// a call is running.
func (s *statement) progress() (seq uint64, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.seq, s.mu.running
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
