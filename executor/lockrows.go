package executor

import (
	"errors"

	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// lockRows locks the rows that the input's row-key columns name. Rows that SKIP
// LOCKED skips are not passed. Below a limit no more rows are locked than the
// limit asks for.
type lockRows struct {
	input  Operator
	locker *rowLocker
	env    *Env
	in     *vec.Batch // under way
	rows   []uint32   // its selected rows that have not been locked
	want   int64      // rows still wanted; 0: all
	buf    []uint32
	out    vec.Batch
}

// demand tells an operator how many rows will be taken from it at most, 0: all; it is
// called after Open.
func demand(op Operator, n int64) {
	switch op := op.(type) {
	case *statsOp:
		demand(op.Operator, n)
	case *project:
		demand(op.input, n)
	case *limit:
		switch {
		case op.ties != nil:
			return
		case n > 0 && op.left > 0:
			n = min(n, op.left)
		case op.left > 0:
			n = op.left
		}
		if n > 0 {
			n += op.skip
		}
		demand(op.input, n)
	case *lockRows:
		op.want = n
	}
}

func (b *builder) lockRows(n *plan.LockRows) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return &lockRows{input: in, locker: newRowLocker(n.Locks)}, nil
}

func (op *lockRows) Open(env *Env) error {
	op.env, op.in, op.want = env, nil, 0
	return op.input.Open(env)
}

func (op *lockRows) Next() (*vec.Batch, error) {
	for {
		if op.in == nil {
			in, err := op.input.Next()
			if in == nil || err != nil {
				return nil, err
			}
			op.buf = append(op.buf[:0], selectedRows(in, nil)...)
			op.in, op.rows = in, op.buf
		}
		k := len(op.rows)
		if op.want > 0 && op.want < int64(k) {
			k = int(op.want)
		}
		op.out = vec.Batch{Cols: op.in.Cols, N: op.in.N, Sel: op.rows[:k]}
		if op.rows = op.rows[k:]; len(op.rows) == 0 {
			op.in = nil
		}
		if err := op.locker.lock(op.env, &op.out); err != nil {
			return nil, err
		}
		if n := int64(op.out.Rows()); n > 0 {
			if op.want > 0 {
				op.want = max(op.want-n, 1)
			}
			return &op.out, nil
		}
	}
}

func (op *lockRows) Close() { op.input.Close() }

// rowLocker takes the row locks of one or more tables for batches of rows.
type rowLocker struct {
	locks []plan.Lock
	keys  [][]byte
}

func newRowLocker(locks []plan.Lock) *rowLocker { return &rowLocker{locks: locks} }

// lock locks the batch's rows and narrows its selection to those that were not
// skipped. ErrRetry when a row has changed since the snapshot. Of several tables all rows
// of one result row are locked before those of the next one: others who change them in this
// order wait, and do not end in a deadlock.
func (l *rowLocker) lock(env *Env, b *vec.Batch) error {
	if len(l.locks) == 1 {
		return l.lockAll(env, b)
	}
	sel := make([]uint32, 0, b.Rows())
	for i := range b.Rows() {
		one := vec.Batch{Cols: b.Cols, N: b.N, Sel: []uint32{uint32(b.Row(i))}}
		if err := l.lockAll(env, &one); err != nil {
			return err
		}
		sel = append(sel, one.Sel...)
	}
	b.Sel = sel
	return nil
}

// lockAll is lock of one table after the other.
func (l *rowLocker) lockAll(env *Env, b *vec.Batch) error {
	for i := range l.locks {
		k := &l.locks[i]
		if k.Tree == nil {
			if err := l.lockTable(env, k, k.Table, b); err != nil {
				return err
			}
			continue
		}
		for _, t := range k.Tree {
			if err := l.lockTable(env, k, t, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockTable locks the rows of the batch that are in one table.
func (l *rowLocker) lockTable(env *Env, k *plan.Lock, t *catalog.Table, b *vec.Batch) error {
	desc, err := env.Tables.For(t)
	if err != nil {
		return err
	}
	o := lockOpt(env)
	if k.NoWait {
		o.Wait = 0
	}
	o.SkipLocked, o.NoValue = k.SkipLocked, true
	o.Mode = rowLockModes[k.Strength]
	col := b.Cols[k.KeyCol]
	l.keys = l.keys[:0]
	rows := make([]uint32, 0, b.Rows())
	for i := range b.Rows() {
		r := b.Row(i)
		if k.Tree != nil {
			if oids := b.Cols[k.OIDCol]; oids.IsNull(r) || oids.I64[oids.Idx(r)] != int64(t.OID) {
				continue
			}
		}
		if !col.IsNull(r) { // NULL: the empty side of an outer join
			l.keys = append(l.keys, col.B[col.Idx(r)])
			rows = append(rows, uint32(r))
		}
	}
	if len(l.keys) == 0 {
		return nil
	}
	res, err := env.run.lockRows(t, desc, l.keys, o)
	if c := (*kv.ConflictError)(nil); errors.As(err, &c) {
		err = &kv.ConflictError{Detail: c.Detail} // a locked row that was deleted is a changed one
	}
	if err != nil {
		return lockErr(err, k)
	}
	if !k.SkipLocked {
		return nil
	}
	l.narrow(b, rows, res)
	return nil
}

// narrow removes the skipped rows from the selection.
func (l *rowLocker) narrow(b *vec.Batch, rows []uint32, res []table.LockResult) {
	sel := make([]uint32, 0, b.Rows())
	j := 0
	for i := range b.Rows() {
		r := uint32(b.Row(i))
		if j < len(rows) && rows[j] == r {
			j++
			if res[j-1].Skipped {
				continue
			}
		}
		sel = append(sel, r)
	}
	b.Sel = sel
}

var rowLockModes = map[string]kv.RowLockMode{
	"UPDATE": kv.ForUpdate, "NO KEY UPDATE": kv.ForNoKeyUpdate, "SHARE": kv.ForShare, "KEY SHARE": kv.ForKeyShare,
}
