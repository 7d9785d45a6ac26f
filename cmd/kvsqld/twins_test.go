package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

const twinColumns = "id, a, b, c, arr, j, lat, lon, u"

// twins are tables of the same columns as plain, and what makes each of them special: the
// layout of its rows, the kinds of its indexes.
var twins = []struct {
	name, ddl string
	upkeep    []string // what may happen to it beside the writers
}{
	{"columns", `CREATE TABLE columns (id int PRIMARY KEY, a int, b int, c text, arr int[], j jsonb, lat float8, lon float8, u int UNIQUE)
			WITH (layout = 'column', groups = '(a, b), (lat, lon)');
		CREATE INDEX columns_a ON columns (a); CREATE INDEX columns_b ON columns USING inverted (b); CREATE INDEX columns_arr ON columns USING inverted (arr)`,
		[]string{"ALTER TABLE columns SET (layout = 'row')", "ALTER TABLE columns SET (layout = 'column', groups = '(a, c)')",
			"CREATE INDEX columns_x ON columns (c, a)", "DROP INDEX columns_x", "REINDEX TABLE CONCURRENTLY columns", "ALTER TABLE columns ADD COLUMN x int DEFAULT 3", "ALTER TABLE columns DROP COLUMN x"}},
	{"elements", `CREATE TABLE elements (id int PRIMARY KEY, a int, b int, c text, arr int[] STORAGE elements, j jsonb STORAGE elements, lat float8, lon float8, u int UNIQUE);
		CREATE INDEX elements_j ON elements USING gin (j); CREATE INDEX elements_arr ON elements USING gin (arr)`,
		[]string{"CREATE INDEX CONCURRENTLY elements_x ON elements (b) INCLUDE (a)", "DROP INDEX elements_x", "REINDEX TABLE elements",
			"ALTER TABLE elements SET (layout = 'column')", "ALTER TABLE elements SET (layout = 'row')"}},
	{"parts", `CREATE TABLE parts (id int, a int, b int, c text, arr int[], j jsonb, lat float8, lon float8, u int) PARTITION BY RANGE (b);
		CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (4);
		CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (4) TO (7) WITH (layout = 'column');
		CREATE TABLE parts_d PARTITION OF parts DEFAULT;
		CREATE INDEX parts_id ON parts (id); CREATE INDEX parts_a ON parts (a); CREATE INDEX parts_c ON parts (lower(c)) WHERE a > 100`,
		[]string{"CREATE INDEX parts_x ON parts (u)", "DROP INDEX parts_x", "REINDEX TABLE CONCURRENTLY parts",
			"BEGIN; ALTER TABLE parts DETACH PARTITION parts_2; ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (4) TO (7); COMMIT"}},
	{"regions", `CREATE TABLE regions (id int PRIMARY KEY, a int, b int, c text, arr int[], j jsonb, lat float8, lon float8, u int UNIQUE)
			WITH (regions = 'lat, lon', region_size = '10 x 10');
		CREATE TABLE regions_child (id int PRIMARY KEY, pid int NOT NULL REFERENCES regions ON DELETE CASCADE ON UPDATE CASCADE, v int) WITH (cluster_with = 'regions');
		CREATE INDEX regions_b ON regions (b); CREATE INDEX regions_child_v ON regions_child (v)`,
		[]string{"CREATE INDEX CONCURRENTLY regions_x ON regions (a)", "DROP INDEX regions_x", "ALTER TABLE regions_child RESET (cluster_with)",
			"ALTER TABLE regions_child SET (cluster_with = 'regions')", "REINDEX TABLE regions", "REINDEX TABLE CONCURRENTLY regions"}},
	{"indexes", `CREATE TABLE indexes (id int PRIMARY KEY, a int, b int, c text, arr int[], j jsonb, lat float8, lon float8, u int);
		CREATE UNIQUE INDEX indexes_u ON indexes (u); CREATE INDEX indexes_ba ON indexes (b, a DESC) INCLUDE (c); CREATE INDEX indexes_c ON indexes (lower(c));
		CREATE INDEX indexes_j ON indexes ((j->>'k')) WHERE b > 2; CREATE INDEX indexes_p ON indexes USING inverted (c, b)`,
		[]string{"CREATE UNIQUE INDEX CONCURRENTLY indexes_x ON indexes (u, id)", "DROP INDEX indexes_x", "REINDEX TABLE CONCURRENTLY indexes",
			"CREATE INDEX indexes_y ON indexes (a) WHERE c IS NOT NULL", "DROP INDEX CONCURRENTLY indexes_y", "REINDEX INDEX indexes_u"}},
	{"constraints", `CREATE TABLE constraints (id int, a int, b int, c text, arr int[], j jsonb, lat float8, lon float8, u int,
			g int GENERATED ALWAYS AS (a * 2) STORED, UNIQUE (id) DEFERRABLE INITIALLY DEFERRED, UNIQUE (u) DEFERRABLE, EXCLUDE USING btree (id WITH =), CHECK (g = 2 * a));
		CREATE INDEX constraints_g ON constraints (g) WHERE c IS NOT NULL; CREATE INDEX constraints_b ON constraints ((b::text || c))`,
		[]string{"REINDEX TABLE constraints", "REINDEX TABLE CONCURRENTLY constraints", "ALTER TABLE constraints ADD CONSTRAINT x CHECK (id < 1000) NOT VALID",
			"ALTER TABLE constraints VALIDATE CONSTRAINT x", "ALTER TABLE constraints DROP CONSTRAINT x", "ALTER TABLE constraints ALTER g SET STATISTICS 10"}},
}

