//go:build diff

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// diffAnswer is what a statement gave: its columns, rows and tag, or a SQLSTATE.
type diffAnswer struct {
	columns []string // name:oid
	rows    []string
	tag     string
	state   string
	message string
}

// TestDifferential sends random statements to kvsqld and to PostgreSQL, and
// compares the answers; queries are also asked with the optimizer off.
// KVSQLD_DIFF_SEED, KVSQLD_DIFF_COUNT (statements per schema) and
// KVSQLD_DIFF_SCHEMAS change the run; KVSQLD_DIFF_PG (address/database) names a
// running reference instead of one started here; KVSQLD_DIFF_DUMP is a folder
// for the scripts of the schemas.
func TestDifferential(t *testing.T) {
	ctx := context.Background()
	seed := diffEnv("KVSQLD_DIFF_SEED", time.Now().UnixNano()%1_000_000)
	count := diffEnv("KVSQLD_DIFF_COUNT", 400)
	schemas := diffEnv("KVSQLD_DIFF_SCHEMAS", 5)
	ref := diffReference(t, ctx)
	defer ref.Close(ctx)
	t.Logf("seed %d", seed)
	d := &differ{seen: map[string]int{}}
	for i := range schemas {
		srv := startServer(t, storage.Options{Store: "mem"})
		own, err := srv.connect(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := srv.connect(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		diffAsk(ctx, plain, "SET kvsqld.optimizer = off")
		for _, c := range []*pgconn.PgConn{ref, own, plain} {
			diffAsk(ctx, c, "SET client_min_messages = error; SET timezone = 'UTC'; SET statement_timeout = '20s'")
		}
		g := newDiffGen(rand.New(rand.NewSource(seed + i)))
		diffAsk(ctx, ref, "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public")
		tables := g.schema()
		for _, q := range tables {
			d.compare(ctx, ref, own, nil, diffStatement{sql: q})
		}
		if dir := os.Getenv("KVSQLD_DIFF_DUMP"); dir != "" {
			os.WriteFile(fmt.Sprintf("%s/schema%d.sql", dir, seed+i), []byte(strings.Join(tables, ";\n")+";\n"), 0o644)
		}
		for range count {
			s := g.statement()
			s.seed = seed + i
			d.compare(ctx, ref, own, plain, s)
			if s.write && !d.sameTables(ctx, ref, own, g, s) {
				break // what follows would only repeat it
			}
		}
		own.Close(ctx)
		plain.Close(ctx)
	}
	slices.SortFunc(d.found, func(a, b diffFault) int { return len(a.sql) - len(b.sql) })
	for _, f := range d.found {
		t.Errorf("[%s] (%d times) seed %d\n  %s;\n%s", f.kind, d.seen[f.kind], f.seed, f.sql, f.detail)
	}
	t.Logf("%d statements compared (%d of them failed alike), %d differences", d.compared, d.refused, d.total)
}

func diffEnv(name string, otherwise int64) int64 {
	if v, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return v
	}
	return otherwise
}

func diffReference(t *testing.T, ctx context.Context) *pgconn.PgConn {
	t.Helper()
	connect := func() (*pgconn.PgConn, error) { return requirePostgres(t).connect(ctx, "postgres", nil) }
	if addr, db, ok := strings.Cut(os.Getenv("KVSQLD_DIFF_PG"), "/"); ok {
		connect = func() (*pgconn.PgConn, error) { return dial(ctx, addr, db, nil) }
	}
	c, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// diffStatement is a generated statement.
type diffStatement struct {
	sql     string
	ordered bool // the rows' order is determined
	write   bool // not to be run twice
	seed    int64
}

// diffFault is the shortest statement that shows a kind of difference.
type diffFault struct {
	kind, sql, detail string
	seed              int64
}

type differ struct {
	compared, refused, total int
	seen                     map[string]int
	found                    []diffFault
}

func (d *differ) compare(ctx context.Context, ref, own, plain *pgconn.PgConn, s diffStatement) {
	want := diffAsk(ctx, ref, s.sql)
	if want.state == "57014" {
		return // too slow to be worth a comparison
	}
	d.compared++
	if want.state != "" {
		d.refused++
	}
	d.check("", s, want, diffAsk(ctx, own, s.sql))
	if !s.write && plain != nil {
		d.check("optimizer off ", s, want, diffAsk(ctx, plain, s.sql))
	}
}

// sameTables compares the tables after a write.
func (d *differ) sameTables(ctx context.Context, ref, own *pgconn.PgConn, g *diffGen, s diffStatement) bool {
	for _, t := range g.tables {
		q := "TABLE " + t.name
		kind, detail := diffAnswers(diffStatement{}, diffAsk(ctx, ref, q), diffAsk(ctx, own, q))
		if kind != "" {
			d.total++
			d.seen["table"]++
			d.found = append(d.found, diffFault{"table", s.sql, t.name + ": " + detail, s.seed})
			return false
		}
	}
	return true
}

// check records a difference under a kind that is coarse enough to keep one
// statement for each cause.
func (d *differ) check(prefix string, s diffStatement, want, got diffAnswer) {
	if want.state == "0A000" && got.state == "" {
		return // a FULL JOIN that only PostgreSQL refuses
	}
	kind, detail := diffAnswers(s, want, got)
	if kind == "" {
		return
	}
	kind = prefix + kind
	d.total++
	d.seen[kind]++
	kept := 0
	for _, f := range d.found {
		if f.kind == kind {
			kept++
		}
	}
	f := diffFault{kind, s.sql, detail, s.seed}
	if kept < 6 {
		d.found = append(d.found, f)
		return
	}
	longest := -1
	for i, o := range d.found {
		if o.kind == kind && (longest < 0 || len(o.sql) > len(d.found[longest].sql)) {
			longest = i
		}
	}
	if len(s.sql) < len(d.found[longest].sql) {
		d.found[longest] = f
	}
}

func diffAnswers(s diffStatement, want, got diffAnswer) (kind, detail string) {
	if want.state != got.state {
		return fmt.Sprintf("state %s, not %s", got.state, want.state),
			fmt.Sprintf("    want %q\n    got  %q", want.message, got.message)
	}
	if want.state != "" {
		return "", ""
	}
	if !slices.Equal(want.columns, got.columns) {
		return "columns", fmt.Sprintf("    want %v\n    got  %v", want.columns, got.columns)
	}
	a, b := slices.Clone(want.rows), slices.Clone(got.rows)
	if !s.ordered {
		slices.Sort(a)
		slices.Sort(b)
	}
	if !slices.Equal(a, b) {
		miss, extra := diffRows(a, b), diffRows(b, a)
		return "rows", fmt.Sprintf("    %d rows, not %d; missing %d: %q; extra %d: %q", len(b), len(a),
			len(miss), miss[:min(3, len(miss))], len(extra), extra[:min(3, len(extra))])
	}
	if want.tag != got.tag {
		return "tag", fmt.Sprintf("    want %s, got %s", want.tag, got.tag)
	}
	return "", ""
}

// diffRows is the multiset difference of a and b.
func diffRows(a, b []string) []string {
	n := map[string]int{}
	for _, r := range b {
		n[r]++
	}
	var only []string
	for _, r := range a {
		if n[r]--; n[r] < 0 {
			only = append(only, r)
		}
	}
	return only
}

func diffAsk(ctx context.Context, c *pgconn.PgConn, sql string) diffAnswer {
	m := c.Exec(ctx, sql)
	var a diffAnswer
	for m.NextResult() {
		r := m.ResultReader()
		var oids []uint32
		for _, f := range r.FieldDescriptions() {
			a.columns = append(a.columns, fmt.Sprintf("%s:%d:%d", f.Name, f.DataTypeOID, f.TypeModifier))
			oids = append(oids, f.DataTypeOID)
		}
		for r.NextRow() {
			var b strings.Builder
			for i, v := range r.Values() {
				b.WriteString(diffValue(oids[i], v))
				b.WriteByte('|')
			}
			a.rows = append(a.rows, b.String())
		}
		tag, _ := r.Close()
		a.tag = tag.String()
	}
	if err := m.Close(); err != nil {
		a.state, a.message = "connection", err.Error()
		var pe *pgconn.PgError
		if errors.As(err, &pe) {
			a.state, a.message = pe.Code, pe.Message
		}
	}
	return a
}

// diffValue is a value's text; floats are rounded to what any order of summing
// leaves equal.
func diffValue(oid uint32, v []byte) string {
	if v == nil {
		return "∅"
	}
	if oid == 701 || oid == 700 {
		if f, err := strconv.ParseFloat(string(v), 64); err == nil {
			return strconv.FormatFloat(f, 'g', 9, 64)
		}
	}
	return string(v)
}
