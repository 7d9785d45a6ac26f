package boltkv_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
)

// TestOutgrownMappingWaitsForNobody has commits outgrow the mapping while others
// read, one of whom waits for a row that the committing transaction holds. None of
// them waits for another without end, what was read stays readable, and the
// mappings go with their readers.
func TestOutgrownMappingWaitsForNobody(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, boltkv.Options{MmapBytes: 1, NoSync: true})
	must(t, create(st))
	first := bytes.Repeat([]byte("first"), 500)
	must(t, update(st, func(tx kv.Txn) error {
		return errors.Join(tx.Put(table, []byte("row"), first), tx.Put(table, []byte("huge"), make([]byte, 600<<10)))
	}))
	within, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()

	var old []kv.Snapshot
	var vals [][]byte
	for i := range 5 {
		s, err := st.Snapshot(ctx)
		must(t, err)
		v, err := s.Get(ctx, table, []byte("row"))
		must(t, err)
		old, vals = append(old, s), append(vals, v)

		writer, err := st.Begin(ctx, kv.BeginOpt{})
		must(t, err)
		waiter, err := st.Begin(ctx, kv.BeginOpt{})
		must(t, err)
		_, err = writer.LockKeys(ctx, table, kv.LockOpt{Wait: kv.WaitForever}, []byte("row"))
		must(t, err)
		must(t, writer.Put(table, []byte("huge"), make([]byte, 2<<20<<i)))
		must(t, writer.Put(table, []byte("row"), bytes.Repeat([]byte{byte('a' + i)}, 2500)))
		if _, err := waiter.Get(ctx, table, []byte("row")); err != nil {
			t.Fatal(err)
		}
		got := make(chan []byte, 1)
		go func() {
			res, err := waiter.LockKeys(within, table, kv.LockOpt{Wait: kv.WaitForever}, []byte("row"))
			if err != nil {
				t.Errorf("the waiter gets %v", err)
				got <- nil
				return
			}
			got <- bytes.Clone(res[0].Val)
		}()
		done := make(chan error, 1)
		go func() { done <- writer.Commit(ctx) }()
		select {
		case err := <-done:
			must(t, err)
		case <-within.Done():
			t.Fatal("the commit waits for those who read")
		}
		if v := <-got; len(v) != 2500 || v[0] != byte('a'+i) {
			t.Errorf("the waiter reads %.20q", v)
		}
		waiter.Rollback()
	}
	for i, v := range vals {
		want := first
		if i > 0 {
			want = bytes.Repeat([]byte{byte('a' + i - 1)}, 2500)
		}
		if !bytes.Equal(v, want) {
			t.Errorf("snapshot %d: what it had read is now %.20q", i, v)
		}
		again, err := old[i].Get(ctx, table, []byte("row"))
		if err != nil || !bytes.Equal(again, want) {
			t.Errorf("snapshot %d reads %.20q, %v", i, again, err)
		}
	}
	if n := mappingsOf(t, dir); n >= 0 && n < 3 {
		t.Errorf("%d mappings: the file did not outgrow them", n)
	}
	for _, s := range old {
		s.Close()
	}
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, []byte("row"), first) }))
	if n := mappingsOf(t, dir); n > 1 {
		t.Errorf("%d mappings are left", n)
	}
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
	must(t, st.Close())
	if n := mappingsOf(t, dir); n > 0 {
		t.Errorf("%d mappings are left after the end", n)
	}
}

// mappingsOf counts the mappings of the data file in dir; negative where the
// system does not tell.
func mappingsOf(t *testing.T, dir string) (n int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return -1
	}
	b, err := os.ReadFile("/proc/self/maps")
	must(t, err)
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, dir) {
			n++
		}
	}
	return n
}
