package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
)

func TestNegotiateProtocolVersion(t *testing.T) {
	_, addr := startServer(t, &fakeBackend{}, Options{})
	c := dial(t, addr)
	c.write(encode(t, &pgproto3.StartupMessage{ProtocolVersion: 3<<16 | 2,
		Parameters: map[string]string{"user": "u", "_pq_.x": "1"}}))
	want := []byte("v\x00\x00\x00\x13\x00\x03\x00\x00\x00\x00\x00\x01_pq_.x\x00")
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c.nc, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
	if trace := c.until('Z', 1); !strings.HasSuffix(trace, "ReadyForQuery I\n") {
		t.Errorf("after the negotiation:\n%s", trace)
	}
}

func TestEncryptionRequestsAreDeclinedByOneByte(t *testing.T) {
	_, addr := startServer(t, &fakeBackend{}, Options{})
	c := dial(t, addr)
	for _, m := range []pgproto3.Message{&pgproto3.GSSEncRequest{}, &pgproto3.SSLRequest{}} {
		c.write(encode(t, m))
		var b [1]byte
		if _, err := io.ReadFull(c.nc, b[:]); err != nil || b[0] != 'N' {
			t.Fatalf("%T: got %q, %v", m, b, err)
		}
	}
	c.startup(map[string]string{"user": "u"})
	c.until('Z', 1)

	again := dial(t, addr)
	again.write(encode(t, &pgproto3.SSLRequest{}))
	again.write(encode(t, &pgproto3.SSLRequest{}))
	if _, err := io.ReadFull(again.nc, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if trace := again.eof(); !strings.Contains(trace, "unsupported frontend protocol 1234.5679") {
		t.Errorf("second SSLRequest:\n%s", trace)
	}
}

func TestConnectionLimit(t *testing.T) {
	_, addr := startServer(t, &fakeBackend{}, Options{MaxConnections: 1})
	first := connect(t, addr)
	second := dial(t, addr)
	second.startup(map[string]string{"user": "u"})
	want := "ErrorResponse S=FATAL V=FATAL C=53300 M=\"sorry, too many clients already\"\nEOF\n"
	if got := second.eof(); got != want {
		t.Errorf("got %swant %s", got, want)
	}
	first.query("select 1")
	if trace := first.until('Z', 1); !strings.Contains(trace, "SELECT 1") {
		t.Errorf("the first connection:\n%s", trace)
	}
}

func TestStartupTimeout(t *testing.T) {
	_, addr := startServer(t, &fakeBackend{}, Options{StartupTimeout: time.Millisecond})
	if got := dial(t, addr).eof(); got != "EOF\n" {
		t.Errorf("a silent client got %q", got)
	}
}

// cancelRequest opens a connection for a cancel request and waits for its end.
func cancelRequest(t *testing.T, addr string, key pgproto3.BackendKeyData) {
	t.Helper()
	c := dial(t, addr)
	c.write(encode(t, &pgproto3.CancelRequest{ProcessID: key.ProcessID, SecretKey: key.SecretKey}))
	if got := c.eof(); got != "EOF\n" {
		t.Errorf("cancel request answered by %q", got)
	}
}

// connectKey is connect, returning the key for cancel requests too.
func connectKey(t *testing.T, addr string) (*client, pgproto3.BackendKeyData) {
	t.Helper()
	c := dial(t, addr)
	c.startup(map[string]string{"user": "u"})
	var key pgproto3.BackendKeyData
	for {
		m, ok := c.receive()
		if !ok {
			t.Fatal("no session")
		}
		switch m := m.(type) {
		case *pgproto3.BackendKeyData:
			key = *m
		case *pgproto3.ReadyForQuery:
			return c, key
		}
	}
}

func TestCancelRequest(t *testing.T) {
	b := &fakeBackend{running: make(chan int32)}
	_, addr := startServer(t, b, Options{})
	c, key := connectKey(t, addr)

	// An idle session is not disturbed, neither now nor by its next statement.
	cancelRequest(t, addr, key)
	c.query("select 1")
	if got := c.until('Z', 1); !strings.Contains(got, "SELECT 1") {
		t.Errorf("after a cancel while idle:\n%s", got)
	}

	c.query("wait")
	<-b.running
	wrong := key
	wrong.SecretKey++
	cancelRequest(t, addr, wrong)
	cancelRequest(t, addr, pgproto3.BackendKeyData{ProcessID: key.ProcessID + 7, SecretKey: key.SecretKey})
	cancelRequest(t, addr, key)
	want := "ErrorResponse S=ERROR V=ERROR C=57014 M=\"canceling statement due to user request\"\nReadyForQuery I\n"
	if got := c.until('Z', 1); got != want {
		t.Errorf("got %swant %s", got, want)
	}
	c.query("select 1")
	if got := c.until('Z', 1); !strings.Contains(got, "SELECT 1") {
		t.Errorf("after the cancel:\n%s", got)
	}

	// A COPY that waits for its client can be cancelled as well.
	c.query("copy t from stdin")
	<-b.running
	cancelRequest(t, addr, key)
	if got := c.until('Z', 1); !strings.HasSuffix(got, want) {
		t.Errorf("COPY: got %s", got)
	}
}

func TestTerminate(t *testing.T) {
	b := &fakeBackend{running: make(chan int32)}
	srv, addr := startServer(t, b, Options{})
	want := "ErrorResponse S=FATAL V=FATAL C=57P01 M=\"terminating connection due to administrator command\"\nEOF\n"

	idle, key := connectKey(t, addr)
	if !srv.Terminate(int32(key.ProcessID)) {
		t.Fatal("the connection is not known")
	}
	if got := idle.eof(); got != want {
		t.Errorf("idle: got %s", got)
	}
	busy := connect(t, addr)
	busy.query("wait")
	srv.Terminate(<-b.running)
	if got := busy.eof(); got != want {
		t.Errorf("busy: got %s", got)
	}
	if srv.Terminate(12345) || srv.Cancel(12345) {
		t.Error("an unknown PID was found")
	}
}

func TestShutdown(t *testing.T) {
	b := &fakeBackend{running: make(chan int32)}
	srv, err := NewServer(b, Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	addr := ln.Addr().String()

	idle, busy := connect(t, addr), connect(t, addr)
	copying := connect(t, addr)
	copying.query("copy t from stdin")
	<-b.running
	busy.query("wait")
	<-b.running

	ctx, grace := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Shutdown(ctx) }()

	fatal := "ErrorResponse S=FATAL V=FATAL C=57P01 M=\"terminating connection due to administrator command\"\nEOF\n"
	if got := idle.eof(); got != fatal {
		t.Errorf("idle: %s", got)
	}
	if err := <-served; err != ErrServerClosed {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("new connections are still accepted")
	}
	// Within the grace period a running statement finishes, then its
	// connection ends.
	copying.write(frontendMessage(t, `CopyData a\n`))
	copying.write(frontendMessage(t, "CopyDone"))
	if got := copying.eof(); !strings.HasSuffix(got, "CommandComplete COPY 1\nReadyForQuery I\n"+fatal) {
		t.Errorf("copying: %s", got)
	}
	grace()
	if got := busy.eof(); got != fatal {
		t.Errorf("busy: %s", got)
	}
	if err := <-stopped; err != context.Canceled {
		t.Errorf("Shutdown: %v", err)
	}
	if n := b.closed.Load(); n != 3 || srv.Connections() != 0 {
		t.Errorf("%d sessions closed, %d connections left", n, srv.Connections())
	}
}

func TestLostClientEndsItsStatement(t *testing.T) {
	b := &fakeBackend{running: make(chan int32), ended: make(chan struct{})}
	_, addr := startServer(t, b, Options{watchInterval: 10 * time.Millisecond})
	c := connect(t, addr)
	c.query("wait")
	<-b.running
	c.nc.Close()
	select {
	case <-b.ended:
	case <-time.After(readTimeout):
		t.Error("the statement still runs")
	}
}

// A message is taken in as it comes, however the network cuts it.
func TestMessagesInPieces(t *testing.T) {
	_, addr := startServer(t, &fakeBackend{}, Options{})
	c := connect(t, addr)
	for _, b := range frontendMessage(t, "Query rows 3") {
		c.write([]byte{b})
	}
	if got := c.until('Z', 1); !strings.Contains(got, "SELECT 3") {
		t.Errorf("got %s", got)
	}
}

func TestLargeMessages(t *testing.T) {
	_, addr := startServer(t, &fakeBackend{}, Options{MaxMessageBytes: 4 << 20})
	c := connect(t, addr)
	c.query("long 3000000")
	if got := c.until('Z', 1); !strings.Contains(got, "DataRow 3000000 bytes") {
		t.Errorf("got %s", got)
	}
	c.query("-- " + strings.Repeat("x", 3<<20))
	if got := c.until('Z', 1); got != "EmptyQueryResponse\nReadyForQuery I\n" {
		t.Errorf("got %s", got)
	}
	c.write(binary.BigEndian.AppendUint32([]byte{'Q'}, 5<<20))
	want := "ErrorResponse S=FATAL V=FATAL C=08P01 M=\"invalid message length\"\nEOF\n"
	if got := c.eof(); got != want {
		t.Errorf("got %swant %s", got, want)
	}
}

// The log has what the client is not shown.
func TestInternalErrorsAreLogged(t *testing.T) {
	var log bytes.Buffer
	b := &fakeBackend{}
	srv, err := NewServer(b, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		newConn(srv, ours).serve()
	}()
	c := wrap(t, theirs)
	c.startup(map[string]string{"user": "u"})
	c.until('Z', 1)
	c.query("oops")
	c.until('Z', 1)
	c.query("panic")
	c.until('Z', 1)
	c.write(frontendMessage(t, "Terminate"))
	<-done
	for _, want := range []string{"the disk is on fire", "panic: the disk is on fire", "fake_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

// TestNoRoomForMessage refuses messages that there is no memory for: they are
// skipped, and the connection goes on.
func TestNoRoomForMessage(t *testing.T) {
	room := func(n int64) error {
		if n > 3<<20 {
			return sqlerr.New(sqlerr.OutOfMemory, "out of memory")
		}
		return nil
	}
	_, addr := startServer(t, &fakeBackend{}, Options{Room: room})
	c := connect(t, addr)
	large := strings.Repeat("x", 5<<20)
	frame := func(typ byte, body string) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{typ}, uint32(len(body)+4)), body...)
	}
	refused := "ErrorResponse S=ERROR V=ERROR C=53200 M=\"out of memory\"\nReadyForQuery I\n"
	for _, typ := range []byte{'Q', 'P', 'B'} {
		msg := frame(typ, large+"\x00")
		if typ != 'Q' {
			msg = append(msg, frame('E', "\x00\x00\x00\x00\x00")...)
			msg = append(msg, frame('S', "")...)
		}
		c.write(msg)
		if got := c.until('Z', 1); got != refused {
			t.Errorf("%c: got %q", typ, got)
		}
	}
	c.write(frame('Q', "begin\x00"))
	if got := c.until('Z', 1); strings.Contains(got, "Error") {
		t.Errorf("the next query: %q", got)
	}
}
