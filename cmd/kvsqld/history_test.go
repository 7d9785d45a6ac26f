package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"kvsqld/storage"
)

// historyRounds is the number of histories per level and engine: a few in every
// test, as many as KVSQLD_HISTORIES says for "make histories".
func historyRounds(t *testing.T) int {
	if v := os.Getenv("KVSQLD_HISTORIES"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 1
}

const (
	historyClients = 10
	historyTxns    = 60 // per client and round
	historyKeys    = 6
)

// TestListHistories runs random transactions of appends and reads over lists, some
// of which lose their connection, and looks for what the level forbids.
func TestListHistories(t *testing.T) {
	for engine, o := range map[string]storage.Options{"mem": {Store: "mem"}, "bolt": {NoSync: true}} {
		t.Run(engine, func(t *testing.T) {
			srv := startServer(t, o)
			for i := range historyRounds(t) {
				for _, level := range isolationLevels {
					txns := runLists(t, srv, level, uint64(i))
					done := 0
					for _, x := range txns {
						if x.state != aborted {
							done++
						}
					}
					if faults := checkLists(level, txns); len(faults) > 0 {
						t.Fatalf("%s, round %d: %s", level, i, strings.Join(faults, "\n"))
					}
					if done < len(txns)/10 {
						t.Errorf("%s: only %d of %d transactions were committed", level, done, len(txns))
					}
					t.Logf("%s: %d of %d transactions committed", level, done, len(txns))
				}
			}
		})
	}
}

// runLists makes one history over fresh tables: a list per key, in a table with a
// second index so that reads take different ways.
func runLists(t *testing.T, srv *server, level string, seed uint64) []*listTxn {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	admin, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	if _, err := admin.Exec(ctx, `DROP TABLE IF EXISTS lists; CREATE TABLE lists (k int PRIMARY KEY, kind int, v int[] NOT NULL);
		CREATE INDEX lists_kind ON lists (kind)`); err != nil {
		t.Fatal(err)
	}
	var (
		next atomic.Int64
		mu   sync.Mutex
		all  []*listTxn
		wg   sync.WaitGroup
	)
	for c := range historyClients {
		wg.Go(func() {
			l := &lister{t: t, srv: srv, level: level, session: c, next: &next, r: rand.New(rand.NewPCG(seed, uint64(c)))}
			defer l.close(ctx)
			for range historyTxns {
				x := l.transaction(ctx)
				mu.Lock()
				x.id = len(all)
				all = append(all, x)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// At once: the last COMMIT, whose client has left, may come at any time.
	tx, err := admin.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	end := &listTxn{id: len(all), session: historyClients}
	for k := range historyKeys {
		list, err := readList(ctx, tx, k)
		if err != nil {
			t.Fatal(err)
		}
		end.ops = append(end.ops, listOp{key: k, list: list})
	}
	return append(all, end)
}

// lister is one client of a list history.
type lister struct {
	t       *testing.T
	srv     *server
	level   string
	session int
	next    *atomic.Int64 // values
	r       *rand.Rand
	conn    *pgx.Conn
}

func (l *lister) close(ctx context.Context) {
	if l.conn != nil {
		l.conn.Close(ctx)
	}
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func readList(ctx context.Context, q querier, key int) ([]int, error) {
	rows, err := q.Query(ctx, "SELECT v FROM lists WHERE k = $1", key)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]int])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return list, err
}

// transaction runs a random transaction. After an error its reads are forgotten
// with it, since they count only if it commits.
func (l *lister) transaction(ctx context.Context) *listTxn {
	x := &listTxn{session: l.session, state: aborted}
	if l.conn == nil || l.conn.IsClosed() {
		var err error
		if l.conn, err = pgx.Connect(ctx, l.srv.dsn()); err != nil {
			l.t.Error(err)
			return x
		}
	}
	if _, err := l.conn.Exec(ctx, "BEGIN ISOLATION LEVEL "+l.level); err != nil {
		l.expected(err)
		return x
	}
	kill := l.r.IntN(40)
	for range 1 + l.r.IntN(4) {
		if err := l.step(ctx, x); err != nil {
			l.expected(err)
			l.conn.Exec(ctx, "ROLLBACK") // the connection may be gone, with the same effect
			return x
		}
	}
	switch kill {
	case 0: // in the middle of the transaction
		l.conn.PgConn().Conn().Close()
		l.conn.Close(ctx)
		return x
	case 1: // while it commits
		x.state = unknown
		abandon(l.conn, "COMMIT")
		l.conn.Close(ctx)
		return x
	}
	tag, err := l.conn.Exec(ctx, "COMMIT")
	var pe *pgconn.PgError
	switch {
	case err == nil && tag.String() == "COMMIT":
		x.state = committed
	case err != nil && !errors.As(err, &pe):
		x.state = unknown
	default:
		l.expected(err)
	}
	return x
}

// expected fails the test for errors that concurrency does not explain.
func (l *lister) expected(err error) {
	var pe *pgconn.PgError
	if err == nil || !errors.As(err, &pe) {
		return
	}
	switch pe.Code {
	case "40P01", "57P01":
		return
	case "40001":
		if l.level != "read committed" {
			return
		}
	}
	l.t.Errorf("%s: %v", l.level, err)
}

// step appends to a list, or reads one or several.
func (l *lister) step(ctx context.Context, x *listTxn) error {
	key := l.r.IntN(historyKeys)
	switch n := l.r.IntN(10); {
	case n < 5:
		v := int(l.next.Add(1))
		var err error
		if l.r.IntN(2) == 0 {
			_, err = l.conn.Exec(ctx, `INSERT INTO lists VALUES ($1, $1 % 2, ARRAY[$2::int]) ON CONFLICT (k) DO UPDATE SET v = lists.v || $2::int`, key, v)
		} else {
			var tag pgconn.CommandTag
			if tag, err = l.conn.Exec(ctx, "UPDATE lists SET v = v || $2::int WHERE k = $1", key, v); err == nil && tag.RowsAffected() == 0 {
				x.ops = append(x.ops, listOp{key: key}) // has seen that there is no list
				return nil
			}
		}
		if err == nil {
			x.ops = append(x.ops, listOp{key: key, append: v})
		}
		return err
	case n < 8:
		list, err := readList(ctx, l.conn, key)
		if err == nil {
			x.ops = append(x.ops, listOp{key: key, list: list})
		}
		return err
	}
	where := []string{"k >= 0", "kind = 0", "kind = 1", "k BETWEEN 1 AND 3"}[l.r.IntN(4)]
	rows, err := l.conn.Query(ctx, "SELECT k, v FROM lists WHERE "+where)
	if err != nil {
		return err
	}
	found := map[int][]int{}
	for rows.Next() {
		var k int
		var v []int
		if err := rows.Scan(&k, &v); err != nil {
			return err
		}
		found[k] = v
	}
	if rows.Err() != nil {
		return rows.Err()
	}
	for k := range historyKeys {
		if where == "k >= 0" || where == fmt.Sprintf("kind = %d", k%2) || strings.HasPrefix(where, "k BETWEEN") && k >= 1 && k <= 3 {
			x.ops = append(x.ops, listOp{key: k, list: found[k]})
		}
	}
	return nil
}

// registerInput is one transaction over a few registers: it reads all of reads and
// then writes; with expect it writes only if its single read is that value.
type registerInput struct {
	reads  []int
	writes map[int]int
	expect *int
}

// registerModel is what the transactions would do one after the other.
var registerModel = porcupine.Model{
	Init: func() any { return [registerCount]int{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.([registerCount]int), input.(registerInput), output.(registerOutput)
		for i, v := range out.values {
			if s[in.reads[i]] != v {
				return false, state
			}
		}
		if in.expect != nil {
			hit := s[in.reads[0]] == *in.expect
			if !out.unknown && hit != out.hit {
				return false, state
			}
			if !hit {
				return true, state
			}
		}
		for r, v := range in.writes {
			s[r] = v
		}
		return true, s
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// registerOutput is what the client has learned.
type registerOutput struct {
	values  []int // of the reads, in order; nil where the statement does not tell
	hit     bool  // of expect
	unknown bool  // nothing: the connection is gone
}

const registerCount = 3

// TestRegisterHistories checks that statements by themselves at READ COMMITTED,
// and transactions at SERIALIZABLE, happen at one moment between their call and
// their answer.
func TestRegisterHistories(t *testing.T) {
	for engine, o := range map[string]storage.Options{"mem": {Store: "mem"}, "bolt": {NoSync: true}} {
		t.Run(engine, func(t *testing.T) {
			srv := startServer(t, o)
			for i := range historyRounds(t) * 3 {
				for _, level := range []string{"read committed", "serializable"} {
					ops := runRegisters(t, srv, level, uint64(i))
					switch porcupine.CheckOperationsTimeout(registerModel, ops, 20*time.Second) {
					case porcupine.Illegal:
						t.Fatalf("%s, round %d: no order explains\n%s", level, i, describeRegisters(ops))
					case porcupine.Unknown:
						t.Logf("%s, round %d: too many orders to try", level, i)
					}
				}
			}
		})
	}
}

// describeRegisters shows a history by the time of the calls, in microseconds.
func describeRegisters(ops []porcupine.Operation) string {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, o := range ops {
		in, out := o.Input.(registerInput), o.Output.(registerOutput)
		fmt.Fprintf(&b, "%d..%d client %d: read %v = %v", o.Call/1000, o.Return/1000, o.ClientId, in.reads, out.values)
		if in.expect != nil {
			fmt.Fprintf(&b, ", if it is %d (%t)", *in.expect, out.hit)
		}
		fmt.Fprintf(&b, ", write %v", in.writes)
		if out.unknown {
			b.WriteString(", outcome unknown")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func runRegisters(t *testing.T, srv *server, level string, seed uint64) []porcupine.Operation {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	admin, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	// A table of its own: a statement whose client is gone may run late.
	table := fmt.Sprintf("register_%d_%d", seed, len(level))
	if _, err := admin.Exec(ctx, fmt.Sprintf(`CREATE TABLE %[1]s (r int PRIMARY KEY, v int);
		INSERT INTO %[1]s SELECT i, 0 FROM generate_series(0, %[2]d) i`, table, registerCount-1)); err != nil {
		t.Fatal(err)
	}
	var (
		mu  sync.Mutex
		all []porcupine.Operation
		wg  sync.WaitGroup
	)
	start := time.Now()
	for c := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(c)))
			var conn *pgx.Conn
			defer func() {
				if conn != nil {
					conn.Close(ctx)
				}
			}()
			for range 12 {
				if conn == nil || conn.IsClosed() {
					var err error
					if conn, err = pgx.Connect(ctx, srv.dsn()); err != nil {
						t.Error(err)
						return
					}
				}
				in := registerInput{reads: []int{r.IntN(registerCount)}}
				if level == "serializable" {
					in.reads = r.Perm(registerCount)[:1+r.IntN(2)]
				}
				switch v := r.IntN(4); r.IntN(3) {
				case 0:
					in.writes = map[int]int{r.IntN(registerCount): v + 1}
					if level != "serializable" {
						in.reads = nil
					}
				case 1:
					old := r.IntN(4)
					in.expect, in.reads, in.writes = &old, in.reads[:1], map[int]int{in.reads[0]: v + 1}
				}
				op := porcupine.Operation{ClientId: c, Input: in, Call: time.Since(start).Nanoseconds()}
				out, happened := playRegisters(ctx, conn, table, level, in, r.IntN(30) == 0)
				op.Output, op.Return = out, time.Since(start).Nanoseconds()
				if !happened {
					continue
				}
				if out.unknown {
					op.Return = time.Hour.Nanoseconds() // it may still happen
				}
				mu.Lock()
				all = append(all, op)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all
}

// playRegisters runs one transaction; with kill it loses its connection while it
// commits. happened is false when it certainly has had no effect.
func playRegisters(ctx context.Context, conn *pgx.Conn, table, level string, in registerInput, kill bool) (out registerOutput, happened bool) {
	block := level == "serializable"
	if block {
		if _, err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL SERIALIZABLE"); err != nil {
			return out, false
		}
	}
	err := func() error {
		for _, r := range in.reads {
			if in.expect != nil && !block {
				break
			}
			var v int
			if err := conn.QueryRow(ctx, "SELECT v FROM "+table+" WHERE r = $1", r).Scan(&v); err != nil {
				return err
			}
			out.values = append(out.values, v)
		}
		for r, v := range in.writes {
			if kill && !block && in.expect == nil {
				abandon(conn, fmt.Sprintf("UPDATE %s SET v = %d WHERE r = %d", table, v, r))
				return errors.New("connection closed")
			}
			cond, args := "", []any{r, v}
			if in.expect != nil {
				cond, args = " AND v = $3", append(args, *in.expect)
			}
			tag, err := conn.Exec(ctx, "UPDATE "+table+" SET v = $2 WHERE r = $1"+cond, args...)
			if err != nil {
				return err
			}
			out.hit = tag.RowsAffected() == 1
		}
		return nil
	}()
	var pe *pgconn.PgError
	if err != nil && !block && !errors.As(err, &pe) {
		conn.Close(ctx)
		return registerOutput{unknown: true}, in.writes != nil
	}
	if err != nil {
		conn.Exec(ctx, "ROLLBACK")
		return out, false
	}
	if !block {
		return out, true
	}
	if kill {
		abandon(conn, "COMMIT")
		conn.Close(ctx)
		return registerOutput{unknown: true}, in.writes != nil
	}
	tag, err := conn.Exec(ctx, "COMMIT")
	if err != nil && !errors.As(err, &pe) {
		return registerOutput{unknown: true}, in.writes != nil
	}
	return out, err == nil && tag.String() == "COMMIT"
}

// abandon sends a statement and closes the socket without waiting for the answer.
func abandon(conn *pgx.Conn, sql string) {
	f := conn.PgConn().Frontend()
	f.SendQuery(&pgproto3.Query{String: sql})
	f.Flush() // a failure is as good as a lost connection
	conn.PgConn().Conn().Close()
}
