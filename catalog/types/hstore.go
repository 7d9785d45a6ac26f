package types

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types/charset"
)

// A value of hstore is held as its binary form: the number of pairs, then for each
// the length of the key, the key, the length of the value or -1 for NULL, the value.
// Pairs are in the order of their keys, shorter ones first, and each key is there
// once, so that equal values have equal bytes.

// HstorePair is a key of an hstore with its value.
type HstorePair struct {
	Key, Val []byte
	Null     bool // there is no value
}

func compareHstoreKeys(a, b []byte) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
}

// NewHstore returns the value that has these pairs; of those with one key the first.
// It puts them in order.
func NewHstore(pairs []HstorePair) Datum {
	slices.SortStableFunc(pairs, func(a, b HstorePair) int { return compareHstoreKeys(a.Key, b.Key) })
	pairs = slices.CompactFunc(pairs, func(a, b HstorePair) bool { return bytes.Equal(a.Key, b.Key) })
	out := binary.BigEndian.AppendUint32(nil, uint32(len(pairs)))
	for _, p := range pairs {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(p.Key))), p.Key...)
		if p.Null {
			out = binary.BigEndian.AppendUint32(out, math.MaxUint32)
		} else {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(p.Val))), p.Val...)
		}
	}
	return Bytes(Of(OHstore), out)
}

// HstorePairs returns the pairs of a stored value, which share its bytes.
func HstorePairs(b []byte) []HstorePair {
	pairs, err := readHstore(b)
	if err != nil {
		return nil
	}
	return pairs
}

func readHstore(b []byte) ([]HstorePair, error) {
	if len(b) < 4 {
		return nil, errBinaryShort()
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	if b = b[4:]; n < 0 || n > len(b)/8 {
		return nil, sqlerr.New(sqlerr.ProgramLimitExceeded, "number of pairs (%d) exceeds the maximum allowed (%d)", n, math.MaxInt32/24)
	}
	field := func() (f []byte, null bool, err error) {
		if len(b) < 4 {
			return nil, false, errBinaryShort()
		}
		size := int(int32(binary.BigEndian.Uint32(b)))
		if b = b[4:]; size < 0 {
			return nil, true, nil
		}
		if size > len(b) {
			return nil, false, errBinaryShort()
		}
		f, b = b[:size:size], b[size:]
		return f, false, nil
	}
	pairs := make([]HstorePair, n)
	for i := range pairs {
		p := &pairs[i]
		var null bool
		var err error
		if p.Key, null, err = field(); err == nil && null {
			err = sqlerr.New(sqlerr.NullValueNotAllowed, "null value not allowed for hstore key")
		}
		if err == nil {
			p.Val, p.Null, err = field()
		}
		if err != nil {
			return nil, err
		}
	}
	if len(b) > 0 {
		return nil, errBinaryFormat()
	}
	return pairs, nil
}

// parseHstoreBinary reads what a client sends: pairs in any order.
func parseHstoreBinary(b []byte) ([]byte, error) {
	pairs, err := readHstore(b)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if err := cmp.Or(charset.CheckUTF8(p.Key), charset.CheckUTF8(p.Val)); err != nil {
			return nil, err
		}
	}
	return NewHstore(pairs).B, nil
}

// compareHstore orders by all keys and values one behind the other, as PostgreSQL
// does, and those that are the same there by how they are cut.
func compareHstore(a, b []byte) int {
	return cmp.Or(bytes.Compare(HstoreText(a), HstoreText(b)), bytes.Compare(a, b))
}

// HstoreText is all keys and values of a stored value, one behind the other.
func HstoreText(b []byte) []byte {
	var out []byte
	for _, p := range HstorePairs(b) {
		out = append(append(out, p.Key...), p.Val...)
	}
	return out
}

// appendHstore appends the text form.
func appendHstore(buf, b []byte) []byte {
	quoted := func(text []byte) {
		buf = append(buf, '"')
		for _, c := range text {
			if c == '"' || c == '\\' {
				buf = append(buf, '\\')
			}
			buf = append(buf, c)
		}
		buf = append(buf, '"')
	}
	for i, p := range HstorePairs(b) {
		if i > 0 {
			buf = append(buf, ", "...)
		}
		quoted(p.Key)
		buf = append(buf, "=>"...)
		if p.Null {
			buf = append(buf, "NULL"...)
		} else {
			quoted(p.Val)
		}
	}
	return buf
}

