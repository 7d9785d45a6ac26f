// Package sqlerr is the one error that SQL users see: a SQLSTATE, a message,
// and the optional fields of PostgreSQL's ErrorResponse.
//
// An Error is born where the fault is known, with its code; layers in between
// pass it on unchanged (they may add the position or the object's name where
// these are still empty), and only the wire turns it into bytes.
package sqlerr

import (
	"errors"
	"fmt"
)

// Code is a five-character SQLSTATE (PostgreSQL 15, appendix A).
type Code string

// Error is an error with a SQLSTATE. Pos is 1 + the byte offset in the
// statement's text (0 = unknown); the session turns it into the character
// position that the protocol wants.
type Error struct {
	Code       Code
	Message    string
	Detail     string
	Hint       string
	Where      string // PostgreSQL's CONTEXT: where it happened, such as a line of COPY data
	Pos        int
	Schema     string
	Table      string
	Column     string
	DataType   string
	Constraint string
	Routine    string // where PostgreSQL raises it, where its code and message do not tell: see Source
	Severity   string // empty means ERROR; FATAL and PANIC end the connection
	Cause      error
	// Refused: PostgreSQL can do what was asked for. Its own 0A000 are not refusals.
	Refused bool

	raised uintptr // where, for Source; 0: nobody noted it
}

// Error returns the message alone, as PostgreSQL's primary message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, so that errors.Is sees sentinels underneath.
func (e *Error) Unwrap() error { return e.Cause }

// SQLState returns the five-character code.
func (e *Error) SQLState() string { return string(e.Code) }

// New returns an error with the code and a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), raised: caller()}
}

// At sets the byte offset (0-based) in the statement's text, unless a position
// is known already. A negative offset means unknown.
func (e *Error) At(offset int) *Error {
	if e.Pos == 0 && offset >= 0 {
		e.Pos = offset + 1
	}
	return e
}

// WithDetail sets the detail line.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// WithHint sets the hint line.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Unsupported is the refusal by name: 0A000 with the construct and its offset.
func Unsupported(offset int, format string, args ...any) *Error {
	e := &Error{Code: FeatureNotSupported, Message: fmt.Sprintf(format+" is not supported", args...), Refused: true, raised: caller()}
	return e.At(offset)
}

// Refusal marks an error as a refusal, where Unsupported has not the words for it.
func (e *Error) Refusal() *Error {
	e.Refused = true
	return e
}

// CodeOf returns the SQLSTATE of err: the outermost *Error's code, or XX000
// when there is none, or "" when err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return InternalError
}
