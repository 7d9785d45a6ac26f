package table

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kvsqld/catalog"
	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// InspectOpt says how much Inspect prints.
type InspectOpt struct {
	Limit int // pairs of each file; 0: all
	Width int // characters of a key, a value or its bytes; 0: all
	// Beside are other tables that are stored in the same file: their rows are readable,
	// too, behind the table's name.
	Beside []*Desc
}

// Inspect prints keys and values of the master file (ix nil) or an index, readable
// beside raw, and the totals of what it printed. Damaged values are shown with what
// is wrong.
func (d *Desc) Inspect(ctx context.Context, r Reader, ix *catalog.Index, o InspectOpt, w io.Writer) error {
	if err := d.stored(); err != nil {
		return err
	}
	x, err := d.index(ix)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	pretty := func(p kv.Pair) (string, string) {
		if own := d.ownerOf(p.Key, o.Beside); x == nil && own != d {
			k, v := own.prettyPair(nil, p.Key, p.Val)
			return own.Table.Name + " " + k, v
		}
		return d.prettyPair(ix, p.Key, p.Val)
	}
	if err := inspectFile(ctx, r, d.fileOf(x), o, out, pretty); err != nil {
		return err
	}
	if k := d.cluster(); k != nil && k.root != nil && x == nil {
		if err := inspectFile(ctx, r, d.regions(), o, out, prettyRegion); err != nil {
			return err
		}
	}
	if x == nil {
		for _, g := range d.groups {
			first := int64(1) // subscript of the array whose header came last
			pretty := func(p kv.Pair) (string, string) {
				if g.elements {
					return d.prettyElement(g, p, &first)
				}
				return d.prettyKey(p.Key), g.row.Pretty(p.Key, p.Val, g.names(d.Table))
			}
			if err := inspectFile(ctx, r, g.space, o, out, pretty); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// ownerOf returns the table that a key of a file of several tables belongs to, d itself
// where it is none of the others.
func (d *Desc) ownerOf(key []byte, others []*Desc) *Desc {
	for _, o := range others {
		if k := o.cluster(); o != d && k != nil && o.space == d.space && k.owns(o, key) {
			return o
		}
	}
	return d
}

// Totals prints one line for each of the table's files: its pairs, the bytes of
// their keys and values, and the average length of a value; for posting lists and
// columns stored by elements also how many there are and how long they are.
func (d *Desc) Totals(ctx context.Context, r Reader, w io.Writer) error {
	for _, sp := range d.files() {
		if err := fileTotals(ctx, r, sp, w, d.counter(sp)); err != nil {
			return err
		}
	}
	return nil
}

// SystemTotals prints the totals of the files that every store has: the catalog's
// fragments and the states of the sequences.
func SystemTotals(ctx context.Context, r Reader, w io.Writer) error {
	for _, sp := range []kv.Space{catalogSpace, sequenceSpace} {
		if err := fileTotals(ctx, r, sp, w, nil); err != nil {
			return err
		}
	}
	return nil
}

// listCounter counts the lists that a file is made of, and what is in them.
type listCounter struct {
	list, item   string // what they are called
	lists, items int
	take         func(c *listCounter, p kv.Pair) error
	last         []byte
}

// counter returns the counter for a file of the table, nil if it has no lists.
func (d *Desc) counter(sp kv.Space) *listCounter {
	for _, x := range d.indexes {
		if x.inverted && x.space.ID == sp.ID {
			return &listCounter{list: "lists", item: "rows", take: x.countPosting}
		}
	}
	for _, g := range d.groups {
		if g.elements && g.space.ID == sp.ID {
			return &listCounter{list: "values", item: "elements", take: d.countElement}
		}
	}
	return nil
}

// countPosting counts a list at its first pair, and its rows: a delta that takes a
// row out counts against the chunk that has it.
func (x *index) countPosting(c *listCounter, p kv.Pair) error {
	search, tag, _, err := x.splitPosting(p.Key)
	if err != nil {
		return corrupt(x.space, p.Key, err)
	}
	if c.last == nil || !bytes.Equal(search, c.last) {
		c.lists, c.last = c.lists+1, bytes.Clone(search)
	}
	if tag == tagChunk {
		var rows codec.KeyBuf
		if err := codec.OpenPosting(p.Key, p.Val, nil, &rows); err != nil {
			return corrupt(x.space, p.Key, err)
		}
		c.items += rows.Len()
		return nil
	}
	gone, err := isGone(p.Key, p.Val)
	if err != nil {
		return corrupt(x.space, p.Key, err)
	}
	if gone {
		c.items--
	} else {
		c.items++
	}
	return nil
}

func (d *Desc) countElement(c *listCounter, p kv.Pair) error {
	place, _, err := d.key.Skip(p.Key, d.key.Len())
	if err != nil {
		return err
	}
	if len(place) == 0 {
		c.lists++
	} else {
		c.items++
	}
	return nil
}

func fileTotals(ctx context.Context, r Reader, sp kv.Space, w io.Writer, c *listCounter) error {
	it := r.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	var n, keyBytes, valBytes int
	for {
		pairs, err := it.Next()
		if err != nil {
			return err
		}
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			n, keyBytes, valBytes = n+1, keyBytes+len(p.Key), valBytes+len(p.Val)
			if c != nil {
				if err := c.take(c, p); err != nil {
					return err
				}
			}
		}
	}
	lists := ""
	if c != nil {
		lists = fmt.Sprintf("; %d %s, %d %s, %.1f on average", c.lists, c.list, c.items, c.item, float64(c.items)/float64(max(c.lists, 1)))
	}
	_, err := fmt.Fprintf(w, "%s/%s: %d pairs, %d bytes of keys, %d bytes of values, %.1f on average%s\n",
		sp.DB, sp.File, n, keyBytes, valBytes, float64(valBytes)/float64(max(n, 1)), lists)
	return err
}

// inspectFile prints pairs of one file and their totals.
func inspectFile(ctx context.Context, r Reader, sp kv.Space, o InspectOpt, out *bufio.Writer, pretty func(kv.Pair) (k, v string)) error {
	limit := o.Limit
	if limit > 0 {
		limit++ // tells whether there is more
	}
	it := r.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{Limit: limit})
	defer it.Close()
	var n, keyBytes, valBytes int
	for {
		pairs, err := it.Next()
		if err != nil {
			return err
		}
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			if n == o.Limit && o.Limit > 0 {
				_, err := fmt.Fprintf(out, "%s: the first %d pairs, %d bytes of keys, %d bytes of values\n", sp.File, n, keyBytes, valBytes)
				return err
			}
			key, val := pretty(p)
			fmt.Fprintf(out, "%s → %s\n    %s → %s\n", o.cut(key), o.cut(val), o.cut(fmt.Sprintf("%x", p.Key)), o.cut(fmt.Sprintf("%x", p.Val)))
			n, keyBytes, valBytes = n+1, keyBytes+len(p.Key), valBytes+len(p.Val)
		}
	}
	_, err := fmt.Fprintf(out, "%s: %d pairs, %d bytes of keys, %d bytes of values\n", sp.File, n, keyBytes, valBytes)
	return err
}

