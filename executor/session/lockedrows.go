package session

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
)

// lockedRows are the rows of a cursor that locks them: FOR UPDATE and its like. It locks a
// row as it comes to it, and passes over those that the transaction itself has changed or
// deleted since the cursor was declared.
type lockedRows struct {
	s      *Session
	places []plan.Place
}

// lockedRows returns those of the plan of a cursor, nil if it locks none.
func (s *Session) lockedRows(p *plannedStmt) *lockedRows {
	if !p.locks() || len(p.q.Places) == 0 {
		return nil
	}
	return &lockedRows{s: s, places: p.q.Places}
}

// gone reports whether the transaction has changed or deleted a table's row in row i since
// it had the view.
func (l *lockedRows) gone(since kv.View, b *vec.Batch, i int) bool {
	if l == nil || since == nil || l.s.tx == nil || !l.s.tx.kv.HasWrites() {
		return false
	}
	r := b.Row(i)
	for k := range l.places {
		p := &l.places[k]
		keys := b.Cols[p.Col]
		if !p.Locked || keys.IsNull(r) { // NULL: the empty side of an outer join
			continue
		}
		t := p.Table
		if p.Tree != nil {
			if t = memberAt(p, b.Cols[p.OIDCol], r); t == nil {
				continue
			}
		}
		if d, err := l.s.srv.Tables.For(t); err == nil && d.RowRewritten(since, keys.B[keys.Idx(r)]) {
			return true
		}
	}
	return false
}

// memberAt is the table of a tree that a row is of.
func memberAt(p *plan.Place, oids *vec.Vec, r int) *catalog.Table {
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
