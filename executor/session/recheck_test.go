package session

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestChangedRowsUnderLoad has many READ COMMITTED statements wait for rows that then
// change: in chains through indexes of all kinds, joins, keys that move and upserts.
// No change is lost or made twice, and every index has its rows.
func TestChangedRowsUnderLoad(t *testing.T) {
	srv := newServer(t)
	admin := srv.client(t)
	for _, layout := range []string{"", " WITH (layout = 'column')"} {
		name := "t" + fmt.Sprint(len(layout))
		admin.must("CREATE TABLE " + name + " (id int PRIMARY KEY, a int, u int UNIQUE, b text, n int, d int UNIQUE DEFERRABLE)" + layout)
		admin.must("CREATE INDEX ON " + name + " (a) INCLUDE (n)")
		admin.must("CREATE INDEX ON " + name + " (lower(b)) WHERE a % 2 = 0")
		admin.must("CREATE INDEX ON " + name + " USING inverted (b)")
		admin.must("INSERT INTO " + name + " SELECT i, i, i, 'B' || i % 3, 0, i FROM generate_series(1, 12) i")
		changeRows(t, srv, name)
	}
	srv.checkTables(t)
}

var tagCount = regexp.MustCompile(`(?:UPDATE|INSERT 0) (\d+)`)

// changeRows has clients add 1 to column n of rows and compares the sum with what they
// were told.
func changeRows(t *testing.T, srv *Server, table string) {
	var wg sync.WaitGroup
	var changed atomic.Int64
	for w := range 6 {
		c, rnd := srv.client(t), rand.New(rand.NewPCG(uint64(w), uint64(len(table))))
		wg.Go(func() {
			for range 150 {
				x, y := rnd.IntN(12)+1, rnd.IntN(12)+1
				var s string
				switch rnd.IntN(8) {
				case 0:
					s = fmt.Sprintf("UPDATE $T SET n = n + 1, a = a + 1 WHERE a BETWEEN %d AND %d", x, x+3)
				case 1:
					s = fmt.Sprintf("UPDATE $T SET n = n + 1, u = u + 100 * (CASE WHEN u > 100 THEN -1 ELSE 1 END) WHERE id IN (%d, %d)", x, y)
				case 2:
					s = fmt.Sprintf("UPDATE $T SET n = n + 1, b = 'B' || a %% 3 WHERE b = 'B%d'", x%3)
				case 3:
					s = fmt.Sprintf("UPDATE $T SET n = $T.n + 1 FROM $T o WHERE o.id = $T.id AND o.id BETWEEN %d AND %d", x, x+2)
				case 4:
					s = fmt.Sprintf("UPDATE $T SET n = n + 1, id = -id WHERE id IN (%d, -%d)", x, y)
				case 5:
					s = fmt.Sprintf("INSERT INTO $T VALUES (%d, 0, %d, 'B0', 1) ON CONFLICT (u) DO UPDATE SET n = $T.n + 1, b = 'B1'", 1000+x, x)
				case 6:
					s = fmt.Sprintf("UPDATE $T SET n = n + 1, d = d + (CASE WHEN d > 50 THEN -50 ELSE 50 END) WHERE id = (SELECT id FROM $T WHERE lower(b) = 'b1' AND a %% 2 = 0 ORDER BY a LIMIT 1 FOR UPDATE)")
				default:
					s = fmt.Sprintf("UPDATE $T SET n = n + 1, a = %d - a WHERE u BETWEEN %d AND %d", y, x, x+2)
				}
				got := c.sql(strings.ReplaceAll(s, "$T", table))
				if m := tagCount.FindStringSubmatch(got); m != nil {
					var n int64
					fmt.Sscan(m[1], &n)
					changed.Add(n)
				} else if m := errorCode.FindStringSubmatch(got); m == nil || m[1] != "23505" && m[1] != "40P01" {
					t.Errorf("%s\n%s", s, got)
					return
				}
			}
		})
	}
	wg.Wait()
	if got, want := srv.client(t).sql("SELECT sum(n) FROM "+table), fmt.Sprint(changed.Load()); !strings.Contains(got, want) {
		t.Errorf("%s: the sum of the changes is %s, the clients were told %s", table, got, want)
	}
}
