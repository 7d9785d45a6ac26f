package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// soakTime is how long TestSoak runs: a few seconds, or KVSQLD_SOAK minutes for
// "make soak".
func soakTime(t *testing.T) (d time.Duration, clients int) {
	if v := os.Getenv("KVSQLD_SOAK"); v != "" {
		minutes, err := strconv.ParseFloat(v, 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(minutes * float64(time.Minute)), 200
	}
	return 5 * time.Second, 60
}

// TestSoak lets many clients do everything at once — transfers between accounts,
// queues, upserts, scans, sorts that spill, cursors, COPY, DDL, advisory locks —
// while connections break and statements are cancelled. In the end no goroutine,
// file, lock, snapshot or temporary file is left, memory is what it was, and the
// money is all there.
func TestSoak(t *testing.T) {
	d, clients := soakTime(t)
	srv := startServer(t, storage.Options{NoSync: true})
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	const accounts = 500
	if _, err := admin.Exec(ctx, fmt.Sprintf(`
		CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, note text);
		INSERT INTO account SELECT i, 100, repeat('x', 50) FROM generate_series(1, %d) i;
		CREATE TABLE entry (id bigserial PRIMARY KEY, account int NOT NULL REFERENCES account, amount int NOT NULL);
		CREATE INDEX entry_account ON entry (account);
		CREATE TABLE job (id bigserial PRIMARY KEY, state text NOT NULL DEFAULT 'new');
		CREATE TABLE counter (k int PRIMARY KEY, n bigint NOT NULL)`, accounts)); err != nil {
		t.Fatal(err)
	}
	s := &soak{t: t, srv: srv, accounts: accounts, codes: map[string]int{}}
	s.run(ctx, time.Now().Add(d/10), clients) // caches and pools get their size
	before := measure(srv)
	s.run(ctx, time.Now().Add(d), clients)
	after := measure(srv)
	// What runs in the background may have work left; what stays is a leak.
	for end := time.Now().Add(statementTimeout); after.more(before) && time.Now().Before(end); after = measure(srv) {
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d statements, %d connections broken, %d cancels, errors %v", s.statements.Load(), s.broken.Load(), s.cancels.Load(), s.codes)
	t.Logf("before: %v", before)
	t.Logf("after:  %v", after)
	if after.more(before) {
		t.Errorf("something is left: before %v, after %v\n%v\n%v", before, after, before.open, after.open)
	}
	var sum, booked int
	if err := admin.QueryRow(ctx, "SELECT (SELECT sum(balance) FROM account), (SELECT coalesce(sum(amount), 0) FROM entry)").Scan(&sum, &booked); err != nil {
		t.Fatal(err)
	}
	if sum != accounts*100 || booked != 0 {
		t.Errorf("the accounts have %d, want %d; the entries sum up to %d, want 0", sum, accounts*100, booked)
	}
	var locks int
	if err := admin.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid()").Scan(&locks); err != nil || locks != 0 {
		t.Errorf("pg_locks shows %d locks (%v)", locks, err)
	}
}

// figures are what must not grow.
type figures struct {
	goroutines, locks, snapshots, sessions int
	open                                   []string
	heap                                   uint64
}

// openFiles lists what the process has open: files by their path, all sockets but
// the listening ones being the same to us. Where there is no /proc it is nothing.
func openFiles() []string {
	var out []string
	list, _ := os.ReadDir("/proc/self/fd")
	for _, f := range list {
		target, err := os.Readlink("/proc/self/fd/" + f.Name())
		if err != nil || strings.HasPrefix(target, "/proc/") {
			continue // the listing itself
		}
		kind, _, _ := strings.Cut(target, ":[")
		out = append(out, kind)
	}
	slices.Sort(out)
	return out
}

// more reports whether something is left that was not there before.
func (f figures) more(before figures) bool {
	return f.goroutines > before.goroutines+5 || len(f.open) > len(before.open) || f.locks != 0 || f.snapshots > before.snapshots ||
		f.sessions != 1 || f.heap > before.heap*2+32<<20
}

func (f figures) String() string {
	return fmt.Sprintf("%d goroutines, %d files, %d row locks, %d snapshots, %d sessions, %.1f MB of heap",
		f.goroutines, len(f.open), f.locks, f.snapshots, f.sessions, float64(f.heap)/(1<<20))
}

// measure waits until the sessions of broken connections have ended.
func measure(srv *server) figures {
	deadline := time.Now().Add(statementTimeout)
	for srv.wire.Connections() > 1 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	st := srv.store.Stats()
	return figures{goroutines: runtime.NumGoroutine(), open: openFiles(), locks: st.RowLocks, snapshots: st.OpenSnapshots,
		sessions: srv.wire.Connections(), heap: m.HeapAlloc}
}

type soak struct {
	t                           *testing.T
	srv                         *server
	accounts                    int
	statements, broken, cancels atomic.Int64
	mu                          sync.Mutex
	codes                       map[string]int // SQLSTATEs by number
}

func (s *soak) run(ctx context.Context, until time.Time, clients int) {
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() { s.client(ctx, until, c) })
	}
	wg.Wait()
}

