package session

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/storage/table"
)

// TestCheckComputesExpressions replaces a function that indexes are made of: their entries
// are no longer those of the rows, though their numbers are right and each has its row.
func TestCheckComputesExpressions(t *testing.T) {
	srv, ctx := newServer(t), context.Background()
	c := srv.client(t)
	c.must(`CREATE FUNCTION f(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT lower($1)';
		CREATE TABLE t (id int PRIMARY KEY, c text, b int);
		CREATE INDEX keys ON t (f(c));
		CREATE UNIQUE INDEX once ON t (f(c)) INCLUDE (b);
		CREATE INDEX part ON t (b) WHERE f(c) > 'o';
		CREATE INDEX lists ON t USING inverted (f(c)) WHERE b > 1;
		INSERT INTO t VALUES (1, 'One', 1), (2, 'Two', 2), (3, 'Three', 3)`)
	faults := func() (out []string) {
		var tab *catalog.Table
		for _, r := range srv.Catalog.Current().Relations(catalog.OIDPostgres) {
			if r, ok := r.(*catalog.Table); ok && r.Name == "t" {
				tab = r
			}
		}
		snap, err := srv.Store.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		report := func(p table.Problem) { out = append(out, p.File+": "+p.Text) }
		if err := srv.CheckTables(ctx, snap, []*catalog.Table{tab}, report); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := faults(); got != nil {
		t.Errorf("nothing was changed: %q", got)
	}
	c.must(`CREATE OR REPLACE FUNCTION f(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT CASE $1 WHEN ''Two'' THEN ''2'' ELSE lower($1) END'`)
	got := faults()
	for _, want := range []string{
		`keys.ind: a row has no entry in index "keys"`,
		"keys.ind: the row's entry belongs under key 103200018000000" + "2",
		"part.ind: entry of a row that the index's predicate leaves out",
		"part.ind: 3 entries for 2 rows",
		`lists.ind: a row is not in the list of index "lists"`,
		"lists.ind: posting without a row, or twice",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	c.must("REINDEX TABLE t")
	if got := faults(); got != nil {
		t.Errorf("after REINDEX: %q", got)
	}
	c.must(`CREATE OR REPLACE FUNCTION f(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT CASE $1 WHEN ''One'' THEN ''two'' ELSE lower($1) END'`)
	if got := c.sql("REINDEX INDEX once"); !strings.Contains(got, "ERROR 23505") {
		t.Errorf("a key that two rows have: %s", got)
	}
	c.must(`CREATE OR REPLACE FUNCTION f(text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT CASE $1 WHEN ''One'' THEN ''2'' ELSE lower($1) END'`)
	if faults() == nil {
		t.Error("the function was replaced, and nothing is at fault")
	}
	c.must("REINDEX TABLE CONCURRENTLY t")
	if got := faults(); got != nil {
		t.Errorf("after REINDEX CONCURRENTLY: %q", got)
	}
}
