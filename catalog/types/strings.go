package types

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog/sqlerr"
)

// NameLen is the greatest length of an identifier in bytes.
const NameLen = 63

// TruncateName cuts an identifier to NameLen bytes at a character boundary.
func TruncateName(s string) string {
	if len(s) <= NameLen {
		return s
	}
	n := NameLen
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// parseTextual reads the types held as their text.
func parseTextual(t T, s string) ([]byte, error) {
	o := t.base()
	switch o {
	case OText, OVarchar:
	case OName:
		return []byte(TruncateName(s)), nil
	case OChar:
		return parseChar(s), nil
	case OTxidSnapshot, OPgSnapshot:
		return parseSnapshot(s)
	case OJSONPath:
		return canonicalJSONPath(s)
	case OPgNodeTree, 3361, 3402, 5017: // pg_ndistinct, pg_dependencies, pg_mcv_list
		return nil, errNoInput(t)
	default:
		if unsupportedText[o] {
			return nil, sqlerr.Unsupported(-1, "type %s", FormatTypeNoMod(o))
		}
	}
	return []byte(s), nil
}

func errNoInput(t T) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot accept a value of type %s", Lookup(t.base()).Name)
}

// parseChar reads "char": one byte, which \ooo gives in octal.
func parseChar(s string) []byte { return CharOf([]byte(s)) }

// CharOf is the "char" that a text is cast to.
func CharOf(s []byte) []byte {
	if len(s) == 4 && s[0] == '\\' && isOctal(s[1]) && isOctal(s[2]) && isOctal(s[3]) {
		s = []byte{(s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0')}
	}
	if len(s) == 0 || s[0] == 0 {
		return []byte{}
	}
	return s[:1]
}

// appendTextual appends a string: character(n) padded to its length, and
// "char" beyond ASCII in octal.
func appendTextual(buf []byte, d Datum) []byte {
	switch d.T.base() {
	case OBpchar:
		if d.T.Mod > 4 {
			return appendPadding(append(buf, d.B...), d.B, int(d.T.Mod)-4)
		}
	case OChar:
		if len(d.B) == 1 && d.B[0] >= 0x80 {
			c := d.B[0]
			return append(buf, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		}
	}
	return append(buf, d.B...)
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

// appendPadding pads a blank-padded string's text to n characters.
func appendPadding(buf, b []byte, n int) []byte {
	for i := utf8.RuneCount(b); i < n; i++ {
		buf = append(buf, ' ')
	}
	return buf
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

func parseBool(s string) (bool, error) {
	t := trimSpace(s)
	if v, ok := boolWord(t); ok {
		return v, nil
	}
	return false, errSyntax("boolean", s)
}

// ParseBoolWord reads a boolean as boolin does: any unique prefix of true,
// false, yes, no, on and off, and 1 and 0.
func ParseBoolWord(s string) (v, ok bool) { return boolWord(trimSpace(s)) }

func boolWord(t string) (v, ok bool) {
	if t == "" || len(t) > 5 {
		return false, false
	}
	lower := strings.ToLower(t)
	for _, w := range [...]struct {
		word string
		min  int
		v    bool
	}{{"true", 1, true}, {"false", 1, false}, {"yes", 1, true}, {"no", 1, false}, {"on", 2, true}, {"off", 2, false}, {"1", 1, true}, {"0", 1, false}} {
		if len(lower) >= w.min && strings.HasPrefix(w.word, lower) {
			return w.v, true
		}
	}
	return false, false
}

func parseBytea(s string) ([]byte, error) {
	if strings.HasPrefix(s, `\x`) {
		return parseHex(s[2:])
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
			i++
		case i+1 < len(s) && s[i+1] == '\\':
			out = append(out, '\\')
			i += 2
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && isOctal(s[i+2]) && isOctal(s[i+3]):
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 4
		default:
			return nil, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type bytea")
		}
	}
	return out, nil
}

// parseHex reads pairs of hexadecimal digits; white space may stand between pairs.
func parseHex(s string) ([]byte, error) {
	out := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); {
		if c := s[i]; c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		hi, ok := HexDigit(s[i])
		if !ok {
			return nil, errHexDigit(s[i:])
		}
		if i+1 >= len(s) {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
		}
		lo, ok := HexDigit(s[i+1])
		if !ok {
			return nil, errHexDigit(s[i+1:])
		}
		out = append(out, hi<<4|lo)
		i += 2
	}
	return out, nil
}

func errHexDigit(at string) error {
	_, n := utf8.DecodeRuneInString(at)
	return sqlerr.New(sqlerr.InvalidParameterValue, `invalid hexadecimal digit: "%s"`, at[:n])
}

// HexDigit is the value of a hexadecimal digit.
func HexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

func appendBytea(buf, b []byte, escape bool) []byte {
	if !escape {
		return hex.AppendEncode(append(buf, `\x`...), b)
	}
	for _, c := range b {
		switch {
		case c == '\\':
			buf = append(buf, `\\`...)
		case c < 0x20 || c > 0x7e:
			buf = append(buf, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			buf = append(buf, c)
		}
	}
	return buf
}

// parseUUID reads 32 hexadecimal digits, with an optional hyphen after each
// group of four and optional braces.
func parseUUID(s string) ([]byte, error) {
	src, braces := s, false
	if strings.HasPrefix(src, "{") {
		src, braces = src[1:], true
	}
	out := make([]byte, 16)
	for i := range out {
		if len(src) < 2 {
			return nil, errSyntax("uuid", s)
		}
		hi, ok1 := HexDigit(src[0])
		lo, ok2 := HexDigit(src[1])
		if !ok1 || !ok2 {
			return nil, errSyntax("uuid", s)
		}
		out[i] = hi<<4 | lo
		src = src[2:]
		if i%2 == 1 && i < 15 && strings.HasPrefix(src, "-") {
			src = src[1:]
		}
	}
	if braces {
		if !strings.HasPrefix(src, "}") {
			return nil, errSyntax("uuid", s)
		}
		src = src[1:]
	}
	if src != "" {
		return nil, errSyntax("uuid", s)
	}
	return out, nil
}

func appendUUID(buf, b []byte) []byte {
	if len(b) != 16 {
		return buf
	}
	for i, n := 0, 0; i < 16; i += n {
		n = 2
		if i == 0 {
			n = 4
		} else {
			buf = append(buf, '-')
		}
		if i == 10 {
			n = 6
		}
		buf = hex.AppendEncode(buf, b[i:i+n])
	}
	return buf
}
