package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync"

	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// ClusterSpec says what a ClusterScanner reads: the tables from the top, each the
// child of the one before it.
type ClusterSpec struct {
	Levels []ClusterLevel
	// Codes as in ScanSpec, when the first table is the cluster's root. Under is the
	// key of the only row of the first table that is wanted. Without either the
	// whole file is read.
	Codes []spatial.Range
	Under []byte
	// Windows narrow Codes: a row of the first table outside one of them is passed
	// over with what is below it, without being decoded.
	Windows []spatial.Window
}

// ClusterLevel is a table of a ClusterSpec.
type ClusterLevel struct {
	Table *Desc
	Cols  []int // wanted
	// Ranges of the columns that the table's primary key has beside its foreign key
	// to the table before: rows outside are passed over. nil: all are wanted.
	Ranges []types.Range
	// Outer: rows of the table before are wanted without a row of this one, too.
	Outer bool
}

// ClusterScanner walks over a cluster's file. It hands out the rows of one chunk
// of pairs at a time, by table. What is not wanted costs a comparison of keys: rows
// outside the windows and ranges, rows whose parent was not kept, and rows without
// any row in a table below that is not outer, are not decoded.
//
// A chunk may end amid the rows below a row. That row and its parents then come
// again at the start of the next chunk, so that every row's parent is in its chunk.
//
// Scanners and their memory are used again: see Close.
type ClusterScanner struct {
	ctx     context.Context
	r       Reader
	all     []clusterTable // for this and later walks
	tables  []clusterTable // of this walk
	windows []spatial.Window
	space   kv.Space
	spans   []kv.Range
	bounds  []byte // memory of spans
	turn    int    // the next span to begin with
	iter    kv.Iter
	spent   kv.Iter // closed, for its memory
	inSpan  bool    // iter is in the span before turn
	last    []byte  // the last key of the chunk
	open    bool    // the chunk's end is not the end of its span

	// Pairs that are not wanted and came all the same: those below dropped, a row of
	// table level. passed counts those at the end of what was read.
	dropped []byte
	level   int
	passed  int

	// For skip: the last key asked about that was wanted, its table and the part that
	// its siblings share; -1: none.
	skips  func(key []byte) []byte
	run    int
	prefix []byte
	jump   []byte // memory of what skip returns
}

// clusterTable are the rows of one table in the chunk.
type clusterTable struct {
	d      *Desc
	k      *clusterKeys
	outer  bool
	narrow bool       // only spans are wanted
	spans  []kv.Range // of the part of the key after the tag
	set    spanSet    // memory of spans
	dec    decoder
	batch  vec.Batch
	keys   [][]byte
	vals   [][]byte
	parent []uint32 // by row: row of the table before
	needed []bool   // by row: it has a row in the next table, or needs none
	most   int      // the most rows that there were, of all chunks

	// Of the rows kept, in order:
	rows    []uint32
	up      []uint32 // kept row of the table before
	kkeys   [][]byte
	kvals   [][]byte
	carried bool // the first row was in the chunk before

	last []byte // the last row that skip found wanted
}

var clusterScanners = sync.Pool{New: func() any {
	s := &ClusterScanner{run: -1}
	s.skips = s.skip
	return s
}}

// ScanCluster starts a walk. Close it before the transaction ends.
func ScanCluster(ctx context.Context, r Reader, spec *ClusterSpec) *ClusterScanner {
	s := clusterScanners.Get().(*ClusterScanner)
	s.ctx, s.r, s.space, s.windows = ctx, r, spec.Levels[0].Table.space, spec.Windows
	s.spans, s.bounds, s.turn, s.inSpan = s.spans[:0], s.bounds[:0], 0, false
	switch {
	case spec.Codes != nil:
		for _, c := range spec.Codes {
			s.addCodes(c)
		}
	case spec.Under != nil:
		s.spans = append(s.spans, kv.Prefix(spec.Under))
	default:
		s.spans = append(s.spans, kv.Range{})
	}
	for len(s.all) < len(spec.Levels) {
		s.all = append(s.all, clusterTable{})
	}
	s.tables = s.all[:len(spec.Levels)]
	for i := range s.tables {
		s.tables[i].init(&spec.Levels[i])
	}
	return s
}

