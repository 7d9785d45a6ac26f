package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

// The benchmark of the location-based services: events with show times of one week
// at points of interest near a user, on real positions. It runs small as a test,
// and large by testdata/bench/lbs.sh, which tells it by the environment:
//
//	LBS_KVSQLD, LBS_PG   where the servers are; without LBS_KVSQLD one is started,
//	                     without LBS_PG PostgreSQL is not measured
//	LBS_SIZES            parts of the data, ascending, as in "0.1 0.3 1"
//	LBS_USERS            users asked for per radius
//
// A part of the data is a slice of the Earth by longitude, and the users come from
// the smallest slice: so they get the same answers from every part.

// lbsPlace is a position with what is derived from it.
type lbsPlace struct {
	id       int
	name     string
	lat, lon float64
}

type lbsBench struct {
	t      *testing.T
	ctx    context.Context
	places []lbsPlace // in the order in which they are loaded
	users  []lbsPlace
	week   [2]time.Time
}

const (
	lbsLanguages = 5
	lbsEvents    = 400000.0 / 135233
	lbsShows     = 10 // per event
)

// lbsSystem is one way to keep and ask for the data.
type lbsSystem struct {
	name   string
	dsn    string
	schema string
	tables string
	after  string
	query  string
	boxed  bool // the query has the box as parameters
	kv     bool // EXPLAIN counts keys
}

const lbsPlain = `
CREATE TABLE geo (poi_id int PRIMARY KEY, latitude float8 NOT NULL, longitude float8 NOT NULL);
CREATE TABLE poi (poi_id int, language int, poi_name text NOT NULL, categories text, city text, PRIMARY KEY (poi_id, language));
CREATE TABLE event (event_id int PRIMARY KEY, poi_id int NOT NULL, language int NOT NULL, event_name text NOT NULL, category text NOT NULL);
CREATE TABLE showtime (event_id int, start_time timestamp, end_time timestamp NOT NULL, PRIMARY KEY (event_id, start_time));
`

const lbsClustered = `
CREATE TABLE geo (poi_id int PRIMARY KEY, latitude float8 NOT NULL, longitude float8 NOT NULL)
  WITH (regions = 'latitude, longitude', region_size = '0.5 x 0.5');
CREATE TABLE poi (poi_id int REFERENCES geo, language int, poi_name text NOT NULL, categories text, city text, PRIMARY KEY (poi_id, language))
  WITH (cluster_with = 'geo');
CREATE TABLE event (event_id int PRIMARY KEY, poi_id int NOT NULL, language int NOT NULL, event_name text NOT NULL, category text NOT NULL,
  FOREIGN KEY (poi_id, language) REFERENCES poi) WITH (cluster_with = 'poi');
CREATE TABLE showtime (event_id int REFERENCES event, start_time timestamp, end_time timestamp NOT NULL, PRIMARY KEY (event_id, start_time))
  WITH (cluster_with = 'event');
`

const lbsSelect = `SELECT g.poi_id, p.poi_name, e.event_name, e.category, s.start_time
FROM geo g JOIN poi p ON p.poi_id = g.poi_id
JOIN event e ON e.poi_id = p.poi_id AND e.language = p.language
JOIN showtime s ON s.event_id = e.event_id
WHERE s.start_time >= $4 AND s.start_time < $5 AND `

// The formula is that of kvsqld's distance().
const lbsDistance = `CREATE FUNCTION distance(lat1 float8, lon1 float8, lat2 float8, lon2 float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
SELECT 2 * 6371008.8 * asin(least(1, sqrt(sin(radians(lat2 - lat1) / 2) * sin(radians(lat2 - lat1) / 2)
  + cos(radians(lat1)) * cos(radians(lat2)) * sin(radians(lon2 - lon1) / 2) * sin(radians(lon2 - lon1) / 2)))) $$;`

