package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kvsqld/catalog/sqlerr"
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
// differences, and makes new tables with them; the way back is refused by name.
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
	exec(from, regionsBefore)
	exec(to, regionsAfter)
	before, after := export(from, "before.xml"), export(to, "after.xml")
	var script, rest bytes.Buffer
	if err := diffFiles(before, after, "", &script); err != nil {
		t.Fatal(err)
	}
	exec(from, "BEGIN;\n"+script.String()+"COMMIT;")
	if err := diffFiles(export(from, "now.xml"), after, "", &rest); err != nil || rest.Len() > 0 {
		t.Fatalf("left: %v\n%s\nscript:\n%s", err, rest.String(), script.String())
	}
	exec(from, "INSERT INTO lbs.aevent SELECT id, id FROM lbs.apoi")
	err := diffFiles(after, before, "", &rest)
	if e := new(sqlerr.Error); !errors.As(err, &e) || !strings.Contains(e.Message, "lbs.") {
		t.Errorf("the way back: %v", err)
	}
}
