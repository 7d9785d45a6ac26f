package table_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/boltkv"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// TestChecksumCost measures how much of a scan, and of a point read, goes into
// checksums: pairs are scanned for the first time and again, with and without a check,
// and are only verified. With KVSQLD_FIGURES the parts are bounded; they are printed in
// any case.
func TestChecksumCost(t *testing.T) {
	const rows, points, files = 16 * 1024, 20_000, 15
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	db := tabletest.OpenStore(t, tabletest.Engines["bolt"](t))
	db.NoCheck = true
	var d *table.Desc
	var batch vec.Batch
	for i := range files {
		d = db.Create(fmt.Sprintf("t%d", i), benchColumns(), []int{0})
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
	}
	populate(t, boltkv.FileName)
	snap, err := db.Store().Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()

	spaces, err := snap.Spaces(ctx)
	if err != nil {
		t.Fatal(err)
	}
	walk := func(file int, o kv.ScanOpt, f func([]kv.Pair)) time.Duration {
		began := threadTime(t)
		at := slices.IndexFunc(spaces, func(sp kv.Space) bool { return sp.File == fmt.Sprintf("t%d.kv", file) })
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
	// The first scan of each file, which verifies it, one that does not ask, and one soon
	// after the first: one file after the other, so that none is in the processor's cache.
	round := func(o kv.ScanOpt) time.Duration {
		var ts []time.Duration
		for i := range files {
			ts = append(ts, walk(i, o, touch))
		}
		slices.Sort(ts)
		return ts[files/4]
	}
	first := round(kv.ScanOpt{Check: verify})
	without := round(kv.ScanOpt{})
	again := max(round(kv.ScanOpt{Check: verify})-without, 0)
	first -= without
	// Each row by itself, in pieces that stay in the processor's cache, as a scan's do.
	var each time.Duration
	walk(0, kv.ScanOpt{}, func(pairs []kv.Pair) {
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
	})
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
	t.Logf("a row's checksum takes %v: %.0f %% of a point read in the storage (%v); the first scan of all columns takes %v a row, %.0f %% of it (%v) for checksums; one within %v of that %.0f %% (%v)",
		each, of(each, point), point, (scan+first-again)/rows, of(first, scan+first-again), first/rows, kv.CheckAgain, of(again, scan), again/rows)
	if os.Getenv("KVSQLD_FIGURES") == "" {
		return
	}
	if of(each, point) > 15 {
		t.Error("checksums take more than 15 % of a point read")
	}
	if of(first, scan+first-again) > 15 {
		t.Error("checksums take more than 15 % of a first scan")
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

// populate has the operating system map all pages of an open file's mappings, whose
// faults would count for the first scan.
func populate(t *testing.T, name string) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(strings.TrimSpace(line), "/"+name) {
			continue
		}
		var from, to uintptr
		if _, err := fmt.Sscanf(line, "%x-%x ", &from, &to); err != nil {
			t.Fatal(err)
		}
		// The file ends somewhere in its mapping: there it says EFAULT.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_POPULATE_READ)
	}
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
