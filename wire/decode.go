package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
)

const (
	initialReadBuffer = 8 << 10
	// keepReadBuffer is the largest read buffer that a connection keeps
	// between messages.
	keepReadBuffer = 1 << 20
)

// reader cuts a byte stream into messages. An error from the source leaves
// everything read so far in place, so that a read that timed out goes on where
// it stopped.
type reader struct {
	src  io.Reader
	buf  []byte
	r, w int // buf[r:w] has arrived and is not consumed
	max  int // longest acceptable body in bytes

	room    func(bytes int64) error // asked before the buffer grows large; nil: not asked
	drop    int                     // bytes of a refused message that are still to come
	refused refusal
}

// refusal is the error of next for a message that there is no memory for. It has
// been skipped: the one after it can be read.
type refusal struct {
	typ   byte
	cause error
}

func (r *refusal) Error() string { return r.cause.Error() }
func (r *refusal) Unwrap() error { return r.cause }

func newReader(src io.Reader, max int) reader {
	return reader{src: src, buf: make([]byte, initialReadBuffer), max: max}
}

// buffered is the number of bytes that have arrived and are not consumed.
func (rd *reader) buffered() int { return rd.w - rd.r }

// fill waits until n bytes are buffered. The buffer grows only when it is full
// of bytes that have arrived (W4).
func (rd *reader) fill(n int) error {
	for rd.w-rd.r < n {
		if rd.r+n > len(rd.buf) && rd.r > 0 {
			copy(rd.buf, rd.buf[rd.r:rd.w])
			rd.w -= rd.r
			rd.r = 0
		}
		if rd.w == len(rd.buf) {
			size := min(2*len(rd.buf), max(n, len(rd.buf)+1))
			if size > keepReadBuffer && rd.room != nil {
				if err := rd.room(int64(size)); err != nil {
					return &refusal{cause: err}
				}
			}
			grown := make([]byte, size)
			copy(grown, rd.buf[:rd.w])
			rd.buf = grown
		}
		m, err := rd.src.Read(rd.buf[rd.w:])
		rd.w += m
		if err != nil && rd.w-rd.r < n {
			if err == io.EOF && rd.w > rd.r {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// space empties the buffer, all of which has been consumed, and returns it.
func (rd *reader) space() []byte {
	rd.r, rd.w = 0, 0
	if len(rd.buf) > keepReadBuffer {
		rd.buf = make([]byte, initialReadBuffer)
	}
	return rd.buf
}

// next returns the next message's type and body; the body is valid until the
// following call (W3).
func (rd *reader) next() (typ byte, body []byte, err error) {
	if rd.drop > 0 {
		return 0, nil, rd.skip()
	}
	if rd.r == rd.w {
		rd.space()
	}
	if err := rd.fill(5); err != nil {
		return 0, nil, err
	}
	typ = rd.buf[rd.r]
	n := int64(binary.BigEndian.Uint32(rd.buf[rd.r+1:]))
	if !knownFrontendType(typ) {
		return 0, nil, violation("invalid frontend message type %d", typ)
	}
	if n < 4 || n-4 > int64(rd.longest(typ)) {
		return 0, nil, violation("invalid message length")
	}
	end := 1 + int(n)
	if err := rd.fill(end); err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			return 0, nil, err
		}
		rd.refused = refusal{typ, no.cause}
		rd.drop, rd.r, rd.w = end-rd.buffered(), 0, 0
		rd.space()
		return 0, nil, rd.skip()
	}
	body = rd.buf[rd.r+5 : rd.r+end : rd.r+end]
	rd.r += end
	return typ, body, nil
}

// skip reads what is left of a refused message and returns the refusal.
func (rd *reader) skip() error {
	for rd.drop > 0 {
		n, err := rd.src.Read(rd.buf[:min(len(rd.buf), rd.drop)])
		rd.drop -= n
		if err != nil && rd.drop > 0 {
			return err
		}
	}
	return &rd.refused
}

// maxShortMessage bounds the messages that carry no statement and no data.
const maxShortMessage = 10_000 - 4

// longest is the longest acceptable body of a message.
func (rd *reader) longest(typ byte) int {
	switch typ {
	case 'Q', 'P', 'B', 'F', 'd', 'p':
		return rd.max
	}
	return min(rd.max, maxShortMessage)
}

// startupPacket returns the body of an untyped packet. Lengths outside of
// [8, maxStartupPacket] are an error before anything is read.
func (rd *reader) startupPacket() ([]byte, error) {
	if err := rd.fill(4); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(rd.buf[rd.r:]))
	if n < 8 || n > maxStartupPacket {
		return nil, violation("invalid length of startup packet")
	}
	if err := rd.fill(int(n)); err != nil {
		return nil, err
	}
	body := rd.buf[rd.r+4 : rd.r+int(n)]
	rd.r += int(n)
	return body, nil
}

func knownFrontendType(typ byte) bool {
	switch typ {
	case 'B', 'C', 'D', 'E', 'F', 'H', 'P', 'Q', 'S', 'X', 'c', 'd', 'f', 'p':
		return true
	}
	return false
}

// violation is a protocol error that ends the connection (W6).
func violation(format string, args ...any) *sqlerr.Error {
	e := sqlerr.New(sqlerr.ProtocolViolation, format, args...)
	e.Severity = severityFatal
	return e
}

// cursor reads a message body from front to back and remembers whether
// anything was missing; after the first fault it returns zero values.
type cursor struct {
	b   []byte
	bad string // what was wrong first
}

// Faults of a message's body.
const (
	noDataLeft       = "no data left in message"
	insufficientData = "insufficient data left in message"
	invalidString    = "invalid string in message"
)

// fail notes a fault; nothing more is read.
func (c *cursor) fail(what string) {
	if c.b = nil; c.bad == "" {
		c.bad = what
	}
}

// str returns the bytes before the next NUL and consumes both.
func (c *cursor) str() []byte {
	i := bytes.IndexByte(c.b, 0)
	if i < 0 {
		c.fail(invalidString)
		return nil
	}
	s := c.b[:i:i]
	c.b = c.b[i+1:]
	return s
}

func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.fail(insufficientData)
		return nil
	}
	s := c.b[:n:n]
	c.b = c.b[n:]
	return s
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.fail(noDataLeft)
		return 0
	}
	return c.bytes(1)[0]
}

