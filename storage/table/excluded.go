package table

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Exclusion constraints. The file is that of a non-unique index; the keys that a
// statement writes are collected as those of a deferrable unique constraint are, and
// compared with all others at the statement's end, or later.

// Excluded tells how the keys of an exclusion constraint conflict.
type Excluded struct {
	// Equal are the places of the keys that are compared by equality, in order: only
	// rows that are equal in them conflict.
	Equal []int
	// Intervals tells that the only other key, the last one, is a range compared by
	// overlap.
	Intervals bool
	// Conflicts selects the rows of entries that conflict with a row of keys. Both have
	// a column for each key of the index.
	Conflicts func(keys []*vec.Vec, row int, entries *vec.Batch) ([]uint32, error)
}

// lead is the number of first keys that are compared by equality.
func (e *Excluded) lead() int {
	n := 0
	for n < len(e.Equal) && e.Equal[n] == n {
		n++
	}
	return n
}

// maxConflicts is how many conflicting entries of one key are looked at: those that
// others are about to remove do not count.
const maxConflicts = 64

// VerifyExcluded checks that none of the rows with the keys conflicts with another
// row: 23P01 otherwise. As for VerifyUnique the newest committed state and the
// transaction's own writes count. Of two transactions whose rows may conflict the
// later one waits here for the other: rows with equal values in the keys that are
// compared by equality share a lock.
func (d *Desc) VerifyExcluded(ctx context.Context, tx Txn, k *DeferredKeys, e *Excluded, o LockOpt) error {
	x, err := d.index(k.Index)
	if err != nil {
		return err
	}
	keys, first := sortedOnce(k.keys.Keys(nil))
	if len(keys) == 0 {
		return nil
	}
	cols, err := x.decodeKeys(keys)
	if err != nil {
		return err
	}
	o = LockOpt{Wait: o.Wait, NoValue: true}
	return d.afterWriters(ctx, tx, o, func() ([]byte, error) {
		if err := x.lockGates(ctx, tx, cols, len(keys), e, o); err != nil {
			return nil, err
		}
		newest, err := tx.Newest()
		if err != nil {
			return nil, err
		}
		defer newest.Close()
		v := verifier{d: d, x: x, e: e, keys: keys, first: first, cols: cols}
		err = v.run(ctx, tx, newest, o)
		return v.writing, err
	})
}

// Excluded reports whether a row that is not written yet would conflict by an exclusion
// constraint, in the newest committed state or with the transaction's own rows; newer
// tells that its snapshot does not have that row, or not as it is now. Who is writing the
// row is waited for. Others who write rows that may conflict wait from here on until the
// transaction ends, unless there is a conflict.
func (w *Writer) Excluded(ctx context.Context, ix *catalog.Index, e *Excluded, rows *vec.Batch, vals []IndexVals, row int, o LockOpt) (conflict, newer bool, err error) {
	d, m := w.d, &w.new
	if err := m.set(d, rows, vals); err != nil {
		return false, false, err
	}
	x, err := d.index(ix)
	if err != nil {
		return false, false, err
	}
	cols, pred, err := m.indexed(slices.Index(d.indexes, x))
	if err != nil || !isTrue(pred, row) || anyNull(cols, row) {
		return false, false, err
	}
	keys := [][]byte{x.key.Append(nil, cols, row)}
	key, err := x.decodeKeys(keys)
	if err != nil {
		return false, false, err
	}
	o = LockOpt{Wait: o.Wait, NoValue: true}
	mark := w.tx.LockMark()
	defer func() {
		if conflict {
			w.tx.UnlockTo(mark)
		}
	}()
	v := verifier{d: d, x: x, e: e, keys: keys, cols: key, candidate: true}
	found := func(newest Reader) (bool, error) {
		v.writing, v.changed = nil, false
		err := v.run(ctx, w.tx, newest, o)
		if sqlerr.CodeOf(err) == sqlerr.ExclusionViolation {
			return true, nil
		}
		return v.writing != nil, err
	}
	err = d.afterWriters(ctx, w.tx, o, func() ([]byte, error) {
		if err := x.lockGates(ctx, w.tx, key, 1, e, o); err != nil {
			return nil, err
		}
		newest, err := w.tx.Newest()
		if err != nil {
			return nil, err
		}
		defer newest.Close()
		conflict, err = found(newest)
		return v.writing, err
	})
	if err != nil || !conflict {
		return false, false, err
	}
	if v.changed {
		return true, true, nil
	}
	seen, err := found(nil)
	return true, !seen, err
}

