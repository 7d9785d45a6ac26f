package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// viewChecks are the conditions of WITH CHECK OPTION, in the order in which
// they are asked.
type viewChecks []viewCheck

type viewCheck struct {
	view string
	cond expr.Eval
}

func newViewChecks(list []plan.ViewCheck) (viewChecks, error) {
	var out viewChecks
	for _, c := range list {
		e, err := expr.Compile(c.Cond)
		if err != nil {
			return nil, err
		}
		out = append(out, viewCheck{c.View, e})
	}
	return out, nil
}

// outsideView has for a row that a view would not show the name of that view.
type outsideView map[int]string

// failing finds the rows of live columns that a check refuses, before they are
// written: queries in the conditions do not see the rows that the statement
// writes. The error comes after the rows' constraints. NULL is a failure.
func (l viewChecks) failing(env *Env, b *vec.Batch) (outsideView, error) {
	var out outsideView
	for _, c := range l {
		v, err := c.cond.Eval(env.Expr, b)
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			r := b.Row(i)
			if x := v.Idx(r); v.Bool[x] && !(v.Nulls.Any() && v.Nulls.Get(x)) {
				continue
			}
			if out == nil {
				out = outsideView{}
			}
			if _, known := out[r]; !known {
				out[r] = c.view
			}
		}
	}
	return out, nil
}

// of is the error of the first selected row that is outside of a view.
func (o outsideView) of(w *tableWriter, b *vec.Batch) error {
	if len(o) == 0 {
		return nil
	}
	for i := range b.Rows() {
		r := b.Row(i)
		if view, bad := o[r]; bad {
			return w.withRow(sqlerr.New(sqlerr.WithCheckOptionViolation, `new row violates check option for view "%s"`, view), b, r)
		}
	}
	return nil
}
