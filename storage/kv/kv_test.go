package kv_test

import (
	"bytes"
	"slices"
	"testing"

	"kvsqld/storage/kv"
)

func TestPrefix(t *testing.T) {
	for _, tt := range []struct{ prefix, hi string }{
		{"a", "b"},
		{"a\xff", "b"},
		{"a\xff\xff", "b"},
		{"ab", "ac"},
	} {
		if r := kv.Prefix([]byte(tt.prefix)); string(r.Lo) != tt.prefix || string(r.Hi) != tt.hi {
			t.Errorf("Prefix(%q) = [%q, %q), want the end %q", tt.prefix, r.Lo, r.Hi, tt.hi)
		}
	}
	for _, p := range []string{"", "\xff", "\xff\xff"} {
		if r := kv.Prefix([]byte(p)); r.Hi != nil || !bytes.Equal(r.Lo, []byte(p)) {
			t.Errorf("Prefix(%q) = [%q, %q), want no end", p, r.Lo, r.Hi)
		}
	}
}

// TestTableLockConflicts compares with the table in PostgreSQL's documentation
// of explicit locking, row by row.
func TestTableLockConflicts(t *testing.T) {
	for m, want := range []string{
		".......X",
		"......XX",
		"....XXXX",
		"...XXXXX",
		"..XX.XXX",
		"..XXXXXX",
		".XXXXXXX",
		"XXXXXXXX",
	} {
		got := make([]byte, kv.NumTableLockModes)
		for o := range got {
			got[o] = '.'
			if kv.TableLockMode(m).Conflicts()&(1<<o) != 0 {
				got[o] = 'X'
			}
		}
		if string(got) != want {
			t.Errorf("%s conflicts with %s, want %s", kv.TableLockMode(m), got, want)
		}
	}
}

func TestStats(t *testing.T) {
	var s kv.Stats
	a, b := kv.Space{ID: 2, DB: "db", File: "a"}, kv.Space{ID: 1, DB: "db", File: "b"}
	s.File(b).Gets.Add(1)
	s.File(a).Gets.Add(2)
	s.File(b).Gets.Add(3)
	if n := s.File(b).Gets.Load(); n != 4 {
		t.Errorf("counted %d gets, want 4", n)
	}
	if got := s.Spaces(); !slices.Equal(got, []kv.Space{a, b}) {
		t.Errorf("spaces are %v", got)
	}
}
