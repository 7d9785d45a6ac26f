package session

import (
	"bytes"
	"context"
	"fmt"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/ddl"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// renew gives what an older version stored the form of this one, and writes that down so
// that no later start looks for it.
func (srv *Server) renew(ctx context.Context) error {
	if !srv.Catalog.Older() {
		return nil
	}
	if err := srv.renewTids(ctx); err != nil {
		return err
	}
	tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	srv.Catalog.Renewed()
	if err := srv.writeObjects(tx, srv.Catalog.Current().Objects(), nil); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// renewTids writes tables anew whose values of type tid have the form of an older format:
// those of a database in one transaction. Hardly any table has such a column.
func (srv *Server) renewTids(ctx context.Context) error {
	snap := srv.Catalog.Current()
	for _, db := range snap.Databases() {
		var list []*catalog.Table
		for _, r := range snap.Relations(db.OID) {
			t := catalog.StorageOf(r)
			if t == nil {
				continue
			}
			old, err := srv.hasOldTids(ctx, snap, t)
			if err != nil {
				return err
			}
			if old {
				list = append(list, t)
			}
		}
		if list == nil {
			continue
		}
		if err := srv.renewIn(ctx, db.OID, list); err != nil {
			return fmt.Errorf("upgrade of values of type tid in database \"%s\": %w", db.Name, err)
		}
		srv.opts.Logger.Info("values of type tid have the form of this version now", "database", db.Name, "tables", len(list))
	}
	return nil
}

func (srv *Server) renewIn(ctx context.Context, db types.OID, list []*catalog.Table) error {
	s, err := srv.ownSession(ctx, db, false)
	if err != nil {
		return err
	}
	defer s.rollback()
	if err := ddl.RenewTids(s.ddlEnv(ctx, new(call)), list); err != nil {
		return err
	}
	return s.commit(ctx)
}

// hasOldTids reports whether values of type tid have the older form. A text of six bytes
// may be a word as well: what else there is tells.
func (srv *Server) hasOldTids(ctx context.Context, snap *catalog.Snapshot, t *catalog.Table) (bool, error) {
	var cols []int
	for i := range t.Columns {
		if !t.Columns[i].Dropped && snap.BaseType(t.Columns[i].Type).OID == types.OTid {
			cols = append(cols, i)
		}
	}
	if cols == nil || t.Key != nil {
		return false, nil
	}
	d, err := srv.Tables.For(t)
	if err != nil {
		return false, err
	}
	var r kv.Snapshot
	if r, err = srv.Store.Snapshot(ctx); err != nil {
		return false, err
	}
	defer r.Close()
	sc, err := d.Scan(ctx, r, &table.ScanSpec{Cols: cols})
	if err != nil {
		return false, err
	}
	defer sc.Close()
	perhaps := false
	for b := new(vec.Batch); ; {
		if err := sc.Next(b); err != nil || b.N == 0 {
			return perhaps, err
		}
		for c, v := range b.Cols {
			for i := range b.N {
				if v.IsNull(i) {
					continue
				}
				val := v.B[v.Idx(i)]
				m := t.Columns[cols[c]].Missing
				switch _, text := types.RenewTid(v.T, val); {
				case text && len(val) != 6:
					return true, nil
				case text:
					perhaps = true
				case m == nil || !bytes.Equal(m.B, val): // not what rows have that were there before the column
					return false, nil
				}
			}
		}
	}
}
