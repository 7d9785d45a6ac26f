package executor

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// insert stores its input's rows: generated columns, NOT NULL, CHECK, unique
// keys, foreign keys, ON CONFLICT, RETURNING.
type insert struct {
	dml
	views    rowChecks
	conflict *onConflict
	system   []int // the system columns that RETURNING reads
}

func (b *builder) insert(n *plan.Insert) (Operator, error) {
	if n.Tree != nil {
		return b.treeInsert(n)
	}
	d, err := b.inserted(n, !sees(n.Input, n.Table.OID))
	if err != nil {
		return nil, err
	}
	op := &insert{dml: d, system: n.System}
	op.dml.write = op.write
	if op.views, err = newRowChecks(n.Checks); err != nil {
		return nil, err
	}
	if n.OnConflict != nil {
		if op.conflict, err = newOnConflict(n.OnConflict); err != nil {
			return nil, err
		}
		op.conflict.views, op.conflict.system = op.views, n.System
		op.prepare = func() error { return op.conflict.open(op.w) }
	}
	return op, nil
}

// write stores a batch and returns the rows inserted or, by ON CONFLICT, changed.
func (op *insert) write(in *vec.Batch) (*vec.Batch, error) {
	b := &vec.Batch{Cols: in.Cols[:len(op.w.live)], N: in.N, Sel: in.Sel}
	rows, err := op.w.complete(b)
	var bad outsideView
	if err == nil && op.conflict == nil {
		bad, err = op.views.failing(op.env, rows)
	}
	if err != nil {
		return nil, firstFailure(b, err, func(one *vec.Batch) error { return op.w.faultOf(one, op.views) }, func(before *vec.Batch) error {
			_, err := op.write(before)
			return err
		})
	}
	return op.store(rows, bad)
}

// store inserts complete rows.
func (op *insert) store(b *vec.Batch, bad outsideView) (*vec.Batch, error) {
	if op.conflict != nil {
		return op.conflict.write(b)
	}
	b = bad.upTo(b)
	done, err := op.w.insert(b, table.InsertOpt{})
	if err != nil {
		if sqlerr.CodeOf(err) == sqlerr.UniqueViolation && slices.ContainsFunc(op.table.Uniques, func(u *catalog.Unique) bool { return u.Exclude != nil }) {
			err = firstFailure(b, err, op.w.insertVerified, nil)
		}
		return nil, err
	}
	if err := bad.of(op.w, b); err != nil {
		return b, err
	}
	return op.w.withSystem(op.system, b, 0, func(r int) []byte { return done.Keys[r] })
}
