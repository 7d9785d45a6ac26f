package session

import (
	"context"
	"errors"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/ddl"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// fillIndex is the rest of CREATE INDEX CONCURRENTLY, in transactions of its own, while
// others write: it commits the index, which is not valid yet, gives it the entries of
// the rows that there were before, and leaves it to the statement's end to make it valid.
func (s *Session) fillIndex(ctx context.Context, c *call, index types.OID) error {
	if err := s.commit(ctx); err != nil {
		return err
	}
	if _, err := s.ensureTx(ctx); err != nil {
		return err
	}
	guard, err := s.srv.Store.Begin(ctx, kv.BeginOpt{Client: s.info.PID})
	if err != nil {
		return err
	}
	defer guard.Rollback()
	t := s.srv.Catalog.Current().TableOfIndex(s.db, index)
	d, _, err := s.unfinished(t, index)
	if err != nil {
		return err
	}
	// Nobody may change the table's form meanwhile.
	if err := d.LockDefinition(ctx, guard, s.lockOpt()); err != nil {
		return err
	}
	if err := d.LockTable(ctx, guard, kv.ShareUpdateExclusive, s.lockOpt()); err != nil {
		return err
	}
	t = s.srv.Catalog.Current().TableOfIndex(s.db, index)
	d, ix, err := s.unfinished(t, index)
	if err != nil {
		return err
	}
	// Those who write without knowing of the index have to end first.
	if err := d.AwaitWriters(ctx, guard, s.lockOpt()); err != nil {
		return err
	}
	vals, err := ddl.Filler(s.ddlEnv(ctx, c), t, index)
	if err != nil {
		return err
	}
	f := filler{s: s, d: d, ix: ix, vals: vals}
	if err := f.all(ctx); err != nil {
		return err
	}
	guard.Rollback()
	return s.validateIndex(ctx, t, index)
}

// unfinished finds an index that is being made.
func (s *Session) unfinished(t *catalog.Table, index types.OID) (*table.Desc, *catalog.Index, error) {
	if t != nil {
		for _, ix := range t.Indexes {
			if ix.OID == index && ix.Invalid {
				d, err := s.srv.Tables.For(t)
				return d, ix, err
			}
		}
	}
	return nil, nil, sqlerr.New(sqlerr.UndefinedObject, "index with OID %d does not exist", index)
}

// validateIndex makes the index that is whole now usable.
func (s *Session) validateIndex(ctx context.Context, t *catalog.Table, index types.OID) error {
	d, err := s.srv.Tables.For(t)
	if err != nil {
		return err
	}
	if err := d.LockDefinition(ctx, s.tx.kv, s.lockOpt()); err != nil {
		return err
	}
	if _, err := s.lockTable(ctx, t, kv.ShareUpdateExclusive); err != nil {
		return err
	}
	ch := s.ddl()
	s.tx.base = nil
	if err := s.rebase(); err != nil {
		return err
	}
	if _, _, err := s.unfinished(ch.Snapshot().TableOfIndex(s.db, index), index); err != nil {
		return err
	}
	return ch.EditIndex(index, func(ix *catalog.Index) { ix.Invalid = false })
}

// filler gives an index the entries of the rows of its table.
type filler struct {
	s    *Session
	d    *table.Desc
	ix   *catalog.Index
	vals func(live *vec.Batch) (table.IndexVals, error)
}

// fillTries is how often a row is tried again that others change all the time, and then
// one that is in a circle of waits.
const fillTries = 100

func (f *filler) all(ctx context.Context) error {
	var last []byte
	for {
		var keys, busy [][]byte
		err := f.in(ctx, kv.ReadCommitted, func(tx kv.Txn) (err error) {
			if keys, err = f.d.FillKeys(ctx, tx, last); err != nil || len(keys) == 0 {
				return err
			}
			o := kv.LockOpt{Wait: kv.WaitForever, SkipLocked: true}
			busy, err = f.d.FillIndex(ctx, tx, f.ix, keys, o, f.vals)
			return err
		})
		switch {
		case errors.Is(err, kv.ErrDeadlock), errors.Is(err, kv.ErrConflict):
			busy = keys // one by one
		case err != nil:
			return err
		}
		if len(keys) == 0 {
			return nil
		}
		for _, k := range busy {
			if err := f.one(ctx, k); err != nil {
				return err
			}
		}
		last = keys[len(keys)-1]
	}
}

// one fills a single row that others have locked: without a lock, or, when they change it
// each time, waiting for it.
func (f *filler) one(ctx context.Context, key []byte) (err error) {
	for try := range 2 * fillTries {
		iso := kv.Serializable
		if try >= fillTries {
			iso = kv.ReadCommitted
		}
		err = f.in(ctx, iso, func(tx kv.Txn) error {
			_, err := f.d.FillIndex(ctx, tx, f.ix, [][]byte{key}, f.s.lockOpt(), f.vals)
			return err
		})
		if !errors.Is(err, kv.ErrDeadlock) && !errors.Is(err, kv.ErrConflict) {
			return err
		}
	}
	return err
}

// in runs do in a transaction.
func (f *filler) in(ctx context.Context, iso kv.Isolation, do func(tx kv.Txn) error) error {
	tx, err := f.s.srv.Store.Begin(ctx, kv.BeginOpt{Client: f.s.info.PID, Isolation: iso})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	tx.SetDurability(kv.Lazy) // what makes the index valid is durable, and with it all before
	return tx.Commit(ctx)
}
