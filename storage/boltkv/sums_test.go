package boltkv

import (
	"bytes"
	"testing"

	"kvsqld/storage/vfs"
)

// TestSumsForgetWhatIsNotToBe: what a transaction has recorded that does not commit is not
// written, and the next one that records the same pages writes theirs.
func TestSumsForgetWhatIsNotToBe(t *testing.T) {
	const id, page = "forgetting", 4096
	dir, opt := t.TempDir(), &Options{NoSync: true, FS: vfs.OS}
	run := func(fill byte) []byte { return bytes.Repeat([]byte{fill}, page) }
	s, err := createSums(dir, id, page, opt)
	if err != nil {
		t.Fatal(err)
	}
	kept, again, gone := uint64(7), uint64(chunkPages+3), uint64(2*chunkPages+5) // of three chunks
	s.set(kept, run(1))
	if err := s.flush(1); err != nil {
		t.Fatal(err)
	}
	s.set(again, run(2))
	s.set(gone, run(3))
	s.forget()
	s.set(again, run(4))
	if err := s.flush(2); err != nil {
		t.Fatal(err)
	}
	if err := s.f.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = openSums(dir, id, page, opt); err != nil {
		t.Fatal(err)
	}
	defer s.f.Close()
	for _, tt := range []struct {
		name string
		id   uint64
		run  []byte
		want bool
	}{
		{"a page of a commit before", kept, run(1), true},
		{"a page written again, as it is", again, run(4), true},
		{"and as it was not to be", again, run(2), false},
		{"a page that was not to be", gone, run(3), false},
	} {
		if got := s.verify(tt.id, tt.run); got != tt.want {
			t.Errorf("%s: verify = %v, want %v", tt.name, got, tt.want)
		}
	}
}