func (s *soak) client(ctx context.Context, until time.Time, number int) {
	r := rand.New(rand.NewPCG(uint64(number), uint64(until.UnixNano())))
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			conn.Close(ctx)
		}
	}()
	for time.Now().Before(until) {
		if conn == nil || conn.IsClosed() {
			var err error
			if conn, err = pgx.Connect(ctx, s.srv.dsn()); err != nil {
				s.failed(err)
				continue
			}
		}
		switch r.IntN(60) {
		case 0: // the server is asked to cancel, after a while
			pid := conn.PgConn().PID()
			time.AfterFunc(time.Duration(r.IntN(20))*time.Millisecond, func() {
				s.srv.Cancel(int32(pid))
				s.cancels.Add(1)
			})
		case 1: // the client breaks the connection in the middle of something
			socket := conn.PgConn().Conn()
			time.AfterFunc(time.Duration(r.IntN(20))*time.Millisecond, func() { socket.Close() })
			s.broken.Add(1)
		}
		err := s.transaction(ctx, conn, r)
		s.statements.Add(1)
		if err != nil {
			s.failed(err)
			if !conn.IsClosed() {
				conn.Exec(ctx, "ROLLBACK") // fails with the connection, which is as good
			}
		}
	}
}

// failed counts an error; those that load does not explain fail the test.
func (s *soak) failed(err error) {
	var pe *pgconn.PgError
	code := "connection"
	if errors.As(err, &pe) {
		code = pe.Code
	}
	s.mu.Lock()
	s.codes[code]++
	s.mu.Unlock()
	switch code {
	case "connection", "57014", "57P01", "40001", "40P01", "55P03", "53300", "25P02":
	default:
		s.t.Errorf("unexpected: %v", err)
	}
}

// transaction does one thing of the mix.
func (s *soak) transaction(ctx context.Context, c *pgx.Conn, r *rand.Rand) error {
	exec := func(sql string, args ...any) error {
		_, err := c.Exec(ctx, sql, args...)
		return err
	}
	drain := func(sql string, args ...any) error {
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		rows.Close()
		return rows.Err()
	}
	a, b := 1+r.IntN(s.accounts), 1+r.IntN(s.accounts)
	switch r.IntN(12) {
	case 0, 1, 2:
		level := isolationLevels[r.IntN(3)]
		return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(level)}, func(tx pgx.Tx) error {
			for _, q := range []struct {
				sql  string
				args []any
			}{
				{"UPDATE account SET balance = balance - $2 WHERE id = $1", []any{a, 7}},
				{"INSERT INTO entry (account, amount) VALUES ($1, $2)", []any{a, -7}},
				{"UPDATE account SET balance = balance + $2 WHERE id = $1", []any{b, 7}},
				{"INSERT INTO entry (account, amount) VALUES ($1, $2)", []any{b, 7}},
			} {
				if _, err := tx.Exec(ctx, q.sql, q.args...); err != nil {
					return err
				}
			}
			return nil
		})
	case 3:
		return exec("INSERT INTO counter VALUES ($1, 1) ON CONFLICT (k) DO UPDATE SET n = counter.n + 1", r.IntN(20))
	case 4:
		return exec("INSERT INTO job (state) SELECT 'new' FROM generate_series(1, 3)")
	case 5:
		return exec("DELETE FROM job WHERE id IN (SELECT id FROM job ORDER BY id LIMIT 4 FOR UPDATE SKIP LOCKED)")
	case 6:
		return drain("SELECT a.id, count(*), sum(e.amount) FROM account a LEFT JOIN entry e ON e.account = a.id WHERE a.id < $1 GROUP BY a.id ORDER BY 2", a)
	case 7: // spills
		if err := exec("SET work_mem = '64kB'"); err != nil {
			return err
		}
		return drain("SELECT i, md5(i::text) FROM generate_series(1, 5000) i ORDER BY 2")
	case 8:
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "DECLARE cur CURSOR FOR SELECT * FROM account; SAVEPOINT s; FETCH 5 FROM cur; ROLLBACK TO s"); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "SELECT id FROM account WHERE id = $1 FOR SHARE", a)
			return err
		})
	case 9:
		_, err := c.PgConn().CopyFrom(ctx, strings.NewReader(fmt.Sprintf("%d\t5\n%d\t-5\n", a, b)), "COPY entry (account, amount) FROM STDIN")
		return err
	case 10:
		if r.IntN(10) > 0 {
			return drain("SELECT id FROM account WHERE id BETWEEN $1 AND $1 + 20", a)
		}
		name := fmt.Sprintf("t_%d", r.IntN(8))
		if err := exec("SET lock_timeout = '500ms'"); err != nil {
			return err
		}
		return exec(fmt.Sprintf("BEGIN; CREATE TEMP TABLE IF NOT EXISTS %[1]s (id int PRIMARY KEY); INSERT INTO %[1]s SELECT generate_series(1, 50) ON CONFLICT DO NOTHING; DROP TABLE %[1]s; COMMIT", name))
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", r.IntN(10))
		return err
	})
}
