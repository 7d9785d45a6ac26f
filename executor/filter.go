package executor

import (
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// filter narrows the selection of each input batch to the rows for which the
// condition is true. What of the condition no row decides is tested first, once:
// where it is not true, the input does not run.
type filter struct {
	input Operator
	gate  expr.Pred   // of conjuncts that are the same for all rows, or nil
	pred  expr.Pred   // of the others, or nil
	each  []plan.Expr // which pred tests
	fault rowFault
	env   *Env
	shut  bool
	out   vec.Batch
}

func (b *builder) filter(n *plan.Filter) (Operator, error) {
	each := b.eachInTurn(n.Cond)
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	return filterOver(in, n.Cond, each)
}

// condOf is the condition of a node that filters.
func condOf(n plan.Node) plan.Expr {
	switch n := n.(type) {
	case *plan.Filter:
		return n.Cond
	case *plan.Scan:
		return n.Filter
	}
	return nil
}

// eachInTurn reports whether a condition is to be computed for a row before the next one
// is looked at: its calls see each other's effects or those of calls above, or act, and
// maybe not all rows are asked for.
func (b *builder) eachInTurn(cond plan.Expr) bool {
	each := b.inTurns || acts([]plan.Expr{cond})
	b.inTurns = false
	return each
}

// filterOver makes the operator of a filter whose input is built; each is eachInTurn.
func filterOver(in Operator, cond plan.Expr, each bool) (Operator, error) {
	if each {
		in = &inTurns{input: in}
	}
	op := &filter{input: in}
	once, rest := splitRowFree(cond)
	var err error
	if op.gate, err = predicateOf(once); err != nil {
		return nil, err
	}
	op.each = rest
	op.pred, err = predicateOf(rest)
	return op, err
}

// pushFilter hands the filter to the input, but where volatile functions are called for
// the rows that nobody wants.
func (op *filter) pushFilter(col int, f *keyFilter) bool {
	return !volatile(op.each) && pushFilter(op.input, col, f)
}

// predicateOf compiles a conjunction; nil for none.
func predicateOf(conj []plan.Expr) (expr.Pred, error) {
	switch len(conj) {
	case 0:
		return nil, nil
	case 1:
		return expr.CompilePredicate(conj[0])
	}
	return expr.CompilePredicate(&plan.And{At: plan.At{T: conj[0].Type(), Off: -1}, Args: conj})
}

// splitRowFree parts a condition into the conjuncts that are the same for every
// row and those that are not.
func splitRowFree(cond plan.Expr) (once, each []plan.Expr) {
	conj := []plan.Expr{cond}
	if and, ok := cond.(*plan.And); ok {
		conj = and.Args
	}
	for _, c := range conj {
		if rowFree(c) {
			once = append(once, c)
		} else {
			each = append(each, c)
		}
	}
	return once, each
}

// rowFree reports whether an expression has the same value for every row of a run.
func rowFree(e plan.Expr) bool {
	free := true
	plan.Visit(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Col:
			free = false
		case *plan.Call:
			free = free && x.Proc.Volatile != 'v'
		case *plan.SubPlan: // whose test is over its own rows
			for _, l := range x.X {
				free = free && rowFree(l)
			}
			for _, o := range x.Outer {
				free = free && rowFree(o.X)
			}
			free = free && !plan.ParamsOf(x.Plan).Volatile
			return false
		}
		return free
	})
	return free
}

func (op *filter) Open(env *Env) error {
	op.env, op.shut, op.fault = env, false, rowFault{}
	if op.gate != nil {
		one := vec.Batch{N: 1}
		if err := op.gate.Select(env.Expr, &one); err != nil {
			return err
		}
		if op.shut = one.Rows() == 0; op.shut {
			return nil
		}
	}
	return op.input.Open(env)
}

func (op *filter) Next() (*vec.Batch, error) {
	for !op.shut {
		if err := op.fault.due(); err != nil {
			return nil, err
		}
		in, err := op.input.Next()
		if in == nil || err != nil || op.pred == nil {
			return in, err
		}
		op.out = *in
		if err := op.test(&op.out); err != nil {
			op.out = *in
			if err := op.fault.rescue(err, &op.out, op.test, op.each...); err != nil {
				return nil, err
			}
		}
		if op.out.Rows() > 0 {
			return &op.out, nil
		}
	}
	return nil, nil
}

// test narrows a batch to the rows for which the condition is true.
func (op *filter) test(b *vec.Batch) error { return op.pred.Select(op.env.Expr, b) }

func (op *filter) Close() { op.input.Close() }
