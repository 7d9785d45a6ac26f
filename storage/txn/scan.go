package txn

import (
	"bytes"
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"kvsqld/storage/kv"
)

const (
	chunkFirst = 64   // pairs of a scan's first chunk: cheap under a LIMIT
	chunkMax   = 1024 // pairs of later chunks

	copiesBlock = 32 << 10 // bytes of memory for copies of own writes
)

// pairBufs holds chunk buffers of chunkMax pairs.
var pairBufs = sync.Pool{New: func() any { b := make([]kv.Pair, chunkMax); return &b }}

// scan is the kv.Iter of snapshots and transactions: the engine's chunks, with
// the transaction's own writes merged in where there are any. A chunk that no
// own write falls into is passed on as the engine filled it.
type scan struct {
	ctx    context.Context
	sn     *sharedSnap
	at     *atomic.Pointer[sharedSnap] // whose snapshot sn must still be
	chunks Chunks                      // nil: the snapshot is hidden or at its end
	spent  Chunks                      // closed
	ov     overlayIter
	opt    kv.ScanOpt
	left   int // pairs still wanted; negative = no limit
	size   int // pairs of the next chunk

	buf    *[]kv.Pair // backing of base
	used   int        // longest chunk in buf, to be cleared at the end
	base   []kv.Pair  // filled by the engine, not yet delivered
	merged []kv.Pair
	sealed bool   // some own writes are in files
	copies []byte // rest of the memory for own writes that are in files
	stats  *kv.FileStats
	err    error
	done   bool

	// SERIALIZABLE: an early end narrows what counts as read.
	reads  *readSet
	space  uint64
	number int    // of the range in reads
	last   []byte // last key delivered

	sp   kv.Space
	then []kv.Range // that the engine was not given, to go on with
	// One of them is for Rescan, none where there are own writes to the space.
	txn  *Txn
	view *View
}

// newScan starts a scan in the memory of o.Spent, or in its own. hidden says that of the
// snapshot there is nothing to be seen.
func newScan(ctx context.Context, sn *sharedSnap, at *atomic.Pointer[sharedSnap], sp kv.Space, r kv.Range, o kv.ScanOpt, hidden bool) *scan {
	s, ok := o.Spent.(*scan)
	if !ok {
		s = new(scan)
	}
	spent := s.spent
	o.Spent = nil
	*s = scan{ctx: ctx, sn: sn, at: at, opt: o, left: -1, size: chunkFirst, sp: sp}
	s.opt.Then = nil
	if !hidden {
		s.begin(r, o.Then, spent)
	}
	if o.Limit > 0 {
		s.left = o.Limit
	}
	if o.Batch > 0 {
		s.size = o.Batch
	}
	return s
}

// begin asks the engine for ranges.
func (s *scan) begin(r kv.Range, then []kv.Range, spent Chunks) {
	if len(then) > 0 {
		if es, ok := s.sn.es.(RangesSnapshot); ok {
			o := s.opt
			o.Then = then
			if c := es.ScanRanges(s.sp, r, o, spent); c != nil {
				s.chunks, s.then = c, nil
				return
			}
		}
	}
	s.chunks, s.then = s.sn.es.Scan(s.sp, r, s.opt, spent), then
}

// read notes what counts as read. Several ranges are not narrowed later.
func (s *scan) read(reads *readSet, sp kv.Space, r kv.Range, then []kv.Range) {
	if reads == nil {
		return
	}
	n := reads.addRange(sp.ID, r)
	if len(then) == 0 {
		s.reads, s.space, s.number, s.last = reads, sp.ID, n, nil
	}
	for _, r := range then {
		reads.addRange(sp.ID, r)
	}
}

// failedScan is an iterator that only reports err.
func failedScan(err error) *scan { return &scan{err: err} }

func (s *scan) Next() ([]kv.Pair, error) {
	if s.err != nil || s.done || s.left == 0 {
		return nil, s.err
	}
	if s.err = s.step(); s.err != nil {
		return nil, s.err
	}
	var out []kv.Pair
	switch {
	case !s.ov.valid:
		if len(s.base) == 0 {
			s.err = s.fill()
		}
		out, s.base = s.base, nil
	default:
		out, s.err = s.merge()
	}
	if s.err != nil {
		return nil, s.err
	}
	if s.left >= 0 {
		if len(out) > s.left {
			out = out[:s.left]
		}
		s.left -= len(out)
	}
	if len(out) == 0 {
		s.done, s.reads = true, nil
	} else if s.opt.Batch == 0 && s.size < chunkMax {
		s.size = min(4*s.size, chunkMax)
	}
	if s.stats != nil {
		count(s.stats, out)
	}
	if s.reads != nil {
		s.last = out[len(out)-1].Key
	}
	return out, nil
}

func count(f *kv.FileStats, ps []kv.Pair) {
	n := 0
	for i := range ps {
		n += len(ps[i].Key) + len(ps[i].Val)
	}
	f.KeysRead.Add(int64(len(ps)))
	f.BytesRead.Add(int64(n))
}

// countSkips counts the keys that the engine reads and does not deliver.
func countSkips(f *kv.FileStats, skip func([]byte) []byte) func([]byte) []byte {
	if skip == nil {
		return nil
	}
	return func(key []byte) []byte {
		next := skip(key)
		if next != nil {
			f.KeysRead.Add(1)
			f.BytesRead.Add(int64(len(key)))
		}
		return next
	}
}

// live reports whether the snapshot is still that of the transaction.
func (s *scan) live() bool { return s.at.Load() == s.sn }

// step checks between two chunks whether the scan may go on.
func (s *scan) step() error {
	if err := s.ctx.Err(); err != nil {
		return context.Cause(s.ctx)
	}
	if !s.live() {
		return kv.ErrTxnDone
	}
	return s.sn.check()
}

