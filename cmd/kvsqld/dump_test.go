package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kvsqld/storage"
)

// dumpSchema has what pg_dump writes and the server keeps.
const dumpSchema = "../../testdata/dump/schema.sql"

// dumpSite is a database of either server, with the tools to dump and restore it.
type dumpSite struct {
	t              *testing.T
	bin            string // of PostgreSQL's programs
	host, port, db string
}

// run runs one of PostgreSQL's programs on the database.
func (d *dumpSite) run(name string, input []byte, args ...string) []byte {
	d.t.Helper()
	out, err := d.try(name, input, args...)
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// try runs one of PostgreSQL's programs, which may fail.
func (d *dumpSite) try(name string, input []byte, args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(d.bin, name), append([]string{"-h", d.host, "-p", d.port, "-U", "postgres", "-d", d.db}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s on %s: %w\n%s", name, d.db, err, errs.Bytes())
	}
	return out.Bytes(), nil
}

// load runs SQL in the database; the first error ends the test.
func (d *dumpSite) load(sql []byte) {
	d.t.Helper()
	d.run("psql", sql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", os.DevNull, "-f", "-")
}

// dump is the database as SQL, without the lines that differ from dump to dump and
// the name of the server.
func (d *dumpSite) dump() []byte {
	d.t.Helper()
	return sameInDumps(d.run("pg_dump", nil))
}

// sameInDumps leaves out the lines that differ from dump to dump.
func sameInDumps(dump []byte) (out []byte) {
	for l := range bytes.Lines(dump) {
		if s := string(l); !strings.HasPrefix(s, `\restrict`) && !strings.HasPrefix(s, `\unrestrict`) && !strings.HasPrefix(s, "-- Dumped from") {
			out = append(out, l...)
		}
	}
	return out
}

// other makes a further database of the same server.
func (d *dumpSite) other(db string) *dumpSite {
	d.t.Helper()
	d.load([]byte("CREATE DATABASE " + db + ";\n"))
	n := *d
	n.db = db
	return &n
}

// dumpServer starts a server of ours.
func dumpServer(t *testing.T, pg *postgres) *dumpSite {
	srv := startServer(t, storage.Options{NoSync: true})
	host, port, err := net.SplitHostPort(srv.addr)
	if err != nil {
		t.Fatal(err)
	}
	return &dumpSite{t, pg.bin, host, port, "postgres"}
}

// TestDump dumps a schema with PostgreSQL's pg_dump, restores it with psql and
// pg_restore, and compares the dumps: from and to kvsqld, and across to PostgreSQL
// and back. All must be equal.
func TestDump(t *testing.T) {
	pg := requirePostgres(t)
	schema, err := os.ReadFile(dumpSchema)
	if err != nil {
		t.Fatal(err)
	}
	ours := dumpServer(t, pg)
	theirs := &dumpSite{t, pg.bin, pg.dir, postgresPort, "postgres"}
	for _, d := range []*dumpSite{ours, theirs} {
		d.load([]byte("CREATE ROLE dump_reader;\nCREATE ROLE dump_owner;\n"))
	}
	t.Cleanup(func() { dropDumps(t, pg) })
	from, ref := ours.other("dump_from"), theirs.other("dump_from")
	from.load(schema)
	ref.load(schema)
	want := from.dump()
	sameDump(t, "PostgreSQL's of the same schema", ref.dump(), want)
	plain := from.run("pg_dump", nil)
	archive := from.run("pg_dump", nil, "-Fc")
	into := ours.other("dump_plain")
	into.load(plain)
	sameDump(t, "restored by psql", into.dump(), want)
	into = ours.other("dump_archive")
	into.run("pg_restore", archive, "--exit-on-error")
	sameDump(t, "restored by pg_restore", into.dump(), want)
	// Several connections dump one snapshot, and restore at once.
	dir := filepath.Join(t.TempDir(), "dump")
	from.run("pg_dump", nil, "-Fd", "-j", "2", "-f", dir)
	into = ours.other("dump_parallel")
	into.run("pg_restore", nil, "--exit-on-error", "-j", "2", dir)
	sameDump(t, "restored from a parallel dump", into.dump(), want)
	into = theirs.other("dump_across")
	into.load(plain)
	sameDump(t, "restored into PostgreSQL", into.dump(), want)
	into = ours.other("dump_back")
	into.load(ref.run("pg_dump", nil))
	sameDump(t, "PostgreSQL's, restored", into.dump(), want)
}

// TestDumpOfMappings dumps tables that are kept in kvsqld's own ways and restores them
// in the same ways: the join of the restored tables reads as many keys.
func TestDumpOfMappings(t *testing.T) {
	ours := dumpServer(t, requirePostgres(t))
	from := ours.other("dump_from")
	from.load(readFile(t, "../../testdata/dump/mappings.sql"))
	want := from.dump()
	const near = `EXPLAIN (ANALYZE, KV, TIMING OFF, COSTS OFF) SELECT p.poi_name, e.name FROM lbs.geo g JOIN lbs.poi p USING (poi_id)
JOIN lbs.event e ON e.poi_id = p.poi_id AND e.language = p.language WHERE distance(g.latitude, g."Long", 46.77, 23.6) <= 5000`
	plan := func(d *dumpSite) string { return string(d.run("psql", nil, "-X", "-A", "-t", "-c", near)) }
	wantPlan := plan(from)
	if !strings.Contains(wantPlan, "Cluster scan geo, poi, event") {
		t.Fatalf("the plan is\n%s", wantPlan)
	}
	check := func(what string, into *dumpSite) {
		t.Helper()
		sameDump(t, what, into.dump(), want)
		if got := plan(into); got != wantPlan {
			t.Errorf("%s: the plan is\n%s-- want:\n%s", what, got, wantPlan)
		}
	}
	into := ours.other("dump_plain")
	into.load(from.run("pg_dump", nil))
	check("restored by psql", into)
	into = ours.other("dump_archive")
	into.run("pg_restore", from.run("pg_dump", nil, "-Fc"), "--exit-on-error")
	check("restored by pg_restore", into)
}

// dropDumps removes from the shared reference what the test made.
func dropDumps(t *testing.T, pg *postgres) {
	c, err := pg.connect(context.Background(), "postgres", nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close(context.Background())
	for _, sql := range []string{"DROP DATABASE dump_from WITH (FORCE)", "DROP DATABASE dump_across WITH (FORCE)", "DROP ROLE dump_reader, dump_owner"} {
		if _, err := c.Exec(context.Background(), sql).ReadAll(); err != nil {
			t.Error(err)
		}
	}
}

// sameDump compares two dumps line by line and shows the first lines that differ.
func sameDump(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	at := 0
	for at < min(len(g), len(w)) && g[at] == w[at] {
		at++
	}
	show := func(l []string) string {
		return strings.Join(slices.Clone(l[max(at-3, 0):min(at+12, len(l))]), "\n")
	}
	t.Errorf("%s: the dump differs at line %d:\n%s\n-- want:\n%s", what, at+1, show(g), show(w))
}
