package kv

import (
	"context"
	"os"
	"time"
)

// Space names one file of keys: the master file of a table or one index. It is
// a plain value, usable as a map key.
type Space struct {
	ID   uint64 // unique in a server, never zero, never used again after a drop
	DB   string // database name: the top-level bucket
	File string // file name of the table or index: the nested bucket
}

// Pair is one key with its value. Val is nil in a KeysOnly scan.
type Pair struct{ Key, Val []byte }

// Range holds the keys with Lo <= key < Hi. A nil Lo is the start of the
// space, a nil Hi its end.
type Range struct{ Lo, Hi []byte }

// Prefix returns the range of all keys that begin with p. It aliases p as Lo.
func Prefix(p []byte) Range {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			hi := append([]byte(nil), p[:i+1]...)
			hi[i]++
			return Range{Lo: p, Hi: hi}
		}
	}
	return Range{Lo: p}
}

// PrefixIn is Prefix with memory for the end: it returns the range, and the memory
// for the next one, with which the range's end is no longer valid.
func PrefixIn(buf, p []byte) (Range, []byte) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			buf = append(buf[:0], p[:i+1]...)
			buf[i]++
			return Range{Lo: p, Hi: buf}, buf
		}
	}
	return Range{Lo: p}, buf
}

// ScanOpt shapes a scan. The zero value reads the whole range forward.
type ScanOpt struct {
	Reverse  bool // from the end of the range to its start
	KeysOnly bool // values are not wanted; Pair.Val may be nil
	Limit    int  // at most so many pairs; 0 = all
	Batch    int  // pairs per chunk; 0 = the engine's choice, growing to about 1,024
	Parallel int  // hint for sharded engines: shards read at once, chunks still in key order

	// Check verifies pairs by what their values say. It is called for all that are
	// delivered, not with KeysOnly, and an error ends the scan. An engine may leave it
	// out for pairs that have passed it, as they were written or since: less than
	// CheckAgain ago, or if a checksum of its own says that they are as they were.
	Check func(ps []Pair) error

	// Skip, where it is set, tells about a key that is not wanted where the next one may
	// be that is, above it, valid until the next call; nil for a key that is wanted. An
	// engine may leave out what lies between, or deliver it all the same. It may ask
	// about the keys in any order. It is for forward scans without a limit.
	Skip func(key []byte) []byte
	// Then are the ranges that a forward scan goes on with after its first one: ascending,
	// apart, and unchanged until Close as the first one's bounds.
	Then []Range
	// Spent is a closed iterator of the same store that nobody uses any more, nor closes
	// again: the new one may take its memory.
	Spent Iter
}

// CheckAgain is for how long a pair that was checked is believed to be as it was without
// a look.
const CheckAgain = 10 * time.Second

// Checked calls Check, if there is one, for pairs that are to be delivered.
func (o *ScanOpt) Checked(ps []Pair) error {
	if o.Check == nil || o.KeysOnly || len(ps) == 0 {
		return nil
	}
	return o.Check(ps)
}

// LockOpt says how LockKeys and LockSpace wait and what they insist on. The
// zero value is an exclusive NOWAIT lock of the current row.
type LockOpt struct {
	Wait       time.Duration // < 0: until granted or deadlock; 0: NOWAIT; > 0: at most so long
	AtSnapshot bool          // ErrConflict when a key changed since the transaction's snapshot (REPEATABLE READ)
	Mode       RowLockMode   // the zero value is ForUpdate
	IfAbsent   bool          // a key that exists, and that nobody else is writing, is reported and not locked
	IfPresent  bool          // a key that does not exist yet, though another may be writing it, is reported and not locked
	IfWritten  bool          // who is writing a key is waited for, and nobody else; it is not locked, and Val not told
	AsWritten  bool          // the keys count as written from now on: the transaction is about to write them, or undoes it by RollbackTo
	SkipLocked bool          // a key that is not to be had at once is skipped and reported, not waited for
	NoValue    bool          // LockResult.Val is not wanted: saves one read per key
	Expect     int           // keys of the space that are going to be locked, these included, where that is known
}

