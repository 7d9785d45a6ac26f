package table

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Scanner passes the rows of a scan in the order of the file.
type Scanner struct {
	ctx  context.Context
	r    Reader
	d    *Desc
	x    *index // nil: the master file
	only bool   // rows are read from index entries
	// checked tells that the iterator verifies pairs, not who decodes them.
	checked    bool
	opt        kv.ScanOpt
	batch      int   // rows of the next batch: small at first when few may be enough
	most       int   // rows of a full batch
	skip       int64 // rows still to be passed over
	bare       bool  // points are keys of rows that are there, and nothing else is wanted
	set        spanSet
	rev        bool
	late       bool     // the attribute files are read from the first row on that is wanted …
	span       kv.Range // … within this span
	iter       kv.Iter
	inSpan     bool      // iter is in the span that was opened last
	chunk      []kv.Pair // of the last Next, what is not used yet
	dec        decoder
	entry      entryFilter
	tail       tailFilter
	loose      int    // see ScanSpec.Loose
	looseValue bool   // see ScanSpec.LooseValue
	begin      []byte // of the span that is read
	keys       [][]byte
	vals       [][]byte
	mkeys      [][]byte
	used       int // the most keys that there were
	done       bool
	skips      func(key []byte) []byte // skipBelow
	jump       []byte                  // memory of what it returns
}

var scanners = sync.Pool{New: func() any {
	s := new(Scanner)
	s.skips = s.skipBelow
	return s
}}

// keyCodec returns the codec of the file's search key and the number of columns
// of a key with at most one entry, 0 if there is none.
func (d *Desc) keyCodec(x *index) (c *codec.KeyCodec, whole int) {
	if x == nil {
		return d.key, d.whole()
	}
	if x.unique {
		whole = x.n
	}
	return x.key, whole
}

// Scan starts a scan. Close the Scanner before the transaction ends.
func (d *Desc) Scan(ctx context.Context, r Reader, spec *ScanSpec) (*Scanner, error) {
	if err := d.stored(); err != nil {
		return nil, err
	}
	x, err := d.index(spec.Index)
	if err != nil {
		return nil, err
	}
	s := scanners.Get().(*Scanner)
	s.ctx, s.r, s.d, s.x, s.rev, s.batch, s.only, s.done = ctx, r, d, x, spec.Reverse, spec.BatchRows, false, false
	s.opt, s.set, s.skip, s.bare, s.late = kv.ScanOpt{}, spanSet{}, spec.Skip, false, false
	if s.batch <= 0 {
		s.batch = vec.BatchSize
	}
	s.most = s.batch
	if spec.Limit > 0 {
		s.batch = min(s.batch, spec.Limit)
	}
	switch {
	case spec.part:
		s.set.spans = spec.spans
	case spec.Codes != nil:
		s.set.spans = codeSpans(spec.Codes)
	case spec.Under != nil:
		s.set.spans = []kv.Range{kv.Prefix(spec.Under)}
	default:
		c, whole := d.keyCodec(x)
		s.set = spans(c, spec.Ranges, whole)
	}
	if !spec.Reverse && spec.Limit == 0 && len(s.set.spans) > 2 && tested(spec.Ranges) {
		s.opt.Skip = s.set.join()
	}
	s.dec.init(d, spec.Cols)
	s.dec.setParts(spec.Parts)
	if x != nil && x.elements {
		if s.set, err = d.gather(ctx, r, x, spec); err != nil {
			return nil, err
		}
		s.x, x = nil, nil
		s.bare = spec.Listed && len(spec.Parts) == 0 && !s.dec.values || len(spec.Cols) > 0 && len(spec.Parts) == 0 && !slices.ContainsFunc(spec.Cols, func(c int) bool { return c != ColRowKey })
	}
	s.only = x != nil && (spec.IndexOnly || !s.dec.values) && x.covers(d, spec.Cols)
	s.entry.init(d, x, spec.EntryCols, spec.EntryFilter)
	s.tail.init(x, spec)
	s.loose, s.looseValue = spec.Loose, spec.LooseValue
	if x != nil && x.inverted || s.tail.on() || s.set.points != nil {
		s.loose = 0
	}
	s.dec.values = s.dec.values || s.entry.on()
	s.opt.Reverse = spec.Reverse
	s.opt.KeysOnly = !s.dec.values
	if spec.Below && x == nil && d.cluster() != nil && s.set.points == nil && !spec.Reverse {
		s.opt.Skip = s.skips
	}
	if spec.Sample != nil && s.x == nil && !spec.Reverse && spec.Limit == 0 && len(d.groups) == 0 {
		s.opt.Skip = func(key []byte) []byte {
			next := spec.Sample.Next(s.jump[:0], key)
			if next != nil {
				s.jump = next
			}
			return next
		}
	}
	s.checked = s.dec.values && s.set.points == nil
	if s.checked {
		s.opt.Check = s.d.checkOf(s.x)
		if s.x == nil && spec.NotNull {
			s.lead()
		}
	}
	s.entry.dec.checked = s.checked
	switch {
	case s.tail.on():
		s.opt.Batch = tailRead
	case s.loose > 0:
		s.opt.Batch = 1
	}
	return s, nil
}