// fill gets the next chunk from the engine into base, which stays empty at the
// end of the range.
func (s *scan) fill() error {
	if s.chunks == nil {
		return nil
	}
	n := s.size
	if s.left >= 0 && !s.ov.valid {
		n = min(n, s.left)
	}
	if s.buf == nil {
		if n <= chunkMax {
			s.buf = pairBufs.Get().(*[]kv.Pair)
		} else {
			b := make([]kv.Pair, n)
			s.buf = &b
		}
	}
	n = min(n, len(*s.buf))
	for s.chunks != nil && len(s.base) == 0 {
		got, err := s.chunks.Fill((*s.buf)[:n])
		if err != nil {
			return err
		}
		s.used = max(s.used, got)
		s.base = (*s.buf)[:got]
		if got < n {
			s.endChunks()
		}
	}
	return nil
}

func (s *scan) endChunks() {
	if s.chunks != nil {
		s.chunks.Close()
		s.spent, s.chunks = s.chunks, nil
	}
	if len(s.then) > 0 {
		s.begin(s.then[0], s.then[1:], s.spent)
		s.spent = nil
	}
}

// Rescan implements kv.Rescanner.
func (s *scan) Rescan(r kv.Range, then ...kv.Range) bool {
	if s.err != nil || s.opt.Limit > 0 {
		return false
	}
	var reads *readSet
	switch {
	case s.view != nil && s.live():
		reads = s.view.notes.reads
	case s.txn != nil && s.live() && s.txn.own(s.sp) == nil:
		reads = s.txn.reads
	default:
		return false
	}
	s.endReads()
	s.then = nil
	s.endChunks()
	s.begin(r, then, s.spent)
	s.spent, s.base, s.done = nil, nil, false
	s.read(reads, s.sp, r, then)
	if s.stats != nil {
		s.stats.Scans.Add(1)
	}
	return true
}

// endReads narrows what counts as read to what was delivered.
func (s *scan) endReads() {
	if s.reads != nil && s.last != nil {
		s.reads.narrow(s.space, s.number, s.last, s.opt.Reverse)
	}
	s.reads = nil
}

// overlay lays own writes over what is read.
func (s *scan) overlay(wins []window) {
	for i := range wins {
		s.sealed = s.sealed || wins[i].sealed != nil
	}
	if s.sealed {
		defer faults(debug.SetPanicOnFault(true), &s.err)
	}
	s.ov = newOverlayIter(wins, s.opt.Reverse)
}

// merge delivers the next pairs when own writes are ahead.
func (s *scan) merge() (_ []kv.Pair, err error) {
	if s.sealed {
		defer faults(debug.SetPanicOnFault(true), &err)
	}
	s.merged = s.merged[:0]
	for len(s.merged) < s.size {
		if len(s.base) == 0 {
			if err := s.fill(); err != nil {
				return nil, err
			}
		}
		if !s.ov.valid {
			if len(s.base) == 0 {
				break
			}
			n := min(len(s.base), s.size-len(s.merged))
			s.merged = append(s.merged, s.base[:n]...)
			s.base = s.base[n:]
			continue
		}
		c := 1 // the own write comes first
		if len(s.base) > 0 {
			if len(s.merged) == 0 && s.before(s.base[len(s.base)-1].Key, s.ov.cur.key()) {
				out := s.base
				s.base = nil
				return out, nil
			}
			c = bytes.Compare(s.base[0].Key, s.ov.cur.key())
			if s.opt.Reverse {
				c = -c
			}
		}
		if c < 0 {
			s.merged = append(s.merged, s.base[0])
			s.base = s.base[1:]
			continue
		}
		if c == 0 {
			s.base = s.base[1:]
		}
		if e := s.ov.cur; e.flags&flagDelete == 0 {
			s.merged = append(s.merged, s.pair(e))
			if err := s.opt.Checked(s.merged[len(s.merged)-1:]); err != nil {
				return nil, err
			}
		}
		s.ov.next()
	}
	return s.merged, nil
}

// pair returns an own write as it is delivered: bytes that are in a file are copied, for
// they are to be good as long as the snapshot.
func (s *scan) pair(e entry) (p kv.Pair) {
	p.Key = e.key()
	if !s.opt.KeysOnly {
		p.Val = e.val()
	}
	if e.flags&flagSealed == 0 {
		return p
	}
	n := len(p.Key) + len(p.Val)
	if n > len(s.copies) {
		s.copies = make([]byte, max(n, copiesBlock))
	}
	b := s.copies[:n:n]
	s.copies = s.copies[n:]
	k := copy(b, p.Key)
	p.Key = b[:k:k]
	if !s.opt.KeysOnly {
		copy(b[k:], p.Val)
		p.Val = b[k:]
	}
	return p
}

// before reports whether a is delivered before b.
func (s *scan) before(a, b []byte) bool {
	c := bytes.Compare(a, b)
	if s.opt.Reverse {
		return c > 0
	}
	return c < 0
}

func (s *scan) Close() {
	s.done, s.then = true, nil
	s.endReads()
	s.endChunks()
	if f, ok := s.spent.(Forgetter); ok {
		f.Forget()
	} else {
		s.spent = nil
	}
	// What is kept for another scan must not point into the snapshot.
	s.ctx, s.sn, s.at, s.txn, s.view, s.stats, s.last, s.opt, s.ov = nil, nil, nil, nil, nil, nil, nil, kv.ScanOpt{}, overlayIter{}
	if s.buf != nil {
		clear((*s.buf)[:s.used])
		if len(*s.buf) == chunkMax {
			pairBufs.Put(s.buf)
		}
		s.buf, s.base, s.merged = nil, nil, nil
	}
}
