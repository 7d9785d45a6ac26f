package table

import (
	"context"
	"encoding/binary"
	"math"

	"kvsqld/catalog/types"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// The files that every store has. Their numbers lie above those of tables.
var (
	catalogSpace  = kv.Space{ID: math.MaxUint64, DB: "server", File: "catalog"}
	sequenceSpace = kv.Space{ID: math.MaxUint64 - 1, DB: "server", File: "sequences"}
	scratchSpace  = kv.Space{ID: math.MaxUint64 - 3, DB: "server", File: "scratch"}
	nameSpace     = kv.Space{ID: math.MaxUint64 - 2, DB: "server", File: "names"} // has locks and no file
)

// LockNames locks the names of catalog objects until the end of the transaction: of
// two that give one name at once the second waits for the first.
func LockNames(ctx context.Context, tx Txn, o LockOpt, names []string) error {
	keys := make([][]byte, len(names))
	for i, n := range names {
		keys[i] = []byte(n)
	}
	o.NoValue = true
	_, err := lockSorted(ctx, tx, nameSpace, o, keys)
	return err
}

// LockObjects locks catalog objects, by their OIDs, for who changes them, until the end of
// the transaction.
func LockObjects(ctx context.Context, tx Txn, o LockOpt, oids []types.OID) error {
	names := make([]string, len(oids))
	for i, oid := range oids {
		names[i] = "\x00" + string(oidKey(oid)) // no name begins so
	}
	return LockNames(ctx, tx, o, names)
}

// Init makes the files that every store has when they are absent.
func (db *DB) Init(ctx context.Context) error {
	tx, err := db.store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, sp := range []kv.Space{catalogSpace, sequenceSpace, scratchSpace} {
		has, err := tx.HasSpace(sp)
		if err != nil {
			return err
		}
		if !has {
			if err := tx.CreateSpace(sp); err != nil {
				return err
			}
		}
	}
	return tx.Commit(ctx)
}

// Fragment is the stored form of a catalog object, under its OID.
type Fragment struct {
	OID types.OID
	XML []byte
}

func oidKey(o types.OID) []byte { return binary.BigEndian.AppendUint32(nil, uint32(o)) }

// Fragments returns all catalog fragments in OID order.
func Fragments(ctx context.Context, r Reader) ([]Fragment, error) {
	it := r.Scan(ctx, catalogSpace, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	var out []Fragment
	for {
		pairs, err := it.Next()
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			return out, nil
		}
		for _, p := range pairs {
			xml, err := codec.OpenBlob(p.Key, p.Val, codec.FormatXML)
			if err != nil {
				return nil, corrupt(catalogSpace, p.Key, err)
			}
			if len(p.Key) != 4 {
				return nil, corrupt(catalogSpace, p.Key, codec.ErrCorrupt)
			}
			out = append(out, Fragment{types.OID(binary.BigEndian.Uint32(p.Key)), xml})
		}
	}
}

// PutFragment stores the fragment of an object. Changes of the catalog come one
// at a time (catalog.Begin), which stands for locks on the keys.
func PutFragment(tx Txn, f Fragment) error {
	key := oidKey(f.OID)
	return tx.Put(catalogSpace, key, codec.AppendBlob(nil, key, codec.FormatXML, f.XML), kv.Covered)
}

// DropFragment removes the fragment of an object.
func DropFragment(tx Txn, oid types.OID) error {
	return tx.Delete(catalogSpace, oidKey(oid), kv.Covered)
}
