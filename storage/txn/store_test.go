package txn

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"kvsqld/storage/kv"
)

// fakeEngine applies nothing but counts, and fails as told.
type fakeEngine struct {
	mu      sync.Mutex
	seq     uint64
	open    int // snapshots
	applied [][]Change
	fail    func(cs []Change) error // nil = succeed
	gets    int                     // calls of Get
	batches int                     // calls of BatchGet
}

func (e *fakeEngine) Limits() (int, int)                                       { return 100, 1000 }
func (e *fakeEngine) Stats(*kv.StoreStats)                                     {}
func (e *fakeEngine) Compact(context.Context, func(*kv.StoreStats) bool) error { return nil }
func (e *fakeEngine) Check(context.Context, func(fault string)) error          { return nil }
func (e *fakeEngine) Close() error                                             { return nil }

func (e *fakeEngine) Snapshot() (EngineSnapshot, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open++
	return &fakeSnapshot{e: e, seq: e.seq}, nil
}

func (e *fakeEngine) Apply(cs []Change) (uint64, error) {
	e.applied = append(e.applied, cs)
	if e.fail != nil {
		if err := e.fail(cs); err != nil {
			return 0, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seq++
	return e.seq, nil
}

type fakeSnapshot struct {
	e   *fakeEngine
	seq uint64
}

func (s *fakeSnapshot) Seq() uint64                                        { return s.seq }
func (s *fakeSnapshot) Spaces() ([]kv.Space, error)                        { return nil, nil }
func (s *fakeSnapshot) HasSpace(kv.Space) (bool, error)                    { return true, nil }
func (s *fakeSnapshot) Scan(kv.Space, kv.Range, kv.ScanOpt, Chunks) Chunks { return fakeChunks{} }
func (s *fakeSnapshot) Get(kv.Space, []byte) ([]byte, error) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.e.gets++
	return nil, nil
}
func (s *fakeSnapshot) BatchGet(kv.Space, [][]byte, [][]byte) error {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.e.batches++
	return nil
}
func (s *fakeSnapshot) Release() {
	s.e.mu.Lock()
	s.e.open--
	s.e.mu.Unlock()
}

type fakeChunks struct{}

func (fakeChunks) Fill([]kv.Pair) (int, error) { return 0, nil }
func (fakeChunks) Close()                      {}

var (
	ctx = context.Background()
	sp  = kv.Space{ID: 1, DB: "db", File: "f"}
)

func newFake(t *testing.T, opt Options) (*fakeEngine, *Store) {
	e := &fakeEngine{}
	st := New(e, opt)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, st
}

func commitOne(st *Store, key string) error {
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := tx.Put(sp, []byte(key), []byte("v")); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func TestFailedApply(t *testing.T) {
	e, st := newFake(t, Options{})
	boom := errors.New("boom")
	for _, tt := range []struct {
		name string
		fail func([]Change) error
		want error
	}{
		{"error", func([]Change) error { return boom }, boom},
		{"panic", func([]Change) error { panic("in the engine") }, kv.ErrUnavailable},
		{"undetermined", func([]Change) error { return kv.ErrUndetermined }, kv.ErrUndetermined},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e.fail = tt.fail
			if err := commitOne(st, "k"); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			e.fail = nil
			if err := commitOne(st, "k"); err != nil {
				t.Errorf("the key stayed locked: %v", err)
			}
		})
	}
}

// TestBatchSplit lets one of several queued commits fail: the others succeed.
func TestBatchSplit(t *testing.T) {
	e, st := newFake(t, Options{})
	boom := errors.New("boom")
	blocked, goOn := make(chan struct{}), make(chan struct{})
	first := true
	e.fail = func(cs []Change) error {
		if first {
			first = false
			close(blocked)
			<-goOn
			return nil
		}
		for _, c := range cs {
			for k := range c.Writes {
				if string(k) == "bad" {
					return boom
				}
			}
		}
		return nil
	}
	errs := map[string]chan error{}
	commit := func(k string) {
		ch := make(chan error, 1)
		errs[k] = ch
		go func() { ch <- commitOne(st, k) }()
	}
	queued := func(n int) {
		for {
			st.queue.mu.Lock()
			now := len(st.queue.reqs)
			st.queue.mu.Unlock()
			if now == n {
				return
			}
			runtime.Gosched()
		}
	}
	commit("first")
	<-blocked
	for i, k := range []string{"a", "bad", "b"} {
		commit(k)
		queued(i + 1)
	}
	close(goOn)
	for k, ch := range errs {
		err := <-ch
		if k == "bad" && !errors.Is(err, boom) || k != "bad" && err != nil {
			t.Errorf("commit of %s gives %v", k, err)
		}
	}
	if n := len(e.applied); n != 5 { // first; all three; each alone
		t.Errorf("applied %d times", n)
	}
}

