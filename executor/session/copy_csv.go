package session

import (
	"bytes"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/vec"
)

// csvFields takes lines of the csv format apart. Fields with quotes inside are
// copied, others are slices of the line.
type csvFields struct {
	delim, quote, escape byte
	null                 string
	fields               [][]byte
	arena                vec.Arena
	buf                  []byte
}

// split returns the line's fields; nil is NULL. The slice is used again, the
// fields live until the arena is reset and the line is gone.
func (t *csvFields) split(line []byte) ([][]byte, error) {
	t.fields = t.fields[:0]
	quoted := bytes.IndexByte(line, t.quote) >= 0
	for {
		if quoted && t.hasQuote(line) {
			rest, more, err := t.quotedField(line)
			if err != nil {
				return nil, err
			}
			if !more {
				return t.fields, nil
			}
			line = rest
			continue
		}
		i := bytes.IndexByte(line, t.delim)
		f := line
		if i >= 0 {
			f = line[:i:i]
		}
		if string(f) == t.null {
			f = nil
		}
		t.fields = append(t.fields, f)
		if i < 0 {
			return t.fields, nil
		}
		line = line[i+1:]
	}
}

// hasQuote reports whether a quote comes before the next delimiter.
func (t *csvFields) hasQuote(line []byte) bool {
	for _, c := range line {
		switch c {
		case t.quote:
			return true
		case t.delim:
			return false
		}
	}
	return false
}

// quotedField takes a field with quotes off the line; more is false for the
// last one.
func (t *csvFields) quotedField(line []byte) (rest []byte, more bool, err error) {
	if line[0] == t.quote { // "…", the usual form
		if end := 1 + bytes.IndexByte(line[1:], t.quote); end > 0 && (end+1 == len(line) || line[end+1] == t.delim) {
			if f := line[1:end:end]; t.escape == t.quote || bytes.IndexByte(f, t.escape) < 0 {
				t.fields = append(t.fields, f)
				if end+1 == len(line) {
					return nil, false, nil
				}
				return line[end+2:], true, nil
			}
		}
	}
	buf := t.buf[:0]
	i := 0
	for i < len(line) && line[i] != t.delim {
		c := line[i]
		i++
		if c != t.quote {
			buf = append(buf, c)
			continue
		}
		for {
			if i == len(line) {
				return nil, false, sqlerr.New(sqlerr.BadCopyFileFormat, "unterminated CSV quoted field")
			}
			c := line[i]
			i++
			if c == t.escape && i < len(line) && (line[i] == t.escape || line[i] == t.quote) {
				buf = append(buf, line[i])
				i++
				continue
			}
			if c == t.quote {
				break
			}
			buf = append(buf, c)
		}
	}
	t.buf = buf
	t.fields = append(t.fields, t.arena.Copy(buf))
	if i == len(line) {
		return nil, false, nil
	}
	return line[i+1:], true, nil
}

// csvWriter writes values of the csv format.
type csvWriter struct {
	special       [256]bool // needs quotes around the value
	quote, escape byte
	null          string
}

func newCSVWriter(o *copyOptions) *csvWriter {
	w := &csvWriter{quote: o.quote, escape: o.escape, null: o.null}
	w.special[o.delim], w.special[o.quote], w.special['\n'], w.special['\r'] = true, true, true, true
	return w
}

// append appends a value, in quotes if force is set or it could be read as
// something else. single says that it is alone on its line.
func (w *csvWriter) append(dst, val []byte, force, single bool) []byte {
	if !force && !w.ambiguous(val, single) {
		return append(dst, val...)
	}
	dst = append(dst, w.quote)
	for _, c := range val {
		if c == w.quote || c == w.escape {
			dst = append(dst, w.escape)
		}
		dst = append(dst, c)
	}
	return append(dst, w.quote)
}

// escapes is how much longer append makes a value at most, without quotes around it.
func (w *csvWriter) escapes(val []byte) int {
	n := 0
	for _, c := range val {
		if c == w.quote || c == w.escape {
			n++
		}
	}
	return n
}

func (w *csvWriter) ambiguous(val []byte, single bool) bool {
	if string(val) == w.null || single && string(val) == `\.` {
		return true
	}
	for _, c := range val {
		if w.special[c] {
			return true
		}
	}
	return false
}