const (
	lbsNear = `distance(g.latitude, g.longitude, $1, $2) <= $3`
	lbsBox  = lbsNear + ` AND g.latitude BETWEEN $6 AND $7 AND g.longitude BETWEEN $8 AND $9`
)

func lbsSystems(kvsqld, pg string) []lbsSystem {
	btree := `CREATE INDEX geo_position ON geo (latitude, longitude); CREATE INDEX event_poi ON event (poi_id, language); ANALYZE`
	out := []lbsSystem{
		{name: "kvsqld btree", dsn: kvsqld, schema: "btree", tables: lbsPlain, after: btree, query: lbsSelect + lbsBox, boxed: true, kv: true},
		{name: "kvsqld inverted", dsn: kvsqld, schema: "inverted", tables: lbsPlain, after: strings.ReplaceAll(strings.ReplaceAll(btree, "ON geo", "ON geo USING inverted"), "ON event", "ON event USING inverted"),
			query: lbsSelect + lbsBox, boxed: true, kv: true},
		{name: "kvsqld clustered", dsn: kvsqld, schema: "clustered", tables: lbsClustered, after: "ANALYZE", query: lbsSelect + lbsNear, kv: true},
	}
	if pg != "" {
		out = append(out,
			lbsSystem{name: "PostgreSQL btree", dsn: pg, schema: "btree", tables: lbsDistance + lbsPlain, after: btree + "; VACUUM", query: lbsSelect + lbsBox, boxed: true},
			lbsSystem{name: "PostGIS", dsn: pg, schema: "gis", tables: `CREATE EXTENSION IF NOT EXISTS postgis SCHEMA public;` + lbsPlain,
				after: `ALTER TABLE geo ADD COLUMN position geography; UPDATE geo SET position = ST_MakePoint(longitude, latitude)::geography;
CREATE INDEX geo_position ON geo USING gist (position); CREATE INDEX event_poi ON event (poi_id, language); ANALYZE; VACUUM`,
				query: lbsSelect + `ST_DWithin(g.position, ST_MakePoint($2, $1)::geography, $3, false)`})
	}
	return out
}

// readPlaces reads the positions in the order of a coarse grid, so that places near
// each other are loaded together.
func (b *lbsBench) readPlaces() []lbsPlace {
	f, err := os.Open(filepath.Join(lbsDir, "cities.csv.gz"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.t.Fatal(err)
	}
	r := csv.NewReader(z)
	var out []lbsPlace
	for line := 0; ; line++ {
		rec, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			b.t.Fatal(err)
		}
		if line == 0 {
			continue
		}
		p := lbsPlace{name: rec[1]}
		p.id, _ = strconv.Atoi(rec[0])
		p.lat, _ = strconv.ParseFloat(rec[7], 64)
		p.lon, _ = strconv.ParseFloat(rec[8], 64)
		out = append(out, p)
	}
	cell := func(p lbsPlace) int { return int((p.lat+90)*2)*720 + int((p.lon+180)*2) }
	slices.SortStableFunc(out, func(p, q lbsPlace) int { return cmp.Compare(cell(p), cell(q)) })
	return out
}

// slice keeps the places of a part of the Earth, centred on the median longitude.
func (b *lbsBench) slice(part float64) []lbsPlace {
	lons := make([]float64, len(b.places))
	for i, p := range b.places {
		lons[i] = p.lon
	}
	slices.Sort(lons)
	n := len(lons)
	lo, hi := lons[int(float64(n)*(1-part)/2)], lons[min(n-1, int(float64(n)*(1+part)/2))]
	if part >= 1 {
		lo, hi = -180, 180
	}
	return slices.DeleteFunc(slices.Clone(b.places), func(p lbsPlace) bool { return p.lon < lo || p.lon > hi })
}

