package table

import (
	"context"
	"sync"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Lookup finds rows by equality on the first key columns of an index for many
// probes at once. It may be reused for set after set of probes.
type Lookup struct {
	ctx  context.Context
	d    *Desc
	r    Reader
	x    *index // nil: the master file
	c    *codec.KeyCodec
	n    int
	only bool
	// whole tells that a probe has the whole key, which finds one row at most.
	whole  bool
	first  bool // see FirstOnly
	dec    decoder
	entry  entryFilter
	rounds rounds

	probe probes
	next  int // the first probe that was not started

	iter   kv.Iter
	inSpan bool // iter is in the range of probe next-1
	end    []byte
	chunk  []kv.Pair

	keys, vals, mkeys [][]byte
	from              []uint32
	most              int // the most keys that there were
}

var lookups = sync.Pool{New: func() any { return new(Lookup) }}

// NewLookup prepares lookups in an index (nil or primary: the master file) on its
// first nkeys columns, giving cols. indexOnly as in ScanSpec.
func (d *Desc) NewLookup(r Reader, ix *catalog.Index, nkeys int, cols []int, indexOnly bool) (*Lookup, error) {
	x, err := d.index(ix)
	if err != nil {
		return nil, err
	}
	l := lookups.Get().(*Lookup)
	l.d, l.r, l.x, l.n = d, r, x, nkeys
	l.dec.init(d, cols)
	l.dec.values = true
	var whole int
	l.c, whole = d.keyCodec(x)
	l.whole = whole > 0 && nkeys == whole
	l.only = x != nil && indexOnly && x.covers(d, cols)
	return l, nil
}

// ReadParts makes the lookup read columns in part: see ScanSpec.Parts.
func (l *Lookup) ReadParts(parts []Part) { l.dec.setParts(parts) }

// FirstOnly makes the lookup find one row of each probe only, with which whoever asks
// whether there is any has enough. It is not for lookups that drop entries.
func (l *Lookup) FirstOnly() { l.first = true }

// FilterEntries makes the lookup drop entries before their rows are fetched: see
// ScanSpec.EntryFilter.
func (l *Lookup) FilterEntries(cols []int, f EntryFilter) { l.entry.init(l.d, l.x, cols, f) }

// probes are encoded search keys with the row numbers they came from.
type probes struct {
	keys codec.KeyBuf
	list [][]byte
	rows []uint32
	pos  []uint32 // position in the list of rows given
}

// set encodes the first len(vecs) columns of c for the rows. Rows with a NULL or
// a value that no key can have are left out.
func (p *probes) set(c *codec.KeyCodec, vecs []*vec.Vec, n int, rows []uint32) {
	p.keys.Reset()
	p.list, p.rows, p.pos = p.list[:0], p.rows[:0], p.pos[:0]
	if rows != nil {
		n = len(rows)
	}
	exact := true
	for i, v := range vecs {
		exact = exact && fitsAlways(c.Col(i), v)
	}
next:
	for i := range n {
		row := i
		if rows != nil {
			row = int(rows[i])
		}
		for _, v := range vecs {
			if v.IsNull(row) {
				continue next
			}
		}
		if exact {
			p.keys.Add(func(dst []byte) []byte { return c.AppendPrefix(dst, vecs, row) })
		} else {
			for k, v := range vecs {
				if _, fit := codec.Fit(c.Col(k).T, v.Get(row)); fit != codec.FitExact {
					continue next
				}
			}
			p.keys.Add(func(dst []byte) []byte {
				for k, v := range vecs {
					d, _ := codec.Fit(c.Col(k).T, v.Get(row))
					dst = c.AppendCol(dst, k, d)
				}
				return dst
			})
		}
		p.rows = append(p.rows, uint32(row))
		p.pos = append(p.pos, uint32(i))
	}
	p.list = p.keys.Keys(p.list)
}

// fitsAlways reports whether every value of the vector is one the column can have.
func fitsAlways(c codec.KeyCol, v *vec.Vec) bool {
	if c.T == v.T {
		return true
	}
	if _, narrow := types.NarrowScale(c.T); narrow {
		return false
	}
	return c.T.Kind() == v.T.Kind()
}

// Start sets the probes: keys[k] is the vector for the k-th key column, rows the
// row numbers in it (nil: 0 … n-1). Vectors have the key column's type, or for
// integers and numerics any width. NULL finds nothing.
func (l *Lookup) Start(ctx context.Context, keys []*vec.Vec, n int, rows []uint32) error {
	if l.ctx != ctx {
		l.closeIter()
	}
	l.ctx, l.next, l.inSpan, l.chunk = ctx, 0, false, nil
	l.probe.set(l.c, keys[:l.n], n, rows)
	l.rounds.start(len(l.probe.list))
	return nil
}

// Next fills out with matches in the order of the probes and returns the probe's
// row number for each; out.N = 0 is the end of this set of probes.
func (l *Lookup) Next(out *vec.Batch) ([]uint32, error) {
	l.dec.prepare(out, vec.BatchSize)
	for {
		l.keys, l.vals, l.from = l.keys[:0], l.vals[:0], l.from[:0]
		var err error
		switch {
		case l.whole:
			err = l.gets()
		case l.rounds.settled != nil:
			err = l.round()
		default:
			err = l.scans()
		}
		l.most = max(l.most, len(l.keys))
		if err != nil || len(l.keys) == 0 {
			return nil, err
		}
		if !l.entry.on() || l.rounds.settled != nil {
			break
		}
		if l.keys, l.vals, err = l.entry.pass(l.keys, l.vals, l.from); err != nil {
			return nil, err
		}
		if l.from = l.from[:len(l.keys)]; len(l.keys) > 0 {
			break
		}
	}
	if err := l.decode(out); err != nil {
		return nil, err
	}
	out.N = len(l.keys)
	return l.from, nil
}

// gets collects the pairs of the next probes that find one.
func (l *Lookup) gets() error {
	for len(l.keys) == 0 && l.next < len(l.probe.list) {
		end := min(l.next+vec.BatchSize, len(l.probe.list))
		keys := l.probe.list[l.next:end]
		var vals [][]byte
		var err error
		if l.x == nil {
			vals, err = l.dec.fetch(l.ctx, l.r, keys)
		} else {
			vals, err = l.r.BatchGet(l.ctx, l.x.space, keys)
		}
		if err != nil {
			return err
		}
		for i, v := range vals {
			if v != nil {
				l.keys, l.vals = append(l.keys, keys[i]), append(l.vals, v)
				l.from = append(l.from, l.probe.rows[l.next+i])
			}
		}
		l.next = end
	}
	return nil
}

// scans collects the pairs of the next probes until a batch is full.
func (l *Lookup) scans() error {
	for len(l.keys) < vec.BatchSize {
		if len(l.chunk) == 0 {
			if !l.inSpan {
				if l.next == len(l.probe.list) {
					return nil
				}
				l.enter(l.probe.list[l.next], nil)
				l.next++
			}
			pairs, err := l.iter.Next()
			if err != nil {
				return err
			}
			if len(pairs) == 0 {
				l.inSpan = false
				continue
			}
			l.chunk = pairs
		}
		n := min(len(l.chunk), vec.BatchSize-len(l.keys))
		if l.first {
			n, l.inSpan = 1, false
		}
		for _, p := range l.chunk[:n] {
			l.keys, l.vals = append(l.keys, p.Key), append(l.vals, p.Val)
			l.from = append(l.from, l.probe.rows[l.next-1])
		}
		l.chunk = l.chunk[n:]
		if l.first {
			l.chunk = nil
		}
	}
	return nil
}

// enter begins to read the keys of a probe, or those behind one of them.
func (l *Lookup) enter(probe, behind []byte) {
	var span kv.Range
	if len(probe) > 0 {
		span, l.end = kv.PrefixIn(l.end, probe)
	}
	if behind != nil {
		l.rounds.lo = append(append(l.rounds.lo[:0], behind...), 0)
		span.Lo = l.rounds.lo
	}
	l.inSpan = true
	if !rescan(l.iter, span) {
		l.closeIter()
		var opt kv.ScanOpt
		switch {
		case l.first:
			opt.Batch = 1
		case l.rounds.settled != nil:
			opt.Batch = aheadEntries
		}
		l.iter, l.inSpan = l.d.scanFile(l.ctx, l.r, l.x, span, opt), true
	}
}

func (l *Lookup) decode(out *vec.Batch) error {
	if l.x == nil {
		if l.whole && keepsKey(l.d, l.dec.cols) {
			// The keys are the probes', whose buffer is used again.
			for i, k := range l.keys {
				l.keys[i] = l.dec.arena.Copy(k)
			}
		}
		return l.dec.rows(l.ctx, l.r, out, 0, l.keys, l.vals)
	}
	if l.only {
		if l.whole {
			for i, k := range l.keys {
				l.keys[i] = l.dec.arena.Copy(k)
			}
		}
		return l.dec.entries(l.x, out, 0, l.keys, l.vals)
	}
	var err error
	if l.mkeys, err = l.d.masters(l.mkeys[:0], l.x, l.keys, l.vals, false); err != nil {
		return err
	}
	vals, err := l.dec.fetch(l.ctx, l.r, l.mkeys)
	if err != nil {
		return err
	}
	for i, v := range vals {
		if v == nil {
			return indexCorrupt(l.x, l.keys[i])
		}
	}
	return l.dec.rows(l.ctx, l.r, out, 0, l.mkeys, vals)
}

func (l *Lookup) closeIter() {
	if l.iter != nil {
		l.iter.Close()
		l.iter = nil
	}
	l.inSpan, l.chunk = false, nil
}

// Close releases what the lookup holds. It may be called more than once; after
// Start the lookup can be used again.
func (l *Lookup) Close() { l.closeIter() }

// Release is Close for a lookup that is used no more, nor released again: its
// memory goes to another.
func (l *Lookup) Release() {
	l.closeIter()
	forgetKeys(l.most, l.keys, l.vals, l.mkeys)
	l.dec.reset()
	l.entry.reset()
	l.rounds.reset()
	l.ctx, l.d, l.r, l.x, l.c, l.most, l.first = nil, nil, nil, nil, nil, 0, false
	lookups.Put(l)
}

// Exists reports for each probe (as in Lookup.Start, on the first len(keys)
// columns of the index) whether a row matches; hits[i] belongs to the i-th probe.
func (d *Desc) Exists(ctx context.Context, r Reader, ix *catalog.Index, keys []*vec.Vec, n int, rows []uint32) (hits []bool, err error) {
	x, err := d.index(ix)
	if err != nil {
		return nil, err
	}
	c, whole := d.keyCodec(x)
	var p probes
	p.set(c, keys, n, rows)
	if rows != nil {
		n = len(rows)
	}
	hits = make([]bool, n)
	if whole > 0 && whole == len(keys) {
		vals, err := r.BatchGet(ctx, d.fileOf(x), p.list)
		if err != nil {
			return nil, err
		}
		for i, v := range vals {
			hits[p.pos[i]] = v != nil
		}
		return hits, nil
	}
	for i, key := range p.list {
		it := d.scanFile(ctx, r, x, prefixSpan(key), kv.ScanOpt{KeysOnly: true, Limit: 1})
		pairs, err := it.Next()
		it.Close()
		if err != nil {
			return nil, err
		}
		hits[p.pos[i]] = len(pairs) > 0
	}
	return hits, nil
}
