package types

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Types of system values that are held as text and have a binary form of their own.
const (
	OXid8  OID = 5069
	OPgLSN OID = 3220
)

// unsupportedText are the types without input here: their text has a syntax of
// its own that nothing would check.
var unsupportedText = map[OID]bool{
	OMoney: true, 601: true, 602: true, 603: true, 604: true, 628: true, 718: true, // lseg, path, box, polygon, line, circle
	774: true, 3614: true, 3615: true, 3642: true, // macaddr8, tsvector, tsquery, gtsvector
	2970: true, 5038: true, // txid_snapshot, pg_snapshot
}

// parseSystemValue reads xid8, pg_lsn and tid into their canonical text.
func parseSystemValue(o OID, s string) ([]byte, error) {
	switch o {
	case OXid8:
		if v, err := strconv.ParseUint(trimSpace(s), 10, 64); err == nil {
			return strconv.AppendUint(nil, v, 10), nil
		}
		return nil, errSyntax("xid8", s)
	case OPgLSN:
		hi, lo, _ := strings.Cut(s, "/")
		h, err1 := strconv.ParseUint(hi, 16, 32)
		l, err2 := strconv.ParseUint(lo, 16, 32)
		if err1 != nil || err2 != nil || len(hi) > 8 || len(lo) > 8 {
			return nil, errSyntax("pg_lsn", s)
		}
		return fmt.Appendf(nil, "%X/%X", h, l), nil
	}
	inner, ok := strings.CutPrefix(s, "(")
	inner, ok2 := strings.CutSuffix(inner, ")")
	block, offset, ok3 := strings.Cut(inner, ",")
	b, err1 := strconv.ParseUint(block, 10, 32)
	i, err2 := strconv.ParseUint(offset, 10, 16)
	if !ok || !ok2 || !ok3 || err1 != nil || err2 != nil {
		return nil, errSyntax("tid", s)
	}
	return fmt.Appendf(nil, "(%d,%d)", b, i), nil
}

func xid8Text(b []byte) ([]byte, error) {
	if err := fixed(b, 8); err != nil {
		return nil, err
	}
	return strconv.AppendUint(nil, binary.BigEndian.Uint64(b), 10), nil
}

func appendXid8(buf, text []byte) []byte {
	v, _ := strconv.ParseUint(string(text), 10, 64)
	return binary.BigEndian.AppendUint64(buf, v)
}

func lsnText(b []byte) ([]byte, error) {
	if err := fixed(b, 8); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%X/%X", binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])), nil
}

func appendLSN(buf, text []byte) []byte {
	hi, lo, _ := strings.Cut(string(text), "/")
	h, _ := strconv.ParseUint(hi, 16, 32)
	l, _ := strconv.ParseUint(lo, 16, 32)
	return binary.BigEndian.AppendUint64(buf, h<<32|l)
}

func tidText(b []byte) ([]byte, error) {
	if err := fixed(b, 6); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "(%d,%d)", binary.BigEndian.Uint32(b), binary.BigEndian.Uint16(b[4:])), nil
}

func appendTid(buf, text []byte) []byte {
	block, offset, _ := strings.Cut(strings.Trim(string(text), "()"), ",")
	b, _ := strconv.ParseUint(block, 10, 32)
	o, _ := strconv.ParseUint(offset, 10, 16)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(buf, uint32(b)), uint16(o))
}

// parsePoint reads (x,y) or x,y.
func parsePoint(s string) ([]byte, error) {
	t := trimSpace(s)
	if strings.HasPrefix(t, "(") && strings.HasSuffix(t, ")") {
		t = t[1 : len(t)-1]
	}
	xs, ys, ok := strings.Cut(t, ",")
	if !ok || !floatSyntax(trimSpace(xs)) || !floatSyntax(trimSpace(ys)) {
		return nil, errSyntax("point", s)
	}
	x, err := parseFloat(xs, "double precision", 64)
	if err != nil {
		return nil, err
	}
	y, err := parseFloat(ys, "double precision", 64)
	if err != nil {
		return nil, err
	}
	return NewPoint(x, y).B, nil
}

// NewPoint makes a point.
func NewPoint(x, y float64) Datum {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 16), math.Float64bits(x))
	return Datum{T: Of(OPoint), B: binary.BigEndian.AppendUint64(b, math.Float64bits(y))}
}

// PointXY returns a point's coordinates.
func PointXY(d Datum) (x, y float64) {
	if len(d.B) != 16 {
		return 0, 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(d.B)), math.Float64frombits(binary.BigEndian.Uint64(d.B[8:]))
}

func appendPoint(buf, b []byte, o *FmtOpts) []byte {
	x, y := PointXY(Datum{B: b})
	buf = appendFloat(append(buf, '('), x, 64, o.ExtraFloatDigits)
	return append(appendFloat(append(buf, ','), y, 64, o.ExtraFloatDigits), ')')
}
