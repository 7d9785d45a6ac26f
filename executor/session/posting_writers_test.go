package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// TestPostingWriters lets several sessions insert, change and delete rows under the same
// few keys of inverted indexes, each statement on its own, while one folds the lists. None
// may fail, the files must agree with each other in the end, and the inverted indexes
// with btree indexes over the same values.
func TestPostingWriters(t *testing.T) {
	const workers, each, keys, ids = 4, 150, 5, 80
	srv := newServer(t)
	c := srv.client(t)
	c.must(`create table t (id int primary key, k int, arr int[], b int, barr int[]);
		create index t_k on t using inverted (k);
		create index t_arr on t using gin (arr);
		create index t_b on t (b)`)
	folder := srv.client(t)
	var wg sync.WaitGroup
	errs := make(chan string, workers*each+20)
	for w := range workers {
		s := srv.client(t)
		r := rand.New(rand.NewPCG(uint64(w), 1))
		wg.Go(func() {
			vals := func() string {
				k := r.IntN(keys)
				arr := fmt.Sprintf("'{%d,%d}'", r.IntN(keys), r.IntN(keys))
				return fmt.Sprintf("%d, %s, %d, %s", k, arr, k, arr)
			}
			for range each {
				id := r.IntN(ids)
				q := fmt.Sprintf("insert into t values (%d, %s) on conflict (id) do nothing", id, vals())
				switch r.IntN(6) {
				case 0, 1:
					q = fmt.Sprintf("update t set (k, arr, b, barr) = row (%s) where id = %d", vals(), id)
				case 2:
					q = fmt.Sprintf("delete from t where id = %d", id)
				case 3:
					q = fmt.Sprintf("insert into t values (%d, %s) on conflict (id) do update set (k, arr, b, barr) = row (excluded.k, excluded.arr, excluded.b, excluded.barr)", id, vals())
				case 4:
					if w == 0 { // of several rows: one writer only, for two could wait for each other
						q = fmt.Sprintf("delete from t where k = %d and id %% 3 = 0", r.IntN(keys))
					}
				}
				if got := s.sql(q); strings.Contains(got, "ERROR") {
					errs <- q + ": " + got
				}
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			if got := folder.sql("vacuum t"); !strings.Contains(got, "VACUUM") {
				errs <- got
			}
		}
	})
	wg.Wait()
	close(errs)
	for e := range errs {
		t.Error(e)
	}
	for k := range keys {
		want := c.sql(fmt.Sprintf("select count(*), sum(id) from t where b = %d", k))
		if got := c.sql(fmt.Sprintf("select count(*), sum(id) from t where k = %d", k)); got != want {
			t.Errorf("key %d: %s, want %s", k, got, want)
		}
		want = c.sql(fmt.Sprintf("select count(*), sum(id) from t where barr @> '{%d}'", k))
		if got := c.sql(fmt.Sprintf("select count(*), sum(id) from t where arr @> '{%d}'", k)); got != want {
			t.Errorf("element %d: %s, want %s", k, got, want)
		}
	}
	srv.checkTables(t)
}
