package wire

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestTraces replays the exchanges in testdata. Directives:
//
//	connect             opens a session, replacing the one before
//	dial                opens a bare connection
//	send [until=TYPES]  sends the messages, all in one write, and prints the
//	                    answers: up to one ReadyForQuery for each message that
//	                    asks for one; with until=X up to the first message of
//	                    type X; with until=eof to the connection's end
//
// Run with -rewrite to record new answers, and read the difference.
func TestTraces(t *testing.T) {
	datadriven.Walk(t, "testdata/traces", func(t *testing.T, path string) {
		_, addr := startServer(t, &fakeBackend{}, Options{})
		var c *client
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "connect":
				c = connect(t, addr)
				return "ok\n"
			case "dial":
				c = dial(t, addr)
				return "ok\n"
			case "send":
				c.tb = t
				return exchange(t, c, d)
			}
			t.Fatalf("unknown directive %q", d.Cmd)
			return ""
		})
	})
}

func exchange(t *testing.T, c *client, d *datadriven.TestData) string {
	var out []byte
	turns := 0
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		out = append(out, frontendMessage(t, line)...)
		switch verb, _, _ := strings.Cut(line, " "); verb {
		case "Query", "Sync", "FunctionCall", "Startup":
			turns++
		}
	}
	c.write(out)
	if d.HasArg("turns") {
		d.ScanArgs(t, "turns", &turns)
	}
	if !d.HasArg("until") {
		return c.until('Z', turns)
	}
	var until string
	d.ScanArgs(t, "until", &until)
	if until == "eof" {
		return c.eof()
	}
	return c.until(until[0], 1)
}