// cut shortens a text that is too wide, saying by how much.
func (o InspectOpt) cut(s string) string {
	n := utf8.RuneCountInString(s)
	if o.Width <= 0 || n <= o.Width {
		return s
	}
	return string([]rune(s)[:o.Width]) + fmt.Sprintf("… (%d more)", n-o.Width)
}

// names are the columns of a group's values, "" for dropped ones.
func (g *groupFile) names(t *catalog.Table) []string {
	out := make([]string, len(g.cols))
	for a, c := range g.cols {
		if !t.Columns[c].Dropped {
			out[a] = t.Columns[c].Name
		}
	}
	return out
}

// prettyPair returns a pair of the master file (ix nil) or an index in readable
// form.
func (d *Desc) prettyPair(ix *catalog.Index, key, val []byte) (k, v string) {
	x, err := d.index(ix)
	if k := d.cluster(); x == nil && k != nil && !k.owns(d, key) {
		// A row of another table: of its key what the tables have in common can be told.
		return clusterPretty(key, "/…"), "a row of another table of the cluster"
	}
	if err != nil || x == nil {
		names := make([]string, d.row.Len())
		for c, a := range d.attrOf {
			if a >= 0 && d.liveOf[c] >= 0 {
				names[a] = d.Table.Columns[c].Name
			}
		}
		return d.prettyKey(key), d.row.Pretty(key, val, names)
	}
	if x.inverted {
		return d.prettyPosting(x, key, val)
	}
	out, rest := x.key.AppendPretty(nil, key)
	if len(rest) > 0 {
		out = append(append(out, " +"...), d.prettyKey(rest)...)
	}
	e, err := codec.OpenEntry(key, val)
	if err != nil {
		return string(out), "<" + err.Error() + ">"
	}
	v = "-"
	if e.Master != nil {
		v = d.prettyKey(e.Master)
	}
	if e.Include != nil {
		names := make([]string, len(x.cat.Include))
		for i, c := range x.cat.Include {
			names[i] = d.Table.Columns[c].Name
		}
		v += " " + x.include.PrettyInclude(e, names)
	}
	return string(out), v
}

