package wire

import (
	"io"
	"strings"
	"testing"
)

// pipelined are messages that arrive together.
func pipelined(t *testing.T, lines ...string) (b []byte) {
	for _, l := range lines {
		b = append(b, frontendMessage(t, l)...)
	}
	return b
}

// An answer does not wait for the end of a statement that the client has sent
// already: that may wait for what the client does after the answer.
func TestHeldAnswerLeavesWhileAStatementWaits(t *testing.T) {
	b := &fakeBackend{running: make(chan int32)}
	srv, addr := startServer(t, b, Options{})
	c := connect(t, addr)
	c.write(pipelined(t, "Query select 1", "Query wait"))
	pid := <-b.running
	if got := c.until('Z', 1); !strings.Contains(got, "SELECT 1") {
		t.Errorf("the first answer is %s", got)
	}
	srv.Cancel(pid)
	if got := c.until('Z', 1); !strings.Contains(got, "57014") {
		t.Errorf("the second answer is %s", got)
	}
}

// Many answers come in order, whatever they are and however they leave.
func TestHeldAnswersStayInOrder(t *testing.T) {
	_, addr := startServer(t, &fakeBackend{}, Options{})
	c := connect(t, addr)
	var ask []byte
	want := ""
	for i := range 300 {
		switch i % 4 {
		case 0:
			ask, want = append(ask, pipelined(t, "Query select 1")...), want+"SELECT 1;"
		case 1:
			ask, want = append(ask, pipelined(t, "Query rows 700")...), want+"SELECT 700;"
		case 2:
			ask, want = append(ask, pipelined(t, "Query error")...), want+"23505;"
		case 3:
			ask, want = append(ask, pipelined(t, "Query notice")...), want+"NOTICE;"
		}
	}
	go c.nc.Write(ask) // the test reads meanwhile
	got := ""
	for range 300 {
		for _, l := range strings.Split(c.until('Z', 1), "\n") {
			switch {
			case strings.HasPrefix(l, "CommandComplete "):
				got += strings.Trim(strings.TrimPrefix(l, "CommandComplete "), "\"") + ";"
			case strings.HasPrefix(l, "ErrorResponse "):
				got += "23505;"
			}
		}
	}
	if got != want {
		t.Errorf("got %s", got)
	}
}

// A client that says goodbye right behind its queries gets their answers.
func TestHeldAnswersBeforeGoodbye(t *testing.T) {
	_, addr := startServer(t, &fakeBackend{}, Options{})
	c := connect(t, addr)
	c.write(pipelined(t, "Query select 1", "Query rows 3", "Terminate"))
	got := c.until(0, 1)
	if n := strings.Count(got, "ReadyForQuery"); n != 2 || !strings.HasSuffix(got, "EOF\n") {
		t.Errorf("got %s", got)
	}
	if _, err := c.nc.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}