// WaitForever is the LockOpt.Wait of a lock without a timeout.
const WaitForever time.Duration = -1

// LockResult is the outcome for one key of LockKeys.
type LockResult struct {
	// Val is the value the key has now: the transaction's own write if there is
	// one, else the latest committed value, which may be newer than the
	// snapshot. nil = absent, or skipped, or not asked for. Valid until the
	// next Refresh or the end of the transaction.
	Val     []byte
	Skipped bool // SkipLocked only: another transaction holds the key; it was not locked
	Changed bool // another transaction changed the key since the snapshot, and this one has not written it (see Txn.LockKeys)
}

// Flag modifies one Put or Delete.
type Flag uint8

// Covered says that no lock and no conflict check is wanted for this key,
// because something that the transaction holds already stands for it: an index
// entry is covered by the lock of its row, a row under a freshly drawn row
// number by the fact that nobody else can know the number, everything in a
// space by an AccessExclusive lock.
const Covered Flag = 1

// Newest says that a change since the snapshot does not conflict with this write: what
// the key has now was looked at under its lock, by LockKeys, or one that stands for it.
const Newest Flag = 2

// Private keeps a Put or Delete out of the commit: nobody but the transaction itself
// sees it, until its end. It hides what the snapshot has and others have deleted since,
// where the transaction has put something else in its place.
const Private Flag = 4

// Isolation is what a transaction promises about its reads.
type Isolation uint8

const (
	// ReadCommitted reads the snapshot of the last Refresh.
	ReadCommitted Isolation = iota
	// RepeatableRead reads one snapshot; Refresh does nothing.
	RepeatableRead
	// Serializable is RepeatableRead plus: the transactions of this level that commit
	// have a serial order, in which who began after another's end comes later. Commit
	// fails with ErrConflict where there may be none; not for a transaction that was begun
	// as a read-only one.
	Serializable
)

// Durability is what a commit waits for before its locks are released and before
// Commit returns. The order of commits is the same for all: what a crash leaves
// is all commits up to one, and everything that Commit waited for.
type Durability uint8

const (
	// Synced keeps all locks until the commit is durable; nobody sees it before.
	Synced Durability = iota
	// Pipelined gives the locks of written keys to transactions that SetAhead as
	// soon as the commit has its place in the order. Others see it, and Commit
	// returns, when it is durable.
	Pipelined
	// Lazy lets Commit return, and everybody see the commit and those before it,
	// as soon as it has its place in the order. It is durable within LazyDelay.
	Lazy
)

// LazyDelay is how long a Lazy commit may stay out of the durable state.
const LazyDelay = 200 * time.Millisecond

// BeginOpt are the properties of a transaction. The zero value is a writing
// READ COMMITTED transaction.
type BeginOpt struct {
	ReadOnly  bool
	Isolation Isolation
	// Unchanged lets Commit of a SERIALIZABLE transaction that wrote something fail with
	// ErrConflict when anything that it read has been changed since its snapshot, by
	// whomever: for what is derived from rows without a lock.
	Unchanged bool
	Client    int32 // names the client in LockWait and LockInfo; 0 = nobody
	// Grow is told of the bytes of memory that the transaction's writes take, in
	// large steps, and at its end of what they give back (negative). Its error
	// refuses a write. nil: nobody counts.
	Grow func(bytes int64) error
	// Spill lets the writes of the transaction go to temporary files when they are
	// many. nil: they stay in memory.
	Spill *Spill
	// Spent is a transaction of the same store that has ended, and that nobody uses
	// any more, neither an iterator of it. The new one may take its memory: it must
	// not be touched again, not even to roll it back.
	Spent Txn
}

