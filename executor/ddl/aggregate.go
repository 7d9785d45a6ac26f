package ddl

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// aggregateParts are the options of CREATE AGGREGATE that are understood.
type aggregateParts struct {
	base, trans, final, combine, state, init, sort *ast.Option
	parallel                                       byte // s r u, 0 for none
}

// aggregateOptions sorts the options; those of moving aggregates, of partial ones
// in other processes and of ordered sets are refused.
func (x *exec) aggregateOptions(opts []ast.Option) (p aggregateParts, err error) {
	for i := range opts {
		o := &opts[i]
		switch o.Name {
		case "basetype":
			p.base = o
		case "sfunc", "sfunc1":
			p.trans = o
		case "finalfunc":
			p.final = o
		case "combinefunc":
			p.combine = o
		case "stype", "stype1":
			p.state = o
		case "initcond", "initcond1":
			p.init = o
		case "sortop":
			p.sort = o
		case "parallel":
			switch v := strings.ToLower(typeOf(o).Name.Last()); v {
			case "safe", "restricted", "unsafe":
				p.parallel = v[0]
			default:
				return p, sqlerr.New(sqlerr.SyntaxError, "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE")
			}
		case "sspace", "finalfunc_modify": // an estimate and a promise
		case "finalfunc_extra", "hypothetical", "serialfunc", "deserialfunc", "msfunc", "minvfunc", "mstype", "msspace",
			"mfinalfunc", "mfinalfunc_extra", "mfinalfunc_modify", "minitcond":
			return p, sqlerr.Unsupported(o.Pos(), "%s of CREATE AGGREGATE", strings.ToUpper(o.Name))
		default:
			x.tell("WARNING", sqlerr.SyntaxError, "aggregate attribute \"%s\" not recognized", o.Name)
		}
	}
	return p, nil
}

// createAggregate is CREATE AGGREGATE over SQL functions and built-in ones.
func (x *exec) createAggregate(s *ast.CreateAggregate) error {
	if s.OrderBy != nil {
		return sqlerr.Unsupported(s.Pos(), "CREATE AGGREGATE of an ordered-set aggregate")
	}
	schema, name, err := x.target(&s.Name, false)
	if err != nil {
		return err
	}
	p, err := x.aggregateOptions(s.Options)
	if err != nil {
		return err
	}
	switch {
	case p.state == nil:
		return invalidFunction("aggregate stype must be specified")
	case p.trans == nil:
		return invalidFunction("aggregate sfunc must be specified")
	case s.HasArgs && p.base != nil:
		return invalidFunction("basetype is redundant with aggregate input type specification")
	case !s.HasArgs && p.base == nil:
		return invalidFunction("aggregate input type must be specified")
	}
	params := s.Params
	if !s.HasArgs && !strings.EqualFold(optionText(p.base), "any") {
		params = []ast.FuncParam{{Off: p.base.Off, Type: *typeOf(p.base)}}
	}
	f := &catalog.Function{Common: catalog.Common{Schema: schema, Name: name}, Language: "internal", Volatile: 'i', Parallel: p.parallel, Agg: &catalog.AggregateDef{}}
	if p.init != nil {
		text := optionText(p.init)
		f.Agg.Init = &text
	}
	if err := x.aggregateTypes(f, params, p.state); err != nil {
		return err
	}
	if err := x.aggregateFunctions(f, &p); err != nil {
		return err
	}
	_, err = x.Change.CreateFunction(f, s.OrReplace)
	return err
}

// typeOf is the type that an option names.
func typeOf(o *ast.Option) *ast.TypeName {
	if c, ok := o.X.(*ast.Cast); ok {
		return &c.Type
	}
	return &ast.TypeName{Off: o.Off, Name: ast.Name{Off: o.Off, Parts: strings.Split(optionText(o), ".")}}
}

