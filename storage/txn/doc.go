// Package txn makes transactions of an engine that has one writer and
// immutable snapshots. What comes in is an [Engine]; what goes out is a
// kv.Store. The property it keeps: everybody sees all of a commit or nothing,
// commits have one order, and an acknowledged commit is durable.
//
// A transaction is a snapshot opened at its first read, a private overlay of
// writes, locks in memory, and a place in the commit queue. Nothing touches
// the engine before Commit. One goroutine, the committer, takes all queued
// commits at once, applies them in one engine transaction and so pays for one
// sync (group commit).
//
// # Invariants
//
// T1. A transaction gives its snapshot back before its commit is queued, and
// the cached snapshot is closed before a batch is applied, and from time to time
// when nobody uses it, for engines that write by themselves. Why: an engine that
// maps its file must wait for all readers when the file grows; a committer
// that waits for a transaction that waits for the committer never ends.
//
// T2. Whoever writes a key that is not Covered holds its exclusive lock from
// the write until the commit is visible or rolled back. Why: a reader that
// takes the lock next would else read the value from before the commit, and
// its own commit would undo it.
//
// T3. A request is answered only after Engine.Apply returned and every new
// snapshot contains the commit. Hooks run between, in commit order, and locks
// go last: whoever waited for a lock finds the hooks done.
//
// T4. A row lock is announced (spaceLock.rowHeld) before the owner of the
// whole space is looked at, and an owner announces itself before it looks at
// the row locks. So two transactions never both believe to have a row.
//
// T5. The last change of a key is remembered for as long as a snapshot from
// before that change is open or being opened (snapshots.min). So "changed
// since my snapshot" is never missed, and memory is bounded by what was
// written during the oldest snapshot.
//
// T6. A snapshot that is held for too long is never taken away while somebody
// may be reading its memory: it only refuses the next call.
//
// T7. The writes of a commit are kept for as long as a SERIALIZABLE
// transaction with an older snapshot is open. The committer compares what such
// a transaction has read with them, in commit order; so the commit order is a
// serial order.
//
// T8. Mutexes are taken in the order lock shard or space, then wait graph; the
// mutex of the snapshots is never held while the engine is called, except to
// ask an open snapshot for its number.
package txn
