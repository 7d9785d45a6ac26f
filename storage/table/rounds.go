package table

import (
	"slices"

	"kvsqld/catalog/types/vec"
)

// Entries that a lookup in rounds reads at once, and of each probe at first: about as many
// as take the time of finding the first one.
const aheadEntries = 16

// rounds are the probes of a lookup side by side. A few entries of each are read ahead;
// the rows of one of each are fetched first, then of another one, of two, of four, of
// those probes that are not settled yet. So whoever looks for one row with a property
// fetches about as many as it takes to find it, and yet many at a time.
type rounds struct {
	settled func(row uint32) bool // nil: the lookup gives all rows of a probe at once
	open    []openProbe
	given   int // rows that were given of each
	ahead   int // entries to be read of each

	keys, vals [][]byte // entries read ahead
	from       []uint32
	lo         []byte
	most       int // the most entries that there were
}

// openProbe is a probe that may have more rows: the entries at … end of those read ahead,
// and with more set, those of the file behind last.
type openProbe struct {
	probe   int
	at, end int
	more    bool
	last    []byte
}

// Rounds makes the lookup give some rows of each probe at a time, and no more of those
// whose row numbers are settled by then. It reports whether it does so: where a probe
// finds one row at most, or a list that is read whole, it gives all.
func (l *Lookup) Rounds(settled func(row uint32) bool) bool {
	if l.whole || l.x != nil && l.x.inverted {
		return false
	}
	l.rounds.settled = settled
	return true
}

// start begins with n probes.
func (s *rounds) start(n int) {
	if s.settled == nil {
		return
	}
	s.open = slices.Grow(s.open[:0], n)
	for i := range n {
		s.open = append(s.open, openProbe{probe: i, more: true})
	}
	s.given, s.ahead = 0, aheadEntries
	s.clear()
}

func (s *rounds) clear() { s.keys, s.vals, s.from = s.keys[:0], s.vals[:0], s.from[:0] }

func (s *rounds) reset() {
	forgetKeys(s.most, s.keys, s.vals)
	clear(s.open[:cap(s.open)])
	s.settled, s.most = nil, 0
}

// round collects the pairs of the next round, none at the end.
func (l *Lookup) round() error {
	s := &l.rounds
	for {
		s.open = slices.DeleteFunc(s.open, func(p openProbe) bool {
			return p.at == p.end && !p.more || s.settled(l.probe.rows[p.probe])
		})
		if len(s.open) == 0 {
			return nil
		}
		n := max(1, s.given)
		if l.x == nil || l.only {
			n = s.ahead // what is to be read of the rows has been read
		}
		n = min(n, max(1, vec.BatchSize/len(s.open)))
		for i := range s.open {
			p := &s.open[i]
			to := min(p.at+n, p.end)
			l.keys, l.vals = append(l.keys, s.keys[p.at:to]...), append(l.vals, s.vals[p.at:to]...)
			l.from = append(l.from, s.from[p.at:to]...)
			p.at = to
		}
		if len(l.keys) > 0 {
			s.given += n
			return nil
		}
		if err := l.readAhead(); err != nil {
			return err
		}
	}
}

// readAhead reads the next entries of all open probes, and keeps those that pass the
// filter on entries.
func (l *Lookup) readAhead() error {
	s := &l.rounds
	s.clear()
	for i := range s.open {
		p := &s.open[i]
		l.enter(l.probe.list[p.probe], p.last)
		for n := 0; n < s.ahead && p.more; {
			pairs, err := l.iter.Next()
			if err != nil {
				return err
			}
			for _, pair := range pairs {
				s.keys, s.vals = append(s.keys, pair.Key), append(s.vals, pair.Val)
				s.from = append(s.from, uint32(i))
				p.last = pair.Key
			}
			n, p.more = n+len(pairs), len(pairs) > 0
		}
	}
	s.most = max(s.most, len(s.keys))
	if l.entry.on() && len(s.keys) > 0 {
		var err error
		if s.keys, s.vals, err = l.entry.pass(s.keys, s.vals, s.from); err != nil {
			return err
		}
		s.from = s.from[:len(s.keys)]
	}
	at := 0
	for i := range s.open {
		p := &s.open[i]
		p.at = at
		for at < len(s.from) && s.from[at] == uint32(i) {
			s.from[at] = l.probe.rows[p.probe]
			at++
		}
		p.end = at
	}
	s.ahead = min(4*s.ahead, max(aheadEntries, 8*vec.BatchSize/len(s.open)))
	return nil
}
