package wire

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// socket is a connection whose system calls keep their processor. They never
// wait, the socket being non-blocking: where there is nothing to read, or no room
// to write, the goroutine waits in the runtime's poller. The runtime does not know
// that of a system call by net.Conn. It watches each from a thread of its own,
// gives the processor of one that takes 20 µs to another thread, and then looks
// again after 20 µs for a while; a thread that is preempted in write, by the very
// client that it wakes, is enough for that.
type socket struct {
	net.Conn
	rc syscall.RawConn
	// One goroutine reads at a time, and one writes.
	in, out transfer
}

// transfer is one direction of a socket, kept so that a call makes no function.
type transfer struct {
	buf    []byte
	n      int
	err    error
	step   func(fd uintptr) bool
	hushed bool // of reads: the poller is not told of less input than hushBytes
}

// newSocket returns nc with cheaper system calls, or as it is where it has none.
func newSocket(nc net.Conn) net.Conn {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nc
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return nc
	}
	s := &socket{Conn: nc, rc: rc}
	s.in.step, s.out.step = s.in.read, s.out.write
	return s
}

// SyscallConn implements syscall.Conn.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return s.rc, nil }

// CloseWrite shuts the sending side down.
func (s *socket) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return syscall.EOPNOTSUPP
}

func (s *socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.in.begin(p)
	return s.in.end(s.rc.Read(s.in.step))
}

func (s *socket) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.out.begin(p)
	return s.out.end(s.rc.Write(s.out.step))
}

func (t *transfer) begin(p []byte) { t.buf, t.n, t.err = p, 0, nil }

// end returns what the steps brought; err is of the wait for one.
func (t *transfer) end(err error) (int, error) {
	if t.buf = nil; err == nil {
		err = t.err
	}
	return t.n, err
}

func (t *transfer) read(fd uintptr) bool {
	n, err := rawRead(fd, t.buf)
	switch {
	case err == syscall.EAGAIN:
		if !t.hushed {
			return false
		}
		// The kernel tells the poller now if something has come since the read.
		if err := setLowWater(fd, 1); err != nil {
			t.err = os.NewSyscallError("setsockopt", err)
			return true
		}
		t.hushed = false
		return false
	case err != 0:
		t.err = os.NewSyscallError("read", err)
	case n == 0:
		t.err = io.EOF
	}
	t.n = n
	return true
}

func (t *transfer) write(fd uintptr) bool {
	for t.n < len(t.buf) {
		n, err := rawCall(syscall.SYS_WRITE, fd, t.buf[t.n:])
		if err == syscall.EAGAIN {
			return false
		}
		if err != 0 {
			t.err = os.NewSyscallError("write", err)
			return true
		}
		t.n += n
	}
	return true
}

// hushBytes is small beside a socket's buffer, which need not grow for it.
const hushBytes = 16 << 10

// hush keeps short messages from the runtime's poller until a read has to wait:
// for a connection that looks for them itself. A thread that sleeps in the poller
// would be woken by each only to find that it has been read.
func (s *socket) hush(fd uintptr) {
	if !s.in.hushed {
		s.in.hushed = setLowWater(fd, hushBytes) == nil
	}
}

// setLowWater sets the bytes of input from which the kernel tells a poller. Reads
// that do not wait are not concerned.
func setLowWater(fd uintptr, n int) error {
	return syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n)
}

// rawRead reads from a socket without waiting; no bytes and no error are its end.
func rawRead(fd uintptr, p []byte) (int, syscall.Errno) { return rawCall(syscall.SYS_READ, fd, p) }

func rawCall(trap, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, err := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		if err == 0 {
			return int(n), 0
		}
		if err != syscall.EINTR {
			return 0, err
		}
	}
}
