package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// insert stores its input's rows: generated columns, NOT NULL, CHECK, unique
// keys, foreign keys, ON CONFLICT, RETURNING.
type insert struct {
	dml
	viewCheck expr.Eval
	conflict  *onConflict
}

func (b *builder) insert(n *plan.Insert) (Operator, error) {
	stream := n.OnConflict == nil && !sees(n.Input, n.Table.OID)
	d, err := b.newDML(n.Table, n.Input, stream, n.HasReturning, n.Returning)
	if err != nil {
		return nil, err
	}
	op := &insert{dml: d}
	op.dml.write = op.write
	if n.ViewCheck != nil {
		if op.viewCheck, err = expr.Compile(n.ViewCheck); err != nil {
			return nil, err
		}
	}
	if n.OnConflict != nil {
		if op.conflict, err = newOnConflict(n.OnConflict); err != nil {
			return nil, err
		}
		op.begin = func() { op.conflict.open(op.w) }
	}
	return op, nil
}

// write stores a batch and returns the rows inserted or, by ON CONFLICT, changed.
func (op *insert) write(in *vec.Batch) (*vec.Batch, error) {
	b := &vec.Batch{Cols: in.Cols[:len(op.w.live)], N: in.N, Sel: in.Sel}
	b, err := op.w.complete(b)
	if err != nil {
		return nil, err
	}
	if op.viewCheck != nil {
		if err := op.checkView(b); err != nil {
			return nil, err
		}
	}
	if op.conflict != nil {
		return op.conflict.write(b)
	}
	_, err = op.w.insert(b, table.InsertOpt{})
	return b, err
}

// checkView verifies WITH CHECK OPTION, for which NULL is a failure.
func (op *insert) checkView(b *vec.Batch) error {
	v, err := op.viewCheck.Eval(op.env.Expr, b)
	if err != nil {
		return err
	}
	for i := range b.Rows() {
		r := b.Row(i)
		if x := v.Idx(r); !v.Bool[x] || v.Nulls.Any() && v.Nulls.Get(x) {
			return op.w.viewCheckError(b, r)
		}
	}
	return nil
}
