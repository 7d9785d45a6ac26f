package expr

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// compileHstoreSubscript is X['key'] of an hstore: X -> 'key'.
func (c *compiler) compileHstoreSubscript(e *plan.Subscript) (Eval, error) {
	return c.compileCall(&plan.Call{At: e.At, Proc: catalog.ProcBySrc("hstore.fetchval"), Args: []plan.Expr{e.X, e.Lo[0]}})
}

// hstore gives a key a value, which may be NULL; a NULL container becomes an hstore of
// that key.
func (e *subscriptAssign) hstore(x, val types.Datum, row int) (types.Datum, error) {
	key := e.vecs[0][0]
	if key.IsNull(row) {
		return null, sqlerr.New(sqlerr.NullValueNotAllowed, "hstore subscript in assignment must not be null")
	}
	pairs := []types.HstorePair{{Key: key.Get(row).B, Val: val.B, Null: val.Null}}
	if !x.Null {
		pairs = append(pairs, types.HstorePairs(x.B)...)
	}
	return types.NewHstore(pairs), nil
}
