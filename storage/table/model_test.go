package table_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/storage/codec"
	"kvsqld/storage/table"
	"kvsqld/storage/table/tabletest"
)

var ctx = context.Background()

func numeric(p, s int32) types.T { return types.T{OID: types.ONumeric, Mod: p<<16 | s + 4} }

// genValue returns values that often repeat.
func genValue(r *rand.Rand, t types.T, null bool) types.Datum {
	if null && r.IntN(6) == 0 {
		return types.Null(t)
	}
	d := types.Datum{T: t}
	switch t.Kind() {
	case types.KInt4, types.KInt8, types.KDate:
		d.I = int64(r.IntN(40) - 20)
	case types.KText:
		d.B = []byte([]string{"", "a", "b", "a\x00b", "ab", "longer text", "zz"}[r.IntN(7)])
		if r.IntN(2) == 0 {
			d.B = fmt.Appendf(d.B, "%d", r.IntN(40))
		}
	case types.KFloat8:
		d.F = []float64{0, 1, -1.5, 2, 3, 4, 5, 1e300}[r.IntN(8)] * float64(r.IntN(5))
	case types.KNumeric:
		d.Dec = types.NewDecimal(int64(r.IntN(60)-30)*10, 2)
		if _, narrow := types.NarrowScale(t); !narrow && r.IntN(2) == 0 {
			d.Dec = types.NewDecimal(int64(r.IntN(60)-30), 1)
		}
	}
	return d
}

type model struct {
	t    *testing.T
	r    *rand.Rand
	db   *tabletest.DB
	d    *table.Desc
	rows map[string][]types.Datum // by row key
}

func (m *model) clone() map[string][]types.Datum {
	out := make(map[string][]types.Datum, len(m.rows))
	for k, v := range m.rows {
		out[k] = v
	}
	return out
}

func (m *model) genRow() []types.Datum {
	row := make([]types.Datum, len(m.d.Live))
	for i, c := range m.d.Live {
		row[i] = genValue(m.r, m.d.Table.Columns[c].Type, !slices.Contains(m.d.Table.PK, c))
	}
	return row
}

// live returns the position of a column among the live ones.
func (m *model) live(c int) int { return slices.Index(m.d.Live, c) }

// conflicts reports whether two rows cannot both be in the table.
func (m *model) conflicts(a, b []types.Datum) bool {
	for _, ix := range m.d.Table.Indexes {
		if !ix.Unique {
			continue
		}
		equal := true
		for _, k := range ix.Keys {
			x, y := a[m.live(k.Col)], b[m.live(k.Col)]
			equal = equal && !x.Null && !y.Null && types.Compare(x, y) == 0
		}
		if equal {
			return true
		}
	}
	return false
}

func (m *model) insert(tx table.Txn) error {
	rows := make([][]types.Datum, 1+m.r.IntN(6))
	for i := range rows {
		rows[i] = m.genRow()
	}
	b := tabletest.Batch(m.d, rows...)
	if m.r.IntN(3) == 0 {
		b.Sel = []uint32{}
		for i := range rows {
			if m.r.IntN(3) > 0 {
				b.Sel = append(b.Sel, uint32(i))
			}
		}
	}
	opt := table.InsertOpt{Conflict: table.ConflictAction(m.r.IntN(3))}
	before := m.clone()
	var wantConflicts []uint32
	want := false
	var added []uint32
	for i := range b.Rows() {
		row := rows[b.Row(i)]
		hit := false
		for _, other := range before {
			hit = hit || m.conflicts(row, other)
		}
		for _, a := range added {
			hit = hit || m.conflicts(row, rows[a])
		}
		switch {
		case !hit:
			added = append(added, uint32(b.Row(i)))
		case opt.Conflict == table.ConflictError:
			want = true
		default:
			wantConflicts = append(wantConflicts, uint32(b.Row(i)))
		}
	}
	res, err := m.d.NewWriter(tx).Insert(ctx, b, nil, opt)
	if want {
		if sqlerr.CodeOf(err) != sqlerr.UniqueViolation {
			m.t.Fatalf("insert of a duplicate: %v", err)
		}
		return err
	}
	if err != nil {
		m.t.Fatal(err)
	}
	var got []uint32
	for _, c := range res.Conflicts {
		got = append(got, c.Row)
		other := m.rows[string(c.Key)]
		if c.Same {
			i := slices.IndexFunc(res.Keys, func(k []byte) bool { return string(k) == string(c.Key) })
			other = rows[i]
		}
		if other == nil || !m.conflicts(rows[c.Row], other) {
			m.t.Fatalf("row %d is said to conflict with %x", c.Row, c.Key)
		}
	}
	if !slices.Equal(got, wantConflicts) || res.Inserted != len(added) {
		m.t.Fatalf("conflicts %v and %d rows, want %v and %d", got, res.Inserted, wantConflicts, len(added))
	}
	for _, i := range added {
		m.rows[string(res.Keys[i])] = rows[i]
	}
	return nil
}

