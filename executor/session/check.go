package session

import (
	"context"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/executor"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
	"kvsqld/wire"
)

// CheckTables verifies tables as table.DB.Check does, with what the expressions and
// predicates of their indexes say.
func (srv *Server) CheckTables(ctx context.Context, r table.Reader, tables []*catalog.Table, report func(table.Problem)) error {
	sessions := map[types.OID]*Session{} // by database
	defer func() {
		for _, s := range sessions {
			s.rollback()
		}
	}()
	return srv.Tables.Check(ctx, r, tables, func(t *catalog.Table) (table.RowValues, error) {
		s := sessions[t.DB]
		if s == nil {
			var err error
			if s, err = srv.ownSession(ctx, t.DB, true); err != nil {
				return nil, err
			}
			sessions[t.DB] = s
		}
		return executor.IndexValues(t, s.plainEnv(ctx))
	}, report)
}

// ownSession is a session of the server itself in a database, inside of a transaction.
func (srv *Server) ownSession(ctx context.Context, db types.OID, readOnly bool) (*Session, error) {
	snap := srv.Catalog.Current()
	all := snap.Databases()
	d := all[slices.IndexFunc(all, func(d *catalog.Database) bool { return d.OID == db })]
	s, err := srv.newSession(d, snap.Role(d.Owner), nil, new(wire.ConnInfo))
	if err != nil {
		return nil, err
	}
	_, err = s.openTx(ctx, kv.RepeatableRead, readOnly)
	return s, err
}
