package executor

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/table"
)

// sorter orders rows. Rows equal by the keys keep the order of arrival. Over
// budget, sorted runs go to temporary files and are merged at the end; with a
// limit, only so many rows are kept.
type sorter struct {
	types []types.T
	order rowOrder
	limit int  // rows wanted; 0: all
	keyed bool // a key is sorted by bytes that are made of its values, which need room

	env     *Env
	acct    account
	first   *sortFirst // where only the first rows of groups are wanted, else nil
	rows    *rowStore
	perm    []uint32
	items   []sortItem
	scratch []sortItem
	bounded bool // rows 0 … limit-1 are the best so far, in order
	sel     []uint32
	runs    []*spillFile
	spilled int64
	merge   *runMerge
	at      int
	out     vec.Batch
}

// sortItem is a row with the leading bytes of its first key in sortable form.
type sortItem struct {
	prefix uint64
	row    uint32
}

func newSorter(ts []types.T, keys []keyOrder) *sorter {
	s := &sorter{types: ts, order: newRowOrder(ts, keys), rows: newRowStore(ts)}
	for _, k := range keys {
		s.keyed = s.keyed || table.OrderedByKeys(ts[k.col])
	}
	return s
}

// open begins a sort of which limit rows are wanted (0: all).
func (s *sorter) open(env *Env, limit int) {
	s.close()
	s.env, s.limit = env, limit
	s.acct.open(env)
}

// sorterMinCut is the number of rows from which a limited sort drops rows.
const sorterMinCut = 4 * vec.BatchSize

// add takes n rows.
func (s *sorter) add(cols []*vec.Vec, sel []uint32, n int) error {
	if s.bounded {
		sel = s.better(cols, sel, n)
		n = len(sel)
	}
	if s.first != nil {
		sel = s.first.pick(s, cols, sel, n)
		n = len(sel)
	}
	if n == 0 {
		return nil
	}
	if err := s.acct.mem.roomFor(cols, sel, n); err != nil {
		return err
	}
	s.rows.appendCols(cols, sel, n)
	if s.limit > 0 && s.rows.n >= max(2*s.limit, sorterMinCut) {
		s.cut()
	}
	if s.first != nil {
		s.leaveOut(false)
	}
	if err := s.account(); err != nil || !s.acct.over() {
		return err
	}
	if s.first != nil {
		s.leaveOut(true)
		s.first = nil // what comes is not compared with what is away
		if err := s.account(); err != nil || !s.acct.over() {
			return err
		}
	}
	return s.spill()
}

func (s *sorter) account() error {
	size := s.rows.size + 28*int64(s.rows.n) + s.first.bytes()
	if s.keyed {
		size += s.rows.size
	}
	return s.acct.set(size)
}

// better lists the rows that sort before the last of the best so far.
func (s *sorter) better(cols []*vec.Vec, sel []uint32, n int) []uint32 {
	s.sel = s.sel[:0]
	for i := range n {
		r := i
		if sel != nil {
			r = int(sel[i])
		}
		if s.order.compare(0, cols, r, s.rows.cols, s.limit-1) < 0 {
			s.sel = append(s.sel, uint32(r))
		}
	}
	return s.sel
}

// cut keeps the best limit rows, in order.
func (s *sorter) cut() {
	s.sort()
	kept := newRowStore(s.types)
	kept.appendCols(s.rows.cols, s.perm[:s.limit], s.limit)
	s.rows = kept
	s.bounded = true
}

// spill writes the rows as a sorted run.
func (s *sorter) spill() error {
	s.sort()
	f := newSpillFile(s.types)
	s.runs = append(s.runs, f)
	perm := s.perm
	if s.limit > 0 && len(perm) > s.limit {
		perm = perm[:s.limit]
	}
	for len(perm) > 0 {
		if err := ctxErr(s.env.Ctx); err != nil {
			return err
		}
		n := min(len(perm), vec.BatchSize)
		if err := f.write(s.env, s.rows.cols, perm[:n], n); err != nil {
			return err
		}
		perm = perm[n:]
	}
	if err := f.finish(); err != nil {
		return err
	}
	s.spilled += f.bytes
	s.rows.release()
	s.perm, s.items, s.scratch, s.bounded = nil, nil, nil, false
	return s.acct.set(0)
}

// finish ends the input.
func (s *sorter) finish() error {
	s.at = 0
	if s.first != nil {
		s.leaveOut(2*s.first.full < s.rows.n)
		s.first = nil
	}
	if len(s.runs) == 0 {
		s.sort()
		if s.limit > 0 && len(s.perm) > s.limit {
			s.perm = s.perm[:s.limit]
		}
		return nil
	}
	if s.rows.n > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.merge = &runMerge{order: &s.order, out: newRowStore(s.types), left: math.MaxInt}
	if s.limit > 0 {
		s.merge.left = s.limit
	}
	return s.merge.open(s.runs)
}

