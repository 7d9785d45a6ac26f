package executor

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
)

// referenced reports whether a row of the child table has the value in row i.
func referenced(env *Env, child *catalog.Table, fk *catalog.ForeignKey, vals []*vec.Vec, i int) (bool, error) {
	one := newRowStore(typesOf(vals))
	one.appendCols(vals, []uint32{uint32(i)}, 1)
	found := false
	err := newChildFinder(env, child, fk).find(env.Txn, one.cols, 1, func(*vec.Batch, []uint32) (bool, error) {
		found = true
		return false, nil
	})
	return found, err
}

// childFinder finds referencing rows by value: through an index that begins
// with the constraint's columns, or by a scan.
type childFinder struct {
	env   *Env
	table *catalog.Table
	fk    *catalog.ForeignKey
	index *catalog.Index // nil with byKey: the master file
	byKey bool
	under [][]byte // by value: the row key below which the rows are stored
}

// below makes the finder look below the row keys of n of the event's parents.
func (f *childFinder) below(e *fkEvent, from, n int) {
	if e.under != nil {
		f.under = e.under[from : from+n]
	}
}

func newChildFinder(env *Env, t *catalog.Table, fk *catalog.ForeignKey) *childFinder {
	f := &childFinder{env: env, table: t, fk: fk}
	if t.KeyIsRowKey() && leads(t.PK, fk.Cols) {
		f.byKey = true
		return f
	}
	for _, ix := range t.Indexes {
		if ix.Primary && t.KeyIsRowKey() || ix.Invalid || ix.Where != "" || ix.ByElements(t) || env.Behind != nil && env.Behind(ix) {
			continue
		}
		cols := make([]int, len(ix.Keys))
		for i, k := range ix.Keys {
			cols[i] = k.Col
		}
		if leads(cols, fk.Cols) {
			f.index, f.byKey = ix, true
			break
		}
	}
	return f
}

// leads reports whether the key's first columns are cols, in any order.
func leads(key, cols []int) bool {
	if len(key) < len(cols) {
		return false
	}
	for _, k := range key[:len(cols)] {
		if !slices.Contains(cols, k) {
			return false
		}
	}
	return true
}

// find passes batches of referencing rows — the row key, then the live columns —
// with the number of the value that each selected row has, until yield returns
// false. vals are in the order of fk.Cols, of the parent's types.
func (f *childFinder) find(r table.Reader, vals []*vec.Vec, n int, yield func(b *vec.Batch, probes []uint32) (bool, error)) error {
	desc, err := f.env.Tables.For(f.table)
	if err != nil {
		return err
	}
	cols := append([]int{table.ColRowKey}, desc.Live...)
	if f.under != nil {
		return f.findBelow(desc, r, cols, n, yield)
	}
	if f.byKey {
		probe, err := arrange(f.env, vals, f.fk.Cols, f.table, f.index, n)
		if err != nil {
			return err
		}
		l, err := desc.NewLookup(r, f.index, len(probe), cols, false)
		if err != nil {
			return err
		}
		if err := l.Start(f.env.Ctx, probe, n, nil); err != nil {
			return err
		}
		var b vec.Batch
		for {
			probes, err := l.Next(&b)
			if err != nil || b.N == 0 {
				return err
			}
			if more, err := yield(&b, probes); err != nil || !more {
				return err
			}
		}
	}
	return f.scan(desc, r, cols, vals, n, yield)
}

func (f *childFinder) scan(desc *table.Desc, r table.Reader, cols []int, vals []*vec.Vec, n int, yield func(b *vec.Batch, probes []uint32) (bool, error)) error {
	ts := columnTypes(f.table, f.fk.Cols)
	own := make([]*vec.Vec, len(vals))
	for i, v := range vals {
		var err error
		if own[i], err = convertVec(f.env, v, ts[i], n); err != nil {
			return err
		}
	}
	set := newKeySet(ts)
	number := make([]uint32, 0, n)
	hashes := hashRows(own, nil, n, nil)
	for i := range n {
		if _, isNew := set.findOrAdd(own, i, hashes[i]); isNew {
			number = append(number, uint32(i))
		}
	}
	at := make([]int, len(f.fk.Cols))
	for i, c := range f.fk.Cols {
		at[i] = 1 + slices.Index(desc.Live, c)
	}
	sc, err := desc.Scan(f.env.Ctx, r, &table.ScanSpec{Cols: cols})
	if err != nil {
		return err
	}
	defer sc.Close()
	var b vec.Batch
	keys := make([]*vec.Vec, len(at))
	for {
		if err := ctxErr(f.env.Ctx); err != nil {
			return err
		}
		b.Sel = nil
		if err := sc.Next(&b); err != nil || b.N == 0 {
			return err
		}
		for i, c := range at {
			keys[i] = b.Cols[c]
		}
		hashes = hashRows(keys, nil, b.N, hashes)
		sel, probes := make([]uint32, 0, b.N), make([]uint32, 0, b.N)
		for r := range b.N {
			if k := set.find(keys, r, hashes[r]); k >= 0 {
				sel = append(sel, uint32(r))
				probes = append(probes, number[k])
			}
		}
		if len(sel) == 0 {
			continue
		}
		hit := vec.Batch{Cols: b.Cols, N: b.N, Sel: sel}
		if more, err := yield(&hit, probes); err != nil || !more {
			return err
		}
	}
}

