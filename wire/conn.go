package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
)

// conn is one connection, from accept to close.
type conn struct {
	srv    *Server
	raw    net.Conn // the accepted socket
	nc     net.Conn // raw, or TLS over it
	log    *slog.Logger
	info   ConnInfo
	secret uint32

	rd      reader
	spin    spinner
	out     output
	results results
	stmt    statement
	woken   atomic.Bool

	sess    Session
	skip    bool // after an error in the extended protocol, until Sync (W5)
	closing bool // a FATAL has been sent, or the client has said goodbye
	lost    bool // the client sends what cannot be told from its data: behind the error comes a FATAL

	names    names
	bind     Bind
	function FunctionCall
	parse    pgproto3.Parse
	execute  pgproto3.Execute
	watchSeq uint64 // progress at the watcher's last look; the watcher's own
}

func newConn(srv *Server, nc net.Conn) *conn {
	nc = newSocket(nc)
	c := &conn{
		srv:   srv,
		raw:   nc,
		nc:    nc,
		log:   srv.opts.Logger.With("remote", nc.RemoteAddr().String()),
		names: newNames(),
	}
	c.rd = newReader(nc, maxAuthMessage)
	c.out.dst, c.out.held.after = nc, holdTime
	c.results = results{output: &c.out, c: c, reported: make(map[string]string)}
	c.info = ConnInfo{RemoteAddr: nc.RemoteAddr(), LocalAddr: nc.LocalAddr(), Wake: c.wake}
	return c
}

// past is a read deadline that interrupts a blocked read at once.
var past = time.Unix(1, 0)

// wake has the connection call Session.Wakeup when it is between messages.
func (c *conn) wake() {
	c.woken.Store(true)
	c.interruptRead()
}

// interruptRead ends a blocked read with a timeout, after which the connection
// looks at its flags. An error means that the socket is closed already.
func (c *conn) interruptRead() { _ = c.raw.SetReadDeadline(past) }

// cancel ends the running call's context and a COPY's wait for data.
func (c *conn) cancel(cause *sqlerr.Error) {
	if c.stmt.cancel(cause) {
		c.interruptRead()
	}
}

// terminate ends the connection with e as soon as no call is running.
func (c *conn) terminate(e *sqlerr.Error) {
	c.stmt.kill(e)
	c.interruptRead()
}

// cut ends the connection with e, cancelling what it runs; a write that the
// client does not take fails after a while.
func (c *conn) cut(e *sqlerr.Error) {
	c.stmt.sever(e)
	c.interruptRead()
	c.cancel(e)
	_ = c.raw.SetWriteDeadline(time.Now().Add(cutTime)) // fails only on a closed socket
}

// serve runs the connection to its end.
func (c *conn) serve() {
	defer c.close()
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("connection failed", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if !c.startup() {
		return
	}
	c.initSpin()
	for !c.closing {
		if c.woken.Swap(false) {
			c.wakeup()
			continue
		}
		if c.settle(); c.closing {
			continue
		}
		c.awaitInput()
		typ, body, err := c.rd.next()
		if err != nil {
			if no := new(refusal); errors.As(err, &no) {
				c.refuse(no)
			} else {
				c.readFailed(err)
			}
			continue
		}
		c.handle(typ, body)
	}
}

// refuse answers a message that there was no memory for, as if serving it had failed.
func (c *conn) refuse(no *refusal) {
	failed := func(context.Context) error { return no.cause }
	switch {
	case c.skip || no.typ == 'd':
	case no.typ == 'P' || no.typ == 'B':
		c.extended(failed)
	default:
		c.call(failed)
		c.ready()
	}
}

// room asks for memory for a large message.
func (c *conn) room(bytes int) error {
	if bytes < keepReadBuffer || c.srv.opts.Room == nil {
		return nil
	}
	return c.srv.opts.Room(int64(bytes))
}

// settle writes answers that are held when the next message is not there yet.
func (c *conn) settle() {
	if c.out.held.some && !c.rd.whole() && c.out.flush() != nil {
		c.closing = true
	}
}

// close releases everything. The session goes first, so that a client that
// sees the connection end also sees its transaction gone.
func (c *conn) close() {
	if c.out.held.some {
		_ = c.out.flush() // the client may have gone without waiting for answers
	}
	if c.sess != nil {
		func() {
			defer func() {
				if p := recover(); p != nil {
					c.log.Error("closing the session failed", "panic", p, "stack", string(debug.Stack()))
				}
			}()
			c.sess.Close()
		}()
	}
	c.srv.conns.remove(c)
	_ = c.nc.Close() // the peer may have closed it first; nothing is left to save
}

// readFailed deals with a failed read between messages: an interrupt is looked
// into, everything else ends the connection.
func (c *conn) readFailed(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err = c.resumeReads(); err == nil {
			if k := c.stmt.killed.Load(); k != nil {
				c.fatal(k)
			}
			return
		}
	}
	var e *sqlerr.Error
	if errors.As(err, &e) {
		c.fatal(e)
		return
	}
	if err != io.EOF {
		c.log.Debug("client gone", "err", err)
	}
	c.info.End = EndAbandoned
	c.closing = true
}

