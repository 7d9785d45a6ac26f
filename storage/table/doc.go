// Package table keeps relations in key-value files: one master file per table
// and one file per index.
//
// In: a table's descriptor, ranges in datum space, batches of rows as vectors.
// Out: batches of rows as vectors, and row keys: opaque byte strings that name a
// row for update, delete, locking and refetching. Nothing else of the encoding
// is seen above this package.
//
// Rows and keys. rowFile is the seam between them: it says under which key a row
// is kept and which value has which column. Writer.putRow and Writer.deleteRows
// are the only places that write a row, decoder.rows the only one that takes it
// apart; locks, indexes, uniqueness and scans speak of row keys and columns alone.
//
// A row key is not the primary key: rowKeys says how rows get their keys (the
// primary key, a drawn 8-byte row number, or a place in a region-clustered file:
// cluster.go) and whether the master file
// therefore serves as the primary key's index (rowKeys.primary). A table of any
// other row keys has its primary key as an ordinary unique index with a file of
// its own: index.master is false, a nil index means the master file in row key
// order, and whoever wants the primary key passes its index. A further kind of row
// keys implements rowKeys and tells its columns in newRowKeys; whatever follows
// from it (moves by UPDATE, entries of the indexes, Check) needs no change.
//
// Layouts. In the row layout the master value has all attributes. In the column
// layout each column outside of the primary key, or each group of columns, has an
// attribute file of its own: row key, values of the group; a row without a key
// there has NULLs. A file per group rather than a group number at the end of keys
// in one file: a scan of two of twenty columns then walks three files from end to
// end, where in one file it steps over the other eighteen keys of each row or
// seeks past them, and the number of rows stays the number of the master's keys.
// An UPDATE that changes no master value only touches the master key (kv.Touch),
// so that others still see the row change.
//
// A column stored by elements has a key for each of them (elements.go), so that
// some can be read and written without the others (elempart.go).
//
// Files. The master file has one pair for each row: row key, other attributes. A
// unique index maps its search key to the master key; a non-unique index has the
// search key followed by the master key as its key. An entry of a unique index
// with a NULL among its keys is made unique the same way, unless NULLS NOT
// DISTINCT. Bytes: package codec.
//
// Other layouts. The rows of a table are copied to files of another layout while others
// write (copyrows.go). Until the table takes them these are scratch files, which a list in
// the store names, so that those of a copy that ended half-way are found (scratch.go).
//
// Posting lists. An inverted index has a list of row keys for each search key, or
// for each element of an array, jsonb or hstore column: chunks of row keys, and deltas,
// one key for each row that came or went since (posting.go). Transactions write
// deltas alone, so that no two of them meet in a list. Folding (fold.go) moves
// deltas of rows that nobody has locked into chunks, in transactions of its own:
// when an index is built, at VACUUM, and after commits that left many deltas. A
// SERIALIZABLE transaction may have to be repeated because of it.
//
// Invariants, verified by Check:
//
//	B1  Every row has exactly one entry in every index whose predicate it
//	    satisfies (an index by elements: one for each element), and every index
//	    entry, posting and value of an attribute file belongs to a row.
//	B2  Every stored value carries a checksum over key and value that is
//	    verified before a value is used: by a scan, kv.CheckAgain before at
//	    most; once it was, as its page was written or since, also by a checksum
//	    of its page. A mismatch is kv.ErrCorrupt.
//	B3  A row key or a unique index key is written under its exclusive lock;
//	    every other entry is covered by the lock of its row.
//
// Concurrency. A Desc may be used by several goroutines; a Scanner, Lookup or
// Writer belongs to one. Batches handed out may alias the snapshot's memory:
// they are valid until the transaction ends or is refreshed.
package table
