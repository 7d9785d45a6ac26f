package executor

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// rowFault lets an operator that computes whole batches fail as one that goes row by
// row does: the rows before the first that fails are passed, then comes that row's
// error. So a LIMIT above them may never meet it, and a client has those rows.
type rowFault struct{ err error }

// due returns the error that is to come after the rows that were passed, once.
func (f *rowFault) due() error {
	err := f.err
	f.err = nil
	return err
}

// rescue is called when run failed with err over the rows. It runs again over those
// before the first that fails, which is what rows are then; due returns the error of
// that one. It returns an error when there are none, and when exprs, which run
// computes, must not be computed again or err is not that of a row.
func (f *rowFault) rescue(err error, rows *vec.Batch, run func(*vec.Batch) error, exprs ...plan.Expr) error {
	if !ofRow(err) || !repeatable(exprs) {
		return err
	}
	all := append([]uint32(nil), selectedRows(rows, nil)...)
	try := func(from, to int) (vec.Batch, error) {
		b := vec.Batch{Cols: rows.Cols, N: rows.N, Sel: all[from:to:to]}
		err := run(&b)
		return b, err
	}
	good, bad := 0, len(all) // the rows before good do not fail, one before bad does
	for good+1 < bad {
		mid := (good + bad) / 2
		switch _, e := try(good, mid); {
		case e == nil:
			good = mid
		case !ofRow(e):
			return e
		default:
			bad = mid
		}
	}
	if good == len(all) {
		return err
	}
	if _, e := try(good, good+1); e != nil {
		err = e
	}
	if good == 0 || !ofRow(err) {
		return err
	}
	b, e := try(0, good)
	if e != nil {
		return e
	}
	*rows, f.err = b, err
	return nil
}

// ofRow reports whether an error tells of values, which other rows do not share:
// not of the statement's end or of the resources that it has.
func ofRow(err error) bool {
	switch code := sqlerr.CodeOf(err); code[:2] {
	case "21", "22", "23", "0A", "42":
		return true
	}
	return false
}

// repeatable reports whether expressions can be computed again over the same rows:
// they call nothing volatile, in subqueries neither.
func repeatable(exprs []plan.Expr) bool {
	ok := true
	for _, e := range exprs {
		plan.Visit(e, func(x plan.Expr) bool {
			switch x := x.(type) {
			case *plan.Call:
				ok = ok && x.Proc.Volatile != 'v'
			case *plan.SubPlan:
				ok = ok && !plan.ParamsOf(x.Plan).Volatile
			}
			return ok
		})
	}
	return ok
}
