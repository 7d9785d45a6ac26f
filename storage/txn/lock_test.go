package txn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"kvsqld/storage/kv"
)

// TestRowLocksExclude lets transactions that escalate after a few rows, others
// that never do, and sharers, count in plain variables under their locks. The
// race detector sees what the sums might miss.
func TestRowLocksExclude(t *testing.T) {
	_, st := newFake(t, Options{})
	st.locks.escalateAt = 4
	const keys, clients, rounds = 12, 6, 150
	var counters [keys]int
	var want [clients][keys]int
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 7))
			for range rounds {
				tx, err := st.Begin(ctx, kv.BeginOpt{})
				if err != nil {
					t.Error(err)
					return
				}
				ks := r.Perm(keys)[:1+r.IntN(8)]
				slices.Sort(ks)
				if r.IntN(3) == 0 {
					r.Shuffle(len(ks), func(i, j int) { ks[i], ks[j] = ks[j], ks[i] })
				}
				sum := 0
				for _, k := range ks {
					o := kv.LockOpt{Wait: kv.WaitForever, NoValue: true, Mode: sharedIf(c == 0)}
					if r.IntN(10) == 0 {
						o.Wait = 0
					}
					_, err := tx.LockKeys(ctx, sp, o, fmt.Append(nil, k))
					if errors.Is(err, kv.ErrDeadlock) || errors.Is(err, kv.ErrLockTimeout) {
						break
					}
					if err != nil {
						t.Error(err)
						break
					}
					if c == 0 {
						sum += counters[k]
					} else {
						counters[k]++
						want[c][k]++
					}
				}
				tx.Rollback()
			}
		})
	}
	wg.Wait()
	for k := range counters {
		sum := 0
		for c := range want {
			sum += want[c][k]
		}
		if counters[k] != sum {
			t.Errorf("key %d was counted %d times, want %d", k, counters[k], sum)
		}
	}
	sl := st.locks.space(sp.ID)
	if n := sl.rowHeld.Load(); n != 0 || sl.rowOwner.Load() != nil {
		t.Errorf("%d rows are held, owner %v", n, sl.rowOwner.Load())
	}
	for i := range st.locks.shards {
		if n := len(st.locks.shards[i].m); n != 0 {
			t.Errorf("shard %d has %d locks left", i, n)
		}
	}
}

// TestTableLocksExclude does the same with table locks of all modes.
func TestTableLocksExclude(t *testing.T) {
	_, st := newFake(t, Options{})
	var mu sync.Mutex
	var held [kv.NumTableLockModes]int
	var wg sync.WaitGroup
	for c := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 8))
			for range 200 {
				tx, err := st.Begin(ctx, kv.BeginOpt{Client: int32(c + 1)})
				if err != nil {
					t.Error(err)
					return
				}
				modes := kv.NumTableLockModes
				if r.IntN(3) > 0 { // mostly those of readers and writers
					modes = int(kv.RowExclusive) + 1
				}
				var mine [kv.NumTableLockModes]int
				mark := tx.LockMark()
				for range 1 + r.IntN(3) {
					m := kv.TableLockMode(r.IntN(modes))
					if mine[m] > 0 {
						continue
					}
					err := tx.LockSpace(ctx, sp, m, kv.LockOpt{Wait: kv.WaitForever})
					if err != nil {
						if !errors.Is(err, kv.ErrDeadlock) {
							t.Error(err)
						}
						break
					}
					mu.Lock()
					mine[m]++
					held[m]++
					for o := range held {
						if m.Conflicts()&(1<<o) != 0 && held[o] > mine[o] {
							t.Errorf("%s was granted beside %s", m, kv.TableLockMode(o))
						}
					}
					mu.Unlock()
				}
				mu.Lock()
				for m := range mine {
					held[m] -= mine[m]
				}
				mu.Unlock()
				if r.IntN(4) == 0 {
					tx.UnlockTo(mark)
				}
				tx.Rollback()
			}
		})
	}
	wg.Wait()
	noTableLocks(t, st)
	sl := st.locks.space(sp.ID)
	if sl.mask != 0 || len(sl.holders) != 0 || len(sl.queue) != 0 {
		t.Errorf("left over: modes %b, %d holders, %d waiters", sl.mask, len(sl.holders), len(sl.queue))
	}
}

// noTableLocks looks for what is left of table locks that were given back.
func noTableLocks(t *testing.T, st *Store) {
	t.Helper()
	if l := st.Locks(); len(l) != 0 {
		t.Errorf("locks are listed: %v", l)
	}
}

