package pgcatalog

import "kvsqld/catalog/types"

// rowsPgStatDatabase also has the row of what belongs to no database. What is read
// is in the memory of the operating system, which does not tell what it had to
// fetch: all reads count as hits.
func rowsPgStatDatabase(w *writer) {
	w.oid(0).null().int(0)
	w.statDatabase(DBStats{})
	for _, d := range w.env.Snap.Databases() {
		s := w.env.databaseStats(d.OID)
		w.oid(d.OID).str(d.Name).int(s.Backends)
		w.statDatabase(s)
	}
}

func (w *writer) statDatabase(s DBStats) {
	w.int(s.Commits).int(s.Rollbacks).int(0).int(s.Reads).int(s.Returned).int(s.Fetched).int(s.Inserted).int(s.Updated).int(s.Deleted).
		int(0).int(s.TempFiles).int(s.TempBytes).int(s.Deadlocks).null().null().float(0).float(0).
		float(s.SessionTime).float(s.Active).float(s.IdleInTxn).int(s.Sessions).int(s.Abandoned).int(s.Fatal).int(s.Killed).time(s.Reset).end()
}

func (env *Env) databaseStats(db types.OID) DBStats {
	if env.DBStats == nil {
		return DBStats{}
	}
	return env.DBStats(db)
}

// rowsPgStatDatabaseConflicts: queries conflict with recovery on standbys alone.
func rowsPgStatDatabaseConflicts(w *writer) {
	for _, d := range w.env.Snap.Databases() {
		w.oid(d.OID).str(d.Name).int(0).int(0).int(0).int(0).int(0).end()
	}
}
