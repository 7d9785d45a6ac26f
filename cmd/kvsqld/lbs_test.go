package main

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"kvsqld/storage"
)

const lbsDir = "../../testdata/samples/lbs"

// readCities reads every step-th city, and all that lie in the query's box.
func readCities(t *testing.T, step int) (cities []lbsPlace, csvText string) {
	t.Helper()
	var out strings.Builder
	w := csv.NewWriter(&out)
	eachCity(t, func(line int, rec []string) {
		if line == 0 {
			w.Write(rec)
			return
		}
		c := placeOf(rec)
		if line%step == 0 || c.inBox() {
			cities = append(cities, c)
			w.Write(rec)
		}
	})
	w.Flush()
	return cities, out.String()
}

// eachCity reads the file of real places; line 0 is the header.
func eachCity(t *testing.T, f func(line int, rec []string)) {
	t.Helper()
	file, err := os.Open(filepath.Join(lbsDir, "cities.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	for line := 0; ; line++ {
		rec, err := r.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		f(line, rec)
	}
}

func placeOf(rec []string) lbsPlace {
	c := lbsPlace{name: rec[1]}
	c.id, _ = strconv.Atoi(rec[0])
	c.lat, _ = strconv.ParseFloat(rec[7], 64)
	c.lon, _ = strconv.ParseFloat(rec[8], 64)
	return c
}

func (c *lbsPlace) inBox() bool {
	return c.lat >= 46.6 && c.lat <= 46.9 && c.lon >= 23.4 && c.lon <= 23.8
}

// lbsAnswer computes the answer of query.sql from the source rows, by the rule
// of derive.sql but without a database.
func lbsAnswer(cities []lbsPlace) []string {
	categories := []string{"concert", "cinema", "theatre", "sport", "fair"}
	monday := time.Date(2026, 11, 2, 18, 0, 0, 0, time.UTC)
	from := time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)
	type show struct {
		start time.Time
		name  string
		text  string
	}
	var shows []show
	for _, c := range cities {
		if !c.inBox() {
			continue
		}
		name := c.name
		if utf8.RuneCountInString(name) > 100 {
			name = string([]rune(name)[:100])
		}
		for k := range 3 {
			event := 1 + (c.id*7+k*131)%500
			start := monday.AddDate(0, 0, (c.id*3+k*19)%56).Add(time.Duration(2*k) * time.Hour)
			if start.Before(from) || !start.Before(from.AddDate(0, 0, 7)) {
				continue
			}
			shows = append(shows, show{start, name,
				fmt.Sprintf("%s|Event %d|%s|%s", name, event, categories[event%5], start.Format(time.DateTime))})
		}
	}
	slices.SortFunc(shows, func(a, b show) int {
		if c := a.start.Compare(b.start); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, s := range shows {
		out = append(out, s.text)
	}
	return out
}

// TestSample loads the location-based services sample, a tenth of it, and asks
// its query.
func TestSample(t *testing.T) {
	cities, text := readCities(t, 10)
	want := lbsAnswer(cities)
	if len(want) < 5 {
		t.Fatalf("the sample's answer has only %d rows", len(want))
	}
	srv := startServer(t, storage.Options{NoSync: true})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, srv.dsn())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	script := func(name string) string { return string(readFile(t, filepath.Join(lbsDir, name))) }
	run := func(sql string) {
		t.Helper()
		if _, err := c.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	run(script("schema.sql"))
	tag, err := c.PgConn().CopyFrom(ctx, strings.NewReader(text), "COPY city FROM STDIN (FORMAT csv, HEADER)")
	if err != nil || int(tag.RowsAffected()) != len(cities) {
		t.Fatalf("copy: %v, %v", tag, err)
	}
	run(script("derive.sql"))
	check := func(mode pgx.QueryExecMode) {
		t.Helper()
		rows, _ := c.Query(ctx, script("query.sql"), mode)
		got, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (string, error) {
			var name, event, category string
			var start time.Time
			err := r.Scan(&name, &event, &category, &start)
			return fmt.Sprintf("%s|%s|%s|%s", name, event, category, start.Format(time.DateTime)), err
		})
		if err != nil {
			t.Fatal(err)
		}
		// Shows of two places with one name at one time have no order.
		slices.Sort(got)
		expected := slices.Sorted(slices.Values(want))
		if !slices.Equal(got, expected) {
			t.Errorf("got %d rows, want %d\ngot:  %q\nwant: %q", len(got), len(want), got, expected)
		}
	}
	check(pgx.QueryExecModeSimpleProtocol)
	check(pgx.QueryExecModeExec)
	var shows, orphans int
	err = c.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE g.poi_id IS NULL OR e.event_id IS NULL)
		FROM showtime s LEFT JOIN geo g ON g.poi_id = s.poi_id LEFT JOIN event e ON e.event_id = s.event_id`).Scan(&shows, &orphans)
	if err != nil || shows != 3*len(cities) || orphans != 0 {
		t.Errorf("%d shows, %d orphans, %v; want %d and none", shows, orphans, err, 3*len(cities))
	}
}
