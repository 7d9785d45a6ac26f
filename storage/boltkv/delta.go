package boltkv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
	"kvsqld/storage/vfs"
)

// delta is what was committed since a compaction began, in a file without a
// name: per batch its length (8 bytes) and the batch: number of changes, and per
// change the operation, database, file and writes; then the mark. Numbers are
// uvarints; keys and values have their length plus one before them, 0 stands
// for none. It needs no checksums: it is read by the process that wrote it.
type delta struct {
	f        vfs.File
	at, end  int64 // replayed, written
	buf      []byte
	writeErr error // the file is not whole any more
}

func newDelta(fs vfs.FS, path string) (*delta, error) {
	f, err := fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	if err := fs.Remove(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &delta{f: f}, nil
}

func appendBytes(buf, b []byte) []byte {
	if b == nil {
		return append(buf, 0)
	}
	return append(binary.AppendUvarint(buf, uint64(len(b))+1), b...)
}

// add appends a batch.
func (d *delta) add(changes []txn.Change, mark []byte) {
	if d.writeErr != nil {
		return
	}
	buf := append(d.buf[:0], make([]byte, 8)...)
	buf = binary.AppendUvarint(buf, uint64(len(changes)))
	for i := range changes {
		c := &changes[i]
		buf = appendBytes(append(buf, byte(c.Op)), []byte(c.Space.DB))
		buf = appendBytes(buf, []byte(c.Space.File))
		if c.Count > 0 {
			for k, v := range c.Writes {
				buf = appendBytes(appendBytes(buf, k), v)
			}
		}
		buf = append(buf, 0) // no key is empty
	}
	buf = appendBytes(buf, mark)
	binary.LittleEndian.PutUint64(buf, uint64(len(buf)-8))
	_, d.writeErr = d.f.WriteAt(buf, d.end)
	d.end += int64(len(buf))
	d.buf = buf
}

// replay applies the batches up to an end.
func (d *delta) replay(f *dataFile, end int64) error {
	for d.at < end {
		var head [8]byte
		if _, err := d.f.ReadAt(head[:], d.at); err != nil {
			return err
		}
		b := make([]byte, binary.LittleEndian.Uint64(head[:]))
		if _, err := d.f.ReadAt(b, d.at+8); err != nil {
			return err
		}
		changes, mark, err := decodeBatch(b)
		if err != nil {
			return err
		}
		if _, err := f.apply(changes, mark); err != nil {
			return err
		}
		d.at += 8 + int64(len(b))
	}
	return nil
}

func decodeBatch(b []byte) (changes []txn.Change, mark []byte, err error) {
	bad := false
	next := func() []byte {
		n, l := binary.Uvarint(b)
		if bad = bad || l <= 0 || n > 0 && n-1 > uint64(len(b)-l); bad {
			return nil
		}
		if b = b[l:]; n == 0 {
			return nil
		}
		v := b[: n-1 : n-1]
		b = b[n-1:]
		return v
	}
	n, l := binary.Uvarint(b)
	if l <= 0 {
		return nil, nil, fmt.Errorf("%w: a batch of the compaction", kv.ErrCorrupt)
	}
	for b = b[l:]; n > 0 && len(b) > 0 && !bad; n-- {
		c := txn.Change{Op: txn.SpaceOp(b[0])}
		b = b[1:]
		c.Space.DB, c.Space.File = string(next()), string(next())
		var writes []kv.Pair
		for key := next(); key != nil; key = next() {
			writes = append(writes, kv.Pair{Key: key, Val: next()})
		}
		c.Count = len(writes)
		c.Writes = func(yield func(k, v []byte) bool) {
			for _, w := range writes {
				if !yield(w.Key, w.Val) {
					return
				}
			}
		}
		changes = append(changes, c)
	}
	mark = next()
	if bad || n > 0 || len(b) > 0 {
		return nil, nil, fmt.Errorf("%w: a batch of the compaction", kv.ErrCorrupt)
	}
	return changes, mark, nil
}
