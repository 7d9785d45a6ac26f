package executor

import (
	"context"
	"errors"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// Recheck lets a READ COMMITTED statement that met rows which others had changed since
// its snapshot run again on the same snapshot: only the rows that it met, and locked, are
// read as they are now, by the scans that lead to locks. All else that it reads stays as
// of its beginning, and what others have inserted since is not seen, as in PostgreSQL.
//
// One Recheck serves the attempts of one statement.
type Recheck struct {
	tables []*metRows
	more   bool       // rows were met since the last attempt
	fresh  bool       // the statement needs a new snapshot
	before []*metRows // rows that were met before the snapshot
	rounds int
	moves  uint64 // table.DB.Moves of before the snapshot
}

// metRows are the rows of one table that were met.
type metRows struct {
	table *catalog.Table
	keys  [][]byte
	has   map[string]bool
}

// maxRechecks is how many attempts keep the snapshot. A statement that meets changed rows
// one after the other would otherwise read all from the start for each of them.
const maxRechecks = 16

// Begin is called before an attempt, with what table.DB.Moves was before the snapshot.
func (x *Recheck) Begin(moves uint64) { x.moves = moves }

// Again is called after an attempt that ended with ErrRetry, when its writes are undone.
// It reports whether the next one needs a new snapshot.
func (x *Recheck) Again() (refresh bool) {
	x.rounds++
	if !x.more || x.fresh || x.rounds > maxRechecks {
		*x = Recheck{before: append(x.before, x.tables...)}
		return true
	}
	x.more = false
	return false
}

// met returns the entry of a table, nil if none of its rows was met.
func (x *Recheck) met(t types.OID) *metRows {
	if x == nil {
		return nil
	}
	for _, m := range x.tables {
		if m.table.OID == t {
			return m
		}
	}
	return nil
}

// lockRows locks rows that the statement has scanned. One that had changed and that the
// statement has read as it is now is like any other; ErrRetry if there is another one.
func (r *Run) lockRows(t *catalog.Table, desc *table.Desc, keys [][]byte, o table.LockOpt) ([]table.LockResult, error) {
	res, err := desc.LockRows(r.env.Ctx, r.env.Txn, keys, o)
	if err == nil {
		return res, nil
	}
	var c *table.ChangedError
	x := r.env.Recheck
	if x == nil || !errors.As(err, &c) {
		return res, retry(err)
	}
	m := x.met(t.OID)
	for _, k := range c.Keys {
		if m == nil {
			m = &metRows{table: t, has: map[string]bool{}}
			x.tables = append(x.tables, m)
		}
		if !m.has[string(k)] {
			m.has[string(k)] = true
			m.keys = append(m.keys, slices.Clone(k))
			x.more = true
		}
	}
	if r.acting || !desc.Revisable() {
		x.fresh = true
		return res, ErrRetry
	}
	if x.more {
		return res, ErrRetry
	}
	return res, nil
}

// UnlockGone gives back, when the statement has ended, the locks of rows that it met and
// that are gone: others need not wait for them until the transaction ends.
func (x *Recheck) UnlockGone(ctx context.Context, tx table.Txn, tables *table.DB) error {
	for _, m := range append(x.before, x.tables...) {
		desc, err := tables.For(m.table)
		if err != nil {
			return err
		}
		if err := desc.UnlockGone(ctx, tx, m.keys); err != nil {
			return err
		}
	}
	return nil
}

// readMet prepares what scans that lead to locks read: the transaction's state with the
// rows that were met as they are now.
func (r *Run) readMet() error {
	env := r.env
	if env.met = nil; env.Recheck == nil || len(env.Recheck.tables) == 0 {
		return nil
	}
	newest, err := env.Txn.Newest()
	if err != nil {
		return err
	}
	defer newest.Close()
	mark := env.Txn.Savepoint()
	for _, m := range env.Recheck.tables {
		if err := r.revise(m, newest); err != nil {
			env.Txn.RollbackTo(mark)
			return err
		}
	}
	env.met = env.Txn.Detach(mark)
	env.Txn.Release(mark)
	return nil
}

// revise replaces rows by what they are in a newer state.
func (r *Run) revise(m *metRows, newest kv.Reader) error {
	w, err := r.writer(m.table)
	if err != nil {
		return err
	}
	var old, now vec.Batch
	if err := w.desc.GetRows(r.env.Ctx, r.env.Txn, m.keys, w.live, nil, &old); err != nil {
		return err
	}
	if err := w.desc.GetRows(r.env.Ctx, newest, m.keys, w.live, nil, &now); err != nil {
		return err
	}
	if now.Rows() < len(m.keys) && r.env.Tables.Moves() != r.env.Recheck.moves {
		r.env.Recheck.fresh = true // perhaps the row has another key now
		return ErrRetry
	}
	oldIx, err := w.storedIndexVals(&old, true)
	if err != nil {
		return err
	}
	nowIx, err := w.indexVals(&now, true)
	if err != nil {
		return err
	}
	return w.desc.NewWriter(r.env.Txn).Revise(r.env.Ctx, m.keys, &old, &now, oldIx, nowIx)
}

// source is what a scan of columns reads. One that gives row keys leads to locks.
func (env *Env) source(cols []int) kv.Reader {
	if env.met != nil && slices.Contains(cols, table.ColRowKey) {
		return env.met
	}
	return env.reader
}

// rows is what columns of rows that were scanned, and are locked, are read from later.
func (env *Env) rows() kv.Reader {
	if env.met != nil {
		return env.met
	}
	return env.reader
}
