package wire

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a Server; a zero field means its default.
type Options struct {
	TLS             *tls.Config // nil: TLS is declined
	MaxConnections  int         // default 100; beyond it 53300
	MaxMessageBytes int         // longest message accepted from a client; default 1 GB, as PostgreSQL
	// Room asks whether there is memory for so many more bytes of large messages, in
	// or out; an error refuses the message (53200). nil does not ask. It is called by
	// many connections at once.
	Room func(bytes int64) error
	// Crowded is told when more connections are busy with short messages than there
	// are processors, and when they no longer are. nil is not told.
	Crowded        func(crowded bool)
	StartupTimeout time.Duration // from accept to the first ReadyForQuery; default 60 s
	Logger         *slog.Logger  // default slog.Default()

	watchInterval time.Duration // shortened by tests
}

// Server accepts connections and serves each in a goroutine of its own.
type Server struct {
	backend    Backend
	opts       Options
	conns      registry
	wg         sync.WaitGroup // one per connection, one for the watcher
	watch      sync.Once
	done       chan struct{} // closed when Shutdown begins
	mockSecret [32]byte
	metrics    Metrics
	spinning   atomic.Int32 // connections that look for input instead of waiting
	busy       crowd
	crowd      atomic.Int32 // counts those that did not because enough others do

	mu struct {
		sync.Mutex
		listeners map[net.Listener]struct{}
		closed    bool
	}
}

// Metrics counts since the server's start; the fields may be read at any time.
type Metrics struct {
	Accepted       atomic.Int64 // connections taken from a listener
	Refused        atomic.Int64 // startups that ended with an error
	Errors         atomic.Int64 // ErrorResponses sent
	CancelRequests atomic.Int64 // cancel requests with a fitting key
}

// Metrics returns the server's counters.
func (s *Server) Metrics() *Metrics { return &s.metrics }

// ErrServerClosed is returned by Serve after Shutdown has begun.
var ErrServerClosed = errors.New("wire: server closed")

// NewServer returns a server in front of b.
func NewServer(b Backend, o Options) (*Server, error) {
	if o.MaxConnections == 0 {
		o.MaxConnections = 100
	}
	if o.MaxMessageBytes == 0 {
		o.MaxMessageBytes = 1<<30 - 6
	}
	if o.StartupTimeout == 0 {
		o.StartupTimeout = 60 * time.Second
	}
	if o.watchInterval == 0 {
		o.watchInterval = defaultWatchInterval
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	s := &Server{backend: b, opts: o, done: make(chan struct{})}
	s.busy.tell = o.Crowded
	s.mu.listeners = make(map[net.Listener]struct{})
	s.conns.mu.conns = make(map[*conn]struct{})
	s.conns.mu.byPID = make(map[int32]*conn)
	if _, err := rand.Read(s.mockSecret[:]); err != nil {
		return nil, fmt.Errorf("wire: random numbers: %w", err)
	}
	return s, nil
}

// ListenAndServe listens on a TCP address and serves it.
func (s *Server) ListenAndServe(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return s.Serve(ln)
}

const (
	minAcceptBackoff = 5 * time.Millisecond
	maxAcceptBackoff = time.Second
)

// Serve accepts connections until Shutdown, then returns ErrServerClosed; or
// until the listener fails for good, then returns its error. It closes ln.
func (s *Server) Serve(ln net.Listener) error {
	if !s.track(ln) {
		_ = ln.Close()
		return ErrServerClosed
	}
	defer s.untrack(ln)
	backoff := minAcceptBackoff
	for {
		nc, err := ln.Accept()
		if err == nil {
			backoff = minAcceptBackoff
			s.start(nc)
			continue
		}
		select {
		case <-s.done:
			return ErrServerClosed
		default:
		}
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		// Out of descriptors, or a peer that left the queue: both pass.
		s.opts.Logger.Warn("accept failed", "err", err, "retry_in", backoff)
		select {
		case <-s.done:
			return ErrServerClosed
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxAcceptBackoff)
	}
}

func (s *Server) track(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return false
	}
	s.mu.listeners[ln] = struct{}{}
	s.watch.Do(func() {
		s.wg.Add(1)
		go s.watchClients()
	})
	return true
}

func (s *Server) untrack(ln net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.listeners, ln)
	_ = ln.Close() // Shutdown may have closed it
}

// keepAlive finds peers that vanished without closing within two minutes.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 60 * time.Second, Interval: 15 * time.Second, Count: 4}

func (s *Server) start(nc net.Conn) {
	if tc, ok := nc.(*net.TCPConn); ok {
		if err := tc.SetKeepAliveConfig(keepAlive); err != nil {
			s.opts.Logger.Debug("keep-alive not set", "err", err)
		}
	}
	s.metrics.Accepted.Add(1)
	c := newConn(s, nc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed || !s.conns.add(c) {
		_ = nc.Close()
		return
	}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		c.serve()
	}()
}

// Connections is the number of connections that have a PID.
func (s *Server) Connections() int { return s.conns.count() }

// Shutdown stops accepting, ends idle connections with 57P01 and waits for
// running statements, whose connections end after them. When ctx ends, what
// still runs is cancelled with 57P01; Shutdown then returns ctx's error, once
// the connections are gone or five more seconds have passed.
func (s *Server) Shutdown(ctx context.Context) error {
	s.closeListeners()
	s.conns.close()
	for _, c := range s.conns.all() {
		c.terminate(adminShutdown())
	}
	gone := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	for _, c := range s.conns.all() {
		c.cut(adminShutdown())
	}
	select {
	case <-gone:
		return ctx.Err()
	case <-time.After(cutTime):
	}
	for _, c := range s.conns.all() {
		s.opts.Logger.Warn("connection closed at shutdown while a statement runs", "remote", c.raw.RemoteAddr().String())
		_ = c.raw.Close() // its goroutine ends when the session returns
	}
	return ctx.Err()
}

func (s *Server) closeListeners() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return
	}
	s.mu.closed = true
	close(s.done)
	for ln := range s.mu.listeners {
		_ = ln.Close() // Serve notices and untracks it
	}
}
