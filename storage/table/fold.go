package table

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"kvsqld/catalog"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

const (
	// chunkRows is the number of row keys that a chunk is made with, chunkMax the
	// number from which one is divided.
	chunkRows = 256
	chunkMax  = 2 * chunkRows
	// foldMin is the number of deltas of a list from which they are worth a chunk.
	foldMin = 4
	// foldBatch is the number of rows that are locked at a time: whoever changes many
	// rows meanwhile meets some of them again and again.
	foldBatch = 500
	// foldEvery is the least number of deltas written to an index between two
	// foldings that nobody asked for.
	foldEvery = 8192
)

// postingWritten counts deltas and has an index folded after the commit when many
// have come together: at least foldEvery, and a quarter of what the index had.
func (db *DB) postingWritten(tx Txn, d *Desc, x *index) {
	st := db.foldState(x)
	db.mu.Lock()
	defer db.mu.Unlock()
	st.deltas++
	if st.deltas < max(foldEvery, st.size/4) {
		return
	}
	st.deltas = 0
	tx.OnCommit(func() {
		go func() {
			// Nobody waits for the outcome: what fails now is done by a later folding.
			_ = d.fold(context.Background(), x)
		}()
	})
}

// foldState is what is known of the deltas of an index. The counts belong to db.mu.
type foldState struct {
	deltas, size int        // written, and keys found, since or at the last folding
	running      sync.Mutex // held while the index is folded
}

func (db *DB) foldState(x *index) *foldState {
	db.mu.Lock()
	defer db.mu.Unlock()
	st := db.mu.folds[x.space.ID]
	if st == nil {
		st = new(foldState)
		db.mu.folds[x.space.ID] = st
	}
	return st
}

// Fold moves the deltas of the table's inverted indexes into chunks, apart from
// those of rows that a transaction has locked. The caller holds no lock on the
// table; a table that is locked against writers is left alone.
func (d *Desc) Fold(ctx context.Context) error {
	for _, x := range d.indexes {
		if x.inverted {
			if err := d.fold(ctx, x); err != nil && !errors.Is(err, kv.ErrLockTimeout) {
				return err
			}
		}
	}
	return nil
}

func (d *Desc) fold(ctx context.Context, x *index) error {
	db := d.db
	st := db.foldState(x)
	st.running.Lock()
	defer st.running.Unlock()
	size := 0
	var err error
	for from := []byte{}; from != nil && err == nil; {
		from, err = d.foldFrom(ctx, x, from, &size)
	}
	db.mu.Lock()
	st.deltas, st.size = 0, size
	db.mu.Unlock()
	return err
}

// posting is a delta.
type posting struct {
	key, row []byte
	gone     bool
}

// foldFrom folds lists from a key of the file on, in a transaction of its own,
// and returns where to go on; nil at the end. A delta may be moved because its row
// is locked meanwhile and has not changed since the snapshot: whoever has the row
// next finds its delta in the chunk. Chunks have no other writer.
func (d *Desc) foldFrom(ctx context.Context, x *index, from []byte, size *int) ([]byte, error) {
	tx, err := d.db.store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if err := d.LockTable(ctx, tx, kv.RowExclusive, kv.LockOpt{}); err != nil {
		return nil, err
	}
	// A table that has got another master file since has its locks there.
	for _, sp := range []kv.Space{d.space, x.space} {
		if has, err := tx.HasSpace(sp); err != nil || !has {
			return nil, err
		}
	}
	it := tx.Scan(ctx, x.space, kv.Range{Lo: from}, kv.ScanOpt{})
	defer it.Close()
	l := &list{}
	locked := 0
	var next []byte
scan:
	for {
		pairs, err := it.Next()
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			search, tag, row, err := x.splitPosting(p.Key)
			if err != nil {
				return nil, corrupt(x.space, p.Key, err)
			}
			if !bytes.Equal(search, l.search) {
				n, err := d.foldList(ctx, tx, x, l)
				if err != nil {
					return nil, err
				}
				if locked += n; locked >= foldBatch {
					next = bytes.Clone(search)
					break scan
				}
				*l = list{search: search}
			}
			*size++
			if tag == tagChunk {
				l.chunks = append(l.chunks, p)
				continue
			}
			gone, err := isGone(p.Key, p.Val)
			if err != nil {
				return nil, corrupt(x.space, p.Key, err)
			}
			l.deltas = append(l.deltas, posting{p.Key, row, gone})
		}
	}
	if next == nil {
		if _, err := d.foldList(ctx, tx, x, l); err != nil {
			return nil, err
		}
	}
	it.Close()
	return next, tx.Commit(ctx)
}

