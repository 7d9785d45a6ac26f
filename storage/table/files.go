package table

import (
	"context"
	"errors"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/storage/kv"
)

// files returns all spaces of the table, the master first.
func (d *Desc) files() []kv.Space {
	if d.Table.Partitioned() {
		return nil // the rows are those of its partitions
	}
	out := d.rowFile.files()
	if k := d.cluster(); k != nil {
		if k.root == nil {
			out = out[1:] // the root's
		} else {
			out = append(out, d.regions())
		}
	}
	for _, x := range d.indexes {
		if !x.master {
			out = append(out, x.space)
		}
	}
	return out
}

// stored fails for a partitioned table, which has no rows of its own to be read.
func (d *Desc) stored() error {
	if d.Table.Partitioned() {
		return sqlerr.New(sqlerr.WrongObjectType, "table \"%s\" is partitioned: its partitions have the files", d.Table.Name)
	}
	return nil
}

// Create makes the table's files.
func (d *Desc) Create(tx Txn) error {
	for _, sp := range d.files() {
		if err := tx.CreateSpace(sp); err != nil {
			return err
		}
	}
	return nil
}

// Drop removes the table's files.
func (d *Desc) Drop(tx Txn) error {
	for _, sp := range d.files() {
		if err := tx.DropSpace(sp); err != nil {
			return err
		}
	}
	return d.clearShared(tx)
}

// clearShared removes the rows that lie in a file of other tables as well.
func (d *Desc) clearShared(tx Txn) error {
	if k := d.cluster(); k != nil && k.root == nil {
		return k.clear(d, tx)
	}
	return nil
}

// Truncate empties the table's files. The caller holds the AccessExclusive lock, or
// does what Clear does.
// Row numbers are not used again.
func (d *Desc) Truncate(tx Txn) error {
	for _, sp := range d.files() {
		if err := tx.ClearSpace(sp); err != nil {
			return err
		}
	}
	return d.clearShared(tx)
}

// Clearable reports whether Clear can be used: all files are the table's alone, and nobody
// writes to them beside those who write rows.
func (d *Desc) Clearable() bool {
	return d.cluster() == nil && !slices.ContainsFunc(d.indexes, func(x *index) bool { return x.inverted })
}

// Clear removes all rows that the transaction sees, which are n, in the time of as many
// files as there are. It keeps other writers away until the transaction ends; where there
// are any, or have been since its snapshot, it returns false and has done nothing.
func (d *Desc) Clear(ctx context.Context, tx Txn, n int) (done bool, err error) {
	mark := tx.LockMark()
	defer func() {
		if !done {
			tx.UnlockTo(mark)
		}
	}()
	switch err := d.LockTable(ctx, tx, kv.ShareRowExclusive, LockOpt{}); {
	case errors.Is(err, kv.ErrLockTimeout):
		return false, nil
	case err != nil:
		return false, err
	}
	if all, err := tx.LockAll(d.space, n); !all || err != nil {
		return false, err
	}
	return true, d.Truncate(tx)
}

// CreateIndex makes an index's empty file.
func (d *Desc) CreateIndex(tx Txn, ix *catalog.Index) error {
	x, err := d.index(ix)
	if err != nil || x == nil {
		return err
	}
	return tx.CreateSpace(x.space)
}

// DropIndex removes an index's file.
func (d *Desc) DropIndex(tx Txn, ix *catalog.Index) error {
	x, err := d.index(ix)
	if err != nil || x == nil {
		return err
	}
	return tx.DropSpace(x.space)
}

// Moves reports whether rows of the table, as was describes it, have columns in
// another file than d has them in, so that the rows must be written anew.
func (d *Desc) Moves(was *Desc) bool {
	for c := range was.Table.Columns {
		if d.Table.Columns[c].Dropped {
			continue
		}
		if was.fileOfColumn(c) != d.fileOfColumn(c) {
			return true
		}
	}
	return false
}

// Reads reports whether what is stored of the table as was describes it can be read
// by d: all files of d are there, with keys and values of the same types that were not
// computed anew since, and the rows in the same place, but for indexes that are not read where they lack rows. Who writes needs
// those that say something about the rows.
func (d *Desc) Reads(was *Desc, write bool) bool {
	t, old := d.Table, was.Table
	if t.Rewrites != old.Rewrites || !slices.Equal(t.PK, old.PK) || len(t.Columns) < len(old.Columns) || !d.samePlace(was) {
		return false
	}
	for c := range old.Columns {
		if !t.Columns[c].Dropped && t.Columns[c].Type != old.Columns[c].Type {
			return false
		}
	}
	need, have := d.files(), was.files()
	for _, x := range d.indexes {
		if !x.master && (!write || !x.cat.Unique && x.cat.Constraint == 0 && d.Table.Exclusion(x.cat) == nil) {
			have = append(have, x.space)
		}
	}
	return !slices.ContainsFunc(need, func(sp kv.Space) bool { return !slices.Contains(have, sp) }) && !d.Moves(was) && !d.Fills(was)
}

