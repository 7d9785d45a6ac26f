package kvtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"kvsqld/storage/kv"
)

// model is what a space should contain.
type model map[string]string

func (m model) scan(g kv.Range, o kv.ScanOpt) []string {
	var keys []string
	for k := range m {
		if (g.Lo == nil || k >= string(g.Lo)) && (g.Hi == nil || k < string(g.Hi)) {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	if o.Reverse {
		slices.Reverse(keys)
	}
	if o.Limit > 0 && len(keys) > o.Limit {
		keys = keys[:o.Limit]
	}
	var out []string
	for _, k := range keys {
		if o.KeysOnly {
			out = append(out, k)
		} else {
			out = append(out, k+"="+m[k])
		}
	}
	return out
}

func (m model) clone() model {
	c := make(model, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

func randKey(r *rand.Rand) []byte {
	if r.IntN(50) == 0 {
		return bytes.Repeat([]byte{0xff}, 1+r.IntN(3))
	}
	return fmt.Appendf(nil, "%03d", r.IntN(600))[:1+r.IntN(3)]
}

// mutate makes one random write to both.
func mutate(t testing.TB, r *rand.Rand, tx kv.Txn, sp kv.Space, m model) {
	t.Helper()
	k := randKey(r)
	var f []kv.Flag
	if r.IntN(2) == 0 {
		f = []kv.Flag{kv.Covered}
	}
	switch r.IntN(4) {
	case 0:
		must(t, tx.Delete(sp, k, f...))
		delete(m, string(k))
	default:
		v := fmt.Sprint("v", r.IntN(1000))
		must(t, tx.Put(sp, k, []byte(v), f...))
		m[string(k)] = v
	}
}

// compare scans at random and checks random keys.
func compare(t testing.TB, r *rand.Rand, rd kv.Reader, sp kv.Space, m model) {
	t.Helper()
	var g kv.Range
	if r.IntN(4) > 0 {
		g.Lo = randKey(r)
	}
	if r.IntN(4) > 0 {
		g.Hi = randKey(r)
	}
	o := kv.ScanOpt{Reverse: r.IntN(2) == 0, KeysOnly: r.IntN(4) == 0, Parallel: r.IntN(3)}
	if r.IntN(2) == 0 {
		o.Limit = 1 + r.IntN(40)
	}
	if r.IntN(2) == 0 {
		o.Batch = 1 + r.IntN(20)
	}
	if got, want := all(t, rd, sp, g, o), m.scan(g, o); !slices.Equal(got, want) {
		t.Fatalf("scan of [%q, %q) with %+v gives\n%q, want\n%q", g.Lo, g.Hi, o, got, want)
	}
	rescans(t, r, rd, sp, m)
	ranges(t, r, rd, sp, m)
	keys := make([][]byte, r.IntN(8))
	for i := range keys {
		keys[i] = randKey(r)
	}
	if r.IntN(2) == 0 {
		slices.SortFunc(keys, bytes.Compare)
	}
	vs, err := rd.BatchGet(ctx, sp, keys)
	must(t, err)
	for i, k := range keys {
		if string(vs[i]) != m[string(k)] || get(t, rd, sp, string(k)) != m[string(k)] {
			t.Fatalf("key %q has value %q in a batch and %q alone, want %q", k, vs[i], get(t, rd, sp, string(k)), m[string(k)])
		}
	}
}

// rescans reads some ranges, not always to their ends, with one iterator where that
// is possible.
func rescans(t testing.TB, r *rand.Rand, rd kv.Reader, sp kv.Space, m model) {
	t.Helper()
	o := kv.ScanOpt{Reverse: r.IntN(2) == 0, Batch: 1 + r.IntN(20)}
	var it kv.Iter
	for range 1 + r.IntN(4) {
		g := kv.Range{Lo: randKey(r), Hi: randKey(r)}
		if x, ok := it.(kv.Rescanner); !ok || !x.Rescan(g) {
			if it != nil {
				it.Close()
			}
			it = rd.Scan(ctx, sp, g, o)
		}
		var got []string
		end := r.IntN(3) > 0
		for {
			ps, err := it.Next()
			must(t, err)
			for _, p := range ps {
				got = append(got, string(p.Key)+"="+string(p.Val))
			}
			if len(ps) == 0 || !end && len(got) > 10 {
				end = end || len(ps) == 0
				break
			}
		}
		want := m.scan(g, o)
		if !end {
			want = want[:min(len(got), len(want))]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("scan of [%q, %q) with %+v gives\n%q, want\n%q", g.Lo, g.Hi, o, got, want)
		}
	}
	it.Close()
	if x, ok := it.(kv.Rescanner); ok && x.Rescan(kv.Range{}) {
		t.Fatal("a closed iterator scans again")
	}
}

// ranges reads several ranges with one scan, and perhaps leaves something out of them.
func ranges(t testing.TB, r *rand.Rand, rd kv.Reader, sp kv.Space, m model) {
	t.Helper()
	var bounds [][]byte
	for range 2 * (1 + r.IntN(4)) {
		bounds = append(bounds, randKey(r))
	}
	slices.SortFunc(bounds, bytes.Compare)
	var gs []kv.Range
	for i := 0; i < len(bounds); i += 2 {
		gs = append(gs, kv.Range{Lo: bounds[i], Hi: bounds[i+1]})
	}
	if r.IntN(3) == 0 {
		gs[len(gs)-1].Hi = nil
	}
	from, to := randKey(r), randKey(r)
	unwanted := func(key string) bool { return key >= string(from) && key < string(to) }
	o := kv.ScanOpt{Then: gs[1:], Batch: r.IntN(20)}
	if r.IntN(2) == 0 {
		o.Skip = func(key []byte) []byte {
			if unwanted(string(key)) {
				return to
			}
			return nil
		}
	}
	var want []string
	for _, g := range gs {
		want = append(want, m.scan(g, kv.ScanOpt{})...)
	}
	got := all(t, rd, sp, gs[0], o)
	if o.Skip != nil { // these may come or not
		keyOf := func(pair string) string { key, _, _ := strings.Cut(pair, "="); return key }
		gone := func(pair string) bool { return unwanted(keyOf(pair)) }
		for _, pair := range got {
			if !slices.Contains(want, pair) {
				t.Fatalf("scan of %q leaving out %q to %q gives %q, which is not there", gs, from, to, pair)
			}
		}
		if !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(keyOf(a), keyOf(b)) }) {
			t.Fatalf("scan of %q leaving out %q to %q gives %q", gs, from, to, got)
		}
		got, want = slices.DeleteFunc(got, gone), slices.DeleteFunc(want, gone)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("scan of %q gives\n%q, want\n%q", gs, got, want)
	}
}

func testScanModel(t *testing.T, st kv.Store) {
	r := rand.New(rand.NewPCG(1, 2))
	sp := newSpace(t, st)
	committed := model{}
	for range 60 {
		m := committed.clone()
		tx := begin(t, st, kv.BeginOpt{})
		for range r.IntN(120) {
			mutate(t, r, tx, sp, m)
			if r.IntN(6) == 0 {
				compare(t, r, tx, sp, m)
			}
		}
		compare(t, r, tx, sp, m)
		if r.IntN(4) == 0 {
			tx.Rollback()
			continue
		}
		must(t, tx.Commit(ctx))
		committed = m
		snap, err := st.Snapshot(ctx)
		must(t, err)
		for range 5 {
			compare(t, r, snap, sp, committed)
		}
		snap.Close()
	}
}

func testIterStability(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	const n = 3000
	update(t, st, func(tx kv.Txn) {
		for i := range n {
			must(t, tx.Put(sp, key(2*i), []byte("old")))
		}
	})
	tx := begin(t, st, kv.BeginOpt{})
	must(t, tx.Put(sp, key(1), []byte("before")))
	it := tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{Batch: 100})
	defer it.Close()
	seen := 0
	for {
		ps, err := it.Next()
		must(t, err)
		if len(ps) == 0 {
			break
		}
		for _, p := range ps {
			if want := map[bool]string{true: "before", false: "old"}[seen == 1]; string(p.Val) != want {
				t.Fatalf("pair %d is %q=%q, want value %q", seen, p.Key, p.Val, want)
			}
			seen++
			must(t, tx.Put(sp, p.Key, []byte("new")))                                      // behind and under the iterator
			must(t, tx.Put(sp, append([]byte(nil), append(p.Key, 'x')...), []byte("new"))) // ahead of it
		}
	}
	if seen != n+1 {
		t.Fatalf("saw %d pairs, want %d", seen, n+1)
	}
	if got := len(all(t, tx, sp, kv.Range{}, kv.ScanOpt{})); got != 2*(n+1) {
		t.Fatalf("a new scan sees %d pairs, want %d", got, 2*(n+1))
	}
}

func testSavepoints(t *testing.T, st kv.Store) {
	sp := newSpace(t, st)
	put(t, st, sp, "k", "0")
	tx := begin(t, st, kv.BeginOpt{})
	start := tx.Savepoint()
	must(t, tx.Put(sp, []byte("k"), []byte("1")))
	a := tx.Savepoint()
	must(t, tx.Put(sp, []byte("k"), []byte("2")))
	must(t, tx.Put(sp, []byte("l"), []byte("2")))
	b := tx.Savepoint()
	must(t, tx.Delete(sp, []byte("k")))
	wantValue(t, tx, sp, "k", "")
	tx.RollbackTo(b)
	wantValue(t, tx, sp, "k", "2")
	tx.RollbackTo(a)
	wantValue(t, tx, sp, "k", "1")
	wantValue(t, tx, sp, "l", "")
	must(t, tx.Put(sp, []byte("l"), []byte("3")))
	tx.RollbackTo(a)
	wantValue(t, tx, sp, "l", "")
	c := tx.Savepoint()
	must(t, tx.Put(sp, []byte("m"), []byte("1")))
	tx.Release(c)
	wantValue(t, tx, sp, "m", "1")
	tx.RollbackTo(start)
	wantValue(t, tx, sp, "k", "0")
	if tx.HasWrites() {
		t.Error("writes are left after going back to the beginning")
	}

	// Locks stay; keys that are not written in the end did not change.
	other := begin(t, st, kv.BeginOpt{})
	wantValue(t, other, sp, "k", "0")
	wantErr(t, other.Put(sp, []byte("k"), []byte("other")), kv.ErrConflict)
	must(t, tx.Put(sp, []byte("z"), []byte("1")))
	must(t, tx.Commit(ctx))
	r, err := lock(other, sp, kv.LockOpt{}, "k")
	must(t, err)
	if r.Changed {
		t.Error("a write undone by RollbackTo counts as a change")
	}
	if r, err = lock(other, sp, kv.LockOpt{}, "z"); err != nil || !r.Changed {
		t.Errorf("result for the written key is %+v, %v; want changed", r, err)
	}
}

func testSavepointModel(t *testing.T, st kv.Store) {
	r := rand.New(rand.NewPCG(3, 4))
	spaces := []kv.Space{newSpace(t, st), newSpace(t, st), newSpace(t, st)}
	base := []model{{}, {}, {}}
	for round := range 25 {
		ms := make([]model, len(base))
		for i := range base {
			ms[i] = base[i].clone()
		}
		type point struct {
			id int
			ms []model
		}
		var points []point
		tx := begin(t, st, kv.BeginOpt{})
		for range 150 {
			i := r.IntN(len(spaces))
			switch x := r.IntN(20); {
			case x == 0:
				p := point{id: tx.Savepoint()}
				for _, m := range ms {
					p.ms = append(p.ms, m.clone())
				}
				points = append(points, p)
			case x == 1 && len(points) > 0:
				n := r.IntN(len(points))
				tx.RollbackTo(points[n].id)
				for i := range ms {
					ms[i] = points[n].ms[i].clone()
				}
				points = points[:n+1]
			case x == 2 && r.IntN(4) == 0:
				must(t, tx.ClearSpace(spaces[i]))
				ms[i] = model{}
			case x < 6:
				compare(t, r, tx, spaces[i], ms[i])
			default:
				mutate(t, r, tx, spaces[i], ms[i])
			}
		}
		for i := range spaces {
			compare(t, r, tx, spaces[i], ms[i])
		}
		if round%3 == 0 {
			tx.Rollback()
			continue
		}
		must(t, tx.Commit(ctx))
		base = ms
		snap, err := st.Snapshot(ctx)
		must(t, err)
		for i := range spaces {
			if got, want := all(t, snap, spaces[i], kv.Range{}, kv.ScanOpt{}), base[i].scan(kv.Range{}, kv.ScanOpt{}); !slices.Equal(got, want) {
				t.Fatalf("space %d contains\n%q, want\n%q", i, got, want)
			}
		}
		snap.Close()
	}
}

// testCheckedScans lets scans check pairs: committed ones, in the order of their
// commits and among own writes, all that are delivered and no other.
func testCheckedScans(t *testing.T, st kv.Store) {
	for _, reverse := range []bool{false, true} {
		sp := newSpace(t, st)
		bad := fmt.Errorf("a bad pair")
		m := model{}
		write := func(tx kv.Txn, from, to int) {
			for i := from; i < to; i++ {
				k, v := fmt.Sprintf("%05d", i*7919%10_000), fmt.Sprint("value ", from, i)
				must(t, tx.Put(sp, []byte(k), []byte(v)))
				m[k] = v
			}
		}
		update(t, st, func(tx kv.Txn) { write(tx, 0, 5000) })
		update(t, st, func(tx kv.Txn) { write(tx, 4990, 5020) })
		tx := begin(t, st, kv.BeginOpt{})
		write(tx, 5010, 5050)
		checked := model{}
		var refused string
		o := kv.ScanOpt{Reverse: reverse, Check: func(ps []kv.Pair) error {
			for _, p := range ps {
				if string(p.Key) == refused {
					return bad
				}
				checked[string(p.Key)] = string(p.Val)
			}
			return nil
		}}
		scan := func(g kv.Range, o kv.ScanOpt) (got []string, err error) {
			it := tx.Scan(ctx, sp, g, o)
			defer it.Close()
			for {
				ps, err := it.Next()
				if len(ps) == 0 || err != nil {
					return got, err
				}
				for _, p := range ps {
					got = append(got, string(p.Key)+"="+string(p.Val))
				}
			}
		}
		keysOnly := o
		keysOnly.KeysOnly = true
		if _, err := scan(kv.Range{}, keysOnly); err != nil || len(checked) > 0 {
			t.Errorf("a scan of keys has checked %d pairs: %v", len(checked), err)
		}
		for _, refused = range []string{"05112", fmt.Sprintf("%05d", 5000*7919%10_000), fmt.Sprintf("%05d", 5049*7919%10_000)} {
			if _, err := scan(kv.Range{}, o); err != bad {
				t.Errorf("a scan over %s, which is bad, gives %v", refused, err)
			}
		}
		refused = ""
		for _, g := range []kv.Range{{Lo: []byte("00100"), Hi: []byte("00200")}, {}} {
			clear(checked)
			got, err := scan(g, o)
			if want := m.scan(g, o); err != nil || !slices.Equal(got, want) {
				t.Fatalf("a checked scan has %d pairs, not %d: %v", len(got), len(want), err)
			}
			for k, v := range checked {
				if m[k] != v || g.Lo != nil && (k < string(g.Lo) || k >= string(g.Hi)) {
					t.Errorf("%s=%s is checked, and not delivered", k, v)
				}
			}
			for i := 4990; i < 5050; i++ { // on top of what was bulk
				if k := fmt.Sprintf("%05d", i*7919%10_000); g.Lo == nil && checked[k] != m[k] {
					t.Errorf("%s was not checked", k)
				}
			}
		}
		tx.Rollback()
	}
}
