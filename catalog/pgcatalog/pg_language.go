package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgLanguage(w *writer) {
	for _, l := range catalog.Languages() {
		w.oid(l.OID).str(l.Name).oid(catalog.OIDSuperuser).bool(l.PL).bool(l.Trusted).oid(l.Handler).oid(l.Inline).oid(l.Validator).acl(w.env.Snap.Language(w.env.DB, l.Name).ACL).end()
	}
}
