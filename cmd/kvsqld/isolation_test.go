package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// The scripts of testdata/isolation play a few sessions against each other:
//
//	setup
//	CREATE TABLE t (id int PRIMARY KEY, v int);
//	----
//
//	play [levels=(…)] [differs=(LEVEL: REASON)]
//	a: BEGIN
//	b: BEGIN
//	a: UPDATE t SET v = 1
//	b: UPDATE t SET v = 2
//	a: COMMIT
//	b: COMMIT
//	----
//	== read committed
//	1 a: BEGIN
//	…
//	4 b: waits for a
//	5 a: COMMIT
//	4 b: UPDATE 1
//	6 b: COMMIT
//
// A step is one statement of one session; the next one begins when it has ended
// or waits for a lock (pg_blocking_pids says so); a step marked by "~" ends by
// itself, by a timeout, and one marked by "?" is left out while its session waits. A play runs once per isolation
// level, which BEGIN gets, on fresh tables. "differs" names a level at which the
// outcome is not that of PostgreSQL, and why.

// isolationLevels are the levels of a play that names none.
var isolationLevels = []string{"read committed", "repeatable read", "serializable"}

// play runs the scripts of one file against one server.
type play struct {
	t        testing.TB
	connect  func(ctx context.Context, onNotice func(*pgconn.Notice)) (*pgconn.PgConn, error)
	postgres bool

	full   bool // outcomes have all fields of errors
	sorted bool // outcomes have their rows in order, and who waits has been looked at for deadlocks

	setup string
	admin *pgconn.PgConn // asks who waits
	out   strings.Builder
}

// player is one session of a play.
type player struct {
	name string
	conn *pgconn.PgConn
	step int
	done chan string // the outcome of the running step; nil when none runs
}

func (p *play) run(t *testing.T, path string) {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	var err error
	if p.admin, err = p.connect(ctx, nil); err != nil {
		t.Fatal(err)
	}
	defer p.admin.Close(context.Background())
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		p.t = t
		switch d.Cmd {
		case "setup":
			p.setup = d.Input
			return ""
		case "play":
		default:
			d.Fatalf(t, "unknown directive %s", d.Cmd)
		}
		levels := isolationLevels
		if list := argument(d, "levels"); list != "" {
			levels = strings.Split(list, ", ")
		}
		differs, _, _ := strings.Cut(argument(d, "differs"), ":")
		want := sections(d.Expected)
		var out strings.Builder
		for _, level := range levels {
			got := p.level(level, d.Input)
			if p.postgres && (level == differs || codesOnly(got) == codesOnly(want[level])) {
				got = want[level]
			}
			fmt.Fprintf(&out, "== %s\n%s", level, got)
		}
		return out.String()
	})
}

var messageOfError = regexp.MustCompile(`((?:ERROR|FATAL) .{5}): .*`)

var waitsFor = regexp.MustCompile(`waits for .*`)

// codesOnly leaves of errors what clients may rely on. Whom a session waits for is
// shown but not compared: of those in a queue PostgreSQL names the last one.
func codesOnly(out string) string {
	return waitsFor.ReplaceAllString(messageOfError.ReplaceAllString(out, "$1"), "waits")
}

// argument returns an argument's values as they were written.
func argument(d *datadriven.TestData, key string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return strings.Join(a.Vals, ", ")
		}
	}
	return ""
}

// sections takes an expected outcome apart by level.
func sections(text string) map[string]string {
	out := map[string]string{}
	level := ""
	for line := range strings.Lines(text) {
		if l, ok := strings.CutPrefix(line, "== "); ok {
			level = strings.TrimSpace(l)
			continue
		}
		out[level] += line
	}
	return out
}

// level plays the steps at one isolation level.
func (p *play) level(level, input string) string {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	p.out.Reset()
	p.alone(ctx)
	p.exec(ctx, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	for _, q := range statements(p.setup) {
		p.exec(ctx, q)
	}
	players := map[string]*player{}
	defer func() {
		for _, x := range players {
			if x.done != nil {
				x.conn.CancelRequest(ctx)
				<-x.done
			}
			x.conn.Close(ctx)
		}
	}()
	step := 0
	for line := range strings.Lines(input) {
		name, sql, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			p.t.Fatalf("no session in %q", line)
		}
		name, alone := strings.CutSuffix(name, "~")
		name, unlessWaiting := strings.CutSuffix(name, "?")
		step++
		x := players[name]
		if x == nil {
			c, err := p.connect(ctx, nil)
			if err != nil {
				p.t.Fatal(err)
			}
			x = &player{name: name, conn: c}
			players[name] = x
			if p.sorted {
				p.outcome(ctx, c, "SET deadlock_timeout = '1ms'")
			}
		}
		if x.done != nil && unlessWaiting {
			fmt.Fprintf(&p.out, "%d %s: left out\n", step, name)
			continue
		}
		if x.done != nil {
			p.t.Fatalf("step %d: session %s still waits in step %d", step, name, x.step)
		}
		if sql == "BEGIN" || strings.HasPrefix(sql, "BEGIN ") {
			sql = "BEGIN ISOLATION LEVEL " + strings.ToUpper(level) + strings.TrimPrefix(sql, "BEGIN")
		}
		x.step, x.done = step, make(chan string, 1)
		go func() { x.done <- p.outcome(ctx, x.conn, sql) }()
		if alone {
			p.ended(ctx, x, <-x.done)
			continue
		}
		p.settle(ctx, players, x)
	}
	return p.out.String()
}

