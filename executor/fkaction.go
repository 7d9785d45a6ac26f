package executor

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/storage/kv"
)

// act carries out CASCADE, SET NULL and SET DEFAULT for removed parent keys: the
// referencing rows are collected first and then deleted or updated, which may
// queue further actions.
func (r *Run) act(e *fkEvent) error {
	env := r.env
	w, err := r.writer(e.ref.Table)
	if err != nil {
		return err
	}
	f := newChildFinder(env, e.ref.Table, e.ref.FK)
	ts := append([]types.T{types.Of(types.OBytea)}, columnTypes(w.table, w.live)...)
	ts = append(ts, types.TInt8) // the number of the parent's key
	rows := newBuffer(ts)
	rows.open(env)
	defer rows.close()
	number := &vec.Vec{T: types.TInt8}
	var view vec.Batch
	for at := 0; at < e.old.n; at += vec.BatchSize {
		e.old.window(&view, at, min(at+vec.BatchSize, e.old.n))
		f.below(e, at, view.N)
		base := at
		err := f.find(env.Txn, view.Cols, view.N, func(b *vec.Batch, probes []uint32) (bool, error) {
			number.Reset(types.TInt8, b.N)
			for i, p := range probes {
				number.I64[b.Row(i)] = int64(base) + int64(p)
			}
			if !env.ReadCommitted {
				// Rows that are gone, or refer to something else now, are none of the action's.
				var err error
				if b, err = f.current(b); err != nil || b.Rows() == 0 {
					return true, err
				}
			}
			cols := append(slices.Clone(b.Cols), number)
			return true, rows.add(cols, b.Sel, b.Rows())
		})
		if err != nil {
			return err
		}
		if err := f.unseen(view.Cols, view.N, nil); err != nil {
			st, cols := e.statement()
			return st.in(env, w.table, e.ref.FK, cols, err)
		}
	}
	if err := rows.finish(); err != nil {
		return err
	}
	for in := rows.read(); ; {
		b, err := in.next()
		if b == nil || err != nil {
			return err
		}
		if err := r.actOn(w, e, b); err != nil {
			return err
		}
	}
}

// actOn applies the action to a batch of referencing rows.
func (r *Run) actOn(w *tableWriter, e *fkEvent, b *vec.Batch) error {
	st, cols := e.statement()
	return st.in(r.env, w.table, e.ref.FK, cols, r.change(w, e, st, cols, b))
}

// change is actOn without the context of its errors.
func (r *Run) change(w *tableWriter, e *fkEvent, st fkStatement, cols []int, b *vec.Batch) error {
	keys := b.Cols[0]
	old := &vec.Batch{Cols: b.Cols[1 : 1+len(w.live)], N: b.N, Sel: b.Sel}
	action := e.action()
	if st == fkDelete {
		if err := w.lockRows(keys, old, kv.ForUpdate); err != nil {
			return err
		}
		return w.remove(keys, old, nil)
	}
	next := &vec.Batch{Cols: slices.Clone(old.Cols), N: b.N, Sel: b.Sel}
	for _, c := range cols {
		v, err := r.actionValue(w, e, action, c, b)
		if err != nil {
			return err
		}
		next.Cols[w.pos[c]] = v
	}
	if root, _ := r.env.Snap.RootKey(w.table, e.ref.FK); root != w.table {
		return r.changeMember(root, w, &change{keys: keys, old: old, next: next, set: cols})
	}
	if err := w.lockChanged(keys, old, next, cols); err != nil {
		return err
	}
	next, err := w.complete(next)
	if err != nil {
		return err
	}
	return w.update(keys, old, next, w.changed(cols), nil, nil)
}

// changeMember is change for rows of a partition: the constraint is that of a table
// above it, where its rows may find another partition.
func (r *Run) changeMember(root *catalog.Table, w *tableWriter, c *change) error {
	m, err := r.newMembers(root)
	if err != nil {
		return err
	}
	x, err := m.of(w.table)
	if err != nil {
		return err
	}
	return m.update(x, c, func(*member, *vec.Batch, []*vec.Vec) {})
}

// actionValue is the new value of a referencing column for a batch of rows.
func (r *Run) actionValue(w *tableWriter, e *fkEvent, action byte, col int, b *vec.Batch) (*vec.Vec, error) {
	t := w.table.Columns[col].Type
	switch action {
	case 'n':
		return vec.NewConst(types.Null(t)), nil
	case 'd':
		// The default is that of the table whose constraint it is, whatever a
		// partition says of its own.
		root, _ := r.env.Snap.RootKey(w.table, e.ref.FK)
		ex, err := r.env.TableExprs(root)
		if err != nil {
			return nil, err
		}
		d := ex.Defaults[slices.Index(ex.Live, root.Col(w.table.Columns[col].Name))]
		if d == nil {
			return vec.NewConst(types.Null(t)), nil
		}
		v, err := expr.EvalConst(r.env.Expr, d)
		if err != nil {
			return nil, err
		}
		return vec.NewConst(v), nil
	}
	rows := make([]uint32, b.N)
	number := b.Cols[len(b.Cols)-1]
	for i := range b.N {
		rows[i] = uint32(number.I64[i])
	}
	v := new(vec.Vec)
	gather(v, e.new.cols[slices.Index(e.ref.FK.Cols, col)], rows, false)
	return convertVec(r.env, v, t, b.N)
}