// twinQuestions have the same answer on each of them.
var twinQuestions = []string{
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE a BETWEEN $1 AND $1 + 60",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE b = $1 % 10",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE b >= $1 % 10 AND a < $1",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE arr @> ARRAY[$1 % 20]",
	"SELECT count(*), sum(id), min(a), max(arr[2]) FROM table_ WHERE $1 % 20 = ANY (arr)",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE j @> jsonb_build_object('k', $1 % 10)",
	"SELECT count(*), sum(id), min((j->>'k')::int), max(u) FROM table_ WHERE b > 2 AND j->>'k' = ($1 % 10)::text",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE lower(c) = 'c' || $1 % 10",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE u = $1",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE a * 2 = $1 AND c IS NOT NULL",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE b::text || c = ($1 % 10)::text || 'c' || $1 % 10",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE id BETWEEN $1 % 100 AND $1 % 100 + 3",
	"SELECT count(*), sum(id), min(a), max(u) FROM table_ WHERE distance(lat, lon, $1 % 60, 20) < 1500000",
	"SELECT count(*), sum(id), min(a), max(u) FROM (SELECT * FROM table_ ORDER BY b, a DESC, id LIMIT 1 + $1 % 7) x",
	"SELECT count(*), sum(id), min(a), max(u) FROM (SELECT * FROM table_ ORDER BY distance(lat, lon, $1 % 60, 20), id LIMIT 1 + $1 % 7) x",
}

// TestTwins has clients change the same rows of a plain table and of tables of every layout
// and kind of index, in one transaction each, at all isolation levels, with savepoints,
// timeouts and broken connections, while others define, remake and drop indexes and
// layouts. Nobody ever sees them differ. KVSQLD_TWINS is how many seconds it takes.
func TestTwins(t *testing.T) {
	seconds, _ := strconv.Atoi(os.Getenv("KVSQLD_TWINS"))
	if seconds == 0 {
		seconds = 4
	}
	for _, store := range []string{"mem", "bolt"} {
		t.Run(store, func(t *testing.T) {
			ctx, srv := t.Context(), startServer(t, storage.Options{Store: store, NoSync: true})
			c := srv.pgx(ctx, t)
			w := &twinLoad{t: t, dsn: srv.dsn(), codes: map[string]int{}, end: time.Now().Add(time.Duration(seconds) * time.Second)}
			w.create(ctx, c)
			w.run(ctx)
			t.Logf("by SQLSTATE: %v", w.codes)
			if w.codes[""] == 0 {
				t.Error("no transaction has committed")
			}
			w.verify(ctx, c)
		})
	}
}

