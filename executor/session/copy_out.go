package session

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/parser/ast"
	"kvsqld/wire"
)

// copyTo is COPY TO STDOUT: it returns the number of rows sent.
func (s *Session) copyTo(ctx context.Context, x *ast.Copy, o *copyOptions) (int64, error) {
	out := &copyOut{w: s.w, opts: o, room: s.roomFn}
	query := x.Query
	if x.Table != nil {
		rel, err := s.copyRelation(x.Table)
		if err != nil {
			return 0, err
		}
		if query, err = out.table(rel, x); err != nil {
			return 0, err
		}
		if err := s.mayCopy(rel, x); err != nil {
			return 0, err
		}
	}
	if err := copyable(query); err != nil {
		return 0, err
	}
	if x.File != "" {
		if !filepath.IsAbs(x.File) {
			return 0, sqlerr.New(sqlerr.InvalidName, "relative path not allowed for COPY to file")
		}
		f, err := s.srv.opts.Files.create(x.File)
		if err != nil {
			return 0, err
		}
		defer f.Close() // after an error; otherwise it has been closed
		out.to = &fileWriter{f: f}
	}
	// A dump of a table is the same each time.
	p := &plannedStmt{stmt: query, inOrder: x.Table != nil}
	if _, err := s.runPlanned(ctx, p, nil, out, nil); err != nil {
		return 0, err
	}
	return out.rows, out.end()
}

// mayCopy checks that the current role may read what COPY of a table sends, before the
// table's policies are looked at.
func (s *Session) mayCopy(rel catalog.Relation, x *ast.Copy) error {
	t, ok := rel.(*catalog.Table)
	if !ok {
		return nil
	}
	snap := s.snapshot()
	if has, _ := snap.Privileges(s.user, t); has&catalog.PrivSelect != 0 {
		return nil
	}
	for i := range t.Columns {
		if t.Columns[i].Dropped || len(x.Cols) > 0 && !slices.Contains(x.Cols, t.Columns[i].Name) {
			continue
		}
		if has, _ := snap.ColumnPrivileges(s.user, t, i); has&catalog.PrivSelect == 0 {
			return snap.Denied(t)
		}
	}
	return nil
}

// copyable refuses queries without rows.
func copyable(st ast.Stmt) error {
	returns := true
	switch q := st.(type) {
	case *ast.Select:
		if q.Into != nil {
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY (SELECT INTO) is not supported")
		}
	case *ast.Insert:
		returns = q.Returning != nil
	case *ast.Update:
		returns = q.Returning != nil
	case *ast.Delete:
		returns = q.Returning != nil
	case *ast.Merge:
		return sqlerr.New(sqlerr.FeatureNotSupported, "MERGE not supported in COPY")
	default:
		return sqlerr.Unsupported(st.Pos(), "COPY of this statement")
	}
	if !returns {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY query must have a RETURNING clause")
	}
	return nil
}

// copyOut is the sink of a COPY TO: it writes one row after the other.
type copyOut struct {
	w      wire.ResultWriter
	opts   *copyOptions
	forced []int // FORCE_QUOTE of a table: positions of columns

	to      wire.CopyWriter
	text    *textWriter
	csv     *csvWriter
	fmt     *types.FmtOpts
	force   []bool // per column
	forms   []textForm
	plain   bool // values of formPlain need no look
	buf     []byte
	scratch []byte
	rows    int64
	room    func(bytes int64) error // asked before a long row is written
	err     error                   // of begin
}