// Spill says when and where to a transaction's writes go from memory.
type Spill struct {
	// At is the number of bytes of memory from which writes go to a file. They also
	// do when BeginOpt.Grow refuses more.
	At int64
	// File returns a new file, which has no name any more: it is gone when it is
	// closed and no longer mapped.
	File func() (*os.File, error)
	// Grow is told of the bytes that go to files, in large steps, and at the latest
	// at the transaction's end of what is given back (negative). Its error refuses a
	// write. nil: nobody counts.
	Grow func(bytes int64) error
}

// Reader reads one consistent state. Its methods may be called from several
// goroutines at once as long as nobody writes meanwhile.
type Reader interface {
	// Get returns the value of key, or ErrNotFound.
	Get(ctx context.Context, sp Space, key []byte) ([]byte, error)
	// BatchGet returns the values of keys by position, nil for an absent key.
	// Sorted keys are read fastest.
	BatchGet(ctx context.Context, sp Space, keys [][]byte) ([][]byte, error)
	// Scan reads a range in chunks. It never fails itself: the first error is
	// returned by Next. In a transaction the iterator sees the writes made
	// before the call of Scan and none made after it. The bounds are not
	// copied: they must stay unchanged until Close.
	Scan(ctx context.Context, sp Space, r Range, o ScanOpt) Iter
}

// Iter walks over a range in chunks. It belongs to one goroutine.
type Iter interface {
	// Next returns the next chunk; an empty chunk is the end. The slice is
	// valid until the next call of Next or Close, the bytes in it as long as
	// the snapshot.
	Next() ([]Pair, error)
	// Close releases the iterator. It may be called more than once, also
	// before the end, and must be called before the transaction ends.
	Close()
}

// Rescanner is an Iter that can go on with another range of its space, forward as
// before: many short scans then cost little more than their searches. Whoever has
// an Iter asks by a type assertion.
type Rescanner interface {
	Iter
	// Rescan makes Next deliver the pairs of r and then those of other ranges, as in
	// ScanOpt, whether or not the iterator is at its end; it counts as a scan. false:
	// nothing has changed, and another Iter has to be made.
	Rescan(r Range, then ...Range) bool
}

// Snapshot is one committed state of the whole store.
type Snapshot interface {
	Reader
	// Seq is the number of the last commit that the snapshot contains.
	Seq() uint64
	// Spaces lists the spaces in it by name. Engines that store names but no
	// numbers invent IDs, which are good for reading through this snapshot.
	Spaces(ctx context.Context) ([]Space, error)
	// Close releases the snapshot; bytes read from it become invalid.
	Close()
}

// View is what a transaction saw at one moment: a snapshot under the writes that it had
// made. It stays that while the transaction writes more, is refreshed, or goes back to a
// savepoint that was there before.
type View interface {
	Reader
	// Renew lets the view of a READ COMMITTED transaction have the newest committed
	// state under the same writes. As for Refresh, no iterator of it may be open.
	Renew() error
	// Enter makes the view what the transaction sees, until leave is called: LockKeys
	// reports what has changed since, and what is written meanwhile is seen by nobody
	// but who reads there. It has to be undone (RollbackTo, Detach) before leave.
	Enter() (leave func())
	// Rewritten reports whether the transaction has put or deleted the key since, or all
	// keys of its space.
	Rewritten(sp Space, key []byte) bool
	// Close releases the view; bytes read from it become invalid. It may be called more
	// than once.
	Close()
}

