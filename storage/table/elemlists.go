package table

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// longList is how many row keys of a list are read for each row that the lists before
// it leave: so many cost about what it costs to get a row and to look at it.
const longList = 8

// denseList is how many of those rows, the first ones, a list has that is taken to have
// all of them.
const denseList = 8

// elementList is the posting list of one element, or of several, as it is read.
type elementList struct {
	its   []*postings // those not ended
	rows  listedRows  // ascending, when it has ended
	ended bool
	next  int // rows of the next batch, about
}

// listedRows are keys of rows: as numbers, if all of them are equally long and short enough,
// which are sorted and compared without following pointers.
type listedRows struct {
	words []uint64
	width int // bytes of each of words
	keys  [][]byte
}

func (k *listedRows) len() int { return len(k.words) + len(k.keys) }

// add appends keys, and takes their memory over if it keeps them as they are.
func (k *listedRows) add(buf *codec.KeyBuf) {
	if k.keys == nil {
		var ok bool
		if k.words, ok = buf.Words(k.words, &k.width); ok {
			return
		}
		k.spell()
	}
	k.keys = buf.Keys(k.keys)
	buf.Leave()
}

// spell turns numbers into keys.
func (k *listedRows) spell() {
	mem := make([]byte, 0, len(k.words)*k.width)
	k.keys = slices.Grow(k.keys, len(k.words))
	var b [8]byte
	for _, w := range k.words {
		binary.BigEndian.PutUint64(b[:], w)
		n := len(mem)
		mem = append(mem, b[8-k.width:]...)
		k.keys = append(k.keys, mem[n:len(mem):len(mem)])
	}
	k.words = nil
}

// sort brings the keys into order, each once.
func (k *listedRows) sort() {
	if !slices.IsSorted(k.words) {
		slices.Sort(k.words)
	}
	k.words = slices.Compact(k.words)
	if !slices.IsSortedFunc(k.keys, bytes.Compare) {
		slices.SortFunc(k.keys, bytes.Compare)
	}
	k.keys = slices.CompactFunc(k.keys, bytes.Equal)
}

// alike makes the keys of lists numbers of one width, or none of them numbers.
func alike(lists []*elementList) {
	width := 0
	for _, l := range lists {
		switch {
		case l.rows.len() == 0:
			continue
		case l.rows.keys != nil, width > 0 && width != l.rows.width:
			for _, l := range lists {
				l.rows.spell()
			}
			return
		}
		width = l.rows.width
	}
}

// read takes the next batch.
func (l *elementList) read() error {
	if len(l.its) == 0 {
		l.ended = true
		l.rows.sort() // deltas come first
		return nil
	}
	it := l.its[0]
	l.next = min(max(2*l.next, firstPostings), enoughPostings)
	it.into, it.enough = &l.rows, l.next
	before := l.rows.len()
	if err := it.fill(); err != nil {
		return err
	}
	switch {
	case it.keys.Len() > 0:
		l.rows.add(&it.keys)
	case l.rows.len() == before:
		it.Close()
		if l.its = l.its[1:]; len(l.its) == 0 {
			return l.read()
		}
	}
	return nil
}

