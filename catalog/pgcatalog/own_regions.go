package pgcatalog

// rowsRegions lists the regions of region-clustered tables, under the names that
// the paper gives to the parts of its Regions file.
func rowsRegions(w *writer) {
	if w.env.Regions == nil {
		return
	}
	want, only := w.wantName("tablename")
	for _, t := range w.env.Snap.Tables(w.env.DB) {
		if t.Cluster == nil || !t.Cluster.Root() || only && t.Name != want {
			continue
		}
		list, err := w.env.Regions(t)
		if err != nil {
			w.err = err
			return
		}
		for _, r := range list {
			w.str(t.Schema).str(t.Name).str(r.ID)
			if r.Known {
				w.float(r.North).float(r.West).float(r.South).float(r.East)
			} else {
				w.nulls(4)
			}
			w.int(r.Rows).int(r.Keys).end()
		}
	}
}
