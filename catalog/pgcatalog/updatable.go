package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// The bits of pg_relation_is_updatable: 1 shifted by PostgreSQL's number of the
// command.
const (
	eventUpdate = 1 << 2
	eventInsert = 1 << 3
	eventDelete = 1 << 4
)

// updatable tells which changes a relation takes, and into which columns.
func (env *Env) updatable(r catalog.Relation) (events int, into func(col int) bool) {
	switch r := r.(type) {
	case *catalog.Table:
		return eventInsert | eventUpdate | eventDelete, func(int) bool { return true }
	case *catalog.Virtual:
		if !r.View {
			return eventInsert | eventUpdate | eventDelete, func(int) bool { return true }
		}
	case *catalog.View:
		if env.Updatable == nil || r.Materialized != nil {
			break
		}
		const both = eventUpdate | eventDelete
		events, cols := env.Updatable(r)
		return events, func(c int) bool { return events&both == both && c < len(cols) && cols[c] }
	}
	return 0, func(int) bool { return false }
}

// RelationIsUpdatable is pg_relation_is_updatable.
func (env *Env) RelationIsUpdatable(oid types.OID) int {
	events, _ := env.updatable(env.Snap.RelationByOID(env.DB, oid))
	return events
}

// ColumnIsUpdatable is pg_column_is_updatable.
func (env *Env) ColumnIsUpdatable(oid types.OID, attnum int) bool {
	r := env.Snap.RelationByOID(env.DB, oid)
	if r == nil || attnum < 1 || attnum > len(r.RelColumns()) {
		return false
	}
	_, into := env.updatable(r)
	return into(attnum - 1)
}
