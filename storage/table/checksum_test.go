package table_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

// TestChecksumCost measures how much of a scan, and of a point read, goes into
// comparing the checksums of rows: the same rows are read, and are only verified. With
// KVSQLD_FIGURES that of a point read is bounded; both are printed in any case.
func TestChecksumCost(t *testing.T) {
	const rows, points = 50 * 1024, 20_000
	db := tabletest.OpenStore(t, tabletest.Engines["bolt"](t))
	db.NoCheck = true
	d := db.Create("t", benchColumns(), []int{0})
	var batch vec.Batch
	for done := 0; done < rows; done += 1024 {
		db.Tx(func(tx table.Txn) error {
			benchBatch(&batch, done, 1024)
			_, err := d.NewWriter(tx).Insert(ctx, &batch, nil, table.InsertOpt{})
			return err
		})
	}
	snap, err := db.Store().Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()

	// What is verified, in pieces that stay in the processor's cache, as a scan's do.
	spaces, err := snap.Spaces(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(spaces, func(sp kv.Space) bool { return sp.File == "t.kv" })
	it := snap.Scan(ctx, spaces[at], kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	var verify time.Duration
	n := 0
	for {
		pairs, err := it.Next()
		if err != nil {
			t.Fatal(err)
		}
		if len(pairs) == 0 {
			break
		}
		touch(pairs)
		began := time.Now()
		for _, p := range pairs {
			if _, err := codec.Open(p.Key, p.Val); err != nil {
				t.Fatal(err)
			}
		}
		verify += time.Since(began)
		n += len(pairs)
	}
	if n != rows {
		t.Fatalf("%d rows", n)
	}
	each := verify / rows

	best := func(f func()) (d time.Duration) {
		for range 5 {
			began := time.Now()
			f()
			if took := time.Since(began); d == 0 || took < d {
				d = took
			}
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
	of := func(whole time.Duration) float64 { return 100 * float64(each) / float64(whole) }
	t.Logf("a row's checksum takes %v: %.0f %% of a scan of all columns (%v a row), %.0f %% of a point read in the storage (%v)",
		each, of(scan), scan, of(point), point)
	if os.Getenv("KVSQLD_FIGURES") != "" && of(point) > 15 {
		t.Error("checksums take more than 15 % of a point read")
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
