package table

import (
	"context"
	"encoding/binary"
	"slices"

	"kvsqld/catalog/spatial"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// The Regions file of a cluster says into which regions the Earth is divided: key
// = region (8 bytes code, 1 byte depth), value = UpperLeftLat, UpperLeftLong,
// LowerRightLat, LowerRightLong. A cell gets its region with its first row; a
// region with more than Cluster.MaxRows rows of the root becomes four. As the keys
// of the rows follow from the grid alone, dividing a region writes five pairs here
// and nothing else; and a reader needs the file only to tell about regions.
//
// Concurrency. Changes to the regions of one cell are made under the exclusive
// lock of the cell's own key, and only if it is free and has not changed since the
// snapshot: otherwise somebody else is at it, and a later row divides the region.

// Region is an entry of a Regions file.
type Region struct {
	ID       string
	Box      spatial.Box
	Unplaced bool // the rows without a position; there is no box
	// Rows counts the root's rows; Keys all pairs of the range, of all tables.
	Rows, Keys int
}

var regionRow = codec.NewRowCodec([]types.T{types.TFloat8, types.TFloat8, types.TFloat8, types.TFloat8})

// regions is the Regions file of a root.
func (d *Desc) regions() kv.Space {
	k := d.Table.Cluster
	return kv.Space{ID: uint64(k.Regions), DB: d.space.DB, File: fileName(k.File, k.Regions)}
}

func regionKey(r spatial.Region) []byte {
	return append(binary.BigEndian.AppendUint64(nil, r.Lo), byte(r.Depth))
}

func openRegionKey(key []byte) (spatial.Region, error) {
	if len(key) != 9 || key[8] > spatial.MaxDepth {
		return spatial.Region{}, codec.ErrCorrupt
	}
	return spatial.Region{Lo: binary.BigEndian.Uint64(key), Depth: int(key[8])}, nil
}

// regionWriter finds the regions of rows that are written, one after the other.
type regionWriter struct {
	codes []uint64
	row   []*vec.Vec
	// known are regions that the statement has met: true for those that there are,
	// false for those that were divided. What others do to them meanwhile is no
	// matter: they are only counted, and cellLock says whether they may be changed.
	known map[spatial.Region]bool
	asked int  // regions that were looked for in the file
	all   bool // known has the whole file, and nothing is looked for any more
}

// loadRegionsFrom is how many regions a statement looks for, one after the other,
// before it reads all of them.
const loadRegionsFrom = 256

// forget is called between statements.
func (x *regionWriter) forget() { x.known, x.asked, x.all = nil, 0, false }

// add notes a region, and that those around it were divided.
func (x *regionWriter) add(r spatial.Region) {
	if x.known == nil {
		x.known = make(map[spatial.Region]bool)
	}
	x.known[r] = true
	if r == spatial.NullRegion {
		return
	}
	for d := range r.Depth {
		x.known[spatial.RegionOf(r.Lo, d)] = false
	}
}

// find returns the region of a code among those that are known.
func (x *regionWriter) find(code uint64) (spatial.Region, bool) {
	for d := 0; d <= spatial.MaxDepth; d++ {
		r := spatial.RegionOf(code, d)
		if there, ok := x.known[r]; there || !ok {
			return r, there
		}
	}
	return spatial.Region{}, false
}

// countRegions makes the regions of the new image's rows and divides those that
// have grown too large. It does nothing for tables other than a cluster's root.
func (w *Writer) countRegions(ctx context.Context, sel []uint32, skip []bool) error {
	k := w.d.cluster()
	if k == nil || k.root == nil {
		return nil
	}
	x := &w.regions
	x.codes = x.codes[:0]
	for i := range sel {
		if skip == nil || !skip[i] {
			x.codes = append(x.codes, binary.BigEndian.Uint64(w.new.list[i]))
		}
	}
	slices.Sort(x.codes)
	for i := 0; i < len(x.codes); {
		r, made, err := w.region(ctx, x.codes[i])
		if err != nil {
			return err
		}
		n := i + 1
		for hi := r.Range().Hi; n < len(x.codes) && x.codes[n] <= hi; n++ {
		}
		if err := w.grow(ctx, r, n-i, made); err != nil {
			return err
		}
		i = n
	}
	return nil
}

// region returns the region that holds a code; made tells that there was none.
func (w *Writer) region(ctx context.Context, code uint64) (r spatial.Region, made bool, err error) {
	x := &w.regions
	if r, ok := x.find(code); ok {
		return r, false, nil
	}
	cell := spatial.RegionOf(code, 0)
	if !x.all && cell != spatial.NullRegion {
		if r, ok, err := w.lookForRegion(ctx, code); ok || err != nil {
			return r, false, err
		}
	}
	made, err = w.makeRegion(ctx, cell)
	return cell, made, err
}

// lookForRegion finds the region of a code in the file, and then knows it.
func (w *Writer) lookForRegion(ctx context.Context, code uint64) (spatial.Region, bool, error) {
	x := &w.regions
	if x.asked++; x.asked < loadRegionsFrom {
		r, ok, err := w.d.regionOf(ctx, w.tx, code)
		if ok {
			x.add(r)
		}
		return r, ok, err
	}
	sp := w.d.regions()
	it := w.tx.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{KeysOnly: true})
	defer it.Close()
	for {
		pairs, err := it.Next()
		if err != nil {
			return spatial.Region{}, false, err
		}
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			r, err := openRegionKey(p.Key)
			if err != nil {
				return r, false, corrupt(sp, p.Key, err)
			}
			x.add(r)
		}
	}
	x.all = true
	r, ok := x.find(code)
	return r, ok, nil
}

