package wire

import (
	"encoding/binary"
	"io"
	"strconv"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
)

const (
	formatText   = 0
	formatBinary = 1

	// flushSize is where the output buffer is written although nobody waits
	// for it yet (W2); keepWriteBuffer is what a connection keeps of it.
	flushSize       = 64 << 10
	keepWriteBuffer = 1 << 20

	// maxMessage bounds an outgoing message, as clients do.
	maxMessage = 1<<30 - 1
)

// output collects messages and writes them in few pieces. After a failed write
// it stays failed and drops what comes.
type output struct {
	dst  io.Writer
	buf  []byte
	enc  *charset.Encoding // of the client's texts; nil: UTF-8
	err  error             // *sqlerr.Error 08006 once a write has failed
	held heldAnswers       // that come before buf
}

// flush writes everything out.
func (o *output) flush() error {
	o.release()
	if o.err == nil && len(o.buf) > 0 {
		if _, err := o.dst.Write(o.buf); err != nil {
			o.err = clientLost(err)
		}
	}
	if cap(o.buf) > keepWriteBuffer {
		o.buf = nil
	}
	o.buf = o.buf[:0]
	return o.err
}

// flushFull writes everything out when the buffer is full.
func (o *output) flushFull() error {
	if len(o.buf) >= flushSize {
		return o.flush()
	}
	return o.err
}

// send appends a message by the protocol library; for messages that are rare.
func (o *output) send(m pgproto3.BackendMessage) error {
	buf, err := m.Encode(o.buf)
	if err != nil {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "protocol message: %s", err)
	}
	o.buf = buf
	return nil
}

// empty appends a message without a body.
func (o *output) empty(typ byte) { o.buf = append(o.buf, typ, 0, 0, 0, 4) }

// begin starts a message and returns the position that finish needs.
func (o *output) begin(typ byte) int {
	o.buf = append(o.buf, typ, 0, 0, 0, 0)
	return len(o.buf) - 4
}

// finish sets the length of the message begun at pos.
func (o *output) finish(pos int) {
	binary.BigEndian.PutUint32(o.buf[pos:], uint32(len(o.buf)-pos))
}

func (o *output) str(s string) { o.buf = append(append(o.buf, o.text(s)...), 0) }

// text is a text of the server's for the client.
func (o *output) text(s string) string {
	if o.enc == nil {
		return s
	}
	return o.enc.EncodeLossy(s)
}

func (o *output) int16(v int16) { o.buf = binary.BigEndian.AppendUint16(o.buf, uint16(v)) }

func (o *output) int32(v int32) { o.buf = binary.BigEndian.AppendUint32(o.buf, uint32(v)) }

// readyForQuery appends the message that hands the turn to the client.
func (o *output) readyForQuery(status byte) { o.buf = append(o.buf, 'Z', 0, 0, 0, 5, status) }

// commandComplete appends tag, and " rows" unless rows is negative.
func (o *output) commandComplete(tag string, rows int64) {
	pos := o.begin('C')
	o.buf = append(o.buf, tag...)
	if rows >= 0 {
		o.buf = append(o.buf, ' ')
		o.buf = strconv.AppendInt(o.buf, rows, 10)
	}
	o.buf = append(o.buf, 0)
	o.finish(pos)
}

// rowDescription describes a result whose columns come in the given formats.
func (o *output) rowDescription(cols []Column, formats []int16) {
	pos := o.begin('T')
	o.int16(int16(len(cols)))
	for i := range cols {
		c := &cols[i]
		o.str(c.Name)
		o.int32(int32(c.TableOID))
		o.int16(c.AttNum)
		o.int32(int32(c.Type.OID))
		o.int16(typeLen(c.Type))
		o.int32(c.Type.Mod)
		o.int16(FormatOf(formats, i))
	}
	o.finish(pos)
}

// parameterDescription lists the types of a statement's parameters.
func (o *output) parameterDescription(oids []uint32) {
	pos := o.begin('t')
	o.int16(int16(len(oids)))
	for _, oid := range oids {
		o.int32(int32(oid))
	}
	o.finish(pos)
}

// typeLen is pg_type.typlen: the size of a fixed-size type, -1 or -2.
func typeLen(t types.T) int16 {
	if in := types.Lookup(t.OID); in != nil {
		return in.Len
	}
	if t.User == types.KEnum {
		return 4 // PostgreSQL stores an enum value as the OID of its label
	}
	return -1
}
