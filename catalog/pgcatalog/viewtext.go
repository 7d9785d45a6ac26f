package pgcatalog

import (
	"strings"

	"kvsqld/catalog"
)

// viewText is a view's query as pg_get_viewdef shows it; the text that is kept
// where queries are not analysed.
func (env *Env) viewText(v *catalog.View, pretty bool, wrap int) string {
	if env.ViewTree != nil {
		if t, err := env.ViewTree(v); err == nil {
			return env.queryText(t, pretty, wrap)
		}
	}
	return " " + strings.TrimSuffix(strings.TrimSpace(v.Query), ";") + ";"
}

// functionVisible reports whether a function is found by its name alone.
func (env *Env) functionVisible(schema, name string) bool {
	if schema == catalog.SchemaPgCatalog {
		return true
	}
	if catalog.ProcsByName(name) != nil {
		return false
	}
	for _, s := range env.SearchPath {
		if len(env.Snap.Functions(env.DB, s, name)) > 0 {
			return s == schema
		}
	}
	return false
}
