package session

import (
	"context"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// TestOldTids: a server does not read tids that an older version has stored as texts.
func TestOldTids(t *testing.T) {
	for _, tt := range []struct {
		stored  string
		refused bool
	}{
		{"(0,1)", true}, {"(0,10)", true}, {"(10,1)", true}, {"(1000,7)", true},
		{"\x00\x00\x00\x00\x00\x01", false}, {"(0,1\x00)", false}, {"", false},
	} {
		ctx, srv := context.Background(), newServer(t)
		c := srv.client(t)
		c.must("CREATE TABLE t (id int PRIMARY KEY, x tid); INSERT INTO t VALUES (1, NULL)")
		if tt.stored != "" {
			d, err := srv.Tables.For(srv.Catalog.Current().Relation(c.s.db, "public", "t").(*catalog.Table))
			if err != nil {
				t.Fatal(err)
			}
			tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			b := &vec.Batch{N: 1, Cols: []*vec.Vec{vec.New(types.TInt4, 1), vec.New(types.Of(types.OTid), 1)}}
			b.Cols[0].I64[0], b.Cols[1].B[0] = 2, []byte(tt.stored)
			if _, err := d.NewWriter(tx).Insert(ctx, b, nil, table.InsertOpt{}); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(ctx); err != nil {
				t.Fatal(err)
			}
		}
		err := srv.refuseOldTids(ctx)
		if tt.refused != (err != nil) || err != nil && !strings.Contains(err.Error(), `column "x" of table "t" in database "postgres"`) {
			t.Errorf("%q: %v", tt.stored, err)
		}
	}
}
