package session

import (
	"strings"
	"testing"
)

// TestOldSnapshotMeetsDDL has a transaction that reads an older state ask for tables
// that others have changed since: what it can still read it reads, the rest is 40001
// and never an answer.
func TestOldSnapshotMeetsDDL(t *testing.T) {
	for _, tt := range []struct {
		ddl   string
		query string
		fails bool
	}{
		{"CREATE INDEX ON t (a)", "SELECT id FROM t WHERE a = 7", false},
		{"CREATE INDEX ON t USING inverted (a)", "SELECT id FROM t WHERE a = 7", false},
		{"CREATE UNIQUE INDEX ON t (a)", "SELECT id FROM t WHERE a = 7", false},
		{"ALTER TABLE t ADD UNIQUE (a)", "SELECT id FROM t WHERE a = 7", false},
		{"UPDATE t SET a = 7 WHERE id < 7; UPDATE t SET a = -id; ALTER TABLE t ADD UNIQUE (a)", "SELECT count(*) AS n, max(id) FROM t x WHERE EXISTS (SELECT 1 FROM t WHERE a = x.b AND a = 7)", false},
		{"CREATE UNIQUE INDEX ON t (a)", "SELECT id FROM t WHERE a = 7 FOR UPDATE", true},
		{"CREATE UNIQUE INDEX ON t (a)", "UPDATE t SET a = a WHERE a = 7 RETURNING id", true},
		{"ALTER TABLE t SET (layout = 'column')", "SELECT id FROM t WHERE id = 7 AND a = 7", true},
		{"ALTER TABLE t ALTER COLUMN a TYPE bigint", "SELECT id FROM t WHERE id = 7 AND a = 7", true},
		{"ALTER TABLE t DROP CONSTRAINT t_pkey", "SELECT id FROM t WHERE id = 7 AND a = 7", true},
		{"ALTER TABLE t ADD COLUMN c int DEFAULT 7", "SELECT id FROM t WHERE id = 7 AND c = 7", false},
		{"ALTER TABLE t DROP COLUMN b", "SELECT id FROM t WHERE id = 7 AND a = 7", false},
		{"DROP INDEX t_b", "SELECT id FROM t WHERE b = 7", false},
		{"UPDATE t SET a = 0", "SELECT id FROM t WHERE a = 7", false},
		{"TRUNCATE t", "SELECT id FROM t WHERE a = 7", false},
	} {
		for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
			t.Run(tt.ddl+"/"+level, func(t *testing.T) {
				srv := newServer(t)
				a, b := srv.client(t), srv.client(t)
				a.must("CREATE TABLE other (x int)")
				a.must("CREATE TABLE t (id int PRIMARY KEY, a int, b int)")
				a.must("CREATE INDEX t_b ON t (b)")
				a.must("INSERT INTO t SELECT i, i, i FROM generate_series(1, 3000) i")
				a.must("ANALYZE t")
				a.must("BEGIN ISOLATION LEVEL " + level)
				a.must("SELECT count(*) FROM other")
				b.must(tt.ddl)
				got := a.sql(tt.query)
				if tt.fails && !strings.Contains(got, "40001") || !tt.fails && !strings.Contains(got, "7") {
					t.Errorf("%s\n%s", tt.query, got)
				}
				if tt.fails {
					a.must("ROLLBACK")
				} else {
					a.must("COMMIT")
				}
				if !strings.HasPrefix(tt.ddl, "UPDATE") && !strings.HasPrefix(tt.ddl, "TRUNCATE") {
					if got := a.sql(tt.query); !strings.Contains(got, "7") {
						t.Errorf("afterwards: %s\n%s", tt.query, got)
					}
				}
			})
		}
	}
}

