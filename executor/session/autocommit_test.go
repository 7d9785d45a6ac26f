package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kvsqld/storage"
)

// autocommitTables are the tables of TestAutocommitUnderLoad: few rows, of all kinds that
// tables and keys have.
var autocommitTables = []string{
	"CREATE TABLE parent (id int PRIMARY KEY, u int UNIQUE, n int DEFAULT 0)",
	"CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, n int DEFAULT 0)",
	"CREATE TABLE late (id int PRIMARY KEY, p int REFERENCES parent ON UPDATE NO ACTION DEFERRABLE INITIALLY DEFERRED, d int UNIQUE DEFERRABLE INITIALLY DEFERRED, n int DEFAULT 0)",
	"CREATE TABLE loose (id int PRIMARY KEY, p int REFERENCES parent (u) ON DELETE SET NULL ON UPDATE SET NULL, b text, tags int[])",
	"CREATE TABLE self (id int PRIMARY KEY, up int REFERENCES self ON DELETE CASCADE, n int DEFAULT 0)",
	"CREATE TABLE wide (id int PRIMARY KEY, a int, b text, c int, j jsonb STORAGE elements DEFAULT '{}') WITH (layout = 'column')",
	"CREATE TABLE part (id int, k int, n int DEFAULT 0, PRIMARY KEY (id, k)) PARTITION BY RANGE (k)",
	"CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (5)",
	"CREATE TABLE part2 PARTITION OF part FOR VALUES FROM (5) TO (10)",
	"CREATE TABLE geo (id int PRIMARY KEY, lat float8, lon float8, n int DEFAULT 0) WITH (regions = 'lat, lon', region_size = '10 x 10', region_rows = 4)",
	"CREATE TABLE shop (id int, g int REFERENCES geo ON DELETE CASCADE ON UPDATE CASCADE, n int DEFAULT 0, PRIMARY KEY (g, id)) WITH (cluster_with = 'geo')",
	"CREATE TABLE config (key text PRIMARY KEY, value text)",
	"CREATE TABLE counter (id int PRIMARY KEY, n int)",
	"CREATE FUNCTION bump() RETURNS int LANGUAGE sql AS 'UPDATE counter SET n = n + 1 WHERE id = 1 RETURNING n'",
	"CREATE TABLE numbered (id serial PRIMARY KEY, x int, no int DEFAULT bump(), t text)",
	"CREATE TABLE queue (id int PRIMARY KEY, n int DEFAULT 0)",
	"CREATE TABLE spare (id int, v int)",
	"CREATE EXTENSION btree_gist",
	"CREATE TABLE booking (id int PRIMARY KEY, room int, during int4range, EXCLUDE USING gist (room WITH =, during WITH &&), EXCLUDE USING gist (during WITH =) WHERE (room > 1))",
	"CREATE INDEX ON child (p) INCLUDE (n)",
	"CREATE INDEX ON loose USING inverted (b)",
	"CREATE INDEX ON loose USING gin (tags)",
	"CREATE INDEX ON wide (lower(b)) WHERE a % 2 = 0",
	"INSERT INTO parent SELECT i, i FROM generate_series(1, 8) i",
	"INSERT INTO child SELECT i, i % 8 + 1 FROM generate_series(1, 16) i",
	"INSERT INTO late SELECT i, i % 8 + 1, i FROM generate_series(1, 8) i",
	"INSERT INTO loose SELECT i, i % 8 + 1, 'b' || i % 3, ARRAY[i % 3, i % 5] FROM generate_series(1, 8) i",
	"INSERT INTO self SELECT i, nullif(i / 2, 0) FROM generate_series(1, 12) i",
	"INSERT INTO wide SELECT i, i, 'B' || i, i FROM generate_series(1, 8) i",
	"INSERT INTO part SELECT i, i FROM generate_series(1, 9) i",
	"INSERT INTO geo SELECT i, i * 5, i * 7 FROM generate_series(1, 8) i",
	"INSERT INTO shop SELECT i, i % 8 + 1 FROM generate_series(1, 16) i",
	"INSERT INTO counter VALUES (1, 0), (2, 0)",
	"INSERT INTO queue SELECT i FROM generate_series(1, 8) i",
	"INSERT INTO booking SELECT i, i % 3, int4range(i, i + 2) FROM generate_series(1, 8) i ON CONFLICT DO NOTHING",
}

