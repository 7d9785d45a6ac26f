package boltkv_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/vfs/vfstest"
	"kvsqld/storage/walkv"
)

// powerCuts is the variable with the number of losses of power.
const powerCuts = "KVSQLD_POWER_CUTS"

const (
	powerWriters = 3
	powerKeys    = 16
	cutsPerRun   = 100
)

// ack says that a writer's commit was acknowledged, asked that it began.
type (
	ack   struct{ writer, n int }
	asked struct{ writer, n int }
)

func powerKey(w, i int) []byte { return fmt.Appendf(nil, "%d/%02d", w, i) }

// powerMode says what the n-th commit of a writer waits for.
func powerMode(w, n int) kv.Durability { return kv.Durability((w + n/4) % 3) }

// powerTotal is the key with the number of all commits, over which the writers
// wait for each other.
const powerTotal = "total"

// powerCommit is the n-th commit of a writer: the same pairs in two files, the
// count, and one more in the total.
func powerCommit(st kv.Store, w, n int) error {
	return update(st, func(tx kv.Txn) error {
		tx.SetDurability(powerMode(w, n))
		tx.SetAhead(true)
		res, err := tx.LockKeys(ctx, table, kv.LockOpt{Wait: kv.WaitForever}, []byte(powerTotal))
		if err != nil {
			return err
		}
		total, _ := strconv.Atoi(string(res[0].Val))
		if err := tx.Put(table, []byte(powerTotal), fmt.Append(nil, total+1)); err != nil {
			return err
		}
		v := powerValue(w, n)
		k := powerKey(w, n%powerKeys)
		return errors.Join(tx.Put(table, k, v), tx.Put(index, k, v),
			tx.Put(table, fmt.Appendf(nil, "count %d", w), fmt.Append(nil, n)))
	})
}

// powerValue is small, or now and then so large that it does not go to the log.
func powerValue(w, n int) []byte {
	size := 10 + n*7%300
	if n%41 == 40 {
		size = 6000
	}
	return append(fmt.Appendf(nil, "%d %d ", w, n), make([]byte, size)...)
}

// powerFile is made with so many pairs that their pages are written in bulk.
var powerFile = kv.Space{ID: 77, DB: "other", File: "file"}

const powerPairs = 60

