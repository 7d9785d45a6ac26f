package pgcatalog

import (
	"slices"
	"strings"

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

// shownProc is the function that stands in pg_proc for an implementation: the member
// of an extension for what only this calls, any other itself.
func (env *Env) shownProc(o types.OID) types.OID {
	p := catalog.ProcByOID(o)
	if p == nil || p.Hidden == "" {
		return o
	}
	ext, _, _ := strings.Cut(p.Hidden, ".")
	for _, f := range env.Snap.Functions(env.DB, env.Snap.ExtensionSchema(env.DB, ext), p.Name) {
		if f.Extension == ext && slices.Equal(typeOIDs(f.Inputs()), p.Args) {
			return f.OID
		}
	}
	return o
}
