package diff

import (
	"kvsqld/catalog"
)

// installed are the side's extensions by name.
func (d *side) installed() map[string]*catalog.Extension {
	m := map[string]*catalog.Extension{}
	for _, e := range d.snap.Extensions(d.db) {
		m[e.Name] = e
	}
	return m
}

// extensions makes extensions and moves those that are in another schema. They have
// functions only, which nothing can be moved or made over but what comes later.
func (d *differ) extensions() {
	old, to := d.a.installed(), d.b.installed()
	for _, n := range sortedKeys(to) {
		name, was := catalog.QuoteIdent(n), old[n]
		if was == nil {
			d.add("CREATE EXTENSION ", name, " SCHEMA ", catalog.QuoteIdent(to[n].Schema), " VERSION ", catalog.QuoteLiteral(to[n].Version))
			was = &catalog.Extension{Common: catalog.Common{Schema: to[n].Schema, Comment: catalog.AvailableExtension(n).Comment}}
		}
		if was.Schema != to[n].Schema {
			d.add("ALTER EXTENSION ", name, " SET SCHEMA ", catalog.QuoteIdent(to[n].Schema))
		}
		d.comment("EXTENSION", name, was.Comment, to[n].Comment)
	}
}

// dropExtensions drops those that the new schema does not have, when nothing uses
// their functions any longer.
func (d *differ) dropExtensions() {
	to := d.b.installed()
	for _, n := range sortedKeys(d.a.installed()) {
		if to[n] == nil {
			d.add("DROP EXTENSION ", catalog.QuoteIdent(n))
		}
	}
}
