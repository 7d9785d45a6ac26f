package planner

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/planner/plan"
)

// funcCall is what the binder knows of a written call.
type funcCall struct {
	schema, name string
	args         []plan.Expr
	argNames     []string
	variadic     bool
	off          int
	procedure    bool // the call is CALL's, which passes OUT arguments too
	functions    bool // of such a call: functions are looked at as well
}

// findFunction is func_get_detail. It returns the candidate and the arguments
// in the function's order, defaults included for a call by name; nil when no
// function fits.
func (p *planner) findFunction(c *funcCall) (*candidate, []plan.Expr) {
	in := argTypes(c.args)
	list := p.procs(c.schema, c.name)
	if c.procedure {
		list = p.procedures(c.schema, c.name, c.functions)
	}
	cands := make([]candidate, 0, len(list))
	for _, pr := range list {
		if k, ok := signature(pr, c); ok {
			cands = addCandidate(cands, k)
		}
	}
	var best *candidate
	for i := range cands {
		if slices.Equal(cands[i].args, in) {
			best = &cands[i]
			break
		}
	}
	if best == nil {
		m := p.matching(cands, in)
		best = p.selectCandidate(m, in)
		if best == nil && len(m) > 1 {
			p.notUnique(c)
		}
	}
	if best == nil {
		return nil, c.args
	}
	if best.unclear {
		p.notUnique(c)
	}
	if best.params == nil {
		return best, c.args
	}
	return p.paramOrder(best, c.args)
}

func (p *planner) notUnique(c *funcCall) {
	what := "function"
	if c.procedure {
		what = "procedure"
	}
	fail(sqlerr.New(sqlerr.AmbiguousFunction, "%s %s is not unique", what, p.signature(c)).At(c.off).
		WithHint("Could not choose a best candidate %s. You might need to add explicit type casts.", what))
}

// signature is the way in which a function takes as many arguments as the call has,
// if there is one: as they are, with defaults, or with a VARIADIC parameter expanded.
func signature(pr *catalog.Proc, c *funcCall) (k candidate, ok bool) {
	n := len(c.args)
	if len(c.argNames) > 0 {
		if k := namedCandidate(pr, c); k != nil {
			return *k, true
		}
		return k, false
	}
	if pr.Variadic == 0 || c.variadic {
		switch {
		case len(pr.Args) == n:
			return candidate{proc: pr, args: pr.Args}, true
		case pr.Variadic == 0 && !c.variadic && len(pr.Args) > n && len(pr.Args)-len(pr.Defaults) <= n:
			return candidate{proc: pr, args: pr.Args[:n], defaults: len(pr.Args) - n}, true
		}
		return k, false
	}
	if n >= 1 && n >= len(pr.Args) {
		args := slices.Clone(pr.Args[:len(pr.Args)-1])
		for len(args) < n {
			args = append(args, pr.Variadic)
		}
		return candidate{proc: pr, args: args, variadic: true}, true
	}
	if len(pr.Args) > n && len(pr.Args)-len(pr.Defaults) <= n { // the VARIADIC parameter has a default
		return candidate{proc: pr, args: pr.Args[:n], defaults: len(pr.Args) - n}, true
	}
	return k, false
}

// addCandidate adds a candidate unless another takes the same arguments: then
// the one of the earlier schema stays, and within a schema the one that expands
// no VARIADIC parameter. Between others a call cannot choose.
func addCandidate(cands []candidate, c candidate) []candidate {
	for i := range cands {
		o := &cands[i]
		if !slices.Equal(o.args, c.args) {
			continue
		}
		switch {
		case schemaOf(o.proc) != schemaOf(c.proc):
		case o.variadic != c.variadic:
			if o.variadic {
				*o = c
			}
		default:
			o.unclear = true
		}
		return cands
	}
	return append(cands, c)
}

// schemaOf names a function's schema.
func schemaOf(pr *catalog.Proc) string {
	switch {
	case pr.Own != nil:
		return pr.Own.Schema
	case pr.Schema == "":
		return catalog.SchemaPgCatalog
	}
	return pr.Schema
}

// namedCandidate is the function as a call by name uses it: the types of the
// parameters in the order of the call; nil when names or defaults are missing.
func namedCandidate(pr *catalog.Proc, c *funcCall) *candidate {
	if pr.ArgNames == nil || len(pr.Args) < len(c.args) || (pr.Variadic != 0) != c.variadic {
		return nil
	}
	var inNames []string
	for i, n := range pr.ArgNames {
		if i >= len(pr.ArgModes) || pr.ArgModes[i] == 'i' || pr.ArgModes[i] == 'b' || pr.ArgModes[i] == 'v' || pr.Kind == 'p' {
			inNames = append(inNames, n)
		}
	}
	k := &candidate{proc: pr}
	given := make([]bool, len(pr.Args))
	for i := range c.args {
		at := i
		if i < len(c.argNames) && c.argNames[i] != "" {
			at = slices.Index(inNames, c.argNames[i])
		}
		if at < 0 || at >= len(given) || given[at] {
			return nil
		}
		given[at] = true
		k.params, k.args = append(k.params, at), append(k.args, pr.Args[at])
	}
	if i := slices.Index(given, false); i >= 0 && i < len(pr.Args)-len(pr.Defaults) {
		return nil
	}
	return k
}

// paramOrder puts the arguments of a call by name into the function's order, with
// defaults for those left out.
func (p *planner) paramOrder(k *candidate, in []plan.Expr) (*candidate, []plan.Expr) {
	pr := k.proc
	args := make([]plan.Expr, len(pr.Args))
	for i, at := range k.params {
		args[at] = in[i]
	}
	first := len(pr.Args) - len(pr.Defaults)
	for i := range args {
		if args[i] == nil {
			args[i] = p.must(p.defaultArg(pr, i-first), p.T(pr.Args[i], -1), assignment)
		}
	}
	return &candidate{proc: pr, args: pr.Args, params: k.params}, args
}

// written are the arguments of a call by name as they were written, nil for
// other calls.
func (fc *funcCall) written(k *candidate) []plan.Arg {
	if k.params == nil {
		return nil
	}
	out := make([]plan.Arg, len(k.params))
	for i, at := range k.params {
		out[i].Idx = at
		if i < len(fc.argNames) {
			out[i].Name = fc.argNames[i]
		}
	}
	return out
}

// defaultArg is the default of an argument. What it calls is needed by pr, and not by
// the text that calls pr.
func (p *planner) defaultArg(pr *catalog.Proc, i int) plan.Expr {
	x, err := p.Texts.ParseExpr(pr.Defaults[i])
	if err != nil {
		fail(err)
	}
	var calls catalog.Calls
	if pr.Own != nil {
		calls = pr.Own.CallsOf(pr.Defaults[i])
	}
	called := p.called
	b := &binder{planner: p, what: "DEFAULT"}
	var bound plan.Expr
	p.within(calls, func() { bound = b.expr(x) })
	p.called = slices.Clip(called)
	return bound
}
