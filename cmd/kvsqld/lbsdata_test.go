package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The data of the benchmark of the location-based services: places, and the rows
// that follow from them.

// lbsPlace is a position with what is derived from it.
type lbsPlace struct {
	id       int
	name     string
	lat, lon float64
}

// lbsCell is the side in degrees of the cells in whose order places are loaded,
// counted in rows and columns from the south pole and the meridian -180.
const (
	lbsCell = 0.5
	lbsRows = 360
	lbsCols = 720
)

func (p *lbsPlace) cell() (row, col int) {
	return min(lbsRows-1, int((p.lat+90)/lbsCell)), min(lbsCols-1, int((p.lon+180)/lbsCell))
}

// sortPlaces brings places into the order of their cells, so that places near each
// other are loaded together.
func sortPlaces(places []lbsPlace) {
	cell := func(p *lbsPlace) int { r, c := p.cell(); return r*lbsCols + c }
	slices.SortStableFunc(places, func(p, q lbsPlace) int { return cmp.Compare(cell(&p), cell(&q)) })
}

// readPlaces reads the real positions.
func readPlaces(t *testing.T) []lbsPlace {
	var out []lbsPlace
	eachCity(t, func(line int, rec []string) {
		if line > 0 {
			out = append(out, placeOf(rec))
		}
	})
	sortPlaces(out)
	return out
}

// sized returns the places of a size: a slice of the Earth by longitude, centred on
// the median one, or all and copies of them.
func (b *lbsBench) sized(size float64) []lbsPlace {
	switch {
	case size == 1:
		return b.places
	case size > 1:
		return b.copied(size)
	}
	lons := make([]float64, len(b.places))
	for i, p := range b.places {
		lons[i] = p.lon
	}
	slices.Sort(lons)
	n := len(lons)
	lo, hi := lons[int(float64(n)*(1-size)/2)], lons[min(n-1, int(float64(n)*(1+size)/2))]
	return slices.DeleteFunc(slices.Clone(b.places), func(p lbsPlace) bool { return p.lon < lo || p.lon > hi })
}

// copied adds copies of the places, cell by cell, in cells that have no real place
// within the largest radius. So the copies are as crowded as the originals, and no
// answer to a user near a real place has one.
func (b *lbsBench) copied(size float64) []lbsPlace {
	var taken [lbsRows][lbsCols]bool
	for i := range b.places {
		p := &b.places[i]
		row, col := p.cell()
		for r := max(0, row-1); r <= min(lbsRows-1, row+1); r++ {
			far := max(math.Abs(float64(r)*lbsCell-90), math.Abs(float64(r+1)*lbsCell-90))
			reach := lbsCols
			if far < 89 {
				reach = int(math.Ceil(1 / math.Cos(far*math.Pi/180)))
			}
			for c := col - reach; c <= col+reach; c++ {
				taken[r][(c+2*lbsCols)%lbsCols] = true
			}
		}
	}
	var free [][2]int
	for r := range taken {
		for c := range taken[r] {
			if !taken[r][c] {
				free = append(free, [2]int{r, c})
			}
		}
	}
	const stride = 7919 // a prime: copies of neighbours are not all neighbours
	out := slices.Clone(b.places)
	want := int(size * float64(len(b.places)))
	for i, turn := 0, 0; len(out) < want; turn++ {
		p := b.places[i%len(b.places)]
		row, col := p.cell()
		to := free[turn*stride%len(free)]
		for ; len(out) < want; i++ {
			p := b.places[i%len(b.places)]
			if r, c := p.cell(); r != row || c != col {
				break
			}
			p.id += (1 + i/len(b.places)) * 20_000_000 // above all real ones
			p.lat += float64(to[0]-row) * lbsCell
			p.lon += float64(to[1]-col) * lbsCell
			out = append(out, p)
		}
	}
	sortPlaces(out)
	return out
}

const (
	lbsLanguages = 5
	lbsEvents    = 400000.0 / 135233
	lbsShows     = 10 // per event
)

// lbsTables are the tables in the order in which they are filled.
var lbsTables = []struct {
	name string
	cols []string
}{
	{"geo", []string{"poi_id", "latitude", "longitude"}},
	{"poi", []string{"poi_id", "language", "poi_name", "categories", "city"}},
	{"event", []string{"event_id", "poi_id", "language", "event_name", "category"}},
	{"showtime", []string{"event_id", "start_time", "end_time"}},
}

// lbsRowsOf makes the rows of a table at some places. Events are numbered by their
// place and not by their turn, so that a part of the data has the same ones as the
// whole.
func lbsRowsOf(table string, places []lbsPlace, emit func(row []any)) {
	categories := []string{"concert", "cinema", "theatre", "sport", "fair"}
	monday := time.Date(2026, 11, 2, 18, 0, 0, 0, time.UTC)
	events := func(p lbsPlace) int {
		h := fnv.New32a()
		fmt.Fprint(h, p.id)
		return int(lbsEvents + float64(h.Sum32()%1000)/1000)
	}
	event := func(p lbsPlace, i int) int { return p.id*4 + i }
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
					start := monday.Add(time.Duration((p.id*3+i*19+k*11)%56*24+k*2) * time.Hour)
					emit([]any{event(p, i), start, start.Add(2 * time.Hour)})
				}
			}
		}
	}
}

// load makes the tables of a system and fills them.
func (b *lbsBench) load(s *lbsSystem, c *pgx.Conn, places []lbsPlace) error {
	setup := fmt.Sprintf("DROP SCHEMA IF EXISTS %[1]s CASCADE; CREATE SCHEMA %[1]s; SET search_path = %[2]s", s.schema(), s.path)
	for _, sql := range []string{setup, s.tables} {
		if _, err := c.PgConn().Exec(b.ctx, sql).ReadAll(); err != nil {
			return err
		}
	}
	var times []string
	if s.load {
		for _, t := range lbsTables {
			at := time.Now()
			if err := b.fill(c, t.name, t.cols, places); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			times = append(times, fmt.Sprintf("%s %.1f", t.name, time.Since(at).Seconds()))
		}
	}
	for _, sql := range strings.Split(s.after, ";") {
		at := time.Now()
		if _, err := c.PgConn().Exec(b.ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(sql), err)
		}
		words := strings.Fields(sql)
		times = append(times, fmt.Sprintf("%s %.1f", strings.Join(words[:min(3, len(words))], " "), time.Since(at).Seconds()))
	}
	b.t.Logf("%-18s %s (seconds)", s.name, strings.Join(times, ", "))
	return nil
}

// fill copies the rows of a table, in transactions of bounded size.
func (b *lbsBench) fill(c *pgx.Conn, table string, cols []string, places []lbsPlace) error {
	const bulk = 200000 // rows a transaction
	var pending [][]any
	var failed error
	flush := func() {
		if failed == nil && len(pending) > 0 {
			_, failed = c.CopyFrom(b.ctx, pgx.Identifier{table}, cols, pgx.CopyFromRows(pending))
		}
		pending = pending[:0]
	}
	lbsRowsOf(table, places, func(row []any) {
		if pending = append(pending, row); len(pending) == bulk {
			flush()
		}
	})
	flush()
	return failed
}
