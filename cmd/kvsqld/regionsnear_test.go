package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/catalog/spatial"
	"kvsqld/storage"
)

// Nearby and nearest rows of a clustered table are those of a computation without a
// database: positions at the poles, on the date line, many at one place.
func TestRegionsBruteForce(t *testing.T) {
	srv := startServer(t, storage.Options{NoSync: true})
	ctx := context.Background()
	c, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	r := rand.New(rand.NewPCG(7, 7))
	type place struct {
		id       int
		lat, lon float64
	}
	position := func() (lat, lon float64) {
		lat, lon = r.Float64()*180-90, r.Float64()*360-180
		switch r.IntN(8) {
		case 0:
			lat = []float64{-90, 90}[r.IntN(2)]
		case 1:
			lat = []float64{-89.9999, 89.9999, 89.5}[r.IntN(3)]
		case 2:
			lon = []float64{-180, 180}[r.IntN(2)]
		case 3:
			lon = []float64{-179.9999, 179.9999, -179.5}[r.IntN(3)]
		case 4:
			lat, lon = 46.77, 23.59
		case 5:
			lat, lon = 46.77+r.NormFloat64()/100, 23.59+r.NormFloat64()/100
		}
		return lat, lon
	}
	for _, size := range []string{"0.5 x 0.5", "7 x 11", "180 x 360"} {
		var places []place
		var rows strings.Builder
		for i := range 600 {
			p := place{id: i}
			p.lat, p.lon = position()
			places = append(places, p)
			fmt.Fprintf(&rows, "%s(%d, %v, %v)", []string{"", ","}[min(i, 1)], p.id, p.lat, p.lon)
		}
		sql := fmt.Sprintf(`DROP TABLE IF EXISTS tag; DROP TABLE IF EXISTS geo;
CREATE TABLE geo (id int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon', region_size = '%s', region_rows = 16);
CREATE TABLE tag (geo int NOT NULL REFERENCES geo, n int, PRIMARY KEY (geo, n)) WITH (cluster_with = 'geo');
INSERT INTO geo VALUES (-1, NULL, 0), (-2, 0, NULL), %s; INSERT INTO tag SELECT id, id %% 3 FROM geo`, size, rows.String())
		if _, err := c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
		ids := func(q string, args ...any) []int {
			t.Helper()
			rows, _ := c.Query(ctx, q, args...)
			out, err := pgx.CollectRows(rows, pgx.RowTo[int])
			if err != nil {
				t.Fatalf("%s %v: %v", q, args, err)
			}
			return out
		}
		for range 120 {
			lat, lon := position()
			metres := [...]float64{0, r.Float64() * 10, r.Float64() * 5000, r.Float64() * 1e6, r.Float64() * 2.1e7}[r.IntN(5)]
			var want []int
			for _, p := range places {
				if spatial.Distance(p.lat, p.lon, lat, lon) <= metres {
					want = append(want, p.id)
				}
			}
			for _, q := range []string{
				"SELECT id FROM geo WHERE distance(lat, lon, $1, $2) <= $3 ORDER BY id",
				"SELECT g.id FROM geo g JOIN tag ON tag.geo = g.id WHERE distance(g.lat, g.lon, $1, $2) <= $3 ORDER BY g.id",
			} {
				if got := ids(q, lat, lon, metres); !slices.Equal(got, want) {
					t.Fatalf("%s, %v m of %v,%v: %v, want %v", size, metres, lat, lon, got, want)
				}
			}
			k := r.IntN(40)
			byDistance := slices.Clone(places)
			slices.SortStableFunc(byDistance, func(a, b place) int {
				x, y := spatial.Distance(a.lat, a.lon, lat, lon), spatial.Distance(b.lat, b.lon, lat, lon)
				switch {
				case x < y:
					return -1
				case x > y:
					return 1
				}
				return a.id - b.id
			})
			want = want[:0]
			for _, p := range byDistance[:k] {
				want = append(want, p.id)
			}
			if got := ids("SELECT id FROM geo ORDER BY distance(lat, lon, $1, $2), id LIMIT $3", lat, lon, k); !slices.Equal(got, want) {
				t.Fatalf("%s, nearest %d of %v,%v: %v, want %v", size, k, lat, lon, got, want)
			}
			box := spatial.Box{South: lat, West: lon, North: min(90, lat+r.Float64()*20), East: lon + r.Float64()*40}
			if box.East > 180 {
				box.East -= 360
			}
			want = want[:0]
			for _, p := range places {
				if box.Contains(p.lat, p.lon) {
					want = append(want, p.id)
				}
			}
			q := "SELECT id FROM geo WHERE bounding_box(lat, lon, $1, $2, $3, $4) ORDER BY id"
			if got := ids(q, box.South, box.West, box.North, box.East); !slices.Equal(got, want) {
				t.Fatalf("%s, %+v: %v, want %v", size, box, got, want)
			}
		}
	}
}

