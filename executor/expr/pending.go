package expr

import (
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

type compiler struct{}
type setBuilder func()

func newCompiler() *compiler { return &compiler{} }
func (c *compiler) compile(e plan.Expr) (Eval, error) {
	return nil, sqlerr.Unsupported(e.Pos(), "expression")
}
func (c *compiler) compileAll(es []plan.Expr) ([]Eval, error) {
	return nil, sqlerr.Unsupported(-1, "expression")
}
func (c *compiler) predicate(e plan.Expr) (Pred, error) {
	return nil, sqlerr.Unsupported(e.Pos(), "expression")
}
func (c *compiler) compileSet(e plan.Expr) (SetFunc, error) {
	return nil, sqlerr.Unsupported(e.Pos(), "expression")
}
func newAggregator(a *plan.Agg, direct []types.Datum) (Aggregator, error) {
	return nil, sqlerr.Unsupported(a.Off, "aggregate")
}
func evalConst(env *Env, e plan.Expr) (types.Datum, error) {
	return types.Datum{}, sqlerr.Unsupported(e.Pos(), "expression")
}
