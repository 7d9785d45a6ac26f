package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// hushedSocket returns a socket whose poller is not told of short input, and the
// client's end.
func hushedSocket(t *testing.T) (s *socket, hush func(), client net.Conn) {
	t.Helper()
	accepted, client := socketPair(t)
	s = newSocket(accepted).(*socket)
	hush = func() {
		if err := s.rc.Control(s.hush); err != nil {
			t.Fatal(err)
		}
		if !s.in.hushed {
			t.Fatal("the socket cannot be hushed")
		}
	}
	hush()
	if err := s.SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
		t.Fatal(err)
	}
	return s, hush, client
}

// lowWater is the input from which the kernel tells the poller.
func lowWater(t *testing.T, s *socket) (n int) {
	t.Helper()
	var err error
	if cerr := s.rc.Control(func(fd uintptr) {
		n, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT)
	}); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	return n
}

// TestHushedSocketWaits: who waits for input gets it, whether it comes before,
// while or after the wait begins.
func TestHushedSocketWaits(t *testing.T) {
	s, hush, client := hushedSocket(t)
	b := make([]byte, 8)
	turn := make(chan int)
	go func() {
		for n := range turn {
			for range n {
				time.Sleep(time.Microsecond)
			}
			_, _ = client.Write([]byte("x")) // a lost byte fails the read
		}
	}()
	defer close(turn)
	for i := range 2_000 {
		hush()
		turn <- i % 4
		if n, err := s.Read(b); n != 1 || err != nil {
			t.Fatalf("round %d: %d bytes, error %v", i, n, err)
		}
	}
	if _, err := client.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Read(b); n != 1 || err != nil {
		t.Fatalf("%d bytes, error %v", n, err)
	}
}

// TestHushedSocketEnds: an interrupt and the client's end come through.
func TestHushedSocketEnds(t *testing.T) {
	s, hush, client := hushedSocket(t)
	if n := lowWater(t, s); n != hushBytes {
		t.Errorf("the poller is told from %d bytes on, want %d", n, hushBytes)
	}
	got := make(chan error)
	read := func() {
		_, err := s.Read(make([]byte, 8))
		got <- err
	}
	go read()
	time.Sleep(time.Millisecond)
	if err := s.SetReadDeadline(past); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an interrupted read: %v", err)
	}
	if err := s.SetReadDeadline(time.Now().Add(readTimeout)); err != nil {
		t.Fatal(err)
	}
	if n := lowWater(t, s); n != 1 && !s.in.hushed {
		t.Errorf("a read that waits is told from %d bytes on", n)
	}
	hush()
	go read()
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != io.EOF {
		t.Errorf("a read at the end: %v", err)
	}
}

// TestSpinHushes: a connection whose looks find input hushes its socket, and one
// that then waits gets the next message nevertheless.
func TestSpinHushes(t *testing.T) {
	c, client := spinConn(t)
	msg := frontendMessage(t, "Sync")
	s := c.nc.(*socket)
	deadline := time.Now().Add(readTimeout)
	for !s.in.hushed && time.Now().Before(deadline) {
		if _, err := client.Write(msg); err != nil {
			t.Fatal(err)
		}
		c.spin.rest = 0
		c.awaitInput()
		if typ, _, err := c.rd.next(); typ != 'S' || err != nil {
			t.Fatalf("message %q, error %v", typ, err)
		}
	}
	if !s.in.hushed {
		t.Fatal("the poller is told of input that the connection finds itself")
	}
	go func() {
		time.Sleep(5 * time.Millisecond)
		_, _ = client.Write(msg) // a lost message fails the read
	}()
	c.awaitInput()
	if err := s.SetReadDeadline(deadline); err != nil {
		t.Fatal(err)
	}
	if typ, _, err := c.rd.next(); typ != 'S' || err != nil {
		t.Fatalf("message %q, error %v", typ, err)
	}
}
