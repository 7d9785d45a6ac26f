package session

import (
	"context"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// What a session sees of the others, and does to them.

// maySee reports whether the current role sees what a session of role other does:
// it has that role, or pg_read_all_stats.
func (s *Session) maySee(other string) bool {
	snap := s.snapshot()
	return snap.HasRole(s.db, s.user, other) || snap.HasRole(s.db, s.user, catalog.RoleReadAllStats)
}

// signalled is what is done to another session, for errors: "process is being
// terminated" and "terminate superuser process", say.
type signalled struct{ what, super string }

var (
	cancelling  = signalled{"query is being canceled", "cancel superuser query"}
	terminating = signalled{"process is being terminated", "terminate superuser process"}
)

// maySignal reports 42501 unless the current role may end the statement or the
// connection of a session that role other logged into.
func (s *Session) maySignal(other string, to signalled) error {
	snap := s.snapshot()
	switch {
	case snap.IsSuper(s.user):
	case snap.IsSuper(other):
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be a superuser to %s", to.super)
	case !snap.HasRole(s.db, s.user, other) && !snap.HasRole(s.db, s.user, catalog.RoleSignalBackend):
		return sqlerr.New(sqlerr.InsufficientPrivilege,
			"must be a member of the role whose %s or member of pg_signal_backend", to.what)
	}
	return nil
}

// signal is pg_cancel_backend and pg_terminate_backend.
func (c *catalogCall) signal(send func(pid int32) bool, to signalled) (types.Datum, error) {
	pid := int32(c.num(0))
	if other := c.srv.session(pid); other != nil {
		if err := c.maySignal(other.authUser, to); err != nil {
			return types.Datum{}, err
		}
		if send != nil && send(pid) {
			return types.Bool(true), nil
		}
	}
	c.tell(warning(sqlerr.Warning, "PID %d is not a PostgreSQL backend process", pid))
	return types.Bool(false), nil
}

// leaveTime is how long a database's other sessions may take to end, as in PostgreSQL:
// a client that has just closed its connection need not wait for that.
const leaveTime = 5 * time.Second

// vacate waits until no other session is in a database, and returns how many are
// left after leaveTime. With force it ends them first: 42501 where it may not.
func (s *Session) vacate(ctx context.Context, db types.OID, force bool) (int, error) {
	others := s.srv.inDatabase(db, s)
	if len(others) == 0 {
		return 0, nil
	}
	if force {
		for _, o := range others {
			if err := s.maySignal(o.authUser, terminating); err != nil {
				return 0, err
			}
		}
		s.srv.end(others)
	}
	ctx, stop := context.WithTimeoutCause(ctx, leaveTime, errStillThere)
	defer stop()
	for {
		left := s.srv.leaving()
		n := len(s.srv.inDatabase(db, s))
		if n == 0 {
			return 0, nil
		}
		select {
		case <-left:
		case <-ctx.Done():
			if err := context.Cause(ctx); err != errStillThere {
				return 0, err
			}
			return n, nil
		}
	}
}

var errStillThere = sqlerr.New(sqlerr.ObjectInUse, "sessions are left")

// session returns the session with a process number, or nil.
func (srv *Server) session(pid int32) *Session {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.mu.sessions[pid]
}

// inDatabase returns the sessions connected to a database, other than except.
func (srv *Server) inDatabase(db types.OID, except *Session) (out []*Session) {
	for _, s := range srv.sessions() {
		if s.db == db && s != except {
			out = append(out, s)
		}
	}
	return out
}

// end cuts the connections of sessions, which end when they notice.
func (srv *Server) end(list []*Session) {
	if srv.Terminate == nil {
		return
	}
	for _, s := range list {
		srv.Terminate(s.info.PID)
	}
}

// leaving returns a channel that is closed when the next session ends.
func (srv *Server) leaving() <-chan struct{} {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.mu.left == nil {
		srv.mu.left = make(chan struct{})
	}
	return srv.mu.left
}