// aggregateTypes resolves the arguments and the state.
func (x *exec) aggregateTypes(f *catalog.Function, params []ast.FuncParam, state *ast.Option) error {
	def := &ast.CreateFunction{Params: params, Returns: typeOf(state)}
	for i := range params {
		switch m := params[i].Mode; {
		case m == "OUT" || m == "INOUT":
			return sqlerr.New(sqlerr.FeatureNotSupported, "aggregates cannot have output arguments").At(params[i].Pos())
		case params[i].Type.SetOf:
			return invalidFunction("aggregates cannot accept set arguments")
		}
	}
	t, err := x.functionType(def.Returns)
	if err != nil {
		return withoutPosition(err)
	}
	if t.OID == types.OInternal {
		return sqlerr.Unsupported(state.Pos(), "CREATE AGGREGATE with a state of type internal")
	}
	if x.pseudo(t) && !isPolymorphic(t.OID) {
		return invalidFunction("aggregate transition data type cannot be %s", x.typeName(t))
	}
	f.Agg.State = t
	if err := x.parameters(f, def); err != nil {
		if e, ok := err.(*sqlerr.Error); ok && e.Message == "cannot determine result data type" {
			c := *e
			c.Message = "cannot determine transition data type"
			return &c
		}
		return err
	}
	f.Defaults = nil
	return nil
}

// aggregateFunctions finds the functions that compute the aggregate, and the type
// of its result.
func (x *exec) aggregateFunctions(f *catalog.Function, p *aggregateParts) error {
	g := f.Agg
	find := func(o *ast.Option, in []types.T) (*catalog.Proc, types.T, error) {
		n := typeOf(o).Name
		pr, ret, err := planner.FindRoutine(x.Planner(), n.Schema(), n.Last(), in)
		if err == nil && pr.RetSet {
			err = sqlerr.New(sqlerr.DatatypeMismatch, "function %s returns a set", n.Last())
		}
		return pr, ret, err
	}
	in := append([]types.T{g.State}, f.Inputs()...)
	trans, ret, err := find(p.trans, in)
	if err != nil {
		return err
	}
	if ret.OID != g.State.OID {
		return sqlerr.New(sqlerr.DatatypeMismatch, "return type of transition function %s is not %s", typeOf(p.trans).Name.Last(), x.typeName(g.State))
	}
	if trans.Strict && g.Init == nil && (len(in) < 2 || in[1].OID != g.State.OID) {
		return invalidFunction("must not omit initial value when transition function is strict and transition type is not compatible with input type")
	}
	g.Trans, f.Ret = trans.OID, g.State
	if p.final != nil {
		final, ret, err := find(p.final, in[:1])
		if err != nil {
			return err
		}
		g.Final, f.Ret = final.OID, ret
	}
	if p.combine != nil {
		c, ret, err := find(p.combine, []types.T{g.State, g.State})
		if err != nil {
			return err
		}
		if ret.OID != g.State.OID {
			return sqlerr.New(sqlerr.DatatypeMismatch, "return type of combine function %s is not %s", typeOf(p.combine).Name.Last(), x.typeName(g.State))
		}
		g.Combine = c.OID
	}
	if p.sort != nil {
		if err := x.sortOperator(f, p.sort); err != nil {
			return err
		}
	}
	if g.Init != nil && !isPolymorphic(g.State.OID) {
		fmt := *types.DefaultFmt
		fmt.Reg = x.Planner().Fmt.Reg
		if _, err := types.Parse(g.State, *g.Init, &fmt); err != nil {
			return err
		}
	}
	return nil
}

// sortOperator finds the operator whose order the aggregate gives an end of.
func (x *exec) sortOperator(f *catalog.Function, o *ast.Option) error {
	in := f.Inputs()
	if len(in) != 1 {
		return invalidFunction("sort operator can only be specified for single-argument aggregates")
	}
	parts := typeOf(o).Name.Parts
	if ref, ok := o.X.(*ast.ColumnRef); ok {
		parts = ref.Parts
	}
	op := parts[len(parts)-1]
	for _, k := range catalog.OperatorsByName(op) {
		if k.Left == in[0].OID && k.Right == in[0].OID {
			f.Agg.SortOp = k.OID
			return nil
		}
	}
	if k, _ := x.findOwn(&ast.Name{Parts: parts}, [2]types.OID{in[0].OID, in[0].OID}); k != nil {
		f.Agg.SortOp = k.OID
		return nil
	}
	t := x.typeName(in[0])
	return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s %s %s", t, op, t)
}
