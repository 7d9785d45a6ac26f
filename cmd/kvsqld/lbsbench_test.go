package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
//	LBS_SIZES            sizes of the data, ascending, as in "0.1 1 3 10"
//	LBS_USERS            users asked for per radius
//	LBS_KM               radii, "2 10 50"
//	LBS_SECONDS          the longest that one measurement may take
//	LBS_SYSTEMS          measures only the systems whose names have one of these words
//	LBS_KEEP             uses tables of the right size that are there already
//	LBS_KVSQLD_PID, LBS_PG_PID  processes whose processor time is told, with that
//	                     of their children
//
// A size below one is a slice of the Earth by longitude, a greater one has copies of
// the places where there are no real ones, in seas and deserts (lbsdata_test.go). The
// users come from the smallest size: so they get the same answers from every size.

type lbsBench struct {
	t       *testing.T
	ctx     context.Context
	places  []lbsPlace // the real ones, in the order in which they are loaded
	users   []lbsPlace
	week    [2]time.Time
	radii   []float64 // metres
	seconds time.Duration
	pids    map[string]int // by dsn
	keep    bool
	table   strings.Builder // the results
}

// lbsSystem is one way to keep and ask for the data.
type lbsSystem struct {
	name   string
	dsn    string
	path   string // search_path; the first schema is its own
	set    string // settings of the session
	tables string // made in the own schema
	load   bool   // the tables are filled by COPY, else by after
	after  string
	query  string
	boxed  bool // the query has the box as parameters
	kv     bool // EXPLAIN counts keys
}

const (
	lbsPlainGeo   = `CREATE TABLE geo (poi_id int PRIMARY KEY, latitude float8 NOT NULL, longitude float8 NOT NULL);`
	lbsPlainEvent = `CREATE TABLE event (event_id int PRIMARY KEY, poi_id int NOT NULL, language int NOT NULL, event_name text NOT NULL, category text NOT NULL);`

	lbsPlain = lbsPlainGeo + lbsPlainEvent + `
CREATE TABLE poi (poi_id int, language int, poi_name text NOT NULL, categories text, city text, PRIMARY KEY (poi_id, language));
CREATE TABLE showtime (event_id int, start_time timestamp, end_time timestamp NOT NULL, PRIMARY KEY (event_id, start_time));
`
)

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

