package table

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// decoder turns stored pairs into the columns of a batch.
type decoder struct {
	d    *Desc
	cols []int
	// values tells whether stored values are read at all: not if only the number
	// of rows is wanted.
	values bool
	equal  bool // entries may be decoded to equal values: see place
	attrs  bool // some of cols are in the master file's values
	// checked tells that the pairs come from a scan that has verified them: see check.
	checked bool

	loaded codec.Rows
	arena  vec.Arena
	groups []groupRead
	lead   int // which of groups a scan reads in place of the master file, or -1

	// Buffers of fetch and entries.
	es     []codec.Entry
	perm   []int32
	sorted [][]byte
	most   int // the most of them
}

func (x *decoder) init(d *Desc, cols []int) {
	x.d, x.cols, x.values, x.attrs, x.lead = d, cols, false, false, -1
	x.initGroups()
	for _, c := range cols {
		if c >= 0 || c == ColRowKey || c == ColCtid || c == ColXmin {
			x.values = true
		}
		if c >= 0 && d.groupOf[c] < 0 && d.attrOf[c] >= 0 {
			x.attrs = true
		}
	}
}

// reset forgets what was decoded. Values that were given out stay as they are.
func (x *decoder) reset() {
	x.loaded.Reset()
	clear(x.es[:min(x.most, cap(x.es))])
	forgetKeys(x.most, x.sorted)
	x.most, x.equal, x.checked = 0, false, false
	x.arena = vec.Arena{}
	for i := range x.groups {
		x.groups[i].close()
	}
	clear(x.groups)
	x.d, x.cols, x.groups = nil, nil, x.groups[:0]
}

// forgetKeys clears lists of which up to n elements were used: what is kept for
// other transactions must not point into a snapshot.
func forgetKeys(n int, lists ...[][]byte) {
	for _, list := range lists {
		clear(list[:min(n, cap(list))])
	}
}

// forgetBatch clears the vectors of a batch in the same way.
func forgetBatch(b *vec.Batch) {
	for _, v := range b.Cols {
		clear(v.B[:cap(v.B)])
	}
}

// colType returns the type of an output column.
func (d *Desc) colType(c int) types.T {
	switch c {
	case ColRowKey:
		return types.TBytea
	case ColTableOID:
		return types.TOid
	case ColCtid:
		return types.Of(types.OTid)
	case ColXmin:
		return types.Of(types.OXid)
	}
	return d.Table.Columns[c].Type
}

// prepare makes b a batch with room for n rows.
func (x *decoder) prepare(b *vec.Batch, n int) {
	if len(b.Cols) != len(x.cols) {
		b.Cols = make([]*vec.Vec, len(x.cols))
	}
	b.N, b.Sel = 0, nil
	for i, c := range x.cols {
		if b.Cols[i] == nil {
			b.Cols[i] = new(vec.Vec)
		}
		v := b.Cols[i]
		switch c {
		case ColTableOID:
			v.Reset(x.d.colType(c), 1)
			v.Const = true
			v.I64[0] = int64(x.d.Table.OID)
		default:
			codec.ResetVec(v, x.d.colType(c), n)
		}
	}
}

// master decodes rows of the master file into rows base … of b. vals may be nil
// if x.values is false.
func (x *decoder) master(b *vec.Batch, base int, keys, vals [][]byte) error {
	d := x.d
	if !x.values {
		return nil
	}
	if x.attrs || !x.checked {
		if bad, err := load(d.row, &x.loaded, keys, vals, x.checked); err != nil {
			return corrupt(d.space, keys[bad], err)
		}
	}
	for i, c := range x.cols {
		v := b.Cols[i]
		var err error
		switch {
		case c == ColRowKey:
			copy(v.B[base:], keys)
		case c == ColCtid:
			for j, key := range keys {
				v.B[base+j] = d.ctid(key)
			}
		case c == ColXmin:
			for j, val := range vals {
				v.I64[base+j] = xmin(val)
			}
		case c < 0 || d.groupOf[c] >= 0:
		case d.attrOf[c] >= 0:
			err = d.row.Column(&x.loaded, d.attrOf[c], d.missing[c], v, base)
		default:
			err = d.key.DecodeVec(d.keyPos[c], keys, v, base, &x.arena)
		}
		if err != nil {
			return corrupt(d.space, keys[0], err)
		}
	}
	return nil
}

