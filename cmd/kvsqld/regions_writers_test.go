package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kvsqld/storage"
)

// Several writers make, move and remove places at the poles, at the date line and
// close together, with what is stored below them, while the regions divide and the
// grid is changed. Each has rows of its own, so that it knows what is to be there; the
// server's check at the end looks at the files.
func TestRegionsManyWriters(t *testing.T) {
	srv := startServer(t, storage.Options{NoSync: true})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	connect := func() *pgx.Conn { return srv.pgx(ctx, t) }
	// do runs statements in a transaction, again where another one was in the way.
	do := func(c *pgx.Conn, sql ...string) {
		for {
			_, err := c.PgConn().Exec(ctx, strings.Join(sql, ";")).ReadAll()
			if e := (*pgconn.PgError)(nil); errors.As(err, &e) && (e.Code == "40P01" || e.Code == "40001") {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", sql, err)
			}
			return
		}
	}
	c := connect()
	do(c, regionTables)
	const writers, each = 3, 80
	models := make([]map[int]int, writers) // the number of events by place
	var wg sync.WaitGroup
	for w := range writers {
		x := &regionTwins{r: rand.New(rand.NewPCG(uint64(w), 11))}
		conn := connect()
		models[w] = map[int]int{}
		wg.Go(func() { regionWriter(x, models[w], w*1000, each, func(sql ...string) { do(conn, sql...) }) })
	}
	changer := connect()
	wg.Go(func() {
		for i := range 6 {
			do(changer, fmt.Sprintf("ALTER TABLE c.geo SET (region_size = '%d x %d', region_rows = %d)", 3+i, 11-i, 4+i%3))
		}
	})
	wg.Wait()

	var wanted []string
	for _, m := range models {
		for id, n := range m {
			wanted = append(wanted, fmt.Sprintf("%d/%d", id, n))
		}
	}
	slices.Sort(wanted)
	x := &regionTwins{t: t, c: c, r: rand.New(rand.NewPCG(9, 9))}
	for _, q := range []string{
		"SELECT concat(g.id, '/', count(e.id)) FROM %s.geo g LEFT JOIN %[1]s.poi q ON q.geo = g.id LEFT JOIN %[1]s.event e ON e.geo = q.geo AND e.lang = q.lang GROUP BY g.id",
		"SELECT concat(g.id, '/', (SELECT count(*) FROM %s.event e WHERE e.geo = g.id)) FROM %[1]s.geo g",
	} {
		if got := x.ask(q, "c"); !slices.Equal(got, wanted) {
			t.Fatalf("%s:\ngot  %q\nwant %q", q, got, wanted)
		}
	}
	do(c, "INSERT INTO p.geo SELECT * FROM c.geo", "INSERT INTO p.poi SELECT * FROM c.poi", "INSERT INTO p.event SELECT * FROM c.event")
	for range 60 {
		q := fmt.Sprintf("SELECT g.id, e.id FROM %%[1]s.geo g JOIN %%[1]s.poi q ON q.geo = g.id LEFT JOIN %%[1]s.event e ON e.geo = q.geo AND e.lang = q.lang WHERE distance(g.lat, g.lon, %v, %v) < %d",
			x.lat(), x.lon(), 1000<<x.r.IntN(14))
		if got, want := x.ask(q, "c"), x.ask(q, "p"); !slices.Equal(got, want) {
			t.Fatalf("%s:\ngot  %q\nwant %q", q, got, want)
		}
	}
}

// regionWriter changes places with numbers from first on, and what is below them.
func regionWriter(x *regionTwins, model map[int]int, first, steps int, do func(sql ...string)) {
	events := first * 1000
	for range steps {
		id := first + x.r.IntN(40)
		n, has := model[id]
		switch {
		case !has:
			sql := []string{fmt.Sprintf("INSERT INTO c.geo VALUES (%d, %s, %s)", id, x.null(x.lat()), x.null(x.lon())), fmt.Sprintf("INSERT INTO c.poi VALUES (%d, 'a', 'x')", id)}
			for range x.r.IntN(4) {
				events++
				sql = append(sql, fmt.Sprintf("INSERT INTO c.event VALUES (%d, %d, 'a', %d)", events, id, x.r.IntN(6)))
				n++
			}
			do(sql...)
			model[id] = n
		case x.r.IntN(4) == 0:
			do(fmt.Sprintf("DELETE FROM c.geo WHERE id = %d", id))
			delete(model, id)
		case x.r.IntN(3) == 0:
			events++
			do(fmt.Sprintf("INSERT INTO c.event VALUES (%d, %d, 'a', 3)", events, id))
			model[id]++
		default:
			do(fmt.Sprintf("UPDATE c.geo SET lat = %s, lon = %s WHERE id = %d", x.null(x.lat()), x.null(x.lon()), id))
		}
	}
}
