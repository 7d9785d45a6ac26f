package partition

import (
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// Op is what a condition compares a column by.
type Op uint8

// The operators. In is equality with any of several values.
const (
	Eq Op = iota
	Lt
	Le
	Gt
	Ge
	In
	IsNull
	NotNull
	And
	Or
)

// Cond is a condition on the columns of a table: a comparison of a column with
// values, or several conditions joined by And or Or. A comparison with NULL is
// never true. An And without conditions says nothing.
type Cond struct {
	Op   Op
	Col  int // column number in the table of the outermost Set
	Vals []types.Datum
	List []Cond
}

// maxSplit bounds the number of values of an In that are looked up one by one.
const maxSplit = 256

// Select tells, for each leaf in the order of Leaves, whether it may have rows that
// satisfy the condition.
func (s *Set) Select(c *Cond) []bool {
	var out []bool
	s.sel(c, nil, true, &out)
	return out
}

// sel appends the answers for the leaves of s; cols maps columns of the outermost
// table to those of s, nil for the same ones.
func (s *Set) sel(c *Cond, cols []int, any bool, out *[]bool) {
	keep := make([]bool, len(s.Parts))
	if any {
		keep = s.parts(c, cols)
	}
	for i := range s.Parts {
		sub := s.Parts[i].Sub
		if sub == nil {
			*out = append(*out, keep[i])
			continue
		}
		down := catalog.ColumnMap(s.Table, sub.Table)
		if cols != nil {
			down = compose(cols, down)
		}
		sub.sel(c, down, keep[i], out)
	}
}

func compose(a, b []int) []int {
	out := make([]int, len(a))
	for i, c := range a {
		out[i] = -1
		if c >= 0 {
			out[i] = b[c]
		}
	}
	return out
}

// parts tells which partitions of s may have rows that satisfy the condition.
func (s *Set) parts(c *Cond, cols []int) []bool {
	if c.Op == Or {
		out := make([]bool, len(s.Parts))
		for i := range c.List {
			for k, in := range s.parts(&c.List[i], cols) {
				out[k] = out[k] || in
			}
		}
		return out
	}
	list := []Cond{*c}
	if c.Op == And {
		list = c.List
	}
	keys := make([]limits, len(s.Table.Key.Keys))
	out := slices.Repeat([]bool{true}, len(s.Parts))
	narrow := func(in []bool) {
		for k := range out {
			out[k] = out[k] && in[k]
		}
	}
	for i := range list {
		x := &list[i]
		switch {
		case x.Op == And || x.Op == Or:
			narrow(s.parts(x, cols))
			continue
		case x.Op == In && len(x.Vals) > maxSplit:
			continue
		case x.Op == In:
			// one condition for each value, beside all others
			any := make([]bool, len(s.Parts))
			rest := slices.Delete(slices.Clone(list), i, i+1)
			for _, v := range x.Vals {
				one := Cond{Op: And, List: append(slices.Clone(rest), Cond{Op: Eq, Col: x.Col, Vals: []types.Datum{v}})}
				for k, in := range s.parts(&one, cols) {
					any[k] = any[k] || in
				}
			}
			return any
		}
		col := x.Col
		if cols != nil {
			col = cols[col]
		}
		for k := range keys {
			if s.Table.Key.Keys[k].Col == col && col >= 0 {
				keys[k].add(x)
			}
		}
	}
	for k := range keys {
		if keys[k].never() {
			return make([]bool, len(s.Parts))
		}
	}
	switch s.Table.Key.Strategy {
	case catalog.PartHash:
		narrow(s.hashParts(keys))
	case catalog.PartList:
		narrow(s.listParts(&keys[0]))
	default:
		narrow(s.rangeParts(keys))
	}
	return out
}

// limits are what is known of the value of a key column.
type limits struct {
	null, notNull bool
	empty         bool // nothing satisfies them
	lo, hi        *types.Datum
	loInc, hiInc  bool
}

func (l *limits) add(c *Cond) {
	switch c.Op {
	case IsNull:
		l.null = true
		return
	case NotNull:
		l.notNull = true
		return
	}
	l.notNull = true
	v := &c.Vals[0]
	if v.Null {
		l.empty = true
		return
	}
	lower := func(inc bool) {
		if l.lo == nil || types.Compare(*v, *l.lo) > 0 {
			l.lo, l.loInc = v, inc
		} else if types.Compare(*v, *l.lo) == 0 {
			l.loInc = l.loInc && inc
		}
	}
	upper := func(inc bool) {
		if l.hi == nil || types.Compare(*v, *l.hi) < 0 {
			l.hi, l.hiInc = v, inc
		} else if types.Compare(*v, *l.hi) == 0 {
			l.hiInc = l.hiInc && inc
		}
	}
	switch c.Op {
	case Eq:
		lower(true)
		upper(true)
	case Lt:
		upper(false)
	case Le:
		upper(true)
	case Gt:
		lower(false)
	case Ge:
		lower(true)
	}
}

// never reports whether no value is within the limits.
func (l *limits) never() bool {
	if l.empty || l.null && l.notNull {
		return true
	}
	if l.lo == nil || l.hi == nil {
		return false
	}
	c := types.Compare(*l.lo, *l.hi)
	return c > 0 || c == 0 && !(l.loInc && l.hiInc)
}

// one returns the only value within the limits.
func (l *limits) one() (types.Datum, bool) {
	if l.lo != nil && l.hi != nil && types.Compare(*l.lo, *l.hi) == 0 {
		return *l.lo, true
	}
	return types.Datum{}, false
}

func (l *limits) has(v types.Datum) bool {
	if v.Null {
		return !l.notNull
	}
	if l.null {
		return false
	}
	if l.lo != nil {
		if c := types.Compare(v, *l.lo); c < 0 || c == 0 && !l.loInc {
			return false
		}
	}
	if l.hi != nil {
		if c := types.Compare(v, *l.hi); c > 0 || c == 0 && !l.hiInc {
			return false
		}
	}
	return true
}

func (s *Set) hashParts(keys []limits) []bool {
	key := make([]types.Datum, len(keys))
	for i := range keys {
		v, ok := keys[i].one()
		switch {
		case ok:
			key[i] = v
		case keys[i].null:
			key[i] = types.Null(s.Table.Key.Keys[i].Type)
		default:
			return slices.Repeat([]bool{true}, len(s.Parts))
		}
	}
	return s.only(s.Find(key))
}

// only is the answer of one partition, or of none.
func (s *Set) only(at int) []bool {
	out := make([]bool, len(s.Parts))
	if at >= 0 {
		out[at] = true
	}
	return out
}

func (s *Set) listParts(l *limits) []bool {
	if v, ok := l.one(); ok {
		return s.only(s.Find([]types.Datum{v}))
	}
	if l.null {
		return s.only(s.Find([]types.Datum{types.Null(s.Table.Key.Keys[0].Type)}))
	}
	out := make([]bool, len(s.Parts))
	for i := range s.Parts {
		b := s.Parts[i].Table.Bound
		out[i] = b.Default || slices.ContainsFunc(b.In, l.has)
	}
	return out
}

func (s *Set) rangeParts(keys []limits) []bool {
	out := make([]bool, len(s.Parts))
	if slices.ContainsFunc(keys, func(l limits) bool { return l.null }) {
		return s.only(s.Def)
	}
	var fixed []types.Datum // values of the leading columns
	for i := range keys {
		v, ok := keys[i].one()
		if !ok {
			break
		}
		fixed = append(fixed, v)
	}
	if len(fixed) == len(keys) {
		return s.only(s.Find(fixed))
	}
	next := &keys[len(fixed)]
	for i := range s.ranges() {
		b := s.Parts[i].Table.Bound
		out[i] = !startsAbove(b.From, fixed, next) && !endsBelow(b.To, fixed, next)
	}
	if s.Def >= 0 {
		out[s.Def] = len(keys) > 1 || !s.covered(next)
	}
	return out
}

// startsAbove reports whether a range begins above all keys that begin with the
// fixed values and go on within the limits.
func startsAbove(from []catalog.BoundValue, fixed []types.Datum, next *limits) bool {
	c := compareKey(fixed, from)
	if c != 0 {
		return c < 0
	}
	f := from[len(fixed)]
	if f.Inf != 0 || next.hi == nil {
		return f.Inf > 0
	}
	c = types.Compare(f.Val, *next.hi)
	return c > 0 || c == 0 && !next.hiInc
}

// endsBelow reports whether a range ends below all these keys.
func endsBelow(to []catalog.BoundValue, fixed []types.Datum, next *limits) bool {
	c := compareKey(fixed, to)
	if c != 0 {
		return c > 0
	}
	t := to[len(fixed)]
	if t.Inf != 0 || next.lo == nil {
		return t.Inf < 0
	}
	c = types.Compare(t.Val, *next.lo)
	return c < 0 || c == 0 && (!next.loInc || len(fixed)+1 == len(to))
}

// covered reports whether the ranges of a key of one column hold all values within
// the limits, NULL among them if it is.
func (s *Set) covered(l *limits) bool {
	if !l.notNull {
		return false
	}
	at := catalog.BoundValue{Inf: -1} // all below is covered
	if l.lo != nil {
		at = catalog.BoundValue{Val: *l.lo}
	}
	for i := range s.ranges() {
		b := s.Parts[i].Table.Bound
		if catalog.CompareBoundValue(b.To[0], at) <= 0 {
			continue
		}
		if catalog.CompareBoundValue(b.From[0], at) > 0 {
			break
		}
		at = b.To[0]
	}
	if l.hi == nil {
		return at.Inf > 0
	}
	c := catalog.CompareBoundValue(at, catalog.BoundValue{Val: *l.hi})
	return c > 0 || c == 0 && !l.hiInc
}

// Elements returns the elements of an array, as the values of an In; false when it
// is none.
func Elements(d types.Datum) ([]types.Datum, bool) {
	if d.Null {
		return nil, true // = ANY (NULL) is never true
	}
	_, _, _, elems, err := types.ArrayElems(d)
	return elems, err == nil
}
