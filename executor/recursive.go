package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// recursion is a recursive CTE under way: the first term's rows are the first
// working table; the recursive term runs over each working table and its rows are
// the next one, until there are none. Without ALL, rows seen before are dropped.
// A term's rows are passed on as they come: one that has no end, since it reads
// another recursion, may still be under a LIMIT.
type recursion struct {
	env   *Env
	term  Operator // under way, or to run next
	under bool     // the term is open
	taken pieces   // of the term
	seen  *keySet  // nil with ALL
	next  *rowStore
	acct  account

	hashes []uint64 // scratch of one batch, and its new rows
	fresh  []uint32
}

func newRecursion(c *cte, env *Env) *recursion {
	l := &recursion{env: env, term: c.op}
	if c.step != nil && !c.node.UnionAll {
		l.seen = newKeySet(c.types)
	}
	l.acct.open(env)
	return l
}

// stop ends the recursion, wherever it is.
func (l *recursion) stop() {
	if l.under {
		l.term.Close()
		l.under = false
	}
	l.acct.close()
}

// more takes one batch of the term under way; the recursion ends with a term that
// has no rows.
func (c *cte) more() error {
	l := c.loop
	if err := ctxErr(l.env.Ctx); err != nil {
		return err
	}
	if !l.under {
		if err := c.begin(); err != nil {
			return err
		}
	}
	in, err := l.taken.next(l.term)
	if err != nil {
		return err
	}
	if in != nil {
		return c.take(in)
	}
	l.term.Close()
	l.under, l.term = false, c.step
	if c.step != nil && l.next.n > 0 {
		return nil
	}
	l.stop()
	c.loop, c.work = nil, nil
	return c.buf.finish()
}

// begin opens a term over the rows of the one before.
func (c *cte) begin() error {
	l := c.loop
	done := c.work // read by no one any more
	c.round++
	if c.work = l.next; done == nil {
		l.next = newRowStore(c.types)
	} else {
		done.recycle()
		l.next = done
	}
	l.under = true
	l.taken.open()
	return l.term.Open(l.env)
}

// take adds the new rows of a batch to the result and to the next working table.
func (c *cte) take(in *vec.Batch) error {
	l := c.loop
	sel, n := in.Sel, in.Rows()
	if l.seen != nil {
		l.hashes = hashRows(in.Cols, in.Sel, n, l.hashes)
		l.fresh = l.fresh[:0]
		for i := range n {
			r := in.Row(i)
			if _, isNew := l.seen.findOrAdd(in.Cols, r, l.hashes[i]); isNew {
				l.fresh = append(l.fresh, uint32(r))
			}
		}
		sel, n = l.fresh, len(l.fresh)
	}
	if err := c.buf.add(in.Cols, sel, n); err != nil {
		return err
	}
	if c.step == nil {
		return nil
	}
	l.next.appendCols(in.Cols, sel, n)
	held := l.next.size
	if c.work != nil {
		held += c.work.size
	}
	if l.seen != nil {
		held += l.seen.bytes()
	}
	return l.acct.set(held)
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