// samePlace reports whether the rows of the table, as was describes it, lie in the same
// file under the same row keys: by themselves, or in the same place of a cluster.
func (d *Desc) samePlace(was *Desc) bool {
	k, o := d.cluster(), was.cluster()
	switch {
	case k == nil || o == nil:
		return k == nil && o == nil
	case k.root != nil && o.root != nil:
		return d.space == was.space && k.root.Lat == o.root.Lat && k.root.Lon == o.root.Lon && k.root.Grid == o.root.Grid
	case k.root != nil || o.root != nil:
		return false
	}
	return k.tag == o.tag && slices.Equal(k.fk, o.fk) && k.parent.samePlace(o.parent)
}

// Fills reports whether the table takes an attribute file to have all rows that it did
// not before: a column has become NOT NULL, and older rows may lack a value there.
func (d *Desc) Fills(was *Desc) bool {
	return slices.ContainsFunc(d.groups, func(g *groupFile) bool {
		return g.full && slices.ContainsFunc(was.groups, func(o *groupFile) bool { return o.space == g.space && !o.full })
	})
}

// Behind reports whether others have changed rows of the table since the snapshot of
// the transaction, which holds a lock that keeps writers out.
func (d *Desc) Behind(tx kv.Txn) (bool, error) {
	for _, sp := range d.files() {
		if behind, err := tx.Behind(sp); behind || err != nil {
			return behind, err
		}
	}
	return false, nil
}

// Rewritten reports whether the transaction, by its own definitions, has written all
// rows of the table anew, or all entries of the index (nil: no index).
func (d *Desc) Rewritten(tx kv.Txn, ix *catalog.Index) (bool, error) {
	x, err := d.index(ix)
	return err == nil && (tx.Owns(d.space) || x != nil && tx.Owns(x.space)), err
}

// fileOfColumn returns the file of a column's values.
func (f *rowFile) fileOfColumn(c int) kv.Space {
	if g := f.groupOf[c]; g >= 0 {
		return f.groups[g].space
	}
	return f.space
}

// FollowCluster makes and removes the files that a table has or not by its place: the
// master file, which those stored with a parent do not have, and the Regions file.
func (d *Desc) FollowCluster(tx Txn, was *Desc) error {
	old, now := was.placeFiles(), d.placeFiles()
	for _, sp := range old {
		if !slices.Contains(now, sp) {
			if err := tx.DropSpace(sp); err != nil {
				return err
			}
		}
	}
	for _, sp := range now {
		if !slices.Contains(old, sp) {
			if err := tx.CreateSpace(sp); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeFiles are the files that follow from the table's place in a cluster.
func (d *Desc) placeFiles() []kv.Space {
	switch k := d.cluster(); {
	case k == nil:
		return []kv.Space{d.space}
	case k.root != nil:
		return []kv.Space{d.space, d.regions()}
	}
	return nil
}

// ClearFiles is Truncate of a table whose rows are not in a file of other tables any
// more: that has been emptied.
func (d *Desc) ClearFiles(tx Txn) error {
	for _, sp := range d.files() {
		if err := tx.ClearSpace(sp); err != nil {
			return err
		}
	}
	return nil
}

// FollowGroups makes and removes attribute files, from those of was to those of d.
func (d *Desc) FollowGroups(tx Txn, was *Desc) error {
	for _, g := range was.groups {
		if !slices.ContainsFunc(d.groups, func(n *groupFile) bool { return n.space == g.space }) {
			if err := tx.DropSpace(g.space); err != nil {
				return err
			}
		}
	}
	for _, g := range d.groups {
		if !slices.ContainsFunc(was.groups, func(o *groupFile) bool { return o.space == g.space }) {
			if err := tx.CreateSpace(g.space); err != nil {
				return err
			}
		}
	}
	return nil
}

// LockTable takes a table lock, which is held on the master file.
func (d *Desc) LockTable(ctx context.Context, tx Txn, m kv.TableLockMode, o LockOpt) error {
	return tx.LockSpace(ctx, d.space, m, o)
}

// LockDefinition takes the right to change what the catalog says about the table, until
// the transaction ends.
func (d *Desc) LockDefinition(ctx context.Context, tx Txn, o LockOpt) error {
	return tx.LockSpace(ctx, kv.Space{ID: kv.DefinitionOf(d.space.ID)}, kv.AccessExclusive, o)
}

// LockDefined takes a table lock and the right of LockDefinition, and waits for neither
// while it keeps others from the other one: who holds a lock of the table may want to
// define it, too, and passes those who wait for the table.
func (d *Desc) LockDefined(ctx context.Context, tx Txn, m kv.TableLockMode, o LockOpt) error {
	return lockBoth(tx, o, func(o LockOpt) error { return d.LockTable(ctx, tx, m, o) },
		func(o LockOpt) error { return d.LockDefinition(ctx, tx, o) })
}

// lockBoth takes two locks: it waits for one at a time, and tries the other one then.
func lockBoth(tx Txn, o LockOpt, first, second func(LockOpt) error) error {
	for {
		mark := tx.LockMark()
		if err := first(o); err != nil {
			return err
		}
		err := second(LockOpt{})
		if o.Wait == 0 || !errors.Is(err, kv.ErrLockTimeout) {
			return err
		}
		tx.UnlockTo(mark)
		first, second = second, first
	}
}
