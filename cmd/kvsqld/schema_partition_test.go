package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"kvsqld/storage"
)

// Two states of a schema with partitions: partitions come, go and change their
// place, indexes and foreign keys of their parents come and go.
const (
	partitionsBefore = `
CREATE TABLE pk (a int, k int, t text, PRIMARY KEY (a, k)) PARTITION BY LIST (k);
CREATE TABLE pk1 PARTITION OF pk FOR VALUES IN (1);
CREATE TABLE pk2 PARTITION OF pk FOR VALUES IN (2, 3);
CREATE TABLE pkd PARTITION OF pk DEFAULT;
CREATE TABLE fk (a int, k int, FOREIGN KEY (a, k) REFERENCES pk);
CREATE TABLE both_keys (a int, b int, PRIMARY KEY (a, b));
CREATE TABLE named_twice (x int, y int, FOREIGN KEY (x, x) REFERENCES both_keys ON DELETE SET NULL (x, x));
CREATE INDEX ON named_twice (x) INCLUDE (y, y);
CREATE TABLE m (d date NOT NULL, v int, e text) PARTITION BY RANGE (d);
CREATE INDEX mv ON m (v);
CREATE TABLE m1 PARTITION OF m FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
CREATE TABLE m2 PARTITION OF m FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') PARTITION BY LIST (e);
CREATE TABLE m2a PARTITION OF m2 FOR VALUES IN ('a');
CREATE TABLE lone (d date NOT NULL, v int, e text);
CREATE TABLE old (a int) PARTITION BY HASH (a);
CREATE TABLE old0 PARTITION OF old FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE old1 PARTITION OF old FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO pk SELECT i, i % 5, 't' || i FROM generate_series(1, 20) i;
INSERT INTO lone VALUES ('2022-05-05', 1, 'x');`
	partitionsChange = `
ALTER TABLE pk DETACH PARTITION pk1;
CREATE TABLE pk4 PARTITION OF pk FOR VALUES IN (7);
ALTER TABLE m ATTACH PARTITION lone FOR VALUES FROM ('2022-01-01') TO ('2023-01-01');
DROP TABLE m1;
CREATE TABLE m2b PARTITION OF m2 FOR VALUES IN ('b');
CREATE INDEX mdv ON m (d, v);
CREATE TABLE m3 PARTITION OF m FOR VALUES FROM ('2020-01-01') TO ('2020-06-01');
CREATE UNIQUE INDEX pku ON pk (t, k);
CREATE TABLE nw (z int, a int, k int, CONSTRAINT f FOREIGN KEY (a, k) REFERENCES pk) PARTITION BY RANGE ((z + 1));
CREATE TABLE nw0 PARTITION OF nw FOR VALUES FROM (MINVALUE) TO (10);
CREATE TABLE fk2 (a int, k int, CONSTRAINT f2 FOREIGN KEY (a, k) REFERENCES pk);
ALTER TABLE old DETACH PARTITION old1;
DROP TABLE old;
CREATE INDEX monly ON ONLY m (e, v);`
)

func TestCatalogDiffOfPartitions(t *testing.T) {
	diffForthAndBack(t, partitionsBefore, partitionsChange)
}

// diffForthAndBack turns a schema into what a change makes of it, and back, by the
// scripts of the differences.
func diffForthAndBack(t *testing.T, before, change string) {
	t.Helper()
	dir := t.TempDir()
	srv := startServer(t, storage.Options{Store: "mem"})
	to := startServer(t, storage.Options{Store: "mem"})
	exec := func(s *server, sql string) {
		t.Helper()
		c, err := s.connect(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		if _, err := c.Exec(context.Background(), sql).ReadAll(); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
	export := func(s *server, name string) string {
		t.Helper()
		var b bytes.Buffer
		if err := s.ExportCatalog(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	diff := func(old, to string) string {
		t.Helper()
		var script bytes.Buffer
		if err := diffFiles(old, to, "", &script); err != nil {
			t.Fatal(err)
		}
		return script.String()
	}
	exec(srv, before)
	old := export(srv, "before.xml")
	exec(to, before)
	exec(to, change)
	after := export(to, "after.xml")
	for _, x := range []struct{ from, to string }{{old, after}, {after, old}} {
		script := diff(x.from, x.to)
		exec(srv, "BEGIN;\n"+script+"COMMIT;")
		if rest := diff(export(srv, "now.xml"), x.to); rest != "" {
			t.Fatalf("left:\n%s\nscript:\n%s", rest, script)
		}
		want, got := described(string(readFile(t, x.to))), described(string(readFile(t, filepath.Join(dir, "now.xml"))))
		if got != want {
			t.Fatalf("%s\nscript:\n%s", firstDifference(want, got), script)
		}
	}
}

// Columns of a whole tree of partitions come and go, and change.
func TestCatalogDiffOfColumnsOfPartitions(t *testing.T) {
	diffForthAndBack(t, `
CREATE TABLE m (d int NOT NULL, v int, e text DEFAULT 'e', z numeric) PARTITION BY RANGE (d);
CREATE TABLE m1 PARTITION OF m FOR VALUES FROM (1) TO (10);
CREATE TABLE m2 PARTITION OF m FOR VALUES FROM (10) TO (20) PARTITION BY LIST (e);
CREATE TABLE m2a PARTITION OF m2 FOR VALUES IN ('e');
CREATE TABLE gone PARTITION OF m2 FOR VALUES IN ('f');
CREATE TABLE leaves PARTITION OF m FOR VALUES FROM (20) TO (30);
CREATE INDEX mv ON m (v);
CREATE VIEW mview AS SELECT d, v FROM m;
INSERT INTO m VALUES (2, 7, 'x', 1), (11, 8, 'e', 2);`, `
ALTER TABLE m DETACH PARTITION leaves;
DROP TABLE gone;
ALTER TABLE m DROP COLUMN z;
DROP VIEW mview;
ALTER TABLE m ALTER v TYPE bigint, ALTER v SET NOT NULL, ALTER d SET DEFAULT 5;
ALTER TABLE m ALTER e DROP DEFAULT;
ALTER TABLE m ADD n int NOT NULL DEFAULT 4, ADD o text;
CREATE VIEW mview AS SELECT d, v, n FROM m;
CREATE INDEX mn ON m (n) WHERE o IS NULL;
CREATE TABLE new PARTITION OF m FOR VALUES FROM (30) TO (40);`)
}
