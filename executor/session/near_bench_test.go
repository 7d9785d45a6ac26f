package session

import (
	"context"
	"encoding/binary"
	"math"
	"syscall"
	"testing"
	"time"

	"kvsqld/catalog/types"
	"kvsqld/storage"
	"kvsqld/wire"
)

// BenchmarkNear is Bind, Execute and Sync of the query of location-based services:
// show times of one week within two kilometres, over tables that are stored with
// each other, and over tables with indexes on the position. The places are as
// crowded as in Europe.
func BenchmarkNear(b *testing.B) {
	plain := func(method string) []string {
		return []string{
			`CREATE TABLE geo (poi_id int PRIMARY KEY, latitude float8 NOT NULL, longitude float8 NOT NULL)`,
			`CREATE TABLE poi (poi_id int, language int, poi_name text NOT NULL, PRIMARY KEY (poi_id, language))`,
			`CREATE TABLE event (event_id int PRIMARY KEY, poi_id int NOT NULL, language int NOT NULL, event_name text NOT NULL, category text NOT NULL)`,
			`CREATE TABLE showtime (event_id int, start_time timestamp, end_time timestamp NOT NULL, PRIMARY KEY (event_id, start_time))`,
			`CREATE INDEX ON geo ` + method + ` (latitude, longitude)`,
			`CREATE INDEX ON event ` + method + ` (poi_id, language)`,
		}
	}
	b.Run("clustered", func(b *testing.B) { benchNear(b, false, nearClustered...) })
	b.Run("btree", func(b *testing.B) { benchNear(b, true, plain("USING btree")...) })
	b.Run("inverted", func(b *testing.B) { benchNear(b, true, plain("USING inverted")...) })
}

// BenchmarkNearest is the ten nearest places, or show times of one week, of tables that
// are stored with each other: of all, and of those within 200 kilometres.
func BenchmarkNearest(b *testing.B) {
	const shows = `SELECT g.poi_id, e.event_name, s.start_time FROM geo g JOIN poi p ON p.poi_id = g.poi_id
JOIN event e ON e.poi_id = p.poi_id AND e.language = p.language JOIN showtime s ON s.event_id = e.event_id
WHERE s.start_time >= '2026-11-16' AND s.start_time < '2026-11-23'`
	const distance = ` distance(g.latitude, g.longitude, $1, $2)`
	for _, q := range []struct{ name, sql string }{
		{"places", `SELECT g.poi_id FROM geo g`},
		{"places within", `SELECT g.poi_id FROM geo g WHERE` + distance + ` <= 200000`},
		{"shows", shows},
		{"shows within", shows + ` AND` + distance + ` <= 200000`},
	} {
		b.Run(q.name, func(b *testing.B) {
			c := nearServer(b, nearClustered)
			var binds []*wire.Bind
			for i := range 1000 {
				lat, lon := nearUser(i)
				binds = append(binds, &wire.Bind{Statement: "p", ParamFormats: []int16{1}, ResultFormats: []int16{1},
					Params: [][]byte{float8Param(lat), float8Param(lon)}})
			}
			benchBinds(b, c, q.sql+` ORDER BY`+distance+` LIMIT 10`, binds)
		})
	}
}

var nearClustered = []string{
	`CREATE TABLE geo (poi_id int PRIMARY KEY, latitude float8 NOT NULL, longitude float8 NOT NULL)
  WITH (regions = 'latitude, longitude', region_size = '0.5 x 0.5')`,
	`CREATE TABLE poi (poi_id int REFERENCES geo, language int, poi_name text NOT NULL, PRIMARY KEY (poi_id, language))
  WITH (cluster_with = 'geo')`,
	`CREATE TABLE event (event_id int PRIMARY KEY, poi_id int NOT NULL, language int NOT NULL, event_name text NOT NULL, category text NOT NULL,
  FOREIGN KEY (poi_id, language) REFERENCES poi) WITH (cluster_with = 'poi')`,
	`CREATE TABLE showtime (event_id int REFERENCES event, start_time timestamp, end_time timestamp NOT NULL, PRIMARY KEY (event_id, start_time))
  WITH (cluster_with = 'event')`,
}