// pick returns some row keys in key order.
func (m *model) pick() []string {
	var keys []string
	for k := range m.rows {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var out []string
	for range min(len(keys), m.r.IntN(6)) {
		out = append(out, keys[m.r.IntN(len(keys))])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func keyVec(keys []string) *vec.Vec {
	v := vec.New(types.TBytea, len(keys))
	for i, k := range keys {
		v.B[i] = []byte(k)
	}
	return v
}

func (m *model) lock(tx table.Txn, v *vec.Vec) {
	if _, err := m.d.LockRows(ctx, tx, v.B, table.LockOpt{}); err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) update(tx table.Txn) error {
	keys := m.pick()
	if len(keys) == 0 {
		return nil
	}
	var changed []int
	for _, c := range m.d.Live {
		if m.r.IntN(3) == 0 {
			changed = append(changed, c)
		}
	}
	var old, new [][]types.Datum
	for _, k := range keys {
		row := slices.Clone(m.rows[k])
		old = append(old, m.rows[k])
		for _, c := range changed {
			row[m.live(c)] = genValue(m.r, m.d.Table.Columns[c].Type, !slices.Contains(m.d.Table.PK, c))
		}
		new = append(new, row)
	}
	want := false
	state := m.clone()
	for i, k := range keys {
		delete(state, k)
		for _, other := range state {
			want = want || m.conflicts(new[i], other)
		}
		state[k] = new[i]
	}
	v := keyVec(keys)
	m.lock(tx, v)
	out, err := m.d.NewWriter(tx).Update(ctx, v, tabletest.Batch(m.d, old...), tabletest.Batch(m.d, new...), changed, nil, nil, nil, nil, table.LockOpt{})
	if want {
		if sqlerr.CodeOf(err) != sqlerr.UniqueViolation {
			m.t.Fatalf("update to a duplicate: %v", err)
		}
		return err
	}
	if err != nil {
		m.t.Fatal(err)
	}
	for _, k := range keys {
		delete(m.rows, k)
	}
	for i := range keys {
		m.rows[string(out[i])] = new[i]
	}
	return nil
}

func (m *model) delete(tx table.Txn) error {
	keys := m.pick()
	if len(keys) == 0 {
		return nil
	}
	var old [][]types.Datum
	for _, k := range keys {
		old = append(old, m.rows[k])
		delete(m.rows, k)
	}
	v := keyVec(keys)
	m.lock(tx, v)
	return m.d.NewWriter(tx).Delete(ctx, v, tabletest.Batch(m.d, old...), nil, nil, table.LockOpt{})
}

func show(row []types.Datum) string {
	var b []byte
	for _, d := range row {
		b = append(codec.AppendPretty(b, d), ' ')
	}
	return string(b)
}

func showAll(rows [][]types.Datum) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = show(row)
	}
	return out
}

// compareKeys is the order of an index (or the primary key).
func (m *model) compareKeys(ix *catalog.Index, a, b []types.Datum) int {
	for _, k := range ix.Keys {
		x, y := a[m.live(k.Col)], b[m.live(k.Col)]
		c := 0
		switch {
		case x.Null && y.Null:
		case x.Null:
			c = 1
		case y.Null:
			c = -1
		default:
			c = types.Compare(x, y)
			if k.Desc {
				c = -c
			}
		}
		if (x.Null != y.Null) && k.NullsFirst {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// inRange is the meaning of a range.
func (m *model) inRange(ix *catalog.Index, r *types.Range, row []types.Datum) bool {
	at := func(i int) types.Datum { return row[m.live(ix.Keys[i].Col)] }
	for i, eq := range r.Eq {
		if d := at(i); d.Null != eq.Null || !eq.Null && types.Compare(d, eq) != 0 {
			return false
		}
	}
	if !r.Bounded() {
		return true
	}
	d := at(len(r.Eq))
	if d.Null {
		return r.WithNull
	}
	if r.Lo != nil {
		if c := types.Compare(d, *r.Lo); c < 0 || c == 0 && !r.LoInc {
			return false
		}
	}
	if r.Hi != nil {
		if c := types.Compare(d, *r.Hi); c > 0 || c == 0 && !r.HiInc {
			return false
		}
	}
	return true
}

func (m *model) genRanges(ix *catalog.Index) []types.Range {
	if m.r.IntN(4) == 0 {
		return nil
	}
	out := make([]types.Range, m.r.IntN(4))
	for i := range out {
		r := &out[i]
		typ := func(k int) types.T { return m.d.Table.Columns[ix.Keys[k].Col].Type }
		for k := range m.r.IntN(len(ix.Keys) + 1) {
			r.Eq = append(r.Eq, genValue(m.r, typ(k), true))
		}
		if len(r.Eq) == len(ix.Keys) {
			continue
		}
		bound := func() *types.Datum {
			if m.r.IntN(3) == 0 {
				return nil
			}
			d := genValue(m.r, typ(len(r.Eq)), false)
			return &d
		}
		r.Lo, r.Hi, r.LoInc, r.HiInc = bound(), bound(), m.r.IntN(2) == 0, m.r.IntN(2) == 0
		r.NotNull, r.WithNull = m.r.IntN(3) == 0, m.r.IntN(4) == 0
		if r.WithNull && r.Lo == nil && r.Hi == nil {
			r.WithNull = false
		}
	}
	return out
}

// verify compares all access paths with the model.
func (m *model) verify(r table.Reader) {
	m.t.Helper()
	var all [][]types.Datum
	for _, row := range m.rows {
		all = append(all, row)
	}
	cols := append(slices.Clone(m.d.Live), table.ColRowKey)
	full := tabletest.Rows(m.t, m.d, r, &table.ScanSpec{Cols: cols, BatchRows: 1 + m.r.IntN(10)})
	if len(full) != len(all) {
		m.t.Fatalf("%d rows, want %d", len(full), len(all))
	}
	for _, row := range full {
		n := len(row) - 1
		if want := m.rows[string(row[n].B)]; want == nil || show(want) != show(row[:n]) {
			m.t.Fatalf("row %x is %s, want %s", row[n].B, show(row[:n]), show(want))
		}
	}
	for _, ix := range m.d.Table.Indexes {
		m.verifyIndex(r, ix, all)
	}
}

func (m *model) verifyIndex(r table.Reader, ix *catalog.Index, all [][]types.Datum) {
	m.t.Helper()
	ranges := m.genRanges(ix)
	var want [][]types.Datum
	for _, row := range all {
		in := ranges == nil
		for i := range ranges {
			in = in || m.inRange(ix, &ranges[i], row)
		}
		if in {
			want = append(want, row)
		}
	}
	spec := &table.ScanSpec{Index: ix, Ranges: ranges, Cols: m.d.Live, Reverse: m.r.IntN(2) == 0, BatchRows: 1 + m.r.IntN(10), Limit: m.r.IntN(3), IndexOnly: m.r.IntN(2) == 0}
	got := tabletest.Rows(m.t, m.d, r, spec)
	for i := 1; i < len(got); i++ {
		if c := m.compareKeys(ix, got[i-1], got[i]); c > 0 && !spec.Reverse || c < 0 && spec.Reverse {
			m.t.Fatalf("index %s: %s before %s", ix.Name, show(got[i-1]), show(got[i]))
		}
	}
	m.same("scan of "+ix.Name+fmt.Sprintf(" %+v", ranges), got, want)
	parts, err := m.d.SplitScan(ctx, r, spec, 3)
	if err != nil {
		m.t.Fatal(err)
	}
	var pieces [][]types.Datum
	for _, p := range parts {
		pieces = append(pieces, tabletest.Rows(m.t, m.d, r, p)...)
	}
	if !slices.Equal(showAll(pieces), showAll(got)) {
		m.t.Fatalf("split scan of %s: %v, want %v", ix.Name, showAll(pieces), showAll(got))
	}
	m.verifyLoose(r, *spec, got)
	// Only some columns of the index, from its entries.
	keys := m.compareColumns(ix, r, ranges, want)
	m.verifyLookup(r, ix, keys, all)
}

// verifyLoose compares the first row of each group of a loose scan with that of all rows.
func (m *model) verifyLoose(r table.Reader, spec table.ScanSpec, all [][]types.Datum) {
	m.t.Helper()
	spec.Loose = 1 + m.r.IntN(len(spec.Index.Keys))
	spec.LooseValue = spec.Ranges == nil && spec.Loose < len(spec.Index.Keys) && m.r.IntN(2) == 0
	null := func(row []types.Datum) bool { return row[m.live(spec.Index.Keys[spec.Loose].Col)].Null }
	firsts := func(rows [][]types.Datum) (out []string) {
		begin := 0 // of the group
		for i, row := range rows {
			same := func(k catalog.IndexKey) bool {
				a, b := rows[i-1][m.live(k.Col)], row[m.live(k.Col)]
				return a.Null && b.Null || !a.Null && !b.Null && types.Compare(a, b) == 0
			}
			if i == 0 || slices.ContainsFunc(spec.Index.Keys[:spec.Loose], func(k catalog.IndexKey) bool { return !same(k) }) {
				out = append(out, show(row))
				begin = i
			} else if spec.LooseValue && !null(row) && null(rows[begin]) {
				out[len(out)-1] = show(row)
				begin = i
			}
		}
		return out
	}
	got := tabletest.Rows(m.t, m.d, r, &spec)
	if len(got) > len(all) || !slices.Equal(firsts(got), firsts(all)) {
		m.t.Fatalf("loose scan of %d columns of %s: %v, want the first rows of %v", spec.Loose, spec.Index.Name, showAll(got), showAll(all))
	}
}

// compareColumns scans only the key columns and returns them.
func (m *model) compareColumns(ix *catalog.Index, r table.Reader, ranges []types.Range, want [][]types.Datum) []int {
	var cols []int
	for _, k := range ix.Keys {
		cols = append(cols, k.Col)
	}
	got := tabletest.Rows(m.t, m.d, r, &table.ScanSpec{Index: ix, Ranges: ranges, Cols: cols, IndexOnly: true})
	short := make([][]types.Datum, len(want))
	for i, row := range want {
		for _, c := range cols {
			short[i] = append(short[i], row[m.live(c)])
		}
	}
	m.same("index-only scan of "+ix.Name, got, short)
	return cols
}

func (m *model) same(what string, got, want [][]types.Datum) {
	m.t.Helper()
	g, w := showAll(got), showAll(want)
	slices.Sort(g)
	slices.Sort(w)
	if !slices.Equal(g, w) {
		m.t.Fatalf("%s: got\n%s\nwant\n%s", what, strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
}

func (m *model) verifyLookup(r table.Reader, ix *catalog.Index, cols []int, all [][]types.Datum) {
	m.t.Helper()
	n := 1 + m.r.IntN(len(cols))
	const probes = 8
	keys := make([]*vec.Vec, n)
	for k := range keys {
		keys[k] = codec.NewVec(m.d.Table.Columns[cols[k]].Type, probes)
		for i := range probes {
			keys[k].Set(i, genValue(m.r, keys[k].T, true))
		}
	}
	l, err := m.d.NewLookup(r, ix, n, m.d.Live, m.r.IntN(2) == 0)
	if err != nil {
		m.t.Fatal(err)
	}
	defer l.Close()
	first := m.r.IntN(4) == 0
	if first {
		l.FirstOnly()
	}
	got := make([][][]types.Datum, probes)
	enough := slices.Repeat([]int{math.MaxInt}, probes)
	if !first && m.r.IntN(2) == 0 {
		for i := range enough {
			if m.r.IntN(4) > 0 {
				enough[i] = 1 + m.r.IntN(20)
			}
		}
		l.Rounds(func(row uint32) bool { return len(got[row]) >= enough[row] })
	}
	if err := l.Start(ctx, keys, probes, nil); err != nil {
		m.t.Fatal(err)
	}
	var b vec.Batch
	for {
		from, err := l.Next(&b)
		if err != nil {
			m.t.Fatal(err)
		}
		if b.N == 0 {
			break
		}
		for i, row := range tabletest.Datums(&b) {
			got[from[i]] = append(got[from[i]], row)
		}
	}
	hits, err := m.d.Exists(ctx, r, ix, keys, probes, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	for p := range probes {
		probe := types.Range{}
		null := false
		for _, k := range keys {
			probe.Eq = append(probe.Eq, k.Get(p))
			null = null || k.IsNull(p)
		}
		var want [][]types.Datum
		for _, row := range all {
			if !null && m.inRange(ix, &probe, row) {
				want = append(want, row)
			}
		}
		switch {
		case first:
			if len(got[p]) != min(1, len(want)) || len(want) > 0 && !slices.Contains(showAll(want), show(got[p][0])) {
				m.t.Fatalf("first of a lookup in %s: %v, want one of %v", ix.Name, showAll(got[p]), showAll(want))
			}
		case len(got[p]) >= enough[p] && len(got[p]) < len(want):
			for _, row := range want {
				if i := slices.IndexFunc(got[p], func(g []types.Datum) bool { return show(g) == show(row) }); i >= 0 {
					got[p] = slices.Delete(got[p], i, i+1)
				}
			}
			if len(got[p]) > 0 {
				m.t.Fatalf("lookup in rounds in %s: %v besides %v", ix.Name, showAll(got[p]), showAll(want))
			}
		default:
			m.same("lookup in "+ix.Name, got[p], want)
		}
		if hits[p] != (len(want) > 0) {
			m.t.Fatalf("Exists says %v for %d rows", hits[p], len(want))
		}
		if ix.Unique && n == len(cols) {
			ok, err := m.d.PointGet(ctx, r, ix, probe.Eq, m.d.Live, nil, &b)
			if err != nil || ok != (len(want) > 0) {
				m.t.Fatalf("PointGet = %v, %v for %d rows", ok, err, len(want))
			}
			if ok {
				m.same("PointGet", tabletest.Datums(&b), want)
			}
		}
	}
}

func desc(ix *catalog.Index) *catalog.Index {
	ix.Keys[0].Desc, ix.Keys[0].NullsFirst = true, true
	return ix
}

func include(ix *catalog.Index, cols ...int) *catalog.Index {
	ix.Include = cols
	return ix
}

// shapes are tables of every kind.
func shapes(db *tabletest.DB) []*table.Desc {
	cols := func() []catalog.Column {
		return []catalog.Column{
			tabletest.Col("i", types.TInt4), tabletest.Col("t", types.TText), tabletest.Col("n", numeric(10, 2)),
			tabletest.Col("gone", types.TText), tabletest.Col("v", types.TNumeric), tabletest.Col("f", types.TFloat8),
			tabletest.Col("d", types.TDate),
		}
	}
	dropped := cols()
	dropped[3].Dropped = true
	filled := cols()
	filled[1].Missing = &types.Datum{T: types.TText, B: []byte("old")}
	return []*table.Desc{
		db.Create("iheap", dropped, nil, desc(tabletest.Inverted("iheap_t_i", 1, 0)), tabletest.Inverted("iheap_v", 4)),
		db.CreateColumns("ikeyed", nil, cols(), []int{1, 0}, desc(tabletest.Inverted("ikeyed_n", 2)), tabletest.Index("ikeyed_v_f", true, 4, 5)),
		db.Create("isingle", cols(), []int{0}, tabletest.Inverted("isingle_t", 1), desc(tabletest.Inverted("isingle_d_n", 6, 2))),
		db.CreateColumns("cheap", nil, dropped, nil, desc(tabletest.Index("cheap_t_i", false, 1, 0)),
			include(tabletest.Index("cheap_i_d", true, 0, 6), 5, 1), tabletest.Index("cheap_v", false, 4)),
		db.CreateColumns("ckeyed", [][]int{{6, 2, 4}}, cols(), []int{1, 0}, include(desc(tabletest.Index("ckeyed_n", false, 2)), 6),
			tabletest.Index("ckeyed_v_f", true, 4, 5)),
		db.CreateColumns("clossy", [][]int{{3, 0}, {1, 2}}, dropped, []int{5, 4}, tabletest.Index("clossy_i", false, 0), tabletest.Index("clossy_t", true, 1, 2)),
		db.CreateColumns("csingle", nil, filled, []int{0}, tabletest.Index("csingle_d", false, 6)),
		db.Create("heap", dropped, nil, desc(tabletest.Index("heap_t_i", false, 1, 0)),
			include(tabletest.Index("heap_i_d", true, 0, 6), 5, 1), tabletest.Index("heap_v", false, 4)),
		db.Create("keyed", cols(), []int{1, 0}, include(desc(tabletest.Index("keyed_n", false, 2)), 6),
			tabletest.Index("keyed_v_f", true, 4, 5)),
		db.Create("lossy", dropped, []int{5, 4}, tabletest.Index("lossy_i", false, 0), tabletest.Index("lossy_t", true, 1, 2)),
		db.Create("single", cols(), []int{0}, tabletest.Index("single_d", false, 6)),
	}
}

func TestRandomChangesAgainstModel(t *testing.T) {
	for name, open := range tabletest.Engines {
		t.Run(name, func(t *testing.T) {
			db := tabletest.OpenStore(t, open(t))
			for n, d := range shapes(db) {
				m := &model{t: t, r: rand.New(rand.NewPCG(7, uint64(n))), db: db, d: d, rows: map[string][]types.Datum{}}
				for range 60 {
					m.transaction()
					if m.r.IntN(4) == 0 {
						if err := d.Fold(ctx); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		})
	}
}

var errRollback = errors.New("rolled back")

func (m *model) transaction() {
	before := m.clone()
	err := m.db.TryTx(func(tx table.Txn) error {
		for range 1 + m.r.IntN(5) {
			mark, rows := tx.Savepoint(), m.clone()
			step := []func(table.Txn) error{m.insert, m.insert, m.update, m.delete}[m.r.IntN(4)]
			if err := step(tx); err != nil {
				tx.RollbackTo(mark)
				m.rows = rows
			}
			if m.r.IntN(4) == 0 {
				m.verify(tx)
			}
		}
		if m.r.IntN(4) == 0 {
			return errRollback
		}
		return nil
	})
	if err != nil && !errors.Is(err, errRollback) {
		m.t.Fatal(err)
	}
	if err != nil {
		m.rows = before
	}
	snap, err := m.db.Store().Snapshot(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	defer snap.Close()
	m.verify(snap)
}
