package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/executor/session"
	"kvsqld/parser"
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

// TestDifferential sends random statements over random tables to kvsqld and to
// PostgreSQL, and compares answers and, after writes, the tables; each is also
// asked with the optimizer off. Scripts of statements run again and again, in blocks and
// between changes, are compared step by step. Three seeds of four keep values in bounds,
// so that an error of a value on one side alone is a difference. A difference is reported with its statement made
// as short as it stays one. A run is determined by KVSQLD_DIFF_SEED;
// KVSQLD_DIFF_N is the number of statements, KVSQLD_DIFF_PG (address/database)
// names a running reference instead of one started here.
func TestDifferential(t *testing.T) {
	ctx := context.Background()
	seed := diffEnv("KVSQLD_DIFF_SEED", 1)
	count := diffEnv("KVSQLD_DIFF_N", 900)
	ref := diffReference(t, ctx)
	defer ref.Close(ctx)
	d := &differ{ref: ref, seen: map[string]int{}}
	for i := int64(0); int64(d.compared) < count; i++ {
		d.run(t, ctx, seed+i, min(count-int64(d.compared), diffPerSchema))
		slices.SortFunc(d.found, func(a, b diffFault) int { return len(a.sql) - len(b.sql) })
		for _, f := range d.found {
			t.Errorf("[%s] (%d times) seed %d\n  %s;\n%s", f.kind, d.seen[f.kind], f.seed, f.sql, f.detail)
		}
		d.found = nil
	}
	t.Logf("seed %d: %d statements compared, %d of them failed alike; %d more took too long, %d raised an error that hangs on the order of rows or evaluation; %d differences",
		seed, d.compared, d.refused, d.slow, d.excused, d.total)
}

// diffPerSchema is the number of statements over one set of tables.
const diffPerSchema = 150

// run compares statements over the tables that the seed gives.
func (d *differ) run(t *testing.T, ctx context.Context, seed, count int64) {
	srv, err := openServerWith(storage.Options{Store: "mem"}, session.Options{MaxParallel: 3, RememberAtOnce: seed%3 > 0})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.checkAndStop(t)
	for _, c := range []**pgconn.PgConn{&d.own, &d.plain} {
		if *c, err = srv.connect(ctx, nil); err != nil {
			t.Fatal(err)
		}
		defer (*c).Close(ctx)
	}
	diffAsk(ctx, d.plain, "SET kvsqld.optimizer = off; SET max_parallel_workers_per_gather = 0")
	if seed%2 == 0 { // every scan that may be cut up is
		diffAsk(ctx, d.own, "SET min_parallel_table_scan_size = 0")
	}
	diffAsk(ctx, d.ref, "SET jit = off; SET synchronous_commit = off; DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public")
	g := newDiffGen(rand.New(rand.NewSource(seed)))
	d.safe = g.safe
	for _, c := range []*pgconn.PgConn{d.ref, d.own, d.plain} {
		diffAsk(ctx, c, "SET client_min_messages = error; SET timezone = '"+g.zone+"'; SET statement_timeout = 0")
	}
	for _, q := range g.schema() {
		if want, got := diffAsk(ctx, d.ref, diffTheirs(q)), diffAsk(ctx, d.own, q); want.state != got.state {
			t.Fatalf("seed %d: %s\nwant %s, got %s %s", seed, q, want.state, got.state, got.message)
		}
	}
	for _, t := range g.tables {
		d.tables = append(d.tables, t.name)
	}
	for _, c := range []*pgconn.PgConn{d.ref, d.own, d.plain} {
		diffAsk(ctx, c, "SET statement_timeout = '2s'")
	}
	if g.big && seed%4 > 0 { // what is large goes to disk
		diffAsk(ctx, d.own, "SET work_mem = '64kB'")
	}
	defer func() { d.tables = nil }()
	for upto := int64(d.compared) + count; int64(d.compared) < upto; {
		if g.chance(25) {
			s := g.kept()
			if g.chance(30) {
				s = g.block()
			}
			s.seed = seed
			d.script(ctx, s)
			continue
		}
		s := g.statement()
		s.seed = seed
		if s.write {
			d.write(ctx, s)
		} else {
			d.query(ctx, s)
		}
	}
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
	write   bool // it changes tables
	seed    int64
}

