package executor

import (
	"context"
	"errors"

	"kvsqld/catalog/sqlerr"
	"kvsqld/planner/plan"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// ctxErr returns 57014 when the context has ended. A cause that carries a
// SQLSTATE of its own (statement timeout, shutdown) is returned as it is.
func ctxErr(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return cancelErr(ctx)
}

// Interrupted returns the error of a context that has ended, nil before.
func Interrupted(ctx context.Context) error { return ctxErr(ctx) }

func cancelErr(ctx context.Context) error {
	cause := context.Cause(ctx)
	var e *sqlerr.Error
	if errors.As(cause, &e) {
		return e
	}
	msg := "canceling statement due to user request"
	if errors.Is(cause, context.DeadlineExceeded) {
		msg = "canceling statement due to statement timeout"
	}
	e = sqlerr.New(sqlerr.QueryCanceled, "%s", msg)
	e.Cause = cause
	return e
}

// isCancel reports whether an error says no more than that the context ended.
func isCancel(err error) bool {
	return sqlerr.CodeOf(err) == sqlerr.QueryCanceled || errors.Is(err, context.Canceled)
}

// kvCodes gives the engine's errors their SQLSTATE and PostgreSQL's message.
// What is not here and no *sqlerr.Error is an internal error: the wire logs it
// in full and shows XX000.
var kvCodes = []struct {
	err  error
	code sqlerr.Code
	msg  string
	// detail: what the store says is for the client too, such as the page.
	detail bool
}{
	{kv.ErrConflict, sqlerr.SerializationFailure, msgConcurrentUpdate, false},
	{table.ErrChanged, sqlerr.SerializationFailure, msgConcurrentUpdate, false},
	{ErrRetry, sqlerr.SerializationFailure, msgConcurrentUpdate, false},
	{kv.ErrDeadlock, sqlerr.DeadlockDetected, "deadlock detected", false},
	{kv.ErrLockTimeout, sqlerr.LockNotAvailable, "canceling statement due to lock timeout", false},
	{kv.ErrReadOnly, sqlerr.ReadOnlySQLTransaction, "cannot write in a read-only transaction", false},
	{kv.ErrTooOld, sqlerr.SnapshotTooOld, "snapshot too old", false},
	{kv.ErrCorrupt, sqlerr.DataCorrupted, "data corrupted", true},
	{kv.ErrTooLarge, sqlerr.ProgramLimitExceeded, "row or transaction is too large", false},
	{kv.ErrDiskFull, sqlerr.DiskFull, "could not extend file: no space left on device", true},
	{kv.ErrTempFile, sqlerr.IOError, "could not use temporary file", true},
	{kv.ErrUndetermined, sqlerr.TransactionUnknown, "the outcome of the transaction is unknown", true},
	{kv.ErrIO, sqlerr.IOError, "the storage medium failed: nothing can be written until the server is restarted", true},
	{kv.ErrUnavailable, sqlerr.CannotConnectNow, "the store is not available", false},
}

const msgConcurrentUpdate = "could not serialize access due to concurrent update"

// StoreError gives a fault of the layers below its SQLSTATE and message, nil for
// other errors.
func StoreError(err error) *sqlerr.Error {
	if e := conflictErr(err); e != nil {
		return e
	}
	for _, k := range kvCodes {
		if errors.Is(err, k.err) {
			e := sqlerr.New(k.code, "%s", k.msg)
			e.Cause = err
			if k.detail {
				e.Detail = err.Error()
			}
			return e
		}
	}
	return nil
}

// wrapErr turns errors of the context and the engine into errors with SQLSTATE;
// others pass unchanged.
func wrapErr(ctx context.Context, err error) error {
	var e *sqlerr.Error
	if err == nil || errors.As(err, &e) || errors.Is(err, ErrRetry) {
		return err
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return cancelErr(ctx)
	}
	if e := StoreError(err); e != nil {
		return e
	}
	return err
}

// conflictErr words a conflict of which more is known than that there is one;
// nil for other errors.
func conflictErr(err error) *sqlerr.Error {
	var c *kv.ConflictError
	if !errors.As(err, &c) {
		return nil
	}
	e := sqlerr.New(sqlerr.SerializationFailure, msgConcurrentUpdate)
	switch {
	case c.Deleted:
		e.Message = "could not serialize access due to concurrent delete"
	case c.Read:
		e.Message = "could not serialize access due to read/write dependencies among transactions"
		e.Hint = "The transaction might succeed if retried."
	}
	e.Cause = err
	return e
}

// lockErr names the relation when a row lock was not to be had.
func lockErr(err error, k *plan.Lock) error {
	if errors.Is(err, kv.ErrLockTimeout) && k.NoWait {
		e := sqlerr.New(sqlerr.LockNotAvailable, `could not obtain lock on row in relation "%s"`, k.Table.Name)
		e.Cause = err
		return e
	}
	return err
}