// autocommitStatements are single statements; $1, $2 and $3 are small random
// numbers, $W is the client's number.
var autocommitStatements = []string{
	"INSERT INTO booking VALUES ($1, $2 % 3, int4range($3, $3 + 2))",
	"INSERT INTO booking VALUES ($1, $2 % 3, int4range($3, $3 + 2)) ON CONFLICT DO NOTHING",
	"UPDATE booking SET during = int4range($2, $2 + 1) WHERE id = $1",
	"UPDATE booking SET room = $2 % 3 WHERE during && int4range($1, $1 + 3)",
	"DELETE FROM booking WHERE id = $1 OR during @> $2",
	"UPDATE parent SET n = n + 1 WHERE id BETWEEN $1 AND $2",
	"UPDATE parent SET id = -id WHERE abs(id) = $1",
	"UPDATE parent SET id = id + 20 * (CASE WHEN id > 10 THEN -1 ELSE 1 END) WHERE id % 20 = $1",
	"UPDATE parent SET u = u + 100 * (CASE WHEN u > 100 THEN -1 ELSE 1 END) WHERE id IN ($1, $2)",
	"DELETE FROM parent WHERE id = $1",
	"INSERT INTO parent VALUES ($1, $2) ON CONFLICT DO NOTHING",
	"INSERT INTO parent VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET n = parent.n + 1",
	"INSERT INTO parent VALUES ($1, $2) ON CONFLICT (u) DO UPDATE SET n = parent.n + 1, u = $3",
	"INSERT INTO parent VALUES ($1, $2), ($2, $3) ON CONFLICT (id) DO UPDATE SET u = excluded.u",
	"WITH d AS (DELETE FROM parent WHERE id = $1 RETURNING *) INSERT INTO parent SELECT id + 40, u + 400, n FROM d",
	"WITH d AS (DELETE FROM child WHERE p = $1 RETURNING *), i AS (INSERT INTO queue VALUES ($2) ON CONFLICT (id) DO UPDATE SET n = queue.n + 1) UPDATE parent SET n = parent.n + 1 FROM d WHERE d.p = parent.id",
	"INSERT INTO child VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET p = excluded.p",
	"INSERT INTO child SELECT $1, id FROM parent ORDER BY id LIMIT 1 ON CONFLICT (id) DO UPDATE SET n = child.n + 1 WHERE child.p < $3",
	"UPDATE child SET p = $2 WHERE id = $1",
	"UPDATE child SET id = -id WHERE p = $1",
	"UPDATE child SET n = parent.n FROM parent WHERE parent.id = child.p AND child.id BETWEEN $1 AND $2",
	"DELETE FROM child USING parent WHERE child.p = parent.id AND parent.u = $1",
	"DELETE FROM child WHERE p IN (SELECT id FROM parent WHERE n > $1 FOR SHARE)",
	"MERGE INTO child USING (SELECT id FROM parent WHERE id <= $1) s ON child.id = s.id WHEN MATCHED AND child.n > $2 THEN DELETE WHEN MATCHED THEN UPDATE SET n = child.n + 1 WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.id)",
	"MERGE INTO part USING (VALUES ($1, $2 % 10)) s (id, k) ON part.id = s.id WHEN MATCHED THEN UPDATE SET k = s.k, n = n + 1 WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.k)",
	"INSERT INTO late VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET p = excluded.p, d = excluded.d",
	"UPDATE late SET d = $2 + $3 - d WHERE d IN ($2, $3)",
	"UPDATE late SET id = -id WHERE abs(id) = $1",
	"DELETE FROM late WHERE p = $1",
	"INSERT INTO loose VALUES ($1, $2, 'b$3', '{$1,$3}') ON CONFLICT (id) DO UPDATE SET p = excluded.p, b = excluded.b, tags = excluded.tags",
	"UPDATE loose SET b = 'b$2', tags = tags || $1 WHERE b = 'b$3'",
	"DELETE FROM loose WHERE tags @> ARRAY[$1]",
	"INSERT INTO self VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET up = excluded.up",
	"DELETE FROM self WHERE id = $1",
	"UPDATE wide SET a = a + 1 WHERE id = $1",
	"UPDATE wide SET b = 'B$2', j['k$3'] = '$1' WHERE lower(b) = 'b$1' AND a % 2 = 0",
	"UPDATE wide SET j['k$3'] = '$1', c = c + 1 WHERE id BETWEEN $1 AND $2",
	"INSERT INTO wide VALUES ($1, $2, 'B$3', 1) ON CONFLICT (id) DO UPDATE SET c = wide.c + 1, j = '{\"x\": 1}'",
	"DELETE FROM wide WHERE id = $1",
	"UPDATE part SET k = (k + $2) % 10 WHERE id = $1",
	"UPDATE part SET n = n + 1 WHERE k BETWEEN $1 AND $2",
	"DELETE FROM part WHERE id = $1",
	"INSERT INTO part VALUES ($1, $2 % 10) ON CONFLICT DO NOTHING",
	"UPDATE geo SET lat = $2, lon = $3 WHERE id = $1",
	"UPDATE geo SET n = n + 1 WHERE lat BETWEEN $1 AND $2 + 20",
	"UPDATE geo SET id = -id WHERE abs(id) = $1",
	"DELETE FROM geo WHERE id = $1",
	"INSERT INTO geo VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET lat = excluded.lat",
	"INSERT INTO shop VALUES ($1, $2) ON CONFLICT (g, id) DO UPDATE SET n = shop.n + 1",
	"UPDATE shop SET g = $3 WHERE id = $1",
	"DELETE FROM shop WHERE g = $1",
	"SELECT kv_set('config', 'k$1', 'v$2')",
	"SELECT kv_add('config', 'k$1', 'v$2')",
	"SELECT kv_delete('config', 'k$1')",
	"SELECT bump()",
	"SELECT bump() FROM generate_series(1, $1)",
	"INSERT INTO numbered (t) VALUES ('t$1'), ('t')",
	"INSERT INTO numbered (t) SELECT 't' FROM parent WHERE id < $1",
	"COPY numbered (x, t) FROM STDIN (FORMAT csv)",
	"COPY child (id, p) FROM STDIN (FORMAT csv) WHERE id > $1",
	"COPY part (id, k) FROM STDIN (FORMAT csv)",
	"COPY shop (id, g) FROM STDIN (FORMAT csv)",
	"DELETE FROM numbered WHERE id < (SELECT max(id) - 20 FROM numbered)",
	"UPDATE counter SET n = n + 1 WHERE id = 1 + $1 % 2",
	"SELECT id FROM queue ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED",
	"SELECT id FROM queue WHERE id <= $1 ORDER BY n FOR NO KEY UPDATE",
	"SELECT id FROM parent WHERE id <= $1 FOR SHARE",
	"SELECT id FROM parent WHERE id <= $1 FOR KEY SHARE SKIP LOCKED",
	"SELECT id FROM parent WHERE u > $1 ORDER BY u LIMIT 3 FOR KEY SHARE",
	"SELECT parent.id FROM parent JOIN child ON child.p = parent.id WHERE child.id < $1 FOR UPDATE OF child",
	"DELETE FROM queue WHERE id = (SELECT id FROM queue ORDER BY n LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
	"INSERT INTO queue SELECT i FROM generate_series(1, 8) i ON CONFLICT DO NOTHING",
	"EXPLAIN (ANALYZE, COSTS off) UPDATE queue SET n = n + 1 WHERE id <= $1",
	"CREATE TABLE made$W AS SELECT bump() AS n, id FROM queue",
	"DROP TABLE IF EXISTS made$W",
	"SELECT lo_unlink(oid) FROM pg_largeobject_metadata WHERE oid = 5000 + $1",
	"SELECT lo_create(5000 + $1) WHERE NOT EXISTS (SELECT FROM pg_largeobject_metadata WHERE oid = 5000 + $1)",
	"SELECT lo_put(oid, $2, 'x') FROM pg_largeobject_metadata WHERE oid = 5000 + $1",
	"SELECT nextval('numbered_id_seq')",
	"SELECT setval('numbered_id_seq', 1000 + currval) FROM (SELECT last_value AS currval FROM numbered_id_seq) x",
}