// diffFault is a statement that shows a kind of difference.
type diffFault struct {
	kind, sql, detail string
	seed              int64
}

// differ compares the answers of three connections: the reference's, ours, and
// ours without optimizer.
type differ struct {
	ref, own, plain *pgconn.PgConn
	tables          []string
	texts           map[string][]byte // of expressions' values
	safe            bool              // no statement's error hangs on the order of evaluation

	compared, refused, slow, excused, total int

	seen  map[string]int
	found []diffFault
}

// query compares a statement that changes nothing.
func (d *differ) query(ctx context.Context, s diffStatement) {
	want := diffAsk(ctx, d.ref, s.sql)
	if want.state == "57014" {
		d.slow++
		return
	}
	d.compared++
	if want.state != "" {
		d.refused++
	} else if d.compared%8 == 0 && !strings.Contains(s.sql, "; ") {
		d.binary(ctx, s)
	}
	for _, side := range []struct {
		prefix string
		conn   *pgconn.PgConn
	}{{"", d.own}, {"optimizer off: ", d.plain}} {
		kind, detail := d.judge(s, want, diffAsk(ctx, side.conn, s.sql))
		if kind == "" {
			continue
		}
		small := diffShrink(s.sql, func(sql string) bool {
			c := s
			c.sql = sql
			want := diffAsk(ctx, d.ref, sql)
			if want.state == "57014" {
				return false
			}
			k, det := d.judge(c, want, diffAsk(ctx, side.conn, sql))
			return diffSame(kind, k, &detail, det)
		})
		d.report(side.prefix+kind, small, detail, s.seed)
	}
	if want.state == "" {
		d.again(ctx, s, want)
	}
}

// again asks a statement once more after the same one with other numbers: a plan that
// is kept for both, and what its operators keep, must not remember the numbers.
func (d *differ) again(ctx context.Context, s diffStatement, want diffAnswer) {
	ask := func(sql string) diffAnswer {
		diffAsk(ctx, d.own, diffOtherNumbers(sql))
		return diffAsk(ctx, d.own, sql)
	}
	kind, detail := d.judge(s, want, ask(s.sql))
	if kind == "" {
		return
	}
	small := diffShrink(s.sql, func(sql string) bool {
		c := s
		c.sql = sql
		want := diffAsk(ctx, d.ref, sql)
		if want.state != "" || diffAsk(ctx, d.own, sql).state != "" {
			return false
		}
		k, det := d.judge(c, want, ask(sql))
		return diffSame(kind, k, &detail, det)
	})
	d.report("again: "+kind, diffOtherNumbers(small)+"; "+small, detail, s.seed)
}

// diffOtherNumbers changes every other number of a statement.
func diffOtherNumbers(sql string) string {
	toks, err := parser.Lex(sql)
	if err != nil {
		return sql
	}
	out, at, n := "", 0, 0
	for _, t := range toks {
		if t.Kind != parser.KindInt {
			continue
		}
		if n++; n%2 == 1 {
			v, _ := strconv.Atoi(t.Text(sql))
			out += sql[at:t.Off] + strconv.Itoa((v*7+3)%11)
			at = int(t.End)
		}
	}
	return out + sql[at:]
}

// binary compares what the statement gives through the extended protocol, in
// binary form.
func (d *differ) binary(ctx context.Context, s diffStatement) {
	ask := func(c *pgconn.PgConn) diffAnswer {
		return diffRead(c.ExecParams(ctx, s.sql, nil, nil, nil, []int16{1}), true)
	}
	want := ask(d.ref)
	if kind, detail := d.judge(s, want, ask(d.own)); kind != "" && want.state != "57014" {
		d.report("binary: "+kind, s.sql, detail, s.seed)
	}
}

