package boltkv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/walkv"
)

// fillAndDelete leaves a store of which most is free.
func fillAndDelete(t *testing.T, st kv.Store) {
	t.Helper()
	must(t, create(st))
	for b := range 8 {
		must(t, update(st, func(tx kv.Txn) error {
			var errs []error
			for i := range 2000 {
				errs = append(errs, tx.Put(table, fmt.Appendf(nil, "%02d/%05d", b, i), make([]byte, 500)))
			}
			return errors.Join(errs...)
		}))
	}
	must(t, update(st, func(tx kv.Txn) error {
		var errs []error
		for b := range 8 {
			for i := range 2000 {
				if i%40 != 0 {
					errs = append(errs, tx.Delete(table, fmt.Appendf(nil, "%02d/%05d", b, i)))
				}
			}
		}
		return errors.Join(errs...)
	}))
}

// TestCompact: the file shrinks, everything is there, an old snapshot goes on,
// numbers rise, and all that is found again after a restart.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	st, err := boltkv.Open(dir, boltkv.Options{NoSync: true, Log: walkv.Options{DirectBytes: 512 << 10}})
	must(t, err)
	fillAndDelete(t, st)
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(index, []byte("k"), []byte("in the log")) }))
	old, err := st.Snapshot(ctx)
	must(t, err)
	before, seq := st.Stats().FileBytes, st.Stats().Seq
	must(t, st.Compact(ctx, nil))
	after := st.Stats()
	if after.FileBytes > before/4 || after.Seq != seq {
		t.Errorf("%d bytes and number %d before, %d and %d after", before, seq, after.FileBytes, after.Seq)
	}
	if v, err := old.Get(ctx, index, []byte("k")); err != nil || string(v) != "in the log" {
		t.Errorf("the old snapshot reads %q, %v", v, err)
	}
	if v, err := old.Get(ctx, table, []byte("07/00040")); err != nil || len(v) != 500 {
		t.Errorf("the old snapshot reads %d bytes, %v", len(v), err)
	}
	old.Close()
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("new"), []byte("v")) }))
	must(t, update(st, func(tx kv.Txn) error { return tx.ClearSpace(index) }))
	must(t, st.Compact(ctx, nil))
	if s := st.Stats().Seq; s != seq+2 {
		t.Errorf("number %d after two more commits, %d before", s, seq)
	}
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
	must(t, st.Close())
	again := open(t, dir, boltkv.Options{})
	if got := value(t, again, "new") + value(t, again, "gone"); got != "v" {
		t.Errorf("after the restart: %q", got)
	}
	if s := again.Stats().Seq; s < seq+2 {
		t.Errorf("number %d after the restart, %d before", s, seq+2)
	}
	must(t, again.Check(ctx, func(fault string) { t.Error(fault) }))
	es, err := os.ReadDir(dir)
	must(t, err)
	if len(es) != 3 {
		t.Errorf("files are %v", es)
	}
}

// TestCompactBusy compacts again and again while others write, read, create and
// clear files; the log moves all the time.
func TestCompactBusy(t *testing.T) {
	st := open(t, t.TempDir(), boltkv.Options{NoSync: true, Log: walkv.Options{MemBytes: 20_000, DirectBytes: 50_000, Interval: time.Millisecond}})
	must(t, create(st))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for c := range 2 {
		wg.Go(func() {
			for i := 0; errs[c] == nil; i++ {
				select {
				case <-stop:
					return
				default:
				}
				k, v := fmt.Appendf(nil, "%d/%d", c, i%500), bytes.Repeat(fmt.Appendf(nil, "%06d ", i), 1+i%40)
				if i%300 == 299 {
					v = append(v, make([]byte, 60_000)...)
				}
				errs[c] = update(st, func(tx kv.Txn) error { return errors.Join(tx.Put(table, k, v), tx.Put(index, k, v)) })
			}
		})
	}
	wg.Go(func() {
		for i := 0; errs[2] == nil; i++ {
			select {
			case <-stop:
				return
			default:
			}
			sp := kv.Space{ID: uint64(100 + i), DB: "other", File: fmt.Sprint("file", i)}
			errs[2] = errors.Join(
				update(st, func(tx kv.Txn) error { return errors.Join(tx.CreateSpace(sp), tx.Put(sp, []byte("k"), []byte("v"))) }),
				update(st, func(tx kv.Txn) error { return tx.ClearSpace(sp) }),
				update(st, func(tx kv.Txn) error { return tx.DropSpace(sp) }))
		}
	})
	for range 15 {
		must(t, st.Compact(ctx, nil))
		s, err := st.Snapshot(ctx)
		must(t, err)
		if rows, entries := dump(t, s, table), dump(t, s, index); rows != entries {
			t.Error("a snapshot has a commit by half")
		}
		s.Close()
	}
	cctx, cancel := context.WithCancel(ctx)
	cancel()
	if err := st.Compact(cctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled compaction gives %v", err)
	}
	close(stop)
	wg.Wait()
	must(t, errors.Join(errs...))
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
}

// TestCompactFullDisk: without room for the second file everything stays.
func TestCompactFullDisk(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, boltkv.Options{NoSync: true, MaxFileBytes: 20 << 20})
	fillAndDelete(t, st)
	must(t, os.Mkdir(filepath.Join(dir, "kvsqld.db.new"), 0o700)) // cannot be opened
	if err := st.Compact(ctx, nil); err == nil {
		t.Error("compacting into a directory succeeds")
	}
	must(t, os.RemoveAll(filepath.Join(dir, "kvsqld.db.new")))
	must(t, st.Compact(ctx, nil))
	if len(value(t, st, "03/00040")) != 500 {
		t.Error("a row is lost")
	}
}

// dump is the content of a space.
func dump(t *testing.T, s kv.Snapshot, sp kv.Space) string {
	t.Helper()
	var out bytes.Buffer
	it := s.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	for {
		ps, err := it.Next()
		must(t, err)
		if len(ps) == 0 {
			return out.String()
		}
		for _, p := range ps {
			fmt.Fprintf(&out, "%s=%s\n", p.Key, p.Val)
		}
	}
}
