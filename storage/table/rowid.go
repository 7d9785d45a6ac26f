package table

import (
	"context"
	"encoding/binary"
	"sync"

	"kvsqld/storage/kv"
)

// rowIDs gives out the row numbers of a table without a primary key, ascending
// from 1. Numbers are not given out again while the server runs; after a restart
// they go on after the greatest that is stored.
type rowIDs struct {
	mu   sync.Mutex
	init bool
	next uint64
}

// rowNumber is the row number in a row key.
func rowNumber(key []byte) uint64 {
	if len(key) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key) ^ 1<<63
}

func appendRowNumber(dst []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, n^1<<63)
}

// takeRowIDs returns the first of n new row numbers.
func (d *Desc) takeRowIDs(ctx context.Context, n int) (uint64, error) {
	db := d.db
	db.mu.Lock()
	a := db.mu.rowIDs[d.space.ID]
	if a == nil {
		a = new(rowIDs)
		db.mu.rowIDs[d.space.ID] = a
	}
	db.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.init {
		// No number was given out by this process yet, so the newest committed state
		// has the greatest.
		snap, err := db.store.Snapshot(ctx)
		if err != nil {
			return 0, err
		}
		defer snap.Close()
		it := snap.Scan(ctx, d.space, kv.Range{}, kv.ScanOpt{Reverse: true, KeysOnly: true, Limit: 1})
		defer it.Close()
		pairs, err := it.Next()
		if err != nil {
			return 0, err
		}
		a.next = 1
		if len(pairs) > 0 {
			a.next = rowNumber(pairs[0].Key) + 1
		}
		a.init = true
	}
	first := a.next
	a.next += uint64(n)
	return first, nil
}