// Txn is a transaction: a snapshot overlaid with own writes that nobody else
// sees before Commit. Writes, locks and savepoints belong to one goroutine.
//
// Write-write rule: a Put, Delete or Insert that is not Covered needs the
// exclusive lock of its key. If LockKeys did not take it before, the write
// takes it itself without waiting, and fails with ErrConflict if another
// transaction holds it or has changed the key since the snapshot. After such
// an error nothing has been written; the transaction can go on.
//
// Every transaction ends with Commit or Rollback; Rollback after either is a
// no-op, so that it can be deferred.
type Txn interface {
	Reader

	// Seq is the number of the last commit that the current snapshot contains.
	// The snapshot is opened by the first call that needs one, not by Begin.
	Seq() uint64
	// Refresh moves a READ COMMITTED transaction to the newest committed
	// state; at other levels it does nothing. Bytes read before become
	// invalid, open iterators must have been closed.
	Refresh(ctx context.Context) error
	// AwaitSafe waits until a READ ONLY SERIALIZABLE transaction that has not read yet
	// has a snapshot with which it can be in no circle of conflicts, so that neither it
	// nor, because of it, another one fails: until all that may write have ended who
	// were open when it was taken (Waits.Unsafe). It does nothing to other transactions.
	AwaitSafe(ctx context.Context) error
	// Before returns a reader of what the transaction sees now, which does not
	// see its later writes. It may be used until the next Refresh or RollbackTo,
	// or the end.
	Before() Reader

	// Detach is RollbackTo that returns a reader of what the transaction saw before it,
	// the undone writes included. It may be used until the next Refresh, or the end.
	Detach(sp int) Reader

	// View holds what the transaction sees now, for longer than Before does. Who asked for
	// it closes it before a RollbackTo that undoes what it shows, and before the end.
	View() (View, error)

	// ReadNewest lets the transaction read, and write on, the newest committed state
	// under its own writes until end is called, whatever its isolation level; what
	// it reads meanwhile may be changed before Commit. It is for statements that have
	// to meet every row of a table, and hold a lock that keeps writers out. As for
	// Refresh, no iterator may be open, neither at the call nor at that of end.
	ReadNewest() (end func(), err error)
	// Newest opens the newest committed state, with commits that the transaction is
	// ahead by (SetAhead). The caller closes it.
	Newest() (Snapshot, error)
	// Behind reports whether others have committed writes to the space that the
	// transaction's snapshot does not contain. It is sure for who holds a lock that
	// keeps writers out.
	Behind(sp Space) (bool, error)

	// Export returns the snapshot that the transaction reads now, without its own
	// writes. It stays open when the transaction moves on to another one; who asked
	// for it closes it.
	Export() (Snapshot, error)
	// Adopt lets a transaction that has read and written nothing, and keeps its
	// snapshot, read an exported one. A SERIALIZABLE transaction may only
	// adopt that of another which is still open: what was committed since is
	// remembered for that one.
	Adopt(Snapshot) error

	// Put stores a value. ErrConflict by the write-write rule, ErrTooLarge,
	// ErrReadOnly.
	Put(sp Space, key, val []byte, f ...Flag) error
	// Delete removes a key; an absent key is no error.
	Delete(sp Space, key []byte, f ...Flag) error
	// Insert is a Put of a key that must not exist: ErrExists at once or at
	// Commit if it does.
	Insert(sp Space, key, val []byte) error

	// Touch makes the key count as changed by this transaction's commit, without a
	// write: something that it stands for is written elsewhere. It is a Put in
	// every other respect that concerns locks; RollbackTo does not undo it.
	Touch(sp Space, key []byte) error

	// LockKeys locks the keys in the order given (sort them to avoid
	// deadlocks) and returns one result per key. Locks stay until the
	// transaction ends or UnlockTo, also over RollbackTo and also when an error is
	// returned halfway. ErrLockTimeout, ErrDeadlock, ErrConflict (AtSnapshot),
	// the context's error.
	//
	// Changed in a result is never missed; it may be reported without need
	// where a very large transaction wrote to the same space. The READ
	// COMMITTED statement answers Changed by RollbackTo(start of statement)
	// and running again, after Refresh or with the row read from Newest.
	LockKeys(ctx context.Context, sp Space, o LockOpt, keys ...[]byte) ([]LockResult, error)
	// AllLocked reports whether the transaction has the locks of all keys of the space,
	// so that LockKeys would lock nothing more.
	AllLocked(sp Space) bool
	// LockAll tries to lock all keys of a space, for a transaction that is going to write
	// n of them, and waits for nobody. It reports whether the transaction has the locks and
	// nothing has been written to the space since its snapshot; false, too, if n is not
	// worth it. Keys that others insert under no lock are the caller's care (LockSpace).
	// ClearSpace is to follow.
	LockAll(sp Space, n int) (bool, error)
	// LockSpace takes a table lock. Only Wait of the options is used.
	LockSpace(ctx context.Context, sp Space, m TableLockMode, o LockOpt) error

	// AwaitHolders waits for the transactions that hold table locks which conflict with
	// the mode when it is called to give them back, and is in the way of nobody
	// meanwhile. Those of the same client do not count.
	AwaitHolders(ctx context.Context, sp Space, m TableLockMode, o LockOpt) error

	// CreateSpace makes an empty space; ErrExists if there is one.
	CreateSpace(sp Space) error
	// DropSpace removes a space and all its keys; ErrNotFound if there is none.
	DropSpace(sp Space) error
	// ClearSpace removes all keys of a space in constant time.
	ClearSpace(sp Space) error
	// HasSpace reports whether the space exists for this transaction.
	HasSpace(sp Space) (bool, error)
	// Owns reports whether the transaction has created or cleared the space, so that
	// all that it holds for it was written by the transaction itself.
	Owns(sp Space) bool

	// Savepoint marks the current state of the writes. Marks nest.
	Savepoint() int
	// RollbackTo undoes all writes made after the mark, which stays usable;
	// later marks become invalid. Locks stay. Bytes read from undone writes
	// and iterators opened after the mark become invalid.
	RollbackTo(sp int)
	// Release forgets a mark and the later ones; the writes stay. It saves
	// memory in transactions of very many statements.
	Release(sp int)

	// LockMark marks which locks are held. UnlockTo gives back those taken since,
	// for who has undone by RollbackTo what was written since the mark and wants
	// what was read under them no more. Keys that were written first since the mark count
	// as written no more. Locks of very many rows of a space may stay.
	LockMark() LockMark
	UnlockTo(LockMark)
	// Unlock gives back the locks of keys that were taken since the last LockMark and
	// under which nothing was written, for who has found nothing there and rests nothing
	// on it. Locks of very many rows of a space may stay.
	Unlock(sp Space, keys ...[]byte)

	// Number is the transaction's number in a store with Numbers, which it gets now if
	// it has none; 0 in others, and for a transaction of no client.
	Number() (uint64, error)
	// Assigned is the number that the transaction has, 0 for none; Reading the last
	// commit in its snapshot, if one is open. Both may be asked by anybody.
	Assigned() uint64
	Reading() (seq uint64, reads bool)

	// AllowWrites lets a transaction write that was begun as a read-only one. What it
	// reads is still not checked at the commit of a SERIALIZABLE one: it is for what is
	// kept about rows, and not for what follows from them.
	AllowWrites()
	// Isolation returns the level the transaction was begun with.
	Isolation() Isolation
	// Wrote reports whether the transaction has put or deleted a key, or all keys of
	// its space.
	Wrote(sp Space, key []byte) bool
	// HasWrites reports whether Commit will have something to do.
	HasWrites() bool
	// SetStats attaches counters for what the transaction reads and writes
	// from now on; nil detaches them.
	SetStats(s *Stats)
	// OnCommit adds a function that runs after the writes are durable and
	// visible (Synced) or have their place in the order (Pipelined, Lazy), and
	// before locks are released, in commit order over all transactions of the
	// same durability. It must be short and may not call the store. It does not
	// run when the transaction is rolled back; it runs without delay when
	// there was nothing to write.
	OnCommit(f func())

	// SetDurability says what Commit waits for. Engines that cannot tell a place
	// in the order from durability take it for Synced.
	SetDurability(d Durability)
	// SetAhead lets a READ COMMITTED transaction go on with Pipelined commits of
	// others that are not durable yet, after locks and conflicts led it to them.
	// Nobody may be told what it read then until Settle, Commit or Rollback has
	// returned. The transactions of other levels, and those that do not want it,
	// wait where they meet such a commit.
	SetAhead(on bool)
	// Settle waits until everything that the transaction has read is durable or
	// was shown by a Lazy commit. ErrUndetermined if that is not to be had.
	Settle() error

	// Commit makes the writes durable and visible, as far as SetDurability says. On error nothing has been
	// written, except for ErrUndetermined. The context is heeded until the
	// commit is being applied. The transaction has ended in either case.
	Commit(ctx context.Context) error
	// Rollback ends the transaction without a trace, and settles it.
	Rollback()
}

