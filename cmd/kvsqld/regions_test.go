package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

// regionTables are the same four tables twice: clustered in schema c, plain in p.
const regionTables = `
CREATE SCHEMA c; CREATE SCHEMA p;
CREATE TABLE c.geo (id int PRIMARY KEY, lat float8, lon float8, note text) WITH (regions = 'lat, lon', region_size = '5 x 7', region_rows = 8);
CREATE TABLE c.poi (geo int NOT NULL REFERENCES c.geo ON DELETE CASCADE, lang text, name text, PRIMARY KEY (geo, lang)) WITH (cluster_with = 'c.geo');
CREATE TABLE c.event (id int PRIMARY KEY, geo int NOT NULL, lang text NOT NULL, kind int, FOREIGN KEY (geo, lang) REFERENCES c.poi ON DELETE CASCADE) WITH (cluster_with = 'c.poi');
CREATE TABLE c.rating (geo int NOT NULL REFERENCES c.geo ON DELETE CASCADE, stars int, PRIMARY KEY (geo, stars)) WITH (cluster_with = 'c.geo');
CREATE TABLE p.geo (id int PRIMARY KEY, lat float8, lon float8, note text);
CREATE TABLE p.poi (geo int NOT NULL REFERENCES p.geo ON DELETE CASCADE, lang text, name text, PRIMARY KEY (geo, lang));
CREATE TABLE p.event (id int PRIMARY KEY, geo int NOT NULL, lang text NOT NULL, kind int, FOREIGN KEY (geo, lang) REFERENCES p.poi ON DELETE CASCADE);
CREATE TABLE p.rating (geo int NOT NULL REFERENCES p.geo ON DELETE CASCADE, stars int, PRIMARY KEY (geo, stars));
CREATE INDEX ON c.poi (name); CREATE INDEX ON c.event ((kind % 3)) WHERE kind > 2;
`

type regionTwins struct {
	t *testing.T
	c *pgx.Conn
	r *rand.Rand
}

func (x *regionTwins) lat() float64 {
	return [...]float64{x.r.Float64()*180 - 90, float64(x.r.IntN(5))*45 - 90, 10 + x.r.Float64()}[x.r.IntN(3)]
}

func (x *regionTwins) lon() float64 {
	return [...]float64{x.r.Float64()*360 - 180, float64(x.r.IntN(3))*180 - 180, 20 + x.r.Float64()}[x.r.IntN(3)]
}

func (x *regionTwins) null(v float64) string {
	if x.r.IntN(12) == 0 {
		return "NULL"
	}
	return fmt.Sprint(v)
}

// statement is a random change; %s is the schema.
func (x *regionTwins) statement() string {
	r := x.r
	id, lang := r.IntN(60), string(rune('a'+r.IntN(3)))
	switch r.IntN(25) / 2 {
	case 0, 1, 2:
		return fmt.Sprintf("INSERT INTO %%[1]s.geo VALUES (%d, %s, %s, 'n%d') ON CONFLICT (id) DO UPDATE SET lat = excluded.lat, lon = excluded.lon", id, x.null(x.lat()), x.null(x.lon()), id)
	case 3, 4:
		return fmt.Sprintf("INSERT INTO %%[1]s.poi SELECT id, '%s', 'name ' || id %% 7 FROM %%[1]s.geo WHERE id BETWEEN %d AND %d ON CONFLICT DO NOTHING", lang, id, id+5)
	case 5, 6:
		return fmt.Sprintf("INSERT INTO %%[1]s.event SELECT geo * 10 + %d, geo, lang, geo %% 11 FROM %%[1]s.poi WHERE lang = '%s' ON CONFLICT DO NOTHING", r.IntN(10), lang)
	case 7:
		return fmt.Sprintf("INSERT INTO %%[1]s.rating SELECT id, %d FROM %%[1]s.geo WHERE id %% 3 = %d ON CONFLICT DO NOTHING", r.IntN(5), r.IntN(3))
	case 8:
		return fmt.Sprintf("UPDATE %%[1]s.geo SET lat = %s, lon = %s WHERE id %% 9 = %d", x.null(x.lat()), x.null(x.lon()), r.IntN(9))
	case 9:
		return fmt.Sprintf("UPDATE %%[1]s.event SET (geo, lang) = (SELECT geo, lang FROM %%[1]s.poi ORDER BY geo + %d, lang LIMIT 1) WHERE id %% 13 = %d AND EXISTS (SELECT 1 FROM %%[1]s.poi)", r.IntN(9), r.IntN(13))
	case 10:
		return fmt.Sprintf("DELETE FROM %%[1]s.%s WHERE geo = %d", [...]string{"poi", "event", "rating"}[r.IntN(3)], id)
	case 12:
		return "ALTER TABLE %[1]s." + [...]string{"geo ALTER note TYPE varchar(9)", "geo ALTER note TYPE text", "poi ALTER name TYPE text USING name || ''",
			"event ALTER kind TYPE bigint", "event ALTER kind TYPE int, ALTER id TYPE bigint", "rating ALTER stars TYPE smallint", "rating ALTER stars TYPE numeric(3)"}[r.IntN(7)]
	}
	return fmt.Sprintf("DELETE FROM %%[1]s.geo WHERE id = %d", id)
}