// resumeReads takes an interrupt back. It must be called before the flags are
// read: whoever sets a flag later sets the deadline once more.
func (c *conn) resumeReads() error { return c.raw.SetReadDeadline(time.Time{}) }

// wakeup lets the session send what it has for an idle client.
func (c *conn) wakeup() {
	c.call(func(ctx context.Context) error { return c.sess.Wakeup(ctx, &c.results) })
	if c.out.flush() != nil {
		c.closing = true
	}
}

// call runs one call into the session: with a context that can be cancelled,
// and with panics caught (W8). A failure is sent; call reports success.
func (c *conn) call(f func(ctx context.Context) error) (ok bool) {
	ctx := c.stmt.begin()
	err := c.stmt.refusal()
	if err == nil {
		err = c.protect(ctx, f)
	}
	if err == nil {
		err = c.results.takeFault()
	}
	if err != nil {
		c.fail(ctx, err)
	}
	c.stmt.end()
	return err == nil
}

func (c *conn) protect(ctx context.Context, f func(ctx context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{value: p, stack: debug.Stack()}
		}
	}()
	return f(ctx)
}

// panicError is a panic of the session, on its way to the log.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// fail sends an error of the query phase (W7).
func (c *conn) fail(ctx context.Context, err error) {
	c.results.fault = nil
	e, internal := asSQL(ctx, err)
	if internal {
		c.log.Error("statement failed with an internal error", "err", err)
	}
	abort := func(context.Context) error { c.sess.Abort(); return nil }
	if aerr := c.protect(ctx, abort); aerr != nil {
		c.log.Error("aborting the transaction failed", "err", aerr)
		e = asFatal(e)
	}
	if isFatal(e) {
		c.fatal(e)
		return
	}
	c.sendError(e)
	if c.lost {
		c.fatal(violation("terminating connection because protocol synchronization was lost"))
	}
}

// fatal sends e and ends the connection.
func (c *conn) fatal(e *sqlerr.Error) {
	c.closing = true
	c.info.End = EndFatal
	if e == c.stmt.killed.Load() {
		c.info.End = EndKilled
	}
	c.sendError(asFatal(e))
	if c.out.flush() == nil {
		c.linger()
	}
}

// encoding is the client's encoding of text; nil is UTF-8.
func (c *conn) encoding() *charset.Encoding {
	if c == nil || c.sess == nil {
		return nil
	}
	return c.sess.Encoding()
}

func (c *conn) sendError(e *sqlerr.Error) {
	c.srv.metrics.Errors.Add(1)
	m := errorResponse(e, severityError, c.encoding())
	if err := c.out.send(&m); err != nil {
		m = errorResponse(sqlerr.New(e.Code, "the error message is too long to be sent"), severityError, nil)
		_ = c.out.send(&m) // a fixed message that fits
	}
}

const (
	// cutTime is how long a connection that is cut may still write.
	cutTime = 5 * time.Second

	lingerTime  = 500 * time.Millisecond
	lingerBytes = 1 << 20
)

// linger lets the client read a last message: closing a socket with unread
// input resets it, and a reset can overtake what was just written.
func (c *conn) linger() {
	type halfCloser interface{ CloseWrite() error }
	if t, ok := c.nc.(*tls.Conn); ok {
		_ = t.CloseWrite() // a polite end of the encrypted stream; the socket's follows
	}
	half, ok := c.raw.(halfCloser)
	if !ok || half.CloseWrite() != nil || c.raw.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, c.raw, lingerBytes) // only the waiting matters
}

// ready ends a cycle: ReadyForQuery, and one write for everything (W2, W5), later
// and with further answers where the client has sent more already.
func (c *conn) ready() {
	if c.closing {
		return
	}
	c.results.reportParameters()
	c.out.readyForQuery(c.sess.TxStatus())
	write := c.out.flush
	if c.rd.whole() {
		write = c.out.hold
	}
	if write() != nil {
		c.closing = true
		return
	}
	if k := c.stmt.killed.Load(); k != nil {
		c.fatal(k)
	}
}

// handle serves one message. Those of the extended protocol are dropped while
// skipping; COPY data outside of a COPY always is, because a client may still
// be sending it when its COPY has failed.
func (c *conn) handle(typ byte, body []byte) {
	switch typ {
	case 'X':
		c.closing = true
		return
	case 'S':
		c.sync(body)
		return
	case 'c', 'd', 'f':
		return
	}
	if c.skip {
		return
	}
	c.out.enc = c.encoding()
	c.names.enc = c.out.enc
	if err := c.room(2 * len(body)); err != nil { // what is read of it is copied
		c.refuse(&refusal{typ, err})
		return
	}
	switch typ {
	case 'Q':
		c.query(body)
	case 'P':
		c.handleParse(body)
	case 'B':
		c.handleBind(body)
	case 'D':
		c.handleDescribe(body)
	case 'E':
		c.handleExecute(body)
	case 'C':
		c.handleClose(body)
	case 'H':
		m := cursor{b: body}
		if err := m.end(); err != nil {
			c.extended(func(context.Context) error { return err })
			return
		}
		if c.out.flush() != nil {
			c.closing = true
		}
	case 'F':
		c.functionCall(body)
	default: // 'p': nobody has asked for a password
		c.fatal(violation("invalid frontend message type %d", typ))
	}
}
