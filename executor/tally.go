package executor

import (
	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// RelCounts are what statements did to one table or index since the transaction
// began: the counters of the cumulative statistics. A table's Scans and Returned
// are those of full scans; what an index was used for is counted at the index, that
// of a primary key included, though the master file serves as such.
type RelCounts struct {
	Scans                      int64 // begun, or for an index the searches
	Returned                   int64 // rows, or entries of an index
	Fetched                    int64 // rows fetched by way of an index
	Inserted, Updated, Deleted int64 // rows, also of transactions that fail later
	Reads                      int64 // asked of the file: gets, and batches of scans
}

// Tallied are the counts of one relation. Owner is for whoever collects them.
type Tallied struct {
	OID   types.OID
	N     RelCounts
	Owner any

	dirty bool
}

// Tally collects the counts of a session's transaction. It keeps what it knows of a
// relation for the transactions after it, so that counting makes no garbage. It
// belongs to one goroutine.
type Tally struct {
	// Temporary files that were made, and their bytes.
	TempFiles, TempBytes int64

	recent [8]*Tallied // by their OIDs' last bits
	rels   map[types.OID]*Tallied
	dirty  []*Tallied
}

// maxTallied bounds the relations that a session remembers between transactions.
const maxTallied = 1024

// Rel returns the counts of a relation, to be added to.
func (t *Tally) Rel(oid types.OID) *RelCounts {
	r := t.recent[(oid^oid>>3)&7]
	if r == nil || r.OID != oid {
		r = t.find(oid)
	}
	if !r.dirty {
		r.dirty = true
		t.dirty = append(t.dirty, r)
	}
	return &r.N
}

func (t *Tally) find(oid types.OID) *Tallied {
	r := t.rels[oid]
	if r == nil {
		if t.rels == nil {
			t.rels = make(map[types.OID]*Tallied)
		}
		r = &Tallied{OID: oid}
		t.rels[oid] = r
	}
	t.recent[(oid^oid>>3)&7] = r
	return r
}

// Of returns what was counted of a relation.
func (t *Tally) Of(oid types.OID) RelCounts {
	if r := t.rels[oid]; r != nil {
		return r.N
	}
	return RelCounts{}
}

// Take passes the counts of each relation that was touched, and begins anew.
func (t *Tally) Take(f func(*Tallied)) {
	for _, r := range t.dirty {
		f(r)
		r.N, r.dirty = RelCounts{}, false
	}
	t.dirty = t.dirty[:0]
	t.TempFiles, t.TempBytes = 0, 0
	if len(t.rels) > maxTallied {
		t.rels, t.recent = nil, [8]*Tallied{}
	}
}

// Add adds what another tally, of a part of the statement, has counted.
func (t *Tally) Add(part *Tally) {
	t.TempFiles += part.TempFiles
	t.TempBytes += part.TempBytes
	for _, r := range part.dirty {
		t.Rel(r.OID).Add(&r.N)
	}
}

// Add adds other counts.
func (c *RelCounts) Add(o *RelCounts) {
	c.Scans += o.Scans
	c.Returned += o.Returned
	c.Fetched += o.Fetched
	c.Inserted += o.Inserted
	c.Updated += o.Updated
	c.Deleted += o.Deleted
	c.Reads += o.Reads
}

// primaryKey returns the index of the table's primary key, 0 without one.
func primaryKey(t *catalog.Table) types.OID {
	for _, ix := range t.Indexes {
		if ix.Primary {
			return ix.OID
		}
	}
	return 0
}

// tableScanned counts a scan of all rows: how many were begun, the rows that they
// returned and the reads that took.
func (t *Tally) tableScanned(rel types.OID, scans, rows, reads int64) {
	c := t.Rel(rel)
	c.Scans += scans
	c.Returned += rows
	c.Reads += reads
}

// indexScanned counts searches of an index (nil: the master file by its key); only
// tells that the rows themselves were not fetched.
func (t *Tally) indexScanned(rel *catalog.Table, ix *catalog.Index, only bool, scans, rows, reads int64) {
	if ix == nil || !only {
		t.Rel(rel.OID).Reads += reads
	}
	key := types.OID(0)
	if ix != nil {
		key = ix.OID
	} else if key = primaryKey(rel); key == 0 {
		t.tableScanned(rel.OID, scans, rows, 0)
		return
	}
	c := t.Rel(key)
	c.Scans += scans
	c.Returned += rows
	if ix != nil {
		c.Reads += reads
	}
	if !only {
		c.Fetched += rows
	}
}
