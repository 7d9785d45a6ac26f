// Package txn makes transactions of an engine that has one writer and
// immutable snapshots. What comes in is an [Engine]; what goes out is a
// kv.Store. The property it keeps: everybody sees all of a commit or nothing,
// commits have one order, and an acknowledged commit is durable, unless it was
// asked not to wait for that.
//
// A transaction is a snapshot opened at its first read, a private overlay of
// writes, locks in memory, and a place in the commit queue. Nothing touches
// the engine before Commit. One goroutine, the committer, or that of a
// transaction when it is the only one to commit, takes all queued
// commits at once, applies them in one engine transaction and so pays for one
// sync (group commit). With an engine that is [Pipelined] those who wait for the
// sync are no longer in the committer's way: while one of them syncs for all, the
// next batches are applied, of transactions that build on the first.
//
// # Invariants
//
// T1. A transaction gives its snapshot, and those of its views, back before its commit is queued, and
// the cached snapshot is closed before a batch is applied, and from time to time
// when nobody uses it, for engines that write by themselves. Why: an engine that
// maps its file must wait for all readers when the file grows; a committer
// that waits for a transaction that waits for the committer never ends.
//
// T2. Whoever writes a key that is not Covered holds its exclusive lock from
// the write until the commit is applied, or the write can only be undone any more
// (UnlockTo). Why: a reader that
// takes the lock next would else read the value from before the commit, and
// its own commit would undo it.
//
// T3. Commit returns only when every new snapshot contains the commit, and it
// is durable unless it is Lazy. Hooks run before, in commit order, and locks
// go last, but for those of T9: whoever waited for a lock finds the hooks done.
//
// T4. A row lock is announced (spaceLock.rowHeld) before the owner of the
// whole space is looked at, and an owner announces itself before it looks at
// the row locks. So two transactions never both believe to have a row.
//
// T5. The last change of a key is remembered for as long as a snapshot from
// before that change is open, being opened, or may be opened later because the
// change is not visible yet (snapshots.min). So "changed
// since my snapshot" is never missed, and memory is bounded by what was
// written during the oldest snapshot.
//
// T6. A snapshot that is held for too long is never taken away while somebody
// may be reading its memory: it only refuses the next call.
//
// T7. The writes of a commit are kept until it is visible, and for as long as a
// SERIALIZABLE transaction with an older snapshot is open; what such transactions have read
// is kept until those that may write, and that they overlapped, have ended. The committer
// compares reads with writes, in commit order, and refuses who would close
// a circle of dependencies (commitlog.go).
//
// T8. Mutexes are taken in the order lock shard or space, then wait graph; the
// mutex of the snapshots is never held while the engine is called, except to
// ask an open snapshot for its number.
//
// T9. Nobody but transactions that SetAhead reads a commit that is neither
// durable nor shown by a Lazy one. They come to it by a lock only: those of
// written keys go as soon as the commit is applied, because the key's last
// change then says which commit there is to be read (Txn.seen); shared locks,
// unwritten keys, whole spaces and tables, which say nothing of the kind, are
// kept until it is durable. A transaction that has met such a commit reads no
// snapshot without it; when it no longer is ahead, and before its end, it waits
// for it. Its own commit comes later in the order, so a crash never keeps that
// and loses what it was built on.
//
// T10. Writes that memory is too short for wait in temporary files, as sorted runs
// (spill.go). No run reaches over a position to which a RollbackTo may go back. Bytes of
// a file are read by a mapping, which stays while anything leads to its runs; outside
// of the package only Engine.Apply gets them as they are, all others a copy.
//
// T11. A watch (watch.go) has the keys of a batch before a snapshot contains it, and begins
// when snapshots contain every batch that it does not have.
package txn