// addCodes appends codeSpan(c) in memory of its own.
func (s *ClusterScanner) addCodes(c spatial.Range) {
	n := len(s.bounds)
	s.bounds = binary.BigEndian.AppendUint64(s.bounds, c.Lo)
	r := kv.Range{Lo: s.bounds[n : n+8 : n+8]}
	if c.Hi != spatial.NullCode {
		s.bounds = binary.BigEndian.AppendUint64(s.bounds, c.Hi+1)
		r.Hi = s.bounds[n+8 : n+16 : n+16]
	}
	s.spans = append(s.spans, r)
}

func (t *clusterTable) init(l *ClusterLevel) {
	t.d, t.k, t.outer, t.narrow = l.Table, l.Table.cluster(), l.Outer, l.Ranges != nil
	t.keys, t.vals, t.parent, t.rows = t.keys[:0], t.vals[:0], t.parent[:0], t.rows[:0]
	t.carried = false
	t.spans = nil
	if t.narrow {
		t.set.spans = t.set.spans[:0]
		t.set.mem = t.set.mem[:0]
		t.set.add(t.k.tail, l.Ranges, 0)
		t.spans = t.set.spans
	}
	t.dec.init(t.d, l.Cols)
}

// clusterChunk is the number of pairs that a chunk has at least, spans permitting;
// clusterRead of them are read at a time, and jumpAfter is after how many pairs that
// are not wanted it is better to search.
const (
	clusterChunk = 256
	clusterRead  = 128
	jumpAfter    = 64
)

// Next reads the next chunk; false at the end.
func (s *ClusterScanner) Next() (bool, error) {
	s.carry()
	for n := 0; n < clusterChunk; {
		if !s.inSpan {
			if s.turn == len(s.spans) {
				s.open = false
				return n > 0 || s.tables[0].carried, nil
			}
			s.enter()
		}
		pairs, err := s.iter.Next()
		if err != nil {
			return false, err
		}
		if len(pairs) == 0 {
			s.inSpan = false
			s.open = false // nothing follows below what was read
			continue
		}
		if err := s.classify(pairs); err != nil {
			return false, err
		}
		n += len(pairs)
		s.last, s.open = pairs[len(pairs)-1].Key, true
		if s.passed >= jumpAfter {
			s.jumpOver()
		}
	}
	return true, nil
}

// carry begins a chunk with the last row of each table if rows below it may
// follow.
func (s *ClusterScanner) carry() {
	for i := range s.tables {
		t := &s.tables[i]
		n := len(t.keys)
		t.most = max(t.most, n)
		keep := s.open && n > 0 && i < len(s.tables)-1 && bytes.HasPrefix(s.last, t.keys[n-1])
		if keep {
			t.keys[0], t.vals[0] = t.keys[n-1], t.vals[n-1]
			t.keys, t.vals, t.parent = t.keys[:1], t.vals[:1], append(t.parent[:0], 0)
		} else {
			t.keys, t.vals, t.parent = t.keys[:0], t.vals[:0], t.parent[:0]
		}
		t.carried = keep
	}
}

// classify puts pairs to their tables. Pairs of other tables, and those that are
// not wanted, are passed over.
func (s *ClusterScanner) classify(pairs []kv.Pair) error {
	run := -1 // the table of the pair before, for one below the same row
	var prefix []byte
	var width int
	for i := range pairs {
		p := &pairs[i]
		if s.dropped != nil {
			if bytes.HasPrefix(p.Key, s.dropped) {
				s.passed++
				continue
			}
			s.dropped = nil
		}
		l := run
		if l < 0 || len(p.Key) != width || !bytes.HasPrefix(p.Key, prefix) {
			run = -1
			if l = s.tableOf(p.Key); l < 0 {
				s.passed++
				continue
			}
			if l > 0 {
				above := s.tables[l-1].keys
				if len(above) == 0 || !bytes.HasPrefix(p.Key, above[len(above)-1]) {
					if s.below(l, p.Key) {
						s.passed++
						continue
					}
					return corrupt(s.space, p.Key, codec.ErrCorrupt)
				}
				if width = s.tables[l].k.width; width >= 0 {
					run, prefix = l, p.Key[:s.tables[l].k.tailAt(p.Key)]
				}
			}
		}
		t := &s.tables[l]
		up := uint32(0)
		if l > 0 {
			up = uint32(len(s.tables[l-1].keys) - 1)
		}
		if !s.wanted(l, p.Key) {
			s.dropped, s.level = p.Key, l
			s.passed++
			continue
		}
		s.passed = 0
		t.keys, t.vals, t.parent = append(t.keys, p.Key), append(t.vals, p.Val), append(t.parent, up)
	}
	return nil
}

