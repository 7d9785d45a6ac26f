package executor

import (
	"bytes"
	"slices"

	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// indexUnion reads the row keys that several scans find, one of them or, with All, each
// of them, then the rows, once each
// and in the order of their keys.
type indexUnion struct {
	node  *plan.IndexUnion
	scans []Operator
	pred  expr.Pred

	env   *Env
	desc  *table.Desc
	parts []table.Part
	acct  account
	arena arena
	keys  [][]byte
	read  bool
	at    int
	buf   vec.Batch
	out   vec.Batch
	fault rowFault
}

func (b *builder) indexUnion(n *plan.IndexUnion) (Operator, error) {
	op := &indexUnion{node: n}
	for _, s := range n.Scans {
		x, err := b.node(s)
		if err != nil {
			return nil, err
		}
		op.scans = append(op.scans, x)
	}
	var err error
	op.pred, err = b.predicate(n.Filter)
	return op, err
}

func (op *indexUnion) Open(env *Env) error {
	op.Close()
	op.env = env
	op.acct.open(env)
	var err error
	if op.desc, err = env.Tables.For(op.node.Table); err != nil {
		return err
	}
	op.parts, err = evalParts(env, op.node.Parts)
	return err
}

// collect reads the keys.
func (op *indexUnion) collect() error {
	op.read = true
	size := int64(0)
	for i, s := range op.scans {
		before := op.keys
		if op.node.All {
			op.keys = nil
		}
		if err := s.Open(op.env); err != nil {
			return err
		}
		for {
			b, err := s.Next()
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			for i := range b.Rows() {
				c := b.Cols[0]
				key := op.arena.copy(c.B[c.Idx(b.Row(i))])
				op.keys = append(op.keys, key)
				size += int64(len(key)) + 24
			}
			if err := op.acct.set(size); err != nil {
				return err
			}
		}
		s.Close()
		if op.node.All && i > 0 {
			if op.keys = inBoth(before, op.keys); len(op.keys) == 0 {
				return nil
			}
		} else if op.node.All {
			sortKeys(&op.keys)
		}
	}
	if !op.node.All {
		sortKeys(&op.keys)
	}
	return nil
}

// sortKeys brings keys into order, once each.
func sortKeys(keys *[][]byte) {
	slices.SortFunc(*keys, bytes.Compare)
	*keys = slices.CompactFunc(*keys, bytes.Equal)
}

// inBoth are the keys of a, which is in order, that b has as well.
func inBoth(a, b [][]byte) [][]byte {
	sortKeys(&b)
	out, i := b[:0], 0
	for _, key := range b {
		for i < len(a) && bytes.Compare(a[i], key) < 0 {
			i++
		}
		if i < len(a) && bytes.Equal(a[i], key) {
			out = append(out, key)
		}
	}
	return out
}

func (op *indexUnion) Next() (*vec.Batch, error) {
	if !op.read {
		if err := op.collect(); err != nil {
			return nil, err
		}
	}
	for {
		if err := op.fault.due(); err != nil || op.at >= len(op.keys) {
			return nil, err
		}
		if err := ctxErr(op.env.Ctx); err != nil {
			return nil, err
		}
		to := min(op.at+vec.BatchSize, len(op.keys))
		op.buf.Sel = nil
		if err := op.desc.GetRows(op.env.Ctx, op.env.reader, op.keys[op.at:to], op.node.Cols, op.parts, &op.buf); err != nil {
			return nil, err
		}
		op.at = to
		op.out = vec.Batch{Cols: op.buf.Cols, N: op.buf.N, Sel: op.buf.Sel}
		if op.pred != nil {
			if err := op.test(&op.out); err != nil {
				op.out = op.buf
				if err := op.fault.rescue(err, &op.out, op.test, op.node.Filter); err != nil {
					return nil, err
				}
			}
		}
		if op.out.Rows() > 0 {
			return &op.out, nil
		}
	}
}

func (op *indexUnion) test(b *vec.Batch) error { return op.pred.Select(op.env.Expr, b) }

func (op *indexUnion) Close() {
	for _, s := range op.scans {
		s.Close()
	}
	op.keys, op.arena, op.read, op.at, op.fault = nil, arena{}, false, 0, rowFault{}
	op.acct.close()
}