// autocommitDefinitions are what three of the clients do beside.
var autocommitDefinitions = []string{
	"CREATE INDEX CONCURRENTLY IF NOT EXISTS c1 ON child (n)", "DROP INDEX IF EXISTS c1",
	"CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS c2 ON queue (id, n)", "DROP INDEX IF EXISTS c2",
	"CREATE INDEX IF NOT EXISTS c3 ON parent (n)", "DROP INDEX IF EXISTS c3",
	"ALTER TABLE queue ADD COLUMN IF NOT EXISTS x int DEFAULT 1", "ALTER TABLE queue DROP COLUMN IF EXISTS x",
	"ALTER TABLE child SET (layout = 'column')", "ALTER TABLE child SET (layout = 'row')",
	"CREATE TEMP TABLE IF NOT EXISTS mine (x int)", "DROP TABLE IF EXISTS mine",
	"ALTER TABLE wide ALTER c TYPE bigint", "ALTER TABLE wide ALTER c TYPE int",
	"COMMENT ON TABLE parent IS 'x'", "ANALYZE parent", "ANALYZE", "VACUUM", "REINDEX TABLE queue", "TRUNCATE spare",
	"CREATE OR REPLACE VIEW v AS SELECT id FROM parent", "GRANT SELECT ON parent TO PUBLIC", "REVOKE SELECT ON parent FROM PUBLIC",
	"ALTER SEQUENCE numbered_id_seq INCREMENT 1", "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
	"ALTER FUNCTION f() STABLE", "COMMENT ON FUNCTION f() IS 'y'", "COMMENT ON SCHEMA public IS 'z'", "GRANT USAGE ON SCHEMA public TO PUBLIC",
	"CREATE SCHEMA IF NOT EXISTS more", "DROP SCHEMA IF EXISTS more CASCADE", "ALTER ROLE postgres SET work_mem = '4MB'", "GRANT CREATE ON SCHEMA public TO PUBLIC",
	"ALTER VIEW v SET (security_barrier = true)", "ALTER DATABASE postgres SET work_mem = '5MB'",
}

