package session

import (
	"bytes"
	"io"
	"slices"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
	"kvsqld/wire"
)

// copySource gathers the client's data, whose pieces begin and end anywhere.
// What was read stays in place until release, so that fields may be slices of it.
type copySource struct {
	r    wire.CopyReader
	enc  *charset.Encoding // of the data; nil: UTF-8
	held []byte            // the beginning of a character whose end has not come yet
	buf  []byte
	pos  int // where the next row begins
	eof  bool
	room func(bytes int64) error // asked before buf grows large; nil: not asked
}

// more appends the next piece; ok is false at the end of the data.
func (s *copySource) more() (ok bool, err error) {
	for !s.eof {
		p, err := s.r.Next()
		if err == io.EOF {
			s.eof = true
			if len(s.held) == 0 {
				break
			}
			p, err = s.held, nil // half a character, which Decode refuses
			s.held = nil
		} else if s.enc != nil && err == nil {
			p = append(s.held, p...)
			n := s.enc.Whole(p)
			p, s.held = p[:n], slices.Clone(p[n:])
		}
		if err == nil && s.enc != nil {
			p, err = s.enc.Decode(p)
		}
		if err != nil {
			return false, err
		}
		if len(p) > 0 {
			if err := s.grow(len(p)); err != nil {
				return false, err
			}
			s.buf = append(s.buf, p...)
			return true, nil
		}
	}
	return false, nil
}

// ready reports whether more of the data has come, or its end, or comes soon.
func (s *copySource) ready() bool {
	return s.pos < len(s.buf) || s.eof || s.r.Await(copyPatience)
}

// maxCopyLine is the longest row, as in PostgreSQL.
const maxCopyLine = 1<<30 - 1

// grow makes room for n more bytes, if a row may be so long (54000) and there is memory
// for it (53200).
func (s *copySource) grow(n int) error {
	have := len(s.buf)
	switch {
	case have+n-s.pos > maxCopyLine:
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "out of memory").
			WithDetail("Cannot enlarge string buffer containing %d bytes by %d more bytes.", have-s.pos, n)
	case have+n <= cap(s.buf) || have+n < longText || s.room == nil:
		return nil
	}
	size := have + max(n, have/2)
	if err := s.room(int64(size)); err != nil {
		return err
	}
	s.buf = append(make([]byte, 0, size), s.buf...)
	return nil
}

// need waits until there are bytes up to end; ok is false if the data ends before.
func (s *copySource) need(end int) (ok bool, err error) {
	for end > len(s.buf) {
		if ok, err := s.more(); !ok {
			return false, err
		}
	}
	return true, nil
}

// release forgets the rows before pos.
func (s *copySource) release() {
	n := copy(s.buf, s.buf[s.pos:])
	s.buf, s.pos = s.buf[:n], 0
}

