package partition

import (
	"slices"
	"sort"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Set is a partitioned table with its partitions, in the order of their bounds:
// ranges from low to high, lists by their least value, hash partitions by modulus
// and remainder, the default partition last.
type Set struct {
	Table *catalog.Table
	Parts []Part
	// Def is the default partition, NullAt the one that lists NULL; -1 is none.
	Def, NullAt int

	values  []listValue // of a list, sorted
	modulus int         // the greatest
	hashed  []int       // by remainder of modulus: the partition, or -1
}

// Part is a partition; Sub is set when it is partitioned again.
type Part struct {
	Table *catalog.Table
	Sub   *Set
}

type listValue struct {
	val  types.Datum
	part int
}

// setOf is the key of a table's Set among what a snapshot remembers.
type setOf struct{ *catalog.Table }

// Of returns the partitions of a table of the snapshot, nil when it is not partitioned.
// The snapshot remembers them: they are not to be changed.
func Of(s *catalog.Snapshot, t *catalog.Table) *Set {
	if t.Key == nil {
		return nil
	}
	return s.Memo(setOf{t}, func() any { return build(s, t) }).(*Set)
}

func build(s *catalog.Snapshot, t *catalog.Table) *Set {
	set := &Set{Table: t, Def: -1, NullAt: -1}
	for _, c := range s.Children(t.OID) {
		p := Part{Table: c}
		if c.Key != nil {
			p.Sub = build(s, c)
		}
		set.Parts = append(set.Parts, p)
	}
	set.arrange()
	return set
}

// arrange sorts the partitions and makes what Find looks into.
func (s *Set) arrange() {
	slices.SortStableFunc(s.Parts, func(a, b Part) int { return catalog.CompareBounds(a.Table.Bound, b.Table.Bound) })
	for i := range s.Parts {
		b := s.Parts[i].Table.Bound
		if b.Default {
			s.Def = i
		}
		s.modulus = max(s.modulus, b.Modulus)
		for _, v := range b.In {
			if v.Null {
				s.NullAt = i
			} else {
				s.values = append(s.values, listValue{v, i})
			}
		}
	}
	slices.SortFunc(s.values, func(a, b listValue) int { return types.Compare(a.val, b.val) })
	s.hashed = make([]int, s.modulus)
	for r := range s.hashed {
		s.hashed[r] = -1
		for i := range s.Parts {
			if b := s.Parts[i].Table.Bound; b.Modulus > 0 && r%b.Modulus == b.Remainder {
				s.hashed[r] = i
			}
		}
	}
}

// compareKey orders a key and a bound of a range.
func compareKey(key []types.Datum, b []catalog.BoundValue) int {
	for i := range key {
		if b[i].Inf != 0 {
			return -int(b[i].Inf)
		}
		if c := types.Compare(key[i], b[i].Val); c != 0 {
			return c
		}
	}
	return 0
}

// Find returns the partition of the rows with a key, or -1 when there is none.
func (s *Set) Find(key []types.Datum) int {
	at := -1
	switch s.Table.Key.Strategy {
	case catalog.PartHash:
		if s.modulus > 0 {
			at = s.hashed[HashKey(s.Table.Key, key)%uint64(s.modulus)]
		}
		return at
	case catalog.PartList:
		at = s.findValue(key[0])
	default:
		at = s.findRange(key)
	}
	if at < 0 {
		return s.Def
	}
	return at
}

func (s *Set) findValue(d types.Datum) int {
	if d.Null {
		return s.NullAt
	}
	i := sort.Search(len(s.values), func(i int) bool { return types.Compare(s.values[i].val, d) >= 0 })
	if i < len(s.values) && types.Compare(s.values[i].val, d) == 0 {
		return s.values[i].part
	}
	return -1
}

func (s *Set) findRange(key []types.Datum) int {
	for _, d := range key {
		if d.Null {
			return -1
		}
	}
	n := s.ranges()
	i := sort.Search(n, func(i int) bool { return compareKey(key, s.Parts[i].Table.Bound.From) < 0 }) - 1
	if i >= 0 && compareKey(key, s.Parts[i].Table.Bound.To) < 0 {
		return i
	}
	return -1
}

// ranges is the number of partitions that are not the default one, which is last.
func (s *Set) ranges() int {
	if s.Def >= 0 {
		return len(s.Parts) - 1
	}
	return len(s.Parts)
}

// Values returns what the partitions of a list hold, in order, NULL last.
func (s *Set) Values() []types.Datum {
	var out []types.Datum
	for _, v := range s.values {
		out = append(out, v.val)
	}
	if s.NullAt >= 0 {
		out = append(out, types.Null(s.Table.Key.Keys[0].Type))
	}
	return out
}

// Leaves returns the tables with the rows, in the order of the bounds.
func (s *Set) Leaves() []*catalog.Table {
	var out []*catalog.Table
	for i := range s.Parts {
		if sub := s.Parts[i].Sub; sub != nil {
			out = append(out, sub.Leaves()...)
		} else {
			out = append(out, s.Parts[i].Table)
		}
	}
	return out
}

// Moves reports whether setting columns of a table may move rows from one of its
// partitions, or of those below, to another one.
func Moves(s *catalog.Snapshot, t *catalog.Table, cols []int) bool {
	set := Of(s, t)
	return set != nil && set.Moves(t, cols)
}

// Moves reports whether new values for columns of a table, that of the set or one below
// it, may change which partition its rows are for.
func (s *Set) Moves(t *catalog.Table, cols []int) bool {
	return s.Keyed(t, cols) || slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Sub != nil && p.Sub.Moves(t, cols) })
}

// Keyed reports whether some of the columns of such a table are read by the set's own key.
func (s *Set) Keyed(t *catalog.Table, cols []int) bool {
	at := catalog.ColumnMap(s.Table, t)
	set := func(c int) bool { return at[c] >= 0 && slices.Contains(cols, at[c]) }
	return slices.ContainsFunc(s.Table.Key.Keys, func(k catalog.PartKeyCol) bool {
		return k.Col >= 0 && set(k.Col) || slices.ContainsFunc(k.ExprCols, set)
	})
}