// query is a random question with a total order, or none and sorted here.
func (x *regionTwins) query() string {
	r := x.r
	lat, lon := x.lat(), x.lon()
	metres := math.Pow(10, 3+r.Float64()*4.5)
	south, west := x.lat(), x.lon()
	var where []string
	switch r.IntN(6) {
	case 0:
		where = append(where, fmt.Sprintf("distance(g.lat, g.lon, %v, %v) <= %v", lat, lon, metres))
	case 1:
		where = append(where, fmt.Sprintf("%v > distance(%v, %v, g.lat, g.lon)", metres, lat, lon))
	case 2:
		where = append(where, fmt.Sprintf("g.lat BETWEEN %v AND %v AND g.lon BETWEEN %v AND %v", south, south+r.Float64()*40, west, west+r.Float64()*80))
	case 3:
		where = append(where, fmt.Sprintf("g.lat >= %v", south))
	case 4:
		where = append(where, fmt.Sprintf("bounding_box(g.lat, g.lon, %v, %v, %v, %v)", south, west, south+30, lon))
	}
	switch r.IntN(4) {
	case 0:
		where = append(where, fmt.Sprintf("g.id < %d", r.IntN(80)))
	case 1:
		where = append(where, fmt.Sprintf("g.id = %d", r.IntN(60)))
	}
	cond := "true"
	if len(where) > 0 {
		cond = strings.Join(where, " AND ")
	}
	inner := "JOIN"
	if r.IntN(2) == 0 {
		inner = "LEFT JOIN"
	}
	switch r.IntN(9) {
	case 0:
		return "SELECT g.* FROM %[1]s.geo g WHERE " + cond
	case 1:
		return "SELECT g.id, q.name FROM %[1]s.geo g " + inner + " %[1]s.poi q ON q.geo = g.id AND q.lang <> 'b' WHERE " + cond
	case 7:
		return fmt.Sprintf("SELECT g.id, q.lang, e.id FROM %%[1]s.geo g %[1]s %%[1]s.poi q ON q.geo = g.id AND q.lang >= 'b' %[1]s %%[1]s.event e ON e.geo = q.geo AND e.lang = q.lang AND e.id BETWEEN %[2]d AND %[3]d WHERE %[4]s",
			inner, r.IntN(300), r.IntN(800), cond)
	case 8:
		return fmt.Sprintf("SELECT g.id, r.stars FROM %%[1]s.geo g %[1]s %%[1]s.rating r ON r.geo = g.id AND r.stars IN (1, %[2]d) WHERE %[3]s", inner, r.IntN(6), cond)
	case 2:
		return "SELECT g.id, q.lang, e.id, e.kind FROM %[1]s.geo g " + inner + " %[1]s.poi q ON q.geo = g.id " + inner + " %[1]s.event e ON e.geo = q.geo AND e.lang = q.lang AND e.kind > 3 WHERE " + cond
	case 3:
		return "SELECT g.id, e.id, r.stars FROM %[1]s.geo g JOIN %[1]s.poi q ON q.geo = g.id JOIN %[1]s.event e ON e.geo = g.id AND e.lang = q.lang JOIN %[1]s.rating r ON r.geo = g.id WHERE " + cond
	case 4:
		return fmt.Sprintf("SELECT g.id FROM %%[1]s.geo g WHERE %s ORDER BY distance(g.lat, g.lon, %v, %v), g.id LIMIT %d OFFSET %d", cond, lat, lon, r.IntN(12), r.IntN(3))
	case 5:
		return fmt.Sprintf("SELECT g.id FROM %%[1]s.geo g ORDER BY distance(%v, %v, g.lat, g.lon), g.id LIMIT %d", lat, lon, r.IntN(70))
	}
	return "SELECT e.id, e.geo, q.name FROM %[1]s.event e " + inner + " %[1]s.poi q ON q.geo = e.geo AND q.lang = e.lang WHERE e.kind %% 3 = 1 AND e.kind > 2"
}

