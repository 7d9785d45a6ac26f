package executor

import (
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// cte is a WITH query whose rows are kept: computed once per statement, when
// first read, and read by any number of scans.
type cte struct {
	node   *plan.CTE
	op     Operator
	step   Operator // of a recursive one
	types  []types.T
	buf    *buffer
	filled bool
	scans  int           // operators that read it
	lazy   bool          // one reader's rows are computed as they are asked for: see stepping
	loop   *recursion    // of a recursive or lazy one whose rows are not all there yet
	work   *rowStore     // the working table of a recursive one
	outer  []int         // parameter slots it depends on, set by enclosing operators
	vals   []types.Datum // their values when it was filled
	round  int           // of a recursive one: how many working tables it has had
	within []*plan.CTE   // recursive ones outside whose working table it reads
	rounds []int         // theirs when it was filled
	run    *Run
}

func (b *builder) cte(c *plan.CTE) error {
	x := &cte{node: c, types: outTypes(c.Plan), run: b.run}
	x.buf = newBuffer(x.types)
	if b.run.ctes == nil {
		b.run.ctes = make(map[*plan.CTE]*cte)
	}
	b.run.ctes[c] = x
	var err error
	if x.op, err = b.node(c.Plan); err != nil {
		return err
	}
	if c.Recursive && c.Step != nil {
		if x.step, err = b.node(c.Step); err != nil {
			return err
		}
	}
	use := plan.ParamsOf(c.Plan, c.Step)
	if b.run.query.NumSlots > len(b.run.query.Params) {
		x.outer = use.Outer(len(b.run.query.Params))
	}
	x.within = slices.DeleteFunc(use.Working(), func(w *plan.CTE) bool { return w == c })
	x.rounds = make([]int, len(x.within))
	return nil
}

// current reports whether the rows kept are those for the present values of the
// outer parameters and the present working tables, which it remembers otherwise.
func (c *cte) current(env *Env) bool {
	same := c.filled
	for i, w := range c.within {
		round := c.run.ctes[w].round
		same = same && c.rounds[i] == round
		c.rounds[i] = round
	}
	for i, idx := range c.outer {
		d := env.Expr.Params[idx]
		if same {
			v := c.vals[i]
			same = v.Null && d.Null || !v.Null && !d.Null && types.Equal(v, d)
		}
		if !same {
			d.B = slices.Clone(d.B)
			if len(c.vals) <= i {
				c.vals = append(c.vals, d)
			}
			c.vals[i] = d
		}
	}
	return same
}

// fill computes the rows unless they are there. Those of a recursive query that
// has one reader, and of any such query below a LIMIT, come as they are asked for: a
// LIMIT may end what has no end.
func (c *cte) fill(env *Env) error {
	if c.current(env) {
		return nil
	}
	c.filled = true
	c.buf.open(env)
	late := c.late()
	if c.step == nil && !late {
		return c.buf.drain(env, c.op)
	}
	if c.loop != nil {
		c.loop.stop()
	}
	c.loop = newRecursion(c, env)
	if late {
		return nil
	}
	return c.complete()
}

// late reports whether rows are computed as they are asked for.
func (c *cte) late() bool {
	return c.scans == 1 && (c.lazy || c.step != nil && !c.node.Modifying)
}

// finish computes what its reader has not asked for of a query that changes rows.
func (c *cte) finish(env *Env) error {
	if err := c.fill(env); err != nil {
		return err
	}
	return c.complete()
}

// complete computes the rows that are not there yet.
func (c *cte) complete() error {
	for c.loop != nil {
		if err := c.more(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cte) close() {
	if c.op != nil {
		c.op.Close()
	}
	if c.step != nil {
		c.step.Close()
	}
	c.buf.close()
	if c.loop != nil {
		c.loop.stop()
		c.loop = nil
	}
	c.work = nil
	c.filled = false
}

// cteScan reads a CTE's rows.
type cteScan struct {
	cte    *cte
	env    *Env
	reader *bufferReader
}

func (b *builder) cteScan(n *plan.CTEScan) (Operator, error) {
	c := b.run.ctes[n.CTE]
	if c == nil {
		// A CTE of a subquery's own WITH list.
		if err := b.cte(n.CTE); err != nil {
			return nil, err
		}
		c = b.run.ctes[n.CTE]
	}
	c.scans++
	return &cteScan{cte: c}, nil
}

func (op *cteScan) Open(env *Env) error {
	op.env, op.reader = env, nil
	return nil
}

func (op *cteScan) Next() (*vec.Batch, error) {
	if op.reader == nil {
		if err := op.cte.fill(op.env); err != nil {
			return nil, err
		}
		op.reader = op.cte.buf.read()
	}
	for {
		if op.cte.loop != nil && op.cte.buf.file != nil {
			// rows in a file are read when all are there
			if err := op.cte.complete(); err != nil {
				return nil, err
			}
		}
		b, err := op.reader.next()
		if b != nil || err != nil || op.cte.loop == nil {
			return b, err
		}
		if err := op.cte.more(); err != nil {
			return nil, err
		}
	}
}

func (op *cteScan) Close() { op.reader = nil }