// list is the posting list of one search key.
type list struct {
	search []byte
	deltas []posting
	chunks []kv.Pair
}

// foldList folds one list and returns the number of rows it locked.
func (d *Desc) foldList(ctx context.Context, tx Txn, x *index, l *list) (int, error) {
	gone := slices.ContainsFunc(l.deltas, func(p posting) bool { return p.gone })
	if len(l.deltas) < foldMin && !gone && (len(l.deltas) == 0 || len(l.chunks) == 0) {
		return 0, nil
	}
	rows := make([][]byte, len(l.deltas))
	for i, p := range l.deltas {
		rows[i] = p.row
	}
	locks, err := tx.LockKeys(ctx, d.space, kv.LockOpt{SkipLocked: true, NoValue: true}, rows...)
	if err != nil {
		return 0, err
	}
	var ours []posting
	for i, p := range l.deltas {
		if locks[i].Skipped || locks[i].Changed {
			continue
		}
		ours = append(ours, p)
		if err := tx.Delete(x.space, p.key, kv.Covered); err != nil {
			return 0, err
		}
	}
	// Each chunk takes the deltas up to the first row of the next one.
	chunks := l.chunks
	if len(chunks) == 0 {
		chunks = []kv.Pair{{}}
	}
	for i, c := range chunks {
		n := len(ours)
		if i+1 < len(chunks) {
			first := chunks[i+1].Key[len(l.search)+1:]
			n, _ = slices.BinarySearchFunc(ours, first, func(p posting, row []byte) int { return bytes.Compare(p.row, row) })
		}
		if n > 0 {
			if err := foldChunk(tx, x, l.search, c, ours[:n]); err != nil {
				return 0, err
			}
		}
		ours = ours[n:]
	}
	return len(rows), nil
}

// foldChunk writes a chunk (none: Key nil) anew with some deltas.
func foldChunk(tx Txn, x *index, search []byte, c kv.Pair, deltas []posting) error {
	var buf codec.KeyBuf
	if c.Key != nil {
		if err := codec.OpenPosting(c.Key, c.Val, nil, &buf); err != nil {
			return corrupt(x.space, c.Key, err)
		}
		if err := tx.Delete(x.space, c.Key, kv.Covered); err != nil {
			return err
		}
	}
	old := buf.Keys(nil)
	rows := make([][]byte, 0, len(old)+len(deltas))
	for len(old) > 0 || len(deltas) > 0 {
		order := 0
		switch {
		case len(deltas) == 0:
			order = -1
		case len(old) == 0:
			order = 1
		default:
			order = bytes.Compare(old[0], deltas[0].row)
		}
		if order < 0 {
			rows, old = append(rows, old[0]), old[1:]
			continue
		}
		if !deltas[0].gone {
			rows = append(rows, deltas[0].row)
		}
		if order == 0 {
			old = old[1:]
		}
		deltas = deltas[1:]
	}
	return putChunks(tx, x, search, rows)
}

// putChunks stores row keys, ascending, as chunks of a list.
func putChunks(tx Txn, x *index, search []byte, rows [][]byte) error {
	var key, val []byte
	for len(rows) > 0 {
		n := len(rows)
		if n > chunkMax {
			n = chunkRows
		}
		key = append(append(append(key[:0], search...), tagChunk), rows[0]...)
		val = codec.AppendPosting(val[:0], key, rows[:n])
		if err := tx.Put(x.space, key, val, kv.Covered); err != nil {
			return tooLarge(err, x.space, key, val)
		}
		rows = rows[n:]
	}
	return nil
}

// hasInverted reports whether the table has an index whose lists can be folded.
func hasInverted(t *catalog.Table) bool {
	return slices.ContainsFunc(t.Indexes, func(ix *catalog.Index) bool {
		return ix.Kind == catalog.KindInverted || ix.Kind == catalog.KindGin
	})
}

// FoldPostings moves the deltas of a table's inverted indexes into chunks.
func (db *DB) FoldPostings(ctx context.Context, t *catalog.Table) error {
	if !hasInverted(t) {
		return nil
	}
	d, err := db.For(t)
	if err != nil {
		return err
	}
	return d.Fold(ctx)
}
