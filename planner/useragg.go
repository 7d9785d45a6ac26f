package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// userAggregate binds the functions of a user-defined aggregate for a call whose
// arguments have these types.
func (b *binder) userAggregate(f *catalog.Function, args []plan.Expr, off int) *plan.UserAgg {
	g := f.Agg
	state := g.State
	if Polymorphic(state.OID) {
		// what a function of the same arguments would return
		want := make([]types.OID, 0, len(args))
		for _, t := range f.Inputs() {
			want = append(want, t.OID)
		}
		_, state = b.callArgs(&catalog.Proc{Ret: state.OID}, args, want, off)
	}
	cols := []plan.Expr{&plan.Col{At: plan.At{T: state, Off: -1}}}
	for i, a := range args {
		cols = append(cols, &plan.Col{At: plan.At{T: a.Type(), Off: -1}, Idx: i + 1})
	}
	u := &plan.UserAgg{State: state}
	trans := b.procByOID(g.Trans)
	u.Strict = trans.Strict
	if u.Trans = b.coerce(b.ownCall(trans, cols, off), state, explicit); u.Trans == nil {
		unsupported(off, "aggregate %s over arguments of these types", f.Name)
	}
	if g.Final != 0 {
		final := b.procByOID(g.Final)
		u.Final, u.FinalStrict = b.ownCall(final, cols[:1], off), final.Strict
	}
	if g.Init != nil {
		text := &plan.Const{At: plan.At{T: types.Of(types.OUnknown), Off: -1}, Val: types.Bytes(types.Of(types.OUnknown), []byte(*g.Init))}
		u.Init = b.coerceUnknown(text, state, implicit)
	}
	return u
}

// ownCall is a call over columns that are no table's: nothing is folded into it.
func (b *binder) ownCall(pr *catalog.Proc, args []plan.Expr, off int) plan.Expr {
	args, ret := b.callArgs(pr, args, pr.Args, off)
	if pr.Volatile == 'v' {
		b.volatil = true
	}
	b.writes = b.writes || pr.Modifies || pr.SQL != nil && pr.Volatile == 'v'
	return &plan.Call{At: plan.At{T: ret, Off: off}, Proc: pr, Args: args}
}

// procByOID is a function that a definition names, built in or not.
func (p *planner) procByOID(oid types.OID) *catalog.Proc {
	if f, ok := p.Snap.Object(oid).(*catalog.Function); ok {
		return p.userProc(f, false)
	}
	if pr := catalog.ProcByOID(oid); pr != nil {
		return pr
	}
	failf(sqlerr.InternalError, -1, "function with OID %d does not exist", oid)
	return nil
}

// FindRoutine finds the function that a definition calls with arguments of some
// types, and the type that it returns.
func FindRoutine(c *Context, schema, name string, in []types.T) (pr *catalog.Proc, ret types.T, err error) {
	p := newPlanner(c)
	defer p.recover(&err)
	fc := &funcCall{schema: schema, name: name, off: -1}
	var oids []types.OID
	for _, t := range in {
		fc.args = append(fc.args, &plan.Col{At: plan.At{T: t, Off: -1}})
		oids = append(oids, t.OID)
	}
	missing := func() { failf(sqlerr.UndefinedFunction, -1, "function %s does not exist", p.signature(fc)) }
	list := p.procs(schema, name)
	i := slices.IndexFunc(list, func(q *catalog.Proc) bool { return slices.Equal(q.Args, oids) })
	if i >= 0 {
		return list[i], p.T(list[i].Ret, -1), nil
	}
	cand, _ := p.findFunction(fc)
	if cand == nil || cand.defaults > 0 {
		missing()
	}
	args, ret := p.callArgs(cand.proc, fc.args, cand.args, -1)
	for k, t := range in {
		if want := cand.args[k]; isPoly(want) && k < len(args) && args[k].Type().OID != t.OID {
			// as it is taken with the other arguments
			if _, how, _ := p.castPath(p.Snap.BaseType(t).OID, args[k].Type().OID, implicit); how != pathRelabel {
				failf(sqlerr.DatatypeMismatch, -1, "function %s requires run-time type coercion", p.signature(&funcCall{name: name, args: args}))
			}
		}
		if want := cand.args[k]; want != t.OID && want != types.OAny && !isPoly(want) {
			// a domain's value is one of its base type as it is
			if ok, how, _ := p.castPath(p.Snap.BaseType(t).OID, want, implicit); p.Snap.BaseType(t).OID != want && (!ok || how != pathRelabel) {
				failf(sqlerr.DatatypeMismatch, -1, "function %s requires run-time type coercion", p.signature(&funcCall{name: name, args: typed(p, cand.args)}))
			}
		}
	}
	return cand.proc, ret, nil
}

// ExactRoutine finds the function of a name that takes arguments of exactly some
// types, or nil.
func ExactRoutine(c *Context, schema, name string, in []types.OID) *catalog.Proc {
	for _, pr := range newPlanner(c).procs(schema, name) {
		if slices.Equal(pr.Args, in) {
			return pr
		}
	}
	return nil
}

func typed(p *planner, list []types.OID) []plan.Expr {
	var out []plan.Expr
	for _, o := range list {
		out = append(out, &plan.Col{At: plan.At{T: p.T(o, -1), Off: -1}})
	}
	return out
}
