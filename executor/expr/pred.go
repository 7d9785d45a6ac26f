package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

func (c *compiler) predicate(e plan.Expr) (Pred, error) {
	switch e := e.(type) {
	case *plan.And:
		p := &andPred{}
		for _, a := range e.Args {
			s, err := c.predicate(a)
			if err != nil {
				return nil, err
			}
			p.parts = append(p.parts, s)
		}
		return p, nil
	case *plan.Or:
		p := &orPred{}
		for _, a := range e.Args {
			s, err := c.predicate(a)
			if err != nil {
				return nil, err
			}
			p.parts = append(p.parts, s)
		}
		return p, nil
	case *plan.Is:
		if e.Test == plan.IsNull && (e.Whole || e.X.Type().Kind() != types.KRecord) {
			x, err := c.compile(e.X)
			if err != nil {
				return nil, err
			}
			return &nullPred{x: x, not: e.Not}, nil
		}
	}
	x, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	if p, ok := x.(Pred); ok {
		return p, nil
	}
	return &boolPred{x: x}, nil
}

// boolPred keeps the rows where a boolean vector is true.
type boolPred struct {
	x   Eval
	sel []uint32
}

func (p *boolPred) Select(env *Env, b *vec.Batch) error {
	v, err := p.x.Eval(env, b)
	if err != nil {
		return err
	}
	p.sel = isTrue(room(p.sel, b), v, rowsOf(b))
	b.Sel = p.sel
	return nil
}

// room returns an empty selection with space for the batch's rows, not nil, so
// that an empty result is not taken for "all rows".
func room(s []uint32, b *vec.Batch) []uint32 {
	if n := b.Rows(); cap(s) < n || s == nil {
		return make([]uint32, 0, max(n, 16))
	}
	return s[:0]
}

// andPred narrows step by step: a conjunct sees the rows its predecessors left.
type andPred struct{ parts []Pred }

func (p *andPred) Select(env *Env, b *vec.Batch) error {
	for _, s := range p.parts {
		if err := s.Select(env, b); err != nil {
			return err
		}
		if len(b.Sel) == 0 && b.Sel != nil {
			return nil
		}
	}
	return nil
}

// orPred offers each alternative the rows that no earlier one accepted.
type orPred struct {
	parts []Pred
	open  [2][]uint32
	have  [2][]uint32
}

func (p *orPred) Select(env *Env, b *vec.Batch) error {
	open := rowsOf(b)
	have := p.have[1][:0]
	if have == nil {
		have = make([]uint32, 0, vec.BatchSize)
	}
	for k, s := range p.parts {
		if len(open) == 0 {
			break
		}
		sub := vec.Batch{Cols: b.Cols, N: b.N, Sel: open}
		if err := s.Select(env, &sub); err != nil {
			return err
		}
		rest := minus(p.open[k&1][:0], open, sub.Sel)
		p.open[k&1], open = rest, rest
		have = merge(p.have[k&1][:0], have, sub.Sel)
		p.have[k&1] = have
	}
	b.Sel = have
	if b.Sel == nil {
		b.Sel = room(nil, b)
	}
	return nil
}

// nullPred is X IS [NOT] NULL.
type nullPred struct {
	x   Eval
	not bool
	sel []uint32
}

func (p *nullPred) Select(env *Env, b *vec.Batch) error {
	v, err := p.x.Eval(env, b)
	if err != nil {
		return err
	}
	sel := room(p.sel, b)
	switch {
	case !v.Nulls.Any():
		if p.not {
			sel = append(sel, rowsOf(b)...)
		}
	default:
		for _, i := range rowsOf(b) {
			if v.IsNull(int(i)) != p.not {
				sel = append(sel, i)
			}
		}
	}
	p.sel, b.Sel = sel, sel
	return nil
}
