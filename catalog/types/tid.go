package types

import (
	"encoding/binary"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Tid makes a tid: four bytes for the page and two for the line.
func Tid(page uint32, line uint16) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(nil, page), line)
}

// TidParts are the page and the line of a tid.
func TidParts(b []byte) (page uint32, line uint16) {
	if len(b) != 6 {
		return 0, 0
	}
	return binary.BigEndian.Uint32(b), binary.BigEndian.Uint16(b[4:])
}

// oldTid is a tid as data files of the formats before 4 have it: as a text. A word of six
// bytes that looks like one is of a page that hardly any table has.
var oldTid = regexp.MustCompile(`^\(\d+,\d+\)$`)

// RenewTid returns a stored value of type tid, or of a domain over it, in the form of this
// version, and whether it was one of an older form. Other values it returns as they are.
func RenewTid(t T, b []byte) ([]byte, bool) {
	if t.base() != OTid || !oldTid.Match(b) {
		return b, false
	}
	v, err := parseTid(string(b))
	if err != nil {
		return b, false
	}
	return v, true
}

func parseTid(s string) ([]byte, error) {
	// What stands before the parenthesis and behind the other is not looked at.
	_, inner, ok := strings.Cut(s, "(")
	block, offset, ok2 := strings.Cut(inner, ",")
	offset, _, ok3 := strings.Cut(offset, ")")
	number := func(s string) (int64, error) { // an empty text is zero
		if s == "" {
			return 0, nil
		}
		return strconv.ParseInt(strings.TrimLeft(s, " \t\n\r\v\f"), 10, 64)
	}
	b, err1 := number(block)
	i, err2 := number(offset)
	if !ok || !ok2 || !ok3 || err1 != nil || err2 != nil || b < math.MinInt32 || b > math.MaxUint32 || i < 0 || i > math.MaxUint16 {
		return nil, errSyntax("tid", s)
	}
	return Tid(uint32(b), uint16(i)), nil
}

func appendTid(buf, b []byte) []byte {
	page, line := TidParts(b)
	buf = strconv.AppendUint(append(buf, '('), uint64(page), 10)
	buf = strconv.AppendUint(append(buf, ','), uint64(line), 10)
	return append(buf, ')')
}
