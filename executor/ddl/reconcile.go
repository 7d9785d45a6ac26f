package ddl

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor"
	"kvsqld/planner"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// stored lists the tables with files of a snapshot, by OID.
func stored(s *catalog.Snapshot, db types.OID) map[types.OID]*catalog.Table {
	out := map[types.OID]*catalog.Table{}
	for _, r := range s.Relations(db) {
		if t := storedTable(r); t != nil {
			out[r.ObjectOID()] = t
		}
	}
	return out
}

// storedTable is the table with the files of a relation, nil for other objects.
func storedTable(o catalog.Object) *catalog.Table {
	switch o := o.(type) {
	case *catalog.Table:
		return o
	case *catalog.View:
		return o.Materialized
	}
	return nil
}

// storedAs is the table with the files of a relation of the database.
func (x *exec) storedAs(oid types.OID) *catalog.Table {
	if t := storedTable(x.snap().Object(oid)); t != nil && t.DB == x.db() {
		return t
	}
	return nil
}

// holdDropped takes the locks of the tables and sequences that are gone, before anything
// that others meet who have them already: these pass who waits.
func (x *exec) holdDropped(before, after *catalog.Snapshot) error {
	if before == after {
		return nil
	}
	for _, oid := range before.Differing(after) {
		was := before.Object(oid)
		if was == nil || was.DatabaseOID() != x.db() {
			continue
		}
		var err error
		switch q, ok := was.(*catalog.Sequence); {
		case ok && after.Object(oid) == nil:
			err = x.holdSequence(q, kv.AccessExclusive)
		case storedTable(was) != nil && storedTable(after.Object(oid)) == nil:
			if err = x.holdAbove(storedTable(was)); err == nil {
				err = x.lock(storedTable(was), kv.AccessExclusive)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holdAbove keeps everybody out of the table that a partition is of: who stores rows there
// has its lock, and then takes those of the partitions that they come to.
func (x *exec) holdAbove(t *catalog.Table) error {
	if t.Bound == nil {
		return nil
	}
	for _, oid := range t.Parents {
		if p := x.storedAs(oid); p != nil {
			if err := x.hold(p, kv.AccessExclusive); err != nil {
				return err
			}
		}
	}
	return nil
}

// reconcile makes the files follow the catalog: new tables and indexes get
// theirs, dropped ones lose them, rewritten tables are written anew.
func (x *exec) reconcile(before, after *catalog.Snapshot) error {
	if before == after {
		return nil
	}
	changed := before.Differing(after)
	old, now := map[types.OID]*catalog.Table{}, map[types.OID]*catalog.Table{} // of changed
	for _, oid := range changed {
		if t := storedTable(before.Object(oid)); t != nil && t.DB == x.db() {
			old[oid] = t
		}
		if t := storedTable(after.Object(oid)); t != nil && t.DB == x.db() {
			now[oid] = t
		}
	}
	if err := x.lockReferenced(old, now); err != nil {
		return err
	}
	if err := x.lockGone(old, now); err != nil {
		return err
	}
	if err := x.dropSequences(changed, before, after); err != nil {
		return err
	}
	for oid, t := range old {
		if now[oid] != nil {
			continue
		}
		d, err := x.Tables.For(t)
		if err != nil {
			return err
		}
		if before.Table(oid) != nil {
			if err := x.unused(t, "DROP TABLE"); err != nil {
				return err
			}
		}
		if err := d.Drop(x.Txn); err != nil {
			return err
		}
	}
	for _, oid := range x.turns(now) {
		t, was := now[oid], old[oid]
		if was == t {
			continue
		}
		d, err := x.Tables.For(t)
		if err != nil {
			return err
		}
		if was == nil {
			if err := d.Create(x.Txn); err != nil {
				return err
			}
			if err := d.LockTable(x.Ctx, x.Txn, kv.AccessExclusive, x.lockOpt()); err != nil {
				return err
			}
			continue
		}
		if err := x.follow(was, t); err != nil {
			return err
		}
	}
	return nil
}

// countRewrites notes in the tables of which columns are computed anew that they are, but
// for those that get another type: that tells by itself.
func (x *exec) countRewrites() error {
	for _, oid := range slices.Sorted(maps.Keys(x.rewrites)) {
		was, t, rw := x.before.Table(oid), x.snap().Table(oid), x.rewrites[oid]
		if was == nil || t == nil {
			continue
		}
		same := func(col int) bool { return col >= len(was.Columns) || was.Columns[col].Type == t.Columns[col].Type }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(rw.cols)), same) && !slices.ContainsFunc(slices.Collect(maps.Keys(rw.generated)), same) {
			continue
		}
		if _, err := x.Change.EditTable(oid, func(t *catalog.Table) error {
			t.Rewrites++
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// dropSequences removes what is stored of sequences that are gone.
func (x *exec) dropSequences(changed []types.OID, before, after *catalog.Snapshot) error {
	for _, oid := range changed {
		q, ok := before.Object(oid).(*catalog.Sequence)
		if !ok || q.DB != x.db() || after.Object(oid) != nil {
			continue
		}
		if err := x.Tables.DropSequence(x.Txn, q.OID); err != nil {
			return err
		}
	}
	return nil
}

// lockReferenced keeps writers out of the tables that new foreign keys refer to:
// those at work do not know that there are rows to be looked for.
func (x *exec) lockReferenced(old, now map[types.OID]*catalog.Table) error {
	for _, oid := range slices.Sorted(maps.Keys(now)) {
		t, was := now[oid], old[oid]
		if t == was {
			continue
		}
		for _, k := range t.ForeignKeys {
			if was != nil && slices.ContainsFunc(was.ForeignKeys, func(o *catalog.ForeignKey) bool { return o.OID == k.OID }) {
				continue
			}
			p := x.snap().Table(k.RefTable)
			if p == nil {
				continue
			}
			for _, p := range x.snap().Tree(p) {
				if err := x.hold(p, kv.ShareRowExclusive); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// lockGone keeps everybody out of the tables that foreign keys which go referred to.
func (x *exec) lockGone(old, now map[types.OID]*catalog.Table) error {
	for _, oid := range slices.Sorted(maps.Keys(old)) {
		was, t := old[oid], now[oid]
		if t == was {
			continue
		}
		for _, k := range was.ForeignKeys {
			if t != nil && slices.ContainsFunc(t.ForeignKeys, func(o *catalog.ForeignKey) bool { return o.OID == k.OID }) {
				continue
			}
			if p := x.storedAs(k.RefTable); p != nil {
				if err := x.hold(p, kv.AccessExclusive); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// turns lists tables in the order in which their files are brought up to date:
// those that are rewritten in their turns, because a sequence may number the rows.
func (x *exec) turns(tables map[types.OID]*catalog.Table) []types.OID {
	return slices.SortedFunc(maps.Keys(tables), func(a, b types.OID) int {
		return cmp.Or(cmp.Compare(x.rewrites[a].turn, x.rewrites[b].turn), cmp.Compare(a, b))
	})
}

// Reconcile makes the files of a database follow a change that drops or makes
// whole relations, outside of a session.
func Reconcile(ctx context.Context, tables *table.DB, tx kv.Txn, db types.OID, before, after *catalog.Snapshot) error {
	x := &exec{Env: &Env{Ctx: ctx, Change: catalog.NewChange(after, db, "", nil, nil), Txn: tx, Tables: tables}}
	return x.reconcile(before, after)
}

// follow brings the files of a changed table up to date.
func (x *exec) follow(was, t *catalog.Table) error {
	if t.Partitioned() {
		return nil
	}
	rw, forced := x.rewrites[t.OID]
	keyChanged := !slices.Equal(was.PK, t.PK) || was.KeyIsRowKey() != t.KeyIsRowKey()
	for _, c := range t.PK {
		if c < len(was.Columns) && was.Columns[c].Type != t.Columns[c].Type {
			keyChanged = true
		}
	}
	wd, err := x.Tables.For(was)
	if err != nil {
		return err
	}
	d, err := x.Tables.For(t)
	if err != nil {
		return err
	}
	if x.moved[t.OID] {
		return x.copyBeside(wd, d)
	}
	oldIx, newIx := map[catalog.SpaceID]*catalog.Index{}, map[catalog.SpaceID]*catalog.Index{}
	for _, ix := range was.Indexes {
		if ix.Space != 0 {
			oldIx[ix.Space] = ix
		}
	}
	var fill []*catalog.Index
	for _, ix := range t.Indexes {
		if ix.Space != 0 {
			newIx[ix.Space] = ix
			if oldIx[ix.Space] == nil {
				fill = append(fill, ix)
			}
		}
	}
	rewriteRows := forced || keyChanged || d.Moves(wd)
	if rewriteRows && !rw.place {
		if err := x.lockBelow(t); err != nil {
			return err
		}
	}
	if rewriteRows || len(fill) > 0 || d.Fills(wd) {
		behind, err := wd.Behind(x.Txn)
		if err != nil {
			return err
		}
		// A rewritten table has all rows from now on, as it has in PostgreSQL.
		if behind && !rewriteRows && x.NewerIndex != nil {
			x.NewerIndex(t.OID)
		}
		end, err := x.Txn.ReadNewest()
		if err != nil {
			return err
		}
		defer end()
	}
	var old kv.Reader
	if rewriteRows {
		old = x.Txn.Before()
		if err := wd.Truncate(x.Txn); err != nil {
			return err
		}
	}
	for sp, ix := range oldIx {
		if newIx[sp] == nil {
			if err := wd.DropIndex(x.Txn, ix); err != nil {
				return err
			}
		}
	}
	if err := d.FollowGroups(x.Txn, wd); err != nil {
		return err
	}
	for _, ix := range fill {
		if err := d.CreateIndex(x.Txn, ix); err != nil {
			return err
		}
	}
	if rewriteRows {
		if err := d.FollowCluster(x.Txn, wd); err != nil {
			return err
		}
		if err := x.copyRows(old, wd, d, rw); err != nil {
			return err
		}
		if err := x.verifyExclusions(t, d, t.Indexes); err != nil || t.Cluster == nil && was.Cluster == nil {
			return err
		}
		if !rw.place && !keyChanged && !t.Cluster.Root() {
			return nil // the rows below have kept their keys
		}
		return x.copyBelow(old, t)
	}
	for _, ix := range fill {
		vals, err := x.indexVals(t, []*catalog.Index{ix})
		if err != nil {
			return err
		}
		one := func(live *vec.Batch) (table.IndexVals, error) {
			all, err := vals(live)
			if err != nil || all == nil {
				return table.IndexVals{}, err
			}
			return all[0], nil
		}
		if ix.Invalid && ix.OID == x.unfilled {
			continue
		}
		if err := d.BuildIndex(x.Ctx, x.Txn, ix, one); err != nil {
			return err
		}
	}
	return x.verifyExclusions(t, d, fill)
}

// verifyExclusions checks all rows by the exclusion constraints of new indexes.
func (x *exec) verifyExclusions(t *catalog.Table, d *table.Desc, indexes []*catalog.Index) error {
	for _, ix := range indexes {
		if t.Exclusion(ix) == nil {
			continue
		}
		ex, err := planner.TableExprs(x.Planner(), t)
		if err != nil {
			return err
		}
		e, err := executor.NewExcluded(t, ix, ex, x.Eval())
		if err != nil {
			return err
		}
		if err := d.VerifyAllExcluded(x.Ctx, x.Txn, ix, e); err != nil {
			return err
		}
	}
	return nil
}
