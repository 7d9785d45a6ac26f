package session

import (
	"fmt"
	"sync"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/kv"
)

// exports are the snapshots that open transactions offer to others
// (pg_export_snapshot), by identifier.
type exports struct {
	mu   sync.Mutex
	made uint32 // transactions that have exported
	byID map[string]*exported
}

// exported is one snapshot on offer, with what its transaction knows of it.
type exported struct {
	kv       kv.Snapshot
	db       types.OID
	iso      kv.Isolation
	readOnly bool
	seen     *catalog.Snapshot
	blurred  bool
}

// exportSnapshot offers what the statement reads to other transactions until this
// one ends, and returns the identifier to ask for it by.
func (s *Session) exportSnapshot() (string, error) {
	t := s.tx
	if len(t.saves) > 0 {
		return "", sqlerr.New(sqlerr.ActiveSQLTransaction, "cannot export a snapshot from a subtransaction")
	}
	snap, err := t.kv.Export()
	if err != nil {
		return "", err
	}
	x := &exported{kv: snap, db: s.db, iso: t.iso, readOnly: t.readOnly, seen: t.seen, blurred: t.blurred}
	// What a READ COMMITTED transaction reads is opened some time after seen.
	x.blurred = x.blurred || t.iso == kv.ReadCommitted
	e := &s.srv.exports
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byID == nil {
		e.byID = make(map[string]*exported)
	}
	if len(t.exports) == 0 {
		e.made++
		t.exportNo = e.made
	}
	id := fmt.Sprintf("%08X-%08X-%d", s.info.PID, t.exportNo, len(t.exports)+1)
	t.exports = append(t.exports, id)
	e.byID[id] = x
	return id, nil
}

// endExports withdraws the transaction's snapshots. Whoever has imported one keeps it.
func (s *Session) endExports() {
	t := s.tx
	if len(t.exports) == 0 {
		return
	}
	e := &s.srv.exports
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range t.exports {
		e.byID[id].kv.Close()
		delete(e.byID, id)
	}
	t.exports = nil
}

// importSnapshot is SET TRANSACTION SNAPSHOT.
func (s *Session) importSnapshot(id string) error {
	t := s.tx
	if t.used || len(t.saves) > 0 {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "SET TRANSACTION SNAPSHOT must be called before any query")
	}
	if s.isolation() == kv.ReadCommitted {
		return sqlerr.New(sqlerr.FeatureNotSupported, "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ")
	}
	e := &s.srv.exports
	e.mu.Lock() // its transaction stays open meanwhile
	defer e.mu.Unlock()
	x := e.byID[id]
	switch {
	case x == nil:
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid snapshot identifier: \"%s\"", id)
	case s.isolation() == kv.Serializable && x.iso != kv.Serializable:
		return sqlerr.New(sqlerr.FeatureNotSupported, "a serializable transaction cannot import a snapshot from a non-serializable transaction")
	case s.isolation() == kv.Serializable && x.readOnly && !s.readOnly():
		return sqlerr.New(sqlerr.FeatureNotSupported, "a non-read-only serializable transaction cannot import a snapshot from a read-only transaction")
	case s.isolation() == kv.Serializable && s.readOnly() && t.waitSafe:
		return sqlerr.New(sqlerr.FeatureNotSupported, "a snapshot-importing transaction must not be READ ONLY DEFERRABLE")
	case x.db != s.db:
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot import a snapshot from a different database")
	}
	if err := t.kv.Adopt(x.kv); err != nil {
		return err
	}
	t.used, t.seen, t.blurred = true, x.seen, x.blurred
	return nil
}
