package walkv_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kvsqld/storage/boltkv"
	"kvsqld/storage/kv"
	"kvsqld/storage/walkv"
)

// quiet moves nothing by itself.
var quiet = boltkv.Options{NoSync: true, MmapBytes: 16 << 20, Log: walkv.Options{Interval: time.Hour}}

// crash copies the files of an open store, as the operating system would have
// them after the death of the process.
func crash(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to+"/d", os.DirFS(dir)))
	return to + "/d"
}

// numbers returns how many of the values 1, 2, … the store has, all below
// being there.
func numbers(t testing.TB, dir string, opt boltkv.Options) (n int, err error) {
	t.Helper()
	st, err := boltkv.Open(dir, opt)
	if err != nil {
		return 0, err
	}
	s, err := st.Snapshot(ctx)
	must(t, err)
	for i, p := range content(t, s, table, kv.Range{}, false) {
		if want := fmt.Sprintf("%06d=%d", i+1, i+1); p != want {
			t.Fatalf("found %s, want %s", p, want)
		}
		n++
	}
	s.Close()
	return n, st.Close()
}

func put(t testing.TB, st kv.Store, i int) {
	t.Helper()
	must(t, update(st, func(tx kv.Txn) error { return tx.Put(table, fmt.Appendf(nil, "%06d", i), fmt.Append(nil, i)) }))
}

func create(t testing.TB, st kv.Store) {
	t.Helper()
	must(t, update(st, func(tx kv.Txn) error { return tx.CreateSpace(table) }))
}

// ends returns where the records in a log file end, by their length field.
func ends(log []byte) (at []int) {
	for p := 4096; p+24 <= len(log) && binary.LittleEndian.Uint32(log[p+8:]) == 0x4c57766b; {
		p += 24 + int(binary.LittleEndian.Uint32(log[p+12:]))
		at = append(at, p)
	}
	return at
}

func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, quiet)
	create(t, st)
	const rows = 12
	for i := range rows {
		put(t, st, i+1)
	}
	crashed := crash(t, dir)
	path := filepath.Join(crashed, "kvsqld.log0")
	log, err := os.ReadFile(path)
	must(t, err)
	whole := crash(t, crashed)
	end := ends(log)
	if len(end) != rows {
		t.Fatalf("the log has %d records", len(end))
	}
	reset := func(changed []byte) {
		must(t, os.RemoveAll(crashed))
		must(t, os.CopyFS(crashed, os.DirFS(whole)))
		must(t, os.WriteFile(path, changed, 0o600))
	}
	records := func(cut int) (n int) {
		for _, e := range end {
			if e <= cut {
				n++
			}
		}
		return n
	}
	first, last := end[rows-3], end[rows-1]
	for cut := first; cut <= last; cut++ { // every byte
		reset(log[:cut])
		if n, err := numbers(t, crashed, quiet); err != nil || n != records(cut) {
			t.Fatalf("cut at %d: %d rows and %v, want %d", cut, n, err, records(cut))
		}
		// The file has its length, but the end was never written.
		zeroed := append([]byte(nil), log...)
		clear(zeroed[cut:])
		reset(zeroed)
		if n, err := numbers(t, crashed, quiet); err != nil || n < records(cut) || n > records(cut)+1 {
			t.Fatalf("zeros from %d: %d rows and %v, want %d", cut, n, err, records(cut))
		}
	}
	for at := first; at < last; at++ {
		flipped := append([]byte(nil), log...)
		flipped[at] ^= 0x10
		reset(flipped)
		n, err := numbers(t, crashed, quiet)
		if at >= end[rows-2] { // the last record: as if torn
			if err != nil || n != rows-1 {
				t.Fatalf("byte %d changed: %d rows and %v, want %d", at, n, err, rows-1)
			}
		} else if !errors.Is(err, kv.ErrCorrupt) {
			t.Fatalf("byte %d changed: %d rows and %v, want ErrCorrupt", at, n, err)
		} else if after, _ := os.ReadFile(path); string(after) != string(flipped) {
			t.Fatal("the refused log was changed")
		}
	}
	for at := range 24 {
		flipped := append([]byte(nil), log...)
		flipped[at] ^= 0x10
		reset(flipped)
		if _, err := numbers(t, crashed, quiet); !errors.Is(err, kv.ErrCorrupt) {
			t.Fatalf("byte %d of the header changed: %v, want ErrCorrupt", at, err)
		}
	}
}

// TestCrashAtAnyCommit crashes after every commit, while trees move all the
// time, and again after the recovery.
func TestCrashAtAnyCommit(t *testing.T) {
	for _, mem := range []int{1, 300, 2000} {
		opt := quiet
		opt.Log.MemBytes = mem
		opt.Log.DirectBytes = 1 << 20
		dir := t.TempDir()
		st := open(t, dir, opt)
		create(t, st)
		must(t, update(st, func(tx kv.Txn) error { return tx.CreateSpace(index) }))
		for i := range 60 {
			put(t, st, i+1)
			if i%3 != 0 {
				continue
			}
			// A copy of a file that is being written is no crash.
			if i%2 == 0 {
				must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
			} else {
				must(t, update(st, func(tx kv.Txn) error { return tx.ClearSpace(index) }))
			}
			again := crash(t, dir)
			if n, err := numbers(t, again, opt); err != nil || n != i+1 {
				t.Fatalf("limit %d: %d rows and %v after %d commits", mem, n, err, i+1)
			}
			if n, err := numbers(t, crash(t, again), opt); err != nil || n != i+1 {
				t.Fatalf("limit %d: %d rows and %v at the second start", mem, n, err)
			}
		}
	}
}

