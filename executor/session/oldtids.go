package session

import (
	"context"
	"fmt"
	"regexp"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// tidText is a tid as a text of six bytes, which as a word would be one of a page that
// hardly any table has.
var tidText = regexp.MustCompile(`^\((\d,\d\d|\d\d,\d)\)$`)

// refuseOldTids refuses stored values of type tid that an older version has written, as
// texts: they would be read as others. Hardly any table has such a column.
func (srv *Server) refuseOldTids(ctx context.Context) error {
	snap := srv.Catalog.Current()
	for _, db := range snap.Databases() {
		for _, t := range snap.Tables(db.OID) {
			for i := range t.Columns {
				c := &t.Columns[i]
				if c.Dropped || snap.BaseType(c.Type).OID != types.OTid || t.Key != nil {
					continue
				}
				old, err := srv.oldTids(ctx, t, i)
				if err != nil {
					return err
				}
				if old {
					return fmt.Errorf("column \"%s\" of table \"%s\" in database \"%s\" has values of type tid in the form of an older version: change it to text with that version, and back with this one",
						c.Name, t.Name, db.Name)
				}
			}
		}
	}
	return nil
}

// oldTids reports whether the first value of a column is a text.
func (srv *Server) oldTids(ctx context.Context, t *catalog.Table, col int) (bool, error) {
	d, err := srv.Tables.For(t)
	if err != nil {
		return false, err
	}
	var r kv.Snapshot
	if r, err = srv.Store.Snapshot(ctx); err != nil {
		return false, err
	}
	defer r.Close()
	sc, err := d.Scan(ctx, r, &table.ScanSpec{Cols: []int{col}})
	if err != nil {
		return false, err
	}
	defer sc.Close()
	for b := new(vec.Batch); ; {
		if err := sc.Next(b); err != nil || b.N == 0 {
			return false, err
		}
		for i := range b.N {
			if v := b.Cols[0]; !v.IsNull(i) {
				return len(v.B[i]) != 6 || tidText.Match(v.B[i]), nil
			}
		}
	}
}