func (c *cursor) int16() int16 {
	if s := c.bytes(2); s != nil {
		return int16(binary.BigEndian.Uint16(s))
	}
	return 0
}

func (c *cursor) int32() int32 {
	if s := c.bytes(4); s != nil {
		return int32(binary.BigEndian.Uint32(s))
	}
	return 0
}

// count reads an unsigned 16-bit number of elements of at least size bytes
// each and fails when they cannot all be there (W4).
func (c *cursor) count(size int) int {
	n := int(uint16(c.int16()))
	if n*size > len(c.b) {
		c.fail(insufficientData)
		return 0
	}
	return n
}

// end reports a fault, or bytes that are left over.
func (c *cursor) end() error {
	switch {
	case c.bad != "":
		return sqlerr.New(sqlerr.ProtocolViolation, "%s", c.bad)
	case len(c.b) != 0:
		return sqlerr.New(sqlerr.ProtocolViolation, "invalid message format")
	}
	return nil
}

// names hands out strings for statement and portal names, which clients
// repeat all the time, without allocating for the ones it has seen.
type names struct {
	known map[string]string
	enc   *charset.Encoding // of the client; nil: UTF-8
}

func newNames() names { return names{known: make(map[string]string)} }

const maxNames = 1024

func (m *names) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if m.enc != nil {
		if t, err := m.enc.Decode(b); err == nil { // else it is the name of nothing
			b = t
		}
	}
	if s, ok := m.known[string(b)]; ok {
		return s
	}
	if len(m.known) >= maxNames {
		clear(m.known)
	}
	s := string(b)
	m.known[s] = s
	return s
}

// text checks a text of the client's and returns it in UTF-8.
func text(b []byte, enc *charset.Encoding) ([]byte, error) {
	if enc != nil {
		return enc.Decode(b)
	}
	return b, charset.CheckUTF8(b)
}

func decodeQuery(body []byte, enc *charset.Encoding) (string, error) {
	c := cursor{b: body}
	sql := c.str()
	if err := c.end(); err != nil {
		return "", err
	}
	sql, err := text(sql, enc)
	if err != nil {
		return "", err
	}
	return string(sql), nil
}

func decodeParse(body []byte, m *pgproto3.Parse, enc *charset.Encoding) error {
	c := cursor{b: body}
	name, sql := c.str(), c.str()
	n := c.count(4)
	var oids []uint32
	if n > 0 {
		oids = make([]uint32, n)
		for i := range oids {
			oids[i] = uint32(c.int32())
		}
	}
	if err := c.end(); err != nil {
		return err
	}
	name, err := text(name, enc)
	if err != nil {
		return err
	}
	if sql, err = text(sql, enc); err != nil {
		return err
	}
	*m = pgproto3.Parse{Name: string(name), Query: string(sql), ParameterOIDs: oids}
	return nil
}

// decodeBind fills b, reusing its slices. It checks the framing; what hangs on the
// statement, and comes behind whether there is one, is for the session.
func decodeBind(body []byte, b *Bind, known *names) error {
	c := cursor{b: body}
	b.Portal = known.get(c.str())
	b.Statement = known.get(c.str())
	b.ParamFormats = c.formats(b.ParamFormats[:0])
	b.Params = b.Params[:0]
	for n := c.count(4); n > 0; n-- {
		size := c.int32()
		if size == -1 {
			b.Params = append(b.Params, nil)
			continue
		}
		b.Params = append(b.Params, c.bytes(int(size)))
	}
	b.ResultFormats = c.formats(b.ResultFormats[:0])
	if err := c.end(); err != nil {
		return err
	}
	b.enc = known.enc
	return nil
}

// formats appends a counted list of format codes to dst.
func (c *cursor) formats(dst []int16) []int16 {
	for n := c.count(2); n > 0; n-- {
		dst = append(dst, c.int16())
	}
	return dst
}

func checkFormats(formats []int16) error {
	for _, f := range formats {
		if f != formatText && f != formatBinary {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unsupported format code: %d", f)
		}
	}
	return nil
}

func decodeExecute(body []byte, m *pgproto3.Execute, known *names) error {
	c := cursor{b: body}
	m.Portal = known.get(c.str())
	m.MaxRows = uint32(max(0, c.int32()))
	return c.end()
}

// decodeTarget reads a Describe or a Close: 'S' or 'P', and a name.
func decodeTarget(body []byte, verb string, known *names) (kind byte, name string, err error) {
	c := cursor{b: body}
	kind, name = c.byte(), known.get(c.str())
	if err := c.end(); err != nil {
		return 0, "", err
	}
	if kind != 'S' && kind != 'P' {
		return 0, "", sqlerr.New(sqlerr.ProtocolViolation, "invalid %s message subtype %d", verb, kind)
	}
	return kind, name, nil
}