// write compares a statement that changes tables, and what it leaves in them:
// first without optimizer, undone, then with it, kept where there is no
// difference.
func (d *differ) write(ctx context.Context, s diffStatement) {
	attempt := func(c *pgconn.PgConn, sql string) (a diffAnswer, tables []diffAnswer) {
		diffAsk(ctx, c, "BEGIN")
		a = diffAsk(ctx, c, sql)
		if a.state == "" {
			for _, t := range d.tables {
				tables = append(tables, diffAsk(ctx, c, "TABLE "+t))
				if tables[len(tables)-1].state != "" { // the block is aborted
					break
				}
			}
		}
		return a, tables
	}
	judge := func(c *pgconn.PgConn, sql string) (kind, detail string, done bool) {
		want, before := attempt(d.ref, sql)
		got, after := attempt(c, sql)
		one := s
		one.sql = sql
		kind, detail = d.judge(one, want, got)
		done = want.state == "" && got.state == ""
		done = done && len(before) == len(after)
		for i := range before {
			done = done && before[i].state == "" && i < len(after) && after[i].state == ""
			if kind == "" && want.state == "" && got.state == "" && i < len(after) {
				if kind, detail = d.judge(one, before[i], after[i]); kind != "" {
					kind = "table after: " + kind
				}
			}
		}
		return kind, detail, done
	}
	undo := func(c *pgconn.PgConn) {
		diffAsk(ctx, d.ref, "ROLLBACK")
		diffAsk(ctx, c, "ROLLBACK")
	}
	d.compared++
	for _, side := range []struct {
		prefix string
		conn   *pgconn.PgConn
	}{{"optimizer off: ", d.plain}, {"", d.own}} {
		kind, detail, done := judge(side.conn, s.sql)
		if kind == "" {
			// An error of one side alone may be excused; the tables stay the same on both.
			if side.conn == d.own && done {
				diffAsk(ctx, d.ref, "COMMIT")
				diffAsk(ctx, d.own, "COMMIT")
			} else {
				undo(side.conn)
			}
			if side.conn == d.own && !done {
				d.refused++
			}
			continue
		}
		undo(side.conn)
		small := diffShrink(s.sql, func(sql string) bool {
			defer undo(side.conn)
			k, det, _ := judge(side.conn, sql)
			return diffSame(kind, k, &detail, det)
		})
		d.report(side.prefix+kind, small, detail, s.seed)
	}
}

// judge compares two answers, leaving out what is undetermined.
func (d *differ) judge(s diffStatement, want, got diffAnswer) (kind, detail string) {
	switch {
	case got.state == "57014" || want.state == "57014":
		d.slow++
		return "", ""
	case want.state == "0A000" && got.state == "":
		return "", "" // a FULL JOIN that only PostgreSQL refuses
	case diffRuntime(want.state) && got.state != "",
		!d.safe && (diffRuntime(want.state) && got.state == "" || diffRuntime(got.state) && want.state == ""):
		// which rows an expression sees before others drop out is the planner's choice
		if want.state != got.state {
			d.excused++
		}
		return "", ""
	case diffViolation(want.state) && diffViolation(got.state):
		return "", "" // which of several violations comes first
	case want.state == "21000" && strings.Contains(s.sql, "WITH TIES"):
		// PostgreSQL looks up min and max by a query of one row that has kept WITH TIES
		d.excused++
		return "", ""
	case want.state == "55000" && strings.Contains(want.message, "not visible through view"):
		// only late minor versions look at what the view shows of the row in the way
		d.excused++
		return "", ""
	case (want.state == "23505" || got.state == "23505") && (want.state == "" || got.state == "") && strings.HasPrefix(s.sql, "UPDATE"):
		// keys are checked row by row: whether moved keys meet hangs on the rows' order
		d.excused++
		return "", ""
	}
	return diffAnswers(s, want, got)
}

// diffRuntime reports whether the state is an error of a value.
func diffRuntime(state string) bool { return strings.HasPrefix(state, "22") || state == "21000" }

// diffViolation reports whether the state says that a row may not be as it is.
func diffViolation(state string) bool { return strings.HasPrefix(state, "23") || state == "44000" }

// diffSame reports whether a part of a statement shows the same difference: the
// same rows may not be missing, but errors must be the same.
func diffSame(kind, got string, detail *string, now string) bool {
	if got != kind || strings.HasPrefix(kind, "state") && now != *detail {
		return false
	}
	*detail = now
	return true
}

