package txn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"kvsqld/storage/kv"
)

// TestUnlockTo has transactions give back some of their row and table locks again and
// again, also after they have taken whole spaces, and count in plain variables
// meanwhile: who has given a lock back lets others in, and nobody else does.
func TestUnlockTo(t *testing.T) {
	_, st := newFake(t, Options{})
	st.locks.escalateAt = 5
	const keys, clients, rounds = 10, 6, 200
	var counters, want [keys]int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 11))
			for range rounds {
				tx, err := st.Begin(ctx, kv.BeginOpt{})
				if err != nil {
					t.Error(err)
					return
				}
				take := func(n int) bool {
					for range n {
						k := r.IntN(keys)
						_, err := tx.LockKeys(ctx, sp, kv.LockOpt{Wait: kv.WaitForever, NoValue: true, Mode: sharedIf(r.IntN(4) == 0)}, fmt.Append(nil, k))
						if err == nil { // often it gets stronger
							_, err = tx.LockKeys(ctx, sp, kv.LockOpt{Wait: kv.WaitForever, NoValue: true}, fmt.Append(nil, k))
						}
						if errors.Is(err, kv.ErrDeadlock) {
							return false
						}
						if err != nil {
							t.Error(err)
							return false
						}
						counters[k]++
						mu.Lock()
						want[k]++
						mu.Unlock()
					}
					err := tx.LockSpace(ctx, sp, kv.TableLockMode(r.IntN(3)), kv.LockOpt{Wait: kv.WaitForever})
					return err == nil
				}
				ok := take(r.IntN(3))
				for range r.IntN(4) {
					if !ok {
						break
					}
					m := tx.LockMark()
					if ok = take(r.IntN(4)); !ok {
						break
					}
					switch r.IntN(4) {
					case 0, 1:
						tx.UnlockTo(m)
					case 2:
						tx.Unlock(sp, fmt.Append(nil, r.IntN(keys)), fmt.Append(nil, r.IntN(keys)))
					}
				}
				tx.Rollback()
			}
		})
	}
	wg.Wait()
	if counters != want {
		t.Errorf("counted %v, want %v", counters, want)
	}
	if n := st.Stats().RowLocks; n != 0 {
		t.Errorf("%d row locks are left", n)
	}
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := tx.LockSpace(ctx, sp, kv.AccessExclusive, kv.LockOpt{}); err != nil {
		t.Errorf("a table lock is left: %v", err)
	}
}

// TestUnlockToWakes has somebody wait for what is given back, and for what is not.
func TestUnlockToWakes(t *testing.T) {
	_, st := newFake(t, Options{})
	a, _ := st.Begin(ctx, kv.BeginOpt{})
	defer a.Rollback()
	lock := func(tx kv.Txn, key string, o kv.LockOpt) error {
		_, err := tx.LockKeys(ctx, sp, o, []byte(key))
		return err
	}
	wait := kv.LockOpt{Wait: kv.WaitForever}
	if err := errors.Join(lock(a, "kept", wait), a.LockSpace(ctx, sp, kv.RowExclusive, wait)); err != nil {
		t.Fatal(err)
	}
	m := a.LockMark()
	if err := errors.Join(lock(a, "given", wait), lock(a, "kept", wait), a.LockSpace(ctx, sp, kv.Exclusive, wait)); err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 2)
	for _, f := range []func(tx kv.Txn) error{
		func(tx kv.Txn) error { return lock(tx, "given", wait) },
		func(tx kv.Txn) error { return tx.LockSpace(ctx, sp, kv.RowExclusive, wait) },
	} {
		tx, _ := st.Begin(ctx, kv.BeginOpt{})
		defer tx.Rollback()
		go func() { got <- f(tx) }()
	}
	a.UnlockTo(m)
	if err := errors.Join(<-got, <-got); err != nil {
		t.Error(err)
	}
	shared := kv.LockOpt{Wait: kv.WaitForever, Mode: kv.ForShare}
	if err := lock(a, "shared", shared); err != nil {
		t.Fatal(err)
	}
	m = a.LockMark()
	if err := lock(a, "shared", wait); err != nil {
		t.Fatal(err)
	}
	c, _ := st.Begin(ctx, kv.BeginOpt{})
	defer c.Rollback()
	go func() { got <- lock(c, "shared", shared) }()
	a.UnlockTo(m)
	if err := <-got; err != nil {
		t.Error(err)
	}
	b, _ := st.Begin(ctx, kv.BeginOpt{})
	defer b.Rollback()
	if err := lock(b, "kept", kv.LockOpt{}); !errors.Is(err, kv.ErrLockTimeout) {
		t.Errorf("the kept row: %v", err)
	}
	if err := b.LockSpace(ctx, sp, kv.Share, kv.LockOpt{}); !errors.Is(err, kv.ErrLockTimeout) {
		t.Errorf("the kept table lock: %v", err)
	}
}

