package ddl

import (
	"errors"
	"math"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// A table gets another layout while others read and write it: transactions beside that of
// the statement copy its rows to scratch files, and then, again and again, those that have
// changed meanwhile, until few are left. For these, and the change of the catalog, the
// statement's own transaction keeps everybody out.

// Beside is what the session lends to a definition that copies rows while others write.
type Beside struct {
	// Begin begins a transaction beside that of the statement.
	Begin func() (kv.Txn, error)
	// Watch is that of the store.
	Watch func(spaces ...kv.Space) (kv.Watch, error)
	// Scratch is told of files that are to be dropped when the statement's transaction
	// ends, if they are scratch still.
	Scratch func(*table.Desc)
}

const (
	// copyPairs is about how many pairs of keys and values a transaction copies: the
	// commits of others wait while it commits.
	copyPairs = 30_000
	// fewChanges is the number of changed rows that others may wait for.
	fewChanges = 500
	// catchUps is how often changed rows are copied before others have to wait for them,
	// however many they are.
	catchUps = 50
)

// copies reports whether the rows of a table can be copied while others write.
func (x *exec) copies(t *catalog.Table) bool {
	return x.Beside != nil && !t.Temp && !t.Partitioned() && t.Cluster == nil && len(x.snap().Tree(t)) == 1
}

// moveRows gives a table's rows other files, for copyBeside to fill, if they are to be
// written anew.
func (x *exec) moveRows(t *catalog.Table) error {
	was, err := x.Tables.For(x.before.Table(t.OID))
	if err != nil {
		return err
	}
	d, err := x.Tables.For(t)
	if err != nil || !d.Moves(was) {
		return err
	}
	if x.moved == nil {
		x.moved = map[types.OID]bool{}
	}
	x.moved[t.OID] = true
	_, err = x.Change.MoveRows(t.OID)
	return err
}

// copyBeside copies the rows of a table, as was describes it, to the files of d. At its
// end nobody else uses the table until the transaction ends.
func (x *exec) copyBeside(was, d *table.Desc) error {
	watch, err := x.Beside.Watch(was.RowFiles()...)
	if err != nil {
		return err
	}
	defer watch.Close()
	x.Beside.Scratch(d)
	if err := x.copyAll(was, d); err != nil {
		return err
	}
	for range catchUps {
		changed, err := x.catchUp(watch, was, d)
		if errors.Is(err, kv.ErrTooLarge) {
			break
		}
		if err != nil {
			return err
		}
		if changed <= fewChanges {
			break
		}
	}
	if err := x.hold(was.Table, kv.AccessExclusive); err != nil {
		return err
	}
	if err := x.hold(d.Table, kv.AccessExclusive); err != nil { // which others wait for next
		return err
	}
	end, err := x.Txn.ReadNewest()
	if err != nil {
		return err
	}
	defer end()
	changed, err := watch.Take(x.Txn.Seq())
	if errors.Is(err, kv.ErrTooLarge) { // all of them, once more
		err = x.copyAll(was, d)
		changed = make([][][]byte, len(was.RowFiles()))
	} else if err == nil {
		err = nothingLeft(watch)
	}
	if err != nil {
		return err
	}
	keys, err := was.RowKeys(changed)
	if err != nil {
		return err
	}
	return d.TakeFiles(x.Ctx, x.Txn, was, keys)
}

// copyAll copies all rows to new scratch files, a part at a time.
func (x *exec) copyAll(was, d *table.Desc) error {
	if err := x.beside(func(tx kv.Txn) error { return d.CreateScratch(x.Ctx, tx) }); err != nil {
		return err
	}
	for last := []byte(nil); ; {
		err := x.beside(func(tx kv.Txn) (err error) {
			last, err = d.CopyRows(x.Ctx, tx, was, last, copyPairs)
			return err
		})
		if err != nil || last == nil {
			return err
		}
	}
}

// nothingLeft makes sure that nobody has changed what nobody may change any more.
func nothingLeft(watch kv.Watch) error {
	more, err := watch.Take(math.MaxUint64)
	for _, keys := range more {
		if len(keys) > 0 {
			return sqlerr.New(sqlerr.InternalError, "rows were changed while the table was locked")
		}
	}
	return err
}

// catchUp copies the rows that have changed since the last time, and returns their number.
func (x *exec) catchUp(watch kv.Watch, was, d *table.Desc) (changed int, err error) {
	err = x.beside(func(tx kv.Txn) error {
		byFile, err := watch.Take(tx.Seq())
		if err != nil {
			return err
		}
		keys, err := was.RowKeys(byFile)
		if err != nil {
			return err
		}
		changed = len(keys)
		return d.CopyChanged(x.Ctx, tx, was, keys)
	})
	return changed, err
}

// beside runs do in a transaction of its own. It is durable at the latest with that of
// the statement.
func (x *exec) beside(do func(tx kv.Txn) error) error {
	tx, err := x.Beside.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	tx.SetDurability(kv.Lazy)
	return tx.Commit(x.Ctx)
}
