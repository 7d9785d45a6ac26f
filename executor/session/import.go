package session

import (
	"context"
	"io"

	"kvsqld/catalog"
	"kvsqld/storage/kv"
)

// ImportCatalog creates the databases and everything in them that an XML
// document describes, with empty files, in one transaction. It returns the
// number of tables.
func (srv *Server) ImportCatalog(ctx context.Context, in io.Reader) (int, error) {
	doc, err := catalog.Import(in, srv.Catalog.Current(), srv.Catalog, "postgres")
	if err != nil {
		return 0, err
	}
	tx, err := srv.Store.Begin(ctx, kv.BeginOpt{})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	put, _ := doc.Delta.Final()
	n := 0
	for _, o := range put {
		t, ok := o.(*catalog.Table)
		if v, is := o.(*catalog.View); is && v.Materialized != nil {
			t, ok = v.Materialized, true
		}
		if !ok {
			continue
		}
		d, err := srv.Tables.For(t)
		if err != nil {
			return 0, err
		}
		if err := d.Create(tx); err != nil {
			return 0, err
		}
		n++
	}
	if err := srv.commit(ctx, tx, doc.Delta); err != nil {
		return 0, err
	}
	for _, v := range doc.Values {
		if err := srv.Tables.SetVal(ctx, v.Sequence, v.Last, v.Called); err != nil {
			return n, err
		}
	}
	return n, nil
}

// ExportCatalog writes the XML document of the databases named, or of the whole
// server.
func (srv *Server) ExportCatalog(ctx context.Context, out io.Writer, databases ...string) error {
	state := func(q *catalog.Sequence) (int64, bool, error) {
		st, err := srv.Tables.SeqState(ctx, q)
		return st.Last, st.Called, err
	}
	return catalog.Export(srv.Catalog.Current(), out, state, databases...)
}
