package wire

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
	"kvsqld/catalog/types/vec"
)

// Backend is the database behind the wire. Its methods are called from many
// connections at once.
type Backend interface {
	// Auth says how the user named in the startup packet proves who they are.
	// It runs before Connect and knows nothing but the packet and the peer.
	// A nil Verifier with AuthPassword or AuthSCRAM means an unknown user: the
	// exchange runs to its end and fails there, so that it does not tell which
	// users exist. An error ends the connection; it is sent as FATAL.
	Auth(ctx context.Context, p *StartupParams, info *ConnInfo) (AuthMethod, *Verifier, error)

	// Connect opens the session of an authenticated user: it checks the
	// database (3D000), the role (28000) and the settings (42704, 22023) that
	// the startup packet asks for. An error ends the connection; it is sent as
	// FATAL whatever its severity.
	Connect(ctx context.Context, p *StartupParams, info *ConnInfo) (Session, error)
}

// StartupParams is a decoded startup packet.
type StartupParams struct {
	User     string
	Database string // the user's name when the packet names none
	// Settings are the run-time parameters in the order in which they apply:
	// those of the "options" parameter first, then the packet's own entries.
	// Names are as the client spelled them.
	Settings []Parameter
}

// Parameter is the name and the value of a run-time parameter.
type Parameter struct{ Name, Value string }

// ConnInfo is what a session may know about its connection.
type ConnInfo struct {
	PID        int32 // pg_backend_pid(), unique among the live connections
	RemoteAddr net.Addr
	LocalAddr  net.Addr
	TLS        *TLSInfo // nil: the connection is not encrypted
	// Wake makes the connection call Session.Wakeup as soon as it is between
	// two messages. It may be called from any goroutine at any time, also
	// after the connection has ended.
	Wake func()
	// End says how the connection ended, once Session.Close is called.
	End End
}

// End is how a connection ended.
type End uint8

// The ways in which connections end: the client said so, the client was gone, an
// error ended it, or the server was asked to end it.
const (
	EndNormal End = iota
	EndAbandoned
	EndFatal
	EndKilled
)

