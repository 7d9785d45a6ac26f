package expr

import (
	"bytes"
	"math"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/planner/plan"
)

// orderedSet returns the WITHIN GROUP aggregates. Rows arrive in the order of
// the aggregate's ORDER BY.
func orderedSet(a *plan.Agg, direct []types.Datum) Aggregator {
	switch a.Proc.Name {
	case "mode", "percentile_cont", "percentile_disc", "rank", "dense_rank", "percent_rank", "cume_dist":
		agg := &orderedAgg{name: a.Proc.Name, t: a.T, direct: direct, order: a.OrderBy}
		if a.PerGroup {
			agg.ndirect = a.Direct
		}
		return agg
	}
	return nil
}

// orderedAgg keeps the rows of all groups in shared columns; a group is a list
// of row numbers.
type orderedAgg struct {
	name   string
	t      types.T
	direct []types.Datum
	order  []plan.SortKey
	cols   []*vec.Vec
	n      int
	arena  vec.Arena
	groups [][]int32
	// ndirect is the number of direct arguments that come with the rows, behind
	// their columns; directs has those of each group.
	ndirect int
	directs [][]types.Datum
}

func (a *orderedAgg) Grow(n int) {
	a.groups = growTo(a.groups, n)
	if a.ndirect > 0 {
		a.directs = growTo(a.directs, n)
	}
}

// hypothetical aggregates count NULLs as rows; the others skip them.
func (a *orderedAgg) hypothetical() bool {
	return a.name == "rank" || a.name == "dense_rank" || a.name == "percent_rank" || a.name == "cume_dist"
}

func (a *orderedAgg) Add(env *Env, groups []uint32, args []*vec.Vec, sel []uint32) error {
	args, direct := args[:len(args)-a.ndirect], args[len(args)-a.ndirect:]
	if a.cols == nil {
		for _, v := range args {
			a.cols = append(a.cols, vec.New(v.T, 0))
		}
	}
	for k, i := range aggRows(groups, sel) {
		if g := groups[k]; a.ndirect > 0 && a.directs[g] == nil {
			for _, v := range direct {
				a.directs[g] = append(a.directs[g], kept(v.Get(int(i))))
			}
		}
		if !a.hypothetical() && args[0].IsNull(int(i)) {
			continue
		}
		for c, v := range args {
			vec.AppendFrom(a.cols[c], a.n, v, int(i), &a.arena)
		}
		a.groups[groups[k]] = append(a.groups[groups[k]], int32(a.n))
		a.n++
	}
	return nil
}

func (a *orderedAgg) Merge(Aggregator, int, int) error {
	return sqlerr.Unsupported(-1, "merging groups of ordered-set aggregate %s", a.name)
}

func (a *orderedAgg) Result(env *Env, out *vec.Vec, from, to int) error {
	out.Reset(a.t, max(to-from, 1))
	for k := range to - from {
		if a.ndirect > 0 {
			a.direct = a.directs[from+k]
		}
		d, err := a.value(a.groups[from+k])
		if err != nil {
			return err
		}
		if !d.Null {
			d.T = a.t
		}
		out.Set(k, d)
	}
	return nil
}

func (a *orderedAgg) value(rows []int32) (types.Datum, error) {
	if a.hypothetical() {
		return a.rank(rows), nil
	}
	if a.name == "mode" {
		return a.mode(rows), nil
	}
	if len(a.direct) == 0 || a.direct[0].Null {
		return null, nil
	}
	frac := a.direct[0]
	if frac.T.Kind() != types.KArray {
		if frac.F < 0 || frac.F > 1 || frac.F != frac.F {
			return null, sqlerr.New(sqlerr.NumericValueOutOfRange, "percentile value %s is not between 0 and 1",
				types.AppendText(nil, frac, types.DefaultFmt))
		}
		return a.percentile(rows, frac.F)
	}
	_, dims, lbs, elems, err := types.ArrayElems(frac)
	if err != nil || len(rows) == 0 {
		return null, err
	}
	outs := make([]types.Datum, len(elems))
	for i, f := range elems {
		if f.Null {
			outs[i] = types.Null(elemType(a.t))
			continue
		}
		if f.F < 0 || f.F > 1 || f.F != f.F {
			return null, sqlerr.New(sqlerr.NumericValueOutOfRange, "percentile value %s is not between 0 and 1",
				types.AppendText(nil, f, types.DefaultFmt))
		}
		if outs[i], err = a.percentile(rows, f.F); err != nil {
			return null, err
		}
		outs[i].T = elemType(a.t)
	}
	return types.NewArray(elemType(a.t), dims, lbs, outs), nil
}

