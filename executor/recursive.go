package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// iterate computes a recursive CTE: the first term's rows are the first working
// table; the recursive term runs over each working table and its rows are the
// next one, until there are none. Without ALL, rows seen before are dropped.
func (c *cte) iterate(env *Env) error {
	var seen *keySet
	if !c.node.UnionAll {
		seen = newKeySet(c.types)
	}
	next := newRowStore(c.types)
	if err := c.gather(env, c.op, seen, next); err != nil {
		return err
	}
	var acct account
	acct.open(env)
	defer acct.close()
	for next.n > 0 {
		c.work = next
		next = newRowStore(c.types)
		if err := c.gather(env, c.step, seen, next); err != nil {
			return err
		}
		held := c.work.size + next.size
		if seen != nil {
			held += seen.bytes()
		}
		if err := acct.set(held); err != nil {
			return err
		}
	}
	c.work = nil
	return c.buf.finish()
}

// gather runs one term and adds its new rows to the result and to next.
func (c *cte) gather(env *Env, op Operator, seen *keySet, next *rowStore) error {
	defer op.Close()
	if err := op.Open(env); err != nil {
		return err
	}
	var hashes []uint64
	for {
		if err := ctxErr(env.Ctx); err != nil {
			return err
		}
		in, err := op.Next()
		if in == nil || err != nil {
			return err
		}
		sel, n := in.Sel, in.Rows()
		if seen != nil {
			hashes = hashRows(in.Cols, in.Sel, n, hashes)
			fresh := make([]uint32, 0, n)
			for i := range n {
				r := in.Row(i)
				if _, isNew := seen.findOrAdd(in.Cols, r, hashes[i]); isNew {
					fresh = append(fresh, uint32(r))
				}
			}
			sel, n = fresh, len(fresh)
		}
		next.appendCols(in.Cols, sel, n)
		if err := c.buf.add(in.Cols, sel, n); err != nil {
			return err
		}
	}
}

// workScan reads the working table of a recursive CTE.
type workScan struct {
	cte  *cte
	work *rowStore
	at   int
	view vec.Batch
}

func (b *builder) workScan(n *plan.WorkScan) (Operator, error) {
	return &workScan{cte: b.run.ctes[n.CTE]}, nil
}

func (op *workScan) Open(env *Env) error {
	op.work, op.at = op.cte.work, 0
	return nil
}

func (op *workScan) Next() (*vec.Batch, error) {
	if op.work == nil || op.at >= op.work.n {
		return nil, nil
	}
	to := min(op.at+vec.BatchSize, op.work.n)
	op.work.window(&op.view, op.at, to)
	op.at = to
	return &op.view, nil
}

func (op *workScan) Close() { op.work = nil }
