package types

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// usRules is when daylight saving time begins and ends where a POSIX-style zone has
// it and does not say.
const usRules = ",M3.2.0,M11.1.0"

// posixHours bounds the offset of a POSIX-style zone.
const posixHours = 167

// posixZone reads a zone given as STD offset [DST [offset] [,rules]]: names are
// letters or stand in angle brackets, and offsets count to the west. It returns nil
// for others.
func posixZone(s string) *time.Location {
	std, rest := posixName(s)
	west, rest, ok := posixOffset(rest)
	if !ok {
		return nil
	}
	if rest == "" {
		return time.FixedZone(strings.ToUpper(s), -west)
	}
	dst, rest := posixName(rest)
	if dst == "" {
		return nil
	}
	summer := west - 3600
	if rest != "" && rest[0] != ',' {
		if summer, rest, ok = posixOffset(rest); !ok {
			return nil
		}
	}
	if rest == "" {
		rest = usRules
	}
	if summer == west { // the rules change nothing, but must be well formed
		if posixRules(std, dst, s, west, west-3600, rest) == nil {
			return nil
		}
		return time.FixedZone(strings.ToUpper(std), -west)
	}
	return posixRules(std, dst, s, west, summer, rest)
}

// posixRules makes a zone whose two offsets follow rules.
func posixRules(std, dst, s string, west, summer int, rest string) *time.Location {
	tz := posixText(std, west) + posixText(dst, summer) + strings.ToUpper(rest)
	loc, err := time.LoadLocationFromTZData(strings.ToUpper(s), zoneFile(std, -west, tz))
	if err != nil || !followsRules(loc) {
		return nil
	}
	return loc
}

// followsRules reports whether the zone's rules were understood: its offset changes
// in the course of a year.
func followsRules(loc *time.Location) bool {
	_, first := time.Date(2001, 1, 1, 12, 0, 0, 0, time.UTC).In(loc).Zone()
	for day := 1; day < 365; day++ {
		if _, off := time.Date(2001, 1, 1+day, 12, 0, 0, 0, time.UTC).In(loc).Zone(); off != first {
			return true
		}
	}
	return false
}

// posixName splits the name of a zone from what follows.
func posixName(s string) (name, rest string) {
	if strings.HasPrefix(s, "<") {
		if end := strings.IndexByte(s, '>'); end > 0 {
			return s[1:end], s[end+1:]
		}
		return "", s
	}
	end := strings.IndexAny(s, "0123456789,+-")
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

// posixOffset reads [±]hh[:mm[:ss]] as seconds.
func posixOffset(s string) (v int, rest string, ok bool) {
	neg := strings.HasPrefix(s, "-")
	if neg || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	for i, unit := range []int{3600, 60, 1} {
		part, n := leadingInt(s)
		if n == 0 || i == 0 && part > posixHours || i > 0 && part > 59 {
			return 0, s, false
		}
		v, s = v+part*unit, s[n:]
		if !strings.HasPrefix(s, ":") || i == 2 {
			break
		}
		s = s[1:]
	}
	if neg {
		v = -v
	}
	return v, s, true
}

// posixText writes a name and an offset in the strict form.
func posixText(name string, west int) string {
	sign := ""
	if west < 0 {
		sign, west = "-", -west
	}
	return fmt.Sprintf("<%s>%s%d:%02d:%02d", strings.ToUpper(name), sign, west/3600, west/60%60, west%60)
}

// zoneFile is a time zone file without transitions: a zone, and the rules of all
// time.
func zoneFile(name string, east int, rules string) []byte {
	abbrev := append([]byte(strings.ToUpper(name)), 0)
	header := func(version byte) []byte {
		h := append([]byte("TZif"), version)
		h = append(h, make([]byte, 15)...)
		for _, n := range []int{0, 0, 0, 0, 1, len(abbrev)} {
			h = binary.BigEndian.AppendUint32(h, uint32(n))
		}
		h = binary.BigEndian.AppendUint32(h, uint32(int32(east)))
		return append(append(h, 0, 0), abbrev...)
	}
	// The second block is that of 64-bit times; the rules follow it.
	return fmt.Appendf(append(header('2'), header('2')...), "\n%s\n", rules)
}
