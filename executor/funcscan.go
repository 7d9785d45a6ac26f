package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// funcScan passes the rows of table functions side by side, shorter sets padded
// with NULL.
type funcScan struct {
	node  *plan.FuncScan
	types []types.T
	sets  []expr.SetFunc

	env  *Env
	feed []setFeed
	row  int64 // rows passed, for the ordinality
	done bool
	one  vec.Batch // the empty row that arguments are evaluated over
	out  vec.Batch
}

// setFeed is a set-returning function's present batch.
type setFeed struct {
	set   expr.SetFunc
	batch *vec.Batch
	at    int
	ended bool
}

// fetch makes sure that there is a row at f.at; false at the end of the set.
func (f *setFeed) fetch(env *Env) (bool, error) {
	for !f.ended && (f.batch == nil || f.at >= f.batch.Rows()) {
		b, err := f.set.Next(env.Expr)
		if err != nil {
			return false, err
		}
		f.batch, f.at, f.ended = b, 0, b == nil
	}
	return !f.ended, nil
}

// left is the number of rows of the present batch that have not been passed.
func (f *setFeed) left() int { return f.batch.Rows() - f.at }

func (b *builder) funcScan(n *plan.FuncScan) (Operator, error) {
	op := &funcScan{node: n, types: outTypes(n), one: vec.Batch{N: 1}}
	c := 0
	for i, x := range n.Funcs {
		s, err := expr.CompileRows(x, op.types[c:c+n.FuncCols[i]])
		if err != nil {
			return nil, err
		}
		op.sets = append(op.sets, s)
		c += n.FuncCols[i]
	}
	op.feed = make([]setFeed, len(op.sets))
	op.out.Cols = newVecs(op.types)
	return op, nil
}

func (op *funcScan) Open(env *Env) error {
	op.env, op.row, op.done = env, 0, false
	for i, s := range op.sets {
		if err := s.Start(env.Expr, &op.one, 0); err != nil {
			return err
		}
		op.feed[i] = setFeed{set: s}
	}
	return nil
}

func (op *funcScan) Next() (*vec.Batch, error) {
	if op.done {
		return nil, nil
	}
	if err := ctxErr(op.env.Ctx); err != nil {
		return nil, err
	}
	// As many rows as every set that has not ended can give from its batch.
	n := 0
	for i := range op.feed {
		f := &op.feed[i]
		more, err := f.fetch(op.env)
		if err != nil {
			return nil, err
		}
		if more && (n == 0 || f.left() < n) {
			n = f.left()
		}
	}
	if n == 0 {
		op.done = true
		return nil, nil
	}
	c := 0
	rows := make([]uint32, n)
	for i := range op.feed {
		f := &op.feed[i]
		width := op.node.FuncCols[i]
		if f.ended {
			for j := range width {
				op.out.Cols[c+j].Reset(op.types[c+j], n)
				setAllNull(op.out.Cols[c+j], n)
			}
		} else {
			for k := range rows {
				rows[k] = uint32(f.batch.Row(f.at + k))
			}
			gatherBatch(op.out.Cols[c:c+width], f.batch.Cols[:width], rows, false)
			f.at += n
		}
		c += width
	}
	if op.node.Ordinality {
		v := op.out.Cols[c]
		v.Reset(types.TInt8, n)
		for k := range n {
			v.I64[k] = op.row + int64(k) + 1
		}
	}
	op.row += int64(n)
	op.out.N, op.out.Sel = n, nil
	return &op.out, nil
}

func (op *funcScan) Close() {}