// table makes the query of COPY table TO.
func (k *copyOut) table(rel catalog.Relation, x *ast.Copy) (*ast.Select, error) {
	switch rel := rel.(type) {
	case *catalog.View, *catalog.Sequence:
		return nil, notCopied(rel, "from")
	case *catalog.Table:
		if rel.Key != nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot copy from partitioned table \"%s\"", rel.Name).
				WithHint("Try the COPY (SELECT ...) TO variant.")
		}
	case *catalog.Virtual:
		if rel.View {
			return nil, notCopied(&catalog.View{Common: rel.Common}, "from")
		}
	}
	cols, err := copyColumns(rel, x.Cols)
	if err != nil {
		return nil, err
	}
	forced, err := forcedColumns(rel, "FORCE_QUOTE", k.opts.forceQuote, cols)
	if err != nil {
		return nil, err
	}
	for _, f := range forced {
		k.forced = append(k.forced, slices.Index(cols, f))
	}
	q := &ast.Select{Off: x.Off, From: []ast.FromItem{&ast.TableRef{Off: x.Table.Off, Name: *x.Table, Only: true}}}
	for _, i := range cols {
		q.Targets = append(q.Targets, ast.Target{X: &ast.ColumnRef{Parts: []string{x.Table.Last(), rel.RelColumns()[i].Name}}})
	}
	return q, nil
}

// begin implements sink.
func (k *copyOut) begin(cols []wire.Column, o *types.FmtOpts) {
	k.fmt = o
	if k.err = k.forceQuotes(cols); k.err != nil {
		return
	}
	if k.opts.format == copyBinary {
		k.err = k.opts.binaryText(func(yield func(types.T) bool) {
			for i := range cols {
				if !yield(cols[i].Type) {
					return
				}
			}
		})
		if k.err != nil {
			return
		}
	}
	if k.to == nil {
		if k.to, k.err = k.w.CopyOut(k.opts.format == copyBinary, len(cols)); k.err != nil {
			return
		}
	}
	k.forms = make([]textForm, len(cols))
	for i := range cols {
		k.forms[i] = textFormOf(cols[i].Type, o)
	}
	k.plain = strings.IndexByte("+-.: ", k.opts.delim) < 0 && (k.opts.delim|0x20 < 'a' || k.opts.delim|0x20 > 'z')
	switch k.opts.format {
	case copyBinary:
		k.buf = append(k.buf, copyBinaryHeader...)
		return
	case copyCSV:
		k.csv = newCSVWriter(k.opts)
		k.plain = k.plain && k.opts.null == "" && !plainByte(k.opts.quote)
	default:
		k.text = newTextWriter(k.opts.delim)
	}
	if k.opts.header == headerNone {
		return
	}
	for i, c := range cols {
		if i > 0 {
			k.buf = append(k.buf, k.opts.delim)
		}
		if k.csv != nil {
			k.buf = k.csv.append(k.buf, []byte(c.Name), false, len(cols) == 1)
		} else {
			k.buf = k.text.append(k.buf, []byte(c.Name))
		}
	}
	k.buf = append(k.buf, '\n')
	k.err = k.flush()
}

// plainByte reports whether c can be part of a value of formPlain.
func plainByte(c byte) bool {
	return strings.IndexByte("+-.: ", c) >= 0 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// forceQuotes finds out which columns are always quoted.
func (k *copyOut) forceQuotes(cols []wire.Column) error {
	k.force = make([]bool, len(cols))
	for i := range cols {
		k.force[i] = k.opts.forceQuoteAll
	}
	if k.forced != nil {
		for _, i := range k.forced {
			k.force[i] = true
		}
		return nil
	}
	for _, n := range k.opts.forceQuote {
		i := slices.IndexFunc(cols, func(c wire.Column) bool { return c.Name == n })
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" does not exist", n)
		}
		k.force[i] = true
	}
	return nil
}

// flush sends what is in the buffer as one message.
func (k *copyOut) flush() error {
	buf, err := k.buf, error(nil)
	if k.opts.enc != nil && k.opts.format != copyBinary {
		if buf, err = k.opts.enc.Encode(buf); err != nil {
			return err
		}
	}
	_, err = k.to.Write(buf)
	if k.buf = k.buf[:0]; cap(k.buf) > longText {
		k.buf, k.scratch = nil, nil
	}
	return err
}

