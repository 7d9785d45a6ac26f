package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// The addresses of objects that users make and that have a file of their own here:
// policies, statistics objects, operators and casts.

// identifyPolicy is the identity of a policy.
func (env *Env) identifyPolicy(o types.OID) Identity {
	id := Identity{Type: "policy"}
	p, ok := env.Snap.Object(o).(*catalog.Policy)
	if !ok || p.DB != env.DB {
		return id
	}
	t := env.identifyClass(Address{Class: oidPgClass, OID: p.Table})
	id.Text, id.Description = catalog.QuoteIdent(p.Name)+" on "+t.Text, "policy "+p.Name+" on "+t.Description
	id.Names, id.Found = append(t.Names, p.Name), true
	return id
}

// identifyStatistics is the identity of a statistics object.
func (env *Env) identifyStatistics(o types.OID) Identity {
	e, ok := env.Snap.Object(o).(*catalog.ExtStats)
	if !ok || e.DB != env.DB {
		return Identity{Type: "statistics object"}
	}
	shown := catalog.QualifiedIdent(e.Schema, e.Name)
	if env.visibleStatistics(e) {
		shown = catalog.QuoteIdent(e.Name)
	}
	return schemaIdentity("statistics object", e.Schema, e.Name, shown)
}

// visibleStatistics reports whether a statistics object is found by its name alone.
func (env *Env) visibleStatistics(e *catalog.ExtStats) bool {
	return env.Snap.FindExtStats(env.DB, env.SearchPath, e.Name) == e
}

// statisticsAddress finds a statistics object.
func (env *Env) statisticsAddress(kind string, names, _ []string) (Address, error) {
	schema, name, err := env.objectName(nameText(names))
	if err == nil {
		err = env.usable(schema)
	}
	if err != nil {
		return Address{}, err
	}
	e := env.Snap.ExtStats(env.DB, schema, name)
	if schema == "" {
		e = env.Snap.FindExtStats(env.DB, env.SearchPath, name)
	}
	if e == nil {
		return Address{}, noObject(kind, names)
	}
	return Address{Class: oidPgStatisticExt, OID: e.OID}, nil
}

// allCasts are the built-in casts and the user's own.
func (env *Env) allCasts() []*catalog.Cast {
	var out []*catalog.Cast
	for _, k := range env.Snap.AllCasts(env.DB) {
		out = append(out, k.Row())
	}
	return append(out, catalog.Casts()...)
}

// anyOperator is a built-in operator or one of the user's, or nil, with its schema.
func (env *Env) anyOperator(o types.OID) (*catalog.Operator, string) {
	if own, ok := env.Snap.Object(o).(*catalog.OwnOperator); ok && own.DB == env.DB {
		return own.Row(), own.Schema
	}
	return catalog.OperatorByOID(o), catalog.SchemaPgCatalog
}
