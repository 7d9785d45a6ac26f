package session

import (
	"context"
	"errors"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/executor"
	"kvsqld/storage/kv"
	"kvsqld/storage/table"
)

// decisions gives faults of the layers below their SQLSTATE and message. What
// is not here and no *sqlerr.Error is an internal error: the wire logs it in
// full and shows XX000.
var decisions = []struct {
	err  error
	code sqlerr.Code
	msg  string
	// detail: what the store says is for the client too, such as the page.
	detail bool
}{
	{kv.ErrConflict, sqlerr.SerializationFailure, "could not serialize access due to concurrent update", false},
	{table.ErrChanged, sqlerr.SerializationFailure, "could not serialize access due to concurrent update", false},
	{executor.ErrRetry, sqlerr.SerializationFailure, "could not serialize access due to concurrent update", false},
	{kv.ErrDeadlock, sqlerr.DeadlockDetected, "deadlock detected", false},
	{kv.ErrLockTimeout, sqlerr.LockNotAvailable, "canceling statement due to lock timeout", false},
	{kv.ErrReadOnly, sqlerr.ReadOnlySQLTransaction, "cannot write in a read-only transaction", false},
	{kv.ErrTooOld, sqlerr.SnapshotTooOld, "snapshot too old", false},
	{kv.ErrCorrupt, sqlerr.DataCorrupted, "data corrupted", true},
	{kv.ErrTooLarge, sqlerr.ProgramLimitExceeded, "row or transaction is too large", false},
	{kv.ErrDiskFull, sqlerr.DiskFull, "could not extend file: no space left on device", true},
	{kv.ErrUndetermined, sqlerr.TransactionUnknown, "the outcome of the transaction is unknown", true},
	{kv.ErrIO, sqlerr.IOError, "the storage medium failed: nothing can be written until the server is restarted", true},
	{kv.ErrUnavailable, sqlerr.CannotConnectNow, "the store is not available", false},
}

// asSQL gives err its SQLSTATE; an error without one passes unchanged.
func asSQL(ctx context.Context, err error) error {
	var e *sqlerr.Error
	if err == nil {
		return nil
	}
	if errors.As(err, &e) {
		var cause *sqlerr.Error
		if e.Code == sqlerr.QueryCanceled && ctx.Err() != nil && errors.As(context.Cause(ctx), &cause) {
			out := *cause // which knows whether it was the user or a timeout
			out.Where = e.Where
			return &out
		}
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if errors.As(context.Cause(ctx), &e) {
			return e
		}
		return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
	}
	if e := executor.ConflictErr(err); e != nil {
		return e
	}
	for _, d := range decisions {
		if errors.Is(err, d.err) {
			e := sqlerr.New(d.code, "%s", d.msg)
			e.Cause = err
			if d.detail {
				e.Detail = err.Error()
			}
			return e
		}
	}
	return err
}

// finishError is asSQL for an error that leaves the session: the byte offset in
// text becomes the character position that clients expect.
func finishError(ctx context.Context, err error, text string) error {
	err = asSQL(ctx, err)
	var e *sqlerr.Error
	if err == nil || !errors.As(err, &e) || e.Pos == 0 {
		return err
	}
	c := *e
	c.Pos = charPos(text, e.Pos)
	return &c
}

// charPos turns 1 + a byte offset into 1 + a number of characters.
func charPos(text string, pos int) int {
	if pos > len(text)+1 {
		return 0
	}
	return utf8.RuneCountInString(text[:pos-1]) + 1
}

func notice(severity string, code sqlerr.Code, format string, args ...any) *sqlerr.Error {
	e := sqlerr.New(code, format, args...)
	e.Severity = severity
	return e
}

func warning(code sqlerr.Code, format string, args ...any) *sqlerr.Error {
	return notice("WARNING", code, format, args...)
}
