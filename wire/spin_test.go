package wire

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// spinConn returns a connection over a socket, and the client's end.
func spinConn(t *testing.T) (*conn, net.Conn) {
	t.Helper()
	if !canSpin || runtime.GOMAXPROCS(0) == 1 {
		t.Skip("connections of this system only wait, as do those of a single processor")
	}
	nc, client := socketPair(t)
	srv, err := NewServer(&fakeBackend{}, Options{Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(srv, nc)
	c.initSpin()
	if c.spin.rc == nil {
		t.Fatal("a TCP connection does not look for input")
	}
	return c, client
}

// TestSpinFindsInput looks for a message that has arrived, whole or in part.
func TestSpinFindsInput(t *testing.T) {
	c, client := spinConn(t)
	c.spin.misses, c.spin.pause = 3, 64
	msg := frontendMessage(t, "Sync")
	if _, err := client.Write(msg[:2]); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(readTimeout); c.rd.buffered() == 0 && time.Now().Before(end); {
		c.spin.rest = 0
		c.awaitInput()
	}
	if c.rd.buffered() != 2 || c.spin.misses != 0 || c.spin.pause != 0 {
		t.Fatalf("%d bytes found, spinner %+v", c.rd.buffered(), c.spin)
	}
	if _, err := client.Write(msg[2:]); err != nil {
		t.Fatal(err)
	}
	c.awaitInput() // does nothing: the rest of a message is waited for
	typ, body, err := c.rd.next()
	if err != nil || typ != 'S' || len(body) != 0 {
		t.Fatalf("message %q %x, error %v", typ, body, err)
	}
	if n := c.srv.spinning.Load(); n != 0 {
		t.Errorf("%d connections are still looking", n)
	}
}

// TestSpinPauses counts the looks at a client that sends nothing.
func TestSpinPauses(t *testing.T) {
	c, _ := spinConn(t)
	looks := 0
	look := c.spin.look
	c.spin.look = func(fd uintptr) bool { looks++; return look(fd) }
	for range 10_000 {
		c.awaitInput()
	}
	// Four, then one after each pause of 16, 32, … 1024 and 1024 again.
	if looks < 10 || looks > 25 {
		t.Errorf("10,000 messages began with %d looks", looks)
	}
}

// TestSpinHeedsDeadline: a connection that is interrupted does not look.
func TestSpinHeedsDeadline(t *testing.T) {
	c, client := spinConn(t)
	if _, err := client.Write(frontendMessage(t, "Sync")); err != nil {
		t.Fatal(err)
	}
	c.interruptRead()
	c.awaitInput()
	if c.rd.buffered() != 0 {
		t.Error("input was read in spite of the interrupt")
	}
	if _, _, err := c.rd.next(); err == nil {
		t.Error("the read that follows was not interrupted")
	}
}

// TestSpinLimit: no more than a few connections look at a time.
func TestSpinLimit(t *testing.T) {
	c, _ := spinConn(t)
	c.srv.spinning.Store(spinLimit)
	c.spin.look = func(uintptr) bool { t.Error("one connection too many looks for input"); return true }
	c.awaitInput()
	if n := c.srv.spinning.Load(); n != spinLimit {
		t.Errorf("%d connections count as looking, want %d", n, spinLimit)
	}
}

// TestSpinEndsInACrowd: one that may not look, because another does, ends the
// other's look, which then pauses.
func TestSpinEndsInACrowd(t *testing.T) {
	c, _ := spinConn(t)
	look := c.spin.look
	c.spin.look = func(fd uintptr) bool {
		other := &conn{srv: c.srv, rd: newReader(c.nc, maxAuthMessage), spin: spinner{rc: c.spin.rc}}
		c.srv.spinning.Store(spinLimit)
		var stop atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			for !stop.Load() {
				other.awaitInput()
			}
		})
		for c.spin.pause == 0 {
			look(fd)
		}
		stop.Store(true)
		wg.Wait()
		c.srv.spinning.Store(1)
		return true
	}
	c.awaitInput()
	if c.spin.rest != spinMaxPause {
		t.Errorf("a look that others ended is followed by %d messages without, want %d", c.spin.rest, spinMaxPause)
	}
	if n := c.srv.spinning.Load(); n != 0 {
		t.Errorf("%d connections are still looking", n)
	}
}

// TestNoSpinAmongMany: where more connections take turns than there are processors, none
// looks, and again when few are left.
func TestNoSpinAmongMany(t *testing.T) {
	c, _ := spinConn(t)
	looks := 0
	c.spin.look = func(uintptr) bool { looks++; return true }
	turns := func(conns int32) (during int) {
		looks = 0
		for range 3 * crowdTurns / conns {
			for pid := range conns {
				c.info.PID, c.spin.rest = pid, 0
				c.awaitInput()
			}
		}
		return looks
	}
	turns(spinCrowd + 1)
	if n := turns(spinCrowd + 1); n > 0 {
		t.Errorf("%d looks among %d connections", n, spinCrowd+1)
	}
	if n := turns(spinCrowd); n < crowdTurns {
		t.Errorf("%d looks among %d connections", n, spinCrowd)
	}
}