// TestReadersAndWriters takes table locks of readers and writers before, while and after
// there is somebody whom they exclude.
func TestReadersAndWriters(t *testing.T) {
	_, st := newFake(t, Options{})
	begin := func(client int32) *Txn {
		t.Helper()
		tx, err := st.Begin(ctx, kv.BeginOpt{Client: client})
		if err != nil {
			t.Fatal(err)
		}
		return tx.(*Txn)
	}
	lock := func(tx *Txn, m kv.TableLockMode, want error) {
		t.Helper()
		if err := tx.LockSpace(ctx, sp, m, kv.LockOpt{}); !errors.Is(err, want) {
			t.Fatalf("%s: %v", m, err)
		}
	}
	listed := func(want ...kv.LockInfo) {
		t.Helper()
		got := st.Locks()
		slices.SortFunc(got, func(a, b kv.LockInfo) int { return int(a.Client-b.Client)*8 + int(a.Mode) - int(b.Mode) })
		for i := range want {
			want[i].Space, want[i].Granted = sp.ID, true
		}
		if !slices.Equal(got, want) {
			t.Fatalf("listed are %v, want %v", got, want)
		}
	}
	reader, writer, strong := begin(1), begin(4), begin(3)
	lock(reader, kv.AccessShare, nil)
	lock(writer, kv.RowExclusive, nil)
	lock(writer, kv.AccessShare, nil)
	listed(kv.LockInfo{Client: 1, Mode: kv.AccessShare},
		kv.LockInfo{Client: 4, Mode: kv.AccessShare}, kv.LockInfo{Client: 4, Mode: kv.RowExclusive})
	lock(strong, kv.ShareUpdateExclusive, nil)
	lock(strong, kv.Share, kv.ErrLockTimeout)
	lock(reader, kv.RowShare, nil)
	mark := writer.LockMark()
	lock(writer, kv.RowShare, nil)
	writer.UnlockTo(mark)
	writer.Rollback()
	lock(strong, kv.Share, nil) // which a reader and its row locks do not mind
	listed(kv.LockInfo{Client: 1, Mode: kv.AccessShare}, kv.LockInfo{Client: 1, Mode: kv.RowShare},
		kv.LockInfo{Client: 3, Mode: kv.ShareUpdateExclusive}, kv.LockInfo{Client: 3, Mode: kv.Share})
	late := begin(2)
	lock(late, kv.RowExclusive, kv.ErrLockTimeout)
	lock(late, kv.AccessShare, nil)
	lock(strong, kv.AccessExclusive, kv.ErrLockTimeout)
	strong.Rollback()
	lock(late, kv.RowExclusive, nil)
	late.Rollback()
	reader.Rollback()

	// Who waits keeps those away who come after.
	reader, writer, strong = begin(1), begin(2), begin(3)
	lock(reader, kv.AccessShare, nil)
	got := make(chan error)
	go func() { got <- strong.LockSpace(ctx, sp, kv.AccessExclusive, kv.LockOpt{Wait: kv.WaitForever}) }()
	for len(st.Blockers(3)) == 0 {
		runtime.Gosched()
	}
	lock(writer, kv.AccessShare, kv.ErrLockTimeout)
	lock(reader, kv.RowExclusive, nil) // whoever holds a lock passes those who wait for it to go
	reader.Rollback()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	lock(writer, kv.AccessShare, kv.ErrLockTimeout)
	strong.Rollback()
	lock(writer, kv.AccessShare, nil)
	writer.Rollback()
	noTableLocks(t, st)
}

// TestRowModesExclude compares what is granted with the conflict table, and
// leaves no lock behind.
func TestRowModesExclude(t *testing.T) {
	_, st := newFake(t, Options{})
	var mu sync.Mutex
	var held [4]int
	var wg sync.WaitGroup
	for c := range 6 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 9))
			for range 300 {
				tx, err := st.Begin(ctx, kv.BeginOpt{Client: int32(c) + 1})
				if err != nil {
					t.Error(err)
					return
				}
				mine := -1
				for range 1 + r.IntN(2) {
					m := kv.RowLockMode(r.IntN(4))
					_, err := tx.LockKeys(ctx, sp, kv.LockOpt{Wait: kv.WaitForever, Mode: m}, []byte("k"))
					if errors.Is(err, kv.ErrDeadlock) {
						break
					}
					if err != nil {
						t.Error(err)
						break
					}
					mu.Lock()
					if mine < 0 || int(m) < mine {
						if mine >= 0 {
							held[mine]--
						}
						mine = int(m)
						held[mine]++
					}
					for o := range held {
						others := held[o]
						if o == mine {
							others--
						}
						if kv.RowLockMode(mine).Conflicts(kv.RowLockMode(o)) && others > 0 {
							t.Errorf("mode %d is held beside %d", mine, o)
						}
					}
					mu.Unlock()
				}
				mu.Lock()
				if mine >= 0 {
					held[mine]--
				}
				mu.Unlock()
				tx.Rollback()
			}
		})
	}
	wg.Wait()
	for i := range st.locks.shards {
		if n := len(st.locks.shards[i].m); n != 0 {
			t.Errorf("shard %d has %d locks left", i, n)
		}
	}
	if n := len(st.locks.graph.owners); n != 0 {
		t.Errorf("%d waiters are left in the graph", n)
	}
}

