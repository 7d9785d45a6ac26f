package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestRandomDefinitions sends scripts of random definitions (tables, partitions, views,
// types, grants, …) with a few rows to kvsqld and to PostgreSQL, and compares whether
// each is refused, its tag and its notices; at the end what pg_dump, psql and the catalog
// say of the schema, and the rows. The first difference of a script is reported with the
// statements that lead to it, made as few and short as it stays one. A run is determined by
// KVSQLD_DEFS_SEED; KVSQLD_DEFS_N is the number of statements.
func TestRandomDefinitions(t *testing.T) {
	pg := requirePostgres(t)
	seed, count := diffEnv("KVSQLD_DEFS_SEED", 1), diffEnv("KVSQLD_DEFS_N", 700)
	d := &definer{t: t, pg: pg, refused: map[string]int{}}
	d.admin("CREATE ROLE defs_a", "CREATE ROLE defs_b")
	t.Cleanup(func() { d.admin("DROP ROLE defs_a, defs_b") })
	var done, made int64
	for i := int64(0); done < count; i++ {
		g := newDefGen(rand.New(rand.NewSource(seed+i)), min(defsPerScript, int(count-done)))
		steps, fault := d.run(g.next)
		done += int64(len(steps))
		made += int64(g.made)
		if fault != nil {
			steps, fault = d.shrink(steps, *fault)
			t.Errorf("[%s] seed %d\n  %s;\n%s", fault.kind, seed+i, strings.Join(steps, ";\n  "), fault.detail)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(d.refused)) {
		t.Logf("%d scripts end with: %s", d.refused[m], m)
	}
	t.Logf("seed %d: %d statements compared, %d of them succeeded", seed, done, made)
}

// defsPerScript is the number of statements in one database.
const defsPerScript = 70

// definer compares definitions on both servers.
type definer struct {
	t    *testing.T
	pg   *postgres
	runs int

	refused map[string]int // what we do not support, by message
}

// defFault is the first difference of a script.
type defFault struct {
	kind, detail string
	at           int // the step; their number where the ends differ
}

// defSide is a new database of either server.
type defSide struct {
	*dumpSite
	conn    *pgconn.PgConn
	notices []string
}

// defSetup is what scripts find.
var defSetup = []string{
	"SET search_path = public, extra",
	"SET statement_timeout = '20s'",
	"CREATE SCHEMA extra",
	"GRANT ALL ON SCHEMA public, extra TO defs_a, defs_b",
	"CREATE TYPE mood AS ENUM ('sad', 'ok')",
	"CREATE TYPE pair AS (x int, y text)",
	"CREATE DOMAIN posint AS int CHECK (VALUE > 0)",
	"CREATE SEQUENCE s0",
	"CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE RETURN $1 * 2",
	"CREATE TABLE t0 (a int, b text, c date)",
	"CREATE TABLE t1 (a int PRIMARY KEY, b text DEFAULT 'x', d numeric(8,2))",
	"CREATE TABLE t2 (a int, b text) PARTITION BY LIST (a)",
}

// run sends the statements that next gives, told whether the last one failed, until
// there is none more or the servers differ.
func (d *definer) run(next func(ref *pgconn.PgConn, failed bool) string) (steps []string, fault *defFault) {
	ctx := context.Background()
	d.runs++
	db := fmt.Sprintf("defs_%d", d.runs)
	d.admin("CREATE DATABASE " + db + " TEMPLATE template0")
	defer d.admin("DROP DATABASE " + db + " WITH (FORCE)")
	srv, err := openServer(storage.Options{Store: "mem"})
	if err != nil {
		d.t.Fatal(err)
	}
	checked := &checkFaults{TB: d.t}
	defer func() {
		srv.checkAndStop(checked)
		if fault == nil && len(checked.list) > 0 {
			fault = &defFault{"check", strings.Join(checked.list, "\n"), len(steps)}
		}
	}()
	host, port, _ := net.SplitHostPort(srv.addr)
	ref := d.connect(&dumpSite{d.t, d.pg.bin, d.pg.dir, postgresPort, db})
	defer ref.conn.Close(ctx)
	first := d.connect(&dumpSite{d.t, d.pg.bin, host, port, "postgres"})
	defer first.conn.Close(ctx)
	for _, sql := range []string{"CREATE ROLE defs_a", "CREATE ROLE defs_b", "CREATE DATABASE " + db} {
		if a := diffAsk(ctx, first.conn, sql); a.state != "" {
			d.t.Fatal(sql, a.message)
		}
	}
	own := d.connect(&dumpSite{d.t, d.pg.bin, host, port, db})
	defer own.conn.Close(ctx)
	for _, sql := range defSetup {
		for _, s := range []*defSide{ref, own} {
			if a := diffAsk(ctx, s.conn, sql); a.state != "" {
				d.t.Fatal(sql, a.message)
			}
		}
	}
	failed := false
	for {
		sql := next(ref.conn, failed)
		if sql == "" {
			break
		}
		steps = append(steps, sql)
		want, wantNotices := ref.ask(sql)
		got, gotNotices := own.ask(sql)
		failed = want.state != ""
		if strings.HasPrefix(want.state, "XX") {
			return steps, nil // a fault of the reference
		}
		if got.state == "0A000" && want.state == "" && strings.HasSuffix(got.message, " is not supported") {
			d.refused[got.message]++
			return steps, nil // refused by name; from here on there is nothing to compare
		}
		kind, detail := defCompare(want, got, wantNotices, gotNotices)
		if kind != "" {
			return steps, &defFault{kind, detail, len(steps) - 1}
		}
	}
	for _, s := range []*defSide{ref, own} {
		diffAsk(ctx, s.conn, "ROLLBACK")
		diffAsk(ctx, s.conn, "RESET ROLE")
	}
	for _, look := range defLooks {
		want, got := look.of(ref), look.of(own)
		if want != got {
			return steps, &defFault{look.name, firstDifference(want, got), len(steps)}
		}
	}
	return steps, nil
}

// checkFaults keeps what the check of a server finds.
type checkFaults struct {
	testing.TB
	list []string
}

func (c *checkFaults) Errorf(format string, a ...any) {
	c.list = append(c.list, fmt.Sprintf(format, a...))
}

// defCompare compares two answers. Which of several errors is found first is not
// compared, but an internal one is always a difference.
func defCompare(want, got diffAnswer, wantNotices, gotNotices string) (kind, detail string) {
	internal := strings.HasPrefix(got.state, "XX") || got.state == "connection"
	switch {
	case internal, (want.state == "") != (got.state == ""):
		return fmt.Sprintf("state %s, not %s", got.state, want.state), fmt.Sprintf("    want %q\n    got  %q", want.message, got.message)
	case want.state != "":
		return "", ""
	case want.tag != got.tag:
		return "tag", fmt.Sprintf("    want %q\n    got  %q", want.tag, got.tag)
	case wantNotices != gotNotices:
		return "notices", fmt.Sprintf("    want %s\n    got  %s", wantNotices, gotNotices)
	}
	return "", ""
}

// defLooks are what is compared at the end.
var defLooks = []struct {
	name string
	of   func(s *defSide) string
}{
	{"dump", (*defSide).dumped},
	{"psql", (*defSide).described},
	{"rows", (*defSide).rows},
	{"catalog", (*defSide).asked},
}

// dumped is the schema as pg_dump writes it; rows are compared on their own.
func (s *defSide) dumped() string {
	out, err := s.try("pg_dump", nil, "--schema-only")
	return fmt.Sprint(string(sameInDumps(out)), err)
}

// described is what psql says of the objects. Left out are domains, whose checks it has
// in the order of storage, and indexes on their own, whose columns keep the names that
// those of the table had.
func (s *defSide) described() string {
	script := "\\dT+ (public|extra).*\n\\dp (public|extra).*\n\\df+ (public|extra).*\n"
	for _, r := range s.relations("r", "p", "v", "m", "S", "c") {
		script += "\\d+ " + r + "\n"
	}
	out, err := s.try("psql", []byte(script), "-X", "-q")
	return fmt.Sprint(string(out), err)
}

// relations are the names of those of some kinds.
func (s *defSide) relations(kinds ...string) (out []string) {
	list := diffAsk(context.Background(), s.conn, "SELECT format('%I.%I', relnamespace::regnamespace::text, relname) FROM pg_class WHERE relkind IN ('"+strings.Join(kinds, "', '")+
		"') AND relnamespace::regnamespace::text IN ('public', 'extra') ORDER BY 1")
	for _, r := range list.rows {
		out = append(out, strings.TrimSuffix(r, "|"))
	}
	return out
}

// rows has the rows of all tables, ordered as texts: their order is storage's affair.
func (s *defSide) rows() string {
	var out []string
	for _, table := range s.relations("r", "m") {
		a := diffAsk(context.Background(), s.conn, "SELECT x::text FROM ONLY "+table+" x ORDER BY 1")
		out = append(append(out, table+" "+a.state), a.rows...)
	}
	return strings.Join(out, "\n")
}

// ask sends a statement and returns its answer and its notices. The lines of a notice's
// detail are in an order that hangs on OIDs.
func (s *defSide) ask(sql string) (diffAnswer, string) {
	s.notices = nil
	a := diffAsk(context.Background(), s.conn, sql)
	slices.Sort(s.notices)
	return a, strings.Join(s.notices, "; ")
}

func (d *definer) connect(site *dumpSite) *defSide {
	s := &defSide{dumpSite: site}
	c, err := dialAs(context.Background(), fmt.Sprintf("host='%s' port=%s user=postgres dbname='%s' sslmode=disable", site.host, site.port, site.db), func(n *pgconn.Notice) {
		lines := strings.Split(n.Detail, "\n")
		slices.Sort(lines)
		s.notices = append(s.notices, fmt.Sprintf("%s %s %s %q %s", n.Severity, n.Code, n.Message, lines, n.Hint))
	})
	if err != nil {
		d.t.Fatal(err)
	}
	s.conn = c
	return s
}

// admin runs statements on the reference, outside of the compared databases.
func (d *definer) admin(list ...string) {
	d.t.Helper()
	ctx := context.Background()
	c, err := d.pg.connect(ctx, "postgres", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, sql := range list {
		if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
			d.t.Error(errors.Join(errors.New(sql), err))
		}
	}
}

// shrink leaves out statements, and parts of them, that a difference does not need.
func (d *definer) shrink(steps []string, fault defFault) ([]string, *defFault) {
	tries := 0
	fails := func(list []string) bool {
		if tries++; tries > 400 {
			return false
		}
		i := 0
		_, f := d.run(func(*pgconn.PgConn, bool) string {
			if i++; i > len(list) {
				return ""
			}
			return list[i-1]
		})
		if f == nil || f.kind != fault.kind || strings.HasPrefix(f.kind, "state") && f.detail != fault.detail {
			return false
		}
		fault = *f
		return true
	}
	for size := max(len(steps)/2, 1); size > 0; size /= 2 {
		for i := len(steps) - size; i >= 0; i -= size {
			if one := slices.Delete(slices.Clone(steps), i, i+size); fails(one) {
				steps = one
			}
		}
	}
	for i := range steps {
		small := diffShrink(steps[i], func(sql string) bool {
			one := slices.Clone(steps)
			one[i] = sql
			return fails(one)
		})
		steps = slices.Clone(steps)
		steps[i] = small
	}
	return steps, &fault
}