// lead has the scan read an attribute file in place of the master file, where one has
// all rows and the columns that are wanted lie in attribute files or in the key.
func (s *Scanner) lead() {
	i := s.dec.leading()
	if i < 0 {
		return
	}
	s.dec.lead = i
	s.opt.Check = s.dec.groups[i].g.check
}

// Next fills b with the next rows: b.Cols become one vector per ScanSpec.Cols
// (made on first use, reused later), b.N their number, b.Sel nil. N = 0 is the end.
func (s *Scanner) Next(b *vec.Batch) error {
	s.dec.prepare(b, s.batch)
	passedOver := 0 // by the filter, since the last row that passed it
	for b.N+passedOver < s.batch && !s.done {
		most := s.batch - b.N - passedOver
		if s.skip > 0 {
			most = int(min(s.skip, vec.BatchSize))
		}
		n, err := s.read(most)
		if err != nil {
			return err
		}
		s.used = max(s.used, len(s.keys))
		if n == 0 {
			continue
		}
		if s.entry.on() {
			read := n
			if s.keys, s.vals, err = s.entry.pass(s.keys, s.vals, nil); err != nil {
				return err
			}
			n = len(s.keys)
			if s.entry.x == nil && b.N+n > 0 { // a batch is given out that was read as far as others
				passedOver += read - n
			}
			if n == 0 {
				continue
			}
		}
		if s.skip > 0 { // n is at most that
			s.skip -= int64(n)
			continue
		}
		if s.late {
			s.openLate()
		}
		if err := s.decode(b); err != nil {
			return err
		}
		b.N += n
	}
	s.batch = min(4*s.batch, s.most)
	return nil
}

// PassAll ends the filter: the rows that are still to come all pass.
func (s *Scanner) PassAll() { s.entry.reset() }

// read puts up to n pairs into s.keys and s.vals. None, but not done, means that
// a span or a set of points had no more.
func (s *Scanner) read(n int) (int, error) {
	s.keys, s.vals = s.keys[:0], s.vals[:0]
	if s.set.points != nil {
		return s.readPoints(n)
	}
	if s.loose > 0 {
		return s.readFirst(n)
	}
	if len(s.chunk) == 0 {
		if !s.inSpan && !s.openSpan() {
			s.done = true
			return 0, nil
		}
		pairs, err := s.iter.Next()
		if err != nil {
			return 0, err
		}
		if len(pairs) == 0 {
			s.inSpan = false
			return 0, nil
		}
		s.chunk = pairs
	}
	n = min(n, len(s.chunk))
	if k := s.d.cluster(); k != nil && s.x == nil {
		return s.readShared(k, n), nil
	}
	if s.tail.on() {
		return s.readTail(n)
	}
	if s.dec.values {
		s.keys, s.vals = slices.Grow(s.keys, n)[:n], slices.Grow(s.vals, n)[:n]
		for i, p := range s.chunk[:n] {
			s.keys[i], s.vals[i] = p.Key, p.Val
		}
	}
	s.chunk = s.chunk[n:]
	return n, nil
}

