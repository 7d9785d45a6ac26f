package kv

import "time"

// definitionBit marks the number that stands for the definition of a space.
const definitionBit = 1 << 63

// DefinitionOf returns the number by which the definition of a space is locked, apart
// from what is in it: LockSpace takes it as it takes that of a space.
func DefinitionOf(space uint64) uint64 { return space | definitionBit }

// DefinedSpace is the space whose definition a number stands for; of a space's own
// number, it is that.
func DefinedSpace(number uint64) (space uint64, definition bool) {
	return number &^ definitionBit, number&definitionBit != 0
}

// TableLockMode is one of PostgreSQL's eight table lock modes.
type TableLockMode uint8

// The modes, weakest first, with the statements that take them.
const (
	AccessShare          TableLockMode = iota // SELECT
	RowShare                                  // SELECT FOR UPDATE / SHARE
	RowExclusive                              // INSERT, UPDATE, DELETE
	ShareUpdateExclusive                      // ANALYZE, VACUUM, CREATE INDEX CONCURRENTLY
	Share                                     // CREATE INDEX
	ShareRowExclusive                         // CREATE TRIGGER, ADD FOREIGN KEY
	Exclusive                                 // LOCK … IN EXCLUSIVE MODE
	AccessExclusive                           // DROP, TRUNCATE, most of ALTER TABLE
)

// NumTableLockModes is the number of table lock modes.
const NumTableLockModes = 8

// tableConflicts holds for each mode the set of modes it conflicts with, one
// bit per mode. The matrix is symmetric.
var tableConflicts = [NumTableLockModes]uint8{
	AccessShare:          bit(AccessExclusive),
	RowShare:             bit(Exclusive) | bit(AccessExclusive),
	RowExclusive:         bit(Share) | bit(ShareRowExclusive) | bit(Exclusive) | bit(AccessExclusive),
	ShareUpdateExclusive: bit(ShareUpdateExclusive) | bit(Share) | bit(ShareRowExclusive) | bit(Exclusive) | bit(AccessExclusive),
	Share:                bit(RowExclusive) | bit(ShareUpdateExclusive) | bit(ShareRowExclusive) | bit(Exclusive) | bit(AccessExclusive),
	ShareRowExclusive:    bit(RowExclusive) | bit(ShareUpdateExclusive) | bit(Share) | bit(ShareRowExclusive) | bit(Exclusive) | bit(AccessExclusive),
	Exclusive:            0xff &^ bit(AccessShare),
	AccessExclusive:      0xff,
}

func bit(m TableLockMode) uint8 { return 1 << m }

// Conflicts returns the modes that m conflicts with, as a set with the bit
// 1<<mode for each of them.
func (m TableLockMode) Conflicts() uint8 { return tableConflicts[m] }

var tableLockNames = [NumTableLockModes]string{
	"AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock",
	"ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock",
}

// String returns the name pg_locks shows, such as "RowExclusiveLock".
func (m TableLockMode) String() string { return tableLockNames[m] }

// RowLockMode is one of PostgreSQL's four row lock modes, strongest first.
type RowLockMode uint8

// The modes, with the statements that take them.
const (
	ForUpdate      RowLockMode = iota // DELETE, UPDATE of a key, and every new key
	ForNoKeyUpdate                    // UPDATE that changes no key
	ForShare                          // SELECT FOR SHARE
	ForKeyShare                       // the check of a foreign key
)

// Conflicts reports whether two transactions cannot hold the modes at once. A
// stronger mode conflicts with all that a weaker one does.
func (m RowLockMode) Conflicts(o RowLockMode) bool { return m+o <= 3 }

// Exclusive reports whether the mode excludes other writers.
func (m RowLockMode) Exclusive() bool { return m <= ForNoKeyUpdate }

// LockWait is one transaction's wait for a lock.
type LockWait struct {
	Client    int32  // who waits (BeginOpt.Client)
	Blocker   int32  // whom for
	Number    uint64 // the blocker's transaction, 0 if it has no number
	Space     uint64
	Row       bool          // for rows of the space, else for its table lock
	RowMode   RowLockMode   // if Row
	TableMode TableLockMode // if not
	External  string        // what is waited for outside of the store, with its mode; "" for locks of the store
}

// DeadlockError is ErrDeadlock with the circle: each one waits for the next,
// the last for the first, which is the one that gets the error.
type DeadlockError struct{ Waits []LockWait }

func (e *DeadlockError) Error() string { return ErrDeadlock.Error() }

// Is makes errors.Is find ErrDeadlock.
func (e *DeadlockError) Is(target error) bool { return target == ErrDeadlock }

// LockInfo is one lock that a transaction holds or waits for.
type LockInfo struct {
	Client  int32
	Kind    LockKind
	Space   uint64
	Mode    TableLockMode
	RowMode RowLockMode // of a RowLock
	Row     string      // the key of a RowLock
	Number  uint64      // of an EndLock: whose end it is
	Granted bool
	Since   time.Time // since when it is waited for
}

// LockKind is what a LockInfo is about.
type LockKind uint8

const (
	// TableLock is the lock of a space.
	TableLock LockKind = iota
	// RowLock is the right to be the next who gets a row: the first of those who wait
	// for it has the right, and the others wait for it.
	RowLock
	// EndLock is the wait for the end of the transaction that has a row.
	EndLock
)

// Waits is what a store with locks of its own tells about them, and takes part
// of others' locks for finding deadlocks over both. A store may lack it.
type Waits interface {
	// Locks lists the locks, in no order. It costs nothing to those who use them.
	Locks() []LockInfo
	// Blockers lists the clients that client waits for, directly, in the store
	// or by WaitOutside.
	Blockers(client int32) []int32
	// Unsafe returns the clients that one waits for in Txn.AwaitSafe.
	Unsafe(client int32) []int32
	// WaitOutside says that w.Client is about to wait for the blockers, outside
	// of the store; *DeadlockError when that closes a circle. EndWait, or
	// another WaitOutside of the client, ends it.
	WaitOutside(w LockWait, blockers []int32) error
	EndWait(client int32)
}
