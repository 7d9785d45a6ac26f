package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// lockRows locks the rows that the input's row-key columns name. Rows that SKIP
// LOCKED skips are not passed.
type lockRows struct {
	input  Operator
	locker *rowLocker
	env    *Env
	out    vec.Batch
}

func (b *builder) lockRows(n *plan.LockRows) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return &lockRows{input: in, locker: newRowLocker(n.Locks)}, nil
}

func (op *lockRows) Open(env *Env) error {
	op.env = env
	return op.input.Open(env)
}

func (op *lockRows) Next() (*vec.Batch, error) {
	for {
		in, err := op.input.Next()
		if in == nil || err != nil {
			return nil, err
		}
		op.out = *in
		if err := op.locker.lock(op.env, &op.out); err != nil {
			return nil, err
		}
		if op.out.Rows() > 0 {
			return &op.out, nil
		}
	}
}

func (op *lockRows) Close() { op.input.Close() }

// rowLocker takes the row locks of one or more tables for batches of rows.
type rowLocker struct {
	locks []plan.Lock
	keys  [][]byte
	sel   []uint32
}

func newRowLocker(locks []plan.Lock) *rowLocker { return &rowLocker{locks: locks} }

// lock locks the batch's rows and narrows its selection to those that were not
// skipped. ErrRetry when a row has changed since the snapshot.
func (l *rowLocker) lock(env *Env, b *vec.Batch) error {
	for i := range l.locks {
		if err := l.lockTable(env, &l.locks[i], b); err != nil {
			return err
		}
	}
	return nil
}

func (l *rowLocker) lockTable(env *Env, k *plan.Lock, b *vec.Batch) error {
	desc, err := env.Tables.For(k.Table)
	if err != nil {
		return err
	}
	o := lockOpt(env)
	if k.NoWait {
		o.Wait = 0
	}
	o.SkipLocked, o.NoValue = k.SkipLocked, true
	o.Shared = sharedLock(k.Strength)
	col := b.Cols[k.KeyCol]
	l.keys = l.keys[:0]
	rows := make([]uint32, 0, b.Rows())
	for i := range b.Rows() {
		r := b.Row(i)
		if !col.IsNull(r) { // NULL: the empty side of an outer join
			l.keys = append(l.keys, col.B[col.Idx(r)])
			rows = append(rows, uint32(r))
		}
	}
	if len(l.keys) == 0 {
		return nil
	}
	res, err := desc.LockRows(env.Ctx, env.Txn, l.keys, o)
	if err != nil {
		return lockErr(retry(err), k)
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

// sharedLock maps PostgreSQL's four strengths to the engine's two.
func sharedLock(strength string) bool {
	switch strength {
	case "SHARE", "KEY SHARE", "FOR SHARE", "FOR KEY SHARE":
		return true
	}
	return false
}
