package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// seqAhead is the number of values that are reserved in the store at once: what
// a crash may skip. While one reservation is used up within seqBusy, the next is
// four times as long, up to seqAheadMax, so that bulk loads do not wait for one
// commit per 32 rows.
const (
	seqAhead    = 32
	seqAheadMax = 8192
	seqBusy     = 100 * time.Millisecond
)

// seqState is the state of a sequence. What is stored is where the sequence will
// stand when all reserved values have been drawn.
type seqState struct {
	mu     sync.Mutex
	loaded bool
	last   int64
	called bool
	ahead  int   // values that may be drawn before the store is written again
	inc    int64 // for which ahead was computed
	cycle  bool
	logged int64     // what log_cnt shows
	size   int       // of the last reservation
	since  time.Time // when it was made
}

func (db *DB) seq(oid types.OID) *seqState {
	db.mu.Lock()
	defer db.mu.Unlock()
	s := db.mu.seqs[oid]
	if s == nil {
		s = new(seqState)
		db.mu.seqs[oid] = s
	}
	return s
}

// loadLocked reads the stored state; a sequence without one was never drawn from.
func (s *seqState) loadLocked(ctx context.Context, db *DB, q *catalog.Sequence) error {
	if s.loaded {
		return nil
	}
	snap, err := db.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	key := oidKey(q.OID)
	val, err := getOne(ctx, snap, sequenceSpace, key)
	if err != nil {
		return err
	}
	s.last, s.called = q.Start, false
	if val != nil {
		b, err := codec.OpenBlob(key, val, codec.FormatCounter)
		if err != nil {
			return corrupt(sequenceSpace, key, err)
		}
		if len(b) != 9 {
			return corrupt(sequenceSpace, key, codec.ErrCorrupt)
		}
		s.last, s.called = int64(binary.BigEndian.Uint64(b)), b[8] != 0
	}
	s.loaded = true
	return nil
}

