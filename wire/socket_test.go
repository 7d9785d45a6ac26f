package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// socketPair returns the two ends of a TCP connection.
func socketPair(t *testing.T) (ours, client net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	ours, err = ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	return ours, client
}

// TestSocketWaits: a write that finds no room goes on when the client reads, and a
// read gets what comes, up to the end.
func TestSocketWaits(t *testing.T) {
	accepted, client := socketPair(t)
	ours := newSocket(accepted)
	sent := make([]byte, 8<<20) // more than a socket takes
	for i := range sent {
		sent[i] = byte(i >> 8)
	}
	go func() { // sends back what it gets
		_, _ = io.Copy(client, client)
		_ = client.(*net.TCPConn).CloseWrite()
	}()
	wrote := make(chan error, 1)
	go func() {
		n, err := ours.Write(sent)
		if err == nil && n != len(sent) {
			err = io.ErrShortWrite
		}
		wrote <- errors.Join(err, ours.(interface{ CloseWrite() error }).CloseWrite())
	}()
	got, err := io.ReadAll(ours)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d bytes came back of %d, error %v", len(got), len(sent), err)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	if n, err := ours.Read(nil); n != 0 || err != nil {
		t.Errorf("reading nothing: %d, %v", n, err)
	}
}

// TestSocketErrors: deadlines, a reset by the client and a closed socket end reads
// and writes with the errors of package net.
func TestSocketErrors(t *testing.T) {
	accepted, client := socketPair(t)
	ours := newSocket(accepted)
	b := make([]byte, 1)
	blocked := make(chan error, 1)
	go func() {
		_, err := ours.Read(b)
		blocked <- err
	}()
	if err := ours.SetReadDeadline(past); err != nil {
		t.Fatal(err)
	}
	if err := <-blocked; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read that is interrupted: %v", err)
	}
	if err := ours.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := ours.Read(b); n != 1 || err != nil || b[0] != 'x' {
		t.Errorf("a read after the interrupt: %d bytes %q, %v", n, b, err)
	}
	if err := ours.SetWriteDeadline(past); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Write(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a write too late: %v", err)
	}
	if err := ours.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := client.(*net.TCPConn).SetLinger(0); err != nil { // closing resets
		t.Fatal(err)
	}
	client.Close()
	if n, err := ours.Read(b); n != 0 || err == nil || err == io.EOF {
		t.Errorf("a read after a reset: %d, %v", n, err)
	}
	if n, err := ours.Write(b); n != 0 || err == nil {
		t.Errorf("a write after a reset: %d, %v", n, err)
	}
	ours.Close()
	if _, err := ours.Read(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read of a closed socket: %v", err)
	}
	if _, err := ours.Write(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write to a closed socket: %v", err)
	}
}