// nearServer has the places and what takes place there.
func nearServer(b *testing.B, ddl []string) *client {
	c := newServerOn(b, storage.Options{Dir: b.TempDir(), NoSync: true}).client(b)
	for _, sql := range ddl {
		c.must(sql)
	}
	c.must(`INSERT INTO geo SELECT i, 46 + i % 100 * 0.03, 20 + i / 100 * 0.0375 FROM generate_series(0, 5999) i`)
	c.must(`INSERT INTO poi SELECT i, l, 'Place ' || i FROM generate_series(0, 5999) i, generate_series(1, 5) l`)
	c.must(`INSERT INTO event SELECT i * 4 + k, i, 1 + (i + k) % 5, 'Event ' || i, 'concert' FROM generate_series(0, 5999) i, generate_series(0, 2) k`)
	c.must(`INSERT INTO showtime SELECT e, t, t + interval '2 h' FROM (SELECT event_id AS e, timestamp '2026-11-02 18:00' + ((event_id * 19 + k * 11) % 56 * 24 + k * 2) * interval '1 h' AS t
  FROM event, generate_series(0, 9) k) x`)
	c.must("ANALYZE")
	c.must("CHECKPOINT")
	return c
}

// nearUser is where a user is.
func nearUser(i int) (lat, lon float64) {
	return 46.2 + float64(i%160)*0.015, 20.1 + float64(i*7%130)*0.015
}

func float8Param(v float64) []byte {
	return binary.BigEndian.AppendUint64(nil, math.Float64bits(v))
}

// benchNear runs the query over tables; boxed has the box around the circle, too.
func benchNear(b *testing.B, boxed bool, ddl ...string) {
	c := nearServer(b, ddl)
	sql := `SELECT g.poi_id, p.poi_name, e.event_name, e.category, s.start_time
FROM geo g JOIN poi p ON p.poi_id = g.poi_id
JOIN event e ON e.poi_id = p.poi_id AND e.language = p.language
JOIN showtime s ON s.event_id = e.event_id
WHERE s.start_time >= $4 AND s.start_time < $5 AND distance(g.latitude, g.longitude, $1, $2) <= $3`
	if boxed {
		sql += ` AND g.latitude BETWEEN $6 AND $7 AND g.longitude BETWEEN $8 AND $9`
	}
	day := func(d int) []byte {
		return binary.BigEndian.AppendUint64(nil, uint64(types.TimestampFromTime(time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC))))
	}
	binds := make([]*wire.Bind, 1000)
	for i := range binds {
		lat, lon := nearUser(i)
		binds[i] = &wire.Bind{Statement: "p", ParamFormats: []int16{1}, ResultFormats: []int16{1},
			Params: [][]byte{float8Param(lat), float8Param(lon), float8Param(2000), day(16), day(23)}}
		if boxed {
			for _, v := range []float64{lat - 0.018, lat + 0.018, lon - 0.027, lon + 0.027} {
				binds[i].Params = append(binds[i].Params, float8Param(v))
			}
		}
	}
	benchBinds(b, c, sql, binds)
}

// benchBinds is Bind, Execute and Sync of a statement with one parameter set after the
// other.
func benchBinds(b *testing.B, c *client, sql string, binds []*wire.Bind) {
	ctx := context.Background()
	if err := c.s.Parse(ctx, "p", sql, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	before := cpuTime(b)
	for i := 0; b.Loop(); i++ {
		if err := c.s.Bind(ctx, binds[i%len(binds)]); err != nil {
			b.Fatal(err)
		}
		if err := c.s.Execute(ctx, "", 0, discarder{}); err != nil {
			b.Fatal(err)
		}
		if err := c.s.Sync(ctx, discarder{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpuTime is the processor time that this process has used: it tells what a
// statement costs while others use the machine, too.
func cpuTime(b *testing.B) time.Duration {
	u := usage(b)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// contextSwitches is how often a thread of this process has stopped by itself.
func contextSwitches(b *testing.B) int64 { return int64(usage(b).Nvcsw) }

func usage(b *testing.B) (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u
}