// regionOf finds the region of a code in the Regions file.
func (d *Desc) regionOf(ctx context.Context, r Reader, code uint64) (spatial.Region, bool, error) {
	hi := append(binary.BigEndian.AppendUint64(nil, code), 0xff)
	it := r.Scan(ctx, d.regions(), kv.Range{Hi: hi}, kv.ScanOpt{Reverse: true, KeysOnly: true, Limit: 1})
	defer it.Close()
	pairs, err := it.Next()
	if err != nil || len(pairs) == 0 {
		return spatial.Region{}, false, err
	}
	got, err := openRegionKey(pairs[0].Key)
	if err != nil {
		return got, false, corrupt(d.regions(), pairs[0].Key, err)
	}
	return got, code <= got.Range().Hi, nil
}

// cellLock takes the lock under which the regions of a cell change; false when
// somebody else changes or has changed them.
func (w *Writer) cellLock(ctx context.Context, cell spatial.Region) (bool, error) {
	res, err := w.tx.LockKeys(ctx, w.d.regions(), LockOpt{SkipLocked: true, NoValue: true}, regionKey(cell))
	if err != nil {
		return false, err
	}
	return !res[0].Skipped && !res[0].Changed, nil
}

// makeRegion makes a region of a whole cell, or that of the rows without a position,
// unless there is one or somebody else is making it.
func (w *Writer) makeRegion(ctx context.Context, cell spatial.Region) (made bool, err error) {
	x := &w.regions
	if !x.all {
		val, err := getOne(ctx, w.tx, w.d.regions(), regionKey(cell))
		if val != nil {
			x.add(cell)
		}
		if val != nil || err != nil {
			return false, err
		}
	}
	if free, err := w.cellLock(ctx, cell); !free || err != nil {
		return false, err
	}
	x.add(cell)
	return true, w.putRegion(cell)
}

func (w *Writer) putRegion(r spatial.Region) error {
	x := &w.regions
	if x.row == nil {
		for range 4 {
			x.row = append(x.row, vec.New(types.TFloat8, 1))
		}
	}
	b := spatial.World
	if r != spatial.NullRegion {
		b = w.d.Table.Cluster.Grid.Box(r)
	}
	for i, v := range []float64{b.North, b.West, b.South, b.East} {
		x.row[i].F64[0] = v
		if x.row[i].Nulls.Clear(); r == spatial.NullRegion {
			x.row[i].Nulls.Set(0)
		}
	}
	key := regionKey(r)
	return w.tx.Put(w.d.regions(), key, regionRow.Append(nil, x.row, 0, key), kv.Covered)
}

// grow counts n more rows of a region, the first ones if it was just made, and
// divides it when it has too many.
func (w *Writer) grow(ctx context.Context, r spatial.Region, n int, made bool) error {
	d, most := w.d, w.d.Table.Cluster.MaxRows
	if r == spatial.NullRegion || r.Depth == spatial.MaxDepth {
		return nil
	}
	file := uint64(d.Table.Cluster.Regions)
	mu := &d.db.mu
	mu.Lock()
	counts := mu.regions[file]
	if counts == nil {
		counts = make(map[spatial.Region]int)
		mu.regions[file] = counts
	}
	have, known := counts[r]
	if made {
		have, known = 0, true
	}
	counts[r] = have + n
	mu.Unlock()
	if known && have+n <= most {
		return nil
	}
	rows, err := d.countRows(ctx, w.tx, r, most+1)
	if err != nil {
		return err
	}
	mu.Lock()
	counts[r] = rows
	mu.Unlock()
	if rows <= most {
		return nil
	}
	if free, err := w.cellLock(ctx, spatial.RegionOf(r.Lo, 0)); !free || err != nil {
		return err
	}
	sp := d.regions()
	if val, err := getOne(ctx, w.tx, sp, regionKey(r)); val == nil || err != nil {
		return err
	}
	if err := w.tx.Delete(sp, regionKey(r), kv.Covered); err != nil {
		return err
	}
	for _, q := range r.Quarters() {
		if err := w.putRegion(q); err != nil {
			return err
		}
		w.regions.add(q)
	}
	for _, q := range r.Quarters() {
		if err := w.grow(ctx, q, 0, false); err != nil {
			return err
		}
	}
	return nil
}

