package walkv_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/kv/kvtest"
	"kvsqld/storage/walkv"
)

var (
	ctx   = context.Background()
	table = kv.Space{ID: 1, DB: "db", File: "table"}
	index = kv.Space{ID: 2, DB: "db", File: "index"}
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func update(st kv.Store, f func(tx kv.Txn) error) error {
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func open(t testing.TB, dir string, opt boltkv.Options) kv.Store {
	t.Helper()
	st, err := boltkv.Open(dir, opt)
	must(t, err)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// busy moves trees all the time and lets some batches go to the base at once.
var busy = walkv.Options{MemBytes: 3000, DirectBytes: 2000, Interval: time.Millisecond}

func TestConformance(t *testing.T) {
	for name, log := range map[string]walkv.Options{
		"default": {},
		"busy":    busy,
		"tiny":    {MemBytes: 1, DirectBytes: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			kvtest.Run(t, func(t *testing.T) kv.Store {
				return open(t, t.TempDir(), boltkv.Options{NoSync: true, Log: log})
			})
		})
	}
}

// content reads a space in the given direction.
func content(t testing.TB, r kv.Reader, sp kv.Space, g kv.Range, reverse bool) (pairs []string) {
	t.Helper()
	it := r.Scan(ctx, sp, g, kv.ScanOpt{Reverse: reverse, Batch: 7})
	defer it.Close()
	for {
		ps, err := it.Next()
		must(t, err)
		if len(ps) == 0 {
			return pairs
		}
		for _, p := range ps {
			pairs = append(pairs, string(p.Key)+"="+string(p.Val))
		}
	}
}

// compare checks gets and scans of a snapshot against the model.
func compare(t testing.TB, r *rand.Rand, st kv.Store, sp kv.Space, model map[string]string) {
	t.Helper()
	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	lo, hi := r.IntN(keys), r.IntN(keys+1)
	var want, keysAsked []string
	var ask [][]byte
	for i := range keys {
		k := fmt.Sprintf("%04d", i)
		if v, ok := model[k]; ok && i >= lo && i < hi {
			want = append(want, k+"="+v)
		}
		keysAsked = append(keysAsked, k)
		ask = append(ask, []byte(k))
	}
	g := kv.Range{Lo: fmt.Appendf(nil, "%04d", lo), Hi: fmt.Appendf(nil, "%04d", hi)}
	if got := content(t, s, sp, g, false); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("scan from %d to %d\n got %v\nwant %v", lo, hi, got, want)
	}
	got := content(t, s, sp, g, true)
	for i := range got {
		if len(got) != len(want) || got[i] != want[len(want)-1-i] {
			t.Fatalf("backward scan\n got %v\nwant the reverse of %v", got, want)
		}
	}
	vals, err := s.BatchGet(ctx, sp, ask)
	must(t, err)
	for i, k := range keysAsked {
		v, ok := model[k]
		if ok != (vals[i] != nil) || v != string(vals[i]) {
			t.Fatalf("BatchGet of %s gives %q, want %q (%v)", k, vals[i], v, ok)
		}
	}
	k := keysAsked[r.IntN(keys)]
	v, err := s.Get(ctx, sp, []byte(k))
	if want, ok := model[k]; ok != (err == nil) || want != string(v) {
		t.Fatalf("Get of %s gives %q and %v, want %q", k, v, err, want)
	}
}

const keys = 60

// TestModel does random writes, clears, and stops, and compares all reads with
// a map; a snapshot held over all that keeps its state.
func TestModel(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		opt := boltkv.Options{NoSync: true, MmapBytes: 64 << 20, Log: busy}
		if seed%2 == 0 {
			opt.Log.Interval = time.Hour
		}
		dir := t.TempDir()
		st, err := boltkv.Open(dir, opt)
		must(t, err)
		must(t, update(st, func(tx kv.Txn) error { return errors.Join(tx.CreateSpace(table), tx.CreateSpace(index)) }))
		model := map[kv.Space]map[string]string{table: {}, index: {}}
		var held kv.Snapshot
		var heldModel map[string]string
		for step := range 600 {
			sp := []kv.Space{table, index}[r.IntN(2)]
			switch n := r.IntN(100); {
			case n < 80:
				must(t, update(st, func(tx kv.Txn) error {
					for range 1 + r.IntN(5) {
						k := fmt.Sprintf("%04d", r.IntN(keys))
						if r.IntN(3) == 0 {
							delete(model[sp], k)
							must(t, tx.Delete(sp, []byte(k)))
							continue
						}
						v := fmt.Sprintf("%d-%0*d", step, r.IntN(600), 0)
						model[sp][k] = v
						must(t, tx.Put(sp, []byte(k), []byte(v)))
					}
					return nil
				}))
			case n < 83:
				must(t, update(st, func(tx kv.Txn) error { return tx.ClearSpace(sp) }))
				clear(model[sp])
			case n < 86:
				must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
			case n < 90 && held == nil:
				held, err = st.Snapshot(ctx)
				must(t, err)
				heldModel = maps.Clone(model[table])
			case n < 94 && held != nil:
				if got := len(content(t, held, table, kv.Range{}, false)); got != len(heldModel) {
					t.Fatalf("the held snapshot has %d rows, want %d", got, len(heldModel))
				}
				held.Close()
				held = nil
			case n >= 98 && held == nil:
				must(t, st.Close())
				st, err = boltkv.Open(dir, opt)
				must(t, err)
			}
			compare(t, r, st, sp, model[sp])
		}
		if held != nil {
			held.Close()
		}
		must(t, st.Close())
	}
}

// TestConcurrentMoves reads while others write and trees move: no commit is
// seen by half, and none that was seen disappears.
func TestConcurrentMoves(t *testing.T) {
	st := open(t, t.TempDir(), boltkv.Options{NoSync: true, MmapBytes: 64 << 20, Log: busy})
	must(t, update(st, func(tx kv.Txn) error { return errors.Join(tx.CreateSpace(table), tx.CreateSpace(index)) }))
	stop := make(chan struct{})
	var writers, readers sync.WaitGroup
	for c := range 3 {
		writers.Go(func() {
			for i := range 400 {
				k, v := fmt.Appendf(nil, "%d", c), fmt.Appendf(nil, "%08d", i)
				if i%50 == 49 { // a large one
					v = append(v, make([]byte, 2500)...)
				}
				if err := update(st, func(tx kv.Txn) error {
					return errors.Join(tx.Put(table, k, v), tx.Put(index, k, v))
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			last := map[string]string{}
			for {
				select {
				case <-stop:
					return
				default:
				}
				s, err := st.Snapshot(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				rows, entries := content(t, s, table, kv.Range{}, false), content(t, s, index, kv.Range{}, false)
				s.Close()
				if fmt.Sprint(rows) != fmt.Sprint(entries) {
					t.Errorf("rows %.200v\nentries %.200v", rows, entries)
					return
				}
				for _, p := range rows {
					if p < last[p[:1]] {
						t.Errorf("%.12s after %.12s", p, last[p[:1]])
						return
					}
					last[p[:1]] = p
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}
