package wire

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
)

const (
	severityError  = "ERROR"
	severityFatal  = "FATAL"
	severityPanic  = "PANIC"
	severityNotice = "NOTICE"
)

// The causes with which a statement's context ends.
func canceledByUser() *sqlerr.Error {
	return sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
}

func adminShutdown() *sqlerr.Error {
	return fatal(sqlerr.AdminShutdown, "terminating connection due to administrator command")
}

func clientLost(cause error) *sqlerr.Error {
	e := fatal(sqlerr.ConnectionFailure, "connection to client lost")
	e.Cause = cause
	return e
}

func fatal(code sqlerr.Code, format string, args ...any) *sqlerr.Error {
	e := sqlerr.New(code, format, args...)
	e.Severity = severityFatal
	return e
}

// asSQL returns the error to show for err, and whether it is one that the
// session did not classify: then the client sees XX000 and the log gets err.
//
// A context error stands for the reason the context ended with.
func asSQL(ctx context.Context, err error) (e *sqlerr.Error, internal bool) {
	if errors.As(err, &e) {
		return e, false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if errors.As(context.Cause(ctx), &e) {
			return e, false
		}
	}
	var s interface{ SQLState() string }
	if errors.As(err, &s) && len(s.SQLState()) == 5 {
		return sqlerr.New(sqlerr.Code(s.SQLState()), "%s", err.Error()), false
	}
	return sqlerr.New(sqlerr.InternalError, "internal error"), true
}

// asFatal returns a copy of e that ends the connection.
func asFatal(e *sqlerr.Error) *sqlerr.Error {
	if isFatal(e) {
		return e
	}
	f := *e
	f.Severity = severityFatal
	return &f
}

func isFatal(e *sqlerr.Error) bool {
	return e.Severity == severityFatal || e.Severity == severityPanic
}

// errorResponse lists the fields of e; ErrorResponse and NoticeResponse share
// them.
func errorResponse(e *sqlerr.Error, defaultSeverity string, enc *charset.Encoding) pgproto3.ErrorResponse {
	clean := func(s string) string {
		if s = clean(s); enc != nil {
			s = enc.EncodeLossy(s)
		}
		return s
	}
	severity := e.Severity
	if severity == "" {
		severity = defaultSeverity
	}
	file, line, routine := e.Source()
	return pgproto3.ErrorResponse{
		Severity:            severity,
		SeverityUnlocalized: severity,
		Code:                string(e.Code),
		Message:             clean(e.Message),
		Detail:              clean(e.Detail),
		Hint:                clean(e.Hint),
		Position:            int32(e.Pos),
		Where:               clean(e.Where),
		SchemaName:          clean(e.Schema),
		TableName:           clean(e.Table),
		ColumnName:          clean(e.Column),
		DataTypeName:        clean(e.DataType),
		ConstraintName:      clean(e.Constraint),
		File:                file,
		Line:                int32(line),
		Routine:             routine,
	}
}

// clean makes text fit for a message field: a message may quote any bytes, but
// a NUL would end the field and clients expect valid UTF-8.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}
