package wire

import (
	"runtime"
	"syscall"
	"time"
)

// A client that sends the next message of a dialogue at once is answered faster
// when its connection has not gone to sleep meanwhile: being woken costs as much
// as a short statement. So a connection looks for input a little longer than such
// a client takes before it waits. One that has waited in vain looks again only
// after a pause, which grows; and only some of the processors are used for it.
// Where more connections are busy than there are processors, there is work enough
// that none of the server's threads goes to sleep, and a look only takes time from
// it: then nobody looks. Where fewer are, but more would look than may, those that
// do stop as well.
//
// A look wakes no other thread: it keeps its processor, because the runtime wakes
// a thread for one when a goroutine gives way, and after some that found
// something the runtime's poller is not told of input either.
const (
	spinTime     = 40 * time.Microsecond
	spinMaxPause = 1024 // messages
	spinMisses   = 4    // in a row, after which a pause begins
	spinHush     = 4    // hits in a row, after which the poller is not told of input
)

// spinner is the part of a connection that looks for input before waiting.
type spinner struct {
	rc     syscall.RawConn // nil: this connection only waits
	look   func(fd uintptr) bool
	buf    []byte // where to read to
	n      int    // bytes read
	hits   int    // in a row
	misses int
	pause  int // messages without looking that follow the next miss
	rest   int // messages without looking that are left
}

// spinLimit is the number of connections that may look for input at a time: half
// of the processors that there are when the program starts.
var spinLimit = int32(max(1, runtime.GOMAXPROCS(0)/2))

// spinCrowd is the number of busy connections up to which any looks for input.
var spinCrowd = int32(runtime.GOMAXPROCS(0))

func (c *conn) initSpin() {
	sc, ok := c.nc.(syscall.Conn)                      // not TLS, whose records are read as a whole
	if !ok || !canSpin || runtime.GOMAXPROCS(0) == 1 { // others need the only one
		return
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return
	}
	s := &c.spin
	s.rc = rc
	quiet, _ := c.nc.(interface{ hush(fd uintptr) })
	s.look = func(fd uintptr) bool {
		if s.hits >= spinHush && quiet != nil {
			quiet.hush(fd)
		}
		crowd := c.srv.crowd.Load()
		for start := time.Now(); ; {
			n, err := rawRead(fd, s.buf)
			s.n = n
			if err != syscall.EAGAIN {
				return true // what else there is the next read finds out
			}
			if c.srv.crowd.Load() != crowd { // also when there is no time left: the others had the processor
				s.pause = spinMaxPause
				return true
			}
			if time.Since(start) > spinTime {
				return true
			}
		}
	}
}

// awaitInput looks for input where that is likely to come soon. It reports
// nothing: whoever reads next finds the input, or waits for it.
func (c *conn) awaitInput() {
	s := &c.spin
	if s.rc == nil || c.rd.buffered() > 0 {
		return
	}
	if c.srv.busy.meet(c.info.PID) > spinCrowd {
		return
	}
	if c.srv.spinning.Load() >= spinLimit {
		c.srv.crowd.Add(1)
		return
	}
	if s.rest > 0 {
		s.rest--
		return
	}
	if c.srv.spinning.Add(1) > spinLimit {
		c.srv.spinning.Add(-1)
		return
	}
	defer c.srv.spinning.Add(-1)
	s.buf, s.n = c.rd.space(), 0
	if s.rc.Read(s.look) != nil {
		return // a deadline or the end, which the next read meets as well
	}
	c.rd.w += s.n
	if s.n > 0 {
		s.misses, s.pause = 0, 0
		s.hits++
		return
	}
	s.hits = 0
	if s.misses++; s.misses >= spinMisses || s.pause > 0 {
		s.pause = min(max(2*s.pause, 16), spinMaxPause)
		s.rest, s.misses = s.pause, 0
	}
}
