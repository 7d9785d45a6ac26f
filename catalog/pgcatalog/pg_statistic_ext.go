package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

const oidPgStatisticExt types.OID = 3381

func rowsPgStatisticExt(w *writer) {
	env := w.env
	for _, e := range env.Snap.AllExtStats(env.DB) {
		kinds := make([]types.Datum, 0, len(e.Kinds))
		for i := range len(e.Kinds) {
			kinds = append(kinds, types.Text(e.Kinds[i:i+1]))
		}
		nums := make([]int, len(e.Cols))
		for i, c := range e.Cols {
			nums[i] = c + 1
		}
		w.oid(e.OID).oid(e.Table).str(e.Name).oid(env.namespace(e.Schema)).oid(env.role(e.Owner)).int(int64(e.Target))
		vector(w, nums).array(kinds).opt(strings.Join(e.Exprs, ", ")).end()
	}
}

// StatisticsParts lists the columns and expressions of a statistics object as
// pg_get_statisticsobjdef_columns does; false when there is none.
func (env *Env) StatisticsParts(oid types.OID) (string, bool) {
	e, ok := env.Snap.Object(oid).(*catalog.ExtStats)
	if !ok || e.DB != env.DB {
		return "", false
	}
	var parts []string
	if r := env.Snap.RelationByOID(env.DB, e.Table); r != nil {
		for _, c := range e.Cols {
			parts = append(parts, catalog.QuoteIdent(r.RelColumns()[c].Name))
		}
	}
	for _, x := range e.Exprs {
		parts = append(parts, env.indexExprText(x, true))
	}
	return strings.Join(parts, ", "), true
}

// StatisticsExprs lists the expressions of a statistics object as
// pg_get_statisticsobjdef_expressions does; none when there is no such object.
func (env *Env) StatisticsExprs(oid types.OID) []string {
	e, ok := env.Snap.Object(oid).(*catalog.ExtStats)
	if !ok || e.DB != env.DB {
		return nil
	}
	var out []string
	for _, x := range e.Exprs {
		out = append(out, env.exprText(x, false))
	}
	return out
}

// statisticsKindNames are the kinds of statistics by their codes.
var statisticsKindNames = []struct {
	code byte
	name string
}{{'d', "ndistinct"}, {'f', "dependencies"}, {'m', "mcv"}}

// StatisticsDef is pg_get_statisticsobjdef; false when there is no such object.
func (env *Env) StatisticsDef(oid types.OID) (string, bool) {
	parts, ok := env.StatisticsParts(oid)
	if !ok {
		return "", false
	}
	e := env.Snap.Object(oid).(*catalog.ExtStats)
	s := "CREATE STATISTICS " + catalog.QualifiedIdent(e.Schema, e.Name)
	var kinds []string
	for _, k := range statisticsKindNames {
		if strings.IndexByte(e.Kinds, k.code) >= 0 {
			kinds = append(kinds, k.name)
		}
	}
	if len(kinds) > 0 && len(kinds) < len(statisticsKindNames) {
		s += " (" + strings.Join(kinds, ", ") + ")"
	}
	s += " ON " + parts + " FROM "
	if r := env.Snap.RelationByOID(env.DB, e.Table); r != nil {
		schema, name := r.RelName()
		s += env.Snap.RelationText(env.DB, env.SearchPath, schema, name)
	}
	return s, true
}
