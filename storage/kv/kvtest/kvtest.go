// Package kvtest is the conformance suite of storage/kv: what every engine has
// to do, as tests. A store comes in, test failures go out; the suite knows
// nothing of the engine but the interface.
package kvtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"kvsqld/storage/kv"
)

// Run runs the suite. open returns an empty store that it closes itself by
// t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) kv.Store) {
	for _, tt := range []struct {
		name string
		f    func(t *testing.T, st kv.Store)
	}{
		{"reads and writes", testBasics},
		{"snapshots", testSnapshots},
		{"isolation levels", testIsolation},
		{"serializable", testSerializable},
		{"write conflicts", testConflicts},
		{"insert", testInsert},
		{"scans against a model", testScanModel},
		{"checked scans", testCheckedScans},
		{"iterators see earlier writes only", testIterStability},
		{"savepoints", testSavepoints},
		{"savepoints against a model", testSavepointModel},
		{"row locks", testRowLocks},
		{"row lock modes", testRowModes},
		{"lock results", testLockResults},
		{"writes over newer states", testNewestWrites},
		{"reads of own writes", testOwnReads},
		{"detached writes", testDetach},
		{"views", testViews},
		{"views as what is seen", testEnteredView},
		{"lock queue", testLockQueue},
		{"deadlocks", testDeadlock},
		{"lock escalation", testEscalation},
		{"all locks at once", testLockAll},
		{"table locks", testTableLocks},
		{"spaces", testSpaces},
		{"spaces rolled back", testSpacesRollback},
		{"failed commit leaves others alone", testFailedCommit},
		{"bulk runs", testBulk},
		{"compaction", testCompact},
		{"same-key order", testSameKeyOrder},
		{"bank transfers", testBank},
		{"watched keys", testWatch},
		{"copy of watched keys", testWatchCopy},
		{"hooks", testHooks},
		{"counters", testCounters},
		{"ended transactions", testEnded},
		{"cancelled contexts", testContext},
		{"close", testClose},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.f(t, open(t)) })
	}
}

var ctx = context.Background()

var spaceIDs atomic.Uint64

// newSpace creates a space with a name of its own.
func newSpace(t testing.TB, st kv.Store) kv.Space {
	t.Helper()
	id := spaceIDs.Add(1)
	sp := kv.Space{ID: id, DB: "db", File: fmt.Sprintf("file%d", id)}
	update(t, st, func(tx kv.Txn) { must(t, tx.CreateSpace(sp)) })
	return sp
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func begin(t testing.TB, st kv.Store, o kv.BeginOpt) kv.Txn {
	t.Helper()
	tx, err := st.Begin(ctx, o)
	must(t, err)
	t.Cleanup(tx.Rollback)
	return tx
}

func update(t testing.TB, st kv.Store, f func(tx kv.Txn)) {
	t.Helper()
	tx := begin(t, st, kv.BeginOpt{})
	f(tx)
	must(t, tx.Commit(ctx))
}

// put commits one value.
func put(t testing.TB, st kv.Store, sp kv.Space, key, val string) {
	t.Helper()
	update(t, st, func(tx kv.Txn) { must(t, tx.Put(sp, []byte(key), []byte(val))) })
}

// get returns "" for an absent key.
func get(t testing.TB, r kv.Reader, sp kv.Space, key string) string {
	t.Helper()
	v, err := r.Get(ctx, sp, []byte(key))
	if errors.Is(err, kv.ErrNotFound) {
		return ""
	}
	must(t, err)
	return string(v)
}

func wantValue(t testing.TB, r kv.Reader, sp kv.Space, key, want string) {
	t.Helper()
	if got := get(t, r, sp, key); got != want {
		t.Fatalf("value of %q is %q, want %q", key, got, want)
	}
}

// current returns the committed value.
func current(t testing.TB, st kv.Store, sp kv.Space, key string) string {
	t.Helper()
	tx := begin(t, st, kv.BeginOpt{ReadOnly: true})
	defer tx.Rollback()
	return get(t, tx, sp, key)
}

// all returns a scan as "key=value" strings.
func all(t testing.TB, r kv.Reader, sp kv.Space, g kv.Range, o kv.ScanOpt) []string {
	t.Helper()
	it := r.Scan(ctx, sp, g, o)
	defer it.Close()
	var out []string
	for {
		ps, err := it.Next()
		must(t, err)
		if len(ps) == 0 {
			return out
		}
		for _, p := range ps {
			if o.KeysOnly {
				out = append(out, string(p.Key))
			} else {
				out = append(out, string(p.Key)+"="+string(p.Val))
			}
		}
	}
}

// lock locks one key.
func lock(tx kv.Txn, sp kv.Space, o kv.LockOpt, key string) (kv.LockResult, error) {
	r, err := tx.LockKeys(ctx, sp, o, []byte(key))
	if err != nil {
		return kv.LockResult{}, err
	}
	return r[0], nil
}

// patience bounds waiting for something that must happen.
const patience = 20 * time.Second

// until yields until f holds.
func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for start := time.Now(); !f(); runtime.Gosched() {
		if time.Since(start) > patience {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// async runs f in a goroutine and returns when it waits for a lock, with the
// channel its error will come from.
func async(t testing.TB, st kv.Store, f func() error) <-chan error {
	t.Helper()
	before := st.Stats().LockWaits
	ch := make(chan error, 1)
	go func() { ch <- f() }()
	until(t, "a lock wait", func() bool { return st.Stats().LockWaits > before || len(ch) > 0 })
	return ch
}

// result waits for the outcome of async.
func result(t testing.TB, ch <-chan error) error {
	t.Helper()
	select {
	case err := <-ch:
		return err
	case <-time.After(patience):
		t.Fatal("waited in vain for a goroutine")
		return nil
	}
}

// waiting fails if the goroutine of async has come back.
func waiting(t testing.TB, ch <-chan error) {
	t.Helper()
	select {
	case err := <-ch:
		t.Fatalf("did not wait but returned %v", err)
	default:
	}
}

func key(i int) []byte { return fmt.Appendf(nil, "%08d", i) }