// TestCrashTwins kills a server under the load of TestTwins, again and again over the same
// files. It takes a tenth of KVSQLD_CRASH_CYCLES, 2 unless that is given.
func TestCrashTwins(t *testing.T) {
	cycles := 2
	if v := os.Getenv("KVSQLD_CRASH_CYCLES"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		cycles = max(cycles, n/10)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(cycles)*time.Minute)
	defer cancel()
	dir, commits := t.TempDir(), 0
	for cycle := range cycles {
		child := startChild(t, dir)
		end, _ := ctx.Deadline()
		w := &twinLoad{t: t, dsn: "postgres://postgres@" + child.addr + "/postgres?sslmode=disable", codes: map[string]int{}, end: end,
			kill: func() { child.cmd.Process.Kill() }, limit: 20 + rand.IntN(300)}
		if cycle == 0 {
			c, err := child.connect(ctx)
			if err != nil {
				t.Fatal(err)
			}
			w.create(ctx, c)
			c.Close(ctx)
		}
		w.run(ctx)
		child.kill()
		commits += w.codes[""]
		srv, err := openServer(storage.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		c, err := pgx.Connect(ctx, srv.dsn())
		if err != nil {
			t.Fatal(err)
		}
		w.verify(ctx, c)
		c.Close(ctx)
		srv.checkAndStop(t)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d commits in %d cycles", commits, cycles)
}

type twinLoad struct {
	t     *testing.T
	dsn   string
	end   time.Time
	kill  func() // called after limit commits, nil: never
	limit int
	mu    sync.Mutex
	codes map[string]int // SQLSTATEs by number; "" are transactions that have committed
}

func (w *twinLoad) create(ctx context.Context, c *pgx.Conn) {
	script := `CREATE TABLE plain (id int PRIMARY KEY, a int, b int, c text, arr int[], j jsonb, lat float8, lon float8, u int UNIQUE);
		CREATE TABLE plain_child (id int PRIMARY KEY, pid int NOT NULL REFERENCES plain ON DELETE CASCADE ON UPDATE CASCADE, v int);
		INSERT INTO plain SELECT i, i, i % 10, 'c' || i % 10, ARRAY[i % 20, 7], jsonb_build_object('k', i % 10), i % 60, i % 70, i FROM generate_series(1, 100) i;`
	for _, f := range twins {
		script += f.ddl + ";INSERT INTO " + f.name + " SELECT " + twinColumns + " FROM plain;"
	}
	if _, err := c.Exec(ctx, script); err != nil {
		w.t.Fatal(err)
	}
}

// run has clients write, read and define until the end, or until the server is killed.
func (w *twinLoad) run(ctx context.Context) {
	var wg sync.WaitGroup
	some := func(n int, one func(ctx context.Context, c *pgx.Conn, r *rand.Rand) error, also ...string) {
		for range n {
			r := rand.New(rand.NewPCG(rand.Uint64(), 1))
			wg.Go(func() { w.client(ctx, r, one, also...) })
		}
	}
	some(8, w.change)
	some(2, w.look)
	some(2, w.define, "42P07", "42710", "42704", "42701", "42703", "55P03", "55000", "22023", "42P01")
	wg.Wait()
}

// verify compares all that there is.
func (w *twinLoad) verify(ctx context.Context, c *pgx.Conn) {
	r := rand.New(rand.NewPCG(1, 1))
	err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		for i := range twins {
			if err := w.compare(ctx, tx, i); err != nil {
				return err
			}
		}
		for range 200 {
			if err := w.ask(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

// spoken are the statements of a transaction. Contexts have them under spokenKey.
type spoken []string

type spokenKey struct{}

func (s *spoken) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	*s = append(*s, fmt.Sprint(d.SQL, d.Args))
	return ctx
}

func (s *spoken) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s spoken) String() string { return strings.Join(s, "\n") }

// client runs transactions until the end, over a connection that may break. also are
// SQLSTATEs that it may get.
func (w *twinLoad) client(ctx context.Context, r *rand.Rand, one func(ctx context.Context, c *pgx.Conn, r *rand.Rand) error, also ...string) {
	var c *pgx.Conn
	var said spoken
	defer func() {
		if c != nil {
			c.Close(ctx)
		}
	}()
	for time.Now().Before(w.end) && !w.t.Failed() {
		if c == nil || c.IsClosed() {
			config, err := pgx.ParseConfig(w.dsn)
			if err != nil {
				w.t.Error(err)
				return
			}
			config.Tracer = &said
			if c, err = pgx.ConnectConfig(ctx, config); err != nil {
				if w.kill == nil {
					w.t.Error(err)
				}
				return
			}
		}
		if r.IntN(100) == 0 {
			socket := c.PgConn().Conn()
			time.AfterFunc(time.Duration(r.IntN(10))*time.Millisecond, func() { socket.Close() })
		}
		said = said[:0]
		err := one(context.WithValue(ctx, spokenKey{}, &said), c, r)
		code := ""
		var pe *pgconn.PgError
		if errors.As(err, &pe) {
			code = pe.Code
		} else if err != nil {
			code = "connection"
		}
		w.mu.Lock()
		w.codes[code]++
		full := w.kill != nil && w.codes[""] >= w.limit
		w.mu.Unlock()
		if full {
			w.kill()
		}
		switch code {
		case "", "40001", "40P01", "57014":
		case "connection":
			if !c.IsClosed() {
				w.t.Error(err)
			}
		case "23505", "23503": // of the plain table, which is first
			if !strings.HasPrefix(pe.ConstraintName, "plain") {
				w.t.Errorf("%v: %s: on the plain table it succeeded\n%s", err, pe.Detail, said)
			}
		default:
			if !slices.Contains(also, code) {
				w.t.Error(err)
			}
		}
		if err != nil && !c.IsClosed() {
			c.Exec(ctx, "ROLLBACK") // fails with the connection, which is as good
		}
	}
}

// on is a statement about one of the tables.
func on(sql, table string) string { return strings.ReplaceAll(sql, "table_", table) }

// look compares in transactions that only read.
func (w *twinLoad) look(ctx context.Context, c *pgx.Conn, r *rand.Rand) error {
	o := pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(isolationLevels[r.IntN(3)]), AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, c, o, func(tx pgx.Tx) error {
		for range 1 + r.IntN(6) {
			if err := w.ask(ctx, tx, r); err != nil {
				return err
			}
		}
		return w.compare(ctx, tx, r.IntN(len(twins)))
	})
}

// ask puts a question to the plain table and to another, in one statement.
func (w *twinLoad) ask(ctx context.Context, tx pgx.Tx, r *rand.Rand) error {
	q, f, x := twinQuestions[r.IntN(len(twinQuestions))], twins[r.IntN(len(twins))].name, r.IntN(200)
	query := "SELECT p::text, f::text FROM (" + on(q, "plain") + ") p, (" + on(q, f) + ") f"
	query = strings.ReplaceAll(query, "$1", "$1::int")
	var want, got string
	err := tx.QueryRow(ctx, query, x).Scan(&want, &got)
	if err == nil && want != got {
		w.t.Errorf("%s with %d of %s: %s, and of the plain table %s", q, x, f, got, want)
	}
	return err
}

// compare reads all rows of twin i and its children.
func (w *twinLoad) compare(ctx context.Context, tx pgx.Tx, i int) error {
	for _, x := range []struct{ columns, plain, twin string }{{twinColumns, "plain", twins[i].name}, {"id, pid, v", "plain_child", "regions_child"}} {
		rows, err := tx.Query(ctx, fmt.Sprintf(`(SELECT 'only plain', p::text FROM (SELECT %[1]s FROM %[2]s EXCEPT ALL SELECT %[1]s FROM %[3]s) p)
			UNION ALL (SELECT 'only twin', f::text FROM (SELECT %[1]s FROM %[3]s EXCEPT ALL SELECT %[1]s FROM %[2]s) f)`, x.columns, x.plain, x.twin))
		if err != nil {
			return err
		}
		var where, row string
		if _, err := pgx.ForEachRow(rows, []any{&where, &row}, func() error {
			w.t.Errorf("%s and %s: %s: %s\n%v", x.plain, x.twin, where, row, ctx.Value(spokenKey{}))
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// define changes what a table is.
func (w *twinLoad) define(ctx context.Context, c *pgx.Conn, r *rand.Rand) error {
	f := twins[r.IntN(len(twins))]
	upkeep := append([]string{"VACUUM " + f.name, "ANALYZE " + f.name}, f.upkeep...)
	if f.name != "regions" { // whose children would go
		upkeep = append(upkeep, fmt.Sprintf("BEGIN; LOCK TABLE plain IN SHARE ROW EXCLUSIVE MODE; DELETE FROM %[1]s; INSERT INTO %[1]s SELECT %[2]s FROM plain; COMMIT", f.name, twinColumns))
	}
	_, err := c.PgConn().Exec(ctx, fmt.Sprintf("SET lock_timeout = '%ds'", r.IntN(2))).ReadAll()
	if err == nil {
		sql := upkeep[r.IntN(len(upkeep))]
		if _, err = c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			err = fmt.Errorf("%s: %w", sql, err)
		}
	}
	time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
	return err
}

// change changes a few rows of all tables.
func (w *twinLoad) change(ctx context.Context, c *pgx.Conn, r *rand.Rand) error {
	level := isolationLevels[r.IntN(3)]
	return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(level)}, func(tx pgx.Tx) error {
		if r.IntN(10) == 0 {
			if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL statement_timeout = '%dms'", 1+r.IntN(20))); err != nil {
				return err
			}
		}
		for range 1 + r.IntN(3) {
			var err error
			if r.IntN(4) > 0 {
				err = w.step(ctx, tx, r, level)
			} else if _, err = tx.Exec(ctx, "SAVEPOINT s"); err == nil {
				err = w.step(ctx, tx, r, level)
				end := "RELEASE s"
				if err != nil || r.IntN(2) == 0 {
					end = "ROLLBACK TO s"
				}
				if _, err2 := tx.Exec(ctx, end); err2 != nil {
					return err2
				}
				var pe *pgconn.PgError
				if errors.As(err, &pe) && pe.Code != "40001" && pe.Code != "40P01" && pe.Code != "57014" && !strings.HasPrefix(pe.ConstraintName, "plain") {
					return err
				}
				err = nil
			}
			if err != nil {
				return err
			}
		}
		// Who keeps a snapshot may see a row of it that others have deleted beside the one
		// that has its key now: in PostgreSQL always, here where they lie apart.
		if r.IntN(3) > 0 || level != isolationLevels[0] {
			return nil
		}
		if err := w.ask(ctx, tx, r); err != nil || r.IntN(2) > 0 {
			return err
		}
		return w.compare(ctx, tx, r.IntN(len(twins)))
	})
}

// step does the same to the plain table, which goes first and whose locks keep others
// away, and to all others.
func (w *twinLoad) step(ctx context.Context, tx pgx.Tx, r *rand.Rand, level string) error {
	id, x := 1+r.IntN(120), r.IntN(200)
	row := []any{id, x, x % 10, "c" + strconv.Itoa(x%10), []int{x % 20, 7}, fmt.Sprintf(`{"k": %d}`, x%10), float64(x%60) + r.Float64(), float64(x % 70), r.IntN(300)}
	if r.IntN(5) == 0 {
		row[2+r.IntN(3)] = nil
	}
	const values = "($1::int, $2::int, $3::int, $4::text, $5::int[], $6::jsonb, $7::float8, $8::float8, $9::int)"
	insert := "INSERT INTO table_ (" + twinColumns + ") VALUES " + values
	merge := "MERGE INTO table_ t USING (VALUES " + values + ") v (" + twinColumns + ") ON t.id = v.id WHEN MATCHED THEN UPDATE SET a = v.a, c = v.c " +
		"WHEN NOT MATCHED THEN INSERT (" + twinColumns + ") VALUES (v.id, v.a, v.b, v.c, v.arr, v.j, v.lat, v.lon, v.u)"
	plain, other, args := "", "", []any{id, x}
	switch r.IntN(20) {
	case 0, 1:
		plain, other, args = insert+" ON CONFLICT DO NOTHING", insert, row
	case 2:
		plain, other, args = insert+" ON CONFLICT (id) DO UPDATE SET a = excluded.a, c = excluded.c", merge, row
	case 3:
		plain, other, args = merge, merge, row
	case 4:
		plain = "UPDATE table_ SET a = a + $2 % 10, c = upper(c) WHERE id = $1"
	case 5:
		plain = "UPDATE table_ SET arr = arr || $2::int WHERE id = $1 AND cardinality(arr) < 10"
	case 6:
		plain = "UPDATE table_ SET arr[2] = $2 % 20, a = a + 1 WHERE id = $1"
	case 7:
		plain = "UPDATE table_ SET j['k'] = to_jsonb($2::int % 10) WHERE id = $1"
	case 8:
		plain = "UPDATE table_ SET j = jsonb_set(j - 'k', '{x}', to_jsonb($2::int % 10)), c = 'C' || $2::int % 10 WHERE id = $1"
	case 9:
		plain = "UPDATE table_ SET lat = $2::int % 90, lon = lon + 15 - CASE WHEN lon > 150 THEN 300 ELSE 0 END WHERE id = $1"
	case 10:
		plain = "UPDATE table_ SET u = $2 WHERE id = $1"
	case 11:
		plain = "UPDATE table_ SET b = $2 % 10, a = NULL WHERE id = $1"
	case 12:
		plain = "DELETE FROM table_ WHERE id = $1 AND $2 < 150"
	case 13:
		plain = "UPDATE table_ SET id = 1 + $2::int % 120 WHERE id = $1"
	case 14:
		return w.children(ctx, tx, []string{"INSERT INTO table_ VALUES ($1, 1 + $2::int % 120, $2) ON CONFLICT DO NOTHING",
			"UPDATE table_ SET pid = 1 + $2::int % 120 WHERE id = $1", "UPDATE table_ SET v = $2 WHERE id = $1", "DELETE FROM table_ WHERE id = $1 AND $2 >= 0"}[r.IntN(4)], args)
	default:
		return w.several(ctx, tx, r, level, x)
	}
	if other == "" {
		other = plain
	}
	tag, err := tx.Exec(ctx, on(plain, "plain"), args...)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return w.others(ctx, tx, r, other, tag.RowsAffected(), args)
}

// others runs a statement on each twin, where it does to as many rows what it did to the plain table.
func (w *twinLoad) others(ctx context.Context, tx pgx.Tx, r *rand.Rand, sql string, want int64, args []any) error {
	for _, i := range r.Perm(len(twins)) {
		q := on(sql, twins[i].name)
		tag, err := tx.Exec(ctx, q, args...)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != want {
			w.t.Errorf("%s with %v: %v, but %d of the plain table", q, args, tag, want)
		}
	}
	return nil
}

// several changes rows that a condition finds.
func (w *twinLoad) several(ctx context.Context, tx pgx.Tx, r *rand.Rand, level string, x int) error {
	set := []string{"a = a + 1", "u = NULL", "u = 300 + $1", "b = (b + 1) % 10", "c = lower(c), lat = lat / 2", "arr = arr[2:] || $1::int % 20 || arr[:1]"}[r.IntN(6)]
	where := []string{"b = $1 % 10 AND a < 90", "arr @> ARRAY[$1 % 20]", "a BETWEEN $1 AND $1 + 5", "lower(c) = 'c' || $1 % 10 AND id > 60"}[r.IntN(4)]
	query := strings.ReplaceAll("UPDATE table_ SET "+set+" WHERE "+where, "$1", "$1::int")
	if level != isolationLevels[0] { // all statements see the same rows
		tag, err := tx.Exec(ctx, on(query, "plain"), x)
		if err != nil {
			return err
		}
		return w.others(ctx, tx, r, query, tag.RowsAffected(), []any{x})
	}
	rows, err := tx.Query(ctx, on(query, "plain")+" RETURNING id", x)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil || len(ids) == 0 {
		return err
	}
	return w.others(ctx, tx, r, strings.ReplaceAll("UPDATE table_ SET "+set+" WHERE id = ANY ($2::int[]) AND $1 >= 0", "$1", "$1::int"), int64(len(ids)), []any{x, ids})
}

// children changes a row that refers to another.
func (w *twinLoad) children(ctx context.Context, tx pgx.Tx, sql string, args []any) error {
	tag, err := tx.Exec(ctx, on(sql, "plain_child"), args...)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	q := on(sql, "regions_child")
	got, err := tx.Exec(ctx, q, args...)
	if err == nil && got.RowsAffected() != tag.RowsAffected() {
		w.t.Errorf("%s with %v: %v, but %v of the plain table", q, args, got, tag)
	}
	return err
}
