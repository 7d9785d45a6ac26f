package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// The matrix compares what every type can do with a real PostgreSQL: all texts
// read by all types, casts and operators over all pairs of types, every function
// and aggregate of pg_proc over values of its argument types. Values, types of
// columns and SQLSTATEs must be equal (with KVSQLD_COMPARE_MESSAGES=1 texts of
// errors as well), but for the causes of testdata/diff/matrix_known.txt:
//
//	PATTERN<TAB>REASON
//
// The pattern is one of path.Match over "ABOUT: HOW", as the summary prints them.
// KVSQLD_MATRIX is the number of statements to take, evenly, out of all; 0 takes
// all, and without it the test is skipped. KVSQLD_MATRIX_SEED moves the start, so
// that several runs take different statements. KVSQLD_MATRIX_ONLY is a pattern
// of ABOUT.

const matrixKnown = "matrix_known.txt"

// matrixChunk is the number of statements that are answered before they are
// compared, which bounds the memory.
const matrixChunk = 200

// matrixCause is a group of differences.
type matrixCause struct {
	count    int
	examples []string
}

func TestMatrix(t *testing.T) {
	if os.Getenv("KVSQLD_MATRIX") == "" {
		t.Skip("KVSQLD_MATRIX is not set")
	}
	ctx := context.Background()
	size := diffEnv("KVSQLD_MATRIX", 0)
	own := &script{t: t, connect: startServer(t, storage.Options{Store: "mem"}).connect, conns: map[string]*pgconn.PgConn{}}
	ref := &script{t: t, connect: postgresScratch(t), conns: map[string]*pgconn.PgConn{}}
	defer own.close()
	defer ref.close()
	g := matrixCatalog(t, ctx, ref.conn(ctx, ""))
	for i, d := range matrixCompare(ref, own, matrixSetup()) {
		if d != nil {
			t.Errorf("%s\n  PostgreSQL: %s  kvsqld: %s", matrixSetup()[i].sql, d.want, d.got)
		}
	}
	only := os.Getenv("KVSQLD_MATRIX_ONLY")
	wanted := func(s matrixStatement) bool {
		return only == "" || matrixMatch(t, only, s.about)
	}
	var all int64
	g.run(func(s matrixStatement) {
		if wanted(s) {
			all++
		}
	})
	if size == 0 || size > all {
		size = all
	}
	causes := map[string]*matrixCause{}
	var chunk []matrixStatement
	flush := func() {
		for i, d := range matrixCompare(ref, own, chunk) {
			if d == nil {
				continue
			}
			key := chunk[i].about + ": " + d.how
			c := causes[key]
			if c == nil {
				c = &matrixCause{}
				causes[key] = c
			}
			if c.count++; len(c.examples) < 3 {
				c.examples = append(c.examples, fmt.Sprintf("  %s;\n%s", chunk[i].sql, indented("    PostgreSQL: ", d.want)+indented("    kvsqld:     ", d.got)))
			}
		}
		chunk = chunk[:0]
	}
	var taken int64
	n := diffEnv("KVSQLD_MATRIX_SEED", 0) % max(all/max(size, 1), 1)
	g.run(func(s matrixStatement) {
		if !wanted(s) {
			return
		}
		n++
		if n*size/all == taken {
			return
		}
		taken = n * size / all
		if chunk = append(chunk, s); len(chunk) == matrixChunk {
			flush()
		}
	})
	flush()
	matrixReport(t, causes, all, taken)
}

// matrixDifference is how two answers differ.
type matrixDifference struct{ how, want, got string }

// matrixCompare asks both servers at the same time.
func matrixCompare(ref, own *script, list []matrixStatement) []*matrixDifference {
	var want []string
	done := make(chan bool)
	go func() {
		want = matrixAnswers(ref, list)
		close(done)
	}()
	got := matrixAnswers(own, list)
	<-done
	out := make([]*matrixDifference, len(list))
	for i := range list {
		if want[i] != got[i] {
			out[i] = &matrixDifference{matrixHow(want[i], got[i]), want[i], got[i]}
		}
	}
	return out
}

