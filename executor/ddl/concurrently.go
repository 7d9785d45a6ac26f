package ddl

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
)

// CREATE INDEX CONCURRENTLY makes an index that is neither ready nor valid and has no
// entries. When that is committed, and those who write without knowing of it have ended,
// the session makes it ready: others begin to write to it. One who does not know yet
// takes entries away all the same, so that none of a row that he changes stays. Then,
// when these have ended too, the session gives it the entries of the rows that there are
// (Filler), and makes it valid. Whatever ends it in between leaves an index that is not
// valid, as in PostgreSQL; REINDEX or DROP INDEX mend that.

// fillLater marks a new index that is to be filled by Env.Unfilled. Indexes that
// cannot be filled beside writers are made at once, and keep them out.
func (x *exec) fillLater(t *catalog.Table, ix *catalog.Index) error {
	now := x.snap().TableOfIndex(x.db(), ix.OID)
	d, err := x.Tables.For(now)
	if err != nil {
		return err
	}
	if t.Temp || !d.Fillable(ix) {
		return x.hold(t, indexLock)
	}
	if err := x.Change.EditIndex(ix.OID, func(ix *catalog.Index) { ix.Invalid, ix.Unready = true, true }); err != nil {
		return err
	}
	x.unfilled = ix.OID
	x.Unfilled(ix.OID)
	return nil
}

// Filler returns what computes the expressions and the predicate of an index for a batch
// of live columns of its table, as table.FillIndex wants it.
func Filler(env *Env, t *catalog.Table, ix types.OID) (func(live *vec.Batch) (table.IndexVals, error), error) {
	x := &exec{Env: env}
	k := slices.IndexFunc(t.Indexes, func(i *catalog.Index) bool { return i.OID == ix })
	vals, err := x.indexVals(t, t.Indexes[k:k+1])
	if err != nil {
		return nil, err
	}
	return func(live *vec.Batch) (table.IndexVals, error) {
		all, err := vals(live)
		if err != nil || all == nil {
			return table.IndexVals{}, err
		}
		return all[0], nil
	}, nil
}

// Rebuild builds an index anew, and makes it valid. The caller keeps writers out of the
// table.
func Rebuild(env *Env, t *catalog.Table, index types.OID) error {
	x := &exec{Env: env}
	if err := x.defining(t); err != nil {
		return err
	}
	d, err := x.Tables.For(t)
	if err != nil {
		return err
	}
	behind, err := d.Behind(x.Txn)
	if err != nil {
		return err
	}
	if behind && x.NewerIndex != nil {
		x.NewerIndex(t.OID)
	}
	end, err := x.Txn.ReadNewest()
	if err != nil {
		return err
	}
	defer end()
	valid := true
	for _, ix := range t.Indexes {
		if ix.OID != index || d.InMaster(ix) {
			continue
		}
		valid = !ix.Invalid
		vals, err := Filler(env, t, index)
		if err != nil {
			return err
		}
		if err := d.ClearIndex(x.Txn, ix); err != nil {
			return err
		}
		if err := d.BuildIndex(x.Ctx, x.Txn, ix, vals); err != nil {
			return err
		}
	}
	if valid {
		return nil
	}
	return x.Change.EditIndex(index, func(ix *catalog.Index) { ix.Invalid, ix.Unready = false, false })
}