func TestLogFiles(t *testing.T) {
	dir := t.TempDir()
	names := func() (out []string) {
		es, err := os.ReadDir(dir)
		must(t, err)
		for _, e := range es {
			out = append(out, e.Name())
		}
		return out
	}
	st, err := boltkv.Open(dir, quiet)
	must(t, err)
	told := func(want int) {
		t.Helper()
		files, err := st.LogFiles()
		must(t, err)
		if len(files) != want {
			t.Errorf("LogFiles tells %v", files)
		}
		for _, f := range files {
			if fi, err := os.Stat(filepath.Join(dir, f.Name)); err != nil || fi.Size() != f.Size || f.Size < 4096 || !fi.ModTime().Equal(f.Written) {
				t.Errorf("LogFiles tells %v of %v, %v", f, fi, err)
			}
		}
	}
	create(t, st)
	told(0)
	if got := names(); len(got) != 3 {
		t.Errorf("files before the first small commit are %v", got)
	}
	old := crash(t, dir)
	put(t, st, 1)
	told(2)
	if got := names(); len(got) != 5 {
		t.Errorf("files after the first small commit are %v", got)
	}
	log, err := os.ReadFile(filepath.Join(dir, "kvsqld.log0"))
	must(t, err)
	must(t, st.Close())
	if got := names(); len(got) != 3 {
		t.Errorf("files after Close are %v", got)
	}
	// Close removes the log after the mark is gone; it may have been killed
	// in between.
	must(t, os.WriteFile(filepath.Join(dir, "kvsqld.log0"), log, 0o600))
	if n, err := numbers(t, dir, quiet); err != nil || n != 1 {
		t.Errorf("with a log that is done: %d rows and %v", n, err)
	}
	// The log of another data file, with older numbers, is neither replayed nor removed.
	other := t.TempDir()
	st, err = boltkv.Open(other, quiet)
	must(t, err)
	create(t, st)
	for i := range 5 {
		put(t, st, i+1)
	}
	must(t, st.Close())
	must(t, os.WriteFile(filepath.Join(other, "kvsqld.log0"), log, 0o600))
	if n, err := numbers(t, other, quiet); !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("with a foreign log of older numbers: %d rows and %v", n, err)
	}
	if kept, err := os.ReadFile(filepath.Join(other, "kvsqld.log0")); err != nil || !bytes.Equal(kept, log) {
		t.Errorf("the foreign log is not as it was: %v", err)
	}
	// The log of another state of the data file is not replayed.
	must(t, os.WriteFile(filepath.Join(old, "kvsqld.log0"), log, 0o600))
	if n, err := numbers(t, old, quiet); !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("with a foreign log: %d rows and %v", n, err)
	}
}

// TestMissingRecord removes the first record that is not in the base.
func TestMissingRecord(t *testing.T) {
	opt := quiet
	opt.Log.MemBytes = 1200
	dir := t.TempDir()
	st := open(t, dir, opt)
	create(t, st)
	for i := range 10 {
		put(t, st, i+1)
	}
	must(t, st.Check(ctx, func(fault string) { t.Error(fault) }))
	put(t, st, 11)
	put(t, st, 12)
	crashed := crash(t, dir)
	for _, name := range []string{"kvsqld.log0", "kvsqld.log1"} {
		path := filepath.Join(crashed, name)
		log, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// The file that was begun last has the batches of 11 and 12.
		if end := ends(log); len(end) >= 2 && binary.LittleEndian.Uint64(log[end[0]+16:]) > binary.LittleEndian.Uint64(log[4096+16:]) {
			must(t, os.WriteFile(path, append(append([]byte(nil), log[:4096]...), log[end[0]:]...), 0o600))
		}
	}
	if n, err := numbers(t, crashed, opt); !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("%d rows and %v, want ErrCorrupt", n, err)
	}
}

// FuzzRecover puts any bytes behind the header of a log, or in place of all of
// it: the store is refused, or has the first of the batches.
func FuzzRecover(f *testing.F) {
	dir := f.TempDir()
	st, err := boltkv.Open(dir, quiet)
	must(f, err)
	create(f, st)
	for i := range 5 {
		put(f, st, i+1)
	}
	crashed := crash(f, dir)
	must(f, st.Close())
	path := filepath.Join(crashed, "kvsqld.log0")
	log, err := os.ReadFile(path)
	must(f, err)
	end := ends(log)
	f.Add(log[4096:end[4]], true)
	f.Add(log[4096:end[2]+5], true)
	f.Add(log[:end[4]], false)
	f.Fuzz(func(t *testing.T, b []byte, body bool) {
		if body {
			b = append(append([]byte(nil), log[:4096]...), b...)
		}
		to := crash(t, crashed)
		must(t, os.WriteFile(filepath.Join(to, "kvsqld.log0"), b, 0o600))
		if n, err := numbers(t, to, quiet); err == nil && n > 5 || err != nil && !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%d rows and %v", n, err)
		}
	})
}
