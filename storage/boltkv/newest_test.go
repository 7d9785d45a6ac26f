package boltkv

import (
	"path/filepath"
	"testing"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
	"kvsqld/storage/vfs"
)

// TestNewestIsShared: all who read between two changes of the file read one state, each
// stays as it was for its users, and none is kept open beside a change or at the end.
func TestNewestIsShared(t *testing.T) {
	opt := Options{NoSync: true, FS: vfs.OS, MmapBytes: 1 << 20}
	path := filepath.Join(t.TempDir(), FileName)
	f, err := openData(path, &opt)
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{opt: opt, dir: filepath.Dir(path), path: path, compacting: make(chan struct{}, 1)}
	e.file.Store(f)
	snapshot := func() txn.EngineSnapshot {
		t.Helper()
		s, err := e.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	sp := kv.Space{ID: 1, DB: "db", File: "file"}
	has := func(s txn.EngineSnapshot, want bool) {
		t.Helper()
		if got, err := s.HasSpace(sp); got != want || err != nil {
			t.Errorf("the file is there: %v, want %v, error %v", got, want, err)
		}
	}
	a, b := snapshot(), snapshot()
	if a != b {
		t.Error("two snapshots of one state")
	}
	if _, err := e.Apply([]txn.Change{{Space: sp, Op: txn.OpCreate}}); err != nil {
		t.Fatal(err)
	}
	c := snapshot()
	has(a, false)
	has(c, true)
	a.Release()
	has(b, false)
	b.Release()

	changed := e.newest.changing()
	d, also := snapshot(), snapshot()
	if d == also || d == c {
		t.Error("a snapshot is kept beside a change")
	}
	has(d, true)
	changed()
	after := snapshot()
	if after == d || after == also {
		t.Error("a snapshot that was opened beside a change is the newest after it")
	}
	for _, s := range []txn.EngineSnapshot{c, d, also, after} {
		s.Release()
	}
	if n := f.users.Load(); n != 2 {
		t.Errorf("%d users of the file, want the engine and the newest state", n)
	}
	e.newest.close()
	snapshot().Release()
	if n := f.users.Load(); n != 1 {
		t.Errorf("%d users of the file at the end", n)
	}
	if err := f.release(); err != nil {
		t.Error(err)
	}
}
