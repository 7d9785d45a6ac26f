package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// operator returns the operator of an OID, built in or not, or nil.
func (env *Env) operator(o types.OID) *catalog.Operator {
	if op := catalog.OperatorByOID(o); op != nil {
		return op
	}
	if own, ok := env.Snap.Object(o).(*catalog.OwnOperator); ok && own.DB == env.DB {
		return own.Row()
	}
	return nil
}

// named lists the operators of a name: those of a schema, or with "" those that
// the search path sees.
func (env *Env) named(schema, name string) []*catalog.Operator {
	var out []*catalog.Operator
	if schema == "" || schema == catalog.SchemaPgCatalog {
		out = slices.Clone(catalog.OperatorsByName(name))
	}
	path := env.SearchPath
	if schema != "" {
		path = []string{schema}
	}
	for _, s := range path {
		for _, o := range env.Snap.OwnOperators(env.DB, s, name) {
			if !slices.ContainsFunc(out, func(b *catalog.Operator) bool { return b.Left == o.Left.OID && b.Right == o.Right.OID }) {
				out = append(out, o.Row())
			}
		}
	}
	return out
}

// OperatorIsVisible is pg_operator_is_visible: no schema before its own in the path
// has the same operator.
func (env *Env) OperatorIsVisible(o types.OID) (visible, ok bool) {
	op := env.operator(o)
	if op == nil {
		return false, false
	}
	return slices.ContainsFunc(env.named("", op.Name), func(x *catalog.Operator) bool { return x.OID == o }), true
}

// operatorShown spells an operator of a stored expression that is not built in: its symbol
// where the search path finds it.
func (env *Env) operatorShown(schema, name string) string {
	added := func(s string) bool {
		return slices.ContainsFunc(catalog.OperatorsByName(name), func(o *catalog.Operator) bool {
			return o.Extension != "" && env.Snap.ExtensionSchema(env.DB, o.Extension) == s
		})
	}
	for _, s := range env.SearchPath {
		if len(env.Snap.OwnOperators(env.DB, s, name)) > 0 || added(s) {
			if s == schema {
				return name
			}
			break
		}
	}
	return "OPERATOR(" + catalog.QuoteIdent(schema) + "." + name + ")"
}