// Loopback reports whether the client is on the same machine.
func (i *ConnInfo) Loopback() bool {
	switch a := i.RemoteAddr.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// AuthMethod is a way to authenticate.
type AuthMethod uint8

const (
	AuthTrust    AuthMethod = iota // no proof asked
	AuthPassword                   // clear-text password, checked against the Verifier
	AuthSCRAM                      // SCRAM-SHA-256, with channel binding under TLS
)

// Session is one client's session. The connection calls its methods from one
// goroutine, one after the other.
//
// The context of a call ends when the statement is cancelled, the server shuts
// down or the client is gone; context.Cause then is the *sqlerr.Error to
// return (57014, 57P01, 08006). It is valid during the call only.
//
// An error returned from a method is sent to the client: a *sqlerr.Error (also
// when wrapped) as it is, with the connection closed after severity FATAL or
// PANIC; any other error is logged in full and shown as XX000. A panic counts
// as an internal error of that one call.
type Session interface {
	// Simple runs one Query message: every statement of sql in order, each
	// ended by Complete or Empty on w, as one implicit transaction where no
	// BEGIN says otherwise. Text without a statement calls Empty once.
	Simple(ctx context.Context, sql string, w ResultWriter) error

	// Parse prepares sql, which holds at most one statement, under the name;
	// the empty name replaces its predecessor silently. paramOIDs may be
	// shorter than the parameter list, 0 means to infer. The session may keep
	// the slice.
	Parse(ctx context.Context, name, sql string, paramOIDs []uint32) error

	// Bind makes a portal from a prepared statement. Everything that b points
	// to except its two names is valid during the call only.
	Bind(ctx context.Context, b *Bind) error

	// DescribeStatement returns the types of a statement's parameters and the
	// columns of its result; nil cols mean that it returns no rows, which is
	// not the same as an empty column list.
	DescribeStatement(ctx context.Context, name string) (params []uint32, cols []Column, err error)

	// DescribePortal returns the columns of a portal's result (nil as above)
	// and their format codes, in number 0 (all text), 1 (for all) or one each.
	DescribePortal(ctx context.Context, name string) (cols []Column, formats []int16, err error)

	// Execute runs a portal until its end or until maxRows rows (0 = no limit)
	// are sent, and ends with Complete, Empty or Suspended on w.
	Execute(ctx context.Context, portal string, maxRows int, w ResultWriter) error

	// FunctionCall calls a function and sends its result on w as one row of one column,
	// without Complete. Outside of a block it is a transaction of its own. Everything that
	// f points to is valid during the call only.
	FunctionCall(ctx context.Context, f *FunctionCall, w ResultWriter) error

	// CloseStatement and ClosePortal drop a name; an unknown one is no error.
	CloseStatement(name string) error
	ClosePortal(name string) error

	// Sync ends an extended-protocol sequence: it commits an implicit
	// transaction. It is called after failed sequences too.
	Sync(ctx context.Context, w ResultWriter) error

	// Abort tells the session that an error is about to be sent to the client,
	// whether it came from the session itself or from the wire (a malformed
	// message, a value that cannot be encoded, a panic): an open transaction
	// block becomes a failed one, an implicit transaction is rolled back. A
	// session that has done so already has nothing to do.
	Abort()

	// Wakeup is called after ConnInfo.Wake when the connection is between two
	// messages, also within a transaction block. It may send notifications and
	// notices; an error is sent and, when FATAL, ends the connection.
	Wakeup(ctx context.Context, w ResultWriter) error

	// Notices returns what the client is told before Parameters, once.
	Notices() []*sqlerr.Error

	// Parameters returns the settings that every client is told at startup;
	// later changes go through ResultWriter.ParameterStatus.
	Parameters() []Parameter

	// Encoding is the client's encoding of text; nil is UTF-8. What the wire
	// hands to the session and takes from it is UTF-8 but for binary values,
	// COPY data and Bind's portal names, which are the session's to convert.
	Encoding() *charset.Encoding

	// TxStatus is 'I' when idle, 'T' in a transaction block, 'E' in a failed one.
	TxStatus() byte

	// Close ends the session: it rolls back what is open. It is called exactly
	// once, when no other call is running.
	Close()
}

// Bind is a decoded Bind message.
type Bind struct {
	Portal    string
	Statement string
	// ParamFormats holds 0, 1 or len(Params) codes (0 text, 1 binary), as CheckParams says.
	ParamFormats []int16
	Params       [][]byte // as they were sent, see Param; nil is NULL
	// ResultFormats holds 0, 1 or one code per result column, as CheckResults says.
	ResultFormats []int16

	enc *charset.Encoding // of texts
}

// CheckParams fails with 08P01 unless there are as many parameters as a statement has, and
// formats for them. A statement that is not there comes first: the session asks when it
// has found it.
func (b *Bind) CheckParams(want int) error {
	if n := len(b.ParamFormats); n > 1 && n != len(b.Params) {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d parameter formats but %d parameters", n, len(b.Params))
	}
	if len(b.Params) != want {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message supplies %d parameters, but prepared statement \"%s\" requires %d",
			len(b.Params), b.Statement, want)
	}
	return nil
}

// CheckResults fails with 08P01 unless there are formats for the columns of a result, nil
// for a statement without, and with 22023 if there are no such formats.
func (b *Bind) CheckResults(cols []Column) error {
	if n := len(b.ResultFormats); n > 1 && n != len(cols) && cols != nil {
		return sqlerr.New(sqlerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", n, len(cols))
	}
	return checkFormats(b.ResultFormats)
}

// Param returns parameter i: nil for NULL, a text as valid UTF-8 without NULs, anything
// else as it was sent.
func (b *Bind) Param(i int) ([]byte, error) {
	p, f := b.Params[i], b.ParamFormat(i)
	if err := checkFormats([]int16{f}); err != nil {
		return nil, b.ParamError(err, i, false)
	}
	if p == nil || f == formatBinary {
		return p, nil
	}
	p, err := text(p, b.enc)
	if err != nil {
		return nil, b.ParamError(err, i, false)
	}
	return p, nil
}

// ParamError says which parameter an error is about. The value of a text that was
// understood is not shown, as log_parameter_max_length_on_error has it.
func (b *Bind) ParamError(err error, i int, understood bool) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	portal := "unnamed portal"
	if b.Portal != "" {
		portal = `portal "` + b.Portal + `"`
	}
	c := *e
	where := portal + " parameter $" + strconv.Itoa(i+1)
	if understood && b.ParamFormat(i) == formatText {
		if len(b.Params[i]) == 0 {
			where += " = ''"
		} else {
			where += " = '...'"
		}
	}
	if c.Where != "" {
		where = c.Where + "\n" + where
	}
	c.Where = where
	return &c
}