// gather collects the row keys of lists of an index by elements of one of its columns,
// as points of the master file: those of rows in one of the lists, or, with all, a
// superset of those in all of them, of which long lists are not read to their end unless
// the spec wants just what is listed.
func (d *Desc) gather(ctx context.Context, r Reader, x *index, spec *ScanSpec) (spanSet, error) {
	ranges, column, all := spec.Ranges, spec.ElemKey, spec.Intersect
	if ranges == nil {
		return spanSet{}, sqlerr.New(sqlerr.InternalError, "index \"%s\" does not have all rows", x.cat.Name)
	}
	lists := make([]*elementList, 0, len(ranges))
	defer func() {
		for _, l := range lists {
			for _, it := range l.its {
				it.Close()
			}
		}
	}()
	for i, group := 0, spec.Groups; i < len(ranges); {
		n := 1
		if group != nil {
			n, group = group[0], group[1:]
		}
		l := &elementList{}
		for end := i + n; i < end; i++ {
			if span, ok := x.elementSpan(column, &ranges[i]); ok {
				it := openPostings(ctx, r, x, span, kv.ScanOpt{})
				it.bare = true
				l.its = append(l.its, it)
			}
		}
		switch {
		case l.its != nil:
			lists = append(lists, l)
		case all:
			return spanSet{points: [][]byte{}}, nil
		}
	}
	var rows listedRows
	var err error
	if all {
		rows, err = inAll(lists, spec.Listed)
	} else {
		rows, err = inAny(lists)
	}
	if err != nil {
		return spanSet{}, err
	}
	rows.spell()
	if rows.keys == nil {
		rows.keys = [][]byte{} // no point, rather than no list of points
	}
	return spanSet{points: rows.keys}, nil
}

// inAny returns the rows of all lists.
func inAny(lists []*elementList) (rows listedRows, err error) {
	for _, l := range lists {
		for !l.ended {
			if err := l.read(); err != nil {
				return listedRows{}, err
			}
		}
	}
	alike(lists)
	for i, l := range lists {
		if i == 0 {
			rows = l.rows
			continue
		}
		if rows.width == 0 {
			rows.width = l.rows.width
		}
		rows.words = append(rows.words, l.rows.words...)
		rows.keys = append(rows.keys, l.rows.keys...)
	}
	if len(lists) > 1 {
		rows.sort()
	}
	return rows, nil
}

// inAll reads the lists side by side, and leaves of the rows of the first one that ends
// those that the others have as well, apart from lists so long, or with so many of these
// rows, that it is quicker to look at the rows themselves; whole: of all lists.
func inAll(lists []*elementList, whole bool) (listedRows, error) {
	var least *elementList
	for open := slices.Clone(lists); len(open) > 0; {
		for _, l := range open {
			if l.ended || !whole && l.dispensable(least) {
				continue
			}
			if err := l.read(); err != nil {
				return listedRows{}, err
			}
			if l.ended && least == nil {
				least = l
			}
		}
		if least == nil {
			continue
		}
		open = slices.DeleteFunc(open, func(l *elementList) bool {
			if l.ended && l != least {
				alike([]*elementList{least, l})
				least.rows.words = common(least.rows.words, l.rows.words, cmp.Compare)
				least.rows.keys = common(least.rows.keys, l.rows.keys, bytes.Compare)
			}
			return l.ended || least.rows.len() == 0 || !whole && l.dispensable(least)
		})
	}
	if least == nil {
		return listedRows{}, nil
	}
	return least.rows, nil
}

// dispensable reports whether a list need not be read on to find which of the rows of
// another one, which is nil as long as none has ended, it has.
func (l *elementList) dispensable(least *elementList) bool {
	if least == nil {
		return false
	}
	if l.rows.len() >= longList*least.rows.len() {
		return true
	}
	read := l.rows.words
	if len(read) == 0 || l.rows.width != least.rows.width || !slices.IsSorted(read) { // with deltas in front
		return false
	}
	first := least.rows.words[:min(denseList, len(least.rows.words))]
	return len(first) == denseList && first[denseList-1] <= read[len(read)-1] && !slices.ContainsFunc(first, func(row uint64) bool {
		_, has := slices.BinarySearch(read, row)
		return !has
	})
}

// common leaves of ascending keys those that are among others, ascending as well.
func common[T any](keys, others []T, compare func(a, b T) int) []T {
	n, at := 0, 0
	for _, key := range keys {
		c := 1
		for at < len(others) {
			if c = compare(others[at], key); c >= 0 {
				break
			}
			at++
		}
		if at == len(others) {
			break
		}
		if c == 0 {
			keys[n] = key
			n++
		}
	}
	clear(keys[n:])
	return keys[:n]
}
