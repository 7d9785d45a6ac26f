package session

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
)

const (
	sampleRows   = 30000 // rows that statistics are computed from
	statsTarget  = 100   // most common values, and buckets of a histogram
	maxStatWidth = 1024  // wider values are not kept
	pageBytes    = 8192
)

// sample is a random sample of a table's rows, by column, in the order in which
// they were found.
type sample struct {
	cols [][]types.Datum
	pos  []int64 // row numbers
	rows int64   // rows seen

	weight float64 // of algorithm L
	next   int64   // number of the next row that is taken
}

// sampleTable reads a table once and computes its statistics; cols are the
// columns wanted, nil for all.
func sampleTable(ctx context.Context, d *table.Desc, r table.Reader, t *catalog.Table, cols []int) (*catalog.Stats, error) {
	if cols == nil {
		cols = d.Live
	}
	sc, err := d.Scan(ctx, r, &table.ScanSpec{Cols: cols})
	if err != nil {
		return nil, err
	}
	defer sc.Close()
	s := &sample{cols: make([][]types.Datum, len(cols))}
	rng := rand.New(rand.NewPCG(uint64(t.OID), 1))
	var b vec.Batch
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := sc.Next(&b); err != nil {
			return nil, err
		}
		if b.N == 0 {
			break
		}
		s.take(&b, rng)
	}
	st := &catalog.Stats{Table: t.OID, Rows: float64(s.rows), Cols: make([]catalog.ColStats, len(t.Columns))}
	width := 0.0
	for i, c := range cols {
		st.Cols[c] = s.column(i)
		width += st.Cols[c].AvgWidth
	}
	st.Pages = math.Ceil(st.Rows * (width + entryOverhead) / pageBytes)
	return st, nil
}

// take offers a batch to the sample: each row seen so far is in it with the same
// probability. Rows that will not be in it are passed over without a look: how
// many is drawn by Li's algorithm L.
func (s *sample) take(b *vec.Batch, rng *rand.Rand) {
	row := 0
	for ; row < b.N && len(s.pos) < sampleRows; row++ {
		s.pos = append(s.pos, s.rows+int64(row))
		for i, c := range b.Cols {
			s.cols[i] = append(s.cols[i], keep(c.Get(row)))
		}
		if len(s.pos) == sampleRows {
			s.weight = 1
			s.next = s.rows + int64(row)
			s.skip(rng)
		}
	}
	end := s.rows + int64(b.N)
	for len(s.pos) == sampleRows && s.next < end {
		row = int(s.next - s.rows)
		k := rng.IntN(sampleRows)
		s.pos[k] = s.next
		for i, c := range b.Cols {
			s.cols[i][k] = keep(c.Get(row))
		}
		s.skip(rng)
	}
	s.rows = end
}

// skip draws the next row that the sample takes.
func (s *sample) skip(rng *rand.Rand) {
	s.weight *= math.Exp(math.Log(1-rng.Float64()) / sampleRows)
	s.next += 1 + int64(math.Log(1-rng.Float64())/math.Log1p(-s.weight))
}

// keep copies a value out of the snapshot's memory.
func keep(d types.Datum) types.Datum {
	if d.B != nil {
		d.B = append([]byte{}, d.B...)
	}
	return d
}

// value is a value of the sample with its place.
type value struct {
	d   types.Datum
	pos int64
}

// column computes the statistics of column i of the sample.
func (s *sample) column(i int) catalog.ColStats {
	all := s.cols[i]
	var c catalog.ColStats
	if len(all) == 0 {
		return c
	}
	var vals []value
	wide, width := 0, 0.0
	for k, d := range all {
		if d.Null {
			continue
		}
		n := widthOf(d)
		width += n
		if n > maxStatWidth {
			wide++
			continue
		}
		vals = append(vals, value{d, s.pos[k]})
	}
	nonNull := len(vals) + wide
	c.NullFrac = 1 - float64(nonNull)/float64(len(all))
	if nonNull > 0 {
		c.AvgWidth = width / float64(nonNull)
	}
	if len(vals) == 0 || !ordered(vals[0].d.T) {
		return c
	}
	slices.SortFunc(vals, func(a, b value) int { return cmp.Or(types.Compare(a.d, b.d), cmp.Compare(a.pos, b.pos)) })
	groups := groupEqual(vals)
	c.NDistinct = s.distinct(groups, len(all), nonNull, wide)
	c.MCV, c.MCF = commonValues(groups, len(all), c.NDistinct)
	c.Histogram = histogram(groups, c.MCV)
	c.Correlation = correlation(vals)
	return c
}

