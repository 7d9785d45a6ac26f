package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/memkv"
	"kvsqld/storage/txn"
)

// serialTxn is a transaction of TestSerialOrder. Values are the number of the
// transaction that wrote them, 0 is an absent key.
type serialTxn struct {
	id         int
	tx         kv.Txn
	before     kv.Snapshot // the same that tx has, read without tx knowing
	readOnly   bool
	begin, end int64
	reads      map[string]int // the version that was read
	writes     map[string]int // the version that was replaced
	log        []string
}

func (x *serialTxn) get(r kv.Reader, key string) (int, error) {
	v, err := r.Get(context.Background(), serialSpace, []byte(key))
	if errors.Is(err, kv.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(v))
}

var serialSpace = kv.Space{ID: 1, DB: "db", File: "f"}

// saw notes a read, but not of what the transaction has written itself.
func (x *serialTxn) saw(key string, version int) {
	if _, own := x.writes[key]; !own {
		x.reads[key] = version
		x.log = append(x.log, fmt.Sprintf("r%s=%d", key, version))
	}
}

func (x *serialTxn) step(rnd *rand.Rand, keys []string) error {
	ctx := context.Background()
	key := keys[rnd.IntN(len(keys))]
	switch n := rnd.IntN(10); {
	case n < 4 || x.readOnly && n < 8:
		v, err := x.get(x.tx, key)
		if err != nil {
			return err
		}
		x.saw(key, v)
	case n < 5 || x.readOnly:
		to := keys[rnd.IntN(len(keys))]
		if to < key {
			key, to = to, key
		}
		it := x.tx.Scan(ctx, serialSpace, kv.Range{Lo: []byte(key), Hi: []byte(to)}, kv.ScanOpt{})
		defer it.Close()
		found := map[string]int{}
		for {
			ps, err := it.Next()
			if err != nil {
				return err
			}
			if len(ps) == 0 {
				break
			}
			for _, p := range ps {
				found[string(p.Key)], _ = strconv.Atoi(string(p.Val))
			}
		}
		for _, k := range keys {
			if key <= k && k < to {
				x.saw(k, found[k])
			}
		}
	default:
		if n < 7 {
			res, err := x.tx.LockKeys(ctx, serialSpace, kv.LockOpt{AtSnapshot: true}, []byte(key))
			if err != nil {
				return err
			}
			v, _ := strconv.Atoi(string(res[0].Val))
			x.saw(key, v)
			if n < 6 { // locked only
				return nil
			}
		}
		old, err := x.get(x.before, key)
		if err != nil {
			return err
		}
		if err := x.tx.Put(serialSpace, []byte(key), []byte(strconv.Itoa(x.id))); err != nil {
			return err
		}
		if _, again := x.writes[key]; !again {
			x.writes[key] = old
			x.log = append(x.log, "w"+key)
		}
	}
	return nil
}

