package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
)

// rowChecks are the conditions of policies and of WITH CHECK OPTION, in the order
// in which they are asked.
type rowChecks []rowCheck

type rowCheck struct {
	*plan.RowCheck
	cond expr.Eval
}

func newRowChecks(list []plan.RowCheck) (rowChecks, error) {
	var out rowChecks
	for i := range list {
		e, err := expr.Compile(list[i].Cond)
		if err != nil {
			return nil, err
		}
		out = append(out, rowCheck{&list[i], e})
	}
	return out, nil
}

// outsideView has for a row that a view would not show the name of that view.
type outsideView map[int]string

// failing finds the rows of live columns that a view's check refuses, before they are
// written: queries in the conditions do not see the rows that the statement
// writes. The error comes after the rows' constraints; that of a policy comes at
// once. NULL is a failure.
func (l rowChecks) failing(env *Env, b *vec.Batch) (outsideView, error) {
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
			if c.Security {
				return nil, c.violation()
			}
			if out == nil {
				out = outsideView{}
			}
			if _, known := out[r]; !known {
				out[r] = c.View
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

// upTo returns the batch's rows up to the first one that is outside of a view: what
// comes behind it does not matter.
func (o outsideView) upTo(b *vec.Batch) *vec.Batch {
	if len(o) == 0 {
		return b
	}
	rows := selectedRows(b, nil)
	for i, r := range rows {
		if _, bad := o[int(r)]; bad {
			return &vec.Batch{Cols: b.Cols, N: b.N, Sel: rows[:i+1]}
		}
	}
	return b
}

// violation is the error of a row that a policy forbids.
func (c *rowCheck) violation() error {
	policy, what, which := "", "new row", ""
	if c.Policy != "" {
		policy = " \"" + c.Policy + "\""
	}
	if c.Target {
		which = " (USING expression)"
	}
	if c.Merge {
		what = "target row"
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "%s violates row-level security policy%s%s for table \"%s\"", what, policy, which, c.Table)
}
