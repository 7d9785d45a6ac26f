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
	node      *plan.Insert
	input     dmlInput
	returning returning
	viewCheck expr.Eval
	conflict  *onConflict

	env   *Env
	w     *tableWriter
	count int64
	done  bool
}

func (b *builder) insert(n *plan.Insert) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &insert{node: n}
	stream := n.OnConflict == nil && !sees(n.Input, n.Table.OID)
	op.input = newDMLInput(in, outTypes(n.Input), stream)
	if op.returning, err = newReturning(n.HasReturning, n.Returning); err != nil {
		return nil, err
	}
	if n.ViewCheck != nil {
		if op.viewCheck, err = expr.Compile(n.ViewCheck); err != nil {
			return nil, err
		}
	}
	if n.OnConflict != nil {
		if op.conflict, err = newOnConflict(n.OnConflict); err != nil {
			return nil, err
		}
	}
	return op, nil
}

func (op *insert) Open(env *Env) error {
	op.env, op.count, op.done = env, 0, false
	var err error
	if op.w, err = env.run.writer(op.node.Table); err != nil {
		return err
	}
	if op.conflict != nil {
		op.conflict.open(op.w)
	}
	return op.input.open(env)
}

func (op *insert) Next() (*vec.Batch, error) {
	for !op.done {
		in, err := op.input.next()
		if err != nil {
			return nil, err
		}
		if in == nil {
			op.done = true
			break
		}
		rows, err := op.write(in)
		if err != nil {
			return nil, err
		}
		op.count += int64(rows.Rows())
		if op.returning.wanted && rows.Rows() > 0 {
			return op.returning.project(op.env, rows)
		}
	}
	return nil, nil
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

func (op *insert) affected() int64 { return op.count }

func (op *insert) Close() { op.input.close() }
