package table

import (
	"bytes"
	"context"
	"encoding/binary"

	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Scratch files are rows that are being copied for a table, in transactions of their
// own, before the table has them: the scratch file of the store lists them, by the space's
// number, so that those which a crash leaves behind are found and dropped.

// CreateScratch makes empty files for the table's rows, as scratch. Scratch files of the
// same names go: the caller has the right to define the table that names its files so, and
// an earlier attempt has left them.
func (d *Desc) CreateScratch(ctx context.Context, tx Txn) error {
	left, err := scratchFiles(ctx, tx)
	if err != nil {
		return err
	}
	for _, sp := range d.rowFile.files() {
		for _, old := range left {
			if old.DB == sp.DB && old.File == sp.File {
				if err := dropScratch(tx, old); err != nil {
					return err
				}
			}
		}
		if err := tx.CreateSpace(sp); err != nil {
			return err
		}
		key := scratchKey(sp)
		note := append(append([]byte(sp.DB), 0), sp.File...)
		if err := tx.Put(scratchSpace, key, codec.AppendBlob(nil, key, codec.FormatScratch, note), kv.Covered); err != nil {
			return err
		}
	}
	return nil
}

// keepScratch makes scratch files those of the table, which gets them in the same
// transaction.
func (d *Desc) keepScratch(tx Txn) error {
	for _, sp := range d.rowFile.files() {
		if err := tx.Delete(scratchSpace, scratchKey(sp), kv.Covered); err != nil {
			return err
		}
	}
	return nil
}

// DropScratch drops those files of the table's rows that are scratch still.
func (d *Desc) DropScratch(ctx context.Context, tx Txn) error {
	for _, sp := range d.rowFile.files() {
		note, err := getOne(ctx, tx, scratchSpace, scratchKey(sp))
		if err != nil {
			return err
		}
		if note == nil {
			continue
		}
		if err := dropScratch(tx, sp); err != nil {
			return err
		}
	}
	return nil
}

func dropScratch(tx Txn, sp kv.Space) error {
	has, err := tx.HasSpace(sp)
	if err == nil && has {
		err = tx.DropSpace(sp)
	}
	if err != nil {
		return err
	}
	return tx.Delete(scratchSpace, scratchKey(sp), kv.Covered)
}

// DropScratch drops all scratch files, which an earlier process has left, and returns
// the greatest number of their spaces, 0 for none.
func (db *DB) DropScratch(ctx context.Context) (last uint64, err error) {
	tx, err := db.store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	left, err := scratchFiles(ctx, tx)
	if err != nil || len(left) == 0 {
		return 0, err
	}
	for _, sp := range left {
		if err := dropScratch(tx, sp); err != nil {
			return 0, err
		}
		last = max(last, sp.ID)
	}
	return last, tx.Commit(ctx)
}

// scratchFiles lists the scratch files there are.
func scratchFiles(ctx context.Context, r Reader) ([]kv.Space, error) {
	it := r.Scan(ctx, scratchSpace, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	var out []kv.Space
	for {
		pairs, err := it.Next()
		if err != nil || len(pairs) == 0 {
			return out, err
		}
		for _, p := range pairs {
			note, err := codec.OpenBlob(p.Key, p.Val, codec.FormatScratch)
			if err != nil {
				return nil, corrupt(scratchSpace, p.Key, err)
			}
			db, file, ok := bytes.Cut(note, []byte{0})
			if !ok || len(p.Key) != 8 {
				return nil, corrupt(scratchSpace, p.Key, codec.ErrCorrupt)
			}
			out = append(out, kv.Space{ID: binary.BigEndian.Uint64(p.Key), DB: string(db), File: string(file)})
		}
	}
}

func scratchKey(sp kv.Space) []byte { return binary.BigEndian.AppendUint64(nil, sp.ID) }
