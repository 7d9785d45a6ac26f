package table

import (
	"context"
	"errors"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// GetRows fetches rows by row key. Row i of out belongs to keys[i]; out.N is
// len(keys) and out.Sel lists the rows found, nil when all were. parts are as in
// ScanSpec.
func (d *Desc) GetRows(ctx context.Context, r Reader, keys [][]byte, cols []int, parts []Part, out *vec.Batch) error {
	var dec decoder
	dec.init(d, cols)
	dec.setParts(parts)
	dec.prepare(out, len(keys))
	out.N = len(keys)
	if len(keys) == 0 {
		return nil
	}
	vals, err := dec.fetch(ctx, r, keys)
	if err != nil {
		return err
	}
	missing := 0
	for _, v := range vals {
		if v == nil {
			missing++
		}
	}
	if missing == 0 {
		return dec.rows(ctx, r, out, 0, keys, vals)
	}
	// Runs of rows that were found are decoded one after the other.
	out.Sel = make([]uint32, 0, len(keys)-missing)
	for i := 0; i < len(vals); {
		if vals[i] == nil {
			i++
			continue
		}
		start := i
		for ; i < len(vals) && vals[i] != nil; i++ {
			out.Sel = append(out.Sel, uint32(i))
		}
		if err := dec.rows(ctx, r, out, start, keys[start:i], vals[start:i]); err != nil {
			return err
		}
	}
	return nil
}

// PointGet fetches the row whose whole primary key (index nil or primary) or
// unique index key equals key; NULL finds nothing. The values have the key
// columns' types, or other widths of integers or numerics. parts are as in
// ScanSpec. out.N is 1 or 0.
func (d *Desc) PointGet(ctx context.Context, r Reader, ix *catalog.Index, key []types.Datum, cols []int, parts []Part, out *vec.Batch) (bool, error) {
	x, err := d.index(ix)
	if err != nil {
		return false, err
	}
	s := d.scratch.Get().(*scratch)
	defer d.scratch.Put(s)
	s.dec.init(d, cols)
	s.dec.setParts(parts)
	s.dec.prepare(out, 1)
	c := d.key
	if x != nil {
		c = x.key
	}
	s.key = s.key[:0]
	for i := range key {
		if key[i].Null {
			return false, nil
		}
		k, fit := codec.Fit(c.Col(i).T, key[i])
		if fit != codec.FitExact {
			return false, nil
		}
		s.key = c.AppendCol(s.key, i, k)
	}
	val, err := getOne(ctx, r, d.fileOf(x), s.key)
	if val == nil || err != nil {
		return false, err
	}
	// The key is handed out as a row key or decoded into columns: it must outlive
	// the buffer. Columns of the row alias the snapshot.
	mkey := s.key
	if x != nil {
		e, err := codec.OpenEntry(s.key, val)
		if err != nil {
			return false, corrupt(x.space, s.key, err)
		}
		if x.covers(d, cols) {
			s.keys[0], s.vals[0] = s.dec.arena.Copy(s.key), val
			if err := s.dec.entries(x, out, 0, s.keys[:], s.vals[:]); err != nil {
				return false, err
			}
			out.N = 1
			return true, nil
		}
		mkey = e.Master
		if val, err = getOne(ctx, r, d.space, mkey); err != nil {
			return false, err
		}
		if val == nil {
			return false, indexCorrupt(x, s.key)
		}
	} else if keepsKey(d, cols) {
		mkey = s.dec.arena.Copy(mkey)
	}
	s.keys[0], s.vals[0] = mkey, val
	s.dec.values = true
	if err := s.dec.rows(ctx, r, out, 0, s.keys[:], s.vals[:]); err != nil {
		return false, err
	}
	out.N = 1
	return true, nil
}

// keepsKey reports whether decoded columns may alias the row key.
func keepsKey(d *Desc, cols []int) bool {
	for _, c := range cols {
		if c == ColRowKey || c >= 0 && d.keyPos[c] >= 0 && d.attrOf[c] < 0 && d.colType(c).Rep() == types.RepBytes {
			return true
		}
	}
	return false
}

// getOne is Get with nil for an absent key.
func getOne(ctx context.Context, r Reader, sp kv.Space, key []byte) ([]byte, error) {
	val, err := r.Get(ctx, sp, key)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return val, err
}
