package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// recursion is a recursive CTE under way: the first term's rows are the first
// working table; the recursive term runs over each working table and its rows are
// the next one, until there are none. Without ALL, rows seen before are dropped.
type recursion struct {
	env  *Env
	term Operator // to run next
	seen *keySet  // nil with ALL
	next *rowStore
	acct account

	hashes []uint64 // scratch of one batch, and its new rows
	fresh  []uint32
}

func newRecursion(c *cte, env *Env) *recursion {
	l := &recursion{env: env, term: c.op}
	if !c.node.UnionAll {
		l.seen = newKeySet(c.types)
	}
	l.acct.open(env)
	return l
}

// more runs one term; the recursion ends with one that has no rows.
func (c *cte) more() error {
	l := c.loop
	done := c.work // read by no one any more
	c.round++
	if c.work = l.next; done == nil {
		l.next = newRowStore(c.types)
	} else {
		done.recycle()
		l.next = done
	}
	if err := c.gather(l.env, l.term, l.seen, l.next); err != nil {
		return err
	}
	l.term = c.step
	held := l.next.size
	if c.work != nil {
		held += c.work.size
	}
	if l.seen != nil {
		held += l.seen.bytes()
	}
	if err := l.acct.set(held); err != nil || l.next.n > 0 {
		return err
	}
	l.acct.close()
	c.loop, c.work = nil, nil
	return c.buf.finish()
}

// gather runs one term and adds its new rows to the result and to next.
func (c *cte) gather(env *Env, op Operator, seen *keySet, next *rowStore) error {
	defer op.Close()
	if err := op.Open(env); err != nil {
		return err
	}
	l := c.loop
	var taken pieces
	for {
		if err := ctxErr(env.Ctx); err != nil {
			return err
		}
		in, err := taken.next(op)
		if in == nil || err != nil {
			return err
		}
		sel, n := in.Sel, in.Rows()
		if seen != nil {
			l.hashes = hashRows(in.Cols, in.Sel, n, l.hashes)
			l.fresh = l.fresh[:0]
			for i := range n {
				r := in.Row(i)
				if _, isNew := seen.findOrAdd(in.Cols, r, l.hashes[i]); isNew {
					l.fresh = append(l.fresh, uint32(r))
				}
			}
			sel, n = l.fresh, len(l.fresh)
		}
		next.appendCols(in.Cols, sel, n)
		if err := c.buf.add(in.Cols, sel, n); err != nil {
			return err
		}
	}
}

// workScan reads the working table of a recursive CTE.
type workScan struct {
	run  *Run
	node *plan.CTE // whose operators may be made after those of a query in it
	work *rowStore
	at   int
	view vec.Batch
}

func (b *builder) workScan(n *plan.WorkScan) (Operator, error) {
	return &workScan{run: b.run, node: n.CTE}, nil
}

func (op *workScan) Open(env *Env) error {
	op.work, op.at = op.run.ctes[op.node].work, 0
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
