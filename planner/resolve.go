package planner

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// candidate is a function or operator that could be meant.
type candidate struct {
	args     []types.OID // as long as the call's argument list
	proc     *catalog.Proc
	oper     *catalog.Operator
	variadic bool // args expand a VARIADIC parameter
	defaults int
	params   []int // the parameters that the arguments of a call by name are for; nil: in their order
	unclear  bool  // another function of the same arguments is as good
}

// operator binds "l op r", or prefix "op r" with l nil.
func (p *planner) operator(schema, op string, l, r plan.Expr, off int) plan.Expr {
	o := p.findOperator(schema, op, l, r, off)
	if o.Proc == 0 {
		fail(sqlerr.New(sqlerr.UndefinedFunction, "operator is only a shell: %s", p.operatorText(schema, op, l, r)).At(off))
	}
	pr := p.procByOID(o.Proc)
	if p.Consts != nil && (pr.Name == "textanycat" || pr.Name == "anytextcat") {
		// SQL functions: the other side is cast to text, which spells a boolean
		// true and not t. Stored texts keep the operator as it was written.
		return p.operator(schema, op, p.must(l, types.TText, explicit), p.must(r, types.TText, explicit), off)
	}
	args, want := []plan.Expr{l, r}, []types.OID{o.Left, o.Right}
	if l == nil {
		args, want = args[1:], want[1:]
	}
	if o.Own != nil {
		return p.ownOperator(o.Own, pr, args, want, off)
	}
	x := p.makeCall(pr, args, want, op, off)
	if c, ok := x.(*plan.Call); ok && o.Extension != "" {
		c.OpSchema = p.Snap.ExtensionSchema(p.DB, o.Extension)
	}
	return x
}

// operatorCall is operator where the operator's function itself is looked for: no body of
// a user-defined one stands in the place of the call. false: the call was a constant.
func (p *planner) operatorCall(schema, op string, l, r plan.Expr, off int) (*plan.Call, bool) {
	p.whole++
	defer func() { p.whole-- }()
	c, ok := p.operator(schema, op, l, r, off).(*plan.Call)
	return c, ok
}

// ownOperator is the call of a user-defined operator's function.
func (p *planner) ownOperator(o *catalog.OwnOperator, pr *catalog.Proc, args []plan.Expr, want []types.OID, off int) plan.Expr {
	p.called = append(p.called, o.OID)
	args, ret := p.callArgs(pr, args, want, off)
	if pr.Volatile == 'v' {
		p.volatil = true
	}
	c := &plan.Call{At: plan.At{T: ret, Off: off}, Proc: pr, Args: args, Own: o}
	if pr.RetSet {
		unsupported(off, "an operator that returns a set")
	}
	if pr.SQL != nil {
		return (&binder{planner: p}).routineCall(c)
	}
	return p.fold(c)
}

// operators lists the operators of a name that the search path sees; of those with
// the same sides the first in the path is the one.
func (p *planner) operators(schema, op string) []*catalog.Operator {
	builtin := catalog.OperatorsByName(op)
	var added []*catalog.Operator // by extensions
	if n := len(builtin); n > 0 && builtin[n-1].Extension != "" {
		i := slices.IndexFunc(builtin, func(o *catalog.Operator) bool { return o.Extension != "" })
		builtin, added = builtin[:i:i], builtin[i:]
	}
	if schema == catalog.SchemaPgCatalog {
		return builtin
	}
	var out []*catalog.Operator
	if schema == "" {
		out = builtin
	}
	for _, s := range p.functionPath(schema) {
		for _, o := range added {
			if p.Snap.ExtensionSchema(p.DB, o.Extension) == s {
				out = append(slices.Clip(out), o)
			}
		}
		for _, o := range p.Snap.OwnOperators(p.DB, s, op) {
			hidden := slices.ContainsFunc(out, func(b *catalog.Operator) bool { return b.Left == o.Left.OID && b.Right == o.Right.OID })
			if !hidden && p.only.Has(o.OID) {
				out = append(slices.Clip(out), o.Row())
			}
		}
	}
	return out
}