// Within a radius not larger than a region at most four cells are visited, and the
// joins along the hierarchy need no operator.
func TestRegionsVisited(t *testing.T) {
	srv := startServer(t, storage.Options{NoSync: true})
	ctx := context.Background()
	c, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	const tables = `CREATE TABLE geo (id int PRIMARY KEY, lat float8, lon float8) WITH (regions = 'lat, lon', region_size = '0.5 x 0.5');
CREATE TABLE poi (geo int REFERENCES geo, lang int, PRIMARY KEY (geo, lang)) WITH (cluster_with = 'geo');
INSERT INTO geo SELECT i * 100 + j, 40 + i * 0.1, 20 + j * 0.1 FROM generate_series(0, 50) i, generate_series(0, 50) j;
INSERT INTO poi SELECT id, 1 FROM geo; ANALYZE`
	if _, err := c.PgConn().Exec(ctx, tables).ReadAll(); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 40 {
		lat := 40.5 + r.Float64()*4
		metres := 55000.0 / 2 * r.Float64() * math.Cos(lat*math.Pi/180) // the circle is as wide as a region at most
		rows, _ := c.Query(ctx, fmt.Sprintf("EXPLAIN (ANALYZE, KV, TIMING OFF) SELECT * FROM geo g JOIN poi p ON p.geo = g.id WHERE distance(g.lat, g.lon, %v, %v) <= %v",
			lat, 20.5+r.Float64()*4, metres), pgx.QueryExecModeSimpleProtocol)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(lines, "\n")
		visited := -1
		if _, after, ok := strings.Cut(text, "Regions visited: "); ok {
			fmt.Sscan(after, &visited)
		}
		if visited < 1 || visited > 4 {
			t.Fatalf("%d regions visited:\n%s", visited, text)
		}
		if strings.Contains(text, "Hash join") || strings.Contains(text, "Lookup join") || strings.Contains(text, "Merge join") || strings.Contains(text, "Loop join") {
			t.Fatalf("a join operator:\n%s", text)
		}
	}
}

// A table that has its place keeps it: changes to it are refused by name.
func TestRegionsRefused(t *testing.T) {
	srv := startServer(t, storage.Options{NoSync: true})
	ctx := context.Background()
	c, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.PgConn().Exec(ctx, regionTables).ReadAll(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ sql, code string }{
		{"ALTER TABLE c.geo RESET (regions)", "2BP01"},
		{"ALTER TABLE c.poi RESET (cluster_with)", "2BP01"},
		{"ALTER TABLE c.geo SET (layout = 'column')", "0A000"},
		{"ALTER TABLE c.geo ALTER id TYPE bigint", "0A000"},
		{"ALTER TABLE c.geo ALTER lat TYPE text", "42804"},
	} {
		_, err := c.Exec(ctx, x.sql)
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != x.code {
			t.Errorf("%s: %v, want %s", x.sql, err, x.code)
		}
	}
}

// Statements of which two parts change rows of one cluster: what the first moves, the
// second finds where it was in the snapshot.
func TestRegionsModifyingTwice(t *testing.T) {
	srv := startServer(t, storage.Options{NoSync: true})
	ctx := context.Background()
	c, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	x := &regionTwins{t: t, c: c}
	const fill = `INSERT INTO %[1]s.geo SELECT i, i, i FROM generate_series(1, 9) i;
INSERT INTO %[1]s.poi SELECT i, chr(97 + j), 'n' FROM generate_series(1, 9) i, generate_series(0, 2) j;
INSERT INTO %[1]s.event SELECT i * 10 + j, i, 'a', j FROM generate_series(1, 9) i, generate_series(0, 4) j;`
	for _, sql := range []string{regionTables, fmt.Sprintf(fill, "c"), fmt.Sprintf(fill, "p")} {
		if _, err := c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	for i, sql := range []string{
		"WITH a AS (UPDATE %[1]s.geo SET lat = -lat WHERE id < 4 RETURNING id), b AS (UPDATE %[1]s.poi SET name = 'new' WHERE geo < 5 RETURNING geo) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)",
		"WITH a AS (UPDATE %[1]s.geo SET lon = -lon WHERE id < 4 RETURNING id), b AS (UPDATE %[1]s.event SET kind = kind + 1 WHERE geo < 5 RETURNING geo) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)",
		"WITH b AS (UPDATE %[1]s.event SET kind = kind + 1 WHERE geo = 2 RETURNING geo), a AS (UPDATE %[1]s.geo SET lon = 7 WHERE id < 4 RETURNING id) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)",
		"WITH a AS (UPDATE %[1]s.geo SET lat = 33 WHERE id = 3 RETURNING id), b AS (DELETE FROM %[1]s.event WHERE geo = 3 AND kind > 2 RETURNING geo) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)",
		"WITH a AS (UPDATE %[1]s.geo SET lat = 44 WHERE id = 4 RETURNING id), b AS (INSERT INTO %[1]s.event SELECT 1000 + geo, geo, 'b', 8 FROM %[1]s.poi WHERE geo = 4 AND lang = 'b' RETURNING geo) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)",
		"WITH a AS (UPDATE %[1]s.geo SET lat = 55 WHERE id = 5 RETURNING id), b AS (UPDATE %[1]s.poi SET lang = 'z' WHERE geo = 5 AND lang = 'c' RETURNING geo) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)",
		"WITH a AS (DELETE FROM %[1]s.event WHERE geo = 6 RETURNING id), b AS (UPDATE %[1]s.geo SET lat = 66 WHERE id = 6 RETURNING id) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)",
		"WITH a AS (UPDATE %[1]s.event SET geo = 8 WHERE geo = 7 RETURNING id), b AS (UPDATE %[1]s.geo SET lat = 77 WHERE id IN (7, 8) RETURNING id) SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)",
	} {
		if got, want := x.ask(sql, "c"), x.ask(sql, "p"); !slices.Equal(got, want) {
			t.Errorf("statement %d: %v, want %v", i, got, want)
		}
		for _, q := range []string{"SELECT * FROM %[1]s.geo", "SELECT * FROM %[1]s.poi", "SELECT * FROM %[1]s.event",
			"SELECT g.id, q.lang, q.name, e.id, e.kind FROM %[1]s.geo g JOIN %[1]s.poi q ON q.geo = g.id LEFT JOIN %[1]s.event e ON e.geo = q.geo AND e.lang = q.lang"} {
			if got, want := x.ask(q, "c"), x.ask(q, "p"); !slices.Equal(got, want) {
				t.Fatalf("after statement %d, %s:\ngot  %q\nwant %q", i, q, got, want)
			}
		}
	}
}