// sortedOnce sorts keys and leaves one of equal ones; first tells where each was first.
func sortedOnce(keys [][]byte) (out [][]byte, first []int) {
	perm := make([]int, len(keys))
	for i := range perm {
		perm[i] = i
	}
	slices.SortStableFunc(perm, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	for _, p := range perm {
		if n := len(out); n == 0 || !bytes.Equal(out[n-1], keys[p]) {
			out, first = append(out, keys[p]), append(first, p)
		}
	}
	return out, first
}

// VerifyAllExcluded is VerifyExcluded for all rows of a table that nobody else writes.
func (d *Desc) VerifyAllExcluded(ctx context.Context, tx Txn, ix *catalog.Index, e *Excluded) error {
	x, err := d.index(ix)
	if err != nil {
		return err
	}
	it := tx.Scan(ctx, x.space, kv.Range{}, kv.ScanOpt{KeysOnly: true})
	defer it.Close()
	for {
		pairs, err := it.Next()
		if err != nil || len(pairs) == 0 {
			return err
		}
		var keys [][]byte
		for _, p := range pairs {
			rest, null, err := x.key.Skip(p.Key, x.n)
			if err != nil {
				return corrupt(x.space, p.Key, err)
			}
			if !null {
				keys = append(keys, bytes.Clone(p.Key[:len(p.Key)-len(rest)]))
			}
		}
		keys = slices.CompactFunc(keys, bytes.Equal)
		if len(keys) == 0 {
			continue
		}
		cols, err := x.decodeKeys(keys)
		if err != nil {
			return err
		}
		v := verifier{d: d, x: x, e: e, keys: keys, cols: cols, adding: true}
		if err := v.run(ctx, tx, nil, LockOpt{}); err != nil {
			return err
		}
	}
}

// decodeKeys makes columns of search keys, behind which there may be row keys.
func (x *index) decodeKeys(keys [][]byte) ([]*vec.Vec, error) {
	cols, arena := make([]*vec.Vec, x.n), new(vec.Arena)
	for i := range cols {
		cols[i] = codec.NewVec(x.key.Col(i).T, len(keys))
		if err := x.key.DecodeVec(i, keys, cols[i], 0, arena); err != nil {
			return nil, corrupt(x.space, keys[0], err)
		}
	}
	return cols, nil
}

// lockGates takes the locks that stand for the groups of rows that may conflict.
func (x *index) lockGates(ctx context.Context, tx Txn, cols []*vec.Vec, n int, e *Excluded, o LockOpt) error {
	equal, parts := make([]*vec.Vec, len(e.Equal)), make([]codec.KeyCol, len(e.Equal))
	for i, c := range e.Equal {
		equal[i], parts[i] = cols[c], x.key.Col(c)
	}
	gate, err := codec.NewKeyCodec(parts)
	if err != nil {
		return err
	}
	var buf codec.KeyBuf
	for row := range n {
		// An entry begins with the tag of a value that may be NULL, never with 0.
		buf.Add(func(dst []byte) []byte { return gate.Append(append(dst, 0), equal, row) })
	}
	_, err = lockSorted(ctx, tx, x.space, o, buf.Keys(nil))
	return err
}

// verifier looks for conflicts of keys.
type verifier struct {
	d      *Desc
	x      *index
	e      *Excluded
	keys   [][]byte
	first  []int      // by key: its place among the rows written, nil when that does not matter
	cols   []*vec.Vec // of keys
	adding bool       // the constraint is new

	candidate bool // the keys are of rows that are not written yet

	found []foundEntries // by key

	// writing is the key of a row that another transaction is changing: what there is no
	// conflict without. changed tells that the row of the conflict has changed since the
	// snapshot.
	writing []byte
	changed bool
}

// foundEntries are entries of the key's own rows and others that conflict with it.
type foundEntries struct {
	own, other [][]byte
	self       bool // rows with the same key conflict
}

// run looks for conflicts of the keys, in the order in which their rows were written.
func (v *verifier) run(ctx context.Context, tx Txn, newest Reader, o LockOpt) error {
	v.found = make([]foundEntries, len(v.keys))
	if v.e.Intervals && v.e.lead() == v.x.n-1 && (newest != nil || v.adding) {
		return v.runRanges(ctx, tx, newest, o)
	}
	for from := 0; from < len(v.keys); {
		p, to := v.prefix(from), from+1
		for to < len(v.keys) && bytes.Equal(v.prefix(to), p) {
			to++
		}
		if err := v.groupIn(ctx, tx, newest, p, from, to); err != nil {
			return err
		}
		from = to
	}
	order := make([]int, len(v.keys))
	for i := range order {
		order[i] = i
	}
	v.asWritten(order)
	for _, i := range order {
		if err := v.judge(ctx, tx, i, o); err != nil || v.writing != nil {
			return err
		}
	}
	return nil
}

// runRanges is run for ranges that must not overlap: only keys that overlap a neighbour are
// compared with their whole group.
func (v *verifier) runRanges(ctx context.Context, tx Txn, newest Reader, o LockOpt) error {
	var near Reader = tx
	if newest != nil { // under the own writes: what they have replaced is no neighbour
		view, err := tx.View()
		if err != nil {
			return err
		}
		defer view.Close()
		if err := view.Renew(); err != nil {
			return err
		}
		near = view
	}
	doubtful, err := v.doubtful(ctx, near)
	if err != nil {
		return err
	}
	v.asWritten(doubtful)
	for _, i := range doubtful {
		if err := v.groupIn(ctx, tx, newest, v.prefix(i), i, i+1); err != nil {
			return err
		}
		if err := v.judge(ctx, tx, i, o); err != nil || v.writing != nil {
			return err
		}
	}
	return nil
}

// prefix is what the entries begin with that key i is compared with.
func (v *verifier) prefix(i int) []byte {
	return v.x.key.AppendPrefix(nil, v.cols[:v.e.lead()], i)
}

// asWritten puts keys in the order in which their rows were written, if that matters.
func (v *verifier) asWritten(keys []int) {
	if v.first != nil {
		slices.SortFunc(keys, func(a, b int) int { return v.first[a] - v.first[b] })
	}
}

// later reports whether an entry is of a row that was written after that of key i: the
// conflict is then the later row's.
func (v *verifier) later(i int, entry []byte) bool {
	if v.first == nil {
		return false
	}
	at, ok := slices.BinarySearchFunc(v.keys, entry, bytes.Compare)
	if !ok {
		at--
	}
	return at >= 0 && bytes.HasPrefix(entry, v.keys[at]) && v.first[at] > v.first[i]
}

// doubtful returns the keys that may conflict with something, where the rows of a group
// are ranges that must not overlap: of ranges in order, some two overlap only if some
// neighbours do. What was committed does not overlap, or all of it is among the keys, so
// it is enough to compare each key with its neighbours.
func (v *verifier) doubtful(ctx context.Context, r Reader) (list []int, err error) {
	for i := range v.keys {
		apart, err := v.apart(ctx, r, i)
		if err != nil {
			return nil, err
		}
		if !apart {
			list = append(list, i)
		}
	}
	return list, nil
}

// apart reports whether a range surely overlaps none of its neighbours.
func (v *verifier) apart(ctx context.Context, r Reader, i int) (bool, error) {
	key, group := v.keys[i], kv.Prefix(v.prefix(i))
	after := kv.Prefix(key).Hi
	if after == nil {
		return false, nil
	}
	near, err := keysIn(ctx, r, v.x.space, kv.Range{Lo: group.Lo, Hi: key}, 1, true, nil)
	if err != nil {
		return false, err
	}
	own, err := keysIn(ctx, r, v.x.space, kv.Prefix(key), 2, false, nil)
	if err != nil || len(own) > 1 || v.candidate && len(own) > 0 {
		return false, err
	}
	next, err := keysIn(ctx, r, v.x.space, kv.Range{Lo: after, Hi: group.Hi}, 1, false, nil)
	if err != nil {
		return false, err
	}
	near = append(near, next...)
	if len(near) == 0 {
		return true, nil
	}
	cols, err := v.x.decodeKeys(near)
	if err != nil {
		return false, err
	}
	sel, err := v.e.Conflicts(v.cols, i, &vec.Batch{Cols: cols, N: len(near)})
	return err == nil && len(sel) == 0, err
}

// groupIn is group in the transaction's state and in the newest one, if there is one.
func (v *verifier) groupIn(ctx context.Context, tx Txn, newest Reader, p []byte, from, to int) error {
	if err := v.group(ctx, tx, p, from, to); err != nil || newest == nil {
		return err
	}
	return v.group(ctx, newest, p, from, to)
}

// group compares keys from … to-1 with the entries that begin with p.
func (v *verifier) group(ctx context.Context, r Reader, p []byte, from, to int) error {
	it := r.Scan(ctx, v.x.space, kv.Prefix(p), kv.ScanOpt{KeysOnly: true})
	defer it.Close()
	for {
		pairs, err := it.Next()
		if err != nil || len(pairs) == 0 {
			return err
		}
		list := make([][]byte, len(pairs))
		for i := range pairs {
			list[i] = pairs[i].Key
		}
		cols, err := v.x.decodeKeys(list)
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := v.compare(i, list, cols); err != nil {
				return err
			}
		}
	}
}

