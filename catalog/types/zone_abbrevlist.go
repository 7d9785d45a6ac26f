package types

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// summerAbbrevs are the abbreviations with a fixed offset that mean daylight saving
// time.
var summerAbbrevs = strings.Fields(`
	acdt acsst adt aedt aesst akdt almst awsst azost bdst brst bst cadt cdt cest cetdst chadt clst edt eest
	eetdst egst fjst fnst idt kdt kgst mdt mest mesz metdst msd must ndt nzdt pdt pkst pmdt pyst sadt ulast uyst
	uzst wadt wdt wetdst wgst yekst
`)

// Abbreviation is an abbreviation of a time zone as it is understood at some time.
type Abbreviation struct {
	Name   string
	Offset int // seconds east
	DST    bool
}

// ZoneAbbrevs lists the abbreviations in alphabetical order, as they are understood
// at a time in microseconds since 2000-01-01 UTC.
func ZoneAbbrevs(now int64) []Abbreviation {
	out := make([]Abbreviation, 0, len(zoneAbbrevs))
	for _, name := range slices.Sorted(maps.Keys(zoneAbbrevs)) {
		a := zoneAbbrevs[name]
		one := Abbreviation{Name: strings.ToUpper(name), Offset: int(a.offset), DST: slices.Contains(summerAbbrevs, name)}
		if loc := namedZone(a.zone); loc != nil {
			one.Offset, one.DST = lastUse(loc, one.Name, TimeOfTimestamp(now))
		}
		out = append(out, one)
	}
	return out
}

// lastUse is what an abbreviation meant in a zone when it was last in use, or what
// the zone has at that time if it never was.
func lastUse(loc *time.Location, abbrev string, at time.Time) (offset int, dst bool) {
	for t := at.In(loc); ; {
		if name, off := t.Zone(); name == abbrev {
			return off, t.IsDST()
		}
		start, _ := t.ZoneBounds()
		if start.IsZero() {
			break
		}
		t = start.Add(-time.Second)
	}
	t := at.In(loc)
	_, offset = t.Zone()
	return offset, t.IsDST()
}

// ZoneAbbrev is the abbreviation of a zone's time at a finite timestamp.
func ZoneAbbrev(ts int64, loc *time.Location) string {
	_, abbrev := zoneAt(ts, loc)
	return abbrev
}
