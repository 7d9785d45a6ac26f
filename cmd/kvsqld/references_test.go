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

// referring are tables whose column p refers to a column of another one, by every
// action, kind of key and form of storage.
var referring = []struct{ name, ddl, column, parent, key string }{
	{"kept", "CREATE TABLE kept (id int PRIMARY KEY, p int REFERENCES parent, v int)", "p", "parent", "id"},
	{"kept_key", "CREATE TABLE kept_key (id int PRIMARY KEY, p int REFERENCES parent (k) ON UPDATE RESTRICT, v int); CREATE INDEX ON kept_key (p)", "p", "parent", "k"},
	{"restricted", "CREATE TABLE restricted (id int PRIMARY KEY, p int REFERENCES parent ON DELETE RESTRICT ON UPDATE CASCADE, v int)", "p", "parent", "id"},
	{"gone", "CREATE TABLE gone (id int PRIMARY KEY, p int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, v int)", "p", "parent", "id"},
	{"gone_key", "CREATE TABLE gone_key (id int PRIMARY KEY, p int REFERENCES parent (k) ON DELETE CASCADE ON UPDATE CASCADE, v int); CREATE INDEX ON gone_key (p)", "p", "parent", "k"},
	{"cleared", "CREATE TABLE cleared (id int PRIMARY KEY, p int REFERENCES parent ON DELETE SET NULL ON UPDATE SET NULL, v int) WITH (layout = 'column', groups = '(v), (p)'); CREATE INDEX ON cleared (p, v)", "p", "parent", "id"},
	{"preset", "CREATE TABLE preset (id int PRIMARY KEY, p int DEFAULT 3 REFERENCES parent ON DELETE SET DEFAULT ON UPDATE SET DEFAULT, v int)", "p", "parent", "id"},
	{"late", "CREATE TABLE late (id int PRIMARY KEY, p int REFERENCES parent DEFERRABLE INITIALLY DEFERRED, v int)", "p", "parent", "id"},
	{"keyless", "CREATE TABLE keyless (id int, p int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, v int)", "p", "parent", "id"},
	{"same", "CREATE TABLE same (id int PRIMARY KEY REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, p int, v int)", "id", "parent", "id"},
	{"near", `CREATE TABLE place (id int PRIMARY KEY, k int, v int, lat float8 DEFAULT 0, lon float8 DEFAULT 0) WITH (regions = 'lat, lon', region_size = '10 x 10');
		CREATE TABLE near (id int PRIMARY KEY, p int NOT NULL REFERENCES place ON DELETE CASCADE ON UPDATE CASCADE, v int) WITH (cluster_with = 'place')`, "p", "place", "id"},
	{"parts", `CREATE TABLE parts (id int, p int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, v int) PARTITION BY RANGE (p);
		CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (6); CREATE TABLE parts_2 PARTITION OF parts DEFAULT`, "p", "parent", "id"},
	{"pieces", `CREATE TABLE piece (id int PRIMARY KEY, k int, v int) PARTITION BY LIST (id);
		CREATE TABLE piece_1 PARTITION OF piece FOR VALUES IN (1, 2, 3, 4, 5); CREATE TABLE piece_2 PARTITION OF piece DEFAULT;
		INSERT INTO piece SELECT i, i, 0 FROM generate_series(1, 12) i;
		CREATE TABLE pieces (id int PRIMARY KEY, p int REFERENCES piece ON DELETE SET NULL ON UPDATE CASCADE, v int)`, "p", "piece", "id"},
	{"tree", `CREATE TABLE tree (id int PRIMARY KEY, p int REFERENCES tree ON DELETE CASCADE ON UPDATE CASCADE, v int); CREATE INDEX ON tree (p)`, "p", "tree", "id"},
}

// TestReferences has clients change few parents and the rows that refer to them, at all
// levels: nobody ever sees a row whose parent is not there, and a statement by itself
// fails by what its rows are only. KVSQLD_REFERENCES is how many seconds it takes.
func TestReferences(t *testing.T) {
	seconds, _ := strconv.Atoi(os.Getenv("KVSQLD_REFERENCES"))
	if seconds == 0 {
		seconds = 3
	}
	for _, store := range []string{"mem", "bolt"} {
		t.Run(store, func(t *testing.T) {
			ctx, srv := t.Context(), startServer(t, storage.Options{Store: store, NoSync: true})
			c := srv.pgx(ctx, t)
			script := "CREATE TABLE parent (id int PRIMARY KEY, k int UNIQUE, v int); INSERT INTO parent SELECT i, i, 0 FROM generate_series(1, 12) i;"
			for _, r := range referring {
				script += r.ddl + ";"
			}
			if _, err := c.Exec(ctx, script); err != nil {
				t.Fatal(err)
			}
			l := &referenceLoad{t: t, end: time.Now().Add(time.Duration(seconds) * time.Second), codes: map[string]int{}}
			var wg sync.WaitGroup
			some := func(n int, one func(ctx context.Context, c *pgx.Conn, r *rand.Rand) error) {
				for range n {
					c, r := srv.pgx(ctx, t), rand.New(rand.NewPCG(rand.Uint64(), 1))
					wg.Go(func() {
						for time.Now().Before(l.end) && !t.Failed() {
							l.count(one(ctx, c, r))
						}
					})
				}
			}
			some(8, l.change)
			some(1, l.look)
			wg.Wait()
			for range 20 {
				l.count(l.look(ctx, c, rand.New(rand.NewPCG(1, 1))))
			}
			t.Logf("by SQLSTATE: %v", l.codes)
			if l.codes[""] == 0 {
				t.Error("nothing has succeeded")
			}
		})
	}
}