// load makes the tables of a system and fills them.
func (b *lbsBench) load(s *lbsSystem, c *pgx.Conn, places []lbsPlace) error {
	setup := fmt.Sprintf("DROP SCHEMA IF EXISTS %[1]s CASCADE; CREATE SCHEMA %[1]s; SET search_path = %[1]s, public", s.schema)
	for _, sql := range []string{setup, s.tables} {
		if _, err := c.PgConn().Exec(b.ctx, sql).ReadAll(); err != nil {
			return err
		}
	}
	categories := []string{"concert", "cinema", "theatre", "sport", "fair"}
	monday := time.Date(2026, 11, 2, 18, 0, 0, 0, time.UTC)
	// Events are numbered by their place and not by their turn, so that a part of the
	// data has the same ones as the whole.
	events := func(p lbsPlace) int {
		h := fnv.New32a()
		fmt.Fprint(h, p.id)
		return int(lbsEvents + float64(h.Sum32()%1000)/1000)
	}
	event := func(p lbsPlace, i int) int { return p.id*4 + i }
	rows := func(table string, emit func(row []any) bool) {
		for _, p := range places {
			switch table {
			case "geo":
				emit([]any{p.id, p.lat, p.lon})
			case "poi":
				for l := range lbsLanguages {
					emit([]any{p.id, l + 1, fmt.Sprintf("%s (%d)", p.name, l+1), categories[p.id%5], p.name})
				}
			case "event":
				for i := range events(p) {
					emit([]any{event(p, i), p.id, 1 + (p.id+i)%lbsLanguages, fmt.Sprintf("Event %d", (p.id*7+i*131)%5000), categories[(p.id+i)%5]})
				}
			case "showtime":
				for i := range events(p) {
					for k := range lbsShows {
						start := monday.Add(time.Duration((p.id*3+i*19+k*11)%56*24+k*2) * time.Hour / 2 * 2)
						emit([]any{event(p, i), start, start.Add(2 * time.Hour)})
					}
				}
			}
		}
	}
	for _, table := range []struct {
		name string
		cols []string
	}{
		{"geo", []string{"poi_id", "latitude", "longitude"}},
		{"poi", []string{"poi_id", "language", "poi_name", "categories", "city"}},
		{"event", []string{"event_id", "poi_id", "language", "event_name", "category"}},
		{"showtime", []string{"event_id", "start_time", "end_time"}},
	} {
		const bulk = 200000 // rows a transaction
		var pending [][]any
		var failed error
		flush := func() {
			if failed == nil && len(pending) > 0 {
				_, failed = c.CopyFrom(b.ctx, pgx.Identifier{table.name}, table.cols, pgx.CopyFromRows(pending))
			}
			pending = pending[:0]
		}
		rows(table.name, func(row []any) bool {
			if pending = append(pending, row); len(pending) == bulk {
				flush()
			}
			return true
		})
		flush()
		if failed != nil {
			return fmt.Errorf("%s: %w", table.name, failed)
		}
	}
	for _, sql := range strings.Split(s.after, ";") {
		if _, err := c.PgConn().Exec(b.ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(sql), err)
		}
	}
	return nil
}

// args are the parameters of a system's query.
func (b *lbsBench) args(s *lbsSystem, u lbsPlace, metres float64) []any {
	out := []any{u.lat, u.lon, metres, b.week[0], b.week[1]}
	if !s.boxed {
		return out
	}
	// The box is a little larger than the circle; at the date line and near the poles
	// it has all longitudes.
	dlat := metres/6371008.8*180/math.Pi + 1e-6
	dlon := 360.0
	if x := math.Sin(metres/6371008.8) / math.Cos(u.lat*math.Pi/180); x < 1 {
		dlon = math.Asin(x)*180/math.Pi + 1e-6
	}
	west, east := u.lon-dlon, u.lon+dlon
	if west < -180 || east > 180 {
		west, east = -180, 180
	}
	return append(out, u.lat-dlat, u.lat+dlat, west, east)
}

