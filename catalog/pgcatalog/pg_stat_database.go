package pgcatalog

// Counters are kept per server and not per database: they are exported as
// metrics, and zero here.
func rowsPgStatDatabase(w *writer) {
	for _, d := range w.env.Snap.Databases() {
		n := int64(0)
		if w.env.Sessions != nil {
			for _, s := range w.env.Sessions() {
				if s.DB == d.OID {
					n++
				}
			}
		}
		w.oid(d.OID).str(d.Name).int(n)
		for range 13 {
			w.int(0)
		}
		w.null().null()
		for range 5 {
			w.float(0)
		}
		for range 4 {
			w.int(0)
		}
		w.null().end()
	}
}
