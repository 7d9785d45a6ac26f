package partition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
)

// set makes a partitioned table of int4 columns a and b with partitions of the
// given bounds.
func set(strategy byte, cols int, bounds ...*catalog.PartBound) *Set {
	t := &catalog.Table{Key: &catalog.PartKey{Strategy: strategy}}
	for i := range 2 {
		t.Columns = append(t.Columns, catalog.Column{Name: string('a' + rune(i)), Type: types.TInt4})
	}
	for i := range cols {
		t.Key.Keys = append(t.Key.Keys, catalog.PartKeyCol{Col: i, Type: types.TInt4})
	}
	s := &Set{Table: t, Def: -1, NullAt: -1}
	for i, b := range bounds {
		p := &catalog.Table{Bound: b}
		p.Name = fmt.Sprint("p", i)
		s.Parts = append(s.Parts, Part{Table: p})
	}
	s.arrange()
	return s
}

func num(v int) types.Datum { return types.Int(types.TInt4, int64(v)) }

func span(from, to []int) *catalog.PartBound {
	b := &catalog.PartBound{}
	for i := range from {
		b.From = append(b.From, limit(from[i]))
		b.To = append(b.To, limit(to[i]))
	}
	return b
}

// limit is a value of a bound; numbers beyond 1,000 are infinite.
func limit(v int) catalog.BoundValue {
	switch {
	case v > 1000:
		return catalog.BoundValue{Inf: 1}
	case v < -1000:
		return catalog.BoundValue{Inf: -1}
	}
	return catalog.BoundValue{Val: num(v)}
}

func list(vals ...int) *catalog.PartBound {
	b := &catalog.PartBound{}
	for _, v := range vals {
		if v < 0 {
			b.In = append(b.In, types.Null(types.TInt4))
		} else {
			b.In = append(b.In, num(v))
		}
	}
	return b
}

func sets() map[string]*Set {
	def := func() *catalog.PartBound { return &catalog.PartBound{Default: true} }
	return map[string]*Set{
		"range":              set('r', 1, span([]int{0}, []int{3}), span([]int{3}, []int{6}), span([]int{8}, []int{9999})),
		"range with default": set('r', 1, span([]int{-9999}, []int{2}), span([]int{5}, []int{7}), def()),
		"two columns": set('r', 2, span([]int{-9999, -9999}, []int{2, 3}), span([]int{2, 3}, []int{2, 6}),
			span([]int{2, 6}, []int{7, 9999}), span([]int{8, 0}, []int{9, 1}), def()),
		"list":              set('l', 1, list(1, 2), list(3, -1), list(7)),
		"list with default": set('l', 1, list(1, 5), list(3), def()),
		"hash": set('h', 2, &catalog.PartBound{Modulus: 2, Remainder: 0}, &catalog.PartBound{Modulus: 4, Remainder: 1},
			&catalog.PartBound{Modulus: 4, Remainder: 3}),
	}
}

// TestSelectKeepsEveryRow compares random conditions with all rows of a small
// domain: the partition of a row that satisfies the condition is never left out.
func TestSelectKeepsEveryRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, s := range sets() {
		left := 0
		for range 3000 {
			c := randomCond(rng, 2)
			keep := s.Select(&c)
			left += len(slices.DeleteFunc(slices.Clone(keep), func(k bool) bool { return k }))
			for a := -1; a <= 10; a++ {
				for b := -1; b <= 10; b++ {
					row := []types.Datum{value(a), value(b)}
					at := s.Find(row[:len(s.Table.Key.Keys)])
					if at >= 0 && holds(&c, row) && !keep[at] {
						t.Fatalf("%s: partition %d of row (%d, %d) is left out by %s", name, at, a, b, show(&c))
					}
				}
			}
		}
		if left == 0 {
			t.Errorf("%s: no condition left a partition out", name)
		}
	}
}

func value(v int) types.Datum {
	if v < 0 {
		return types.Null(types.TInt4)
	}
	return num(v)
}

func randomCond(rng *rand.Rand, depth int) Cond {
	if depth > 0 && rng.IntN(2) == 0 {
		c := Cond{Op: And}
		if rng.IntN(2) == 0 {
			c.Op = Or
		}
		for range 1 + rng.IntN(3) {
			c.List = append(c.List, randomCond(rng, depth-1))
		}
		return c
	}
	c := Cond{Op: Op(rng.IntN(8)), Col: rng.IntN(2)}
	n := 1
	if c.Op == In {
		n = rng.IntN(4)
	}
	for range n {
		c.Vals = append(c.Vals, value(rng.IntN(13)-1))
	}
	return c
}

// holds evaluates a condition on a row.
func holds(c *Cond, row []types.Datum) bool {
	switch c.Op {
	case And:
		return !slices.ContainsFunc(c.List, func(x Cond) bool { return !holds(&x, row) })
	case Or:
		return slices.ContainsFunc(c.List, func(x Cond) bool { return holds(&x, row) })
	case IsNull:
		return row[c.Col].Null
	case NotNull:
		return !row[c.Col].Null
	}
	for _, v := range c.Vals {
		if row[c.Col].Null || v.Null {
			continue
		}
		cmp := types.Compare(row[c.Col], v)
		switch c.Op {
		case Eq, In:
			if cmp == 0 {
				return true
			}
		case Lt:
			return cmp < 0
		case Le:
			return cmp <= 0
		case Gt:
			return cmp > 0
		case Ge:
			return cmp >= 0
		}
	}
	return false
}

func show(c *Cond) string {
	s := fmt.Sprintf("%d on %d of", c.Op, c.Col)
	for _, v := range c.Vals {
		s += " " + catalog.ConstText(v, nil)
	}
	for i := range c.List {
		s += " [" + show(&c.List[i]) + "]"
	}
	return s
}

// TestSelect has conditions with the partitions that are left.
func TestSelect(t *testing.T) {
	all := sets()
	one := func(op Op, v int) Cond { return Cond{Op: op, Vals: []types.Datum{num(v)}} }
	tests := []struct {
		set  string
		cond Cond
		want []bool
	}{
		{"range", one(Eq, 4), []bool{false, true, false}},
		{"range", one(Ge, 6), []bool{false, false, true}},
		{"range", one(Lt, 3), []bool{true, false, false}},
		{"range", one(Eq, 7), []bool{false, false, false}},
		{"range", Cond{Op: And, List: []Cond{one(Gt, 1), one(Lt, 1)}}, []bool{false, false, false}},
		{"range with default", one(Lt, 2), []bool{true, false, false}},
		{"range with default", one(Le, 2), []bool{true, false, true}},
		{"range with default", Cond{Op: IsNull}, []bool{false, false, true}},
		{"two columns", one(Eq, 2), []bool{true, true, true, false, true}},
		{"list", Cond{Op: In, Vals: []types.Datum{num(1), num(7)}}, []bool{true, false, true}},
		{"list", Cond{Op: IsNull}, []bool{false, true, false}},
		{"list with default", one(Eq, 3), []bool{false, true, false}},
		{"list with default", one(Gt, 9), []bool{false, false, true}},
		{"hash", one(Eq, 3), []bool{true, true, true}},
	}
	for _, tt := range tests {
		if got := all[tt.set].Select(&tt.cond); !slices.Equal(got, tt.want) {
			t.Errorf("%s, %s: %v, want %v", tt.set, show(&tt.cond), got, tt.want)
		}
	}
}