// drain passes over what the client sends after the end of the rows, whatever it is.
func (s *copySource) drain() error {
	for !s.eof {
		if _, err := s.r.Next(); err == io.EOF {
			s.eof = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// lineEnd is how lines end; the first line decides.
type lineEnd uint8

const (
	endUnknown lineEnd = iota
	endNL
	endCR
	endCRNL
)

// lineReader cuts text and csv data into lines. A line of csv may go over line
// ends within quotes.
type lineReader struct {
	src    *copySource
	csv    bool
	quote  byte
	escape byte // of csv, if it is not the quote
	ending lineEnd
	number int64 // of the line at hand, as users count
	marked bool  // the end-of-copy marker was seen
}

func newLineReader(src *copySource, o *copyOptions) lineReader {
	r := lineReader{src: src, csv: o.format == copyCSV, quote: o.quote}
	if o.escape != o.quote {
		r.escape = o.escape
	}
	return r
}

// next returns the next line without its end, or io.EOF. It is valid until the
// source is released.
func (r *lineReader) next() ([]byte, error) {
	if r.marked {
		return nil, io.EOF
	}
	r.number++
	s := r.src
	if r.ending == endNL {
		for scan := s.pos; ; {
			if i := bytes.IndexByte(s.buf[scan:], '\n'); i >= 0 {
				line := s.buf[s.pos : scan+i]
				if r.plain(line) {
					s.pos = scan + i + 1
					return line, checkLine(line)
				}
				break
			}
			scan = len(s.buf)
			if ok, err := s.more(); err != nil {
				return nil, err
			} else if !ok {
				break
			}
		}
	}
	line, err := r.careful()
	if err != nil {
		return nil, err
	}
	return line, checkLine(line)
}

// checkLine checks the encoding of a line.
func checkLine(line []byte) error {
	if utf8.Valid(line) && bytes.IndexByte(line, 0) < 0 {
		return nil
	}
	return charset.CheckUTF8(line)
}

// plain reports whether what stands before a newline is a line for sure.
func (r *lineReader) plain(line []byte) bool {
	if !r.csv {
		return bytes.IndexByte(line, '\\') < 0 && bytes.IndexByte(line, '\r') < 0
	}
	if len(line) > 0 && line[0] == '\\' || bytes.IndexByte(line, '\r') >= 0 {
		return false
	}
	at := bytes.IndexByte(line, r.quote)
	return at < 0 || r.escape == 0 && bytes.Count(line[at:], []byte{r.quote})%2 == 0
}

// careful reads a line byte by byte.
func (r *lineReader) careful() ([]byte, error) {
	s := r.src
	start := s.pos
	quoted, escaped := false, false
	for i := start; ; i++ {
		if ok, err := s.need(i + 1); err != nil {
			return nil, err
		} else if !ok {
			if i == start {
				return nil, io.EOF
			}
			s.pos = i
			return s.buf[start:i], nil
		}
		c := s.buf[i]
		if r.csv {
			if quoted && r.escape != 0 && c == r.escape {
				escaped = !escaped
			}
			if c == r.quote && !escaped {
				quoted = !quoted
			}
			if c != r.escape || r.escape == 0 {
				escaped = false
			}
			if quoted {
				if c == '\r' { // PostgreSQL looks ahead here, and may fail, before it counts
					if _, err := s.need(i + 2); err != nil {
						return nil, err
					}
				}
				if r.ending == endNL && c == '\n' || r.ending != endNL && c == '\r' {
					r.number++ // as PostgreSQL counts: before the first end, newlines are none
				}
				continue
			}
		}
		switch c {
		case '\r':
			end, err := r.carriageReturn(i)
			if err != nil {
				return nil, err
			}
			s.pos = end
			return s.buf[start:i], nil
		case '\n':
			if r.ending == endCR || r.ending == endCRNL {
				return nil, r.strayEnd("newline", `\n`)
			}
			r.ending = endNL
			s.pos = i + 1
			return s.buf[start:i], nil
		case '\\':
			if r.csv && i > start {
				continue
			}
			end, err := r.marker(i)
			if err != nil {
				return nil, err
			}
			if end > 0 {
				r.marked = true
				s.pos = end
				// As in PostgreSQL, the data end before their last row is looked at: a
				// client that has sent a Sync behind it is not answered yet.
				if err := s.drain(); err != nil {
					return nil, err
				}
				if i == start {
					return nil, io.EOF
				}
				return s.buf[start:i], nil
			}
			if !r.csv {
				if _, err := s.need(i + 2); err != nil {
					return nil, err
				}
				i = min(i+1, len(s.buf)-1) // the escaped byte is data
			}
		}
	}
}

// carriageReturn decides about a carriage return at i and returns where the
// next line begins.
func (r *lineReader) carriageReturn(i int) (int, error) {
	if r.ending == endNL {
		return 0, r.strayEnd("carriage return", `\r`)
	}
	if r.ending != endCR {
		ok, err := r.src.need(i + 2)
		if err != nil {
			return 0, err
		}
		if ok && r.src.buf[i+1] == '\n' {
			r.ending = endCRNL
			return i + 2, nil
		}
		if r.ending == endCRNL {
			return 0, r.strayEnd("carriage return", `\r`)
		}
	}
	r.ending = endCR
	return i + 1, nil
}

// strayEnd refuses another line end than that of the lines before.
func (r *lineReader) strayEnd(name, escape string) error {
	if r.csv {
		return sqlerr.New(sqlerr.BadCopyFileFormat, "unquoted %s found in data", name).
			WithHint("Use quoted CSV field to represent %s.", name)
	}
	return sqlerr.New(sqlerr.BadCopyFileFormat, "literal %s found in data", name).
		WithHint("Use \"%s\" to represent %s.", escape, name)
}

// marker looks for the end-of-copy marker, a backslash and a point at the end of
// a line. It returns where it ends, or 0 if the backslash at i means something
// else.
func (r *lineReader) marker(i int) (int, error) {
	s := r.src
	if ok, err := s.need(i + 2); err != nil || !ok || s.buf[i+1] != '.' {
		return 0, err
	}
	bad := func(text string) (int, error) {
		if r.csv {
			return 0, nil
		}
		return 0, sqlerr.New(sqlerr.BadCopyFileFormat, "end-of-copy marker %s", text)
	}
	const corrupt, mismatch = "corrupt", "does not match previous newline style"
	ok, err := s.need(i + 3)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return bad(corrupt)
	}
	switch c := s.buf[i+2]; {
	case c != '\n' && c != '\r':
		return bad(corrupt)
	case r.ending == endCRNL:
		if c == '\n' {
			return bad(mismatch)
		}
		if ok, err := s.need(i + 4); err != nil {
			return 0, err
		} else if !ok || s.buf[i+3] != '\n' {
			return bad(corrupt)
		}
		return i + 4, nil
	case r.ending == endNL && c != '\n', r.ending == endCR && c != '\r':
		return bad(mismatch)
	}
	return i + 3, nil
}
