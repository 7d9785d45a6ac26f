package types

import (
	"time"

	"kvsqld/catalog/sqlerr"
)

func pending(s string) error { return sqlerr.Unsupported(-1, "%s", s) }

func ParseBinary(t T, b []byte) (Datum, error)                               { return Datum{}, pending("type") }
func AppendBinary(buf []byte, d Datum) []byte                                { return buf }
func Compare(a, b Datum) int                                                 { return 0 }
func Equal(a, b Datum) bool                                                  { return Compare(a, b) == 0 }
func Hash(d Datum) uint64                                                    { return 0 }
func Cast(d Datum, to T, o *FmtOpts, explicit bool) (Datum, error)           { return d, pending("cast") }
func ArrayOf(elem OID) OID                                                   { return Lookup(elem).Array }
func NewArray(elem T, dims []int, lbs []int, elems []Datum) Datum            { return Datum{} }
func ArrayElems(d Datum) (elem T, dims, lbs []int, elems []Datum, err error) { return }

// AddInterval adds an interval to a timestamp (loc nil) or a timestamptz.
func AddInterval(ts int64, iv Interval, loc *time.Location) (int64, error) { return 0, nil }
func SubInterval(ts int64, iv Interval, loc *time.Location) (int64, error) { return 0, nil }

// TimestampSub is ts - ts: an interval of days and microseconds.
func TimestampSub(a, b int64) (Interval, error) { return Interval{}, nil }

// Age is age(a, b) (loc nil: timestamps without zone).
func Age(a, b int64, loc *time.Location) (Interval, error) { return Interval{}, nil }

// DateTrunc is date_trunc on a timestamp (loc nil) or timestamptz.
func DateTrunc(unit string, ts int64, loc *time.Location) (int64, error) { return 0, nil }
func IntervalTrunc(unit string, iv Interval) (Interval, error)           { return iv, nil }
func DateBin(stride Interval, ts, origin int64) (int64, error)           { return 0, nil }

// Extract is extract(unit from d): a numeric datum, NULL for fields infinity does not have.
func Extract(unit string, d Datum, o *FmtOpts) (Datum, error) { return d, nil }

// DatePart is date_part(unit, d): a float8 datum.
func DatePart(unit string, d Datum, o *FmtOpts) (Datum, error)                    { return d, nil }
func MakeDate(year, month, day int32) (int64, error)                              { return 0, nil }
func MakeTime(hour, min int32, sec float64) (int64, error)                        { return 0, nil }
func MakeTimestamp(year, month, day, hour, min int32, sec float64) (int64, error) { return 0, nil }
func MakeTimestamptz(year, month, day, hour, min int32, sec float64, loc *time.Location) (int64, error) {
	return 0, nil
}

// DateToTimestamp … convert between the date/time representations.

// TimestampTime is the time of day of a finite timestamp, in microseconds.

// Timetz packs and unpacks the KTimetz representation; zone is seconds west.

// TimestampFromTime converts from and to the standard library.

// LoadZone resolves a time zone name as SET TIME ZONE does.

func parseArray(t T, s string, o *FmtOpts) (Datum, error) { return Datum{}, pending("array input") }
func appendArray(buf []byte, d Datum, o *FmtOpts) []byte  { return buf }
func modArray(d Datum, t T, explicit bool) (Datum, error) { return d, nil }
func checkJSON(s string) error                            { return nil }
func canonicalJSONB(s string) ([]byte, error)             { return []byte(s), nil }
func parseInet(s string, cidr bool) ([]byte, error)       { return nil, pending("inet") }
func appendInet(buf, b []byte, cidr bool) []byte          { return buf }
func parseMacaddr(s string) ([]byte, error)               { return nil, pending("macaddr") }
func appendMacaddr(buf, b []byte) []byte                  { return buf }
func parseBits(s string) ([]byte, error)                  { return nil, pending("bit") }
func appendBits(buf, b []byte) []byte                     { return buf }
func bitLen(b []byte) int                                 { return 0 }
func maskBits(b []byte, n int)                            {}
func parsePoint(s string) ([]byte, error)                 { return nil, pending("point") }
func appendPoint(buf, b []byte, o *FmtOpts) []byte        { return buf }
func parseRange(t T, s string, o *FmtOpts) (Datum, error) { return Datum{}, pending("range") }
func appendRange(buf []byte, d Datum, o *FmtOpts) []byte  { return buf }
func appendRecord(buf []byte, d Datum, o *FmtOpts) []byte { return buf }