// matrixAnswers sends the statements at once, each a transaction of its own, and
// gives the texts of their answers.
func matrixAnswers(s *script, list []matrixStatement) []string {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	p := s.conn(ctx, "").StartPipeline(ctx)
	for _, m := range list {
		p.SendQueryParams(m.sql, nil, nil, nil, nil)
		p.SendPipelineSync()
	}
	sent := p.Flush()
	out := make([]string, len(list))
	for i := range list {
		s.out.Reset()
		for {
			r, err := p.GetResults()
			if err == nil {
				err = sent
			}
			if reader, ok := r.(*pgconn.ResultReader); ok && err == nil {
				err = s.result(reader, true)
			}
			s.fail(err)
			if _, synced := r.(*pgconn.PipelineSync); synced || s.conns[""].IsClosed() {
				break
			}
		}
		out[i] = s.out.String()
		if os.Getenv("KVSQLD_COMPARE_MESSAGES") == "" {
			out[i] = withoutMessages(out[i])
		}
	}
	if err := p.Close(); err != nil {
		s.t.Logf("the connection was lost: %v", err)
	}
	return out
}

// matrixHow names the kind of difference of two answers.
func matrixHow(want, got string) string {
	state := func(a string) string {
		if rest, ok := strings.CutPrefix(a, "ERROR "); ok {
			return rest[:5]
		}
		if strings.HasPrefix(a, "CONNECTION") {
			return "connection lost"
		}
		return ""
	}
	w, g := state(want), state(got)
	switch {
	case w == "" && g == "":
		if wh, gh := strings.SplitN(want, "\n", 2)[0], strings.SplitN(got, "\n", 2)[0]; wh != gh {
			return fmt.Sprintf("column %s, not %s", gh, wh)
		}
		return "value"
	case g == "":
		return "no error, not " + w
	case w == "":
		return g + ", not a value"
	case w == g:
		return "text of " + w
	}
	return g + ", not " + w
}

// matrixMatch matches as path.Match does; a slash is a letter like others.
func matrixMatch(t *testing.T, pattern, s string) bool {
	letters := strings.NewReplacer("/", "÷")
	ok, err := path.Match(letters.Replace(pattern), letters.Replace(s))
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	return ok
}

// matrixReport prints the causes and fails for those that are not known.
func matrixReport(t *testing.T, causes map[string]*matrixCause, all, taken int64) {
	text, err := os.ReadFile(filepath.Join(compareDir, matrixKnown))
	if err != nil {
		t.Fatal(err)
	}
	type rule struct {
		pattern, reason string
		count           int
	}
	var rules []*rule
	for line := range strings.Lines(string(text)) {
		pattern, reason, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || reason == "" {
			t.Fatalf("%s: %q is not PATTERN, REASON", matrixKnown, line)
		}
		rules = append(rules, &rule{pattern: pattern, reason: reason})
	}
	var differ, known int
	keys := slices.SortedFunc(maps.Keys(causes), func(a, b string) int {
		if d := causes[b].count - causes[a].count; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, key := range keys {
		c := causes[key]
		differ += c.count
		i := slices.IndexFunc(rules, func(r *rule) bool {
			return matrixMatch(t, r.pattern, key)
		})
		if i >= 0 {
			rules[i].count += c.count
			known += c.count
			continue
		}
		t.Errorf("%s (%d statements)\n%s", key, c.count, strings.Join(c.examples, ""))
	}
	for _, r := range rules {
		if r.count > 0 {
			t.Logf("known, %d statements: %s: %s", r.count, r.pattern, r.reason)
		} else if taken == all && os.Getenv("KVSQLD_MATRIX_ONLY") == "" {
			t.Errorf("%s lists what does not differ: %s", matrixKnown, r.pattern)
		}
	}
	t.Logf("%d of %d statements: %d differ, %d of them for known reasons", taken, all, differ, known)
}
