package types

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones do not depend on the host's files

	"kvsqld/catalog/sqlerr"
)

// maxZoneHours bounds the hours of numeric zone displacements, which end at 15:59:59.
const maxZoneHours = 15

var zoneCache sync.Map // lower-case name → *time.Location, or nil when unknown

// LoadZone resolves the value of the setting TimeZone: a name of the tz
// database in any case, a number of hours east of Greenwich, or a POSIX-style
// name such as UTC-3 or <+03>-3, whose offset counts west. 22023 for others.
func LoadZone(name string) (*time.Location, error) {
	t := trimSpace(name)
	if hours, err := strconv.ParseFloat(t, 64); err == nil && math.Abs(hours) <= 168 {
		return FixedZone(int(hours * 3600)), nil
	}
	if loc := namedZone(t); loc != nil {
		return loc, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, `invalid value for parameter "TimeZone": "%s"`, name)
}

// AtZone resolves the zone of AT TIME ZONE: an abbreviation such as EST, or
// what LoadZone takes except that numbers count west. 22023 for others.
func AtZone(name string) (*time.Location, error) {
	if a, ok := zoneAbbrevs[strings.ToLower(name)]; ok {
		if a.zone != "" {
			if loc := namedZone(a.zone); loc != nil {
				return loc, nil
			}
		}
		return time.FixedZone(strings.ToUpper(name), int(a.offset)), nil
	}
	if loc := namedZone(name); loc != nil {
		return loc, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, `time zone "%s" not recognized`, name)
}

// TimeZone is what AT TIME ZONE names: a zone, or an abbreviation whose offset is the
// one that the zone it belongs to used it for at the time in question.
type TimeZone struct {
	*time.Location
	abbrev string
}

// TimeZoneNamed resolves what AtZone does.
func TimeZoneNamed(name string) (TimeZone, error) {
	loc, err := AtZone(name)
	z := TimeZone{Location: loc}
	if lower := strings.ToLower(name); zoneAbbrevs[lower].zone != "" {
		z.abbrev = lower
	}
	return z, err
}

// AtLocal returns the zone for a local time, in microseconds.
func (z TimeZone) AtLocal(ts int64) *time.Location {
	if z.abbrev == "" {
		return z.Location
	}
	return time.FixedZone(z.abbrev, zoneAbbrevs[z.abbrev].abbrevOffset(z.abbrev, floorDiv(ts, usecPerSec)))
}

// At returns the zone for a moment, in microseconds.
func (z TimeZone) At(ts int64) *time.Location {
	if z.abbrev == "" {
		return z.Location
	}
	moment := time.Unix(floorDiv(ts, usecPerSec)+unixEpochSecs, 0)
	if off, ok := abbrevOffsetAt(z.abbrev, moment, z.Location); ok {
		return time.FixedZone(z.abbrev, off)
	}
	return z.Location
}

// MakeZone resolves the zone of make_timestamptz for a local time in microseconds. An
// offset counts east there, as in input.
func MakeZone(name string, ts int64) (*time.Location, error) {
	if name != "" && isDigit(name[0]) {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, `invalid input syntax for type numeric time zone: "%s"`, name).
			WithHint(`Numeric time zones must have "-" or "+" as first character.`)
	}
	switch east, f := decodeOffset(name); f {
	case faultNone:
		return FixedZone(east), nil
	case faultZone:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, `numeric time zone "%s" out of range`, name)
	}
	z, err := TimeZoneNamed(name)
	if err != nil {
		return nil, err
	}
	return z.AtLocal(ts), nil
}

// FixedZone returns the zone with a constant offset in seconds east of
// Greenwich, named as PostgreSQL names SET TIME ZONE's offsets: <+02>-02.
func FixedZone(east int) *time.Location {
	abs := string(appendOffset(nil, east))
	return time.FixedZone("<"+abs+">"+string(appendOffset(nil, -east)), east)
}

// namedZone finds a zone of the tz database or a POSIX-style one, or nil.
func namedZone(name string) *time.Location {
	if name == "" || len(name) > 255 {
		return nil
	}
	key := strings.ToLower(name)
	if v, ok := zoneCache.Load(key); ok {
		return v.(*time.Location)
	}
	loc := findZone(key)
	if loc != nil {
		zoneCache.Store(key, loc) // only hits: the set of zones is finite, that of names is not
	}
	return loc
}

