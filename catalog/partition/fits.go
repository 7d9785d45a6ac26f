package partition

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// Fits checks the bound of a new partition against those that are there. at says
// where in the statement each of its values stands.
func (s *Set) Fits(name string, b *catalog.PartBound, at func(i int) int) error {
	if b.Default {
		if s.Def >= 0 {
			return sqlerr.New(sqlerr.InvalidObjectDefinition, "partition \"%s\" conflicts with existing default partition \"%s\"",
				name, s.Parts[s.Def].Table.Name).At(at(-1))
		}
		return nil
	}
	switch s.Table.Key.Strategy {
	case catalog.PartHash:
		return s.fitsHash(name, b, at)
	case catalog.PartList:
		return s.fitsList(name, b, at)
	}
	return s.fitsRange(name, b, at)
}

func (s *Set) overlap(name string, part, at int) error {
	return sqlerr.New(sqlerr.InvalidObjectDefinition, "partition \"%s\" would overlap partition \"%s\"", name, s.Parts[part].Table.Name).At(at)
}

func (s *Set) fitsList(name string, b *catalog.PartBound, at func(i int) int) error {
	for i, v := range b.In {
		if k := s.findValue(v); k >= 0 {
			return s.overlap(name, k, at(i))
		}
	}
	return nil
}

func (s *Set) fitsHash(name string, b *catalog.PartBound, at func(i int) int) error {
	bad := func(factorOf, of int, part Part, greater bool) error {
		e := sqlerr.New(sqlerr.InvalidObjectDefinition, "every hash partition modulus must be a factor of the next larger modulus").At(-1)
		if greater {
			return e.WithDetail("The new modulus %d is not divisible by %d, the modulus of existing partition \"%s\".", of, factorOf, part.Table.Name)
		}
		return e.WithDetail("The new modulus %d is not a factor of %d, the modulus of existing partition \"%s\".", factorOf, of, part.Table.Name)
	}
	// the partitions are sorted by modulus: the one before the new one and the one behind
	i := slices.IndexFunc(s.Parts, func(p Part) bool { return catalog.CompareBounds(p.Table.Bound, b) > 0 })
	if i < 0 {
		i = len(s.Parts)
	}
	if i == 0 && len(s.Parts) > 0 {
		if m := s.Parts[0].Table.Bound.Modulus; m%b.Modulus != 0 {
			return bad(b.Modulus, m, s.Parts[0], false)
		}
	} else if i > 0 {
		if m := s.Parts[i-1].Table.Bound.Modulus; b.Modulus%m != 0 {
			return bad(m, b.Modulus, s.Parts[i-1], true)
		}
		if i < len(s.Parts) {
			if m := s.Parts[i].Table.Bound.Modulus; m%b.Modulus != 0 {
				return bad(b.Modulus, m, s.Parts[i], false)
			}
		}
	}
	for r := b.Remainder; r < max(s.modulus, b.Modulus) && s.modulus > 0; r += b.Modulus {
		if k := s.hashed[r%s.modulus]; k >= 0 {
			return s.overlap(name, k, at(0))
		}
	}
	return nil
}

func (s *Set) fitsRange(name string, b *catalog.PartBound, at func(i int) int) error {
	if c := catalog.CompareRange(b.From, b.To); c >= 0 {
		return sqlerr.New(sqlerr.InvalidObjectDefinition, "empty range bound specified for partition \"%s\"", name).
			WithDetail("Specified lower bound %s is greater than or equal to upper bound %s.",
				catalog.RangeText(b.From, types.DefaultFmt), catalog.RangeText(b.To, types.DefaultFmt)).At(at(differs(b.From, b.To)))
	}
	for k := range s.ranges() {
		o := s.Parts[k].Table.Bound
		if catalog.CompareRange(b.From, o.To) >= 0 || catalog.CompareRange(o.From, b.To) >= 0 {
			continue
		}
		// The place is that of the value by which the first overlap shows.
		place := at(0)
		if catalog.CompareRange(b.From, o.From) < 0 {
			place = at(len(b.From) + differs(b.To, o.From))
		} else if d := differs(b.From, o.To); d >= 0 {
			place = at(d)
		}
		return s.overlap(name, k, place)
	}
	return nil
}

// differs returns the first column in which two bounds differ; the last one that
// counts if they do not.
func differs(a, b []catalog.BoundValue) int {
	for i := range a {
		if catalog.CompareBoundValue(a[i], b[i]) != 0 || a[i].Inf != 0 {
			return i
		}
	}
	return len(a) - 1
}
