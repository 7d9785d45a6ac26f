package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// TestOldTids: a server that starts gives tids which an older version has stored as texts
// the form that they have now, in tables, row keys and indexes.
func TestOldTids(t *testing.T) {
	ctx, srv := context.Background(), newServer(t)
	c := srv.client(t)
	c.must(`CREATE DOMAIN d AS tid;
		CREATE TABLE plain (id int, x tid, n text GENERATED ALWAYS AS (coalesce(x::text, '')) STORED); CREATE INDEX ON plain (x) WHERE id > 0; CREATE INDEX ON plain ((x::text));
		INSERT INTO plain VALUES (0, NULL);
		ALTER TABLE plain ADD COLUMN m tid DEFAULT '(7,70)';
		CREATE TABLE keyed (x d PRIMARY KEY, id int) WITH (layout = 'column');
		CREATE TABLE place (id int PRIMARY KEY, lat float8, lon float8, x tid) WITH (regions = 'lat, lon');
		CREATE TABLE near (id int PRIMARY KEY, p int NOT NULL REFERENCES place) WITH (cluster_with = 'place');
		CREATE TABLE fine (x tid, id int); INSERT INTO fine VALUES ('(674245681,12329)', 10), ('(9,0)', 9)`)
	// old stores rows with the ids 9, 10 and 100, and the tids (id,0) as texts.
	old := func(name string, live func(id int64, x []byte) []any) {
		d, err := srv.Tables.For(srv.Catalog.Current().Relation(c.s.db, "public", name).(*catalog.Table))
		if err != nil {
			t.Fatal(err)
		}
		tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		for _, id := range []int64{9, 10, 100} {
			b := &vec.Batch{N: 1}
			for i, val := range live(id, fmt.Appendf(nil, "(%d,0)", id)) {
				v := vec.New(d.Table.Columns[i].Type, 1)
				switch x := val.(type) {
				case int64:
					v.I64[0] = x
				case float64:
					v.F64[0] = x
				case []byte:
					v.B[0] = x
				}
				b.Cols = append(b.Cols, v)
			}
			vals := make([]table.IndexVals, len(d.Table.Indexes))
			for i, ix := range d.Table.Indexes {
				vals[i].Keys = make([]*vec.Vec, len(ix.Keys))
				for k, key := range ix.Keys {
					if key.Col < 0 {
						vals[i].Keys[k] = b.Cols[2]
					}
				}
				if ix.Where != "" {
					vals[i].Pred = vec.NewConst(types.Bool(true))
				}
			}
			if _, err := d.NewWriter(tx).Insert(ctx, b, vals, table.InsertOpt{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	old("plain", func(id int64, x []byte) []any { return []any{id, x, x, x} })
	old("keyed", func(id int64, x []byte) []any { return []any{x, id} })
	old("place", func(id int64, x []byte) []any { return []any{id, float64(id) / 2, 1.0, x} })
	c.must("INSERT INTO near VALUES (1, 9), (2, 100)")
	// The catalog of an older version says nothing of its form.
	tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		t.Fatal(err)
	}
	counters := strings.Replace(string(srv.Catalog.EncodeCounters()), ` form="2"`, "", 1)
	if err := errors.Join(table.PutFragment(tx, table.Fragment{OID: countersOID, XML: []byte(counters)}), tx.Commit(ctx)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // renewed, and left alone
		next, err := Open(ctx, srv.Store, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := next.Close(ctx); err != nil {
				t.Error(err)
			}
		})
		c = next.client(t)
		if i == 0 {
			c.must(`CREATE TABLE words (x tid); INSERT INTO words VALUES ('(674245681,12329)');
				ALTER TABLE words ADD COLUMN y tid DEFAULT '(674245681,12329)'`)
		}
	}
	for sql, want := range map[string][]string{
		"SELECT id, x, n, m FROM plain ORDER BY x, id":                              {"9|(9,0)|(9,0)|(9,0)", "10|(10,0)|(10,0)|(10,0)", "100|(100,0)|(100,0)|(100,0)", "0|NULL||(7,70)"},
		"SELECT id FROM plain WHERE x = '(100,0)' AND id > 0":                       {"100"},
		"SELECT id FROM plain WHERE x::text = '(10,0)'":                             {"10"},
		"SELECT x, id FROM keyed ORDER BY x":                                        {"(9,0)|9", "(10,0)|10", "(100,0)|100"},
		"SELECT id FROM keyed WHERE x = '(100,0)'":                                  {"100"},
		"SELECT n.id, p.x, p.lat FROM near n JOIN place p ON n.p = p.id ORDER BY x": {"1|(9,0)|4.5", "2|(100,0)|50"},
		"SELECT x, y FROM words":                                                    {"(674245681,12329)|(674245681,12329)"},
		"SELECT x, id FROM fine ORDER BY x":                                         {"(9,0)|9", "(674245681,12329)|10"}, // six bytes that are "(0,10)"
	} {
		lines := strings.Split(c.sql(sql), "\n")
		if got := lines[1 : len(lines)-2]; !slices.Equal(got, want) {
			t.Errorf("%s: %q", sql, lines)
		}
	}
}