// operatorText is an operator with the types of its sides, as messages show it.
func (p *planner) operatorText(schema, op string, l, r plan.Expr) string {
	if schema != "" {
		op = schema + "." + op
	}
	sig := op + " " + p.bareName(r.Type().OID)
	if l != nil {
		sig = p.bareName(l.Type().OID) + " " + sig
	}
	return sig
}

// findOperator is oper(): exact match first, then PostgreSQL's candidate rules.
func (p *planner) findOperator(schema, op string, l, r plan.Expr, off int) *catalog.Operator {
	if schema != "" {
		if p.Snap.Schema(p.DB, schema) == nil {
			failf(sqlerr.InvalidSchemaName, off, "schema \"%s\" does not exist", schema)
		}
		p.usableSchema(schema, off)
	}
	var lt, rt types.OID
	kind := byte('b')
	rt = r.Type().OID
	if l == nil {
		kind = 'l'
	} else {
		lt = l.Type().OID
	}
	all := p.operators(schema, op)
	el, er := lt, rt
	if kind == 'b' {
		if el == types.OUnknown {
			el = er
		} else if er == types.OUnknown {
			er = el
		}
	}
	base := func(o types.OID) types.OID { return p.Snap.BaseType(p.T(o, -1)).OID }
	for _, o := range all {
		if o.Kind == kind && o.Right == er && (kind == 'l' || o.Left == el) {
			return o
		}
	}
	if bl, br := base(el), base(er); bl != el || br != er {
		for _, o := range all {
			if o.Kind == kind && o.Right == br && (kind == 'l' || o.Left == bl) {
				return o
			}
		}
	}
	var cands []candidate
	for _, o := range all {
		if o.Kind != kind {
			continue
		}
		c := candidate{oper: o, args: []types.OID{o.Right}}
		if kind == 'b' {
			c.args = []types.OID{o.Left, o.Right}
		}
		cands = append(cands, c)
	}
	in := []types.OID{rt}
	if kind == 'b' {
		in = []types.OID{lt, rt}
	}
	m := p.matching(cands, in)
	best := p.selectCandidate(m, in)
	if best == nil {
		sig := p.operatorText(schema, op, l, r)
		if len(m) > 1 {
			fail(sqlerr.New(sqlerr.AmbiguousFunction, "operator is not unique: %s", sig).At(off).
				WithHint("Could not choose a best candidate operator. You might need to add explicit type casts."))
		}
		fail(sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", sig).At(off).
			WithHint("No operator matches the given name and argument type%s. You might need to add %sexplicit type cast%s.",
				map[bool]string{true: "s", false: ""}[l != nil], map[bool]string{true: "", false: "an "}[l != nil], map[bool]string{true: "s", false: ""}[l != nil]))
	}
	return best.oper
}

// matching keeps the candidates to which the arguments convert implicitly
// (func_match_argtypes).
func (p *planner) matching(cands []candidate, in []types.OID) []candidate {
	var out []candidate
	for _, c := range cands {
		ok := true
		for i, t := range in {
			if !p.canCoerce(t, c.args[i], implicit) {
				ok = false
				break
			}
		}
		if ok && p.polyConsistent(c.args, in) {
			out = append(out, c)
		}
	}
	return out
}

