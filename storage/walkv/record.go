package walkv

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"kvsqld/storage/kv"
	"kvsqld/storage/txn"
)

// A record is, little endian:
//
//	 0  8  checksum of all that follows, xxh3 seeded with the log's epoch
//	 8  4  recordMagic
//	12  4  bytes of the body, a multiple of 8
//	16  8  number of the batch
//	24     body: per change, uvarint space ID, database, file, uvarint number of
//	       writes, and the writes; zeros up to the multiple
//
// Names and keys are uvarint length and bytes; a value is preceded by its
// length plus one, and 0 stands for a deletion. Space ID 0 ends the changes.
// Behind it is, as uvarint, the number of batches before this one that were not
// yet durable when the record was written.
const (
	recordMagic  = 0x4c57766b
	recordHeader = 24
	recordAlign  = 8
	maxBody      = 1 << 30
)

var zeros [recordHeader]byte

// appendRecord encodes a batch before which lag batches are not yet durable. All
// changes have the operation txn.OpNone.
func appendRecord(buf []byte, epoch, seq, lag uint64, changes []txn.Change) []byte {
	start := len(buf)
	buf = append(buf, zeros[:]...)
	write := func(k, v []byte) bool {
		buf = append(binary.AppendUvarint(buf, uint64(len(k))), k...)
		if v == nil {
			buf = append(buf, 0)
		} else {
			buf = append(binary.AppendUvarint(buf, uint64(len(v))+1), v...)
		}
		return true
	}
	for i := range changes {
		c := &changes[i]
		if c.Count == 0 {
			continue
		}
		buf = binary.AppendUvarint(buf, c.Space.ID)
		buf = append(binary.AppendUvarint(buf, uint64(len(c.Space.DB))), c.Space.DB...)
		buf = append(binary.AppendUvarint(buf, uint64(len(c.Space.File))), c.Space.File...)
		buf = binary.AppendUvarint(buf, uint64(c.Count))
		c.Writes(write)
	}
	buf = append(buf, 0)
	buf = binary.AppendUvarint(buf, lag)
	for (len(buf)-start)%recordAlign != 0 {
		buf = append(buf, 0)
	}
	r := buf[start:]
	binary.LittleEndian.PutUint32(r[8:], recordMagic)
	binary.LittleEndian.PutUint32(r[12:], uint32(len(r)-recordHeader))
	binary.LittleEndian.PutUint64(r[16:], seq)
	binary.LittleEndian.PutUint64(r, xxh3.HashSeed(r[8:], epoch))
	return buf
}

// parseRecord returns the number and body of the record that b begins with.
// ok is false if there is no whole one.
func parseRecord(b []byte, epoch uint64) (seq uint64, body []byte, ok bool) {
	if len(b) < recordHeader || binary.LittleEndian.Uint32(b[8:]) != recordMagic {
		return 0, nil, false
	}
	n := int(binary.LittleEndian.Uint32(b[12:]))
	if n > maxBody || n > len(b)-recordHeader || n%recordAlign != 0 {
		return 0, nil, false
	}
	r := b[: recordHeader+n : recordHeader+n]
	if xxh3.HashSeed(r[8:], epoch) != binary.LittleEndian.Uint64(r) {
		return 0, nil, false
	}
	return binary.LittleEndian.Uint64(r[16:]), r[recordHeader:], true
}

// provesDurable reports whether a whole record anywhere in b was written when
// batch seq was durable already.
func provesDurable(b []byte, epoch, seq uint64) bool {
	magic := binary.LittleEndian.AppendUint32(nil, recordMagic)
	for at := 8; ; {
		if at >= len(b) {
			return false
		}
		i := bytes.Index(b[at:], magic)
		if i < 0 {
			return false
		}
		at += i
		if binary.LittleEndian.Uint64(pad8(b, at+8)) > seq {
			if n, body, ok := parseRecord(b[at-8:], epoch); ok && n-1-lagOf(body) >= seq {
				return true
			}
		}
		at++
	}
}

// pad8 returns the 8 bytes of b from off, or zeros if there are not so many.
func pad8(b []byte, off int) []byte {
	if len(b) < off+8 {
		return make([]byte, 8)
	}
	return b[off : off+8]
}

// decoder reads a record's body. After a fault it yields zeros.
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

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

// lagOf returns the number of batches that were not durable when the record
// with this body was written.
func lagOf(body []byte) uint64 {
	nothing := func(key, val []byte) {}
	d, err := decodeChanges(body, func(uint64, []byte, []byte, int) {}, nothing)
	if err != nil {
		return 0
	}
	return d.uint()
}

// decodeBody calls space for each change and write for each of its writes;
// val is nil for a deletion. The bytes alias body.
func decodeBody(body []byte, space func(id uint64, db, file []byte, count int), write func(key, val []byte)) error {
	_, err := decodeChanges(body, space, write)
	return err
}

// decodeChanges is decodeBody; the decoder stands behind the changes then.
func decodeChanges(body []byte, space func(id uint64, db, file []byte, count int), write func(key, val []byte)) (decoder, error) {
	d := decoder{b: body}
	for {
		id := d.uint()
		if id == 0 || d.bad {
			break
		}
		db := d.bytes(d.uint())
		file := d.bytes(d.uint())
		count := d.uint()
		space(id, db, file, int(count))
		for ; count > 0 && !d.bad; count-- {
			key := d.bytes(d.uint())
			n := d.uint()
			var val []byte
			if n > 0 {
				val = d.bytes(n - 1)
			}
			if !d.bad {
				write(key, val)
			}
		}
	}
	if d.bad {
		return d, fmt.Errorf("%w: a log record with a valid checksum does not decode", kv.ErrCorrupt)
	}
	return d, nil
}
