package main

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

// TestUniqueKeys has clients move few keys from row to row at all levels: at no time do two
// rows have one key, or is a row not found by its keys. KVSQLD_KEYS is how many seconds
// it takes.
func TestUniqueKeys(t *testing.T) {
	seconds, _ := strconv.Atoi(os.Getenv("KVSQLD_KEYS"))
	if seconds == 0 {
		seconds = 3
	}
	for _, store := range []string{"mem", "bolt"} {
		t.Run(store, func(t *testing.T) {
			ctx, srv := t.Context(), startServer(t, storage.Options{Store: store, NoSync: true})
			c := srv.pgx(ctx, t)
			if _, err := c.Exec(ctx, `CREATE TABLE t (id int PRIMARY KEY, k int UNIQUE, l int, v int); CREATE UNIQUE INDEX ON t (l) WHERE v >= 0;
				INSERT INTO t SELECT i, i, i, 0 FROM generate_series(1, 4) i`); err != nil {
				t.Fatal(err)
			}
			l := &referenceLoad{t: t, end: time.Now().Add(time.Duration(seconds) * time.Second), codes: map[string]int{}}
			var wg sync.WaitGroup
			for i := range 5 {
				c, r := srv.pgx(ctx, t), rand.New(rand.NewPCG(rand.Uint64(), 1))
				most := 4 + 2*(i%2)
				wg.Go(func() {
					for time.Now().Before(l.end) && !t.Failed() {
						l.count(moveKeys(ctx, c, r, most))
						l.count(keysAgree(ctx, t, c))
					}
				})
			}
			wg.Wait()
			if l.codes[""] == 0 || l.codes["23505"] == 0 {
				t.Errorf("by SQLSTATE: %v", l.codes)
			}
		})
	}
}

// moveKeys is a transaction that writes.
func moveKeys(ctx context.Context, c *pgx.Conn, r *rand.Rand, most int) error {
	statements := []string{
		"DELETE FROM t WHERE id = $1",
		"DELETE FROM t WHERE k = $1",
		"INSERT INTO t VALUES ($1, $2, $3, 0)",
		"INSERT INTO t VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING",
		"INSERT INTO t VALUES ($1, $2, $3, 0), ($2, $3, $1, 0) ON CONFLICT DO NOTHING",
		"INSERT INTO t VALUES ($1, $2, $3, 0) ON CONFLICT (k) DO UPDATE SET v = t.v + 1",
		"UPDATE t SET id = $2 WHERE id = $1",
		"UPDATE t SET k = $2 WHERE id = $1",
		"UPDATE t SET l = $2, v = 0 WHERE id = $1",
		"UPDATE t SET v = -1 WHERE id = $1",
		"MERGE INTO t USING (VALUES ($1)) x (i) ON t.id = i WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (i, $2, $3, 0)",
	}
	return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.TxIsoLevel(isolationLevels[r.IntN(3)])}, func(tx pgx.Tx) error {
		for range 1 + r.IntN(3) {
			sql := statements[r.IntN(len(statements))]
			for _, p := range []string{"$1", "$2", "$3"} {
				sql = strings.ReplaceAll(sql, p, strconv.Itoa(1+r.IntN(most)))
			}
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// keysAgree compares the rows of the table with what its indexes have, in one state.
func keysAgree(ctx context.Context, t *testing.T, c *pgx.Conn) error {
	var rows, ids, ks, ls, byK, byL []int32
	err := c.QueryRow(ctx, `WITH a AS MATERIALIZED (SELECT * FROM t)
		SELECT (SELECT array_agg(v ORDER BY id) FROM a), (SELECT array_agg(id ORDER BY id) FROM a), (SELECT array_agg(k ORDER BY k) FROM a), (SELECT array_agg(l ORDER BY l) FROM a WHERE v >= 0),
			(SELECT array_agg(k) FROM (SELECT k FROM t WHERE k BETWEEN 0 AND 99 ORDER BY k) x), (SELECT array_agg(l) FROM (SELECT l FROM t WHERE l BETWEEN 0 AND 99 AND v >= 0 ORDER BY l) x)`).
		Scan(&rows, &ids, &ks, &ls, &byK, &byL)
	if err != nil {
		return err
	}
	if !slices.Equal(ks, byK) || !slices.Equal(ls, byL) {
		t.Errorf("the rows %v have the keys %v and %v, the indexes %v and %v", ids, ks, ls, byK, byL)
	}
	for _, list := range [][]int32{ids, ks, ls} {
		if len(slices.Compact(slices.Clone(list))) < len(list) {
			t.Errorf("a key comes twice in %v", list)
		}
	}
	return nil
}