func (b *lbsBench) connect(s *lbsSystem) (*pgx.Conn, error) {
	c, err := pgx.Connect(b.ctx, s.dsn)
	if err != nil {
		return nil, err
	}
	_, err = c.Exec(b.ctx, "SET search_path = "+s.schema+", public")
	return c, err
}

// ask runs the query and returns the number of rows.
func (b *lbsBench) ask(c *pgx.Conn, s *lbsSystem, u lbsPlace, metres float64) (int, error) {
	rows, err := c.Query(b.ctx, s.query, b.args(s, u, metres)...)
	if err != nil {
		return 0, err
	}
	n := 0
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// answer returns the sorted rows of the query.
func (b *lbsBench) answer(c *pgx.Conn, s *lbsSystem, u lbsPlace, metres float64) ([]string, error) {
	rows, err := c.Query(b.ctx, s.query, b.args(s, u, metres)...)
	if err != nil {
		return nil, err
	}
	out, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (string, error) {
		v, err := r.Values()
		return fmt.Sprint(v...), err
	})
	slices.Sort(out)
	return out, err
}

var kvLine = regexp.MustCompile(`KV \S+ gets=(\d+) scans=(\d+) keys=(\d+) read=(\d+)`)

// lbsWork is what the average query reads.
type lbsWork struct{ gets, scans, keys, bytes, rows float64 }

func (b *lbsBench) work(c *pgx.Conn, s *lbsSystem, metres float64) (lbsWork, error) {
	var w lbsWork
	users := b.users[:min(len(b.users), 100)]
	for _, u := range users {
		rows, err := c.Query(b.ctx, "EXPLAIN (ANALYZE, KV, TIMING OFF) "+inlined(s.query, b.args(s, u, metres)), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return w, err
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return w, err
		}
		for _, l := range lines {
			if m := kvLine.FindStringSubmatch(l); m != nil {
				for i, to := range []*float64{&w.gets, &w.scans, &w.keys, &w.bytes} {
					v, _ := strconv.ParseFloat(m[i+1], 64)
					*to += v
				}
			}
		}
		n, err := b.ask(c, s, u, metres)
		if err != nil {
			return w, err
		}
		w.rows += float64(n)
	}
	for _, to := range []*float64{&w.gets, &w.scans, &w.keys, &w.bytes, &w.rows} {
		*to /= float64(len(users))
	}
	return w, nil
}

// inlined puts literals in the place of parameters: EXPLAIN takes none.
func inlined(query string, args []any) string {
	for i := len(args) - 1; i >= 0; i-- {
		text := fmt.Sprintf("'%v'::float8", args[i])
		if at, ok := args[i].(time.Time); ok {
			text = at.Format("timestamp '2006-01-02'")
		}
		query = strings.ReplaceAll(query, "$"+strconv.Itoa(i+1), text)
	}
	return query
}

