package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"
)

// How the benchmark of the location-based services measures a system's rate. Its
// clients cost as little as clients can, and the same for every system, so that the
// servers are measured, which share the processors with them: the query is prepared
// once, the messages of all users (Bind, Execute, Sync; parameters and results in
// binary) are made before, of the answers only the headers are read, and each client
// waits in the system and not in the runtime's poller.

const (
	// lbsClients is the number of clients of the measurements of the throughput.
	lbsClients = 4
	// lbsAhead is the number of queries that a client which pipelines has sent, each
	// with its own Sync, before it reads the first answer.
	lbsAhead = 32

	lbsPrepared = "near"
)

// lbsAsker asks one system's query over one connection.
type lbsAsker struct {
	nc    *os.File // a socket that blocks
	r     *bufio.Reader
	types []uint32
	conn  *pgx.Conn // what nc was taken from, for encoding
	buf   []byte
}

func (b *lbsBench) asker(s *lbsSystem) (*lbsAsker, error) {
	c, err := b.connect(s)
	if err != nil {
		return nil, err
	}
	d, err := c.PgConn().Prepare(b.ctx, lbsPrepared, s.query, nil)
	if err != nil {
		return nil, err
	}
	h, err := c.PgConn().Hijack()
	if err != nil {
		return nil, err
	}
	defer h.Conn.Close()
	tcp, ok := h.Conn.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("%T is no TCP connection", h.Conn)
	}
	f, err := tcp.File()
	if err != nil {
		return nil, err
	}
	_ = f.Fd() // makes it block
	return &lbsAsker{nc: f, r: bufio.NewReaderSize(f, 64<<10), types: d.ParamOIDs, conn: c}, nil
}

