package wire

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgproto3/v2"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// results is the ResultWriter of a connection.
type results struct {
	*output
	c      *conn
	simple bool // a Query message is running: results begin with RowDescription
	// function tells that a FunctionCall message is running: its row is the response.
	function bool
	fault    error
	formats  []int16
	opts     *types.FmtOpts
	fields   []fieldEncoding // of the batch at hand, one per column
	// converts tells the columns whose bytes are text, where enc is set
	converts []bool

	reported map[string]string // settings as the client knows them
	changed  []Parameter       // settings to report before ReadyForQuery
}

var _ ResultWriter = (*results)(nil)

// takeFault returns and forgets the first fault of a method without an error
// result.
func (w *results) takeFault() error {
	err := w.fault
	w.fault = nil
	return err
}

func (w *results) note(err error) {
	if err != nil && w.fault == nil {
		w.fault = err
	}
}

func (w *results) Rows(cols []Column, formats []int16, opts *types.FmtOpts) {
	w.formats, w.opts = formats, opts
	w.enc = w.c.encoding() // a statement of the same message may have set it
	if w.simple {
		w.rowDescription(cols, formats)
	}
}

func (w *results) Complete(tag string, rows int64) { w.commandComplete(tag, rows) }
func (w *results) Empty()                          { w.empty('I') }
func (w *results) Suspended()                      { w.empty('s') }

func (w *results) Notice(e *sqlerr.Error) {
	m := pgproto3.NoticeResponse(errorResponse(e, severityNotice, w.c.encoding()))
	w.note(w.send(&m))
}

func (w *results) Notification(pid int32, channel, payload string) {
	w.note(w.send(&pgproto3.NotificationResponse{PID: uint32(pid), Channel: w.text(channel), Payload: w.text(payload)}))
	w.note(w.flushFull())
}

func (w *results) ParameterStatus(name, value string) {
	for i := range w.changed {
		if w.changed[i].Name == name {
			w.changed[i].Value = value
			return
		}
	}
	w.changed = append(w.changed, Parameter{name, value})
}

// reportParameters sends the settings that differ from what the client knows, by name.
func (w *results) reportParameters() {
	slices.SortFunc(w.changed, func(a, b Parameter) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	for _, p := range w.changed {
		if known, ok := w.reported[p.Name]; ok && known == p.Value {
			continue
		}
		w.reported[p.Name] = p.Value
		w.note(w.send(&pgproto3.ParameterStatus{Name: p.Name, Value: w.text(p.Value)}))
	}
	w.changed = w.changed[:0]
}

// fieldEncoding says how a column's values become bytes. The common pairs of
// type and format have their own; the rest goes through package vec.
type fieldEncoding uint8

const (
	fieldText   fieldEncoding = iota // vec.AppendText
	fieldBinary                      // vec.AppendBinary
	fieldBytes                       // Vec.B is the value in either format
	fieldDecimalInt
	fieldBoolText
	fieldBoolBinary
	fieldInt2
	fieldInt4
	fieldInt8
	fieldFloat4
	fieldFloat8
)

// encodingOf chooses the encoding by the type's OID, not by its kind: kinds
// also cover types whose text is not their value's (regclass, bpchar, "char").
func encodingOf(t types.T, format int16) fieldEncoding {
	if format == formatText {
		switch t.OID {
		case types.OInt2, types.OInt4, types.OInt8, types.OOid:
			return fieldDecimalInt
		case types.OText, types.OVarchar, types.OName, types.OUnknown, types.OJSON:
			return fieldBytes
		case types.OBool:
			return fieldBoolText
		}
		return fieldText
	}
	switch t.OID {
	case types.OInt2:
		return fieldInt2
	case types.OInt4, types.OOid, types.ODate:
		return fieldInt4
	case types.OInt8, types.OTimestamp, types.OTimestamptz, types.OTime:
		return fieldInt8
	case types.OText, types.OVarchar, types.OName, types.OUnknown, types.OJSON, types.OBytea, types.OUUID:
		return fieldBytes
	case types.OBool:
		return fieldBoolBinary
	case types.OFloat4:
		return fieldFloat4
	case types.OFloat8:
		return fieldFloat8
	}
	return fieldBinary
}

func (w *results) Batch(b *vec.Batch) error {
	if w.fault != nil {
		return w.takeFault()
	}
	w.fields = w.fields[:0]
	w.converts = w.converts[:0]
	for i, v := range b.Cols {
		f := FormatOf(w.formats, i)
		w.fields = append(w.fields, encodingOf(v.T, f))
		if w.enc == nil {
			continue
		}
		c := f == formatText || v.T.Textual()
		if !c && v.T.HoldsText() {
			return sqlerr.Unsupported(-1, "binary format of type %s with client encoding %s", types.FormatType(v.T), w.enc.Name)
		}
		w.converts = append(w.converts, c)
	}
	for i, n := 0, b.Rows(); i < n; i++ {
		if err := w.dataRow(b, b.Row(i)); err != nil {
			return err
		}
		if err := w.flushFull(); err != nil {
			return err
		}
	}
	return w.err
}

// dataRow appends one row. The buffer is replaced when the row is complete, so
// an encoder that panics leaves nothing of it behind.
func (w *results) dataRow(b *vec.Batch, row int) error {
	start := len(w.buf)
	buf := append(w.buf, 'V', 0, 0, 0, 0)
	if !w.function {
		buf[start] = 'D'
		buf = append(buf, byte(len(b.Cols)>>8), byte(len(b.Cols)))
	}
	for i, v := range b.Cols {
		at := len(buf)
		if n := sizeOf(v, row); n >= keepWriteBuffer {
			if n > maxMessage-(at-start) {
				return errRowTooLarge()
			}
			if err := w.c.room(len(buf) + n); err != nil {
				return err
			}
			buf = slices.Grow(buf, n+8)
		}
		buf = w.appendField(buf, v, w.fields[i], row)
		if w.enc != nil && w.converts[i] && len(buf) > at+4 {
			text, err := w.enc.Encode(buf[at+4:])
			if err != nil {
				return err
			}
			buf = append(buf[:at+4], text...)
			binary.BigEndian.PutUint32(buf[at:], uint32(len(text)))
		}
		if len(buf)-start > maxMessage {
			return errRowTooLarge()
		}
	}
	binary.BigEndian.PutUint32(buf[start+1:], uint32(len(buf)-start-1))
	w.buf = buf
	return nil
}

func errRowTooLarge() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "result row of more than %d bytes is too large", maxMessage)
}