// next returns sorted rows, all columns, nil at the end.
func (s *sorter) next() (*vec.Batch, error) {
	if s.merge != nil {
		return s.merge.next()
	}
	if s.at >= len(s.perm) {
		return nil, nil
	}
	if s.out.Cols == nil {
		s.out.Cols = newVecs(s.types)
	}
	n := min(len(s.perm)-s.at, vec.BatchSize)
	gatherBatch(s.out.Cols, s.rows.cols, s.perm[s.at:s.at+n], false)
	s.at += n
	s.out.N, s.out.Sel = n, nil
	return &s.out, nil
}

func (s *sorter) close() {
	for _, f := range s.runs {
		f.close()
	}
	s.runs, s.merge, s.bounded, s.at, s.spilled, s.first = nil, nil, false, 0, 0, nil
	if s.rows.n > 0 {
		s.rows.release()
	}
	s.perm, s.items, s.scratch = s.perm[:0], nil, nil
	s.acct.close()
}

// sort fills perm with the row numbers in order.
func (s *sorter) sort() {
	n := s.rows.n
	items := slices.Grow(s.items[:0], n)[:n]
	for r := range items {
		items[r].row = uint32(r)
	}
	s.items = items
	s.sortBy(items, 0)
	s.perm = slices.Grow(s.perm[:0], n)[:n]
	for i, it := range items {
		s.perm[i] = it.row
	}
}

// sorterSmall is the number of rows up to which comparing beats counting.
const sorterSmall = 32

// sortBy orders items, which are in the order of their rows, by the keys from
// the k-th on: NULLs apart, the others by the prefixes of the k-th key, and
// within equal prefixes by the rest.
func (s *sorter) sortBy(items []sortItem, k int) {
	if k == len(s.order.keys) || len(items) < 2 {
		return
	}
	if len(items) <= sorterSmall {
		s.compareSort(items, k)
		return
	}
	key := s.order.keys[k]
	col := s.rows.cols[key.col]
	vals := items
	if col.Nulls.Any() {
		var nulls []sortItem
		vals, nulls = s.partNulls(items, col, key.nullsFirst)
		s.sortBy(nulls, k+1)
	}
	if table.OrderedByKeys(col.T) {
		s.sortByKeys(vals, k)
		return
	}
	s.sortByPrefixes(vals, k, 0)
}

// sortByPrefixes orders items, none of them NULL, whose k-th key is the same up to the
// byte from: texts often begin alike, and are told apart by what follows.
func (s *sorter) sortByPrefixes(items []sortItem, k, from int) {
	exact := setPrefixes(items, s.rows.cols[s.order.keys[k].col], from, s.order.keys[k].desc)
	s.radix(items)
	for lo := 0; lo < len(items); {
		hi := lo + 1
		for hi < len(items) && items[hi].prefix == items[lo].prefix {
			hi++
		}
		s.sortRun(items[lo:hi], k, from, exact)
		lo = hi
	}
}

// sortRun orders items whose prefixes are the same.
func (s *sorter) sortRun(run []sortItem, k, from int, exact bool) {
	col := s.rows.cols[s.order.keys[k].col]
	switch {
	case len(run) < 2:
	case exact:
		s.sortBy(run, k+1)
	case len(run) <= sorterSmall:
		s.compareSort(run, k)
	case prefixed(col.T):
		switch to, equal := shared(run, col, from); {
		case equal:
			s.sortBy(run, k+1)
		case to < from+prefixBytes: // one ends in bytes that others have as zeros
			s.compareSort(run, k)
		default:
			s.sortByPrefixes(run, k, to)
		}
	case s.allEqual(run, k):
		s.sortBy(run, k+1)
	default:
		s.compareSort(run, k)
	}
}

// shared is where values cease to be the same, which they are up to from, and whether
// all are equal.
func shared(items []sortItem, col *vec.Vec, from int) (to int, equal bool) {
	keys := newByteKeys(col)
	first := keys.at(items[0].row)
	to, equal = len(first), true
	for _, it := range items[1:] {
		b := keys.at(it.row)
		equal = equal && len(b) == len(first)
		to = min(to, len(b))
		if !bytes.Equal(first[from:to], b[from:to]) {
			n := from
			for first[n] == b[n] {
				n++
			}
			to, equal = n, false
		}
	}
	return to, equal
}

// prefixed reports whether values are ordered by their bytes: those of byteKeys.
func prefixed(t types.T) bool {
	switch t.Kind() {
	case types.KText, types.KBytea, types.KUUID, types.KMacaddr, types.KWord:
		return true
	}
	return false
}

// byteKeys are the bytes by which values of a column are ordered: character's without
// the blanks at their ends.
type byteKeys struct {
	vals   [][]byte
	blanks bool
}

func newByteKeys(col *vec.Vec) byteKeys {
	return byteKeys{vals: col.B, blanks: col.T.OID == types.OBpchar}
}

func (k byteKeys) at(row uint32) []byte {
	if k.blanks {
		return bytes.TrimRight(k.vals[row], " ")
	}
	return k.vals[row]
}