// prettyElement shows the header or an element of a value: those of an array by their
// subscripts. first is that of the first element, which the header tells.
func (d *Desc) prettyElement(g *groupFile, p kv.Pair, first *int64) (k, v string) {
	out, place := d.key.AppendPretty(nil, p.Key)
	k = string(out)
	t := d.Table.Columns[g.cols[0]].Type
	if len(place) == 0 {
		head, err := codec.OpenBlob(p.Key, p.Val, codec.FormatHeader)
		if err != nil || len(head) == 0 {
			return k, "<" + codec.ErrCorrupt.Error() + ">"
		}
		switch rest := head[1:]; head[0] {
		case nullValue:
			return k, "NULL"
		case arrayValue:
			lower, n := binary.Varint(rest)
			*first = lower
			count, _ := binary.Uvarint(rest[max(n, 0):])
			return k, fmt.Sprintf("array of %d from %d", count, lower)
		case mapValue:
			count, _ := binary.Uvarint(rest)
			if t.Kind() == types.KHstore {
				return k, fmt.Sprintf("hstore of %d", count)
			}
			return k, fmt.Sprintf("object of %d", count)
		}
		return k, string(codec.AppendPretty(nil, types.Bytes(t, head[1:])))
	}
	if _, err := codec.Open(p.Key, p.Val); err != nil || len(place) < 4 {
		return k, g.row.Pretty(p.Key, p.Val, g.names(d.Table))
	}
	elem, _, err := g.row.Attr(p.Val, 0)
	if err != nil {
		return k, "<" + err.Error() + ">"
	}
	if t.Kind() == types.KArray {
		return k + " [" + strconv.FormatInt(*first+int64(binary.BigEndian.Uint32(place)), 10) + "]", string(codec.AppendPretty(nil, elem))
	}
	k += " " + strconv.Quote(string(place[4:]))
	if t.Kind() == types.KHstore {
		return k, string(codec.AppendPretty(nil, elem))
	}
	return k, string(memberValue(elem.B))
}

// memberValue is the value of a member of an object, given as "key": value.
func memberValue(member []byte) []byte {
	i := 1
	for i < len(member) && member[i] != '"' {
		if member[i] == '\\' {
			i++
		}
		i++
	}
	return bytes.TrimPrefix(member[min(i+1, len(member)):], []byte(": "))
}

// prettyPosting shows a delta or a chunk of a posting list.
func (d *Desc) prettyPosting(x *index, key, val []byte) (k, v string) {
	out, rest := x.prettySearch(d.Table, key)
	if len(rest) == 0 {
		return out, "<no kind of posting>"
	}
	if rest[0] == tagDelta {
		k = out + " +" + d.key.Pretty(rest[1:])
		gone, err := isGone(key, val)
		switch {
		case err != nil:
			return k, "<" + err.Error() + ">"
		case gone:
			return k, "gone"
		}
		return k, "-"
	}
	k = out + " from " + d.key.Pretty(rest[1:])
	var rows codec.KeyBuf
	if err := codec.OpenPosting(key, val, nil, &rows); err != nil {
		return k, "<" + err.Error() + ">"
	}
	list := make([]string, rows.Len())
	for i := range list {
		list[i] = d.key.Pretty(rows.Key(i))
	}
	return k, "[" + strings.Join(list, " ") + "]"
}

// prettyKey returns a row key in readable form.
func (d *Desc) prettyKey(key []byte) string {
	s := d.key.Pretty(slices.Clip(key))
	if d.cluster() == nil {
		return s
	}
	// The first column is the position's code, which says more as a cell.
	rest := ""
	if i := strings.IndexByte(s[min(1, len(s)):], '/'); i >= 0 {
		rest = s[i+1:]
	}
	return clusterPretty(key, rest)
}

// clusterPretty shows a row key of a cluster: cell, place in the cell, what follows.
func clusterPretty(key []byte, rest string) string {
	if len(key) < 8 {
		return fmt.Sprintf("<%x>", key)
	}
	code := binary.BigEndian.Uint64(key)
	if code == spatial.NullCode {
		return "/no position" + rest
	}
	return fmt.Sprintf("/%s.%08x%s", spatial.RegionOf(code, 0), uint32(code), rest)
}

// prettyRegion shows a pair of a Regions file.
func prettyRegion(p kv.Pair) (k, v string) {
	x, region, err := openRegion(p.Key, p.Val)
	if err != nil {
		return region.String(), "<" + err.Error() + ">"
	}
	if x.Unplaced {
		return x.ID, "rows without a position"
	}
	return x.ID, fmt.Sprintf("UpperLeftLat %g, UpperLeftLong %g, LowerRightLat %g, LowerRightLong %g", x.Box.North, x.Box.West, x.Box.South, x.Box.East)
}