// Ctids makes tids of the keys of the selected rows of a batch.
func (d *Desc) Ctids(b *vec.Batch, key func(row int) []byte) *vec.Vec {
	v := codec.NewVec(types.Of(types.OTid), max(b.N, 1))
	for i := range b.Rows() {
		r := b.Row(i)
		v.B[r] = d.ctid(key(r))
	}
	return v
}

// xmin makes a transaction's number of a stored row: of its checksum, since rows do not
// keep the numbers of those that wrote them. As with PostgreSQL's, a row that has
// another one was changed; a row that got its former values again has its former one.
func xmin(val []byte) int64 {
	return max(int64(codec.Checksum(val)), firstXID)
}

// firstXID is the least number of a transaction: those below have other meanings.
const firstXID = 3

// Xmins reads the xmin of the selected rows of a batch, which are stored under keys.
func (d *Desc) Xmins(ctx context.Context, r Reader, b *vec.Batch, key func(row int) []byte) (*vec.Vec, error) {
	keys := make([][]byte, b.Rows())
	for i := range keys {
		keys[i] = key(b.Row(i))
	}
	var x decoder
	vals, err := x.batchGet(ctx, r, d.space, keys)
	if err != nil {
		return nil, err
	}
	out := codec.NewVec(types.Of(types.OXid), max(b.N, 1))
	for i, val := range vals {
		if err := codec.Check(keys[i], val); err != nil {
			return nil, corrupt(d.space, keys[i], err)
		}
		out.I64[b.Row(i)] = xmin(val)
	}
	return out, nil
}

// check returns what verifies the pairs of a file for a scan: see kv.ScanOpt.
func check(sp kv.Space) func(ps []kv.Pair) error {
	return func(ps []kv.Pair) error {
		for i := range ps {
			if err := codec.Check(ps[i].Key, ps[i].Val); err != nil {
				return corrupt(sp, ps[i].Key, err)
			}
		}
		return nil
	}
}

// load makes rows ready to be decoded, verifying those that no scan has checked.
func load(c *codec.RowCodec, rows *codec.Rows, keys, vals [][]byte, checked bool) (bad int, err error) {
	if checked {
		return c.LoadChecked(rows, vals)
	}
	return c.Load(rows, keys, vals)
}

// open takes an entry apart and verifies it, unless a scan has checked it. Those of
// posting lists were verified before.
func (x *index) open(key, val []byte, checked bool) (codec.Entry, error) {
	switch {
	case x.inverted:
		return codec.Entry{}, nil
	case checked:
		return codec.CheckedEntry(val)
	}
	return codec.OpenEntry(key, val)
}

// masterKey returns the master key of a verified index entry.
func (x *index) masterKey(key []byte, e codec.Entry) ([]byte, error) {
	if e.Master != nil {
		return e.Master, nil
	}
	return x.skipSearch(key)
}

// masters opens index entries and appends their master keys to dst.
func (d *Desc) masters(dst [][]byte, x *index, keys, vals [][]byte, checked bool) ([][]byte, error) {
	for i, key := range keys {
		e, err := x.open(key, vals[i], checked)
		if err != nil {
			return nil, corrupt(x.space, key, err)
		}
		m, err := x.masterKey(key, e)
		if err != nil {
			return nil, corrupt(x.space, key, err)
		}
		dst = append(dst, m)
	}
	return dst, nil
}

// fetch gets the values of master keys in any order, by position.
func (x *decoder) fetch(ctx context.Context, r Reader, keys [][]byte) ([][]byte, error) {
	return x.batchGet(ctx, r, x.d.space, keys)
}