// sizeOf is the length of a value that is kept as bytes.
func sizeOf(v *vec.Vec, row int) int {
	if v.T.Rep() != types.RepBytes || v.IsNull(row) {
		return 0
	}
	return len(v.B[v.Idx(row)])
}

// appendField appends a value's length and bytes, or -1 for NULL.
func (w *results) appendField(buf []byte, v *vec.Vec, how fieldEncoding, row int) []byte {
	if v.IsNull(row) {
		return append(buf, 0xff, 0xff, 0xff, 0xff)
	}
	i := v.Idx(row)
	be := binary.BigEndian
	switch how {
	case fieldBytes:
		return append(be.AppendUint32(buf, uint32(len(v.B[i]))), v.B[i]...)
	case fieldBoolText:
		c := byte('f')
		if v.Bool[i] {
			c = 't'
		}
		return append(buf, 0, 0, 0, 1, c)
	case fieldBoolBinary:
		c := byte(0)
		if v.Bool[i] {
			c = 1
		}
		return append(buf, 0, 0, 0, 1, c)
	case fieldInt2:
		return be.AppendUint16(append(buf, 0, 0, 0, 2), uint16(v.I64[i]))
	case fieldInt4:
		return be.AppendUint32(append(buf, 0, 0, 0, 4), uint32(v.I64[i]))
	case fieldInt8:
		return be.AppendUint64(append(buf, 0, 0, 0, 8), uint64(v.I64[i]))
	case fieldFloat4:
		return be.AppendUint32(append(buf, 0, 0, 0, 4), math.Float32bits(float32(v.F64[i])))
	case fieldFloat8:
		return be.AppendUint64(append(buf, 0, 0, 0, 8), types.FloatBits(v.F64[i]))
	}
	pos := len(buf)
	buf = append(buf, 0, 0, 0, 0)
	switch how {
	case fieldDecimalInt:
		buf = strconv.AppendInt(buf, v.I64[i], 10)
	case fieldBinary:
		buf = vec.AppendBinary(buf, v, row, w.opts)
	default:
		buf = vec.AppendText(buf, v, row, w.opts)
	}
	be.PutUint32(buf[pos:], uint32(len(buf)-pos-4))
	return buf
}
