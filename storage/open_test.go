package storage

import (
	"errors"
	"testing"

	"kvsqld/catalog/sqlerr"
	"kvsqld/storage/kv"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	st, err := Open(Options{Dir: dir, MmapBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Store: "bolt", Dir: dir, MmapBytes: 1 << 20}); !errors.Is(err, kv.ErrInUse) {
		t.Errorf("a second Open of the directory: %v", err)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	mem, err := Open(Options{Store: "mem"})
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.Close(); err != nil {
		t.Error(err)
	}
	for store, want := range map[string]sqlerr.Code{
		"tikv://127.0.0.1:2379": sqlerr.FeatureNotSupported, "other": sqlerr.InvalidParameterValue,
	} {
		if _, err := Open(Options{Store: store}); sqlerr.CodeOf(err) != want {
			t.Errorf("Open(%s): %v, want %s", store, err, want)
		}
	}
}
