// Package storage opens the engine that a server keeps its data in.
//
// In: the engine's name and where its data is. Out: a kv.Store. Nothing above
// this package knows which engine runs.
package storage

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/storage/boltkv"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/memkv"
	"kvsqld/storage/txn"
	"kvsqld/storage/vfs"
)

// Options say which engine to open, and how. The zero value is the bolt engine
// in the current directory.
type Options struct {
	// Store is "bolt" (the default), or "mem" for data that is gone when the
	// process ends.
	Store string
	// Dir is the data directory of the bolt engine; it is made if it is missing.
	Dir string
	Txn txn.Options
	// MmapBytes, MaxFileBytes and NoSync are those of the bolt engine.
	MmapBytes, MaxFileBytes int
	NoSync                  bool
	// Existing opens no store that is not there yet: kv.ErrNoStore.
	Existing bool
	// FS has the files of the bolt engine. nil = the operating system's.
	FS vfs.FS
}

// Open opens the store. kv.ErrInUse when another process has it open,
// kv.ErrFormat or kv.ErrCorrupt for a file that cannot be used, kv.ErrNoStore for none
// where there should be one; 0A000 for an
// engine that is not built in.
func Open(o Options) (kv.Store, error) {
	switch {
	case o.Store == "" || o.Store == "bolt":
		st, err := boltkv.Open(o.Dir, boltkv.Options{
			Txn: o.Txn, MmapBytes: o.MmapBytes, MaxFileBytes: o.MaxFileBytes, NoSync: o.NoSync, Existing: o.Existing, FS: o.FS,
			Check: codec.Check,
		})
		if err != nil {
			return nil, err
		}
		return st, nil
	case o.Store == "mem":
		return memkv.Open(o.Txn), nil
	case strings.HasPrefix(o.Store, "tikv:"):
		return nil, sqlerr.Unsupported(-1, "the tikv store")
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unknown store \"%s\"", o.Store).
		WithHint("Stores are \"bolt\" and \"mem\".")
}
