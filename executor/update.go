package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// update changes rows. Its input has the row key, the live columns, the new
// values and extra columns for RETURNING.
type update struct {
	node      *plan.Update
	input     dmlInput
	returning returning

	env   *Env
	w     *tableWriter
	seen  *keySet // rows already changed: a join may give a row twice
	count int64
	done  bool
}

func (b *builder) update(n *plan.Update) (Operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	op := &update{node: n}
	op.input = newDMLInput(in, outTypes(n.Input), false)
	op.returning, err = newReturning(n.HasReturning, n.Returning)
	return op, err
}

func (op *update) Open(env *Env) error {
	op.env, op.count, op.done = env, 0, false
	op.seen = newKeySet([]types.T{types.Of(types.OBytea)})
	var err error
	if op.w, err = env.run.writer(op.node.Table); err != nil {
		return err
	}
	return op.input.open(env)
}

func (op *update) Next() (*vec.Batch, error) {
	for !op.done {
		in, err := op.input.next()
		if err != nil {
			return nil, err
		}
		if in == nil {
			op.done = true
			break
		}
		out, err := op.write(in)
		if err != nil {
			return nil, err
		}
		op.count += int64(out.Rows())
		if op.returning.wanted && out.Rows() > 0 {
			return op.returning.project(op.env, out)
		}
	}
	return nil, nil
}

// write changes a batch of rows; it returns new live columns and extras.
func (op *update) write(in *vec.Batch) (*vec.Batch, error) {
	w := op.w
	live := len(w.live)
	rows := &vec.Batch{Cols: in.Cols, N: in.N, Sel: firstHits(op.seen, in)}
	if rows.Rows() == 0 {
		return rows, nil
	}
	keys := in.Cols[0]
	if err := w.lockRows(keys, rows); err != nil {
		return nil, err
	}
	old := &vec.Batch{Cols: in.Cols[1 : 1+live], N: in.N, Sel: rows.Sel}
	next := &vec.Batch{Cols: slices.Clone(old.Cols), N: in.N, Sel: rows.Sel}
	for i, c := range op.node.SetCols {
		next.Cols[w.pos[c]] = in.Cols[1+live+i]
	}
	next, err := w.complete(next)
	if err != nil {
		return nil, err
	}
	if err := w.update(keys, old, next, w.changed(op.node.SetCols)); err != nil {
		return nil, err
	}
	extra := in.Cols[len(in.Cols)-op.node.Extra:]
	return &vec.Batch{Cols: append(slices.Clone(next.Cols), extra...), N: in.N, Sel: rows.Sel}, nil
}

// changed lists the columns that an UPDATE of cols may change: these and the
// generated ones.
func (w *tableWriter) changed(cols []int) []int {
	if !w.anyGen {
		return cols
	}
	out := slices.Clone(cols)
	for i, g := range w.gen {
		if g != nil && !slices.Contains(out, w.live[i]) {
			out = append(out, w.live[i])
		}
	}
	return out
}

// firstHits selects the rows whose key, the batch's first column, is not NULL
// (an outer join's empty side) and has not been seen.
func firstHits(seen *keySet, in *vec.Batch) []uint32 {
	keys := in.Cols[:1]
	n := in.Rows()
	hashes := hashRows(keys, in.Sel, n, nil)
	sel := make([]uint32, 0, n)
	for i := range n {
		r := in.Row(i)
		if keys[0].IsNull(r) {
			continue
		}
		if _, isNew := seen.findOrAdd(keys, r, hashes[i]); isNew {
			sel = append(sel, uint32(r))
		}
	}
	return sel
}

func (op *update) affected() int64 { return op.count }

func (op *update) Close() { op.input.close() }
