package kvtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"kvsqld/storage/kv"
)

// taken is what Take returns for the newest state, as "space number:key", sorted, each
// once.
func taken(t testing.TB, st kv.Store, w kv.Watch) []string {
	t.Helper()
	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	byFile, err := w.Take(s.Seq())
	must(t, err)
	var out []string
	for i, keys := range byFile {
		for _, k := range keys {
			out = append(out, fmt.Sprintf("%d:%s", i, k))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func wantTaken(t testing.TB, st kv.Store, w kv.Watch, want ...string) {
	t.Helper()
	if got := taken(t, st, w); !slices.Equal(got, want) {
		t.Fatalf("the watch tells of %q, want %q", got, want)
	}
}

func testWatch(t *testing.T, st kv.Store) {
	a, b, other := newSpace(t, st), newSpace(t, st), newSpace(t, st)
	put(t, st, a, "before", "1")
	w, err := st.Watch(ctx, a, b)
	must(t, err)
	defer w.Close()
	wantTaken(t, st, w)

	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	update(t, st, func(tx kv.Txn) {
		must(t, tx.Put(a, []byte("k"), []byte("1")))
		must(t, tx.Delete(a, []byte("before")))
		must(t, tx.Put(b, []byte("k"), []byte("1"), kv.Covered))
		must(t, tx.Put(other, []byte("k"), []byte("1")))
		must(t, tx.Put(a, []byte("own"), []byte("1"), kv.Private))
		must(t, tx.Touch(b, []byte("touched")))
	})
	gone := begin(t, st, kv.BeginOpt{})
	must(t, gone.Put(a, []byte("undone"), []byte("1")))
	gone.Rollback()
	early, err := w.Take(s.Seq())
	must(t, err)
	for i, keys := range early {
		if len(keys) > 0 {
			t.Errorf("space %d: %q of commits that the snapshot lacks", i, keys)
		}
	}
	wantTaken(t, st, w, "0:before", "0:k", "1:k")
	wantTaken(t, st, w)

	put(t, st, b, "k", "2")
	put(t, st, b, "k", "3")
	wantTaken(t, st, w, "1:k")

	second, err := st.Watch(ctx, b)
	must(t, err)
	put(t, st, b, "l", "1")
	wantTaken(t, st, second, "0:l")
	second.Close()
	second.Close()
	wantTaken(t, st, w, "1:l")

	update(t, st, func(tx kv.Txn) { must(t, tx.ClearSpace(a)) })
	_, err = w.Take(0)
	wantErr(t, err, kv.ErrTooLarge)
}

// testWatchCopy copies a space, a part at a time, while others write to it.
func testWatchCopy(t *testing.T, st kv.Store) {
	const keys, writers, commits = 300, 3, 150
	from, to := newSpace(t, st), newSpace(t, st)
	key := func(i int) []byte { return fmt.Appendf(nil, "%04d", i) }
	update(t, st, func(tx kv.Txn) {
		for i := range keys {
			must(t, tx.Put(from, key(i), []byte("first")))
		}
	})
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			for c := range commits {
				tx := begin(t, st, kv.BeginOpt{})
				for range 1 + r.IntN(3) {
					k, err := key(r.IntN(keys)/writers*writers+n), error(nil) // nobody else's
					if r.IntN(3) == 0 {
						err = tx.Delete(from, k)
					} else {
						err = tx.Put(from, k, fmt.Appendf(nil, "%d of %d", c, n))
					}
					if err != nil {
						t.Error(err)
					}
				}
				if r.IntN(2) == 0 {
					tx.SetDurability(kv.Lazy)
				}
				if err := tx.Commit(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	w, err := st.Watch(ctx, from)
	must(t, err)
	defer w.Close()
	for last, more := "", true; more; {
		tx := begin(t, st, kv.BeginOpt{})
		it := tx.Scan(ctx, from, kv.Range{Lo: []byte(last + "\x00")}, kv.ScanOpt{Limit: 40})
		part, err := it.Next()
		must(t, err)
		for _, p := range part {
			must(t, tx.Put(to, p.Key, p.Val, kv.Covered))
			last = string(p.Key)
		}
		more = len(part) > 0
		it.Close()
		must(t, tx.Commit(ctx))
	}
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
		}
		tx := begin(t, st, kv.BeginOpt{})
		changed, err := w.Take(tx.Seq())
		must(t, err)
		for _, k := range changed[0] {
			v := get(t, tx, from, string(k))
			if v == "" {
				err = tx.Delete(to, k, kv.Covered)
			} else {
				err = tx.Put(to, k, []byte(v), kv.Covered)
			}
			must(t, err)
		}
		must(t, tx.Commit(ctx))
	}
	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	want, got := all(t, s, from, kv.Range{}, kv.ScanOpt{}), all(t, s, to, kv.Range{}, kv.ScanOpt{})
	if !slices.Equal(got, want) {
		t.Errorf("the copy has\n%q, the space\n%q", got, want)
	}
}
