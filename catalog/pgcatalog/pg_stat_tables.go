package pgcatalog

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// The statistics views of tables and indexes. A table's primary key is read from
// the master file: the scans are the index's, the reads the table's. All reads are
// hits: see rowsPgStatDatabase. Deleted rows are gone at once: none are dead, and
// an UPDATE is never a HOT one.

// statRel is a table of the statistics views; indexes are its indexes' OIDs.
type statRel struct {
	oid          types.OID
	schema, name string
	indexes      []types.OID
	partitioned  bool
}

func (w *writer) statTables(system, user bool, row func(r *statRel)) {
	if system {
		for _, r := range All() {
			if r.View {
				continue
			}
			x := &statRel{oid: r.OID, schema: r.Schema, name: r.Name}
			for _, ix := range catalog.SystemIndexes() {
				if ix.Table == r.OID {
					x.indexes = append(x.indexes, ix.OID)
				}
			}
			row(x)
		}
	}
	if user {
		w.env.tables(func(oid types.OID, t *catalog.Table) {
			x := &statRel{oid: oid, schema: t.Schema, name: t.Name, partitioned: t.Partitioned()}
			for _, ix := range t.Indexes {
				x.indexes = append(x.indexes, ix.OID)
			}
			row(x)
		})
	}
}

// relStats returns what a source of statistics, which may be nil, has of a relation.
func relStats(of func(types.OID) RelStats, oid types.OID) RelStats {
	if of == nil {
		return RelStats{}
	}
	return of(oid)
}

// sumIndexes adds the statistics of a table's indexes.
func (r *statRel) sumIndexes(of func(types.OID) RelStats) (s RelStats) {
	for _, ix := range r.indexes {
		x := relStats(of, ix)
		s.Scans += x.Scans
		s.Fetched += x.Fetched
		s.Reads += x.Reads
	}
	return s
}

// statScans writes the columns that the views of tables begin with.
func (w *writer) statScans(of func(types.OID) RelStats, r *statRel, t *RelStats) {
	w.oid(r.oid).str(r.schema).str(r.name).int(t.Scans).int(t.Returned)
	if len(r.indexes) == 0 {
		w.null().null()
	} else {
		x := r.sumIndexes(of)
		w.int(x.Scans).int(x.Fetched + t.Fetched)
	}
	w.int(t.Inserted).int(t.Updated).int(t.Deleted).int(0)
}

func rowsPgStatTables(system, user bool) func(*writer) {
	return func(w *writer) {
		w.statTables(system, user, func(r *statRel) {
			t := relStats(w.env.RelStats, r.oid)
			w.statScans(w.env.RelStats, r, &t)
			w.int(t.Live).int(0).int(t.SinceAnalyze).int(t.SinceVacuum).
				time(t.Vacuum.Last).null().time(t.Analyze.Last).time(t.AutoAnalyze.Last).
				int(t.Vacuum.N).int(0).int(t.Analyze.N).int(t.AutoAnalyze.N).end()
		})
	}
}

func rowsPgStatXactTables(system, user bool) func(*writer) {
	return func(w *writer) {
		w.statTables(system, user, func(r *statRel) {
			t := relStats(w.env.XactStats, r.oid)
			w.statScans(w.env.XactStats, r, &t)
			w.end()
		})
	}
}

func rowsPgStatioTables(system, user bool) func(*writer) {
	return func(w *writer) {
		w.statTables(system, user, func(r *statRel) {
			if r.partitioned {
				return
			}
			w.oid(r.oid).str(r.schema).str(r.name).int(0).int(relStats(w.env.RelStats, r.oid).Reads)
			if len(r.indexes) == 0 {
				w.null().null()
			} else {
				w.int(0).int(r.sumIndexes(w.env.RelStats).Reads)
			}
			w.nulls(4).end()
		})
	}
}

// statIndexes calls row with each index that the views show and what it begins with.
func (w *writer) statIndexes(system, user bool, row func(s *RelStats)) {
	index := func(rel, index types.OID, schema, table, name string) {
		w.oid(rel).oid(index).str(schema).str(table).str(name)
		s := relStats(w.env.RelStats, index)
		row(&s)
		w.end()
	}
	if system {
		for _, ix := range catalog.SystemIndexes() {
			if r := ByOID(ix.Table); r != nil {
				index(r.OID, ix.OID, r.Schema, r.Name, ix.Name)
			}
		}
	}
	if user {
		w.env.tables(func(oid types.OID, t *catalog.Table) {
			if t.Partitioned() {
				return
			}
			for _, ix := range t.Indexes {
				index(oid, ix.OID, t.Schema, t.Name, ix.Name)
			}
		})
	}
}

func rowsPgStatIndexes(system, user bool) func(*writer) {
	return func(w *writer) {
		w.statIndexes(system, user, func(s *RelStats) { w.int(s.Scans).int(s.Returned).int(s.Fetched) })
	}
}

func rowsPgStatioIndexes(system, user bool) func(*writer) {
	return func(w *writer) {
		w.statIndexes(system, user, func(s *RelStats) { w.int(0).int(s.Reads) })
	}
}

func rowsPgStatioSequences(w *writer) {
	for _, r := range w.env.Snap.Relations(w.env.DB) {
		if q, ok := r.(*catalog.Sequence); ok {
			w.oid(q.OID).str(q.Schema).str(q.Name).int(0).int(relStats(w.env.RelStats, q.OID).Reads).end()
		}
	}
}