// encode makes the messages of a query.
func (a *lbsAsker) encode(args []any) ([]byte, error) {
	bind := pgproto3.Bind{PreparedStatement: lbsPrepared, ParameterFormatCodes: []int16{1}, ResultFormatCodes: []int16{1}}
	for i, v := range args {
		p, err := a.conn.TypeMap().Encode(a.types[i], pgx.BinaryFormatCode, v, nil)
		if err != nil {
			return nil, err
		}
		bind.Parameters = append(bind.Parameters, p)
	}
	var out []byte
	for _, m := range []pgproto3.FrontendMessage{&bind, &pgproto3.Execute{}, &pgproto3.Sync{}} {
		var err error
		if out, err = m.Encode(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ask sends queries at once and returns the number of rows of all.
func (a *lbsAsker) ask(queries [][]byte) (int, error) {
	msg := queries[0]
	if len(queries) > 1 {
		a.buf = a.buf[:0]
		for _, q := range queries {
			a.buf = append(a.buf, q...)
		}
		msg = a.buf
	}
	if _, err := a.nc.Write(msg); err != nil {
		return 0, err
	}
	rows := 0
	for range queries {
		n, err := a.read()
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// read counts the rows of one answer.
func (a *lbsAsker) read() (rows int, err error) {
	for {
		head, err := a.r.Peek(5)
		if err != nil {
			return 0, err
		}
		typ, n := head[0], int(binary.BigEndian.Uint32(head[1:]))
		switch typ {
		case 'D':
			rows++
		case 'E':
			body := make([]byte, 1+n)
			_, err := io.ReadFull(a.r, body)
			return 0, fmt.Errorf("the server answers %q, %v", body, err)
		}
		if _, err := a.r.Discard(1 + n); err != nil {
			return 0, err
		}
		if typ == 'Z' {
			return rows, nil
		}
	}
}

// lbsRate is what a measurement found.
type lbsRate struct {
	perSecond float64
	times     []time.Duration // of single queries, sorted; none when pipelined
	rows      float64         // per query
	cpu       time.Duration   // of the server, per query
}

func (r *lbsRate) at(p float64) float64 {
	return float64(r.times[int(p*float64(len(r.times)-1))].Microseconds()) / 1000
}

// run asks for all users with some clients, or for as many as the time allows, some
// ahead at a time.
func (b *lbsBench) run(s *lbsSystem, askers []*lbsAsker, users [][]byte, ahead int) (lbsRate, error) {
	var next, rows, done atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var out lbsRate
	var failed error
	// A client that waits keeps the runtime's processor for a while.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + len(askers)))
	before := cpuTime(b.pids[s.dsn])
	start := time.Now()
	for _, a := range askers {
		wg.Go(func() {
			var own []time.Duration
			for {
				i := int(next.Add(int64(ahead))) - ahead
				at := time.Now()
				if i >= len(users) || at.Sub(start) > b.seconds {
					break
				}
				asked := users[i:min(len(users), i+ahead)]
				n, err := a.ask(asked)
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				if ahead == 1 {
					own = append(own, time.Since(at))
				}
				rows.Add(int64(n))
				done.Add(int64(len(asked)))
			}
			mu.Lock()
			out.times = append(out.times, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	n := max(1, done.Load())
	out.perSecond = float64(n) / time.Since(start).Seconds()
	out.rows = float64(rows.Load()) / float64(n)
	out.cpu = (cpuTime(b.pids[s.dsn]) - before) / time.Duration(n)
	slices.Sort(out.times)
	return out, failed
}

// lbsRates are the measurements of a system.
type lbsRates struct{ one, many, ahead lbsRate }

// rates measures a system warm: first all users are asked for without measuring, or
// as many as the time allows; then with one client, for the times, with several, and
// with several that pipeline.
func (b *lbsBench) rates(s *lbsSystem, users []lbsPlace, metres float64) (out lbsRates, err error) {
	askers := make([]*lbsAsker, lbsClients)
	for i := range askers {
		if askers[i], err = b.asker(s); err != nil {
			return out, err
		}
		defer askers[i].nc.Close()
	}
	args := make([][]byte, len(users))
	for i, u := range users {
		if args[i], err = askers[0].encode(b.args(s, u, metres)); err != nil {
			return out, err
		}
	}
	warm, err := b.run(s, askers, args, 1)
	if err != nil {
		return out, err
	}
	if n := len(warm.times); n < len(args) {
		args = args[:n] // these are warm
	}
	for _, m := range []struct {
		to      *lbsRate
		clients int
		ahead   int
	}{{&out.one, 1, 1}, {&out.many, lbsClients, 1}, {&out.ahead, lbsClients, lbsAhead}} {
		if *m.to, err = b.run(s, askers[:m.clients], args, m.ahead); err != nil {
			return out, err
		}
	}
	return out, nil
}

// cpuTime is the processor time that a process and its children have used, as Linux
// tells it; 0 for process 0.
func cpuTime(pid int) time.Duration {
	if pid == 0 {
		return 0
	}
	of := func(pid string) time.Duration {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil {
			return 0 // it has ended
		}
		// the fields after the name, which is in parentheses
		f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		user, _ := strconv.Atoi(f[11])
		sys, _ := strconv.Atoi(f[12])
		return time.Duration(user+sys) * 10 * time.Millisecond
	}
	p := strconv.Itoa(pid)
	sum := of(p)
	children, err := os.ReadFile("/proc/" + p + "/task/" + p + "/children")
	if err == nil {
		for _, c := range strings.Fields(string(children)) {
			sum += of(c)
		}
	}
	return sum
}

// rows adds the systems' rows of one size and radius to the table.
func (b *lbsBench) rows(live []*lbsSystem, conns map[*lbsSystem]*pgx.Conn, size, metres float64, compared int, differ map[*lbsSystem]int) {
	fmt.Fprintf(&b.table, "\n%-6s %-8s %-18s %7s %7s %10s %10s %6s %10s %6s %7s %7s  %6s %6s %6s %6s %8s %7s\n", "size", "radius", "system",
		"p50 ms", "p99 ms", "1 client/s", fmt.Sprint(lbsClients, " clients/s"), "ratio", "ahead/s", "ratio", "cpu µs", "ahead", "rows", "gets", "scans", "keys", "kB read", "answers")
	type result struct {
		s *lbsSystem
		lbsRates
		work lbsWork
	}
	var results []result
	var clustered lbsRates
	for _, s := range live {
		x := result{s: s}
		var err error
		if x.lbsRates, err = b.rates(s, b.users, metres); err == nil && s.kv {
			x.work, err = b.work(conns[s], s, metres)
		}
		if err != nil {
			b.t.Fatalf("%s: %v", s.name, err)
		}
		if s.schema() == "clustered" {
			clustered = x.lbsRates
		}
		results = append(results, x)
		b.t.Logf("size %g, %2.0f km, %-18s %8.0f/s %8.0f/s ahead", size, metres/1000, s.name, x.many.perSecond, x.ahead.perSecond)
	}
	for _, x := range results {
		equal := "equal"
		if n := differ[x.s]; n > 0 {
			equal = fmt.Sprintf("%d of %d differ", n, compared)
		}
		fmt.Fprintf(&b.table, "%-6g %-8s %-18s %7.3f %7.3f %10.0f %10.0f %6.2f %10.0f %6.2f %7d %7d  %6.1f ", size, fmt.Sprintf("%.0f km", metres/1000), x.s.name,
			x.one.at(0.5), x.one.at(0.99), x.one.perSecond, x.many.perSecond, clustered.many.perSecond/x.many.perSecond,
			x.ahead.perSecond, clustered.ahead.perSecond/x.ahead.perSecond, x.many.cpu.Microseconds(), x.ahead.cpu.Microseconds(), x.many.rows)
		if x.s.kv {
			fmt.Fprintf(&b.table, "%6.1f %6.1f %6.0f %8.1f ", x.work.gets, x.work.scans, x.work.keys, x.work.bytes/1024)
		} else {
			fmt.Fprintf(&b.table, "%6s %6s %6s %8s ", "", "", "", "")
		}
		fmt.Fprintf(&b.table, "%7s\n", equal)
	}
}
