package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// domainEval passes values of a domain's base type that satisfy the domain.
type domainEval struct {
	node   *plan.CoerceDomain
	x      Eval
	checks []Eval // over the value as column 0
	out    vec.Vec
}

func (c *compiler) compileCoerceDomain(e *plan.CoerceDomain) (Eval, error) {
	x, err := c.compile(e.X)
	if err != nil {
		return nil, err
	}
	out := &domainEval{node: e, x: x}
	for _, k := range e.Checks {
		ev, err := newCompiler().compile(k.Cond)
		if err != nil {
			return nil, err
		}
		out.checks = append(out.checks, ev)
	}
	return out, nil
}

func (e *domainEval) Eval(env *Env, b *vec.Batch) (*vec.Vec, error) {
	x, err := e.x.Eval(env, b)
	if err != nil {
		return nil, err
	}
	rows := rowsOf(b)
	if x.Const {
		rows = rows[:min(1, len(rows))]
	}
	if len(rows) > 0 {
		if err := e.check(env, x, &vec.Batch{Cols: []*vec.Vec{x}, N: b.N, Sel: rows}); err != nil {
			return nil, err
		}
	}
	e.out = *x
	e.out.T = e.node.T
	return &e.out, nil
}

// check reports the first row that is at fault, and of its faults the first.
func (e *domainEval) check(env *Env, x *vec.Vec, b *vec.Batch) error {
	rows := b.Sel
	end, fault := len(rows), error(nil)
	if e.node.NotNull {
		for k, r := range rows {
			if x.IsNull(int(r)) {
				end, fault = k, e.nullError()
				break
			}
		}
	}
	for i, ev := range e.checks {
		if end == 0 {
			break
		}
		b.Sel = rows[:end]
		v, err := ev.Eval(env, b)
		if err != nil {
			return err
		}
		for k, r := range b.Sel {
			if j := v.Idx(int(r)); !v.IsNull(int(r)) && !v.Bool[j] {
				end, fault = k, e.checkError(e.node.Checks[i].Name)
				break
			}
		}
	}
	return fault
}

func (e *domainEval) nullError() error {
	se := sqlerr.New(sqlerr.NotNullViolation, "domain %s does not allow null values", e.node.TypeName)
	se.Schema, se.DataType = e.node.Schema, e.node.Name
	return se
}

func (e *domainEval) checkError(name string) error {
	se := sqlerr.New(sqlerr.CheckViolation, "value for domain %s violates check constraint \"%s\"", e.node.TypeName, name)
	se.Schema, se.DataType, se.Constraint = e.node.Schema, e.node.Name, name
	return se
}
