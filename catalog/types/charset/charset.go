// Package charset converts text between UTF-8, in which the server works, and the
// encodings that clients may use. Names, numbers and errors are PostgreSQL's.
package charset

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"kvsqld/catalog/sqlerr"
)

// Encoding is a character encoding.
type Encoding struct {
	Name string // as pg_encoding_to_char spells it
	ID   int

	table  encoding.Encoding // nil: UTF8, SQL_ASCII and what there are no tables for
	length func(b []byte) int
	// strict leaves out the characters that the table has beyond the encoding:
	// those whose bytes are not all above 0xA0.
	strict bool
	// ClientOnly encodings have ASCII bytes within their characters.
	ClientOnly bool
}

// Numbers of the encodings that need no tables.
const (
	SQLASCII = 0
	UTF8     = 6
)

// Convertible reports whether there is a conversion to and from UTF-8.
func (e *Encoding) Convertible() bool { return e.table != nil || e.Plain() }

// Plain reports whether texts pass as they are: UTF8 and SQL_ASCII.
func (e *Encoding) Plain() bool { return e.ID == UTF8 || e.ID == SQLASCII }

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf || c == 0 {
			return false
		}
	}
	return true
}

// Decode returns b in UTF-8; it may be b itself. Bytes that are no text of the
// encoding are 22021, characters that Unicode does not have 22P05.
func (e *Encoding) Decode(b []byte) ([]byte, error) {
	if ascii(b) {
		return b, nil
	}
	if e.table == nil {
		return b, CheckUTF8(b)
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return nil, e.invalid(b[i : i+1])
	}
	out, err := e.table.NewDecoder().Bytes(b)
	if err == nil && !e.strict && !bytes.ContainsRune(out, utf8.RuneError) {
		return out, nil
	}
	out = out[:0]
	for len(b) > 0 {
		n := e.charLen(b)
		if n > len(b) {
			return nil, e.invalid(b)
		}
		if n == 1 && b[0] < utf8.RuneSelf {
			out, b = append(out, b[0]), b[1:]
			continue
		}
		c, err := e.table.NewDecoder().Bytes(b[:n])
		if err != nil || bytes.ContainsRune(c, utf8.RuneError) || e.beyond(b[:n]) {
			return nil, untranslatable(b[:n], e.Name, "UTF8")
		}
		out, b = append(out, c...), b[n:]
	}
	return out, nil
}

// Encode returns text, which is UTF-8, in the encoding; it may be text itself. A
// character that the encoding does not have is 22P05.
func (e *Encoding) Encode(text []byte) ([]byte, error) {
	if e.table == nil || ascii(text) {
		return text, nil
	}
	enc := e.table.NewEncoder()
	if e.length == nil {
		if out, err := enc.Bytes(text); err == nil {
			return out, nil
		}
	}
	var out []byte
	for len(text) > 0 {
		_, n := utf8.DecodeRune(text)
		enc.Reset()
		c, err := enc.Bytes(text[:n])
		if err != nil || n > 1 && (e.beyond(c) || len(c) != e.charLen(c)) {
			return nil, untranslatable(text[:n], "UTF8", e.Name)
		}
		out, text = append(out, c...), text[n:]
	}
	return out, nil
}

// EncodeLossy is Encode with a question mark for what the encoding does not have.
func (e *Encoding) EncodeLossy(text string) string {
	out, err := e.Encode([]byte(text))
	if err == nil {
		return string(out)
	}
	var b []byte
	for _, r := range text {
		c, err := e.Encode([]byte(string(r)))
		if err != nil {
			c = []byte{'?'}
		}
		b = append(b, c...)
	}
	return string(b)
}

// Whole returns how many of the bytes are whole characters, where b may have been
// cut within its last one.
func (e *Encoding) Whole(b []byte) int {
	if e.length == nil {
		return len(b)
	}
	i := 0
	for i < len(b) {
		n := e.charLen(b[i:])
		if i+n > len(b) {
			break
		}
		i += n
	}
	return i
}

func (e *Encoding) charLen(b []byte) int {
	if e.length == nil {
		return 1
	}
	return e.length(b)
}

func (e *Encoding) beyond(char []byte) bool {
	if !e.strict {
		return false
	}
	for _, c := range char {
		if c < 0xA1 {
			return true
		}
	}
	return false
}

// CheckUTF8 refuses what is no text of the server's encoding: invalid UTF-8 and
// NUL, with the first offending bytes: 22021.
func CheckUTF8(b []byte) error {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return nil
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if b[0] == 0 || r == utf8.RuneError && n == 1 {
			return utf8Names.invalid(b[:min(len(b), sequence(b[0]))])
		}
		b = b[n:]
	}
	return nil
}

// sequence is the length that a first byte of UTF-8 announces.
func sequence(first byte) int {
	switch {
	case first&0xe0 == 0xc0:
		return 2
	case first&0xf0 == 0xe0:
		return 3
	case first&0xf8 == 0xf0:
		return 4
	}
	return 1
}

func (e *Encoding) invalid(b []byte) error {
	return sqlerr.New(sqlerr.CharacterNotInRepertoire, "invalid byte sequence for encoding \"%s\":%s", e.Name, hex(b))
}

func untranslatable(b []byte, from, to string) error {
	return sqlerr.New(sqlerr.UntranslatableCharacter,
		`character with byte sequence%s in encoding "%s" has no equivalent in encoding "%s"`, hex(b), from, to)
}

func hex(b []byte) (text []byte) {
	for _, c := range b {
		text = fmt.Appendf(text, " 0x%02x", c)
	}
	return text
}