// compare notes which entries are the key's own or conflict with it.
func (v *verifier) compare(i int, list [][]byte, cols []*vec.Vec) error {
	f := &v.found[i]
	own := func(entry []byte) bool { return bytes.HasPrefix(entry, v.keys[i]) }
	at, _ := slices.BinarySearchFunc(list, v.keys[i], bytes.Compare)
	for ; at < len(list) && own(list[at]) && len(f.own) < maxConflicts; at++ {
		f.own = append(f.own, bytes.Clone(list[at]))
	}
	sel, err := v.e.Conflicts(v.cols, i, &vec.Batch{Cols: cols, N: len(list)})
	if err != nil {
		return err
	}
	for _, r := range sel {
		if own(list[r]) {
			f.self = true
		} else if len(f.other) < maxConflicts && !v.later(i, list[r]) {
			f.other = append(f.other, bytes.Clone(list[r]))
		}
	}
	return nil
}

// judge reports a conflict of a key, unless the rows are gone.
func (v *verifier) judge(ctx context.Context, tx Txn, i int, o LockOpt) error {
	f := &v.found[i]
	lives := func(list [][]byte) (out [][]byte, err error) {
		slices.SortFunc(list, bytes.Compare)
		if list = slices.CompactFunc(list, bytes.Equal); v.adding || len(list) == 0 {
			return list, nil
		}
		return v.d.living(ctx, tx, v.x, list, o)
	}
	if v.candidate {
		if f.self {
			f.other = append(f.other, f.own...)
		}
		f.own = nil
	}
	if len(f.other) == 0 && (!f.self || len(f.own) < 2) {
		return nil
	}
	own, err := lives(f.own)
	if err != nil || len(own) == 0 && !v.candidate {
		return err
	}
	if f.self && len(own) > 1 {
		return v.settle(ctx, tx, i, own[0], own)
	}
	other, err := lives(f.other)
	if err != nil || len(other) == 0 {
		return err
	}
	return v.settle(ctx, tx, i, other[0], append(other, own...))
}