// tableOf returns the table of a row, -1 for one of another table.
func (s *ClusterScanner) tableOf(key []byte) int {
	l := len(s.tables) - 1
	for l >= 0 && !s.tables[l].k.owns(s.tables[l].d, key) {
		l--
	}
	return l
}

// below reports whether a row of table l lies below one that is not wanted. Such a row
// comes without that one where the one is in the engine's file and the other is not.
func (s *ClusterScanner) below(l int, key []byte) bool {
	for up := range l {
		t := &s.tables[up]
		if n, ok := t.k.level(t.d, key); !ok || !s.wanted(up, key[:n]) {
			return ok
		}
	}
	return false
}

// skip is the walk's kv.ScanOpt.Skip: it says the same as classify.
func (s *ClusterScanner) skip(key []byte) []byte {
	l := s.run
	if l < 0 || len(key) != s.tables[l].k.width || !bytes.HasPrefix(key, s.prefix) {
		s.run = -1
		if l = s.tableOf(key); l < 0 {
			return s.behindOther(key)
		}
		if l > 0 && s.tables[l].k.width >= 0 {
			s.run, s.prefix = l, key[:s.tables[l].k.tailAt(key)]
		}
	}
	if s.wanted(l, key) {
		s.tables[l].last = key
		return nil
	}
	next := s.behind(s.jump, l, key)
	if next == nil { // none in this span
		if i := s.spanOf(key); i < len(s.spans) {
			return s.spans[i].Hi
		}
		return nil
	}
	s.jump = next
	return next
}

// behindOther returns what follows the rows of a table that is not walked over, below
// the same row of one that is.
func (s *ClusterScanner) behindOther(key []byte) []byte {
	for l := len(s.tables) - 1; l >= 0; l-- {
		row := s.tables[l].last
		if row == nil || len(key) < len(row)+tagLen || !bytes.HasPrefix(key, row) {
			continue
		}
		tag := key[len(row) : len(row)+tagLen]
		if l+1 < len(s.tables) && string(tag) == string(s.tables[l+1].k.tag[:]) {
			return nil
		}
		if next := prefixEnd(s.jump, key[:len(row)+tagLen]); next != nil {
			s.jump = next
			return next
		}
		return nil
	}
	return nil
}

// prefixEnd is codec.PrefixEnd in memory that is given.
func prefixEnd(buf, p []byte) []byte {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] != 0xff {
			buf = append(buf[:0], p[:i+1]...)
			buf[i]++
			return buf
		}
	}
	return nil
}

// wanted reports whether the key of a row of table l is in the windows and spans.
func (s *ClusterScanner) wanted(l int, key []byte) bool {
	if l == 0 {
		for i := range s.windows {
			if !s.windows[i].Contains(binary.BigEndian.Uint64(key)) {
				return false
			}
		}
	}
	t := &s.tables[l]
	if !t.narrow {
		return true
	}
	tail := key[t.k.tailAt(key):]
	for i := range t.spans {
		if r := &t.spans[i]; r.Hi == nil || bytes.Compare(tail, r.Hi) < 0 {
			return bytes.Compare(tail, r.Lo) >= 0
		}
	}
	return false
}

