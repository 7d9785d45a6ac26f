package executor

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
)

// spillFile keeps batches in a temporary file in the order written. The file is
// unlinked as soon as it is open, so that a crash leaves nothing behind.
//
// Format, per batch: row count (uvarint), then for each column a flags byte
// (1: has NULLs, 2: narrow numeric), the NULL bitmap, and the values: 8 bytes
// each for numbers (a narrow numeric's scale first), one for booleans, length
// and bytes otherwise.
type spillFile struct {
	types []types.T
	f     *os.File
	w     *bufio.Writer
	mem   *Memory // has counted bytes
	rows  int64
	bytes int64
	buf   []byte
}

const (
	spillNulls  = 1
	spillNarrow = 2
)

// newSpillFile returns an empty file for rows of the given column types; the
// file itself is made by the first write.
func newSpillFile(ts []types.T) *spillFile { return &spillFile{types: ts} }

// ioErr gives an error of the temporary file its SQLSTATE.
func ioErr(err error) error {
	code := sqlerr.IOError
	if errors.Is(err, syscall.ENOSPC) {
		code = sqlerr.DiskFull
	}
	e := sqlerr.New(code, "could not use temporary file: %v", err)
	e.Cause = err
	return e
}

// spillBlock is about how many bytes are written and read at a time: rows of large
// values are written a few at a time.
const spillBlock = 8 << 20

// inBlocks calls f for the selected rows (nil: the first n), all at once or in pieces
// of spillBlock bytes.
func inBlocks(cols []*vec.Vec, sel []uint32, n int, f func(sel []uint32, n int) error) error {
	var wide []*vec.Vec
	for _, c := range cols {
		if c.T.Rep() == types.RepBytes {
			wide = append(wide, c)
		}
	}
	at := func(i int) uint32 {
		if sel != nil {
			return sel[i]
		}
		return uint32(i)
	}
	from, size := 0, 0
	piece := func(to int) error {
		rows := make([]uint32, 0, to-from)
		for i := from; i < to; i++ {
			rows = append(rows, at(i))
		}
		from, size = to, 0
		return f(rows, len(rows))
	}
	for i := 0; len(wide) > 0 && i < n; i++ {
		bytes := 0
		for _, c := range wide {
			if r := c.Idx(int(at(i))); !c.Nulls.Get(r) {
				bytes += len(c.B[r])
			}
		}
		if size += bytes; size > spillBlock && i > from {
			if err := piece(i); err != nil {
				return err
			}
			size = bytes
		}
	}
	switch {
	case n == 0:
		return nil
	case from == 0:
		return f(sel, n)
	}
	return piece(n)
}

// write appends the selected rows of the columns.
func (s *spillFile) write(env *Env, cols []*vec.Vec, sel []uint32, n int) error {
	return inBlocks(cols, sel, n, func(sel []uint32, n int) error { return s.writeBlock(env, cols, sel, n) })
}

// writeBlock appends rows as one batch.
func (s *spillFile) writeBlock(env *Env, cols []*vec.Vec, sel []uint32, n int) error {
	if s.f == nil {
		f, err := TempFile(env.TempDir)
		if err != nil {
			return ioErr(err)
		}
		env.Tally.TempFiles++
		s.mem = env.Mem
		s.f, s.w = f, bufio.NewWriterSize(f, 64<<10)
	}
	buf := binary.AppendUvarint(s.buf[:0], uint64(n))
	for _, c := range cols {
		buf = appendSpilled(buf, c, sel, n)
	}
	s.buf = buf
	if err := env.Mem.growTemp(int64(len(buf)) + 4); err != nil {
		return err
	}
	s.rows += int64(n)
	s.bytes += int64(len(buf)) + 4
	env.Tally.TempBytes += int64(len(buf)) + 4
	var size [4]byte
	binary.LittleEndian.PutUint32(size[:], uint32(len(buf)))
	if _, err := s.w.Write(size[:]); err != nil {
		return ioErr(err)
	}
	if _, err := s.w.Write(buf); err != nil {
		return ioErr(err)
	}
	return nil
}

