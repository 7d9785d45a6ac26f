package backup

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"kvsqld/storage/kv"
)

// Write writes everything in a snapshot to w, in blocks: each call of w.Write
// gets a whole one.
func Write(ctx context.Context, s kv.Snapshot, w io.Writer) (Summary, error) {
	pack, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		return Summary{}, err
	}
	b := &blocks{w: w, pack: pack}
	sum := Summary{Seq: s.Seq()}
	b.buf = binary.LittleEndian.AppendUint64([]byte(streamMagic), sum.Seq)
	if err := b.flush(); err != nil {
		return sum, err
	}
	spaces, err := s.Spaces(ctx)
	if err != nil {
		return sum, err
	}
	for _, sp := range spaces {
		n, err := b.space(ctx, s, sp)
		sum.Pairs += n
		if err != nil {
			return sum, err
		}
		sum.Files++
	}
	b.buf = append(b.buf, recEnd)
	b.buf = binary.AppendUvarint(binary.AppendUvarint(b.buf, uint64(sum.Files)), uint64(sum.Pairs))
	return sum, b.flush()
}

// blocks collects records and writes them.
type blocks struct {
	w    io.Writer
	pack *flate.Writer
	buf  []byte // payload
	out  bytes.Buffer
	n    uint64 // blocks written
}

func (b *blocks) space(ctx context.Context, s kv.Snapshot, sp kv.Space) (pairs int, err error) {
	b.buf = appendString(appendString(append(b.buf, recSpace), sp.DB), sp.File)
	it := s.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	for {
		ps, err := it.Next()
		if err != nil || len(ps) == 0 {
			return pairs, err
		}
		for _, p := range ps {
			b.buf = appendString(appendString(append(b.buf, recPair), p.Key), p.Val)
			if len(b.buf) >= blockBytes {
				if err := b.flush(); err != nil {
					return pairs, err
				}
			}
		}
		pairs += len(ps)
	}
}

func appendString[T string | []byte](buf []byte, s T) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

// flush writes the payload as a block.
func (b *blocks) flush() error {
	if len(b.buf) > maxBlock {
		return fmt.Errorf("%w: a pair of %d bytes", kv.ErrTooLarge, len(b.buf))
	}
	b.out.Reset()
	b.out.Write(make([]byte, blockHead))
	b.pack.Reset(&b.out)
	if _, err := b.pack.Write(b.buf); err != nil {
		return err
	}
	if err := b.pack.Close(); err != nil {
		return err
	}
	raw := b.out.Bytes()
	binary.LittleEndian.PutUint32(raw, uint32(len(raw)-blockHead))
	binary.LittleEndian.PutUint32(raw[4:], uint32(len(b.buf)))
	raw = binary.LittleEndian.AppendUint64(raw, xxh3.HashSeed(raw, b.n))
	b.n++
	b.buf = b.buf[:0]
	_, err := b.w.Write(raw)
	return err
}
