package main

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// crashTables is how many tables the definitions of the crash test leave.
const crashTables = 5

// definitionsUntilKilled makes and drops tables, each in a transaction that says
// so in the log: "made N" and "dropped N".
func definitionsUntilKilled(t *testing.T, ctx context.Context, c *child, ack *acknowledged) {
	conn, err := c.connect(ctx)
	if err != nil {
		return // a writer was quicker with the kill
	}
	defer conn.Close(ctx)
	made, err := definitions(ctx, conn)
	for err == nil && ctx.Err() == nil {
		id := ack.begin()
		if len(made) < crashTables {
			if err = makeTable(ctx, conn, id); err == nil {
				made = append(made, id)
			}
		} else if err = dropTable(ctx, conn, id, made[0]); err == nil {
			made = made[1:]
		}
		if err == nil {
			ack.end(id)
		}
	}
	if err != nil && !conn.IsClosed() {
		t.Errorf("definitions: %v", err)
	}
}

func makeTable(ctx context.Context, conn *pgx.Conn, id int64) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE made_%[1]d (id serial PRIMARY KEY, v text);
			CREATE INDEX ON made_%[1]d (v);
			INSERT INTO made_%[1]d (v) SELECT 'v' || i FROM generate_series(1, 20) AS g(i);
			INSERT INTO log VALUES (%[1]d, -1, 'made %[1]d')`, id))
		return err
	})
}

func dropTable(ctx context.Context, conn *pgx.Conn, id, old int64) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, fmt.Sprintf("DROP TABLE made_%d; INSERT INTO log VALUES (%d, -1, 'dropped %d')", old, id, old))
		return err
	})
}

// definitions returns the tables that are there by the log.
func definitions(ctx context.Context, conn *pgx.Conn) ([]int64, error) {
	rows, _ := conn.Query(ctx, `SELECT id FROM log m WHERE note LIKE 'made %'
		AND NOT EXISTS (SELECT FROM log d WHERE d.note = 'dropped ' || m.id) ORDER BY id`)
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// indexesUntilKilled makes an index of the table that the transfers write, beside them,
// and drops it, again and again. What the last kill has left, filled or not, goes first.
func indexesUntilKilled(t *testing.T, ctx context.Context, c *child) {
	conn, err := c.connect(ctx)
	if err != nil {
		return
	}
	defer conn.Close(ctx)
	kinds := []string{"(account, id)", "USING inverted (account)", "(log) WHERE account > 10", "((account % 3), log)"}
	for i := 0; err == nil && ctx.Err() == nil; i++ {
		for _, q := range []string{"DROP INDEX CONCURRENTLY IF EXISTS entry_more", "CREATE INDEX CONCURRENTLY entry_more ON entry " + kinds[i%len(kinds)]} {
			if err == nil {
				_, err = conn.Exec(ctx, q)
			}
		}
	}
	if err != nil && !conn.IsClosed() {
		t.Errorf("indexes: %v", err)
	}
}

// layoutsUntilKilled gives the table that the transfers write another layout beside them,
// again and again.
func layoutsUntilKilled(t *testing.T, ctx context.Context, c *child) {
	conn, err := c.connect(ctx)
	if err != nil {
		return
	}
	defer conn.Close(ctx)
	for i := 0; err == nil && ctx.Err() == nil; i++ {
		set := []string{"SET (layout = 'column')", "RESET (layout)"}[i%2]
		_, err = conn.Exec(ctx, "ALTER TABLE entry "+set)
	}
	if err != nil && !conn.IsClosed() {
		t.Errorf("layouts: %v", err)
	}
}

// verifyIndexes: an index that was being made has all rows, or says that it is not valid
// and can be made anew.
func verifyIndexes(t *testing.T, ctx context.Context, conn *pgx.Conn) {
	t.Helper()
	var there, valid bool
	err := conn.QueryRow(ctx, "SELECT count(*) > 0, coalesce(bool_and(indisvalid), true) FROM pg_index WHERE indexrelid = to_regclass('entry_more')").Scan(&there, &valid)
	if err == nil && there && !valid {
		_, err = conn.Exec(ctx, "REINDEX INDEX entry_more")
	}
	if err != nil {
		t.Errorf("indexes: %v", err)
	}
}

// vacuumUntilKilled rewrites the data file again and again.
func vacuumUntilKilled(ctx context.Context, c *child) {
	conn, err := c.connect(ctx)
	for err == nil {
		_, err = conn.Exec(ctx, "VACUUM FULL")
	}
}

// verifyEntries: each transfer has its two entries, and the sequence goes on
// behind them.
func verifyEntries(t *testing.T, ctx context.Context, conn *pgx.Conn) {
	t.Helper()
	var transfers, entries, orphans, last, next int64
	err := conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM log WHERE note IS NULL), count(*), count(*) FILTER (WHERE l.id IS NULL),
		coalesce(max(e.id), 0), nextval('entry_id_seq') FROM entry e LEFT JOIN log l ON l.id = e.log`).
		Scan(&transfers, &entries, &orphans, &last, &next)
	if err != nil {
		t.Error(err)
		return
	}
	if entries != 2*transfers || orphans != 0 || next <= last {
		t.Errorf("%d transfers with %d entries, %d without a transfer; the last number is %d, the next %d", transfers, entries, orphans, last, next)
	}
}

// verifyDefinitions: the tables that the log says were made are there, whole.
func verifyDefinitions(t *testing.T, ctx context.Context, conn *pgx.Conn) {
	t.Helper()
	want, err := definitions(ctx, conn)
	if err != nil {
		t.Error(err)
		return
	}
	rows, _ := conn.Query(ctx, "SELECT substr(relname, 6)::bigint FROM pg_class WHERE relname ~ '^made_[0-9]+$' ORDER BY 1")
	got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Error(err)
		return
	}
	if !slices.Equal(got, want) {
		t.Errorf("tables %v are there, by the log %v", got, want)
	}
	for _, id := range got {
		var n, byIndex int
		err := conn.QueryRow(ctx, fmt.Sprintf("SELECT count(*), (SELECT count(*) FROM made_%[1]d WHERE v >= 'v') FROM made_%[1]d", id)).Scan(&n, &byIndex)
		if err != nil || n != 20 || byIndex != 20 {
			t.Errorf("table %d has %d rows, %d by the index, %v", id, n, byIndex, err)
		}
	}
}