// codeSpan is the range of keys of the master file with codes in a range.
func codeSpan(c spatial.Range) kv.Range {
	s := kv.Range{Lo: binary.BigEndian.AppendUint64(nil, c.Lo)}
	if c.Hi != spatial.NullCode {
		s.Hi = binary.BigEndian.AppendUint64(nil, c.Hi+1)
	}
	return s
}

func codeSpans(codes []spatial.Range) []kv.Range {
	out := make([]kv.Range, len(codes))
	for i, c := range codes {
		out[i] = codeSpan(c)
	}
	return out
}

func regionSpan(r spatial.Region) kv.Range { return codeSpan(r.Range()) }

// RegionsIn names the regions that a scan of the codes visits.
func (d *Desc) RegionsIn(ctx context.Context, r Reader, codes []spatial.Range) ([]string, error) {
	var out []string
	next := uint64(0) // first code after the regions named
	for _, c := range codes {
		if c.Hi < next {
			continue
		}
		first, ok, err := d.regionOf(ctx, r, c.Lo)
		if err != nil {
			return nil, err
		}
		if ok && first.Range().Lo >= next {
			out = append(out, first.String())
			next = first.Range().Hi + 1
		}
		span := kv.Range{Lo: regionKey(spatial.Region{Lo: max(c.Lo, next)}), Hi: append(binary.BigEndian.AppendUint64(nil, c.Hi), 0xff)}
		it := r.Scan(ctx, d.regions(), span, kv.ScanOpt{KeysOnly: true})
		for {
			pairs, err := it.Next()
			if err != nil || len(pairs) == 0 {
				it.Close()
				if err != nil {
					return nil, err
				}
				break
			}
			for _, p := range pairs {
				x, err := openRegionKey(p.Key)
				if err != nil {
					it.Close()
					return nil, corrupt(d.regions(), p.Key, err)
				}
				out = append(out, x.String())
				next = x.Range().Hi + 1
			}
		}
	}
	return out, nil
}

// countRows counts the root's rows of a region, up to a limit.
func (d *Desc) countRows(ctx context.Context, r Reader, region spatial.Region, limit int) (int, error) {
	it := r.Scan(ctx, d.space, regionSpan(region), kv.ScanOpt{KeysOnly: true})
	defer it.Close()
	k := d.cluster()
	rows := 0
	for rows < limit {
		pairs, err := it.Next()
		if err != nil {
			return 0, err
		}
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			if k.owns(d, p.Key) {
				rows++
			}
		}
	}
	return rows, nil
}

// Regions lists the regions of a cluster's root in the order of the file, with
// the rows and pairs that they have now.
func (d *Desc) Regions(ctx context.Context, r Reader) ([]Region, error) {
	k := d.cluster()
	if k == nil || k.root == nil {
		return nil, nil
	}
	sp := d.regions()
	it := r.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{})
	defer it.Close()
	var out []Region
	for {
		pairs, err := it.Next()
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			return out, nil
		}
		for _, p := range pairs {
			x, region, err := openRegion(p.Key, p.Val)
			if err != nil {
				return nil, corrupt(sp, p.Key, err)
			}
			if x.Rows, x.Keys, err = d.fill(ctx, r, region); err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
}

// openRegion decodes a pair of the Regions file.
func openRegion(key, val []byte) (Region, spatial.Region, error) {
	region, err := openRegionKey(key)
	if err != nil {
		return Region{}, region, err
	}
	var rows codec.Rows
	if _, err := regionRow.Load(&rows, [][]byte{key}, [][]byte{val}); err != nil {
		return Region{}, region, err
	}
	x := Region{ID: region.String(), Unplaced: region == spatial.NullRegion}
	for i, to := range []*float64{&x.Box.North, &x.Box.West, &x.Box.South, &x.Box.East} {
		v := vec.New(types.TFloat8, 1)
		if err := regionRow.Column(&rows, i, types.Null(types.TFloat8), v, 0); err != nil {
			return Region{}, region, err
		}
		*to = v.F64[0]
	}
	return x, region, nil
}

// fill counts the root's rows and all pairs of a region.
func (d *Desc) fill(ctx context.Context, r Reader, region spatial.Region) (rows, keys int, err error) {
	it := r.Scan(ctx, d.space, regionSpan(region), kv.ScanOpt{KeysOnly: true})
	defer it.Close()
	k := d.cluster()
	for {
		pairs, err := it.Next()
		if err != nil || len(pairs) == 0 {
			return rows, keys, err
		}
		keys += len(pairs)
		for _, p := range pairs {
			if k.owns(d, p.Key) {
				rows++
			}
		}
	}
}
