package executor

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
)

// IndexValues returns what computes the expressions and predicates of a table's indexes
// for stored rows, as table.DB.Check wants it. The vectors are good until the next call.
func IndexValues(t *catalog.Table, env *Env) (table.RowValues, error) {
	w, err := newTableWriter(t, env)
	if err != nil {
		return nil, err
	}
	w.env = env
	return func(live *vec.Batch) ([]table.IndexVals, error) { return w.storedIndexVals(live, false) }, nil
}