// ParamFormat returns the format code of parameter i.
func (b *Bind) ParamFormat(i int) int16 { return FormatOf(b.ParamFormats, i) }

// FormatOf returns the format code of element i of a list of 0 (all text), 1
// (the same for all) or n codes.
func FormatOf(formats []int16, i int) int16 {
	switch len(formats) {
	case 0:
		return 0
	case 1:
		return formats[0]
	}
	return formats[i]
}

// Column describes one result column.
type Column struct {
	Name     string
	TableOID uint32 // 0 when the column is not a plain table column
	AttNum   int16  // 0 likewise
	Type     types.T
}

// ResultWriter takes the results of a statement in the order in which the
// client shall see them. It belongs to the connection's goroutine. Methods
// without an error result keep the first fault and let Batch, or the end of
// the message, report it.
type ResultWriter interface {
	// Rows announces a result before its batches: the columns, the format
	// codes (0, 1 or one per column) and the settings that shape text output.
	// The simple protocol sends a RowDescription; the extended one does not,
	// there the client has asked by Describe. The arguments must stay
	// unchanged until the result's end.
	Rows(cols []Column, formats []int16, opts *types.FmtOpts)

	// Batch sends one DataRow per selected row of b and keeps nothing of b.
	// It writes to the socket when the output buffer is full, so a slow client
	// slows its statement down. On an error the statement must stop.
	Batch(b *vec.Batch) error

	// Complete ends a statement. The tag is sent as it is when rows < 0 and
	// followed by a space and the number otherwise: ("SELECT", 3),
	// ("INSERT 0", 1), ("BEGIN", -1).
	Complete(tag string, rows int64)
	// Empty ends a query text without a statement.
	Empty()
	// Suspended ends an Execute that stopped at its row limit.
	Suspended()

	// Notice sends a notice; e.Severity is NOTICE, WARNING, INFO, LOG or DEBUG.
	Notice(e *sqlerr.Error)
	// ParameterStatus tells the client a setting's value before the next
	// ReadyForQuery, unless the client knows it already.
	ParameterStatus(name, value string)
	// Notification sends an asynchronous NOTIFY.
	Notification(pid int32, channel, payload string)

	// CopyIn asks the client for COPY data of that many columns. The reader
	// must be read until io.EOF or an error.
	CopyIn(binary bool, columns int) (CopyReader, error)
	// CopyOut starts sending COPY data of that many columns.
	CopyOut(binary bool, columns int) (CopyWriter, error)
}

// CopyReader delivers the client's COPY data.
type CopyReader interface {
	// Next returns the payload of the next CopyData message, which may begin
	// and end anywhere in a row and is valid until the next call. The error is
	// io.EOF after CopyDone, 57014 after CopyFail, the context's cause after a
	// cancel, or a connection failure.
	Next() ([]byte, error)
	// Await waits for the client at most that long and reports whether Next has
	// data to return: false is a client that takes its time, or has sent something else,
	// which ends them.
	Await(patience time.Duration) bool
}

// CopyWriter sends COPY data to the client.
type CopyWriter interface {
	// Write sends p as one CopyData message (by custom one row, including its
	// newline in text formats) and keeps nothing of p.
	Write(p []byte) (int, error)
	// Close sends CopyDone. It is left out when the statement fails.
	Close() error
}
