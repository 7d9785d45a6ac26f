package session

import (
	"bytes"

	"kvsqld/catalog/types"
)

// movedRows are the rows that a transaction has given other keys, or deleted, while it has
// cursors: a row is known by its key, and WHERE CURRENT OF means the row that was fetched,
// not one that has got its key since.
type movedRows []movedRow

type movedRow struct {
	table    types.OID
	was, now []byte // now is nil where the row was deleted, was too where all rows were
}

// follow returns the key by now of the row of a table that had key when there were from
// such rows, nil if it is gone.
func (m movedRows) follow(from int, table types.OID, key []byte) []byte {
	for _, r := range m[min(from, len(m)):] {
		if key == nil {
			break
		}
		if r.table == table && (r.was == nil || bytes.Equal(r.was, key)) {
			key = r.now
		}
	}
	return key
}

// noteMoved is executor.Env.Moved.
func (s *Session) noteMoved(table types.OID, was, now []byte) {
	s.tx.moved = append(s.tx.moved, movedRow{table: table, was: bytes.Clone(was), now: bytes.Clone(now)})
}

// hasPlaces reports whether a cursor may be named by WHERE CURRENT OF.
func (ps *portalSet) hasPlaces() bool {
	for _, p := range ps.named {
		if p.planned != nil && p.planned.q != nil && len(p.planned.q.Places) > 0 {
			return true
		}
	}
	return false
}