func widthOf(d types.Datum) float64 {
	switch d.T.Kind().Rep() {
	case types.RepBytes:
		return float64(len(d.B) + 1)
	case types.RepDec, types.RepInterval:
		return 12
	}
	return 8
}

// ordered reports whether a type's values can be compared here.
func ordered(t types.T) bool {
	switch t.Kind() {
	case types.KJSON, types.KPoint, types.KVoid, types.KPseudo, types.KInvalid:
		return false
	}
	return true
}

// group is a distinct value and how often it is in the sample.
type group struct {
	d types.Datum
	n int
}

func groupEqual(vals []value) []group {
	var out []group
	for _, v := range vals {
		if k := len(out); k > 0 && types.Compare(out[k-1].d, v.d) == 0 {
			out[k-1].n++
			continue
		}
		out = append(out, group{v.d, 1})
	}
	return out
}

// distinct estimates the number of distinct values in the table (Haas and
// Stokes), as a number or as a negative fraction of the rows.
func (s *sample) distinct(groups []group, sampled, nonNull, wide int) float64 {
	once := wide
	for _, g := range groups {
		if g.n == 1 {
			once++
		}
	}
	d := float64(len(groups) + wide)
	total := float64(s.rows)
	part := float64(nonNull) / float64(sampled)
	switch {
	case once == len(groups)+wide:
		return -part // all different: unique
	case once == 0 && s.rows == int64(sampled), once == 0:
	default:
		n := float64(nonNull)
		all := total * part
		f1 := float64(once)
		est := n * d / (n - f1 + f1*n/all)
		d = math.Floor(math.Min(math.Max(est, d), all) + 0.5)
	}
	if d > 0.1*total {
		return -d / total
	}
	return d
}

// commonValues returns the values that are clearly more common than others, or
// all when there are few.
func commonValues(groups []group, sampled int, ndistinct float64) ([]types.Datum, []float64) {
	list := make([]group, 0, len(groups))
	for _, g := range groups {
		if g.n > 1 {
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(b.n, a.n) })
	if !(len(list) == len(groups) && len(groups) <= statsTarget && ndistinct > 0) {
		total := 0
		for _, g := range groups {
			total += g.n
		}
		floor := 1.25 * float64(total) / float64(len(groups))
		// Below one bucket of the histogram a value is not common.
		floor = math.Max(floor, math.Min(float64(total)/statsTarget, 2))
		k := 0
		for k < len(list) && k < statsTarget && float64(list[k].n) > floor {
			k++
		}
		list = list[:k]
	}
	var vals []types.Datum
	var freq []float64
	for _, g := range list {
		vals = append(vals, g.d)
		freq = append(freq, float64(g.n)/float64(sampled))
	}
	return vals, freq
}

// histogram returns bounds of buckets with equal numbers of the values that are
// not among the most common ones.
func histogram(groups []group, mcv []types.Datum) []types.Datum {
	common := make(map[int]bool, len(mcv))
	for _, m := range mcv {
		i, ok := slices.BinarySearchFunc(groups, m, func(g group, d types.Datum) int { return types.Compare(g.d, d) })
		if ok {
			common[i] = true
		}
	}
	var rest []group
	total := 0
	for i, g := range groups {
		if !common[i] {
			rest = append(rest, g)
			total += g.n
		}
	}
	if len(rest) < 2 {
		return nil
	}
	n := min(statsTarget+1, total, max(len(rest), 2))
	out := make([]types.Datum, 0, n)
	at, seen := 0, 0
	for k := range n {
		want := k * (total - 1) / (n - 1)
		for seen+rest[at].n <= want {
			seen += rest[at].n
			at++
		}
		out = append(out, rest[at].d)
	}
	return out
}

// correlation is that of the values' order with the rows' order.
func correlation(vals []value) float64 {
	n := float64(len(vals))
	if n < 2 {
		return 1
	}
	// Ranks of the positions among the sampled ones.
	order := make([]int, len(vals))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(vals[a].pos, vals[b].pos) })
	sum := 0.0
	for rank, i := range order {
		sum += float64(rank) * float64(i)
	}
	mean := (n - 1) / 2
	dev := (n*n - 1) / 12
	return (sum/n - mean*mean) / dev
}
