package session

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/parser"
	"kvsqld/planner"
	"kvsqld/storage"
	"kvsqld/wire"
)

// discarder is a client that reads nothing.
type discarder struct{ wire.ResultWriter }

func (discarder) Rows([]wire.Column, []int16, *types.FmtOpts) {}
func (discarder) Batch(*vec.Batch) error                      { return nil }
func (discarder) Complete(string, int64)                      {}

func benchClient(b *testing.B) *client {
	c := newServer(b).client(b)
	c.must("CREATE TABLE t (id int PRIMARY KEY, a int, b int, c text)")
	c.must("INSERT INTO t SELECT i, i % 100, i % 7, 'row ' || i FROM generate_series(1, 10000) AS i")
	c.must("ANALYZE t")
	return c
}

// BenchmarkPointSimple is a point query of the simple protocol with another
// literal each time.
func BenchmarkPointSimple(b *testing.B) {
	c := benchClient(b)
	ctx := context.Background()
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = "SELECT a, b, c FROM t WHERE id = " + strconv.Itoa(i+1)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := c.s.Simple(ctx, texts[i%len(texts)], discarder{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPointPrepared is Bind, Execute and Sync of a point query.
func BenchmarkPointPrepared(b *testing.B) {
	c := benchClient(b)
	ctx := context.Background()
	if err := c.s.Parse(ctx, "p", "SELECT a, b, c FROM t WHERE id = $1", nil); err != nil {
		b.Fatal(err)
	}
	bind := &wire.Bind{Statement: "p", Params: [][]byte{[]byte("4711")}}
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		if err := c.s.Bind(ctx, bind); err != nil {
			b.Fatal(err)
		}
		if err := c.s.Execute(ctx, "", 0, discarder{}); err != nil {
			b.Fatal(err)
		}
		if err := c.s.Sync(ctx, discarder{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// BenchmarkPointClients is the same of eight clients at a time, who meet at what they
// share.
func BenchmarkPointClients(b *testing.B) {
	ctx := context.Background()
	srv := benchClient(b).s.srv
	var wg sync.WaitGroup
	start := make(chan struct{})
	var todo atomic.Int64
	todo.Store(int64(b.N))
	for range 8 {
		c := srv.client(b)
		if err := c.s.Parse(ctx, "p", "SELECT a, b, c FROM t WHERE id = $1", nil); err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			bind := &wire.Bind{Statement: "p", Params: [][]byte{[]byte("4711")}}
			<-start
			for todo.Add(-16) > -16 { // mostly 16 at a time, so that the counter costs little
				for range 16 {
					if err := errors.Join(c.s.Bind(ctx, bind), c.s.Execute(ctx, "", 0, discarder{}), c.s.Sync(ctx, discarder{})); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime(b)
	close(start)
	wg.Wait()
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// BenchmarkPlanJoin parses and plans a join of ten lines.
func BenchmarkPlanJoin(b *testing.B) {
	c := benchClient(b)
	c.must("CREATE TABLE u (id int PRIMARY KEY, t int REFERENCES t, v numeric(10, 2), at timestamptz)")
	c.must("CREATE INDEX u_t ON u (t)")
	const sql = `SELECT t.a, count(*) AS n, sum(u.v) AS total,
       max(u.at) AS newest
  FROM t
  JOIN u ON u.t = t.id
  LEFT JOIN t AS other ON other.id = t.b
 WHERE t.a BETWEEN 5 AND 50
   AND u.v > 10.5
   AND (other.c LIKE 'row 1%' OR other.c IS NULL)
 GROUP BY t.a HAVING count(*) > 1
 ORDER BY total DESC, t.a LIMIT 20`
	snap := c.s.snapshot()
	b.ReportAllocs()
	for b.Loop() {
		st, err := parser.ParseOne(sql)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := planner.Plan(c.s.planContext(snap), st.Stmt); err != nil {
			b.Fatal(err)
		}
	}
}

// tpcbServer returns a server with pgbench's tables.
func tpcbServer(b *testing.B, noSync bool) *Server {
	srv := newServerOn(b, storage.Options{Dir: b.TempDir(), NoSync: noSync})
	c := srv.client(b)
	c.must("CREATE TABLE branches (bid int PRIMARY KEY, bbalance int, filler char(88))")
	c.must("CREATE TABLE tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84))")
	c.must("CREATE TABLE accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))")
	c.must("CREATE TABLE history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22))")
	c.must("INSERT INTO branches SELECT i, 0 FROM generate_series(1, 10) AS i")
	c.must("INSERT INTO tellers SELECT i, i / 10, 0 FROM generate_series(1, 100) AS i")
	c.must("INSERT INTO accounts SELECT i, i / 10000, 0, '' FROM generate_series(1, 10000) AS i")
	return srv
}

// tpcb is a client that runs pgbench's transaction, prepared, one message sequence
// for each statement.
type tpcb struct{ c *client }

func newTPCB(b *testing.B, c *client) tpcb {
	for i, sql := range []string{
		"BEGIN",
		"UPDATE accounts SET abalance = abalance + $1 WHERE aid = $2",
		"SELECT abalance FROM accounts WHERE aid = $1",
		"UPDATE tellers SET tbalance = tbalance + $1 WHERE tid = $2",
		"UPDATE branches SET bbalance = bbalance + $1 WHERE bid = $2",
		"INSERT INTO history (tid, bid, aid, delta, mtime) VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
		"END",
	} {
		if err := c.s.Parse(context.Background(), "p"+strconv.Itoa(i), sql, nil); err != nil {
			b.Fatal(err)
		}
	}
	return tpcb{c}
}

// run is the transaction number n.
func (t tpcb) run(n int) error {
	ctx := context.Background()
	num := func(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }
	aid, tid, bid, delta := num(n%10000+1), num(n%100+1), num(n%10+1), num(n%100)
	for i, params := range [][][]byte{nil, {delta, aid}, {aid}, {delta, tid}, {delta, bid}, {tid, bid, aid, delta}, nil} {
		if err := t.c.s.Bind(ctx, &wire.Bind{Statement: "p" + strconv.Itoa(i), Params: params}); err != nil {
			return err
		}
		if err := t.c.s.Execute(ctx, "", 0, discarder{}); err != nil {
			return err
		}
		if err := t.c.s.Sync(ctx, discarder{}); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkTPCB is pgbench's transaction of one client without waiting for the disk.
func BenchmarkTPCB(b *testing.B) {
	t := newTPCB(b, tpcbServer(b, true).client(b))
	b.ReportAllocs()
	before := cpuTime(b)
	for n := 0; b.Loop(); n++ {
		if err := t.run(n); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// BenchmarkTPCBClients is pgbench's transaction of several clients at a time, durable.
func BenchmarkTPCBClients(b *testing.B) {
	for _, clients := range []int{1, 8, 32} {
		b.Run(strconv.Itoa(clients), func(b *testing.B) {
			srv := tpcbServer(b, false)
			var todo atomic.Int64
			todo.Store(int64(b.N))
			var ts []tpcb
			for range clients {
				ts = append(ts, newTPCB(b, srv.client(b)))
			}
			b.ReportAllocs()
			b.ResetTimer()
			before, switches := cpuTime(b), contextSwitches(b)
			var wg sync.WaitGroup
			for _, t := range ts {
				wg.Go(func() {
					for n := todo.Add(-1); n >= 0; n = todo.Add(-1) {
						if err := t.run(int(n) * 7919); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(contextSwitches(b)-switches)/float64(b.N), "switches/op")
		})
	}
}

// BenchmarkQueue is the work of clients that take jobs from the front of a queue: what
// has been taken lies before what is left.
func BenchmarkQueue(b *testing.B) {
	srv := newServerOn(b, storage.Options{Dir: b.TempDir(), NoSync: true})
	c := srv.client(b)
	c.must("CREATE TABLE job (id int PRIMARY KEY, at int, state text)")
	c.must("CREATE INDEX ON job (at) WHERE state = 'ready'")
	const jobs = 200_000
	fill := func() {
		c.must("TRUNCATE job")
		c.must("INSERT INTO job SELECT i, i, 'ready' FROM generate_series(1, " + strconv.Itoa(jobs) + ") AS i")
		c.must("ANALYZE job")
	}
	clients := make([]*client, 8)
	for i := range clients {
		clients[i] = srv.client(b)
	}
	fill()
	b.ResetTimer()
	for done := 0; done < b.N; done += jobs {
		if done > 0 {
			b.StopTimer()
			fill()
			b.StartTimer()
		}
		var todo atomic.Int64
		todo.Store(int64(min(jobs, b.N-done)))
		var wg sync.WaitGroup
		for _, c := range clients {
			wg.Go(func() {
				for todo.Add(-1) >= 0 {
					if err := c.s.Simple(context.Background(), "UPDATE job SET state = 'done' WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY at LIMIT 1 FOR UPDATE SKIP LOCKED)", discarder{}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// BenchmarkPlanManyTables parses and plans joins of twenty tables, whose
// conditions make a chain, a star, or link every table to every other one; and
// of ten, the most for which all join orders are compared.
func BenchmarkPlanManyTables(b *testing.B) {
	const tables = 20
	c := newServer(b).client(b)
	for i := range tables {
		name := "j" + strconv.Itoa(i)
		c.must("CREATE TABLE " + name + " (id int PRIMARY KEY, k int, v int)")
		c.must("CREATE INDEX ON " + name + " (k)")
		c.must("INSERT INTO " + name + " SELECT g, g % 10, g FROM generate_series(1, " + strconv.Itoa(10*(i+1)) + ") AS g")
		c.must("ANALYZE " + name)
	}
	shapes := []struct {
		name   string
		n      int
		linked func(i, k int) bool
	}{
		{"chain", tables, func(i, k int) bool { return k == i+1 }},
		{"star", tables, func(i, k int) bool { return i == 0 }},
		{"clique", tables, func(i, k int) bool { return true }},
		{"clique of 10", 10, func(i, k int) bool { return true }},
	}
	for _, shape := range shapes {
		sql := "SELECT count(*) FROM j0"
		for i := 1; i < shape.n; i++ {
			sql += ", j" + strconv.Itoa(i)
		}
		word := " WHERE "
		for i := range shape.n {
			for k := i + 1; k < shape.n; k++ {
				if shape.linked(i, k) {
					sql += word + "j" + strconv.Itoa(i) + ".k = j" + strconv.Itoa(k) + ".id"
					word = " AND "
				}
			}
		}
		b.Run(shape.name, func(b *testing.B) {
			snap := c.s.snapshot()
			b.ReportAllocs()
			for b.Loop() {
				st, err := parser.ParseOne(sql)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := planner.Plan(c.s.planContext(snap), st.Stmt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPlanLookup finds the remembered plan of a statement by its text, as
// the simple protocol does: normalize, look up, check that the plan is current.
func BenchmarkPlanLookup(b *testing.B) {
	c := benchClient(b)
	ctx := context.Background()
	const sql = "SELECT a, b, c FROM t WHERE id = 4711 AND a BETWEEN 1 AND 100 AND c <> 'none' ORDER BY a LIMIT 10"
	for range 2 { // what comes once is not remembered
		if err := c.s.Simple(ctx, sql, discarder{}); err != nil {
			b.Fatal(err)
		}
	}
	snap := c.s.snapshot()
	b.ReportAllocs()
	for b.Loop() {
		if !c.s.fp.Run(sql) {
			b.Fatal("the statement has no normal form")
		}
		e := c.s.cache.get(c.s.fp.Key)
		if e == nil || e.plain {
			b.Fatal("the plan is not remembered")
		}
		if err := e.planned.refresh(context.Background(), c.s, snap); err != nil {
			b.Fatal(err)
		}
		if _, ok := c.s.literals(e.planned); !ok {
			b.Fatal("the literals do not fit")
		}
	}
}
