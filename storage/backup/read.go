package backup

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"kvsqld/storage/kv"
)

// ErrDamaged is returned for a stream that is not what Write wrote.
var ErrDamaged = errors.New("the backup is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// Restore reads a stream into an empty store. The store is to be used only when
// it has returned without an error: what came before a damaged place is in it.
func Restore(ctx context.Context, r io.Reader, st kv.Store) (Summary, error) {
	l := &loader{ctx: ctx, st: st}
	sum, err := read(r, l)
	if l.tx != nil {
		if err == nil {
			err = l.tx.Commit(ctx)
		}
		l.tx.Rollback()
	}
	return sum, err
}

// Verify reads a stream to its end.
func Verify(r io.Reader) (Summary, error) { return read(r, nil) }

// loader writes what a stream contains to a store.
type loader struct {
	ctx   context.Context
	st    kv.Store
	tx    kv.Txn
	sp    kv.Space
	bytes int // written in tx
}

// loadBytes is the size of a transaction of a restore.
const loadBytes = 8 << 20

func (l *loader) begin() (err error) {
	if l.tx == nil {
		l.tx, err = l.st.Begin(l.ctx, kv.BeginOpt{})
	}
	return err
}

func (l *loader) space(db, file string) error {
	if err := l.begin(); err != nil {
		return err
	}
	l.sp = kv.Space{ID: l.sp.ID + 1, DB: db, File: file}
	return l.tx.CreateSpace(l.sp)
}

func (l *loader) pair(key, val []byte) error {
	if err := l.begin(); err != nil {
		return err
	}
	if err := l.tx.Put(l.sp, key, val, kv.Covered); err != nil {
		return err
	}
	if l.bytes += len(key) + len(val); l.bytes < loadBytes {
		return nil
	}
	l.bytes = 0
	tx := l.tx
	l.tx = nil
	return tx.Commit(l.ctx)
}

// read reads a stream; l is nil if it is only to be verified.
func read(r io.Reader, l *loader) (sum Summary, err error) {
	in := &unpacker{r: r, pack: flate.NewReader(nil)}
	head, err := in.next()
	if err != nil {
		return sum, err
	}
	if len(head) != len(streamMagic)+8 || string(head[:len(streamMagic)]) != streamMagic {
		return sum, damaged("its first bytes are not those of a backup that this program knows")
	}
	sum.Seq = binary.LittleEndian.Uint64(head[len(streamMagic):])
	for {
		b, err := in.next()
		if err != nil {
			return sum, err
		}
		end, err := sum.block(b, l)
		if err != nil {
			return sum, err
		}
		if end {
			if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
				return sum, damaged("something follows its end")
			}
			return sum, nil
		}
	}
}

// block reads the records of one block; end tells that it has the last one.
func (sum *Summary) block(b []byte, l *loader) (end bool, err error) {
	d := decoder{b: b}
	for len(d.b) > 0 && !end {
		kind := d.b[0]
		d.b = d.b[1:]
		switch kind {
		case recSpace:
			db, file := d.bytes(), d.bytes()
			sum.Files++
			if !d.bad && l != nil {
				err = l.space(string(db), string(file))
			}
		case recPair:
			key, val := d.bytes(), d.bytes()
			sum.Pairs++
			if sum.Files == 0 {
				d.bad = true
			}
			if !d.bad && l != nil {
				err = l.pair(key, val)
			}
		case recEnd:
			end = true
			if files, pairs := d.uint(), d.uint(); files != uint64(sum.Files) || pairs != uint64(sum.Pairs) || len(d.b) > 0 {
				d.bad = true
			}
		default:
			d.bad = true
		}
		if d.bad {
			return false, damaged("a block with a valid checksum does not decode")
		}
		if err != nil {
			return false, err
		}
	}
	return end, nil
}

// unpacker reads blocks.
type unpacker struct {
	r    io.Reader
	pack io.ReadCloser
	n    uint64 // blocks read
	raw  bytes.Buffer
	buf  bytes.Buffer
}

// next returns the payload of the next block, valid until the next call.
func (u *unpacker) next() ([]byte, error) {
	u.raw.Reset()
	if err := u.read(blockHead); err != nil {
		return nil, err
	}
	packed, plain := binary.LittleEndian.Uint32(u.raw.Bytes()), binary.LittleEndian.Uint32(u.raw.Bytes()[4:])
	if packed > maxBlock || plain > maxBlock {
		return nil, damaged("block %d has an impossible length", u.n)
	}
	if err := u.read(int64(packed) + blockSum); err != nil {
		return nil, err
	}
	raw := u.raw.Bytes()
	body := raw[:len(raw)-blockSum]
	if binary.LittleEndian.Uint64(raw[len(body):]) != xxh3.HashSeed(body, u.n) {
		return nil, damaged("the checksum of block %d does not match", u.n)
	}
	if err := u.pack.(flate.Resetter).Reset(bytes.NewReader(body[blockHead:]), nil); err != nil {
		return nil, err
	}
	u.buf.Reset()
	if n, err := io.CopyN(&u.buf, u.pack, int64(plain)); err != nil || n != int64(plain) {
		return nil, damaged("block %d does not unpack: %v", u.n, err)
	}
	u.n++
	return u.buf.Bytes(), nil
}

// read appends n bytes of the stream to raw, which grows with what is there and
// not with what a damaged length says.
func (u *unpacker) read(n int64) error {
	switch got, err := io.CopyN(&u.raw, u.r, n); {
	case err == io.EOF:
		return damaged("it ends in block %d, %d bytes are missing", u.n, n-got)
	case err != nil:
		return err
	}
	return nil
}

// decoder reads a block. After a fault it yields nothing.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}
