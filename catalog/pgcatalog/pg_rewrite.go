package pgcatalog

import (
	"kvsqld/catalog"
)

// ruleText is the definition of a rule that is no view's query, "" for the others. They are
// those of UPDATE of pg_settings, which is refused here: SET and set_config do what it would.
func ruleText(r *catalog.Rule, pretty bool) string {
	table, condition := "pg_catalog.pg_settings", "(new.name = old.name)"
	if pretty {
		table, condition = "pg_settings", "new.name = old.name"
	}
	switch r.Name {
	case "pg_settings_n":
		return "CREATE RULE pg_settings_n AS\n    ON UPDATE TO " + table + " DO INSTEAD NOTHING;"
	case "pg_settings_u":
		return "CREATE RULE pg_settings_u AS\n    ON UPDATE TO " + table + "\n   WHERE " + condition +
			" DO  SELECT set_config(old.name, new.setting, false) AS set_config;"
	}
	return ""
}

func rowsPgRules(w *writer) {
	for _, r := range catalog.Rules() {
		if text := ruleText(&r, false); text != "" {
			rel := ByOID(r.Relation)
			w.str(rel.Schema).str(rel.Name).str(r.Name).str(text).end()
		}
	}
}

// Views are kept as text, so that the rule's tree is not shown.
func rowsPgRewrite(w *writer) {
	for _, r := range catalog.Rules() {
		w.oid(r.OID).str(r.Name).oid(r.Relation).chr(r.Event).chr('O').bool(r.Instead).str("<>").str("<>").end()
	}
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		if v, ok := r.(*catalog.View); ok {
			w.oid(synthOID("rewrite", v.OID, 0)).str("_RETURN").oid(v.OID).chr('1').chr('O').bool(true).str("<>").str("<>").end()
		}
	}
}