// readFirst is read for a loose scan: of the pairs with the same first columns it takes the
// first, and searches for what follows the others. One that is NULL in the next column is
// taken if there is no other.
func (s *Scanner) readFirst(n int) (int, error) {
	if s.x == nil && len(s.dec.groups) > 0 {
		n = 1 // what the attribute files have is read beside one span
	}
	c, _ := s.d.keyCodec(s.x)
	got := 0
	var null kv.Pair // that may have to be taken …
	var head []byte  // … and its first columns; nil: none
	take := func(p kv.Pair) {
		if s.dec.values {
			s.keys, s.vals = append(s.keys, p.Key), append(s.vals, p.Val)
		}
		got++
	}
	for got < n {
		ok, err := s.nextPair()
		if err != nil {
			return got, err
		}
		if head != nil && (!ok || !bytes.HasPrefix(s.chunk[0].Key, head)) {
			take(null)
			head = nil
			continue
		}
		if !ok {
			return got, nil
		}
		p := kv.Pair{Key: s.dec.arena.Copy(s.chunk[0].Key), Val: s.dec.arena.Copy(s.chunk[0].Val)}
		rest := p.Key
		for i := range s.loose {
			if rest, err = c.SkipCol(i, rest); err != nil {
				return 0, corrupt(s.d.fileOf(s.x), p.Key, err)
			}
		}
		first := p.Key[: len(p.Key)-len(rest) : len(p.Key)-len(rest)]
		if s.looseValue && head == nil && c.IsNull(s.loose, rest) {
			null, head = p, first
			s.passGroup(p.Key[:len(first)+1])
			continue
		}
		take(p)
		head = nil
		s.passGroup(first)
	}
	return got, nil
}

// nextPair reports whether there is a pair in the chunk, reading the next one if need be.
func (s *Scanner) nextPair() (bool, error) {
	for len(s.chunk) == 0 {
		if !s.inSpan && !s.openSpan() {
			s.done = true
			return false, nil
		}
		var err error
		if s.chunk, err = s.iter.Next(); err != nil {
			return false, err
		}
		s.inSpan = len(s.chunk) > 0
	}
	return true, nil
}

// passGroup goes on behind the keys that begin with head.
func (s *Scanner) passGroup(head []byte) {
	for len(s.chunk) > 0 && bytes.HasPrefix(s.chunk[0].Key, head) {
		s.chunk = s.chunk[1:]
	}
	if len(s.chunk) > 0 {
		return
	}
	s.inSpan = false
	if s.rev { // the spans may be others' as well
		s.set.spans = append(slices.Clip(s.set.spans), kv.Range{Lo: s.begin, Hi: head})
	} else if lo := codec.PrefixEnd(head); lo != nil && (s.tail.end == nil || bytes.Compare(lo, s.tail.end) < 0) {
		s.set.spans = append([]kv.Range{{Lo: lo, Hi: s.tail.end}}, s.set.spans...)
	}
}

// readShared takes the table's own rows of the next n pairs of a cluster's file.
func (s *Scanner) readShared(k *clusterKeys, n int) int {
	own := 0
	for i := range s.chunk[:n] {
		p := &s.chunk[i]
		if !k.owns(s.d, p.Key) {
			continue
		}
		own++
		if s.dec.values {
			s.keys, s.vals = append(s.keys, p.Key), append(s.vals, p.Val)
		}
	}
	s.chunk = s.chunk[n:]
	return own
}

// skipBelow is kv.ScanOpt.Skip in a cluster's file: what lies below a row of the table
// is of other tables.
func (s *Scanner) skipBelow(key []byte) []byte {
	k := s.d.cluster()
	if len(key) <= k.width {
		return nil
	}
	n, ok := k.level(s.d, key)
	if !ok || n == len(key) {
		return nil
	}
	next := prefixEnd(s.jump, key[:n])
	if next != nil {
		s.jump = next
	}
	return next
}