func appendSpilled(buf []byte, c *vec.Vec, sel []uint32, n int) []byte {
	row := func(i int) int {
		if sel != nil {
			i = int(sel[i])
		}
		return c.Idx(i)
	}
	flags := byte(0)
	nulls := c.Nulls.Any()
	if nulls {
		flags |= spillNulls
	}
	rep := c.T.Rep()
	narrow := rep == types.RepDec && c.Dec == nil
	if narrow {
		flags |= spillNarrow
	}
	buf = append(buf, flags)
	if nulls {
		at := len(buf)
		buf = append(buf, make([]byte, (n+7)/8)...)
		for i := range n {
			if c.Nulls.Get(row(i)) {
				buf[at+i/8] |= 1 << (i & 7)
			}
		}
	}
	le := binary.LittleEndian
	switch rep {
	case types.RepBool:
		for i := range n {
			v := byte(0)
			if c.Bool[row(i)] {
				v = 1
			}
			buf = append(buf, v)
		}
	case types.RepInt:
		for i := range n {
			buf = le.AppendUint64(buf, uint64(c.I64[row(i)]))
		}
	case types.RepFloat:
		for i := range n {
			buf = le.AppendUint64(buf, math.Float64bits(c.F64[row(i)]))
		}
	case types.RepDec:
		if narrow {
			buf = le.AppendUint32(buf, uint32(c.Scale))
			for i := range n {
				buf = le.AppendUint64(buf, uint64(c.I64[row(i)]))
			}
			return buf
		}
		for i := range n {
			r := row(i)
			at := len(buf)
			buf = append(buf, 0, 0, 0, 0)
			if !nulls || !c.Nulls.Get(r) {
				buf = c.Dec[r].AppendBinary(buf)
			}
			le.PutUint32(buf[at:], uint32(len(buf)-at-4))
		}
	case types.RepInterval:
		for i := range n {
			iv := c.Iv[row(i)]
			buf = le.AppendUint32(buf, uint32(iv.Months))
			buf = le.AppendUint32(buf, uint32(iv.Days))
			buf = le.AppendUint64(buf, uint64(iv.Micros))
		}
	case types.RepBytes:
		for i := range n {
			r := row(i)
			if nulls && c.Nulls.Get(r) {
				buf = append(buf, 0)
				continue
			}
			buf = binary.AppendUvarint(buf, uint64(len(c.B[r])))
			buf = append(buf, c.B[r]...)
		}
	}
	return buf
}

// finish flushes what was written, so that readers can be opened.
func (s *spillFile) finish() error {
	err := s.flush()
	s.w, s.buf = nil, nil
	return err
}

// flush makes what was written readable; more may follow.
func (s *spillFile) flush() error {
	if s.w == nil {
		return nil
	}
	if err := s.w.Flush(); err != nil {
		return ioErr(err)
	}
	return nil
}

// close gives the file's space back. It may be called more than once.
func (s *spillFile) close() {
	if s != nil && s.f != nil {
		s.f.Close() // the contents are of no more use: an error changes nothing
		s.f, s.w = nil, nil
		_ = s.mem.growTemp(-s.bytes) // giving back does not fail
	}
}

const spillPrefix = "kvsqld-spill-"

// TempFile makes a file in a directory of Env.TempDir that has no name any more: it is
// gone when nobody has it open or mapped.
func TempFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, spillPrefix)
	if err != nil {
		return nil, err
	}
	// Another server may have found it first (RemoveLeftovers).
	if err := os.Remove(f.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
		f.Close()
		return nil, err
	}
	return f, nil
}