// selectCandidate is func_select_candidate: PostgreSQL's rules 4a to 4f.
func (p *planner) selectCandidate(cands []candidate, in []types.OID) *candidate {
	if len(cands) == 0 {
		return nil
	}
	if len(cands) == 1 {
		return &cands[0]
	}
	base := make([]types.OID, len(in))
	unknowns := 0
	for i, t := range in {
		base[i] = t
		if t == types.OUnknown {
			unknowns++
		} else {
			base[i] = p.Snap.BaseType(p.T(t, -1)).OID
		}
	}
	cands = mostMatches(cands, base, func(t, given types.OID) bool { return t == given })
	if len(cands) == 1 {
		return &cands[0]
	}
	cands = mostMatches(cands, base, func(t, given types.OID) bool { return t == given || p.preferred(t, given) })
	if len(cands) == 1 {
		return &cands[0]
	}
	if unknowns == 0 {
		return nil
	}
	cands = p.byCategory(cands, base)
	if len(cands) == 1 {
		return &cands[0]
	}
	if unknowns < len(in) {
		return p.bySameType(cands, base)
	}
	return nil
}

// mostMatches keeps the candidates of which the most types match those of the arguments
// that are known.
func mostMatches(cands []candidate, in []types.OID, matches func(t, given types.OID) bool) []candidate {
	most, out := -1, []candidate(nil)
	for _, c := range cands {
		n := 0
		for i, given := range in {
			if given != types.OUnknown && matches(c.args[i], given) {
				n++
			}
		}
		if n > most {
			most, out = n, nil
		}
		if n == most {
			out = append(out, c)
		}
	}
	return out
}

// byCategory keeps the candidates that take the unknown arguments as of the categories
// to assume for them, all where a category is open or none takes them so.
func (p *planner) byCategory(cands []candidate, in []types.OID) []candidate {
	out := cands
	for i, t := range in {
		if t != types.OUnknown {
			continue
		}
		category, preferred := p.assumedCategory(cands, i)
		if category == 0 {
			return cands
		}
		var fit []candidate
		for _, c := range out {
			if ci := p.info(c.args[i]); ci.Category == category && (ci.Preferred || !preferred) {
				fit = append(fit, c)
			}
		}
		out = fit
	}
	if len(out) == 0 {
		return cands
	}
	return out
}

// assumedCategory is the category to assume for unknown argument i, 0 when the candidates
// differ about it: strings if any candidate takes one. It also reports whether one takes
// the category's preferred type.
func (p *planner) assumedCategory(cands []candidate, i int) (category byte, preferred bool) {
	category = p.info(cands[0].args[i]).Category
	for _, c := range cands {
		if other := p.info(c.args[i]).Category; other == 'S' {
			category = 'S'
			break
		} else if other != category {
			category = 0
		}
	}
	for _, c := range cands {
		ci := p.info(c.args[i])
		preferred = preferred || ci.Category == category && ci.Preferred
	}
	return category, preferred
}

// bySameType is the candidate that takes, where all known arguments are of one type, the
// unknown ones as of that type too; nil when it is not one.
func (p *planner) bySameType(cands []candidate, in []types.OID) *candidate {
	var same types.OID
	for _, t := range in {
		switch {
		case t == types.OUnknown || t == same:
		case same == 0:
			same = t
		default:
			return nil
		}
	}
	if m := p.matching(cands, slices.Repeat([]types.OID{same}, len(in))); len(m) == 1 {
		return &m[0]
	}
	return nil
}

// preferred reports whether t is a preferred type of the category of of.
func (p *planner) preferred(t, of types.OID) bool {
	ti := p.info(t)
	return ti.Preferred && ti.Category == p.info(of).Category
}

// procs lists the functions of a name that the search path sees.
func (p *planner) procs(schema, name string) []*catalog.Proc {
	builtin := catalog.ProcsByName(name)
	out := make([]*catalog.Proc, 0, len(builtin))
	for _, pr := range builtin {
		in := pr.Schema
		if in == "" {
			in = catalog.SchemaPgCatalog
		}
		if schema == in || schema == "" && (pr.Schema == "" || slices.Contains(p.SearchPath, in)) {
			out = append(out, pr)
		}
	}
	for _, s := range p.functionPath(schema) {
		for _, f := range p.Snap.Functions(p.DB, s, name) {
			if p.only.Has(f.OID) {
				out = append(out, p.userProc(f, false))
			}
		}
	}
	return out
}