// LockMark is the engine's.
type LockMark any

// Store is one open engine.
type Store interface {
	Begin(ctx context.Context, o BeginOpt) (Txn, error)
	// Snapshot opens the newest committed state for reading.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Watch begins to tell which keys of the spaces commits change. It waits until
	// snapshots have all commits that it does not tell of.
	Watch(ctx context.Context, spaces ...Space) (Watch, error)
	// SplitAt hints that a space should be cut at the keys; a no-op where
	// nothing is sharded.
	SplitAt(ctx context.Context, sp Space, keys ...[]byte) error
	// Stats reports sizes and counters.
	Stats() StoreStats
	// LogFiles lists the files of the write-ahead log; none where there is no log.
	LogFiles() ([]LogFile, error)
	// Compact gives the space of deleted data back to the operating system, as
	// far as the engine keeps any. Reads and commits go on meanwhile; a crash
	// leaves the store as it was before or after. worth, unless it is nil, is asked
	// whether it is worth the work, when all that is committed counts in the sizes.
	Compact(ctx context.Context, worth func(*StoreStats) bool) error
	// Check verifies the engine's own structures and reports each fault.
	Check(ctx context.Context, report func(fault string)) error
	// Close waits for the commit being applied and releases everything. Open
	// transactions get ErrUnavailable from then on.
	Close() error
}

