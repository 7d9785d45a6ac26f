package table

import (
	"errors"

	"github.com/zeebo/xxh3"

	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// An inverted index is right if its postings are those that the rows make: each row
// in the lists of its keys, once, and in no other. Lists and rows are read in orders
// that have nothing to do with each other; so that neither has to be kept, the
// hashes of both sides' postings are added up and compared. Only where the sums
// differ are the postings themselves compared, a part of them at a time.

// postingSum stands for a set of postings, in any order.
type postingSum struct {
	n      int
	lo, hi uint64
}

func (s *postingSum) add(key []byte) {
	h := xxh3.Hash128(key)
	s.n++
	s.lo += h.Lo
	s.hi += h.Hi
}

// eachPosting calls f with the postings of a row, search key and row key, in memory
// that is used again.
func (x *index) eachPosting(cols []*vec.Vec, row []byte, f func(key []byte)) error {
	var buf codec.KeyBuf
	if err := x.entryKeys(&buf, cols, 0, row); err != nil {
		return err
	}
	var key []byte
	for k := range buf.Len() {
		search, _, _, err := x.splitPosting(buf.Key(k))
		if err != nil {
			return err
		}
		key = append(append(key[:0], search...), row...)
		f(key)
	}
	return nil
}

// eachListed calls f with chunks of the postings in an inverted index.
func (c *checker) eachListed(x *index, f func(pairs []kv.Pair) error) error {
	it := c.d.scanFile(c.ctx, c.r, x, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	for {
		pairs, err := it.Next()
		if err != nil || len(pairs) == 0 {
			return err
		}
		if err := f(pairs); err != nil {
			return err
		}
	}
}

// postings checks the lists of an inverted index against the rows.
func (c *checker) postings(i int, x *index) error {
	var have postingSum
	err := c.eachListed(x, func(pairs []kv.Pair) error {
		for _, p := range pairs {
			have.add(p.Key)
		}
		if c.computes(x) {
			return nil
		}
		rows := make([][]byte, len(pairs))
		for k, p := range pairs {
			var err error
			if rows[k], err = x.masterKey(p.Key, codec.Entry{}); err != nil {
				return err
			}
		}
		vals, err := c.r.BatchGet(c.ctx, c.d.space, rows)
		for k, v := range vals {
			if v == nil {
				c.fault(x.space, pairs[k].Key, "posting without a row")
			}
		}
		return err
	})
	if errors.Is(err, kv.ErrCorrupt) {
		c.fault(x.space, nil, "%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	if !x.elements && x.cat.Where == "" && have.n != c.rows {
		c.fault(x.space, nil, "%d postings for %d rows", have.n, c.rows)
	}
	if !c.computes(x) || have == c.wanted[i] {
		return nil
	}
	parts := uint64(1 + max(have.n, c.wanted[i].n)/postingsAtOnce)
	for part := range parts {
		if err := c.comparePostings(i, x, func(key []byte) bool { return xxh3.Hash(key)%parts == part }); err != nil {
			return err
		}
	}
	return nil
}

// postingsAtOnce is how many postings are kept to find the faulty ones.
const postingsAtOnce = 1 << 20

// comparePostings tells which of the postings that in selects are too many or too
// few.
func (c *checker) comparePostings(i int, x *index, in func(key []byte) bool) error {
	wanted := map[string]bool{}
	quiet := &checker{ctx: c.ctx, r: c.r, d: c.d, values: c.values, report: func(Problem) {}} // rows were checked before
	err := c.each(c.d.space, func(pairs []kv.Pair) error {
		for _, p := range c.d.keep(pairs) {
			var m image
			if !quiet.decodeRow(&m, p.Key, p.Val) {
				continue
			}
			cols, pred, err := m.indexed(i)
			if err == nil && isTrue(pred, 0) {
				err = x.eachPosting(cols, p.Key, func(key []byte) {
					if in(key) {
						wanted[string(key)] = true
					}
				})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.eachListed(x, func(pairs []kv.Pair) error {
		for _, p := range pairs {
			if !in(p.Key) {
				continue
			}
			if !wanted[string(p.Key)] {
				c.fault(x.space, p.Key, "posting without a row, or twice")
			}
			delete(wanted, string(p.Key))
		}
		return nil
	})
	for key := range wanted {
		c.fault(x.space, []byte(key), "a row is not in the list of index \"%s\"", x.cat.Name)
	}
	return err
}