// powerLoad writes, makes, clears and drops files, and compacts, until all
// writers are done.
func powerLoad(t *testing.T, st kv.Store, p *vfstest.Power, from []int, commits int) {
	var wg sync.WaitGroup
	for w := range powerWriters {
		wg.Go(func() {
			for n := from[w] + 1; n <= from[w]+commits; n++ {
				p.Mark(asked{w, n})
				if err := powerCommit(st, w, n); err != nil {
					t.Error(err)
					return
				}
				if powerMode(w, n) != kv.Lazy { // else it and those before it are promised for later
					p.Mark(ack{w, n})
				}
			}
		})
	}
	wg.Go(func() {
		sp := powerFile
		for i := range 3 {
			err := errors.Join(
				update(st, func(tx kv.Txn) error {
					has, err := tx.HasSpace(sp) // from before the loss of power
					if has {
						err = errors.Join(err, tx.DropSpace(sp))
					}
					err = errors.Join(err, tx.CreateSpace(sp))
					for i := range powerPairs {
						err = errors.Join(err, tx.Put(sp, fmt.Appendf(nil, "%03d", i), make([]byte, 600)))
					}
					return err
				}),
				update(st, func(tx kv.Txn) error { return tx.DropSpace(sp) }))
			if err == nil && i == 1 {
				err = st.Compact(ctx, nil)
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

// powerState compares what is there with what the writers may have written, and
// returns the number of commits of each.
func powerState(t *testing.T, st kv.Store, least, most []int) []int {
	t.Helper()
	s, err := st.Snapshot(ctx)
	must(t, err)
	defer s.Close()
	counts := make([]int, powerWriters)
	sum := 0
	for w := range counts {
		v, err := s.Get(ctx, table, fmt.Appendf(nil, "count %d", w))
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			t.Fatal(err)
		}
		counts[w], _ = strconv.Atoi(string(v))
		if counts[w] < least[w] || counts[w] > most[w] {
			t.Fatalf("writer %d has %d commits; %d were acknowledged, %d begun", w, counts[w], least[w], most[w])
		}
		sum += counts[w]
		for i := range powerKeys {
			n := counts[w] - (counts[w]-i+powerKeys)%powerKeys // the last commit that wrote the key
			for _, sp := range []kv.Space{table, index} {
				v, err := s.Get(ctx, sp, powerKey(w, i))
				if n <= 0 && errors.Is(err, kv.ErrNotFound) {
					continue
				}
				if err != nil || string(v) != string(powerValue(w, n)) {
					t.Fatalf("key %d of writer %d in %s is %.20q, %v after %d commits", i, w, sp.File, v, err, counts[w])
				}
			}
		}
	}
	pairs := 0
	it := s.Scan(ctx, powerFile, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	for {
		chunk, err := it.Next()
		must(t, err)
		if pairs += len(chunk); len(chunk) == 0 {
			break
		}
	}
	if pairs != 0 && pairs != powerPairs {
		t.Fatalf("%d pairs of %d", pairs, powerPairs)
	}
	v, err := s.Get(ctx, table, []byte(powerTotal))
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		t.Fatal(err)
	}
	if total, _ := strconv.Atoi(string(v)); total != sum {
		t.Fatalf("the total is %d after %d commits", total, counts)
	}
	return counts
}

// marked returns what was acknowledged and begun before a loss of power.
func marked(marks []any, from []int) (least, most []int) {
	least, most = append([]int(nil), from...), append([]int(nil), from...)
	for _, m := range marks {
		switch m := m.(type) {
		case ack:
			least[m.writer] = max(least[m.writer], m.n)
		case asked:
			most[m.writer] = max(most[m.writer], m.n)
		}
	}
	return least, most
}

// TestPowerLoss cuts the power at random moments of a mixed load and of the
// recoveries after that: what was acknowledged is there, nothing is there by
// half, and Check finds nothing.
func TestPowerLoss(t *testing.T) {
	cuts := 200
	if testing.Short() {
		cuts = cutsPerRun
	}
	if v := os.Getenv(powerCuts); v != "" {
		var err error
		cuts, err = strconv.Atoi(v)
		must(t, err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	scratch := t.TempDir()
	done, again := 0, 0
	opt := boltkv.Options{MmapBytes: 1 << 22, Log: walkv.Options{MemBytes: 8000, DirectBytes: 5000, Interval: time.Millisecond}}
	for run := 0; done < cuts; run++ {
		dir := filepath.Join(scratch, fmt.Sprint("run", run))
		must(t, os.Mkdir(dir, 0o700))
		p, err := vfstest.NewPower(dir)
		must(t, err)
		opt.FS = p
		st, err := boltkv.Open(dir, opt)
		must(t, err)
		must(t, create(st))
		p.Mark("created")
		zero := make([]int, powerWriters)
		powerLoad(t, st, p, zero, 60)
		must(t, st.Close())
		p.Cuts(r, cutsPerRun, func(marks []any, restore func(dir string) error) {
			at := filepath.Join(scratch, "cut")
			must(t, os.RemoveAll(at))
			must(t, os.Mkdir(at, 0o700))
			must(t, restore(at))
			least, most := marked(marks, zero)
			done++
			if done%10 == 0 {
				again++
				cutAgain(t, r, at, opt, least, most, len(marks) == 0)
				return
			}
			afterCut(t, at, opt, least, most, len(marks) == 0)
		})
		must(t, os.RemoveAll(dir))
		if t.Failed() {
			t.Fatalf("in run %d", run)
		}
	}
	t.Logf("%d losses of power, %d more during recovery", done, again)
}

// afterCut opens what is left. Where not even the files were acknowledged they
// may be missing.
func afterCut(t *testing.T, dir string, opt boltkv.Options, least, most []int, early bool) {
	t.Helper()
	opt.FS, opt.NoSync = nil, true
	st, err := boltkv.Open(dir, opt)
	must(t, err)
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
	counts := powerState(t, st, least, most)
	if !early {
		must(t, powerCommit(st, 0, counts[0]+1))
		must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
	}
	must(t, st.Close())
}

// cutAgain loses power during the recovery, and looks at what is left of that.
func cutAgain(t *testing.T, r *rand.Rand, dir string, opt boltkv.Options, least, most []int, early bool) {
	t.Helper()
	p, err := vfstest.NewPower(dir)
	must(t, err)
	opt.FS = p
	st, err := boltkv.Open(dir, opt)
	must(t, err)
	counts := powerState(t, st, least, most)
	if !early {
		powerLoad(t, st, p, counts, 3)
	}
	must(t, st.Close())
	p.Cuts(r, 3, func(marks []any, restore func(dir string) error) {
		at := filepath.Join(filepath.Dir(dir), "again")
		must(t, os.RemoveAll(at))
		must(t, os.Mkdir(at, 0o700))
		must(t, restore(at))
		least, most := marked(marks, counts)
		afterCut(t, at, opt, least, most, early)
	})
}