// functionPath lists the schemas in which a function is looked for.
func (p *planner) functionPath(schema string) []string {
	switch schema {
	case "":
		// The temporary schema is for tables and types: functions must be asked for by its name.
		if !slices.ContainsFunc(p.SearchPath, catalog.IsTempSchema) {
			return p.SearchPath
		}
		return slices.DeleteFunc(slices.Clone(p.SearchPath), catalog.IsTempSchema)
	case "pg_temp":
		return []string{p.TempSchema}
	}
	return []string{schema}
}

// procedures lists the procedures of a name that the search path sees, with all
// of their arguments, and if asked the functions as well.
func (p *planner) procedures(schema, name string, functions bool) []*catalog.Proc {
	var out []*catalog.Proc
	for _, s := range p.functionPath(schema) {
		for _, f := range p.Snap.Functions(p.DB, s, name) {
			if (f.Procedure || functions) && p.only.Has(f.OID) {
				out = append(out, p.userProc(f, true))
			}
		}
	}
	if functions {
		out = append(out, slices.DeleteFunc(slices.Clone(p.procs(schema, name)), func(pr *catalog.Proc) bool { return pr.Own != nil })...)
	}
	return out
}

// userProc is the signature of a user-defined function; all adds the OUT
// arguments to those that a call passes.
func (p *planner) userProc(f *catalog.Function, all bool) *catalog.Proc {
	pr := &catalog.Proc{OID: f.OID, Name: f.Name, Src: f.Body, Kind: f.Kind(), Strict: f.Strict, RetSet: f.RetSet, Volatile: f.Volatile,
		Ret: f.Ret.OID, Defaults: f.Defaults, ArgNames: f.ArgNames, ArgModes: f.ArgModes, Cost: f.Cost, Rows: f.Rows, Parallel: f.Parallel,
		LeakProof: f.LeakProof, SQL: f, Own: f}
	if f.RangeType != 0 {
		pr.SQL = nil
	}
	for i, t := range f.Args {
		m := f.Mode(i)
		if f.ArgModes != nil {
			pr.AllArgs = append(pr.AllArgs, t.OID)
		}
		if m != 't' && (m != 'o' || all) {
			pr.Args = append(pr.Args, t.OID)
		}
		if m == 'v' {
			pr.Variadic = p.info(t.OID).Elem
			switch t.OID {
			case types.OAnyarray:
				pr.Variadic = types.OAnyelement
			case types.OAnycompatiblearray:
				pr.Variadic = types.OAnycompatible
			}
		}
	}
	return pr
}

func (p *planner) signature(c *funcCall) string {
	var b strings.Builder
	if c.schema != "" {
		b.WriteString(c.schema + ".")
	}
	b.WriteString(c.name)
	b.WriteByte('(')
	for i, a := range c.args {
		if i > 0 {
			b.WriteString(", ")
		}
		if i < len(c.argNames) && c.argNames[i] != "" {
			b.WriteString(c.argNames[i] + " => ")
		}
		b.WriteString(p.bareName(a.Type().OID))
	}
	b.WriteByte(')')
	return b.String()
}

// makeCall coerces the arguments and resolves polymorphic types.
func (p *planner) makeCall(pr *catalog.Proc, args []plan.Expr, want []types.OID, op string, off int) plan.Expr {
	args, ret := p.callArgs(pr, args, want, off)
	if pr.Volatile == 'v' {
		p.volatil = true
	}
	p.writes = p.writes || pr.Modifies
	p.limit(pr)
	p.mustRun(pr, args, op, off)
	return p.fold(&plan.Call{At: plan.At{T: ret, Off: off}, Proc: pr, Args: args, Op: op})
}

