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
// others write: it commits the index, which is neither ready nor valid yet, makes it ready
// when nobody writes any more without knowing of it, gives it the entries of the rows that
// there were before when nobody writes any more as if it were not ready, and leaves it to
// the statement's end to make it valid.
func (s *Session) fillIndex(ctx context.Context, c *call, index types.OID) error {
	nothing := func(*catalog.Table, *table.Desc, *catalog.Index) error { return nil }
	t, err := s.besideWriters(ctx, index, nothing)
	if err != nil {
		return err
	}
	if err := s.editUnfinished(ctx, t, index, func(ix *catalog.Index) { ix.Unready = false }); err != nil {
		return err
	}
	t, err = s.besideWriters(ctx, index, func(t *catalog.Table, d *table.Desc, ix *catalog.Index) error {
		vals, err := ddl.Filler(s.ddlEnv(ctx, c), t, index)
		if err != nil {
			return err
		}
		f := filler{s: s, d: d, ix: ix, vals: vals}
		return f.all(ctx)
	})
	if err != nil {
		return err
	}
	return s.editUnfinished(ctx, t, index, func(ix *catalog.Index) { ix.Invalid = false })
}

// besideWriters commits what has been done to an unfinished index, waits until those who
// write to its table know of that, and calls do, while nobody may change the table's form.
func (s *Session) besideWriters(ctx context.Context, index types.OID, do func(*catalog.Table, *table.Desc, *catalog.Index) error) (*catalog.Table, error) {
	if err := s.commit(ctx); err != nil {
		return nil, err
	}
	if err := s.ensureTx(ctx); err != nil {
		return nil, err
	}
	guard, err := s.srv.Store.Begin(ctx, kv.BeginOpt{Client: s.info.PID})
	if err != nil {
		return nil, err
	}
	defer guard.Rollback()
	present := func() *catalog.Table { return s.srv.Catalog.Current().TableOfIndex(s.db, index) }
	t := present()
	if _, _, err := s.unfinished(t, index); err != nil {
		return nil, err
	}
	t, err = s.whereItIs(t, func(d *table.Desc) (*catalog.Table, error) {
		if err := d.LockDefined(ctx, guard, kv.ShareUpdateExclusive, s.lockOpt()); err != nil {
			return nil, err
		}
		return present(), nil
	})
	if err != nil {
		return nil, err
	}
	d, ix, err := s.unfinished(t, index)
	if err != nil {
		return nil, err
	}
	if err := d.AwaitWriters(ctx, guard, s.lockOpt()); err != nil {
		return nil, err
	}
	return t, do(t, d, ix)
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

// editUnfinished changes the definition of an unfinished index, in the open transaction.
func (s *Session) editUnfinished(ctx context.Context, t *catalog.Table, index types.OID, edit func(*catalog.Index)) error {
	if _, err := s.lockDefined(ctx, t, s.lockOpt()); err != nil {
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
	return ch.EditIndex(index, edit)
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
		err := f.in(ctx, kv.BeginOpt{}, func(tx kv.Txn) (err error) {
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

// sweep takes away the entries that are not of the rows they lead to.
func (f *filler) sweep(ctx context.Context) error {
	var last []byte
	for tries := 0; ; {
		var next []byte
		err := f.in(ctx, kv.BeginOpt{}, func(tx kv.Txn) (err error) {
			next, err = f.d.SweepIndex(ctx, tx, f.ix, last, f.s.lockOpt(), f.vals)
			return err
		})
		switch {
		case (errors.Is(err, kv.ErrDeadlock) || errors.Is(err, kv.ErrConflict)) && tries < fillTries:
			tries++
			continue
		case err != nil || next == nil:
			return err
		}
		last, tries = next, 0
	}
}

// one fills a single row that others have locked: without a lock, or, when they change it
// each time, waiting for it.
func (f *filler) one(ctx context.Context, key []byte) (err error) {
	for try := range 2 * fillTries {
		o := kv.BeginOpt{Isolation: kv.Serializable, Unchanged: true}
		if try >= fillTries {
			o = kv.BeginOpt{}
		}
		err = f.in(ctx, o, func(tx kv.Txn) error {
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
func (f *filler) in(ctx context.Context, o kv.BeginOpt, do func(tx kv.Txn) error) error {
	o.Client = f.s.info.PID
	tx, err := f.s.srv.Store.Begin(ctx, o)
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
