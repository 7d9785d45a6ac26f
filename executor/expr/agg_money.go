package expr

import (
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// moneySum is sum of money, which overflows where an amount does.
type moneySum struct {
	state []moneyState
}

type moneyState struct{ sum, n int64 }

// add changes the state by an amount, or by one less for n = -1; false if the sum
// does not fit.
func (s *moneyState) add(v, n int64) bool {
	sum, ok := addMoney(s.sum, v)
	if n < 0 {
		sum, ok = subMoney(s.sum, v)
	}
	if ok {
		s.sum, s.n = sum, s.n+n
	}
	return ok
}

func (a *moneySum) Grow(n int) { a.state = growTo(a.state, n) }

func (a *moneySum) Add(_ *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	v, m := args[0], mask(args[0])
	for k, i := range aggRows(groups, sel) {
		if i := int(i) & m; !v.Nulls.Get(i) && !a.state[groups[k]].add(v.I64[i], 1) {
			return errMoneyRange()
		}
	}
	return nil
}

func (a *moneySum) Remove(_ *Env, g uint32, args []*vec.Vec, row int) bool {
	v := args[0]
	return v.IsNull(row) || a.state[g].add(v.I64[v.Idx(row)], -1)
}

func (a *moneySum) Merge(o Aggregator, src, dst int) error {
	s, d := o.(*moneySum).state[src], &a.state[dst]
	sum, ok := addMoney(d.sum, s.sum)
	if !ok {
		return errMoneyRange()
	}
	d.sum, d.n = sum, d.n+s.n
	return nil
}

func (a *moneySum) Result(_ *Env, out *vec.Vec, from, to int) error {
	out.Reset(types.Of(types.OMoney), max(to-from, 1))
	for k, s := range a.state[from:to] {
		if s.n == 0 {
			out.Nulls.Set(k)
			continue
		}
		out.I64[k] = s.sum
	}
	return nil
}

func (a *moneySum) Reset(g int)  { a.state[g] = moneyState{} }
func (a *moneySum) Bytes() int64 { return int64(cap(a.state)) * 16 }
