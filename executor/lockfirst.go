package executor

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// lockFirst locks the rows that an UPDATE is going to change before new values are
// computed for any of them by volatile functions: an attempt that ends because a row has
// changed has then called none of these.
type lockFirst struct {
	input  Operator
	rows   *buffer
	locker *rowLocker
	env    *Env
	out    bufferReader
	locked bool
}

// updateInput builds the input of an UPDATE.
func (b *builder) updateInput(t *catalog.Table, tree []*catalog.Table, in plan.Node) (Operator, error) {
	p, ok := in.(*plan.Project)
	if !ok || !volatile(p.Exprs) || b.bodies && callsIn(p.Input, volatileBody) { // called before locks anyway
		return b.node(in)
	}
	key, ok := p.Exprs[0].(*plan.Col)
	if !ok {
		return b.node(in)
	}
	lock := plan.Lock{Table: t, Tree: tree, KeyCol: key.Idx, Strength: "NO KEY UPDATE"}
	if tree != nil {
		oid, ok := p.Exprs[len(p.Exprs)-1].(*plan.Col)
		if !ok {
			return b.node(in)
		}
		lock.OIDCol = oid.Idx
	}
	below, err := b.node(p.Input)
	if err != nil {
		return nil, err
	}
	return projectOver(&lockFirst{input: below, rows: newBuffer(outTypes(p.Input)), locker: newRowLocker([]plan.Lock{lock})}, p)
}

// volatile reports whether one of the expressions calls a volatile function, itself or in
// a subquery.
func volatile(list []plan.Expr) bool {
	found := false
	for _, e := range list {
		plan.Visit(e, func(x plan.Expr) bool {
			switch x := x.(type) {
			case *plan.Call:
				found = found || x.Proc.Volatile == 'v'
			case *plan.SubPlan:
				found = found || plan.ParamsOf(x.Plan).Volatile
			}
			return !found
		})
	}
	return found
}

func (op *lockFirst) Open(env *Env) error {
	op.Close()
	op.env = env
	op.rows.open(env)
	return nil
}

func (op *lockFirst) Next() (*vec.Batch, error) {
	if !op.locked {
		if err := op.rows.drain(op.env, op.input); err != nil {
			return nil, err
		}
		op.out.begin(op.rows)
		for {
			b, err := op.out.next()
			if err != nil {
				return nil, err
			}
			if b == nil {
				break
			}
			if err := op.locker.lock(op.env, b); err != nil {
				return nil, err
			}
		}
		op.out.begin(op.rows)
		op.locked = true
	}
	return op.out.next()
}

func (op *lockFirst) Close() {
	op.input.Close()
	op.rows.recycle()
	op.locked = false
}
