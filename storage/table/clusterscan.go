package table

import (
	"bytes"
	"context"

	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// ClusterSpec says what a ClusterScanner reads: the tables from the top, each the
// child of the one before it, and the columns wanted of each.
type ClusterSpec struct {
	Tables []*Desc
	Cols   [][]int
	// Codes as in ScanSpec, when the first table is the cluster's root. Under is the
	// key of the only row of the first table that is wanted. Without either the
	// whole file is read.
	Codes []spatial.Range
	Under []byte
}

// ClusterScanner walks over a cluster's file. It hands out the rows of one chunk
// of pairs at a time, by table; rows whose parent was not kept are not decoded.
//
// A chunk may end amid the rows below a row. That row and its parents then come
// again at the start of the next chunk, so that every row's parent is in its chunk.
type ClusterScanner struct {
	ctx    context.Context
	r      Reader
	tables []*clusterTable
	space  kv.Space
	spans  []kv.Range
	at     kv.Range // the span under way
	iter   kv.Iter
	last   []byte // the last key of the chunk
	open   bool   // the chunk's end is not the end of its span
}

// clusterTable are the rows of one table in the chunk.
type clusterTable struct {
	d      *Desc
	k      *clusterKeys
	dec    decoder
	batch  vec.Batch
	keys   [][]byte
	vals   [][]byte
	parent []uint32 // by row: row of the table before

	// Of the rows kept, in order:
	rows    []uint32
	up      []uint32 // kept row of the table before
	kkeys   [][]byte
	kvals   [][]byte
	carried bool // the first row was in the chunk before
}

// ScanCluster starts a walk. Close it before the transaction ends.
func ScanCluster(ctx context.Context, r Reader, spec *ClusterSpec) *ClusterScanner {
	s := &ClusterScanner{ctx: ctx, r: r, space: spec.Tables[0].space}
	switch {
	case spec.Codes != nil:
		s.spans = codeSpans(spec.Codes)
	case spec.Under != nil:
		s.spans = []kv.Range{kv.Prefix(spec.Under)}
	default:
		s.spans = wholeSpace
	}
	for i, d := range spec.Tables {
		t := &clusterTable{d: d, k: d.cluster()}
		t.dec.init(d, spec.Cols[i])
		s.tables = append(s.tables, t)
	}
	return s
}

// Next reads the next chunk; false at the end.
func (s *ClusterScanner) Next() (bool, error) {
	s.carry()
	for n := 0; n < clusterChunk; {
		if s.iter == nil {
			if len(s.spans) == 0 {
				s.open = false
				return n > 0 || s.tables[0].carried, nil
			}
			s.at, s.spans = s.spans[0], s.spans[1:]
			s.iter = s.r.Scan(s.ctx, s.space, s.at, kv.ScanOpt{})
		}
		pairs, err := s.iter.Next()
		if err != nil {
			return false, err
		}
		if len(pairs) == 0 {
			s.Close()
			s.open = false // nothing follows below what was read
			continue
		}
		if err := s.classify(pairs); err != nil {
			return false, err
		}
		n += len(pairs)
		s.last, s.open = pairs[len(pairs)-1].Key, true
	}
	return true, nil
}

// clusterChunk is the number of pairs that a chunk has at least, spans permitting.
const clusterChunk = 256

// carry begins a chunk with the last row of each table if rows below it may
// follow.
func (s *ClusterScanner) carry() {
	for i, t := range s.tables {
		n := len(t.keys)
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

// classify puts pairs to their tables. Pairs of other tables are passed over.
func (s *ClusterScanner) classify(pairs []kv.Pair) error {
	for i := range pairs {
		p := &pairs[i]
		for l := len(s.tables) - 1; l >= 0; l-- {
			t := s.tables[l]
			if !t.k.owns(t.d, p.Key) {
				continue
			}
			up := uint32(0)
			if l > 0 {
				above := s.tables[l-1].keys
				if len(above) == 0 || !bytes.HasPrefix(p.Key, above[len(above)-1]) {
					return corrupt(s.space, p.Key, codec.ErrCorrupt)
				}
				up = uint32(len(above) - 1)
			}
			t.keys, t.vals, t.parent = append(t.keys, p.Key), append(t.vals, p.Val), append(t.parent, up)
			break
		}
	}
	return nil
}

// Rows decodes the rows of table l whose parents are among the rows kept of the
// table before: kept[i] tells whether that row passed, by its number in the batch
// that Rows gave for it. It returns the batch and for each row the number of its
// parent in that batch. The batch is the scanner's until the next chunk.
func (s *ClusterScanner) Rows(l int, kept []bool) (*vec.Batch, []uint32, error) {
	t := s.tables[l]
	t.rows, t.up, t.kkeys, t.kvals = t.rows[:0], t.up[:0], t.kkeys[:0], t.kvals[:0]
	if l == 0 {
		for i := range t.keys {
			t.rows, t.up = append(t.rows, uint32(i)), append(t.up, 0)
		}
		t.kkeys, t.kvals = append(t.kkeys, t.keys...), append(t.kvals, t.vals...)
	} else {
		above := s.tables[l-1].rows // ascending, as parents are
		j := 0
		for i, p := range t.parent {
			for j < len(above) && above[j] < p {
				j++
			}
			if j < len(above) && above[j] == p && kept[j] {
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

// Carried reports whether the first row of table l was in the chunk before; it
// may have been passed on already.
func (s *ClusterScanner) Carried(l int) bool {
	t := s.tables[l]
	return t.carried && len(t.rows) > 0 && t.rows[0] == 0
}

// Continues reports whether rows below the last row of table l may follow in the
// next chunk.
func (s *ClusterScanner) Continues(l int) bool {
	t := s.tables[l]
	n := len(t.keys)
	return s.open && n > 0 && len(t.rows) > 0 && int(t.rows[len(t.rows)-1]) == n-1 && bytes.HasPrefix(s.last, t.keys[n-1])
}

// Skip goes on behind what is stored below the last row of table l: none of it is
// wanted. It is called between Rows and Next.
func (s *ClusterScanner) Skip(l int) {
	t := s.tables[l]
	n := len(t.keys)
	if s.iter == nil || n == 0 || !bytes.HasPrefix(s.last, t.keys[n-1]) {
		return
	}
	s.iter.Close()
	s.iter = nil
	lo := codec.PrefixEnd(t.keys[n-1])
	if lo != nil && (s.at.Hi == nil || bytes.Compare(lo, s.at.Hi) < 0) {
		s.spans = append([]kv.Range{{Lo: lo, Hi: s.at.Hi}}, s.spans...)
	}
	if l == 0 {
		s.open = false
	}
}

// Close releases the walk. It may be called more than once.
func (s *ClusterScanner) Close() {
	if s.iter != nil {
		s.iter.Close()
		s.iter = nil
	}
}