// RemoveLeftovers removes temporary files that a process made and did not live to
// unlink, from the directory of Env.TempDir.
func RemoveLeftovers(dir string) error {
	if dir == "" {
		dir = os.TempDir()
	}
	list, err := filepath.Glob(filepath.Join(dir, spillPrefix+"*"))
	for _, f := range list {
		if e := os.Remove(f); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// reader returns a reader from the file's start; several may read at once.
func (s *spillFile) reader() *spillReader {
	r := &spillReader{file: s}
	if s.f != nil {
		r.r = bufio.NewReaderSize(io.NewSectionReader(s.f, 0, s.bytes), 64<<10)
	}
	r.batch.Cols = newVecs(s.types)
	return r
}

// readerAt returns a reader from the batch that begins at a byte.
func (s *spillFile) readerAt(off int64) *spillReader {
	r := &spillReader{file: s}
	r.r = bufio.NewReader(io.NewSectionReader(s.f, off, s.bytes-off))
	r.batch.Cols = newVecs(s.types)
	return r
}

// spillReader reads a spillFile's batches in order.
type spillReader struct {
	file  *spillFile
	r     *bufio.Reader
	batch vec.Batch
}

// next returns the next batch, nil at the end. Its values are in memory of
// their own, but its vectors are used again by the next call.
func (r *spillReader) next() (*vec.Batch, error) {
	if r.r == nil {
		return nil, nil
	}
	var size [4]byte
	if _, err := io.ReadFull(r.r, size[:]); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, ioErr(err)
	}
	buf := make([]byte, binary.LittleEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r.r, buf); err != nil {
		return nil, ioErr(err)
	}
	n, k := binary.Uvarint(buf)
	buf = buf[k:]
	r.batch.N, r.batch.Sel = int(n), nil
	for _, c := range r.batch.Cols {
		var err error
		if buf, err = readSpilled(buf, c, int(n)); err != nil {
			return nil, err
		}
	}
	return &r.batch, nil
}

func readSpilled(buf []byte, c *vec.Vec, n int) ([]byte, error) {
	flags := buf[0]
	buf = buf[1:]
	c.Reset(c.T, n)
	if flags&spillNulls != 0 {
		for i := range n {
			if buf[i/8]&(1<<(i&7)) != 0 {
				c.Nulls.Set(i)
			}
		}
		buf = buf[(n+7)/8:]
	}
	le := binary.LittleEndian
	switch c.T.Rep() {
	case types.RepBool:
		for i := range n {
			c.Bool[i] = buf[i] != 0
		}
		buf = buf[n:]
	case types.RepInt:
		buf = readInts(c.I64, buf, n)
	case types.RepFloat:
		for i := range n {
			c.F64[i] = math.Float64frombits(le.Uint64(buf[8*i:]))
		}
		buf = buf[8*n:]
	case types.RepDec:
		if flags&spillNarrow != 0 {
			c.SetNarrow(n, int32(le.Uint32(buf)))
			return readInts(c.I64, buf[4:], n), nil
		}
		for i := range n {
			k := le.Uint32(buf)
			buf = buf[4:]
			if k == 0 {
				c.Dec[i] = types.Decimal{}
				continue
			}
			d, err := types.ParseDecimalBinary(buf[:k])
			if err != nil {
				return nil, err
			}
			c.Dec[i], buf = d, buf[k:]
		}
	case types.RepInterval:
		for i := range n {
			p := buf[16*i:]
			c.Iv[i] = types.Interval{Months: int32(le.Uint32(p)), Days: int32(le.Uint32(p[4:])), Micros: int64(le.Uint64(p[8:]))}
		}
		buf = buf[16*n:]
	case types.RepBytes:
		for i := range n {
			k, w := binary.Uvarint(buf)
			c.B[i] = buf[w : w+int(k) : w+int(k)]
			buf = buf[w+int(k):]
		}
	}
	return buf, nil
}

func readInts(dst []int64, buf []byte, n int) []byte {
	for i := range n {
		dst[i] = int64(binary.LittleEndian.Uint64(buf[8*i:]))
	}
	return buf[8*n:]
}
