package types

import (
	"strconv"

	"kvsqld/catalog/sqlerr"
)

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// trimSpace removes ASCII white space around s, as input functions do.
func trimSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func itoa(v int64) string { return strconv.FormatInt(v, 10) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// errBinaryShort is raised when a binary value ends too early.
func errBinaryShort() error {
	return sqlerr.New(sqlerr.ProtocolViolation, "insufficient data left in message")
}

// errBinaryEmpty is raised where a single byte is missing.
func errBinaryEmpty() error {
	return sqlerr.New(sqlerr.ProtocolViolation, "no data left in message")
}

// errElementShort is raised where an element is shorter than its length says.
func errElementShort() error {
	return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "insufficient data left in message")
}

// errBinaryLong is raised when the binary form of a range goes on after its bounds.
func errBinaryLong() error {
	return sqlerr.New(sqlerr.ProtocolViolation, "invalid message format")
}

// TrailingBytes is the message about a binary value that goes on after its end.
const TrailingBytes = "incorrect binary data format"

// errBinaryFormat is raised when a binary value is longer than its type's.
func errBinaryFormat() error {
	return sqlerr.New(sqlerr.InvalidBinaryRepresentation, TrailingBytes)
}

func errSyntax(typ, s string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, `invalid input syntax for type %s: "%s"`, typ, s)
}

// equalFold compares with a lower-case ASCII word.
func equalFold(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