// TestDeadlockOverClients closes a circle over a row lock and a wait that the
// store was told of, from either side.
func TestDeadlockOverClients(t *testing.T) {
	_, st := newFake(t, Options{})
	a, _ := st.Begin(ctx, kv.BeginOpt{Client: 1})
	b, _ := st.Begin(ctx, kv.BeginOpt{Client: 2})
	defer b.Rollback()
	forever := kv.LockOpt{Wait: kv.WaitForever}
	if _, err := a.LockKeys(ctx, sp, forever, []byte("k")); err != nil {
		t.Fatal(err)
	}
	// Client 1 waits for client 2, who then wants the row of client 1.
	if err := st.WaitOutside(kv.LockWait{Client: 1, External: "x"}, []int32{2}); err != nil {
		t.Fatal(err)
	}
	_, err := b.LockKeys(ctx, sp, forever, []byte("k"))
	var dead *kv.DeadlockError
	if !errors.As(err, &dead) || len(dead.Waits) != 2 || dead.Waits[0].Client != 2 || dead.Waits[1].Client != 1 || dead.Waits[1].External != "x" {
		t.Fatalf("got %v %+v", err, dead)
	}
	st.EndWait(1)
	// The other way round: client 2 waits for the row, client 1 for client 2.
	done := make(chan error)
	go func() { _, err := b.LockKeys(ctx, sp, forever, []byte("k")); done <- err }()
	for len(st.Blockers(2)) == 0 {
		runtime.Gosched()
	}
	err = st.WaitOutside(kv.LockWait{Client: 1, External: "x"}, []int32{2})
	if !errors.As(err, &dead) || len(dead.Waits) != 2 || dead.Waits[0].Client != 1 || dead.Waits[1].Client != 2 {
		t.Fatalf("got %v %+v", err, dead)
	}
	a.Rollback()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func sharedIf(shared bool) kv.RowLockMode {
	if shared {
		return kv.ForShare
	}
	return kv.ForUpdate
}

// TestLockKeysReadsTogether: keys whose values are wanted are read side by side, and who
// has all rows of a space is told so.
func TestLockKeysReadsTogether(t *testing.T) {
	e, st := newFake(t, Options{})
	st.locks.escalateAt = 50
	begin := func() kv.Txn {
		tx, err := st.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tx.Rollback)
		return tx
	}
	tx, other := begin(), begin()
	if err := tx.Put(sp, []byte("own"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	keys := [][]byte{[]byte("own")}
	for i := range 60 {
		keys = append(keys, fmt.Appendf(nil, "row %2d", i))
	}
	for _, o := range []kv.LockOpt{{IfPresent: true}, {IfAbsent: true}} {
		if tx.AllLocked(sp) {
			t.Error("all rows are locked before they are")
		}
		e.gets, e.batches = 0, 0
		res, err := tx.LockKeys(ctx, sp, o, keys...)
		if err != nil {
			t.Fatal(err)
		}
		if e.gets != 0 || e.batches != 1 {
			t.Errorf("%d keys were read by %d calls of Get and %d of BatchGet", len(keys), e.gets, e.batches)
		}
		for i := range res {
			if want := map[bool]string{true: "v"}[i == 0]; string(res[i].Val) != want {
				t.Errorf("%s has %q, want %q", keys[i], res[i].Val, want)
			}
		}
	}
	if !tx.AllLocked(sp) || other.AllLocked(sp) {
		t.Errorf("all rows are locked for the one that has them: %v, for another: %v", tx.AllLocked(sp), other.AllLocked(sp))
	}
}

// TestExpectedLocks: who is going to lock many rows of a space has all of them at once,
// unless others have any.
func TestExpectedLocks(t *testing.T) {
	_, st := newFake(t, Options{})
	st.locks.escalateAt = 50
	many := kv.LockOpt{NoValue: true, Expect: 50}
	for _, tt := range []struct {
		name  string
		other bool // another transaction has a row
		o     kv.LockOpt
		want  bool
	}{
		{"many", false, many, true},
		{"many, beside others", true, many, false},
		{"few", false, kv.LockOpt{NoValue: true, Expect: 49}, false},
		{"shared", false, kv.LockOpt{NoValue: true, Expect: 50, Mode: kv.ForShare}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var txs [2]kv.Txn
			for i := range txs {
				var err error
				if txs[i], err = st.Begin(ctx, kv.BeginOpt{}); err != nil {
					t.Fatal(err)
				}
				defer txs[i].Rollback()
			}
			tx, other := txs[0], txs[1]
			if tt.other {
				if _, err := other.LockKeys(ctx, sp, kv.LockOpt{NoValue: true}, []byte("b")); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := tx.LockKeys(ctx, sp, tt.o, []byte("a")); err != nil {
				t.Fatal(err)
			}
			if got := st.locks.space(sp.ID).rowOwner.Load() != nil; got != tt.want {
				t.Errorf("all rows are locked: %v", got)
			}
			if _, err := other.LockKeys(ctx, sp, kv.LockOpt{NoValue: true}, []byte("c")); errors.Is(err, kv.ErrLockTimeout) != tt.want {
				t.Errorf("another row is locked with %v", err)
			}
			tx.Rollback()
			if _, err := other.LockKeys(ctx, sp, kv.LockOpt{NoValue: true}, []byte("a")); err != nil {
				t.Errorf("after the end: %v", err)
			}
			other.Rollback()
			if got := st.Stats().RowLocks; got != 0 {
				t.Errorf("%d row locks are left", got)
			}
		})
	}
}
