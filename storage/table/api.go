package table

import (
	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/kv"
)

// The engine's contract as the layers above see it.
type (
	// Reader is one consistent state: a snapshot or a transaction.
	Reader = kv.Reader
	// Txn is a transaction.
	Txn = kv.Txn
	// LockOpt says how locks are waited for.
	LockOpt = kv.LockOpt
	// LockResult is the outcome of locking one row.
	LockResult = kv.LockResult
)

// Special column numbers beside indexes into Table.Columns. They equal those of
// the plan.
const (
	ColRowKey   = -1 // the row key, bytea
	ColTableOID = -2 // tableoid, oid
	ColCtid     = -3 // a tid made from the row key
	ColXmin     = -4 // xid: the checksum of the row as it is stored, another one for other values
)

// EntryFilter narrows the selection of a batch.
type EntryFilter func(b *vec.Batch) error

// ScanSpec says what to scan. It is not changed by scanning and may be used
// again.
type ScanSpec struct {
	// Index is the file scanned; nil or the primary key's index: the master file.
	Index *catalog.Index
	// Ranges of the file's key, in any order, possibly overlapping: a row is
	// returned once. nil is the whole file, an empty list no row.
	Ranges []types.Range
	// Intersect wants at least the rows that are in all of the ranges of an index by
	// elements, instead of those that are in one of them. Others may be among them:
	// ranges of many rows are left out where others have few.
	Intersect bool
	// Groups counts the ranges that come together then, where one row has to be in one
	// of them; nil: in each range.
	Groups []int
	// Listed wants the keys of just the rows that lists of elements name: none is read.
	Listed bool
	// ElemKey is the key column of an index by elements that the ranges are of.
	ElemKey int
	// Cols are the columns wanted, in the order of the output's columns: indexes
	// into Table.Columns or special column numbers.
	Cols []int
	// Parts are those of Cols that are wanted in part.
	Parts []Part
	// Reverse scans from the greatest key to the smallest.
	Reverse bool
	// IndexOnly says that all of Cols are in the index entry. Rows are fetched
	// nevertheless where an entry cannot give a value back exactly.
	IndexOnly bool
	// EntryFilter is called with rows of EntryCols, which are columns of the key
	// of Index, and lists in Sel those whose rows are wanted. nil: all are. It
	// must not tell equal values apart: the entry may have another one.
	// In a scan of the master file EntryCols are any columns, and the others of the rows
	// that are not wanted are not decoded; it is not called where attribute files are read.
	EntryFilter EntryFilter
	EntryCols   []int
	// Tail has ranges of column TailAt of the key of Index, the one behind that of
	// Ranges: rows outside them are passed over, and looked for behind them where
	// there are many. nil: all are wanted. Not for an inverted index.
	Tail   []types.Range
	TailAt int
	// Loose tells that of the rows whose first so many key columns are the same one is
	// enough, the first of the scan: others may be left out, by a search for what
	// follows them. 0: all are wanted. EntryFilter may read those columns only then.
	Loose int
	// LooseValue asks for the first row whose next key column is not NULL, where there is one.
	LooseValue bool
	// Sample, where it is set, says which rows of the master file are wanted, whose keys
	// are numbers. Others may be among those that are passed.
	Sample *types.Sample
	// Skip is the number of rows that are passed over at first.
	Skip int64
	// Limit is a hint that so many rows are probably enough; 0 is none.
	Limit int
	// Codes restricts a scan of the master file of a cluster's root to positions
	// with these codes, sorted and without overlaps; instead of Ranges.
	Codes []spatial.Range
	// Under restricts a scan of the master file of a region-clustered table to the
	// rows stored below the row of this key, its own included; instead of Ranges.
	Under []byte
	// Below says that rows of other tables lie below those of the table, in the master
	// file of a cluster: they are passed over without being read.
	Below bool
	// NotNull says that the table's NOT NULL constraints hold for all rows that are
	// read, so that the file of such a column has all of them. It is false for the
	// queries that check a new constraint.
	NotNull bool
	// BatchRows is the number of rows per batch; 0 is vec.BatchSize.
	BatchRows int

	spans []kv.Range // of a part made by SplitScan: instead of Ranges
	part  bool
}

// IndexVals are the computed parts of one index for a batch of rows: one per
// entry of Table.Indexes, in that order. A nil slice of IndexVals serves tables
// whose indexes have neither expressions nor predicates.
type IndexVals struct {
	// Keys has a vector for each key that is an expression; nil for columns.
	Keys []*vec.Vec
	// Pred is the predicate's outcome, nil without one. Rows for which it is not
	// true are not in the index.
	Pred *vec.Vec
}

// ConflictAction is what Insert does about a row whose key exists.
type ConflictAction uint8

// The actions.
const (
	ConflictError  ConflictAction = iota // fail with 23505
	ConflictReport                       // leave the row out, lock the existing one, report it (DO UPDATE)
	ConflictSkip                         // leave the row out and report it (DO NOTHING)
)

// InsertOpt shapes Insert. The zero value is a plain INSERT.
type InsertOpt struct {
	Conflict ConflictAction
	// Arbiters are the unique indexes whose conflicts are reported, nil: all.
	// Conflicts on others are errors.
	Arbiters []*catalog.Index
	// Lock says how long to wait for the holder of a key. AtSnapshot is set from
	// the transaction's isolation level.
	Lock LockOpt
	// Mode is how ConflictReport locks an existing row.
	Mode kv.RowLockMode
}

// Conflict is a row that Insert left out because its key exists.
type Conflict struct {
	Row   uint32         // row number in the input batch
	Index *catalog.Index // the unique index that has the key
	// Key is the row key of the existing row. For ConflictReport it has been locked
	// in InsertOpt.Mode, unless the row was inserted by this same call.
	Key []byte
	// Same tells that the existing row was inserted by this same call.
	Same bool
	// Newer tells that others have changed the row, which is locked, since the
	// transaction's snapshot: what it is now has to be read from kv.Txn.Newest.
	Newer bool
}

// InsertResult is the outcome of Insert.
type InsertResult struct {
	// Keys has the row key of each inserted row by row number (len = batch N);
	// nil for rows that were left out. Valid until the next call on the Writer.
	Keys      [][]byte
	Conflicts []Conflict // in input order
	Inserted  int
}
