package table

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
	"kvsqld/storage/kv/keysort"
)

// What is sorted at once while an index is built: entries, and about so many bytes
// of them. The transaction merges what was sorted apart.
const (
	buildChunk = 1 << 20
	buildBytes = 64 << 20
)

// BuildIndex fills the empty file of an index of the table from its rows. vals
// computes the index's expressions and predicate for a batch of live columns; nil
// when it has none. The caller holds a table lock that keeps writers out. 23505
// (could not create unique index) on duplicates.
func (d *Desc) BuildIndex(ctx context.Context, tx Txn, ix *catalog.Index, vals func(live *vec.Batch) (IndexVals, error)) error {
	x, err := d.index(ix)
	if err != nil || x == nil {
		return err
	}
	i := slices.Index(d.indexes, x)
	s, err := d.Scan(ctx, tx, &ScanSpec{Cols: append(slices.Clone(d.Live), ColRowKey)})
	if err != nil {
		return err
	}
	defer s.Close()
	b := &builder{d: d, x: x, tx: tx}
	var m image
	var batch vec.Batch
	for {
		if err := s.Next(&batch); err != nil {
			return err
		}
		if batch.N == 0 {
			break
		}
		keys := batch.Cols[len(d.Live)]
		live := vec.Batch{Cols: batch.Cols[:len(d.Live)], N: batch.N}
		var all []IndexVals
		if vals != nil {
			all = make([]IndexVals, len(d.indexes))
			if all[i], err = vals(&live); err != nil {
				return err
			}
		}
		if err := m.set(d, &live, all); err != nil {
			return err
		}
		if err := b.add(ctx, &m, i, keys, batch.N); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// builder collects index entries and writes them in key order.
type builder struct {
	d   *Desc
	x   *index
	tx  Txn
	buf []byte
	// entries are pieces of buf: key, then value.
	entries []builtEntry
	flushed bool   // entries were written before: duplicates may lie among them
	highest []byte // row key in the lists that were written before

	group   [builtGroup]builtEntry // of gather
	touched byte                   // keeps the loads of gather from being left out
}

// builtEntry is an entry; no other may have its key, if distinct, or a key that begins
// with the same bytes, unless those are none.
type builtEntry struct {
	start, val, end uint32
	search          uint32
	distinct        bool
}

func (b *builder) key(e builtEntry) []byte { return b.buf[e.start:e.val] }

func (b *builder) add(ctx context.Context, m *image, i int, keys *vec.Vec, n int) error {
	x := b.x
	cols, pred, err := m.indexed(i)
	if err != nil {
		return err
	}
	include := m.includes(x)
	// Doubled: append lets large slices grow by a quarter and copies them each time.
	if cap(b.entries)-len(b.entries) < n {
		b.entries = slices.Grow(b.entries, max(n, len(b.entries)))
	}
	for row := range n {
		if !isTrue(pred, row) {
			continue
		}
		if len(b.entries) >= buildChunk || len(b.buf) >= buildBytes {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
		if x.inverted {
			var buf codec.KeyBuf
			if err := x.entryKeys(&buf, cols, row, keys.B[row]); err != nil {
				return err
			}
			for k := range buf.Len() {
				e := builtEntry{start: uint32(len(b.buf))}
				b.buf = append(b.buf, buf.Key(k)...)
				e.val, e.end = uint32(len(b.buf)), uint32(len(b.buf))
				b.entries = append(b.entries, e)
			}
			continue
		}
		e := builtEntry{start: uint32(len(b.buf)), distinct: x.distinct(cols, row)}
		b.buf = x.entryKey(b.buf, cols, row, keys.B[row])
		e.val = uint32(len(b.buf))
		if x.deferred && x.cat.Unique && (x.cat.NullsNotDistinct || !anyNull(cols, row)) {
			e.search = e.val - e.start - uint32(len(keys.B[row]))
		}
		b.buf = x.entryValue(b.buf, b.buf[e.start:e.val], include, row, keys.B[row])
		e.end = uint32(len(b.buf))
		b.entries = append(b.entries, e)
		if size := int(e.end - e.start); cap(b.buf)-len(b.buf) < 2*size {
			b.buf = slices.Grow(b.buf, max(2*size, min(len(b.buf), buildBytes-len(b.buf))))
		}
	}
	return nil
}

func (b *builder) flush(ctx context.Context) error {
	items := keysort.Items(len(b.entries), func(i int) []byte { return b.key(b.entries[i]) })
	if b.x.inverted {
		return b.flushLists(items)
	}
	var last []byte // key of the entry before
	for group := range slices.Chunk(items, builtGroup) {
		for _, e := range b.gather(group) {
			key := b.key(e)
			if e.distinct {
				dup := bytes.Equal(last, key)
				if !dup && b.flushed {
					val, err := getOne(ctx, b.tx, b.x.space, key)
					if err != nil {
						return err
					}
					dup = val != nil
				}
				if dup {
					return b.duplicate(key)
				}
			}
			if e.search > 0 {
				search := key[:e.search]
				dup := bytes.HasPrefix(last, search)
				if !dup && b.flushed {
					same, err := keysIn(ctx, b.tx, b.x.space, kv.Prefix(search), 0, false, nil)
					if err != nil {
						return err
					}
					dup = len(same) > 0
				}
				if dup {
					return b.duplicate(key)
				}
			}
			if err := b.tx.Put(b.x.space, key, b.buf[e.val:e.end], kv.Covered); err != nil {
				return err
			}
			last = key
		}
	}
	b.buf, b.entries, b.flushed = b.buf[:0], b.entries[:0], true
	return nil
}

// builtGroup is how many entries are brought into the processor's cache together.
const builtGroup = 32

// gather returns the entries of a few items. In key order they lie all over the
// memory: these loops, in which no load waits for another, have it fetched for
// all of them at once, where using one after the other would wait for each.
func (b *builder) gather(items []keysort.Item) []builtEntry {
	for i, it := range items {
		b.group[i] = b.entries[it.Pos]
	}
	for _, e := range b.group[:len(items)] {
		b.touched += b.buf[e.start]
	}
	return b.group[:len(items)]
}

// flushLists writes the postings collected, in key order: chunks of rows that are all
// above those of lists that were written before, as rows come in the order of their
// keys, and deltas of few rows, which a folding brings together.
func (b *builder) flushLists(items []keysort.Item) error {
	var search []byte
	var rows [][]byte
	highest := b.highest
	write := func() error {
		if len(rows) > 0 && bytes.Compare(rows[len(rows)-1], highest) > 0 {
			highest = rows[len(rows)-1]
		}
		if len(rows) >= foldMin && bytes.Compare(rows[0], b.highest) > 0 {
			return putChunks(b.tx, b.x, search, rows)
		}
		for _, row := range rows {
			key := append(append(bytes.Clone(search), tagDelta), row...)
			if err := b.tx.Put(b.x.space, key, codec.AppendEntry(nil, key, nil, nil, nil, 0), kv.Covered); err != nil {
				return tooLarge(err, b.x.space, key, nil)
			}
		}
		return nil
	}
	for _, it := range items {
		e := b.entries[it.Pos]
		s, _, row, err := b.x.splitPosting(b.key(e))
		if err != nil {
			return corrupt(b.x.space, b.key(e), err)
		}
		if !bytes.Equal(s, search) {
			if err := write(); err != nil {
				return err
			}
			search, rows = s, rows[:0]
		}
		rows = append(rows, row)
	}
	if err := write(); err != nil {
		return err
	}
	b.highest = bytes.Clone(highest)
	b.buf, b.entries, b.flushed = b.buf[:0], b.entries[:0], true
	return nil
}

func (b *builder) duplicate(key []byte) error {
	cols := make([]*vec.Vec, b.x.n)
	for i := range cols {
		cols[i] = codec.NewVec(b.x.key.Col(i).T, 1)
		if err := b.x.key.DecodeVec(i, [][]byte{key}, cols[i], 0, new(vec.Arena)); err != nil {
			return corrupt(b.x.space, key, err)
		}
	}
	return keyError(sqlerr.Raise(sqlerr.Error{
		Code:    sqlerr.UniqueViolation,
		Message: fmt.Sprintf("could not create unique index \"%s\"", b.x.cat.Name),
		Schema:  b.d.Table.Schema, Table: b.d.Table.Name, Constraint: b.x.cat.Name,
	}), b.d.keysShown(b.x, "Key %s is duplicated.", shownKey{cols, 0}))
}
