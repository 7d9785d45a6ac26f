package session

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// BenchmarkStatement runs statements of applications that were slow once, each in a
// transaction that is rolled back.
func BenchmarkStatement(b *testing.B) {
	tests := []struct {
		name   string
		tables []string
		sql    string
	}{
		{"ctid", []string{heapTable}, "SELECT b FROM heap WHERE ctid = '(0,4711)'"},
		{"delete range", []string{heapTable, "CREATE INDEX ON heap (a)"}, "DELETE FROM heap WHERE a < 5000"},
		{"delete scattered", []string{heapTable, "CREATE INDEX ON heap (a)"}, "DELETE FROM heap WHERE a % 10 = 0"},
		{"delete many", []string{heapTable, "CREATE INDEX ON heap (a)"}, "DELETE FROM heap WHERE a % 5 = 0"},
		{"delete all", []string{heapTable, "CREATE INDEX ON heap (a)"}, "DELETE FROM heap"},
		{"sample", []string{heapTable}, "SELECT count(*) FROM heap TABLESAMPLE SYSTEM (1)"},
		{"sample rows", []string{heapTable}, "SELECT count(*) FROM heap TABLESAMPLE BERNOULLI (1)"},
		{"first by elements", []string{docTable}, "SELECT id FROM doc WHERE tags && ARRAY[77, 501] ORDER BY id LIMIT 20"},
		{"documents by values", []string{docTable}, `SELECT id FROM doc WHERE data @> '{"owner": 77, "type": "t7"}' LIMIT 10`},
		{"documents by path", []string{docTable}, `SELECT count(*) FROM doc WHERE data @? '$ ? (@.owner == 77 && @.type == "t7")'`},
		{"update documents", []string{docTable}, `UPDATE doc SET data = jsonb_set(data, '{type}', '"new"') WHERE id <= 1000`},
		{"next of queue", []string{
			"CREATE TABLE job (id int PRIMARY KEY, state text, at int)",
			"INSERT INTO job SELECT i, CASE WHEN i % 100 = 0 THEN 'ready' ELSE 'done' END, i FROM generate_series(1, 100000) i",
			"CREATE INDEX ON job (at) WHERE state = 'ready'", "CREATE INDEX ON job (state)"},
			"UPDATE job SET state = 'running' WHERE id = (SELECT id FROM job WHERE state = 'ready' ORDER BY at LIMIT 1 FOR UPDATE SKIP LOCKED)"},
		{"first of groups", []string{
			"CREATE TABLE grp (id int PRIMARY KEY)", "INSERT INTO grp SELECT i FROM generate_series(1, 2000) i",
			"CREATE TABLE member (id int PRIMARY KEY, g int, x int)", "INSERT INTO member SELECT i, i % 2000 + 1, i * 7919 % 100003 FROM generate_series(1, 100000) i",
			"CREATE INDEX ON member (g, x)"},
			"SELECT grp.id, m.id FROM grp, LATERAL (SELECT id FROM member WHERE g = grp.id ORDER BY x DESC LIMIT 3) m LIMIT 50"},
		{"hours", []string{
			"CREATE TABLE reading (sensor int, at timestamp, v int, PRIMARY KEY (sensor, at))",
			"INSERT INTO reading SELECT s, timestamp '2024-01-01' + i * interval '1 min', i FROM generate_series(1, 10) s, generate_series(1, 10000) i"},
			"SELECT g, avg(v) FROM generate_series(timestamp '2024-01-01', '2024-01-03', '1 hour') g LEFT JOIN reading ON sensor = 7 AND at >= g AND at < g + interval '1 hour' GROUP BY g"},
		{"levels", []string{"CREATE TABLE part (id int PRIMARY KEY, whole int, name text)", "INSERT INTO part SELECT i, i / 2, 'part ' || i FROM generate_series(1, 50000) i"},
			"WITH RECURSIVE w AS (SELECT id FROM part WHERE id = 20000 UNION ALL SELECT p.id FROM w JOIN (SELECT id, max(whole) AS whole FROM part GROUP BY id) p ON w.id = p.whole) SELECT count(*) FROM w"},
		{"computed key", []string{postTables}, "SELECT name FROM author WHERE name = 'author ' || 77"},
		{"page with counts", []string{postTables}, `SELECT p.id, a.name, (SELECT count(*) FROM reply r WHERE r.post = p.id)
			FROM post p JOIN author a ON a.id = p.author ORDER BY p.at DESC LIMIT 20 OFFSET 100`},
		{"page with LATERAL", []string{postTables}, `SELECT p.id, x.n
			FROM post p LEFT JOIN LATERAL (SELECT count(*) AS n FROM reply r WHERE r.post = p.id) x ON true ORDER BY p.id DESC LIMIT 20`},
		{"page without replies", []string{postTables}, "SELECT p.id FROM post p WHERE NOT EXISTS (SELECT 1 FROM reply r WHERE r.post = p.id AND r.at > 90000) ORDER BY p.id LIMIT 20"},
		{"posts without replies", []string{postTables}, `SELECT a.name, count(*) FROM post p LEFT JOIN reply r ON r.post = p.id AND r.at > 90000 JOIN author a ON a.id = p.author
			WHERE r.id IS NULL AND a.id < 20 GROUP BY 1`},
		{"eleven entries", []string{postTables}, `SELECT count(*) FROM author a, author b, post p, post o, reply r, reply s, author c, author d, post q, reply t, author e
			WHERE p.id = r.post AND p.id = s.post AND p.id = o.id AND p.id = q.id AND p.id = t.post AND a.id = p.author AND b.id = r.author AND c.id = s.author AND d.id = o.author AND e.id = t.author
			AND a.name LIKE 'author 7%' AND b.name = 'author 77' AND q.at > 100`},
		{"page of many replies", []string{postTables}, "SELECT p.id FROM post p WHERE (SELECT count(*) FROM reply r WHERE r.post = p.id) > 2 ORDER BY p.id LIMIT 20"},
		{"last of each", []string{
			"CREATE TABLE reading (sensor int, at timestamp, v int, PRIMARY KEY (sensor, at))",
			"INSERT INTO reading SELECT s, timestamp '2024-01-01' + i * interval '1 min', i FROM generate_series(1, 10) s, generate_series(1, 10000) i"},
			"SELECT DISTINCT ON (sensor) * FROM reading ORDER BY sensor, at DESC"},
		{"page of groups", []string{postTables}, `SELECT p.id, a.name, count(r.id)
			FROM post p JOIN author a ON a.id = p.author LEFT JOIN reply r ON r.post = p.id GROUP BY p.id, a.id ORDER BY p.at DESC LIMIT 20`},
		{"page of distinct rows", []string{postTables}, "SELECT DISTINCT p.* FROM post p JOIN reply r ON r.post = p.id WHERE r.at > 50000 ORDER BY p.id LIMIT 20"},
		{"groups by a key", []string{postTables}, "SELECT p.*, count(*) FROM post p JOIN reply r ON r.post = p.id GROUP BY p.id"},
		{"counts by names", []string{postTables}, "SELECT a.name, count(*) FROM reply r JOIN author a ON a.id = r.author WHERE r.at > 50000 GROUP BY a.name"},
		{"few of wide rows", []string{wideTable}, "SELECT * FROM wide WHERE url LIKE '%/77%' ORDER BY at LIMIT 10"},
		{"joined with few", []string{wideTable, "CREATE TABLE few (id int PRIMARY KEY)", "INSERT INTO few SELECT i * 10 FROM generate_series(1, 1000) i"},
			"SELECT min(url), sum(c1), sum(c2), sum(c3), sum(c4) FROM wide JOIN few ON few.id = wide.owner"},
		{"types of columns", []string{manyTables}, `WITH RECURSIVE w AS (
			SELECT t.* FROM (` + typesOfColumns + `) t WHERE t.oid = 'part100'::regtype
			UNION ALL
			SELECT t.* FROM (` + typesOfColumns + `) t, w WHERE t.oid = w.typelem OR t.oid = ANY (w.columns)) SELECT count(*) FROM w`},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			srv := newServer(b)
			srv.opts.MaxParallel = runtime.GOMAXPROCS(0)
			c := srv.client(b)
			for _, sql := range append(tt.tables, "ANALYZE") {
				c.must(sql)
			}
			ctx := context.Background()
			for b.Loop() {
				for _, sql := range []string{"BEGIN", tt.sql, "ROLLBACK"} {
					if err := c.s.Simple(ctx, sql, discarder{}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

const (
	heapTable = "CREATE TABLE heap (a, b, c) AS SELECT i, 'row ' || i, repeat('x', 50) FROM generate_series(1, 100000) i"
	wideTable = `CREATE TABLE wide (id int PRIMARY KEY, owner int NOT NULL, url text NOT NULL, at int NOT NULL, c1 int, c2 int, c3 int, c4 numeric(9,2), c5 text, c6 text, c7 int, c8 int, c9 date);
		INSERT INTO wide SELECT i, i * 7919 % 100003, 'http://site' || i % 50 || '/' || i, i * 31 % 10007, i, i, i, i, 'x', 'y', i, i, '2024-01-01' FROM generate_series(1, 100000) i`
	docTable = `CREATE TABLE doc (id int PRIMARY KEY, tags int[], data jsonb);
		INSERT INTO doc SELECT i, ARRAY[i % 100, i % 1000, i % 17], jsonb_build_object('type', 't' || i % 10, 'owner', i % 1000, 'labels', jsonb_build_array('l' || i % 20)) FROM generate_series(1, 50000) i;
		CREATE INDEX ON doc USING gin (tags);
		CREATE INDEX ON doc USING gin (data)`
	postTables = `CREATE TABLE author (id int PRIMARY KEY, name text UNIQUE);
		CREATE TABLE post (id int PRIMARY KEY, author int, at int);
		CREATE TABLE reply (id int PRIMARY KEY, post int, author int, at int);
		INSERT INTO author SELECT i, 'author ' || i FROM generate_series(1, 500) i;
		INSERT INTO post SELECT i, i % 500 + 1, i * 7919 % 20011 FROM generate_series(1, 20000) i;
		INSERT INTO reply SELECT i, i % 20000 + 1, i % 500 + 1, i FROM generate_series(1, 100000) i;
		CREATE INDEX ON post (at);
		CREATE INDEX ON reply (post);
		CREATE INDEX ON reply (author)`
	typesOfColumns = `SELECT t.oid, t.typelem, CASE WHEN t.typtype = 'c' THEN (SELECT array_agg(a.atttypid ORDER BY a.attnum) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.reltype = t.oid AND a.attnum > 0) END AS columns
		FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace`
)

// manyTables creates tables with many columns.
var manyTables = func() string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "CREATE TABLE part%d (id int PRIMARY KEY", i)
		for c := range 20 {
			fmt.Fprintf(&b, ", c%d text", c)
		}
		b.WriteString(");")
	}
	return b.String()
}()
