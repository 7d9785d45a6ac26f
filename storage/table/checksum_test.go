package table_test

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// TestChecksumCost measures how much of a scan, and of a point read, goes into
// checksums: the same pairs are scanned with and without a check, and are only
// verified. With KVSQLD_FIGURES the parts are bounded; they are printed in any case.
func TestChecksumCost(t *testing.T) {
	const rows, points = 50 * 1024, 20_000
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	db := tabletest.OpenStore(t, tabletest.Engines["bolt"](t))
	db.NoCheck = true
	d := db.Create("t", benchColumns(), []int{0})
	var batch vec.Batch
	db.Tx(func(tx table.Txn) error { // as one: it goes past the log into the data file
		w := d.NewWriter(tx)
		for done := 0; done < rows; done += 1024 {
			benchBatch(&batch, done, 1024)
			if _, err := w.Insert(ctx, &batch, nil, table.InsertOpt{}); err != nil {
				return err
			}
		}
		return nil
	})
	snap, err := db.Store().Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()

	spaces, err := snap.Spaces(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(spaces, func(sp kv.Space) bool { return sp.File == "t.kv" })
	walk := func(o kv.ScanOpt, f func([]kv.Pair)) time.Duration {
		began := threadTime(t)
		it := snap.Scan(ctx, spaces[at], kv.Range{}, o)
		defer it.Close()
		n := 0
		for {
			pairs, err := it.Next()
			if err != nil {
				t.Fatal(err)
			}
			if len(pairs) == 0 {
				break
			}
			f(pairs)
			n += len(pairs)
		}
		if n != rows {
			t.Fatalf("%d rows", n)
		}
		return threadTime(t) - began
	}
	// Each row by itself, in pieces that stay in the processor's cache, as a scan's do.
	var each time.Duration
	walk(kv.ScanOpt{}, func(pairs []kv.Pair) {
		touch(pairs)
		began := threadTime(t)
		for _, p := range pairs {
			if _, err := codec.Open(p.Key, p.Val); err != nil {
				t.Fatal(err)
			}
		}
		each += threadTime(t) - began
	})
	each /= rows
	// A scan that verifies each row, and one soon after another.
	var first, again, without time.Duration
	for range 15 {
		first = shorter(first, walk(kv.ScanOpt{}, func(pairs []kv.Pair) {
			touch(pairs)
			if err := verify(pairs); err != nil {
				t.Fatal(err)
			}
		})/rows)
		again = shorter(again, walk(kv.ScanOpt{Check: verify}, touch)/rows)
		without = shorter(without, walk(kv.ScanOpt{}, touch)/rows)
	}
	first, again = first-without, max(again-without, 0)

	best := func(f func()) (d time.Duration) {
		for range 15 {
			began := threadTime(t)
			f()
			d = shorter(d, threadTime(t)-began)
		}
		return d
	}
	var out vec.Batch
	scan := best(func() {
		s, err := d.Scan(ctx, snap, &table.ScanSpec{Cols: []int{0, 1, 2, 3, 4}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for {
			if err := s.Next(&out); err != nil {
				t.Fatal(err)
			}
			if out.N == 0 {
				return
			}
		}
	}) / rows
	key := []types.Datum{types.Int(types.TInt8, 0)}
	point := best(func() {
		for i := range points {
			key[0].I = int64(i*7919) % rows
			if ok, err := d.PointGet(ctx, snap, nil, key, []int{0, 1, 2}, nil, &out); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
	}) / points
	of := func(part, whole time.Duration) float64 { return 100 * float64(part) / float64(whole) }
	t.Logf("a row's checksum takes %v: %.0f %% of a point read in the storage (%v); a scan of all columns takes %v a row, %.0f %% of it (%v) if checksums are compared, %.0f %% (%v) within %v of that",
		each, of(each, point), point, scan+first-again, of(first, scan+first-again), first, of(again, scan), again, kv.CheckAgain)
	if os.Getenv("KVSQLD_FIGURES") == "" {
		return
	}
	if of(each, point) > 15 {
		t.Error("checksums take more than 15 % of a point read")
	}
	if of(again, scan) > 15 {
		t.Error("checksums take more than 15 % of a repeated scan")
	}
}

// shorter is the shorter of two times, of which the first may not be there yet.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// threadTime is the processor time that the thread has taken: what others do on the
// machine does not count.
func threadTime(t *testing.T) time.Duration { return clock(t, unix.CLOCK_THREAD_CPUTIME_ID) }

// verify compares the checksums of pairs.
func verify(pairs []kv.Pair) error {
	for i := range pairs {
		if err := codec.Check(pairs[i].Key, pairs[i].Val); err != nil {
			return err
		}
	}
	return nil
}

var touched byte

// touch brings pairs into the processor's cache.
func touch(pairs []kv.Pair) {
	for _, p := range pairs {
		for i := 0; i < len(p.Val); i += 64 {
			touched += p.Val[i]
		}
	}
}
