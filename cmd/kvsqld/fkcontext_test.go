package main

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// TestForeignKeyContext sees which statement of a foreign key an error comes from.
func TestForeignKeyContext(t *testing.T) {
	ctx := context.Background()
	c, err := startServer(t, storage.Options{Store: "mem"}).connect(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, x := range []struct{ sql, code, where string }{
		{`CREATE TABLE fp (id int PRIMARY KEY, a int, b int, UNIQUE (a, b))`, "", ""},
		{`CREATE TABLE fc (id int PRIMARY KEY, fp int REFERENCES fp ON DELETE CASCADE ON UPDATE CASCADE CHECK (fp < 100))`, "", ""},
		{`CREATE TABLE fn (id int, "Fp" int NOT NULL REFERENCES fp ON DELETE SET NULL)`, "", ""},
		{`CREATE TABLE fd (id int, a int, b int NOT NULL, FOREIGN KEY (a, b) REFERENCES fp (a, b) ON DELETE SET DEFAULT (b))`, "", ""},
		{`INSERT INTO fp VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)`, "", ""},
		{`INSERT INTO fc VALUES (1, 1)`, "", ""},
		{`INSERT INTO fn VALUES (1, 2)`, "", ""},
		{`INSERT INTO fd VALUES (1, 3, 3)`, "", ""},
		{`UPDATE fp SET id = 200 WHERE id = 1`, "23514", `SQL statement "UPDATE ONLY "public"."fc" SET "fp" = $1 WHERE $2 OPERATOR(pg_catalog.=) "fp""`},
		{`DELETE FROM fp WHERE id = 2`, "23502", `SQL statement "UPDATE ONLY "public"."fn" SET "Fp" = NULL WHERE $1 OPERATOR(pg_catalog.=) "Fp""`},
		{`DELETE FROM fp WHERE id = 3`, "23502", `SQL statement "UPDATE ONLY "public"."fd" SET "b" = DEFAULT WHERE $1 OPERATOR(pg_catalog.=) "a" AND $2 OPERATOR(pg_catalog.=) "b""`},
		{`INSERT INTO fc VALUES (2, 9)`, "23503", ""},
	} {
		_, err := c.Exec(ctx, x.sql).ReadAll()
		var e pgconn.PgError
		if p := (*pgconn.PgError)(nil); errors.As(err, &p) {
			e = *p
		} else if err != nil {
			t.Fatal(err)
		}
		if e.Code != x.code || e.Where != x.where {
			t.Errorf("%s\ngives %s with context %q, want %s with %q", x.sql, e.Code, e.Where, x.code, x.where)
		}
	}
}