// TestSerialOrder runs SERIALIZABLE transactions step by step beside each other: those
// that commit have a serial order, in which who began after another's end comes later.
func TestSerialOrder(t *testing.T) {
	t.Run("mem", func(t *testing.T) {
		serialRounds(t, 2000, func() *txn.Store { return memkv.Open(txn.Options{}) })
	})
	t.Run("bolt", func(t *testing.T) { // where commits are applied before they are visible
		serialRounds(t, 60, func() *txn.Store {
			st, err := boltkv.Open(t.TempDir(), boltkv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return st
		})
	})
}

func serialRounds(t *testing.T, rounds int, open func() *txn.Store) {
	if testing.Short() {
		rounds /= 10
	}
	committed, failed, beside := 0, 0, 0
	for seed := range uint64(rounds) {
		done, lost := serialRound(t, open(), seed)
		committed += len(done)
		failed += lost
		if c := circle(done); c != nil {
			for _, x := range c {
				t.Logf("%d [%d, %d] read only %v: %s", x.id, x.begin, x.end, x.readOnly, strings.Join(x.log, " "))
			}
			t.Fatalf("seed %d: a circle", seed)
		}
		// Some have come before what committed before them: else nothing was tried.
		for _, x := range done {
			for _, y := range done {
				if y.end < x.end && x.precedes(y) && len(x.writes) > 0 {
					beside++
				}
			}
		}
	}
	t.Logf("%d committed, %d failed, %d orders other than that of the commits", committed, failed, beside)
	if beside < rounds/10 {
		t.Error("hardly any order but that of the commits")
	}
}

func serialRound(t *testing.T, st *txn.Store, seed uint64) (done []*serialTxn, failed int) {
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(seed, 1))
	var safe sync.WaitGroup
	defer safe.Wait() // for who waits still where the test fails: Close ends that
	defer st.Close()
	setup, err := st.Begin(ctx, kv.BeginOpt{})
	if err == nil {
		err = errors.Join(setup.CreateSpace(serialSpace), setup.Commit(ctx))
	}
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"a", "b", "c", "d", "e", "f", "g", "h"}[:2+rnd.IntN(7)]
	var clock atomic.Int64
	var open []*serialTxn
	begun := 0
	start := func() *serialTxn {
		begun++
		x := &serialTxn{id: begun, begin: clock.Add(1), readOnly: rnd.IntN(4) == 0, reads: map[string]int{}, writes: map[string]int{}}
		x.tx, err = st.Begin(ctx, kv.BeginOpt{Isolation: kv.Serializable, ReadOnly: x.readOnly && rnd.IntN(2) == 0})
		if err == nil {
			x.before, err = x.tx.Export()
		}
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	// Some wait for a safe snapshot beside all that, and none of them fails.
	readers := make([]*serialTxn, rnd.IntN(4))
	readSafely := func(x *serialTxn) error {
		if err := x.tx.AwaitSafe(ctx); err != nil {
			return err
		}
		for _, k := range keys {
			v, err := x.get(x.tx, k)
			if err != nil {
				return err
			}
			x.saw(k, v)
		}
		return x.tx.Commit(ctx)
	}
	waiting := 0
	for begun < 25 || len(open) > 0 {
		if waiting < len(readers) && rnd.IntN(8) == 0 {
			x := &serialTxn{id: -1 - waiting, begin: clock.Add(1), readOnly: true, reads: map[string]int{}}
			if x.tx, err = st.Begin(ctx, kv.BeginOpt{Isolation: kv.Serializable, ReadOnly: true}); err != nil {
				t.Fatal(err)
			}
			readers[waiting] = x
			waiting++
			safe.Go(func() {
				if err := readSafely(x); err != nil {
					t.Errorf("seed %d: a safe snapshot: %v", seed, err)
				}
				x.end = clock.Add(1)
			})
		}
		if begun < 25 && (len(open) == 0 || len(open) < 5 && rnd.IntN(4) == 0) {
			open = append(open, start())
			continue
		}
		if rnd.IntN(5) > 0 {
			i := rnd.IntN(len(open))
			x := open[i]
			err := x.step(rnd, keys)
			if errors.Is(err, kv.ErrConflict) || errors.Is(err, kv.ErrLockTimeout) {
				failed++
				x.before.Close()
				x.tx.Rollback()
				open = slices.Delete(open, i, i+1)
			} else if err != nil {
				t.Fatal(err)
			}
			continue
		}
		rnd.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		n := 1 + rnd.IntN(len(open))
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i, x := range open[:n] {
			x.before.Close()
			x.tx.OnCommit(func() { // gives the others time to become a batch
				for range 20 * (n - 1) {
					runtime.Gosched()
				}
			})
			wg.Go(func() {
				errs[i] = x.tx.Commit(ctx)
				x.end = clock.Add(1)
			})
		}
		for begun < 25 && rnd.IntN(2) == 0 { // some begin before the commits are visible
			x := start()
			open = append(open, x)
			if err := x.step(rnd, keys); err != nil && !errors.Is(err, kv.ErrConflict) && !errors.Is(err, kv.ErrLockTimeout) {
				t.Fatal(err)
			}
		}
		wg.Wait()
		for i, x := range open[:n] {
			switch {
			case errs[i] == nil:
				done = append(done, x)
			case errors.Is(errs[i], kv.ErrConflict):
				failed++
			default:
				t.Fatal(errs[i])
			}
		}
		open = slices.Delete(open, 0, n)
	}
	safe.Wait()
	return append(done, readers[:waiting]...), failed
}

// precedes reports whether x has read what y replaced.
func (x *serialTxn) precedes(y *serialTxn) bool {
	for k, v := range x.reads {
		if old, ok := y.writes[k]; ok && old == v && x != y {
			return true
		}
	}
	return false
}

// before reports whether x must come before y.
func (x *serialTxn) comesBefore(y *serialTxn) bool {
	if x == y {
		return false
	}
	if x.end < y.begin || x.precedes(y) {
		return true
	}
	for k := range x.writes {
		if v, ok := y.reads[k]; ok && v == x.id {
			return true
		}
		if v, ok := y.writes[k]; ok && v == x.id {
			return true
		}
	}
	return false
}

// circle returns a circle of dependencies, or nil.
func circle(all []*serialTxn) []*serialTxn {
	const onPath, past = 1, 2
	state := map[*serialTxn]int{}
	var path []*serialTxn
	var visit func(x *serialTxn) []*serialTxn
	visit = func(x *serialTxn) []*serialTxn {
		state[x] = onPath
		path = append(path, x)
		for _, y := range all {
			if !x.comesBefore(y) {
				continue
			}
			if state[y] == onPath {
				return path[slices.Index(path, y):]
			}
			if state[y] == 0 {
				if c := visit(y); c != nil {
					return c
				}
			}
		}
		state[x] = past
		path = path[:len(path)-1]
		return nil
	}
	for _, x := range all {
		if state[x] == 0 {
			if c := visit(x); c != nil {
				return c
			}
		}
	}
	return nil
}