// refers reports whether a row that the transaction sees refers to its value in the newest
// state, too. Who is about to delete the row is waited for: if it ceases to refer
// meanwhile, a transaction that keeps its snapshot fails.
func (f *childFinder) refers(b *vec.Batch, i int) (bool, error) {
	env := f.env
	desc, err := env.Tables.For(f.table)
	if err != nil {
		return false, err
	}
	one := vec.Batch{Cols: b.Cols, N: b.N, Sel: []uint32{uint32(b.Row(i))}}
	if !env.ReadCommitted {
		if now, err := f.current(&one); err != nil || now.Rows() == 0 {
			return false, err
		}
	}
	key := b.Cols[0].B[b.Cols[0].Idx(b.Row(i))]
	if desc.RowWritten(env.Txn, key) {
		return true, nil
	}
	there, changed, err := desc.ShareNewest(env.Ctx, env.Txn, key, lockOpt(env))
	if err == nil && there && changed {
		var now *vec.Batch
		if now, err = f.current(&one); err != nil {
			return false, err
		}
		there = now.Rows() > 0
	}
	if err == nil && !there && !env.ReadCommitted {
		err = sqlerr.New(sqlerr.SerializationFailure, msgConcurrentUpdate)
	}
	return there, fkFindChild.in(env, f.table, f.fk, nil, err)
}

// current returns, of the rows that the transaction sees, those which refer to the same
// values in the newest state, too, or were written by itself; without rows if there are none.
func (f *childFinder) current(b *vec.Batch) (*vec.Batch, error) {
	env, cols := f.env, f.fk.Cols
	desc, err := env.Tables.For(f.table)
	if err != nil {
		return nil, err
	}
	if own, err := desc.Rewritten(env.Txn, nil); own || err != nil { // see unseen
		return b, err
	}
	newest, err := env.Txn.Newest()
	if err != nil {
		return nil, err
	}
	defer newest.Close()
	if newest.Seq() == env.Txn.Seq() {
		return b, nil
	}
	keys, seen := make([][]byte, b.Rows()), make([]*vec.Vec, len(cols))
	for i := range keys {
		keys[i] = b.Cols[0].B[b.Cols[0].Idx(b.Row(i))]
	}
	for i, c := range cols {
		seen[i] = b.Cols[1+slices.Index(desc.Live, c)]
	}
	var now vec.Batch
	if err := desc.GetRows(env.Ctx, newest, keys, cols, nil, &now); err != nil {
		return nil, err
	}
	stays := make([]bool, len(keys))
	eq := newKeyEq(columnTypes(f.table, cols))
	for i := range now.Rows() {
		r := now.Row(i)
		stays[r] = eq.equal(now.Cols, r, seen, b.Row(r))
	}
	out := &vec.Batch{Cols: b.Cols, N: b.N, Sel: []uint32{}}
	for i, k := range keys {
		if stays[i] || desc.RowWritten(env.Txn, k) {
			out.Sel = append(out.Sel, uint32(b.Row(i)))
		}
	}
	return out, nil
}

// unseen looks for referencing rows that were committed after the transaction's
// snapshot. They are rows of the newest state that the transaction does not see, or sees
// with other values, and did not change or delete itself. The statement runs again then;
// a transaction that keeps its snapshot will never see them: fail, if there is one, words
// the error for the number of the value that such a row has.
func (f *childFinder) unseen(vals []*vec.Vec, n int, fail func(probe uint32) error) error {
	env := f.env
	desc, err := env.Tables.For(f.table)
	if err != nil {
		return err
	}
	// The lock of a definition has kept others out since before the statement, and
	// what they see is stored in another way.
	if own, err := desc.Rewritten(env.Txn, f.index); own || err != nil {
		return err
	}
	snap, err := env.Txn.Newest() // with what the transaction builds on, durable or not
	if err != nil {
		return err
	}
	defer snap.Close()
	if snap.Seq() == env.Txn.Seq() {
		return nil
	}
	cols := f.fk.Cols
	eq := newKeyEq(columnTypes(f.table, cols))
	return f.find(snap, vals, n, func(b *vec.Batch, probes []uint32) (bool, error) {
		keys := make([][]byte, b.Rows())
		for i := range keys {
			keys[i] = b.Cols[0].B[b.Row(i)]
		}
		var own vec.Batch
		if err := desc.GetRows(env.Ctx, env.Txn, keys, cols, nil, &own); err != nil {
			return false, err
		}
		now := make([]*vec.Vec, len(cols))
		for i, c := range cols {
			now[i] = b.Cols[1+slices.Index(desc.Live, c)]
		}
		// A row that had another value before refers to this one as a new row does.
		seen := make([]bool, len(keys))
		for i := range own.Rows() {
			r := own.Row(i)
			seen[r] = eq.equal(own.Cols, r, now, b.Row(r))
		}
		for i, k := range keys {
			if seen[i] {
				continue
			}
			err := desc.Appeared(env.Txn, [][]byte{k})
			if err != nil && fail != nil && !env.ReadCommitted {
				err = fail(probes[i])
			}
			if err != nil {
				return false, retry(err)
			}
		}
		return true, nil
	})
}
