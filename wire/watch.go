package wire

import (
	"syscall"
	"time"
)

// defaultWatchInterval is how often running statements are looked at. A
// statement whose client is gone is noticed after one to two intervals.
const defaultWatchInterval = time.Second

// watchClients cancels statements whose client has closed the connection,
// which their own goroutines cannot see while they compute. It asks the kernel
// and reads nothing, so it never competes for input (W1).
func (s *Server) watchClients() {
	defer s.wg.Done()
	tick := time.NewTicker(s.opts.watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		for _, c := range s.conns.all() {
			seq, running := c.stmt.progress()
			if running && seq == c.watchSeq && hungUp(c) {
				c.cut(clientLost(nil))
			}
			c.watchSeq = seq
		}
	}
}

// hungUp reports whether the peer has closed its end of the socket.
func hungUp(c *conn) bool {
	sc, ok := c.raw.(syscall.Conn)
	if !ok {
		return false
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	if rc.Control(func(fd uintptr) { gone = peerClosed(fd) }) != nil {
		return false // closed on our side
	}
	return gone
}
