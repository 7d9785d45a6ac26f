package table

import (
	"bytes"
	"context"
	"slices"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/storage/kv"
)

// longList is how many row keys of a list are read for each row that the lists before
// it leave: so many cost about what it costs to get a row and to look at it.
const longList = 8

// elementList is the posting list of one element, as it is read.
type elementList struct {
	it    *postings
	rows  [][]byte // row keys, when it has ended ascending
	ended bool
}

// read takes the next batch.
func (l *elementList) read() error {
	pairs, err := l.it.Next()
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		l.ended = true
		slices.SortFunc(l.rows, bytes.Compare) // deltas come first
		l.rows = slices.CompactFunc(l.rows, bytes.Equal)
		return nil
	}
	for _, p := range pairs {
		l.rows = append(l.rows, p.Key)
	}
	return nil
}

// gather collects the row keys of lists of an index by elements of one of its columns,
// as points of the master file: those of rows in one of the lists, or, with all, a
// superset of those in all of them, of which long lists are not read to their end.
func (d *Desc) gather(ctx context.Context, r Reader, x *index, ranges []types.Range, column int, all bool) (spanSet, error) {
	if ranges == nil {
		return spanSet{}, sqlerr.New(sqlerr.InternalError, "index \"%s\" does not have all rows", x.cat.Name)
	}
	lists := make([]*elementList, 0, len(ranges))
	defer func() {
		for _, l := range lists {
			l.it.Close()
		}
	}()
	for i := range ranges {
		span, ok := x.elementSpan(column, &ranges[i])
		if !ok && all {
			return spanSet{points: [][]byte{}}, nil
		}
		if ok {
			it := openPostings(ctx, r, x, span, kv.ScanOpt{})
			it.bare = true
			lists = append(lists, &elementList{it: it})
		}
	}
	collect := inAny
	if all {
		collect = inAll
	}
	rows, err := collect(lists)
	if rows == nil {
		rows = [][]byte{} // no point, rather than no list of points
	}
	return spanSet{points: rows}, err
}

// inAny returns the rows of all lists.
func inAny(lists []*elementList) (rows [][]byte, err error) {
	for _, l := range lists {
		for !l.ended {
			if err := l.read(); err != nil {
				return nil, err
			}
		}
		rows = append(rows, l.rows...)
	}
	if len(lists) == 1 {
		return rows, nil
	}
	slices.SortFunc(rows, bytes.Compare)
	return slices.CompactFunc(rows, bytes.Equal), nil
}

// inAll reads the lists side by side until the first one ends, and leaves of its rows
// those that the others have as well, apart from lists so long that it is quicker to
// look at the rows themselves.
func inAll(lists []*elementList) ([][]byte, error) {
	var least *elementList
	for least == nil && len(lists) > 0 {
		for _, l := range lists {
			if err := l.read(); err != nil {
				return nil, err
			}
			if l.ended && (least == nil || len(l.rows) < len(least.rows)) {
				least = l
			}
		}
	}
	if least == nil {
		return nil, nil
	}
	rows := least.rows
	for _, l := range lists {
		for !l.ended && len(l.rows) < longList*len(rows) {
			if err := l.read(); err != nil {
				return nil, err
			}
		}
		if l != least && l.ended {
			rows = common(rows, l.rows)
		}
	}
	return rows, nil
}

// common leaves of ascending keys those that are among others, ascending as well.
func common(keys, others [][]byte) [][]byte {
	return slices.DeleteFunc(keys, func(key []byte) bool {
		for len(others) > 0 && bytes.Compare(others[0], key) < 0 {
			others = others[1:]
		}
		return len(others) == 0 || !bytes.Equal(others[0], key)
	})
}