// TestNoSnapshotWhileApplying is invariant T1.
func TestNoSnapshotWhileApplying(t *testing.T) {
	e, st := newFake(t, Options{})
	e.fail = func([]Change) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.open != 0 {
			t.Errorf("%d snapshots are open while a batch is applied", e.open)
		}
		return nil
	}
	for range 3 {
		tx, err := st.Begin(ctx, kv.BeginOpt{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Get(ctx, sp, []byte("k")); !errors.Is(err, kv.ErrNotFound) {
			t.Fatal(err)
		}
		if err := tx.Put(sp, []byte("k"), []byte("v")); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		s, err := st.Snapshot(ctx) // leaves the cached snapshot behind
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
}

func TestOldSnapshots(t *testing.T) {
	expired := make(chan OldSnapshot, 10)
	e, st := newFake(t, Options{
		WarnSnapshotAge: time.Millisecond, MaxSnapshotAge: 5 * time.Millisecond,
		OnOldSnapshot: func(o OldSnapshot) {
			if o.Expired {
				expired <- o
			}
		},
	})
	old, err := st.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	it := old.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
	if err := commitOne(st, "k"); err != nil { // only now the snapshot begins to age
		t.Fatal(err)
	}
	if o := <-expired; o.Seq != old.Seq() || o.Users != 1 {
		t.Errorf("reported %+v", o)
	}
	if _, err := old.Get(ctx, sp, []byte("k")); !errors.Is(err, kv.ErrTooOld) {
		t.Errorf("Get gives %v", err)
	}
	if _, err := it.Next(); !errors.Is(err, kv.ErrTooOld) {
		t.Errorf("Next gives %v", err)
	}
	e.mu.Lock()
	if e.open == 0 {
		t.Error("the snapshot was taken away from its user")
	}
	e.mu.Unlock()
	it.Close()
	old.Close()
}

// TestHistoryIsForgotten is the second half of invariant T5.
func TestHistoryIsForgotten(t *testing.T) {
	_, st := newFake(t, Options{})
	remembered := func() (n int) {
		for i := range st.locks.shards {
			n += len(st.locks.shards[i].m)
		}
		return n
	}
	old, err := st.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"a", "b", "c", "a"} {
		if err := commitOne(st, k); err != nil {
			t.Fatal(err)
		}
	}
	if n := remembered(); n != 3 {
		t.Errorf("%d keys are remembered, want 3", n)
	}
	old.Close()
	st.locks.prune()
	if n := remembered(); n != 0 {
		t.Errorf("%d keys are remembered, want none", n)
	}
	if err := commitOne(st, "d"); err != nil {
		t.Fatal(err)
	}
	if n := remembered(); n != 0 {
		t.Errorf("%d keys are remembered though nobody can ask for them", n)
	}
}

func TestMaxTxnBytes(t *testing.T) {
	_, st := newFake(t, Options{MaxTxnBytes: 500})
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := tx.Put(sp, []byte("k"), make([]byte, 400)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Put(sp, []byte("l"), make([]byte, 400)); !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
}

// TestLargeChangesAreSorted: writes to several spaces, of which some have so many that
// they are sorted at the same time, come to the engine in the order of their keys, the
// last one of each key.
func TestLargeChangesAreSorted(t *testing.T) {
	e, st := newFake(t, Options{})
	tx, err := st.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[uint64]int{1: joinFrom + 500, 2: 100, 3: joinFrom}
	for id, n := range counts {
		for i := range 2 * n {
			key := uint32(i%n) * 2654435761 // all differ, in no order
			if err := tx.Put(kv.Space{ID: id, DB: "db", File: "f"}, binary.BigEndian.AppendUint32(nil, key), fmt.Append(nil, i/n), kv.Covered); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if len(e.applied) != 1 || len(e.applied[0]) != len(counts) {
		t.Fatalf("%d commits", len(e.applied))
	}
	for _, c := range e.applied[0] {
		var last []byte
		n := 0
		for k, v := range c.Writes {
			if last != nil && bytes.Compare(last, k) >= 0 {
				t.Fatalf("space %d: %x comes after %x", c.Space.ID, k, last)
			}
			if last = k; string(v) != "1" {
				t.Fatalf("space %d: %x has %q", c.Space.ID, k, v)
			}
			n++
		}
		if n != counts[c.Space.ID] || c.Count != n {
			t.Errorf("space %d: %d writes, %d told, want %d", c.Space.ID, n, c.Count, counts[c.Space.ID])
		}
	}
}