// report records a difference, a few of each kind.
func (d *differ) report(kind, sql, detail string, seed int64) {
	d.total++
	d.seen[kind]++
	if d.seen[kind] <= 6 {
		d.found = append(d.found, diffFault{kind, sql, detail, seed})
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
	if !slices.Equal(a, b) && !slices.Equal(diffPlain(want, a, s.ordered), diffPlain(got, b, s.ordered)) {
		miss, extra := diffRows(a, b), diffRows(b, a)
		return "rows", fmt.Sprintf("    %d rows, not %d; missing %d: %q; extra %d: %q", len(b), len(a),
			len(miss), miss[:min(3, len(miss))], len(extra), extra[:min(3, len(extra))])
	}
	if want.tag != got.tag {
		return "tag", fmt.Sprintf("    want %s, got %s", want.tag, got.tag)
	}
	return "", ""
}

// diffPlain gives rows without what equal values may differ in, trailing zeros
// of numerics and trailing blanks of character: DISTINCT and the like keep
// either spelling.
func diffPlain(a diffAnswer, rows []string, ordered bool) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		f := strings.Split(r, "|")
		for k := range f {
			if k >= len(a.columns) {
				break
			}
			if strings.HasSuffix(a.columns[k], ":1700") && strings.Contains(f[k], ".") {
				f[k] = strings.TrimRight(strings.TrimRight(f[k], "0"), ".")
			}
			if strings.HasSuffix(a.columns[k], ":1042") {
				f[k] = strings.TrimRight(f[k], " ")
			}
		}
		out[i] = strings.Join(f, "|")
	}
	if !ordered {
		slices.Sort(out)
	}
	return out
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
			a.columns = append(a.columns, diffField(f))
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
	return a.failed(m.Close())
}

// diffValue is a value's text; floats are rounded to what any order of summing
// leaves equal.
func diffValue(oid uint32, v []byte) string {
	if v == nil {
		return "∅"
	}
	if oid == 701 || oid == 700 {
		if f, err := strconv.ParseFloat(string(v), 64); err == nil {
			if f == 0 {
				return "0" // either zero
			}
			return strconv.FormatFloat(f, 'g', 9, 64)
		}
	}
	return string(v)
}

// diffField is a column's name and type; types that the schema made have other OIDs
// on each side.
func diffField(f pgconn.FieldDescription) string {
	return fmt.Sprintf("%s:%d", f.Name, min(f.DataTypeOID, firstUserOID))
}

// diffRead reads the answer to a statement of the extended protocol.
func diffRead(r *pgconn.ResultReader, binary bool) (a diffAnswer) {
	for _, f := range r.FieldDescriptions() {
		a.columns = append(a.columns, diffField(f))
	}
	for r.NextRow() {
		row := ""
		for i, v := range r.Values() {
			oid := r.FieldDescriptions()[i].DataTypeOID
			if binary {
				row += diffBinary(oid, v) + "|"
			} else {
				row += diffValue(oid, v) + "|"
			}
		}
		a.rows = append(a.rows, row)
	}
	tag, err := r.Close()
	a.tag = tag.String()
	return a.failed(err)
}

// diffBinary is a value's binary form without what equal values may differ in.
func diffBinary(oid uint32, v []byte) string {
	switch {
	case v == nil:
		return "∅"
	case oid == 701 && len(v) == 8:
		return diffValue(oid, strconv.AppendFloat(nil, math.Float64frombits(binary.BigEndian.Uint64(v)), 'g', -1, 64))
	case oid == 1700 && len(v) > 8: // the scale; the digits stand without zeros at the end
		return fmt.Sprintf("%x%x", v[:6], v[8:])
	case oid == 1042:
		return fmt.Sprintf("%x", bytes.TrimRight(v, " "))
	case (oid == 1007 || oid == 1009) && len(v) > 8: // whether a bitmap of NULLs is kept that are gone is left out
		return fmt.Sprintf("%x%x", v[:4], v[8:])
	case oid >= firstUserOID && len(v) > 12: // an array has its elements' OID
		return fmt.Sprintf("%x", v[12:])
	}
	return fmt.Sprintf("%x", v)
}