// TestAutocommitUnderLoad runs statements of all kinds outside of blocks, in READ
// COMMITTED, from 16 clients on few rows: whatever others do meanwhile, none fails because
// of it, but for deadlocks, constraints and objects that have gone. KVSQLD_AUTOCOMMIT is
// how many seconds it takes.
func TestAutocommitUnderLoad(t *testing.T) {
	t.Run("mem", func(t *testing.T) { autocommitUnderLoad(t, newServer(t)) })
	t.Run("bolt", func(t *testing.T) { autocommitUnderLoad(t, newServerOn(t, storage.Options{Dir: t.TempDir()})) })
}

func autocommitUnderLoad(t *testing.T, srv *Server) {
	seconds, _ := strconv.Atoi(os.Getenv("KVSQLD_AUTOCOMMIT"))
	if seconds == 0 {
		seconds = 2
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	admin := srv.client(t)
	for _, s := range autocommitTables {
		admin.must(s)
	}
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	var mu sync.Mutex
	codes := map[string]int{}
	ran := 0
	run := func(c *client, s string) {
		got := c.sql(s)
		m := errorCode.FindStringSubmatch(got)
		mu.Lock()
		defer mu.Unlock()
		ran++
		if m == nil {
			return
		}
		if codes[m[1]]++; m[1] == "" || m[1] == "40001" || strings.HasPrefix(m[1], "XX") {
			t.Errorf("%s\n%s", s, got)
		}
	}
	var wg sync.WaitGroup
	for w := range 16 {
		c, rnd := srv.client(t), rand.New(rand.NewPCG(seed, uint64(w)))
		c.data = fmt.Sprintf("%d,%d\n%d,%d\n", 1000+w, w%8+1, 2000+w, w%7+1)
		wg.Go(func() {
			for time.Now().Before(end) {
				if w < 3 {
					run(c, autocommitDefinitions[rnd.IntN(len(autocommitDefinitions))])
					continue
				}
				s := autocommitStatements[rnd.IntN(len(autocommitStatements))]
				number := func() string { return strconv.Itoa(rnd.IntN(9) + 1) }
				run(c, strings.NewReplacer("$1", number(), "$2", number(), "$3", number(), "$W", strconv.Itoa(w)).Replace(s))
			}
		})
	}
	wg.Wait()
	t.Logf("%d statements, errors %v", ran, codes)
	srv.checkTables(t)
}
