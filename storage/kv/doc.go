// Package kv is the contract between the relational layers and the key-value
// engines below them: ordered byte keys in named spaces, multi-key
// transactions under snapshot isolation, row and table locks.
//
// What comes in are encoded keys and values; what goes out are the same bytes,
// in byte order of the keys. The property everything else rests on: a
// [Snapshot] (and a [Txn] that reads through one) sees all of a commit or
// nothing of it, and never anything of a commit that came later.
//
// Lifetimes. Bytes handed in are copied before a call returns; callers may
// reuse their buffers. Bytes handed out belong to the engine and may not be
// modified; they stay valid until the transaction or snapshot that gave them
// ends (or, for a transaction, until its next Refresh: see [Txn]), the slice of
// pairs of an [Iter] only until its next Next.
//
// Stored values are never empty and keys are never empty; an engine refuses
// both. So a nil value means "absent" wherever values are returned by position.
//
// Spaces. One table's master file or one index file is a [Space]. Spaces are
// created and dropped inside transactions. Reading a space that does not exist
// finds nothing; writing to it fails at Commit.
//
// The package imports nothing of this module. Its conformance suite is
// storage/kv/kvtest; every engine passes it.
package kv
