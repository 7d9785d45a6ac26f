package session

import (
	"bytes"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/charset"
	"kvsqld/catalog/types/vec"
)

// textFields takes lines of the text format apart. Fields with escapes are
// copied, others are slices of the line.
type textFields struct {
	delim  byte
	null   string
	fields [][]byte
	arena  vec.Arena
	buf    []byte
}

// split returns the line's fields; nil is NULL. The slice is used again, the
// fields live until the arena is reset and the line is gone.
func (t *textFields) split(line []byte) ([][]byte, error) {
	t.fields = t.fields[:0]
	if bytes.IndexByte(line, '\\') >= 0 {
		return t.splitEscaped(line)
	}
	for {
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

// splitEscaped is split of a line with backslashes.
func (t *textFields) splitEscaped(line []byte) ([][]byte, error) {
	for at := 0; ; {
		start, escapes := at, false
		for at < len(line) && line[at] != t.delim {
			if line[at] == '\\' {
				escapes = true
				at++
			}
			at++
		}
		at = min(at, len(line))
		f := line[start:at:at]
		switch {
		case string(f) == t.null:
			f = nil
		case escapes:
			var bad bool
			if t.buf, bad = unescape(t.buf[:0], f); bad {
				if err := charset.CheckUTF8(t.buf); err != nil {
					return nil, err
				}
			}
			f = t.arena.Copy(t.buf)
		}
		t.fields = append(t.fields, f)
		if at == len(line) {
			return t.fields, nil
		}
		at++
	}
}

// unescape appends a field without its escapes. check tells that a number may
// have made a byte that is no text.
func unescape(dst, f []byte) (out []byte, check bool) {
	for i := 0; i < len(f); i++ {
		c := f[i]
		if c != '\\' {
			dst = append(dst, c)
			continue
		}
		if i++; i == len(f) {
			break // a lone backslash at the end of a line means nothing
		}
		c = f[i]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'v':
			c = '\v'
		case '0', '1', '2', '3', '4', '5', '6', '7':
			c -= '0'
			for n := 1; n < 3 && i+1 < len(f) && f[i+1]-'0' < 8; n++ {
				i++
				c = c<<3 | (f[i] - '0')
			}
			check = check || c == 0 || c >= 0x80
		case 'x':
			n := 0
			for i+1 < len(f) && n < 2 {
				v, ok := types.HexDigit(f[i+1])
				if !ok {
					break
				}
				if n == 0 {
					c = 0
				}
				i, n, c = i+1, n+1, c<<4|v
			}
			if n == 0 {
				break
			}
			check = check || c == 0 || c >= 0x80
		}
		dst = append(dst, c)
	}
	return dst, check
}

// textEscapes has the letter that stands for a control character after a
// backslash.
var textEscapes = [...]byte{'\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r'}

// textWriter writes values of the text format.
type textWriter struct {
	special [256]bool // must be written with a backslash
}

func newTextWriter(delim byte) *textWriter {
	w := new(textWriter)
	for c, e := range textEscapes {
		w.special[c] = e != 0
	}
	w.special['\\'], w.special[delim] = true, true
	return w
}

// append appends a value with what is special escaped.
func (w *textWriter) append(dst, val []byte) []byte {
	from := 0
	for i, c := range val {
		if !w.special[c] {
			continue
		}
		dst = append(append(dst, val[from:i]...), '\\')
		if int(c) < len(textEscapes) && textEscapes[c] != 0 {
			c = textEscapes[c]
		}
		dst = append(dst, c)
		from = i + 1
	}
	return append(dst, val[from:]...)
}

// escapes is how much longer append makes a value.
func (w *textWriter) escapes(val []byte) int {
	n := 0
	for _, c := range val {
		if w.special[c] {
			n++
		}
	}
	return n
}
