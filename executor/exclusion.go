package executor

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/planner/plan"
	"kvsqld/storage/table"
)

// exclusionTest runs the operators of an exclusion constraint.
type exclusionTest struct {
	env   *expr.Env
	tests []expr.Eval
	batch vec.Batch
	key   []vec.Vec // of the row that is compared, as constants
}

// NewExcluded compiles the exclusion constraint that an index of a table is of; ex are
// the table's expressions.
func NewExcluded(t *catalog.Table, ix *catalog.Index, ex *plan.TableExprs, env *expr.Env) (*table.Excluded, error) {
	u := t.Exclusion(ix)
	out, x := &table.Excluded{}, &exclusionTest{env: env, key: make([]vec.Vec, len(ix.Keys))}
	for i := range t.Indexes {
		if t.Indexes[i].OID != ix.OID {
			continue
		}
		var err error
		if x.tests, err = expr.CompileAll(ex.Exclusions[i]); err != nil {
			return nil, err
		}
	}
	for i, op := range u.Exclude {
		if op == "=" {
			out.Equal = append(out.Equal, i)
		}
	}
	last := len(u.Exclude) - 1
	out.Intervals = u.Exclude[last] == "&&" && ix.Keys[last].Type.Kind() == types.KRange && !ix.Keys[last].Desc
	out.Conflicts = x.conflicts
	return out, nil
}

// conflicts selects the entries for which all operators are true.
func (x *exclusionTest) conflicts(keys []*vec.Vec, row int, entries *vec.Batch) ([]uint32, error) {
	x.batch = vec.Batch{Cols: x.batch.Cols[:0], N: entries.N}
	for i, k := range keys {
		v := &x.key[i]
		v.Reset(k.T, 1)
		v.Const = true
		v.Set(0, k.Get(row))
		x.batch.Cols = append(x.batch.Cols, v)
	}
	x.batch.Cols = append(x.batch.Cols, entries.Cols...)
	sel := make([]uint32, entries.N)
	for i := range sel {
		sel[i] = uint32(i)
	}
	for _, t := range x.tests {
		if len(sel) == 0 {
			break
		}
		x.batch.Sel = sel
		v, err := t.Eval(x.env, &x.batch)
		if err != nil {
			return nil, err
		}
		kept := sel[:0:0]
		for _, r := range sel {
			if !v.IsNull(int(r)) && v.Bool[v.Idx(int(r))] {
				kept = append(kept, r)
			}
		}
		sel = kept
	}
	return sel, nil
}
