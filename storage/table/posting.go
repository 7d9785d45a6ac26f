package table

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// An inverted index maps a search key to a posting list of row keys. The list is
// kept in two parts, told apart by a byte after the search key:
//
//	search key, tagDelta, row key → an entry, or "gone"
//	search key, tagChunk, first row key → row keys, ascending
//
// A row belongs to the list if its delta says so, or if there is no delta and a
// chunk has it. Transactions write deltas only, one key for a row that comes or
// goes, covered by the row's lock as an entry of a btree index is: so two
// transactions never write the same key of a list, and none reads what another
// has not committed. fold moves deltas into chunks.
const (
	tagDelta = 1
	tagChunk = 2
)

// enoughPostings is the number of rows from which on a batch takes no further chunk, and
// firstPostings that of a list's first one where several are read side by side.
const (
	enoughPostings = 1024
	firstPostings  = 64
)

// postings passes the posting lists of an inverted index as a kv.Iter of pairs
// like those of a btree index: search key and row key, without a value. Rows of
// one search key come in no particular order.
type postings struct {
	ctx  context.Context
	r    Reader
	x    *index
	rev  bool
	bare bool // without the search key: of one list
	it   kv.Iter
	rest []kv.Pair // of the last batch of it, not taken yet

	enough int // rows from which on a batch takes no further chunk

	search []byte       // search key of the list being read
	deltas [][]byte     // its row keys with a delta, ascending
	known  bool         // deltas has all of them: they were read before the chunks
	into   *listedRows  // takes chunks as numbers, if it can
	rows   codec.KeyBuf // of a chunk
	keys   codec.KeyBuf // handed out
	*postingBufs
}

// postingBufs is the memory of an iterator until it is closed.
type postingBufs struct {
	out  []kv.Pair
	list [][]byte
	most int // the longest list
}

var postingPool = sync.Pool{New: func() any { return new(postingBufs) }}

// scanFile scans a file of the table, with inverted indexes as pairs of search key
// and row key.
func (d *Desc) scanFile(ctx context.Context, r Reader, x *index, span kv.Range, o kv.ScanOpt) kv.Iter {
	if x == nil || !x.inverted {
		return r.Scan(ctx, d.fileOf(x), span, o)
	}
	o.KeysOnly, o.Limit, o.Check = false, 0, nil // it verifies the values that it takes apart
	return openPostings(ctx, r, x, span, o)
}

func openPostings(ctx context.Context, r Reader, x *index, span kv.Range, o kv.ScanOpt) *postings {
	return &postings{ctx: ctx, r: r, x: x, rev: o.Reverse, enough: enoughPostings, it: r.Scan(ctx, x.space, span, o),
		postingBufs: postingPool.Get().(*postingBufs)}
}

// list returns the codec of a search key, how many columns it has there, and the part
// of the key that it reads.
func (x *index) list(key []byte) (c *codec.KeyCodec, n int, part []byte, err error) {
	if x.lists == nil {
		return x.key, x.n, key, nil
	}
	if len(key) == 0 || int(key[0]) >= len(x.lists) {
		return nil, 0, nil, fmt.Errorf("%w: posting list of no column", codec.ErrCorrupt)
	}
	return x.lists[key[0]], 1, key[1:], nil
}

// skipSearch returns what comes behind the search key of an entry.
func (x *index) skipSearch(key []byte) ([]byte, error) {
	c, n, part, err := x.list(key)
	if err != nil {
		return nil, err
	}
	rest, _, err := c.Skip(part, n)
	return rest, err
}

// appendElement appends the search key of an element of key column i.
func (x *index) appendElement(dst []byte, i int, elem types.Datum) []byte {
	if x.lists == nil {
		return x.key.AppendCol(dst, 0, elem)
	}
	return x.lists[i].AppendCol(append(dst, byte(i)), 0, elem)
}

// elementSpan is the list of an element of key column i, which the range names; false
// if no key can have it.
func (x *index) elementSpan(i int, r *types.Range) (kv.Range, bool) {
	c := x.key
	if x.lists != nil {
		c = x.lists[i]
	}
	search, ok := eqPrefix(c, r.Eq)
	if x.lists != nil {
		search = append([]byte{byte(i)}, search...)
	}
	return prefixSpan(search), ok
}

// prettySearch returns the search key of an entry in readable form, and the rest.
func (x *index) prettySearch(t *catalog.Table, key []byte) (out string, rest []byte) {
	c, _, part, err := x.list(key)
	if err != nil {
		return fmt.Sprintf("<%x>", key), nil
	}
	at := 0
	if x.lists != nil {
		at = int(key[0])
	}
	k := &x.cat.Keys[at]
	name, typ := k.Expr, k.Type
	if k.Col >= 0 {
		name, typ = t.Columns[k.Col].Name, t.Columns[k.Col].Type
	}
	b, rest := c.AppendPretty(nil, part)
	if x.elements && (typ.Kind() == types.KJSONB || typ.Kind() == types.KHstore) {
		var token [1]types.Datum
		if _, err := c.Decode(part, token[:]); err == nil {
			b = append([]byte{'/'}, types.PrettyToken(token[0].B)...)
		}
	}
	if x.lists == nil {
		return string(b), rest
	}
	return "/" + name + string(b), rest
}