// run asks for all users with some clients; the times of single queries come back
// sorted.
func (b *lbsBench) run(s *lbsSystem, users []lbsPlace, metres float64, clients int) (qps float64, times []time.Duration) {
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	conns := make([]*pgx.Conn, clients)
	for i := range conns {
		c, err := b.connect(s)
		if err != nil {
			b.t.Fatal(err)
		}
		defer c.Close(b.ctx)
		for _, u := range users[:min(len(users), 50)] {
			b.ask(c, s, u, metres)
		}
		conns[i] = c
	}
	start := time.Now()
	for _, c := range conns {
		wg.Go(func() {
			var own []time.Duration
			for {
				i := int(next.Add(1)) - 1
				if i >= len(users) {
					break
				}
				at := time.Now()
				if _, err := b.ask(c, s, users[i], metres); err != nil {
					b.t.Error(err)
					return
				}
				own = append(own, time.Since(at))
			}
			mu.Lock()
			times = append(times, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	qps = float64(len(users)) / time.Since(start).Seconds()
	slices.Sort(times)
	return qps, times
}

func TestLBSBench(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Hour)
	defer cancel()
	b := &lbsBench{t: t, ctx: ctx, week: [2]time.Time{time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)}}
	b.places = b.readPlaces()
	sizes, asked, large := []float64{0.002}, 50, false
	kvsqld, pg := os.Getenv("LBS_KVSQLD"), os.Getenv("LBS_PG")
	if kvsqld == "" {
		kvsqld = startServer(t, storage.Options{NoSync: true}).dsn()
	} else {
		large, sizes, asked = true, nil, 10000
		for _, f := range strings.Fields(cmp.Or(os.Getenv("LBS_SIZES"), "1")) {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, v)
		}
		if v, err := strconv.Atoi(os.Getenv("LBS_USERS")); err == nil {
			asked = v
		}
	}
	systems := lbsSystems(kvsqld, pg)
	home := b.slice(sizes[0])
	r := rand.New(rand.NewPCG(1, 2))
	for range asked {
		p := home[r.IntN(len(home))]
		// somewhere in the place, not at its centre
		p.lat = max(-90, min(90, p.lat+(r.Float64()-0.5)/50))
		p.lon = max(-180, min(180, p.lon+(r.Float64()-0.5)/50))
		b.users = append(b.users, p)
	}
	for _, size := range sizes {
		b.measure(systems, size, large)
	}
}

// measure loads a part of the data into all systems, compares their answers and
// measures them.
func (b *lbsBench) measure(systems []lbsSystem, size float64, large bool) {
	places := b.slice(size)
	b.t.Logf("%d places, part %g", len(places), size)
	var live []*lbsSystem
	conns := map[*lbsSystem]*pgx.Conn{}
	for i := range systems {
		s := &systems[i]
		c, err := b.connect(s)
		if err != nil {
			b.t.Fatal(err)
		}
		defer c.Close(b.ctx)
		start := time.Now()
		if err := b.load(s, c, places); err != nil {
			if strings.Contains(err.Error(), "SQLSTATE 0A000") || strings.Contains(err.Error(), "postgis") {
				b.t.Logf("%-18s not measured: %v", s.name, err)
				continue
			}
			b.t.Fatalf("%s: %v", s.name, err)
		}
		b.t.Logf("%-18s loaded in %.1f s", s.name, time.Since(start).Seconds())
		live, conns[s] = append(live, s), c
	}
	for _, metres := range []float64{2000, 10000, 50000} {
		for _, u := range b.users[:min(len(b.users), 100)] {
			var want []string
			for i, s := range live {
				got, err := b.answer(conns[s], s, u, metres)
				if err != nil {
					b.t.Fatalf("%s: %v", s.name, err)
				}
				if i == 0 {
					want = got
				} else if !slices.Equal(got, want) {
					b.t.Errorf("%s: %d rows for %v within %v m, %s has %d", s.name, len(got), u, metres, live[0].name, len(want))
				}
			}
		}
		users := b.users
		if metres > 10000 {
			users = users[:(len(users)+4)/5]
		}
		for _, s := range live {
			line := fmt.Sprintf("%5.0f km  %-18s", metres/1000, s.name)
			if large {
				one, times := b.run(s, users, metres, 1)
				four, _ := b.run(s, users, metres, 4)
				at := func(p float64) float64 { return float64(times[int(p*float64(len(times)-1))].Microseconds()) / 1000 }
				line += fmt.Sprintf(" p50 %7.3f ms  p99 %8.3f ms  1 client %7.0f/s  4 clients %7.0f/s", at(0.5), at(0.99), one, four)
			}
			if s.kv {
				w, err := b.work(conns[s], s, metres)
				if err != nil {
					b.t.Fatalf("%s: %v", s.name, err)
				}
				line += fmt.Sprintf("  gets %.1f scans %.1f keys %.0f kB %.1f for %.1f rows", w.gets, w.scans, w.keys, w.bytes/1024, w.rows)
			}
			b.t.Log(line)
		}
	}
}
