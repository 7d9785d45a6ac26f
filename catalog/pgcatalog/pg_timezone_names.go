package pgcatalog

import (
	"fmt"

	"kvsqld/catalog/types"
)

func rowsPgTimezoneNames(w *writer) {
	now := types.TimeOfTimestamp(w.env.Now)
	for _, name := range types.ZoneNames() {
		loc, err := types.LoadZone(name)
		if err != nil {
			continue
		}
		abbrev, offset := now.In(loc).Zone()
		if abbrev == "" || abbrev[0] == '+' || abbrev[0] == '-' {
			abbrev = offsetAbbrev(offset)
		}
		w.str(name).str(abbrev)
		w.next().Iv = types.Interval{Micros: int64(offset) * 1e6}
		w.bool(now.In(loc).IsDST()).end()
	}
}

func rowsPgTimezoneAbbrevs(w *writer) {
	for _, a := range types.ZoneAbbrevs(w.env.Now) {
		w.str(a.Name)
		w.next().Iv = types.Interval{Micros: int64(a.Offset) * 1e6}
		w.bool(a.DST).end()
	}
}

// offsetAbbrev is how zones without letters of their own are abbreviated.
func offsetAbbrev(seconds int) string {
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	h, m := seconds/3600, seconds/60%60
	if m == 0 {
		return fmt.Sprintf("%s%02d", sign, h)
	}
	return fmt.Sprintf("%s%02d%02d", sign, h, m)
}