// storeSeq writes a state in a transaction of its own.
func (db *DB) storeSeq(ctx context.Context, oid types.OID, last int64, called bool) error {
	tx, err := db.store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// Nobody else writes the key: the caller holds the sequence's mutex.
	if err := putSeq(tx, oid, last, called); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func putSeq(tx kv.Txn, oid types.OID, last int64, called bool) error {
	b := binary.BigEndian.AppendUint64(nil, uint64(last))
	if called {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	key := oidKey(oid)
	return tx.Put(sequenceSpace, key, codec.AppendBlob(nil, key, codec.FormatCounter, b), kv.Covered)
}

// NextOf returns the value after last; 2200H when there is none.
func NextOf(q *catalog.Sequence, last int64) (int64, error) {
	if q.Inc > 0 {
		if last <= q.Max && last <= math.MaxInt64-q.Inc && last+q.Inc <= q.Max {
			return max(last+q.Inc, q.Min), nil
		}
		if !q.Cycle {
			return 0, sqlerr.New(sqlerr.SequenceLimitExceeded,
				"nextval: reached maximum value of sequence \"%s\" (%d)", q.Name, q.Max)
		}
		return q.Min, nil
	}
	if last >= q.Min && last >= math.MinInt64-q.Inc && last+q.Inc >= q.Min {
		return min(last+q.Inc, q.Max), nil
	}
	if !q.Cycle {
		return 0, sqlerr.New(sqlerr.SequenceLimitExceeded,
			"nextval: reached minimum value of sequence \"%s\" (%d)", q.Name, q.Min)
	}
	return q.Max, nil
}

// NextVal draws the next value of a sequence, outside any transaction; 2200H at
// its end. After a crash up to 32 values may be skipped, more where values were
// being drawn by the thousand.
func (db *DB) NextVal(ctx context.Context, q *catalog.Sequence) (int64, error) {
	s := db.seq(q.OID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx, db, q); err != nil {
		return 0, err
	}
	v, first := s.last, !s.called
	if s.called {
		var err error
		if v, err = NextOf(q, s.last); err != nil {
			return 0, err
		}
	}
	if s.logged--; first || s.logged < 0 {
		once := *q
		once.Cycle, s.logged = false, 0
		for end := v; s.logged < seqAhead; s.logged++ {
			after, err := NextOf(&once, end)
			if err != nil {
				break
			}
			end = after
		}
	}
	if s.ahead == 0 || s.inc != q.Inc || s.cycle != q.Cycle {
		size, now := seqAhead, time.Now()
		if s.ahead == 0 && now.Sub(s.since) < seqBusy {
			size = min(max(4*s.size, seqAhead), seqAheadMax)
		}
		end, n := v, 1
		for ; n < size; n++ {
			after, err := NextOf(q, end)
			if err != nil {
				break // the sequence ends before
			}
			end = after
		}
		if err := db.storeSeq(ctx, q.OID, end, true); err != nil {
			return 0, err
		}
		s.ahead, s.inc, s.cycle, s.size, s.since = n, q.Inc, q.Cycle, size, now
	}
	s.ahead--
	s.last, s.called = v, true
	return v, nil
}

// SetVal sets the sequence's state: the next NextVal returns v, or the value after
// it when called is true. 22003 when v is out of the sequence's bounds.
func (db *DB) SetVal(ctx context.Context, q *catalog.Sequence, v int64, called bool) error {
	if v < q.Min || v > q.Max {
		return &sqlerr.Error{Code: sqlerr.NumericValueOutOfRange, Message: fmt.Sprintf(
			"setval: value %d is out of bounds for sequence \"%s\" (%d..%d)", v, q.Name, q.Min, q.Max)}
	}
	s := db.seq(q.OID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := db.storeSeq(ctx, q.OID, v, called); err != nil {
		return err
	}
	s.loaded, s.last, s.called, s.ahead, s.logged = true, v, called, 0, 0
	return nil
}

// SeqState returns last_value and is_called.
func (db *DB) SeqState(ctx context.Context, q *catalog.Sequence) (last int64, called bool, err error) {
	s := db.seq(q.OID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx, db, q); err != nil {
		return 0, false, err
	}
	return s.last, s.called, nil
}

// SeqLogged returns log_cnt: how many values PostgreSQL would draw, after those
// drawn since the start, before it writes its log again.
func (db *DB) SeqLogged(q *catalog.Sequence) int64 {
	s := db.seq(q.OID)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged
}

// RestartSequence sets the state of a sequence as part of a transaction, which keeps
// everybody else from drawing by LockSequence.
func (db *DB) RestartSequence(tx kv.Txn, oid types.OID, last int64, called bool) error {
	if err := putSeq(tx, oid, last, called); err != nil {
		return err
	}
	tx.OnCommit(func() { db.setSeq(oid, &seqState{loaded: true, last: last, called: called}) })
	return nil
}

// DropSequence removes a sequence's stored state with a transaction that has locked it.
func (db *DB) DropSequence(tx kv.Txn, oid types.OID) error {
	if err := tx.Delete(sequenceSpace, oidKey(oid), kv.Covered); err != nil {
		return err
	}
	tx.OnCommit(func() { db.setSeq(oid, nil) })
	return nil
}

// setSeq replaces what is known of a sequence, or forgets it. Nobody is at work with
// the old state, and no lock of its is taken: those who commit must not wait for it.
func (db *DB) setSeq(oid types.OID, s *seqState) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if delete(db.mu.seqs, oid); s != nil {
		db.mu.seqs[oid] = s
	}
}

// relationBit marks the numbers by which sequences and views are locked, which have no
// file of their own.
const relationBit = 1 << 62

// RelationLock returns the number by which LockSequence and LockView lock.
func RelationLock(oid types.OID) uint64 { return relationBit | uint64(oid) }

// LockSequence takes a lock of the sequence until the transaction ends: RowExclusive
// to draw from it or to set it, ShareRowExclusive to change it, AccessExclusive to
// restart it with its table or to drop it, AccessShare to look at its row.
func LockSequence(ctx context.Context, tx Txn, oid types.OID, m kv.TableLockMode, o LockOpt) error {
	return tx.LockSpace(ctx, kv.Space{ID: RelationLock(oid)}, m, o)
}

// LockView takes a lock of a view until the transaction ends.
func LockView(ctx context.Context, tx Txn, oid types.OID, m kv.TableLockMode, o LockOpt) error {
	return tx.LockSpace(ctx, kv.Space{ID: RelationLock(oid)}, m, o)
}

// LockSequenceDefinition takes the right to change what the catalog says about a
// sequence, until the transaction ends.
func LockSequenceDefinition(ctx context.Context, tx Txn, oid types.OID, o LockOpt) error {
	return tx.LockSpace(ctx, kv.Space{ID: kv.DefinitionOf(RelationLock(oid))}, kv.AccessExclusive, o)
}

// LockSequenceDefined takes both locks of a sequence, as Desc.LockDefined does.
func LockSequenceDefined(ctx context.Context, tx Txn, oid types.OID, m kv.TableLockMode, o LockOpt) error {
	return lockBoth(tx, o, func(o LockOpt) error { return LockSequence(ctx, tx, oid, m, o) },
		func(o LockOpt) error { return LockSequenceDefinition(ctx, tx, oid, o) })
}

// Flush stores the exact state of all sequences, so that a server that ends in
// order, with room on the disk, skips no values.
func (db *DB) Flush(ctx context.Context) error {
	db.mu.Lock()
	seqs := make(map[types.OID]*seqState, len(db.mu.seqs))
	for oid, s := range db.mu.seqs {
		seqs[oid] = s
	}
	db.mu.Unlock()
	for oid, s := range seqs {
		s.mu.Lock()
		var err error
		if s.ahead > 0 {
			if err = db.storeSeq(ctx, oid, s.last, s.called); err == nil {
				s.ahead = 0
			}
			if errors.Is(err, kv.ErrDiskFull) {
				err = nil // values are skipped, as by a crash
			}
		}
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}
