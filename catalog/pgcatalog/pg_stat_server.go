package pgcatalog

import "kvsqld/catalog/types"

func (env *Env) logStats() LogStats {
	if env.LogStats == nil {
		return LogStats{}
	}
	return env.LogStats()
}

// rowsPgStatWAL shows the server's own log. Batches are written whole: there are
// no images of pages, and no buffers that could be full.
func rowsPgStatWAL(w *writer) {
	s := w.env.logStats()
	w.int(s.Records).int(0)
	w.next().Dec = types.NewDecimal(s.Bytes, 0)
	w.int(0).int(s.Records).int(s.Syncs).float(0).float(0).time(s.Reset).end()
}

// rowsPgStatBgwriter shows how often the log was moved into the data file. There are
// no shared buffers.
func rowsPgStatBgwriter(w *writer) {
	s := w.env.logStats()
	w.int(s.Timed).int(s.Asked).float(s.CheckpointTime).float(0).
		int(0).int(0).int(0).int(0).int(0).int(0).time(s.CheckpointReset).end()
}

// rowsPgStatArchiver: the log is not archived, as in PostgreSQL by default.
func rowsPgStatArchiver(w *writer) {
	w.int(0).null().null().int(0).null().null().time(w.env.logStats().ArchiverReset).end()
}

// rowsPgStatSLRU lists PostgreSQL's caches, which nothing here reads or writes.
func rowsPgStatSLRU(w *writer) {
	reset := w.env.logStats().ArchiverReset
	for _, n := range []string{"CommitTs", "MultiXactMember", "MultiXactOffset", "Notify", "Serial", "Subtrans", "Xact", "other"} {
		w.str(n)
		for range 7 {
			w.int(0)
		}
		w.time(reset).end()
	}
}

// rowsPgStatFunctions lists the functions that were called with track_functions = all.
func rowsPgStatFunctions(xact bool) func(*writer) {
	return func(w *writer) {
		if w.env.FunctionStats == nil {
			return
		}
		for _, f := range w.env.Snap.AllFunctions(w.env.DB) {
			if s, called := w.env.FunctionStats(f.OID, xact); called {
				w.oid(f.OID).str(f.Schema).str(f.Name).int(s.Calls).float(s.Total).float(s.Self).end()
			}
		}
	}
}

// rowsPgStatRecoveryPrefetch: nothing is recovered while the server runs.
func rowsPgStatRecoveryPrefetch(w *writer) {
	w.time(w.env.logStats().ArchiverReset)
	for range 9 {
		w.int(0)
	}
	w.end()
}