// behind returns where the next wanted row after one that is not wanted may be, in
// memory that is given; nil: nowhere.
func (s *ClusterScanner) behind(buf []byte, l int, key []byte) []byte {
	if l == 0 && len(s.windows) > 0 {
		code := binary.BigEndian.Uint64(key)
		next := code
		for i := range s.windows {
			next = max(next, s.windows[i].Next(code))
		}
		switch next {
		case code: // it is in the windows
		case spatial.NullCode:
			return nil
		default:
			return binary.BigEndian.AppendUint64(buf[:0], next)
		}
	}
	t := &s.tables[l]
	if t.narrow {
		at := t.k.tailAt(key)
		for i := range t.spans {
			if bytes.Compare(key[at:], t.spans[i].Lo) < 0 {
				return append(append(buf[:0], key[:at]...), t.spans[i].Lo...)
			}
		}
		if l > 0 {
			return prefixEnd(buf, key[:at])
		}
	}
	return prefixEnd(buf, key)
}

// tailAt returns where the part of a row key begins that the table adds to its
// parent's row key and the tag.
func (k *clusterKeys) tailAt(key []byte) int {
	switch {
	case k.parent == nil:
		return 8
	case k.width >= 0:
		return k.width - k.tail.FixedWidth()
	}
	n, _ := k.parent.cluster().level(k.parent, key)
	return n + tagLen
}

// jumpOver searches for the next pair that may be wanted, after many that were not.
func (s *ClusterScanner) jumpOver() {
	s.passed = 0
	if s.dropped != nil {
		s.seek(s.behind(nil, s.level, s.dropped))
		return
	}
	// Pairs of another table: there are no others under its tag.
	for l := len(s.tables) - 1; l >= 0; l-- {
		if t := &s.tables[l]; s.continues(t) {
			s.seek(codec.PrefixEnd(s.last[:len(t.keys[len(t.keys)-1])+tagLen]))
			return
		}
	}
}

// seek goes on from a key on, which lies behind what was read or changes nothing; nil:
// behind the span under way.
func (s *ClusterScanner) seek(lo []byte) {
	if lo != nil && bytes.Compare(lo, s.last) <= 0 {
		return
	}
	s.inSpan = false
	s.dropped, s.passed = nil, 0
	if lo == nil {
		s.turn = min(s.spanOf(s.last)+1, len(s.spans))
		return
	}
	if s.turn = s.spanOf(lo); s.turn < len(s.spans) && bytes.Compare(s.spans[s.turn].Lo, lo) < 0 {
		s.spans[s.turn].Lo = lo
	}
}

// Rows decodes the rows of table l whose parents are among the rows kept of the
// table before: kept[i] tells whether that row passed, by its number in the batch
// that Rows gave for it. It returns the batch and for each row the number of its
// parent in that batch. The batch is the scanner's until the next chunk.
func (s *ClusterScanner) Rows(l int, kept []bool) (*vec.Batch, []uint32, error) {
	t := &s.tables[l]
	t.rows, t.up, t.kkeys, t.kvals = t.rows[:0], t.up[:0], t.kkeys[:0], t.kvals[:0]
	if l == 0 {
		s.need()
		for i, key := range t.keys {
			if t.needed[i] {
				t.rows, t.up = append(t.rows, uint32(i)), append(t.up, 0)
				t.kkeys, t.kvals = append(t.kkeys, key), append(t.kvals, t.vals[i])
			}
		}
	} else {
		above := s.tables[l-1].rows // ascending, as parents are
		j := 0
		for i, p := range t.parent {
			for j < len(above) && above[j] < p {
				j++
			}
			if j < len(above) && above[j] == p && kept[j] && t.needed[i] {
				t.rows, t.up = append(t.rows, uint32(i)), append(t.up, uint32(j))
				t.kkeys, t.kvals = append(t.kkeys, t.keys[i]), append(t.kvals, t.vals[i])
			}
		}
	}
	n := len(t.kkeys)
	t.dec.prepare(&t.batch, n)
	t.batch.N = n
	if n > 0 {
		if err := t.dec.rows(s.ctx, s.r, &t.batch, 0, t.kkeys, t.kvals); err != nil {
			return nil, nil, err
		}
	}
	return &t.batch, t.up, nil
}