// Watch tells which keys of some spaces commits change, for who copies them while
// others write: of a copy that was made of a snapshot, opened after the call of Watch, the
// keys that Take(seq) returns are all that differ in a snapshot with number seq.
type Watch interface {
	// Take returns, by the spaces that are watched, the keys that commits up to seq have
	// put or deleted, and forgets them. A key may come several times; a Touch is no
	// change. ErrTooLarge if there were too many to be kept, or a space was cleared or
	// dropped: then nothing is known any more.
	Take(seq uint64) ([][][]byte, error)
	// Close ends the watch. It may be called more than once.
	Close()
}

// StoreStats is what Store.Stats reports. A field that an engine cannot know
// is zero.
type StoreStats struct {
	FileBytes     int64         // size of the data file
	FreeBytes     int64         // of it, bytes in pages that hold no data
	Seq           uint64        // number of the last commit
	Commits       uint64        // transactions committed with writes since opening
	Batches       uint64        // engine transactions they were applied in
	OpenSnapshots int           // snapshots in use
	OldestAge     time.Duration // time since the oldest of them was superseded
	RowLocks      int           // row locks held
	LockWaits     uint64        // times a transaction had to wait for a lock
	Deadlocks     uint64        // waits ended by ErrDeadlock

	LogRecords, LogBytes, LogSyncs uint64 // written to a write-ahead log since opening
	Checkpoints                    CheckpointStats

	// Damage is what was found damaged when the store was opened, "" for nothing. Not all
	// is looked at then.
	Damage string
}

// LogFile is a file of a write-ahead log.
type LogFile struct {
	Name    string
	Size    int64 // in bytes, with what is there for records to come
	Written time.Time
}

// CheckpointStats count how often what a write-ahead log has was moved into the data
// file: after an interval, or because the log had grown or somebody asked.
type CheckpointStats struct {
	Timed, Asked uint64
	Time         time.Duration // that all of them took
}
