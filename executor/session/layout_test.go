package session

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestAlterLayoutWaits has sessions read and write a table whose layout changes: who
// comes while the change is under way waits for it at the table's lock, and it waits
// for them.
func TestAlterLayoutWaits(t *testing.T) {
	srv := newServer(t)
	a, b := srv.client(t), srv.client(t)
	a.must("CREATE TABLE t (id int PRIMARY KEY, a int, b text)")
	a.must("INSERT INTO t SELECT i, i, 'b' || i FROM generate_series(1, 3000) i")
	b.must("SET lock_timeout = '50 ms'")
	a.must("BEGIN")
	a.must("ALTER TABLE t SET (layout = 'column')")
	for _, sql := range []string{"SELECT a FROM t WHERE id = 7", "UPDATE t SET a = 0 WHERE id = 7", "INSERT INTO t VALUES (0)"} {
		if got := b.sql(sql); !strings.Contains(got, "55P03") {
			t.Errorf("while the layout changes, %s: %s", sql, got)
		}
	}
	a.must("ROLLBACK")
	if got := b.sql("SELECT sum(a) FROM t"); !strings.Contains(got, "4501500") {
		t.Errorf("after a rollback: %s", got)
	}
	for _, sql := range []string{"SELECT a FROM t WHERE id = 7", "UPDATE t SET a = a WHERE id = 7"} {
		a.must("BEGIN")
		a.must(sql)
		if got := b.sql("ALTER TABLE t SET (layout = 'column')"); !strings.Contains(got, "55P03") {
			t.Errorf("ALTER TABLE while another transaction had used the table (%s): %s", sql, got)
		}
		a.must("COMMIT")
	}
}

// TestAlterLayoutBusy changes a table's layout back and forth under readers and
// writers: no change is lost, and every query sees one state.
func TestAlterLayoutBusy(t *testing.T) {
	const rows, readers, writers = 500, 2, 3
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	srv := newServer(t)
	c := srv.client(t)
	c.must("CREATE TABLE t (id int PRIMARY KEY, a int, b int, c text)")
	c.must("CREATE INDEX t_a ON t (a)")
	c.must(fmt.Sprintf("INSERT INTO t SELECT i, 100, -100, 'c' || i FROM generate_series(1, %d) i", rows))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		r := srv.client(t)
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				// What one writer takes from a it adds to b.
				got := r.sql("SELECT count(*), sum(a + b), count(c) FROM t")
				if want := fmt.Sprintf("%d|0|%[1]d", rows); !strings.Contains(got, want) {
					t.Errorf("a reader got\n%s", got)
					return
				}
			}
		})
	}
	changed := make([]int, writers)
	for w := range writers {
		x := srv.client(t)
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				got := x.sql(fmt.Sprintf("UPDATE t SET a = a - 1, b = b + 1 WHERE id = %d", 1+(i*7+w)%rows))
				if !strings.Contains(got, "UPDATE 1") {
					t.Errorf("a writer got\n%s", got)
					return
				}
				changed[w]++
			}
		})
	}
	for i := range rounds {
		set := "layout = 'column', groups = '(a, b)'"
		switch i % 3 {
		case 1:
			set = "groups = '(b, c)'"
		case 2:
			set = "layout = 'row'"
		}
		c.must("ALTER TABLE t SET (" + set + ")")
	}
	close(done)
	wg.Wait()
	sum := 0
	for _, n := range changed {
		sum += n
	}
	if got, want := c.sql("SELECT sum(a), sum(b) FROM t"), fmt.Sprintf("%d|%d", 100*rows-sum, sum-100*rows); !strings.Contains(got, want) {
		t.Errorf("after %d changes the sums are\n%s", sum, got)
	}
	if got := c.sql(fmt.Sprintf("SELECT count(*) FROM t WHERE a > %d", -1<<30)); !strings.Contains(got, fmt.Sprint(rows)) {
		t.Errorf("the index has\n%s", got)
	}
}
