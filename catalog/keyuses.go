package catalog

import (
	"slices"

	"kvsqld/catalog/types"
)

// KeyUse is a table whose rows a statement on another one looks at, or changes, for
// a foreign key.
type KeyUse struct {
	Table *Table
	Write bool // a referential action may change rows
}

// KeyUses collects the tables that foreign keys lead to from what a statement does.
// Whoever runs it holds their locks too: else they could be stored in another way
// by the time the keys are looked up.
type KeyUses struct {
	List []KeyUse

	snap *Snapshot
	done []keyStep
}

// keyStep is what was followed already: cascades may come in circles.
type keyStep struct {
	table  *Table
	fk     types.OID
	delete bool
}

// KeyUses returns an empty collection.
func (s *Snapshot) KeyUses() *KeyUses { return &KeyUses{snap: s} }

func (k *KeyUses) add(t *Table, write bool) {
	for i := range k.List {
		if k.List[i].Table == t {
			k.List[i].Write = k.List[i].Write || write
			return
		}
	}
	k.List = append(k.List, KeyUse{t, write})
}

// Insert adds what an insertion looks at: the tables referred to.
func (k *KeyUses) Insert(t *Table) { k.referred(t, nil) }

// referred adds the tables that foreign keys over one of the columns refer to, with
// all their partitions; nil columns are all columns.
func (k *KeyUses) referred(t *Table, cols []int) {
	for _, fk := range t.ForeignKeys {
		if !touches(fk.Cols, cols) {
			continue
		}
		if to := k.snap.Table(fk.RefTable); to != nil {
			for _, m := range k.snap.Tree(to) {
				k.add(m, false)
			}
		}
	}
}

// Update adds what a change of the columns looks at and changes; nil columns are
// all columns.
func (k *KeyUses) Update(t *Table, cols []int) {
	if cols != nil && slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Generated && !c.Dropped }) {
		cols = nil // they may be generated from what changes
	}
	k.referred(t, cols)
	k.referring(t, false, cols)
}

// Delete adds what a deletion looks at and changes.
func (k *KeyUses) Delete(t *Table) { k.referring(t, true, nil) }

func (k *KeyUses) referring(t *Table, deleted bool, cols []int) {
	for _, ref := range k.snap.Referencing(t.DB, t.OID) {
		step := keyStep{ref.Table, ref.FK.OID, deleted}
		if ref.Table.Key != nil || !touches(ref.FK.RefCols, cols) || slices.Contains(k.done, step) {
			continue // the rows of a partitioned table are in its partitions, which refer by themselves
		}
		k.done = append(k.done, step)
		action := ref.FK.OnUpdate
		if deleted {
			action = ref.FK.OnDelete
		}
		switch {
		case action != 'c' && action != 'n' && action != 'd':
			k.add(ref.Table, false)
		case deleted && action == 'c':
			k.add(ref.Table, true)
			k.Delete(ref.Table)
		default:
			k.add(ref.Table, true)
			k.Update(ref.Table, ref.FK.Cols)
		}
	}
}

// touches reports whether one of the changed columns is among those of a key.
func touches(key, changed []int) bool {
	return changed == nil || slices.ContainsFunc(key, func(c int) bool { return slices.Contains(changed, c) })
}
