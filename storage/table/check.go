package table

import (
	"bytes"
	"context"
	"fmt"

	"kvsqld/catalog"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Problem is a fault that Check found.
type Problem struct {
	Table, File string
	Key         []byte // raw key, nil when the fault is not about one
	Text        string
}

func (p Problem) String() string {
	if p.Key == nil {
		return fmt.Sprintf("table %s, file %s: %s", p.Table, p.File, p.Text)
	}
	return fmt.Sprintf("table %s, file %s, key %x: %s", p.Table, p.File, p.Key, p.Text)
}

// RowValues computes the expressions and predicates of a table's indexes for live columns.
type RowValues func(live *vec.Batch) ([]IndexVals, error)

// Check verifies tables (B1, B2): keys and rows decode, checksums hold, every
// index entry has its row with the same key, and every row its entries. values gives
// what computes indexes' expressions and predicates. Where it, or its result, is nil,
// such an index is checked for entries without a row, and without a predicate also for
// their number. The error is one of reading; faults are reported.
func (db *DB) Check(ctx context.Context, r Reader, tables []*catalog.Table, values func(t *catalog.Table) (RowValues, error), report func(Problem)) error {
	for _, t := range tables {
		if t.Partitioned() {
			continue
		}
		d, err := db.For(t)
		if err != nil {
			return err
		}
		c := &checker{ctx: ctx, r: r, d: d, report: report, wanted: make([]postingSum, len(d.indexes)), entries: make([]int, len(d.indexes))}
		if values != nil {
			if c.values, err = values(t); err != nil {
				return err
			}
		}
		if err := c.table(); err != nil {
			return err
		}
	}
	return nil
}

// CheckFiles verifies that the store has exactly the files of the tables (all
// tables of all databases) and those that every store has.
func (db *DB) CheckFiles(ctx context.Context, tables []*catalog.Table, report func(Problem)) error {
	type name struct{ db, file string }
	wanted := map[name]string{
		{catalogSpace.DB, catalogSpace.File}:   "",
		{sequenceSpace.DB, sequenceSpace.File}: "",
	}
	for _, t := range tables {
		d, err := db.For(t)
		if err != nil {
			return err
		}
		for _, sp := range d.files() {
			wanted[name{sp.DB, sp.File}] = t.Name
		}
	}
	s, err := db.store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	stored, err := s.Spaces(ctx)
	if err != nil {
		return err
	}
	scratch, err := scratchFiles(ctx, s)
	if err != nil {
		return err
	}
	ours := map[name]bool{{scratchSpace.DB, scratchSpace.File}: true} // which stores of older versions lack
	for _, sp := range scratch {
		ours[name{sp.DB, sp.File}] = true
	}
	for _, sp := range stored {
		if _, ok := wanted[name{sp.DB, sp.File}]; !ok && !ours[name{sp.DB, sp.File}] {
			report(Problem{File: sp.DB + "/" + sp.File, Text: "belongs to no table"})
		}
		delete(wanted, name{sp.DB, sp.File})
	}
	for n, table := range wanted {
		report(Problem{Table: table, File: n.db + "/" + n.file, Text: "is missing"})
	}
	return nil
}

type checker struct {
	ctx    context.Context
	r      Reader
	d      *Desc
	report func(Problem)
	values RowValues
	rows   int

	// By index:
	wanted  []postingSum // what inverted ones should have
	entries []int        // how many the others should have
}

func (c *checker) fault(sp kv.Space, key []byte, format string, args ...any) {
	c.report(Problem{Table: c.d.Table.Name, File: sp.File, Key: bytes.Clone(key), Text: fmt.Sprintf(format, args...)})
}

// each calls f for chunks of pairs of a file.
func (c *checker) each(sp kv.Space, f func(pairs []kv.Pair) error) error {
	it := c.r.Scan(c.ctx, sp, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	for {
		pairs, err := it.Next()
		if err != nil {
			return err
		}
		if len(pairs) == 0 {
			return nil
		}
		if err := f(pairs); err != nil {
			return err
		}
	}
}

func (c *checker) table() error {
	if err := c.each(c.d.space, c.masterChunk); err != nil {
		return err
	}
	for _, g := range c.d.groups {
		if g.elements {
			if err := c.each(g.space, func(pairs []kv.Pair) error { return c.elementChunk(g, pairs) }); err != nil {
				return err
			}
			continue
		}
		values := 0
		err := c.each(g.space, func(pairs []kv.Pair) error {
			values += len(pairs)
			return c.groupChunk(g, pairs)
		})
		if err != nil {
			return err
		}
		if g.full && values != c.rows {
			c.fault(g.space, nil, "%d values for %d rows, each of which has one", values, c.rows)
		}
	}
	for i, x := range c.d.indexes {
		if x.master {
			continue
		}
		if x.inverted {
			if err := c.postings(i, x); err != nil {
				return err
			}
			continue
		}
		entries, wanted := 0, c.entries[i]
		err := c.each(x.space, func(pairs []kv.Pair) error {
			entries += len(pairs)
			return c.indexChunk(i, pairs)
		})
		if err != nil {
			return err
		}
		if !c.computes(x) {
			if x.cat.Where != "" {
				continue
			}
			wanted = c.rows
		}
		if !x.cat.Invalid && entries != wanted {
			c.fault(x.space, nil, "%d entries for %d rows", entries, wanted)
		}
	}
	return nil
}

// decodeRow decodes all live columns of a row into m and reports whether it could.
func (c *checker) decodeRow(m *image, key, val []byte) bool {
	d := c.d
	var dec decoder
	dec.init(d, d.Live)
	dec.values = true
	var b vec.Batch
	dec.prepare(&b, 1)
	if err := dec.rows(c.ctx, c.r, &b, 0, [][]byte{key}, [][]byte{val}); err != nil {
		c.fault(d.space, key, "%v", err)
		return false
	}
	if rest, _, err := d.key.Skip(key, d.key.Len()); err != nil || len(rest) > 0 {
		c.fault(d.space, key, "not a key of this table")
		return false
	}
	b.N = 1
	var ix []IndexVals
	if c.values != nil {
		var err error
		if ix, err = c.values(&b); err != nil {
			c.fault(d.space, key, "an index's expression: %v", err)
			return false
		}
	}
	if err := m.set(d, &b, ix); err != nil {
		c.fault(d.space, key, "%v", err)
		return false
	}
	return true
}

// computes reports whether it is known what entries a row has in an index.
func (c *checker) computes(x *index) bool { return c.values != nil || x.plain() }

// plain reports whether the index's entries follow from the columns alone.
func (x *index) plain() bool {
	for _, k := range x.cat.Keys {
		if k.Col < 0 {
			return false
		}
	}
	return x.cat.Where == ""
}

// masterChunk checks rows and that each has its entries.
func (c *checker) masterChunk(pairs []kv.Pair) error {
	d := c.d
	wanted := make([][][]byte, len(d.indexes))
	pairs = d.keep(pairs)
	c.rows += len(pairs)
	for _, p := range pairs {
		var m image
		if !c.decodeRow(&m, p.Key, p.Val) {
			continue
		}
		if d.columns() != nil {
			m.r = c.r
			if _, err := d.assign(c.ctx, d, &m, []uint32{0}); err != nil {
				c.fault(d.space, p.Key, "%v", err)
			} else if !bytes.Equal(m.list[0], p.Key) {
				c.fault(d.space, p.Key, "row belongs under key %x", m.list[0])
			}
		}
		for i, x := range d.indexes {
			if x.master || !c.computes(x) {
				continue
			}
			cols, pred, err := m.indexed(i)
			if err != nil {
				return err
			}
			if !isTrue(pred, 0) {
				continue
			}
			c.entries[i]++
			if x.inverted {
				if err := x.eachPosting(cols, p.Key, c.wanted[i].add); err != nil {
					return err
				}
				continue
			}
			wanted[i] = append(wanted[i], x.entryKey(nil, cols, 0, p.Key))
		}
	}
	for i, keys := range wanted {
		if len(keys) == 0 {
			continue
		}
		vals, err := c.r.BatchGet(c.ctx, d.indexes[i].space, keys)
		if err != nil {
			return err
		}
		for j, v := range vals {
			if v == nil && !d.indexes[i].cat.Invalid {
				c.fault(d.indexes[i].space, keys[j], "a row has no entry in index \"%s\"", d.indexes[i].cat.Name)
			}
		}
	}
	return nil
}

// elementChunk checks that headers and elements belong to rows. That they make
// whole values follows from decoding the rows.
func (c *checker) elementChunk(g *groupFile, pairs []kv.Pair) error {
	rows := make([][]byte, len(pairs))
	for i, p := range pairs {
		rest, _, err := c.d.key.Skip(p.Key, c.d.key.Len())
		if err != nil {
			c.fault(g.space, p.Key, "%v", err)
		}
		rows[i] = p.Key[:len(p.Key)-len(rest)]
		if len(rest) > 0 && len(rest) < 4 {
			c.fault(g.space, p.Key, "not a key of an element")
		}
	}
	masters, err := c.r.BatchGet(c.ctx, c.d.space, rows)
	if err != nil {
		return err
	}
	for i, m := range masters {
		if m == nil {
			c.fault(g.space, pairs[i].Key, "element without a row")
		}
	}
	return nil
}

// groupChunk checks that values of an attribute file belong to rows, are whole and
// have something to say.
func (c *checker) groupChunk(g *groupFile, pairs []kv.Pair) error {
	keys, vals := make([][]byte, len(pairs)), make([][]byte, 1)
	for i, p := range pairs {
		keys[i] = p.Key
	}
	masters, err := c.r.BatchGet(c.ctx, c.d.space, keys)
	if err != nil {
		return err
	}
	var rows codec.Rows
	for i, p := range pairs {
		if masters[i] == nil {
			c.fault(g.space, p.Key, "value without a row")
		}
		vals[0] = p.Val
		if _, err := g.row.Load(&rows, keys[i:i+1], vals); err != nil {
			c.fault(g.space, p.Key, "%v", err)
			continue
		}
		null := !g.always
		for a := range g.cols {
			d, ok, err := g.row.Attr(p.Val, a)
			if err != nil {
				c.fault(g.space, p.Key, "%v", err)
			}
			null = null && (!ok || d.Null)
		}
		if null {
			c.fault(g.space, p.Key, "value of NULLs alone, which should be absent")
		}
	}
	return nil
}

// indexChunk checks that entries are whole and belong to rows.
func (c *checker) indexChunk(i int, pairs []kv.Pair) error {
	d, x := c.d, c.d.indexes[i]
	var keys, masters [][]byte
	search := make([]types.Datum, x.n)
	for _, p := range pairs {
		e, err := codec.OpenEntry(p.Key, p.Val)
		if err == nil {
			_, err = x.key.Decode(p.Key, search)
		}
		var m []byte
		if err == nil {
			m, err = x.masterKey(p.Key, e)
		}
		if err != nil {
			c.fault(x.space, p.Key, "%v", err)
			continue
		}
		keys, masters = append(keys, p.Key), append(masters, m)
	}
	vals, err := c.r.BatchGet(c.ctx, d.space, masters)
	if err != nil {
		return err
	}
	for j, v := range vals {
		if v == nil {
			c.fault(x.space, keys[j], "entry without a row (master key %s)", d.key.Pretty(masters[j]))
			continue
		}
		var m image
		if !c.computes(x) || !c.decodeRow(&m, masters[j], v) {
			continue
		}
		cols, pred, err := m.indexed(i)
		if err != nil {
			return err
		}
		if !isTrue(pred, 0) {
			c.fault(x.space, keys[j], "entry of a row that the index's predicate leaves out")
			continue
		}
		if want := x.entryKey(nil, cols, 0, masters[j]); !bytes.Equal(want, keys[j]) {
			c.fault(x.space, keys[j], "the row's entry belongs under key %x", want)
		}
	}
	return nil
}