// openSpan starts the next span; false if there is none.
func (s *Scanner) openSpan() bool {
	n := len(s.set.spans)
	if n == 0 {
		return false
	}
	span := s.set.spans[0]
	if s.rev {
		span = s.set.spans[n-1]
		s.set.spans = s.set.spans[:n-1]
	} else {
		s.set.spans = s.set.spans[1:]
	}
	s.inSpan, s.tail.end, s.begin = true, span.Hi, span.Lo
	if !rescan(s.iter, span) {
		if s.iter != nil {
			s.iter.Close()
		}
		if i := s.dec.lead; i >= 0 {
			s.iter = s.r.Scan(s.ctx, s.dec.groups[i].g.space, span, s.opt)
		} else {
			s.iter = s.d.scanFile(s.ctx, s.r, s.x, span, s.opt)
		}
	}
	if s.late = s.skip > 0; s.late {
		s.span = span
	} else if s.x == nil {
		s.dec.openGroups(s.ctx, s.r, span, s.opt)
	}
	return true
}

// openLate begins to read the attribute files at the first row that is not passed over.
func (s *Scanner) openLate() {
	s.late = false
	if s.x != nil || len(s.keys) == 0 {
		return
	}
	first := bytes.Clone(s.keys[0])
	if s.rev {
		s.span.Hi = append(first, 0)
	} else {
		s.span.Lo = first
	}
	s.dec.openGroups(s.ctx, s.r, s.span, s.opt)
}

// rescan goes on with another range in an iterator that can.
func rescan(it kv.Iter, r kv.Range) bool {
	x, ok := it.(kv.Rescanner)
	return ok && x.Rescan(r)
}

// readPoints gets up to n of the keys.
func (s *Scanner) readPoints(n int) (int, error) {
	points := s.set.points
	if len(points) == 0 {
		s.done = true
		return 0, nil
	}
	n = min(n, len(points))
	var keys [][]byte
	if s.rev {
		keys = points[len(points)-n:]
		s.set.points = points[:len(points)-n]
	} else {
		keys = points[:n]
		s.set.points = points[n:]
	}
	if s.bare && !s.rev {
		s.keys = append(s.keys, keys...)
		return n, nil
	}
	vals, err := s.r.BatchGet(s.ctx, s.d.fileOf(s.x), keys)
	if err != nil {
		return 0, err
	}
	for i := range keys {
		at := i
		if s.rev {
			at = len(keys) - 1 - i
		}
		if vals[at] != nil {
			s.keys, s.vals = append(s.keys, keys[at]), append(s.vals, vals[at])
		}
	}
	return len(s.keys), nil
}

// decode puts the pairs read into the batch.
func (s *Scanner) decode(b *vec.Batch) error {
	s.dec.checked = s.checked
	switch {
	case !s.dec.values:
		return nil
	case s.bare && !s.rev:
		for _, v := range b.Cols {
			copy(v.B[b.N:], s.keys)
		}
		return nil
	case s.x == nil:
		return s.dec.rows(s.ctx, s.r, b, b.N, s.keys, s.vals)
	case s.only:
		return s.dec.entries(s.x, b, b.N, s.keys, s.vals)
	}
	var err error
	if s.mkeys, err = s.d.masters(s.mkeys[:0], s.x, s.keys, s.vals, s.checked); err != nil {
		return err
	}
	vals, err := s.dec.fetch(s.ctx, s.r, s.mkeys)
	if err != nil {
		return err
	}
	for i, v := range vals {
		if v == nil {
			return indexCorrupt(s.x, s.keys[i])
		}
	}
	s.dec.checked = false // that was the entries
	return s.dec.rows(s.ctx, s.r, b, b.N, s.mkeys, vals)
}

// Close releases the scan. It may be called more than once.
func (s *Scanner) Close() {
	if s.iter != nil {
		s.iter.Close()
		s.iter = nil
	}
	s.inSpan, s.chunk = false, nil
	s.dec.closeGroups()
	s.done = true
}

// Release is Close for a scan that is used no more, nor released again: its memory
// goes to another.
func (s *Scanner) Release() {
	s.Close()
	forgetKeys(s.used, s.keys, s.vals, s.mkeys)
	s.dec.reset()
	s.entry.reset()
	s.tail = tailFilter{}
	s.ctx, s.r, s.d, s.x, s.set, s.used = nil, nil, nil, nil, spanSet{}, 0
	scanners.Put(s)
}