// mustRun refuses a built-in function, or the operator op that it is behind, for which
// there is no code: also in what is only stored, like a view.
func (p *planner) mustRun(pr *catalog.Proc, args []plan.Expr, op string, off int) {
	if p.Runs == nil || pr.SQL != nil || pr.Own != nil || p.Runs(pr.Src) {
		return
	}
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = p.bareName(a.Type().OID)
	}
	if op != "" {
		unsupported(off, "operator %s of %s", op, strings.Join(names, " and "))
	}
	unsupported(off, "function %s(%s)", pr.Name, strings.Join(names, ", "))
}

// callArgs converts the arguments to the declared types, polymorphic ones to
// what the actual arguments make of them, and returns the result type.
func (p *planner) callArgs(pr *catalog.Proc, args []plan.Expr, want []types.OID, off int) ([]plan.Expr, types.T) {
	poly := false // a polymorphic result alone stands for nothing: that of array_in
	for _, w := range want {
		poly = poly || isPoly(w)
	}
	out := make([]plan.Expr, len(args))
	if !poly {
		for i, a := range args {
			if want[i] == types.OAny {
				out[i] = p.anyArg(a)
				continue
			}
			out[i] = p.coerceCall(a, want[i])
		}
		return out, p.T(pr.Ret, -1)
	}
	in := make([]types.OID, len(args))
	for i, a := range args {
		in[i] = a.Type().OID
	}
	f, ok := p.polyFamily(want, in)
	if !ok {
		failf(sqlerr.DatatypeMismatch, off, "arguments declared with polymorphic types are not all alike")
	}
	if f.elem == 0 && f.array == types.OAnyarray { // of what, only each value says, as in pg_stats
		several := 0
		for _, o := range want {
			if isPoly(o) {
				several++
			}
		}
		for _, o := range append(slices.Clone(want), pr.Ret) {
			if several > 1 || isPoly(o) && o != types.OAnyarray {
				failf(sqlerr.DatatypeMismatch, -1, "cannot determine element type of \"anyarray\" argument")
			}
		}
	} else if f.elem == 0 {
		for _, w := range want {
			if isPoly(w) && !isCompatible(w) {
				failf(sqlerr.DatatypeMismatch, -1, "could not determine polymorphic type because input has type unknown")
			}
		}
	}
	if f.common == 0 {
		f.common = types.OText
	}
	concrete := func(o types.OID) types.T {
		t := p.concrete(f, o)
		if t == 0 {
			if o == types.OAnycompatiblemultirange && (pr.Ret == types.OAnycompatiblerange || slices.Contains(want, types.OAnycompatiblerange)) {
				o = types.OAnycompatiblerange
			}
			failf(sqlerr.DatatypeMismatch, -1, "could not determine polymorphic type %s because input has type unknown", p.bareName(o))
		}
		return p.T(t, -1)
	}
	for i, a := range args {
		if want[i] == types.OAny {
			out[i] = p.anyArg(a)
			continue
		}
		t := concrete(want[i])
		if isPoly(want[i]) && a.Type().OID != types.OUnknown && p.info(a.Type().OID).Kind == types.KArray && p.info(a.Type().OID).Elem == p.info(t.OID).Elem && p.info(t.OID).Elem != 0 {
			out[i] = a // also int2vector where int2[] is meant
			continue
		}
		out[i] = p.coerceCall(a, t.OID)
	}
	return out, concrete(pr.Ret)
}

// anyArg is an argument where any type is welcome. Written down, a literal stays without
// a type, as it was.
func (p *planner) anyArg(a plan.Expr) plan.Expr {
	if c, ok := a.(*plan.Const); ok && p.rec != nil && isUnknown(c) {
		return a
	}
	return p.settled(a)
}

func (p *planner) coerceCall(a plan.Expr, to types.OID) plan.Expr {
	if a.Type().OID == to {
		return a
	}
	return p.must(a, p.T(to, -1), implicit)
}
