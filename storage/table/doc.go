// Package table keeps relations in key-value files: one master file per table
// and one file per index.
//
// In: a table's descriptor, ranges in datum space, batches of rows as vectors.
// Out: batches of rows as vectors, and row keys: opaque byte strings that name a
// row for update, delete, locking and refetching. Nothing else of the encoding
// is seen above this package.
//
// Files. The master file maps the primary key (or a hidden 8-byte row number)
// to the other attributes. A unique index maps its search key to the master
// key; a non-unique index has the search key followed by the master key as its
// key. An entry of a unique index with a NULL among its keys is made unique the
// same way, unless NULLS NOT DISTINCT. Bytes: package codec.
//
// Invariants, verified by Check:
//
//	B1  Every row has exactly one entry in every index whose predicate it
//	    satisfies, and every index entry belongs to a row.
//	B2  Every stored value carries a checksum over key and value that is
//	    verified before a value is used; a mismatch is kv.ErrCorrupt.
//	B3  A row key or a unique index key is written under its exclusive lock;
//	    every other entry is covered by the lock of its row.
//
// Concurrency. A Desc may be used by several goroutines; a Scanner, Lookup or
// Writer belongs to one. Batches handed out may alias the snapshot's memory:
// they are valid until the transaction ends or is refreshed.
package table