// settle is the violation of key i by an entry, unless one of the rows that have to stay
// for that is being changed.
func (v *verifier) settle(ctx context.Context, tx Txn, i int, by []byte, entries [][]byte) error {
	for _, e := range entries {
		if v.adding {
			break
		}
		row, _, err := v.x.key.Skip(e, v.x.n)
		if err != nil {
			return corrupt(v.x.space, e, err)
		}
		res, being, err := v.d.beingWritten(ctx, tx, row)
		if err != nil {
			return err
		}
		if being {
			v.writing = row
			return nil
		}
		v.changed = v.changed || res.Changed
	}
	return v.violation(i, by)
}

func (v *verifier) violation(i int, entry []byte) error {
	cols, err := v.x.decodeKeys([][]byte{entry})
	if err != nil {
		return err
	}
	name := v.x.cat.Name
	e := sqlerr.Raise(sqlerr.Error{Code: sqlerr.ExclusionViolation, Schema: v.d.Table.Schema, Table: v.d.Table.Name, Constraint: name,
		Message: fmt.Sprintf("conflicting key value violates exclusion constraint \"%s\"", name)})
	form := "Key %s conflicts with existing key %s."
	if v.adding {
		e.Message = fmt.Sprintf("could not create exclusion constraint \"%s\"", name)
		form = "Key %s conflicts with key %s."
	}
	return keyError(e, v.d.keysShown(v.x, form, shownKey{v.cols, i}, shownKey{cols, 0}))
}
