package kv

import "errors"

// Errors of opening a store.
var (
	// ErrInUse is returned when another process holds the data directory.
	ErrInUse = errors.New("data directory is in use by another process")

	// ErrFormat is returned when a file is not a store of ours, or was written
	// by a newer version.
	ErrFormat = errors.New("not a data file of this program or written by a newer version")
)

// ErrNoStore is returned when an existing store is to be opened and there is none.
var ErrNoStore = errors.New("there is no data of this program")

// Errors of reading.
var (
	// ErrNotFound is returned when a key, or a space to be dropped, is absent.
	ErrNotFound = errors.New("not found")

	// ErrTooOld is returned when a snapshot was held for longer than the store
	// allows. The transaction can only be rolled back. SQLSTATE 72000.
	ErrTooOld = errors.New("snapshot too old")

	// ErrCorrupt is returned when stored bytes are not what was written.
	// SQLSTATE XX001.
	ErrCorrupt = errors.New("data corrupted")
)

// Errors of locking and writing.
var (
	// ErrConflict is returned when another transaction changed or holds
	// something that this one must see unchanged. SQLSTATE 40001.
	ErrConflict = errors.New("write conflict")

	// ErrDeadlock is returned when waiting for a lock would close a circle of
	// transactions that wait for each other. SQLSTATE 40P01.
	ErrDeadlock = errors.New("deadlock detected")

	// ErrLockTimeout is returned when a lock was not to be had within
	// LockOpt.Wait, or at once for NOWAIT. SQLSTATE 55P03.
	ErrLockTimeout = errors.New("lock not available")

	// ErrExists is returned when an inserted key or a created space exists
	// already. SQLSTATE 23505.
	ErrExists = errors.New("already exists")

	// ErrTooLarge is returned when a key, value or transaction exceeds what
	// the engine stores, or is empty. SQLSTATE 54000.
	ErrTooLarge = errors.New("size limit exceeded")

	// ErrReadOnly is returned when a read-only transaction writes or locks
	// rows. SQLSTATE 25006.
	ErrReadOnly = errors.New("transaction is read-only")

	// ErrTxnDone is returned when a transaction or snapshot is used after its
	// end, which is a fault of the caller.
	ErrTxnDone = errors.New("transaction has ended")
)

// ConflictError is ErrConflict with what is known of it.
type ConflictError struct {
	Deleted bool // the row to be locked has been deleted
	Read    bool // something that was read has been changed (Serializable)
	Detail  string
}

func (e *ConflictError) Error() string { return ErrConflict.Error() + ": " + e.Detail }

// Is makes errors.Is find ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Errors of committing.
var (
	// ErrDiskFull is returned when the store cannot grow. Nothing was written;
	// the store goes on. SQLSTATE 53100.
	ErrDiskFull = errors.New("no space left for the data file")

	// ErrUnavailable is returned when the store is closed. Nothing was done.
	// SQLSTATE 57P03.
	ErrUnavailable = errors.New("store unavailable")

	// ErrIO is returned when a write or a sync of the medium has failed, at once
	// and by all later commits: nothing was done, and nobody knows what the
	// files will contain. Reading goes on with what was acknowledged; writing
	// goes on when the store has been opened again. SQLSTATE 58030.
	ErrIO = errors.New("the storage medium failed: nothing can be written until the store is opened again")

	// ErrTempFile is returned when a temporary file cannot be made, written or read.
	// SQLSTATE 58030; where the disk is full, ErrDiskFull.
	ErrTempFile = errors.New("a temporary file failed")

	// ErrUndetermined is returned when a commit may or may not have happened.
	// It must not be repeated without looking. SQLSTATE 08007.
	ErrUndetermined = errors.New("outcome of the commit is unknown")
)