// need finds out which rows of the chunk can be in the result, from the bottom up.
func (s *ClusterScanner) need() {
	for l := len(s.tables) - 1; l >= 0; l-- {
		t := &s.tables[l]
		n := len(t.keys)
		if cap(t.needed) < n {
			t.needed = make([]bool, n, 2*n)
		}
		t.needed = t.needed[:n]
		if l == len(s.tables)-1 || s.tables[l+1].outer {
			for i := range t.needed {
				t.needed[i] = true
			}
			continue
		}
		clear(t.needed)
		below := &s.tables[l+1]
		for i, up := range below.parent {
			if below.needed[i] {
				t.needed[up] = true
			}
		}
		if s.continues(t) {
			t.needed[n-1] = true
		}
	}
}

// Carried reports whether the first row of table l was in the chunk before; it
// may have been passed on already.
func (s *ClusterScanner) Carried(l int) bool {
	t := &s.tables[l]
	return t.carried && len(t.rows) > 0 && t.rows[0] == 0
}

// Continues reports whether rows below the last row of table l may follow in the
// next chunk.
func (s *ClusterScanner) Continues(l int) bool {
	t := &s.tables[l]
	return s.continues(t) && len(t.rows) > 0 && int(t.rows[len(t.rows)-1]) == len(t.keys)-1
}

func (s *ClusterScanner) continues(t *clusterTable) bool {
	n := len(t.keys)
	return s.open && n > 0 && bytes.HasPrefix(s.last, t.keys[n-1])
}

// Skip goes on behind what is stored below the last row of table l: none of it is
// wanted. It is called between Rows and Next.
func (s *ClusterScanner) Skip(l int) {
	t := &s.tables[l]
	n := len(t.keys)
	if !s.inSpan || !s.continues(t) {
		return
	}
	s.seek(codec.PrefixEnd(t.keys[n-1]))
	if l == 0 {
		s.open = false
	}
}

// enter begins to read the next span and those that follow.
func (s *ClusterScanner) enter() {
	span, then := s.spans[s.turn], s.spans[s.turn+1:]
	s.inSpan, s.turn = true, len(s.spans)
	if x, ok := s.iter.(kv.Rescanner); ok && x.Rescan(span, then...) {
		return
	}
	s.stop()
	s.iter = s.r.Scan(s.ctx, s.space, span, kv.ScanOpt{Batch: clusterRead, Skip: s.skips, Then: then, Spent: s.spent})
	s.spent = nil
}

// spanOf returns the number of the first span that does not end before a key.
func (s *ClusterScanner) spanOf(key []byte) int {
	i := 0
	for i < len(s.spans) && s.spans[i].Hi != nil && bytes.Compare(s.spans[i].Hi, key) <= 0 {
		i++
	}
	return i
}

// stop ends the scan.
func (s *ClusterScanner) stop() {
	if s.iter != nil {
		s.iter.Close()
		s.iter, s.spent = nil, s.iter
	}
}

// Close releases the walk. The scanner must not be used any more, nor closed again:
// it and its memory go to another walk, wherefore nothing in them may point into the
// snapshot any longer.
func (s *ClusterScanner) Close() {
	s.stop()
	for i := range s.tables {
		s.tables[i].forget()
	}
	clear(s.spans[:cap(s.spans)])
	s.spans = s.spans[:0]
	s.ctx, s.r, s.tables, s.windows = nil, nil, nil, nil
	s.last, s.open, s.dropped, s.passed = nil, false, nil, 0
	s.run, s.prefix = -1, nil
	clusterScanners.Put(s)
}

func (t *clusterTable) forget() {
	n := max(t.most, len(t.keys))
	t.most = 0
	forgetKeys(n, t.keys, t.vals, t.kkeys, t.kvals)
	for _, v := range t.batch.Cols {
		forgetKeys(n, v.B)
	}
	t.dec.reset()
	t.d, t.k, t.spans, t.last = nil, nil, nil, nil
}
