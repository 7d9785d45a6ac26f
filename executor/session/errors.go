package session

import (
	"context"
	"errors"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/executor"
)

// asSQL gives err its SQLSTATE; an error without one passes unchanged.
func asSQL(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var e *sqlerr.Error
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
	if e := executor.StoreError(err); e != nil {
		return e
	}
	return err
}

// finishError is asSQL for an error that leaves the session: the byte offset in
// text becomes the character position that clients expect.
func finishError(ctx context.Context, err error, text string) error {
	if err = asSQL(ctx, err); err == nil {
		return nil
	}
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Pos == 0 {
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
