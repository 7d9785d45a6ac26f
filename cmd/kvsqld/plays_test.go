package main

import (
	"context"
	"math/rand"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestRandomPlays plays random statements of two or three sessions, one step after the
// other, on kvsqld and on PostgreSQL, at each isolation level, and compares each outcome:
// rows, tags, errors, and whether a session waits. A play that differs is played again, to
// leave out what PostgreSQL itself does not order (differs), and reported with as few steps as it
// still differs with. A run is determined by KVSQLD_PLAYS_SEED; KVSQLD_PLAYS_N is the
// number of plays.
func TestRandomPlays(t *testing.T) {
	pg := requirePostgres(t)
	seed, count := diffEnv("KVSQLD_PLAYS_SEED", 1), diffEnv("KVSQLD_PLAYS_N", 150)
	ctx := context.Background()
	admin, err := pg.connect(ctx, "postgres", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	for _, q := range []string{"DROP DATABASE IF EXISTS plays", "CREATE DATABASE plays TEMPLATE template0"} {
		if _, err := admin.Exec(ctx, q).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	srv := startServer(t, storage.Options{Store: "mem"})
	pair := &playPair{
		want: &play{t: t, sorted: true, postgres: true, connect: func(ctx context.Context, f func(*pgconn.Notice)) (*pgconn.PgConn, error) {
			return pg.connect(ctx, "plays", f)
		}},
		got: &play{t: t, sorted: true, connect: srv.connect},
	}
	for _, p := range []*play{pair.want, pair.got} {
		if p.admin, err = p.connect(ctx, nil); err != nil {
			t.Fatal(err)
		}
		defer p.admin.Close(ctx)
		p.exec(ctx, "SET client_min_messages = warning")
	}
	differ := 0
	for i := range count {
		g := &playGen{r: rand.New(rand.NewSource(seed + i))}
		setup, steps := g.setup(), g.play()
		pair.want.setup, pair.got.setup = setup, setup
		for _, level := range isolationLevels {
			if pair.same(level, steps) || !pair.differs(level, steps) {
				continue
			}
			differ++
			steps = pair.shrink(level, steps)
			a, b := pair.play(level, steps)
			t.Errorf("seed %d, %s:\n%s%s\n%s", seed+i, level, setup, steps, sideBySide(a, b))
			break
		}
	}
	t.Logf("seed %d: %d plays, %d of them differ", seed, count, differ)
}

// conflictOf is what a 40001 says: a row whose key changes is deleted and made anew.
var conflictOf = regexp.MustCompile(`(ERROR 40001: could not serialize access due to concurrent) (update|delete)`)

// playPair plays on both servers.
type playPair struct{ want, got *play }

func (p *playPair) play(level, steps string) (string, string) {
	a, b := p.want.level(level, steps), p.got.level(level, steps)
	plain := func(s string) string {
		return inStepOrder(conflictOf.ReplaceAllString(waitsFor.ReplaceAllString(s, "waits"), "$1"))
	}
	return plain(a), plain(b)
}

// inStepOrder puts the outcomes of steps that one later step has let go on, which end when
// the processors are theirs, in the order of the steps.
func inStepOrder(s string) string {
	lines := strings.Split(s, "\n")
	step := func(i int) int {
		n, _ := strconv.Atoi(strings.Fields(lines[i] + " .")[0])
		return n
	}
	last := 0
	for i := 0; i < len(lines); {
		from := i
		for ; i < len(lines) && step(i) < last && step(i) > 0; i++ {
		}
		slices.SortStableFunc(lines[from:i], func(a, b string) int {
			x, _ := strconv.Atoi(strings.Fields(a)[0])
			y, _ := strconv.Atoi(strings.Fields(b)[0])
			return x - y
		})
		if i < len(lines) {
			last = max(last, step(i))
			i++
		}
	}
	return strings.Join(lines, "\n")
}

func (p *playPair) same(level, steps string) bool {
	return p.alike(p.play(level, steps))
}

// alike leaves out plays that circles of dependencies have ended on one side: which
// reads count for them, rows or pages, ranges or tables, is each server's own.
func (p *playPair) alike(a, b string) bool {
	return a == b || strings.Contains(a+b, "could not serialize access due to read/write dependencies")
}

// differs reports whether a play differs each time, each server giving one outcome. Where
// one step lets several sessions go on, the processors decide which of them comes first:
// such a play differs if no outcome of the one server is one of the other.
func (p *playPair) differs(level, steps string) bool {
	a, b := p.play(level, steps)
	want, got := []string{a}, []string{b}
	race := letsSeveralGo(a) || letsSeveralGo(b)
	rounds := 3
	if race {
		rounds = 40
	}
	for {
		for _, a := range want {
			for _, b := range got {
				if p.alike(a, b) {
					return false
				}
			}
		}
		if rounds--; rounds == 0 {
			return true
		}
		c, d := p.play(level, steps)
		if !race && (c != a || d != b) {
			return false
		}
		if !slices.Contains(want, c) {
			want = append(want, c)
		}
		if !slices.Contains(got, d) {
			got = append(got, d)
		}
	}
}

// letsSeveralGo reports whether more than one session was waiting when one step let
// some of them go on.
func letsSeveralGo(s string) bool {
	last, waiting := 0, map[int]bool{}
	for l := range strings.Lines(s) {
		f := strings.Fields(l + " . . .")
		step, err := strconv.Atoi(f[0])
		switch {
		case err != nil:
		case step < last && len(waiting) > 1:
			return true
		case f[2] == "waits":
			waiting[step] = true
		default:
			delete(waiting, step)
		}
		last = max(last, step)
	}
	return false
}

// shrink leaves out steps as long as the play differs.
func (p *playPair) shrink(level, steps string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(steps, "\n"), "\n")
	limit := time.Now().Add(time.Minute)
	for size := len(lines) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(lines) && time.Now().Before(limit); {
			less := strings.Join(lines[:i], "") + strings.Join(lines[i+size:], "")
			if less != "" && p.differs(level, less) {
				lines = append(lines[:i:i], lines[i+size:]...)
			} else {
				i++
			}
		}
	}
	return strings.Join(lines, "")
}
