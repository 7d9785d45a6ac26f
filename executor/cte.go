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
	work   *rowStore     // the working table of a recursive one
	outer  []int         // parameter slots it depends on, set by enclosing operators
	vals   []types.Datum // their values when it was filled
}

func (b *builder) cte(c *plan.CTE) error {
	x := &cte{node: c, types: outTypes(c.Plan)}
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
	if b.run.query.NumSlots > len(b.run.query.Params) {
		u := paramsOf(c.Plan)
		if c.Step != nil {
			u.node(c.Step)
		}
		x.outer = u.outer(len(b.run.query.Params))
	}
	return nil
}

// current reports whether the rows kept are those for the present values of the
// outer parameters, which it remembers otherwise.
func (c *cte) current(env *Env) bool {
	same := c.filled
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

// fill computes the rows unless they are there.
func (c *cte) fill(env *Env) error {
	if c.current(env) {
		return nil
	}
	c.filled = true
	c.buf.open(env)
	if c.step != nil {
		return c.iterate(env)
	}
	return c.buf.drain(env, c.op)
}

func (c *cte) close() {
	if c.op != nil {
		c.op.Close()
	}
	if c.step != nil {
		c.step.Close()
	}
	c.buf.close()
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
	return op.reader.next()
}

func (op *cteScan) Close() { op.reader = nil }
