package pgcatalog

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

func rowsPgNamespace(w *writer) {
	for _, n := range w.env.Snap.Schemas(w.env.DB) {
		w.oid(n.OID).str(n.Name).oid(w.env.role(n.Owner)).acl(w.env.schemaACL(n)).end()
	}
	for _, name := range w.env.tempSchemas() {
		w.oid(w.env.namespace(name)).str(name).oid(catalog.OIDSuperuser).null().end()
	}
}

// tempSchemas lists the temporary schemas of the session and of others: what
// others have there is listed, too, and needs its schema.
func (env *Env) tempSchemas() []string {
	temp := env.Snap.TempSchemas(env.DB)
	for _, name := range env.SearchPath {
		if catalog.IsTempSchema(name) && !slices.Contains(temp, name) {
			temp = append(slices.Clone(temp), name)
		}
	}
	return temp
}

// TempSchemaByOID returns the temporary schema of that OID, which is no object of the
// catalog, or "".
func (env *Env) TempSchemaByOID(oid types.OID) string {
	for _, name := range env.tempSchemas() {
		if env.namespace(name) == oid {
			return name
		}
	}
	return ""
}

// HasTempSchema reports whether pg_namespace lists a temporary schema of that name.
func (env *Env) HasTempSchema(name string) bool {
	return catalog.IsTempSchema(name) && slices.Contains(env.tempSchemas(), name)
}
