package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

const oidPgExtension types.OID = 3079

// Databases are made as if plpgsql were there, which clients take for granted: its language is refused
// where it is used.
func rowsPgExtension(w *writer) {
	w.oid(catalog.OIDPlpgsql).str(catalog.PlpgsqlName).oid(catalog.OIDSuperuser).oid(catalog.OIDPgCatalog).bool(false).str(catalog.PlpgsqlVersion).null().null().end()
	for _, e := range w.env.Snap.Extensions(w.env.DB) {
		w.oid(e.OID).str(e.Name).oid(w.env.role(e.Owner)).oid(w.env.namespace(e.Schema)).bool(true).str(e.Version).null().null().end()
	}
}

func rowsPgAvailableExtensions(w *writer) {
	for _, d := range catalog.AvailableExtensions() {
		w.str(d.Name).str(d.Version)
		if e := w.env.Snap.Extension(w.env.DB, d.Name); e != nil {
			w.str(e.Version)
		} else {
			w.null()
		}
		w.str(d.Comment).end()
	}
	w.str(catalog.PlpgsqlName).str(catalog.PlpgsqlVersion).str(catalog.PlpgsqlVersion).str(catalog.DescriptionOf(oidPgExtension, catalog.OIDPlpgsql)).end()
}

func rowsPgAvailableExtensionVersions(w *writer) {
	for _, d := range catalog.AvailableExtensions() {
		w.str(d.Name).str(d.Version).bool(w.env.Snap.Extension(w.env.DB, d.Name) != nil).bool(true).bool(true).bool(true).
			null().null().str(d.Comment).end()
	}
	w.str(catalog.PlpgsqlName).str(catalog.PlpgsqlVersion).bool(true).bool(true).bool(true).bool(false).str(catalog.SchemaPgCatalog).null().
		str(catalog.DescriptionOf(oidPgExtension, catalog.OIDPlpgsql)).end()
}