// batchGet gets the values of keys in any order, by position.
func (x *decoder) batchGet(ctx context.Context, r Reader, sp kv.Space, keys [][]byte) ([][]byte, error) {
	if len(keys) < 8 || slices.IsSortedFunc(keys, bytes.Compare) {
		return r.BatchGet(ctx, sp, keys)
	}
	x.perm = x.perm[:0]
	for i := range keys {
		x.perm = append(x.perm, int32(i))
	}
	slices.SortFunc(x.perm, func(a, b int32) int { return bytes.Compare(keys[a], keys[b]) })
	x.sorted, x.most = x.sorted[:0], max(x.most, len(keys))
	for _, p := range x.perm {
		x.sorted = append(x.sorted, keys[p])
	}
	got, err := r.BatchGet(ctx, sp, x.sorted)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	for i, p := range x.perm {
		out[p] = got[i]
	}
	return out, nil
}

// entries decodes index entries into the batch without fetching rows: see covers.
func (x *decoder) entries(ix *index, b *vec.Batch, base int, keys, vals [][]byte) error {
	d := x.d
	inKeys := x.inKeys(ix)
	es := slices.Grow(x.es[:0], len(keys))[:len(keys)]
	masters := slices.Grow(x.sorted[:0], len(keys))[:len(keys)]
	x.es, x.sorted, x.most = es, masters, max(x.most, len(keys))
	for i, key := range keys {
		e, err := ix.open(key, vals[i], x.checked)
		if err == nil && !inKeys {
			es[i] = e
			masters[i], err = ix.masterKey(key, e)
		}
		if err != nil {
			return corrupt(ix.space, key, err)
		}
	}
	for i, c := range x.cols {
		v := b.Cols[i]
		var err error
		switch {
		case c == ColRowKey:
			copy(v.B[base:], masters)
		case c == ColCtid:
			for j, m := range masters {
				v.B[base+j] = d.ctid(m)
			}
		case c < 0:
		default:
			pos, where := ix.place(d, c, x.equal)
			switch where {
			case inKey:
				err = ix.key.DecodeVec(pos, keys, v, base, &x.arena)
			case inMaster:
				err = d.key.DecodeVec(pos, masters, v, base, &x.arena)
			case inInclude:
				for j := range es {
					val, ok, e := ix.include.IncludeAttr(es[j], pos)
					if e != nil {
						err = e
						break
					}
					if !ok {
						val = d.missing[c]
					}
					v.Set(base+j, val)
				}
			}
		}
		if err != nil {
			return corrupt(ix.space, keys[0], err)
		}
	}
	return nil
}

// inKeys reports whether the columns wanted are all in the keys of entries, so
// that neither master keys nor included columns are looked for.
func (x *decoder) inKeys(ix *index) bool {
	for _, c := range x.cols {
		switch {
		case c == ColRowKey || c == ColCtid:
			return false
		case c < 0:
		default:
			if _, where := ix.place(x.d, c, x.equal); where != inKey {
				return false
			}
		}
	}
	return true
}

// Where an index entry has a column.
const (
	inNone = iota
	inKey
	inMaster
	inInclude
)

// place returns where an entry of the index has a column exactly as it was; with
// equal, also where it has an equal value, as 0 for -0 and 1.0 for 1.00.
func (x *index) place(d *Desc, c int, equal bool) (pos, where int) {
	t := d.Table.Columns[c].Type
	lossy := !equal && codec.LossyKey(t) && !types.KeptByLength(t) // ranges of whole numbers are the same again
	for i, k := range x.cat.Keys {
		if k.Col == c && !lossy && !x.elements {
			return i, inKey
		}
	}
	if p := d.keyPos[c]; p >= 0 && !lossy {
		return p, inMaster
	}
	for i, inc := range x.cat.Include {
		if inc == c {
			return i, inInclude
		}
	}
	return 0, inNone
}

// covers reports whether all columns can be read from an entry of the index.
func (x *index) covers(d *Desc, cols []int) bool {
	for _, c := range cols {
		if c == ColXmin {
			return false
		}
		if c < 0 {
			continue
		}
		if _, where := x.place(d, c, false); where == inNone {
			return false
		}
	}
	return true
}

// scratch are buffers of point gets.
type scratch struct {
	key  []byte
	keys [1][]byte
	vals [1][]byte
	dec  decoder
}
