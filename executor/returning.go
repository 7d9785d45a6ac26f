package executor

import (
	"context"
	"slices"
	"sync"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// returning computes RETURNING over the rows written.
type returning struct {
	wanted bool
	evals  []expr.Eval
	serial *serially // of calls that see each other's effects
	out    vec.Batch
}

func newReturning(wanted bool, es []plan.Expr) (returning, error) {
	r := returning{wanted: wanted}
	if !wanted {
		return r, nil
	}
	r.serial = newSerially(es)
	var err error
	r.evals, err = expr.CompileAll(es)
	r.out.Cols = make([]*vec.Vec, len(es))
	return r, err
}

func (r *returning) project(env *Env, b *vec.Batch) (*vec.Batch, error) {
	if r.serial != nil {
		return r.serial.compute(env, r.evals, b)
	}
	if err := evalAll(env, r.evals, b, r.out.Cols); err != nil {
		return nil, err
	}
	r.out.N, r.out.Sel = b.N, b.Sel
	return &r.out, nil
}

// dmlInput reads the rows that a statement writes. Unless the plan cannot see
// the statement's own effects, all rows are read before the first write (X5).
type dmlInput struct {
	op     Operator
	node   plan.Node // that op was made of
	types  []types.T
	stream bool
	bufs   []*buffer // the first is the one that is used without goroutines
	read   bool      // all rows are in bufs
	at     int       // the buffer that is read
	reader bufferReader
	env    *Env
}

func newDMLInput(op Operator, n plan.Node, stream bool) dmlInput {
	in := dmlInput{op: op, node: n, types: outTypes(n), stream: stream}
	if !stream {
		in.bufs = []*buffer{newBuffer(in.types)}
	}
	return in
}

func (in *dmlInput) open(env *Env) error {
	in.close()
	in.env = env
	if in.stream {
		return in.op.Open(env)
	}
	in.bufs[0].open(env)
	return nil
}

// Next returns the next rows, nil at the end.
func (in *dmlInput) Next() (*vec.Batch, error) {
	if in.stream {
		return in.op.Next()
	}
	if !in.read {
		if err := in.fill(); err != nil {
			return nil, err
		}
		in.read, in.at = true, 0
		in.reader.begin(in.bufs[0])
	}
	for {
		b, err := in.reader.next()
		if b != nil || err != nil || in.at+1 == len(in.bufs) {
			return b, err
		}
		in.at++
		in.reader.begin(in.bufs[in.at])
	}
}

// fill reads all rows.
func (in *dmlInput) fill() error {
	defer in.op.Close()
	if err := in.op.Open(in.env); err != nil {
		return err
	}
	if done, err := in.fillParallel(); done || err != nil {
		return err
	}
	return in.bufs[0].take(in.op)
}

// fillParallel reads the rows in several goroutines, each with operators of its own for a
// part of the scan below. They stay in the order of the scan: statements that lock the
// same rows do not wait for each other in a circle. It reports false when the input is
// not of that kind.
func (in *dmlInput) fillParallel() (bool, error) {
	r := in.env.run
	if slices.ContainsFunc(r.query.CTEs, func(c *plan.CTE) bool { return c.Modifying }) {
		return false, nil
	}
	cut, err := cutUp(in.env, in.op, func(sc *scan) bool { return sc.divisible() && safeDown(in.node) })
	if cut == nil || err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(in.env.Ctx)
	defer cancel()
	ops := make([]Operator, len(cut.parts))
	tallies := make([]*Tally, len(ops))
	defer func() {
		for i, op := range ops {
			if tallies[i] != nil {
				op.Close()
				in.env.Tally.Add(tallies[i])
			}
		}
	}()
	for i := range ops {
		if ops[i], err = r.build.node(in.node); err != nil {
			return false, err
		}
		err := cut.open(ctx, i, ops[i], func(env *Env) error {
			if i > 0 {
				in.bufs = append(in.bufs, newBuffer(in.types))
			}
			in.bufs[i].open(env)
			tallies[i] = env.Tally
			return ops[i].Open(env)
		})
		if err != nil {
			return false, err
		}
	}
	errs := make([]error, len(ops))
	var wait sync.WaitGroup
	for i := range ops {
		wait.Go(func() {
			if errs[i] = in.bufs[i].take(ops[i]); errs[i] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	if err := ctxErr(in.env.Ctx); err != nil {
		return false, err
	}
	for _, err := range errs {
		if err != nil && !isCancel(err) {
			return false, err
		}
	}
	for i := range ops {
		in.bufs[i].env = in.env // the workers' ends here
	}
	return true, nil
}

// rows is the number of rows that the statement writes at most, 0 where that is not known.
func (in *dmlInput) rows() int {
	n := 0
	for _, b := range in.bufs {
		n += b.n
	}
	return n
}

func (in *dmlInput) close() {
	in.op.Close()
	for i, b := range in.bufs {
		if b.recycle(); i > 0 {
			in.bufs[i] = nil
		}
	}
	if in.bufs != nil {
		in.bufs = in.bufs[:1]
	}
	in.read = false
}

// sees reports whether a plan reads the table, itself or in a subplan, or calls
// functions that might.
func sees(n plan.Node, oid types.OID) bool {
	switch n := n.(type) {
	case *plan.Scan:
		if n.Table.OID == oid {
			return true
		}
	case *plan.LookupJoin:
		if n.Table.OID == oid {
			return true
		}
	case *plan.CTEScan:
		// The rows of a modifying one are there before anybody reads them.
		if !n.CTE.Modifying && (sees(n.CTE.Plan, oid) || n.CTE.Step != nil && sees(n.CTE.Step, oid)) {
			return true
		}
	}
	found := false
	plan.MapExprs(n, func(e plan.Expr) plan.Expr {
		plan.Visit(e, func(x plan.Expr) bool {
			switch x := x.(type) {
			case *plan.Call:
				found = found || x.Proc.SQL != nil
			case *plan.SubPlan:
				found = found || sees(x.Plan, oid)
			}
			return !found
		})
		return e
	})
	for _, c := range n.Children() {
		found = found || sees(c, oid)
	}
	return found
}
