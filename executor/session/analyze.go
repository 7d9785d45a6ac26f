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
	elemTarget   = 10 * statsTarget // most common elements
	maxElemStat  = 128              // longer elements are not kept
)

// sample is a random sample of a table's rows, by column. A row that is taken is
// appended, and takes the place of another once the sample is full; those without
// a place are forgotten now and then.
type sample struct {
	cols []sampleCol
	pos  []int64  // row numbers of the rows that were taken
	slot []uint32 // the sample: which of them have a place
	rows int64    // rows seen

	weight float64 // of algorithm L
	next   int64   // number of the next row that is taken
}

type sampleCol struct {
	v     *vec.Vec // NULL for values that are too wide
	width []int32  // of each value in bytes, -1 for NULL
	arena *vec.Arena
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
	s := &sample{cols: make([]sampleCol, len(cols))}
	for i, c := range cols {
		s.cols[i] = sampleCol{v: vec.New(t.Columns[c].Type, 0), arena: new(vec.Arena)}
	}
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
	s.settle()
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
	for ; row < b.N && len(s.slot) < sampleRows; row++ {
		s.slot = append(s.slot, s.add(b, row))
		if len(s.slot) == sampleRows {
			s.weight = 1
			s.next = s.rows + int64(row)
			s.skip(rng)
		}
	}
	end := s.rows + int64(b.N)
	for len(s.slot) == sampleRows && s.next < end {
		s.slot[rng.IntN(sampleRows)] = s.add(b, int(s.next-s.rows))
		if len(s.pos) == 4*sampleRows {
			s.settle()
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

// add appends a row of a batch and returns its index.
func (s *sample) add(b *vec.Batch, row int) uint32 {
	n := len(s.pos)
	s.pos = append(s.pos, s.rows+int64(row))
	for i := range s.cols {
		c, src := &s.cols[i], b.Cols[i]
		w := -1
		if !src.IsNull(row) {
			w = widthOf(src, row)
		}
		c.width = append(c.width, int32(w))
		if w > maxStatWidth {
			c.v.Grow(n + 1)
			c.v.Nulls.Set(n)
			continue
		}
		vec.AppendFrom(c.v, n, src, row, c.arena)
	}
	return uint32(n)
}

// settle keeps only the rows that have a place, in the order in which they were
// found.
func (s *sample) settle() {
	slices.Sort(s.slot)
	pos := make([]int64, len(s.slot))
	for i, r := range s.slot {
		pos[i] = s.pos[r]
	}
	s.pos = pos
	for i := range s.cols {
		c := &s.cols[i]
		kept := sampleCol{v: vec.New(c.v.T, 0), arena: new(vec.Arena), width: make([]int32, len(s.slot))}
		for k, r := range s.slot {
			vec.AppendFrom(kept.v, k, c.v, int(r), kept.arena)
			kept.width[k] = c.width[r]
		}
		*c = kept
	}
	for i := range s.slot {
		s.slot[i] = uint32(i)
	}
}

// column computes the statistics of column i of the sample.
func (s *sample) column(i int) catalog.ColStats {
	col := &s.cols[i]
	all := len(s.pos)
	var c catalog.ColStats
	if all == 0 {
		return c
	}
	vals := make([]uint32, 0, all)
	wide, width := 0, 0.0
	for k, w := range col.width {
		if w < 0 {
			continue
		}
		width += float64(w)
		if w > maxStatWidth {
			wide++
			continue
		}
		vals = append(vals, uint32(k))
	}
	nonNull := len(vals) + wide
	c.NullFrac = 1 - float64(nonNull)/float64(all)
	if nonNull > 0 {
		c.AvgWidth = width / float64(nonNull)
	}
	if len(vals) > 0 {
		elements(&c, col.v, vals)
	}
	if len(vals) == 0 || !ordered(col.v.T) {
		return c
	}
	sorted, ends := table.Order(col.v, vals)
	groups := make([]group, len(ends))
	start := 0
	for i, end := range ends {
		groups[i] = group{sorted[start], end - start}
		start = end
	}
	c.NDistinct = s.distinct(groups, all, nonNull, wide)
	common := commonValues(groups, c.NDistinct > 0 || s.rows == int64(all))
	for _, g := range common {
		c.MCV = append(c.MCV, datumOf(col.v, g.row))
		c.MCF = append(c.MCF, float64(g.n)/float64(all))
	}
	for _, row := range histogram(groups, common) {
		c.Histogram = append(c.Histogram, datumOf(col.v, row))
	}
	c.Correlation = correlation(vals, sorted)
	return c
}

// elements computes the most common elements of the values vals of a column that an index
// by elements can have.
func elements(c *catalog.ColStats, v *vec.Vec, vals []uint32) {
	if _, ok := types.ElementKeyType(v.T); !ok {
		return
	}
	type element struct {
		d types.Datum
		n int
	}
	found := map[string]*element{}
	var b []byte
	nulls := 0
	for _, row := range vals {
		keys, null, err := types.ElementKeys(v.Get(int(row)))
		if err != nil {
			return
		}
		if null {
			nulls++
		}
		for _, d := range keys {
			if b = types.AppendText(b[:0], d, types.DefaultFmt); len(b) > maxElemStat {
				continue
			}
			e := found[string(b)]
			if e == nil {
				d.B = slices.Clone(d.B)
				e = &element{d: d}
				found[string(b)] = e
			}
			e.n++
		}
	}
	list := make([]*element, 0, len(found))
	for _, e := range found {
		list = append(list, e)
	}
	// equal elements may be written differently, as 1.0 and 1.00
	slices.SortFunc(list, func(a, b *element) int { return types.Compare(a.d, b.d) })
	kept := list[:0]
	for _, e := range list {
		if n := len(kept); n > 0 && types.Equal(kept[n-1].d, e.d) {
			kept[n-1].n += e.n
			continue
		}
		kept = append(kept, e)
	}
	list = slices.DeleteFunc(kept, func(e *element) bool { return e.n == 1 })
	slices.SortFunc(list, func(a, b *element) int {
		return cmp.Or(cmp.Compare(b.n, a.n), types.Compare(a.d, b.d))
	})
	// what is left out is at most as frequent as the last one that is kept
	rest := 1
	if len(list) > elemTarget {
		list, rest = list[:elemTarget], list[elemTarget].n
	}
	slices.SortFunc(list, func(a, b *element) int { return types.Compare(a.d, b.d) })
	for _, e := range list {
		c.Elems = append(c.Elems, e.d)
		c.ElemFreq = append(c.ElemFreq, float64(e.n)/float64(len(vals)))
	}
	if len(list) > 0 {
		c.ElemRest = float64(rest) / float64(len(vals)) / 2
		c.ElemNull = float64(nulls) / float64(len(vals))
	}
}

// datumOf is a row's value with bytes of its own, so that a few values of the
// sample do not keep the others in memory.
func datumOf(v *vec.Vec, row uint32) types.Datum {
	d := v.Get(int(row))
	d.B = slices.Clone(d.B)
	return d
}

// widthOf is the size of a value in bytes.
func widthOf(v *vec.Vec, row int) int {
	switch v.T.Kind().Rep() {
	case types.RepBytes:
		return min(len(v.B[v.Idx(row)]), math.MaxInt32-1) + 1
	case types.RepDec, types.RepInterval:
		return 12
	}
	return 8
}

// ordered reports whether a type's values can be compared here.
func ordered(t types.T) bool {
	switch t.Kind() {
	case types.KJSON, types.KGeometry, types.KVoid, types.KPseudo, types.KInvalid:
		return false
	}
	return true
}

// group is a distinct value, by a row that holds it, and how often it is in the
// sample.
type group struct {
	row uint32
	n   int
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
// all when there are few and the table has no others, as far as is known.
func commonValues(groups []group, known bool) []group {
	list := make([]group, 0, len(groups))
	for _, g := range groups {
		if g.n > 1 {
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(b.n, a.n) })
	if len(list) == len(groups) && len(groups) <= statsTarget && known {
		return list
	}
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
	return list[:k]
}

// histogram returns rows with the bounds of buckets of equally many values that
// are not among the most common ones.
func histogram(groups, mcv []group) []uint32 {
	common := make(map[uint32]bool, len(mcv))
	for _, m := range mcv {
		common[m.row] = true
	}
	var rest []group
	total := 0
	for _, g := range groups {
		if !common[g.row] {
			rest = append(rest, g)
			total += g.n
		}
	}
	if len(rest) < 2 {
		return nil
	}
	n := min(statsTarget+1, total, max(len(rest), 2))
	out := make([]uint32, 0, n)
	at, seen := 0, 0
	for k := range n {
		want := k * (total - 1) / (n - 1)
		for seen+rest[at].n <= want {
			seen += rest[at].n
			at++
		}
		out = append(out, rest[at].row)
	}
	return out
}

// correlation is that of the values' order with the rows' order: vals are rows as
// they were found, sorted the same rows in the order of their values.
func correlation(vals, sorted []uint32) float64 {
	n := float64(len(vals))
	if n < 2 {
		return 1
	}
	rank := make([]uint32, vals[len(vals)-1]+1)
	for i, row := range vals {
		rank[row] = uint32(i)
	}
	sum := 0.0
	for i, row := range sorted {
		sum += float64(i) * float64(rank[row])
	}
	mean := (n - 1) / 2
	dev := (n*n - 1) / 12
	return (sum/n - mean*mean) / dev
}
