package wire

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
)

// copyFormats returns the overall format and the columns' format codes.
func copyFormats(binary bool, columns int) (byte, []uint16) {
	codes := make([]uint16, columns)
	if !binary {
		return formatText, codes
	}
	for i := range codes {
		codes[i] = formatBinary
	}
	return formatBinary, codes
}

func (w *results) CopyIn(binary bool, columns int) (CopyReader, error) {
	overall, codes := copyFormats(binary, columns)
	if err := w.send(&pgproto3.CopyInResponse{OverallFormat: overall, ColumnFormatCodes: codes}); err != nil {
		return nil, err
	}
	if err := w.flush(); err != nil { // the client waits for it (W2)
		return nil, err
	}
	return &copyReader{c: w.c, ctx: w.c.stmt.current()}, nil
}

func (w *results) CopyOut(binary bool, columns int) (CopyWriter, error) {
	overall, codes := copyFormats(binary, columns)
	if err := w.send(&pgproto3.CopyOutResponse{OverallFormat: overall, ColumnFormatCodes: codes}); err != nil {
		return nil, err
	}
	return copyWriter{w.c, &w.c.out}, nil
}

// copyReader reads the client's side of a COPY FROM STDIN.
type copyReader struct {
	c    *conn
	ctx  context.Context
	done error // what ended the data
}

func (r *copyReader) Next() ([]byte, error) {
	for r.done == nil {
		typ, body, err := r.c.rd.next()
		if err != nil {
			r.done = r.readFailed(err)
			continue
		}
		switch typ {
		case 'd':
			return body, nil
		case 'c':
			r.done = io.EOF
		case 'f':
			r.done = copyFailed(body)
		case 'H', 'S':
			// A client that pipelines may have sent them before it knew that
			// its statement is a COPY.
		default:
			// As PostgreSQL, which does not read on either: first the COPY's error,
			// then that of the connection.
			r.done = sqlerr.New(sqlerr.ProtocolViolation, "unexpected message type 0x%02X during COPY from stdin", typ)
			r.c.lost = true
		}
	}
	return nil, r.done
}

// Await uses the read deadline, by which others interrupt a read: whoever did so
// meanwhile has ended the statement's context first, which is looked at after
// the deadline was set for the last time.
func (r *copyReader) Await(patience time.Duration) bool {
	if r.done != nil {
		return true
	}
	if r.c.rd.buffered() > 0 {
		return r.c.rd.buf[r.c.rd.r] == 'd' // what ends the data, or does not belong to them, comes behind the rows
	}
	if r.c.raw.SetReadDeadline(time.Now().Add(patience)) != nil {
		return true // closed: Next has the error
	}
	err := context.Cause(r.ctx)
	if err == nil {
		err = r.c.rd.fill(1) // Next meets any error but a timeout again
	}
	if r.c.resumeReads() != nil {
		return true
	}
	r.done = context.Cause(r.ctx)
	return r.done != nil || !errors.Is(err, os.ErrDeadlineExceeded)
}

// readFailed returns the error to report for a failed read, or nil when the
// read was merely interrupted.
func (r *copyReader) readFailed(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err = r.c.resumeReads(); err == nil {
			return context.Cause(r.ctx) // nil unless the statement was cancelled
		}
	}
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e
	}
	return clientLost(err)
}

// copyFailed is the error of a COPY that the client has given up.
func copyFailed(body []byte) error {
	m := cursor{b: body}
	reason := m.str()
	if err := m.end(); err != nil {
		return err
	}
	if err := charset.CheckUTF8(reason); err != nil {
		return err
	}
	return sqlerr.New(sqlerr.QueryCanceled, "COPY from stdin failed: %s", reason)
}

// copyWriter writes the server's side of a COPY TO STDOUT.
type copyWriter struct {
	c   *conn
	out *output
}

func (w copyWriter) Write(p []byte) (int, error) {
	if len(p) > maxMessage-4 {
		return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "COPY row of %d bytes is too large", len(p))
	}
	if err := w.c.room(len(w.out.buf) + len(p)); err != nil {
		return 0, err
	}
	pos := w.out.begin('d')
	w.out.buf = append(w.out.buf, p...)
	w.out.finish(pos)
	if err := w.out.flushFull(); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w copyWriter) Close() error {
	w.out.empty('c')
	return w.out.err
}
