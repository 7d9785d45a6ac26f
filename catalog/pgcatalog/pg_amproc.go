package pgcatalog

import (
	"kvsqld/catalog"
)

func rowsPgAmproc(w *writer) {
	for _, a := range catalog.Amprocs() {
		w.oid(a.OID).oid(a.Family).oid(a.Left).oid(a.Right).int(int64(a.Num)).oid(a.Proc).end()
	}
}
