package executor

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/partition"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

// keyRows are values of a referenced key that can be in one table only.
type keyRows struct {
	table *catalog.Table
	cols  []int    // the key's columns there
	rows  []uint32 // nil: all
}

// keyTables tells in which tables the first n values of a key of t can be: a
// partitioned table's unique keys have the columns of the partition key, so that
// each value belongs to one partition. Values of no partition are left out.
func keyTables(env *Env, t *catalog.Table, cols []int, vals []*vec.Vec, n int) ([]keyRows, error) {
	set := partition.Of(env.Snap, t)
	if set == nil {
		return []keyRows{{table: t, cols: cols}}, nil
	}
	own := make([]*vec.Vec, len(cols))
	for i, c := range cols {
		var err error
		if own[i], err = convertVec(env, vals[i], t.Columns[c].Type, n); err != nil {
			return nil, err
		}
	}
	rows := make([]uint32, n)
	for i := range rows {
		rows[i] = uint32(i)
	}
	var out []keyRows
	var split func(s *partition.Set, cols []int, rows []uint32)
	split = func(s *partition.Set, cols []int, rows []uint32) {
		keys := make([]*vec.Vec, len(s.Table.Key.Keys))
		for i, k := range s.Table.Key.Keys {
			keys[i] = own[slices.Index(cols, k.Col)]
		}
		parts := make([][]uint32, len(s.Parts))
		key := make([]types.Datum, len(keys))
		for _, r := range rows {
			for i, v := range keys {
				key[i] = v.Get(int(r))
			}
			if p := s.Find(key); p >= 0 {
				parts[p] = append(parts[p], r)
			}
		}
		for p, list := range parts {
			if list == nil {
				continue
			}
			part := &s.Parts[p]
			at := catalog.ColumnMap(s.Table, part.Table)
			down := make([]int, len(cols))
			for i, c := range cols {
				down[i] = at[c]
			}
			if part.Sub != nil {
				split(part.Sub, down, list)
			} else {
				out = append(out, keyRows{part.Table, down, list})
			}
		}
	}
	split(set, cols, rows)
	return out, nil
}

// keysExist reports which of the values of a referenced key exist: in the newest
// state and under a shared lock, or as the transaction sees them.
func keysExist(env *Env, t *catalog.Table, index types.OID, cols []int, view *vec.Batch, lock bool) ([]bool, error) {
	tables, err := keyTables(env, t, cols, view.Cols, view.N)
	if err != nil {
		return nil, err
	}
	out := make([]bool, view.N)
	for _, k := range tables {
		b := view
		if k.rows != nil {
			store := newRowStore(typesOf(view.Cols))
			store.appendCols(view.Cols, k.rows, len(k.rows))
			b = new(vec.Batch)
			store.window(b, 0, store.n)
		}
		// As PostgreSQL does, a partitioned parent is looked at as it is now.
		hits, err := keysIn(env, k.table, env.Snap.PartOf(index, k.table), k.cols, b, lock, t.Key == nil)
		if err != nil {
			return nil, err
		}
		for i, hit := range hits {
			if k.rows != nil {
				i = int(k.rows[i])
			}
			out[i] = hit
		}
	}
	return out, nil
}

// keysIn is keysExist for a table with rows of its own; seen is that of ExistsLocked.
func keysIn(env *Env, t *catalog.Table, ix *catalog.Index, cols []int, b *vec.Batch, lock, seen bool) ([]bool, error) {
	desc, err := env.Tables.For(t)
	if err != nil {
		return nil, err
	}
	probe, err := arrange(env, b.Cols, cols, t, ix, b.N)
	if err != nil {
		return nil, err
	}
	if !lock {
		return desc.Exists(env.Ctx, env.Txn, ix, probe, b.N, nil)
	}
	o := lockOpt(env)
	o.Mode = kv.ForKeyShare
	hits, err := desc.ExistsLocked(env.Ctx, env.Txn, ix, probe, b.N, nil, seen, o)
	return hits, retry(err)
}
