package pgcatalog

import "kvsqld/catalog"

func rowsPgEnum(w *writer) {
	for _, u := range w.env.Snap.UserTypes(w.env.DB) {
		distinct := distinctOrders(u.Labels)
		for i, l := range u.Labels {
			order := l.Order
			if !distinct {
				order = float64(i + 1)
			}
			w.oid(l.OID).oid(u.OID).float(order).str(l.Label).end()
		}
	}
}

// distinctOrders reports whether the labels' order numbers differ as the four bytes of
// enumsortorder, which hold less than those that rows have. Where they do not PostgreSQL
// numbers the labels anew.
func distinctOrders(l []catalog.EnumLabel) bool {
	for i := 1; i < len(l); i++ {
		if float32(l[i-1].Order) >= float32(l[i].Order) {
			return false
		}
	}
	return true
}
