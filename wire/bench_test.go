package wire

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

var discard = slog.New(slog.DiscardHandler)

// memoryConn is a connection without a network: it reads a prepared input and
// keeps the output.
type memoryConn struct {
	in     io.Reader
	out    bytes.Buffer
	writes int
}

func (c *memoryConn) Read(p []byte) (int, error)       { return c.in.Read(p) }
func (c *memoryConn) Write(p []byte) (int, error)      { c.writes++; return c.out.Write(p) }
func (c *memoryConn) Close() error                     { return nil }
func (c *memoryConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *memoryConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *memoryConn) SetDeadline(time.Time) error      { return nil }
func (c *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// hotLoop returns a connection with an open session that knows the statement
// "s", and the messages of one round of a prepared query.
func hotLoop(tb testing.TB) (c *conn, nc *memoryConn, round []byte) {
	tb.Helper()
	srv, err := NewServer(&fakeBackend{}, Options{Logger: discard})
	if err != nil {
		tb.Fatal(err)
	}
	nc = &memoryConn{in: bytes.NewReader(frontendMessage(tb, "Startup user=u"))}
	c = newConn(srv, nc)
	if !c.startup() {
		tb.Fatal("no session")
	}
	for _, line := range []string{"Bind _ | s | 1 | 0x0000002a | 1", "Execute _ | 0", "Sync"} {
		round = append(round, frontendMessage(tb, line)...)
	}
	nc.in = bytes.NewReader(frontendMessage(tb, "Parse s | select 1"))
	serveAll(c)
	round = round[:0]
	for _, line := range []string{"Bind _ | s | | | 1", "Execute _ | 0", "Sync"} {
		round = append(round, frontendMessage(tb, line)...)
	}
	return c, nc, round
}

// serveAll handles the messages there are, as serve does.
func serveAll(c *conn) {
	for {
		c.settle()
		typ, body, err := c.rd.next()
		if err != nil {
			return
		}
		c.handle(typ, body)
	}
}

// Binding, executing and sending a row cost the wire no allocation. The fake
// session makes a portal once per transaction.
func TestPreparedRoundDoesNotAllocate(t *testing.T) {
	c, nc, round := hotLoop(t)
	nc.in = bytes.NewReader(append(frontendMessage(t, "Query begin"), round...))
	serveAll(c)
	in := bytes.NewReader(round)
	nc.in = in
	allocs := testing.AllocsPerRun(100, func() {
		in.Reset(round)
		nc.out.Reset()
		serveAll(c)
	})
	if allocs != 0 {
		t.Errorf("%v allocations a round", allocs)
	}
	if !bytes.Contains(nc.out.Bytes(), []byte("SELECT 1")) {
		t.Errorf("answered %q", nc.out.Bytes())
	}
}

// An answer leaves in one write; answers to queries that have arrived together do.
func TestOneWritePerSync(t *testing.T) {
	c, nc, round := hotLoop(t)
	c.out.held.after = time.Hour
	in := &arrivals{parts: [][]byte{round, bytes.Repeat(round, 5), append(slices.Clone(round), round[:8]...), round[8:]}}
	nc.in = in
	nc.writes = 0
	serveAll(c)
	if nc.writes != 4 {
		t.Errorf("%d writes for 8 rounds that arrive in 4 parts", nc.writes)
	}
	if n := bytes.Count(nc.out.Bytes(), []byte("SELECT 1")); n != 8 {
		t.Errorf("%d answers", n)
	}
}

// arrivals are reads that give a part each.
type arrivals struct{ parts [][]byte }

func (a *arrivals) Read(p []byte) (int, error) {
	if len(a.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, a.parts[0])
	a.parts = a.parts[1:]
	return n, nil
}

func BenchmarkPreparedInMemory(b *testing.B) {
	c, nc, round := hotLoop(b)
	nc.in = bytes.NewReader(frontendMessage(b, "Query begin"))
	serveAll(c)
	in := bytes.NewReader(nil)
	nc.in = in
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(round)
		nc.out.Reset()
		serveAll(c)
	}
}

func BenchmarkDataRows(b *testing.B) {
	for _, f := range []struct {
		name    string
		formats []int16
	}{{"text", nil}, {"binary", []int16{formatBinary}}} {
		b.Run(f.name, func(b *testing.B) {
			const n = vec.BatchSize
			ints, texts := vec.New(types.Of(types.OInt4), n), vec.New(types.Of(types.OText), n)
			for i := range n {
				ints.I64[i], texts.B[i] = int64(i*1000), []byte("twelve bytes")
			}
			batch := &vec.Batch{Cols: []*vec.Vec{ints, texts, ints}, N: n}
			w := &results{output: &output{dst: io.Discard}}
			w.Rows(nil, f.formats, types.DefaultFmt)
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Batch(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

// BenchmarkLoopback measures constant answers over TCP, one client or eight.
func BenchmarkLoopback(b *testing.B) {
	for _, bb := range []struct {
		name    string
		clients int
		lines   []string
	}{
		{"simple/1", 1, []string{"Query select 1"}},
		{"simple/8", 8, []string{"Query select 1"}},
		{"prepared/1", 1, []string{"Bind _ | s | | | 1", "Execute _ | 0", "Sync"}},
		{"prepared/8", 8, []string{"Bind _ | s | | | 1", "Execute _ | 0", "Sync"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			_, addr := startServer(b, &fakeBackend{}, Options{})
			var round []byte
			for _, l := range bb.lines {
				round = append(round, frontendMessage(b, l)...)
			}
			conns := make([]*client, bb.clients)
			for i := range conns {
				conns[i] = connect(b, addr)
				conns[i].write(append(frontendMessage(b, "Parse s | select 1"), frontendMessage(b, "Sync")...))
				conns[i].until('Z', 1)
				if err := conns[i].nc.SetReadDeadline(time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for i, c := range conns {
				rounds := b.N / bb.clients
				if i < b.N%bb.clients {
					rounds++
				}
				wg.Go(func() {
					answer := make([]byte, 4096)
					for range rounds {
						if err := exchangeOnce(c.nc, round, answer); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rounds/s")
		})
	}
}

// exchangeOnce sends a round and reads up to ReadyForQuery.
func exchangeOnce(nc net.Conn, round, answer []byte) error {
	if _, err := nc.Write(round); err != nil {
		return err
	}
	for {
		n, err := nc.Read(answer)
		if err != nil {
			return err
		}
		if n >= 6 && answer[n-6] == 'Z' {
			return nil
		}
	}
}