// hstoreScanner reads the text form of an hstore.
type hstoreScanner struct {
	text string
	pos  int
}

func (s *hstoreScanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *hstoreScanner) space() {
	for s.pos < len(s.text) && isHstoreSpace(s.text[s.pos]) {
		s.pos++
	}
}

func isHstoreSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

func errHstoreEnd() error { return sqlerr.New(sqlerr.InternalError, "Unexpected end of string") }

func (s *hstoreScanner) unexpected() error {
	if s.pos >= len(s.text) {
		return errHstoreEnd()
	}
	_, n := utf8.DecodeRuneInString(s.text[s.pos:])
	return sqlerr.New(sqlerr.InternalError, "Syntax error near \"%s\" at position %d", s.text[s.pos:s.pos+n], s.pos)
}

// want passes over a byte, with spaces before it where they are allowed.
func (s *hstoreScanner) want(c byte, spaces bool) error {
	if spaces {
		s.space()
	}
	if s.peek() != c {
		return s.unexpected()
	}
	s.pos++
	return nil
}

// word reads a key or a value up to stop, which only a bare word ends at. Behind a
// backslash any byte stands for itself.
func (s *hstoreScanner) word(stop byte) (word []byte, quoted bool, err error) {
	s.space()
	if stop == '=' && s.peek() == '=' {
		return nil, false, s.unexpected()
	}
	if quoted = s.peek() == '"'; quoted {
		s.pos++
	}
	for first := true; ; first = false {
		switch c := s.peek(); {
		case s.pos >= len(s.text):
			if quoted {
				return nil, false, errHstoreEnd()
			}
			return word, false, nil
		case c == '\\':
			if s.pos++; s.pos >= len(s.text) {
				return nil, false, errHstoreEnd()
			}
			word = append(word, s.text[s.pos])
		case quoted && c == '"':
			s.pos++
			return word, true, nil
		case !quoted && (c == stop && !first || isHstoreSpace(c)):
			return word, false, nil
		default:
			word = append(word, c)
		}
		s.pos++
	}
}

// parseHstore reads the text form: "key"=>"value" and key=>NULL, separated by commas.
func parseHstore(text string) ([]byte, error) {
	s := hstoreScanner{text: text}
	var pairs []HstorePair
	for s.space(); s.pos < len(s.text); s.space() {
		var p HstorePair
		var quoted bool
		var err error
		if p.Key, _, err = s.word('='); err == nil {
			err = s.want('=', true)
		}
		if err == nil {
			err = s.want('>', false)
		}
		if err == nil {
			if s.space(); s.pos >= len(s.text) {
				err = errHstoreEnd()
			}
		}
		if err == nil {
			p.Val, quoted, err = s.word(',')
		}
		if err != nil {
			return nil, err
		}
		if !quoted && bytes.EqualFold(p.Val, []byte("null")) {
			p.Val, p.Null = nil, true
		}
		pairs = append(pairs, p)
		if s.space(); s.pos >= len(s.text) {
			break
		}
		if err := s.want(',', false); err != nil {
			return nil, err
		}
	}
	return NewHstore(pairs).B, nil
}

// hstoreTokens appends the element keys of an hstore: K and a key, P and a pair.
func hstoreTokens(out [][]byte, b []byte) [][]byte {
	for _, p := range HstorePairs(b) {
		pair := append(binary.BigEndian.AppendUint32(nil, uint32(len(p.Key))), p.Key...)
		if pair = append(pair, '='); !p.Null {
			pair = append(append(pair, '"'), p.Val...)
		}
		out = append(out, token('K', p.Key), token('P', pair))
	}
	return out
}

// IsJSONNumber reports whether a text is a number as JSON writes it.
func IsJSONNumber(s string) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return s != "" && (s[0] == '-' || digit(s[0])) && digit(s[len(s)-1]) && checkJSON(s) == nil
}
