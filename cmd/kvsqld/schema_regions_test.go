package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kvsqld/storage"
)

const (
	regionsBefore = `CREATE SCHEMA lbs;
CREATE TABLE lbs.geo (id int PRIMARY KEY, lat float8, lon float8);
CREATE TABLE lbs.apoi (id int PRIMARY KEY, geo int NOT NULL REFERENCES lbs.geo, name text);
CREATE INDEX apoi_name ON lbs.apoi (name);
INSERT INTO lbs.geo SELECT i, i / 10.0, i / 7.0 FROM generate_series(1, 100) i;
INSERT INTO lbs.apoi SELECT i, i % 100 + 1, 'n' || i FROM generate_series(1, 300) i;`
	regionsAfter = `CREATE SCHEMA lbs;
CREATE TABLE lbs.geo (id int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon', region_size = '1 x 2', region_rows = 50);
CREATE TABLE lbs.apoi (id int PRIMARY KEY, geo int NOT NULL REFERENCES lbs.geo, name text) WITH (cluster_with = 'lbs.geo');
CREATE INDEX apoi_name ON lbs.apoi (name);
CREATE TABLE lbs.aevent (id int PRIMARY KEY, poi int NOT NULL REFERENCES lbs.apoi) WITH (cluster_with = 'lbs.apoi');
CREATE TABLE lbs.other (id int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon');`
)

// TestCatalogDiffOfRegions gives tables with rows their places by the script of the
// differences, makes new tables with them, lays another grid under them, and takes
// them out again; no row is lost.
func TestCatalogDiffOfRegions(t *testing.T) {
	dir := t.TempDir()
	from, to := startServer(t, storage.Options{Store: "mem"}), startServer(t, storage.Options{Store: "mem"})
	ctx := context.Background()
	exec := func(s *server, sql string) {
		t.Helper()
		c, err := s.connect(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(ctx)
		if _, err := c.Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
	export := func(s *server, name string) string {
		t.Helper()
		var b bytes.Buffer
		if err := s.ExportCatalog(ctx, &b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// turn makes the schema of to out of that of from.
	turn := func(step string) {
		t.Helper()
		var script, rest bytes.Buffer
		want := export(to, "to.xml")
		if err := diffFiles(export(from, "from.xml"), want, "", &script); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		exec(from, "BEGIN;\n"+script.String()+"COMMIT;")
		if err := diffFiles(export(from, "now.xml"), want, "", &rest); err != nil || rest.Len() > 0 {
			t.Fatalf("%s: left: %v\n%s\nscript:\n%s", step, err, rest.String(), script.String())
		}
		exec(from, "SELECT 1 / (count(*) = 300)::int FROM lbs.apoi p JOIN lbs.geo g ON g.id = p.geo WHERE g.lat = g.id / 10.0::float8 AND p.name = 'n' || p.id")
	}
	exec(from, regionsBefore)
	exec(to, regionsAfter)
	turn("regions")
	exec(from, "INSERT INTO lbs.aevent SELECT id, id FROM lbs.apoi")
	exec(to, "ALTER TABLE lbs.geo SET (region_size = '0.5 x 0.5', region_rows = 20)")
	turn("another grid")
	exec(to, "ALTER TABLE lbs.aevent RESET (cluster_with)")
	turn("the lowest leaves")
	exec(to, "ALTER TABLE lbs.aevent SET (cluster_with = 'lbs.apoi'); ALTER TABLE lbs.apoi ALTER name TYPE varchar(9)")
	turn("a type among the others")
	exec(to, "DROP TABLE lbs.aevent")
	turn("the lowest is dropped")
	exec(to, `CREATE TABLE lbs.land (id int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon');
CREATE TABLE lbs.town (id int PRIMARY KEY, land int NOT NULL REFERENCES lbs.land) WITH (cluster_with = 'lbs.land');
CREATE TABLE lbs.zoo (id int PRIMARY KEY, town int NOT NULL REFERENCES lbs.town) WITH (cluster_with = 'lbs.town')`)
	turn("other places")
	exec(to, "DROP TABLE lbs.zoo, lbs.town, lbs.land")
	turn("other places are dropped")
	exec(to, "DROP SCHEMA lbs CASCADE; "+strings.ReplaceAll(regionsBefore, "int PRIMARY KEY", "bigint PRIMARY KEY"))
	turn("no regions")
	exec(to, "DROP SCHEMA lbs CASCADE; "+regionsAfter)
	turn("regions again")
}