type referenceLoad struct {
	t     *testing.T
	end   time.Time
	mu    sync.Mutex
	codes map[string]int // SQLSTATEs by number; "" is success
}

func (l *referenceLoad) count(err error) {
	var pe *pgconn.PgError
	code := ""
	if errors.As(err, &pe) {
		code = pe.Code
	} else if err != nil {
		l.t.Error(err)
	}
	if !slices.Contains([]string{"", "23502", "23503", "23505", "40001", "40P01"}, code) {
		l.t.Error(err)
	}
	l.mu.Lock()
	l.codes[code]++
	l.mu.Unlock()
}

// look counts the rows of each table whose parent is not there, in a transaction that
// only reads.
func (l *referenceLoad) look(ctx context.Context, c *pgx.Conn, r *rand.Rand) error {
	o := pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(isolationLevels[r.IntN(3)]), AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, c, o, func(tx pgx.Tx) error {
		for _, i := range r.Perm(len(referring)) {
			x := referring[i]
			rows, err := tx.Query(ctx, fmt.Sprintf("SELECT c::text FROM %[1]s c WHERE c.%[2]s IS NOT NULL AND NOT EXISTS (SELECT FROM %[3]s x WHERE x.%[4]s = c.%[2]s)",
				x.name, x.column, x.parent, x.key))
			if err != nil {
				return err
			}
			orphans, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			if len(orphans) > 0 {
				l.t.Errorf("%s: %v have no parent in %s", x.name, orphans, x.parent)
			}
		}
		return nil
	})
}

// change is a transaction, or a statement by itself, that writes.
func (l *referenceLoad) change(ctx context.Context, c *pgx.Conn, r *rand.Rand) error {
	if r.IntN(2) == 0 {
		sql := l.statement(r)
		_, err := c.Exec(ctx, sql)
		var pe *pgconn.PgError
		if errors.As(err, &pe) && pe.Code == "40001" {
			l.t.Errorf("%s: %v by itself", sql, err)
		}
		return err
	}
	return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(isolationLevels[r.IntN(3)])}, func(tx pgx.Tx) error {
		for range 1 + r.IntN(4) {
			if _, err := tx.Exec(ctx, l.statement(r)); err != nil {
				return err
			}
		}
		return nil
	})
}

// statement changes a row or a few of a parent or of a table that refers to it.
func (l *referenceLoad) statement(r *rand.Rand) string {
	parents := []string{
		"DELETE FROM parent_ WHERE id = $1",
		"INSERT INTO parent_ (id, k, v) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING",
		"INSERT INTO parent_ (id, k, v) SELECT i, i, 0 FROM generate_series(1, 12) i ON CONFLICT DO NOTHING",
		"UPDATE parent_ SET id = $2 WHERE id = $1",
		"UPDATE parent_ SET k = $2 WHERE id = $1",
		"UPDATE parent_ SET v = v + 1 WHERE id BETWEEN $1 AND $2",
		"MERGE INTO parent_ p USING (SELECT DISTINCT unnest(ARRAY[$1, $2])) x (i) ON p.id = i WHEN MATCHED AND i % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT (id, k, v) VALUES (i, i, 0)",
	}
	children := []string{
		"INSERT INTO child_ VALUES ($1, $2, 0) ON CONFLICT DO NOTHING",
		"INSERT INTO child_ SELECT id, id, 0 FROM parent_ ON CONFLICT DO NOTHING",
		"UPDATE child_ SET p = $2 WHERE id = $1",
		"UPDATE child_ SET p = $2, v = v + 1 WHERE id = $1",
		"UPDATE child_ SET p = $1 WHERE p = $2",
		"UPDATE child_ SET id = $1 WHERE id = $2",
		"UPDATE child_ SET v = v + 1 WHERE p = $1",
		"DELETE FROM child_ WHERE p = $1",
		"DELETE FROM child_ WHERE id = $1",
		"MERGE INTO child_ c USING (VALUES ($1)) x (i) ON c.id = i WHEN MATCHED THEN UPDATE SET p = $2 WHEN NOT MATCHED THEN INSERT VALUES (i, $2, 0)",
		"WITH d AS (DELETE FROM parent WHERE id = $1 RETURNING id) INSERT INTO child_ SELECT id + 12, $2, 0 FROM d",
	}
	x := referring[r.IntN(len(referring))]
	sql := children[r.IntN(len(children))]
	if r.IntN(3) == 0 {
		sql = parents[r.IntN(len(parents))]
		switch {
		case x.parent == "tree":
			x.parent = "parent"
		case x.parent == "place" && r.IntN(2) == 0:
			sql = "UPDATE parent_ SET lat = 7 * $2, lon = lon + 7 WHERE id = $1 AND lon < 160"
		}
	} else if x.name != "keyless" && x.name != "parts" && r.IntN(8) == 0 {
		sql = "INSERT INTO child_ VALUES ($1, $2, 0) ON CONFLICT (id) DO UPDATE SET p = excluded.p"
	}
	return strings.NewReplacer("parent_", x.parent, "child_", x.name, "$1", strconv.Itoa(1+r.IntN(12)), "$2", strconv.Itoa(1+r.IntN(12))).Replace(sql)
}
