package types

import (
	"time"

	"kvsqld/catalog/sqlerr"
)

func pending(s string) error { return sqlerr.Unsupported(-1, "%s", s) }

func Cast(d Datum, to T, o *FmtOpts, explicit bool) (Datum, error) { return d, pending("cast") }

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
