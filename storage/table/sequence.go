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

// SeqState is where a sequence stands.
type SeqState struct {
	Last   int64
	Called bool
	Logged int64 // what log_cnt shows: how many values PostgreSQL would draw before it writes its log again
	// Gen is another number whenever the sequence was changed: what was drawn before and
	// is not used yet is then dropped.
	Gen uint64
}

// seqState is the state of a sequence. What is stored is where the sequence will
// stand when all reserved values have been drawn.
type seqState struct {
	gen uint64 // never changes; the rest is guarded by mu

	mu     sync.Mutex
	loaded bool
	last   int64
	called bool
	ahead  uint64 // values that may be drawn before the store is written again
	inc    int64  // for which ahead was computed
	cycle  bool
	logged int64     // SeqState.Logged
	size   uint64    // of the last reservation
	since  time.Time // when it was made
}

// SeqRange is the values that are drawn at once: from First by Inc to Last.
type SeqRange struct{ First, Last, Inc int64 }

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

// valuesAfter returns how many values follow v before the sequence ends or begins again, at
// most n.
func valuesAfter(q *catalog.Sequence, v int64, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	if q.Inc > 0 {
		return min(n, (uint64(q.Max)-uint64(v))/uint64(q.Inc))
	}
	return min(n, (uint64(v)-uint64(q.Min))/-uint64(q.Inc))
}

// Draw takes the next values of a sequence, as many as a session keeps, or those that
// are left; 2200H when there are none.
func (s *SeqState) Draw(q *catalog.Sequence) (SeqRange, error) {
	cache := max(q.Cache, 1)
	first := s.Last
	if s.Called {
		var err error
		if first, err = NextOf(q, s.Last); err != nil {
			return SeqRange{}, err
		}
	}
	end := first + int64(valuesAfter(q, first, uint64(cache)-1))*q.Inc
	if !s.Called || s.Logged < cache {
		s.Logged = int64(valuesAfter(q, end, seqAhead))
	} else {
		s.Logged -= cache
	}
	s.Last, s.Called = end, true
	return SeqRange{first, end, q.Inc}, nil
}

// NextVals draws the next values of a sequence, outside any transaction; 2200H at
// its end. After a crash up to 32 values may be skipped, more where values were
// being drawn by the thousand.
func (db *DB) NextVals(ctx context.Context, q *catalog.Sequence) (SeqRange, error) {
	s := db.seq(q.OID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx, db, q); err != nil {
		return SeqRange{}, err
	}
	st := SeqState{Last: s.last, Called: s.called, Logged: s.logged}
	r, err := st.Draw(q)
	if err != nil {
		return SeqRange{}, err
	}
	n := 1 + valuesAfter(q, r.First, uint64(max(q.Cache, 1)-1))
	if s.ahead >= n && s.inc == q.Inc && s.cycle == q.Cycle {
		s.ahead -= n
	} else {
		size, now := uint64(seqAhead), time.Now()
		if s.ahead < n && now.Sub(s.since) < seqBusy {
			size = min(max(4*s.size, seqAhead), seqAheadMax)
		}
		end, left := r.Last, uint64(0)
		for ; n+left < size; left++ {
			after, err := NextOf(q, end)
			if err != nil {
				break // the sequence ends before
			}
			end = after
		}
		if err := db.storeSeq(ctx, q.OID, end, true); err != nil {
			return SeqRange{}, err
		}
		s.ahead, s.inc, s.cycle, s.size, s.since = left, q.Inc, q.Cycle, size, now
	}
	s.last, s.called, s.logged = st.Last, true, st.Logged
	return r, nil
}

// SetVal sets the sequence's state: the next NextVal returns v, or the value after
// it when called is true. 22003 when v is out of the sequence's bounds.
func (db *DB) SetVal(ctx context.Context, q *catalog.Sequence, v int64, called bool) error {
	if v < q.Min || v > q.Max {
		return sqlerr.Raise(sqlerr.Error{Code: sqlerr.NumericValueOutOfRange, Message: fmt.Sprintf(
			"setval: value %d is out of bounds for sequence \"%s\" (%d..%d)", v, q.Name, q.Min, q.Max)})
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

// SeqState returns where the sequence stands.
func (db *DB) SeqState(ctx context.Context, q *catalog.Sequence) (SeqState, error) {
	s := db.seq(q.OID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadLocked(ctx, db, q); err != nil {
		return SeqState{}, err
	}
	return SeqState{s.last, s.called, s.logged, s.gen}, nil
}

// SeqGen returns SeqState.Gen.
func (db *DB) SeqGen(oid types.OID) uint64 { return db.seq(oid).gen }

// NewSeqGen returns a SeqState.Gen that no sequence has had.
func (db *DB) NewSeqGen() uint64 { return db.seqGens.Add(1) }

// RestartSequence sets the state of a sequence as part of a transaction, which keeps
// everybody else from drawing by LockSequence.
func (db *DB) RestartSequence(tx kv.Txn, oid types.OID, st SeqState) error {
	if err := putSeq(tx, oid, st.Last, st.Called); err != nil {
		return err
	}
	tx.OnCommit(func() {
		db.setSeq(oid, &seqState{gen: st.Gen, loaded: true, last: st.Last, called: st.Called, logged: st.Logged})
	})
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
