package session

import (
	"bytes"
	"encoding/binary"
	"io"

	"kvsqld/catalog/sqlerr"
)

// copySignature begins every file of the binary format.
const copySignature = "PGCOPY\n\xff\r\n\x00"

// copyBinaryHeader is what is written before the first row: the signature, no
// flags, no extension.
const copyBinaryHeader = copySignature + "\x00\x00\x00\x00\x00\x00\x00\x00"

// binaryFields takes rows of the binary format apart.
type binaryFields struct {
	src *copySource
	row int64
}

func badCopy(format string, args ...any) error {
	return sqlerr.New(sqlerr.BadCopyFileFormat, format, args...)
}

// take returns the next n bytes, or nil if the data ends before.
func (b *binaryFields) take(n int) ([]byte, error) {
	s := b.src
	if ok, err := s.need(s.pos + n); err != nil || !ok {
		return nil, err
	}
	p := s.buf[s.pos : s.pos+n : s.pos+n]
	s.pos += n
	return p, nil
}

// header reads what comes before the first row.
func (b *binaryFields) header() error {
	p, err := b.take(len(copySignature))
	if err != nil {
		return err
	}
	if !bytes.Equal(p, []byte(copySignature)) {
		return badCopy("COPY file signature not recognized")
	}
	if p, err = b.take(4); err != nil {
		return err
	}
	if p == nil {
		return badCopy("invalid COPY file header (missing flags)")
	}
	switch flags := binary.BigEndian.Uint32(p); {
	case flags&(1<<16) != 0:
		return badCopy("invalid COPY file header (WITH OIDS)")
	case flags>>16 != 0:
		return badCopy("unrecognized critical flags in COPY file header")
	}
	if p, err = b.take(4); err != nil {
		return err
	}
	if p == nil || int32(binary.BigEndian.Uint32(p)) < 0 {
		return badCopy("invalid COPY file header (missing length)")
	}
	n := int(binary.BigEndian.Uint32(p))
	if p, err = b.take(n); err == nil && p == nil && n > 0 {
		err = badCopy("invalid COPY file header (wrong length)")
	}
	return err
}

// next begins the next row, which must have want fields; io.EOF after the last.
func (b *binaryFields) next(want int) error {
	b.row++
	p, err := b.take(2)
	if err != nil {
		return err
	}
	if p == nil {
		return io.EOF
	}
	n := int(int16(binary.BigEndian.Uint16(p)))
	if n == -1 {
		if ok, err := b.src.need(b.src.pos + 1); err != nil {
			return err
		} else if ok {
			return badCopy("received copy data after EOF marker")
		}
		return io.EOF
	}
	if n != want {
		return badCopy("row field count is %d, expected %d", n, want)
	}
	return nil
}

// field returns the row's next field, nil for NULL. It is valid until the source
// is released.
func (b *binaryFields) field() ([]byte, error) {
	p, err := b.take(4)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, badCopy("unexpected EOF in COPY data")
	}
	n := int(int32(binary.BigEndian.Uint32(p)))
	switch {
	case n == -1:
		return nil, nil
	case n < -1:
		return nil, badCopy("invalid field size")
	}
	if p, err = b.take(n); err == nil && p == nil {
		err = badCopy("unexpected EOF in COPY data")
	}
	return p, err
}