func (x *regionTwins) ask(query, schema string) []string {
	x.t.Helper()
	q := fmt.Sprintf(query, schema)
	rows, _ := x.c.Query(context.Background(), q)
	out, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (string, error) {
		v, err := r.Values()
		return fmt.Sprint(v...), err
	})
	if err != nil {
		x.t.Fatalf("%s: %v", q, err)
	}
	slices.Sort(out)
	return out
}

// Clustered and plain tables give the same answers, whatever was done to them.
func TestRegionsLikePlainTables(t *testing.T) {
	for seed := range uint64(4) {
		srv := startServer(t, storage.Options{NoSync: true})
		c, err := pgx.Connect(context.Background(), srv.dsn())
		if err != nil {
			t.Fatal(err)
		}
		x := &regionTwins{t: t, c: c, r: rand.New(rand.NewPCG(seed, 1))}
		if _, err := c.PgConn().Exec(context.Background(), regionTables).ReadAll(); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			for range 3 {
				sql := x.statement()
				var tags [2]string
				for i, schema := range []string{"c", "p"} {
					tag, err := c.Exec(context.Background(), fmt.Sprintf(sql, schema))
					tags[i] = fmt.Sprint(tag, err)
				}
				if tags[0] != tags[1] {
					t.Fatalf("%s:\n%s\n%s", sql, tags[0], tags[1])
				}
				if strings.HasPrefix(sql, "ALTER") { // prepared queries may have other types now
					if err := c.DeallocateAll(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 4 {
				q := x.query()
				if got, want := x.ask(q, "c"), x.ask(q, "p"); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %s:\ngot  %q\nwant %q", seed, q, got, want)
				}
			}
		}
		c.Close(context.Background())
	}
}

// Rows are moved while others insert below them: nothing is lost or left behind
// (the server's check at the end finds orphans).
func TestRegionsMoveWhileInserting(t *testing.T) {
	srv := startServer(t, storage.Options{NoSync: true})
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	connect := func() *pgx.Conn { return srv.pgx(ctx, t) }
	c := connect()
	if _, err := c.PgConn().Exec(ctx, regionTables+"INSERT INTO c.geo SELECT i, i, i FROM generate_series(1, 5) i").ReadAll(); err != nil {
		t.Fatal(err)
	}
	const each = 40
	var wg sync.WaitGroup
	for n := range 3 {
		conn := connect()
		wg.Go(func() {
			for i := range each {
				_, err := conn.Exec(ctx, "INSERT INTO c.poi VALUES ($1, $2, 'x')", i%5+1, fmt.Sprintf("%d-%d", n, i))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	mover := connect()
	wg.Go(func() {
		for i := range each {
			if _, err := mover.Exec(ctx, "UPDATE c.geo SET lat = $1, lon = $2 WHERE id = $3", float64(i), float64(-i), i%5+1); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	var all, joined int
	if err := c.QueryRow(ctx, "SELECT (SELECT count(*) FROM c.poi), (SELECT count(*) FROM c.geo g JOIN c.poi q ON q.geo = g.id)").Scan(&all, &joined); err != nil {
		t.Fatal(err)
	}
	if all != 3*each || joined != all {
		t.Errorf("%d rows, %d with their parents, want %d", all, joined, 3*each)
	}
}

// Rows with many others below them, of tables that are asked for and of others: what
// is not wanted is jumped over, and nothing else.
func TestRegionsManyBelow(t *testing.T) {
	srv := startServer(t, storage.Options{NoSync: true})
	ctx := context.Background()
	c, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	x := &regionTwins{t: t, c: c, r: rand.New(rand.NewPCG(5, 1))}
	const fill = `
INSERT INTO %[1]s.geo SELECT i, 10 + i * 0.01, 20 + i %% 7 * 0.01 FROM generate_series(1, 40) i;
INSERT INTO %[1]s.poi SELECT i, chr(97 + j), 'n' || j FROM generate_series(1, 40) i, generate_series(0, 2) j;
INSERT INTO %[1]s.event SELECT i * 1000 + j, i, chr(97 + j %% 2), j FROM generate_series(1, 40) i, generate_series(1, 400 + i * 5) j WHERE i %% 3 > 0;
INSERT INTO %[1]s.rating SELECT i, j FROM generate_series(1, 40) i, generate_series(1, 300) j WHERE i %% 4 > 0;`
	for _, sql := range []string{regionTables, fmt.Sprintf(fill, "c"), fmt.Sprintf(fill, "p")} {
		if _, err := c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	for range 150 {
		lo := x.r.IntN(40)*1000 + x.r.IntN(500)
		stars := x.r.IntN(310)
		where := [...]string{"true", fmt.Sprintf("distance(g.lat, g.lon, %v, 20.03) < %d", 10+x.r.Float64()/2, x.r.IntN(20000)),
			fmt.Sprintf("g.lat > %v AND g.lat < 10.2 AND g.lon BETWEEN 20.01 AND 20.04", 10+x.r.Float64()/5)}[x.r.IntN(3)]
		inner := [...]string{"JOIN", "LEFT JOIN"}[x.r.IntN(2)]
		for _, q := range []string{
			fmt.Sprintf("SELECT g.id, q.lang, e.id FROM %%[1]s.geo g JOIN %%[1]s.poi q ON q.geo = g.id %s %%[1]s.event e ON e.geo = q.geo AND e.lang = q.lang AND e.id BETWEEN %d AND %d WHERE %s", inner, lo, lo+x.r.IntN(3000), where),
			fmt.Sprintf("SELECT g.id, r.stars FROM %%[1]s.geo g %s %%[1]s.rating r ON r.geo = g.id AND r.stars >= %d AND r.stars < %d WHERE %s", inner, stars, stars+x.r.IntN(20), where),
			fmt.Sprintf("SELECT q.geo, q.lang, e.id FROM %%[1]s.poi q %s %%[1]s.event e ON e.geo = q.geo AND e.lang = q.lang AND e.id IN (%d, %d, 2005) WHERE q.lang > 'a'", inner, lo, lo+1001),
		} {
			if got, want := x.ask(q, "c"), x.ask(q, "p"); !slices.Equal(got, want) {
				t.Fatalf("%s:\ngot  %q\nwant %q", q, got, want)
			}
		}
	}
}

// A cluster survives a restart of the server, and the way through the XML.
func TestRegionsPersist(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "x.sql")
	run := func(args ...string) string {
		t.Helper()
		cmd := newRootCmd()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs(args)
		if err := cmd.Execute(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, &out)
		}
		return out.String()
	}
	load := func(data, sql string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(sql), 0o600); err != nil {
			t.Fatal(err)
		}
		run("load", "--data", data, script)
	}
	a, b, xml := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c.xml")
	const rows = "INSERT INTO c.geo VALUES (1, 46.77, 23.59, 'x'), (2, NULL, NULL, 'y'); INSERT INTO c.poi VALUES (1, 'a', 'Opera'), (2, 'a', 'Nowhere');"
	load(a, regionTables+rows)
	load(a, "INSERT INTO c.poi VALUES (1, 'b', 'Opera maghiara'); UPDATE c.geo SET lat = -46 WHERE id = 1;")
	for _, want := range []string{"geo", "poi", "poi_pkey"} {
		if out := run("inspect", "--data", a, "c."+want); !strings.Contains(out, "/8-29.") || !strings.Contains(out, "/no position") {
			t.Errorf("inspect %s:\n%s", want, out)
		}
	}
	run("check", "--data", a)
	run("catalog", "export", "--data", a, xml)
	run("catalog", "import", "--data", b, xml)
	load(b, rows)
	run("check", "--data", b)
	if x, y := run("inspect", "--data", a, "c.poi"), run("inspect", "--data", b, "c.poi"); !strings.Contains(x, "maghiara") || !strings.Contains(y, "Nowhere") {
		t.Errorf("%s\n%s", x, y)
	}
}
