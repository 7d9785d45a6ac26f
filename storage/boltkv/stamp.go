package boltkv

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
	bolt "go.etcd.io/bbolt"

	"kvsqld/storage/kv"
)

// stamp says in the checksum file which state of the data file it was written for.
type stamp struct {
	n      uint64 // stamps are numbered; 0: there is none
	txn    uint64 // bbolt's number of the state
	closed bool   // it was the last one when the store was closed
}

// The stamps of odd and of even numbers have a place each, in a sector of its own, so
// that one is whole whatever becomes of the other while it is written.
const (
	stampAt   = 512
	stampStep = 512
	stampLen  = 32 // n, txn, closed, and the xxh3 of those
)

func (t stamp) encode() []byte {
	b := make([]byte, stampLen)
	binary.LittleEndian.PutUint64(b, t.n)
	binary.LittleEndian.PutUint64(b[8:], t.txn)
	if t.closed {
		b[16] = 1
	}
	binary.LittleEndian.PutUint64(b[24:], xxh3.Hash(b[:24]))
	return b
}

// lastStamp returns the newest whole stamp of a header block.
func lastStamp(h []byte) (last stamp) {
	for at := stampAt; at <= stampAt+stampStep; at += stampStep {
		b := h[at : at+stampLen]
		t := stamp{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), b[16] == 1}
		if t.n > last.n && string(t.encode()) == string(b) {
			last = t
		}
	}
	return last
}

// write makes a stamp durable, and what was written before it.
func (s *sums) write(t stamp) error {
	t.n = s.last.n + 1
	if _, err := s.f.WriteAt(t.encode(), stampAt+int64(t.n%2)*stampStep); err != nil {
		return err
	}
	s.last = t
	if s.noSync {
		return nil
	}
	if err := s.f.Datasync(); err != nil {
		return lostError{err}
	}
	return nil
}

// belongs refuses checksums that were written for a newer state of the data file than
// that of a transaction. A crash may come between a stamp and its state.
func (s *sums) belongs(txn uint64) error {
	if t := s.last; txn < t.txn && (t.closed || txn+1 < t.txn) {
		return fmt.Errorf("%w: its newest commit is number %d where there was number %d: it is an older copy, or its end is damaged", kv.ErrCorrupt, txn, t.txn)
	}
	return nil
}

// sealSums stamps the checksums with the newest state, which is the last one.
func (f *dataFile) sealSums() error {
	txn := uint64(0)
	if err := f.db.View(func(tx *bolt.Tx) error { txn = uint64(tx.ID()); return nil }); err != nil {
		return err
	}
	if t := f.w.sums.last; t.closed && t.txn == txn {
		return nil
	}
	return f.w.sums.write(stamp{txn: txn, closed: true})
}
