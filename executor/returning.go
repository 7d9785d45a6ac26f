package executor

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// returning computes RETURNING over the rows written.
type returning struct {
	wanted bool
	evals  []expr.Eval
	out    vec.Batch
}

func newReturning(wanted bool, es []plan.Expr) (returning, error) {
	r := returning{wanted: wanted}
	if !wanted {
		return r, nil
	}
	var err error
	r.evals, err = expr.CompileAll(es)
	r.out.Cols = make([]*vec.Vec, len(es))
	return r, err
}

func (r *returning) project(env *Env, b *vec.Batch) (*vec.Batch, error) {
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
	stream bool
	buf    *buffer
	read   bool // all rows are in buf
	reader bufferReader
	env    *Env
}

func newDMLInput(op Operator, ts []types.T, stream bool) dmlInput {
	in := dmlInput{op: op, stream: stream}
	if !stream {
		in.buf = newBuffer(ts)
	}
	return in
}

func (in *dmlInput) open(env *Env) error {
	in.close()
	in.env = env
	if in.stream {
		return in.op.Open(env)
	}
	in.buf.open(env)
	return nil
}

func (in *dmlInput) next() (*vec.Batch, error) {
	if in.stream {
		return in.op.Next()
	}
	if !in.read {
		if err := in.buf.drain(in.env, in.op); err != nil {
			return nil, err
		}
		in.reader.begin(in.buf)
		in.read = true
	}
	return in.reader.next()
}

func (in *dmlInput) close() {
	in.op.Close()
	if in.buf != nil {
		in.buf.recycle()
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