// lbsSystems are the systems that are compared. Inverted indexes and PostGIS differ
// from btree in few tables; the others they share with it. PostgreSQL keeps one plan
// for all parameters: making a plan for each query costs it more than running it.
// Every file is as full as one can be after loading: PostgreSQL's are by COPY and by
// building the indexes last, kvsqld's by VACUUM FULL.
func lbsSystems(kvsqld, pg string) []lbsSystem {
	indexes := func(method string) string {
		return fmt.Sprintf(`CREATE INDEX geo_position ON geo %[1]s (latitude, longitude); CREATE INDEX event_poi ON event %[1]s (poi_id, language); ANALYZE`, method)
	}
	const full = "; VACUUM FULL"
	out := []lbsSystem{
		{name: "kvsqld btree", dsn: kvsqld, path: "btree", tables: lbsPlain, load: true, after: indexes("") + full, query: lbsSelect + lbsBox, boxed: true, kv: true},
		{name: "kvsqld inverted", dsn: kvsqld, path: "inverted, btree", tables: lbsPlainGeo + lbsPlainEvent,
			after: "INSERT INTO geo SELECT * FROM btree.geo; INSERT INTO event SELECT * FROM btree.event; " + indexes("USING inverted") + full, query: lbsSelect + lbsBox, boxed: true, kv: true},
		{name: "kvsqld clustered", dsn: kvsqld, path: "clustered", tables: lbsClustered, load: true, after: "ANALYZE" + full, query: lbsSelect + lbsNear, kv: true},
	}
	if pg != "" {
		const generic = "; SET plan_cache_mode = force_generic_plan"
		out = append(out,
			lbsSystem{name: "PostgreSQL btree", dsn: pg, path: "btree", set: generic, tables: lbsDistance + lbsPlain, load: true, after: indexes("") + "; VACUUM", query: lbsSelect + lbsBox, boxed: true},
			lbsSystem{name: "PostGIS", dsn: pg, path: "gis, btree, public", set: generic, tables: `CREATE EXTENSION IF NOT EXISTS postgis SCHEMA public;` + lbsPlainGeo,
				after: `ALTER TABLE geo ADD COLUMN position geography NOT NULL;
INSERT INTO geo SELECT poi_id, latitude, longitude, public.ST_MakePoint(longitude, latitude)::public.geography FROM btree.geo;
CREATE INDEX geo_position ON geo USING gist (position); ANALYZE; VACUUM`,
				query: lbsSelect + `ST_DWithin(g.position, ST_MakePoint($2, $1)::geography, $3, false)`})
	}
	return out
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

// schema is where a system's own tables are.
func (s *lbsSystem) schema() string { return strings.Split(s.path, ",")[0] }

func (b *lbsBench) connect(s *lbsSystem) (*pgx.Conn, error) {
	c, err := pgx.Connect(b.ctx, s.dsn)
	if err != nil {
		return nil, err
	}
	_, err = c.PgConn().Exec(b.ctx, "SET search_path = "+s.path+s.set).ReadAll()
	return c, err
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
type lbsWork struct{ gets, scans, keys, bytes float64 }

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
	}
	for _, to := range []*float64{&w.gets, &w.scans, &w.keys, &w.bytes} {
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

func TestLBSBench(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 12*time.Hour)
	defer cancel()
	b := &lbsBench{t: t, ctx: ctx, week: [2]time.Time{time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)},
		radii: []float64{2000, 10000, 50000}, keep: os.Getenv("LBS_KEEP") != ""}
	b.places = readPlaces(t)
	sizes, asked, large := []float64{0.002}, 50, false
	number := func(name, otherwise string) float64 {
		v, err := strconv.ParseFloat(cmp.Or(os.Getenv(name), otherwise), 64)
		if err != nil {
			t.Fatal(name, err)
		}
		return v
	}
	kvsqld, pg := os.Getenv("LBS_KVSQLD"), os.Getenv("LBS_PG")
	if kvsqld == "" {
		kvsqld = startServer(t, storage.Options{NoSync: true}).dsn()
	} else {
		large, sizes, asked = true, nil, int(number("LBS_USERS", "10000"))
		if km := strings.Fields(os.Getenv("LBS_KM")); len(km) > 0 {
			b.radii = nil
			for _, f := range km {
				v, err := strconv.ParseFloat(f, 64)
				if err != nil {
					t.Fatal(err)
				}
				b.radii = append(b.radii, v*1000)
			}
		}
		b.seconds = time.Duration(number("LBS_SECONDS", "20") * float64(time.Second))
		b.pids = map[string]int{kvsqld: int(number("LBS_KVSQLD_PID", "0")), pg: int(number("LBS_PG_PID", "0"))}
		for _, f := range strings.Fields(cmp.Or(os.Getenv("LBS_SIZES"), "1")) {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, v)
		}
	}
	systems := lbsSystems(kvsqld, pg)
	if only := strings.Fields(os.Getenv("LBS_SYSTEMS")); len(only) > 0 {
		systems = slices.DeleteFunc(systems, func(s lbsSystem) bool {
			return !slices.ContainsFunc(only, func(w string) bool { return strings.Contains(s.name, w) })
		})
	}
	home := b.sized(sizes[0])
	if sizes[0] > 1 {
		home = b.places
	}
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
	if large {
		t.Logf("warm, %d users; ratio: how many times as many queries a second kvsqld clustered answers, with %d clients and with as many that send %d queries ahead; cpu: of the server, with %[2]d clients\n%[4]s", asked, lbsClients, lbsAhead, b.table.String())
	}
}

// loaded reports whether a system's tables are there in the right size.
func (b *lbsBench) loaded(s *lbsSystem, c *pgx.Conn, places []lbsPlace) bool {
	var n int
	if err := c.QueryRow(b.ctx, "SELECT count(*) FROM "+s.schema()+".geo").Scan(&n); err != nil || n != len(places) {
		return false
	}
	return c.QueryRow(b.ctx, "SELECT event_id FROM showtime LIMIT 1").Scan(&n) == nil
}

// measure loads a size of the data into all systems, compares their answers and
// measures them.
func (b *lbsBench) measure(systems []lbsSystem, size float64, large bool) {
	places := b.sized(size)
	b.t.Logf("size %g: %d places", size, len(places))
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
		if b.keep && b.loaded(s, c, places) {
			b.t.Logf("%-18s is there", s.name)
		} else if err := b.load(s, c, places); err != nil {
			if strings.Contains(err.Error(), "postgis") {
				b.t.Logf("%-18s not measured: %v", s.name, err)
				continue
			}
			b.t.Fatalf("%s: %v", s.name, err)
		} else {
			b.t.Logf("%-18s loaded in %.1f s", s.name, time.Since(start).Seconds())
		}
		live, conns[s] = append(live, s), c
	}
	for _, metres := range b.radii {
		differ := map[*lbsSystem]int{}
		compared := b.users[:min(len(b.users), 100)]
		for _, u := range compared {
			var want []string
			for i, s := range live {
				got, err := b.answer(conns[s], s, u, metres)
				if err != nil {
					b.t.Fatalf("%s: %v", s.name, err)
				}
				if i == 0 {
					want = got
				} else if !slices.Equal(got, want) {
					differ[s]++
					b.t.Errorf("%s: %d rows for %v within %v m, %s has %d", s.name, len(got), u, metres, live[0].name, len(want))
				}
			}
		}
		if large {
			b.rows(live, conns, size, metres, len(compared), differ)
		}
	}
}