// batch implements sink.
func (k *copyOut) batch(b *vec.Batch) error {
	if k.err != nil {
		return k.err
	}
	for i := range b.Rows() {
		r := b.Row(i)
		if err := k.reserve(b, r); err != nil {
			return err
		}
		switch k.opts.format {
		case copyBinary:
			k.binaryRow(b, r)
		case copyCSV:
			k.csvRow(b, r)
		default:
			k.textRow(b, r)
		}
		if err := k.flush(); err != nil {
			return err
		}
	}
	k.rows += int64(b.Rows())
	return nil
}

func (k *copyOut) textRow(b *vec.Batch, r int) {
	buf := k.buf
	for i, v := range b.Cols {
		if i > 0 {
			buf = append(buf, k.opts.delim)
		}
		switch {
		case v.IsNull(r):
			buf = append(buf, k.opts.null...)
		case k.forms[i] == formPlain && k.plain:
			buf = vec.AppendText(buf, v, r, k.fmt)
		default:
			buf = k.text.append(buf, k.value(v, r, k.forms[i]))
		}
	}
	k.buf = append(buf, '\n')
}

func (k *copyOut) csvRow(b *vec.Batch, r int) {
	buf := k.buf
	for i, v := range b.Cols {
		if i > 0 {
			buf = append(buf, k.opts.delim)
		}
		switch {
		case v.IsNull(r):
			buf = append(buf, k.opts.null...)
		case k.forms[i] == formPlain && k.plain && !k.force[i]:
			buf = vec.AppendText(buf, v, r, k.fmt)
		default:
			buf = k.csv.append(buf, k.value(v, r, k.forms[i]), k.force[i], len(b.Cols) == 1)
		}
	}
	k.buf = append(buf, '\n')
}

// reserve makes room in the buffer for a long row: 54000 if it may not be so long, 53200
// if there is no memory.
func (k *copyOut) reserve(b *vec.Batch, r int) error {
	n, more := 0, 0 // bytes that are sent, and that may be needed beside them
	for i, v := range b.Cols {
		if v.T.Rep() != types.RepBytes || v.IsNull(r) {
			continue
		}
		x := v.B[v.Idx(r)]
		n += len(x)
		switch {
		case len(x) < longText/4 || k.opts.format == copyBinary:
		case k.forms[i] != formBytes:
			more += 6 * len(x) // its text form, and that with escapes
		case k.csv != nil:
			n += k.csv.escapes(x)
		default:
			n += k.text.escapes(x)
		}
	}
	switch {
	case n < longText || k.room == nil:
		return nil
	case n > maxCopyLine:
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "out of memory").
			WithDetail("Cannot enlarge string buffer containing %d bytes by %d more bytes.", 0, n)
	}
	size := n + 64*len(b.Cols)
	if k.opts.enc != nil {
		more += 2 * size
	}
	if err := k.room(int64(size + more)); err != nil {
		return err
	}
	k.buf = slices.Grow(k.buf, size)
	return nil
}

// value is the text form of a value that is not NULL, valid until the next one.
func (k *copyOut) value(v *vec.Vec, r int, form textForm) []byte {
	if form == formBytes {
		return v.B[v.Idx(r)]
	}
	k.scratch = vec.AppendText(k.scratch[:0], v, r, k.fmt)
	return k.scratch
}

func (k *copyOut) binaryRow(b *vec.Batch, r int) {
	buf := binary.BigEndian.AppendUint16(k.buf, uint16(len(b.Cols)))
	for _, v := range b.Cols {
		if v.IsNull(r) {
			buf = append(buf, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		at := len(buf)
		buf = vec.AppendBinary(append(buf, 0, 0, 0, 0), v, r, k.fmt)
		binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-4))
	}
	k.buf = buf
}

// end finishes the data.
func (k *copyOut) end() error {
	if k.err != nil {
		return k.err
	}
	if k.opts.format == copyBinary {
		k.buf = append(k.buf, 0xff, 0xff)
		if err := k.flush(); err != nil {
			return err
		}
	}
	return k.to.Close()
}