// TestOldSnapshotMeetsPlaces is TestOldSnapshotMeetsDDL for tables that are given another
// place in a region-clustered file, or none any more.
func TestOldSnapshotMeetsPlaces(t *testing.T) {
	for _, tt := range []struct {
		ddl, query string
		fails      bool
	}{
		{"ALTER TABLE near SET (cluster_with = 'place')", "SELECT v FROM near", true},
		{"ALTER TABLE near SET (cluster_with = 'place')", "SELECT v FROM near WHERE id = 1", true},
		{"ALTER TABLE near SET (cluster_with = 'place')", "SELECT id + 6 FROM place", false},
		{"ALTER TABLE within RESET (cluster_with)", "SELECT v FROM within", true},
		{"ALTER TABLE within RESET (cluster_with); ALTER TABLE within SET (cluster_with = 'place')", "SELECT v FROM within", false},
		{"ALTER TABLE within RESET (cluster_with); ALTER TABLE within SET (cluster_with = 'place')", "SELECT count(*) + 6 FROM within", false},
		{"ALTER TABLE within RESET (cluster_with); ALTER TABLE within SET (cluster_with = 'place')", "SELECT v FROM within WHERE id = 1", false},
		{"ALTER TABLE within RESET (cluster_with); ALTER TABLE within SET (cluster_with = 'place')", "SELECT string_agg(w::text, ' ' ORDER BY id) FROM within w", false},
		{"ALTER TABLE near SET (cluster_with = 'place'); ALTER TABLE near RESET (cluster_with)", "SELECT v FROM near", true},
		{"ALTER TABLE place SET (region_size = '1 x 1')", "SELECT id + 6 FROM place", true},
		{"ALTER TABLE place SET (region_size = '1 x 1')", "SELECT v FROM within JOIN place p ON p.id = within.p", true},
		{"ALTER TABLE within RESET (cluster_with); ALTER TABLE place RESET (regions)", "SELECT id + 6 FROM place", true},
		{"ALTER TABLE alone SET (regions = 'lat, lon')", "SELECT id + 6 FROM alone", true},
		{"CREATE INDEX ON within (v)", "SELECT v FROM within WHERE v = 7", false},
	} {
		for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
			srv := newServer(t)
			a, b := srv.client(t), srv.client(t)
			a.must(`CREATE TABLE other (x int);
				CREATE TABLE place (id int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon');
				CREATE TABLE alone (id int PRIMARY KEY, lat float8, lon float8);
				CREATE TABLE within (id int PRIMARY KEY, p int NOT NULL REFERENCES place, v int) WITH (cluster_with = 'place');
				CREATE TABLE near (id int PRIMARY KEY, p int NOT NULL REFERENCES place, v int);
				INSERT INTO place VALUES (1, 47, 11); INSERT INTO alone VALUES (1, 47, 11); INSERT INTO within VALUES (1, 1, 7); INSERT INTO near VALUES (1, 1, 7)`)
			a.must("BEGIN ISOLATION LEVEL " + level)
			a.must("SELECT count(*) FROM other")
			b.must(tt.ddl)
			if got := a.sql(tt.query); strings.Contains(got, "40001") != tt.fails || !tt.fails && !strings.Contains(got, "7") {
				t.Errorf("%s, %s, %s\n%s", tt.ddl, level, tt.query, got)
			}
			a.must("ROLLBACK")
			if got := a.sql(tt.query); !strings.Contains(got, "7") {
				t.Errorf("%s, afterwards: %s\n%s", tt.ddl, tt.query, got)
			}
		}
	}
}

// TestOwnDDLInOldSnapshot has a transaction read what it has changed itself.
func TestOwnDDLInOldSnapshot(t *testing.T) {
	c := newServer(t).client(t)
	c.must("CREATE TABLE t (id int PRIMARY KEY, a int)")
	c.must("INSERT INTO t SELECT i, i FROM generate_series(1, 3000) i")
	c.must("BEGIN ISOLATION LEVEL REPEATABLE READ")
	c.must("SELECT count(*) FROM t")
	for _, ddl := range []string{"CREATE INDEX ON t (a)", "ALTER TABLE t SET (layout = 'column')", "ALTER TABLE t ALTER COLUMN a TYPE bigint"} {
		c.must(ddl)
		if got := c.sql("SELECT id FROM t WHERE a = 7"); !strings.Contains(got, "7") || strings.Contains(got, "ERROR") {
			t.Errorf("after %s:\n%s", ddl, got)
		}
	}
	c.must("COMMIT")
}

// TestDefinitionAndBack has a transaction open its snapshot while a commit with
// definitions is under way: the rows may be those of the commit already and the
// definitions not yet. That both are altered back afterwards does not make it right.
func TestDefinitionAndBack(t *testing.T) {
	for _, under := range []bool{true, false} {
		for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
			srv := newServer(t)
			a, b := srv.client(t), srv.client(t)
			a.must("CREATE TABLE other (x int)")
			a.must("CREATE TABLE t (id int PRIMARY KEY, a int)")
			a.must("INSERT INTO t VALUES (1, 7)")
			a.must("BEGIN ISOLATION LEVEL " + level)
			if under {
				srv.defining.Add(1)
			}
			a.must("SELECT count(*) FROM other")
			if under {
				srv.defining.Add(-1)
			}
			b.must("ALTER TABLE t ALTER COLUMN a TYPE bigint")
			b.must("ALTER TABLE t ALTER COLUMN a TYPE int")
			if got := a.sql("SELECT a FROM t"); strings.Contains(got, "40001") != under || !under && !strings.Contains(got, "7") {
				t.Errorf("%s, under a commit %t: %s", level, under, got)
			}
			a.must("ROLLBACK")
		}
	}
}
