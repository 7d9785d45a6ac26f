package session

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// lockedRows are the rows of a cursor that locks them: FOR UPDATE and its like. It locks a
// row as it comes to it, and passes over those that the transaction itself has changed or
// deleted since the cursor was declared. The rows are read before the transaction writes
// anything (S1), so that what was written already when they were read is told from that.
type lockedRows struct {
	s      *Session
	places []plan.Place
	before map[lockedRow]bool // written when they were read
}

// lockedRow is a row of a table.
type lockedRow struct {
	table types.OID
	key   string
}

// lockedRows returns those of the plan of a cursor, nil if it locks none.
func (s *Session) lockedRows(p *plannedStmt) *lockedRows {
	if !p.locks() || len(p.q.Places) == 0 {
		return nil
	}
	return &lockedRows{s: s, places: p.q.Places}
}

// took looks at rows that have been read just now.
func (l *lockedRows) took(b *vec.Batch) {
	if l == nil || l.s.tx == nil || !l.s.tx.kv.HasWrites() {
		return
	}
	for i := range b.Rows() {
		l.written(b, i, func(r lockedRow) bool {
			if l.before == nil {
				l.before = make(map[lockedRow]bool)
			}
			l.before[r] = true
			return false
		})
	}
}

// gone reports whether a row has been changed or deleted by the transaction since.
func (l *lockedRows) gone(b *vec.Batch, i int) bool {
	if l == nil || l.s.tx == nil || !l.s.tx.kv.HasWrites() {
		return false
	}
	return l.written(b, i, func(r lockedRow) bool { return !l.before[r] })
}

// written calls f for the tables' rows in row i that the transaction has written, until it
// returns true.
func (l *lockedRows) written(b *vec.Batch, i int, f func(lockedRow) bool) bool {
	r := b.Row(i)
	for k := range l.places {
		p := &l.places[k]
		keys := b.Cols[p.Col]
		if !p.Locked || keys.IsNull(r) { // NULL: the empty side of an outer join
			continue
		}
		t := p.Table
		if p.Tree != nil {
			if t = l.member(p, b.Cols[p.OIDCol], r); t == nil {
				continue
			}
		}
		d, err := l.s.srv.Tables.For(t)
		if err != nil {
			continue
		}
		key := keys.B[keys.Idx(r)]
		if d.RowWritten(l.s.tx.kv, key) && f(lockedRow{t.OID, string(key)}) {
			return true
		}
	}
	return false
}

// member is the table of a tree that a row is of.
func (l *lockedRows) member(p *plan.Place, oids *vec.Vec, r int) *catalog.Table {
	if oids.IsNull(r) {
		return nil
	}
	for _, m := range p.Tree {
		if int64(m.OID) == oids.I64[oids.Idx(r)] {
			return m
		}
	}
	return nil
}