func findZone(lower string) *time.Location {
	switch lower {
	case "utc":
		return time.UTC
	case "gmt":
		return time.FixedZone("GMT", 0)
	}
	if lower == "local" || strings.Contains(lower, "..") || lower[0] == '/' {
		return nil
	}
	// The database has its zones again in this folder, by the same rules.
	if exact, ok := zoneNames()[strings.TrimPrefix(lower, "posix/")]; ok {
		if loc, err := time.LoadLocation(exact); err == nil {
			return loc
		}
	}
	return posixZone(lower)
}

// decodeOffset reads ±hh, ±hhmm, ±hh:mm or ±hh:mm:ss as seconds east.
func decodeOffset(s string) (east int, f fault) {
	switch {
	case len(s) == 0 || s[0] != '+' && s[0] != '-':
		return 0, faultFormat
	case len(s) == 1:
		return 0, faultNone
	case s[1] == '-' && len(s) > 2 && isDigit(s[2]):
		return 0, faultZone // an hour below zero
	}
	neg := s[0] == '-'
	var part [3]int
	rest, n := s[1:], 0
	for n = 0; n < 3; n++ {
		v, size := leadingInt(rest)
		if size == 0 && (n == 0 || rest != "") {
			return 0, faultFormat
		}
		if v > math.MaxInt32 {
			return 0, faultZone
		}
		rest = rest[size:]
		part[n] = v
		if n == 0 && rest == "" && size > 2 {
			part[0], part[1] = v/100, v%100
		}
		if rest == "" {
			break
		}
		if rest[0] != ':' {
			break
		}
		rest = rest[1:]
	}
	if part[0] > maxZoneHours || part[1] > 59 || part[2] > 59 {
		return 0, faultZone
	}
	if rest != "" {
		return 0, faultFormat
	}
	east = part[0]*3600 + part[1]*60 + part[2]
	if neg {
		east = -east
	}
	return east, faultNone
}

// leadingInt reads the digits at the start of s (saturating) and their number.
func leadingInt(s string) (v, n int) {
	const enough = min(1<<40, math.MaxInt/10-1)
	for n < len(s) && isDigit(s[n]) {
		if v < enough {
			v = v*10 + int(s[n]-'0')
		}
		n++
	}
	return v, n
}

// zoneAbbrev is an abbreviation: a fixed offset in seconds east, or the zone
// whose current use of the abbreviation decides.
type zoneAbbrev struct {
	offset int32
	zone   string
}

// abbrevOffset returns the offset in seconds east that an abbreviation means
// at a local time (seconds since 2000-01-01).
func (a zoneAbbrev) abbrevOffset(name string, local int64) int {
	if a.zone == "" {
		return int(a.offset)
	}
	loc := namedZone(a.zone)
	if loc == nil {
		return int(a.offset)
	}
	// The zone's own use of the abbreviation wins; otherwise its offset then.
	off := offsetAtLocal(local, loc)
	if own, ok := abbrevOffsetAt(name, time.Unix(local+unixEpochSecs-int64(off), 0), loc); ok {
		return own
	}
	return off
}

// abbrevOffsetAt is the offset that the zone last used an abbreviation for, up to the
// moment.
func abbrevOffsetAt(name string, moment time.Time, loc *time.Location) (east int, ok bool) {
	upper := strings.ToUpper(name)
	for range 3 {
		z := moment.In(loc)
		if abbrev, o := z.Zone(); abbrev == upper {
			return o, true
		}
		start, _ := z.ZoneBounds()
		if start.IsZero() {
			break
		}
		moment = start.Add(-time.Second)
	}
	return 0, false
}

// zoneList has the names of the tz database, one a line.
//
//go:embed zone_names.txt
var zoneList string

// zoneNames maps lower-case names to the database's spelling.
var zoneNames = sync.OnceValue(func() map[string]string {
	m := make(map[string]string, 640)
	for line := range strings.Lines(zoneList) {
		name := strings.TrimSuffix(line, "\n")
		m[strings.ToLower(name)] = name
	}
	return m
})

// ZoneNames returns the names of the tz database in alphabetical order.
func ZoneNames() []string { return strings.Fields(zoneList) }