// TestLocksGoBackwards: a transaction locks a key and then another that the first one
// stands for. Who waits for the first has it when the other is free as well.
func TestLocksGoBackwards(t *testing.T) {
	_, st := newFake(t, Options{})
	shard := func(key []byte) *lockShard { return &st.locks.shards[st.locks.hash(sp.ID, key)%numShards] }
	first, second := []byte("first"), []byte("second 0")
	for n := 1; shard(first) == shard(second); n++ {
		second = fmt.Appendf(nil, "second %d", n)
	}
	for range 50 {
		holder, err := st.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := holder.LockKeys(ctx, sp, kv.LockOpt{NoValue: true}, first, second); err != nil {
			t.Fatal(err)
		}
		waiter, err := st.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			_, err := waiter.LockKeys(ctx, sp, kv.LockOpt{NoValue: true, Wait: kv.WaitForever}, first)
			if err == nil {
				err = waiter.Put(sp, second, []byte("v"))
			}
			got <- err
		}()
		for st.Stats().LockWaits == 0 {
			runtime.Gosched()
		}
		shard(second).mu.Lock()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			holder.Rollback()
		}()
		for range 20 {
			runtime.Gosched()
		}
		if l := shard(first); !l.mu.TryLock() {
			t.Log("the first key's shard is in use")
		} else {
			x := l.lookupLocked(st.locks.space(sp.ID), st.locks.hash(sp.ID, first), first)
			if x.heldBy(&holder.(*Txn).owner) == nil {
				t.Error("the first key is free before the second")
			}
			l.mu.Unlock()
		}
		shard(second).mu.Unlock()
		<-ended
		if err := <-got; err != nil {
			t.Error(err)
		}
		waiter.Rollback()
		st.locks.graph.mu.Lock()
		st.locks.graph.waits = 0
		st.locks.graph.mu.Unlock()
	}
}

// TestUnlock gives back single locks: those of keys, but for what was written, got
// stronger, or was held before the last mark.
func TestUnlock(t *testing.T) {
	_, st := newFake(t, Options{})
	a, _ := st.Begin(ctx, kv.BeginOpt{})
	defer a.Rollback()
	keys := func(names ...string) (out [][]byte) {
		for _, n := range names {
			out = append(out, []byte(n))
		}
		return out
	}
	lock := func(tx kv.Txn, o kv.LockOpt, names ...string) error {
		_, err := tx.LockKeys(ctx, sp, o, keys(names...)...)
		return err
	}
	wait := kv.LockOpt{Wait: kv.WaitForever, NoValue: true}
	shared := kv.LockOpt{Wait: kv.WaitForever, NoValue: true, Mode: kv.ForKeyShare}
	err := lock(a, wait, "before")
	a.LockMark()
	err = errors.Join(err, lock(a, wait, "given", "kept", "written"), lock(a, shared, "stronger"), lock(a, wait, "stronger"),
		a.Put(sp, []byte("written"), []byte("x")))
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	b, _ := st.Begin(ctx, kv.BeginOpt{})
	defer b.Rollback()
	go func() { got <- lock(b, wait, "given") }()
	a.Unlock(sp, keys("given", "written", "stronger", "before", "unknown")...)
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"before", "kept", "written", "stronger"} {
		if err := lock(b, kv.LockOpt{}, k); !errors.Is(err, kv.ErrLockTimeout) {
			t.Errorf("%s: %v", k, err)
		}
	}
	a.Rollback()
	b.Rollback()
	if n := st.Stats().RowLocks; n != 0 {
		t.Errorf("%d row locks are left", n)
	}
}
