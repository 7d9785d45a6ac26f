package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// lookupJoin finds, for each batch of left rows, the matching rows of a table by
// equality on the first key columns of its master file or an index.
type lookupJoin struct {
	node   *plan.LookupJoin
	left   Operator
	ltypes []types.T
	keys   []expr.Eval
	pred   expr.Pred
	entry  expr.Pred // over the columns of index entries
	out    joinOut

	env    *Env
	lookup *table.Lookup
	cols   []*vec.Vec
	batch  *vec.Batch
	pos    int // selected left rows before it have had their end marks
	found  vec.Batch

	rounds lookupRounds
	turn   lookupTurn
}

func (b *builder) lookupJoin(n *plan.LookupJoin) (Operator, error) {
	l, err := b.node(n.Left)
	if err != nil {
		return nil, err
	}
	op := &lookupJoin{node: n, left: l, ltypes: outTypes(n.Left), cols: make([]*vec.Vec, len(n.Keys))}
	if op.keys, err = expr.CompileAll(n.Keys); err != nil {
		return nil, err
	}
	if op.pred, err = b.predicate(n.Filter); err != nil {
		return nil, err
	}
	if op.entry, err = b.predicate(n.EntryFilter); err != nil {
		return nil, err
	}
	residual, err := b.predicate(n.Residual)
	if err != nil {
		return nil, err
	}
	op.out = newJoinOut(n.Kind, residual, n.Residual, op.ltypes, op.rightTypes())
	return op, nil
}

// rightTypes are the types of the columns taken from the table.
func (op *lookupJoin) rightTypes() []types.T {
	ts := make([]types.T, len(op.node.Cols))
	for i, c := range op.node.Cols {
		switch c {
		case plan.ColRowKey:
			ts[i] = types.Of(types.OBytea)
		case plan.ColTableOID:
			ts[i] = types.Of(types.OOid)
		case plan.ColCtid:
			ts[i] = types.Of(types.OTid)
		case plan.ColXmin:
			ts[i] = types.Of(types.OXid)
		default:
			ts[i] = op.node.Table.Columns[c].Type
		}
	}
	return ts
}

func (op *lookupJoin) pushFilter(col int, f *keyFilter) bool {
	return col < len(op.ltypes) && pushFilter(op.left, col, f)
}

func (op *lookupJoin) Open(env *Env) error {
	op.release() // the left input closes itself; it may have been handed filters
	op.env = env
	desc, err := env.Tables.For(op.node.Table)
	if err != nil {
		return err
	}
	n := op.node
	if op.lookup, err = desc.NewLookup(env.source(n.Cols), n.Index, len(n.Keys), n.Cols, n.IndexOnly); err != nil {
		return err
	}
	parts, err := evalParts(env, n.Parts)
	if err != nil {
		return err
	}
	op.lookup.ReadParts(parts)
	if op.rounds.on = false; n.Kind == plan.Semi || n.Kind == plan.Anti {
		if op.entry == nil && op.pred == nil && n.Residual == nil {
			op.lookup.FirstOnly()
		} else {
			op.rounds.on = op.lookup.Rounds(op.rounds.settled)
		}
	}
	if op.entry != nil {
		op.lookup.FilterEntries(n.EntryCols, func(b *vec.Batch) error { return op.entry.Select(env.Expr, b) })
	}
	op.out.open(0)
	op.turn = lookupTurn{}
	return op.left.Open(env)
}

func (op *lookupJoin) Next() (*vec.Batch, error) {
	for {
		if op.turn.to != nil {
			return op.turnedNext()
		}
		if err := op.out.due(); err != nil {
			return nil, err
		}
		if err := ctxErr(op.env.Ctx); err != nil {
			return nil, err
		}
		if op.batch == nil {
			in, err := op.left.Next()
			if in == nil || err != nil {
				return nil, err
			}
			if turned, err := op.turns(in); err != nil {
				return nil, err
			} else if turned {
				continue
			}
			if err := evalAll(op.env, op.keys, in, op.cols); err != nil {
				return nil, err
			}
			op.batch, op.pos = in, 0
			if err := op.lookup.Start(op.env.Ctx, op.cols, in.Rows(), in.Sel); err != nil {
				return nil, err
			}
			op.env.Tally.indexScanned(op.node.Table, op.node.Index, op.node.IndexOnly, int64(in.Rows()), 0, 0)
		}
		if op.rounds.on {
			b, err := op.decide()
			if op.batch = nil; err != nil {
				return nil, err
			}
			if b.Rows() > 0 {
				return b, nil
			}
			continue
		}
		probes, err := op.lookup.Next(&op.found)
		if err != nil {
			return nil, err
		}
		last := op.found.N == 0
		op.count(op.found.N)
		if !last {
			if err := op.candidates(probes); err != nil {
				return nil, err
			}
		} else if op.out.marks() {
			for ; op.pos < op.batch.Rows(); op.pos++ {
				op.out.add(uint32(op.batch.Row(op.pos)), noRow)
			}
		}
		b, err := op.out.flush(op.env, op.batch, op.found.Cols)
		if err != nil {
			return nil, err
		}
		if last {
			op.batch = nil
		}
		if b.Rows() > 0 {
			return b, nil
		}
	}
}

// candidates pairs the rows found that satisfy the filter with their probes.
func (op *lookupJoin) candidates(probes []uint32) error {
	f := vec.Batch{Cols: op.found.Cols, N: op.found.N}
	if op.pred != nil {
		test := func(b *vec.Batch) error { return op.pred.Select(op.env.Expr, b) }
		if err := test(&f); err != nil {
			f = vec.Batch{Cols: op.found.Cols, N: op.found.N}
			if err := op.out.fault.rescue(err, &f, test, op.node.Filter); err != nil {
				return err
			}
		}
	}
	marks := op.out.marks()
	for i := range f.Rows() {
		r := f.Row(i)
		for marks && uint32(op.batch.Row(op.pos)) != probes[r] {
			op.out.add(uint32(op.batch.Row(op.pos)), noRow)
			op.pos++
		}
		op.out.add(probes[r], uint32(r))
	}
	return nil
}

func (op *lookupJoin) Close() {
	op.left.Close()
	op.release()
}

func (op *lookupJoin) release() {
	if op.lookup != nil {
		op.lookup.Release()
	}
	if op.turn.to != nil {
		op.turn.to.Close()
		op.turn.to = nil
	}
	op.lookup, op.batch = nil, nil
}
