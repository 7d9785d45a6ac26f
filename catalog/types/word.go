package types

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"kvsqld/catalog/sqlerr"
)

// Word makes a value of xid8 or pg_lsn.
func Word(t T, v uint64) Datum { return Datum{T: t, B: binary.BigEndian.AppendUint64(nil, v)} }

// WordValue is the number behind a value of xid8, pg_lsn or macaddr8.
func WordValue(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

func parseWord(o OID, s string) ([]byte, error) {
	switch o {
	case OTid:
		return parseTid(s)
	case OXid8:
		return Word(T{}, parseXid(s)).B, nil
	case OPgLSN:
		hi, lo, _ := strings.Cut(s, "/")
		h, err1 := strconv.ParseUint(hi, 16, 32)
		l, err2 := strconv.ParseUint(lo, 16, 32)
		if err1 != nil || err2 != nil || len(hi) > 8 || len(lo) > 8 {
			return nil, errSyntax("pg_lsn", s)
		}
		return Word(T{}, h<<32|l).B, nil
	}
	return parseMacaddr8(s)
}

func appendWord(buf []byte, d Datum) []byte {
	v := WordValue(d.B)
	switch d.T.base() {
	case OTid:
		return appendTid(buf, d.B)
	case OXid8:
		return strconv.AppendUint(buf, v, 10)
	case OPgLSN:
		return fmt.Appendf(buf, "%X/%X", v>>32, uint32(v))
	}
	return appendMacaddr(buf, d.B)
}

// parseMacaddr8 reads pairs of hexadecimal digits, which one kind of separator
// may part; six bytes are widened to eight.
func parseMacaddr8(s string) ([]byte, error) {
	t := trimSpace(s)
	var out []byte
	sep := byte(0)
	for len(t) >= 2 && len(out) < 8 {
		hi, ok1 := HexDigit(t[0])
		lo, ok2 := HexDigit(t[1])
		if !ok1 || !ok2 {
			return nil, errSyntax("macaddr8", s)
		}
		out, t = append(out, hi<<4|lo), t[2:]
		if t != "" && (t[0] == ':' || t[0] == '-' || t[0] == '.') {
			if sep != 0 && t[0] != sep || len(t) == 1 {
				return nil, errSyntax("macaddr8", s)
			}
			sep, t = t[0], t[1:]
		}
	}
	if t != "" || len(out) != 6 && len(out) != 8 {
		return nil, errSyntax("macaddr8", s)
	}
	if len(out) == 6 {
		out = widenMacaddr(out)
	}
	return out, nil
}

// widenMacaddr makes an EUI-64 address of an EUI-48 one.
func widenMacaddr(b []byte) []byte {
	if len(b) != 6 {
		return b
	}
	return []byte{b[0], b[1], b[2], 0xff, 0xfe, b[3], b[4], b[5]}
}

func narrowMacaddr(b []byte) ([]byte, error) {
	if len(b) != 8 || b[3] != 0xff || b[4] != 0xfe {
		return nil, sqlerr.New(sqlerr.NumericValueOutOfRange, "macaddr8 data out of range to convert to macaddr").
			WithHint("Only addresses that have FF and FE as values in the 4th and 5th bytes from the left, for example " +
				"xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be converted from macaddr8 to macaddr.")
	}
	return []byte{b[0], b[1], b[2], b[5], b[6], b[7]}, nil
}