// sortByKeys orders items, none of them NULL, by bytes that sort as the k-th key
// does, and within equal ones by the rest.
func (s *sorter) sortByKeys(items []sortItem, k int) {
	rows := make([]uint32, len(items))
	for i, it := range items {
		rows[i] = it.row
	}
	sorted, ends := table.Order(s.rows.cols[s.order.keys[k].col], rows)
	at := 0
	take := func(rows []uint32) {
		run := items[at : at+len(rows)]
		at += len(rows)
		for i, r := range rows {
			run[i] = sortItem{row: r}
		}
		s.sortBy(run, k+1)
	}
	if !s.order.keys[k].desc {
		start := 0
		for _, end := range ends {
			take(sorted[start:end])
			start = end
		}
		return
	}
	for i := len(ends) - 1; i >= 0; i-- {
		start := 0
		if i > 0 {
			start = ends[i-1]
		}
		take(sorted[start:ends[i]])
	}
}

// compareSort orders items by comparing the keys from the k-th on.
func (s *sorter) compareSort(items []sortItem, k int) {
	cols := s.rows.cols
	slices.SortFunc(items, func(a, b sortItem) int {
		if c := s.order.compare(k, cols, int(a.row), cols, int(b.row)); c != 0 {
			return c
		}
		return cmp.Compare(a.row, b.row)
	})
}

// partNulls moves the rows with a NULL key to the start or the end.
func (s *sorter) partNulls(items []sortItem, col *vec.Vec, first bool) (vals, nulls []sortItem) {
	s.reserve(len(items))
	other := s.scratch[:0]
	kept := items[:0]
	for _, it := range items {
		if col.Nulls.Get(int(it.row)) != first {
			other = append(other, it)
		} else {
			kept = append(kept, it)
		}
	}
	copy(items[len(kept):], other)
	head, tail := items[:len(kept)], items[len(kept):]
	if first {
		return tail, head
	}
	return head, tail
}

// allEqual reports whether the k-th key has one value in all items.
func (s *sorter) allEqual(items []sortItem, k int) bool {
	col := s.rows.cols[s.order.keys[k].col]
	f := s.order.cmp[k]
	first := int(items[0].row)
	for _, it := range items[1:] {
		if f(col, first, col, int(it.row)) != 0 {
			return false
		}
	}
	return true
}

func (s *sorter) reserve(n int) {
	if len(s.scratch) < n {
		s.scratch = make([]sortItem, n)
	}
}

// setPrefixes computes the prefixes of non-null rows, of bytes those that begin at
// from, and reports whether equal prefixes mean equal values.
func setPrefixes(items []sortItem, col *vec.Vec, from int, desc bool) (exact bool) {
	flip := uint64(0)
	if desc {
		flip = math.MaxUint64
	}
	switch {
	case col.T.Rep() == types.RepInt, col.T.Rep() == types.RepDec && col.Dec == nil:
		for i := range items {
			items[i].prefix = uint64(col.I64[items[i].row]) ^ 1<<63 ^ flip
		}
		return true
	case col.T.Rep() == types.RepFloat:
		for i := range items {
			items[i].prefix = floatPrefix(col.F64[items[i].row]) ^ flip
		}
		return true
	case col.T.Rep() == types.RepDec:
		// The nearest floats are in the order of the numbers, some of them the same.
		for i := range items {
			items[i].prefix = floatPrefix(col.Dec[items[i].row].ToFloat()) ^ flip
		}
		return false
	case col.T.Rep() == types.RepBool:
		for i := range items {
			items[i].prefix = uint64(boolInt(col.Bool[items[i].row])) ^ flip
		}
		return true
	}
	if prefixed(col.T) {
		keys := newByteKeys(col)
		for i := range items {
			items[i].prefix = bytesPrefix(keys.at(items[i].row)[from:]) ^ flip
		}
		return false
	}
	for i := range items {
		items[i].prefix = 0
	}
	return false
}

func floatPrefix(f float64) uint64 {
	switch {
	case f != f:
		return math.MaxUint64
	case f == 0:
		return 1 << 63 // negative zero too
	}
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// prefixBytes is the number of bytes that a prefix has of a value.
const prefixBytes = 8

func bytesPrefix(b []byte) uint64 {
	if len(b) >= prefixBytes {
		return binary.BigEndian.Uint64(b)
	}
	var p [prefixBytes]byte
	copy(p[:], b)
	return binary.BigEndian.Uint64(p[:])
}

// radix sorts items by prefix, stably; bytes that all prefixes share cost
// nothing.
func (s *sorter) radix(items []sortItem) {
	if len(items) < 2 {
		return
	}
	or, and := uint64(0), uint64(math.MaxUint64)
	for i := range items {
		or |= items[i].prefix
		and &= items[i].prefix
	}
	differ := or ^ and
	if differ == 0 {
		return
	}
	s.reserve(len(items))
	from, to := items, s.scratch[:len(items)]
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var start [257]int
		for i := range from {
			start[from[i].prefix>>shift&0xff+1]++
		}
		for i := 1; i < 257; i++ {
			start[i] += start[i-1]
		}
		for _, it := range from {
			b := it.prefix >> shift & 0xff
			to[start[b]] = it
			start[b]++
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
}
