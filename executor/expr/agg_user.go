package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// userAgg is a user-defined aggregate: a state for each group, and functions that
// make the next state and the result. The rows of a batch are folded in rounds,
// each with at most one row of a group, so that one evaluation serves many groups.
type userAgg struct {
	def   *plan.UserAgg
	t     types.T
	trans Eval
	final Eval
	init  types.Datum // once ready
	ready bool
	state []types.Datum
	begun []bool // a strict aggregate without a first state has got one
	size  int64

	in    vec.Batch
	round []uint32 // of a group in a batch
	left  []int    // places of the rows of later rounds
}

func newUserAgg(a *plan.Agg) (*userAgg, error) {
	u := &userAgg{def: a.User, t: a.T}
	var err error
	if u.trans, err = Compile(a.User.Trans); err != nil || a.User.Final == nil {
		return u, err
	}
	u.final, err = Compile(a.User.Final)
	return u, err
}

func (a *userAgg) Grow(n int) {
	for len(a.state) < n {
		a.state, a.begun = append(a.state, types.Datum{}), append(a.begun, false)
	}
}

// begin gives new groups the first state.
func (a *userAgg) begin(env *Env) error {
	if a.ready {
		return nil
	}
	a.init = types.Null(a.def.State)
	if a.def.Init != nil {
		d, err := evalConst(env, a.def.Init)
		if err != nil {
			return err
		}
		a.init = own(d)
	}
	a.ready = true
	return nil
}

// fresh reports whether a group's state is still the first one.
func (a *userAgg) fresh(g uint32) bool { return !a.begun[g] }

func (a *userAgg) current(g uint32) types.Datum {
	if a.fresh(g) {
		return a.init
	}
	return a.state[g]
}

func (a *userAgg) set(g uint32, d types.Datum) {
	a.size += int64(len(d.B) - len(a.state[g].B))
	a.state[g], a.begun[g] = own(d), true
}

func (a *userAgg) Add(env *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	if err := a.begin(env); err != nil {
		return err
	}
	rows := aggRows(groups, sel)
	todo := make([]int, 0, len(rows))
	for k, r := range rows {
		if a.def.Strict && anyNull(args, int(r)) {
			continue
		}
		todo = append(todo, k)
	}
	if len(a.round) < len(a.state) {
		a.round = make([]uint32, len(a.state))
	}
	for n := uint32(1); len(todo) > 0; n++ {
		batch, later := make([]int, 0, len(todo)), a.left[:0]
		for _, k := range todo {
			if g := groups[k]; a.round[g] < n {
				a.round[g] = n
				batch = append(batch, k)
			} else {
				later = append(later, k)
			}
		}
		if err := a.fold(env, batch, groups, args, rows); err != nil {
			return err
		}
		a.left = todo[:0]
		todo = later
	}
	for k := range rows {
		a.round[groups[k]] = 0
	}
	return nil
}

// fold makes the next states of rows of different groups.
func (a *userAgg) fold(env *Env, batch []int, groups []uint32, args []*vec.Vec, rows []uint32) error {
	at := batch[:0]
	for _, k := range batch {
		g := groups[k]
		cur := a.current(g)
		if a.def.Strict && cur.Null {
			if a.fresh(g) && a.def.Init == nil && len(args) > 0 {
				d := args[0].Get(int(rows[k]))
				d.T = a.def.State
				a.set(g, d)
			}
			continue
		}
		at = append(at, k)
	}
	if len(at) == 0 {
		return nil
	}
	state := vec.New(a.def.State, len(at))
	a.in = vec.Batch{N: len(at), Cols: []*vec.Vec{state}}
	for i, k := range at {
		state.Set(i, a.current(groups[k]))
	}
	for _, v := range args {
		c := vec.New(v.T, len(at))
		for i, k := range at {
			c.Set(i, v.Get(int(rows[k])))
		}
		a.in.Cols = append(a.in.Cols, c)
	}
	out, err := a.trans.Eval(env, &a.in)
	if err != nil {
		return err
	}
	for i, k := range at {
		a.set(groups[k], out.Get(out.Idx(i)))
	}
	return nil
}

func anyNull(args []*vec.Vec, row int) bool {
	for _, v := range args {
		if v.IsNull(row) {
			return true
		}
	}
	return false
}

// Merge moves a state into a group without rows: the states of two groups cannot
// be put together.
func (a *userAgg) Merge(other Aggregator, src, dst int) error {
	b := other.(*userAgg)
	if !b.begun[src] {
		return nil
	}
	if a.begun[dst] {
		return sqlerr.New(sqlerr.InternalError, "the states of a user-defined aggregate cannot be merged")
	}
	a.set(uint32(dst), b.state[src])
	return nil
}

func (a *userAgg) Result(env *Env, out *vec.Vec, from, to int) error {
	if err := a.begin(env); err != nil {
		return err
	}
	n := to - from
	out.Reset(a.t, max(n, 1))
	if a.final == nil {
		for k := range n {
			d := a.current(uint32(from + k))
			d.T = a.t
			out.Set(k, d)
		}
		return nil
	}
	var at []int
	state := vec.New(a.def.State, max(n, 1))
	for k := range n {
		d := a.current(uint32(from + k))
		if a.def.FinalStrict && d.Null {
			out.Set(k, types.Null(a.t))
			continue
		}
		state.Set(len(at), d)
		at = append(at, k)
	}
	if len(at) == 0 {
		return nil
	}
	v, err := a.final.Eval(env, &vec.Batch{N: len(at), Cols: []*vec.Vec{state}})
	if err != nil {
		return err
	}
	for i, k := range at {
		d := own(v.Get(v.Idx(i)))
		d.T = a.t
		out.Set(k, d)
	}
	return nil
}

func (a *userAgg) Reset(g int) {
	a.size -= int64(len(a.state[g].B))
	a.state[g], a.begun[g] = types.Datum{}, false
}

func (a *userAgg) Bytes() int64 { return a.size + int64(cap(a.state))*160 }