func (a *orderedAgg) percentile(rows []int32, f float64) (types.Datum, error) {
	n := len(rows)
	if n == 0 {
		return null, nil
	}
	at := func(i int) types.Datum { return a.cols[0].Get(int(rows[i])) }
	if a.name == "percentile_disc" {
		return at(max(int(math.Ceil(f*float64(n))), 1) - 1), nil
	}
	pos := f * float64(n-1)
	lo, hi := int(math.Floor(pos)), int(math.Ceil(pos))
	first := at(lo)
	if lo == hi {
		return first, nil
	}
	second, part := at(hi), pos-float64(lo)
	if first.T.Kind() == types.KInterval {
		diff, err := second.Iv.Sub(first.Iv)
		if err != nil {
			return null, err
		}
		if diff, err = diff.Mul(part); err != nil {
			return null, err
		}
		first.Iv, err = first.Iv.Add(diff)
		return first, err
	}
	first.F += part * (second.F - first.F)
	return first, nil
}

// mode is the most frequent value; of several, the first in order.
func (a *orderedAgg) mode(rows []int32) types.Datum {
	best, bestRun := null, 0
	var last types.Datum
	run := 0
	for _, r := range rows {
		d := a.cols[0].Get(int(r))
		same := false
		if run > 0 {
			c := compareDatums(d, last)
			same = c == 0
		}
		if same {
			run++
		} else {
			run, last = 1, d
		}
		if run > bestRun {
			best, bestRun = last, run
		}
	}
	return best
}

// rank places the direct arguments among the group's rows.
func (a *orderedAgg) rank(rows []int32) types.Datum {
	before, peers, distinct := 0, 0, 0
	for k, r := range rows {
		c := a.compareDirect(int(r))
		switch {
		case c < 0:
			before++
			if k == 0 || !a.sameRows(int(rows[k-1]), int(r)) {
				distinct++
			}
		case c == 0:
			peers++
		}
	}
	n := len(rows)
	switch a.name {
	case "rank":
		return intDatum(int64(before + 1))
	case "dense_rank":
		return intDatum(int64(distinct + 1))
	case "percent_rank":
		if n == 0 {
			return types.Float(a.t, 0)
		}
		return types.Float(a.t, float64(before)/float64(n))
	}
	return types.Float(a.t, float64(before+peers+1)/float64(n+1))
}

func (a *orderedAgg) sameRows(r, s int) bool {
	for _, c := range a.cols {
		if !vec.EqualRows(c, r, c, s) {
			return false
		}
	}
	return true
}

// compareDirect compares row r with the hypothetical row in the sort order.
func (a *orderedAgg) compareDirect(r int) int {
	for k, col := range a.cols {
		if k >= len(a.direct) {
			break
		}
		var key plan.SortKey
		if k < len(a.order) {
			key = a.order[k]
		}
		x, y := col.Get(r), a.direct[k]
		if x.Null || y.Null {
			if x.Null && y.Null {
				continue
			}
			if x.Null == key.NullsFirst {
				return -1
			}
			return 1
		}
		c := compareDatums(x, y)
		if key.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

func (a *orderedAgg) Reset(g int) {
	a.groups[g] = nil
	if a.ndirect > 0 {
		a.directs[g] = nil
	}
}

func (a *orderedAgg) Bytes() int64 { return int64(a.n) * int64(16+24*len(a.cols)) }

// kept is a datum whose bytes are its own.
func kept(d types.Datum) types.Datum {
	d.B = bytes.Clone(d.B)
	return d
}