// splitPosting cuts a key of an inverted index.
func (x *index) splitPosting(key []byte) (search []byte, tag byte, row []byte, err error) {
	rest, err := x.skipSearch(key)
	if err != nil {
		return nil, 0, nil, err
	}
	if len(rest) == 0 || rest[0] != tagDelta && rest[0] != tagChunk {
		return nil, 0, nil, fmt.Errorf("%w: key of a posting list without its kind", codec.ErrCorrupt)
	}
	return key[:len(key)-len(rest)], rest[0], rest[1:], nil
}

// isGone reports whether a delta takes its row out of the list.
func isGone(key, val []byte) (bool, error) {
	b, err := codec.Open(key, val)
	if err != nil {
		return false, err
	}
	switch {
	case len(b) == 1 && b[0] == codec.FormatEntry:
		return false, nil
	case len(b) == 1 && b[0] == codec.FormatGone:
		return true, nil
	}
	return false, fmt.Errorf("%w: unknown format %#x of a posting", codec.ErrCorrupt, b[0])
}

// room estimates the bytes of the keys that pairs of the file stand for: a row in a
// chunk takes three bytes at least. More than 64 kB are left to growth.
func room(pairs []kv.Pair) int {
	n := 0
	for i := range pairs {
		n += len(pairs[i].Key) * (1 + len(pairs[i].Val)/3)
	}
	return min(n, 1<<16)
}

func (p *postings) Next() ([]kv.Pair, error) {
	if err := p.fill(); err != nil || p.keys.Len() == 0 {
		return nil, err
	}
	// The keys live as long as the snapshot, as a kv.Iter's do: their memory is not
	// used again.
	p.list = p.keys.Keys(p.list[:0])
	p.out = p.out[:0]
	for _, k := range p.list {
		p.out = append(p.out, kv.Pair{Key: k})
	}
	p.most = max(p.most, len(p.out))
	p.keys.Leave()
	return p.out, nil
}

// fill puts the next batch into p.keys, and what p.into can take there, nothing at the end.
func (p *postings) fill() error {
	p.keys.Reset()
	taken := func() int { return p.keys.Len() }
	if p.into != nil {
		before := p.into.len()
		taken = func() int { return p.keys.Len() + p.into.len() - before }
	}
	for taken() == 0 {
		if len(p.rest) == 0 {
			var err error
			if p.rest, err = p.it.Next(); err != nil || len(p.rest) == 0 {
				return err
			}
		}
		if p.into == nil {
			p.keys.Grow(room(p.rest))
		}
		for len(p.rest) > 0 && taken() < p.enough {
			pair := p.rest[0]
			if err := p.take(pair); err != nil {
				return corrupt(p.x.space, pair.Key, err)
			}
			p.rest = p.rest[1:]
		}
	}
	return nil
}

// Rescan implements kv.Rescanner.
func (p *postings) Rescan(r kv.Range, then ...kv.Range) bool {
	if len(then) > 0 || !rescan(p.it, r) {
		return false
	}
	p.rest, p.search, p.deltas, p.known = nil, nil, p.deltas[:0], false
	return true
}

// take adds what a pair of the file says.
func (p *postings) take(pair kv.Pair) error {
	search, tag, row, err := p.x.splitPosting(pair.Key)
	if err != nil {
		return err
	}
	if !bytes.Equal(search, p.search) {
		p.search, p.deltas, p.known = search, p.deltas[:0], false
	}
	if tag == tagDelta {
		gone, err := isGone(pair.Key, pair.Val)
		if err != nil {
			return err
		}
		if !p.known {
			p.deltas = append(p.deltas, row)
		}
		if !gone {
			p.emit(search, row)
		}
		return nil
	}
	if p.rev && !p.known {
		if err := p.readDeltas(); err != nil {
			return err
		}
	}
	if len(p.deltas) == 0 && p.into != nil && p.into.keys == nil {
		var ok bool
		if p.into.words, ok, err = codec.PostingWords(pair.Key, pair.Val, p.into.words, &p.into.width); ok || err != nil {
			return err
		}
	}
	if len(p.deltas) == 0 {
		return codec.OpenPosting(pair.Key, pair.Val, p.prefix(search), &p.keys)
	}
	p.rows.Reset()
	if err := codec.OpenPosting(pair.Key, pair.Val, nil, &p.rows); err != nil {
		return err
	}
	for i := range p.rows.Len() {
		row := p.rows.Key(i)
		if _, has := slices.BinarySearchFunc(p.deltas, row, bytes.Compare); !has {
			p.emit(search, row)
		}
	}
	return nil
}

func (p *postings) emit(search, row []byte) {
	p.keys.Add(func(dst []byte) []byte { return append(append(dst, p.prefix(search)...), row...) })
}

// prefix is what a row key comes behind.
func (p *postings) prefix(search []byte) []byte {
	if p.bare {
		return nil
	}
	return search
}

// readDeltas reads the deltas of the list ahead of its chunks, which come first
// in a reverse scan.
func (p *postings) readDeltas() error {
	p.known = true
	it := p.r.Scan(p.ctx, p.x.space, kv.Prefix(append(bytes.Clone(p.search), tagDelta)), kv.ScanOpt{KeysOnly: true})
	defer it.Close()
	for {
		pairs, err := it.Next()
		if err != nil || len(pairs) == 0 {
			return err
		}
		for _, pair := range pairs {
			p.deltas = append(p.deltas, pair.Key[len(p.search)+1:])
		}
	}
}

func (p *postings) Close() {
	p.it.Close()
	if p.postingBufs != nil {
		clear(p.out[:p.most])
		clear(p.list[:p.most])
		p.most = 0
		postingPool.Put(p.postingBufs)
		p.postingBufs = nil
	}
}
