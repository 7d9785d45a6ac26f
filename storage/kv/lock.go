package kv

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