// ended shows what has become of the running step. PostgreSQL's answer is out before
// its session waits for the next statement, which other sessions see: not so kvsqld's.
func (p *play) ended(ctx context.Context, x *player, text string) {
	fmt.Fprintf(&p.out, "%d %s: %s\n", x.step, x.name, text)
	x.done = nil
	sql := fmt.Sprintf("SELECT FROM pg_stat_activity WHERE pid = %d AND wait_event IS DISTINCT FROM 'ClientRead'", x.conn.PID())
	for p.postgres {
		res, err := p.admin.Exec(ctx, sql).ReadAll()
		if err != nil {
			p.t.Fatalf("step %d: %v", x.step, err)
		}
		if res[0].CommandTag.RowsAffected() == 0 {
			return
		}
	}
}

// settle waits until each running step has ended or waits, and prints what has
// become of the newest one, and which of the others have ended.
func (p *play) settle(ctx context.Context, players map[string]*player, newest *player) {
	list := []*player{newest}
	for _, x := range players {
		if x != newest && x.done != nil {
			list = append(list, x)
		}
	}
	slices.SortFunc(list[1:], func(a, b *player) int { return strings.Compare(a.name, b.name) })
	for _, x := range list {
		blockers := ""
		for blockers == "" && x.done != nil {
			select {
			case text := <-x.done:
				p.ended(ctx, x, text)
			case <-time.After(time.Millisecond): // who asks all the time takes the processor from those who are asked about
				// Once more: a circle may have been broken in the middle of the first look.
				if blockers = p.blockers(ctx, players, x, nil); blockers != "" {
					blockers = p.blockers(ctx, players, x, nil)
				}
			}
		}
		if x == newest && x.done != nil {
			if p.sorted && p.postgres {
				time.Sleep(10 * time.Millisecond) // it looks for deadlocks once, after its deadlock_timeout
			}
			fmt.Fprintf(&p.out, "%d %s: waits for %s\n", x.step, x.name, blockers)
		}
	}
}

// blockers names the sessions that x waits for: "" if it does not wait, nor if it
// waits for itself over others, which the server is about to notice, nor if it waits
// for who is about to go on.
func (p *play) blockers(ctx context.Context, players map[string]*player, x *player, seen []*player) string {
	sql := fmt.Sprintf("SELECT DISTINCT unnest(pg_blocking_pids(%[1]d) || pg_safe_snapshot_blocking_pids(%[1]d))", x.conn.PID())
	res, err := p.admin.Exec(ctx, sql).ReadAll()
	if err != nil {
		p.t.Fatalf("step %d: %v", x.step, err)
	}
	seen = append(seen, x)
	var names []string
	for _, r := range res[0].Rows {
		for _, o := range players {
			if fmt.Sprint(o.conn.PID()) != string(r[0]) {
				continue
			}
			names = append(names, o.name)
			if o == seen[0] || len(o.done) == 0 && o.done != nil && !slices.Contains(seen, o) && p.blockers(ctx, players, o, seen) == "" {
				return ""
			}
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// alone waits until the sessions of the play before are gone, and their locks.
func (p *play) alone(ctx context.Context) {
	for {
		res, err := p.admin.Exec(ctx, "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'").ReadAll()
		if err != nil {
			p.t.Fatal(err)
		}
		if res[0].CommandTag.RowsAffected() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (p *play) exec(ctx context.Context, sql string) {
	p.t.Helper()
	if _, err := p.admin.Exec(ctx, sql).ReadAll(); err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
}

// outcome runs a statement and shows its rows and tag, or its error.
func (p *play) outcome(ctx context.Context, c *pgconn.PgConn, sql string) string {
	res, err := c.Exec(ctx, sql).ReadAll()
	var pe *pgconn.PgError
	switch {
	case errors.As(err, &pe):
		text := fmt.Sprintf("%s %s: %s", pe.Severity, pe.Code, pe.Message)
		if p.full {
			text += strings.ReplaceAll(fmt.Sprintf(" | %s | %s | %s", pe.Detail, pe.Hint, pe.Where), "\n", " // ")
		}
		return text
	case err != nil:
		return "CONNECTION: " + err.Error()
	}
	var b strings.Builder
	for _, r := range res {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		var rows []string
		for _, v := range r.Rows {
			rows = append(rows, fmt.Sprintf("(%s) ", row(v)))
		}
		if p.sorted {
			slices.Sort(rows)
		}
		b.WriteString(strings.Join(rows, ""))
		b.WriteString(r.CommandTag.String())
	}
	return b.String()
}

func eachIsolation(t *testing.T, f func(t *testing.T, name, path string)) {
	paths, err := filepath.Glob("../../testdata/isolation/*.test")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".test")
		t.Run(name, func(t *testing.T) { f(t, name, path) })
	}
}

// TestIsolation plays the scripts on each engine.
func TestIsolation(t *testing.T) {
	for name, o := range map[string]storage.Options{"mem": {Store: "mem"}, "bolt": {NoSync: true}} {
		t.Run(name, func(t *testing.T) {
			eachIsolation(t, func(t *testing.T, _, path string) {
				srv := startServer(t, o)
				(&play{connect: srv.connect}).run(t, path)
			})
		})
	}
}

// TestIsolationPostgres plays the scripts on PostgreSQL: the outcomes are the
// same, but for the noted ones.
func TestIsolationPostgres(t *testing.T) {
	p := requirePostgres(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	admin, err := p.connect(ctx, "postgres", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	eachIsolation(t, func(t *testing.T, name, path string) {
		db := "isolation_" + strings.ReplaceAll(name, "-", "_")
		if _, err := admin.Exec(ctx, "CREATE DATABASE "+db+" TEMPLATE template0").ReadAll(); err != nil {
			t.Fatal(err)
		}
		(&play{postgres: true, connect: func(ctx context.Context, f func(*pgconn.Notice)) (*pgconn.PgConn, error) {
			return p.connect(ctx, db, f)
		}}).run(t, path)
	})
}
